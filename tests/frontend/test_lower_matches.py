"""`match` and imports, lowered: each function and its Core do the same."""

import dataclasses
import math
from collections import OrderedDict, namedtuple

import numpy as np
import pytest

from s2s import errors
from s2s.frontend.lower import lower_function
from tests.frontend.lowered import same, t, text_of

Pair = namedtuple("Pair", "a b")


@dataclasses.dataclass
class Circle:
    r: float
    note: str = ""


class Odd:
    """An object without the attribute that patterns ask for."""

    def __repr__(self):
        return "Odd()"


def test_values_singletons_and_alternatives():
    def f(x):
        match t("subject", x):
            case 0 | 1:
                return "small"
            case -1:
                return "negative"
            case math.pi:
                return "pi"
            case None:
                return "none"
            case True:  # no more than 1, which is met before
                return "true"
            case "a" | "b" as text:
                return text
        return "other"

    same(f, 0, 1, True, False, 1.0, -1, math.pi, None, "a", "b", "c", 2 + 0j)


def test_a_case_that_always_fits_is_the_last_branch():
    def f(x):
        match x:
            case 0:
                y = 1
            case _:
                y = 2
        return y

    assert text_of(f).splitlines() == [
        "subject··1 = x",
        "cond··2 = subject··1 == 0",
        "if cond··2:",
        "    y = 1",
        "else:",
        "    y = 2",
        "return y",
    ]


def test_sequences():
    def f(x):
        match x:
            case []:
                return "empty"
            case [a]:
                return a
            case [a, (b, c)]:
                return a, b, c
            case (1, *rest):
                return "one", rest
            case [*before, 9]:
                return before
            case [a, *_, z]:
                return a, z
            case _:
                return "none"

    given = ([], [5], (1, 2), (1, [2, 3]), (1,), [1, 2, 3, 4], (2, 3, 9), [7, 8, 9, 10], "ab", b"ab", {1: 2}, 3,
             np.arange(3), range(4), Pair(1, 2))  # fmt: skip
    same(f, *((x,) for x in given))


def test_mappings():
    def f(x):
        match x:
            case {"kind": "a", "value": v}:
                return v
            case {"kind": kind, **rest} if rest:
                return kind, rest
            case {}:
                return "a dict"
        return "none"

    given = ({"kind": "a", "value": 3}, {"kind": "a"}, {"kind": "b", "c": 1}, {}, OrderedDict(kind=1, b=2), [1, 2])
    same(f, *((x,) for x in given))


def test_classes():
    def f(x):
        match x:
            case Circle(r=0):
                return "point"
            case Circle(r, note="big"):
                return "big", r
            case Circle():
                return "circle"
            case Pair(a, b=1):
                return a
            case Odd(missing=m):
                return m
            case int() | float() as number:
                return number
            case str(text):
                return text + "!"
            case (list() | tuple()) as several:
                return len(several)
        return None

    circles = (Circle(0), Circle(2, "big"), Circle(3))
    given = (*circles, Pair(4, 1), Pair(4, 2), Odd(), 1, True, 2.5, np.float64(3), "s", [1])
    same(f, *((x,) for x in given))


def test_alternatives_that_bind_names():
    def f(x):
        match x:
            case [a] | [_, a, *_] | {"a": a}:
                return a
        return "none"

    same(f, ([1],), ([1, 2],), ([1, 2, 3],), ({"a": 4},), ({},), ([],))


def test_names_are_bound_before_the_guard_and_stay():
    def f(x):
        a = "before"
        match x:
            case [a, b] if t("guard", a) > b:
                return "first", a, b
            case [_, _] if t("second", a):
                return "second", a
            case c if t("third", c) is None:
                return c
        return a

    same(f, ([3, 2],), ([2, 3],), ([0, 3],), (None,), (5,))


def test_jumps_out_of_cases():
    def f(xs):
        total = 0
        for x in xs:
            match x:
                case 0:
                    continue
                case 9:
                    break
                case [y] if y > 5:
                    return "early", total
                case [y]:
                    total += y
                case _:
                    total += x
            t("after", total)
        return total

    same(f, ([1, 0, 2],), ([1, 9, 2],), ([[3], 0, [6], 4],), ([],))


def test_a_match_in_a_nested_function_and_in_a_comprehension():
    def f(xs):
        def size(v):
            match v:
                case [a, b]:
                    return a * b
                case _:
                    return 0

        return [size(x) for x in xs], size([2, 3])

    same(f, ([1, [2, 5], (3, 4)],))


def test_a_class_that_is_not_known_is_refused():
    def f(x, kind):
        match x:
            case kind(a=1):
                return 1

    with pytest.raises(errors.NotCompiled, match="a pattern of a class that is not known") as caught:
        lower_function(f)
    assert caught.value.origin.text == "kind(a=1)"


def test_imports():
    def f(x):
        import collections.abc
        import math as m
        import os.path
        from importlib import abc
        from math import pi
        from math import sin as sine

        return m.cos(x) + pi * sine(x), collections.abc.Sized, os.path.sep, abc.__name__

    same(f, 0.3)


def test_an_import_that_fails_is_refused():
    def f(x):
        if x:
            import nothing_of_this_name  # noqa: F401
        return x

    with pytest.raises(errors.NotCompiled, match="an import of `nothing_of_this_name`"):
        lower_function(f)
