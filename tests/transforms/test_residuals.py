"""What a reverse sweep is given: no more than it needs, and cotangents that nobody else holds within a recursion."""

import numpy as np
import pytest

import s2s


def energy(x, k):
    n = len(x)
    if n <= 3:
        return np.sum(np.tanh(k * x) ** 2)
    left, right = x[: n // 2], x[n // 2 :]
    return energy(left, k) + energy(right, k) + k * left[-1] * right[0]


def handed_on(x, k):
    """At the end of the recursion the cotangent is the seed itself."""
    if len(x) <= 2:
        return x
    head = handed_on(x[1:], k)
    return np.concatenate((head * x[0], head[:1] + k * x[-1]))


def handed_on_twice(x, k):
    if k < 0.1:
        return x
    y = handed_on_twice(x, k * 0.4)
    z = handed_on_twice(y, k * 0.3)
    return y * z[0] + z * x[-1] + y[1]


def alternating(x, k):
    if len(x) < 3:
        return x
    return np.sin(back(x[:-1], k)) * x[0]


def back(x, k):
    if len(x) % 2:
        return x
    return alternating(x[1:], k) + x[1] * k


def total(f):
    def of(x, k):
        y = f(x, k)
        z = f(x * 1.0, k)
        return np.sum(y * z) + np.sum(y)

    return of


@pytest.mark.parametrize("f", [energy, handed_on, handed_on_twice, alternating], ids=lambda f: f.__name__)
@pytest.mark.parametrize("size", [3, 6, 9])
def test_recursions(f, size, rng):
    x, k = rng.uniform(0.5, 1.5, size), 0.7
    of = total(f)
    gradient = s2s.grad(of, strict=True)
    want = [of(x + 1e-30j * e, k).imag / 1e-30 for e in np.eye(size)]
    np.testing.assert_allclose(gradient(x, k), want, rtol=1e-11)
    value, pullback = s2s.vjp(lambda x: f(x, k), x)
    seed = np.ones_like(value) * 1.5
    first, again = pullback(seed)[0], pullback(seed)[0]
    np.testing.assert_array_equal(first, again)
    assert not np.shares_memory(first, again) and not np.shares_memory(first, seed)
    np.testing.assert_array_equal(seed, np.ones_like(value) * 1.5)


def test_lengths_and_conditions_are_computed_again():
    source = s2s.grad(energy, strict=True).source(np.ones(9), 0.7)
    (taken,) = (line for line in source.splitlines() if line.endswith("= residuals"))
    assert "cond" not in taken and source.count("if n <= 3:") == 2
    assert "n // 2" in source[source.index("def energy_bwd") :]


WEIGHTS = np.arange(5.0)


def of_lengths(x, n):
    """Of x the reverse sweep needs the length alone."""
    if n == 0:
        return x @ WEIGHTS
    return of_lengths(x * 2.0, n - 1) * (len(x) - 2)


def test_an_array_is_not_kept_for_its_length():
    gradient = s2s.grad(of_lengths, strict=True)
    np.testing.assert_allclose(gradient(np.ones(5), 2), WEIGHTS * 4.0 * 9)
    source = gradient.source(np.ones(5), 2)
    (taken,) = (line for line in source.splitlines() if line.endswith("= residuals"))
    assert "x" not in taken.replace(" ", "").split("=")[0].split(",")


def test_matrices_tell_the_shapes_of_products_in_loops(rng):
    def f(w, u, x):
        h = np.ones(3)
        for t in range(4):
            h = np.tanh(w @ h + u @ x)
        return np.sum(h * h)

    gradient = s2s.grad(f, argnums=(0, 1), strict=True)
    for rows in (1, 3):  # the second product may be stretched
        w, u, x = rng.normal(size=(3, 3)), rng.normal(size=(rows, 2)), rng.normal(size=2)
        for at, got in enumerate(gradient(w, u, x)):
            want = np.zeros_like(got)
            for i in np.ndindex(got.shape):
                args = [w.astype(complex), u.astype(complex), x]
                args[at][i] += 1e-30j
                want[i] = f(*args).imag / 1e-30
            np.testing.assert_allclose(got, want, rtol=1e-11)
    assert "shape_tape" not in gradient.source(w, u, x)
