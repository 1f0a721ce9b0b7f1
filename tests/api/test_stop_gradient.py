"""`stop_gradient`: a constant to derivatives of any mode and order, compiled and recorded."""

import numpy as np
import pytest

import s2s
from s2s.autograd.record import tape_value_and_grad


def held(x, w):
    """The derivative by x goes through one factor only."""
    return np.sum(np.sin(x) * s2s.stop_gradient(x * w) * w)


def held_expected(x, w):
    return np.cos(x) * x * w * w, np.sin(x) * x * w


def in_place(x):
    """What is written after the copy was made does not reach it, nor the other way round."""
    y = x * 2.0
    still = s2s.stop_gradient(y)
    y[0] = x[1] * x[1]
    still[1] = 3.0
    return np.sum(y * still)


def tree(p):
    fixed = s2s.stop_gradient(p)
    return np.sum(p["w"] ** 2) * fixed["b"] + np.sum(fixed["w"]) * p["b"]


@pytest.mark.parametrize("shape", [(3,), (2, 3), (0,)])
def test_reverse_forward_and_tape_agree(shape):
    x, w, dx, dw = np.random.default_rng(1).normal(size=(4, *shape))
    by_x, by_w = s2s.grad(held, (0, 1), strict=True)(x, w)
    expected = held_expected(x, w)
    np.testing.assert_allclose(by_x, expected[0])
    np.testing.assert_allclose(by_w, expected[1])
    recorded = tape_value_and_grad(held, ["x", "w"], (x, w))[2]
    np.testing.assert_allclose(recorded["x"], expected[0])
    np.testing.assert_allclose(recorded["w"], expected[1])
    out, slope = s2s.jvp(held, (x, w), (dx, dw), strict=True)
    assert out == held(x, w)
    np.testing.assert_allclose(slope, np.sum(expected[0] * dx + expected[1] * dw))


def test_numbers_and_second_derivatives():
    assert s2s.grad(lambda x: x * s2s.stop_gradient(x))(3.0) == 3.0
    assert s2s.grad(s2s.grad(lambda x: x**3 * s2s.stop_gradient(x)))(2.0) == 24.0
    x, d = np.random.default_rng(2).normal(size=(2, 4))
    w = np.ones(4)
    np.testing.assert_allclose(s2s.hvp(lambda v: held(v, w), (x,), (d,)), -np.sin(x) * x * d)
    assert type(s2s.stop_gradient(1.5)) is float
    assert s2s.stop_gradient(np.float32(1.5)).dtype == np.float32


def test_the_copy_shares_no_memory():
    x = np.random.default_rng(3).normal(size=3)
    y = 2 * x
    factors = np.array([y[0], 3.0, y[2]])
    expected = np.array([0.0, 2 * x[1] * factors[0] + 2 * 3.0, 2 * factors[2]])
    np.testing.assert_allclose(s2s.grad(in_place, strict=True)(x), expected)
    np.testing.assert_allclose(tape_value_and_grad(in_place, ["x"], (x,))[2]["x"], expected)
    assert not np.shares_memory(s2s.stop_gradient(x), x)


@pytest.mark.filterwarnings("ignore::s2s.FallbackWarning")
def test_pytrees():
    p = {"w": np.random.default_rng(4).normal(size=3), "b": 1.5}
    got = s2s.grad(tree)(p)
    np.testing.assert_allclose(got["w"], 2 * p["w"] * 1.5)
    np.testing.assert_allclose(got["b"], np.sum(p["w"]))


def test_eager_variables():
    v = s2s.Variable(np.array([1.0, 2.0]), requires_grad=True)
    s2s.backward(np.sum(v * s2s.stop_gradient(v)))
    np.testing.assert_array_equal(v.grad.numpy(), [1.0, 2.0])
