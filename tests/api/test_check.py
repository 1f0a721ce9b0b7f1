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
