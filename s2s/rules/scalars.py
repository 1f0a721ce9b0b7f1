"""The functions of `math`: the formulas of NumPy's, in terms of `math`, so that Python floats stay Python floats.

A square root in a denominator is written as a power, which NumPy's numbers take too: Python's cannot say infinity.
"""

import math

import numpy as np

from s2s.kinds import FLOAT, Bool, Int, Tuple
from s2s.rules.registry import elementwise, jvp, vjp, zero_derivative
from s2s.runtime.numeric import guarded_divide, sign
from s2s.runtime.special import polygamma


def a_float(*kinds):
    """Whatever the arguments, the result is a Python float."""
    return FLOAT


# --- exponentials and logarithms --------------------------------------------------------------------------------


@elementwise(math.exp, kind=a_float)
def exp(ans, x):
    return ans


@elementwise(math.exp2, kind=a_float)
def exp2(ans, x):
    return ans * 0.6931471805599453


@elementwise(math.expm1, kind=a_float)
def expm1(ans, x):
    return ans + 1


@elementwise(math.log, wrt="x", singular=True, kind=a_float)
def log_wrt_x(ans, x, base=None):
    if base is None:
        return 1 / x
    return 1 / (x * math.log(base))


@elementwise(math.log, wrt="base", singular=True)
def log_wrt_base(ans, x, base=None):
    return -ans / (base * math.log(base))


@elementwise(math.log2, singular=True, kind=a_float)
def log2(ans, x):
    return 1.4426950408889634 / x


@elementwise(math.log10, singular=True, kind=a_float)
def log10(ans, x):
    return 0.4342944819032518 / x


@elementwise(math.log1p, singular=True, kind=a_float)
def log1p(ans, x):
    return 1 / (x + 1)


# --- circular and hyperbolic functions --------------------------------------------------------------------------


@elementwise(math.sin, kind=a_float)
def sin(ans, x):
    return math.cos(x)


@elementwise(math.cos, kind=a_float)
def cos(ans, x):
    return -math.sin(x)


@elementwise(math.tan, kind=a_float)
def tan(ans, x):
    return 1 + ans**2


@elementwise(math.asin, guarded=True, kind=a_float)
def asin(ans, x):
    return 1 / (1 - x**2) ** 0.5


@elementwise(math.acos, guarded=True, kind=a_float)
def acos(ans, x):
    return -1 / (1 - x**2) ** 0.5


@elementwise(math.atan, kind=a_float)
def atan(ans, x):
    return 1 / (1 + x**2)


@elementwise(math.sinh, kind=a_float)
def sinh(ans, x):
    return math.cosh(x)


@elementwise(math.cosh, kind=a_float)
def cosh(ans, x):
    return math.sinh(x)


@elementwise(math.tanh, kind=a_float)
def tanh(ans, x):
    return 1 - ans**2


@elementwise(math.asinh, kind=a_float)
def asinh(ans, x):
    return 1 / math.sqrt(x**2 + 1)


@elementwise(math.acosh, guarded=True, kind=a_float)
def acosh(ans, x):
    return 1 / ((x - 1) * (x + 1)) ** 0.5


@elementwise(math.atanh, singular=True, kind=a_float)
def atanh(ans, x):
    return 1 / (1 - x**2)


@elementwise(math.atan2, kind=a_float)
def atan2(ans, y, x):
    return guarded_divide(x, x**2 + y**2), guarded_divide(-y, x**2 + y**2)


@elementwise(math.radians, kind=a_float)
def radians(ans, x):
    return 0.017453292519943295


@elementwise(math.degrees, kind=a_float)
def degrees(ans, x):
    return 57.29577951308232


# --- roots and moduli -------------------------------------------------------------------------------------------


@elementwise(math.sqrt, guarded=True, kind=a_float)
def sqrt(ans, x):
    return 0.5 / ans


@elementwise(math.cbrt, guarded=True, kind=a_float)
def cbrt(ans, x):
    return 1 / (3 * ans**2)


@elementwise(math.hypot, wrt=("x", "y", "z", "a", "b", "c", "d", "e"), kind=a_float)
def hypot(ans, x=0.0, y=0.0, z=0.0, a=0.0, b=0.0, c=0.0, d=0.0, e=0.0):
    return (
        guarded_divide(x, ans), guarded_divide(y, ans), guarded_divide(z, ans), guarded_divide(a, ans),
        guarded_divide(b, ans), guarded_divide(c, ans), guarded_divide(d, ans), guarded_divide(e, ans),
    )  # fmt: skip


@elementwise(math.fabs, kind=a_float)
def fabs(ans, x):
    return sign(x)


@elementwise(math.copysign, wrt="x", zeros="y", kind=a_float)
def copysign(ans, x, y):
    return sign(x) * sign(ans)


# --- special functions ------------------------------------------------------------------------------------------


@elementwise(math.gamma, kind=a_float)
def gamma(ans, x):
    return ans * polygamma(0, x)


@elementwise(math.lgamma, kind=a_float)
def lgamma(ans, x):
    return polygamma(0, x)


@elementwise(polygamma, wrt="x", kind=a_float)
def polygamma_wrt_x(ans, n, x):
    return polygamma(n + 1, x)


@elementwise(math.erf, kind=a_float)
def erf(ans, x):
    return 1.1283791670955126 * math.exp(-(x**2))


@elementwise(math.erfc, kind=a_float)
def erfc(ans, x):
    return -1.1283791670955126 * math.exp(-(x**2))


# --- remainders and parts ---------------------------------------------------------------------------------------


@elementwise(math.fmod, kind=a_float)
def fmod(ans, x, y):
    return 1, -math.trunc(x / y)


@elementwise(math.remainder, kind=a_float)
def remainder(ans, x, y):
    return 1, -round((x - ans) / y)


@elementwise(math.ldexp, wrt="x", kind=a_float)
def ldexp(ans, x, i):
    return 2.0**i


@vjp(math.modf, wrt="x", kind=lambda x: Tuple((FLOAT, FLOAT)))
def modf_vjp(g, ans, x):
    return g[0]


@jvp(math.modf, wrt="x")
def modf_jvp(x_dot, ans, x):
    return x_dot, 0.0


@vjp(math.frexp, wrt="x", kind=lambda x: Tuple((FLOAT, Int())))
def frexp_vjp(g, ans, x):
    return g[0] * 2.0 ** -ans[1]


@jvp(math.frexp, wrt="x")
def frexp_jvp(x_dot, ans, x):
    return x_dot * 2.0 ** -ans[1], 0.0


@elementwise(math.nextafter, wrt="x", zeros="y", kind=lambda x, y, steps: FLOAT)
def nextafter(ans, x, y, *, steps=None):
    return 1


# --- sequences --------------------------------------------------------------------------------------------------


@vjp(math.fsum, wrt="seq", containers="seq", kind=a_float)
def fsum_vjp(g, ans, seq):
    return as_given([g for _ in seq], seq)


@jvp(math.fsum, wrt="seq")
def fsum_jvp(seq_dot, ans, seq):
    return math.fsum(seq_dot)


@vjp(math.prod, wrt="iterable", containers="iterable")
def prod_vjp(g, ans, iterable, *, start=1):
    return as_given([g * start * math.prod(others) for others in leaving_one_out(iterable)], iterable)


@vjp(math.prod, wrt="start")
def prod_vjp_start(g, ans, iterable, *, start=1):
    return g * math.prod(iterable)


@jvp(math.prod, wrt="iterable")
def prod_jvp(iterable_dot, ans, iterable, *, start=1):
    products = [start * math.prod(others) for others in leaving_one_out(iterable)]
    return sum(p * p_dot for p, p_dot in zip(products, iterable_dot, strict=True))


@jvp(math.prod, wrt="start")
def prod_jvp_start(start_dot, ans, iterable, *, start=1):
    return start_dot * math.prod(iterable)


@vjp(math.dist, wrt="p", containers=("p", "q"), kind=a_float)
def dist_vjp_p(g, ans, p, q):
    return as_given([guarded_divide(g * (a - b), ans) for a, b in zip(p, q, strict=True)], p)


@vjp(math.dist, wrt="q")
def dist_vjp_q(g, ans, p, q):
    return as_given([guarded_divide(g * (b - a), ans) for a, b in zip(p, q, strict=True)], q)


def as_given(cotangents, items):
    """Cotangents of the items of a sequence: an array for an array."""
    return cotangents if isinstance(items, (list, tuple)) else np.array(cotangents)


@jvp(math.dist, wrt="p")
def dist_jvp_p(p_dot, ans, p, q):
    return guarded_divide(sum((a - b) * d for a, b, d in zip(p, q, p_dot, strict=True)), ans)


@jvp(math.dist, wrt="q")
def dist_jvp_q(q_dot, ans, p, q):
    return guarded_divide(sum((b - a) * d for a, b, d in zip(p, q, q_dot, strict=True)), ans)


def leaving_one_out(values):
    """The sequence without its first item, without its second, and so on."""
    return [[v for j, v in enumerate(values) if j != i] for i in range(len(values))]


# --- constants almost everywhere --------------------------------------------------------------------------------

zero_derivative(math.floor, math.ceil, math.trunc, kind=lambda x: Int())
zero_derivative(math.isnan, math.isinf, math.isfinite, kind=lambda x: Bool())
zero_derivative(math.isclose, math.ulp)
