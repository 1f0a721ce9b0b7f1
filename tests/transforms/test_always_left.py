"""Loops whose body always ends in `return` or `break` are compiled."""

import numpy as np
import pytest

import s2s
from tests.programs.verify import verify


def returned_at_once(x):
    for v in x:
        return v * v
    return np.sum(x)


def broken_at_once(x):
    y = x[0]
    for v in x:
        y = y * v
        break
    return y


def forever_once(x):
    while True:
        x = x * 2
        break
    return np.sum(x * x)


def returned_from_forever(x):
    while True:
        return x[0] * x[1]


def either_way(x):
    s = x[0]
    for v in x:
        if v > 1.7:
            s = s * v
            break
        else:
            s = s + v
            break
    else:
        s = 0.0
    return s * s


def returned_on_both_ways(x):
    for v in x:
        if v > 100:
            return v
        return v * v
    return 1.0


def within_a_loop(x):
    s = 0.0
    for v in x:
        for w in x:
            s = s + v * w
            break
        s = s * v
    return s


def with_a_handler(x):
    while True:
        try:
            y = np.sum(x * x) / len(x)
        except ZeroDivisionError:
            y = 0.0
        return y


def in_a_helper(x):
    return returned_at_once(x) * returned_at_once(x[1:]) + forever_once(x)


def written_and_left(x):
    y = np.zeros(3)
    for i in range(3):
        y[i] = x[i] ** 2
        break
    return np.sum(y) + y[0]


PROGRAMS = [returned_at_once, broken_at_once, forever_once, returned_from_forever, either_way, returned_on_both_ways,
            within_a_loop, with_a_handler, in_a_helper, written_and_left]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.parametrize("seed", [1, 2])
def test_loop_that_is_always_left_is_compiled(f, seed):
    outcome = verify(f, [np.random.default_rng(seed).uniform(1.2, 3.0, 3)], second=True)
    assert outcome.compiled and outcome.finite, outcome


def test_loops_without_a_round():
    assert list(s2s.grad(returned_at_once, strict=True)(np.zeros(0))) == []
    np.testing.assert_array_equal(s2s.grad(lambda x: returned_at_once(x[:0]) + x[1], strict=True)(np.ones(2)), [0, 1])
