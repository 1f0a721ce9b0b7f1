"""Lists that are copied, sorted, cut and spread out: compiled, and right, also under a second name and in loops."""

import copy

import numpy as np
import pytest

import s2s
from tests.programs.verify import verify


def copied(x):
    ys = [v * v for v in x]
    zs, us, ws = ys.copy(), list(ys), copy.copy(ys)
    zs[0] = x[1]
    us.append(np.sin(x[0]))
    ws[-1] = ws[-1] * zs[0]
    vs = copy.deepcopy(zs)
    vs[0] = vs[0] * us[-1]
    return ys[0] * zs[0] + us[-1] * ws[-1] + vs[0] + sum(ys) * len(us)


def copied_array(x):
    y = copy.copy(x)
    y[0] = x[1] * x[0]
    z = copy.deepcopy(y)
    z *= y
    return np.sum(x * y) + np.sum(np.sin(z))


def in_order(x):
    ys = [v * v for v in x]
    zs = ys
    ys.sort()
    s = x[0]
    for k, y in enumerate(zs):
        s = s * 0.5 + y * (k + 1)
    ys.append(s)
    zs.sort()
    return zs[0] * s + ys[1] * zs[-1]


def taken_off(x):
    order = [2, 0, 1, 0]
    order.remove(0)
    s = x[order[0] % len(x)] * order.index(1) + order.count(0)
    for k in range(3):
        order.append(k)
        order.remove(order[0])
    return s * x[order[-1] % len(x)]


def cut(x):
    ys = [v * v for v in x] + [x[0], x[1] * x[0], 3.0]
    zs = ys
    del ys[1:2]
    del zs[-1]
    s = ys[0] * zs[-1]
    del ys[5:3]
    del ys[: len(x) - 1]
    ys.append(s)
    for k in range(2):
        del ys[-2:-1]
        zs += [s * k, x[0]]
    return sum(ys) * zs[0]


def part_assigned(x):
    ys = [v * v for v in x]
    zs = ys
    ys[1:] = [x[0], x[0] * x[1], 2.0]
    s = sum(zs)
    zs[:1] = ys
    ys[3:1] = (s, x[1])
    ys[-1:] = np.sin(x)
    for k in range(2):
        ys[k : k + 1] = [ys[k] * s, ys[-1]]
    return sum(zs) + ys[1] * ys[3] + len(ys)


def spread(x):
    pair = (x[0], x[1] * x[1])
    a, b, c = [*pair, x[0]]
    first, *rest = [*x, a * b]
    t = (c, *rest, *pair, *[first])
    ys = [*t, *rest]
    s = x[0]
    for k in range(3):
        ys = [s, *ys[1:]]
        s = s * 0.5 + ys[k] * t[k]
    return s * ys[-1] + a * len(t)


def spread_in_a_loop(x):
    xs = [x[0]]
    for v in x:
        old = xs
        xs = [v * 2.0, *xs, xs[0] * v]
        old.append(v)
    return sum(v * v for v in xs) + xs[1] * old[-1]


def of_arrays(x):
    ys = [x * 1.0, x * x, np.sin(x)]
    y = ys[1]
    zs = ys.copy()
    del ys[0]
    ys[0] *= 2.0
    zs[1:2] = [x * 3.0, ys[0]]
    zs[2] += x
    return np.sum(y * ys[1]) + np.sum(zs[1] * zs[2])


PROGRAMS = [
    copied, copied_array, in_order, taken_off, cut, part_assigned, spread, spread_in_a_loop, of_arrays,
]  # fmt: skip


@pytest.mark.parametrize("size", [2, 3, 5])
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_programs_that_change_lists(f, size):
    rng = np.random.default_rng(size)
    for seed in range(3):
        outcome = verify(f, (rng.uniform(0.3, 1.5, size),), second=seed == 0, seed=seed)
        assert outcome.compiled, outcome.reason
        assert outcome.finite and not outcome.raised, outcome


def test_kinds_of_items_are_not_those_of_the_places_that_they_had():
    def f(x):
        xs = [x[0], x * 1.0]
        a = xs[1]
        del xs[0]
        xs[0] += x
        return np.sum(a * a)

    x = np.array([0.3, 0.5, 0.7])
    outcome = verify(f, (x,))
    assert outcome.finite
    with pytest.warns(s2s.FallbackWarning):
        np.testing.assert_allclose(s2s.grad(f)(x), 8 * x)


@pytest.mark.parametrize("change", [lambda xs: xs.remove(7), lambda xs: xs.index(7)])
def test_errors_are_those_of_python(change):
    def f(x):
        xs = [1, 2]
        change(xs)
        return x[0] * xs[0]

    with pytest.raises(ValueError) as found:
        s2s.grad(f)(np.ones(2))
    with pytest.raises(ValueError) as expected:
        f(np.ones(2))
    assert str(found.value) == str(expected.value)


def test_objects_of_a_copy_are_those_of_the_list():
    """A deep copy of a list that holds arrays is left to the tape, as two of them may be one array."""

    def f(x):
        y = x * 1.0
        ys = copy.deepcopy([y, y])
        ys[0][0] = 2.0
        return np.sum(ys[1] * x) + np.sum(y)

    outcome = verify(f, (np.array([0.3, 0.7]),))
    assert not outcome.compiled and outcome.finite
