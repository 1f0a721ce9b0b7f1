"""NumPy's functions that call the user's: they are looked into, as his own functions are."""

import numpy as np
import pytest

import s2s
from tests.rules.modes import assert_all_modes

RNG = np.random.default_rng(6)
X, Z = RNG.normal(size=(2, 3)), RNG.normal(size=(2, 3, 2))
COMPILED = [
    ("np.apply_along_axis(lambda t: np.sum(t * t), 1, a)", X), ("np.apply_along_axis(np.cumsum, 0, a)", X),
    ("np.apply_along_axis(lambda t: np.outer(t, t), 1, a)", Z),
    ("np.apply_along_axis(lambda t, k: t * k, -1, a, 3.0)", Z), ("np.apply_over_axes(np.sum, a, [0, 2])", Z),
    ("np.apply_over_axes(np.cumsum, a, 1)", Z), ("getattr(a, 'T') @ a", X), ("getattr(np, 'sin')(a)", X),
]  # fmt: skip
RECORDED = [
    ("np.piecewise(a, [a < 0], [lambda t: t**3, 2.0])", X),
    ("np.piecewise(a, [a < 0, a >= 0.2], [np.sin, lambda t: t * t])", X),
]  # fmt: skip


@pytest.mark.parametrize("call", COMPILED, ids=lambda c: c[0])
def test_compiled(call):
    assert_all_modes(*call)


@pytest.mark.parametrize("call", RECORDED, ids=lambda c: c[0])
def test_recorded(call):
    assert_all_modes(*call, compiled=False)


@pytest.mark.filterwarnings("ignore::s2s.FallbackWarning")
@pytest.mark.parametrize("strict", [False, True])
def test_a_method_of_an_array_under_a_name_keeps_its_tangent(strict):
    def f(x):
        total = x.sum
        return np.sum(np.sin(total(axis=0)))

    if strict:
        with pytest.raises(s2s.UnsupportedSyntaxError):
            s2s.jvp(f, (X,), (X,), strict=True)
        return
    slope = np.sum(np.cos(X.sum(axis=0)) * X.sum(axis=0))
    np.testing.assert_allclose(s2s.jvp(f, (X,), (X,))[1], slope)
    np.testing.assert_allclose(np.sum(s2s.grad(f)(X) * X), slope)
