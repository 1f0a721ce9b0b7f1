"""Pairs from several places: early returns of a value and its auxiliary result, branches of called functions."""

import numpy as np
import pytest

import s2s


def by_branch(x, n):
    if n > 3:
        return np.sum(x), {"n": n}
    y = x * x
    return np.sum(y), y


def from_a_loop(x, n):
    for i in range(5):
        if np.sum(x) > 2.0 * i - n:
            return np.sum(x**2) * i, x
    return np.sum(x**3), x * n


def from_while(x, n):
    y = x
    while True:
        y = y * 0.5
        if np.sum(np.abs(y)) < n:
            return np.sum(y * x), "small"
        if np.max(y) > 10.0:
            return np.sum(y), "large"


def handed_on(x, n):
    pair = by_branch(x, n) if n > 2 else from_a_loop(x, n)
    return pair


@pytest.mark.parametrize("f", [by_branch, from_a_loop, from_while, handed_on], ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("shape", [(3,), (2, 2)])
def test_early_returns_of_a_value_with_an_auxiliary_result_are_compiled(f, n, shape, rng):
    x = rng.normal(size=shape)
    value, aux = f(x, n)
    (got, got_aux), gradient = s2s.value_and_grad(f, has_aux=True, strict=True)(x, n)
    assert got == value
    np.testing.assert_equal(got_aux, aux)
    np.testing.assert_array_equal(gradient, s2s.grad(lambda x: f(x, n)[0], strict=True)(x))
    s2s.check(lambda x: f(x, n)[0], lambda x: gradient, x)
    only_gradient, only_aux = s2s.grad(f, has_aux=True, strict=True)(x, n)
    np.testing.assert_array_equal(only_gradient, gradient)
    np.testing.assert_equal(only_aux, aux)


def halves(x, n):
    if n > 3:
        return np.sum(x), x
    if n > 2:
        return np.sum(x**2), x * 2.0
    return 0.0, x


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_pairs_from_branches_of_a_called_function_are_compiled(n, rng):
    def f(x, n):
        total = 0.0
        for i in range(3):
            a, b = halves(x, n + i)
            c, d = halves(b, n)
            total = total + a * np.sum(b * d) + c
        return total

    x = rng.normal(size=4)
    value, gradient = s2s.value_and_grad(f, strict=True)(x, n)
    assert value == f(x, n)
    s2s.check(lambda x: f(x, n), lambda x: gradient, x)
    _, tangent = s2s.jvp(f, (x, n), (np.ones(4), None), strict=True)
    np.testing.assert_allclose(tangent, np.sum(gradient))


def test_a_pair_of_another_length_raises_as_python_does():
    def f(x, n):
        a, b, c = halves(x, n)
        return a + np.sum(b) + c

    with pytest.raises(ValueError, match="unpack"):
        s2s.grad(f)(np.ones(2), 2)


def test_a_pair_that_is_also_kept_whole_stays_one():
    def f(x, n):
        pair = halves(x, n)
        a, b = pair
        return a * len(pair) + np.sum(b)

    x = np.array([1.0, 2.0])
    np.testing.assert_array_equal(s2s.grad(f)(x, 4), [3.0, 3.0])
    np.testing.assert_array_equal(s2s.grad(f)(x, 3), [6.0, 10.0])


def test_an_index_out_of_range_raises_as_python_does():
    def f(x, n):
        pair = halves(x, n)
        return pair[0] + pair[2]

    with pytest.raises(IndexError):
        s2s.grad(f)(np.ones(2), 2)
