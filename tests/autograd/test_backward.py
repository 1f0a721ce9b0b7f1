"""backward() and grad(): what lands in .grad, what is freed, and what is refused."""

import gc
import sys
import weakref

import numpy as np
import pytest

from s2s.autograd import Function, Variable, backward, grad
from s2s.errors import ArgumentError, GraphFreedError

DATA = np.array([2.0, 3.0, 5.0])


def leaf(data=DATA):
    return Variable(np.array(data), requires_grad=True)


def same(variable, expected):
    np.testing.assert_allclose(variable.numpy(), expected, rtol=1e-12)


def test_gradients_add_up_until_grad_is_reset():
    x = leaf()
    backward(np.sum(x * x))
    backward(np.sum(x * 10.0))
    same(x.grad, 2 * DATA + 10)
    x.grad = None
    backward(np.sum(x))
    same(x.grad, np.ones(3))


def test_second_pass_through_a_freed_graph_names_retain_graph():
    x = leaf()
    y = np.sum(np.exp(x) * x)
    y.backward()
    with pytest.raises(GraphFreedError, match="retain_graph"):
        y.backward()


def test_second_pass_that_needs_no_saved_value_is_fine():
    x = leaf()
    y = np.sum(x + 1.0)
    y.backward()
    y.backward()
    same(x.grad, [2.0, 2.0, 2.0])


def test_retained_graph_gives_the_same_gradient_again():
    x = leaf()
    y = np.sum(x**3)
    y.backward(retain_graph=True)
    y.backward()
    same(x.grad, 6 * DATA**2)


def test_vector_needs_its_gradient_given():
    x = leaf()
    with pytest.raises(ArgumentError, match="scalar"):
        (x * x).backward()
    backward([x * x, np.sum(x)], [np.array([1.0, 10.0, 100.0]), None])
    same(x.grad, 2 * DATA * [1, 10, 100] + 1)


def test_one_element_counts_as_scalar():
    x = leaf([[4.0]])
    (x * x).backward()
    same(x.grad, [[8.0]])


def test_a_value_of_no_leaf_is_refused():
    with pytest.raises(ArgumentError, match="requires grad"):
        np.sum(Variable(DATA) * 2).backward()


def test_seed_of_another_shape_is_refused():
    with pytest.raises(ArgumentError, match="shape"):
        backward(leaf() * 2, np.ones(4))


def test_integers_cannot_require_grad():
    with pytest.raises(ArgumentError, match="float"):
        Variable(np.array([1, 2]), requires_grad=True)


def test_gradients_share_no_memory():
    x, y = leaf(), leaf()
    seed = np.ones(3)
    backward(x + y, seed)
    grads = [x.grad.numpy(), y.grad.numpy(), seed]
    for i, a in enumerate(grads):
        assert a.flags.writeable
        assert not any(np.shares_memory(a, b) for b in grads[:i])


def test_grad_returns_and_stores_nothing():
    x, w = leaf(), leaf(2.0)
    (g,) = grad(np.sum(x * x * w), x)
    same(g, 4 * DATA)
    assert x.grad is None and w.grad is None


def test_grad_by_an_inner_value():
    x = leaf()
    h = x * x
    (g,) = grad(np.sum(h * h), [h])
    same(g, 2 * DATA**2)


def test_unused_input_is_an_error_none_or_zeros():
    x, y = leaf(), leaf()
    with pytest.raises(ArgumentError, match="unused"):
        grad(np.sum(y * y), [x])
    assert grad(np.sum(y * y), [x], allow_unused=True) == (None,)
    (g,) = grad(np.sum(y * y), [x], materialize_grads=True)
    same(g, np.zeros(3))


def test_backward_to_chosen_inputs_leaves_others_alone():
    x, y = leaf(), leaf()
    backward(np.sum(x * y), inputs=[x])
    same(x.grad, DATA)
    assert y.grad is None


def test_gradient_of_a_squared_gradient():
    x = leaf()
    (g,) = grad(np.sum(x**3), [x], create_graph=True)
    backward(np.sum(g * g))
    same(x.grad, 36 * DATA**3)


def test_third_derivative():
    x = leaf(0.7)
    y = np.sin(x) * np.exp(x)
    for _ in range(3):
        (y,) = grad(y, x, create_graph=True)
    expected = 2 * np.exp(0.7) * (np.cos(0.7) - np.sin(0.7))
    np.testing.assert_allclose(y.item(), expected, rtol=1e-12)


def test_each_node_runs_once_after_all_its_users():
    runs = []

    class Double(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2.0

        @staticmethod
        def backward(ctx, g):
            runs.append(g.item())
            return g * 2.0

    x = leaf(3.0)
    y = Double.apply(x)
    z = y
    for _ in range(10):
        z = z + z * y
    z.backward()
    assert len(runs) == 1
    same(x.grad, 2 * (7.0**10 + 60 * 7.0**9))


@pytest.mark.parametrize("length", [200_000, pytest.param(1_000_000, marks=pytest.mark.full)])
def test_long_chain_neither_recurses_nor_overflows_when_freed(length):
    x = leaf(1.0)
    y = x
    for _ in range(length):
        y = y * 1.000001
    y.backward()
    del y
    np.testing.assert_allclose(x.grad.item(), 1.000001**length, rtol=1e-9)
    assert sys.getrecursionlimit() < length


def test_a_leaf_used_very_often():
    x = leaf(1.0)
    total = 0.0
    for _ in range(20_000):
        total = total + x
    total.backward()
    assert x.grad.item() == 20_000


def test_graph_goes_by_reference_counts_alone():
    gc.collect()
    gc.disable()
    try:
        x = leaf()
        y = np.tanh(np.exp(x))
        v = y[1:]
        y[0] = 1.0
        seen = [weakref.ref(y), weakref.ref(v)]
        z = np.sum(y * y) + np.sum(v)
        nodes = [weakref.ref(y.grad_fn), weakref.ref(z.grad_fn)]
        del y, z, v
        assert [r() for r in seen + nodes] == [None] * 4
    finally:
        gc.enable()


def test_float32_leaf_has_float32_gradient():
    x = leaf(DATA.astype(np.float32))
    np.sum(x * np.array([1.0, 2.0, 4.0])).backward()
    assert x.grad.dtype == np.float32
    same(x.grad, [1.0, 2.0, 4.0])


def test_real_leaf_has_real_gradient_through_complex_values():
    x = leaf()
    z = x * (1.0 + 2.0j)
    np.sum(abs(z) ** 2).backward()
    assert x.grad.dtype == np.float64
    same(x.grad, 10 * DATA)


def test_complex_gradients_are_conjugated_as_in_pytorch():
    z = leaf(np.array([1.0 + 2.0j, 3.0 - 1.0j]))
    seen = []
    w = z * 2.0
    w.register_hook(lambda g: seen.append(g.numpy()))
    np.sum(w.real**2 + w.imag**2).backward()
    # for a real function of z = x + i y: d/dx + i d/dy
    np.testing.assert_allclose(z.grad.numpy(), 8 * z.numpy() if not z.requires_grad else 8 * z.data)
    np.testing.assert_allclose(seen[0], 4 * z.data)


def test_sequences_of_variables_as_arguments():
    x, y = leaf(), leaf(3.0)
    a = np.stack([x, x * 2.0])
    b = np.concatenate((a, [x]))
    np.sum(b * np.array([[1.0], [10.0], [100.0]]) * y).backward()
    same(x.grad, np.full(3, 3 * (1 + 20 + 100.0)))
    same(y.grad, np.sum(DATA) * 121)


def test_several_results():
    x = leaf([4.0, 6.0, 9.0, 1.0])
    first, second = np.split(x, 2)
    np.sum(first * 2.0 + second**2).backward()
    same(x.grad, [2.0, 2.0, 18.0, 2.0])


def test_broadcast_operands_get_gradients_of_their_shapes():
    a, b, c = leaf(np.ones((3, 1))), leaf(DATA), leaf(2.0)
    np.sum(a * b + c).backward()
    same(a.grad, np.full((3, 1), 10.0))
    same(b.grad, np.full(3, 3.0))
    same(c.grad, 9.0)
