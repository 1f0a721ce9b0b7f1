"""Entries that are no numbers, and that the function leaves out, leave no trace in its gradient."""

import math

import numpy as np
import pytest

import s2s

NAN = float("nan")


def chosen(w, d):
    return np.nansum(np.where(w > 0, w, np.nan) * w)


def chosen_by_another_name(w, d):
    return np.nansum(np.where(w > 0, w, NAN) * w + np.where(w > 1, w, math.nan) * w)


def weighted(w, d):
    return np.nansum(d * w)


def residuals(w, d):
    return np.nanmean((d * w - 1.0) ** 2)


def cubes(w, d):
    return np.nansum((d - w) ** 3)


def waves(w, d):
    return np.nansum(np.sin(d * w) * np.exp(w))


def spread(w, d):
    return np.nanstd(d * w)


def greatest(w, d):
    return np.nanmax(d * w) + np.nanmin(d / w)


def filled(w, d):
    return np.sum(np.nan_to_num(d * w))


def selected(w, d):
    return np.sum(np.where(np.isfinite(d), d * w, 0.0))


def masked(w, d):
    return np.sum(((d - w) ** 2)[~np.isnan(d)])


def masked_sum(w, d):
    return np.sum(d * w, where=d == d)


def masked_by_comparison(w, d):
    return np.sum(np.where(d > -np.inf, np.cos(d - w) * w, 0.0))


def in_a_loop(w, d):
    total = 0.0
    for k in range(3):
        total = total + np.nansum(d * w * (k + 1.0)) + np.sum(np.where(np.isnan(d), 0.0, (d - w) ** 2))
    return total


FUNCTIONS = [
    chosen, chosen_by_another_name, weighted, residuals, cubes, waves, spread, greatest, filled, selected, masked,
    masked_sum, masked_by_comparison, in_a_loop,
]  # fmt: skip


def expected(f, w, d):
    """The gradient at the entries that are there, zero at the others."""
    there = ~np.isnan(d)
    gradient = np.zeros_like(w)
    gradient[there] = s2s.grad(f, strict=True)(w[there], d[there])
    return gradient


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("shape", [(5,), (3, 4), (2, 1, 3)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_missing_entries_leave_no_trace(f, shape, dtype, rng):
    w, d = (rng.normal(size=shape).astype(dtype) for _ in range(2))
    d[(0,) * len(shape)] = np.nan
    right = expected(f, w, d)
    if f in (chosen, chosen_by_another_name):
        d[(0,) * len(shape)] = 1.0
        right = s2s.grad(lambda w: np.sum(np.where(w > 0, w, 0) * w), strict=True)(w)
        if f is chosen_by_another_name:
            right = np.where(w > 1, 2 * right, 0)
    tolerance = {"rtol": 1e-4, "atol": 1e-5} if dtype is np.float32 else {"rtol": 1e-12, "atol": 1e-12}
    gradient = s2s.grad(f, strict=True)(w, d)
    assert gradient.dtype == dtype
    np.testing.assert_allclose(gradient, right, **tolerance)

    direction = rng.normal(size=shape).astype(dtype)
    _, out_dot = s2s.jvp(f, (w, d), (direction, None), strict=True)
    np.testing.assert_allclose(out_dot, np.sum(right * direction), **tolerance)

    eager = s2s.Variable(w, requires_grad=True)
    s2s.backward(f(eager, d))
    np.testing.assert_allclose(eager.grad.numpy(), right, **tolerance)


def test_a_number_beside_missing_data():
    def f(w, d):
        return np.nansum(d * w**2)

    d = np.array([1.0, np.nan, 3.0])
    assert s2s.grad(f, strict=True)(2.0, d) == 16.0
    assert s2s.jvp(f, (2.0, d), (1.0, None), strict=True) == (16.0, 16.0)


def test_missing_data_by_which_one_differentiates():
    d = np.array([1.0, np.nan, 3.0])
    for f in (lambda d: np.nansum(d * d), lambda d: np.nansum(d**2), lambda d: np.nansum(d * np.tanh(d)) * 1.0):
        gradient = s2s.grad(f, strict=True)(d)
        np.testing.assert_allclose(gradient[[0, 2]], s2s.grad(f, strict=True)(d[[0, 2]]))
        assert gradient[1] == 0.0


@pytest.mark.filterwarnings("ignore:divide by zero")
def test_what_was_not_chosen_counts_for_nothing_in_forward_mode_too():
    x = np.array([0.0, 1.0, 2.0])
    ones = np.ones(3)
    for f in (
        lambda x: np.sum(np.maximum(np.log(x), 0.0)),
        lambda x: np.sum(np.clip(np.sqrt(x), 0.5, 2.0)),
        lambda x: np.sum(np.sqrt(x).clip(0.5, 2.0)),
        lambda x: np.sum(np.nan_to_num(np.log(x), neginf=0.0)),
        lambda x: np.sum(np.max(np.stack([np.log(x), x]), axis=0)),
    ):
        gradient = s2s.grad(f, strict=True)(x)
        assert np.isfinite(gradient).all()
        np.testing.assert_allclose(s2s.jvp(f, (x,), (ones,), strict=True)[1], np.sum(gradient))


def test_a_steep_slope_after_a_choice_leaves_the_other_operand_alone_on_the_tape():
    x = s2s.Variable(np.array([-1.0, 4.0]), requires_grad=True)
    s2s.backward(np.sum(np.sqrt(np.maximum(x, 0.0))))
    np.testing.assert_array_equal(x.grad.numpy(), [0.0, 0.25])


def test_numbers_that_are_written_as_missing_leave_no_trace(rng):
    def left_out(x):
        return np.nansum(x * np.array([1.0, np.nan, 1.0]))

    def masked(x):
        w = np.array([1.0, np.inf, 2.0])
        return np.sum(np.where(np.isfinite(w), x * w, 0.0))

    def divided(x):
        return np.nansum(x / np.asarray([1.0, 0.0, 2.0]) * np.stack([1.0, math.nan, 1.0]))

    def filled(x):
        return np.nansum(np.concatenate([x, x]) * np.append(np.full(3, np.nan), [1.0, 2.0, 3.0]))

    x = rng.normal(size=3)
    for f, slope in ((left_out, [1, 0, 1]), (masked, [1, 0, 2]), (divided, [1, 0, 0.5]), (filled, [1, 2, 3])):
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(s2s.grad(f, strict=True)(x), slope)
            np.testing.assert_allclose(s2s.jvp(f, (x,), (np.ones(3),))[1], np.sum(slope))
