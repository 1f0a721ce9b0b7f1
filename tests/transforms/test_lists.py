"""Methods that change the length of a list: compiled, and right."""

import numpy as np
import pytest

import s2s
from s2s.errors import UnsupportedSyntaxError
from tests.programs.verify import verify


def extended(x):
    ys = [x[0]]
    for v in x[1:]:
        ys.extend([v * v, ys[-1] * v])
        ys += (v, 2.0)
    ys.extend(np.sin(x))
    s = 1.0
    for y in ys:
        s = s * 0.5 + y * y
    return s + len(ys)


def inserted(x):
    ys = [v * v for v in x]
    ys.insert(1, x[0] * x[1])
    ys.insert(-1, np.sin(x[0]))
    ys.insert(99, x[1])
    return ys[0] * ys[1] + ys[-3] * ys[-2] * ys[-1]


def removed(x):
    ys = [v * v for v in x]
    first, second = ys.pop(0), ys.pop(-1)
    ys.append(first * second)
    del ys[0]
    ys.append(x[0])
    return sum(ys) * first


def turned(x):
    ys = [np.sin(v) for v in x]
    ys.reverse()
    s = ys[0]
    for y in ys:
        s = s * y + x[0]
    ys.clear()
    ys.append(s)
    return ys[0] * s + len(ys)


def joined(x):
    ys = [v * v for v in x] + [x[0]]
    zs = ys + [v * 3.0 for v in x if v > 0.8]
    ys.append(x[1])
    return ys[0] * zs[-1] + zs[len(x)] * ys[-1] + sum(zs)


def undone(x):
    """The reverse sweep reads what was in the list before."""
    ys = [v * v for v in x]
    s = 1.0
    for i in range(3):
        s = s + np.sin(ys[0] * ys[-1])
        ys.append(s * ys[0])
        ys.pop(0)
        ys.extend([ys[-1] * 0.5, s])
    return s * ys[0]


def updated(x):
    d = {"a": x[0], "b": x[1]}
    d.update({"b": x[0] * x[1], "c": np.sin(x[0])})
    return d["a"] * d["b"] + d["c"] * d["b"]


PROGRAMS = [extended, inserted, removed, turned, joined, undone, updated]


@pytest.mark.parametrize("size", [2, 3, 5])
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_programs_that_change_lists(f, size):
    rng = np.random.default_rng(size)
    for seed in range(3):
        outcome = verify(f, (rng.uniform(0.3, 1.5, size),), second=seed == 0, seed=seed)
        assert outcome.compiled, outcome.reason
        assert outcome.finite and not outcome.raised, outcome


def test_a_display_that_was_written_into_is_not_taken_for_what_it_was():
    def f(x):
        return sum([v * v for v in x] + [x[0]])

    assert verify(f, (np.array([0.5, 2.0]),)).compiled


def test_a_list_that_has_another_name():
    def f(x):
        ys = [x[0], x[1]]
        zs = ys
        ys.extend([x[0] * x[1]])
        zs += [x[0]]
        return ys[2] * zs[3] + ys[0]

    outcome = verify(f, (np.array([0.5, 2.0]),))
    assert outcome.finite and not outcome.kink


@pytest.mark.parametrize("n", [0, 2])
def test_a_list_that_extends_itself_goes_to_the_tape(n):
    def f(x, n):
        ys = [x[0], x[1]]
        for _ in range(n):
            ys.extend(ys)
        return sum(ys)

    with pytest.raises(UnsupportedSyntaxError, match="in a loop over it"):
        s2s.grad(f, strict=True)(np.array([0.5, 2.0]), n)
    with pytest.warns(s2s.FallbackWarning):
        np.testing.assert_array_equal(s2s.grad(f)(np.array([0.5, 2.0]), n), [2.0**n, 2.0**n])


def test_what_is_not_compiled_is_named():
    def stepping(x):
        ys = [x[0], x[1], 1.0]
        del ys[::2]
        return ys[0]

    def assigning(x):
        ys = [x[0], x[1], 1.0]
        ys[::2] = [x[1], 2.0]
        return ys[0]

    for f, what, slope in ((stepping, "`del` of an item", [0.0, 1.0]), (assigning, "a slice of a list", [0.0, 1.0])):
        with pytest.raises(UnsupportedSyntaxError, match=what):
            s2s.grad(f, strict=True)(np.array([0.5, 2.0]))
        with pytest.warns(s2s.FallbackWarning, match=what):
            np.testing.assert_array_equal(s2s.grad(f)(np.array([0.5, 2.0])), slope)


@pytest.mark.parametrize("make", [list, lambda: [0.5, 1.5], lambda: list(np.ones(2))])
def test_tangents_of_lists_that_grow_have_the_length_that_they_had(make):
    def f(x):
        items = make()
        for v in x:
            items.append(v * x[0])
        return items[0] * items[-1] + items[1]

    x, d = np.random.default_rng(3).uniform(0.3, 1.4, (2, 3))
    value, slope = s2s.jvp(f, (x,), (d,))
    assert value == f(x)
    h = 1e-6
    np.testing.assert_allclose(slope, (f(x + h * d) - f(x - h * d)) / (2 * h), rtol=1e-7)


def test_the_shadow_of_a_longer_list_is_none_of_the_list_before():
    def f(a, b):
        ps = [(a, b), (b, a)]
        t = ps[1]
        b = ps[-1][1]
        ps += [t, (b, a)]
        return ps[-1][0] * t[0]

    outcome = verify(f, (0.3, 0.7))
    assert outcome.compiled and outcome.finite


def test_an_item_that_is_not_there_is_no_fault_of_the_compiler():
    def f(a, b):
        qs = [[a], [b, a]]
        qs.pop()
        qs[1].append(b)
        return qs[0][0]

    assert verify(f, (0.3, 0.7)).raised


def test_a_sum_that_joins_lists_and_tuples():
    def lists(x):
        items = sum([[x[0], x[1]], [x[2]], [x[0] * x[3]]], [x[2] * 2.0])
        return items[0] * items[-1] + items[1] * items[2]

    def tuples(x):
        items = sum([(x[0], x[1]), (), (x[2],)], ())
        return items[0] * items[-1] + sum([x[1], x[2]], x[3]) * len(sum([[1], [2, 3]], []))

    for f in (lists, tuples):
        assert not verify(f, (np.array([1.2, -0.7, 0.4, 2.1]),)).compiled
