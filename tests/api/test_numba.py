"""Generated code that Numba compiles: the same numbers as without, and clear refusals."""

import importlib.util
import math
import pathlib
import sys

import numpy as np
import pytest

import s2s
from s2s.errors import BackendError
from s2s.transforms import inline as inlining

pytest.importorskip("numba")

_FILE = pathlib.Path(__file__).parents[2] / "benchmarks" / "contest.py"
_SPEC = importlib.util.spec_from_file_location("contest_for_numba", _FILE)
contest = sys.modules["contest_for_numba"] = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(contest)

RATE = 0.5
TABLE = np.array([1.0, 2.0, 3.0])


def leaves(value):
    return [leaf for item in value for leaf in leaves(item)] if isinstance(value, tuple) else [value]


def same(f, *args, argnums=0, **keywords):
    """The value and gradient by Numba against those without: numbers, types, dtypes; the arguments stay as they are."""
    before = [np.copy(a) for a in args]
    plain = s2s.value_and_grad(f, argnums, strict=True)(*args, **keywords)
    df = s2s.value_and_grad(f, argnums, backend="numba")
    for _ in range(2):
        for got, want in zip(leaves(df(*args, **keywords)), leaves(plain), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-14)
            assert isinstance(got, type(want)) or isinstance(want, type(got))
            assert np.asarray(got).dtype == np.asarray(want).dtype
    for arg, old in zip(args, before):
        np.testing.assert_array_equal(arg, old)
    return df


# --- loops, swaps, tapes, pairs ---


def settle(x, n):
    s = 0.0
    for i in range(n):
        if x > 0.5:
            x = x * 0.9
        else:
            x = x + math.sin(x)
        s += x * x
    return s


def test_loops_and_branches_over_numbers():
    df = same(settle, 0.3, 20)
    assert df(0.3, 0)[1] == 0.0


def test_loops_that_are_left():
    def f(x, n):
        while x > 0.01:
            x = x * math.cos(x) * 0.7
            n -= 1
            if n == 0:
                break
        return x

    same(f, 0.9, 50)
    same(f, 0.9, 3)


@pytest.mark.parametrize("name", ["history", "newton", "recurrence", "stencil", "tridiagonal"])
def test_benchmarks(name):
    program = contest.load(name)
    args = program.args()
    plain = s2s.grad(program.primal, getattr(program, "argnums", 0))(*args)
    compiled = s2s.grad(program.primal, getattr(program, "argnums", 0), backend="numba")(*args)
    for got, want in zip(leaves(compiled), leaves(plain), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-12)


def test_buffers_that_are_swapped():
    def waves(u, n):
        old, new = u.copy(), u * 0.9
        for _ in range(n):
            for i in range(1, len(u) - 1):
                old[i] = 2 * new[i] - old[i] + 0.1 * (new[i + 1] - 2 * new[i] + new[i - 1])
            old, new = new, old
        return np.sum(new * new)

    same(waves, np.sin(np.arange(9.0)), 5)


def test_tapes_of_arrays():
    def f(w, n):
        y = w
        for i in range(n):
            y = np.tanh(y * w) + 0.1 * i
        return np.sum(y)

    same(f, np.array([0.3, -0.7, 1.1]), 4)
    same(f, np.array([[0.3, -0.7], [1.1, 0.2]]), 4)


def test_ranges_with_starts_and_steps():
    def f(x, n):
        s = x[0]
        for i in range(2, n, 3):
            for j in range(i, 0, -2):
                s = s * 0.5 + np.sin(x[j] * s)
        for i in reversed(range(1, n)):
            s = s * x[i] * 0.9
        return s

    same(f, np.linspace(0.5, 1.5, 10), 10)
    same(f, np.linspace(0.5, 1.5, 10), 1)


def test_pairs_of_sweeps(monkeypatch):
    monkeypatch.setattr(inlining, "LONG", 1)

    def step(y, k):
        for _ in range(3):
            y = y + k * math.sin(y)
        return y

    def f(x, k):
        y = x
        for _ in range(4):
            y = step(y, k) * 0.9
        return y * y

    df = same(f, 0.7, 0.3, argnums=(0, 1))
    assert "step_fwd" in df.source()


# --- what NumPy does, and Numba would not ---


def test_writes_that_overlap_what_they_read():
    def shifted(x):
        y = x * 1.0
        y[1:] += y[:-1]
        y[:-1] *= y[1:] * 0.5
        y[1:] += y[:-1] * 2.0
        y[2:] = y[:-2]
        return np.sum(y * y)

    same(shifted, np.linspace(0.1, 1.0, 7))


def test_cotangents_that_overlap_in_one_buffer():
    def f(x):
        y = x * 1.0
        for _ in range(3):
            y[1:] = y[:-1] * 0.5 + y[1:]
        return np.sum(y**3)

    same(f, np.linspace(0.1, 1.0, 7))


def test_broadcasting():
    def f(a, b, s):
        m = a * b + s
        for i in range(2):
            m = m * b - s * a[i, 0]
        return np.sum(m)

    same(f, np.arange(6.0).reshape(2, 3), np.array([0.5, 1.5, -1.0]), 0.3, argnums=(0, 1, 2))


def test_slopes_that_are_infinite():
    def f(x):
        s = 0.0
        for i in range(len(x)):
            s += math.sqrt(x[i]) * 0.0 if x[i] == 0.0 else np.sqrt(x[i])
        return s

    same(f, np.array([0.0, 4.0, 0.0, 9.0]))


def test_indices_out_of_range_are_noticed():
    def f(x, n):
        s = 0.0
        for i in range(n):
            s += x[i] * x[i]
        return s

    df = s2s.grad(f, backend="numba")
    np.testing.assert_allclose(df(np.ones(3), 3), 2 * np.ones(3))
    with pytest.raises(IndexError):
        df(np.ones(3), 4)


def test_precision_and_number_types():
    def f(x, k):
        y = x * 1.0
        for _ in range(3):
            y = y * k
        return np.sum(y)

    same(f, np.ones(3), 0.5)
    got = s2s.grad(f, backend="numba")(np.ones(3, np.float32), np.float32(0.5))
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, 0.125 * np.ones(3, np.float32))
    same(lambda x: x * x * 1.0, np.float64(3.0))


# --- what is read live ---


def test_numbers_and_arrays_of_the_module_are_read_live(monkeypatch):
    def f(x):
        s = 0.0
        for i in range(3):
            s += RATE * x * TABLE[i]
        return s

    df = s2s.grad(f, backend="numba")
    assert df(2.0) == pytest.approx(3.0)
    monkeypatch.setitem(globals(), "RATE", 2.0)
    assert df(2.0) == pytest.approx(12.0)
    TABLE[0] = 5.0
    assert df(2.0) == pytest.approx(20.0)
    TABLE[0] = 1.0


def test_variables_of_closures_are_read_live():
    def made(k):
        def f(x):
            for _ in range(3):
                x = x * k
            return x

        return s2s.grad(f, backend="numba")

    assert [made(k)(1.0) for k in (1.0, 2.0, 3.0)] == [1.0, 8.0, 27.0]


# --- what is refused ---


def recursive(x, n):
    return x if n == 0 else recursive(x * 1.1, n - 1)


def test_what_is_refused():
    with pytest.raises(BackendError, match="may come to call itself"):
        s2s.grad(lambda x: recursive(x, 3), backend="numba")(2.0)
    with pytest.raises(BackendError, match="'p' is none"):
        s2s.grad(lambda p: p["a"] * 2.0, backend="numba")({"a": 1.0})
    namespace = {}
    exec("def without_source(x):\n    return x * x\n", namespace)
    with pytest.raises(BackendError, match="nothing for Numba"):
        s2s.grad(namespace["without_source"], backend="numba")(2.0)
    with pytest.raises(BackendError, match="auxiliary"):
        s2s.grad(lambda x: (x * x, 1.0), has_aux=True, backend="numba")(2.0)
    with pytest.raises(BackendError, match="nothing that Numba compiles"):
        s2s.grad(lambda x: np.sum(np.max(x, axis=0)), backend="numba")(np.ones((2, 2)))
    with pytest.raises(BackendError, match="not generated for the backend 'tpu'"):
        s2s.grad(lambda x: x, backend="tpu")


def test_what_numba_does_not_know_is_refused_at_the_line():
    def f(x):
        return np.sum(np.convolve(x, x, mode="same") + np.trapezoid(x))

    with pytest.raises(BackendError) as caught:
        s2s.grad(f, backend="numba")(np.ones(3))
    assert "test_numba.py" in str(caught.value)


def test_without_numba(monkeypatch):
    monkeypatch.setitem(sys.modules, "s2s.runtime.backends.jitted", None)
    monkeypatch.delattr(s2s.runtime.backends, "jitted", raising=False)
    with pytest.raises(BackendError, match="needs Numba"):
        s2s.grad(lambda x: x * 3.0, backend="numba")(2.0)


def test_decorated_methods_and_pickling():
    import pickle

    class Model:
        k = 2.0

    df = s2s.grad(settle, backend="numba")
    again = pickle.loads(pickle.dumps(df))
    assert again._arguments[-1] == "numba"
    assert again(0.3, 5) == pytest.approx(s2s.grad(settle)(0.3, 5))
