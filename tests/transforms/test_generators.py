"""Generators and the iterators of the library, whose items are taken where they are made: compiled, and right."""

import functools
import itertools
import math
import operator

import numpy as np
import pytest

import s2s
from s2s.errors import UnsupportedSyntaxError
from tests.programs.verify import verify


def total(x):
    return sum(v * v for v in x) + sum((np.sin(v) for v in x if v > 0.5), x[0])


def chosen(x):
    none = max((v for v in x if v > 9.0), default=x[-1])
    return max(v * np.cos(v) for v in x) * min((v for v in x if v > 0.9), default=x[0]) + none


def collected(x):
    a, b = list(v * v for v in x), tuple(np.exp(-v) for v in x)
    return a[0] * b[-1] + np.sum(np.array(list(v**3 for v in x)) * x) + a[1] * b[0]


def nested(x):
    return sum(a * b for a in x if a > 0.4 for b in x[1:] if b < a) + sum(sum(a * b for b in x) for a in x)


def decided(x):
    if any(v > 1.5 for v in x):
        return x[0] * x[1]
    return x[0] ** 2 if all(v > 0.4 for v in x) else np.sum(x * x)


def looped(x):
    s = x[0]
    for v in (u * u for u in x if u > 0.6):
        s = s * v + x[1]
        if s > 4.0:
            break
    for i, v in enumerate(np.sin(u) for u in x):
        s += i * v
    return s


def mapped(x):
    def scaled(v):
        return v * x[0]

    s = 0.0
    for v in map(scaled, filter(lambda u: u > 0.5, x)):
        s += v * v
    return s + sum(map(lambda a, b: a * b, x, x[1:])) + sum(map(np.sin, x)) + max(map(math.cos, x))


def chained(x):
    s = 1.0
    for v in itertools.chain(x, x[::-1], x * x):
        s = s * 0.5 + v * v
        if s > 6.0:
            break
    return s


def products(x):
    s = 0.0
    for a, b in itertools.product(x, x[:2]):
        s += a * b * b
    for i, j in itertools.product(range(2), repeat=2):
        s *= 1.0 + 0.1 * x[i] * x[j]
    return s + sum(itertools.starmap(operator.mul, zip(x, x[1:])))


def parts(x):
    s = x[0]
    for v in itertools.islice(x, 1, 3):
        s += v * v
    for v in itertools.repeat(x[1], 3):
        s *= v
    return s + sum(itertools.islice(x, 0, None, 2))


def reduced(x):
    s = functools.reduce(lambda a, b: a * b + x[0], x)
    for i, v in enumerate(x, start=2):
        s += i * functools.reduce(lambda a, b: a + b * b, (v, x[0], x[1]), s * 0.1)
    return s + functools.reduce(operator.mul, [np.sin(v) for v in x], x[-1])


def accumulated(x):
    s = 1.0
    for v in itertools.accumulate(x):
        s = s * 0.5 + v * v
        if s > 5.0:
            break
    return s + sum(itertools.accumulate(x * x, lambda a, b: a * b)) * max(list(itertools.accumulate(x, operator.mul)))


def counted(x):
    s = x[0]
    for i in itertools.count(1):
        if i % 3 == 0:
            continue
        s = s * 0.5 + x[i % len(x)] ** 2
        if s > 4.0 or i > 7:
            break
    else:
        s = 0.0
    for u in itertools.count(0.5, 0.25):
        s += u * x[1]
        if u > 1.6:
            return s * i
    return s


PROGRAMS = [total, chosen, collected, nested, decided, looped, mapped, chained, products, parts, reduced,
            accumulated, counted]  # fmt: skip


@pytest.mark.parametrize("size", [2, 3, 6])
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_programs_that_take_all_items(f, size):
    rng = np.random.default_rng(size)
    for seed in range(3):
        outcome = verify(f, (rng.uniform(0.2, 1.8, size),), second=seed == 0, seed=seed)
        assert outcome.compiled, outcome.reason
        assert outcome.finite and not outcome.raised, outcome


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_an_empty_array_does_what_the_program_does(f):
    assert verify(f, (np.zeros(0),)).compiled


def test_a_generator_that_is_kept_goes_through_what_it_was_made_of():
    def f(x):
        g = (v * v for v in x)
        x = x * 2.0
        return sum(g) + x[0]

    np.testing.assert_array_equal(s2s.grad(f, strict=True)(np.array([0.5, 2.0])), [3.0, 4.0])


def test_a_generator_that_is_kept_and_taken_twice_goes_to_the_tape():
    def f(x):
        g = (v * v for v in x)
        return sum(g) + sum(g)

    x = np.array([0.5, 2.0])
    with pytest.raises(UnsupportedSyntaxError, match="a generator expression cannot be compiled yet"):
        s2s.grad(f, strict=True)(x)
    with pytest.warns(s2s.FallbackWarning, match="a generator expression"):
        np.testing.assert_array_equal(s2s.grad(f)(x), [1.0, 4.0])
