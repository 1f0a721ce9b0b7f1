"""Calls that are not inlined: recursion of all sorts, functions as arguments, functions that are too long."""

import functools
import math
import sys
import warnings

import numpy as np
import pytest

import s2s
from s2s.autograd.record import tape_value_and_grad
from s2s.errors import FallbackWarning


def agrees(f, *args, argnums=0, rtol=1e-12):
    """Value and gradient, compiled strictly, are those of the plain call (bit for bit) and of the tape."""
    names = f.__code__.co_varnames
    wrt = [names[i] for i in ((argnums,) if isinstance(argnums, int) else argnums)]
    value, gradient = s2s.value_and_grad(f, argnums=argnums, strict=True)(*args)
    np.testing.assert_array_equal(value, f(*args))
    _, _, by_name = tape_value_and_grad(f, wrt, args)
    expected = by_name[wrt[0]] if isinstance(argnums, int) else tuple(by_name[n] for n in wrt)
    same(gradient, expected, rtol)
    same(s2s.value_and_grad(f, argnums=argnums, strict=True)(*args)[1], gradient, 0.0)
    along(f, args, argnums, gradient)
    return gradient


def along(f, args, argnums, gradient):
    """The tangent agrees with the gradient."""
    which = [argnums] if isinstance(argnums, int) else list(argnums)
    gradients = [gradient] if isinstance(argnums, int) else list(gradient)
    if any(isinstance(args[i], (list, tuple, dict)) for i in which):
        return
    dots = [np.cos(np.arange(np.size(args[i]))).reshape(np.shape(args[i])) for i in which]
    tangents = [None] * len(args)
    for i, dot in zip(which, dots):
        tangents[i] = dot if isinstance(args[i], np.ndarray) else float(dot)
    value, moved = s2s.jvp(f, args, tangents, strict=True)
    np.testing.assert_array_equal(value, f(*args))
    np.testing.assert_allclose(moved, sum(np.sum(g * d) for g, d in zip(gradients, dots)), rtol=1e-9, atol=1e-12)


def same(got, want, rtol):
    if isinstance(want, (list, tuple)):
        assert type(got) is type(want) and len(got) == len(want)
        for g, w in zip(got, want):
            same(g, w, rtol)
    elif isinstance(want, dict):
        assert got.keys() == want.keys()
        for key in want:
            same(got[key], want[key], rtol)
    elif want is not None and not isinstance(want, str):
        np.testing.assert_allclose(got, want, rtol=rtol, atol=1e-13)
        assert np.shape(got) == np.shape(want)


# --- direct recursion ---


def power(x, n):
    if n == 0:
        return 1.0
    return x * power(x, n - 1)


def fib(n, x):
    if n < 2:
        return x
    return fib(n - 1, x) * 0.5 + np.sin(fib(n - 2, x))


def series(x, k):
    return x if k > 6 else x / k + np.tanh(series(x * 0.9, k + 1))


@pytest.mark.parametrize("n", [0, 1, 2, 7])
def test_factorial_like(n):
    agrees(power, 1.3, n)
    agrees(lambda x, n: np.sum(power(x, n)), np.array([1.3, -0.2]), n)
    agrees(lambda x, n: np.sum(power(x, n)), np.array([[1.3, -0.2, 0.0]]), n)


def test_fibonacci_like():
    for n in range(7):
        agrees(fib, n, 0.7, argnums=1)
        agrees(lambda n, x: np.sum(fib(n, x)), n, np.array([0.2, -0.4]), argnums=1)


def test_recursion_on_a_float():
    agrees(series, 0.7, 1.0, argnums=(0, 1))


def test_recursion_of_which_no_return_is_plain():
    def collatz(x, n):
        if n == 1:
            return x
        return collatz(x * 1.01, n // 2) if n % 2 == 0 else collatz(x + 0.1 * x * x, 3 * n + 1)

    agrees(collatz, 0.9, 7)


def test_ackermann_like_depth():
    def ackermann(m, n, x):
        if m == 0:
            return x * (n + 1.0)
        if n == 0:
            return ackermann(m - 1, 1, x * 0.99)
        return ackermann(m - 1, int(n), ackermann(m, n - 1, 0.5 * x) * 0.01 + x)

    agrees(lambda x: ackermann(2, 3, x), 0.8)


def test_recursion_on_lists():
    def total(xs):
        if not xs:
            return 0.0
        return xs[0] ** 2 + 0.5 * total(xs[1:])

    def pairs(xs):
        if len(xs) == 1:
            return xs[0]
        half = len(xs) // 2
        return pairs(xs[:half]) * pairs(xs[half:]) + xs[0]

    agrees(total, [1.0, 2.0, -3.0])
    agrees(pairs, [1.1, 2.0, -3.0, 0.5, 1.7])


def test_recursion_on_trees():
    def energy(tree):
        if isinstance(tree, tuple):
            return energy(tree[0]) * 0.5 + np.sin(energy(tree[1]))
        return tree * tree

    agrees(energy, ((1.0, 2.0), (0.5, (0.3, -1.0))))


def test_recursion_on_trees_of_dicts():
    def energy(node, x):
        value = node["w"] * x
        for child in node["children"]:
            value = value + energy(child, value) * 0.5
        return value

    leaf = {"w": 2.0, "children": []}
    tree = {"w": 0.5, "children": [leaf, leaf]}
    agrees(energy, tree, 1.5, argnums=(0, 1))
    agrees(energy, {"w": 0.5, "children": [leaf, {"w": -1.0, "children": [leaf, leaf]}]}, 1.5, argnums=(0, 1))


def test_recursion_in_loops():
    def f(x, n):
        s = 0.0
        for i in range(n):
            s = s + power(x, i) / (i + 1.0)
            x = np.sin(x) + 0.1 * s
        return s

    agrees(f, 0.8, 5)
    agrees(lambda x, n: np.sum(f(x, n)), np.array([0.8, -0.3]), 4)


def test_loops_in_recursion():
    def nested(x, n):
        for i in range(n):
            x = x * 1.1 + 0.1 * nested(np.sin(x), n - 1 - i)
            if x > 3.0:
                break
        return x

    agrees(nested, 0.8, 4)
    agrees(nested, 1.8, 4)


def test_recursion_with_arrays_and_broadcasting():
    def smooth(x, w, n):
        if n == 0:
            return x * w
        return smooth(np.tanh(x + w[:, None]), w * 0.9, n - 1) + w

    x, w = np.linspace(-1, 1, 9).reshape(3, 3), np.array([0.2, -0.3, 0.4])
    agrees(lambda x, w: np.sum(smooth(x, w, 3) ** 2), x, w, argnums=(0, 1))


def test_recursion_that_halves_an_array():
    def tree_sum(x):
        n = len(x)
        if n == 1:
            return x[0] * x[0]
        return tree_sum(x[: n // 2]) + np.sin(tree_sum(x[n // 2 :]))

    agrees(tree_sum, np.linspace(0.1, 1.0, 7))


def test_recursion_that_returns_a_tuple():
    def leapfrog(q, p, n):
        if n == 0:
            return q, p
        p = p - 0.1 * q
        q = q + 0.1 * p
        return leapfrog(q, p, n - 1)

    def f(q, p):
        a, b = leapfrog(q, p, 4)
        return a * a + np.sin(b)

    agrees(f, 1.0, 0.5, argnums=(0, 1))


def test_recursion_that_returns_a_dict_and_a_list():
    def run(x, n):
        if n == 0:
            return {"x": x, "seen": [x, 2.0 * x]}
        inner = run(x * 1.1, n - 1)
        return {"x": inner["x"] + x, "seen": [inner["seen"][1], inner["x"]]}

    agrees(lambda x: run(x, 3)["x"] * run(x, 2)["seen"][0], 0.9)


def test_the_same_argument_twice_and_constants():
    def g(a, b, c, n):
        return a * b + c if n == 0 else g(b, a * 1.1, c, n - 1) * b

    agrees(lambda x: g(x, x, 2.0, 3), 1.2)
    agrees(lambda x: g(2.0, x, x, 2) + g(x, 1.0, 3.0, 1), 1.2)


def test_defaults_keywords_and_variadic_parameters():
    def g(x, n, scale=0.9, *, shift=0.1):
        return x if n <= 0 else scale * g(shift=shift + x, n=n - 1, x=x * x) + shift

    def many(n, *xs, **named):
        if n == 0:
            return xs[0] * xs[1] + named["k"]
        return many(n - 1, xs[1], xs[0] * 1.1, k=named["k"] * xs[0])

    agrees(lambda x: g(x, 3), 0.7)
    agrees(lambda x, y: many(3, x, y, k=x), 0.7, 1.2, argnums=(0, 1))


def test_recursion_of_integers_alone_stays_a_plain_call():
    def factorial(n):
        return 1 if n == 0 else n * factorial(n - 1)

    def f(x, n):
        return x**n / factorial(n)

    agrees(f, 1.3, 4)
    assert "factorial(n)" in s2s.grad(f, strict=True).source(1.3, 4)


def test_float32_stays_float32():
    gradient = s2s.grad(lambda x, n: np.sum(power(x, n)), strict=True)(np.array([1.5, 2.0], np.float32), 3)
    assert gradient.dtype == np.float32
    np.testing.assert_allclose(gradient, [6.75, 12.0])
    assert type(s2s.grad(power, strict=True)(np.float32(1.5), 3)) is np.float32


def test_complex_numbers_inside():
    def g(z, n):
        return z if n == 0 else g(z * z + 0.1j, n - 1)

    agrees(lambda x: np.abs(g(x + 0.3j, 3)), 0.4)


# --- mutual recursion, cells, methods ---


def even(x, n):
    return x if n == 0 else odd(x * 1.1, n - 1) + x


def odd(x, n):
    return -x if n == 0 else np.sin(even(x, n - 1)) * x


def test_mutual_recursion():
    for n in range(5):
        agrees(even, 0.7, n)
        agrees(lambda x, n: np.sum(odd(x, n)), np.array([0.7, 0.1]), n)


def test_mutual_recursion_of_three_with_different_kinds():
    def a(x, n):
        return b([x, 2.0 * x], n - 1) if n > 0 else x

    def b(xs, n):
        return c({"u": xs[0], "v": xs[1]}, n) * xs[0]

    def c(p, n):
        return a(p["u"] * 0.5, n) + p["v"]

    agrees(a, 0.7, 3)


def test_recursion_through_a_cell():
    def make(k):
        def walk(x, n):
            return x if n == 0 else k * walk(np.sin(x), n - 1) + x

        return walk

    two, three = make(2.0), make(3.0)
    agrees(two, 0.7, 3)
    agrees(three, 0.7, 3)
    agrees(lambda x: two(x, 2) * three(x, 2), 0.7)


class Tree:
    def __init__(self, w, left=None, right=None):
        self.w, self.left, self.right = w, left, right

    def value(self, x, n):
        return self.w * x if n == 0 else np.sin(self.value(x * 0.9, n - 1)) + self.w


def test_recursive_method():
    tree = Tree(2.0)
    value, gradient = s2s.value_and_grad(tree.value, strict=True)(0.7, 3)
    assert value == tree.value(0.7, 3)
    step = 1e-6
    assert gradient == pytest.approx((tree.value(0.7 + step, 3) - tree.value(0.7 - step, 3)) / 2 / step, rel=1e-7)
    tree.w = 3.0
    assert s2s.value_and_grad(tree.value, strict=True)(0.7, 3)[0] == tree.value(0.7, 3)


# --- depth ---


def deep(x, n):
    return x if n == 0 else deep(x * 1.0001, n - 1) + 0.0001


def test_deep_recursion_needs_one_frame_a_level():
    depth = 700
    df = s2s.grad(deep, strict=True)
    assert df(0.5, 3) == pytest.approx(1.0001**3)
    limit = sys.getrecursionlimit()
    used = len(frames())
    try:
        sys.setrecursionlimit(used + depth + 40)
        deep(0.5, depth)
        assert df(0.5, depth) == pytest.approx(1.0001**depth)
    finally:
        sys.setrecursionlimit(limit)
    with pytest.raises(RecursionError):
        df(0.5, 10**6)


def frames():
    found, frame = [], sys._getframe(1)
    while frame is not None:
        found.append(frame)
        frame = frame.f_back
    return found


# --- guards ---


def test_redefined_helper_is_noticed(monkeypatch):
    df = s2s.grad(lambda x, n: even(x, n), strict=True)
    first = [df(0.7, 3) for _ in range(3)][-1]
    monkeypatch.setitem(globals(), "odd", lambda x, n: x * x)
    for _ in range(3):
        assert df(0.7, 3) == pytest.approx(2 * 0.7 * 1.21 + 1)
    monkeypatch.undo()
    assert df(0.7, 3) == first


RATE = 2.0


def rated(x, n):
    return RATE * x if n == 0 else rated(x, n - 1) * RATE


def test_numbers_in_globals_are_read_live(monkeypatch):
    df = s2s.grad(rated, strict=True)
    assert [df(0.7, 2) for _ in range(3)] == [8.0] * 3
    monkeypatch.setitem(globals(), "RATE", 3.0)
    assert df(0.7, 2) == 27.0
    monkeypatch.setitem(globals(), "RATE", 3)
    assert df(0.7, 2) == 27.0


def test_rule_registered_later_is_noticed():
    from s2s import rules

    def square(x):
        return x * x

    def f(x, n):
        return square(x) if n == 0 else f(x, n - 1)

    df = s2s.grad(f, strict=True)
    assert df(3.0, 2) == 6.0
    rules.elementwise(square)(lambda ans, x: 100.0)
    assert df(3.0, 2) == 100.0


# --- zeros, infinities ---


def test_zero_cotangents_win_through_calls():
    def inverse(x, n):
        return 1.0 / x if n == 0 else inverse(x, n - 1)

    def squared(y, n):
        return y * y if n == 0 else squared(y, n - 1)

    def f(x):
        y = inverse(x, 1)
        return np.sum(np.where(x > 0, squared(y, 1), 0.0))

    def g(x):
        return np.sum(np.where(x > 0, np.sqrt(inverse(x, 1)), 0.0))

    with np.errstate(all="ignore"):
        x = np.array([0.0, 2.0])
        np.testing.assert_allclose(s2s.grad(f, strict=True)(x), [0.0, -0.25])
        assert np.isfinite(s2s.grad(g, strict=True)(x)).all()


# --- effects, exceptions ---


def test_effects_happen_once_and_exceptions_pass():
    seen = []

    def noisy(x, n):
        seen.append(n)
        if n > 5:
            raise ValueError("too deep")
        return x if n == 3 else noisy(x * 2.0, n + 1)

    df = s2s.value_and_grad(lambda x, n: noisy(x, n), strict=True)
    assert df(1.0, 0) == (8.0, 8.0)
    assert seen == [0, 1, 2, 3]
    with pytest.raises(ValueError, match="too deep") as caught:
        df(1.0, 4)
    assert any("too deep" in note for note in caught.value.__notes__)


def test_random_draws_happen_once():
    def noisy(x, rng, n):
        return x if n == 0 else noisy(x * rng.normal(), rng, n - 1) + x * rng.normal()

    value, gradient = s2s.value_and_grad(noisy, strict=True)(0.7, np.random.default_rng(3), 3)
    assert value == noisy(0.7, np.random.default_rng(3), 3)
    assert gradient == pytest.approx(value / 0.7)


# --- pullbacks ---


def test_pullback_through_recursion_in_loops_can_be_called_again():
    def inner(x, n):
        for _ in range(2):
            x = np.sin(x) * 1.1
        return x if n == 0 else inner(x, n - 1) * x

    def f(x):
        y = x
        for i in range(3):
            y = y * inner(x, i)
        return y

    x = np.array([0.7, 1.2])
    _, pullback = s2s.vjp(f, x, strict=True)
    first = pullback(np.array([1.0, 0.0]))[0]
    second = pullback(np.array([0.0, 1.0]))[0]
    np.testing.assert_array_equal(pullback(np.array([1.0, 0.0]))[0], first)
    np.testing.assert_allclose(first + second, s2s.grad(lambda x: np.sum(f(x)))(x))


def test_second_derivative_of_recursion():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        second = s2s.grad(s2s.grad(power))(1.3, 5)
        assert second == pytest.approx(20 * 1.3**3)
        assert s2s.grad(s2s.grad(s2s.grad(power)))(1.3, 5) == pytest.approx(60 * 1.3**2)


# --- functions as arguments ---


def euler(rhs, y, steps):
    for _ in range(steps):
        y = y + 0.1 * rhs(y)
    return y


def marched(rhs, y, n):
    return y if n == 0 else marched(rhs, y + 0.1 * rhs(y), n - 1)


def decay(y):
    return -2.0 * y * y


@pytest.mark.parametrize("solve", [euler, marched])
def test_function_as_argument(solve):
    scale = 0.5

    def scaled(y):
        return scale * np.sin(y)

    def through_names(y):
        rhs = decay
        other = math.sin
        return solve(rhs, y, 3) + solve(other, y, 2)

    agrees(lambda y: solve(decay, y, 3), 0.7)
    agrees(lambda y: solve(scaled, y, 3) * solve(decay, y, 2), 0.7)
    agrees(lambda y: solve(np.sin, y, 3), 0.7)
    agrees(lambda y: solve(rhs=decay, steps=3, y=y) if solve is euler else solve(rhs=decay, n=3, y=y), 0.7)
    agrees(through_names, 0.7)
    for rhs in (decay, scaled, np.sin, lambda y: y * y, functools.partial(np.multiply, 2.0)):
        value, gradient = s2s.value_and_grad(solve, argnums=1)(rhs, 0.7, 3)
        assert value == solve(rhs, 0.7, 3)
        step = 1e-6
        expected = (solve(rhs, 0.7 + step, 3) - solve(rhs, 0.7 - step, 3)) / 2 / step
        assert gradient == pytest.approx(expected, rel=1e-7)


def weigh(y):
    return y * y


def weighed(y):
    return 0.5 * weigh(y)


@pytest.mark.parametrize("solve", [euler, marched])
def test_what_a_passed_function_calls_may_be_redefined(monkeypatch, solve):
    df = s2s.grad(solve, argnums=1, strict=True)
    for _ in range(3):
        assert df(weighed, 0.7, 1) == pytest.approx(1 + 0.1 * 0.7)
    monkeypatch.setitem(globals(), "weigh", lambda y: 3.0 * y)
    for _ in range(3):
        assert df(weighed, 0.7, 1) == pytest.approx(1.15)


def test_functions_that_take_turns_are_compiled_once(monkeypatch):
    from s2s.compiler import store

    compiled = []
    plain = store.compile_function
    monkeypatch.setattr(store, "compile_function", lambda *args: compiled.append(args) or plain(*args))
    df = s2s.grad(euler, argnums=1, strict=True)
    for _ in range(4):
        assert df(decay, 0.7, 1) == pytest.approx(1 - 0.4 * 0.7)
        assert df(weighed, 0.7, 1) == pytest.approx(1 + 0.1 * 0.7)
    assert len(compiled) <= 2
    monkeypatch.setitem(globals(), "weigh", lambda y: 3.0 * y)
    assert df(decay, 0.7, 1) == pytest.approx(1 - 0.4 * 0.7)
    assert df(weighed, 0.7, 1) == pytest.approx(1.15)


def test_function_passed_by_the_caller_is_compiled():
    for rhs in (decay, np.sin, lambda y: y * y):
        for solve in (euler, marched):
            assert s2s.grad(solve, argnums=1, strict=True)(rhs, 0.7, 3) > 0


# --- long functions ---


@pytest.mark.parametrize("limit", ["LIMIT", "LONG"])
def test_functions_that_are_too_long_are_called(monkeypatch, limit):
    from s2s.transforms import inline

    def first(x):
        return np.sin(x) * x + x**2

    def second(x):
        return first(first(x)) * first(x)

    def f(x):
        return second(x) + second(x * 0.5) * second(first(x))

    expected = s2s.grad(f, strict=True)(0.7)
    assert expected == pytest.approx(agrees(f, 0.7))
    monkeypatch.setattr(inline, limit, 8)

    def again(x):
        return second(x) + second(x * 0.5) * second(first(x))

    assert agrees(again, 0.7) == pytest.approx(expected)
    assert "second_fwd" in s2s.grad(again, strict=True).source(0.7)
    agrees(lambda x: np.sum(again(x)), np.array([[0.7, 0.1]]))


# --- writes into arrays around calls ---


def itself(x, n):
    return x if n == 0 else itself(x, n - 1)


def squares(y, n):
    return np.sum(y * y) if n == 0 else squares(y, n - 1)


def writing(x, n):
    x[0] = x[1] * 2.0
    return np.sum(x * x) if n == 0 else writing(x, n - 1)


def kept(x, n):
    return [x, x * 2.0] if n == 0 else kept(x, n - 1)


def own_buffer(x, n):
    y = x * 1.0
    y[0] = x[1] * n
    y *= x
    return np.sum(y) if n == 0 else np.sum(y * own_buffer(y, n - 1))


def by_differences(f, strict):
    x = np.array([0.7, -0.3, 1.2])
    value, gradient = s2s.value_and_grad(f, strict=strict)(x)
    np.testing.assert_array_equal(value, f(x.copy()))
    step = 1e-6
    slopes = [(f(x + step * e) - f(x - step * e)) / (2 * step) for e in np.eye(3)]
    np.testing.assert_allclose(gradient, slopes, rtol=1e-6, atol=1e-8)
    np.testing.assert_array_equal(x, [0.7, -0.3, 1.2])


def test_arrays_that_a_call_has_read_may_be_overwritten():
    def once(x):
        y = x * 2.0
        s = squares(y, 2)
        y[0] = 7.0 * x[1]
        return s + np.sum(y**3)

    def looped(x):
        y = x * 2.0
        s = 0.0
        for i in range(3):
            s = s + squares(y, i)
            y[0] *= x[1]
        return s + np.sum(y**3)

    for f in (once, looped, lambda x: own_buffer(x, 2)):
        by_differences(f, strict=True)


def test_results_of_calls_that_share_memory_and_written_arguments():
    def result_written(x):
        y = x * 2.0
        z = itself(y, 3)
        z[0] = 5.0 * x[1]
        return np.sum(y * z)

    def argument_written(x):
        y = x * 2.0
        v = itself(y[1:], 1)
        y[1] = 3.0 * x[0]
        return np.sum(v * v)

    def in_a_list(x):
        y = x * 1.0
        both = kept(y, 1)
        y[0] = x[1] * 4.0
        return np.sum(both[0] * both[1])

    def callee_writes(x):
        y = x * 1.0
        return writing(y, 2) + np.sum(y)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        for f in (result_written, argument_written, in_a_list, callee_writes):
            by_differences(f, strict=False)


# --- tuples of arguments that are passed on ---------------------------------------------------------------------

EXTRA = (2.0, np.arange(3.0))


def weighted(k, a, b, c=0.5):
    return k * k * a + np.sum(b * np.sin(k)) + c * k


def with_global_tuple(k):
    return weighted(k, *EXTRA)


def with_parameter(k, args):
    return weighted(k, *args)


def through_a_helper(k, *args):
    return weighted(k, *args) * 2.0


def test_tuples_are_spread_out_in_calls(monkeypatch):
    rng = np.random.default_rng(11)
    k = rng.uniform(0.5, 2.0)
    df = s2s.grad(with_global_tuple, strict=True)
    for args in [EXTRA, (1.5, rng.normal(size=4)), (1.0, rng.normal(size=(2, 2)), 3.0), (2, 5.0)]:
        slope = 2 * k * args[0] + np.sum(args[1]) * np.cos(k) + (args[2] if len(args) == 3 else 0.5)
        monkeypatch.setitem(globals(), "EXTRA", args)
        np.testing.assert_allclose(df(k), slope)
        np.testing.assert_allclose(s2s.grad(with_parameter, strict=True)(k, args), slope)
        np.testing.assert_allclose(s2s.grad(through_a_helper, strict=True)(k, *args), 2 * slope)
        np.testing.assert_allclose(s2s.grad(lambda v: weighted(v, *args), strict=True)(k), slope)
    monkeypatch.setitem(globals(), "EXTRA", (1.0,))
    with pytest.raises(TypeError, match="missing 1 required positional argument"), pytest.warns(s2s.FallbackWarning):
        s2s.grad(with_global_tuple)(k)


def test_gradients_by_tuples_that_are_spread_out():
    b = np.random.default_rng(12).normal(size=3)
    by_k, by_args = s2s.grad(with_parameter, (0, 1), strict=True)(1.5, (2.0, b))
    np.testing.assert_allclose(by_k, 6.0 + np.sum(b) * np.cos(1.5) + 0.5)
    np.testing.assert_allclose(by_args[0], 2.25)
    np.testing.assert_allclose(by_args[1], np.full(3, np.sin(1.5)))
