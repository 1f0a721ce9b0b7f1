"""Compiled gradients that are called on Variables: one node, exact to any order."""

import numpy as np
import pytest

import s2s
from s2s.autograd import Variable, grad, gradcheck, gradgradcheck, no_grad
from s2s.compiler.onenode import CompiledNode
from s2s.errors import ArgumentError, GraphFreedError

DATA = np.array([0.5, -1.2, 2.0])


def leaf(data=DATA):
    return Variable(np.array(data), requires_grad=True)


def loss(x, w):
    total = 0.0
    for i in range(3):
        if x[i] > 0:
            total = total + np.sin(x[i] * w[i]) ** 2
        else:
            total = total + x[i] ** 3 * w[i]
    return total


slope = s2s.grad(loss)


def test_a_call_is_one_node_with_the_gradients_value():
    x, w = leaf(), leaf([1.0, 2.0, 0.3])
    g = slope(x, w)
    assert type(g) is Variable and type(g.grad_fn) is CompiledNode and g.grad_fn.parents == [x, w]
    np.testing.assert_array_equal(g.detach().numpy(), slope(x.data, w.data))
    assert repr(g.grad_fn) == "<loss>"


def test_gradients_and_second_derivatives_through_the_node():
    x, w = leaf(), leaf([1.0, 2.0, 0.3])
    assert gradcheck(slope, (x, w))
    assert gradgradcheck(slope, (x, w))
    h = x * 2.0
    np.sum(slope(h, w) * DATA).backward()
    expected = 2 * s2s.vjp(slope, 2 * DATA, w.data)[1](DATA)[0]
    np.testing.assert_allclose(x.grad.numpy(), expected, rtol=1e-12)


def test_values_with_gradients_are_one_node_of_several_results():
    both = s2s.value_and_grad(loss, argnums=(0, 1))
    x, w = leaf(), leaf([1.0, 2.0, 0.3])
    value, (gx, gw) = both(x, w)
    assert value.grad_fn.parents[0] is gx.grad_fn.parents[0] is gw.grad_fn.parents[0]
    assert gradcheck(lambda x, w: [both(x, w)[0], *both(x, w)[1]], (x, w))
    (by_x,) = grad(value, x)
    np.testing.assert_allclose(by_x.numpy(), gx.detach().numpy(), rtol=1e-12)


def test_containers_and_constants_among_the_arguments():
    def model(params, x, power):
        return np.sum((x @ params["w"] + params["b"][0]) ** 2 * power)

    d = s2s.grad(model)
    x = np.arange(6.0).reshape(2, 3)
    w, b = leaf(), leaf(0.5)
    g = d({"w": w, "b": [b]}, x, 2)
    assert type(g["w"].grad_fn.parents[0]) is CompiledNode
    assert gradcheck(lambda w, b: [(g := d({"w": w, "b": [b]}, x, 2))["w"], g["b"][0]], (w, b))


def test_the_graph_is_freed_and_kept_as_others_are():
    x, w = leaf(), leaf()
    y = np.sum(slope(x, w))
    y.backward(retain_graph=True)
    y.backward()
    with pytest.raises(GraphFreedError, match="retain_graph"):
        y.backward()


def test_later_writes_into_the_arguments_change_nothing():
    x, w = leaf(), leaf()
    expected = grad(np.sum(slope(x, w)), x)[0].numpy()
    h = x * 1.0
    y = np.sum(slope(h, w))
    h *= 0.0
    np.testing.assert_allclose(grad(y, x)[0].numpy(), expected)


def test_functions_with_effects_are_recorded_so_that_they_run_once():
    seen = []

    def noisy(x):
        seen.append(1)
        return np.sum(x**3) * np.random.default_rng().normal()

    d = s2s.grad(noisy)
    x = leaf()
    g = d(x)
    assert type(g.grad_fn) is not CompiledNode
    (h,) = grad(np.sum(g), x)
    np.testing.assert_allclose(h.numpy() * DATA, 2 * g.detach().numpy())
    assert len(seen) == 1


def test_what_is_not_compiled_is_recorded():
    import functools

    @functools.wraps(loss)
    def odd(x):
        return functools.reduce(lambda total, item: total + item**3, list(x), 0.0)

    d = s2s.grad(odd)
    x = leaf()
    (h,) = grad(np.sum(d(x)), x)
    np.testing.assert_allclose(h.numpy(), 6 * DATA)


def test_without_recording_and_without_leaves_there_is_no_node():
    x = leaf()
    with no_grad():
        found = [slope(x, x)]
    found += [slope(Variable(DATA), Variable(DATA)), slope(x, Variable(DATA, volatile=True))]
    for g in found:
        assert type(g) is Variable and not g.requires_grad
        np.testing.assert_array_equal(g.numpy(), slope(DATA, DATA))
    assert found[2].volatile


def test_arguments_are_checked_as_without_variables():
    with pytest.raises(ArgumentError):
        s2s.grad(lambda x, w: x * w.sum())(2, leaf())
