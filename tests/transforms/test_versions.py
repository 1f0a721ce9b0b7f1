"""Single assignment: names are assigned once, or by copies only; what may be unbound stays so."""

from collections import Counter

import gast
import numpy as np
import pytest

from s2s import core
from s2s.codegen.build import build
from s2s.errors import NotCompiled
from s2s.frontend.lower import lower_function
from s2s.transforms.bound import unbound_reads
from s2s.transforms.copies import copies
from s2s.transforms.task import Task
from s2s.transforms.versions import versions

TASK = Task("grad", program=None)


def versioned(f):
    return core.check(versions(lower_function(f), TASK))


def statements(stmts):
    for stmt in stmts:
        yield stmt
        for _, block in core.blocks(stmt):
            yield from statements(block)


def same(f, *calls, step=lambda fn: fn):
    """Versions do what the function does for each tuple of arguments; returns the program."""
    fn = step(versioned(f))
    times = Counter(fn.param_names)
    times.update(name for stmt in statements(fn.body) for name in core.writes(stmt))
    for stmt in statements(fn.body):
        for name in core.writes(stmt):
            is_copy = isinstance(stmt, gast.Assign) and core.is_atom(stmt.value)
            assert times[name] == 1 or is_copy, f"{name} is assigned {times[name]} times"
    made = build(fn).function
    for args in calls:
        try:
            expected = f(*args)
        except UnboundLocalError:
            with pytest.raises(UnboundLocalError):
                made(*args)
        else:
            assert made(*args) == expected
    return fn


def test_straight_line():
    def f(x):
        x = x + 1
        y = x
        x = x * y
        return x - y

    fn = same(f, (3,))
    assert {"x", "x·2", "x·3"} <= fn.local_names()


def test_branches_meet_in_copies():
    def f(x, flag):
        y = 1
        if flag:
            y = x
            x = 2
        else:
            x = x + 1
        return x * y

    same(f, (3, True), (3, False))


def test_variable_that_is_not_read_later_does_not_meet():
    def f(x, flag):
        if flag:
            t = x + 1
            x = t * t
        return x

    fn = same(f, (3, True), (3, False))
    assert [n for n in fn.local_names() if core.stem(n) == "t"] == ["t"]


def test_loops_carry_and_exit():
    def f(x, n):
        a, b = 0, 1
        for i in range(n):
            a, b = b, a + b
            if b > x:
                break
        else:
            a = -a
        while a > 10:
            a = a - i
            i = i + 1
        return a * b

    same(f, (5, 20), (500, 20), (500, 4), (1, 3))


def test_target_of_a_loop_is_read_after_it():
    def f(n):
        i = -1
        for i in range(n):
            pass
        return i

    same(f, (0,), (4,))


def test_augmented_assignment_of_a_name_becomes_a_call():
    def f(x):
        x += 2
        x *= x
        return x

    same(f, (3,))


def test_unpacking_names_what_it_takes_apart():
    def f(x):
        a, b = divmod(x, 3)
        (a, b), c = (b, a), a
        first, *rest = [a, b, c]
        return first * 100 + rest[0] * 10 + len(rest)

    same(f, (17,))


def test_empty_bodies():
    def f(x):
        for _ in range(x):
            pass
        with np.errstate(all="ignore"):
            "a text"
        with np.errstate(all="ignore"):
            x = x + 1
        return x

    same(f, (3,))


# --- names that may be unbound ---


def test_name_first_bound_in_a_loop():
    def f(x, n):
        for i in range(n):
            y = x * i
        return y

    same(f, (3, 2), (3, 0))


def test_name_first_bound_in_an_inner_loop():
    def f(x, n):
        s = 0
        for i in range(n):
            for j in range(2 - i):
                y = x * i + j
            s += y
        return s + y

    same(f, (3, 1), (3, 3), (3, 0))


def test_name_bound_in_one_branch():
    def f(x, flag):
        if flag:
            y = x
        x = x + 1
        if flag:
            x = x * y
        return x

    fn = same(f, (3, True), (3, False))
    # Only copies read a name that may be unbound.
    for stmt, name in unbound_reads(fn):
        assert isinstance(stmt.value, gast.Name) and stmt.value.id == name


def test_value_of_the_round_before():
    def f(n):
        s = 0
        for i in range(n):
            if i > 0:
                s += before * i  # noqa: F821
            before = i + 3
        return s

    same(f, (0,), (1,), (5,))
    same(f, (0,), (1,), (5,), step=lambda fn: copies(fn, TASK))


def test_value_of_some_earlier_round():
    def f(items):
        for x in items:
            y = x * 2
            if x > 2:
                best = y
        return best

    calls = ([1, 3, 4, 1],), ([5, 1],), ([1],), ([],)
    same(f, *calls)
    same(f, *calls, step=lambda fn: copies(fn, TASK))


def test_early_return_from_nested_loops():
    def f(items, bound):
        for i in items:
            k = 0
            while k < i:
                k += 1
                if i * k > bound:
                    found = i * 10 + k
                    return found
        return -1

    same(f, ([1, 2, 3], 5), ([1, 2, 3], 50), ([], 1))


def test_while_that_tests_what_may_be_unbound_is_not_compiled():
    def f(x, flag):
        if flag:
            y = x
        while y > 0:
            y = y - 1
            x = x + 1
        return x

    with pytest.raises(NotCompiled, match="`y` may be read before it is assigned"):
        versioned(f)


def test_deleted_name_is_not_read_again():
    def f(n):
        x = 1
        for i in range(n):
            y = x
            del x
            x = y + i
        del y
        return x

    same(f, (1,), (3,))


def test_name_that_is_deleted_in_one_branch_is_not_compiled():
    def f(x, flag):
        if flag:
            del x
        return x

    with pytest.raises(NotCompiled):
        versioned(f)


# --- copies ---


def test_copies_of_what_stays_are_read_through():
    def f(x):
        y = x
        z = y
        return z + y

    fn = same(f, (3,), step=lambda fn: copies(fn, TASK))
    assert fn.local_names() - {"x"} == {n for n in fn.local_names() if core.is_temporary(n)}


def test_copies_of_what_changes_stay():
    def f(x, n):
        y = x
        for _ in range(n):
            z = x
            x = x + y
            y = z
        return x * y

    same(f, (3, 0), (3, 4), step=lambda fn: copies(fn, TASK))
