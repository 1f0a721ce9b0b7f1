"""Reverse mode, directed: control flow, what is saved and what is not, adjoints and their memory, names, errors."""

import dataclasses
import math
import re
import sys
import traceback
from collections import namedtuple

import numpy as np
import pytest

import s2s
from tests.programs.verify import verify

X, U = 0.7, np.array([0.3, -0.8, 1.2, 0.5])


def holds(f, *args, **keywords):
    """The gradient of f is compiled, and right at every stage, in forward mode and on the tape."""
    outcome = verify(f, args, **keywords)
    assert outcome.compiled, outcome.reason
    assert outcome.finite and not outcome.kink and not outcome.raised, outcome
    return s2s.grad(f, keywords.get("argnums", 0), strict=True).source(*args)


def tapes(source):
    """The names of the tapes of a generated function."""
    return re.findall(r"^    (\w+) = \[\]$", source, re.MULTILINE)


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


def test_array_whose_shape_may_not_be_known_is_not_compiled_and_right():
    def f(x, u):
        s = 0.0
        for i in range(4):
            if i > 0:
                s += np.sum(before * u[i])  # noqa: F821
            before = u * x
        return s

    assert not verify(f, (X, U)).compiled


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


# --- operands ---


def test_same_operand_twice():
    def f(x, u):
        return x * x + np.sum(u * u) + u @ u + x**x + np.sum(np.maximum(u, u)) + np.dot(u, u) / x / x

    holds(f, X, U, argnums=(0, 1))


def test_alias_of_an_argument_that_is_assigned_again():
    def f(a):
        b = a
        a = a * a
        c = b
        b = b + a
        return a * b * c

    holds(f, X)


def test_alias_of_an_array_in_a_loop():
    def f(u):
        v = u
        for _ in range(3):
            w = v
            v = v * u
            u = w + v
        return np.sum(u * v)

    holds(f, U)


def test_unused_argument_has_a_zero_gradient():
    def f(a, u, pair):
        return a * 2.0

    gradients = s2s.grad(f, (0, 1, 2), strict=True)(X, U, (1.0, U))
    assert gradients[0] == 2.0
    assert np.array_equal(gradients[1], np.zeros(4)) and gradients[1].dtype == float
    assert gradients[2][0] == 0.0 and np.array_equal(gradients[2][1], np.zeros(4))


def test_random_inputs_of_several_shapes(rng):
    def f(w, x, b):
        h = np.tanh(x @ w + b)
        return np.sum(h * h) / h.size + np.mean(h[0]) + np.max(b)

    for n, k, m in [(1, 1, 1), (2, 3, 4), (5, 1, 3), (3, 7, 1)]:
        holds(f, rng.normal(size=(k, m)), rng.normal(size=(n, k)), rng.normal(size=m), argnums=(0, 1, 2))


def test_broadcasting_of_every_pair_of_shapes(rng):
    def f(x, y):
        return np.sum(np.sin(x * y) + x / (2.0 + y * y) - y)

    shapes = [(), (1,), (4,), (3, 1), (1, 4), (3, 4), (2, 3, 4)]
    for one in shapes:
        for other in shapes:
            verify(f, (rng.normal(size=one), rng.normal(size=other)), each_stage=False)


# --- kinds of arguments ---


@pytest.mark.parametrize(
    "number", [float, np.float64, np.float32, lambda x: np.array(x), lambda x: np.array(x, np.float32)]
)
def test_kinds_of_numbers(number):
    def f(x, u):
        s = x
        for v in u:
            if s > 0.2:
                s = s * v * x
            s = s + 1.5
        return s * x

    x = number(0.7)
    outcome = verify(f, (x, U), (0, 1))
    assert outcome.compiled, outcome.reason
    gradient = s2s.grad(f, strict=True)(x, U)
    assert np.asarray(gradient).dtype == np.asarray(x).dtype
    assert np.ndim(gradient) == 0


def test_gradient_of_float32_arrays_is_float32():
    def f(u, w):
        return np.sum(np.tanh(u * 2.0) * w) + u[0]

    g = s2s.grad(f, (0, 1), strict=True)(U.astype(np.float32), U)
    assert g[0].dtype == np.float32 and g[1].dtype == np.float64


Point = namedtuple("Point", "x y")


@dataclasses.dataclass
class Model:
    weight: np.ndarray
    scale: float
    name: str = "model"


def test_containers_as_parameters():
    def f(items, pair, knobs, point, model):
        s = items[0] * pair[1][0] + knobs["a"] * point.x
        for item in items:
            s = s + item * item
        return s * np.sum(model.weight) * model.scale + point.y * knobs["b"][1]

    args = ([0.3, 0.4], (1.0, U), {"a": 0.2, "b": U}, Point(0.5, -0.6), Model(U, 1.3))
    holds(f, *args, argnums=(0, 1, 2, 3, 4))
    gradients = s2s.grad(f, (0, 1, 2, 3, 4), strict=True)(*args)
    assert [type(g) for g in gradients] == [list, tuple, dict, Point, Model]
    assert gradients[4].name == "model"


def test_container_that_is_unpacked_and_passed_on():
    def norm(pair):
        first, rest = pair
        return first * first + np.sum(rest * rest)

    def f(pair):
        return norm(pair) * norm((pair[0], pair[1] * 2.0))

    holds(f, (X, U))


# --- the memory of gradients ---


def share(*arrays):
    return any(np.shares_memory(a, b) for i, a in enumerate(arrays) for b in arrays[:i])


@pytest.mark.parametrize("f", [
    lambda u, v: np.sum(u + v),
    lambda u, v: np.sum(u) + np.sum(v),
    lambda u, v: np.sum((u + v) - (v - u)),
    lambda u, v: u @ v,
    lambda u, v: np.sum(u.reshape(2, 2)) + np.sum(v[::-1]),
    lambda u, v: np.mean(u) * 1.0 + v[0],
    lambda u, v: np.sum(np.where(u > 0, u, v)),
])  # fmt: skip
def test_gradients_share_no_memory_and_are_writable(f):
    u, v = U.copy(), U[::-1].copy()
    g, h = s2s.grad(f, (0, 1), strict=True)(u, v)
    assert not share(g, h, u, v)
    g += 1.0
    h += 1.0
    assert np.array_equal(u, U)


def test_gradient_of_the_argument_itself_is_no_alias_of_the_seed():
    seed = np.array(2.0)

    def f(x):
        return x

    g = s2s.grad(f, strict=True)(np.array(0.3), out_bar=seed)
    assert g == 2.0 and not np.shares_memory(g, seed)


def test_two_gradients_of_one_array_given_twice():
    def f(u, v):
        return np.sum(u * v)

    g, h = s2s.grad(f, (0, 1), strict=True)(U, U)
    assert np.array_equal(g, U) and np.array_equal(h, U) and not share(g, h, U)


def test_gradients_in_a_container_share_no_memory():
    def f(pair, u):
        return np.sum(pair[0] + pair[1] + u)

    (a, b), c = s2s.grad(f, (0, 1), strict=True)((U, U), U)
    assert not share(a, b, c, U)


# --- names ---


def test_names_of_ours_may_be_the_users():
    def f(x, out_bar, x_bar, u_tape):
        t = x * out_bar
        trips = t * x_bar
        for rounds in range(3):
            t = t * x + trips
            x_tape = t * u_tape
            if t > 50.0:
                break
        x_dot = t + x_tape
        result, i, run = x_dot * 2.0, t, x
        return result * i + run

    holds(f, X, 0.3, 0.4, 0.5, argnums=(0, 1, 2, 3))
    assert s2s.grad(f, strict=True).driver.layout.seed not in ("out_bar", "x_bar")


def test_np_as_a_local_name():
    def f(x, np):
        np = np * x
        return np * np

    holds(f, X, 0.3, argnums=(0, 1))


def test_np_as_a_local_name_where_the_gradient_needs_the_module(rng):
    def f(u, m):
        np = m @ u
        return np @ np + (u * 2.0).sum()

    holds(f, U, rng.normal(size=(4, 4)), argnums=(0, 1))


def test_builtins_as_local_names():
    def f(x, u):
        reversed = x * 2.0
        for i in range(3):
            x = x * u[i] + reversed
        range_ = x
        slice = range_ * x
        return slice * reversed

    holds(f, X, U, argnums=(0, 1))


def test_range_as_a_local_name():
    def f(x, range):
        s = x
        for v in range:
            s = s * v + x
        return s

    holds(f, X, U, argnums=(0, 1))


def test_keyword_named_as_the_seed():
    def f(x, **more):
        return x * more["out_bar"]

    gradient = s2s.grad(f)
    assert gradient(X, out_bar=3.0) in (3.0, 1.0)
    assert gradient.driver.layout.seed != "x"


# --- refusals and errors ---


class Broken(Exception):
    def __init__(self, place):
        super().__init__(f"broken: {place}")
        self.place = place


def check_sign(x, place):
    if x < 0:
        raise Broken(place)  # the line that is noted
    return x


def test_exceptions_pass_unchanged_with_the_users_line():
    def f(x):
        y = x - 2.0
        return check_sign(y, "here") * x

    with pytest.raises(Broken) as caught:
        s2s.grad(f, strict=True)(X)
    assert caught.value.place == "here" and caught.value.args == ("broken: here",)
    notes = "\n".join(caught.value.__notes__)
    assert "raise Broken(place)  # the line that is noted" in notes and __file__ in notes


def test_exception_that_holds_an_active_value_passes_unchanged():
    def f(x):
        if x > 0.5:
            raise Broken(x * 2.0)
        return x * x

    with pytest.warns(s2s.FallbackWarning), pytest.raises(Broken) as caught:
        s2s.grad(f)(X)
    assert type(caught.value.place) is float and caught.value.place == 2 * X


def test_failed_assertion_passes_unchanged():
    def f(x):
        assert x > 1.0, f"{x} is too small"
        return x * x

    with pytest.raises(AssertionError, match="0.7 is too small"):
        s2s.grad(f, strict=True)(X)


def test_error_of_an_operation_names_the_users_line():
    def f(u, i):
        return u[i] * 2.0  # this index

    with pytest.raises(IndexError) as caught:
        s2s.grad(f, strict=True)(U, 9)
    assert any("return u[i] * 2.0  # this index" in note for note in caught.value.__notes__)
    assert any("f_grad" in frame.name for frame in traceback.extract_tb(caught.value.__traceback__))


def test_division_by_zero_raises_in_the_forward_sweep_alone():
    def f(x):
        return 1.0 / x

    with pytest.raises(ZeroDivisionError):
        s2s.grad(f, strict=True)(0.0)
