"""Quantiles, interpolation and slopes along a grid: functions that are linear between neighbours."""

import numpy as np

from s2s import kinds as K
from s2s.errors import MissingRuleError
from s2s.rules.composites import all_axes, median_shapes
from s2s.rules.kinds_of import as_array, reduced, running
from s2s.rules.registry import decompose, zero_derivative

# --- quantiles --------------------------------------------------------------------------------------------------

# Methods that interpolate: among n sorted elements q lies at n q + alpha + q (1 - alpha - beta) - 1, counted from 0.
PLOTTING = {
    "interpolated_inverted_cdf": (0, 1),
    "hazen": (0.5, 0.5),
    "weibull": (0, 0),
    "linear": (1, 1),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
}
CHOOSING = {"lower": np.floor, "higher": np.ceil, "nearest": np.around}


def between(n, q, method):
    """Where q lies among n sorted elements: the element below, the share of the next one, and its slope by q."""
    if method in CHOOSING:
        return CHOOSING[method]((n - 1) * q), 0, 0
    if method == "midpoint":
        place = (n - 1) * q
        return np.floor(place), np.where(place == np.floor(place), 0, 0.5), 0
    if method in PLOTTING:
        alpha, beta = PLOTTING[method]
        place = (n - 1) * q if method == "linear" else n * q + (alpha + q * (1 - alpha - beta)) - 1
        return np.floor(place), place - np.floor(place), n + 1 - alpha - beta
    place = n * q - (1.5 if method == "closest_observation" else 1)
    below = np.floor(place)
    if method == "inverted_cdf":
        return below, place > below, 0
    if method == "averaged_inverted_cdf":
        return below, np.where(place > below, 1, 0.5), 0
    if method == "closest_observation":
        return below, np.logical_or(place > below, np.mod(below, 2) == 0), 0
    raise MissingRuleError(f"a quantile by the method {method!r} has no derivative")


def neighbours(a, q, axis, method, keepdims, weights, without_nan):
    """The places in `ravel(a)` of the two elements that q lies between, and the share of the second one, as offset and
    slope of a line in q; all have the shape of the result. Last, the shape that q has there.
    """
    order, rows, kept = median_shapes(np.shape(a), axis)
    values = np.reshape(np.transpose(a, order), rows)
    places = np.reshape(np.transpose(np.reshape(np.arange(np.size(a)), np.shape(a)), order), rows)
    sorting = np.argsort(values, axis=-1, kind="stable")
    q = np.asarray(q, float)
    spread = np.reshape(q, np.shape(q) + (1,) * (len(rows) - 1))
    if weights is not None:
        along = [np.shape(a)[i] for i in all_axes(axis, np.ndim(a))]
        weights = (
            np.broadcast_to(np.reshape(weights, along), rows)
            if np.ndim(weights) != np.ndim(a)
            else np.reshape(np.transpose(weights, order), rows)
        )
        below, share, slope = weighted_place(np.take_along_axis(weights, sorting, -1), spread), 0, 0
    else:
        n = np.sum(np.isnan(values) == False, axis=-1) if without_nan else rows[-1]  # noqa: E712
        below, share, slope = between(n, spread, method)
        inside = np.logical_and(below >= 0, below < n - 1)
        share, slope = np.where(inside, share, 0), np.where(inside, slope, 0)
        below = np.clip(below, 0, np.maximum(n - 1, 0)).astype(int)
    below = np.broadcast_to(below, np.shape(q) + rows[:-1])
    above = np.minimum(below + 1, rows[-1] - 1)
    sorted_places = np.moveaxis(np.take_along_axis(places, sorting, -1), -1, 0)
    shape = np.shape(q) + (kept if keepdims else rows[:-1])
    low, high = (np.reshape(picked(sorted_places, at, np.ndim(q)), shape) for at in (below, above))
    slope = np.reshape(np.broadcast_to(slope, below.shape), shape)
    q_shape = np.shape(q) + (1,) * (len(shape) - np.ndim(q))
    offset = np.reshape(np.broadcast_to(share, below.shape), shape) - slope * np.reshape(q, q_shape)
    dtype = np.result_type(a, np.float16)
    return low, high, offset.astype(dtype), slope.astype(dtype), q_shape


def weighted_place(weights, q):
    """The first of the sorted elements whose cumulated weight reaches q."""
    cumulated = np.moveaxis(np.cumsum(weights, axis=-1), -1, 0)
    reached = cumulated / cumulated[-1]
    reached = np.where(reached == 0, -1, reached)
    return np.argmax(np.expand_dims(reached, tuple(range(1, 1 + q.ndim - reached[0].ndim))) >= q, axis=0)


def picked(rows, at, ndim):
    """For each place in `at`, whose first axes are those of q, the entry of the row."""
    whole = np.broadcast_to(np.expand_dims(rows, tuple(range(1, 1 + ndim))), (len(rows), *at.shape))
    return np.take_along_axis(whole, at[None], 0)[0]


zero_derivative(neighbours)
left_over = reduced(np.mean, keepdims=2)


def quantile_kind(a, q, axis, out, overwrite_input, method, keepdims, *others):
    """The kind of one quantile, with the dimensions of q in front."""
    one, ndim = left_over(a, axis, keepdims), K.ndim_of(as_array(q))
    if ndim == 0:
        return one
    return K.UNKNOWN if ndim is None or K.ndim_of(one) is None else K.Array(one.dtype, K.ndim_of(one) + ndim)


@decompose(np.quantile, zeros="weights", kind=quantile_kind)
def quantile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None):
    low, high, offset, slope, q_shape = neighbours(a, q, axis, method, keepdims, weights, False)
    flat = np.ravel(a)
    return flat[low] + (flat[high] - flat[low]) * (offset + slope * np.reshape(q, q_shape))


@decompose(np.nanquantile, zeros="weights", kind=quantile_kind)
def nanquantile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None):
    low, high, offset, slope, q_shape = neighbours(a, q, axis, method, keepdims, weights, True)
    flat = np.ravel(a)
    return flat[low] + (flat[high] - flat[low]) * (offset + slope * np.reshape(q, q_shape))


@decompose(np.percentile, zeros="weights")
def percentile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None):
    return np.quantile(a, np.true_divide(q, 100), axis, method=method, keepdims=keepdims, weights=weights)


@decompose(np.nanpercentile, zeros="weights")
def nanpercentile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None):
    return np.nanquantile(a, np.true_divide(q, 100), axis, method=method, keepdims=keepdims, weights=weights)


@decompose(np.nanmedian)
def nanmedian(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    return np.nanquantile(a, 0.5, axis, keepdims=keepdims)


# --- running sums without what is not a number ------------------------------------------------------------------


@decompose(np.nancumsum, kind=running(np.nancumsum))
def nancumsum(a, axis=None, dtype=None, out=None):
    return np.cumsum(np.where(np.isnan(a), 0, a), axis)


@decompose(np.nancumprod, kind=running(np.nancumprod))
def nancumprod(a, axis=None, dtype=None, out=None):
    return np.cumprod(np.where(np.isnan(a), 1, a), axis)


# --- interpolation ----------------------------------------------------------------------------------------------


def interval(x, xp):
    """The knot to the left of each x, or the first one of the interval that is next to it."""
    return np.clip(np.searchsorted(xp, x, "right") - 1, 0, max(np.size(xp) - 2, 0))


def next_knot(at, xp):
    """The knot to the right."""
    return np.minimum(at + 1, np.size(xp) - 1)


zero_derivative(interval, next_knot)


@decompose(np.interp)
def interp(x, xp, fp, left=None, right=None, period=None):
    if period is not None:
        x = np.mod(x, period)
        xp = np.mod(xp, period)
        order = np.argsort(xp)
        xp = np.concatenate([xp[order][-1:] - period, xp[order], xp[order][:1] + period])
        values = np.asarray(fp)[order]
        fp = np.concatenate([values[-1:], values, values[:1]])
    else:
        xp = np.asarray(xp)
        fp = np.asarray(fp)
    at = interval(x, xp)
    after = next_knot(at, xp)
    step = xp[after] - xp[at]
    between = fp[at] + (x - xp[at]) * ((fp[after] - fp[at]) / np.where(step == 0, 1, step))
    if period is not None:
        return between
    below = fp[0] if left is None else left
    above = fp[-1] if right is None else right
    return np.where(x < xp[0], below, np.where(x > xp[-1], above, np.where(x == xp[-1], fp[-1], between)))
