"""The functions of `cmath`, and those of `np.emath`, whose results are complex where those of NumPy's are none."""

import cmath

import numpy as np

from s2s import kinds as K
from s2s.rules.registry import elementwise, jvp, vjp, zero_derivative
from s2s.runtime.numeric import guarded_divide


def a_complex(*kinds):
    """Whatever the arguments, the result is a Python complex."""
    return K.COMPLEX


def complex_or_unknown(x, *others):
    """A real argument may give a complex result, which its kind does not tell."""
    dtype, ndim = K.dtype_of(x), K.ndim_of(x)
    if dtype is None or ndim is None or dtype.kind != "c" or others:
        return K.UNKNOWN
    return K.Array(dtype, ndim) if ndim else K.Scalar(dtype)


# --- cmath ------------------------------------------------------------------------------------------------------

zero_derivative(cmath.isnan, cmath.isinf, cmath.isfinite, cmath.isclose)


@elementwise(cmath.exp, kind=a_complex)
def exp(ans, x):
    return ans


@elementwise(cmath.log, wrt="x", singular=True, kind=a_complex)
def log_wrt_x(ans, x, base=None):
    if base is None:
        return 1 / x
    return 1 / (x * cmath.log(base))


@elementwise(cmath.log, wrt="base", singular=True)
def log_wrt_base(ans, x, base=None):
    return -ans / (base * cmath.log(base))


@elementwise(cmath.log10, singular=True, kind=a_complex)
def log10(ans, x):
    return 0.4342944819032518 / x


@elementwise(cmath.sqrt, guarded=True, kind=a_complex)
def sqrt(ans, x):
    return 0.5 / ans


@elementwise(cmath.sin, kind=a_complex)
def sin(ans, x):
    return cmath.cos(x)


@elementwise(cmath.cos, kind=a_complex)
def cos(ans, x):
    return -cmath.sin(x)


@elementwise(cmath.tan, kind=a_complex)
def tan(ans, x):
    return 1 + ans**2


@elementwise(cmath.sinh, kind=a_complex)
def sinh(ans, x):
    return cmath.cosh(x)


@elementwise(cmath.cosh, kind=a_complex)
def cosh(ans, x):
    return cmath.sinh(x)


@elementwise(cmath.tanh, kind=a_complex)
def tanh(ans, x):
    return 1 - ans**2


@elementwise(cmath.asin, guarded=True, kind=a_complex)
def asin(ans, x):
    return 1 / cmath.cos(ans)


@elementwise(cmath.acos, guarded=True, kind=a_complex)
def acos(ans, x):
    return -1 / cmath.sin(ans)


@elementwise(cmath.atan, singular=True, kind=a_complex)
def atan(ans, x):
    return 1 / (1 + x**2)


@elementwise(cmath.asinh, guarded=True, kind=a_complex)
def asinh(ans, x):
    return 1 / cmath.cosh(ans)


@elementwise(cmath.acosh, guarded=True, kind=a_complex)
def acosh(ans, x):
    return 1 / cmath.sinh(ans)


@elementwise(cmath.atanh, singular=True, kind=a_complex)
def atanh(ans, x):
    return 1 / (1 - x**2)


@vjp(cmath.phase, wrt="x", kind=lambda x: K.FLOAT)
def phase_vjp(g, ans, x):
    if not np.iscomplexobj(x):
        return 0.0
    return guarded_divide(-1j * g * np.conj(x), np.real(x) ** 2 + np.imag(x) ** 2)


@jvp(cmath.phase, wrt="x")
def phase_jvp(x_dot, ans, x):
    return guarded_divide(np.imag(x_dot * np.conj(x)), np.real(x) ** 2 + np.imag(x) ** 2)


@vjp(cmath.polar, wrt="x", kind=lambda x: K.Tuple((K.FLOAT, K.FLOAT)))
def polar_vjp(g, ans, x):
    if not np.iscomplexobj(x):
        return guarded_divide(g[0] * x, ans[0])
    return guarded_divide(g[0] * np.conj(x), ans[0]) + phase_vjp(g[1], ans[1], x)


@jvp(cmath.polar, wrt="x")
def polar_jvp(x_dot, ans, x):
    return guarded_divide(np.real(x_dot * np.conj(x)), ans[0]), phase_jvp(x_dot, ans[1], x)


@elementwise(cmath.rect, kind=a_complex)
def rect(ans, r, phi):
    return cmath.exp(1j * phi), 1j * ans


# --- np.emath ---------------------------------------------------------------------------------------------------
# In terms of their results, these slopes take the branch that the function took.


@elementwise(np.emath.sqrt, guarded=True, kind=complex_or_unknown)
def emath_sqrt(ans, x):
    return 0.5 / ans


@elementwise(np.emath.log, singular=True, kind=complex_or_unknown)
def emath_log(ans, x):
    return 1 / x


@elementwise(np.emath.log2, singular=True, kind=complex_or_unknown)
def emath_log2(ans, x):
    return 1.4426950408889634 / x


@elementwise(np.emath.log10, singular=True, kind=complex_or_unknown)
def emath_log10(ans, x):
    return 0.4342944819032518 / x


@elementwise(np.emath.logn, singular=True, kind=complex_or_unknown)
def emath_logn(ans, n, x):
    return -ans / (n * np.emath.log(n)), 1 / (x * np.emath.log(n))


@elementwise(np.emath.power, guarded=True, kind=complex_or_unknown)
def emath_power(ans, x, p):
    return p * np.emath.power(x, p - 1), ans * np.emath.log(np.where(x == 0, 1, x))


@elementwise(np.emath.arcsin, guarded=True, kind=complex_or_unknown)
def emath_arcsin(ans, x):
    return 1 / np.cos(ans)


@elementwise(np.emath.arccos, guarded=True, kind=complex_or_unknown)
def emath_arccos(ans, x):
    return -1 / np.sin(ans)


@elementwise(np.emath.arctanh, singular=True, kind=complex_or_unknown)
def emath_arctanh(ans, x):
    return 1 / (1 - x**2)
