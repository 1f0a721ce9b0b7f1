"""What a loop or branch makes anew each time, in another size, and what is read of it afterwards."""

import numpy as np
import pytest

from tests.programs.verify import verify


def array_of_some_rounds(x):
    s = 0.0
    for k in range(len(x)):
        if k != 1:
            y = x[: k + 1] * x[0]
        s += y[-1] * y[0]
    return s + y[-1]


def array_kept_in_a_round(x):
    s = 0.0
    y = x[:1]
    for k in range(len(x)):
        if k != 1:
            y = x[: k + 1] * x[0]
        s += y[-1] * y[0]
    return s + y[-1]


def array_of_two_branches(x):
    s = x[0]
    if s > 0.1:
        y = x[:1] * s
    s += y[-1]
    if s > 0.2:
        y = x[:2] * s
    s += y[-1]
    return s + y[-1] * y[0]


def list_of_some_rounds(x):
    s = 0.0
    for k in range(len(x)):
        if k != 1:
            y = [v * x[0] for v in x[: k + 1]]
        s += y[-1] * y[0]
    return s + y[-1]


def list_kept_in_a_round(x):
    s = 0.0
    y = [x[1]]
    for k in range(len(x)):
        if k != 1:
            y = [v * x[0] for v in x[: k + 1]]
        s += y[-1] * y[0]
    return s + y[-1]


def list_of_two_branches(x):
    s = x[0]
    if s > 0.1:
        y = [v * s for v in x[:1]]
    s += y[-1]
    if s > 0.2:
        y = [v * s for v in x]
    s += y[-1]
    return s + y[-1] * y[0]


def list_longer_in_one_round(x):
    s = 0.0
    for k in range(len(x)):
        ys = [v * x[k] for v in x[: k + 1]]
        s += ys[0]
        if k == 1:
            ys.append(s)
        s += ys[-1]
    return s + ys[-1]


def dict_of_longer_arrays(x):
    s = 0.0
    for k in range(len(x)):
        d = {"a": x[: k + 1] * s, "b": s}
        s += d["a"][-1] * x[k]
    return s + d["a"][0] + d["a"][-1]


def list_of_longer_arrays(x):
    s = 0.0
    for k in range(len(x)):
        d = [x[: k + 1] * s, x[: k + 1]]
        s += d[k % 2][-1] * x[k]
        d[0] *= 2.0
    return s + d[0][0] + d[1][-1]


def list_of_an_inner_loop(x):
    s = 0.0
    for k in range(len(x)):
        for j in range(k + 1):
            ys = [v * x[k] + s for v in x[: k + 1 - j]]
            s += ys[0]
        ys.append(s)
        s += ys[-2]
    return s + ys[-1] * ys[-2]


def list_when_a_loop_is_left(x):
    s = 0.0
    for k in range(len(x)):
        ys = [v * x[k] for v in x[: k + 1]]
        s += ys[0]
        if s > 100.0:
            break
    return s + ys[-1]


def array_of_an_inner_loop(x):
    s = 0.0
    for k in range(len(x)):
        for j in range(k + 1):
            ys = x[: k + 1 - j] * x[k] + s
            s += ys[0]
        ys = np.append(ys, s)
        s += ys[-2]
    return s + ys[-1] * ys[-2]


def array_of_some_inner_rounds(x):
    s = 0.0
    for k in range(len(x)):
        for j in range(k + 1):
            if (j + k) % 2 == 0:
                ys = x[: k + 1 - j] * x[k] + s
            s += ys[0] * s
        if k == 1:
            s += ys[-1] * ys[0]
    return s + ys[-1] * ys[0]


def list_of_some_inner_rounds(x):
    s = 0.0
    for k in range(len(x)):
        for j in range(k + 1):
            if (j + k) % 2 == 0:
                ys = [v * x[k] + s for v in x[: k + 1 - j]]
            s += ys[0] * s
            if j == 1:
                ys.append(s)
        if k == 1:
            s += ys[-1] * ys[0]
    return s + ys[-1] * ys[0]


PROGRAMS = [
    array_of_an_inner_loop,
    array_of_some_inner_rounds,
    list_of_some_inner_rounds,
    array_of_some_rounds,
    array_kept_in_a_round,
    array_of_two_branches,
    list_of_some_rounds,
    list_kept_in_a_round,
    list_of_two_branches,
    list_longer_in_one_round,
    dict_of_longer_arrays,
    list_of_longer_arrays,
    list_of_an_inner_loop,
    list_when_a_loop_is_left,
]


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_values_of_another_size_in_each_round(f, size):
    rng = np.random.default_rng(size)
    for seed in range(2):
        outcome = verify(f, (rng.uniform(0.2, 0.6, size),), second=seed == 0, seed=seed)
        assert outcome.compiled, outcome.reason
        assert outcome.finite and not outcome.raised, outcome
