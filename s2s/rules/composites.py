"""Functions that are others put together: plain NumPy that computes the same, from which their derivatives follow.

The program goes on calling the function itself; what stands here serves derivatives alone.
"""

import numpy as np

from s2s.rules.products import dot_vjp_a, dot_vjp_b
from s2s.rules.registry import decompose, jvp, vjp
from s2s.runtime.numeric import axis_size

# --- sums and spreads -------------------------------------------------------------------------------------------


@decompose(np.ptp)
def ptp(a, axis=None, out=None, keepdims=False):
    return np.max(a, axis=axis, keepdims=keepdims) - np.min(a, axis=axis, keepdims=keepdims)


@decompose(np.average)
def average(a, axis=None, weights=None, returned=False, *, keepdims=False):
    if weights is None:
        mean = np.mean(a, axis=axis, keepdims=keepdims)
        total = np.full_like(mean, axis_size(np.shape(a), axis))
    else:
        if np.ndim(weights) != np.ndim(a):
            weights = np.reshape(weights, along_axis(np.shape(a), axis))
        total = np.sum(np.broadcast_to(weights, np.shape(a)), axis=axis, keepdims=keepdims)
        mean = np.sum(a * weights, axis=axis, keepdims=keepdims) / total
    if returned:
        return mean, total
    return mean


def along_axis(shape, axis):
    """The shape of what varies along some axes of an array of `shape` alone."""
    kept = all_axes(axis, len(shape))
    return tuple(n if i in kept else 1 for i, n in enumerate(shape))


def all_axes(axis, ndim):
    """The axes that a reduction takes together, counted from the front."""
    axes = range(ndim) if axis is None else (axis if isinstance(axis, tuple) else (axis,))
    return [i % ndim for i in axes]


@decompose(np.trapezoid)
def trapezoid(y, x=None, dx=1.0, axis=-1):
    y = np.moveaxis(y, axis, -1)
    if x is None:
        return np.sum((y[..., 1:] + y[..., :-1]) * (dx / 2), axis=-1)
    steps = np.diff(x) if np.ndim(x) == 1 else np.diff(np.moveaxis(x, axis, -1))
    return np.sum((y[..., 1:] + y[..., :-1]) / 2 * steps, axis=-1)


@decompose(np.cumulative_sum)
def cumulative_sum(x, *, axis=None, dtype=None, out=None, include_initial=False):
    axis = 0 if axis is None else axis
    sums = np.cumsum(x, axis=axis)
    if include_initial:
        return np.concatenate([np.zeros_like(np.take(x, [0], axis=axis)), sums], axis=axis)
    return sums


@decompose(np.cumulative_prod)
def cumulative_prod(x, *, axis=None, dtype=None, out=None, include_initial=False):
    axis = 0 if axis is None else axis
    products = np.cumprod(x, axis=axis)
    if include_initial:
        return np.concatenate([np.ones_like(np.take(x, [0], axis=axis)), products], axis=axis)
    return products


@decompose(np.median)
def median(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    order, rows, kept = median_shapes(np.shape(a), axis)
    values = np.sort(np.reshape(np.transpose(a, order), rows), axis=-1)
    size = rows[-1]
    middle = np.mean(values[..., (size - 1) // 2 : size // 2 + 1], axis=-1)
    if keepdims:
        return np.reshape(middle, kept)
    return middle


def median_shapes(shape, axis):
    """The order of axes that puts those of the median last, the shape with these in one, and that with these kept."""
    axes = all_axes(axis, len(shape))
    others = [i for i in range(len(shape)) if i not in axes]
    rows = (*(shape[i] for i in others), axis_size(shape, axes))
    return (*others, *axes), rows, tuple(1 if i in axes else n for i, n in enumerate(shape))


# --- what is not a number is left out ---------------------------------------------------------------------------


@decompose(np.nansum)
def nansum(a, axis=None, dtype=None, out=None, keepdims=False, initial=0, where=True):
    return np.sum(np.where(np.isnan(a), 0, a), axis=axis, keepdims=keepdims, initial=initial, where=where)


@decompose(np.nanprod)
def nanprod(a, axis=None, dtype=None, out=None, keepdims=False, initial=1, where=True):
    return np.prod(np.where(np.isnan(a), 1, a), axis=axis, keepdims=keepdims, initial=initial, where=where)


@decompose(np.nanmean)
def nanmean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    valid = np.logical_and(np.logical_not(np.isnan(a)), where)
    return np.mean(np.where(valid, a, 0), axis=axis, keepdims=keepdims, where=valid)


@decompose(np.nanvar)
def nanvar(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None):
    valid = np.logical_and(np.logical_not(np.isnan(a)), where)
    return np.var(np.where(valid, a, 0), axis=axis, ddof=ddof, keepdims=keepdims, where=valid)


@decompose(np.nanstd)
def nanstd(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None):
    valid = np.logical_and(np.logical_not(np.isnan(a)), where)
    return np.std(np.where(valid, a, 0), axis=axis, ddof=ddof, keepdims=keepdims, where=valid)


@decompose(np.nanmax)
def nanmax(a, axis=None, out=None, keepdims=False, initial=None, where=True):
    valid = np.logical_and(np.logical_not(np.isnan(a)), where)
    return np.max(np.where(valid, a, -np.inf), axis=axis, keepdims=keepdims)


@decompose(np.nanmin)
def nanmin(a, axis=None, out=None, keepdims=False, initial=None, where=True):
    valid = np.logical_and(np.logical_not(np.isnan(a)), where)
    return np.min(np.where(valid, a, np.inf), axis=axis, keepdims=keepdims)


# --- products ---------------------------------------------------------------------------------------------------


@decompose(np.kron)
def kron(a, b):
    left, right, whole = kron_shapes(np.shape(a), np.shape(b))
    return np.reshape(np.reshape(a, left) * np.reshape(b, right), whole)


def kron_shapes(a, b):
    """The shapes of the factors, each with an axis of length one for every axis of the other, and of the product."""
    ndim = max(len(a), len(b))
    a, b = (1,) * (ndim - len(a)) + a, (1,) * (ndim - len(b)) + b
    left = tuple(n for size in a for n in (size, 1))
    right = tuple(n for size in b for n in (1, size))
    return left, right, tuple(m * n for m, n in zip(a, b, strict=True))


@vjp(np.linalg.multi_dot, wrt="arrays", containers="arrays")
def multi_dot_vjp(g, ans, arrays, *, out=None):
    products = [arrays[0]]
    for factor in arrays[1:]:
        products.append(np.dot(products[-1], factor))
    cotangents = []
    for factor, before in zip(reversed(arrays[1:]), reversed(products[:-1]), strict=True):
        cotangents.append(dot_vjp_b(g, ans, before, factor))
        g = dot_vjp_a(g, ans, before, factor)
    return [g, *reversed(cotangents)]


@jvp(np.linalg.multi_dot, wrt="arrays")
def multi_dot_jvp(arrays_dot, ans, arrays, *, out=None):
    terms = [[*arrays[:i], a_dot, *arrays[i + 1 :]] for i, a_dot in enumerate(arrays_dot)]
    return sum(np.linalg.multi_dot(term) for term in terms)


@decompose(np.linalg.matrix_power)
def matrix_power(a, n):
    if n < 0:
        a = np.linalg.inv(a)
    power = np.broadcast_to(np.eye(np.shape(a)[-1], dtype=a.dtype), np.shape(a))
    for _ in range(abs(n)):
        power = np.matmul(power, a)
    return power


@decompose(np.vander)
def vander(x, N=None, increasing=False):
    exponents = np.arange(len(x) if N is None else N)
    powers = np.expand_dims(x, -1) ** exponents
    if increasing:
        return powers
    return powers[:, ::-1]


@decompose(np.polyval)
def polyval(p, x):
    value = np.zeros_like(x)
    for k in range(len(p)):
        value = value * x + p[k]
    return value


# --- ranges on a logarithmic scale ------------------------------------------------------------------------------


@decompose(np.logspace)
def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    return base ** np.linspace(start, stop, num, endpoint, axis=axis)


@decompose(np.geomspace)
def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    return np.exp(np.linspace(np.log(start), np.log(stop), num, endpoint, axis=axis))


# --- parts ------------------------------------------------------------------------------------------------------


@vjp(np.modf, wrt="x")
def modf_vjp(g, ans, x):
    return g[0]


@jvp(np.modf, wrt="x")
def modf_jvp(x_dot, ans, x):
    return x_dot, np.zeros_like(ans[1])


# --- products of stacks of vectors ------------------------------------------------------------------------------

if hasattr(np, "matvec"):  # since NumPy 2.2

    @decompose(np.matvec)
    def matvec(x, y):
        return np.matmul(x, np.expand_dims(y, -1))[..., 0]

    @decompose(np.vecmat)
    def vecmat(x, y):
        return np.matmul(np.expand_dims(np.conj(x), -2), y)[..., 0, :]


if hasattr(np, "vecdot"):  # since NumPy 2.0

    @decompose(np.vecdot)
    def vecdot(x, y):
        return np.sum(np.conj(x) * y, axis=-1)
