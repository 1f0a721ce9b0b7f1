"""Random draws move with the parameters of their distribution."""

import re

import numpy as np
import pytest

import s2s
from s2s.autograd.record import tape_value_and_grad
from tests.rules.modes import assert_all_modes, written

RNG = np.random.default_rng(11)
X, W = RNG.normal(size=(2, 3)), RNG.uniform(0.5, 2.0, 3)
CALLS = [
    ("normal(a, b)", X, W), ("normal(a, b, size=(2, 3))", 0.3, W), ("normal(a)", X), ("normal(scale=a)", W),
    ("laplace(a, b)", X, W), ("logistic(a, b)", X, W), ("gumbel(a, b)", X, W), ("exponential(a)", W),
    ("rayleigh(a, (4, 3))", W), ("gamma(2.0, a)", W), ("lognormal(a, b)", X, W), ("uniform(a, b)", -W, W),
    ("uniform(a, b, 5)", -0.5, 0.5), ("weibull(a)", W), ("power(a)", W), ("pareto(a)", W),
]  # fmt: skip


@pytest.mark.parametrize("call", CALLS, ids=lambda c: c[0])
def test_draws_of_a_generator(call):
    assert_all_modes(f"np.random.default_rng(0).{call[0]}", *call[1:], tol=1e-5)


@pytest.mark.parametrize("call", CALLS, ids=lambda c: c[0])
@pytest.mark.full
def test_draws_of_the_module(call):
    assert_all_modes(f"np.random.seed(0)\nreturn np.random.{call[0]}", *call[1:], tol=1e-5)


def test_a_generator_among_the_arguments_draws_once():
    def f(rng, mean, sigma):
        return np.sum(rng.normal(mean, sigma) ** 2)

    for differentiate in (
        lambda rng: s2s.grad(f, argnums=(1, 2), strict=True)(rng, X, W),
        lambda rng: tuple(tape_value_and_grad(f, ("mean", "sigma"), (rng, X, W))[2].values()),
    ):
        rng, other = np.random.default_rng(3), np.random.default_rng(3)
        noise = other.standard_normal((2, 3))
        mean_bar, sigma_bar = differentiate(rng)
        np.testing.assert_allclose(mean_bar, 2 * (X + W * noise))
        np.testing.assert_allclose(sigma_bar, np.sum(2 * (X + W * noise) * noise, axis=0))
        assert rng.random() == other.random()


def test_a_generator_that_a_recorded_function_leaves_behind_is_numpys_own():
    class Noise:
        pass

    kept = Noise()

    def f(x):
        kept.rng = np.random.default_rng(0)
        assert isinstance(kept.rng, np.random.Generator)
        return np.sum(kept.rng.normal(x, 1.0))

    tape_value_and_grad(f, ("x",), (X,))
    assert type(kept.rng) is np.random.Generator


def test_a_shape_parameter_without_derivative_is_refused():
    for differentiate in (
        lambda f: s2s.grad(f)(2.0),
        lambda f: tape_value_and_grad(f, ("x",), (2.0,)),
    ):
        with pytest.raises(s2s.MissingRuleError, match="shape|gamma"):
            differentiate(lambda x: np.random.default_rng(0).gamma(x, 1.0))


@pytest.mark.parametrize("call", CALLS, ids=lambda c: c[0])
def test_numbers_of_an_array_are_parameters(call):
    """What follows a draw asks whether an infinite parameter gives a finite one, which no draw is made to find out."""
    text, *operands = call
    starts = np.concatenate([np.ravel(operand)[:1] for operand in operands])
    named = re.sub(r"\b[ab]\b(?!=)", lambda m: "x[0]" if m[0] == "a" else "x[1]", text)
    f = written(f"np.sum(np.random.default_rng(0).{named} * x[0])", "x")
    g = written(f"np.sum(np.random.{named} * x[0])", "x")
    s2s.check(f, starts, rtol=1e-5)
    state = np.random.get_state()[1:3]
    assert s2s.grad(g).source(starts)
    assert all(map(np.array_equal, np.random.get_state()[1:3], state))


def test_a_generator_in_the_function_is_compiled():
    def f(x):
        rng = np.random.default_rng(0)
        return rng.normal(x[0], 1.0) * 2

    assert s2s.grad(f, strict=True)(np.ones(3)).tolist() == [2.0, 0.0, 0.0]
