"""Tangents through recorded graphs."""

import numpy as np
import pytest

import s2s
from s2s.autograd import Function, Variable, grad, jvp, once_differentiable
from s2s.errors import EagerError

rng = np.random.default_rng(11)
DATA, DOT = rng.normal(size=3), rng.normal(size=3)


def leaf(data=DATA):
    return Variable(np.array(data), requires_grad=True)


def written(x):
    y = x * 1.0
    y[1:] *= x[:2]
    view = y[::2]
    view += x[1]
    return y * np.var(x)


FUNCTIONS = {
    "products": lambda x: np.sin(x) * x**2,
    "scalar": lambda x: np.sum(np.exp(x) * x[0]),
    "writes": written,
    "matrix": lambda x: np.outer(x, x) @ np.tanh(x),
    "several": lambda x: np.linalg.eigvalsh(np.outer(x, x) + np.diag([1.0, 2.0, 4.0])),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_tangents_agree_with_the_complex_step_or_differences(name):
    f = FUNCTIONS[name]
    x = leaf()
    (found,) = jvp(f(x), x, DOT)
    h = 1e-6
    ahead, behind = (np.asarray(f(Variable(DATA + s * h * DOT)).data) for s in (1, -1))
    np.testing.assert_allclose(found.numpy(), (ahead - behind) / (2 * h), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_forward_agrees_with_reverse(name):
    x = leaf()
    y = FUNCTIONS[name](x)
    weights = rng.normal(size=np.shape(y))
    (tangent,) = jvp(y, x, DOT)
    (g,) = grad(y, x, weights)
    np.testing.assert_allclose(np.sum(tangent.numpy() * weights), np.sum(g.numpy() * DOT), rtol=1e-10)


def test_several_outputs_and_inputs_some_of_them_unrelated():
    x, w = leaf(), leaf(2.0)
    a, b, c = jvp([x * w, x * 3.0, Variable(DATA)], [x, w], [DOT, None])
    np.testing.assert_allclose(a.numpy(), DOT * 2.0 + DATA)
    np.testing.assert_allclose(b.numpy(), 3 * DOT)
    np.testing.assert_allclose(c.numpy(), 0.0)


def test_complex_tangents_are_those_of_the_function():
    z = leaf([1 + 2j, 0.3 - 1j])
    dot = np.array([0.5 - 1j, 2 + 0.1j])
    (found,) = jvp(z * z, z, dot)
    np.testing.assert_allclose(found.numpy(), 2 * z.data * dot)
    (found,) = jvp(np.abs(z), z, dot)
    np.testing.assert_allclose(found.numpy(), (np.conj(z.data) * dot).real / np.abs(z.data))


def test_tangents_can_be_differentiated():
    x = leaf()
    (tangent,) = jvp(x**3, x, DOT, create_graph=True)
    (g,) = grad(np.sum(tangent), x)
    np.testing.assert_allclose(g.numpy(), 6 * DATA * DOT)


class Cube(Function):
    asked = 0

    @staticmethod
    def forward(ctx, x, n):
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)
        return x**3, x * n

    @staticmethod
    @once_differentiable
    def backward(ctx, g, h):
        (x,) = ctx.saved_tensors
        return g * 3 * x**2 + h * 2.0, None

    @staticmethod
    def jvp(ctx, x_dot, n_dot):
        Cube.asked += 1
        assert n_dot is None
        (x,) = ctx.saved_tensors
        return x_dot * 3 * x**2, x_dot * 2.0


def test_a_function_is_asked_for_its_jvp():
    x = leaf()
    cube, double = Cube.apply(np.sin(x), 2.0)
    before = Cube.asked
    (tangent,) = jvp(cube * double, x, DOT)
    np.testing.assert_allclose(tangent.numpy(), 8 * np.sin(DATA) ** 3 * np.cos(DATA) * DOT)
    assert Cube.asked > before


def test_jvp_of_code_on_the_tape_asks_functions_too():
    def f(x):
        cube, double = Cube.apply(x, 2.0)
        return cube * np.sin(x)

    with pytest.warns(s2s.FallbackWarning):
        value, tangent = s2s.jvp(f, (DATA,), (DOT,))
    np.testing.assert_allclose(value, DATA**3 * np.sin(DATA))
    np.testing.assert_allclose(tangent, (3 * DATA**2 * np.sin(DATA) + DATA**3 * np.cos(DATA)) * DOT)


def test_what_is_refused():
    x = leaf()
    with pytest.raises(EagerError, match="shape"):
        jvp(x * 2.0, x, np.ones(2))
    with pytest.raises(EagerError, match="one element"):
        jvp(x * 2.0, x)
    with pytest.raises(EagerError, match="require"):
        jvp(x * 2.0, Variable(DATA), DOT)
    with pytest.raises(EagerError, match="tangents"):
        jvp(x * 2.0, [x], [DOT, DOT])
