"""Functions that return a value on some paths only: exact on these, refused on the others, compiled in any case."""

import numpy as np
import pytest

import s2s


def root(a, tolerance):
    """A square root, by steps that are returned from as soon as they are small."""
    x = a
    for _ in range(60):
        step = (x * x - a) / (2.0 * x)
        x = x - step
        if abs(step) < tolerance:
            return x


def chosen(x, how):
    if how == "none":
        return None
    if how == "bare":
        return
    if how == "square":
        return np.sum(x * x)
    return np.sum(np.sin(x)) if how == "sine" else None


def through(x, how):
    """What a helper returns may be None."""
    found = chosen(x, how)
    return np.sum(x) if found is None else found * 2.0


def started(x, n):
    """None is a value like any other in the function's own variables."""
    best = None
    for i in range(n):
        if best is None or x[i] > best:
            best = x[i]
    return best


@pytest.mark.parametrize("a", [0.3, 2.0, 7.5])
def test_returned_from_a_loop(a):
    slope = 0.5 / np.sqrt(a)
    np.testing.assert_allclose(s2s.grad(root, strict=True)(a, 1e-13), slope, rtol=1e-12)
    np.testing.assert_allclose(s2s.jvp(root, (a, 1e-13), (2.0, 0.0))[1], 2 * slope, rtol=1e-12)
    np.testing.assert_allclose(s2s.grad(s2s.grad(root))(a, 1e-13), -0.25 / a**1.5, rtol=1e-10)
    value, pullback = s2s.vjp(root, a, 1e-13)
    assert value == root(a, 1e-13)
    np.testing.assert_allclose(pullback(3.0)[0], 3 * slope, rtol=1e-12)
    with pytest.raises(s2s.ArgumentError, match=r"root\(\) returned None"):
        s2s.grad(root, strict=True)(a, -1.0)


@pytest.mark.parametrize("shape", [(), (4,), (2, 3)])
def test_every_way_to_return_none(shape):
    x = np.random.default_rng(5).normal(size=shape)
    derivative = s2s.grad(chosen, strict=True)
    np.testing.assert_allclose(derivative(x, "square"), 2 * x)
    np.testing.assert_allclose(derivative(x, "sine"), np.cos(x))
    for how in ("none", "bare", "other"):
        with pytest.raises(s2s.ArgumentError, match=r"chosen\(\) returned None"):
            derivative(x, how)


@pytest.mark.filterwarnings("ignore::s2s.FallbackWarning")
def test_helpers_and_variables_may_be_none():
    x = np.random.default_rng(6).normal(size=4)
    np.testing.assert_allclose(s2s.grad(through)(x, "none"), np.ones(4))
    np.testing.assert_allclose(s2s.grad(through)(x, "sine"), 2 * np.cos(x))
    np.testing.assert_array_equal(s2s.grad(started)(x, 4), np.arange(4) == np.argmax(x))
    with pytest.raises(s2s.ArgumentError, match="None"):
        s2s.grad(started)(x, 0)


def test_a_lambda_is_called_one():
    with pytest.raises(s2s.ArgumentError, match=r"<lambda>\(\) returned None"):
        s2s.grad(lambda x: x * x if x > 0 else None)(-1.0)
