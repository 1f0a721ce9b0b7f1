"""Functions that join arrays into one, or split one into several."""

import numpy as np

from s2s import kinds as K
from s2s.rules.kinds_of import as_array, count, dtype_named, numeric, of_ndim
from s2s.rules.registry import decompose, jvp, linear, vjp, zero_derivative
from s2s.runtime.numeric import fitted, pieces, shape_of, unbroadcast

# --- arrays of numbers and arrays -------------------------------------------------------------------------------


def array_kind(a, dtype, *others):
    """The kind of an array made of a number, an array or nested sequences."""
    made = as_array(a)
    found = K.dtype_of(made)
    wanted = None if found is None else dtype_named(dtype, found)
    return K.UNKNOWN if wanted is None else numeric(wanted, K.ndim_of(made))


def array_tangent(a_dot, ans):
    """A tangent, or nested sequences of tangents, as an array."""
    return np.broadcast_to(np.array(a_dot, dtype=ans.dtype), ans.shape)


@vjp(np.array, wrt="object", containers="object", kind=array_kind)
def array_vjp(g, ans, object, dtype=None, *, copy=True, order="K", subok=False, ndmin=0, ndmax=0, like=None):
    if isinstance(object, (list, tuple)):
        return pieces(unbroadcast(g, shape_of(object)), object)
    if np.ndim(object) == 0:
        return np.reshape(g, ())[()]
    return np.reshape(g, shape_of(object))


@jvp(np.array, wrt="object")
def array_jvp(object_dot, ans, object, dtype=None, *, copy=True, order="K", subok=False, ndmin=0, ndmax=0, like=None):
    return array_tangent(object_dot, ans)


AS_ARRAY = (np.asarray, np.asanyarray)


@vjp(*AS_ARRAY, wrt="a", containers="a", kind=array_kind)
def asarray_vjp(g, ans, a, dtype=None, order=None, *, device=None, copy=None, like=None):
    if isinstance(a, (list, tuple)):
        return pieces(g, a)
    if np.ndim(a) == 0:
        return np.reshape(g, ())[()]
    return g


@jvp(*AS_ARRAY, wrt="a")
def asarray_jvp(a_dot, ans, a, dtype=None, order=None, *, device=None, copy=None, like=None):
    return array_tangent(a_dot, ans)


@vjp(np.ascontiguousarray, np.asfortranarray, wrt="a", containers="a")
def contiguous_vjp(g, ans, a, dtype=None, *, like=None):
    if isinstance(a, (list, tuple)):
        return pieces(unbroadcast(g, shape_of(a)), a)
    if np.ndim(a) == 0:
        return np.reshape(g, ())[()]
    return np.reshape(g, shape_of(a))


@jvp(np.ascontiguousarray, np.asfortranarray, wrt="a")
def contiguous_jvp(a_dot, ans, a, dtype=None, *, like=None):
    return array_tangent(a_dot, ans)


# --- joining ----------------------------------------------------------------------------------------------------


def parted(g, arrays, sizes, axis):
    """A cotangent cut into parts of these sizes along an axis, each in the shape of its array."""
    starts = np.cumsum(sizes)[:-1]
    cut = np.split(g, starts, axis=axis)
    parts = [fitted(np.reshape(part, np.shape(a)), a) for part, a in zip(cut, arrays, strict=True)]
    return parts if isinstance(arrays, (list, tuple)) else np.stack(parts)


@linear(np.concatenate, wrt="arrays", containers="arrays")
def concatenate(g, ans, arrays, axis=0, out=None, *, dtype=None, casting="same_kind"):
    if axis is None:
        return parted(g, arrays, [np.size(a) for a in arrays], 0)
    return parted(g, arrays, [np.shape(a)[axis] for a in arrays], axis)


@linear(np.stack, wrt="arrays", containers="arrays")
def stack(g, ans, arrays, axis=0, out=None, *, dtype=None, casting="same_kind"):
    parts = np.moveaxis(g, axis, 0)
    if isinstance(arrays, (list, tuple)):
        return [fitted(part, a) for part, a in zip(parts, arrays, strict=True)]
    return parts


@linear(np.vstack, wrt="tup", containers="tup")
def vstack(g, ans, tup, *, dtype=None, casting="same_kind"):
    return parted(g, tup, [1 if np.ndim(a) < 2 else len(a) for a in tup], 0)


@linear(np.hstack, wrt="tup", containers="tup")
def hstack(g, ans, tup, *, dtype=None, casting="same_kind"):
    if np.ndim(g) == 1:
        return parted(g, tup, [np.size(a) for a in tup], 0)
    return parted(g, tup, [np.shape(a)[1] for a in tup], 1)


@linear(np.dstack, wrt="tup", containers="tup")
def dstack(g, ans, tup):
    return parted(g, tup, [1 if np.ndim(a) < 3 else np.shape(a)[2] for a in tup], 2)


@linear(np.column_stack, wrt="tup", containers="tup")
def column_stack(g, ans, tup):
    return parted(g, tup, [1 if np.ndim(a) < 2 else np.shape(a)[1] for a in tup], 1)


@decompose(np.append)
def append(arr, values, axis=None):
    if axis is None:
        return np.concatenate([np.ravel(arr), np.ravel(values)])
    return np.concatenate([arr, values], axis=axis)


# --- splitting --------------------------------------------------------------------------------------------------
# A split makes a list; its cotangent is a list of cotangents.


def parts_kind(ary, *others):
    """The kind of a list of parts of an array, as many as they may be."""
    return K.Sequence(as_array(ary))


@linear(np.split, wrt="ary", kind=parts_kind)
def split(g, ans, ary, indices_or_sections, axis=0):
    return np.concatenate(g, axis=axis)


@linear(np.array_split, wrt="ary", kind=parts_kind)
def array_split(g, ans, ary, indices_or_sections, axis=0):
    return np.concatenate(g, axis=axis)


if hasattr(np, "unstack"):  # since NumPy 2.1

    @linear(np.unstack, wrt="x", kind=lambda x, axis: one_axis_less(x))
    def unstack(g, ans, x, *, axis=0):
        return np.stack(g, axis=axis)


def one_axis_less(x):
    """The kind of a tuple of the parts of an array along an axis, as many as they may be."""
    array = as_array(x)
    return K.Sequence(K.Array(array.dtype, array.ndim - 1), tuple) if isinstance(array, K.Array) else K.UNKNOWN


def untrimmed(filt, trim, axis):
    """The parts along each axis that are left when zeros are trimmed."""
    kept = np.nonzero(filt)
    axes = range(np.ndim(filt)) if axis is None else np.ravel(axis) % np.ndim(filt)
    bounds = [slice(None)] * np.ndim(filt)
    for i in axes:
        first, last = (kept[i].min(), kept[i].max() + 1) if len(kept[i]) else (0, 0)
        bounds[i] = slice(first if "f" in trim.lower() else None, last if "b" in trim.lower() else None)
    return tuple(bounds)


zero_derivative(untrimmed, kind=lambda filt, *others: K.Tuple((K.Slice(),) * (K.ndim_of(as_array(filt)) or 1)))


@decompose(np.trim_zeros, kind=of_ndim(lambda ndim, *others: ndim))
def trim_zeros(filt, trim="fb", axis=None):
    filt = np.asarray(filt)
    return filt[untrimmed(filt, trim, axis)]


# --- repeating --------------------------------------------------------------------------------------------------


@linear(np.tile, wrt="A", kind=lambda A, reps: tiled(A, reps))
def tile(g, ans, A, reps):
    reps = [reps] if isinstance(reps, (int, np.integer)) else list(reps)
    shape = np.shape(A)
    ndim = max(len(reps), len(shape))
    reps = [1] * (ndim - len(reps)) + reps
    shape = (1,) * (ndim - len(shape)) + shape
    folded = np.reshape(g, [n for pair in zip(reps, shape, strict=True) for n in pair])
    return np.reshape(np.sum(folded, axis=tuple(range(0, 2 * ndim, 2))), np.shape(A))


def tiled(a, reps):
    """The kind of `tile`: as many dimensions as the array or the repetitions have."""
    array, given = as_array(a), count(reps)
    if not isinstance(array, K.Array):
        return K.UNKNOWN
    return numeric(array.dtype, None if given is None else max(array.ndim, given))


def repeated(ndim, repeats, axis):
    """How many dimensions `repeat` gives."""
    return 1 if isinstance(axis, K.NoneKind) else ndim


@linear(np.repeat, np.ndarray.repeat, wrt="a", kind=of_ndim(repeated))
def repeat(g, ans, a, repeats, axis=None):
    shape = np.shape(a)
    if axis is None:
        return np.reshape(repeat(g, ans, np.ravel(a), repeats, 0), shape)
    size = shape[axis]
    starts = np.cumsum(np.broadcast_to(repeats, (size,)))
    return np.stack([np.sum(part, axis=axis) for part in np.split(g, starts[:-1], axis=axis)], axis=axis)
