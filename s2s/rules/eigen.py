"""Eigenvalues and vectors of a matrix that need not be symmetric.

With A V = V diag(w) and X = inv(V) dA V: dw is the diagonal of X, and dV follows from X off its diagonal, over the gaps
between eigenvalues, up to the scale of each vector. NumPy's vectors have length one, and the largest component real.
"""

import numpy as np

from s2s import kinds as K
from s2s.rules.linalg import transposed
from s2s.rules.registry import jvp, vjp
from s2s.rules.spectra import diagonal_matrix, off_diagonal, over_gaps
from s2s.runtime.numeric import real_if_real

EigResult = type(np.linalg.eig(np.eye(1)))


def eigenvalues_kind(a):
    """A real matrix may have complex eigenvalues, which its kind does not tell."""
    dtype, ndim = K.dtype_of(a), K.ndim_of(a)
    if dtype is None or ndim is None or dtype.kind != "c":
        return K.UNKNOWN
    return K.Array(dtype, ndim - 1)


def eigen_kind(a):
    """The kinds of the values and of the vectors."""
    w = eigenvalues_kind(a)
    return K.Tuple((w, w if w == K.UNKNOWN else K.Array(w.dtype, w.ndim + 1)), EigResult)


@vjp(np.linalg.eigvals, wrt="a", kind=eigenvalues_kind)
def eigvals_vjp(g, ans, a):
    v = np.linalg.eig(a)[1]
    return real_if_real(turned_back(diagonal_matrix(g), v), a)


@jvp(np.linalg.eigvals, wrt="a")
def eigvals_jvp(a_dot, ans, a):
    v = np.linalg.eig(a)[1]
    return np.diagonal(np.linalg.solve(v, a_dot @ v), axis1=-2, axis2=-1)


@vjp(np.linalg.eig, wrt="a", kind=eigen_kind)
def eig_vjp(g, ans, a):
    w, v = ans
    turning = transposed(v) @ without_scale(g[1], v)
    return real_if_real(turned_back(diagonal_matrix(g[0]) + over_gaps(turning, w), v), a)


@jvp(np.linalg.eig, wrt="a")
def eig_jvp(a_dot, ans, a):
    w, v = ans
    inner = np.linalg.solve(v, a_dot @ v)
    return np.diagonal(inner, axis1=-2, axis2=-1), scaled(v @ over_gaps(off_diagonal(inner), w), v)


def turned_back(inner, v):
    """The cotangent of the matrix from that of inv(V) dA V."""
    return np.linalg.solve(transposed(v), inner @ transposed(v))


def largest(v):
    """One at the largest component of each vector, which is real; zero elsewhere."""
    size = np.abs(v)
    return np.arange(v.shape[-2])[:, None] == np.expand_dims(np.argmax(size, axis=-2), -2)


def scaled(turn, v):
    """The motion of vectors, less what would change their lengths and the phases of their largest components."""
    growth = np.sum(np.real(np.conj(v) * turn), axis=-2, keepdims=True)
    if np.iscomplexobj(v):
        at = largest(v)
        phase = np.sum(np.where(at, np.imag(turn), 0), axis=-2, keepdims=True)
        return turn - v * (growth + 1j * phase / np.sum(np.where(at, np.real(v), 0), axis=-2, keepdims=True))
    return turn - v * growth


def without_scale(g, v):
    """The transpose of `scaled`."""
    share = np.sum(g * v, axis=-2, keepdims=True)
    if np.iscomplexobj(v):
        at = largest(v)
        real = np.sum(np.where(at, np.real(v), 0), axis=-2, keepdims=True)
        return g - np.conj(v) * np.real(share) - 1j * np.where(at, np.imag(share) / real, 0)
    return g - v * share
