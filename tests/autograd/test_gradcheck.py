"""gradcheck and gradgradcheck: what passes, what fails, and what is said."""

import numpy as np
import pytest

from s2s.autograd import Function, Variable, gradcheck, gradgradcheck
from s2s.autograd.check import GradcheckError


def leaf(data, dtype=None):
    return Variable(np.array(data, dtype), requires_grad=True)


def scaled(factor, second=1.0):
    """x**2, whose backward is off by a factor, and the derivative of that by another."""

    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * factor * (second * x + (1 - second) * x.detach())

    return Square.apply


X = [0.3, -1.2, 2.0]


@pytest.mark.parametrize("fast", [False, True])
def test_right_and_wrong_gradients(fast):
    assert gradcheck(scaled(2.0), leaf(X), fast_mode=fast)
    assert not gradcheck(scaled(2.01), (leaf(X),), raise_exception=False, fast_mode=fast)
    with pytest.raises(GradcheckError, match="differs from differences"):
        gradcheck(scaled(1.0), (leaf(X),), fast_mode=fast)


@pytest.mark.parametrize("fast", [False, True])
def test_right_and_wrong_second_derivatives(fast):
    assert gradgradcheck(scaled(2.0), leaf(X), fast_mode=fast)
    assert gradcheck(scaled(2.0, second=0.9), leaf(X))
    assert not gradgradcheck(scaled(2.0, second=0.9), leaf(X), raise_exception=False, fast_mode=fast)


def test_functions_of_several_inputs_and_results_some_of_them_plain():
    def f(a, n, b):
        return a * b**n, np.sum(a) * 1.0, a > 0, np.sin(b)

    assert gradcheck(f, (leaf([0.5, 0.7]), 3, leaf([[1.0, 2.0], [3.0, 4.0]])))
    assert gradgradcheck(f, (leaf([0.5, 0.7]), 3, leaf([[1.0, 2.0], [3.0, 4.0]])))


@pytest.mark.parametrize("fast", [False, True])
def test_complex_functions(fast):
    z = leaf([1 + 2j, -0.5 + 0.3j])
    for f in (lambda z: z * z, lambda z: np.abs(z), lambda z: np.conj(z) * np.exp(z), lambda z: np.real(z) * 2.0):
        assert gradcheck(f, z, fast_mode=fast)
        assert gradgradcheck(f, z, fast_mode=fast)


def test_a_result_that_is_detached_by_mistake_is_found():
    with pytest.raises(GradcheckError, match="carries no gradient"):
        gradcheck(lambda x: (x * 2.0, (x * x).detach()), leaf(X))
    assert gradcheck(lambda x: (x * 2.0, np.ones(2)), leaf(X))


def test_a_gradient_that_is_not_the_same_twice():
    rng = np.random.default_rng(0)

    class Noisy(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1.0

        @staticmethod
        def backward(ctx, g):
            return g * (1 + 1e-8 * rng.standard_normal(3))

    with pytest.raises(GradcheckError, match="twice"):
        gradcheck(Noisy.apply, leaf(X))
    assert gradcheck(Noisy.apply, leaf(X), nondet_tol=1e-6)


def test_inputs_of_less_than_double_precision_are_warned_of():
    with pytest.warns(UserWarning, match="float64"):
        gradcheck(lambda x: x * 2.0, leaf(X, np.float32), eps=1e-2, atol=1e-2)


def test_inputs_none_of_which_requires_grad():
    with pytest.raises(ValueError, match="requires grad"):
        gradcheck(lambda x: x, Variable(X))


def test_dtypes_of_gradients():
    x = leaf(X)
    assert gradcheck(lambda x: np.real(x * 1j * -1j), x, check_grad_dtypes=True)


def test_gradients_of_results_may_be_given_and_need_not_be_contiguous():
    assert gradgradcheck(lambda x: x**3, leaf(X), leaf([1.0, 2.0, 3.0]))
    assert gradgradcheck(lambda x: x**3, leaf(X), gen_non_contig_grad_outputs=True)


def test_inputs_without_elements_and_without_dimensions():
    assert gradcheck(lambda x: x * x, leaf(2.0))
    assert gradcheck(lambda x: x * x, leaf(np.zeros((0, 3))))
