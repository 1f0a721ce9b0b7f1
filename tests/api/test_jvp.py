"""Forward mode: values and tangents."""

import warnings

import numpy as np
import pytest

import s2s

W = np.array([0.3, -0.2])
X = np.array([[1.0, 2.0], [0.5, -1.0]])


def f(w, x):
    return np.tanh(x @ w)


def test_tangent_along_one_primal_and_along_all():
    slope = 1 - np.tanh(X @ W) ** 2
    out, out_dot = s2s.jvp(f, (W, X), (np.array([1.0, 0.0]), None), strict=True)
    np.testing.assert_array_equal(out, f(W, X))
    np.testing.assert_allclose(out_dot, slope * X[:, 0])
    _, out_dot = s2s.jvp(f, (W, X), (W, X), strict=True)
    np.testing.assert_allclose(out_dot, slope * 2 * (X @ W))


def test_integer_tangents_are_directions_too():
    assert s2s.jvp(lambda x: x * x, (3.0,), (1,)) == (9.0, 6.0)


def test_tangent_agrees_with_the_gradient():
    def g(w):
        return np.sum(np.sin(w) * w)

    _, out_dot = s2s.jvp(g, (W,), (X[0],), strict=True)
    np.testing.assert_allclose(out_dot, s2s.grad(g)(W) @ X[0])


def test_forward_over_reverse():
    gradient, along = s2s.jvp(s2s.grad(lambda x: x**4), (2.0,), (1.0,))
    assert (gradient, along) == (32.0, 48.0)


def test_variadic_and_container_primals():
    assert s2s.jvp(lambda *xs: xs[0] * xs[1], (2.0, 3.0), (1.0, None)) == (6.0, 3.0)

    def g(p):
        return p["a"] * p["b"][0]

    assert s2s.jvp(g, ({"a": 2.0, "b": [3.0, "n"]},), ({"a": 1.0, "b": [1.0, None]},)) == (6.0, 5.0)


def test_method_and_partial():
    class Model:
        def square(self, x):
            return x * x

    assert s2s.jvp(Model().square, (3.0,), (1.0,)) == (9.0, 6.0)


@pytest.mark.parametrize(
    ("primals", "tangents", "message"),
    [
        ((W, X), (W,), "one tangent for each primal"),
        ((W, X), (None, None), "no tangent"),
        ((W, X), (np.ones(3), None), r"tangent of w has shape \(3,\)"),
        ((W, X), ([1.0, 2.0], None), "tangent of w differs from it in structure"),
        ((W, X), (W * 1j, None), "tangent of w has dtype complex128"),
        ((np.array([1, 2]), X), (np.ones(2), None), "dtype int64"),
    ],
)
def test_bad_tangents_are_refused(primals, tangents, message):
    with pytest.raises(s2s.ArgumentError, match=message):
        s2s.jvp(f, primals, tangents)


def test_a_recorded_result_that_depends_on_no_primal_stands_still():
    def f(x):
        return sum([1.0, 2.0]) if len(locals()) else x

    with pytest.warns(s2s.FallbackWarning):
        assert s2s.jvp(f, (np.ones(3),), (np.ones(3),)) == (3.0, 0.0)


def test_what_is_kept_between_calls_notices_changes(monkeypatch):
    def f(x):
        return helper_of_jvp(x) * 2.0

    def g(x, y):
        return x * y

    assert s2s.jvp(f, (3.0,), (1.0,)) == (18.0, 12.0)
    monkeypatch.setitem(globals(), "helper_of_jvp", lambda x: x**3)
    assert s2s.jvp(f, (3.0,), (1.0,)) == (54.0, 54.0)
    monkeypatch.undo()
    assert s2s.jvp(f, (np.full(2, 3.0),), (np.ones(2),))[1].tolist() == [12.0, 12.0]
    f.__code__ = g.__code__
    assert s2s.jvp(f, (3.0, 5.0), (1.0, None)) == (15.0, 5.0)


def helper_of_jvp(x):
    return x**2


def test_tangent_of_a_slope_that_is_constant():
    def linear(a, b):
        return a + 2.0 * b

    def slope(a, b):
        by_a, by_b = s2s.grad(linear, (0, 1))(a, b)
        return by_a * 3.0 + by_b

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", s2s.FallbackWarning)
        assert s2s.jvp(slope, (1.0, 2.0), (1.0, 1.0)) == (5.0, 0.0)


def recorded_powers(x):
    return np.stack([f(x) for f in (lambda v: v**2, lambda v: np.exp(2j * v))])


@pytest.mark.parametrize("imaginary", [0.0, 0.5], ids=["real", "complex"])
def test_a_recorded_tangent_of_a_complex_result_is_not_conjugated(imaginary):
    x = np.array([0.3, 1.2]) + (1j * imaginary if imaginary else 0)
    x_dot = np.array([1.0, -0.5]) * (1 + 2j if imaginary else 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", s2s.FallbackWarning)  # it is given once
        _, tangent = s2s.jvp(recorded_powers, (x,), (x_dot,))
    np.testing.assert_allclose(tangent, [2 * x * x_dot, 2j * np.exp(2j * x) * x_dot])


def norm_of_listed(x):
    return np.sum([f(x) for f in (lambda v: np.linalg.vector_norm(v) ** 3,)])


def test_a_decomposition_on_the_tape_is_differentiated_twice():
    x, x_dot = np.array([3.0, 4.0]), np.array([1.0, 2.0])
    with pytest.warns(s2s.FallbackWarning):
        _, tangent = s2s.jvp(s2s.grad(norm_of_listed), (x,), (x_dot,))
    np.testing.assert_allclose(tangent, 3 * (5 * x_dot + x * (x @ x_dot) / 5))


@pytest.mark.parametrize("f", [lambda x: x, lambda x: x[1:], lambda x: (x, [x[::-1], x * 1.0])])
def test_tangents_of_results_are_nobody_elses(f):
    x, x_dot = np.array([1.0, 2.0, 3.0]), np.array([0.1, 0.2, 0.3])
    _, pushforward = s2s.linearize(f, x)
    for tangent in (s2s.jvp(f, (x,), (x_dot,))[1], pushforward(x_dot)):
        arrays = [x, x_dot]
        for leaf in s2s.runtime.pytree.leaves(tangent):
            assert not any(np.shares_memory(leaf, other) for other in arrays)
            arrays.append(leaf)
    np.testing.assert_array_equal(x_dot, [0.1, 0.2, 0.3])
