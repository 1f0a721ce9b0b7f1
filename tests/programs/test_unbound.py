"""Names that may be unbound where they are read: derivatives raise where the function does."""

import warnings

import numpy as np
import pytest

import s2s
from tests.programs.verify import verify


def returned(x, n):
    if n > 1:
        y = x * x
    return y


def read_by_what_is_returned(x, n):
    if n > 1:
        y = x
    z = y * 2
    return z * x


def read_in_vain(x, n):
    for i in range(n):
        y = x * i
    z = y
    return x * x


def read_in_vain_by_a_product(x, n):
    for i in range(n):
        w = x * i
        a = w * w
    z = w * a
    return x * x


def bound_in_one_of_two_branches(x, n):
    if n > 1:
        y, z = x, 2.0
    else:
        z = x
    if z > 100.0:
        return z
    return y + 0.0 * z


def read_on_the_second_round(x, n):
    s = x
    for i in range(2):
        if i >= 2 - n:
            s = s * t  # noqa: F821
        else:
            t = s * x
    return s


FUNCTIONS = [
    returned, read_by_what_is_returned, read_in_vain, read_in_vain_by_a_product, bound_in_one_of_two_branches,
    read_on_the_second_round,
]  # fmt: skip
MODES = {
    "grad": lambda f, x, n: s2s.grad(f)(x, n),
    "value_and_grad": lambda f, x, n: s2s.value_and_grad(f)(x, n),
    "jvp": lambda f, x, n: s2s.jvp(lambda x: f(x, n), (x,), (1.0,)),
    "vjp": lambda f, x, n: s2s.vjp(lambda x: f(x, n), x)[1](1.0),
    "hessian": lambda f, x, n: s2s.hessian(lambda x: f(x, n))(x),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("f", FUNCTIONS)
def test_derivatives_raise_where_the_function_does(f, mode):
    x = np.random.default_rng(0).uniform(0.5, 1.5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", s2s.FallbackWarning)
        for n in (0, 2):
            try:
                f(x, n)
            except UnboundLocalError as error:
                with pytest.raises(UnboundLocalError) as caught:
                    MODES[mode](f, x, n)
                assert caught.value.args == error.args
            else:
                MODES[mode](f, x, n)


@pytest.mark.parametrize("f", FUNCTIONS)
def test_derivatives_are_right_where_all_is_bound(f):
    x = np.random.default_rng(1).uniform(0.5, 1.5)
    raised = [verify(f, (x, n), second=True).raised for n in (0, 1, 2)]
    assert any(raised) and not all(raised)


def test_a_name_that_is_bound_is_not_read_in_vain():
    def f(x, n):
        y = x
        for i in range(n):
            y = y * x
            z = y * i
        return y

    assert "z" not in s2s.grad(f).source(1.0, 3).split()
