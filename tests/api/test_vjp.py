"""Pullbacks: values of any shape and structure, cotangents back, as often as one likes."""

import math
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

import s2s
from s2s.errors import ArgumentError, FallbackWarning, UnsupportedSyntaxError

X = np.array([[1.0, 2.0, -0.5], [0.5, -1.0, 3.0]])
W = np.array([0.3, -0.2, 0.7])


def mixed(x, w):
    y = np.tanh(x @ w)
    return y, {"sum": np.sum(x * w), "outer": [np.outer(y, w), 3, "name"]}


def by_grad(f, weigh, args, argnums):
    """The same cotangents by `grad`, of the value weighed by the cotangent."""
    return s2s.grad(lambda *a: weigh(f(*a)), argnums=argnums)(*args)


def test_value_and_cotangents_of_an_array():
    def f(w, x):
        return np.tanh(x @ w)

    out, pullback = s2s.vjp(f, W, X, strict=True)
    np.testing.assert_array_equal(out, f(W, X))
    bar = np.array([0.3, -1.5])
    expected = by_grad(f, lambda y: np.sum(y * bar), (W, X), (0, 1))
    for got, want in zip(pullback(bar), expected, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-14)


def test_structures_go_out_and_come_back():
    out, pullback = s2s.vjp(mixed, X, W, strict=True)
    expected = mixed(X, W)
    np.testing.assert_array_equal(out[0], expected[0])
    assert out[1]["sum"] == expected[1]["sum"] and out[1]["outer"][1:] == [3, "name"]
    outer = np.arange(6.0).reshape(2, 3)
    bars = pullback((np.array([1.0, -2.0]), {"sum": 0.5, "outer": [outer, None, None]}))

    def weigh(value):
        y, rest = value
        return y[0] - 2 * y[1] + 0.5 * rest["sum"] + np.sum(outer * rest["outer"][0])

    for got, want in zip(bars, by_grad(mixed, weigh, (X, W), (0, 1)), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-13)


def test_pullback_of_a_loop_can_be_called_again():
    def f(x, n):
        for _ in range(n):
            x = np.sin(x) * x if x[0] > 0.5 else x * 1.1
        return x

    _, pullback = s2s.vjp(f, np.array([1.2, 0.3]), 5, strict=True)
    first = pullback(np.array([1.0, 0.0]))
    assert first[1] is None
    other = pullback(np.array([0.0, 1.0]))
    again = pullback(np.array([1.0, 0.0]))
    np.testing.assert_array_equal(first[0], again[0])
    both = pullback(np.array([1.0, 1.0]))
    np.testing.assert_allclose(both[0], first[0] + other[0])


@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (2, 1, 3)])
def test_shapes(shape):
    x = np.linspace(0.1, 1.0, math.prod(shape)).reshape(shape)
    out, pullback = s2s.vjp(lambda x, a: np.exp(x) * a, x, 2.0, strict=True)
    bar = np.cos(np.asarray(out))
    x_bar, a_bar = pullback(bar)
    assert type(x_bar) is type(x) and x_bar.shape == shape
    np.testing.assert_allclose(x_bar, bar * np.exp(x) * 2.0)
    np.testing.assert_allclose(a_bar, np.sum(bar * np.exp(x)))
    assert type(a_bar) is float


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_cotangents_have_the_dtypes_of_the_primals(dtype):
    x = (np.arange(3) + 1).astype(dtype)
    out, pullback = s2s.vjp(lambda x, y: x * y, x, np.float64(2.0), strict=True)
    x_bar, y_bar = pullback(np.ones_like(out))
    assert x_bar.dtype == dtype and type(y_bar) is np.float64
    np.testing.assert_allclose(x_bar, 2 * np.ones(3))
    np.testing.assert_allclose(y_bar, 6.0)


def test_results_are_nobody_elses():
    def f(x, y):
        return x, x + y, [x, y]

    x, y = np.ones(2), np.ones(2)
    out, pullback = s2s.vjp(f, x, y, strict=True)
    bar = (np.ones(2), np.ones(2), [np.ones(2), np.ones(2)])
    x_bar, y_bar = pullback(bar)
    arrays = [x, y, out[0], out[1], *out[2], bar[0], bar[1], *bar[2], x_bar, y_bar]
    for i, one in enumerate(arrays):
        assert one.flags.writeable
        assert not any(np.shares_memory(one, other) for other in arrays[:i])
    np.testing.assert_array_equal(x_bar, [3, 3])
    np.testing.assert_array_equal(y_bar, [2, 2])


def test_writes_between_the_sweeps_do_not_matter():
    x = np.array([1.0, 2.0])
    out, pullback = s2s.vjp(lambda x: np.exp(x) * x, x, strict=True)
    expected = np.exp(x) * x + np.exp(x)
    x[:] = 0.0
    out[:] = 0.0
    np.testing.assert_allclose(pullback(np.ones(2))[0], expected)


def test_cotangents_of_containers_have_their_structure():
    def f(p, q):
        return p["w"] * p["deep"][0] + q.a

    p = {"w": np.array([1.0, 2.0]), "deep": (3.0, "n", 4), "unused": np.ones(2)}
    q = SimpleNamespace(a=np.ones(2), n=3)
    _, pullback = s2s.vjp(f, p, q, strict=True)
    p_bar, q_bar = pullback(np.array([1.0, 1.0]))
    np.testing.assert_array_equal(p_bar["w"], [3.0, 3.0])
    assert p_bar["deep"] == (3.0, "n", 4)
    np.testing.assert_array_equal(p_bar["unused"], [0.0, 0.0])
    np.testing.assert_array_equal(q_bar.a, [1.0, 1.0])
    assert q_bar.n == 3


def test_primals_without_a_derivative_get_none():
    out, pullback = s2s.vjp(lambda x, n, name: x**n, 2.0, 3, "name", strict=True)
    assert (out, pullback(1.0)) == (8.0, (12.0, None, None))
    assert s2s.vjp(lambda n: 2.0 * n, 3, strict=True)[1](1.0) == (None,)


def test_value_that_does_not_depend_on_a_primal():
    _, pullback = s2s.vjp(lambda x, y: 2.0 * y, np.ones(2), 3.0, strict=True)
    x_bar, y_bar = pullback(1.0)
    np.testing.assert_array_equal(x_bar, [0.0, 0.0])
    assert y_bar == 2.0
    assert s2s.vjp(lambda x: 3, 1.0, strict=True)[1](None) == (0.0,)


def test_variadic_methods_partials_and_defaults():
    class Model:
        scale = 3.0

        def f(self, *xs, k=2.0):
            return xs[0] * xs[1] * self.scale * k

    out, pullback = s2s.vjp(Model().f, 2.0, 5.0, strict=True)
    assert (out, pullback(1.0)) == (60.0, (30.0, 12.0))


def test_auxiliary_result():
    out, pullback, aux = s2s.vjp(lambda x: (x * x, {"seen": x}), 3.0, has_aux=True, strict=True)
    assert (out, pullback(1.0), aux) == (9.0, (6.0,), {"seen": 3.0})


@pytest.mark.parametrize(
    "bar",
    [1.0, np.ones(3), np.ones((2, 1)), [1.0, 1.0], np.ones(2, complex), np.array(["a", "b"]), None, (np.ones(2),)],
)
def test_cotangent_of_another_shape_or_dtype_is_refused(bar):
    _, pullback = s2s.vjp(lambda x: np.sin(x), np.ones(2), strict=True)
    with pytest.raises(ArgumentError, match="cotangent"):
        pullback(bar)


def test_cotangent_of_another_structure_is_refused():
    _, pullback = s2s.vjp(lambda x: {"a": x, "b": (x, x)}, 1.0, strict=True)
    for bar in (1.0, {"a": 1.0}, {"a": 1.0, "b": [1.0, 1.0]}, {"a": 1.0, "b": (1.0,)}, {"a": 1.0, "c": (1.0, 1.0)}):
        with pytest.raises(ArgumentError, match="structure"):
            pullback(bar)
    assert pullback({"a": 1.0, "b": (1, 2.0)}) == (4.0,)


def test_zero_cotangents_win():
    def f(x):
        return np.log(x), np.sqrt(x), 1 / x

    with np.errstate(all="ignore"):
        _, pullback = s2s.vjp(f, np.array([0.0, 1.0]), strict=True)
        (x_bar,) = pullback((np.array([0.0, 1.0]), np.array([0.0, 0.0]), np.array([0.0, 1.0])))
    np.testing.assert_array_equal(x_bar, [0.0, 0.0])


def test_what_cannot_be_compiled_is_recorded():
    def f(x):
        y = [None, x * np.array([4.0, 1.0])]
        y.remove(None)
        return [y[0], 3]

    x = np.array([1.0, 2.0])
    with pytest.raises(UnsupportedSyntaxError):
        s2s.vjp(f, x, strict=True)
    with pytest.warns(FallbackWarning):
        out, pullback = s2s.vjp(f, x)
    np.testing.assert_array_equal(out[0], [4.0, 2.0])
    for _ in range(2):
        (x_bar,) = pullback([np.array([1.0, 10.0]), None])
        np.testing.assert_array_equal(x_bar, [4.0, 10.0])
    with pytest.raises(ArgumentError):
        pullback([np.ones(3), None])


def test_pullback_within_a_gradient():
    def f(x):
        return np.sin(x) * x

    def g(x):
        _, pullback = s2s.vjp(f, x)
        return np.sum(pullback(np.ones(2))[0] ** 2)

    x = np.array([0.3, -0.7])
    slope = np.cos(x) * x + np.sin(x)
    curve = 2 * np.cos(x) - np.sin(x) * x
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        np.testing.assert_allclose(s2s.grad(g)(x), 2 * slope * curve)


def test_pullback_of_a_gradient():
    value, pullback = s2s.vjp(s2s.grad(lambda x: np.sum(x**3)), np.array([1.0, 2.0]))
    np.testing.assert_allclose(value, [3.0, 12.0])
    np.testing.assert_allclose(pullback(np.array([1.0, 0.0]))[0], [6.0, 0.0])


def test_source_shows_both_sweeps():
    def normalise(x):
        return x / np.sqrt(np.sum(x**2) + 1.0)

    _, pullback = s2s.vjp(normalise, W, strict=True)
    *imports, forward, backward = pullback.source().split("\n\n\n")
    assert imports == ["from s2s.runtime.numeric import guarded_divide, guarded_multiply"]
    assert forward.startswith("def normalise_fwd(x):") and forward.endswith("return result, residuals")
    assert backward.startswith("def normalise_bwd(residuals, out_bar):")


def test_residuals_keep_shapes_where_no_values_are_read():
    def shifted(x, b):
        return np.sin(x) + b

    _, pullback = s2s.vjp(shifted, X, W, strict=True)
    assert "residuals = x, b.shape" in pullback.source()


def test_residual_of_one_branch_may_be_missing():
    def f(x, flag):
        if flag:
            t = np.exp(x)
            return t * x
        return 2.0 * x

    for flag, slope in ((True, np.exp(3.0) * 4.0), (False, 2.0)):
        out, pullback = s2s.vjp(f, 3.0, flag, strict=True)
        assert out == f(3.0, flag)
        np.testing.assert_allclose(pullback(1.0)[0], slope)


def test_value_is_that_of_the_plain_call_bit_for_bit():
    rng = np.random.default_rng(0)
    for _ in range(20):
        x, w = rng.normal(size=(4, 3)), rng.normal(size=3)
        out, _ = s2s.vjp(mixed, x, w, strict=True)
        np.testing.assert_array_equal(out[0], mixed(x, w)[0])
        np.testing.assert_array_equal(out[1]["outer"][0], mixed(x, w)[1]["outer"][0])


def test_written_argument_that_is_an_item_of_another():
    def f(x, d):
        x[0] = 5.0
        return np.sum(x * d["a"][0])

    x = np.array([1.0, 2.0])
    assert s2s.grad(f, strict=True)(x, {"a": [np.ones(2)]}).tolist() == [0.0, 1.0]
    for call in (s2s.grad(f), lambda *args: s2s.vjp(f, *args)):
        with pytest.warns(FallbackWarning, match="shares? memory"), pytest.raises(s2s.InplaceModificationError):
            call(x, {"a": [x]})


def test_written_arguments_that_share_memory():
    def f(x, y):
        x[0] = 5.0
        return np.sum(x * y)

    x, y = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    out, pullback = s2s.vjp(f, x, y, strict=True)
    assert out == 23.0
    for got, want in zip(pullback(1.0), ([0.0, 4.0], [5.0, 2.0])):
        np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(x, [1.0, 2.0])
    for shared in (x, x[::-1]):
        with pytest.raises(UnsupportedSyntaxError, match="shares? memory"):
            s2s.vjp(f, x, shared, strict=True)
        with pytest.warns(FallbackWarning), pytest.raises(s2s.InplaceModificationError):
            s2s.vjp(f, x, shared)


def test_array_that_is_written_into_and_held_by_a_list():
    def f(u):
        x = u.copy()
        held = [x, u * 2.0]
        x[0] = x[1] ** 2
        held[0][1] *= held[0][2]
        return held[0] @ x

    u = np.array([1.0, 2.0, 3.0])
    out, pullback = s2s.vjp(f, u, strict=True)
    assert out == f(u)
    for _ in range(2):
        np.testing.assert_allclose(pullback(1.0)[0], s2s.grad(f, strict=True)(u))
    # f(u) = u1**4 + (u1 u2)**2 + u2**2
    np.testing.assert_allclose(pullback(1.0)[0], [0, 4 * 8 + 2 * 2 * 9, 2 * 3 * 4 + 6])


def test_one_cotangent_of_two_primals_is_given_out_as_two():
    seed = np.ones(3)
    _, pullback = s2s.vjp(lambda x, y: x + y, np.zeros(3), np.zeros(3), strict=True)
    arrays = [seed, *pullback(seed), *pullback(seed)]
    for i, one in enumerate(arrays):
        assert not any(np.shares_memory(one, other) for other in arrays[:i])


def test_value_may_be_written_into_before_the_pullback():
    out, pullback = s2s.vjp(lambda x: np.exp(x), np.array([0.3, 1.2]), strict=True)
    out[:] = 0.0
    np.testing.assert_allclose(pullback(np.ones(2))[0], np.exp([0.3, 1.2]))


def pair_of_views(x):
    return x, x[::-1]


def array_twice(x):
    y = x * x
    return [y, {"again": y, "part": y[1:]}]


def buffer_and_its_view(x):
    y = np.sin(x)
    y[0] *= y[1]
    return y, y[1:]


def buffer(x):
    y = np.sin(x)
    y[0] *= y[1]
    y[1:] += x[0]
    return y


def buffer_that_is_read(x):
    y = np.sin(x)
    y[0] *= y[1]
    z = y * y * x
    y[1:] *= z[:-1]
    return y * z


@pytest.mark.parametrize("f", [pair_of_views, array_twice, buffer_and_its_view, buffer, buffer_that_is_read])
def test_cotangents_that_are_given_are_left_alone(f):
    x = np.array([0.3, -0.7, 1.1])
    out, pullback = s2s.vjp(f, x, strict=True)
    rng = np.random.default_rng(2)
    seed = s2s.runtime.pytree.map(lambda leaf: rng.normal(size=leaf.shape), out)
    before = [leaf.copy() for leaf in s2s.runtime.pytree.leaves(seed)]

    def weighed(x):
        return sum(np.sum(a * b) for a, b in zip(s2s.runtime.pytree.leaves(f(x)), before))

    steps = 1e-6 * np.eye(3)
    expected = np.array([(weighed(x + step) - weighed(x - step)) / 2e-6 for step in steps])
    for _ in range(2):
        (gradient,) = pullback(seed)
        np.testing.assert_allclose(gradient, expected, rtol=1e-7, atol=1e-8)
        for leaf, old in zip(s2s.runtime.pytree.leaves(seed), before):
            np.testing.assert_array_equal(leaf, old)
            assert not np.shares_memory(leaf, gradient)


# --- what changes before the pullback is called ---

SLOPE = 2.0


def of_the_module(x):
    for _ in range(3):
        x = SLOPE * x * x
    return x


def test_numbers_of_the_module_are_those_of_the_call(monkeypatch):
    expected = s2s.vjp(of_the_module, 0.7)[1](1.0)
    _, pullback = s2s.vjp(of_the_module, 0.7, strict=True)
    monkeypatch.setitem(globals(), "SLOPE", 5.0)
    for _ in range(2):
        assert pullback(1.0) == pytest.approx(expected)
    assert s2s.vjp(of_the_module, 0.7)[1](1.0) != pytest.approx(expected)


def in_recursion(x, n):
    return x if n == 0 else in_recursion(SLOPE * x * x, n - 1)


def test_numbers_that_calls_read_are_those_of_the_call(monkeypatch):
    expected = s2s.vjp(lambda x: in_recursion(x, 3), 0.7)[1](1.0)
    _, pullback = s2s.vjp(lambda x: in_recursion(x, 3), 0.7, strict=True)
    monkeypatch.setitem(globals(), "SLOPE", 5.0)
    for _ in range(2):
        assert pullback(1.0) == pytest.approx(expected)


@pytest.mark.parametrize("helper", ["own", "factory", "argument"])
def test_variables_of_closures_are_those_of_the_call(helper):
    def maker(k):
        def change(value):
            nonlocal k
            k = value

        return lambda t: k * t * t, change

    k = 2.0
    made, change = maker(2.0)

    def own(x):
        for _ in range(2):
            x = k * x * x
        return x

    def factory(x):
        for _ in range(2):
            x = made(x)
        return x

    def argument(g, x):
        for _ in range(2):
            x = g(x)
        return x

    if helper == "argument":
        _, pullback = s2s.vjp(argument, made, 0.7, strict=True)
    else:
        _, pullback = s2s.vjp(own if helper == "own" else factory, 0.7, strict=True)
    k = 5.0
    change(5.0)
    for _ in range(2):
        assert pullback(1.0)[-1] == pytest.approx(4 * 2.0**3 * 0.7**3)


class Link:
    def __init__(self, value, after=None):
        self.value = value
        self.after = after

    def product(self):
        return self.value if self.after is None else self.value * self.after.product()


def test_an_object_made_inside_that_a_recursive_method_takes():
    def f(x):
        link = Link(x[0] * x[1], Link(np.sin(x[1])))
        return link.product()

    x, direction = np.array([0.7, 1.3]), np.array([0.4, -0.9])
    want = np.array([x[1] * np.sin(x[1]), x[0] * np.sin(x[1]) + x[0] * x[1] * np.cos(x[1])])
    with pytest.warns(s2s.FallbackWarning):
        out, pullback = s2s.vjp(f, x)
    assert out == f(x)
    np.testing.assert_allclose(pullback(2.0)[0], 2.0 * want)
    with pytest.warns(s2s.FallbackWarning):
        np.testing.assert_allclose(s2s.jvp(f, (x,), (direction,))[1], want @ direction)


def test_results_that_are_read_again_where_they_are_returned():
    def size(x):
        return len(x)

    def both(x):
        return np.sum(x[0] ** 2) * len(x), x.shape[1], len(x)

    x = np.random.default_rng(0).normal(size=(3, 2))
    out, pullback = s2s.vjp(size, x, strict=True)
    assert out == 3
    np.testing.assert_array_equal(pullback(1)[0], np.zeros((3, 2)))
    out, pullback = s2s.vjp(both, x, strict=True)
    assert out == both(x)
    np.testing.assert_allclose(pullback((0.5, None, None))[0], np.concatenate([3 * x[:1], np.zeros((2, 2))]))
