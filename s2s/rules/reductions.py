"""Sums, means, products, extrema and their running forms, over some axes.

The cotangent of a reduction first gets back the axes that were reduced away (`np.expand_dims`), and then spreads over
them by broadcasting.
"""

import numpy as np

from s2s.rules.kinds_of import reduced, running
from s2s.rules.registry import jvp, linear, vjp, zero_derivative
from s2s.runtime.numeric import (
    axis_size,
    extremum_share,
    extremum_weight,
    guarded_divide,
    guarded_multiply,
    shape_of,
    unbroadcast,
)
from s2s.runtime.recurrence import product_of_rest, products_before, recurrence, reverse_recurrence

# --- sum and mean -----------------------------------------------------------------------------------------------


@vjp(np.sum, np.ndarray.sum, wrt="a", kind=reduced(np.sum, dtype=2, keepdims=4))
def sum_vjp(g, ans, a, axis=None, dtype=None, out=None, keepdims=False, initial=0, where=True):
    if axis is not None:
        if not keepdims:
            if np.ndim(a) > 0:  # a number takes an axis all the same
                g = np.expand_dims(g, axis)
    if where is not True:
        g = np.where(where, g, 0)
    return np.broadcast_to(g, np.shape(a))


@jvp(np.sum, np.ndarray.sum, wrt="a")
def sum_jvp(a_dot, ans, a, axis=None, dtype=None, out=None, keepdims=False, initial=0, where=True):
    return np.sum(a_dot, axis=axis, keepdims=keepdims, where=where)


@vjp(np.sum, np.ndarray.sum, wrt="initial")
def sum_vjp_initial(g, ans, a, axis=None, dtype=None, out=None, keepdims=False, initial=0, where=True):
    return unbroadcast(g, shape_of(initial))


@jvp(np.sum, np.ndarray.sum, wrt="initial")
def sum_jvp_initial(initial_dot, ans, a, axis=None, dtype=None, out=None, keepdims=False, initial=0, where=True):
    return np.broadcast_to(initial_dot, np.shape(ans))


@linear(np.mean, np.ndarray.mean, wrt="a", kind=reduced(np.mean, dtype=2, keepdims=4))
def mean_vjp(g, ans, a, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    if where is not True:
        kept = np.broadcast_to(where, np.shape(a))
        count = np.sum(kept, axis=axis, keepdims=True)
        if axis is not None:
            if not keepdims:
                g = np.expand_dims(g, axis)
        return np.where(kept, g / count, 0)
    if axis is None:
        return np.broadcast_to(g / np.size(a), np.shape(a))
    if not keepdims:
        g = np.expand_dims(g, axis)
    return np.broadcast_to(g / axis_size(np.shape(a), axis), np.shape(a))


# --- variance and deviation -------------------------------------------------------------------------------------
# The mean moves with the values, but the deviations from it sum to zero: its share vanishes.


@vjp(np.var, np.ndarray.var, wrt="a", kind=reduced(np.var, dtype=2, keepdims=5))
def var_vjp(
    g, ans, a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None
):
    if axis is not None:
        if not keepdims:
            g = np.expand_dims(g, axis)
    return g * 2 * np.conj(deviations(a, axis, where, mean)) / freedom(a, axis, ddof, correction, where)


@jvp(np.var, np.ndarray.var, wrt="a")
def var_jvp(
    a_dot, ans, a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None
):
    products = np.real(np.conj(deviations(a, axis, where, mean)) * a_dot)
    slopes = 2 * products / freedom(a, axis, ddof, correction, where)
    return np.sum(slopes, axis=axis, keepdims=keepdims)


@vjp(np.std, np.ndarray.std, wrt="a", kind=reduced(np.std, dtype=2, keepdims=5))
def std_vjp(
    g, ans, a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None
):
    if axis is not None:
        if not keepdims:
            g = np.expand_dims(g, axis)
            ans = np.expand_dims(ans, axis)
    if where is not True:
        ans = ans + alone(a, axis, where, True)
    shares = g * np.conj(deviations(a, axis, where, mean)) / freedom(a, axis, ddof, correction, where)
    return guarded_divide(shares, ans)


@jvp(np.std, np.ndarray.std, wrt="a")
def std_jvp(
    a_dot, ans, a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None
):
    products = np.real(np.conj(deviations(a, axis, where, mean)) * a_dot)
    slopes = products / freedom(a, axis, ddof, correction, where)
    if where is not True:
        ans = ans + alone(a, axis, where, keepdims)
    return guarded_divide(np.sum(slopes, axis=axis, keepdims=keepdims), ans)


def deviations(a, axis, where, mean):
    """What is squared in a variance: the distances from the mean, zero where an element is left out."""
    if mean is None:
        mean = np.mean(a, axis=axis, keepdims=True, where=where)
    if where is True:
        return a - mean
    return np.where(where, a - mean, 0)


def freedom(a, axis, ddof, correction, where):
    """The degrees of freedom of a variance."""
    if correction is not None:
        ddof = correction
    if where is True:
        return axis_size(np.shape(a), axis) - ddof
    return np.sum(np.broadcast_to(where, np.shape(a)), axis=axis, keepdims=True) - ddof


def alone(a, axis, where, keepdims):
    """One where a mask leaves one element: its deviation is zero whatever it is, so that no slope is infinite."""
    return np.sum(np.broadcast_to(where, np.shape(a)), axis=axis, keepdims=keepdims) == 1


@vjp(np.var, np.ndarray.var, wrt="mean")
def var_vjp_mean(
    g, ans, a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None
):
    return -unbroadcast(var_vjp(g, ans, a, axis, dtype, out, ddof, keepdims, where=where, mean=mean), shape_of(mean))


@jvp(np.var, np.ndarray.var, wrt="mean")
def var_jvp_mean(
    mean_dot, ans, a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None
):
    return -var_jvp(mean_dot, ans, a, axis, dtype, out, ddof, keepdims, where=where, mean=mean, correction=correction)


@vjp(np.std, np.ndarray.std, wrt="mean")
def std_vjp_mean(
    g, ans, a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None
):
    return -unbroadcast(std_vjp(g, ans, a, axis, dtype, out, ddof, keepdims, where=where, mean=mean), shape_of(mean))


@jvp(np.std, np.ndarray.std, wrt="mean")
def std_jvp_mean(
    mean_dot, ans, a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None
):
    return -std_jvp(mean_dot, ans, a, axis, dtype, out, ddof, keepdims, where=where, mean=mean, correction=correction)


# --- products ---------------------------------------------------------------------------------------------------


@vjp(np.prod, np.ndarray.prod, wrt="a", kind=reduced(np.prod, dtype=2, keepdims=4))
def prod_vjp(g, ans, a, axis=None, dtype=None, out=None, keepdims=False, initial=1, where=True):
    if axis is not None:
        if not keepdims:
            if np.ndim(a) > 0:  # a number takes an axis all the same
                g = np.expand_dims(g, axis)
    if where is not True:
        return np.where(where, g * initial * product_of_rest(np.where(where, a, 1), axis), 0)
    return g * initial * product_of_rest(a, axis)


@jvp(np.prod, np.ndarray.prod, wrt="a")
def prod_jvp(a_dot, ans, a, axis=None, dtype=None, out=None, keepdims=False, initial=1, where=True):
    if where is not True:
        a_dot = np.where(where, a_dot, 0)
        a = np.where(where, a, 1)
    return np.sum(a_dot * initial * product_of_rest(a, axis), axis=axis, keepdims=keepdims)


@vjp(np.prod, np.ndarray.prod, wrt="initial")
def prod_vjp_initial(g, ans, a, axis=None, dtype=None, out=None, keepdims=False, initial=1, where=True):
    return unbroadcast(g * np.prod(a, axis=axis, keepdims=keepdims, where=where), shape_of(initial))


@jvp(np.prod, np.ndarray.prod, wrt="initial")
def prod_jvp_initial(initial_dot, ans, a, axis=None, dtype=None, out=None, keepdims=False, initial=1, where=True):
    return initial_dot * np.prod(a, axis=axis, keepdims=keepdims, where=where)


# --- extrema ----------------------------------------------------------------------------------------------------

EXTREMA = (np.max, np.amax, np.ndarray.max, np.min, np.amin, np.ndarray.min)


@vjp(*EXTREMA, wrt="a", kind=reduced(np.max, keepdims=3))
def extremum_vjp(g, ans, a, axis=None, out=None, keepdims=False, initial=None, where=True):
    return extremum_share(g, a, ans, axis, keepdims, initial, where)


@jvp(*EXTREMA, wrt="a")
def extremum_jvp(a_dot, ans, a, axis=None, out=None, keepdims=False, initial=None, where=True):
    weight = extremum_weight(a, ans, axis, keepdims, initial, where)
    return np.sum(guarded_multiply(weight, a_dot), axis=axis, keepdims=keepdims)


# --- running sums and products ----------------------------------------------------------------------------------


@linear(np.cumsum, np.ndarray.cumsum, wrt="a", kind=running(np.cumsum))
def cumsum_vjp(g, ans, a, axis=None, dtype=None, out=None):
    if axis is None:
        return np.reshape(np.flip(np.cumsum(np.flip(g))), np.shape(a))
    if np.ndim(a) == 0:
        return np.reshape(g, ())[()]
    return np.flip(np.cumsum(np.flip(g, axis), axis=axis), axis)


@vjp(np.cumprod, np.ndarray.cumprod, wrt="a", kind=running(np.cumprod))
def cumprod_vjp(g, ans, a, axis=None, dtype=None, out=None):
    if axis is None:
        rows = np.ravel(a)
        return np.reshape(products_before(rows) * reverse_recurrence(g, rows), np.shape(a))
    if np.ndim(a) == 0:
        return np.reshape(g, ())[()]
    rows = np.moveaxis(a, axis, -1)
    return np.moveaxis(products_before(rows) * reverse_recurrence(np.moveaxis(g, axis, -1), rows), -1, axis)


@jvp(np.cumprod, np.ndarray.cumprod, wrt="a")
def cumprod_jvp(a_dot, ans, a, axis=None, dtype=None, out=None):
    if axis is None:
        rows = np.ravel(a)
        return recurrence(np.ravel(a_dot) * products_before(rows), rows)
    if np.ndim(a) == 0:
        return np.reshape(a_dot, (1,))
    rows = np.moveaxis(a, axis, -1)
    return np.moveaxis(recurrence(np.moveaxis(a_dot, axis, -1) * products_before(rows), rows), -1, axis)


# --- positions and counts ---------------------------------------------------------------------------------------

zero_derivative(alone)
zero_derivative(np.argmax, np.argmin, np.argsort, np.ndarray.argmax, np.ndarray.argmin, np.ndarray.argsort)
zero_derivative(np.any, np.all, np.ndarray.any, np.ndarray.all, np.count_nonzero, np.nonzero, np.ndarray.nonzero)
zero_derivative(np.flatnonzero, np.argwhere, np.searchsorted, np.ndarray.searchsorted, np.digitize, np.lexsort)
zero_derivative(np.nanargmax, np.nanargmin, np.argpartition, np.array_equal, np.array_equiv)
