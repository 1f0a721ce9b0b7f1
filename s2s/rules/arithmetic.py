"""Python's operators, and NumPy's ufuncs of the same meaning."""

import builtins
import math
import operator

import numpy as np

from s2s.rules.registry import elementwise, jvp, linear, vjp, zero_derivative
from s2s.runtime.numeric import guarded_divide, guarded_multiply, log_or_zero, power_slope, shape_of, unbroadcast

# --- sums and products ------------------------------------------------------------------------------------------


@elementwise(operator.add, operator.iadd, np.add)
def add(ans, x, y):
    return 1, 1


@elementwise(operator.sub, operator.isub, np.subtract)
def subtract(ans, x, y):
    return 1, -1


@elementwise(operator.mul, operator.imul, np.multiply)
def multiply(ans, x, y):
    return y, x


@elementwise(operator.truediv, operator.itruediv, np.true_divide, singular=True)
def divide(ans, x, y):
    return 1 / y, -ans / y


@elementwise(operator.neg, np.negative)
def negative(ans, x):
    return -1


@elementwise(operator.pos, np.positive)
def positive(ans, x):
    return 1


@elementwise(np.reciprocal, singular=True)
def reciprocal(ans, x):
    return -ans / x


@elementwise(np.square)
def square(ans, x):
    return 2 * x


# --- remainders -------------------------------------------------------------------------------------------------

zero_derivative(operator.floordiv, operator.ifloordiv, np.floor_divide)


@elementwise(operator.mod, operator.imod, np.remainder)
def remainder(ans, x, y):
    return 1, -(x // y)


@elementwise(np.fmod)
def fmod(ans, x, y):
    return 1, -np.trunc(x / y)


@vjp(np.divmod, builtins.divmod, wrt="x")
def divmod_vjp_x(g, ans, x, y):
    return unbroadcast(g[1], shape_of(x))


@vjp(np.divmod, builtins.divmod, wrt="y")
def divmod_vjp_y(g, ans, x, y):
    return unbroadcast(-g[1] * ans[0], shape_of(y))


@jvp(np.divmod, builtins.divmod, wrt="x")
def divmod_jvp_x(x_dot, ans, x, y):
    return ans[0] * 0.0, unbroadcast(x_dot, shape_of(ans[1]))


@jvp(np.divmod, builtins.divmod, wrt="y")
def divmod_jvp_y(y_dot, ans, x, y):
    return ans[0] * 0.0, -y_dot * ans[0]


# --- powers -----------------------------------------------------------------------------------------------------
# A power with a number as exponent is worth its own cases: they hold nothing but the formula of the case. Below one
# the slope is infinite at zero; that zero to the power zero is constant follows from a zero numerator.

POWERS = (operator.pow, operator.ipow, builtins.pow, np.power, np.float_power)


@vjp(*POWERS, math.pow, wrt="base")
def power_vjp_base(g, ans, base, exp):
    if isinstance(exp, (int, float)):
        if exp == 2:
            return g * 2 * base
        if exp >= 1:
            return g * exp * base ** (exp - 1)
        return guarded_divide(g * exp, base ** (1 - exp))
    return unbroadcast(guarded_multiply(g, power_slope(base, exp)), shape_of(base))


@jvp(*POWERS, math.pow, wrt="base")
def power_jvp_base(base_dot, ans, base, exp):
    if isinstance(exp, (int, float)):
        if exp == 2:
            return 2 * base * base_dot
        if exp >= 1:
            return exp * base ** (exp - 1) * base_dot
        return guarded_divide(exp * base_dot, base ** (1 - exp))
    return guarded_multiply(base_dot, power_slope(base, exp))


@vjp(*POWERS, math.pow, wrt="exp")
def power_vjp_exp(g, ans, base, exp):
    return unbroadcast(guarded_multiply(g, guarded_multiply(log_or_zero(base, ans), ans)), shape_of(exp))


@jvp(*POWERS, math.pow, wrt="exp")
def power_jvp_exp(exp_dot, ans, base, exp):
    return guarded_multiply(exp_dot, guarded_multiply(log_or_zero(base, ans), ans))


# --- matrix products --------------------------------------------------------------------------------------------
# The cotangent of one factor is the cotangent of the product times the other factor, transposed; a vector is a matrix
# whose extra axis is left out, and axes of a stack of matrices may have been broadcast.


@linear(np.matmul, operator.matmul, operator.imatmul, wrt="x")
def matmul_vjp_x(g, ans, x, y):
    if y.ndim == 1:
        if x.ndim == 1:
            return g * y
        if x.ndim == 2:
            return g[:, None] * y
        return np.expand_dims(g, -1) * y
    if x.ndim == 1:
        if y.ndim == 2:
            return y @ g
        return unbroadcast((y @ np.expand_dims(g, -1))[..., 0], x.shape)
    if y.ndim == 2:
        return g @ y.T
    return unbroadcast(g @ np.swapaxes(y, -1, -2), x.shape)


@linear(np.matmul, operator.matmul, operator.imatmul, wrt="y")
def matmul_vjp_y(g, ans, x, y):
    if x.ndim == 1:
        if y.ndim == 1:
            return g * x
        if y.ndim == 2:
            return x[:, None] * g
        return np.expand_dims(x, -1) * np.expand_dims(g, -2)
    if y.ndim == 1:
        if x.ndim == 2:
            return x.T @ g
        return np.tensordot(g, x, axes=x.ndim - 1)
    if y.ndim == 2:
        if x.ndim == 2:
            return x.T @ g
        stack = list(range(x.ndim - 1))
        return np.tensordot(x, g, axes=(stack, stack))
    return unbroadcast(np.swapaxes(x, -1, -2) @ g, y.shape)


# --- comparisons and bits ---------------------------------------------------------------------------------------

zero_derivative(operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)
zero_derivative(operator.not_, operator.truth, operator.is_, operator.is_not, operator.contains)
zero_derivative(operator.and_, operator.or_, operator.xor, operator.invert, operator.lshift, operator.rshift)
zero_derivative(operator.iand, operator.ior, operator.ixor, operator.ilshift, operator.irshift, operator.index)
zero_derivative(np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal)
zero_derivative(np.logical_and, np.logical_or, np.logical_xor, np.logical_not)
zero_derivative(np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert, np.left_shift, np.right_shift)
