"""Functions that pick elements of an array and put them in other places.

Where each element of a result comes from is found by giving the function the numbers of the places; the cotangent goes
back there by `scatter`.
"""

import numpy as np

from s2s import kinds as K
from s2s.errors import MissingRuleError
from s2s.rules.kinds_of import as_array, common_dtype, count, flat, number_or_array, numeric, of_ndim, same
from s2s.rules.registry import decompose, elementwise, jvp, linear, vjp, zero_derivative
from s2s.runtime.numeric import real_if_real, scatter, shape_of, unbroadcast


def places_of(a):
    """The number of each element of an array, in its place."""
    return np.reshape(np.arange(np.size(a)), np.shape(a))


def sent_back(g, places, like):
    """The cotangent of an array whose elements were taken from these places."""
    return np.reshape(scatter(np.ravel(g), np.ravel(places), (np.size(like),)), np.shape(like))


# --- the same elements ------------------------------------------------------------------------------------------


@elementwise(np.asarray_chkfinite, wrt="a")
def asarray_chkfinite(ans, a, dtype=None, order=None):
    return 1


@vjp(np.require, wrt="a")
def require_vjp(g, ans, a, dtype=None, requirements=None, *, like=None):
    return real_if_real(g, a)


@jvp(np.require, wrt="a")
def require_jvp(a_dot, ans, a, dtype=None, requirements=None, *, like=None):
    return np.asarray(a_dot, ans.dtype)


@elementwise(np.real_if_close, wrt="a", kind=lambda a, tol: K.UNKNOWN if K.dtype_of(a) != np.float64 else as_array(a))
def real_if_close(ans, a, tol=100):
    return 1


@elementwise(np.nextafter, wrt="x", zeros="y")
def nextafter(ans, x, y):
    return 1


@vjp(np.unwrap, wrt="p", kind=same)
def unwrap_vjp(g, ans, p, discont=None, axis=-1, *, period=6.283185307179586):
    return g


@jvp(np.unwrap, wrt="p")
def unwrap_jvp(p_dot, ans, p, discont=None, axis=-1, *, period=6.283185307179586):
    return p_dot


@linear(np.ndarray.view, wrt="a", kind=lambda a, dtype, cls: as_array(a) if dtype == cls == K.NONE else K.UNKNOWN)
def view(g, ans, a, dtype=None, type=None):
    if np.result_type(ans) != np.result_type(a):
        raise MissingRuleError("an array seen as one of another dtype has no derivative")
    return g


if hasattr(np, "astype"):  # since NumPy 2.1

    @vjp(np.astype, wrt="x")
    def astype_vjp(g, ans, x, dtype, *, copy=True, device=None):
        return real_if_real(g, x)

    @jvp(np.astype, wrt="x")
    def astype_jvp(x_dot, ans, x, dtype, *, copy=True, device=None):
        return np.asarray(x_dot, ans.dtype)


# --- fewer elements ---------------------------------------------------------------------------------------------


@linear(np.delete, wrt="arr", kind=of_ndim(lambda ndim, obj, axis: 1 if axis == K.NONE else ndim))
def delete(g, ans, arr, obj, axis=None):
    return sent_back(g, np.delete(places_of(arr), obj, axis), arr)


@linear(np.extract, wrt="arr", zeros="condition", kind=lambda condition, arr: numeric(K.dtype_of(as_array(arr)), 1))
def extract(g, ans, condition, arr):
    return sent_back(g, np.extract(condition, places_of(arr)), arr)


def compressed_kind(condition, a, axis, out):
    """Flat without an axis."""
    array = as_array(a)
    return numeric(K.dtype_of(array), 1 if axis == K.NONE else K.ndim_of(array))


@linear(np.compress, wrt="a", zeros="condition", kind=compressed_kind)
def compress(g, ans, condition, a, axis=None, out=None):
    return sent_back(g, np.compress(condition, places_of(a), axis), a)


@linear(np.ndarray.compress, wrt="a", kind=lambda a, condition, axis, out: compressed_kind(condition, a, axis, out))
def compress_method(g, ans, a, condition, axis=None, out=None):
    return sent_back(g, np.compress(condition, places_of(a), axis), a)


def unique_places(ar, axis):
    """Where the distinct elements, in order, stand first."""
    places = np.unique(ar, return_index=True, axis=axis)[1]
    return places if axis is None else np.take(places_of(ar), places, axis)


@vjp(np.unique, wrt="ar")
def unique_vjp(
    g, ans, ar, return_index=False, return_inverse=False, return_counts=False, axis=None, *, equal_nan=True, sorted=True
):
    return sent_back(g[0] if return_index or return_inverse or return_counts else g, unique_places(ar, axis), ar)


@jvp(np.unique, wrt="ar")
def unique_jvp(
    ar_dot, ans, ar, return_index=False, return_inverse=False, return_counts=False, axis=None, *, equal_nan=True,
    sorted=True,
):  # fmt: skip
    values_dot = np.ravel(ar_dot)[unique_places(ar, axis)]
    return (values_dot, *(np.zeros_like(part) for part in ans[1:])) if isinstance(ans, tuple) else values_dot


if hasattr(np, "unique_values"):  # since NumPy 2.0

    @vjp(np.unique_values, wrt="x", kind=flat)
    def unique_values_vjp(g, ans, x):
        return sent_back(g, values_places(ans, x), x)

    @jvp(np.unique_values, wrt="x")
    def unique_values_jvp(x_dot, ans, x):
        return np.ravel(x_dot)[values_places(ans, x)]


def values_places(values, x):
    """Where each of the distinct elements, in any order, stands first."""
    found, first = np.unique(x, return_index=True)
    return first[np.searchsorted(found, values)]


@decompose(np.union1d)
def union1d(ar1, ar2):
    return np.unique(np.concatenate([np.ravel(ar1), np.ravel(ar2)]))


# --- other places -----------------------------------------------------------------------------------------------


@vjp(np.insert, wrt="arr", kind=of_ndim(lambda ndim, obj, values, axis: 1 if axis == K.NONE else ndim))
def insert_vjp_arr(g, ans, arr, obj, values, axis=None):
    kept = np.insert(np.ones(np.shape(arr), bool), obj, np.zeros(np.shape(values), bool), axis)
    places = np.insert(places_of(arr), obj, np.zeros(np.shape(values), int), axis)
    return sent_back(g[kept], places[kept], arr)


@jvp(np.insert, wrt="arr")
def insert_jvp_arr(arr_dot, ans, arr, obj, values, axis=None):
    return np.insert(arr_dot, obj, np.zeros_like(values), axis)


@vjp(np.insert, wrt="values")
def insert_vjp_values(g, ans, arr, obj, values, axis=None):
    new = np.insert(np.zeros(np.shape(arr), bool), obj, np.ones(np.shape(values), bool), axis)
    places = np.insert(np.zeros(np.shape(arr), int), obj, places_of(values), axis)
    return sent_back(g[new], places[new], values)


@jvp(np.insert, wrt="values")
def insert_jvp_values(values_dot, ans, arr, obj, values, axis=None):
    return np.insert(np.zeros_like(arr), obj, values_dot, axis)


@linear(np.resize, wrt="a", kind=lambda a, new_shape: numeric(K.dtype_of(as_array(a)), count(new_shape)))
def resize(g, ans, a, new_shape):
    return sent_back(g, np.resize(places_of(a), new_shape), a)


@decompose(np.diagflat)
def diagflat(v, k=0):
    return np.diag(np.ravel(v), k)


@linear(
    np.lib.stride_tricks.sliding_window_view,
    wrt="x",
    kind=of_ndim(lambda ndim, window, *others: None if ndim is None or count(window) is None else ndim + count(window)),
)
def sliding_window_view(g, ans, x, window_shape, axis=None, *, subok=False, writeable=False):
    return sent_back(g, np.lib.stride_tricks.sliding_window_view(places_of(x), window_shape, axis), x)


def strided_places(x, shape, strides):
    """Where `as_strided` takes elements from."""
    if not x.flags.c_contiguous:
        raise MissingRuleError("as_strided has a derivative for contiguous arrays only")
    steps = None if strides is None else [stride // x.itemsize * np.dtype(int).itemsize for stride in strides]
    return np.lib.stride_tricks.as_strided(places_of(x), shape, steps)


@vjp(np.lib.stride_tricks.as_strided, wrt="x", kind=lambda x, shape, *others: numeric(K.dtype_of(x), count(shape)))
def as_strided_vjp(g, ans, x, shape=None, strides=None, subok=False, writeable=True, check_bounds=None):
    return sent_back(g, strided_places(x, shape, strides), x)


@jvp(np.lib.stride_tricks.as_strided, wrt="x")
def as_strided_jvp(x_dot, ans, x, shape=None, strides=None, subok=False, writeable=True, check_bounds=None):
    return np.ravel(x_dot)[strided_places(x, shape, strides)]


def partition_order(a, ans, axis):
    """The place along an axis that each element of a partitioned array comes from: that of the same rank."""
    ranks = np.argsort(np.argsort(ans, axis=axis, kind="stable"), axis=axis)
    return np.take_along_axis(np.argsort(a, axis=axis, kind="stable"), ranks, axis)


@vjp(np.partition, wrt="a", kind=of_ndim(lambda ndim, kth, axis, *others: 1 if axis == K.NONE else ndim))
def partition_vjp(g, ans, a, kth, axis=-1, kind="introselect", order=None):
    if axis is None:
        return np.reshape(partition_vjp(g, ans, np.ravel(a), kth), np.shape(a))
    return np.take_along_axis(g, np.argsort(partition_order(a, ans, axis), axis=axis), axis)


@jvp(np.partition, wrt="a")
def partition_jvp(a_dot, ans, a, kth, axis=-1, kind="introselect", order=None):
    if axis is None:
        return partition_jvp(np.ravel(a_dot), ans, np.ravel(a), kth)
    return np.take_along_axis(a_dot, partition_order(a, ans, axis), axis)


# --- several arrays ---------------------------------------------------------------------------------------------


def numbered(arrays, start=0):
    """The numbers of all elements of nested lists of arrays, in like lists, and how many there are."""
    if not isinstance(arrays, list):
        return start + places_of(arrays), start + np.size(arrays)
    found = []
    for part in arrays:
        places, start = numbered(part, start)
        found.append(places)
    return found, start


def handed_out(flat, places, like):
    """The parts of a flat cotangent at these places, in like lists."""
    if isinstance(places, list):
        return [handed_out(flat, part, item) for part, item in zip(places, like, strict=True)]
    return flat[places]


@linear(np.block, wrt="arrays", containers="arrays")
def block(g, ans, arrays):
    places, size = numbered(arrays)
    return handed_out(scatter(np.ravel(g), np.ravel(np.block(places)), (size,)), places, arrays)


def chosen(a, count, mode):
    """The index that is taken, by mode."""
    a = np.asarray(a)
    if mode == "wrap":
        return np.mod(a, count)
    return np.clip(a, 0, count - 1) if mode == "clip" else a


def chosen_kind(a, choices, *others):
    """The kind of what is chosen: as many dimensions as any part has."""
    parts = K.children(choices) or (choices,)
    dtype, ndims = common_dtype(*parts), [K.ndim_of(part) for part in (a, *parts)]
    if dtype is None or None in ndims or isinstance(choices, K.Array):
        return K.UNKNOWN
    return number_or_array(dtype, max(ndims))


@vjp(np.choose, np.ndarray.choose, wrt="choices", containers="choices", zeros="a", kind=chosen_kind)
def choose_vjp(g, ans, a, choices, out=None, mode="raise"):
    at = chosen(a, len(choices), mode)
    parts = [unbroadcast(np.where(at == k, g, 0), shape_of(c)) for k, c in enumerate(choices)]
    return parts if isinstance(choices, (list, tuple)) else np.stack(parts)


@jvp(np.choose, np.ndarray.choose, wrt="choices")
def choose_jvp(choices_dot, ans, a, choices, out=None, mode="raise"):
    return np.broadcast_to(np.choose(a, choices_dot, mode=mode), np.shape(ans))


zero_derivative(np.argpartition, np.searchsorted, np.digitize, np.unique_counts, np.ndindex)


@decompose(np.hsplit)
def hsplit(ary, indices_or_sections):
    if np.ndim(ary) == 1:
        return np.split(ary, indices_or_sections, 0)
    return np.split(ary, indices_or_sections, 1)


@decompose(np.vsplit)
def vsplit(ary, indices_or_sections):
    return np.split(ary, indices_or_sections, 0)


@decompose(np.dsplit)
def dsplit(ary, indices_or_sections):
    return np.split(ary, indices_or_sections, 2)


@decompose(np.ediff1d)
def ediff1d(ary, to_end=None, to_begin=None):
    flat = np.ravel(ary)
    steps = flat[1:] - flat[:-1]
    if to_begin is not None:
        steps = np.concatenate([np.ravel(to_begin), steps])
    if to_end is not None:
        steps = np.concatenate([steps, np.ravel(to_end)])
    return steps


# --- sums by place ----------------------------------------------------------------------------------------------


@vjp(np.bincount, wrt="weights")
def bincount_vjp(g, ans, x, weights=None, minlength=0):
    return g[x]


@jvp(np.bincount, wrt="weights")
def bincount_jvp(weights_dot, ans, x, weights=None, minlength=0):
    return np.bincount(x, weights_dot, minlength)


@vjp(np.frexp, wrt="x")
def frexp_vjp(g, ans, x):
    return np.ldexp(g[0], -ans[1])


@jvp(np.frexp, wrt="x")
def frexp_jvp(x_dot, ans, x):
    return np.ldexp(x_dot, -ans[1]), np.zeros_like(ans[1])
