"""Functions of `numpy.linalg` that are others under another name, or others put together."""

import math

import numpy as np

from s2s import kinds as K
from s2s.rules.composites import median_shapes
from s2s.rules.kinds_of import common_dtype, numeric, same
from s2s.rules.registry import decompose, zero_derivative

zero_derivative(np.linalg.matrix_rank)


@decompose(np.linalg.cond)
def cond(x, p=None):
    if p is None or p == 2:
        s = np.linalg.svd(x, compute_uv=False)
        return s[..., 0] / s[..., -1]
    if p == -2:
        s = np.linalg.svd(x, compute_uv=False)
        return s[..., -1] / s[..., 0]
    return np.linalg.norm(x, p, axis=(-2, -1)) * np.linalg.norm(np.linalg.inv(x), p, axis=(-2, -1))


@decompose(np.linalg.tensorinv, kind=same)
def tensorinv(a, ind=2):
    shape = np.shape(a)
    rows = math.prod(shape[ind:])
    return np.reshape(np.linalg.inv(np.reshape(a, (rows, rows))), (*shape[ind:], *shape[:ind]))


def solved(a, b, axes):
    """The kind of the solution of a tensor equation."""
    dtype, ndim, of_b = common_dtype(a, b, np.float32), K.ndim_of(a), K.ndim_of(b)
    if dtype is None or ndim is None or of_b is None:
        return K.UNKNOWN
    return numeric(dtype, ndim - of_b)


@decompose(np.linalg.tensorsolve, kind=solved)
def tensorsolve(a, b, axes=None):
    if axes is not None:
        a = np.transpose(a, others_first(np.ndim(a), axes))
    matrix = np.reshape(a, (np.size(b), np.size(b)))
    return np.reshape(np.linalg.solve(matrix, np.ravel(b)), np.shape(a)[np.ndim(b) :])


def others_first(ndim, axes):
    """The order of axes that puts these last."""
    last = [axis % ndim for axis in axes]
    return (*(i for i in range(ndim) if i not in last), *last)


if hasattr(np.linalg, "vector_norm"):  # since NumPy 2.0

    @decompose(np.linalg.svdvals)
    def svdvals(x):
        return np.linalg.svd(x, compute_uv=False)

    @decompose(np.linalg.vector_norm)
    def vector_norm(x, *, axis=None, keepdims=False, ord=2):
        order, rows, kept = median_shapes(np.shape(x), axis)
        size = np.linalg.norm(np.reshape(np.transpose(x, order), rows), ord, axis=-1)
        if keepdims:
            return np.reshape(size, kept)
        return size

    @decompose(np.linalg.matrix_norm)
    def matrix_norm(x, *, keepdims=False, ord="fro"):
        return np.linalg.norm(x, ord, axis=(-2, -1), keepdims=keepdims)

    @decompose(np.linalg.trace)
    def trace(x, *, offset=0, dtype=None):
        return np.trace(x, offset, -2, -1)

    @decompose(np.linalg.diagonal)
    def diagonal(x, *, offset=0):
        return np.diagonal(x, offset, -2, -1)

    @decompose(np.linalg.cross, kind=same)
    def cross(x1, x2, *, axis=-1):
        return np.cross(x1, x2, axis=axis)

    @decompose(np.linalg.outer)
    def outer(x1, x2):
        return np.expand_dims(x1, -1) * x2

    @decompose(np.linalg.tensordot)
    def tensordot(x1, x2, *, axes=2):
        return np.tensordot(x1, x2, axes=axes)

    @decompose(np.linalg.matmul)
    def matmul(x1, x2):
        return np.matmul(x1, x2)

    @decompose(np.linalg.matrix_transpose)
    def matrix_transpose(x):
        return np.swapaxes(x, -1, -2)

    @decompose(np.linalg.vecdot)
    def vecdot(x1, x2, *, axis=-1):
        return np.sum(np.conj(x1) * x2, axis=axis)
