"""Lists, tuples, iterators and random draws within functions: compiled, and compared with differences."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import s2s
from s2s.errors import UnsupportedSyntaxError
from tests.programs.verify import verify


def assert_gradient(f: Callable[..., Any], *args: Any) -> None:
    """The compiled gradient of `f` by its first argument, an array or number or a flat sequence of numbers."""
    value, gradient = s2s.value_and_grad(f, strict=True)(*args)
    assert value == f(*args)
    x, *rest = args
    numbers = np.asarray(x, dtype=float)

    def at(shifted: Any) -> Any:
        return f(shifted if isinstance(x, np.ndarray) else type(x)(shifted.tolist()), *rest)

    expected = np.zeros(numbers.shape)
    for index in np.ndindex(numbers.shape):
        step = np.zeros(numbers.shape)
        step[index] = 1e-5
        expected[index] = (at(numbers + step) - at(numbers - step)) / 2e-5
    np.testing.assert_allclose(np.asarray(gradient, dtype=float), expected, rtol=1e-6, atol=1e-6)


def assert_refused(f: Callable[..., Any], *args: Any) -> None:
    with pytest.raises(UnsupportedSyntaxError):
        s2s.grad(f, strict=True)(*args)


X = np.array([1.5, 2.0, 3.0, 5.0])

# --- displays ---------------------------------------------------------------------------------------------------


def test_items_of_a_display_keep_their_values_when_names_are_assigned_again():
    def fun(x):
        a = x
        for _ in range(3):
            t = (a, a)
            a = a * 2
        return t[0] * t[1]

    assert_gradient(fun, 1.5)


def test_items_of_a_display_of_the_trip_before():
    def fun(x):
        a, total, t = x, 0.0, (x, x)
        for _ in range(3):
            p, q = t
            total = total + p * q
            t = (a, a * a)
            a = a * 2
        return total

    assert_gradient(fun, 1.5)


def test_joined_and_repeated_displays():
    def fun(x):
        items = [x] * 3 + [2 * x]
        pair = (x, 1.0) + (x * x,)
        return items[2] * items[3] + pair[2]

    assert_gradient(fun, 1.5)


def test_a_list_repeated_an_unknown_number_of_times_is_refused():
    def fun(x, n):
        items = [x] * n
        return items[0] * items[1]

    assert_refused(fun, 1.5, 3)


@pytest.mark.parametrize("make", [lambda x: {"a": x, "b": x * x}, lambda x: dict(a=x, b=x * x)], ids=["{}", "dict"])
def test_dict_display_and_its_views(make):
    def fun(x):
        d = make(x)
        total = 0.0
        for key, value in d.items():
            if key == "b":
                total = total + np.sum(value)
        return total + d.get("c", 2.0) * d.get("a", 1.0)[0] + d["b"][1]

    assert_gradient(fun, X)


# --- parts of arguments -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [list, tuple])
def test_slices_of_sequences(kind):
    def fun(xs):
        ys = xs[1:]
        total = ys[0] * ys[1]
        for v in xs[::-2]:
            total = total + v * v
        return total

    assert_gradient(fun, kind([1.0, 2.0, 3.0, 4.0]))


def test_unpacking_of_items_of_nested_lists():
    def fun(layers, x):
        for w, b in layers[:-1]:
            x = np.tanh(w * x + b)
        w, b = layers[-1]
        return w * x + b

    layers = [(1.0, 0.5), (2.0, -1.0), (0.5, 0.25)]
    (gradient,) = s2s.grad(fun, argnums=("layers",), strict=True)(layers, 0.3)
    for i in range(3):
        for j in range(2):
            moved = [[*pair] for pair in layers]
            moved[i][j] += 1e-6
            assert gradient[i][j] == pytest.approx((fun(moved, 0.3) - fun(layers, 0.3)) / 1e-6, abs=1e-5)


# --- iterators --------------------------------------------------------------------------------------------------


def test_nested_iterators():
    def fun(x):
        total = 0.0
        for i, (a, b) in enumerate(zip(reversed(x), x), 3):
            total = total + i * a * b
        return total

    assert_gradient(fun, X)


def test_an_iterator_keeps_what_it_was_made_of():
    def fun(x):
        total = 0.0
        for _ in range(3):
            pairs = zip(x, x)
            x = x * 2
            for a, b in pairs:
                total = total + a * b
        return total

    assert_gradient(fun, X)


def test_an_iterator_is_read_once():
    def twice(x):
        total, pairs = 0.0, zip(x, x)
        for a, b in pairs:
            total = total + a * b
        for a, b in pairs:
            total = total + a * b
        return total

    def in_loop(x):
        total, pairs = 0.0, enumerate(x)
        for _ in range(3):
            for i, a in pairs:
                total = total + i * a
        return total

    for function in (twice, in_loop):
        assert_refused(function, X)


# --- arrays and lists -------------------------------------------------------------------------------------------


def test_lists_among_operands_are_arrays():
    def fun(x):
        y = x[:2] * [x[0], 2.0] + np.multiply((1.0, x[1]), x[2:])
        return np.sum(y) + np.dot([x[3], 1.0], x[:2]) + np.sum([x[0], x[1] * x[2]])

    assert_gradient(fun, X)


@pytest.mark.parametrize("listed", [list, tuple, np.ndarray.tolist], ids=["list", "tuple", "tolist"])
def test_arrays_as_lists(listed):
    def fun(x):
        items = listed(x)
        first, *rest = items
        return first * items[2] + items[-1] ** 2

    assert_gradient(fun, X)


def test_arrays_of_lists_of_numbers():
    def fun(x):
        a = np.array([[x[0], 1.0], [x[0] * x[1], x[1]]], dtype=np.float64)
        b = np.asarray([x[2]] * 2)
        return np.sum(np.dot(a, a)) + np.sum(b * b)

    assert_gradient(fun, X)


def test_results_of_several_arrays():
    def fun(x):
        a, b = np.split(x, 2)
        w, v = np.linalg.eigh(np.outer(a, a) + np.outer(b, b))
        return np.sum(w**2) + v[0, 0] ** 2 + np.linalg.svd(np.outer(a, b)).S[0]

    assert_gradient(fun, X)


# --- numbers ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("x", [-1.5, 1.5, 3.5])
def test_what_min_and_max_choose_may_be_an_integer(x):
    def fun(x):
        top = 0
        for v in (x, x * x):
            top = max(top, v, key=abs)
        return min(x, 0) * 3.0 + max(2, x) ** 2 + max([1, x * x]) * top

    assert_gradient(fun, x)


def test_a_number_that_may_be_an_integer_before_the_loop():
    def fun(x):
        total, product = 0, 1
        for v in x:
            total += v
            product *= v
        return total * product

    assert_gradient(fun, X)


# --- calls ------------------------------------------------------------------------------------------------------


def test_star_arguments_through_a_decorator():
    def doubled(f):
        @functools.wraps(f)
        def inner(*args, **keywords):
            return 2.0 * f(*args, **keywords)

        return inner

    @doubled
    @doubled
    def fun(x, y=3.0):
        return x**3 * y

    assert_gradient(fun, 2.0)
    assert_gradient(fun, 2.0, 4.0)
    assert s2s.grad(fun, strict=True)(2.0, y=5.0) == pytest.approx(240.0)


def test_closures_of_one_code_have_their_own_cells():
    def make(k):
        def f(x):
            return k * x * x

        return f

    twice, five_times = make(2.0), make(5.0)

    def fun(x):
        return twice(x) + 10.0 * five_times(x)

    assert_gradient(fun, 1.0)


# --- random numbers ---------------------------------------------------------------------------------------------


def test_random_draws_are_inactive_and_happen_once():
    def fun(x):
        rng = np.random.RandomState(0)
        total = np.sum(x * np.random.default_rng(1).normal(0.0, 1.0, size=x.shape))
        for _ in range(3):
            mask = rng.rand(4) > 0.4
            total = total + np.sum(mask * x * x) * rng.uniform()
        return total

    assert_gradient(fun, X)


def test_compiling_draws_no_random_numbers():
    def fun(x):
        return np.sum(np.random.rand(4) * x)

    before = np.random.get_state()[1].copy()
    s2s.grad(fun, strict=True).source(X)
    np.testing.assert_array_equal(before, np.random.get_state()[1])


def test_shape_parameters_of_draws_are_refused():
    def fun(x):
        return np.random.standard_t(x[0])

    with pytest.raises(s2s.S2SError):
        s2s.grad(fun, strict=True)(X)


def test_large_draws_are_not_made_when_compiling():
    def fun(x):
        return np.sum(x * np.random.uniform(size=1_000_000_000_000)[:4])

    assert "size=1000000000000" in s2s.grad(fun, strict=True).source(X)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_a_computed_index_may_pick_an_integer_from_among_floats(n):
    def made(x, n):
        items = [x * 2.0, 3, x]
        return items[0] * 0.5 + items[n] * x

    def given(p, n):
        total = 0.0
        for i in range(n + 1):
            total += p[i] * p[0]
        return total

    for f, at, args in ((made, 0, (2.0, n)), (given, 0, ([1.5, 2, 3.0], n))):
        outcome = verify(f, args, at)
        assert outcome.compiled and outcome.finite and not outcome.kink, outcome


def test_kinds_of_items_that_a_loop_stores_in_turn_come_to_an_end():
    def f(x, u):
        pairs = [(x, x), (x, x * 0.5)]
        first = pairs[-1]
        for _ in range(3):
            pairs[-1] = (u[0], x)
            pairs[-1] = (np.sum(u) * pairs[-1][0], u[1])
        pairs.insert(-1, first)
        return pairs[-1][0] * pairs[-1][1] * first[1] * x

    assert verify(f, (1.3, np.array([0.7, 0.4])), second=True).compiled
