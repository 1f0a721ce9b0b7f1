"""Eigenvalues, singular values and QR: factorisations whose factors move with the matrix.

Townsend, "Differentiating the singular value decomposition" (2016); Walter and Lehmann, "On higher-order derivatives of
matrix operations" (2013). With an equal pair of eigenvalues or singular values, the vectors turn infinitely fast: a
quotient whose numerator is zero counts as zero then, so that functions of the values alone, or of the space that the
vectors span, stay finite.
"""

import numpy as np

from s2s.errors import MissingRuleError
from s2s.rules.linalg import adjoint, hermitian, transposed
from s2s.rules.registry import jvp, vjp
from s2s.runtime.numeric import guarded_divide


def off_diagonal(a):
    """A square matrix without its diagonal."""
    return a * (1 - np.eye(a.shape[-1]))


def diagonal_matrix(a):
    """A stack of diagonal matrices with these diagonals."""
    return np.expand_dims(a, -2) * np.eye(a.shape[-1])


def over_gaps(numerator, values):
    """Off the diagonal, `numerator[i, j] / (values[j] - values[i])`."""
    gaps = np.expand_dims(values, -2) - np.expand_dims(values, -1) + np.eye(values.shape[-1])
    return guarded_divide(off_diagonal(numerator), gaps)


# --- symmetric eigenvalues --------------------------------------------------------------------------------------


@vjp(np.linalg.eigh, wrt="a")
def eigh_vjp(g, ans, a, UPLO="L"):
    w, v = ans
    turning = transposed(v) @ g[1]
    inner = diagonal_matrix(g[0]) + over_gaps(turning - adjoint(turning), w) / 2
    return np.conj(v) @ inner @ transposed(v)


@jvp(np.linalg.eigh, wrt="a")
def eigh_jvp(a_dot, ans, a, UPLO="L"):
    w, v = ans
    inner = adjoint(v) @ hermitian(a_dot) @ v
    return np.real(np.diagonal(inner, axis1=-2, axis2=-1)), v @ over_gaps(inner, w)


@vjp(np.linalg.eigvalsh, wrt="a")
def eigvalsh_vjp(g, ans, a, UPLO="L"):
    v = np.linalg.eigh(a, UPLO)[1]
    return (np.conj(v) * np.expand_dims(g, -2)) @ transposed(v)


@jvp(np.linalg.eigvalsh, wrt="a")
def eigvalsh_jvp(a_dot, ans, a, UPLO="L"):
    v = np.linalg.eigh(a, UPLO)[1]
    return np.real(np.sum(np.conj(v) * (hermitian(a_dot) @ v), axis=-2))


# --- singular values --------------------------------------------------------------------------------------------
# The formulas are those of the thin decomposition, in adjoint matrices; conjugation takes them to our convention.


@vjp(np.linalg.svd, wrt="a")
def svd_vjp(g, ans, a, full_matrices=True, compute_uv=True, hermitian=False):
    if not compute_uv:
        u, _, vh = np.linalg.svd(a, full_matrices=False)
        return (np.conj(u) * np.expand_dims(g, -2)) @ np.conj(vh)
    (u, s, vh), (u_bar, s_bar, vh_bar) = thin(ans), thin_cotangents(g, ans)
    v, u_bar, v_bar = adjoint(vh), np.conj(u_bar), transposed(vh_bar)
    turn_u, turn_v = adjoint(u) @ u_bar, adjoint(v) @ v_bar
    row, column = np.expand_dims(s, -2), np.expand_dims(s, -1)
    inner = over_gaps(turn_u - adjoint(turn_u), s**2) * row + column * over_gaps(turn_v - adjoint(turn_v), s**2)
    inner = inner + diagonal_matrix(s_bar)
    if np.iscomplexobj(a):
        inner = inner + diagonal_matrix(guarded_divide(1j * np.imag(np.diagonal(turn_u, axis1=-2, axis2=-1)), s))
    a_bar = u @ inner @ vh
    return np.conj(a_bar + outside(u_bar, u, turn_u, s) @ vh + u @ adjoint(outside(v_bar, v, turn_v, s)))


@jvp(np.linalg.svd, wrt="a")
def svd_jvp(a_dot, ans, a, full_matrices=True, compute_uv=True, hermitian=False):
    if not compute_uv:
        u, _, vh = np.linalg.svd(a, full_matrices=False)
        return np.real(np.sum(np.conj(u) * (a_dot @ adjoint(vh)), axis=-2))
    refuse_wide(ans)
    u, s, vh = ans
    v = adjoint(vh)
    inner = adjoint(u) @ a_dot @ v
    row, column = np.expand_dims(s, -2), np.expand_dims(s, -1)
    turn_u = over_gaps(inner * row + column * adjoint(inner), s**2)
    turn_v = over_gaps(column * inner + adjoint(inner) * row, s**2)
    if np.iscomplexobj(a):
        turn_u = turn_u + diagonal_matrix(guarded_divide(1j * np.imag(np.diagonal(inner, axis1=-2, axis2=-1)), s))
    u_dot = u @ turn_u + outside(a_dot @ v, u, inner, s)
    v_dot = v @ turn_v + outside(adjoint(a_dot) @ u, v, adjoint(inner), s)
    return u_dot, np.real(np.diagonal(inner, axis1=-2, axis2=-1)), adjoint(v_dot)


def outside(moved, vectors, within, s):
    """What leaves the space that the vectors span, over the singular values; a whole basis spans all there is."""
    if vectors.shape[-2] == vectors.shape[-1]:
        return np.zeros_like(vectors)
    return guarded_divide(moved - vectors @ within, np.expand_dims(s, -2))


def thin(factors):
    """The vectors that belong to singular values."""
    u, s, vh = factors
    return u[..., : s.shape[-1]], s, vh[..., : s.shape[-1], :]


def thin_cotangents(g, ans):
    """Their cotangents. Further vectors, of full matrices, complete a basis in no particular way."""
    count = ans[1].shape[-1]
    if np.any(g[0][..., count:]) or np.any(g[2][..., count:, :]):
        refuse_wide(ans)
    return thin((g[0], g[1], g[2]))


def refuse_wide(ans):
    """Vectors beyond the singular values have no derivative."""
    if ans[0].shape[-1] != ans[1].shape[-1] or ans[2].shape[-2] != ans[1].shape[-1]:
        raise MissingRuleError(
            "the vectors of svd(full_matrices=True) that belong to no singular value have no derivative",
            hint="call svd(a, full_matrices=False)",
        )


# --- QR ---------------------------------------------------------------------------------------------------------


@vjp(np.linalg.qr, wrt="a")
def qr_vjp(g, ans, a, mode="reduced"):
    q, r, q_bar, r_bar = factors_and_cotangents(g, ans, a, mode)
    inner = np.triu(np.conj(r_bar) @ adjoint(r) - adjoint(q) @ np.conj(q_bar))
    inner = inner + adjoint(np.triu(inner, 1)) - imaginary_diagonal(inner)
    return np.conj((np.conj(q_bar) + q @ inner) @ adjoint(np.linalg.inv(r)))


@jvp(np.linalg.qr, wrt="a")
def qr_jvp(a_dot, ans, a, mode="reduced"):
    refuse_complete(a, mode)
    q, r = np.linalg.qr(a) if mode == "r" else ans
    scaled = a_dot @ np.linalg.inv(r)
    inner = adjoint(q) @ scaled
    lower = np.tril(inner, -1)
    turn = lower - adjoint(lower) + imaginary_diagonal(inner)
    r_dot = (inner - turn) @ r
    if mode == "r":
        return r_dot
    return scaled - q @ (inner - turn), r_dot


def imaginary_diagonal(a):
    """What the diagonal has beside its real part, as a matrix; 0 for a real matrix."""
    return 1j * np.eye(a.shape[-1]) * np.imag(a) if np.iscomplexobj(a) else 0


def factors_and_cotangents(g, ans, a, mode):
    """The factors of the reduced decomposition, and their cotangents."""
    if a.shape[-2] < a.shape[-1]:
        refuse_complete(a, "complete")
    q, r = np.linalg.qr(a)
    if mode == "r":
        return q, r, np.zeros_like(q), g
    count = r.shape[-2]
    if mode == "complete":
        if np.any(g[0][..., count:]):
            refuse_complete(a, mode)
        return q, r, g[0][..., :count], g[1][..., :count, :]
    return q, r, g[0], g[1]


def refuse_complete(a, mode):
    """Columns of q beyond those of a square or tall matrix have no derivative."""
    if a.shape[-2] < a.shape[-1] or (mode == "complete" and a.shape[-2] > a.shape[-1]):
        raise MissingRuleError(
            f"qr of a matrix of shape {a.shape[-2:]} in mode {mode!r} has no derivative",
            hint="take a matrix with no more columns than rows, in mode 'reduced'",
        )
