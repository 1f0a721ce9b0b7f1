"""Reverse mode, directed: what the forward sweep saves for the reverse sweep, and what it does not."""

import math
import sys

import numpy as np

import s2s
from tests.transforms.gradients import U, X, holds, tapes

# --- constants ---

RATE = 0.5
WEIGHTS = np.array([[0.5, 0.1, 0.0], [0.0, 0.4, 0.3], [0.2, 0.2, 0.6]])


def stepped(x, rate, weight=0.25):
    return x - rate * np.sin(x) * weight * rate


def layer(x, weights):
    return np.tanh(weights @ x)


def test_constants_are_read_again_in_place_of_a_tape():
    def f(x, v, n):
        for _ in range(n):
            damping = 0.9
            x = stepped(x * damping, RATE)
            x = stepped(x, math.pi)
            v = layer(v, WEIGHTS)
        return np.sum(v) * x

    for n in (0, 1, 3):
        source = holds(f, X, U[:3], n)
        assert all(tape.startswith(("x_", "v_", "t_", "result_")) for tape in tapes(source)), source
        assert "append(0" not in source and "rate_tape" not in source


def test_attributes_of_objects_are_kept_on_a_tape():
    class Settings:
        rate = 0.3

    def f(x, n, settings):
        for i in range(n):
            x = stepped(x, settings.rate)
        return x

    assert len(tapes(s2s.grad(f, strict=True).source(X, 3, Settings()))) == 2


# --- what is saved ---


def test_linear_loop_saves_nothing():
    def f(x, u):
        s = 0.0
        for v in u:
            s = s * 0.5 + v * 2.0
        return s * x

    assert tapes(holds(f, X, U, argnums=1)) == []


def test_carried_number_is_saved_once():
    def f(x):
        for i in range(5):
            x = x * x * 0.3 + x
        return x

    assert len(tapes(holds(f, X))) == 1


def test_condition_is_computed_again_not_saved():
    def f(x):
        s = 0.0
        for i in range(5):
            if x > 0.5:
                x = x * 0.9
            s += x
        return s

    assert len(tapes(holds(f, X))) == 1


def test_index_and_item_are_read_again():
    def f(u, w):
        s = 0.0
        for i in range(4):
            s += u[i] * w[3 - i]
        return s

    assert tapes(holds(f, U, U * 0.3, argnums=(0, 1))) == []


def test_value_is_handed_over_to_the_round_before():
    def f(x):
        s = 0.0
        for i in range(4):
            y = math.exp(x) * 0.2
            s += y * y
            x = y
        return s

    assert len(tapes(holds(f, X))) <= 1


def test_indexing_in_a_loop_allocates_nothing():
    def f(u, w):
        s = 0.0
        for i in range(len(u)):
            s += math.sin(u[i]) * w[i]
        return s

    source = holds(f, U, U * 0.3, argnums=(0, 1))
    inside = source[source.rindex("for ") :]
    assert "zeros" not in inside.split("return")[0]


def lines_run(call):
    """How many lines of Python a call runs."""
    count = 0

    def trace(frame, event, arg):
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return count


def test_leaving_a_long_loop_early_costs_the_rounds_that_ran():
    def f(x, n):
        for i in range(n):
            x = x * x + 0.1
            if i == 2:
                break
        return x

    source = holds(f, X, 10**7)
    assert "[:trips]" in source or "range(trips)" in source  # not the ten million that might have run
    gradient = s2s.grad(f, strict=True)
    for _ in range(3):
        gradient(X, 10)
    assert lines_run(lambda: gradient(X, 10**7)) == lines_run(lambda: gradient(X, 10))


def test_loop_of_a_million_rounds():
    def f(x, n):
        s = 0.0
        for i in range(n):
            s = s * 0.999 + x * x
        return s

    gradient = s2s.grad(f, strict=True)
    decay = (1 - 0.999**1_000_000) / (1 - 0.999)
    assert math.isclose(gradient(X, 1_000_000), 2 * X * decay, rel_tol=1e-9)
