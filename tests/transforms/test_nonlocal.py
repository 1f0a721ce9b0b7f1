"""Nested functions that rebind the variables around them: what Python does, with its gradients."""

import functools
import warnings

import numpy as np
import pytest

import s2s
from tests.frontend.lowered import same
from tests.transforms.test_tries import holds, slope

X = np.random.default_rng(0).uniform(0.3, 1.5, 3)


def agrees(f, *args):
    """The gradient, compiled or on the tape, agrees with differences."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", s2s.FallbackWarning)
        np.testing.assert_allclose(s2s.grad(f)(*args), slope(f, args), rtol=1e-6)


def test_a_counter_and_a_sum():
    def f(x, s):
        total = 0.0
        count = 0

        def add(v, k=2.0):
            nonlocal total, count
            total = total * s + v * k
            count += 1
            return total

        first = add(x[0])
        add(x[1] * x[2], 3.0)
        return total * total * count + first

    holds(f, (X, 0.7))


def test_in_loops_and_branches():
    def f(x, n):
        state = x

        def step(k):
            nonlocal state
            if k % 2:
                state = state * x + k
            else:
                state = np.sin(state)

        for k in range(n):
            step(k)
            while state > 2.0:
                step(k + 1)
        return state * state

    holds(f, (0.9, 0), (0.9, 3), (1.4, 5))


def test_an_operand_is_read_before_the_call_that_rebinds_it():
    def f(x):
        y = x

        def change():
            nonlocal y
            y = y * 3.0
            return y

        z = y + change() * y
        y += change()
        items = [y, change(), y]
        return z * y + items[0] * items[2]

    same(f, 2.0)
    holds(f, (1.3,))


def test_a_function_that_is_rebound_by_another_in_a_loop():
    def f(x, n):
        def g(v):
            return v * v

        def swap():
            nonlocal g
            g = np.sin

        for k in range(n):
            x = g(x)
            if k == 1:
                swap()
        return x

    same(f, (0.7, 0), (0.7, 4))
    agrees(f, 0.7, 4)


def test_operands_of_a_call_that_are_rebound():
    def f(x, n):
        args = (x, 2.0)

        def product(a, b):
            return a * b

        def renew():
            nonlocal args
            args = (x * x, 5.0)

        total = 0.0
        for _ in range(n):
            total = total + product(*args)
            renew()
        return total

    same(f, (0.7, 1), (0.7, 3))
    agrees(f, 0.7, 3)


def test_nested_twice():
    def f(x):
        a = x

        def outer():
            b = a

            def inner():
                nonlocal a, b
                a = a * b
                b = b + 1.0

            inner()
            inner()
            return b

        return outer() * a

    same(f, 2.0)
    holds(f, (1.3,))


COUNT = 0
LEVEL = 1.5
ASKED = []


def test_numbers_of_the_module_are_written_once():
    def f(x, n):
        global COUNT, LEVEL
        for _ in range(n):
            COUNT += 2
            LEVEL = LEVEL * 2.0
        return x * x * LEVEL * COUNT

    global COUNT, LEVEL
    df = s2s.value_and_grad(f, strict=True)
    for n in (0, 3):
        COUNT, LEVEL = 1, 1.5
        value = f(0.7, n)
        left = COUNT, LEVEL
        COUNT, LEVEL = 1, 1.5
        assert df(0.7, n) == (value, pytest.approx(2 * value / 0.7))
        assert left == (COUNT, LEVEL)


def test_a_number_that_carries_a_derivative_is_not_put_into_the_module():
    def f(x):
        global LEVEL
        LEVEL = x * 2.0
        return LEVEL * x

    global LEVEL
    LEVEL = 1.5
    with pytest.raises(s2s.UnsupportedSyntaxError, match="an active value is stored"):
        s2s.grad(f, strict=True)(2.0)
    with pytest.warns(s2s.FallbackWarning):
        assert s2s.grad(f)(2.0) == 8.0


@functools.lru_cache
def nodes(n):
    ASKED.append(n)
    return np.polynomial.legendre.leggauss(n)


def test_results_that_are_kept_by_a_cache():
    def f(x, n):
        points, weights = nodes(n)
        return np.sum(weights * np.exp(x * points))

    ASKED.clear()
    holds(f, (0.7, 3), (0.7, 5))
    assert ASKED == [3, 5]


def test_a_cached_function_of_what_carries_a_derivative_goes_to_the_tape():
    @functools.lru_cache
    def square(v):
        return v * v

    with pytest.warns(s2s.FallbackWarning):
        assert s2s.grad(lambda x: square(x) * x)(2.0) == 12.0


def summed(x):
    def make():
        t = 0.0

        def add(v):
            nonlocal t
            t += v * x
            return t

        return add

    a, b = make(), make()
    a(x)
    c = b(x * 2.0)
    return c * b(1.0) + a(x) * 3.0


def started(x):
    def make(t, k=2.0):
        def add(v):
            nonlocal t
            t = t * k + v
            return t

        return add

    a = make(x)
    b = make(0.5, x)
    a(x * x)
    return b(x) * a(1.0) + b(2.0)


def got_and_set(x):
    def make(k):
        t = k

        def put(v):
            nonlocal t
            t = t * v

        return put, lambda: t

    put, get = make(x)
    other, seen = make(2.0 * x)
    put(3.0)
    other(x)
    put(x)
    return get() * seen()


def counted(x):
    def counter():
        n = 0

        def count():
            nonlocal n
            n += 1
            return n

        return count

    first = counter()
    second = counter()
    first()
    first()
    return x ** second() * first()


def in_a_dict(x):
    def make(rate):
        level = 1.0

        def step(v):
            nonlocal level
            level = level * rate + v
            return level

        return step

    steps = {"slow": make(0.1), "fast": make(x)}
    steps["slow"](x)
    return steps["fast"](x) * steps["slow"](1.0)


def made_by_made(x):
    def make(k):
        def inner():
            total = k

            def add(v):
                nonlocal total, k
                total += v * k
                k = k + 1.0
                return total

            return add

        return inner

    one, two = make(x), make(2.0)
    a, b, c = one(), one(), two()
    a(x)
    b(x)
    return a(1.0) * b(x) * c(x)


def in_a_helper(x):
    return summed(x) * started(x) + summed(x * 0.5)


FACTORIES = [summed, started, got_and_set, counted, in_a_dict, made_by_made, in_a_helper]


@pytest.mark.parametrize("f", FACTORIES, ids=lambda f: f.__name__)
def test_each_closure_that_a_factory_makes_has_variables_of_its_own(f):
    holds(f, (0.7,), (-1.3,))


def test_a_factory_that_is_called_in_a_loop():
    def f(x):
        def make(k):
            total = k

            def add(v):
                nonlocal total
                total += v
                return total

            return add

        s = 0.0
        last = make(0.0)
        for k in range(3):
            add = make(x * k)
            add(x)
            s = s * last(x) + add(1.0) ** 2
            last = add
        return s

    agrees(f, 0.7)
