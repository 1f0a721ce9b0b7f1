"""Reverse mode, directed: operands, kinds of arguments, the memory of gradients, names, errors."""

import dataclasses
import traceback
from collections import namedtuple

import numpy as np
import pytest

import s2s
from tests.programs.verify import verify
from tests.transforms.gradients import U, X, holds

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
