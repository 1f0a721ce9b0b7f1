"""Histograms: sums of weights by bin, and edges of bins that span the data.

In which bin a number falls does not change with it, but the first and the last edge are the smallest and the largest
number, if neither edges nor a range are given.
"""

import numpy as np

from s2s import kinds as K
from s2s.rules.kinds_of import as_array
from s2s.rules.registry import decompose, jvp, vjp, zero_derivative


def number_of_bins(a, bins, range):
    """How many bins there are, if there is no list of edges."""
    return len(np.histogram_bin_edges(a, bins, range)) - 1


def widening(first, last):
    """What the outer edges are moved by where all numbers are the same."""
    return 0.5 if first == last else 0.0


def places(a, edges):
    """The bin of each number; those in no bin have one behind the last."""
    a, edges = np.ravel(a), np.asarray(edges)
    found = np.searchsorted(edges, a, "right") - 1
    found = np.where(a == edges[-1], len(edges) - 2, found)
    return np.where((a >= edges[0]) & (a <= edges[-1]), found, len(edges) - 1)


def joint_places(columns, edges):
    """The bin of each point in several dimensions, counted through; those in no bin have one behind the last."""
    shape = tuple(len(e) - 1 for e in edges)
    found = np.stack([places(a, e) for a, e in zip(columns, edges)])
    inside = np.all(found < np.reshape(shape, (-1, 1)), axis=0)
    return np.where(inside, np.ravel_multi_index(tuple(np.where(inside, found, 0)), shape), np.prod(shape))


def volumes(edges):
    """The volume of each bin."""
    found = np.diff(edges[0])
    for further in edges[1:]:
        found = np.expand_dims(found, -1) * np.diff(further)
    return found


zero_derivative(number_of_bins, widening, kind=lambda *args: K.Int())
zero_derivative(places, joint_places, volumes)


@decompose(np.histogram_bin_edges, zeros="weights")
def histogram_bin_edges(a, bins=10, range=None, weights=None):
    if np.ndim(bins) == 1:
        return np.asarray(bins)
    count = number_of_bins(a, bins, range)
    if range is not None:
        return np.linspace(range[0], range[1], count + 1)
    if np.size(a) == 0:
        return np.linspace(0.0, 1.0, count + 1)
    first, last = np.min(a), np.max(a)
    margin = widening(first, last)
    return np.linspace(first - margin, last + margin, count + 1)


def histogram_kind(a, bins, range, density, weights):
    """Two arrays: sums of weights, and edges of the precision of the data, if these are not given."""
    dtype, edges, of_weights = K.dtype_of(as_array(a)), as_array(bins), K.dtype_of(as_array(weights))
    if dtype is None:
        return K.UNKNOWN
    if K.ndim_of(edges) != 1:
        edges = K.Array(dtype if dtype.kind == "f" else np.dtype(float), 1)
    if density in (K.NONE, K.Bool(False)):
        counts = np.dtype(int) if weights == K.NONE else of_weights
    else:
        counts = np.result_type(of_weights or float, float) if density == K.Bool(True) else None
    return K.UNKNOWN if counts is None else K.Tuple((K.Array(counts, 1), edges))


@decompose(np.histogram, kind=histogram_kind)
def histogram(a, bins=10, range=None, density=None, weights=None):
    edges = np.histogram_bin_edges(a, bins, range)
    counts = sums(places(a, edges), weights, len(edges) - 1)
    if density:
        return counts / np.diff(edges) / np.sum(counts), edges
    return counts, edges


def sums(where, weights, size):
    """The sum of the weights in each bin."""
    if weights is None:
        return np.bincount(where, minlength=size + 1)[:size] * 1.0
    if np.iscomplexobj(weights):
        return sums(where, np.real(weights), size) + 1j * sums(where, np.imag(weights), size)
    return np.bincount(where, np.ravel(weights), size + 1)[:size]


decompose(sums)(sums)


# --- several dimensions -----------------------------------------------------------------------------------------


def weights_cotangent(g, counts, columns, edges, density, weights):
    """The cotangent of weights from that of their sums by bin, or of their density."""
    where = joint_places(columns, edges)
    if density:
        total = np.sum(sums(where, weights, np.size(counts)))
        g = (g / volumes(edges) - np.sum(g * counts)) / total
    return np.append(np.ravel(g), 0)[where]


def counts_tangent(weights_dot, counts, columns, edges, density, weights):
    """The tangent of the sums of weights, or of their density."""
    where = joint_places(columns, edges)
    moved = np.reshape(sums(where, weights_dot, np.size(counts)), np.shape(counts))
    if density:
        return (moved / volumes(edges) - counts * np.sum(moved)) / np.sum(sums(where, weights, np.size(counts)))
    return moved


def columns_of(sample):
    """The coordinates of points, each of them for all points."""
    return list(sample.T) if isinstance(sample, np.ndarray) else [np.asarray(c) for c in sample]


@vjp(np.histogram2d, wrt="weights")
def histogram2d_vjp(g, ans, x, y, bins=10, range=None, density=None, weights=None):
    return weights_cotangent(g[0], ans[0], [x, y], ans[1:], density, weights)


@jvp(np.histogram2d, wrt="weights")
def histogram2d_jvp(weights_dot, ans, x, y, bins=10, range=None, density=None, weights=None):
    moved = counts_tangent(weights_dot, ans[0], [x, y], ans[1:], density, weights)
    return moved, np.zeros_like(ans[1]), np.zeros_like(ans[2])


@vjp(np.histogramdd, wrt="weights", containers="sample")
def histogramdd_vjp(g, ans, sample, bins=10, range=None, density=None, weights=None):
    return weights_cotangent(g[0], ans[0], columns_of(sample), ans[1], density, weights)


@jvp(np.histogramdd, wrt="weights")
def histogramdd_jvp(weights_dot, ans, sample, bins=10, range=None, density=None, weights=None):
    moved = counts_tangent(weights_dot, ans[0], columns_of(sample), ans[1], density, weights)
    return moved, [np.zeros_like(edges) for edges in ans[1]]
