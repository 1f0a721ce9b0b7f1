"""Function: users' operations, and gradcheck, which judges them."""

import gc
import weakref

import numpy as np
import pytest

from s2s.autograd import Function, Variable, backward, grad, gradcheck, gradgradcheck
from s2s.autograd.check import GradcheckError
from s2s.errors import ArgumentError, GraphFreedError, InplaceModificationError

DATA = np.array([2.0, 3.0, 5.0])


def leaf():
    return Variable(DATA.copy(), requires_grad=True)


class Power(Function):
    @staticmethod
    def forward(ctx, x, n):
        ctx.save_for_backward(x)
        ctx.n = n
        return x**n

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * ctx.n * x ** (ctx.n - 1), None


class Exp(Function):
    @staticmethod
    def forward(ctx, x):
        y = Variable(np.exp(x.data))
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y


class Both(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        ctx.needs = ctx.needs_input_grad
        order = np.argsort(x.data)
        ctx.mark_non_differentiable(order)
        return x * y, x + y, order

    @staticmethod
    def backward(ctx, product_bar, sum_bar, order_bar):
        x, y = ctx.saved_tensors
        return product_bar * y + sum_bar, product_bar * x + sum_bar


def test_constant_argument_has_gradient_none():
    x = leaf()
    np.sum(Power.apply(x, 3)).backward()
    np.testing.assert_allclose(x.grad.numpy(), 3 * DATA**2)


def test_saved_result_makes_no_cycle_and_differentiates_twice():
    x = leaf()
    (g,) = grad(np.sum(Exp.apply(x)), x, create_graph=True)
    backward(np.sum(g))
    np.testing.assert_allclose(x.grad.numpy(), np.exp(DATA))
    gc.disable()
    try:
        y = Exp.apply(leaf())
        seen = weakref.ref(y.grad_fn)
        del y
        assert seen() is None
    finally:
        gc.enable()


def test_several_results_unused_ones_have_zero_gradient():
    x, y = leaf(), leaf()
    product, total, order = Both.apply(x, y)
    assert not isinstance(order, Variable) or not order.requires_grad
    np.sum(product).backward()
    np.testing.assert_allclose(x.grad.numpy(), DATA)
    assert total.requires_grad
    assert gradcheck(lambda x, y: Both.apply(x, y)[:2], (leaf(), leaf()))
    assert gradgradcheck(lambda x, y: Both.apply(x, y)[:2], (leaf(), leaf()))


def test_saved_values_are_freed_and_checked():
    x = leaf()
    y = np.sum(Power.apply(x, 2))
    y.backward()
    with pytest.raises(GraphFreedError, match="Power"):
        y.backward()
    h = x * 1.0
    y = np.sum(Power.apply(h, 2))
    h += 1.0
    with pytest.raises(InplaceModificationError, match="Power"):
        y.backward()


def test_wrong_number_or_shape_of_gradients_is_refused():
    class Wrong(Function):
        @staticmethod
        def forward(ctx, x, y):
            return x * y

        @staticmethod
        def backward(ctx, g):
            return g

    with pytest.raises(ArgumentError, match="1 gradients for 2"):
        np.sum(Wrong.apply(leaf(), leaf())).backward()

    class Shape(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2.0

        @staticmethod
        def backward(ctx, g):
            return np.sum(g)

    with pytest.raises(ArgumentError, match="shape"):
        np.sum(Shape.apply(leaf())).backward()


def test_constants_leave_no_record():
    assert not Power.apply(Variable(DATA), 2).requires_grad


def test_mark_dirty_moves_the_argument_on():
    class Scale(Function):
        @staticmethod
        def forward(ctx, x):
            x.data[...] *= 3.0
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 3.0

    x = leaf()
    h = x * 1.0
    assert Scale.apply(h) is h
    np.sum(h * h).backward()
    np.testing.assert_allclose(x.grad.numpy(), 18 * DATA)


def square(k):
    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * k * x

    return Square.apply


def test_gradcheck_tells_right_from_wrong():
    assert gradcheck(square(2.0), leaf())
    assert not gradcheck(square(2.01), leaf(), raise_exception=False)
    with pytest.raises(GradcheckError, match="differs"):
        gradcheck(square(1.0), leaf())


def test_gradgradcheck_tells_right_from_wrong():
    class Cube(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * 3.0 * x.detach() ** 2

    assert gradcheck(Cube.apply, leaf())
    assert not gradgradcheck(Cube.apply, leaf(), raise_exception=False)


def test_gradcheck_of_complex_functions():
    z = Variable(np.array([0.5 + 1.0j, -0.3 + 0.2j]), requires_grad=True)
    assert gradcheck(lambda z: z * z * (1 + 2j), z)
    assert gradcheck(lambda z: abs(z), z)
    assert gradcheck(lambda z: z.real * z.imag, z)


def test_gradcheck_notices_chance():
    rng = np.random.default_rng(0)
    assert not gradcheck(lambda x: x * rng.random(), leaf(), raise_exception=False)
