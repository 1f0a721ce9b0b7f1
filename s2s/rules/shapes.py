"""Functions that only move entries about: the transpose moves them back."""

import numpy as np

from s2s import kinds as K
from s2s.rules.kinds_of import by_method, computed, count, flat, of_ndim, same, shaped
from s2s.rules.registry import elementwise, jvp, linear, vjp, zero_derivative
from s2s.runtime.numeric import from_diagonal, on_diagonal, scatter, unbroadcast

# --- new shapes, same order -------------------------------------------------------------------------------------
# With another order than that of C the cotangent is read and written in that order too. Orders A and K go by the memory
# of the argument, whatever that of its tangent.


def plain_order(order, a):
    """The order that `A` and `K` stand for."""
    if order == "A":
        return "F" if np.isfortran(a) else "C"
    return order


def by_stride(a):
    """The axes of an array as its memory holds them, the slowest first."""
    return np.argsort([-abs(s) for s in a.strides], kind="stable")


def sizes_given(ndim, shape, *rest):
    """How many sizes `x.reshape(...)` was given: several ints, or one tuple of them."""
    if len(shape.items) == 1 and isinstance(shape.items[0], (K.Tuple, K.List)):
        return len(shape.items[0].items)
    return len(shape.items) if all(count(item) == 1 for item in shape.items) else None


@vjp(np.reshape, wrt="a", kind=by_method(shaped))
def reshape_vjp(g, ans, a, shape, order="C", *, copy=None):
    if np.ndim(a) == 0:
        return np.reshape(g, ())[()]
    if order == "C":
        return np.reshape(g, np.shape(a))
    return np.reshape(g, np.shape(a), plain_order(order, a))


@jvp(np.reshape, wrt="a")
def reshape_jvp(a_dot, ans, a, shape, order="C", *, copy=None):
    if order == "C":
        return np.reshape(a_dot, shape)
    return np.reshape(a_dot, shape, plain_order(order, a))


@vjp(np.ndarray.reshape, wrt="a", kind=of_ndim(sizes_given))
def reshape_method_vjp(g, ans, a, *shape, order="C", copy=None):
    if order == "C":
        return np.reshape(g, np.shape(a))
    return np.reshape(g, np.shape(a), plain_order(order, a))


@jvp(np.ndarray.reshape, wrt="a")
def reshape_method_jvp(a_dot, ans, a, *shape, order="C", copy=None):
    return np.reshape(a_dot, np.shape(ans), plain_order(order, a))


@vjp(np.ravel, np.ndarray.ravel, wrt="a", kind=flat)
@vjp(np.ndarray.flatten, wrt="a", kind=flat)
def ravel_vjp(g, ans, a, order="C"):
    if order == "C":
        return np.reshape(g, np.shape(a))
    if order == "K":
        memory = by_stride(a)
        return np.transpose(np.reshape(g, [a.shape[i] for i in memory]), np.argsort(memory))
    return np.reshape(g, np.shape(a), plain_order(order, a))


@jvp(np.ravel, np.ndarray.ravel, np.ndarray.flatten, wrt="a")
def ravel_jvp(a_dot, ans, a, order="C"):
    if order == "K":
        return np.ravel(np.transpose(a_dot, by_stride(a)))
    return np.ravel(a_dot, plain_order(order, a))


def squeezed(ndim, axis):
    """How many dimensions `squeeze` leaves: not known before its axes are."""
    gone = count(axis)
    return None if ndim is None or gone is None else ndim - gone


@linear(np.squeeze, np.ndarray.squeeze, wrt="a", kind=of_ndim(squeezed))
def squeeze(g, ans, a, axis=None):
    return np.reshape(g, np.shape(a))


def expanded(ndim, axis):
    """How many dimensions `expand_dims` gives."""
    added = count(axis)
    return None if ndim is None or added is None else ndim + added


@linear(np.expand_dims, wrt="a", kind=of_ndim(expanded))
def expand_dims(g, ans, a, axis):
    return np.reshape(g, np.shape(a))


@linear(np.broadcast_to, wrt="array", kind=shaped)
def broadcast_to(g, ans, array, shape, subok=False):
    return unbroadcast(g, np.shape(array))


# --- axes -------------------------------------------------------------------------------------------------------


@linear(np.transpose, wrt="a", kind=by_method(same))
def transpose(g, ans, a, axes=None):
    if axes is None:
        return np.transpose(g)
    return np.transpose(g, np.argsort([i % g.ndim for i in axes]))


@linear(np.ndarray.transpose, wrt="a", kind=by_method(same))
def transpose_method(g, ans, a, *axes):
    if len(axes) == 0:
        return np.transpose(g)
    if len(axes) == 1:
        return transpose(g, ans, a, axes[0])
    return transpose(g, ans, a, axes)


@linear(np.ndarray.T, wrt="a", kind=by_method(same))
def transposed(g, ans, a):
    if np.ndim(a) == 0:
        return g
    return g.T


@linear(np.matrix_transpose, np.ndarray.mT, wrt="x", kind=same)
def matrix_transpose(g, ans, x):
    return np.swapaxes(g, -1, -2)


@linear(np.swapaxes, np.ndarray.swapaxes, wrt="a", kind=same)
def swapaxes(g, ans, a, axis1, axis2):
    return np.swapaxes(g, axis1, axis2)


@linear(np.moveaxis, wrt="a", kind=by_method(same))
def moveaxis(g, ans, a, source, destination):
    return np.moveaxis(g, destination, source)


@linear(np.rollaxis, wrt="a", kind=same)
def rollaxis(g, ans, a, axis, start=0):
    axis, start = axis % g.ndim, start % g.ndim if start < 0 else start
    return np.moveaxis(g, start - 1 if axis < start else start, axis)


# --- order ------------------------------------------------------------------------------------------------------


@linear(np.flip, wrt="m", kind=computed(same))
def flip(g, ans, m, axis=None):
    return np.flip(g, axis)


@linear(np.flipud, wrt="m")
def flipud(g, ans, m):
    return np.flipud(g)


@linear(np.fliplr, wrt="m")
def fliplr(g, ans, m):
    return np.fliplr(g)


@linear(np.rot90, wrt="m")
def rot90(g, ans, m, k=1, axes=(0, 1)):
    return np.rot90(g, -k, axes)


@linear(np.roll, wrt="a", kind=same)
def roll(g, ans, a, shift, axis=None):
    return np.roll(g, np.negative(shift), axis)


# --- copies -----------------------------------------------------------------------------------------------------


@elementwise(np.copy, np.ndarray.copy, wrt="a")
def copy(ans, a, order="K", subok=False):
    return 1


@elementwise(np.ndarray.astype, wrt="a")
def astype(ans, a, dtype, order="K", casting="unsafe", subok=True, copy=True):
    return 1


zero_derivative(np.shape, np.size, np.ndim, np.ndarray.shape, np.ndarray.size, np.ndarray.ndim, np.ndarray.dtype)
zero_derivative(np.ndarray.nbytes, np.ndarray.itemsize, np.ndarray.strides, np.ndarray.flags, np.ndarray.__len__, len)
zero_derivative(np.result_type, np.isfortran, np.isscalar, np.iterable, np.may_share_memory, np.shares_memory)


# --- triangles and diagonals ------------------------------------------------------------------------------------


# A vector is each row of the matrix that a triangle is taken of.
triangle = of_ndim(lambda ndim, *others: None if ndim is None else max(ndim, 2))


@linear(np.tril, wrt="m", kind=triangle)
def tril(g, ans, m, k=0):
    if np.ndim(m) == 1:
        return np.sum(np.tril(g, k), axis=0)
    return np.tril(g, k)


@linear(np.triu, wrt="m", kind=triangle)
def triu(g, ans, m, k=0):
    if np.ndim(m) == 1:
        return np.sum(np.triu(g, k), axis=0)
    return np.triu(g, k)


@linear(np.diag, wrt="v")
def diag(g, ans, v, k=0):
    if np.ndim(v) == 1:
        return np.diagonal(g, k)
    return from_diagonal(g, k, np.shape(v))


@linear(np.diagonal, np.ndarray.diagonal, wrt="a")
def diagonal(g, ans, a, offset=0, axis1=0, axis2=1):
    if a.ndim == 2 and axis1 == 0 and axis2 == 1:
        return from_diagonal(g, offset, np.shape(a))
    rows = np.moveaxis(a, (axis1, axis2), (-2, -1))
    a_bar = scatter(g, (Ellipsis, *on_diagonal(np.shape(g)[-1], offset)), rows.shape)
    return np.moveaxis(a_bar, (-2, -1), (axis1, axis2))


@linear(np.trace, np.ndarray.trace, wrt="a")
def trace(g, ans, a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    ones = np.ones_like(np.diagonal(a, offset, axis1, axis2))
    return diagonal(np.expand_dims(g, -1) * ones, ans, a, offset, axis1, axis2)
