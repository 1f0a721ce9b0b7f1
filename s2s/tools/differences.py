"""The slope of a function of one number at zero, by differences, with an estimate of its error.

Central differences with one step of Richardson's extrapolation (error h**4), at steps that shrink by eight. While the
steps are too large, neighbours in this sequence differ by what the extrapolation leaves out; when they are too small,
by the noise of the function divided by the step. The slope is taken where they differ least (after Ridders, Advances in
Engineering Software 4, 1982), and what they differ by is the error. No step resolves less than the rounding of
argument and value, which the error includes.

A complex step (Squire and Trapp, SIAM Review 40, 1998) has no cancellation, but asks for an analytic function.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

_LEVELS = 14


@dataclass(frozen=True)
class Slope:
    """A difference quotient, and how far off it may be.

    rounding: the part of the error that rounding explains.
    """

    value: float
    error: float
    rounding: float


@dataclass(frozen=True)
class _Level:
    """The extrapolated quotient at one step, and what rounding does to it."""

    slope: float
    rounding: float


def central_slope(f: Callable[[float], float], scale: float, eps: float) -> Slope:
    """The derivative of `f` at 0.

    scale: the step at which `f` surely changes; the first step is a small part of it.
    eps: the relative rounding of values of `f`.

    The value is nan if `f` is not finite around 0, or raises an error of arithmetic there.
    """
    levels: list[_Level] = []
    for k in range(_LEVELS):
        level = _level(f, scale, 0.1 * eps**0.2 / 8**k, eps)
        if not math.isfinite(level.slope):
            levels.clear()  # the steps leave the domain
            continue
        levels.append(level)
        if _is_settled(levels, eps):
            return _slope(levels, len(levels) - 1)
    if not levels:
        return Slope(math.nan, math.inf, math.inf)
    return _slope(levels, min(range(len(levels)), key=lambda i: _doubt(levels, i)))


def complex_slope(f: Callable[[complex], complex]) -> Slope:
    """The derivative of an analytic `f` at 0, exact but for rounding."""
    return Slope(float(complex(f(1e-30j)).imag / 1e-30), 0.0, 0.0)


def _slope(levels: list[_Level], i: int) -> Slope:
    return Slope(levels[i].slope, _error(levels, i), levels[i].rounding)


def _level(f: Callable[[float], float], scale: float, part: float, eps: float) -> _Level:
    h = part * scale
    try:
        values = [f(h), f(-h), f(h / 2), f(-h / 2)]
    except (ValueError, ArithmeticError):  # Python's math at the border of its domain
        return _Level(math.nan, math.inf)
    wide, narrow = (values[0] - values[1]) / (2 * h), (values[2] - values[3]) / h
    slope = (4 * narrow - wide) / 3
    # of the value, and of the argument, which is as large as the scale
    return _Level(slope, eps * (max(map(abs, values)) / h + abs(slope) / part))


def _is_settled(levels: list[_Level], eps: float) -> bool:
    """Whether the last two agree to more digits than chance would have it, or all vanish."""
    if len(levels) < 2:
        return False
    vanish = len(levels) > 2 and all(level.slope == 0.0 for level in levels)
    return vanish or _error(levels, len(levels) - 1) <= eps**0.6 * abs(levels[-1].slope)


def _error(levels: list[_Level], i: int) -> float:
    """What a level differs from its neighbours by; noise grows with each step, and so does what it may explain."""
    here = levels[i].slope
    distances = [
        abs(here - levels[j].slope) / 8 ** max(0, j - i - 1) for j in (i - 1, i + 1, i + 2) if 0 <= j < len(levels)
    ]
    return max(distances, default=abs(here)) + levels[i].rounding


def _doubt(levels: list[_Level], i: int) -> float:
    """The error in relation to the slopes, so that steps over which an oscillation cancels are not trusted."""
    near = [abs(levels[j].slope) for j in (i, i - 1, i + 1) if 0 <= j < len(levels)]
    return _error(levels, i) / max(near) if max(near) else 1.0
