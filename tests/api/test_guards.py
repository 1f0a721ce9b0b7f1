"""Guards: an expression holds for values of a kind, and for no others."""

import dataclasses
import math
import types

import numpy as np
import pytest

import s2s
from s2s import kinds as K
from s2s.compiler.argnums import Selection, Wanted, select
from s2s.compiler.guards import Bindings, conditions
from s2s.compiler.layout import Layout, layout_of
from s2s.compiler.reliance import Path, free_paths, relies_on


@dataclasses.dataclass
class Pair:
    a: object
    b: object


class Other:
    pass


VALUES = [
    1, True, 1.0, 1j, "s", None, np.float32(1.0), np.float64(1.0), np.ones(2), np.ones((2, 2)), np.ones(2, np.float32),
    np.ones(2, ">f8"), np.ones(2, int), (1.0,), (1.0, 2), [1.0], [1.0, [2.0]], {"a": 1.0}, {"a": 1}, {"b": 1.0},
    {"a": 1.0, "b": 2.0}, {"b": 2.0, "a": 1.0}, Pair(1.0, 2), Pair(1.0, [1.0]), types.SimpleNamespace(a=1.0),
    types.SimpleNamespace(a=1), types.SimpleNamespace(a=1.0, b=1.0), range(3), slice(1), np, math.sin, len, Other(),
    Other().__init__, np.dtype(float), np.zeros((), [("x", float)]), np.datetime64("2020-01-01", "D"),
    np.datetime64(1, "s"), {(1, 2): 1.0},
]  # fmt: skip


def holds(kind, example, value):
    bind = Bindings()
    expression = " and ".join(conditions("x", kind, example, bind))
    try:
        return eval(expression, {"x": value, **bind.values})
    except (AttributeError, TypeError, KeyError):  # as a dispatch function does, take it for a miss
        return False


@pytest.mark.parametrize("index", range(len(VALUES)))
def test_guard_holds_for_values_of_its_kind_only(index):
    example = VALUES[index]
    kind = K.of(example)
    assert holds(kind, example, example)
    for value in VALUES:
        if K.of(value) != kind or (kind == K.UNKNOWN and type(value) is not type(example)):
            assert not holds(kind, example, value)


def test_guard_of_a_general_kind_takes_any_length():
    kind = K.Sequence(K.Tuple((K.FLOAT, K.Array(np.dtype(float), 1))), list)
    example = [(1.0, np.ones(2))]
    assert holds(kind, example, example * 5)
    assert holds(kind, example, [])
    assert not holds(kind, example, [*example, (1.0, 2.0)])
    assert not holds(kind, example, tuple(example))


def test_free_paths_of_a_function():
    outer = 1.0

    def f(x):
        def inner(y):
            return y + outer + x + np.linalg.norm(y)

        return [inner(v) * math.pi for v in x]

    found = set(free_paths(f.__code__))
    assert found == {Path(("outer",), True), Path(("np", "linalg", "norm"), False), Path(("math", "pi"), False)}


def test_attributes_of_objects_are_not_run():
    class Settings:
        @property
        def rate(self):
            raise AssertionError("a property was run")

    settings = Settings()
    settings_of = types.SimpleNamespace(rate=2.0)

    def f(x):
        return x * settings.rate * settings_of.rate

    facts = {fact.path.names: fact.kind for fact in relies_on(f).facts}
    rate = K.Method(Settings.rate.fget, is_property=True)
    assert facts[("settings",)] == K.Object(Settings, (("rate", rate),))
    assert facts[("settings_of", "rate")] == K.FLOAT


def test_layout_reads_the_parameters_of_the_code():
    def f(a, /, b, c=1, *rest, d, e=2, **more):
        pass

    layout = layout_of(f)
    assert layout == Layout(("a",), ("b", "c"), "rest", ("d", "e"), "more")
    assert layout.names == ("a", "b", "c", "rest", "d", "e", "more")
    assert layout.seed == "out_bar2"
    assert list(layout.arguments()) == ["a", "b", "c", "*rest", "d=d", "e=e", "**more"]
    assert layout.spread(dict(a=1, b=2, c=3, rest=(4,), d=5, e=6, more={"z": 7})) == ([1, 2, 3, 4], dict(d=5, e=6, z=7))


def test_selection_counts_after_what_is_bound():
    layout = Layout((), ("self", "a", "b"), "rest", ("k",), "more")
    selection = select(layout, (0, "k", 2, "other"), bound=1)
    assert selection.wanted == (Wanted("a"), Wanted("k"), Wanted("rest", 0), Wanted("more", "other"))
    assert selection.params == ("a", "k", "rest", "more")
    assert selection.pick([1, 2, (3, 4), {"other": 5}]) == (1, 2, 3, 5)
    assert Selection((Wanted("a"),), single=True).pick([1]) == 1


class Scaling:
    def __init__(self, rate):
        self.rate = rate

    def apply(self, x):
        return x * x if self.rate > 2.0 else x


SCALING = Scaling(2.0)


def test_method_of_a_global_object_that_is_rebound(monkeypatch):
    def f(x):
        return SCALING.apply(x)

    df = s2s.grad(f, strict=True)
    assert [df(3.0) for _ in range(3)] == [1.0, 1.0, 1.0]
    monkeypatch.setitem(globals(), "SCALING", Scaling(3.0))
    assert [df(3.0) for _ in range(3)] == [6.0, 6.0, 6.0]
    monkeypatch.setattr(SCALING, "rate", 1.0)
    assert df(3.0) == 1.0


def test_method_of_an_object_in_a_cell_that_is_made_anew():
    def made(scaling):
        return s2s.grad(lambda x: scaling.apply(x), strict=True)

    assert [made(Scaling(rate))(3.0) for rate in (2.0, 3.0, 2.0)] == [1.0, 6.0, 1.0]


def library(slope):
    """A module that has a `__getattr__`, as NumPy has, with a function and a module that holds it."""
    made = types.ModuleType("library")
    made.inner = types.ModuleType("library.inner")
    made.function = made.inner.function = slope
    made.__getattr__ = lambda name: np.cos if name == "function" else made.inner.missing
    return made


class Computing(types.ModuleType):
    function = property(lambda self: np.cos)


LIBRARY, LATER = library(np.sin), library(np.cos)
CHANGES = {
    "an attribute is rebound": lambda: setattr(LIBRARY, "function", np.cos),
    "an attribute is deleted": lambda: delattr(LIBRARY, "function"),
    "an attribute of a module in it is rebound": lambda: setattr(LIBRARY.inner, "function", np.cos),
    "a module in it is replaced": lambda: setattr(LIBRARY, "inner", LATER.inner),
    "it is replaced": lambda: globals().update(LIBRARY=LATER),
    "its class is replaced": lambda: setattr(LIBRARY, "__class__", Computing),
}


def of_library(x):
    return LIBRARY.inner.function(x) + LIBRARY.function(x)


@pytest.mark.parametrize("change", CHANGES)
def test_what_a_module_holds_is_noticed_when_it_changes(change, monkeypatch):
    monkeypatch.setitem(globals(), "LIBRARY", library(np.sin))
    df = s2s.grad(of_library, strict=True)
    assert [df(0.5) for _ in range(3)] == [2 * np.cos(0.5)] * 3
    CHANGES[change]()
    assert [df(0.5) for _ in range(3)] == [second_slope() for _ in range(3)]


def second_slope():
    """The derivative of `of_library` by what its names mean now."""
    slopes = {np.sin: np.cos(0.5), np.cos: -np.sin(0.5)}
    return slopes[LIBRARY.inner.function] + slopes[LIBRARY.function]
