"""The gamma function, Bessel functions, integrals and hypergeometric functions of `scipy.special`.

See `scipy_special`. Parameters by which no formula is known (the order of a Bessel function, the shape of an incomplete
gamma function) have no derivative.
"""

import numpy as np
from scipy import special as sp

from s2s.rules.registry import elementwise, jvp, vjp
from s2s.runtime.numeric import fitted, unbroadcast

# --- the gamma function and its like ----------------------------------------------------------------------------


@elementwise(sp.gamma)
def gamma(ans, z):
    return ans * sp.psi(z)


@elementwise(sp.gammaln, sp.loggamma)
def gammaln(ans, x):
    return sp.psi(x)


@elementwise(sp.psi)
def psi(ans, z):
    return sp.zeta(2, z)


@elementwise(sp.zeta, wrt="q")
def zeta(ans, x, q=None, out=None):
    return -x * sp.zeta(np.add(x, 1), q)


@elementwise(sp.polygamma, wrt="x")
def polygamma(ans, n, x):
    return sp.polygamma(np.add(n, 1), x)


@elementwise(sp.rgamma)
def rgamma(ans, z):
    pole = ans == 0
    steps = np.where(pole, np.real(z), 0)
    return np.where(pole, sp.gamma(1 - steps) * np.cos(np.pi * steps), -ans * sp.psi(np.where(pole, 1, z)))[()]


@elementwise(sp.multigammaln, wrt="a")
def multigammaln(ans, a, d):
    return np.sum(sp.psi(np.expand_dims(a, -1) - np.arange(d) / 2), axis=-1)


@elementwise(sp.beta)
def beta(ans, a, b):
    both = sp.psi(a + b)
    return ans * (sp.psi(a) - both), ans * (sp.psi(b) - both)


@elementwise(sp.betaln)
def betaln(ans, a, b):
    both = sp.psi(a + b)
    return sp.psi(a) - both, sp.psi(b) - both


@elementwise(sp.gammainc, wrt="x", guarded=True)
def gammainc(ans, a, x):
    return np.exp(sp.xlogy(a - 1, x) - x - sp.gammaln(a))


@elementwise(sp.gammaincc, wrt="x", guarded=True)
def gammaincc(ans, a, x):
    return -np.exp(sp.xlogy(a - 1, x) - x - sp.gammaln(a))


@elementwise(sp.betainc, wrt="x", guarded=True)
def betainc(ans, a, b, x):
    return fitted(np.exp(sp.xlogy(a - 1, x) + sp.xlog1py(b - 1, -x) - sp.betaln(a, b)), ans)


if hasattr(sp, "betaincc"):  # since SciPy 1.11

    @elementwise(sp.betaincc, wrt="x", guarded=True)
    def betaincc(ans, a, b, x):
        return fitted(-np.exp(sp.xlogy(a - 1, x) + sp.xlog1py(b - 1, -x) - sp.betaln(a, b)), ans)


# --- Bessel functions -------------------------------------------------------------------------------------------


@elementwise(sp.j0)
def j0(ans, x):
    return -sp.j1(x)


@elementwise(sp.j1)
def j1(ans, x):
    return (sp.j0(x) - sp.jv(2, x)) / 2


@elementwise(sp.y0)
def y0(ans, x):
    return -sp.y1(x)


@elementwise(sp.y1)
def y1(ans, x):
    return (sp.y0(x) - sp.yv(2, x)) / 2


@elementwise(sp.i0)
def i0(ans, x):
    return sp.i1(x)


@elementwise(sp.i1)
def i1(ans, x):
    return (sp.i0(x) + sp.iv(2, x)) / 2


@elementwise(sp.i0e)
def i0e(ans, x):
    return sp.i1e(x) - np.sign(x) * ans


@elementwise(sp.i1e)
def i1e(ans, x):
    return (sp.i0e(x) + sp.ive(2, x)) / 2 - np.sign(x) * ans


@elementwise(sp.k0)
def k0(ans, x):
    return -sp.k1(x)


@elementwise(sp.k1)
def k1(ans, x):
    return -(sp.k0(x) + sp.kv(2, x)) / 2


@elementwise(sp.k0e)
def k0e(ans, x):
    return ans - sp.k1e(x)


@elementwise(sp.k1e)
def k1e(ans, x):
    return ans - (sp.k0e(x) + sp.kve(2, x)) / 2


@elementwise(sp.jv, wrt="z")
def jv(ans, v, z):
    return (sp.jv(v - 1, z) - sp.jv(v + 1, z)) / 2


@elementwise(sp.yv, wrt="z")
def yv(ans, v, z):
    return (sp.yv(v - 1, z) - sp.yv(v + 1, z)) / 2


@elementwise(sp.yn, wrt="x")
def yn(ans, n, x):
    return (sp.yv(n - 1, x) - sp.yv(n + 1, x)) / 2


@elementwise(sp.iv, wrt="z")
def iv(ans, v, z):
    return (sp.iv(v - 1, z) + sp.iv(v + 1, z)) / 2


@elementwise(sp.kv, wrt="z")
def kv(ans, v, z):
    return -(sp.kv(v - 1, z) + sp.kv(v + 1, z)) / 2


@elementwise(sp.kn, wrt="x")
def kn(ans, n, x):
    return -(sp.kv(n - 1, x) + sp.kv(n + 1, x)) / 2


@elementwise(sp.kve, wrt="z")
def kve(ans, v, z):
    return ans - (sp.kve(v - 1, z) + sp.kve(v + 1, z)) / 2


@vjp(sp.ive, wrt="z")
def ive_vjp(g, ans, v, z):
    slope = (sp.ive(v - 1, z) + sp.ive(v + 1, z)) / 2
    return unbroadcast(g * slope - np.real(g * ans) * np.sign(np.real(z)), np.shape(z))


@jvp(sp.ive, wrt="z")
def ive_jvp(z_dot, ans, v, z):
    slope = (sp.ive(v - 1, z) + sp.ive(v + 1, z)) / 2
    return slope * z_dot - np.sign(np.real(z)) * ans * np.real(z_dot)


# --- integrals and hypergeometric functions ---------------------------------------------------------------------


@elementwise(sp.exp1, singular=True)
def exp1(ans, z):
    return -np.exp(-z) / z


@elementwise(sp.expi, singular=True)
def expi(ans, x):
    return np.exp(x) / x


@elementwise(sp.spence, singular=True)
def spence(ans, z):
    return np.where(z == 1, -1, np.log(z) / np.where(z == 1, 1, 1 - z))[()]


@elementwise(sp.expn, wrt="x", guarded=True)
def expn(ans, n, x):
    return -np.where(np.equal(n, 0), ans * (1 + 1 / x), sp.expn(np.maximum(n - 1, 0), x))


@elementwise(sp.hyp1f1, wrt="x")
def hyp1f1(ans, a, b, x):
    return a / b * sp.hyp1f1(a + 1, b + 1, x)


@elementwise(sp.hyp2f1, wrt="z")
def hyp2f1(ans, a, b, c, z):
    return a * b / c * sp.hyp2f1(a + 1, b + 1, c + 1, z)


@elementwise(sp.exprel)
def exprel(ans, x):
    return fitted(sp.hyp1f1(2.0, 3.0, x) / 2, ans)


@elementwise(sp.ellipk, singular=True)
def ellipk(ans, m):
    return fitted(np.pi / 8 * sp.hyp2f1(1.5, 1.5, 2.0, m), ans)


@elementwise(sp.ellipkm1, singular=True)
def ellipkm1(ans, p):
    return fitted(-np.pi / 8 * sp.hyp2f1(1.5, 1.5, 2.0, 1 - p), ans)


@elementwise(sp.ellipe, guarded=True)
def ellipe(ans, m):
    return fitted(-np.pi / 8 * sp.hyp2f1(0.5, 1.5, 2.0, m), ans)


@elementwise(sp.wrightomega)
def wrightomega(ans, z):
    return ans / (1 + ans)


@elementwise(sp.lambertw, wrt="z", singular=True)
def lambertw(ans, z, k=0, tol=1e-8):
    return 1 / (np.exp(ans) * (1 + ans))
