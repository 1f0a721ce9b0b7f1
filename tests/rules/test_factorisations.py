"""Cholesky factors, eigenvalues, singular values and QR, as functions of matrices that move within their kind."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import s2s
from s2s import rules
from s2s.errors import MissingRuleError
from tests.rules.checking import flat, inner, random_like

rng = np.random.default_rng(11)
START = rng.bit_generator.state


@pytest.fixture(autouse=True)
def same_numbers_in_every_order() -> None:
    rng.bit_generator.state = START


def adjoint(a: Any) -> Any:
    return np.conj(np.swapaxes(a, -1, -2))


def random(*shape: int, complex: bool = False) -> Any:
    return rng.normal(size=shape) + (1j * rng.normal(size=shape) if complex else 0)


def definite(*shape: int, complex: bool = False) -> Any:
    a = random(*shape, complex=complex)
    return a @ adjoint(a) + np.diag(np.arange(1.0, shape[-1] + 1))


def check_of_symmetric(function: Any, a: Any, weigh: Any = lambda out: out, **kwargs: Any) -> None:
    """Along a Hermitian direction, the tangent equals differences and the cotangent its transpose.

    weigh: what is compared, where the function's own result is not unique.
    """
    rule = rules.find(function)
    direction = random_like(a, rng)
    direction = (direction + adjoint(direction)) / 2
    check_along(rule, function, a, direction, weigh, kwargs)
    g = random_like(function(a, **kwargs), rng)
    a_bar = rule.vjps["a"](g, function(a, **kwargs), a, **kwargs)
    np.testing.assert_allclose(a_bar, adjoint(a_bar), atol=1e-8, err_msg="a symmetric matrix has a symmetric cotangent")


def check_along(rule: Any, function: Any, a: Any, direction: Any, weigh: Any, kwargs: dict[str, Any]) -> None:
    ans = function(a, **kwargs)
    tangent = rule.jvps["a"](direction, ans, a, **kwargs)

    def f(step: float) -> Any:
        return flat(weigh(function(a + step * direction, **kwargs)))

    def moved(step: float) -> Any:
        if isinstance(ans, tuple):
            return flat(weigh(type(ans)(*(x + step * t for x, t in zip(ans, tangent)))))
        return flat(weigh(ans + step * tangent))

    h = 1e-4
    expected = (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h)
    got = (8 * (moved(h) - moved(-h)) - (moved(2 * h) - moved(-2 * h))) / (12 * h)
    np.testing.assert_allclose(got, expected, atol=1e-6 * (1 + np.max(np.abs(expected))))


def check_transpose(function: Any, a: Any, g: Any, direction: Any, **kwargs: Any) -> None:
    rule = rules.find(function)
    ans = function(a, **kwargs)
    there = inner(g, rule.jvps["a"](direction, ans, a, **kwargs))
    back = inner(rule.vjps["a"](g, ans, a, **kwargs), direction)
    assert abs(there - back) < 1e-8 * (1 + abs(there))


@pytest.mark.parametrize("complex", [False, True])
@pytest.mark.parametrize("shape", [(3, 3), (2, 4, 4)])
def test_cholesky(shape: Any, complex: bool) -> None:
    a = definite(*shape, complex=complex)
    for kwargs in ({}, {"upper": True}):
        check_of_symmetric(np.linalg.cholesky, a, **kwargs)
        direction = definite(*shape, complex=complex)
        check_transpose(np.linalg.cholesky, a, random(*shape, complex=complex), direction, **kwargs)


@pytest.mark.parametrize("complex", [False, True])
@pytest.mark.parametrize("shape", [(3, 3), (2, 4, 4)])
def test_symmetric_eigenvalues(shape: Any, complex: bool) -> None:
    a = definite(*shape, complex=complex)
    check_of_symmetric(np.linalg.eigvalsh, a)
    check_of_symmetric(np.linalg.eigvalsh, a, UPLO="U")

    def projectors(out: Any) -> Any:
        w, v = out
        return [w, v[..., :, :1] @ adjoint(v[..., :, :1])]

    check_of_symmetric(np.linalg.eigh, a, weigh=projectors)
    direction = definite(*shape, complex=complex)
    w, v = np.linalg.eigh(a)
    g = np.conj((random(*shape) + adjoint(random(*shape))) @ v)  # the cotangent of a function of projectors
    g = g if not complex else gauge_free(g, v)
    check_transpose(np.linalg.eigh, a, type(np.linalg.eigh(a))(random(*w.shape), g), direction)


def gauge_free(g: Any, v: Any) -> Any:
    """A cotangent of vectors that does not depend on their phases."""
    turn = np.sum(g * v, axis=-2, keepdims=True)
    return g - 1j * np.imag(turn) * np.conj(v)


@pytest.mark.parametrize("complex", [False, True])
@pytest.mark.parametrize("shape", [(3, 3), (4, 3), (3, 4), (2, 3, 2)])
def test_singular_values(shape: Any, complex: bool) -> None:
    a, direction = random(*shape, complex=complex), random(*shape, complex=complex)
    rule = rules.find(np.linalg.svd)
    check_along(rule, np.linalg.svd, a, direction, lambda out: out, {"compute_uv": False})
    check_transpose(np.linalg.svd, a, random(*shape[:-2], min(shape[-2:])), direction, compute_uv=False)

    def rebuilt(out: Any) -> Any:
        u, s, vh = out
        return [s, (u * np.expand_dims(s**3, -2)) @ vh, u[..., :1] @ adjoint(u[..., :1])]

    check_along(rule, np.linalg.svd, a, direction, rebuilt, {"full_matrices": False})
    u, s, vh = ans = np.linalg.svd(a, full_matrices=False)
    u_bar, vh_bar = random_like(u, rng), random_like(vh, rng)
    if complex:
        u_bar = gauge_free(u_bar, u)
        vh_bar = np.swapaxes(gauge_free(np.swapaxes(vh_bar, -1, -2), np.swapaxes(vh, -1, -2)), -1, -2)
    check_transpose(np.linalg.svd, a, type(ans)(u_bar, random_like(s, rng), vh_bar), direction, full_matrices=False)


def test_vectors_without_a_singular_value_have_no_derivative() -> None:
    a = random(4, 2)
    rule, ans = rules.find(np.linalg.svd), np.linalg.svd(a)
    g = type(ans)(*(np.zeros_like(x) for x in ans))
    g.S[:] = 1
    values_alone = rule.vjps["a"](g, ans, a)
    np.testing.assert_allclose(values_alone, rule.vjps["a"](g.S, ans.S, a, compute_uv=False))
    g.U[0, 3] = 1
    with pytest.raises(MissingRuleError, match="full_matrices"):
        rule.vjps["a"](g, ans, a)


@pytest.mark.parametrize("complex", [False, True])
@pytest.mark.parametrize("shape", [(3, 3), (4, 3), (2, 4, 2)])
def test_qr(shape: Any, complex: bool) -> None:
    a, direction = random(*shape, complex=complex), random(*shape, complex=complex)
    rule = rules.find(np.linalg.qr)
    for mode in ("reduced", "r"):
        ans = np.linalg.qr(a, mode=mode)
        g = random_like(ans, rng)
        check_along(rule, np.linalg.qr, a, direction, lambda out: out, {"mode": mode})
        check_transpose(np.linalg.qr, a, g, direction, mode=mode)


def test_complete_qr_has_a_derivative_as_far_as_it_is_unique() -> None:
    a = random(4, 2)
    rule, ans = rules.find(np.linalg.qr), np.linalg.qr(a, mode="complete")
    g = type(ans)(*(np.zeros_like(x) for x in ans))
    g.R[:2] = random(2, 2)
    expected = rule.vjps["a"](g.R[:2], np.linalg.qr(a, mode="r"), a, "r")
    np.testing.assert_allclose(rule.vjps["a"](g, ans, a, "complete"), expected)
    g.Q[0, 3] = 1
    with pytest.raises(MissingRuleError, match="complete"):
        rule.vjps["a"](g, ans, a, "complete")


def test_repeated_eigenvalues_and_singular_values_stay_finite() -> None:
    a = np.eye(3)
    eigh, svd = rules.find(np.linalg.eigh), rules.find(np.linalg.svd)
    ans = np.linalg.eigh(a)
    g = type(ans)(np.array([1.0, 2.0, 3.0]), np.zeros((3, 3)))
    np.testing.assert_allclose(eigh.vjps["a"](g, ans, a), np.diag([1.0, 2.0, 3.0]))
    ans = np.linalg.svd(a)
    g = type(ans)(np.zeros((3, 3)), np.ones(3), np.zeros((3, 3)))
    np.testing.assert_allclose(svd.vjps["a"](g, ans, a), np.eye(3))


def leibniz(m):
    """The determinant as the polynomial that it is."""
    total = 0.0
    for order in itertools.permutations(range(m.shape[0])):
        sign = round(np.linalg.det(np.eye(m.shape[0])[list(order)]))
        total = total + sign * math.prod(m[i, j] for i, j in enumerate(order))
    return total


@pytest.mark.parametrize("rank", [0, 1, 2, 3])
def test_a_determinant_has_second_derivatives_at_any_rank(rank, rng):
    m = rng.normal(size=(3, rank)) @ rng.normal(size=(rank, 3))
    v = rng.normal(size=(3, 3))
    expected = np.empty((3, 3, 3, 3))
    for at in np.ndindex(3, 3, 3, 3):  # a polynomial of degree one in each element: differences are exact
        (i, j), (k, l) = at[:2], at[2:]
        e, f = np.zeros((3, 3)), np.zeros((3, 3))
        e[i, j], f[k, l] = 1, 1
        expected[at] = (leibniz(m + e + f) - leibniz(m + e - f) - leibniz(m - e + f) + leibniz(m - e - f)) / 4
    np.testing.assert_allclose(s2s.hessian(np.linalg.det)(m), expected, atol=1e-12)
    product = np.tensordot(expected, v)
    along = s2s.grad(lambda m: np.sum(s2s.grad(np.linalg.det)(m) * v))
    np.testing.assert_allclose(along(m), product, atol=1e-12)
    np.testing.assert_allclose(s2s.hvp(np.linalg.det, (m,), (v,)), product, atol=1e-12)
