"""Convolutions, and what is made of pairs of vectors: cross products and covariances."""

import numpy as np

from s2s import kinds as K
from s2s.rules.kinds_of import common_dtype
from s2s.rules.registry import decompose, linear
from s2s.runtime.numeric import unbroadcast

# --- convolutions -----------------------------------------------------------------------------------------------
# The modes are cuts of the full convolution. Its transpose by one operand correlates the cotangent with the other one.


def uncut(g, left_out, m, n):
    """The cotangent of the full convolution of m by n elements, of which some are left out in front."""
    return np.pad(g, (left_out, m + n - 1 - left_out - np.size(g)))


def left_out(m, n, mode):
    """How much of the full convolution a mode leaves out in front."""
    if mode in ("same", 1):
        return (min(m, n) - 1) // 2
    return min(m, n) - 1 if mode in ("valid", 0) else 0


def left_out_of_correlation(m, n, mode):
    """The same for a correlation: where the second operand is the longer one, NumPy swaps them and turns the result."""
    return m // 2 if mode in ("same", 1) and m < n else left_out(m, n, mode)


@linear(np.convolve, wrt="a")
def convolve_vjp_a(g, ans, a, v, mode="full"):
    if np.ndim(v) == 0:
        v = np.reshape(v, 1)
    m, n = np.size(a), np.size(v)
    return np.reshape(np.correlate(uncut(g, left_out(m, n, mode), m, n), np.conj(v), "valid"), np.shape(a))


@linear(np.convolve, wrt="v")
def convolve_vjp_v(g, ans, a, v, mode="full"):
    if np.ndim(a) == 0:
        a = np.reshape(a, 1)
    m, n = np.size(a), np.size(v)
    return np.reshape(np.correlate(uncut(g, left_out(m, n, mode), m, n), np.conj(a), "valid"), np.shape(v))


@linear(np.correlate, wrt="a")
def correlate_vjp_a(g, ans, a, v, mode="valid"):
    m, n = np.size(a), np.size(v)
    whole = uncut(g, left_out_of_correlation(m, n, mode), m, n)
    return np.reshape(np.convolve(whole, np.conj(v), "valid"), np.shape(a))


@linear(np.correlate, wrt="v")
def correlate_vjp_v(g, ans, a, v, mode="valid"):
    m, n = np.size(a), np.size(v)
    whole = uncut(g, left_out_of_correlation(m, n, mode), m, n)
    return np.reshape(np.conj(np.correlate(whole, np.conj(a), "valid"))[::-1], np.shape(v))


# --- cross products ---------------------------------------------------------------------------------------------
# A vector of two components has a third one that is zero; of two such vectors, the result is the third component.


def cross_kind(a, b, *others):
    """The number of dimensions of a cross product depends on the sizes."""
    dtype = common_dtype(a, b)
    return K.UNKNOWN if dtype is None else K.Numeric(dtype)


def along_last(x, axis):
    """Vectors of three components along the last axis."""
    x = np.moveaxis(x, axis, -1)
    if np.shape(x)[-1] == 3:
        return x
    return np.concatenate([x, np.zeros_like(x[..., :1])], axis=-1)


def crossed(x, y):
    """The cross product of vectors along the last axis."""
    return np.roll(x, -1, -1) * np.roll(y, 1, -1) - np.roll(x, 1, -1) * np.roll(y, -1, -1)


def result_along_last(g, a, b, axes):
    """The cotangent of a cross product with its three components along the last axis."""
    if np.shape(a)[axes[0]] == 2 and np.shape(b)[axes[1]] == 2:
        g = np.expand_dims(g, -1)
        return np.concatenate([np.zeros_like(g), np.zeros_like(g), g], axis=-1)
    return np.moveaxis(g, axes[2], -1)


def vector_cotangent(whole, like, axis):
    """The cotangent of vectors along `axis` from the one of three components along the last axis."""
    shape = np.shape(np.moveaxis(like, axis, -1))
    return np.moveaxis(unbroadcast(whole[..., : shape[-1]], shape), -1, axis)


@linear(np.cross, wrt="a", kind=cross_kind)
def cross_vjp_a(g, ans, a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    axes = (axisa, axisb, axisc) if axis is None else (axis, axis, axis)
    return vector_cotangent(crossed(along_last(b, axes[1]), result_along_last(g, a, b, axes)), a, axes[0])


@linear(np.cross, wrt="b")
def cross_vjp_b(g, ans, a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    axes = (axisa, axisb, axisc) if axis is None else (axis, axis, axis)
    return vector_cotangent(crossed(result_along_last(g, a, b, axes), along_last(a, axes[0])), b, axes[1])


# --- covariances ------------------------------------------------------------------------------------------------


def covariance_kind(m, y, *others):
    """A single variable has a covariance without dimensions."""
    dtype = common_dtype(m, np.float64) if isinstance(y, K.NoneKind) else common_dtype(m, y, np.float64)
    return K.UNKNOWN if dtype is None else K.Numeric(dtype)


@decompose(np.cov, kind=covariance_kind, zeros=("fweights",))
def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, *, dtype=None):
    x = np.atleast_2d(m)
    if not rowvar:
        if np.ndim(m) == 2:
            x = np.transpose(m)
    if y is not None:
        z = np.atleast_2d(y)
        if not rowvar:
            if np.ndim(y) == 2:
                z = np.transpose(y)
        x = np.concatenate([x, z], axis=0)
    x = np.float64(1) * x  # NumPy computes in double precision
    lost = freedom_lost(ddof, bias)
    if fweights is None and aweights is None:
        centred = x - np.mean(x, axis=1, keepdims=True)
        return np.squeeze(centred @ np.conj(np.transpose(centred)) / (np.shape(x)[1] - lost))
    if aweights is None:
        weights = fweights
    elif fweights is None:
        weights = aweights
    else:
        weights = fweights * aweights
    total = np.sum(weights)
    centred = x - np.sum(x * weights, axis=1, keepdims=True) / total
    if aweights is None:
        freedom = total - lost
    else:
        freedom = total - lost * np.sum(weights * aweights) / total
    return np.squeeze((centred * weights) @ np.conj(np.transpose(centred)) / freedom)


def freedom_lost(ddof, bias):
    """The degrees of freedom that the mean takes."""
    if ddof is None:
        return 0 if bias else 1
    return ddof


@decompose(np.corrcoef, kind=covariance_kind, zeros=("bias", "ddof"))
def corrcoef(x, y=None, rowvar=True, bias=None, ddof=None, *, dtype=None):
    c = np.cov(x, y, rowvar)
    if np.ndim(c) == 0:
        return c / c
    deviation = np.sqrt(np.real(np.diagonal(c)))
    return c / np.expand_dims(deviation, -1) / deviation
