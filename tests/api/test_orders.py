"""Derivatives of any order, compiled: the gradient of generated code, again and again."""

import itertools
import math

import numpy as np
import pytest

import s2s


def again(derivative, f, order):
    for _ in range(order):
        f = derivative(f, strict=True)
    return f


def power(x):
    return x**6


def looped(x):
    y = 1.0
    for _ in range(6):
        y = y * x
    return y


def branching(x):
    if x > 0:
        return x**6
    return -(x**6)


def helper(x):
    return x * x


def called(x):
    return helper(x) * helper(helper(x))


@pytest.mark.parametrize(
    ("f", "order"), [*itertools.product([power, branching, called], [1, 2, 3, 4]), (looped, 1), (looped, 2)]
)
def test_gradients_of_gradients(f, order):
    want = math.perm(6, order) * 1.5 ** (6 - order)
    assert again(s2s.grad, f, order)(1.5) == pytest.approx(want)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_tangent_of_gradients_of_gradients(order):
    value, tangent = s2s.jvp(again(s2s.grad, power, order), (1.5,), (2.0,), strict=True)
    assert value == pytest.approx(math.perm(6, order) * 1.5 ** (6 - order))
    assert tangent == pytest.approx(2 * math.perm(6, order + 1) * 1.5 ** (5 - order))
    out, pullback = s2s.vjp(again(s2s.grad, power, order), 1.5, strict=True)
    assert (out, *pullback(2.0)) == pytest.approx((value, tangent))


@pytest.mark.parametrize(("f", "cycle"), [(np.sin, [np.sin, np.cos, lambda x: -np.sin(x), lambda x: -np.cos(x)])])
@pytest.mark.parametrize("order", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("shape", [(), (3,), (2, 0), (2, 2)])
def test_elementwise_derivatives(f, cycle, order, shape, rng):
    x = rng.normal(size=shape)
    found = again(s2s.elementwise_grad, f, order)(x)
    assert np.shape(found) == shape
    np.testing.assert_allclose(found, cycle[order % 4](x))


def test_elementwise_derivative_by_several_arguments_and_as_a_decorator():
    x = np.array([1.0, 2.0, 3.0])

    @s2s.elementwise_grad(argnums=("x", 1), strict=True)
    def f(x, y):
        return x * y**2

    by_x, by_y = f(x, x)
    np.testing.assert_array_equal(by_x, x**2)
    np.testing.assert_array_equal(by_y, 2 * x**2)
    assert f(x, 2.0)[1] == 4 * np.sum(x)
    assert s2s.elementwise_grad(np.tanh, strict=True)(x.astype("f4")).dtype == np.float32

    class Curve:
        @s2s.elementwise_grad
        def slope(self, x):
            return x**2

    np.testing.assert_array_equal(Curve().slope(x), 2 * x)


def test_elementwise_derivative_is_not_taken_for_the_gradient():
    def f(x):
        return x**3

    assert s2s.grad(f, strict=True)(2.0) == 12.0
    np.testing.assert_array_equal(s2s.elementwise_grad(f, strict=True)(np.ones(2)), [3, 3])
    with pytest.raises(s2s.ArgumentError, match="needs a scalar"):
        s2s.grad(f, strict=True)(np.ones(2))


def test_elementwise_derivative_on_the_tape():
    def f(x):
        parts = [None, x**3]
        parts.remove(None)
        return parts[0]

    x = np.array([1.0, 2.0])
    with pytest.warns(s2s.FallbackWarning, match="f could not be compiled"):
        np.testing.assert_allclose(s2s.elementwise_grad(f)(x), 3 * x**2)
    with pytest.warns(s2s.FallbackWarning):
        np.testing.assert_allclose(s2s.elementwise_grad(s2s.elementwise_grad(f))(x), 6 * x)


def test_third_derivatives_by_jacobians():
    def f(x):
        return np.sum(x**4) * x[0]

    x = np.array([1.0, 2.0])
    third = s2s.jacobian(s2s.grad(lambda x: np.sum(x**4)), strict=True)
    np.testing.assert_allclose(third(x), np.diag(12 * x**2))
    trace = s2s.hessian(s2s.grad(lambda x: x**5), strict=True)
    assert trace(2.0) == pytest.approx(240.0)
    np.testing.assert_allclose(s2s.hessian(f, strict=True)(x)[1], [4 * 8.0, 12 * 4.0])
