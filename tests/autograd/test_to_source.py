"""Recorded graphs as source that runs by itself."""

import numpy as np
import pytest

from s2s.autograd import Function, Variable, grad, to_source
from s2s.errors import EagerError

rng = np.random.default_rng(5)
DATA = rng.normal(size=3)


def leaf(data=DATA):
    return Variable(np.array(data), requires_grad=True)


def run(outputs, inputs, *seeds):
    namespace = {}
    exec(to_source(outputs, inputs), namespace)
    return namespace["gradient"](*seeds)


def written(x, w):
    y = x * w
    y[1] = w[0] * 2.0
    view = y[1:]
    view *= x[:2]
    y[[0, 0]] = x[1:] * w[1:]
    return y


PROGRAMS = {
    "arithmetic": lambda x, w: (x * w - w / x) ** 2 + 3.0 * x - x ** w.data.astype(int),
    "elementwise": lambda x, w: np.sin(x) * np.exp(w) + np.sqrt(x * x) + np.maximum(x, w) - np.tanh(x) / np.log(w * w),
    "broadcast": lambda x, w: np.sum(x[:, None] * w + w[0], axis=0, keepdims=True),
    "matrices": lambda x, w: np.linalg.solve(np.outer(x, x) + np.eye(3) * 4.0, w) @ np.outer(w, x),
    "joined": lambda x, w: np.concatenate([x, w * 2.0, x]) * np.stack([x, w, x]).ravel(),
    "where": lambda x, w: np.where(x > 0, x * w, w**2),
    "decomposed": lambda x, w: np.var(x) * w + np.std(w * x),
    "several": lambda x, w: sum(np.split(x * w, 3)) * np.linalg.eigh(np.outer(x, x) + np.diag([1.0, 2.0, 4.0]))[0],
    "writes": written,
    "gathered": lambda x, w: x[[0, 0, 2]] * w[::-1] + np.cumsum(x),
    "complex": lambda x, w: np.abs(np.exp(1j * x) * (w + 2j)) + np.real(x * (1 + 1j) * w),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_source_gives_the_gradients_for_any_seed(name):
    x, w = leaf(), leaf(DATA[::-1] + 2.5)
    y = PROGRAMS[name](x, w)
    for _ in range(2):
        seed = rng.normal(size=np.shape(y))
        found = run(y, [x, w], seed)
        expected = grad(y, [x, w], seed, retain_graph=True)
        for f, e in zip(found, expected, strict=True):
            np.testing.assert_allclose(f, e.numpy(), rtol=1e-12, atol=1e-14)
            assert np.asarray(f).dtype == e.dtype and np.shape(f) == e.shape


def test_scalars_have_a_default_seed_and_several_outputs_a_seed_each():
    x = leaf()
    (g,) = run(np.sum(x**3), x)
    np.testing.assert_allclose(g, 3 * DATA**2)
    (g,) = run([np.sum(x * x), x * 2.0], x, 1.0, np.array([1.0, 10.0, 100.0]))
    np.testing.assert_allclose(g, 2 * DATA + [2.0, 20.0, 200.0])


def test_complex_leaves_follow_the_conjugate_convention():
    z = leaf([1 + 2j, 0.5 - 1j])
    seed = np.array([1j, 2.0 - 1j])
    np.testing.assert_allclose(run(z * z, z, seed)[0], grad(z * z, z, seed)[0].numpy())


def test_inputs_may_be_inner_values():
    x = leaf()
    h = np.sin(x)
    found = run(np.sum(h**2), [h, x])
    for f, e in zip(found, grad(np.sum(h**2), [h, x])):
        np.testing.assert_allclose(f, e.numpy())


def test_large_and_single_precision_constants():
    x = leaf(rng.normal(size=500).astype(np.float32))
    y = np.sum(x * x * np.float32(2.0))
    (g,) = run(y, x)
    assert g.dtype == np.float32
    np.testing.assert_allclose(g, 4 * x.data, rtol=1e-6)


def test_the_text_is_straight_line_code_below_constants():
    x = leaf([1.0, 2.0])
    text = to_source(np.sum(np.sin(x) * x), x)
    assert "for " not in text and "# sin" in text and "np.cos(c" in text and text.count("def ") == 1


def test_what_cannot_be_written_out_is_refused():
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2.0

        @staticmethod
        def backward(ctx, g):
            return g * 2.0

    x = leaf()
    with pytest.raises(EagerError, match="written out"):
        to_source(np.sum(F.apply(x)), x)
    with pytest.raises(EagerError, match="used"):
        to_source(np.sum(x), leaf())
