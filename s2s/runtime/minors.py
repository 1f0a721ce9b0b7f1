"""Cofactors of matrices: the derivative of a determinant by each element, and the derivative of that.

A determinant is a polynomial, and its derivatives are there whatever the rank. With A = U S V, singular values S and
unitary U and V, they are those of the determinant of S, turned: the cofactor of a diagonal matrix at (i, i) is the
product of the other singular values, and its derivatives hold products of all but two of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s.errors import ArgumentError
from s2s.runtime.recurrence import product_of_rest

# The derivative of cofactors by way of an inverse loses the square of the condition number.
_CONDITION = 1e3


def cofactors(a: Any) -> Any:
    """The cofactors of the matrices of a stack, of any rank: by way of the inverse where there is one."""
    record = getattr(type(a), "__s2s_function__", None)
    if record is not None:
        return record(a, cofactors, (type(a),), (a,), {})
    determinants = np.linalg.det(a)
    if np.all(determinants != 0):
        return np.expand_dims(determinants, (-1, -2)) * np.swapaxes(np.linalg.inv(a), -1, -2)
    u, s, v = np.linalg.svd(a)
    rest = product_of_rest(s, -1)
    return _turn(u, v) * ((np.conj(u) * np.expand_dims(rest, -2)) @ np.conj(v))


def is_well_conditioned(a: Any) -> bool:
    """Whether all matrices of a stack are, so that nothing is lost by way of their inverses."""
    record = getattr(type(a), "__s2s_function__", None)
    if record is not None:
        return record(a, is_well_conditioned, (type(a),), (a,), {})  # type: ignore[no-any-return]
    s = np.linalg.svd(a, compute_uv=False)
    return bool(np.all(s[..., -1:] * _CONDITION > s[..., :1]))


def cofactors_along(a: Any, a_dot: Any) -> Any:
    """The derivative of the cofactors along `a_dot`, at any rank: linear and symmetric, its own transpose."""
    for value in (a, a_dot):
        record = getattr(type(value), "__s2s_function__", None)
        if record is not None:
            return record(value, cofactors_along, (type(value),), (a, a_dot), {})
    u, s, v = np.linalg.svd(a)
    e = np.conj(np.swapaxes(u, -1, -2)) @ a_dot @ np.conj(np.swapaxes(v, -1, -2))
    n = s.shape[-1]
    pairs = _products_without_two(s)
    changed = -pairs * np.swapaxes(e, -1, -2)
    diagonal = np.sum(pairs * np.expand_dims(np.diagonal(e, axis1=-2, axis2=-1), -2), axis=-1)
    changed = np.where(np.eye(n, dtype=bool), np.expand_dims(diagonal, -1), changed)
    return _turn(u, v) * (np.conj(u) @ changed @ np.conj(v))


def refuse_third(a: Any) -> None:
    """There is no formula here for the third derivative of the determinant of an ill-conditioned matrix."""
    record = getattr(type(a), "__s2s_function__", None)
    if record is not None:
        return record(a, refuse_third, (type(a),), (a,), {})  # type: ignore[no-any-return]
    raise ArgumentError(
        "third derivatives of the determinant of a matrix that is singular, or nearly so, are not known",
        hint="write the determinant out, or use numpy.linalg.slogdet.",
    )


def _products_without_two(s: Any) -> Any:
    """The product of all entries but the i-th and j-th, for each pair along the last axis; zero for i = j."""
    n = s.shape[-1]
    at = np.arange(n)
    out = (at == at[:, None, None]) | (at == at[None, :, None])
    products = np.prod(np.where(out, 1.0, np.expand_dims(s, (-2, -3))), axis=-1)
    return products * (1 - np.eye(n))


def _turn(u: Any, v: Any) -> Any:
    return np.expand_dims(np.linalg.det(u) * np.linalg.det(v), (-1, -2))
