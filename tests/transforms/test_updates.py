"""Items that the user updates in place are so in the generated text, where neither old nor new ones are needed."""

import numpy as np
import pytest

import s2s


def scaled(x, y, n):
    z = x * 1.0
    for i in range(1, n):
        z[i:] *= y[0]
        z[i - 1] /= y[i]
    return np.sum(z)


def powers(x, y, n):
    z = x * 1.0
    z[1:n] **= 2
    return np.sum(z * y)


def overlapping(x, y, n):
    z = x * 1.0
    z[1:] /= z[:-1] + y[0]
    return np.sum(z * y)


def kept(x, y, n):
    """The old items are wanted in the reverse sweep."""
    z = x * 1.0
    for i in range(n):
        z[i] *= np.sin(z[i])
    return np.sum(z * y)


def other_operator(x, y, n):
    z = x * 1.0
    z[0] = z[0] / y[0]  # a plain assignment stays one
    z[1] = z[2] * y[1]
    return np.sum(z * y)


@pytest.mark.parametrize("f", [scaled, powers, overlapping, kept, other_operator], ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [1, 3, 4])
def test_gradients_through_updates(f, n, rng):
    x, y = rng.uniform(1.0, 2.0, (2, 4))
    got = s2s.grad(f, argnums=(0, 1), strict=True)(x, y, n)
    for at, of in enumerate(got):
        want = [(f(*moved(x, y, at, h), n) - f(*moved(x, y, at, -h), n)) / 2e-6 for h in 1e-6 * np.eye(4)]
        np.testing.assert_allclose(of, want, rtol=1e-6, atol=1e-8)


def moved(x, y, at, h):
    return (x + h, y) if at == 0 else (x, y + h)


def test_update_is_written_as_the_user_wrote_it():
    args = np.ones(4), np.ones(4), 3
    assert "z[i:] *= y[0]" in s2s.grad(scaled, strict=True).source(*args)
    assert "z[i - 1] /= y[i]" in s2s.grad(scaled, strict=True).source(*args)
    assert "z[0] = z[0] / y[0]" in s2s.grad(other_operator, strict=True).source(*args)


def test_precision_of_an_update_stays():
    def f(x, y):
        z = x * np.float32(1.0)
        z[1:] *= y
        return np.sum(z)

    x, y = np.arange(1, 4, dtype=np.float32), np.float64(0.1)
    assert s2s.grad(f, strict=True)(x, y).dtype == np.float32
    value, _ = s2s.value_and_grad(f, strict=True)(x, y)
    assert value == f(x, y) and type(value) is type(f(x, y))
