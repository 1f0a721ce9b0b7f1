"""Slopes that signs and bounds keep finite need no guard; all others have theirs."""

import numpy as np
import pytest

import s2s

# Of each operation only some entries count, so that a slope that is infinite elsewhere would need a guard.
STEADY = [
    lambda x: np.exp(-(x**2))[:1],
    lambda x: np.exp(-x * x)[:1],
    lambda x: np.exp(-0.5 * x**2 - np.abs(x))[:1],
    lambda x: (x / (1 + x**2))[:1],
    lambda x: (1 / (1.5 + np.exp(-np.abs(x))))[:1],
    lambda x: np.log(1.0 + x * x)[:1],
    lambda x: np.log1p(np.exp(-np.abs(x)))[:1],
    lambda x: np.sqrt(x**4 + 1)[:1],
    lambda x: np.exp(x - np.max(x))[:1],
    lambda x: np.exp(x - np.max(x, axis=1, keepdims=True))[:1],
    lambda x: np.exp(x - np.max(x, axis=1)[:, None])[:1],
    lambda x: np.exp(x - np.expand_dims(x.max(axis=0), 0))[:1],
    lambda x: np.log(np.sum(np.exp(x - np.max(x, axis=1)[:, None]), axis=1))[:1],
    lambda x: np.log(np.exp(x - np.max(x)).sum()) * x[:1],
]
STEEP = [
    lambda x: np.exp(x**2)[:1],
    lambda x: np.exp(x**3)[:1],
    lambda x: np.exp(-x * np.abs(x))[:1],
    lambda x: (x / (x**2 - 1))[:1],
    lambda x: (1 / x**2)[:1],
    lambda x: np.log(0.5 + x * x)[:1],
    lambda x: np.log1p(-np.abs(x))[:1],
    lambda x: np.sqrt(x**4)[:1],
    lambda x: np.exp(np.max(x) - x)[:1],
    lambda x: np.exp(x - np.max(x[:2], axis=1, keepdims=True)[:1])[:1],
    lambda x: np.exp(x - np.max(np.abs(x), axis=1, keepdims=True) + 1.0)[:1],
    lambda x: np.log(np.sum(np.exp(x - np.max(x, axis=1)[:, None]), axis=0))[:1],
    lambda x: np.log(np.mean(np.exp(x - np.max(x))))[None] * x[:1],
    lambda x: np.exp((x + 0.0) * -x.T)[:1],
]


def summed(f):
    return lambda x: np.sum(f(x))


@pytest.mark.parametrize("number", range(len(STEADY)))
def test_what_stays_finite_is_not_guarded(number, rng):
    f = STEADY[number]
    gradient = s2s.grad(summed(f))
    x = rng.normal(size=(4, 4))
    assert "guarded" not in gradient.source(x)
    for scale in (1.0, 30.0, 1e3):
        variable = s2s.Variable(scale * x, requires_grad=True)
        s2s.backward(np.sum(f(variable)))
        with np.errstate(all="ignore"):
            assert np.isfinite(gradient(scale * x)).all()
        np.testing.assert_allclose(gradient(scale * x), variable.grad.numpy(), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("number", range(len(STEEP)))
def test_what_may_not_stay_finite_is_guarded(number, rng):
    assert "guarded" in s2s.grad(summed(STEEP[number])).source(rng.normal(size=(4, 4)))


def test_a_name_that_changes_between_keeps_its_guard(rng):
    def f(x):
        z = x
        m = np.max(z)
        t = -z
        for _ in range(2):
            z = z * 2.0
        return np.sum(np.exp(z - m)[:1] + np.exp(t * z)[:1])

    def g(x):
        z = x
        for _ in range(2):
            m = np.max(z)
            z = z * 2.0
        return np.sum(np.exp(z - m)[:1])

    for function in (f, g):
        assert "guarded" in s2s.grad(function).source(rng.normal(size=3))


def test_integers_and_complex_numbers_have_no_sign(rng):
    z = rng.normal(size=3) + 1j * rng.normal(size=3)
    assert "guarded" in s2s.grad(lambda z: np.sum(np.abs(np.exp(-z * z)[:1]))).source(z)
