"""Control flow, lowered: branches, loops, jumps, `with`, `assert`, `raise`."""

import contextlib
import inspect
import itertools
import sys

import gast
import numpy as np

from s2s import core
from s2s.frontend.lower import lower, lower_function
from tests.frontend.asserting import assert_often
from tests.frontend.lowered import same, t, text_of, traced

# --- return


def test_the_last_return_needs_no_name():
    def f(x):
        """Doc.

        More of it.
        """
        return x

    assert text_of(f).endswith("return x")
    assert inspect.cleandoc(lower_function(f).doc) == inspect.cleandoc(f.__doc__)
    same(f, 1)


def test_a_guard_reads_like_if_and_else():
    def f(x):
        if x < 0:
            return 0.0
        return x * 2

    assert text_of(f).splitlines() == [
        "cond··1 = x < 0",
        "if cond··1:",
        "    result··2 = 0.0",
        "else:",
        "    result··2 = x * 2",
        "return result··2",
    ]
    same(f, -1, 1)


def test_early_returns():
    def f(x, y):
        if x < 0:
            if y < 0:
                return "both"
            x = -x
        elif y < 0:
            return t("y", y)
        else:
            y = 7
        t("after", (x, y))
        if x > 5:
            return
        elif x > 3:
            pass
        else:
            return x, y
        x += 1
        return x

    same(f, *itertools.product((-9, -4, -1, 1, 4, 9), (-1, 1)))


def test_falling_off_the_end():
    def f(x):
        if x:
            return 1

    def g():
        pass

    def h(x):
        if x:
            raise ValueError(x)

    same(f, 0, 1)
    same(g)
    same(h, 0, 1)


def test_return_of_a_conditional_expression():
    def f(x):
        if x > 9:
            return t("big") or x
        return x if x > 0 else -x

    same(f, 10, 1, -1)


def test_statements_behind_a_return_do_not_run():
    def f(x):
        y = x
        return y
        y = t("never")

    same(f, 1)


# --- loops


def test_break_and_continue():
    def f(xs):
        s = 0
        for x in xs:
            if x == 0:
                continue
            if x < 0:
                break
            if x > 10:
                if x > 20:
                    break
                s += 100
                if x > 15:
                    continue
            s += t("x", x)
        return s, x

    same(f, [[1, 0, 2, -1, 5]], [[1, 11, 16, 3, 21, 4]], [[]], [[0, 0]])


def test_the_exit_is_the_last_statement_of_a_loop():
    def f(n):
        for i in range(10**7):
            if i == n:
                break
        return i

    assert text_of(f).splitlines()[-3:] == ["    if done··3:", "        break", "return i"]
    same(f, 3)


def test_leaving_a_loop_costs_no_further_trips():
    def f(n):
        for i in itertools.count():
            if i > n:
                return i

    same(f, 5)


def test_rebinding_the_bound_in_the_body_is_harmless():
    def f(n, xs):
        for i in range(n):
            n = n + i
        for x in xs:
            xs = []
            n += x
        return n, i

    same(f, (4, [1, 2, 3]), (0, []))


def test_targets_of_every_kind():
    def f(pairs, a):
        s = 0
        for i, (x, *y) in enumerate(pairs):
            s += i * x + len(y)
        for a[s] in range(3):
            s += 1
        for (z,) in [(1,), (2,)]:
            s += z
        return s, a, x, y, z

    same(f, ([(1, 2), (3,), (4, 5, 6)], {}), ([1], {}))


def test_iteration_over_arrays_and_dicts():
    def f(m, d):
        s = 0.0
        for row in m:
            for v in reversed(row):
                s = s * 0.5 + v
        for k, v in d.items():
            s += len(k) * v
        for i, (p, q) in enumerate(zip(m, d)):
            s += p[i] + len(q)
        return s

    same(f, (np.arange(6.0).reshape(2, 3), {"a": 1, "bc": 2}))


def test_else_of_loops():
    def f(xs, n):
        for x in xs:
            if x == n:
                break
        else:
            t("no break", n)
            x = None
        while n > 0:
            n -= 1
            if n == 7:
                break
            if n == 3:
                continue
        else:
            return t("else", (x, n))
        return x, n

    same(f, *itertools.product([[1, 2, 3], []], [0, 2, 5, 9]))


def test_else_without_break_always_runs():
    def f(xs):
        for x in xs:
            if x == 0:
                continue
            if x < 0:
                return "negative"
            t("x", x)
        else:
            t("else")
        t("after")

    same(f, [[1, 0, 2]], [[1, -1]], [[]])


def test_jumps_in_the_else_of_an_inner_loop():
    def f(m):
        s = 0
        for row in m:
            for x in row:
                if x < 0:
                    break
                if x > 90:
                    return "out", s
            else:
                if s > 10:
                    break
                s += 1
                continue
            s += 10
            t("row", row)
        else:
            return "else", s
        return "broken", s

    same(f, [[[1, 2], [-1], [3]]], [[[-1], [-1], [2], [-1]]], [[[1], [91]]], [[[]]])


def test_return_through_three_loops():
    def f(n):
        for i in range(n):
            for j in range(n):
                if j == 3:
                    break
                k = 0
                while True:
                    k += 1
                    if i + j + k == 7:
                        return i, j, k
                    if k > 3:
                        break
                t("j", j)
            t("i", i)
        return None

    same(f, 1, 2, 3, 4, 5)


def test_while_with_a_test_of_one_operation():
    def f(n):
        while n > 1:
            n = n // 2
        return n

    assert "while n > 1:" in text_of(f)
    same(f, 10, 0)


def test_while_with_a_test_of_several_operations():
    def f(n, xs):
        while t("n", n) > 1 and t("xs", xs) or (m := n) > 100:
            n -= 1
            if n == 5:
                continue
            if n == 3:
                break
            xs = xs[:-1]
        return n, xs

    same(f, (3, [1]), (10, [1, 2]), (9, [0] * 9), (5, [0] * 9), (102, []))


def test_the_test_is_not_evaluated_again_on_leaving():
    def f(n):
        while t("test", n) + 0 < 10:
            n += 1
            if n == 7:
                return n
            if n == 3:
                break
        return -n

    same(f, 0, 5, 8, 20)


def test_endless_loop():
    def f(n):
        while True:
            n += 1
            if n % 7 == 0:
                return n

    assert text_of(f).endswith("return result··4")
    same(f, 3)


def test_loop_variable_is_unbound_after_no_trip():
    def f(n):
        for i in range(n):
            x = i
        return x + i

    same(f, 0, 2)


def test_many_guards_in_a_row_do_not_nest_without_end():
    def f(x):
        if x == 1:
            return 1
        if x == 2:
            return 2
        if x == 3:
            return 3
        if x == 4:
            return 4
        if x == 5:
            return 5
        if x == 6:
            return 6
        if x == 7:
            return 7
        if x == 8:
            return 8
        if x == 9:
            return 9
        if x == 10:
            return 10
        if x == 11:
            return 11
        if x == 12:
            return 12
        if x == 13:
            return 13
        if x == 14:
            return 14
        if x == 15:
            return 15
        if x == 16:
            return 16
        if x == 17:
            return 17
        x += 1
        if x == 19:
            return 18
        for i in range(x):
            if i == 25:
                return 25
            t("i", i)
        return x

    assert max(len(line) - len(line.lstrip()) for line in text_of(f).splitlines()) < 90
    same(f, *range(14, 27))


# --- with


def test_with_of_several_items():
    def f(x):
        with traced("a", x) as a, traced("b", (a, 2)) as (b, [*c]), traced("c"):
            t("body", (a, b, c))
        return a

    same(f, 1)
    same(f, [[1]])


def test_jumps_out_of_with():
    def f(xs):
        for x in xs:
            with traced(x):
                if x == 0:
                    continue
                if x < 0:
                    break
                if x > 9:
                    with traced("inner"):
                        return t("value", x)
                t("body")
            t("after")
        else:
            return "else"

    same(f, [[1, 0, 2, -1]], [[1, 10]], [[1]])


def test_with_that_swallows_an_exception_goes_on():
    def f(x):
        with contextlib.suppress(ZeroDivisionError):
            return t("value", 1 // x)
        t("after")

    same(f, 0, 1)


def test_errstate_swallows_nothing():
    def f(x):
        with np.errstate(divide="ignore"):
            return 1 / x

    assert "returned" not in text_of(f)
    same(f, np.zeros(2))


# --- assert, raise


def test_assert_evaluates_its_message_on_failure_only():
    same(assert_often, 0, 1, 2, 3)


def test_raise():
    def f(x):
        if x == 0:
            raise ValueError("zero")
        elif x == 1:
            raise KeyError
        elif x == 2:
            raise ValueError(x) from t("cause", KeyError("k"))
        elif x == 3:
            raise ValueError(x) from None
        elif x == 4:
            raise
        return x

    same(f, 0, 1, 2, 3, 4, 5)


def test_exceptions_of_operands_arrive_unchanged():
    def f(x, y):
        a = x[y] + 1
        b = t("b", a) / y
        return a.missing if b else b

    same(f, ([1, 2], 1), ([1, 2], 0), ([], 0), ({}, "k"), (None, 0))


# --- statements without effect


def test_statements_without_effect_leave_nothing():
    def f(x):
        ...
        "text"
        x
        pass
        global np
        return x

    assert text_of(f) == "return x"
    same(f, 1)


def test_an_expression_statement_that_can_fail_stays():
    def f(x):
        undefined_name  # noqa: F821
        x.v
        x[0]

    same(f, 1)


# --- origins


def test_every_statement_knows_where_it_came_from():
    def f(x):
        y = (
            x  # first
            + 1
        )
        while y > 0 and x:
            y -= 1
        return y

    fn = lower_function(f)
    texts = [s.origin.text for s in fn.body]
    assert texts[:2] == ["y = (x + 1)", "while y > 0 and x:"]
    assert texts[-1] == "return y"
    assert {s.origin.function for s in fn.body} == {"f"}
    assert fn.body[-1].origin.line == f.__code__.co_firstlineno + 7
    assert fn.origin.text == "def f(x):"


def test_a_long_function_lowers_in_linear_time():
    def work(count):
        """How many calls it takes to lower a function of so many parts."""
        part = "    if x > {0}: x = x * {0} + x[{0}] - f(x)\n    for i in range(9):\n        if i > x: break"
        text = "\n".join(["def f(x):", *map(part.format, range(count)), "    return x"])
        node = gast.parse(text).body[0]
        calls = 0

        def profile(frame, event, argument):
            nonlocal calls
            calls += 1

        sys.setprofile(profile)
        try:
            lower(node, scope=core.Scope({}), file="f.py", text_lines=text)
        finally:
            sys.setprofile(None)
        return calls

    work(200)  # fills caches of names
    assert work(200) < 2.1 * work(100)
