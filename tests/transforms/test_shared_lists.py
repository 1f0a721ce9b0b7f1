"""Lists that hold the same arrays, and loops over lists that are written into: compiled where the lists are two."""

import numpy as np
import pytest

import s2s
from s2s.errors import UnsupportedSyntaxError
from tests.programs.verify import verify


def taken_from_the_front(x):
    L = [x * 1.0, x * x, np.sin(x)]
    s = 0.0
    while len(L) > 1:
        u = L.pop(0)
        u *= 0.5
        L[0] += u
        s = s + np.sum(L[0] * u)
    return s


def put_in_front(x):
    L = [x * 1.0]
    for i in range(3):
        L.insert(0, L[-1] * x[i])
        L[1][i] = x[0]
    return np.sum(L[0] * L[1]) + np.sum(L[-1] * L[2])


def deleted(x):
    L = [x * 1.0, x * x]
    for i in range(3):
        L.append(L[0] * x[i])
        if len(L) > 2:
            del L[1]
    return np.sum(L[-1] * L[0])


def copy_is_another_list(x):
    L = [x * 1.0, x * x]
    M = L[:]
    N = list(L)
    L.append(x * 2.0)
    M[0] = x * 3.0
    N[1] *= M[0]
    for item in M:
        L[0] *= item
        L.append(item)
    return np.sum(L[0] * M[1]) + np.sum(N[0] * L[-1]) + len(N)


def numbers_beside_arrays(x):
    a = x * 1.0
    L, D = [a, x * x], {"a": a, "s": x[0]}
    D["s"] *= x[1]
    D["t"] = a
    D["t"] *= D["s"]
    L.append(D["t"])
    D["s"] += L[0][0]
    return np.sum(L[2] * D["a"]) * D["s"]


def items_set_in_a_loop_over_the_list(x):
    L = [x * 1.0, x * x, np.sin(x)]
    s = 0.0
    for i, item in enumerate(L):
        L[2] = item * x
        L[i] = L[2] * 0.5
        item *= 2.0
        s = s + np.sum(item * L[0])
    return s + np.sum(L[2])


def numbers_set_in_a_loop_over_the_list(x):
    L = [x[0], x[1], x[2]]
    s = 1.0
    for v in L:
        s = s * v + L[0]
        L[2] = s * x[0]
        L[-3] = np.sin(s)
    for v, w in zip(L, L[::-1]):
        L[1] = v * w
        s = s + L[1] * w
    return s


def items_of_other_shapes_and_kinds(x):
    D, L = {"q": x * 2.0, "s": x[0]}, [x * 2.0, x * x, x[1]]
    s = np.sum(D["q"] * x) * D["s"] + L[2]
    D["q"], D["s"] = x[:2] * x[0], 3
    L[1], L[2] = x[1:], 1
    for i in range(2):
        L[0] = L[0][i:] * x[i]
    return s * np.sum(D["q"]) + np.sum(L[1]) * D["s"] + np.sum(L[0]) * L[2]


PROGRAMS = [
    items_of_other_shapes_and_kinds,
    taken_from_the_front, put_in_front, deleted, copy_is_another_list, numbers_beside_arrays,
    items_set_in_a_loop_over_the_list, numbers_set_in_a_loop_over_the_list,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_lists_that_hold_the_same_arrays(f):
    rng = np.random.default_rng(8)
    for seed, size in enumerate((3, 5)):
        outcome = verify(f, (rng.uniform(-1.5, 1.5, size),), second=True, seed=seed)
        assert outcome.compiled, outcome.reason
        assert outcome.finite and outcome.second and not outcome.raised and not outcome.kink, outcome


def same_list_twice(x, c):
    L = [x[0], x[1]]
    M = L if c else [x[1]]
    s = 0.0
    for v in M:
        if len(L) < 4:
            L.append(v * x[2])
        s = s + v
    return s


def through_an_iterator(x, c):
    L = [x[0], x[1]]
    s = 0.0
    for _, v in zip(range(4), L):
        L.append(v * x[2])
        s = s + v
    return s


def held_by_another(x, c):
    L = [x[0], x[1]]
    M = [L, [x[1]]]
    s = 0.0
    for v in M[c]:
        if len(L) < 4:
            L.append(v * x[2])
        s = s + v
    return s


@pytest.mark.parametrize("c", [0, 1])
@pytest.mark.parametrize("f", [same_list_twice, through_an_iterator, held_by_another], ids=lambda f: f.__name__)
def test_a_loop_over_a_list_that_grows_meanwhile_goes_to_the_tape(f, c):
    x = np.array([0.7, -0.4, 1.2])
    with pytest.raises(UnsupportedSyntaxError, match="in a loop over it"):
        s2s.grad(f, strict=True)(x, c)
    outcome = verify(f, (x, c))
    assert outcome.finite and not outcome.compiled and not outcome.kink


def test_what_a_with_block_assigns_is_not_read_before_it():
    def f(x, n):
        m = np.outer(x, x)
        s = 0.0
        for _ in range(n):
            row = m[0]
            row **= 2
            with np.errstate(all="ignore"):
                s = s + np.sum(m * m[1])
                if s > 40.0:
                    return s
                m = m[::-1]
        return s * m[0, 1]

    for n in (0, 1, 3):
        outcome = verify(f, (np.array([0.3, -0.8, 0.6]), n), second=True)
        assert outcome.compiled, outcome.reason
        assert outcome.finite and not outcome.kink
