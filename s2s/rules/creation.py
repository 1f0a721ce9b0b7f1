"""Functions that make arrays of numbers, and functions that take numbers out of arrays."""

import numpy as np

from s2s import kinds as K
from s2s.rules.kinds_of import count, dtype_named
from s2s.rules.registry import elementwise, jvp, linear, vjp, zero_derivative
from s2s.runtime.numeric import scatter, shape_of, unbroadcast

# --- constants --------------------------------------------------------------------------------------------------

zero_derivative(np.zeros, np.ones, np.empty, np.eye, np.identity, np.tri, np.indices)
zero_derivative(np.zeros_like, np.ones_like, np.empty_like)


def filled_kind(shape, fill_value, dtype, *others):
    """The kind of `np.full`."""
    ndim, found = count(shape), dtype_named(dtype, K.dtype_of(fill_value))
    return K.UNKNOWN if ndim is None or found is None else K.Array(found, ndim)


@vjp(np.full, wrt="fill_value", kind=filled_kind)
def full_vjp(g, ans, shape, fill_value, dtype=None, order="C", *, device=None, like=None):
    return unbroadcast(g, shape_of(fill_value))


@jvp(np.full, wrt="fill_value")
def full_jvp(fill_value_dot, ans, shape, fill_value, dtype=None, order="C", *, device=None, like=None):
    return np.broadcast_to(fill_value_dot, shape_of(ans))


@vjp(np.full_like, wrt="fill_value", zeros="a")
def full_like_vjp(g, ans, a, fill_value, dtype=None, order="K", subok=True, shape=None, *, device=None):
    return unbroadcast(g, shape_of(fill_value))


@jvp(np.full_like, wrt="fill_value")
def full_like_jvp(fill_value_dot, ans, a, fill_value, dtype=None, order="K", subok=True, shape=None, *, device=None):
    return np.broadcast_to(fill_value_dot, shape_of(ans))


# --- ranges -----------------------------------------------------------------------------------------------------


@vjp(np.arange, wrt="start", zeros="stop")
def arange_vjp_start(g, ans, start, stop=None, step=1, dtype=None, *, device=None, like=None):
    if stop is None:
        return np.zeros_like(start)
    return np.sum(g)


@vjp(np.arange, wrt="step")
def arange_vjp_step(g, ans, start, stop=None, step=1, dtype=None, *, device=None, like=None):
    return np.dot(g, np.arange(len(ans)))


@jvp(np.arange, wrt="start")
def arange_jvp_start(start_dot, ans, start, stop=None, step=1, dtype=None, *, device=None, like=None):
    if stop is None:
        return np.zeros_like(ans)
    return np.full_like(ans, start_dot)


@jvp(np.arange, wrt="step")
def arange_jvp_step(step_dot, ans, start, stop=None, step=1, dtype=None, *, device=None, like=None):
    return step_dot * np.arange(len(ans))


def ramp(num, endpoint):
    """The numbers from 0 to 1 that say how far `linspace` has come, and the length of a step."""
    steps = num - 1 if endpoint else num
    step = 1 / steps if steps > 0 else np.nan
    return np.arange(num) * (1 / max(steps, 1)), step


@vjp(np.linspace, wrt="start")
def linspace_vjp_start(g, ans, start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None):
    far, step = ramp(num, endpoint)
    return unbroadcast(weighted(g, 1 - far, -step, retstep, axis), shape_of(start))


@vjp(np.linspace, wrt="stop")
def linspace_vjp_stop(g, ans, start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None):
    far, step = ramp(num, endpoint)
    return unbroadcast(weighted(g, far, step, retstep, axis), shape_of(stop))


def weighted(g, weights, step_weight, retstep, axis):
    """The cotangent of one end of `linspace`, before broadcasting is undone."""
    if not retstep:
        return np.tensordot(np.moveaxis(g, axis, -1), weights, axes=1)
    return np.tensordot(np.moveaxis(g[0], axis, -1), weights, axes=1) + g[1] * step_weight


@jvp(np.linspace, wrt="start")
def linspace_jvp_start(
    start_dot, ans, start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None
):
    return np.linspace(start_dot, np.zeros_like(stop), num, endpoint, retstep, axis=axis)


@jvp(np.linspace, wrt="stop")
def linspace_jvp_stop(
    stop_dot, ans, start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None
):
    return np.linspace(np.zeros_like(start), stop_dot, num, endpoint, retstep, axis=axis)


# --- parts of numbers -------------------------------------------------------------------------------------------


@elementwise(np.real, np.ndarray.real)
def real(ans, val):
    return 1


@elementwise(np.imag, np.ndarray.imag)
def imag(ans, val):
    if np.iscomplexobj(val):
        return -1j
    return 0


# --- numbers out of arrays --------------------------------------------------------------------------------------


def item_kind(a, *args):
    """The kind of a number out of an array: one of Python's."""
    dtype = K.dtype_of(a)
    return K.UNKNOWN if dtype is None else K.of(dtype.type(1).item())


def nested_kind(a):
    """The kind of an array as nested lists, whose lengths are not known."""
    dtype, ndim = K.dtype_of(a), K.ndim_of(a)
    if dtype is None or ndim is None:
        return K.UNKNOWN
    kind = item_kind(a)
    for _ in range(ndim):
        kind = K.Sequence(kind)
    return kind


@linear(np.ndarray.item, wrt="a", kind=item_kind)
def item(g, ans, a, *args):
    if len(args) == 0:
        return np.reshape(g, np.shape(a))
    if len(args) == 1 and not isinstance(args[0], tuple):
        return np.reshape(scatter(g, args[0], (np.size(a),)), np.shape(a))
    return scatter(g, args[0] if len(args) == 1 else args, np.shape(a))


@linear(np.ndarray.tolist, wrt="a", kind=nested_kind)
def tolist(g, ans, a):
    return np.reshape(np.array(g), np.shape(a))
