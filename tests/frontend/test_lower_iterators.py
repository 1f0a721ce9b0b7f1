"""Iterators of the library, `sorted`, `max` by a key and `functools.partial`, lowered: the Core does the same."""

import functools
import itertools
import random

from tests.frontend.lowered import same, t

RANDOM = random.Random(5)


def lists(count=6, longest=5):
    return [[RANDOM.randrange(-9, 9) for _ in range(RANDOM.randrange(longest))] for _ in range(count)]


def test_chain_goes_through_its_parts_in_turn():
    def f(a, b, n):
        found = [x * 2 for x in itertools.chain(a, b, [n])]
        for x in itertools.chain(a, (y + 1 for y in b), range(n)):
            if x == 3:
                continue
            if x > 5:
                t("left", x)
                break
            found.append(t("met", x))
        else:
            found.append("all")
        return found, sum(itertools.chain(a, b)), max(itertools.chain([n], a))

    same(f, *((a, b, n) for a, b in zip(lists(), lists()) for n in (0, 4)))


def test_pairwise():
    def f(a):
        pairs = list(itertools.pairwise(a))
        for x, y in itertools.pairwise(a):
            if x > y:
                return pairs, x, y
        return pairs

    same(f, *((a,) for a in lists()), "abc", ({1: 2, 3: 4},))


def test_combinations():
    def f(a):
        two = list(itertools.combinations(a, 2))
        three = [x + y * z for x, y, z in itertools.combinations(a, 3)]
        again = sum(x * y for x, y in itertools.combinations_with_replacement(a, 2))
        return two, three, again, list(itertools.permutations(a, 2)), list(itertools.permutations(a, 3))

    same(f, *((a,) for a in lists()))


def test_zip_longest():
    def f(a, b):
        return list(itertools.zip_longest(a, b)), [x * y for x, y in itertools.zip_longest(a, b, fillvalue=7)]

    same(lambda a, b: list(itertools.zip_longest(a, b, fillvalue=0)), *zip(lists(), lists()))
    same(f, ([1, 2], [3, 4]), ({1: 0, 5: 0}, [3, 4]))


def test_strict_zip():
    def f(a, b, c):
        return [x - y + z for x, y, z in zip(a, b, c, strict=True)]

    same(f, ([1, 2], [3, 4], (5, 6)), ([1], [3, 4], (5, 6)), ([1, 2], [3, 4], (5,)), ([1, 2], [3, 4], (5, 6, 7)))
    same(lambda a, b: list(zip(a, b, strict=False)), ([1], [2, 3]))


def test_zip_with_count_and_islice():
    def f(a, n):
        first = [x * k for x, k in zip(itertools.islice(a, 1, None), itertools.count(1))]
        second = [(i, x, j) for i, x, j in zip(itertools.count(2, 3), a, itertools.count())]
        third = list(zip(itertools.islice(a, 2), itertools.islice(a, 0, 5, 2)))
        return first, second, third

    same(f, *((a, 3) for a in lists()), ({1: 2, 3: 4, 5: 6}, 3))


def test_zip_with_repeat():
    def f(a, n):
        first = [x * k for x, k in zip(a, itertools.repeat(t("same", n)))]
        second = [(k, i, x, j) for k, i, x, j in zip(itertools.repeat(n), itertools.count(), a, itertools.repeat(a))]
        for x, k in zip(itertools.islice(a, 1, None), itertools.repeat(len(a))):
            first.append(x - k)
        return first, second

    same(f, *((a, 3) for a in lists()))


def test_sorted():
    def f(a, n):
        t("sorted", sorted(a))
        by = sorted(a, key=lambda v: t("key", v % n))
        return by, sorted(a, reverse=True), sorted(a, key=lambda v: v % n, reverse=n > 2), sorted(a, key=None)

    same(f, *((a, n) for a in lists() for n in (2, 3)))
    same(lambda d: sorted(d), {3: 0, 1: 0})
    same(lambda a: sorted(a), [1, "a"])


def test_max_and_min_by_a_key():
    def f(a, n):
        return max(a, key=lambda v: t("key", v % n)), min(a, key=abs), max(n, 3, -7, key=abs)

    same(f, *((a, 3) for a in lists()), ([], 3))


def many(*args, **kwargs):
    return t("args", args), t("kwargs", kwargs)


def test_partial_evaluates_its_operands_once():
    def f(a, b):
        g = functools.partial(many, t("first", a), k=t("second", b))
        a = b = 0
        return g(), g(1, 2), g(a, m=b)

    same(f, (1, 2))
