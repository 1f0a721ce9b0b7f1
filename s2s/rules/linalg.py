"""Systems, inverses, determinants, Cholesky factors and norms, for matrices and stacks of them.

Giles, "Collected matrix derivative results for forward and reverse mode algorithmic differentiation" (2008); Murray,
"Differentiation of the Cholesky decomposition" (2016). Under `d = sum(real(g * dx))` transposes take the place of
adjoints where a function is holomorphic. A function that reads one triangle of a symmetric matrix gets a symmetric
cotangent.
"""

import numpy as np

from s2s.rules.kinds_of import reduced
from s2s.rules.registry import jvp, linear, vjp, zero_derivative
from s2s.runtime.minors import cofactors, cofactors_along, is_well_conditioned, refuse_third
from s2s.runtime.numeric import extremum_weight, guarded_divide, unbroadcast


def transposed(a):
    """Each matrix of a stack transposed."""
    return np.swapaxes(a, -1, -2)


def adjoint(a):
    """Each matrix of a stack transposed and conjugated."""
    return np.conj(np.swapaxes(a, -1, -2))


def hermitian(a):
    """The Hermitian part."""
    return (a + adjoint(a)) / 2


# --- systems and inverses ---------------------------------------------------------------------------------------


@vjp(np.linalg.inv, wrt="a")
def inv_vjp(g, ans, a):
    if a.ndim == 2:
        return -(ans.T @ g @ ans.T)
    return -(transposed(ans) @ g @ transposed(ans))


@jvp(np.linalg.inv, wrt="a")
def inv_jvp(a_dot, ans, a):
    return -(ans @ a_dot @ ans)


@linear(np.linalg.solve, wrt="b")
def solve_vjp_b(g, ans, a, b):
    if a.ndim == 2:
        if b.ndim <= 2:
            return np.linalg.solve(a.T, g)
    if b.ndim == 1:
        return unbroadcast(np.linalg.solve(transposed(a), np.expand_dims(g, -1))[..., 0], b.shape)
    return unbroadcast(np.linalg.solve(transposed(a), g), b.shape)


@vjp(np.linalg.solve, wrt="a")
def solve_vjp_a(g, ans, a, b):
    if a.ndim == 2:
        if b.ndim == 1:
            return -np.outer(np.linalg.solve(a.T, g), ans)
        if b.ndim == 2:
            return -(np.linalg.solve(a.T, g) @ ans.T)
    if b.ndim == 1:
        return -np.linalg.solve(transposed(a), np.expand_dims(g, -1)) * np.expand_dims(ans, -2)
    return -unbroadcast(np.linalg.solve(transposed(a), g) @ transposed(ans), a.shape)


@jvp(np.linalg.solve, wrt="a")
def solve_jvp_a(a_dot, ans, a, b):
    if b.ndim == 1:
        return -np.linalg.solve(a, a_dot @ np.expand_dims(ans, -1))[..., 0]
    return -np.linalg.solve(a, a_dot @ ans)


# --- determinants -----------------------------------------------------------------------------------------------


@vjp(np.linalg.det, wrt="a")
def det_vjp(g, ans, a):
    return np.expand_dims(g, (-1, -2)) * cofactors(a)


@jvp(np.linalg.det, wrt="a")
def det_jvp(a_dot, ans, a):
    return np.sum(cofactors(a) * a_dot, axis=(-1, -2))


@vjp(cofactors, wrt="a")
def cofactors_vjp(g, ans, a):
    if is_well_conditioned(a):
        turned = transposed(np.linalg.inv(a))
        trace = np.sum(turned * g, axis=(-1, -2), keepdims=True)
        return np.expand_dims(np.linalg.det(a), (-1, -2)) * (trace * turned - turned @ transposed(g) @ turned)
    return cofactors_along(a, g)


@jvp(cofactors, wrt="a")
def cofactors_jvp(a_dot, ans, a):
    return cofactors_vjp(a_dot, ans, a)  # the second derivative of the determinant is symmetric


@linear(cofactors_along, wrt="a_dot")
def cofactors_along_vjp(g, ans, a, a_dot):
    return cofactors_along(a, g)


@vjp(cofactors_along, wrt="a")
def cofactors_along_vjp_a(g, ans, a, a_dot):
    refuse_third(a)
    return np.zeros_like(a)


@jvp(cofactors_along, wrt="a")
def cofactors_along_jvp_a(along, ans, a, a_dot):
    refuse_third(a)
    return np.zeros_like(a)


zero_derivative(is_well_conditioned, refuse_third)


@vjp(np.linalg.slogdet, wrt="a")
def slogdet_vjp(g, ans, a):
    slope = transposed(np.linalg.inv(a))
    a_bar = np.expand_dims(g[1], (-1, -2)) * slope
    if np.iscomplexobj(a):
        turning = np.real(1j * g[0] * ans[0])
        return a_bar - 1j * np.expand_dims(turning, (-1, -2)) * slope
    return a_bar


@jvp(np.linalg.slogdet, wrt="a")
def slogdet_jvp(a_dot, ans, a):
    relative = np.trace(np.linalg.solve(a, a_dot), axis1=-2, axis2=-1)
    if np.iscomplexobj(a):
        return 1j * ans[0] * np.imag(relative), np.real(relative)
    return np.zeros_like(ans[0]), relative


# --- Cholesky factors -------------------------------------------------------------------------------------------


def lower_half(a):
    """The lower triangle with half the diagonal: what a factor takes of a symmetric product."""
    return np.tril(a) - np.eye(a.shape[-1]) * a / 2


@vjp(np.linalg.cholesky, wrt="a")
def cholesky_vjp(g, ans, a, *, upper=False):
    if upper:
        return cholesky_vjp(adjoint(g), adjoint(ans), a)
    inverse = np.linalg.inv(ans)
    return hermitian(transposed(inverse) @ lower_half(transposed(ans) @ g) @ np.conj(inverse))


@jvp(np.linalg.cholesky, wrt="a")
def cholesky_jvp(a_dot, ans, a, *, upper=False):
    if upper:
        return adjoint(cholesky_jvp(a_dot, adjoint(ans), a))
    inverse = np.linalg.inv(ans)
    return ans @ lower_half(inverse @ hermitian(a_dot) @ adjoint(inverse))


# --- norms ------------------------------------------------------------------------------------------------------


@vjp(np.linalg.norm, wrt="x", kind=reduced(np.linalg.norm, axis=2, keepdims=3))
def norm_vjp(g, ans, x, ord=None, axis=None, keepdims=False):
    if ord is None:
        if axis is None:
            return guarded_divide(g * np.conj(x), ans)
    if axis is not None:
        if not keepdims:
            g, ans = np.expand_dims(g, axis), np.expand_dims(ans, axis)
    return g * norm_slope(ans, x, ord, axis)


@jvp(np.linalg.norm, wrt="x")
def norm_jvp(x_dot, ans, x, ord=None, axis=None, keepdims=False):
    if ord is None:
        if axis is None:
            return guarded_divide(np.sum(np.real(np.conj(x) * x_dot), keepdims=keepdims), ans)
    kept = ans
    if axis is not None:
        if not keepdims:
            kept = np.expand_dims(ans, axis)
    return np.sum(np.real(norm_slope(kept, x, ord, axis) * x_dot), axis=axis, keepdims=keepdims)


def norm_slope(ans, x, ord, axis):
    """The derivative of a norm, whose axes were kept, by each element: zero where the norm has a corner."""
    axes = tuple(range(x.ndim)) if axis is None else (axis if isinstance(axis, tuple) else (axis,))
    if ord is None or ord == "fro" or (ord == 2 and len(axes) == 1):
        return guarded_divide(np.conj(x), ans)
    if len(axes) == 2:
        return matrix_norm_slope(ans, x, ord, axes)
    size = np.abs(x)
    phase = direction(x)
    if ord == np.inf or ord == -np.inf:
        return extremum_weight(size, ans, axes, True, None, True) * phase
    if ord == 0:
        return np.zeros_like(x)
    if ord >= 1:
        return guarded_divide(phase * size ** (ord - 1), ans ** (ord - 1))
    return guarded_divide(phase * ans ** (1 - ord), size ** (1 - ord))


def direction(x):
    """The derivative of the absolute value: of a real number its sign, which is constant."""
    if np.iscomplexobj(x):
        return guarded_divide(np.conj(x), np.abs(x))
    return np.sign(x)


def matrix_norm_slope(ans, x, ord, axes):
    """The derivative of a norm of matrices that lie along two axes."""
    if ord in (1, -1, np.inf, -np.inf):
        summed, chosen = axes if abs(ord) == 1 else axes[::-1]
        sums = np.sum(np.abs(x), axis=summed, keepdims=True)
        best = np.max(sums, axis=chosen, keepdims=True) if ord > 0 else np.min(sums, axis=chosen, keepdims=True)
        weight = extremum_weight(sums, best, chosen, True, None, True)
        return weight * direction(x)
    u, s, vh = np.linalg.svd(np.moveaxis(x, axes, (-2, -1)), full_matrices=False)
    if ord == "nuc":
        weights = np.sign(s)
    else:
        best = np.max(s, axis=-1, keepdims=True) if ord > 0 else np.min(s, axis=-1, keepdims=True)
        weights = extremum_weight(s, best, -1, True, None, True)
    slope = (np.conj(u) * np.expand_dims(weights, -2)) @ np.conj(vh)
    return np.moveaxis(slope, (-2, -1), axes)
