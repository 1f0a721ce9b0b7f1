"""Methods run as they are within a record, and never take a recorded value for another type without a word."""

import collections
import dataclasses
import functools
import types

import numpy as np
import pytest

from s2s.autograd.record import tape_gradient, tape_value_and_grad
from s2s.errors import UnsupportedSyntaxError


def by_type(x):
    return 2.0 * x if type(x) is float else 3.0 * x


def by_isinstance(x):
    return 2.0 * x if isinstance(x, float) else 3.0 * x


def methods(rule, property_rule):
    """Objects whose methods, of all sorts, follow a rule that looks at the type of a number."""

    class Base:
        value = 1.5

        def plain(self, x):
            return rule(x)

        @staticmethod
        def static(x):
            return rule(x)

        @classmethod
        def of_class(cls, x):
            return rule(x)

        @property
        def parameter(self):
            return property_rule(self)

        def __call__(self, x):
            return rule(x)

        def __mul__(self, x):
            return rule(x)

        def __getitem__(self, x):
            return rule(x)

    class Child(Base):
        def through_super(self, x):
            return super().plain(x)

        def through_other(self, x):
            return self.plain(x) + 0.0 * x

    return Child


def property_by_type(self):
    return by_type(self.value)


def property_by_isinstance(self):
    return by_isinstance(self.value)


USES = [
    lambda o, x: o.plain(x),
    lambda o, x: o.static(x),
    lambda o, x: o.of_class(x),
    lambda o, x: o(x),
    lambda o, x: o * x,
    lambda o, x: o[x],
    lambda o, x: o.through_super(x),
    lambda o, x: o.through_other(x),
    lambda o, x: getattr(o, "pl" + "ain")(x),
    lambda o, x: type(o).plain(o, x),
    lambda o, x: [o][0].plain(x),
    lambda o, x: list(map(o.plain, [x]))[0],
    lambda o, x: functools.partial(o.plain, x)(),
]


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("how", ["argument", "name", "list", "made", "attribute"])
def test_types_in_methods_are_right_or_refused(use, how):
    def gradient(cls):
        kept = cls()
        held = [cls()]
        outer = types.SimpleNamespace(inner=cls())
        if how == "argument":
            return tape_value_and_grad(lambda x, o: use(o, x), ["x"], (5.0, cls()))[2]["x"]
        made = {
            "name": lambda x: use(kept, x),
            "list": lambda x: use(held[0], x),
            "made": lambda x: use(cls(), x),
            "attribute": lambda x: use(outer.inner, x),
        }[how]
        return tape_gradient(made, ["x"], (5.0,))["x"]

    assert gradient(methods(by_isinstance, property_by_isinstance)) == 2.0
    with pytest.raises(UnsupportedSyntaxError, match="by_type asks for the type of a value"):
        gradient(methods(by_type, property_by_isinstance))


def test_types_in_properties():
    def f(x, o):
        o.value = x
        return o.parameter

    assert tape_gradient(f, ["x"], (5.0, methods(by_isinstance, property_by_isinstance)()))["x"] == 2.0
    with pytest.raises(UnsupportedSyntaxError, match="by_type"):
        tape_gradient(f, ["x"], (5.0, methods(by_isinstance, property_by_type)()))


def test_types_in_dataclasses():
    @dataclasses.dataclass
    class Rate:
        value: float

        def __post_init__(self):
            if type(self.value) is not float:
                self.value = 0.0

        def of(self, x):
            return self.value * x

    def f(x):
        return Rate(x).of(x)

    with pytest.raises(UnsupportedSyntaxError, match="__post_init__ asks"):
        tape_gradient(f, ["x"], (5.0,))
    # no rate is made here
    rate = types.SimpleNamespace(inner=Rate(3.0))
    assert tape_gradient(lambda x: rate.inner.of(x), ["x"], (5.0,))["x"] == 3.0


@pytest.mark.parametrize(
    "table", [{"f": by_type}, [by_type], (by_type,), collections.deque([by_type]), {"f": functools.lru_cache(by_type)}]
)
def test_types_in_functions_that_containers_hold(table):
    key = "f" if isinstance(table, dict) else 0
    with pytest.raises(UnsupportedSyntaxError, match="by_type"):
        tape_gradient(lambda x: table[key](x), ["x"], (5.0,))


def test_functions_that_are_rebuilt_may_ask():
    class Model:
        def energy(self, x):
            return by_type(x) if type(x) is float else 0.0

    class Scale:
        rate = 4.0

        def __call__(self, x):
            return self.rate * x if type(x) is float else 0.0

    assert tape_gradient(by_type, ["x"], (5.0,))["x"] == 2.0
    assert tape_gradient(lambda x, f: f(x), ["x"], (5.0, by_type))["x"] == 2.0
    assert tape_gradient(Model().energy, ["x"], (5.0,))["x"] == 2.0
    assert tape_gradient(Model.energy, ["x"], (Model(), 5.0))["x"] == 2.0
    assert tape_gradient(Scale(), ["x"], (5.0,))["x"] == 4.0
    assert tape_gradient(Scale.__call__, ["x"], (Scale(), 5.0))["x"] == 4.0


def test_the_type_of_the_object_itself_may_be_asked():
    class Model:
        def __init__(self, rate):
            self.rate = rate

        def __repr__(self):
            return f"{type(self).__name__}({self.rate})"

        def __eq__(self, other):
            return type(other) is type(self)

        def unused(self, x):
            return type(x)

        def scaled(self, by):
            return type(self)(self.rate * by)

        def named(self, x):
            return {n: x for n in [type(self).__name__]}["Model"]

    def f(x, model):
        assert isinstance(model, object)
        return model.scaled(x).rate + model.named(x)

    assert tape_gradient(f, ["x"], (5.0, Model(3.0)))["x"] == 4.0


def test_the_error_shows_the_place():
    class Model:
        def rate(self, x):
            return 2.0 if type(x) is float else 3.0

    with pytest.raises(UnsupportedSyntaxError) as caught:
        tape_gradient(lambda x, m: m.rate(x) * x, ["x"], (5.0, Model()))
    text = str(caught.value)
    assert "Model.rate asks for the type" in text.replace("test_the_error_shows_the_place.<locals>.", "")
    assert "return 2.0 if type(x) is float else 3.0" in text
    assert "isinstance(x, float)" in text


def test_objects_that_hold_themselves_end_the_search():
    class Node:
        def __init__(self):
            self.next, self.weights = self, {"w": np.ones(2)}

        def value(self, x):
            return self.next.weights["w"][0] * x

    assert tape_gradient(lambda x, n: n.value(x), ["x"], (5.0, Node()))["x"] == 1.0


def test_methods_of_installed_packages_count_too(tmp_path, monkeypatch):
    module = types.ModuleType("installed_elsewhere")
    module.__file__ = str(tmp_path / "installed_elsewhere.py")
    text = """
class Scale:
    def asks(self, x):
        return 2.0 * x if type(x) is float else 3.0 * x

    def asks_of_itself(self, x):
        return 2.0 * x if type(self) is Scale else 3.0 * x

    def plain(self, x):
        return 2.0 * x
"""
    (tmp_path / "installed_elsewhere.py").write_text(text)
    exec(compile(text, module.__file__, "exec"), vars(module))
    monkeypatch.setitem(__import__("sys").modules, "installed_elsewhere", module)
    monkeypatch.setattr("s2s.runtime.installed._roots", lambda: (str(tmp_path),))
    scale = module.Scale()

    def refused(x):
        return scale.asks(x)

    with pytest.raises(UnsupportedSyntaxError, match=r"Scale\.asks asks for the type"):
        tape_gradient(refused, ["x"], (3.0,))
    assert tape_gradient(lambda x: scale.asks_of_itself(x), ["x"], (3.0,)) == {"x": 2.0}
    assert tape_gradient(lambda x: scale.plain(x), ["x"], (3.0,)) == {"x": 2.0}
    assert tape_gradient(lambda x, s: s.plain(x), ["x"], (3.0, scale)) == {"x": 2.0}
