"""Sets, and objects of which the compiler knows nothing: what was read of them before they changed is what counts."""

import numpy as np
import pytest

import s2s
from tests.programs.verify import verify


class Growing:
    """A list by another name, with a length."""

    def __init__(self):
        self.items = [1.0]

    def grow(self, item):
        self.items.append(item)

    def __len__(self):
        return len(self.items)


def lengths_of_a_set(x):
    seen = {0}
    s = 0.0
    for i in range(3):
        s = s + x[i] * len(seen)
        seen.add(i)
    return s


def lengths_outside_of_loops(x):
    seen = {1, 2}
    n = len(seen)
    y = x[0] * x[1] * n
    seen.clear()
    return y * x[1] * (len(seen) + 1)


def visited(x):
    seen = set()
    s = 1.0
    for i in [0, 1, 0, 2, 1, 3]:
        if i in seen:
            continue
        seen.add(i)
        s = s * x[i] + len(seen) * x[i]
    return s


def two_names(x):
    seen = {0}
    other = seen
    s = 1.0
    while len(seen) < 4:
        s = s * x[len(seen) - 1] + len(other) * s
        seen.add(len(seen))
    return s


def bytes_that_grow(x):
    made = bytearray(b"ab")
    s = 1.0
    for k in range(3):
        s = s * x[k] * len(made)
        made.append(k)
    return s


def an_object(x):
    held = Growing()
    s = 1.0
    for k in range(3):
        s = s * x[k] * len(held)
        held.grow(2.0)
    return s * len(held)


COMPILED = [lengths_of_a_set, lengths_outside_of_loops, visited, two_names, bytes_that_grow, an_object]


@pytest.mark.parametrize("f", COMPILED, ids=lambda f: f.__name__)
def test_what_was_read_before_a_change_counts(f):
    rng = np.random.default_rng(0)
    for seed in range(3):
        outcome = verify(f, (rng.uniform(0.3, 1.5, 4),), second=seed == 0, seed=seed)
        assert outcome.compiled and outcome.finite, outcome


def sorted_set(x):
    seen, s = {0, 1}, 1.0
    for k in range(2):
        for v in sorted(seen):
            s = s * x[v] + v
        seen.add(k + 2)
    return s


def gone_through(x):
    seen, s = {0, 1}, 1.0
    for k in range(2):
        for v in seen:
            s = s * x[v] + v
        seen.add(k + 2)
    return s


@pytest.mark.parametrize("f", [sorted_set, gone_through], ids=lambda f: f.__name__)
def test_what_goes_to_the_tape_is_right(f):
    x = np.random.default_rng(0).uniform(0.3, 1.5, 4)
    with pytest.warns(s2s.FallbackWarning):
        assert verify(f, (x,)).finite
        s2s.grad(f)(x)
