"""Numbers that a loop reads of an array are saved as one copy of it, if they all stand there when the loop ends."""

import numpy as np
import pytest

import s2s


def swept(x, y, n):
    z = x * 1.0
    for i in range(1, len(z)):
        z[i] -= np.sin(z[i - 1]) * z[i - 1]
    z[...] = z * y
    return np.sum(z)


def swept_and_updated(x, y, n):
    z = x * 1.0
    for i in range(len(z) - 1):
        z[i + 1] = z[i + 1] * z[i] + y[i]
    for i in range(len(z)):
        z[i] *= z[i] * y[i]
    return np.sum(z)


def on_a_branch(x, y, n):
    z = x * 1.0
    if n > 2:
        for i in range(1, len(z)):
            z[i] = z[i] + z[i - 1] ** 2
        z *= y
    return np.sum(z * z)


IN_A_COPY = [swept, on_a_branch]


def overwritten_in_the_round(x, y, n):
    z = x * 1.0
    for i in range(len(z)):
        z[i] = z[i] * z[i] * y[i]
    return np.sum(z)


def overwritten_in_the_next(x, y, n):
    z = x * 1.0
    for i in range(len(z) - 1):
        z[i] = z[i + 1] ** 2 * y[i]
    z *= y
    return np.sum(z)


def from_the_end(x, y, n):
    z = x * 1.0
    for i in range(len(z)):
        z[i] = z[i] + z[i - 1] ** 2
    z *= y
    return np.sum(z)


def in_few_rounds(x, y, n):
    z = x * 1.0
    for i in range(1, n):
        z[i] = z[i] + z[i - 1] ** 2
    z *= y
    return np.sum(z)


def left_early(x, y, n):
    z = x * 1.0
    for i in range(1, len(z)):
        z[i] = z[i] + z[i - 1] ** 2
        if i == n:
            break
    z *= y
    return np.sum(z)


def in_rounds(x, y, n):
    z = x * 1.0
    for _ in range(n):
        for i in range(1, len(z)):
            z[i] = z[i] + z[i - 1] ** 2
        z *= y
    return np.sum(z)


def by_another_view(x, y, n):
    z = x * 1.0
    v = z[1:]
    for i in range(1, len(z)):
        z[i] = z[i] + z[i - 1] ** 2
        v[0] = v[0] * y[0]
    z *= y
    return np.sum(z)


ON_A_TAPE = [
    swept_and_updated, overwritten_in_the_round, overwritten_in_the_next, from_the_end, in_few_rounds, left_early,
    in_rounds, by_another_view,
]  # fmt: skip


@pytest.mark.parametrize("f", IN_A_COPY + ON_A_TAPE, ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [1, 2, 4])
def test_gradients(f, n, rng):
    x, y = rng.uniform(0.5, 1.5, (2, 5))
    gradient = s2s.grad(f, argnums=(0, 1), strict=True)
    got, steps = gradient(x, y, n), 1e-30j * np.eye(5)
    np.testing.assert_allclose(got[0], [f(x + h, y, n).imag / 1e-30 for h in steps], rtol=1e-12)
    np.testing.assert_allclose(got[1], [f(x * (1 + 0j), y + h, n).imag / 1e-30 for h in steps], rtol=1e-12, atol=1e-15)
    source = gradient.source(x, y, n)
    assert ("_saved" in source) == (f in IN_A_COPY)


@pytest.mark.parametrize("f", IN_A_COPY, ids=lambda f: f.__name__)
def test_precision_and_second_derivatives(f, rng):
    x, y = rng.uniform(0.5, 1.5, (2, 5))
    of_float32 = s2s.grad(f, strict=True)(x.astype(np.float32), y.astype(np.float32), 4)
    assert of_float32.dtype == np.float32
    np.testing.assert_allclose(of_float32, s2s.grad(f, strict=True)(x, y, 4), rtol=1e-4)
    hessian = s2s.hessian(f)(x, y, 4)
    first = s2s.grad(f, strict=True)
    want = [(first(x + h, y, 4) - first(x - h, y, 4)) / 2e-6 for h in 1e-6 * np.eye(5)]
    np.testing.assert_allclose(hessian, want, rtol=1e-6, atol=1e-6)


def test_last_item_is_told_from_those_of_a_loop_before_it(rng):
    def f(x, y):
        z = x * 1.0
        n = len(z)
        z[n - 1] /= y[0]
        for i in range(n - 1):
            z[i] *= z[n - 1] * y[1]
        return np.sum(z)

    x, y = rng.uniform(0.5, 1.5, (2, 4))
    gradient = s2s.grad(f, argnums=(0, 1), strict=True)
    assert "z[n - 1] /= y[0]" in gradient.source(x, y)
    for at, got in enumerate(gradient(x, y)):
        steps = [(x + h, y) if at == 0 else (x, y + h) for h in 1e-30j * np.eye(4)]
        want = [f(a.astype(complex), b).imag / 1e-30 for a, b in steps]
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-15)
