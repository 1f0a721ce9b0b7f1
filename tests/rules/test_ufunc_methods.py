"""The methods of NumPy's binary functions in all modes."""

import numpy as np
import pytest

import s2s
from tests.rules.modes import assert_all_modes

RNG = np.random.default_rng(2)
M, V, Y = RNG.uniform(0.5, 2, (3, 4)), RNG.uniform(0.5, 2, 4), RNG.uniform(0.5, 2, 5)
PLACES = np.array([0, 2, 1])
# NumPy's own reductions of one-dimensional arrays by power and arctan2 are wrong on machines with AVX-512.
REDUCTIONS = [
    ("np.add.reduce(a)", M), ("np.add.reduce(a, axis=None)", M), ("np.add.reduce(a, 1, keepdims=True)", M),
    ("np.add.reduce(a, 1, initial=b)", M, 0.7), ("np.add.reduce(a, where=a > 1)", M),
    ("np.multiply.reduce(a, axis=(0, 1))", M), ("np.maximum.reduce(a, axis=1)", M),
    ("np.maximum.reduce(a, axis=1, initial=1.0)", M), ("np.minimum.reduce(a)", V), ("np.logaddexp.reduce(a)", M),
    ("np.logaddexp.reduce(a, axis=None)", M), ("np.logaddexp.reduce(a, axis=1, keepdims=True)", M),
    ("np.logaddexp.reduce(a, initial=b)", V, 0.3), ("np.subtract.reduce(a)", V), ("np.divide.reduce(a, axis=1)", M),
    ("np.hypot.reduce(a)", M), ("np.fmax.reduce(a)", M), ("np.power.reduce(a)", M),
]  # fmt: skip
ACCUMULATIONS = [
    ("np.add.accumulate(a)", M), ("np.multiply.accumulate(a, axis=1)", M), ("np.maximum.accumulate(a, axis=-1)", M),
    ("np.logaddexp.accumulate(a)", M), ("np.subtract.accumulate(a, 1)", M),
]  # fmt: skip
PARTS = [
    ("np.add.reduceat(a, [0, 2, 1], axis=1)", M), ("np.add.reduceat(a, places, axis=1)", M),
    ("np.maximum.reduceat(a, places)", V), ("np.multiply.reduceat(a, places)", V),
    ("np.logaddexp.reduceat(a, places)", V),
]  # fmt: skip
OUTER = [
    ("np.multiply.outer(a, b)", M, V), ("np.power.outer(a, b)", V, Y), ("np.subtract.outer(a, a)", V),
    ("np.hypot.outer(a, b)", V, 0.5), ("np.add.outer(a, b)", 0.3, V),
]  # fmt: skip


@pytest.mark.parametrize("call", [*REDUCTIONS, *ACCUMULATIONS, *PARTS, *OUTER], ids=lambda c: c[0])
def test_methods_of_ufuncs(call):
    assert_all_modes(*call, places=PLACES)


def test_a_log_of_sums_is_stable_where_exponentials_overflow():
    x = np.array([1000.0, 1000.0, 999.0])
    weights = np.exp(x - x.max()) / np.sum(np.exp(x - x.max()))
    np.testing.assert_allclose(s2s.grad(lambda x: np.logaddexp.reduce(x), strict=True)(x), weights, rtol=1e-12)


def test_ties_share_and_masks_of_other_reductions_are_refused():
    tied = np.array([2.0, 1.0, 2.0])
    np.testing.assert_array_equal(s2s.grad(lambda x: np.maximum.reduce(x), strict=True)(tied), [0.5, 0, 0.5])
    with pytest.raises(s2s.MissingRuleError, match="where"):
        s2s.grad(lambda x: np.logaddexp.reduce(x, where=x > 1))(tied)
