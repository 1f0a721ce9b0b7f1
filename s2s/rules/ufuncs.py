"""NumPy's elementwise functions: one formula each. Products, broadcasting and casts are the registry's business.

A function of complex numbers that is real, as `abs` is, has the partial whose product with the cotangent is right
under `d = sum(real(g * dx))`; the tangent is the real part of its product.

A number that is added to an array is a float: NumPy turns an int into one each time, which takes as long as a fifth of
the addition of a small array.
"""

import builtins
import operator

import numpy as np

from s2s.rules.registry import elementwise, jvp, linear, vjp, zero_derivative
from s2s.runtime.numeric import guarded_divide, sign, tie_weight
from s2s.runtime.special import i0_derivative, sinc_derivative

# --- exponentials and logarithms --------------------------------------------------------------------------------


@elementwise(np.exp, singular=True)
def exp(ans, x):
    return ans


@elementwise(np.exp2, singular=True)
def exp2(ans, x):
    return ans * 0.6931471805599453


@elementwise(np.expm1, singular=True)
def expm1(ans, x):
    return ans + 1


@elementwise(np.log, singular=True)
def log(ans, x):
    return 1 / x


@elementwise(np.log2, singular=True)
def log2(ans, x):
    return 1.4426950408889634 / x


@elementwise(np.log10, singular=True)
def log10(ans, x):
    return 0.4342944819032518 / x


@elementwise(np.log1p, singular=True)
def log1p(ans, x):
    return 1 / (x + 1)


@elementwise(np.logaddexp)
def logaddexp(ans, x, y):
    return np.exp(x - ans), np.exp(y - ans)


@elementwise(np.logaddexp2)
def logaddexp2(ans, x, y):
    return np.exp2(x - ans), np.exp2(y - ans)


# --- circular and hyperbolic functions --------------------------------------------------------------------------


@elementwise(np.sin)
def sin(ans, x):
    return np.cos(x)


@elementwise(np.cos)
def cos(ans, x):
    return -np.sin(x)


@elementwise(np.tan)
def tan(ans, x):
    return 1.0 + ans**2


@elementwise(np.arcsin, guarded=True)
def arcsin(ans, x):
    return 1 / np.sqrt(1.0 - x**2)


@elementwise(np.arccos, guarded=True)
def arccos(ans, x):
    return -1 / np.sqrt(1.0 - x**2)


@elementwise(np.arctan)
def arctan(ans, x):
    return 1 / (1.0 + x**2)


@elementwise(np.sinh, singular=True)
def sinh(ans, x):
    return np.cosh(x)


@elementwise(np.cosh, singular=True)
def cosh(ans, x):
    return np.sinh(x)


@elementwise(np.tanh)
def tanh(ans, x):
    return 1.0 - ans**2


@elementwise(np.arcsinh)
def arcsinh(ans, x):
    return 1 / np.sqrt(x**2 + 1.0)


@elementwise(np.arccosh, guarded=True)
def arccosh(ans, x):
    return 1 / (np.sqrt(x - 1.0) * np.sqrt(x + 1.0))


@elementwise(np.arctanh, singular=True)
def arctanh(ans, x):
    return 1 / (1.0 - x**2)


@elementwise(np.arctan2)
def arctan2(ans, x, y):
    return guarded_divide(y, x**2 + y**2), guarded_divide(-x, x**2 + y**2)


@elementwise(np.deg2rad, np.radians)
def radians(ans, x):
    return 0.017453292519943295


@elementwise(np.rad2deg, np.degrees)
def degrees(ans, x):
    return 57.29577951308232


@elementwise(np.sinc)
def sinc(ans, x):
    return sinc_derivative(x, 1)


@elementwise(np.i0)
def i0(ans, x):
    return i0_derivative(x, 1)


# --- roots and moduli -------------------------------------------------------------------------------------------


@elementwise(np.sqrt, guarded=True)
def sqrt(ans, x):
    return 0.5 / ans


@elementwise(np.cbrt, guarded=True)
def cbrt(ans, x):
    return 1 / (3 * ans**2)


@elementwise(np.hypot)
def hypot(ans, x, y):
    return guarded_divide(x, ans), guarded_divide(y, ans)


@elementwise(builtins.abs, operator.abs, np.absolute)
def absolute(ans, x):
    if np.iscomplexobj(x):
        return guarded_divide(np.conj(x), ans)
    if isinstance(x, float):
        return sign(x)
    return np.sign(x)


@elementwise(np.fabs)
def fabs(ans, x):
    return np.sign(x)


@elementwise(np.angle, wrt="z")
def angle(ans, z, deg=False):
    if np.isrealobj(z):
        return 0
    slope = guarded_divide(-1j * np.conj(z), np.abs(z) ** 2)
    if deg:
        return slope * 57.29577951308232
    return slope


@linear(np.conjugate, np.ndarray.conj, np.ndarray.conjugate, wrt="x")
def conjugate(g, ans, x):
    return np.conj(g)


# The sign of a complex number is its direction, which turns.


@vjp(np.sign, wrt="x")
def sign_vjp(g, ans, x):
    if np.iscomplexobj(x):
        return guarded_divide(g - np.conj(ans) * np.real(g * ans), np.abs(x))
    return np.zeros_like(x)


@jvp(np.sign, wrt="x")
def sign_jvp(x_dot, ans, x):
    if np.iscomplexobj(x):
        return guarded_divide(x_dot - ans * np.real(np.conj(ans) * x_dot), np.abs(x))
    return np.zeros_like(x)


# --- choices ----------------------------------------------------------------------------------------------------
# Where two values tie, each has half of the derivative.


@elementwise(np.maximum, np.minimum, np.fmax, np.fmin, choosing=True)
def extremum(ans, x, y):
    return tie_weight(x, y, ans), tie_weight(y, x, ans)


@elementwise(np.copysign, wrt="x", zeros="y")
def copysign(ans, x, y):
    return np.sign(x) * np.sign(ans)


@elementwise(np.heaviside, wrt="y", zeros="x")
def heaviside(ans, x, y):
    return x == 0


@elementwise(np.ldexp, wrt="x")
def ldexp(ans, x, i):
    return np.ldexp(1.0, i)


@elementwise(np.nan_to_num, wrt="x", choosing=True)
def nan_to_num(ans, x, copy=True, nan=0.0, posinf=None, neginf=None):
    return np.isfinite(x)


zero_derivative(np.floor, np.ceil, np.trunc, np.rint, np.fix, np.round, np.around, np.ndarray.round)
zero_derivative(np.isnan, np.isinf, np.isfinite, np.signbit, np.isneginf, np.isposinf, np.spacing)
zero_derivative(np.iscomplex, np.isreal, np.iscomplexobj, np.isrealobj, np.isclose, np.allclose)
