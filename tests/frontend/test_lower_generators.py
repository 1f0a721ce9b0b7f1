"""Generators whose items are taken where they are made, lowered to loops: the same calls, in the same order."""

import functools
import itertools
import operator

import numpy as np
import pytest

from s2s import errors
from s2s.frontend.lower import lower_function
from tests.frontend.lowered import same, t, text_of


def test_a_generator_is_a_comprehension():
    def f(xs, n):
        a = sum((x * n for x in xs), t("start", 1))
        b = max((t("x", x) for x in xs if x), default=t("default", n)), min(x - n for x in xs)
        c = list(x for x in xs), tuple((x, n) for x in xs), sorted((-x for x in xs), reverse=True)
        d = dict((t("k", x), t("v", n)) for x in xs), set(x % 2 for x in xs), frozenset(x % 3 for x in xs)
        e = dict(([x, n] for x in xs), a=1), "-".join(str(x) for x in xs)
        return a, b, c, d, e, np.array(list(x * y for x in xs for y in range(n) if y != x))

    same(f, ([3, 0, 4], 2), ([0.1] * 10, 3), ((), 1))


@pytest.mark.parametrize("xs", [[], [0, 0], [0, 3, 0], [1], [2, 1]], ids=str)
def test_any_and_all_stop_early(xs):
    def f(xs):
        a = any(t("any", x) for x in xs)
        b = all(t("all", x) for x in xs)
        c = any(t("pair", x > y) for x in xs for y in xs if t("test", y))
        d = all(t("both", x == y) for x in xs for y in xs)
        return a, b, c, d

    same(f, (xs,))


def test_truth_that_an_array_does_not_have():
    def f(x):
        return any(row > 0 for row in x)

    same(f, np.ones((2, 3)), np.ones((2, 1)), np.zeros((0, 3)))


def test_targets_of_generators_are_their_own():
    def f(x, n):
        y = sum(x for x in range(x) if (last := x) >= 0)
        z = list(tuple(x + i for x in y) for i, y in enumerate([[y], [x]]))
        return x, y, z, last, list(n for n in range(n))

    same(f, (3, 2), (1, 1))


def test_order_of_a_generator_and_other_operands():
    def f(xs):
        return t("f", sum((t("x", x) for x in t("xs", xs)), t("start", 0))) + t("last", 1)

    same(f, [1, 2])


def test_loops_over_generators():
    def f(xs, n):
        total = 0
        for x, y in ((t("x", x), y * n) for x in xs if x for y in range(x)):  # noqa: B020
            n += 1
            if y > 20:
                continue
            if x > 4:
                break
            total += x * y
        else:
            total = -total
        for x in (x for x in (t("inner", x) for x in xs)):
            if x == 3:
                return total, x, n
        return total, n

    same(f, ([1, 0, 2], 2), ([4, 3], 1), ([5, 6], 3), ([], 0))


def test_map_and_filter():
    def f(xs, n):
        def scaled(x):
            return t("scaled", x * n)

        total = sum(map(scaled, xs)) + sum(list(map(lambda x, y: x - y, xs, xs[1:])))
        for x in map(scaled, filter(lambda x: t("test", x > 1), xs)):
            n += x
            if x > 20:
                break
        return total, n, list(filter(None, xs)), list(map(str, xs)), tuple(map(operator.neg, xs)), sorted(map(abs, xs))

    same(f, ([1, 2, 3], 2), ([0, 9, 4], 3), ([], 1))


def test_a_function_that_is_assigned_again_while_its_items_are_taken():
    def f(g, h, xs):
        seen = []
        for x in map(g, xs):
            g, xs = h, []
            seen.append(x)
        return seen

    def shifted(x):
        return x + 1

    same(f, (shifted, str, [1, 2]))


def test_iterators_of_the_library():
    def f(xs, n):
        a = [*itertools.chain(xs, "ab")]
        b = list(itertools.chain(xs, range(n), "ab"))
        c = list(itertools.product(xs, range(2), [t("p", n)])), tuple(itertools.product(xs, repeat=2))
        d = [list(itertools.repeat(n, k)) for k in (0, 3)]
        e = list(itertools.starmap(pow, [(x, 2) for x in xs]))
        g = [list(itertools.islice(xs, 2)), list(itertools.islice(xs, 1, None)), list(itertools.islice(xs, 1, 9, 2))]
        h = list(enumerate((t("e", x) for x in xs), 3)), list(enumerate(map(str, xs), start=n))
        for x, y in itertools.product(xs, xs):
            xs.append(n)
            if x > y:
                break
        return a, b, c, d, e, g, h, xs

    same(f, ([1, 2, 3], 2), ([4], 1), ([], 0), ([2, 1, 0, 7], 3))


def test_reduce_calls_in_order():
    def f(xs, n):
        a = functools.reduce(lambda a, b: t("step", a * b), t("xs", xs), t("start", n))
        b = functools.reduce(lambda a, b: t("plain", a - b), [x for x in xs])
        return a, b, functools.reduce(operator.add, map(str, xs)), functools.reduce(max, xs)

    same(f, ([1, 2, 3], 2), ([4], 1), ([], 5))


def test_accumulate():
    def f(xs):
        a, b = list(itertools.accumulate(xs)), tuple(itertools.accumulate(xs, None))
        for x in itertools.accumulate(xs, lambda a, b: t("step", a * b)):
            t("item", x)
            if x > 5:
                break
            xs.append(2)
        return a, b, xs

    same(f, ([],), ([3],), ([1, 2, 0.5],))


def test_counting():
    def f(n, start, step):
        seen = []
        for i in itertools.count():
            for j in itertools.count(start, step):
                seen.append((i, j))
                if len(seen) > n:
                    return seen, i, j
                if j > i:
                    break
            else:
                seen.append("never")
            if i == 1:
                continue
            seen.append(i)

    same(f, (9, 0, 1), (20, 0.5, 0.1), (7, 2, 3))


def kept(xs):
    g = (x for x in xs)
    return sum(g) + sum(g)


def passed_on(xs):
    return np.sum(x for x in xs)


def stepped(xs):
    it = iter(xs)
    return sum(next(it) for _ in range(2))


@pytest.mark.parametrize("f", [kept, passed_on], ids=lambda f: f.__name__)
def test_a_generator_that_is_kept_is_refused(f):
    with pytest.raises(errors.NotCompiled, match="a generator expression cannot be compiled") as caught:
        lower_function(f)
    assert "for x in xs)" in caught.value.origin.text


def test_a_generator_that_may_end_in_a_step_is_refused():
    with pytest.raises(errors.NotCompiled, match="a call of `next`"):
        lower_function(stepped)


def test_another_sum_is_no_sum():
    def f(xs, sum=max):
        return sum(x for x in xs)

    with pytest.raises(errors.NotCompiled, match="a generator expression"):
        lower_function(f)


def test_a_generator_reads_like_a_comprehension():
    def f(xs):
        return sum(x * x for x in xs)

    assert text_of(f).splitlines() == [
        "t··1 = xs",
        "iter··2 = t··1",
        "t··3 = []",
        "for x··4 in iter··2:",
        "    t··5 = x··4 * x··4",
        "    t··3.append(t··5)",
        "result··6 = sum(t··3)",
        "return result··6",
    ]
