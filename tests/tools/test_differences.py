"""Slopes by differences are as near as they say."""

import math

import numpy as np
import pytest

from s2s.tools.differences import central_slope, complex_slope

EPS = float(np.finfo(float).eps)


@pytest.mark.parametrize(
    "f, slope, x",
    [
        (math.exp, math.exp, 1.0),
        (math.log, lambda x: 1 / x, 1e-10),  # the first steps leave the domain
        (math.sin, math.cos, 1e7),  # they span many periods
        (lambda x: x**2, lambda x: 2 * x, 1e12),
        (lambda x: 1e8 + x, lambda x: 1.0, 1.0),
        (lambda x: 3.0, lambda x: 0.0, 1.0),
        (abs, lambda x: 0.0, 0.0),
    ],
)
def test_slopes_are_within_their_error(f, slope, x):
    found = central_slope(lambda step: f(x + step), max(1.0, abs(x)), EPS)
    assert abs(found.value - slope(x)) <= 3 * found.error + 1e-9 * abs(slope(x))
    assert found.error <= 1e-2 * max(1.0, abs(slope(x)))


def test_noise_is_noticed():
    rng = np.random.default_rng(1)
    for _ in range(50):
        found = central_slope(lambda step: math.sin(0.5 + step) + 1e-6 * rng.random(), 1.0, EPS)
        assert abs(found.value - math.cos(0.5)) <= 3 * found.error
        assert found.error > 10 * found.rounding


def test_where_nothing_is_defined_there_is_no_slope():
    found = central_slope(lambda step: math.sqrt(-1 - abs(step)), 1.0, EPS)
    assert math.isnan(found.value) and math.isinf(found.error)


def test_complex_steps_are_exact():
    assert complex_slope(lambda step: np.sin(0.5 + step)).value == pytest.approx(math.cos(0.5), rel=1e-15)
