"""The rules of our own helpers: derivative code is differentiated again like any other."""

import numpy as np

from s2s.rules.registry import elementwise, jvp, linear, vjp, zero_derivative
from s2s.runtime import numeric
from s2s.runtime.absent import require_assigned
from s2s.runtime.numeric import (
    from_diagonal,
    guarded_divide,
    guarded_multiply,
    infinite,
    power_slope,
    real_if_real,
    scatter,
    shape_of,
    unbroadcast,
)
from s2s.runtime.recurrence import previous, recurrence, reverse_recurrence
from s2s.runtime.special import i0_derivative, sinc_derivative

zero_derivative(
    numeric.shape_of, numeric.kept_with, numeric.axis_size, numeric.sign, numeric.tie_weight, numeric.is_basic
)
zero_derivative(
    numeric.extremum_weight, numeric.clip_weights, numeric.is_mask, numeric.require_scalar, require_assigned
)

# --- broadcasting -----------------------------------------------------------------------------------------------


@linear(unbroadcast, wrt="g")
def unbroadcast_vjp(g_bar, ans, g, shape):
    return unbroadcast(g_bar, shape_of(g))


@linear(numeric.extremum_share, wrt="g", zeros=("a", "extremum"))
def extremum_share_vjp(g_bar, ans, g, a, extremum, axis, keepdims, initial, where):
    weight = numeric.extremum_weight(a, extremum, axis, keepdims, initial, where)
    return np.sum(g_bar * weight, axis=axis, keepdims=keepdims)


@elementwise(real_if_real, wrt="x", zeros="like")
def real_part(ans, x, like):
    return 1


@linear(numeric.pieces, wrt="g", zeros="like")
def pieces_vjp(g_bar, ans, g, like):
    return np.reshape(np.array(g_bar), shape_of(g))


@elementwise(numeric.fitted, wrt="g", zeros="like")
def fitted(ans, g, like):
    return 1


# --- guards -----------------------------------------------------------------------------------------------------


@vjp(guarded_divide, wrt="numerator")
def guarded_divide_vjp_numerator(g, ans, numerator, denominator):
    return unbroadcast(guarded_divide(g, denominator), shape_of(numerator))


@vjp(guarded_divide, wrt="denominator")
def guarded_divide_vjp_denominator(g, ans, numerator, denominator):
    return unbroadcast(-guarded_divide(guarded_multiply(g, ans), denominator), shape_of(denominator))


@jvp(guarded_divide, wrt="numerator")
def guarded_divide_jvp_numerator(numerator_dot, ans, numerator, denominator):
    return unbroadcast(guarded_divide(numerator_dot, denominator), shape_of(ans))


@jvp(guarded_divide, wrt="denominator")
def guarded_divide_jvp_denominator(denominator_dot, ans, numerator, denominator):
    return -guarded_divide(guarded_multiply(denominator_dot, ans), denominator)


@vjp(guarded_multiply, wrt="g")
def guarded_multiply_vjp_g(g_bar, ans, g, slope):
    return unbroadcast(guarded_multiply(g_bar, slope), shape_of(g))


@vjp(guarded_multiply, wrt="slope")
def guarded_multiply_vjp_slope(g_bar, ans, g, slope):
    return unbroadcast(guarded_multiply(g, g_bar), shape_of(slope))


@jvp(guarded_multiply, wrt="g")
def guarded_multiply_jvp_g(g_dot, ans, g, slope):
    return unbroadcast(guarded_multiply(g_dot, slope), shape_of(ans))


@jvp(guarded_multiply, wrt="slope")
def guarded_multiply_jvp_slope(slope_dot, ans, g, slope):
    return unbroadcast(guarded_multiply(g, slope_dot), shape_of(ans))


@vjp(numeric.zero_with, wrt="value", zeros="factor")
def zero_with_vjp_value(g, ans, value, factor):
    return np.where(numeric.kept_with(value, factor), g, 0)


@jvp(numeric.zero_with, wrt="value", zeros="factor")
def zero_with_jvp_value(value_dot, ans, value, factor):
    return np.where(numeric.kept_with(value, factor), value_dot, 0)


@linear(infinite, wrt="g")
def infinite_vjp(g_bar, ans, g):
    return infinite(g_bar)


# --- powers -----------------------------------------------------------------------------------------------------
# The derivative of a slope of a power is a slope of a power again.


@vjp(power_slope, wrt="x")
def power_slope_vjp_x(g, ans, x, y):
    return unbroadcast(guarded_multiply(g, guarded_multiply(y, power_slope(x, y - 1))), shape_of(x))


@vjp(power_slope, wrt="y")
def power_slope_vjp_y(g, ans, x, y):
    return unbroadcast(guarded_multiply(g, slope_by_exponent(x, y)), shape_of(y))


@jvp(power_slope, wrt="x")
def power_slope_jvp_x(x_dot, ans, x, y):
    return guarded_multiply(x_dot, guarded_multiply(y, power_slope(x, y - 1)))


@jvp(power_slope, wrt="y")
def power_slope_jvp_y(y_dot, ans, x, y):
    return guarded_multiply(y_dot, slope_by_exponent(x, y))


def slope_by_exponent(x, y):
    """The derivative of `y * x ** (y - 1)` by y."""
    power = np.power(x, y - 1.0)
    return power + y * guarded_multiply(numeric.log_or_zero(x, power), power)


@elementwise(numeric.log_or_zero, wrt="x", zeros="ans", guarded=True)
def log_or_zero(value, x, ans):
    return guarded_divide(np.asarray(x != 0, dtype=float)[()], x)


# --- gathering --------------------------------------------------------------------------------------------------


@linear(scatter, wrt="g")
def scatter_vjp(g_bar, ans, g, index, shape):
    return unbroadcast(g_bar[index], shape_of(g))


@linear(from_diagonal, wrt="g")
def from_diagonal_vjp(g_bar, ans, g, offset, shape):
    return np.diagonal(g_bar, offset)


# --- running products -------------------------------------------------------------------------------------------


@linear(recurrence, wrt="b")
def recurrence_vjp_b(g, ans, b, x):
    return reverse_recurrence(g, x)


@vjp(recurrence, wrt="x")
def recurrence_vjp_x(g, ans, b, x):
    return reverse_recurrence(g, x) * previous(ans, 0)


@jvp(recurrence, wrt="x")
def recurrence_jvp_x(x_dot, ans, b, x):
    return recurrence(x_dot * previous(ans, 0), x)


# --- special functions ------------------------------------------------------------------------------------------


@elementwise(sinc_derivative, wrt="x")
def sinc_derivative_by_x(ans, x, order):
    return sinc_derivative(x, order + 1)


@elementwise(i0_derivative, wrt="x")
def i0_derivative_by_x(ans, x, order):
    return i0_derivative(x, order + 1)
