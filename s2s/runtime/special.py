"""Special functions that derivatives need and NumPy lacks, to any order of differentiation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

# --- sin(pi x) / (pi x) -----------------------------------------------------------------------------------------


def sinc_derivative(x: Any, order: int) -> Any:
    """The derivative of `np.sinc` of the given order.

    With t = pi x, f = sin(t) / t satisfies t f^(n) + n f^(n-1) = sin(t + n pi / 2). The recurrence is stable for large
    t; for small t the power series is summed.
    """
    x = np.asarray(x)
    t = np.pi * x.astype(np.result_type(x, np.float16))
    near = np.abs(t) <= order + 2
    recurring = _sinc_by_recurrence(np.where(near, 1, t), order)
    return np.pi**order * np.where(near, _sinc_by_series(np.where(near, t, 0), order), recurring)[()]


def _sinc_by_recurrence(t: Any, order: int) -> Any:
    f = np.sin(t) / t
    for n in range(1, order + 1):
        f = (np.sin(t + n * np.pi / 2) - n * f) / t
    return f


def _sinc_by_series(t: Any, order: int) -> Any:
    """The sum of (-1)^k t^(2k - order) / ((2k + 1) (2k - order)!), the derivative of the series of sin(t) / t."""
    first = (order + 1) // 2
    term = (-1) ** first * t ** (2 * first - order) / math.factorial(2 * first - order)
    total = term / (2 * first + 1)
    for k in range(first + 1, first + 18 + 2 * order):
        term = -term * t**2 / ((2 * k - order) * (2 * k - order - 1))
        total = total + term / (2 * k + 1)
    return total


# --- the modified Bessel function -------------------------------------------------------------------------------


def i0_derivative(x: Any, order: int) -> Any:
    """The derivative of `np.i0` of the given order: the mean of cos(t)^order exp(x cos(t)) over half a turn.

    The trapezoidal rule for a periodic function converges faster than any power (Trefethen and Weideman 2014); the two
    halves of the turn are taken together, so that nothing cancels.
    """
    x = np.asarray(x)
    largest = np.max(np.abs(x), initial=0, where=np.isfinite(x))
    points = 16 + order + math.ceil(5 * math.sqrt(min(largest, 720.0)))
    total = np.zeros_like(x)
    for k in range(points):
        c = math.cos(math.pi * (k + 0.5) / (2 * points))
        total = total + c**order * (np.sinh(x * c) if order % 2 else np.cosh(x * c))
    return total[()] / points


# --- the gamma function -----------------------------------------------------------------------------------------

_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330)


def polygamma(n: int, x: float) -> float:
    """The derivative of order n + 1 of the logarithm of the gamma function, at a real number.

    Recurrence lifts x to where the asymptotic series converges; reflection serves negative x
    (Abramowitz and Stegun, 6.3.18, 6.4.6, 6.4.7, 6.4.11).
    """
    x = float(x)
    if x <= 0 and x == math.floor(x):
        return math.nan
    if x < 0:
        return (-1.0) ** n * polygamma(n, 1 - x) - math.pi ** (n + 1) * _cotangent_derivative(n, math.pi * x)
    total: float = 0.0
    lift = 12 + 2 * n
    while x < lift:
        total -= (-1.0) ** n * math.factorial(n) / x ** (n + 1)
        x += 1
    return total + _polygamma_of_large(n, x)


def _polygamma_of_large(n: int, x: float) -> float:
    if n == 0:
        return math.log(x) - 1 / (2 * x) - sum(b / (2 * k * x ** (2 * k)) for k, b in enumerate(_BERNOULLI, 1))
    series = math.factorial(n - 1) / x**n + math.factorial(n) / (2 * x ** (n + 1))
    for k, b in enumerate(_BERNOULLI, 1):
        series += b * math.factorial(2 * k + n - 1) / (math.factorial(2 * k) * x ** (2 * k + n))
    return (-1.0) ** (n + 1) * series


def _cotangent_derivative(n: int, t: float) -> float:
    """The derivative of order n of cot at t: a polynomial in c = cot t, where c' = -(1 + c**2)."""
    polynomial = [0.0, 1.0]  # coefficients of 1, c, c**2, ...
    for _ in range(n):
        slope = [k * a for k, a in enumerate(polynomial)][1:]
        polynomial = [-a - b for a, b in zip([*slope, 0.0, 0.0], [0.0, 0.0, *slope], strict=True)]
    c = 1 / math.tan(t)
    return sum(a * c**k for k, a in enumerate(polynomial))
