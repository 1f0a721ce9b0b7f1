"""Pseudoinverses and least squares, for matrices that keep their rank.

Golub and Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares problems whose variables
separate" (1973).
"""

import numpy as np

from s2s.rules.linalg import adjoint, hermitian, transposed
from s2s.rules.registry import jvp, vjp

# The parameter `hermitian` of `pinv` has the name of the function that takes the Hermitian part.
symmetric = hermitian

# --- the pseudoinverse ------------------------------------------------------------------------------------------


def pseudoinverse_cotangent(g, p, a):
    """The cotangent of a matrix from that of its pseudoinverse p."""
    gt = transposed(g)
    inside = transposed(p @ gt @ p)
    rows = (gt - a @ (p @ gt)) @ (p @ adjoint(p))
    columns = (adjoint(p) @ p) @ (gt - (gt @ p) @ a)
    return np.conj(rows + columns) - inside


def pseudoinverse_tangent(a_dot, p, a):
    """The tangent of the pseudoinverse p of a matrix."""
    turn = adjoint(a_dot)
    rows = (p @ adjoint(p)) @ (turn - (turn @ a) @ p)
    columns = (turn - p @ (a @ turn)) @ (adjoint(p) @ p)
    return rows + columns - p @ a_dot @ p


@vjp(np.linalg.pinv, wrt="a")
def pinv_vjp(g, ans, a, rcond=None, hermitian=False, *, rtol=None):
    a_bar = pseudoinverse_cotangent(g, ans, a)
    if hermitian:
        return symmetric(a_bar)
    return a_bar


@jvp(np.linalg.pinv, wrt="a")
def pinv_jvp(a_dot, ans, a, rcond=None, hermitian=False, *, rtol=None):
    if hermitian:
        return pseudoinverse_tangent(symmetric(a_dot), ans, a)
    return pseudoinverse_tangent(a_dot, ans, a)


# --- least squares ----------------------------------------------------------------------------------------------
# The solution is the pseudoinverse times b. What it leaves is orthogonal to the columns of a, so that its square does
# not move with the solution.


def cutoff(a, rcond):
    """Singular values smaller than this, relative to the largest, count as zero."""
    if rcond is None:
        return np.finfo(np.result_type(a, np.float32)).eps * max(np.shape(a))
    return np.finfo(np.result_type(a, np.float32)).eps if rcond == -1 else rcond


def columns(b):
    """A vector as a matrix of one column."""
    return b if np.ndim(b) == 2 else b[:, None]


@vjp(np.linalg.lstsq, wrt="b")
def lstsq_vjp_b(g, ans, a, b, rcond=None):
    b_bar = transposed(np.linalg.pinv(a, cutoff(a, rcond))) @ g[0]
    if np.size(ans[1]) == 0:
        return b_bar
    return b_bar + 2 * np.conj(b - a @ ans[0]) * g[1]


@jvp(np.linalg.lstsq, wrt="b")
def lstsq_jvp_b(b_dot, ans, a, b, rcond=None):
    x_dot = np.linalg.pinv(a, cutoff(a, rcond)) @ b_dot
    return x_dot, left_dot(b_dot, ans, a, b), np.zeros_like(ans[2]), np.zeros_like(ans[3])


@vjp(np.linalg.lstsq, wrt="a")
def lstsq_vjp_a(g, ans, a, b, rcond=None):
    inverse = np.linalg.pinv(a, cutoff(a, rcond))
    a_bar = pseudoinverse_cotangent(columns(g[0]) @ transposed(columns(b)), inverse, a)
    u, _, vh = np.linalg.svd(a, full_matrices=False)
    a_bar = a_bar + (np.conj(u) * g[3]) @ np.conj(vh)
    if np.size(ans[1]) == 0:
        return a_bar
    left = 2 * np.conj(b - a @ ans[0]) * g[1]
    return a_bar - columns(left) @ transposed(columns(ans[0]))


@jvp(np.linalg.lstsq, wrt="a")
def lstsq_jvp_a(a_dot, ans, a, b, rcond=None):
    inverse = np.linalg.pinv(a, cutoff(a, rcond))
    x_dot = pseudoinverse_tangent(a_dot, inverse, a) @ b
    u, _, vh = np.linalg.svd(a, full_matrices=False)
    s_dot = np.real(np.sum(np.conj(u) * (a_dot @ adjoint(vh)), axis=0))
    return x_dot, left_dot(-(a_dot @ ans[0]), ans, a, b), np.zeros_like(ans[2]), s_dot


def left_dot(motion, ans, a, b):
    """The tangent of the squares of what is left, if the function gives these."""
    if np.size(ans[1]) == 0:
        return np.zeros_like(ans[1])
    return np.reshape(2 * np.sum(np.real(np.conj(b - a @ ans[0]) * motion), axis=0), np.shape(ans[1]))
