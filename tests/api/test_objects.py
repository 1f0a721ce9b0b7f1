"""Methods, and objects among the arguments: compiled for the class and the attributes' kinds, which are read live."""

from __future__ import annotations

import numpy as np
import pytest

import s2s
from s2s.errors import UnsupportedSyntaxError

X = np.array([1.0, 2.0, 3.0])


def make_class():
    """A class of its own for each test, which may change it."""

    class Model:
        scale = 2.0

        def __init__(self, w):
            self.w = w
            self.seen = 0
            self.activation = np.tanh
            self.inner = None

        def energy(self, x):
            self.seen += 1
            return np.sum(self.w * x * x) * self.scale + self.bias(x[0]) + self(x) + np.sum(self.activation(x))

        @staticmethod
        def bias(v):
            return 3.0 * v

        @property
        def half(self):
            return self.w / 2.0

        def __call__(self, x):
            return np.sum(self.half * x)

        def deep(self, x):
            return self.inner.energy(x) * self.inner.inner.w

        def endless(self, x):
            return self.endless(x)

    return Model


def slope(model, x):
    return 2 * model.scale * model.w * x + np.array([3.0, 0, 0]) + model.w / 2 + 1 - np.tanh(x) ** 2


def test_bound_method_with_properties_and_methods_of_its_own():
    model = make_class()(np.array([1.0, 2.0, 4.0]))
    gradient = s2s.grad(model.energy, strict=True)
    np.testing.assert_allclose(gradient(X), slope(model, X))
    np.testing.assert_allclose(gradient(X), slope(model, X))
    assert model.seen == 2
    assert gradient.fallbacks == []


def test_attributes_are_read_live_whatever_they_become():
    model = make_class()(np.array([1.0, 2.0, 4.0]))
    gradient = s2s.grad(model.energy, strict=True)
    for w in (np.array([2.0, 1.0, 1.0]), 2.0, np.float32(3.0), 5):
        for _ in range(3):
            model.w = w
            np.testing.assert_allclose(gradient(X), slope(model, X), rtol=1e-6)
    model.scale = -1.0
    np.testing.assert_allclose(gradient(X), slope(model, X))


def test_methods_and_properties_that_are_redefined():
    cls = make_class()
    model = cls(np.ones(3))
    gradient = s2s.grad(model.energy, strict=True)
    for _ in range(3):
        before = gradient(X)
    cls.bias = staticmethod(lambda v: 5.0 * v)
    np.testing.assert_allclose(gradient(X) - before, [2.0, 0, 0])
    cls.half = property(lambda self: self.w)
    np.testing.assert_allclose(gradient(X) - before, [2.5, 0.5, 0.5])
    cls.__call__ = lambda self, x: x[1]
    np.testing.assert_allclose(gradient(X) - before, [1.5, 0.5, -0.5])
    model.activation = np.sin
    np.testing.assert_allclose(gradient(X) - before, np.array([1.5, 0.5, -0.5]) + np.cos(X) - 1 + np.tanh(X) ** 2)


def test_globals_of_methods_are_followed():
    class Model:
        def energy(self, x):
            return self.inner(x)

        def inner(self, x):
            return np.sum(_helper(x) * self.w)

    model = Model()
    model.w = 1.0
    gradient = s2s.grad(model.energy, strict=True)
    for _ in range(3):
        np.testing.assert_array_equal(gradient(X), [2.0, 2.0, 2.0])
    global _helper
    before, _helper = _helper, _other_helper
    try:
        np.testing.assert_array_equal(gradient(X), [7.0, 7.0, 7.0])
    finally:
        _helper = before


def _helper(v):
    return 2.0 * v


def _other_helper(v):
    return 7.0 * v


def test_methods_of_global_objects_are_guarded():
    class Model:
        def energy(self, x):
            return _helper(x) * self.other(x)

        def other(self, x):
            return x

        @staticmethod
        def shift(x):
            return x + 1.0

    model = Model()

    def fun(x):
        return model.energy(x) + model.shift(x)

    gradient = s2s.grad(fun, strict=True)
    for _ in range(3):
        assert gradient(2.0) == 9.0
    global _helper
    before, _helper = _helper, _other_helper
    try:
        assert gradient(2.0) == 29.0
    finally:
        _helper = before
    Model.other = lambda self, x: 1.0
    Model.shift = staticmethod(lambda x: 5.0 * x)
    assert gradient(2.0) == 7.0


def test_objects_in_attributes_and_as_arguments():
    cls = make_class()
    model = cls(np.ones(3))
    model.inner = cls(np.array([1.0, 2.0, 4.0]))
    model.inner.inner = cls(4.0)

    def fun(model, x):
        return model.deep(x) + model.inner(x)

    expected = 4.0 * slope(model.inner, X) + model.inner.w / 2
    np.testing.assert_allclose(s2s.grad(fun, argnums="x", strict=True)(model, X), expected)


def test_subclasses_have_variants_of_their_own():
    cls = make_class()

    class Sub(cls):
        @staticmethod
        def bias(v):
            return 10.0 * v

    gradient = s2s.grad(lambda model, x: model.bias(x[0]), argnums=1, strict=True)
    for _ in range(3):
        assert gradient(cls(1.0), X)[0] == 3.0
        assert gradient(Sub(1.0), X)[0] == 10.0


def test_an_attribute_that_changes_its_kind_in_the_function_is_refused():
    def fun(model, x):
        model.w = 3
        return np.sum(model.w * x)

    model = make_class()(np.ones(3))
    with pytest.raises(UnsupportedSyntaxError, match="in-place"):
        s2s.grad(fun, argnums=1, strict=True)(model, X)


def test_a_function_that_is_not_known_may_change_an_object():
    def fun(model, x, change):
        change(model)
        return np.sum(model.w * x)

    with pytest.raises(UnsupportedSyntaxError):
        s2s.grad(fun, argnums=1, strict=True)(make_class()(np.ones(3)), X, vars)


def test_endless_methods_are_refused():
    with pytest.raises(UnsupportedSyntaxError):
        s2s.grad(make_class()(1.0).endless, strict=True)(X)


def test_attributes_that_are_computed_are_not_known():
    class Lazy:
        def __getattr__(self, name):
            return 2.0

    with pytest.raises(UnsupportedSyntaxError):
        s2s.grad(lambda model, x: np.sum(x * model.w), argnums=1, strict=True)(Lazy(), X)
    with pytest.warns(s2s.FallbackWarning):
        gradient = s2s.grad(lambda model, x: np.sum(x * model.w), argnums=1)(Lazy(), X)
    np.testing.assert_array_equal(gradient, [2.0, 2.0, 2.0])
