"""Polynomials of `numpy`, highest power first; those of `numpy.polynomial` stand in `series`."""

import numpy as np

from s2s import kinds as K
from s2s.errors import MissingRuleError
from s2s.rules.eigen import eigvals_jvp, eigvals_vjp
from s2s.rules.registry import decompose, jvp, vjp, zero_derivative
from s2s.rules.series import constant, fitted, precision

# --- sums and products ------------------------------------------------------------------------------------------


def front(longer, shorter):
    """The padding in front that makes a polynomial as long as another."""
    return (max(np.size(longer) - np.size(shorter), 0), 0)


zero_derivative(front)


@decompose(np.polyadd)
def polyadd(a1, a2):
    a1, a2 = np.atleast_1d(a1), np.atleast_1d(a2)
    return np.pad(a1, front(a2, a1)) + np.pad(a2, front(a1, a2))


@decompose(np.polysub)
def polysub(a1, a2):
    a1, a2 = np.atleast_1d(a1), np.atleast_1d(a2)
    return np.pad(a1, front(a2, a1)) - np.pad(a2, front(a1, a2))


@decompose(np.polymul)
def polymul(a1, a2):
    return np.convolve(a1, a2)


@decompose(np.polydiv)
def polydiv(u, v):
    u, v = np.atleast_1d(u), np.atleast_1d(v)
    m, n = len(u), len(v)
    size = rest_size(u, v)
    if m < n:
        return 0 * u[:1], u[m - size :]
    shifted = shifts(m - n + 1, n, u, v) @ v
    found = np.linalg.solve(shifted[:, : m - n + 1].T, u[: m - n + 1])
    return found, (u - found @ shifted)[m - size :]


def rest_size(u, v):
    """How many coefficients the remainder of a division has: NumPy drops those that are zero."""
    return len(np.polydiv(u, v)[1])


def shifts(rows, size, u, v):
    """The matrices that move a polynomial of some size by one place for each row."""
    return np.stack([np.eye(rows + size - 1, size, -i, precision(u, v)) for i in range(rows)])


zero_derivative(rest_size, kind=lambda u, v: K.Int())
zero_derivative(shifts, kind=constant(3))


# --- derivatives and integrals ----------------------------------------------------------------------------------


@decompose(np.polyder)
def polyder(p, m=1):
    for _ in range(m):
        p = p[:-1] * np.arange(len(p) - 1, 0, -1)
    return p


@decompose(np.polyint)
def polyint(p, m=1, k=None):
    p = np.asarray(p)
    constants = np.zeros(m) if k is None else np.ravel(k) * np.ones(m)
    for i in range(m):
        p = np.concatenate([p / np.arange(len(p), 0, -1), constants[i : i + 1]])
    return p


# --- fits -------------------------------------------------------------------------------------------------------


def without_extras(full, cov):
    """Refuse the further results of a fit."""
    if full or cov:
        raise MissingRuleError("the residuals and covariances of a polynomial fit have no derivative")


zero_derivative(without_extras)


@decompose(np.polyfit)
def polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False):
    without_extras(full, cov)
    return fitted(np.expand_dims(np.asarray(x), -1) ** np.arange(deg + 1), x, y, deg, rcond, w)[::-1]


# --- roots ------------------------------------------------------------------------------------------------------
# The polynomial stays zero at a root that moves. The derivative of the product of all factors by one root is that of
# the other factors, negated.


@vjp(np.roots, wrt="p", kind=lambda p: K.UNKNOWN)
def roots_vjp(g, ans, p):
    return np.real(g @ root_slopes(ans, p)) if not np.iscomplexobj(p) else g @ root_slopes(ans, p)


@jvp(np.roots, wrt="p")
def roots_jvp(p_dot, ans, p):
    return root_slopes(ans, p) @ p_dot


def root_slopes(roots, p):
    """The derivative of each root by each coefficient."""
    powers = np.expand_dims(roots, -1) ** np.arange(len(p) - 1, -1, -1)
    slope = np.polyval(np.polyder(p), roots)
    return -powers / np.expand_dims(slope, -1)


def product_kind(seq_of_zeros):
    """Complex roots may make a real polynomial."""
    dtype, ndim = K.dtype_of(seq_of_zeros), K.ndim_of(seq_of_zeros)
    return (
        K.Array(np.result_type(dtype, float), 1) if dtype is not None and dtype.kind == "f" and ndim == 1 else K.UNKNOWN
    )


def product_slopes(roots):
    """The derivative of each coefficient by each root."""
    size = len(roots)
    rows = [np.concatenate([np.zeros(1), -np.poly(np.delete(roots, i))]) for i in range(size)]
    return np.stack(rows)


def eigenvalues(seq):
    """The roots that `np.poly` is given, or those of a matrix."""
    return np.linalg.eigvals(seq) if np.ndim(seq) == 2 else seq


@vjp(np.poly, wrt="seq_of_zeros", kind=product_kind)
def poly_vjp(g, ans, seq_of_zeros):
    roots = eigenvalues(seq_of_zeros)
    roots_bar = product_slopes(roots) @ g
    return eigvals_vjp(roots_bar, roots, seq_of_zeros) if np.ndim(seq_of_zeros) == 2 else roots_bar


@jvp(np.poly, wrt="seq_of_zeros")
def poly_jvp(seq_of_zeros_dot, ans, seq_of_zeros):
    roots, roots_dot = eigenvalues(seq_of_zeros), seq_of_zeros_dot
    if np.ndim(seq_of_zeros) == 2:
        roots_dot = eigvals_jvp(seq_of_zeros_dot, roots, seq_of_zeros)
    moved = roots_dot @ product_slopes(roots)
    return moved if np.iscomplexobj(ans) else np.real(moved)
