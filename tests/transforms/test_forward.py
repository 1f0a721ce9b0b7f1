"""Forward mode: the tangent agrees with differences and with the gradient; values are the plain call's."""

import math

import numpy as np
import pytest

import s2s
from tests.programs.verify import STEPS, stages_of, verify

U = np.array([0.3, -0.8, 1.2, 0.5])


def agrees(f, primals, tangents):
    """The tangent of a number or array is that of central differences."""
    value, tangent = s2s.jvp(f, primals, tangents, strict=True)
    assert np.array_equal(value, f(*primals))
    h = STEPS[0]
    up, down = (f(*(x if d is None else x + s * h * d for x, d in zip(primals, tangents))) for s in (1, -1))
    np.testing.assert_allclose(tangent, (np.asarray(up) - down) / (2 * h), rtol=1e-6, atol=1e-8)
    assert np.shape(tangent) == np.shape(value)
    return value, tangent


def test_loop_with_branches():
    def f(x, u):
        s = x
        for v in u:
            if v > 0:
                s = s * v + math.sin(s)
            else:
                s = s - x * v
        return s

    agrees(f, (0.7, U), (0.3, U[::-1]))


def test_result_that_is_an_array():
    def f(x, u):
        return np.cumsum(u * x) / (2.0 + u @ u)

    agrees(f, (0.7, U), (1.0, None))
    agrees(f, (0.7, U), (None, U * 0.1))


def test_result_that_is_broadcast():
    def f(x, u):
        return x + np.outer(u, U) * 0.0 + x

    _, tangent = agrees(f, (0.7, U), (1.0, None))
    assert tangent.shape == (4, 4) and np.all(tangent == 2.0)


def test_result_that_does_not_depend_on_what_moves():
    def f(x, u):
        return u * 2.0

    assert np.array_equal(s2s.jvp(f, (0.7, U), (1.0, None), strict=True)[1], np.zeros(4))


def test_containers_have_tangents_of_their_structure():
    def f(pair, knobs):
        x, u = pair
        return {"a": x * u * knobs["rate"], "b": (x, knobs["rate"] * 2.0)}

    value, tangent = s2s.jvp(f, ((0.7, U), {"rate": 0.3}), ((1.0, U * 0.0), {"rate": 2.0}), strict=True)
    np.testing.assert_allclose(tangent["a"], U * 0.3 + 0.7 * U * 2.0)
    assert tangent["b"] == (1.0, 4.0) and value["b"] == (0.7, 0.6)


def test_float32_keeps_its_precision():
    def f(u):
        return np.tanh(u * 2.0)

    u = U.astype(np.float32)
    value, tangent = s2s.jvp(f, (u,), (u,), strict=True)
    assert value.dtype == tangent.dtype == np.float32


def test_names_of_tangents_may_be_the_users():
    def f(x, x_dot):
        t = x * x_dot
        s_dot = t * x
        s = s_dot * s_dot
        return s * x_dot

    agrees(f, (0.7, 0.3), (1.0, 0.5))


def test_early_return_from_a_loop():
    def f(x, u):
        for v in u:
            x = x * 1.3 + v
            if x > 1.5137:
                return x * x
        return x

    agrees(f, (0.7, U), (1.0, U))
    agrees(f, (-3.0, U), (1.0, U))


def test_name_that_may_be_unbound():
    def f(x, u):
        found = 0
        for v in u:
            if v > 0.4:
                best = v * x
                found += 1
        return best * best if found else x

    agrees(f, (0.7, U), (1.0, U))
    agrees(f, (0.7, -abs(U)), (1.0, U))


def test_tangent_at_a_kink_is_the_gradients():
    def f(x, u):
        return abs(x) + np.max(u) + np.sum(np.abs(u)) + np.linalg.norm(u)

    args = 0.0, np.zeros(3)
    along = s2s.jvp(f, args, (1.0, np.ones(3)), strict=True)[1]
    by_x, by_u = s2s.grad(f, (0, 1), strict=True)(*args)
    assert math.isclose(along, by_x + np.sum(by_u))


def test_each_stage_of_forward_mode_runs():
    def helper(a, b=0.5):
        if a > b:
            return a * b
        return math.sin(a)

    def f(x, u, pair):
        s = x
        for i, v in enumerate(u):
            s = helper(s) + v * i
            if s > 2.0:
                break
        first, *rest = pair
        return s * first + rest[0] @ u

    args = 0.7, U, (0.3, U * 0.2)
    assert verify(f, args).compiled
    tangents = {"x_dot": 1.0, "u_dot": U, "pair_dot": (0.5, U * 0.1)}
    value, tangent = s2s.jvp(f, args, tuple(tangents.values()), strict=True)
    gradient = s2s.value_and_grad(f, (0, 1, 2), strict=True)
    seen = []
    for name, program in stages_of(gradient, args, mode="jvp"):
        from s2s.codegen.build import build

        made = build(program).function
        if "forward" in seen or name == "forward":
            out = made(*args, **tangents)
            assert out[0] == value
            assert math.isclose(out[1], tangent, rel_tol=1e-12), name
        else:
            assert made(*args) == value, name
        seen.append(name)
    assert seen[0] == "lower" and seen[-1] == "comment"


def test_exceptions_pass_unchanged_with_the_users_line():
    def f(u, i):
        return u[i] * 2.0  # this index

    with pytest.raises(IndexError) as caught:
        s2s.jvp(f, (U, 9), (U, None), strict=True)
    assert any("return u[i] * 2.0  # this index" in note for note in caught.value.__notes__)


def real_parts_written(x):
    b = x * 1
    b.real[0] = x[1]
    b.real[1:] *= x[:-1]
    return np.sum(b * b)


def eigenvalues_written(x):
    m = np.outer(x, x) + np.diag(x * x + np.arange(len(x)))
    w, v = np.linalg.eigh(m)
    w[w < np.mean(w)] = 0.0
    v[0] *= x[0] ** 2
    return np.sum((v * w) @ v.T)


def singular_values_written(x):
    u, s, vt = np.linalg.svd(np.outer(x, x) + np.diag(x * x + np.arange(len(x))))
    s[1:] = 0.0
    u *= s
    return np.sum(u @ vt)


def asked_for_as_an_array(x):
    b = np.asarray(x * 1, dtype=float)
    b[0] = 2.0 * b[1]
    c = (b * x).astype(float, copy=False)
    c[-1] *= x[0]
    return np.sum(b * c)


def spread_out_and_written(x):
    b = x * 1
    c = np.broadcast_to(b[:1], b.shape) * 1.0
    c[1:] += b[:-1]
    return np.sum(c * c * b)


@pytest.mark.parametrize("shape", [(3,), (6,)])
@pytest.mark.parametrize(
    "f",
    [real_parts_written, eigenvalues_written, singular_values_written, asked_for_as_an_array, spread_out_and_written],
)
def test_tangents_of_what_is_written_into_can_be_written(f, shape):
    x = np.random.default_rng(len(shape)).uniform(0.5, 2.0, shape)
    assert verify(f, (x,), second=True).compiled
