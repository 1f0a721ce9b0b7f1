"""Objects that a function finds by name, a model of the module for one: their attributes and methods are compiled."""

import copy
import sys
import types

import numpy as np
import pytest

import s2s
from tests.programs.verify import verify

RNG = np.random.default_rng(0)


class Layer:
    gain = 1.5

    def __init__(self, slope):
        self.slope = slope
        self.calls = 0
        self.w = RNG.uniform(0.5, 1.5, 3)

    @property
    def twice(self):
        return self.slope * 2.0

    @classmethod
    def scaled(cls, x):
        return x * cls.gain

    @staticmethod
    def squared(x):
        return x * x

    def at(self, x):
        return self.slope * x + 0.1

    def __call__(self, x):
        return self.at(x) * self.gain

    def __mul__(self, x):
        return self.slope * x * x


class Model:
    def __init__(self):
        self.layer = Layer(0.3)
        self.biases = [1.0, 2.0]
        self.tables = {"k": RNG.uniform(0.5, 1.5, 3)}

    def predict(self, x):
        inner = self.layer
        return inner(x) * inner.slope + self.biases[1] * x


layer = Layer(0.7)
model = Model()


def methods(x):
    return layer.at(x[0]) * layer.at(x[1]) * layer(x[0]) + layer.scaled(x[0]) * layer.squared(x[1])


def attributes(x):
    return layer.slope * x[0] * layer.gain + layer.twice * np.sum(layer.w * x) * x[1]


def operators(x):
    return (layer * x[0]) * (model.layer * x[1])


def inner(x):
    return model.predict(x[0]) * model.layer.slope * model.biases[0] + np.sum(model.tables["k"] * x * x)


def under_another_name(x):
    one, other = layer, model.layer
    s = 0.0
    for k in range(3):
        s = s + one.at(x[0]) * other.slope * k + other(x[1]) * one.twice
    return s


def used(thing, x):
    return thing.at(x) * thing.slope * thing.gain


def passed(x):
    return used(layer, x[0]) * used(model.layer, x[1])


def copied(x):
    w = np.copy(layer.w)
    w[0] = x[0] * w[1]
    v = model.tables["k"] * x
    v[1:] *= w[0]
    return np.sum(w * v)


def counted(x):
    layer.calls = layer.calls + 1
    return layer.at(x[0]) * x[1] + layer.calls * 0.0


@pytest.mark.parametrize(
    "f", [methods, attributes, operators, inner, under_another_name, passed, copied, counted], ids=lambda f: f.__name__
)
def test_what_is_read_of_global_objects_is_compiled(f):
    before = copy.deepcopy((layer.slope, layer.w, model.biases, model.tables))
    outcome = verify(f, (RNG.uniform(0.3, 1.5, 3),), second=f is not counted)
    assert outcome.compiled and outcome.finite, outcome
    np.testing.assert_equal((layer.slope, layer.w, model.biases, model.tables), before)


TEXT = """
import numpy as np

class Layer:
    gain = 2.0
    def __init__(self, slope):
        self.slope = slope
    def at(self, x):
        return self.slope * x * x * self.gain

class Other(Layer):
    def at(self, x):
        return self.slope * x * x * x

class Model:
    def __init__(self):
        self.layer = Layer(0.5)

layer, model = Layer(0.5), Model()
"""


def module(text, tmp_path):
    """A module of its own, with a copy of the classes and objects, and `f` and what it calls."""
    name = f"objects_of_{len(list(tmp_path.iterdir()))}"
    made = types.ModuleType(name)
    made.__file__ = str(tmp_path / f"{name}.py")
    (tmp_path / f"{name}.py").write_text(TEXT + text)
    sys.modules[name] = made
    exec(compile(TEXT + text, made.__file__, "exec"), vars(made))
    return made


CHANGES = {
    "another number": lambda m: setattr(m.layer, "slope", 1.7),
    "an array for a number": lambda m: setattr(m.layer, "slope", np.float64(0.2)),
    "another object": lambda m: setattr(m, "layer", m.Layer(0.9)),
    "an object of another class": lambda m: setattr(m, "layer", m.Other(0.9)),
    "another class": lambda m: setattr(m.layer, "__class__", m.Other),
    "an object in an object": lambda m: setattr(m.model, "layer", m.Other(1.1)),
    "an attribute of the class": lambda m: setattr(m.Layer, "gain", 3.0),
    "an attribute that hides that of the class": lambda m: setattr(m.layer, "gain", 4.0),
    "a method": lambda m: setattr(m.Layer, "at", lambda self, x: self.slope * x),
    "a method of one object": lambda m: setattr(m.layer, "at", lambda x: 5.0 * x),
}


@pytest.mark.parametrize("change", CHANGES)
def test_changes_between_calls_are_noticed(change, tmp_path):
    made = module("def f(x):\n    own = layer\n    return layer.at(x) * own.at(x) + model.layer.at(x) * x\n", tmp_path)
    gradient = s2s.value_and_grad(made.f)
    for act in (lambda m: None, CHANGES[change], lambda m: None):
        act(made)
        for _ in range(3):
            value, slope = gradient(0.8)
            assert value == made.f(0.8)
            expected = (made.f(0.8 + 1e-6) - made.f(0.8 - 1e-6)) / 2e-6
            assert slope == pytest.approx(expected, rel=1e-7)


PUTS = {
    "an attribute": "    layer.slope = layer.slope + 1.0",
    "an object": "    global layer\n    layer = Other(layer.slope + 1.0)",
    "an object in one": "    model.layer = Other(model.layer.slope + 1.0)",
    "an attribute of the class": "    Layer.gain += 1.0",
}
READS = ["layer.slope", "layer.at(1.5)", "layer.gain", "model.layer.slope", "model.layer.at(0.5)", "used(2, layer)"]
BODIES = [
    "    y = {read} * x * x\n    put(2)\n    return y * {read} * x",
    "    s = x\n    for k in range(3):\n        s = s * {read} * s\n        put(1)\n    return s",
    "    own, inner = layer, model\n    y = {read} * x * x\n    put(1)\n    return y * {read} * x",
]


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("put", PUTS)
def test_what_is_put_there_while_the_function_runs_is_seen(put, read, tmp_path):
    helpers = f"def put(n):\n    if n > 0:\n        put(n - 1)\n{PUTS[put]}\n"
    helpers += "def used(n, own):\n    return own.at(0.5) if n == 0 else used(n - 1, own) * 1.25\n"
    for body in BODIES:
        form = (
            read
            if "own" not in body
            else read.replace("model.", "inner.").replace("layer.", "own.", "inner" not in read)
        )
        text = f"{helpers}def f(x):\n{body.format(read=form if 'inner.own' not in form else read)}\n"
        fresh = lambda text=text: module(text, tmp_path)  # noqa: E731  # each run changes its objects
        with pytest.warns(s2s.FallbackWarning) if put in PUTS else None:
            value, slope = s2s.value_and_grad(fresh().f)(0.8)
        assert value == fresh().f(0.8)
        expected = (fresh().f(0.8 + 1e-6) - fresh().f(0.8 - 1e-6)) / 2e-6
        assert slope == pytest.approx(expected, rel=1e-6), text
