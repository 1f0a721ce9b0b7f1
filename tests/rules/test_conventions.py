"""Zero cotangents, ties, dtypes and empty arrays, in the rules themselves."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
import pytest

import s2s
from s2s import rules
from tests.rules.checking import check

SINGULAR = [
    (np.sqrt, 0.0), (np.cbrt, 0.0), (np.log, 0.0), (np.log, -1.0), (np.sqrt, -1.0), (np.log2, 0.0), (np.log10, 0.0),
    (np.log1p, -1.0), (np.arcsin, 1.0), (np.arccos, -1.0), (np.arccosh, 1.0), (np.arctanh, 1.0), (np.reciprocal, 0.0),
    (np.absolute, 0.0), (np.linalg.norm, np.zeros(2)), (np.std, np.ones(2)),
]  # fmt: skip


@pytest.mark.parametrize(("function", "x"), SINGULAR, ids=lambda v: getattr(v, "__name__", str(v)))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_zero_cotangent_stays_zero_whatever_the_slope(function: Any, x: Any) -> None:
    rule = rules.find(function)
    (name, *_) = rule.signature.parameters
    for value in (np.float64(x), np.asarray(x), np.full((2, 2), x)) if np.ndim(x) == 0 else (x,):
        ans = function(value)
        for directional in (rule.vjps, rule.jvps):
            zero = np.zeros_like(ans) if directional is rule.vjps else np.zeros_like(value)
            assert not np.any(directional[name](zero, ans, value)), (function, value)


MATH = [(math.sqrt, 0.0), (math.cbrt, 0.0), (math.asin, 1.0), (math.acos, 1.0), (math.acosh, 1.0), (math.fabs, 0.0)]


@pytest.mark.parametrize(("function", "x"), MATH, ids=str)
def test_slopes_of_python_numbers_never_raise(function: Any, x: float) -> None:
    rule = rules.find(function)
    ans = function(x)
    assert rule.vjps["x"](0.0, ans, x) == 0.0
    assert rule.jvps["x"](0.0, ans, x) == 0.0
    assert abs(rule.vjps["x"](1.0, ans, x)) == (0.0 if function is math.fabs else math.inf)


@pytest.mark.parametrize(
    ("x", "y"), [(0.0, 0.5), (0.0, -1.0), (0.0, 0.0), (0.0, 1.0), (0.0, 2.5), (-2.0, 2.0), (-2.0, 0.5)]
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_powers_at_their_corners(x: float, y: float) -> None:
    rule = rules.find(operator.pow)
    for base, exponent in [(np.float64(x), np.float64(y)), (np.array([x]), np.array([y])), (np.array([x]), y)]:
        ans = base**exponent
        assert not np.any(rule.vjps["base"](0 * ans if np.isfinite(ans) else np.zeros_like(ans), ans, base, exponent))
        assert not np.any(rule.vjps["exp"](np.zeros_like(ans), ans, base, exponent))
        slope = np.ravel(rule.vjps["base"](np.ones_like(ans), ans, base, exponent))[0]
        with np.errstate(all="ignore"):
            expected = np.float64(y) * np.float64(x) ** (y - 1) if y else 0.0
        np.testing.assert_equal(slope, expected)
        if x == 0:
            assert not np.any(rule.vjps["exp"](np.ones_like(ans), ans, base, exponent))


def test_a_power_of_zero_has_a_second_derivative() -> None:
    from s2s.runtime.numeric import power_slope

    rule = rules.find(power_slope)
    x, y = np.array([0.0, 1.5]), np.array([2.0, 3.0])
    slopes = rule.vjps["x"](np.ones(2), power_slope(x, y), x, y)
    np.testing.assert_allclose(slopes, [2.0, 9.0])


def test_ties_share_evenly() -> None:
    for function in (np.max, np.min):
        rule = rules.find(function)
        a = np.array([[1.0, 1.0, 1.0], [2.0, 3.0, 3.0]])
        ans = function(a, axis=1)
        shares = rule.vjps["a"](np.ones(2), ans, a, 1)
        np.testing.assert_allclose(shares.sum(axis=1), 1)
        np.testing.assert_allclose(shares[0], 1 / 3)
    rule = rules.find(np.max)
    np.testing.assert_allclose(rule.vjps["a"](1.0, np.float64(0.0), np.array([0.0, -1.0]), initial=0.0), [0.5, 0.0])


def test_builtins_take_the_first_of_the_tied() -> None:
    for function in (max, min):
        rule = rules.find(function)
        assert [rule.vjps[p](2.0, 1.0, 1.0, 1.0) for p in "ab"] == [2.0, 0.0]
        assert [rule.vjps[p](2.0, 1.0, 1.0, 1.0, 1.0) for p in "abc"] == [2.0, 0.0, 0.0]
        assert rule.vjps["a"](2.0, 1.0, [1.0, 1.0]) == [2.0, 0.0]


def test_single_precision_stays_single() -> None:
    x = np.array([0.2, 0.7], np.float32)
    for function in rules.supported():
        if isinstance(function, np.ufunc) and function.nin == 1 and not rules.find(function).zero:
            with np.errstate(all="ignore"):
                ans = function(x)
            if np.iscomplexobj(ans):
                continue
            g = rules.find(function).vjps[next(iter(rules.find(function).signature.parameters))](ans, ans, x)
            assert np.result_type(g) == np.float32, function
    for function in (
        np.sum,
        np.mean,
        np.prod,
        np.var,
        np.std,
        np.max,
        np.min,
        np.cumsum,
        np.cumprod,
        np.sort,
        np.linalg.norm,
    ):
        rule = rules.find(function)
        (name, *_) = rule.signature.parameters
        ans = function(x)
        assert np.result_type(rule.vjps[name](ans, ans, x)) == np.float32, function
    for function in (
        np.maximum,
        np.minimum,
        np.hypot,
        np.arctan2,
        np.add,
        np.multiply,
        np.divide,
        np.power,
        np.logaddexp,
    ):
        rule = rules.find(function)
        for y in (x[::-1].copy(), x):
            ans = function(x, y)
            for name in rule.signature.parameters:
                assert np.result_type(rule.vjps[name](ans, ans, x, y)) == np.float32, function
    assert rules.find(operator.getitem).vjps["a"](x, x, x, slice(None)).dtype == np.float32


def test_empty_arrays() -> None:
    empty = np.zeros((0, 3))
    for function in (np.sum, np.prod, np.cumsum, np.cumprod, np.ravel, np.sort, np.copy):
        (name, *_) = rules.find(function).signature.parameters
        check(function, empty, wrt=name)
    check(np.sum, empty, 0, wrt="a")
    check(np.prod, empty, 1, wrt="a")
    check(operator.matmul, empty, np.ones((3, 2)), wrt=("x", "y"))
    check(operator.matmul, empty.T, empty, wrt=("x", "y"))
    check(operator.getitem, np.ones((2, 3)), (slice(0, 0),), wrt="a")
    check(np.concatenate, [empty, np.ones((2, 3))], wrt="arrays")
    check(np.broadcast_to, np.ones((1, 3)), (0, 3), wrt="array")


BROADCASTS = [((3,), (2, 3)), ((2, 1), (3,)), ((), (2, 3)), ((1, 1), (2, 3)), ((2, 3), ()), ((1, 3), (2, 1))]


@pytest.mark.parametrize("shapes", BROADCASTS, ids=str)
def test_broadcast_operands(shapes: Any) -> None:
    rng = np.random.default_rng(5)
    x, y = (rng.uniform(0.5, 2, shape) for shape in shapes)
    for function in (
        np.add,
        np.subtract,
        np.multiply,
        np.divide,
        np.power,
        np.hypot,
        np.arctan2,
        np.maximum,
        np.remainder,
    ):
        check(function, x, y, wrt=tuple(rules.find(function).signature.parameters))
    check(np.where, np.ones((2, 3), bool), x, y, wrt=("x", "y"))
    check(np.divmod, x, y, wrt=("x", "y"))


@pytest.mark.parametrize(
    "function",
    [
        np.sqrt,
        np.log,
        np.exp,
        np.sin,
        np.tan,
        np.arcsin,
        np.arccosh,
        np.arctanh,
        np.absolute,
        np.angle,
        np.sign,
        np.conjugate,
    ],
)
def test_complex_arguments(function: Any) -> None:
    z = np.array([0.3 + 0.4j, -1.2 + 0.7j, 0.1 - 2j])
    (name, *_) = rules.find(function).signature.parameters
    check(function, z, wrt=name)


def test_special_functions_to_the_third_derivative() -> None:
    from s2s.runtime.special import polygamma, sinc_derivative

    for x in (-3.7, -0.4, 0.3, 1.0, 2.5, 30.0):
        check(math.lgamma, x, wrt="x")
        check(math.gamma, x / 3, wrt="x")
        for n in range(3):
            check(polygamma, n, x, wrt="x", tolerance=1e-6)
    for x in (np.array([0.0, 1e-6, 0.3, 1.0, 1.7, -2.2, 9.4]), 0.4):
        check(np.sinc, x, wrt="x")
        for order in range(1, 4):
            check(sinc_derivative, x, order, wrt="x", tolerance=1e-6)


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.5.0", reason="descending is new in NumPy 2.5")
@pytest.mark.parametrize("axis", [0, -1, None])
def test_descending_order(axis: int | None) -> None:
    x = np.array([[3.0, 1.0, 2.0], [5.0, 6.0, 4.0]])
    factors = np.arange(6.0).reshape((6,) if axis is None else (2, 3))

    def f(x: Any) -> Any:
        return np.sum(np.sort(x, axis=axis, descending=True) * factors)

    want = np.empty_like(x)
    order = np.argsort(-x, axis=axis)
    np.put_along_axis(want, order, factors, axis)
    np.testing.assert_array_equal(s2s.grad(f, strict=True)(x), want)
    assert s2s.jvp(f, (x,), (x,)) == (f(x), f(x))


@pytest.mark.parametrize(
    "f, second",
    [
        (lambda x: np.sum(x ** np.array([0.0, 2.0, 3.0])), [0.0, 2.0, 0.0]),
        (lambda x: np.sum(x ** np.array([1.0, 2.0, 4.0])), [0.0, 2.0, 0.0]),
        (lambda x: np.linalg.norm(x, 1), [0.0, 0.0, 0.0]),
        (lambda x: np.linalg.norm(x, np.inf), [0.0, 0.0, 0.0]),
        (lambda x: np.sum(np.abs(x)), [0.0, 0.0, 0.0]),
    ],
    ids=["powers", "higher powers", "norm 1", "norm inf", "abs"],
)
def test_second_derivatives_at_zero(f: Any, second: list[float]) -> None:
    np.testing.assert_array_equal(s2s.hessian(f)(np.zeros(3)), np.diag(second))


@pytest.mark.parametrize("x", [2.3, np.float64(0.7)])
@pytest.mark.parametrize(
    "f", [lambda x: np.prod(x) * x, lambda x: np.einsum(",", x, x), lambda x: np.einsum(",->", x, 3.0) * x]
)
def test_numbers_where_arrays_are_usual(f, x):
    expected = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
    for strict in (True, False):
        assert s2s.grad(f, strict=strict)(x) == pytest.approx(expected, rel=1e-8)
    assert s2s.jvp(f, (x,), (1.0,))[1] == pytest.approx(expected, rel=1e-8)
    assert s2s.grad(s2s.grad(f))(x) == pytest.approx((f(x + 1e-3) - 2 * f(x) + f(x - 1e-3)) / 1e-6, rel=1e-6)
