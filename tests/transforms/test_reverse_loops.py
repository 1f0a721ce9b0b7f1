"""Reverse mode, directed: loops and branches, and the names that they bind."""

import math

import numpy as np
import pytest

import s2s
from tests.programs.verify import verify
from tests.transforms.gradients import U, X, holds

# --- integers that meet arrays ---


def test_a_sum_of_arrays_may_start_at_the_integer_zero():
    def f(u, n):
        total = 0
        for i in range(n):
            total = total + np.sin(u * i) * total + u
        return np.sum(total)

    for n in (0, 1, 2, 4):
        holds(f, U, n)
        holds(f, np.outer(U, U[:2]), n)


def test_an_integer_in_one_branch_and_an_array_in_the_other():
    def f(u, n):
        y = 2
        if n > 1:
            y = u * u
        z = np.sin(y) * y + np.maximum(y, 0.3) ** 2
        return np.sum(z / (1 + y)) + np.mean(y)

    for n in (1, 2):
        holds(f, U, n)


# --- loops ---


def test_loop_over_a_range_with_a_carried_number():
    def f(x, n):
        s = 0.0
        for i in range(n):
            s = s * x + math.sin(x) * i
        return s

    holds(f, X, 4)


def test_loop_without_rounds():
    def f(x, n):
        s = x * x
        for i in range(n):
            s = s * math.sin(s)
            x = x * s
        return s * x

    holds(f, X, 0)


def test_while_loop():
    def f(x):
        k = 0
        while x < 3.0 and k < 10:
            x = x * 1.5 + 0.1 * x * x
            k += 1
        return x

    holds(f, X)


def test_break_inside_while_keeps_the_gradient():
    def f(x):
        s = 0.0
        while True:
            x = x * 1.3
            s += x * x
            if s > 4.0137:
                break
            s = s * 0.9
        return s

    holds(f, X)


def test_continue_and_break_in_nested_loops_with_else():
    def f(x, u):
        s = 0.0
        for i in range(4):
            for j in range(3):
                if u[i] < -0.5:
                    continue
                if s > 1.5:
                    break
                s = s + x * u[j] * u[i]
            else:
                s = s * x
                continue
            s = s + 0.1 * x
            if s > 3.0:
                break
        else:
            s = s - x
        return s

    holds(f, X, U, argnums=(0, 1))
    holds(f, 2.3, U, argnums=(0, 1))


def test_return_inside_nested_loops():
    def f(x, u):
        s = x
        for i in range(3):
            for v in u:
                s = s + v * x
                if s > 2.0:
                    return s * s
            s = s * 0.9
        return s * x

    holds(f, X, U, argnums=(0, 1))
    holds(f, 1.9, U, argnums=(0, 1))


def test_bound_of_a_loop_is_assigned_again_in_its_body():
    def f(x, n):
        for i in range(n):
            n = n + 5
            x = x * math.sin(x + n)
        return x * n

    holds(f, X, 3)


def test_array_that_is_iterated_over_is_assigned_again_in_the_body():
    def f(u):
        s = 0.0
        for v in u:
            u = u * v
            s = s + np.sum(u)
        return s

    holds(f, U)


def test_zip_enumerate_reversed_and_items():
    def f(u, w, knobs):
        s = 0.0
        for a, b in zip(u, w):
            s = s * 0.5 + a * b
        for i, a in enumerate(reversed(u)):
            s = s + a * i * s
        for name, value in knobs.items():
            s = s * value + len(name)
        for a, (i, b) in zip(u, enumerate(w, 1)):
            s = s + a * b * i
        return s

    holds(f, U, U[::-1] * 0.4, {"rate": 0.3, "bias": -1.2}, argnums=(0, 1, 2))


def test_list_of_tuples_and_tuple_of_names():
    def f(x, rows):
        s = x
        for a, b in rows:
            s = s * a + b
        for v in (x, s, s * x):
            s = s + v * v
        return s

    holds(f, X, [(0.3, 0.4), (0.5, -0.6)], argnums=(0, 1))


def test_nested_unpacking_of_items_reaches_the_gradient():
    def f(x, u, rows):
        for v, (a, _) in zip(u, rows):
            x = x * 0.5 + v - a
        return x

    holds(f, X, U, [(0.3, 0.4), (0.5, -0.6)], argnums=(0, 1, 2))


def test_rows_of_a_matrix():
    def f(m, x):
        s = x
        for row in m:
            s = math.tanh(s) + row @ row * x
        return s

    holds(f, np.outer(U, U)[:, :3], X, argnums=(0, 1))


# --- names that a loop or branch binds first ---


def test_name_first_bound_in_a_loop_is_read_after_it():
    def f(x, u):
        for v in u:
            y = v * x
        return y * y

    holds(f, X, U, argnums=(0, 1))


def test_array_first_bound_in_a_loop_is_read_after_it():
    def f(x, u):
        for i in range(3):
            y = u * x * i
        return np.sum(y * y)

    holds(f, X, U, argnums=(0, 1))


def test_name_first_bound_in_an_inner_loop_is_read_in_the_outer():
    def f(x, u):
        s = 0.0
        for i in range(3):
            for j in range(3 - i):
                y = u[j] * x * i
            s += y * y
        return s

    holds(f, X, U, argnums=(0, 1))


def test_value_of_the_round_before():
    def f(x, u):
        s = 0.0
        for i in range(4):
            if i > 0:
                s += before * u[i] * before  # noqa: F821
            before = u[i] * x
        return s

    holds(f, X, U, argnums=(0, 1))


def test_name_bound_in_some_rounds_only_is_read_after_the_loop():
    def f(x, u):
        found = 0
        for i in range(4):
            y = u[i] * x
            if u[i] > 0.4:
                best = y
                found += 1
        s = x
        if found > 0:
            s = s * best * best
        return s

    holds(f, X, U, argnums=(0, 1))
    holds(f, X, -abs(U), argnums=(0, 1))


def test_name_bound_in_a_branch_is_read_under_the_same_condition():
    def f(x, u, wanted):
        if wanted:
            y = x * x
        s = x
        for v in u:
            if wanted:
                s = s + y * v * y
        return s

    holds(f, X, U, True, argnums=(0, 1))
    holds(f, X, U, False, argnums=(0, 1))


def test_array_whose_shape_is_known_from_the_second_round_on_is_compiled():
    def f(x, u):
        s = 0.0
        for i in range(4):
            if i > 0:
                s += np.sum(before * u[i])  # noqa: F821
            before = u * x
        return s

    assert verify(f, (X, U)).compiled


def test_unbound_name_raises_as_python_does():
    def f(x, n):
        for i in range(n):
            y = x * i
        return y * x

    with pytest.raises(UnboundLocalError):
        s2s.grad(f, strict=True)(X, 0)


def test_container_first_bound_in_a_loop():
    def f(x):
        a = x
        for _ in range(3):
            t = (a, a * a)
            a = a * 1.1
        return t[0] * t[1]

    holds(f, X)
