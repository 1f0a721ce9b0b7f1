"""Nested functions that call themselves are compiled as functions of their own, with the variables that they read."""

import math

import numpy as np
import pytest

import s2s
from s2s.autograd.record import tape_gradient


def powers(x, n):
    def power(v, k):
        return 1.0 if k == 0 else v * power(v, k - 1)

    return power(x, n) + power(x * 0.5, 2)


def reads_variables_when_called(x, n):
    scale = x * 2

    def power(v, k=2):
        if k == 0:
            return scale
        return scale * v * power(v, k=k - 1) * 0.5 + power(v, 0)

    first = power(x, n)
    scale = scale * x
    return first + power(x)


def lambdas(x, n):
    product = lambda k: x if k == 0 else product(k - 1) * math.sin(x + k)
    return product(n)


def in_a_loop(x, n):
    total = 0.0
    for i in range(n):

        def step(v, k):
            return v if k == 0 else step(v * total + x, k - 1)

        total = total + step(x, i) * 0.3
    return total


def over_an_array(x, n):
    def total(values, low, high):
        if high - low == 1:
            return values[low] * x
        middle = (low + high) // 2
        return total(values, low, middle) + total(values, middle, high) * 0.7

    return total(np.arange(1.0, n + 3) * x, 0, n + 2)


def twice_recursive(x, n):
    def fibonacci(k):
        return x * k if k < 2 else fibonacci(k - 1) + fibonacci(k - 2) * x

    return fibonacci(n + 1)


def adaptive(x, n):
    def rule(a, b):
        return (b - a) * math.sin(x * (a + b) / 2)

    def integral(a, b, depth):
        middle = (a + b) / 2
        if depth == 0:
            return rule(a, middle) + rule(middle, b)
        return integral(a, middle, depth - 1) + integral(middle, b, depth - 1)

    return integral(0.0, x, n)


def with_a_helper(x, n):
    return powers(x, n) * through_another(x, n)


def through_another(x, n):
    def descend(v, k):
        return v if k <= 0 else np.cos(descend(v * x, k - 1))

    return descend(x, n)


def writes_into_an_array(x, n):
    out = np.zeros(n + 1)

    def fill(k):
        out[k] = x**k
        return out[k] if k == 0 else out[k] + fill(k - 1)

    return fill(n) + out[n]


def nested_in_nested(x, n):
    def outer(v, k):
        def inner(w, j):
            return w if j == 0 else inner(w * v, j - 1)

        return inner(x, 2) if k == 0 else outer(v * 0.7, k - 1) + inner(v, k)

    return outer(x, n)


COMPILED = [powers, reads_variables_when_called, lambdas, in_a_loop, over_an_array, twice_recursive, adaptive,
            with_a_helper, through_another, nested_in_nested]  # fmt: skip


def each_other(x, n):
    def even(v, k):
        return v if k == 0 else odd(v * x, k - 1)

    def odd(v, k):
        return np.sin(v) if k == 0 else even(v + x, k - 1)

    return even(x, n) + odd(x, 2)


def rebinds(x, n):
    total = x

    def add(k):
        nonlocal total
        total = total * x
        return total if k == 0 else add(k - 1)

    return add(n)


def passed_on(x, n):
    def twice(f, v):
        return f(f(v, 1), 1)

    def power(v, k):
        return v * x if k == 0 else twice(power, v) if k > 7 else power(v, k - 1)

    return power(x, n)


def appends(x, n):
    found = []

    def walk(k):
        found.append(x * k)
        return found[-1] if k == 0 else found[-1] * walk(k - 1)

    return walk(n) + sum(found)


RECORDED = [each_other, rebinds, passed_on, appends, writes_into_an_array]


@pytest.mark.parametrize("f", COMPILED)
@pytest.mark.parametrize("n", [1, 3])
def test_nested_recursion_is_compiled(f, n):
    x, h = np.random.default_rng(n).uniform(0.6, 1.4), 1e-6
    df = s2s.grad(f, strict=True)
    slope = df(x, n)
    np.testing.assert_allclose(slope, (f(x + h, n) - f(x - h, n)) / (2 * h), rtol=1e-6)
    np.testing.assert_allclose(slope, tape_gradient(f, ("x",), (x, n))["x"], rtol=1e-12)
    assert s2s.value_and_grad(f)(x, n)[0] == f(x, n)
    np.testing.assert_allclose(s2s.jvp(f, (x, n), (1.0, None))[1], slope, rtol=1e-12)
    second = (df(x + h, n) - df(x - h, n)) / (2 * h)
    np.testing.assert_allclose(s2s.grad(lambda v: df(v, n))(x), second, rtol=1e-5, atol=1e-7)


@pytest.mark.filterwarnings("ignore::s2s.FallbackWarning")
@pytest.mark.parametrize("f", RECORDED)
def test_other_nested_recursion_is_right(f):
    x, h = np.random.default_rng(7).uniform(0.6, 1.4), 1e-6
    np.testing.assert_allclose(s2s.grad(f)(x, 2), (f(x + h, 2) - f(x - h, 2)) / (2 * h), rtol=1e-6)


def test_functions_of_one_text_are_told_apart():
    def maker(k):
        def f(x, n):
            def power(v, j):
                return k if j == 0 else v * power(v, j - 1)

            return power(x, n)

        return f

    x = 1.2
    assert [round(s2s.grad(maker(k))(x, 2) / k, 9) for k in (2.0, 3.0, 5.0)] == [2.4] * 3


def test_a_wrong_call_raises_as_python_does():
    def f(x, n):
        def power(v, k):
            return 1.0 if k == 0 else v * power(v, k - 1)

        return power(x) if n > 5 else power(x, n)

    assert s2s.grad(f)(1.5, 2) == 3.0
    with pytest.raises(TypeError):
        s2s.grad(f)(1.5, 6)
