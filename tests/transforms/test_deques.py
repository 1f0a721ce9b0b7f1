"""Deques: compiled as lists, and right."""

from collections import deque

import numpy as np
import pytest

import s2s
from tests.programs.verify import verify


def both_ends(x):
    q = deque([x[0]])
    q.append(x[1])
    q.appendleft(x[0] * x[1])
    s = q.popleft() * q[0] + q[-1]
    q[0] = q[0] * s
    q.extend([x[1], s])
    other = q
    other[1] *= 2.0
    last = q.pop()
    return s * last + sum(q) + other[0] * len(q)


def window(x):
    recent = deque(maxlen=3)
    s = 0.0
    for k in range(7):
        recent.append(x[k % 2] * (k + 1) + s * 0.1)
        s = s * 0.5 + sum(recent) / len(recent)
    for v in recent:
        s += v * v
    return s + np.max(list(recent)) * recent[0]


def waiting(x):
    queue, s = deque([(x[0], 0)]), 0.0
    while queue:
        v, depth = queue.popleft()
        s += v * v
        if depth < 2:
            queue.append((v * x[1], depth + 1))
            queue.append((np.sin(v), depth + 1))
    return s


def of_helpers(x):
    def push(q, v):
        q.append(v)
        return q

    q = deque()
    for v in x:
        q = push(q, v * x[0])
    return q[0] * q.pop() + (1.0 if q else x[0])


@pytest.mark.parametrize("f", [both_ends, window, waiting, of_helpers], ids=lambda f: f.__name__)
def test_programs_with_deques(f):
    rng = np.random.default_rng(0)
    for seed in range(3):
        outcome = verify(f, (rng.uniform(0.3, 1.2, 2),), second=seed == 0, seed=seed)
        assert outcome.compiled, outcome.reason
        assert outcome.finite and not outcome.raised, outcome


def returned(x):
    q = deque([x[0], x[1]])
    q.rotate(1)
    return q[0] * 2.0 + q[1]


def test_what_is_not_compiled_is_right():
    outcome = verify(returned, (np.array([0.3, 0.7]),))
    assert not outcome.compiled and outcome.finite


def test_an_empty_deque_says_what_python_says():
    def f(x):
        q = deque([x[0]])
        q.pop()
        return q.popleft() * x[0]

    with pytest.raises(IndexError, match="pop from an empty deque"):
        s2s.grad(f, strict=True)(np.ones(2))
