"""The functions of `cmath` at real numbers: their derivatives are real."""

import cmath

import numpy as np
import pytest

import s2s
from tests.rules.modes import written

NAMES = ["exp", "log", "log10", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh"]
TEXTS = [
    "cmath.phase(x)", "x * cmath.phase(x)", "cmath.polar(x)[0]", "cmath.polar(x)[0] * 2 + cmath.polar(x)[1] * x",
    *(f"cmath.{name}(x).{part}" for name in NAMES for part in ("real", "imag")),
    "cmath.rect(x, 2.0).real", "cmath.rect(2.0, x).imag",
]  # fmt: skip


@pytest.mark.parametrize("x", [0.3, -0.4, np.float64(0.3)], ids=str)
@pytest.mark.parametrize("text", TEXTS)
def test_gradients_of_real_numbers(text, x):
    f = written(text, ["x"], cmath=cmath)
    expected = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
    for got in (s2s.grad(f)(x), s2s.jvp(f, (x,), (1.0,))[1], s2s.vjp(f, x)[1](1.0)[0]):
        assert isinstance(got, float)
        assert got == pytest.approx(expected, abs=1e-8)
