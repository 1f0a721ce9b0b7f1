"""The helpers that take short ways where numbers are harmless: the same results in all other cases, and no warnings."""

import itertools

import numpy as np
import pytest

from s2s.runtime import numeric

SPECIAL = [0.0, -0.0, 1.5, -2.0, np.inf, -np.inf, np.nan, 5e-324, 1e300]
RNG = np.random.default_rng(0)


def slowly(operation, numerator, other):
    with np.errstate(all="ignore"):
        value = operation(numerator, other)
    return np.where(~np.isfinite(value) & (np.asarray(numerator) == 0), 0.0, value)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "shapes", [((4,), (4,)), ((3, 4), (4,)), ((1,), (4,)), ((), (3,)), ((2, 1), (1, 3)), ((0,), (0,))]
)
@pytest.mark.parametrize(
    "guarded, plain", [(numeric.guarded_divide, np.true_divide), (numeric.guarded_multiply, np.multiply)]
)
def test_guards_give_zero_for_a_zero_and_the_plain_value_else(guarded, plain, shapes, dtype):
    with np.errstate(all="ignore"):
        special = np.array(SPECIAL).astype(dtype)
    for _ in range(40):
        left, right = (RNG.choice(special, size=shape) for shape in shapes)
        left = np.clip(left, -1e3, 1e3)  # an overflow of the cotangent is what the user may be told of
        got = guarded(left, right)
        np.testing.assert_array_equal(got, slowly(plain, left, right))
        assert np.shape(got) == np.broadcast_shapes(*shapes) and np.result_type(got) == dtype


@pytest.mark.filterwarnings("error")
def test_guards_take_numbers():
    for left, right in itertools.product([0.0, -0.0, 1.5, -2.0], SPECIAL[:-1]):
        for kinds in itertools.product([float, np.float64], repeat=2):
            a, b = kinds[0](left), kinds[1](right)
            np.testing.assert_array_equal(numeric.guarded_divide(a, b), slowly(np.true_divide, a, b))
            np.testing.assert_array_equal(numeric.guarded_multiply(a, b), slowly(np.multiply, a, b))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("axis, keepdims", [(None, False), (0, False), (1, True), ((0, 1), False), (-1, False)])
def test_the_share_of_an_extremum_is_the_cotangent_times_the_weight(axis, keepdims, dtype):
    for values in ([0.0, 1.0, 2.0], [0.5, np.nan], [np.inf, 1.0], RNG.normal(size=50)):
        a = RNG.choice(values, size=(3, 4)).astype(dtype)
        ans = np.max(a, axis=axis, keepdims=keepdims)
        weight = numeric.extremum_weight(a, ans, axis, keepdims, None, True)
        g = RNG.normal(size=ans.shape).astype(dtype)
        full = g if keepdims or axis is None else np.expand_dims(g, axis)
        got = numeric.extremum_share(g, a, ans, axis, keepdims, None, True)
        np.testing.assert_allclose(got, full * weight, rtol=1e-6)
        assert got.dtype == dtype
        assert numeric.extremum_share(0.5, a, ans, None, False, None, True).dtype == dtype if axis is None else True


def test_a_cotangent_that_is_a_number_of_python_fits_too():
    for dtype in (np.float32, np.float64, np.complex64):
        for like in (dtype(2.0), np.ones(2, dtype)):
            assert type(numeric.fitted(0.5, like)) is dtype
    assert numeric.fitted(0.5, 3) == numeric.fitted(0.5, 3.0) == 0.5
