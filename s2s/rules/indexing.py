"""Reading by index, and choices between elements: the transpose of a gather is a scatter that accumulates."""

import operator

import numpy as np

from s2s import kinds as K
from s2s.rules.kinds_of import as_array, number_or_array
from s2s.rules.registry import elementwise, jvp, linear, vjp
from s2s.runtime.numeric import clip_weights, fitted, scatter, shape_of, unbroadcast

# --- subscripts -------------------------------------------------------------------------------------------------


def subscript_kind(a, index):
    """The kind of an item: what each part of the index takes of the axes, and what it gives back."""
    parts = index.items if isinstance(index, K.Tuple) else (index,)
    if not isinstance(a, K.Array) or any(_axes_taken(part) is None for part in parts):
        return K.UNKNOWN
    arrays = [as_array(part) for part in parts if isinstance(part, (K.Array, K.List))]
    ndim = a.ndim - sum(_axes_taken(part) for part in parts)
    ndim += sum(isinstance(part, (K.Slice, K.NoneKind)) for part in parts)
    ndim += max((1 if part.dtype.kind == "b" else part.ndim for part in arrays), default=0)
    if ndim < 0:
        return K.UNKNOWN
    # `z[...]` and `x[0, ...]` are views without dimensions, `z[()]` and `x[0]` are numbers
    number = ndim == 0 and not any(isinstance(part, K.Static) for part in parts)
    return K.Scalar(a.dtype) if number else K.Array(a.dtype, ndim)


def _axes_taken(part):
    """How many axes a part of an index selects from; None where it is not known."""
    if isinstance(part, (K.Array, K.List)):
        array = as_array(part)
        known = isinstance(array, K.Array) and array.ndim > 0
        return None if not known else (array.ndim if array.dtype.kind == "b" else 1)
    if isinstance(part, K.NoneKind) or (isinstance(part, K.Static) and part.value is Ellipsis):
        return 0
    integer = isinstance(part, K.Scalar) and part.dtype.kind in "iu"
    return 1 if integer or isinstance(part, (K.Int, K.Slice)) else None


@vjp(operator.getitem, wrt="a", kind=subscript_kind)
def getitem_vjp(g, ans, a, index):
    return scatter(g, index, a.shape)


@jvp(operator.getitem, wrt="a")
def getitem_jvp(a_dot, ans, a, index):
    return a_dot[index]


def taken_kind(a, indices, axis, *others):
    """The kind of what `take` reads: the dimensions of the indices take the place of the axis."""
    array, where = as_array(a), as_array(indices)
    dtype, ndim, given = K.dtype_of(array), K.ndim_of(array), K.ndim_of(where)
    if dtype is None or ndim is None or given is None:
        return K.UNKNOWN
    return number_or_array(dtype, given if isinstance(axis, K.NoneKind) else ndim - 1 + given)


@linear(np.take, np.ndarray.take, wrt="a", kind=taken_kind)
def take(g, ans, a, indices, axis=None, out=None, mode="raise"):
    if axis is None:
        size = np.size(a)
        return np.reshape(scatter(g, taken(indices, size, mode), (size,)), np.shape(a))
    where = (slice(None),) * (axis % np.ndim(a)) + (taken(indices, np.shape(a)[axis], mode),)
    return scatter(g, where, np.shape(a))


def taken(indices, size, mode):
    """The indices that `take` reads: out of range they are cut off or wrapped round, as `mode` says."""
    if mode == "clip":
        return np.clip(indices, 0, size - 1)
    if mode == "wrap":
        return np.remainder(indices, size)
    return np.asarray(indices)


@linear(np.take_along_axis, wrt="arr")
def take_along_axis(g, ans, arr, indices, axis=-1):
    if axis is None:
        return np.reshape(scatter(g, indices, (np.size(arr),)), np.shape(arr))
    return scatter(g, along(indices, axis, np.shape(arr)), np.shape(arr))


def along(indices, axis, shape):
    """Indices along one axis as an index of all axes."""
    where = list(np.ix_(*(np.arange(n) for n in shape)))
    where[axis] = indices
    return tuple(where)


# --- choices ----------------------------------------------------------------------------------------------------


@vjp(np.where, wrt="x", zeros="condition")
def where_vjp_x(g, ans, condition, x=None, y=None):
    return unbroadcast(np.where(condition, g, 0), shape_of(x))


@vjp(np.where, wrt="y")
def where_vjp_y(g, ans, condition, x=None, y=None):
    return unbroadcast(np.where(condition, 0, g), shape_of(y))


@jvp(np.where, wrt="x")
def where_jvp_x(x_dot, ans, condition, x=None, y=None):
    return unbroadcast(np.where(condition, x_dot, 0), shape_of(ans))


@jvp(np.where, wrt="y")
def where_jvp_y(y_dot, ans, condition, x=None, y=None):
    return unbroadcast(np.where(condition, 0, y_dot), shape_of(ans))


@elementwise(np.clip, wrt=("a", "a_min", "a_max", "min", "max"), choosing=True)
def clip(ans, a, a_min=None, a_max=None, out=None, *, min=None, max=None):
    lower = min if a_min is None else a_min
    upper = max if a_max is None else a_max
    weights = clip_weights(a, lower, upper)
    return weights[0], weights[1], weights[2], weights[1], weights[2]


@elementwise(np.ndarray.clip, wrt=("a", "min", "max"), choosing=True)
def clip_method(ans, a, min=None, max=None, out=None):
    return clip_weights(a, min, max)


@vjp(np.select, wrt="choicelist", containers="choicelist", zeros="condlist")
def select_vjp(g, ans, condlist, choicelist, default=0):
    chosen = first_true(condlist)
    return [fitted(unbroadcast(np.where(c, g, 0), shape_of(x)), x) for c, x in zip(chosen, choicelist, strict=True)]


@vjp(np.select, wrt="default")
def select_vjp_default(g, ans, condlist, choicelist, default=0):
    return unbroadcast(np.where(np.any(np.broadcast_arrays(*condlist), axis=0), 0, g), shape_of(default))


@jvp(np.select, wrt="choicelist")
def select_jvp(choicelist_dot, ans, condlist, choicelist, default=0):
    return np.broadcast_to(np.select(condlist, choicelist_dot, 0), np.shape(ans))


@jvp(np.select, wrt="default")
def select_jvp_default(default_dot, ans, condlist, choicelist, default=0):
    zeros = [np.zeros_like(ans) for _ in condlist]
    return np.select(condlist, zeros, default_dot)


def first_true(conditions):
    """Each condition where none before it holds."""
    taken, chosen = False, []
    for condition in conditions:
        chosen.append(np.logical_and(condition, np.logical_not(taken)))
        taken = np.logical_or(taken, condition)
    return chosen


# --- order ------------------------------------------------------------------------------------------------------


# `descending` is NumPy's from 2.5 on.


@vjp(np.sort, wrt="a")
def sort_vjp(g, ans, a, axis=-1, kind=None, order=None, *, stable=None, descending=None):
    if axis is None:
        return np.reshape(sort_vjp(g, ans, np.ravel(a), descending=descending), np.shape(a))
    if descending:
        permutation = np.argsort(a, axis=axis, stable=True, descending=True)
    else:
        permutation = np.argsort(a, axis=axis, kind="stable")
    return np.take_along_axis(g, np.argsort(permutation, axis=axis), axis)


@jvp(np.sort, wrt="a")
def sort_jvp(a_dot, ans, a, axis=-1, kind=None, order=None, *, stable=None, descending=None):
    if axis is None:
        return sort_jvp(np.ravel(a_dot), ans, np.ravel(a), descending=descending)
    if descending:
        permutation = np.argsort(a, axis=axis, stable=True, descending=True)
    else:
        permutation = np.argsort(a, axis=axis, kind="stable")
    return np.take_along_axis(a_dot, permutation, axis)
