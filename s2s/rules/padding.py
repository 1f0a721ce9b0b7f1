"""Differences along an axis, and padding: arrays joined with what is made of their own edges."""

import numpy as np

from s2s.errors import MissingRuleError
from s2s.rules.reductions import extremum_jvp, extremum_vjp
from s2s.rules.registry import jvp, vjp
from s2s.runtime.numeric import axis_size, scatter, shape_of, unbroadcast

# --- differences ------------------------------------------------------------------------------------------------
# What is prepended and appended is joined with the array first; the transpose of a difference is a difference of the
# cotangent with zeros at both ends, negated.


def part_cotangent(g, n, axis, start, size):
    """The cotangent of the elements from `start` on of what was differenced n times."""
    for _ in range(n):
        g = -np.diff(g, axis=axis, prepend=0, append=0)
    return g[(*along(axis, g.ndim), slice(start, start + size))]


def along(axis, ndim):
    """The part of an index before an axis."""
    return (slice(None),) * (axis % ndim)


def joined_size(part, axis):
    """How much an array that is prepended or appended adds along an axis."""
    if part is None:
        return 0
    return 1 if np.ndim(part) == 0 else np.shape(part)[axis]


def joined(a, axis, prepend, append):
    """The array with what is prepended and appended."""
    ends = [p if p is None or np.ndim(p) else np.broadcast_to(p, end_shape(a, axis)) for p in (prepend, append)]
    return np.concatenate([p for p in (ends[0], a, ends[1]) if p is not None], axis=axis)


def end_shape(a, axis):
    """The shape of one layer of an array."""
    return tuple(1 if i == axis % a.ndim else n for i, n in enumerate(a.shape))


def no_part(part):
    """Zeros in place of what is prepended or appended."""
    return None if part is None else np.zeros_like(part, dtype=float)


@vjp(np.diff, wrt="a")
def diff_vjp(g, ans, a, n=1, axis=-1, prepend=None, append=None):
    return part_cotangent(g, n, axis, joined_size(prepend, axis), np.shape(a)[axis])


@jvp(np.diff, wrt="a")
def diff_jvp(a_dot, ans, a, n=1, axis=-1, prepend=None, append=None):
    return np.diff(joined(a_dot, axis, no_part(prepend), no_part(append)), n, axis)


@vjp(np.diff, wrt="prepend")
def diff_vjp_prepend(g, ans, a, n=1, axis=-1, prepend=None, append=None):
    return unbroadcast(part_cotangent(g, n, axis, 0, joined_size(prepend, axis)), shape_of(prepend))


@jvp(np.diff, wrt="prepend")
def diff_jvp_prepend(prepend_dot, ans, a, n=1, axis=-1, prepend=None, append=None):
    return np.diff(joined(np.zeros_like(a), axis, prepend_dot, no_part(append)), n, axis)


@vjp(np.diff, wrt="append")
def diff_vjp_append(g, ans, a, n=1, axis=-1, prepend=None, append=None):
    start = joined_size(prepend, axis) + np.shape(a)[axis]
    return unbroadcast(part_cotangent(g, n, axis, start, joined_size(append, axis)), shape_of(append))


@jvp(np.diff, wrt="append")
def diff_jvp_append(append_dot, ans, a, n=1, axis=-1, prepend=None, append=None):
    return np.diff(joined(np.zeros_like(a), axis, no_part(prepend), append_dot), n, axis)


# --- padding ----------------------------------------------------------------------------------------------------


def widths(pad_width, ndim):
    """How much is padded before and after each axis."""
    if isinstance(pad_width, dict):
        given = [pad_width.get(i, pad_width.get(i - ndim, 0)) for i in range(ndim)]
        return [tuple(np.broadcast_to(w, (2,)).tolist()) for w in given]
    return [tuple(pair) for pair in np.broadcast_to(pad_width, (ndim, 2)).tolist()]


@vjp(np.pad, wrt="array")
def pad_vjp(
    g, ans, array, pad_width, mode="constant", *, constant_values=0, stat_length=None, end_values=0, reflect_type="even"
):
    sides = widths(pad_width, np.ndim(array))
    if mode == "constant":
        return g[tuple(slice(before, g.shape[i] - after) for i, (before, after) in enumerate(sides))]
    if mode in ("maximum", "minimum", "mean"):
        return statistics_vjp(g, array, sides, mode, stat_length)
    if mode in ("edge", "wrap") or (mode in ("reflect", "symmetric") and reflect_type == "even"):
        places = np.pad(np.arange(array.size).reshape(array.shape), pad_width, mode)
        return np.reshape(scatter(np.ravel(g), np.ravel(places), (array.size,)), array.shape)
    for axis, side in enumerate(sides):
        matrix = pad_matrix(array.shape[axis], side, mode, reflect_type)
        g = np.moveaxis(np.tensordot(g, matrix, axes=([axis], [0])), -1, axis)
    return g


@jvp(np.pad, wrt="array")
def pad_jvp(
    array_dot, ans, array, pad_width, mode="constant", *, constant_values=0, stat_length=None, end_values=0,
    reflect_type="even",
):  # fmt: skip
    if mode == "constant":
        return np.pad(array_dot, pad_width)
    if mode in ("maximum", "minimum", "mean"):
        return statistics_jvp(array_dot, array, widths(pad_width, np.ndim(array)), mode, stat_length)
    if mode in ("reflect", "symmetric"):
        return np.pad(array_dot, pad_width, mode, reflect_type=reflect_type)
    if mode in ("edge", "wrap", "linear_ramp"):
        return np.pad(array_dot, pad_width, mode)
    raise MissingRuleError(f"np.pad has no derivative in mode {mode!r}")


def pad_matrix(size, side, mode, reflect_type):
    """Padding along one axis as a matrix, for the modes that are linear."""
    if mode == "linear_ramp":
        return np.pad(np.eye(size), (side, (0, 0)), mode)
    if mode in ("reflect", "symmetric"):
        return np.pad(np.eye(size), (side, (0, 0)), mode, reflect_type=reflect_type)
    raise MissingRuleError(f"np.pad has no derivative in mode {mode!r}")


@vjp(np.pad, wrt="constant_values")
def pad_vjp_constant(
    g, ans, array, pad_width, mode="constant", *, constant_values=0, stat_length=None, end_values=0, reflect_type="even"
):
    ndim = np.ndim(array)
    labels = np.arange(1, 2 * ndim + 1).reshape(ndim, 2)
    padded = np.pad(np.zeros(np.shape(array), int), pad_width, constant_values=labels)
    sums = np.array([np.sum(np.where(padded == label, g, 0)) for label in labels.ravel()])
    return unbroadcast(np.reshape(sums, (ndim, 2)), shape_of(constant_values))


@jvp(np.pad, wrt="constant_values")
def pad_jvp_constant(
    constant_values_dot, ans, array, pad_width, mode="constant", *, constant_values=0, stat_length=None, end_values=0,
    reflect_type="even",
):  # fmt: skip
    return np.pad(np.zeros_like(array), pad_width, constant_values=constant_values_dot)


# Modes that pad with a statistic of the edge go axis by axis: each next one sees what was padded before.

STATISTICS = {"maximum": np.max, "minimum": np.min, "mean": np.mean}


def edges(array, axis, side, length):
    """The index of each edge of an array, from which a statistic is taken, with the width that it pads."""
    size = array.shape[axis]
    lengths = (size, size) if length is None else tuple(min(n, size) for n in length)
    start = along(axis, array.ndim)
    return [
        ((*start, slice(0, lengths[0])), side[0]),
        ((*start, slice(size - lengths[1], size)), side[1]),
    ]


def each_axis(array, sides, mode, stat_length):
    """The array before the padding of each axis, with its edges."""
    lengths = [None] * array.ndim if stat_length is None else widths(stat_length, array.ndim)
    for axis, side in enumerate(sides):
        found = edges(array, axis, side, lengths[axis])
        yield array, axis, found
        parts = [np.repeat(STATISTICS[mode](array[at], axis=axis, keepdims=True), n, axis) for at, n in found]
        array = np.concatenate([parts[0], array, parts[1]], axis=axis)


def statistics_vjp(g, array, sides, mode, stat_length):
    """The cotangent of an array that was padded with statistics of its edges."""
    for before, axis, found in reversed(list(each_axis(array, sides, mode, stat_length))):
        start, (first, last) = along(axis, g.ndim), (n for _, n in found)
        ends = [g[(*start, slice(0, first))], g[(*start, slice(g.shape[axis] - last, None))]]
        g = g[(*start, slice(first, g.shape[axis] - last))]
        for (at, _), end in zip(found, ends, strict=True):
            share = edge_vjp(np.sum(end, axis=axis, keepdims=True), before[at], axis, mode)
            g = g + scatter(share, at, before.shape)
    return g


def edge_vjp(g, edge, axis, mode):
    """The cotangent of an edge of which a statistic was taken."""
    if mode == "mean":
        return np.broadcast_to(g / axis_size(edge.shape, axis), edge.shape)
    return extremum_vjp(g, STATISTICS[mode](edge, axis=axis, keepdims=True), edge, axis, keepdims=True)


def statistics_jvp(array_dot, array, sides, mode, stat_length):
    """The tangent of an array that is padded with statistics of its edges."""
    for before, axis, found in each_axis(array, sides, mode, stat_length):
        parts = [np.repeat(edge_jvp(array_dot[at], before[at], axis, mode), n, axis) for at, n in found]
        array_dot = np.concatenate([parts[0], array_dot, parts[1]], axis=axis)
    return array_dot


def edge_jvp(edge_dot, edge, axis, mode):
    """The tangent of the statistic of an edge."""
    if mode == "mean":
        return np.mean(edge_dot, axis=axis, keepdims=True)
    return extremum_jvp(edge_dot, STATISTICS[mode](edge, axis=axis, keepdims=True), edge, axis, keepdims=True)
