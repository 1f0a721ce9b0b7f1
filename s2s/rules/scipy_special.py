"""The functions of `scipy.special`. This module is imported once that one has been (`registry.LATER`).

Slopes are written so that they neither overflow nor cancel where the function itself does not; those that are functions
of the same family have rules in turn, so that all orders follow.
"""

import numpy as np
from scipy import special as sp

from s2s.rules.kinds_of import same
from s2s.rules.registry import elementwise, jvp, vjp, zero_derivative
from s2s.runtime.numeric import unbroadcast

TWO_OVER_ROOT_PI = 1.1283791670955126
ROOT_TWO_PI = 2.5066282746310002
DEGREE = 0.017453292519943295

zero_derivative(sp.round)

# --- error functions --------------------------------------------------------------------------------------------


@elementwise(sp.erf)
def erf(ans, x):
    return TWO_OVER_ROOT_PI * np.exp(-(x**2))


@elementwise(sp.erfc)
def erfc(ans, x):
    return -TWO_OVER_ROOT_PI * np.exp(-(x**2))


@elementwise(sp.erfcx)
def erfcx(ans, x):
    return 2 * x * ans - TWO_OVER_ROOT_PI


@elementwise(sp.erfi)
def erfi(ans, x):
    return TWO_OVER_ROOT_PI * np.exp(x**2)


@elementwise(sp.dawsn)
def dawsn(ans, x):
    return 1 - 2 * x * ans


@elementwise(sp.wofz)
def wofz(ans, z):
    return TWO_OVER_ROOT_PI * 1j - 2 * z * ans


@elementwise(sp.erfinv, singular=True)
def erfinv(ans, y):
    return np.exp(ans**2) / TWO_OVER_ROOT_PI


@elementwise(sp.erfcinv, singular=True)
def erfcinv(ans, y):
    return -np.exp(ans**2) / TWO_OVER_ROOT_PI


@elementwise(sp.ndtr)
def ndtr(ans, x):
    return np.exp(-(x**2) / 2) / ROOT_TWO_PI


@elementwise(sp.log_ndtr)
def log_ndtr(ans, x):
    return 0.7978845608028654 / sp.erfcx(-0.7071067811865476 * x)


@elementwise(sp.ndtri, singular=True)
def ndtri(ans, y):
    return ROOT_TWO_PI * np.exp(ans**2 / 2)


# --- the logistic function and its like -------------------------------------------------------------------------


@elementwise(sp.expit)
def expit(ans, x):
    return ans * sp.expit(-x)


@elementwise(sp.log_expit)
def log_expit(ans, x):
    return sp.expit(-x)


@elementwise(sp.logit, singular=True)
def logit(ans, x):
    return 1 / (x * (1 - x))


if hasattr(sp, "softplus"):  # since SciPy 1.16

    @elementwise(sp.softplus)
    def softplus(ans, x):
        return sp.expit(x)


@vjp(sp.softmax, wrt="x", kind=same)
def softmax_vjp(g, ans, x, axis=None):
    return ans * (g - np.sum(g * ans, axis=axis, keepdims=True))


@jvp(sp.softmax, wrt="x")
def softmax_jvp(x_dot, ans, x, axis=None):
    return ans * (x_dot - np.sum(x_dot * ans, axis=axis, keepdims=True))


@vjp(sp.log_softmax, wrt="x", kind=same)
def log_softmax_vjp(g, ans, x, axis=None):
    return g - np.exp(ans) * np.sum(g, axis=axis, keepdims=True)


@jvp(sp.log_softmax, wrt="x")
def log_softmax_jvp(x_dot, ans, x, axis=None):
    return x_dot - np.sum(np.exp(ans) * x_dot, axis=axis, keepdims=True)


def sum_weights(ans, a, axis, keepdims, return_sign):
    """The terms of the sum of exponentials, over the sum: exponentials of differences. A term that is zero, or all of
    a sum that is, weighs nothing."""
    size, sign = ans if return_sign else (ans, 1)
    if axis is not None:
        if not keepdims:
            size, sign = np.expand_dims(size, axis), np.expand_dims(sign, axis) if return_sign else 1
    finite = np.where(np.isfinite(size), size, 0)
    return sign * np.where(np.isneginf(np.real(a)), 0, np.exp(np.where(np.isneginf(np.real(a)), 0, a) - finite))


@vjp(sp.logsumexp, wrt="a")
def logsumexp_vjp_a(g, ans, a, axis=None, b=None, keepdims=False, return_sign=False):
    g = g[0] if return_sign else g
    if axis is not None:
        if not keepdims:
            g = np.expand_dims(g, axis)
    weights = sum_weights(ans, a, axis, keepdims, return_sign)
    return unbroadcast(g * (weights if b is None else b * weights), np.shape(a))


@jvp(sp.logsumexp, wrt="a")
def logsumexp_jvp_a(a_dot, ans, a, axis=None, b=None, keepdims=False, return_sign=False):
    weights = sum_weights(ans, a, axis, keepdims, return_sign)
    moved = np.sum(a_dot * (weights if b is None else b * weights), axis=axis, keepdims=keepdims)
    return (moved, np.zeros_like(ans[1])) if return_sign else moved


@vjp(sp.logsumexp, wrt="b")
def logsumexp_vjp_b(g, ans, a, axis=None, b=None, keepdims=False, return_sign=False):
    g = g[0] if return_sign else g
    if axis is not None:
        if not keepdims:
            g = np.expand_dims(g, axis)
    return unbroadcast(g * sum_weights(ans, a, axis, keepdims, return_sign), np.shape(b))


@jvp(sp.logsumexp, wrt="b")
def logsumexp_jvp_b(b_dot, ans, a, axis=None, b=None, keepdims=False, return_sign=False):
    moved = np.sum(b_dot * sum_weights(ans, a, axis, keepdims, return_sign), axis=axis, keepdims=keepdims)
    return (moved, np.zeros_like(ans[1])) if return_sign else moved


# --- entropies and losses ---------------------------------------------------------------------------------------


@elementwise(sp.xlogy, guarded=True)
def xlogy(ans, x, y):
    return np.log(y), x / y


@elementwise(sp.xlog1py, guarded=True)
def xlog1py(ans, x, y):
    return np.log1p(y), x / (1 + y)


@elementwise(sp.entr, guarded=True)
def entr(ans, x):
    return -np.log(x) - 1


@elementwise(sp.rel_entr, guarded=True)
def rel_entr(ans, x, y):
    return np.log(x / y) + 1, -x / y


@elementwise(sp.kl_div, guarded=True)
def kl_div(ans, x, y):
    return np.log(x / y), 1 - x / y


@elementwise(sp.huber)
def huber(ans, delta, r):
    return np.maximum(np.abs(r) - delta, 0), np.clip(r, -delta, delta)


@elementwise(sp.pseudo_huber)
def pseudo_huber(ans, delta, r):
    length = np.sqrt(1 + (r / delta) ** 2)
    return (2 * ans - r**2 / length) / delta, r / length


# --- others of NumPy's names, and angles in degrees -------------------------------------------------------------


@elementwise(sp.cosm1)
def cosm1(ans, x):
    return -np.sin(x)


@elementwise(sp.exp2)
def exp2(ans, x):
    return 0.6931471805599453 * ans


@elementwise(sp.exp10)
def exp10(ans, x):
    return 2.302585092994046 * ans


@elementwise(sp.expm1)
def expm1(ans, x):
    return ans + 1


@elementwise(sp.log1p, singular=True)
def log1p(ans, x):
    return 1 / (1 + x)


@elementwise(sp.cbrt, guarded=True)
def cbrt(ans, x):
    return 1 / (3 * ans**2)


@elementwise(sp.sindg)
def sindg(ans, x):
    return DEGREE * sp.cosdg(x)


@elementwise(sp.cosdg)
def cosdg(ans, x):
    return -DEGREE * sp.sindg(x)


@elementwise(sp.tandg)
def tandg(ans, x):
    return DEGREE * (1 + ans**2)


@elementwise(sp.cotdg)
def cotdg(ans, x):
    return -DEGREE * (1 + ans**2)
