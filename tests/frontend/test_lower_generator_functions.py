"""Generator functions and context managers made of them, lowered into the places where they are gone through."""

import contextlib
import warnings

import numpy as np
import pytest

import s2s
from tests.frontend.lowered import same, t
from tests.transforms.test_tries import holds

X = np.random.default_rng(0).uniform(0.3, 1.5, 4)


def traced(values, start):
    total = start
    for v in values:
        total = total + v
        t("before", total)
        yield total
        t("after", total)
    yield -total


def running(values, start):
    total = start
    for v in values:
        total = total + v
        yield total
    yield -total


@contextlib.contextmanager
def entered(k):
    t("enter", k)
    yield k * 2.0
    t("leave", k)


@contextlib.contextmanager
def doubled(k):
    yield k * 2.0


@contextlib.contextmanager
def swallowed(k):
    try:
        yield k
    except ZeroDivisionError:
        t("swallowed", k)
    finally:
        t("finally", k)


@contextlib.contextmanager
def guarded(k):
    try:
        yield k
    except ZeroDivisionError:
        k = 0.0


def test_what_happens_between_items_happens_when_it_would():
    def f(a, n):
        found = []
        for v in traced(a, n):
            if v == 3:
                continue
            found.append(t("item", v))
        return found, [v * 2 for v in traced(start=n, values=a) if v > 1], sum(traced(a, 0)), list(traced(a, 1))

    same(f, ([1, 2, 3], 0), ([], 5))


def test_nested_generator_functions_see_the_variables_around_them():
    def f(a, n):
        def scaled(values):
            for v in values:
                if v == 0:
                    break
                yield v * n
            else:
                yield n

        total = 0
        for v in scaled(a):
            n = n + 1
            total += v
        return total, max(scaled([n, 2])), [x + y for x in scaled(a) for y in scaled([1, x])]

    same(f, ([1, 2, 3], 2), ([1, 0, 3], 2))


def test_gradients_through_generators():
    def f(x, s):
        def steps(v, n):
            for _ in range(n):
                v = v * s + np.sin(v)
                yield v

        total = 0.0
        for k, v in enumerate(steps(x[0], 3)):
            total = total + v * x[k]
        return total * sum(v * v for v in steps(x[1], 2)) + sum(running(x, s))

    holds(f, (X, 0.7))


def test_generators_that_are_left_early_or_kept_go_to_the_tape():
    def left(x):
        for v in running(x, 0.0):
            if v > 1.0:
                return v * v
        return x[0]

    def kept(x):
        values = running(x, 0.0)
        return sum(values) + sum(values)

    for f in (left, kept):
        with pytest.raises(s2s.UnsupportedSyntaxError):
            s2s.grad(f, strict=True)(X)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", s2s.FallbackWarning)
            assert s2s.check(f, X)


def test_context_managers():
    def f(x, n):
        for i in range(3):
            with entered(x) as y, entered(y) as z:
                if i == n:
                    break
                if i == n - 1:
                    continue
                if z < 0:
                    return t("returned", y)
                x = x + t("body", z)
        with swallowed(x):
            x = x / n
            x = x * 3.0
        return x

    same(f, (1.0, 0), (1.0, 2), (-1.0, 7))
    with pytest.raises(TypeError):
        s2s.grad(f)("a", 2)


def test_gradients_within_context_managers():
    def f(x, n):
        with doubled(x) as y:
            y = y * x
        with guarded(n) as k:
            y = y * (x - k) ** 0.5
            y = y / k
        return y * y

    holds(f, (2.3, 1.0), (2.3, 0.0))


def test_a_manager_that_is_defined_anew_is_noticed(monkeypatch):
    def f(x):
        with doubled(x) as y:
            y = y * x
        return y

    df = s2s.grad(f, strict=True)
    assert df(3.0) == 12.0

    def tripled(k):
        yield k * 3.0

    def running_again(values, start):
        yield start * 5.0

    monkeypatch.setitem(globals(), "doubled", contextlib.contextmanager(tripled))
    assert df(3.0) == 18.0

    def g(x):
        return sum(running([x], x))

    dg = s2s.grad(g, strict=True)
    assert dg(1.0) == 0.0
    monkeypatch.setitem(globals(), "running", running_again)
    assert dg(1.0) == 5.0


def test_a_generator_expression_that_is_kept_sees_the_variables_when_it_is_taken():
    def f(a, n):
        scaled = (v * n for v in t("first", a))
        n = n + 1
        if n > 2:
            return sum(scaled), n
        return list(range(n))

    same(f, ([1, 2], 1), ([1, 2], 3))
    holds(lambda x, s: kept_and_taken(x, s), (X, 0.7))


def kept_and_taken(x, s):
    squares = (v * v * s for v in x)
    s = s * 2.0
    total = 0.0
    for v in squares:
        total = total + v * s
    return total


def test_a_generator_expression_that_is_taken_in_a_loop_goes_to_the_tape():
    def in_a_loop(x):
        squares = (v * v for v in x)
        total = 0.0
        for _ in range(2):
            total = total + sum(squares)
        return total

    def in_a_comprehension(x):
        squares = (v * v for v in x)
        return sum([sum(squares) for _ in range(2)])

    def in_two_branches(x):
        if x[0] > 0.0:
            squares = (v * v for v in x)
        return sum(squares)

    for f in (in_a_loop, in_a_comprehension, in_two_branches):
        with pytest.raises(s2s.UnsupportedSyntaxError):
            s2s.grad(f, strict=True)(X)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", s2s.FallbackWarning)
            np.testing.assert_allclose(s2s.grad(f)(X), 2 * X)
