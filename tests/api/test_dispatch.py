"""Calls find the variant compiled for them, and never one that has become stale."""

import collections
import dataclasses
import threading
import types

import numpy as np
import pytest

import s2s
from s2s.compiler.driver import MAX_VARIANTS

Point = collections.namedtuple("Point", "x y")

RATE = 2.0
TABLE = {"k": 2.0}


def helper(x):
    return x * x


def uses_helper(x):
    return helper(x) * RATE


@dataclasses.dataclass
class Layer:
    w: object
    b: float


@pytest.fixture
def compiles(monkeypatch):
    """The names of the functions that are compiled from here on."""
    from s2s.compiler import store

    names = []
    original = store.compile_function

    def counting(lower, task, name):
        names.append(name)
        return original(lower, task, name)

    monkeypatch.setattr(store, "compile_function", counting)
    return names


def norm(x):
    return np.sum(x * x)


def test_each_kind_is_compiled_once(compiles):
    df = s2s.grad(norm)
    arguments = [2.0, np.float32(2.0), np.ones(2), np.ones(2, np.float32), np.ones((2, 2)), np.ones(())]
    for _ in range(3):
        for x in arguments:
            got = df(x)
            np.testing.assert_array_equal(got, 2 * x)
            assert np.shape(got) == np.shape(x)
    assert len(compiles) == len(arguments)


def test_gradients_made_anew_share_what_was_compiled(compiles):
    def step(k):
        return s2s.grad(lambda x: k * x * x)(3.0)

    assert [step(k) for k in (1.0, 2.0, 3.0)] == [6.0, 12.0, 18.0]
    assert len(compiles) == 1
    assert step(np.float64(2.0)) == 12.0
    assert len(compiles) == 2


@pytest.mark.parametrize(
    "others",
    [
        [[1.0, 2.0, 3.0], [1.0, 2, 3.0], (1.0, 2.0, 3.0), [1.0, 2.0]],
        [{"x": 1.0, "y": 2.0}, {"y": 2.0, "x": 1.0}, {"x": 1.0, "y": 2}],
        [Point(1.0, 2.0), Point(1.0, 2), (1.0, 2.0)],
        [Layer(np.ones(2), 1.0), Layer(1.0, 1.0), Layer(np.ones(2, np.float32), 1.0)],
        [types.SimpleNamespace(a=1.0, b=2.0), types.SimpleNamespace(a=1.0), types.SimpleNamespace(a=1.0, c=1.0)],
        [{1: [1.0, {"z": (2.0,)}]}, {1: [1.0, {"z": (2.0, 3.0)}]}, {2: [1.0, {"z": (2.0,)}]}],
    ],
)
def test_guards_tell_containers_apart(others):
    df = s2s.grad(lambda tree, x: x * x, "x")
    by_tree = s2s.grad(lambda tree, x: x * x, "tree")
    for _ in range(3):
        for tree in others:
            assert df(tree, 3.0) == 6.0
            got = by_tree(tree, 3.0)
            assert type(got) is type(tree)
    assert len(df.driver._routes) == len(others)


def test_functions_as_arguments_are_known_by_identity():
    def apply(g, x):
        return g(x)

    df = s2s.grad(apply, "x")
    for _ in range(3):
        assert df(lambda x: x * x, 3.0) == 6.0
        assert df(helper, 3.0) == 6.0
        assert df(np.negative, 3.0) == -1.0


def test_many_kinds_end_in_general_variants():
    def total(parts):
        s = 0.0
        for part in parts:
            s = s + part * part
        return s

    df = s2s.grad(total)
    for n in range(1, 2 * MAX_VARIANTS):
        parts = [float(i) for i in range(1, n + 1)]
        assert df(parts) == [2 * p for p in parts]
    assert len(df.driver._variants) <= MAX_VARIANTS + 2


# --- what the function relies on -----------------------------------------------------------------------------------


def test_a_redefined_helper_is_noticed(monkeypatch):
    df = s2s.grad(uses_helper)
    assert [df(3.0) for _ in range(3)] == [12.0] * 3
    monkeypatch.setitem(globals(), "helper", lambda x: x * x * x)
    assert [df(3.0) for _ in range(3)] == [54.0] * 3


def test_a_helper_with_new_code_is_noticed(monkeypatch):
    df = s2s.grad(uses_helper)
    assert [df(3.0) for _ in range(3)] == [12.0] * 3

    def other(x):
        return 5.0 * x

    monkeypatch.setattr(helper, "__code__", other.__code__)
    assert [df(3.0) for _ in range(3)] == [10.0] * 3


def test_a_helper_of_a_helper_is_noticed(monkeypatch):
    def outer(x):
        return uses_helper(x) + 1.0

    df = s2s.grad(outer)
    assert [df(3.0) for _ in range(3)] == [12.0] * 3
    monkeypatch.setitem(globals(), "helper", lambda x: 5.0 * x)
    assert [df(3.0) for _ in range(3)] == [10.0] * 3


def test_numbers_in_globals_are_read_live_and_their_kind_is_guarded(monkeypatch, compiles):
    df = s2s.grad(uses_helper)
    assert [df(3.0) for _ in range(3)] == [12.0] * 3
    count = len(compiles)
    monkeypatch.setitem(globals(), "RATE", 3.0)
    assert df(3.0) == 18.0
    assert len(compiles) == count
    monkeypatch.setitem(globals(), "RATE", np.array([[4.0]]))
    np.testing.assert_array_equal(df(3.0), 24.0)


def test_a_module_attribute_rebound_is_noticed(monkeypatch):
    module = types.ModuleType("module")
    module.scale = lambda x: 2.0 * x

    def f(x):
        return module.scale(x)

    df = s2s.grad(f)
    assert [df(3.0) for _ in range(3)] == [2.0] * 3
    module.scale = lambda x: 7.0 * x
    assert [df(3.0) for _ in range(3)] == [7.0] * 3


def test_closure_cells_are_read_live():
    k = 2.0

    def f(x):
        return k * x

    df = s2s.grad(f)
    assert [df(3.0) for _ in range(3)] == [2.0] * 3
    k = 5.0
    assert df(3.0) == 5.0
    k = np.array([7.0])
    np.testing.assert_array_equal(df(3.0), 7.0)


def test_a_global_container_with_another_content_is_noticed(monkeypatch):
    def f(x):
        return x * TABLE["k"]

    df = s2s.grad(f)
    assert [df(3.0) for _ in range(3)] == [2.0] * 3
    monkeypatch.setitem(TABLE, "k", np.array([4.0]))
    np.testing.assert_array_equal(df(3.0), 4.0)


def test_a_function_defined_after_its_decoration_is_found():
    df = s2s.grad(lambda x: later(x))

    def later(x):
        return x * x

    assert df(3.0) == 6.0


def test_a_parameter_hides_the_global_of_its_name():
    def inner(x):
        return helper(x)

    def f(x, helper):
        return inner(x) * helper

    df = s2s.grad(f)
    assert [df(3.0, 2.0) for _ in range(3)] == [12.0] * 3


def test_the_code_of_the_function_itself_may_change():
    def f(x):
        return x * x

    def g(x):
        return 5.0 * x

    df = s2s.grad(f)
    assert [df(3.0) for _ in range(3)] == [6.0] * 3
    f.__code__ = g.__code__
    assert [df(3.0) for _ in range(3)] == [5.0] * 3


def test_parameters_that_change_are_refused():
    def f(x):
        return x * x

    def g(y, z=3.0):
        return y * z

    df = s2s.grad(f)
    assert [df(3.0) for _ in range(3)] == [6.0] * 3
    f.__code__ = g.__code__
    with pytest.raises(s2s.ArgumentError, match="parameters of f have changed"):
        df(3.0)


def test_defaults_of_the_function_may_change():
    def f(x, k=2.0, *, m=1.0):
        return k * x * x * m

    df = s2s.grad(f, strict=True)
    assert [df(3.0) for _ in range(3)] == [12.0] * 3
    f.__defaults__ = (7.0,)
    assert [df(3.0) for _ in range(3)] == [42.0] * 3
    assert df(3.0, 2.0) == 12.0
    f.__kwdefaults__["m"] = 3.0
    assert df(3.0) == 126.0
    f.__kwdefaults__ = {"m": 2}
    assert [df(3.0) for _ in range(3)] == [84.0] * 3
    assert df(3.0, m=1.0) == 42.0
    assert s2s.jvp(f, (3.0,), (1.0,)) == (126.0, 84.0)


def test_defaults_that_are_gone_are_missing_arguments():
    def f(x, k=2.0, *, m=1.0):
        return k * x * x * m

    df = s2s.grad(f)
    assert [df(3.0) for _ in range(3)] == [12.0] * 3
    f.__defaults__ = None
    with pytest.raises(TypeError, match=r"missing 1 required positional argument: 'k'"):
        df(3.0)
    assert df(3.0, 1.0) == 6.0
    f.__defaults__ = (4.0,)
    del f.__kwdefaults__["m"]
    with pytest.raises(TypeError, match=r"missing 1 required keyword-only argument: 'm'"):
        df(3.0, 2.0)


def test_defaults_of_helpers_may_change():
    def helper(x, k=2.0, *, m=1.0):
        return k * x * m

    df = s2s.grad(lambda x: helper(x) * x, strict=True)
    assert [df(3.0) for _ in range(3)] == [12.0] * 3
    helper.__defaults__ = (7.0,)
    assert [df(3.0) for _ in range(3)] == [42.0] * 3
    helper.__kwdefaults__["m"] = 3.0
    assert [df(3.0) for _ in range(3)] == [126.0] * 3
    helper.__kwdefaults__ = {"m": 2.0}
    assert [df(3.0) for _ in range(3)] == [84.0] * 3
    assert s2s.grad(lambda x: helper(x) * x)(3.0) == 84.0


def test_code_and_defaults_of_methods_may_change():
    class Model:
        def apply(self, x, k=2.0):
            return k * x * x

    def other(self, x, k=1.0):
        return k * x

    model = Model()
    by_argument, by_name = s2s.grad(lambda x, model: model.apply(x)), s2s.grad(lambda x: model.apply(x))
    for _ in range(3):
        assert by_argument(3.0, model) == by_name(3.0) == 12.0
    Model.apply.__defaults__ = (3.0,)
    for _ in range(3):
        assert by_argument(3.0, model) == by_name(3.0) == 18.0
    Model.apply.__code__ = other.__code__
    for _ in range(3):
        assert by_argument(3.0, model) == by_name(3.0) == 3.0


# --- threads and time ----------------------------------------------------------------------------------------------


def test_threads_call_and_compile_one_function_at_once():
    def f(x, k):
        return np.sum(x * x) * k

    df = s2s.grad(f)
    arguments = [2.0, np.ones(3), np.ones((2, 2)), np.float32(3.0), np.ones(2, np.float32)]
    start = threading.Barrier(8)
    failures = []

    def work(offset):
        start.wait()
        try:
            for i in range(40):
                x = arguments[(i + offset) % len(arguments)]
                np.testing.assert_array_equal(df(x, 3.0), 6 * x)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(df.driver._variants) == len(arguments)
