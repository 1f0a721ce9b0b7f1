"""`check` tells right gradients from wrong ones, and where they are wrong."""

import collections

import numpy as np
import pytest

import s2s
from s2s.tools.check import CheckError

X = np.array([[1.0, 2.0], [0.5, -1.0]])
W = np.array([0.3, -0.2])
Layer = collections.namedtuple("Layer", "w b")


def f(w, x):
    return np.sum(np.tanh(x @ w))


def test_our_gradients_agree():
    assert s2s.check(f, W, X).ok
    assert s2s.check(f, W, X, argnums=(0, "x"))
    assert s2s.check(f, W.astype(np.float32), X.astype(np.float32))
    assert s2s.check(lambda x: x * x * x, 2.0)
    assert s2s.check(lambda *xs: xs[0] * xs[1], 2.0, 3.0, argnums=1)


def test_complex_steps_are_exact():
    report = s2s.check(f, W, X, method="complex", rtol=1e-13)
    assert report.ok
    assert "agrees" in str(report)


def test_complex_arguments():
    z = np.array([1 + 2j, 0.5 - 1j])
    assert s2s.check(lambda z: np.sum(np.abs(z) ** 2), z)
    with pytest.raises(CheckError):
        s2s.check(lambda z: np.sum(np.abs(z) ** 2), lambda z: 2 * z, z)


def test_own_gradient_is_checked_and_the_place_found():
    def wrong(w, x):
        g = x.T @ (1 - np.tanh(x @ w) ** 2)
        g[1] *= 2
        return g

    with pytest.raises(CheckError, match=r"w\[1\]: the gradient is") as caught:
        s2s.check(f, wrong, W, X)
    assert "w[0]" not in str(caught.value)
    report = s2s.check(f, W, X, gradient=wrong, raise_exception=False)
    assert not report
    (mismatch,) = report.mismatches
    assert mismatch.place == "w[1]"
    np.testing.assert_allclose(mismatch.gradient, 2 * mismatch.expected, rtol=1e-6)


def test_places_in_containers():
    def g(p):
        return np.sum(p["layer"].w ** 2) * p["layer"].b

    p = {"layer": Layer(W, 2.0), "name": "net"}
    assert s2s.check(g, p)
    wrong = s2s.check(g, lambda p: {"layer": Layer(4 * W, 1.0), "name": "net"}, p, raise_exception=False)
    assert [m.place for m in wrong.mismatches] == ["p['layer'].b"]


def test_shapes_and_structures_are_compared():
    report = s2s.check(f, lambda w, x: np.ones(3), W, X, raise_exception=False)
    assert "shape of w" in str(report)
    report = s2s.check(f, lambda w, x: [1.0, 2.0], W, X, raise_exception=False)
    assert "structure" in str(report)


def test_what_cannot_be_checked_is_refused():
    with pytest.raises(s2s.ArgumentError, match="scalar"):
        s2s.check(lambda x: x * 2.0, lambda x: x, np.ones(2))
    with pytest.raises(s2s.ArgumentError, match="among them"):
        s2s.check(f, W, argnums=1)
    with pytest.raises(s2s.ArgumentError, match="out of range"):
        s2s.check(f, W, X, argnums=2)


def test_elements_are_held_to_their_own_size():
    def steep(x):
        return 1e8 * x[0] + x[1]

    assert s2s.check(steep, np.ones(2))
    report = s2s.check(steep, lambda x: np.array([1e8, 2.0]), np.ones(2), raise_exception=False)
    assert [m.place for m in report.mismatches] == ["x[1]"]
    assert not s2s.check(lambda x: 1e-30 * x, lambda x: 2e-30, 2.0, raise_exception=False)


def test_elements_that_are_no_numbers_spoil_no_others():
    wrong = s2s.check(
        lambda x: np.sum(x**2), lambda x: np.array([2.0, np.nan, 6.0, np.inf]), np.arange(1.0, 5), raise_exception=False
    )
    assert [m.place for m in wrong.mismatches] == ["x[1]", "x[3]"]
    np.testing.assert_allclose([m.expected for m in wrong.mismatches], [4.0, 8.0])
    assert np.isnan(wrong.mismatches[0].gradient) and np.isinf(wrong.mismatches[1].gradient)


def test_one_wrong_element_of_many_is_found():
    def g(x):
        return np.sum(np.tanh(x))

    x = np.random.default_rng(0).normal(size=(50, 50))

    def wrong(x):
        out = 1 - np.tanh(x) ** 2
        out[1, 27] *= 1.01
        return out

    assert s2s.check(g, x)
    report = s2s.check(g, wrong, x, raise_exception=False)
    assert "all elements" in str(report)

    def broken(x):
        out = 1 - np.tanh(x) ** 2
        out[1, 27] = np.nan
        return out

    assert [m.place for m in s2s.check(g, broken, x, raise_exception=False).mismatches] == ["x[1, 27]"]


def test_parts_of_complex_elements_are_compared():
    z = np.array([1 + 2j, 0.5 - 1j])
    report = s2s.check(lambda z: np.sum(np.abs(z) ** 2), lambda z: 2 * z.real - 1j * z.imag, z, raise_exception=False)
    assert [m.place for m in report.mismatches] == ["z[0].imag", "z[1].imag"]
    np.testing.assert_allclose([m.expected for m in report.mismatches], -2 * z.imag, rtol=1e-6)
    with pytest.raises(s2s.ArgumentError, match="complex step"):
        s2s.check(lambda z: np.sum(np.abs(z) ** 2), z, method="complex")


def test_places_in_dicts_that_are_not_sorted():
    report = s2s.check(
        lambda d: d["w"] * d["b"] ** 2, lambda d: {"w": 9.0, "b": 3.0}, {"w": 2.0, "b": 3.0}, raise_exception=False
    )
    assert [(m.place, m.gradient) for m in report.mismatches] == [("d['b']", 3.0)]


def test_what_differences_cannot_tell_is_said():
    report = s2s.check(lambda x: np.sum(np.sqrt(x)), np.array([0.0, 1.0]))
    assert report.unclear == ("x[0]",)
    assert str(report).endswith("agrees with differences, which cannot tell x[0]")
    assert s2s.check(lambda x: np.sum(np.maximum(x, 0.0)), np.array([-1.0, 1.0])).unclear == ()


def test_our_value_is_that_of_the_function_to_the_last_bit(monkeypatch):
    def one_bit_off(f, argnums):
        return lambda *args: (np.nextafter(f(*args), np.inf), None)

    monkeypatch.setattr("s2s.tools.check.value_and_grad", one_bit_off)
    report = s2s.check(f, W, X, raise_exception=False)
    assert [m.place for m in report.mismatches] == ["its value"]
    assert "value_and_grad gives" in str(report)
    # a gradient of the user's has no value to be compared
    assert s2s.check(f, lambda w, x: x.T @ (1 - np.tanh(x @ w) ** 2), W, X)


def test_functions_of_chance_are_refused():
    rng = np.random.default_rng(0)

    def noisy(x):
        return x * rng.normal()

    with pytest.raises(s2s.ArgumentError, match="same value at each call"):
        s2s.check(noisy, 2.0)


def test_arguments_are_not_changed():
    x = np.ones(3)

    def writes(x):
        x[0] = 2 * x[1]
        return np.sum(x)

    assert s2s.check(writes, x)
    np.testing.assert_array_equal(x, np.ones(3))
