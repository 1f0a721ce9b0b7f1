"""Numbers and arrays that branches choose between, and that are written into: each path knows which it is."""

import numpy as np
import pytest

import s2s
from tests.programs.verify import verify


def written_at_once(x, n):
    c = x * x
    t = c if n > 1 else x[0]
    t += x[1]
    s = np.sum(t) * 0.3
    return s * c[0] + np.sum(c * x)


def chosen_in_a_loop(x, n):
    c, s = x * 1.0, x[0]
    for i in range(3):
        t = c if i < n else s
        t *= x[i]
        u = t
        u -= 0.5
        if np.sum(t) > 0.2:
            s = s + np.sum(u * t)
    return s + np.sum(c)


def of_three(x, n):
    c, m = x * x, np.outer(x, x)
    if n == 0:
        t = x[0] * 2.0
    elif n == 1:
        t = c
    else:
        t = m
    t **= 2
    r = np.sum(t)
    return r * np.sum(m[0]) + c[1]


def raised(p):
    p += 0.3
    return p


def by_a_function(x, n):
    c = x * x
    y = raised(c if n else x[1])
    z = np.sum(y * x)
    return z * c[0]


def an_item_of_either(x, n):
    rows = np.outer(x, x)
    part = rows if n > 1 else [x[0], x[1]]
    a = part[0]
    return np.sum(a) * x[2] + np.sum(rows)


PROGRAMS = [written_at_once, chosen_in_a_loop, of_three, by_a_function, an_item_of_either]


@pytest.mark.parametrize("n", [0, 1, 2])
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_numbers_and_arrays_are_kept_apart(f, n):
    rng = np.random.default_rng(n)
    for seed, size in enumerate((3, 5)):
        outcome = verify(f, (rng.uniform(-1.5, 1.5, size), n), second=True, seed=seed)
        assert outcome.compiled, outcome.reason
        assert outcome.finite and outcome.second and not outcome.raised and not outcome.kink, outcome


def test_what_is_only_computed_with_stays_together():
    def f(x, n):
        t = x if n else 2.0
        return np.sum(t * x)

    assert s2s.grad(f, strict=True).source(np.ones(3), 1).count("np.sum") <= 2
    assert verify(f, (np.array([0.3, -0.7]), 0)).compiled


@pytest.mark.parametrize("n", [0, 2])
def test_what_a_loop_carries_as_number_or_array_goes_to_the_tape(n):
    def f(x, n):
        t = 0.5
        for _ in range(n):
            t += x
        return np.sum(t * x)

    x = np.array([0.3, -0.7, 1.1])
    with pytest.raises(s2s.UnsupportedSyntaxError, match="in-place operation"):
        s2s.grad(f, strict=True)(x, n)
    outcome = verify(f, (x, n))
    assert not outcome.compiled and outcome.finite
