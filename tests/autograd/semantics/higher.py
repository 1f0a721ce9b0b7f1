"""Gradients of gradients."""

import numpy as np

from tests.autograd.semantics.table import Raises, X, case


@case("the gradient of a squared gradient", 36 * X**3)
def squared_gradient(t):
    x = t.leaf(X)
    (g,) = t.grad(t.sum(x**3), [x], create_graph=True)
    t.backward(t.sum(g * g))
    return t.value(x.grad)


@case("four orders of x^5", [5 * 2.0**4, 20 * 2.0**3, 60 * 2.0**2, 120 * 2.0, 120.0])
def orders(t):
    x = t.leaf(2.0)
    y = x**5
    found = []
    for _ in range(5):
        (y,) = t.grad(y, x, create_graph=True)
        found.append(float(t.value(y)))
    return found


@case("orders of exp and sin", [np.exp(X) * np.sin(X) * -4])
def fourth_of_product(t):
    x = t.leaf(X)
    y = t.exp(x) * t.sin(x)
    for _ in range(4):
        (y,) = t.grad(t.sum(y), x, create_graph=True)
    return [t.value(y)]


@case("third order of tanh", -2 / np.cosh(0.3) ** 4 + 4 * np.tanh(0.3) ** 2 / np.cosh(0.3) ** 2)
def third_of_tanh(t):
    x = t.leaf(0.3)
    y = t.tanh(x)
    for _ in range(3):
        (y,) = t.grad(y, x, create_graph=True)
    return t.value(y)


@case("mixed partials agree", [12 * 2.0 * 9.0, 12 * 2.0 * 9.0])
def mixed(t):
    x, w = t.leaf(2.0), t.leaf(3.0)
    gx, gw = t.grad(2.0 * x**2 * w**3, [x, w], create_graph=True)
    return [t.value(t.grad(gx, w, retain_graph=True)[0]), t.value(t.grad(gw, x)[0])]


@case("a Hessian-vector product", [6 * X * [1, 0, 2]])
def hessian_vector(t):
    x = t.leaf(X)
    (g,) = t.grad(t.sum(x**3), x, create_graph=True)
    return [t.value(t.grad(g, x, t.const([1.0, 0.0, 2.0]))[0])]


@case("matrix products", [[6.0, 12.0], [6.0, 12.0]])
def quadratic(t):
    w = t.leaf(np.ones((2, 2)))
    x = t.const([[1.0], [2.0]])
    (g,) = t.grad(t.sum((w @ x) ** 2), w, create_graph=True)
    (h,) = t.grad(t.sum(g), w)
    return [list(row) for row in t.value(h)]


@case("a gradient that is added to a loss", 2 * X + 0.1 * 12 * X * 3 * X**2)
def penalty(t):
    x = t.leaf(X)
    (g,) = t.grad(t.sum(x**3), x, create_graph=True)
    t.backward(t.sum(x * x) + 0.1 * t.sum(g * g))
    return t.value(x.grad)


@case("without create_graph the gradient cannot be differentiated", Raises("require", RuntimeError))
def not_created(t):
    x = t.leaf(X)
    (g,) = t.grad(t.sum(x**3), x)
    t.grad(t.sum(g), x)


@case("double backward through a view and an in-place operation", 6 * X * [1, 8, 8])
def through_writes(t):
    x = t.leaf(X)
    y = x * 1.0
    v = y[1:]
    t.mul_(v, 2.0)
    (g,) = t.grad(t.sum(y**3), x, create_graph=True)
    return t.value(t.grad(t.sum(g), x)[0])


@case("double backward through a Function whose backward is differentiable", 6 * X)
def through_function(t):
    class Cube(t.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * 3 * x**2

    x = t.leaf(X)
    (g,) = t.grad(t.sum(Cube.apply(x)), x, create_graph=True)
    return t.value(t.grad(t.sum(g), x)[0])


@case("double backward through a Function that saved its result", np.exp(X))
def through_saved_result(t):
    class Exp(t.Function):
        @staticmethod
        def forward(ctx, x):
            y = t.exp(x)
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, g):
            (y,) = ctx.saved_tensors
            return g * y

    x = t.leaf(X)
    y = t.sum(Exp.apply(x))
    for _ in range(3):
        (g,) = t.grad(y, x, create_graph=True)
        y = t.sum(g)
    return t.value(g)


@case(
    "once_differentiable: the second derivative is refused", Raises("once_differentiable", RuntimeError),
    torch=Raises("require"), differs="once_differentiable",
)  # fmt: skip
def once(t):
    class Cube(t.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        @t.once_differentiable
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * 3 * x**2

    x = t.leaf(X)
    (g,) = t.grad(t.sum(Cube.apply(x)), x, create_graph=True)
    t.grad(t.sum(g), x)


@case("once_differentiable: the first derivative is right", 3 * X**2)
def once_first(t):
    class Cube(t.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        @t.once_differentiable
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            assert not g.requires_grad and not t.is_grad_enabled()
            return g * 3 * x**2

    x = t.leaf(X)
    return t.value(t.grad(t.sum(Cube.apply(x)), x)[0])


@case("a constant second derivative", np.full(3, 2.0))
def constant_second(t):
    x = t.leaf(X)
    (g,) = t.grad(t.sum(x * x), x, create_graph=True)
    return t.value(t.grad(t.sum(g), x)[0])


@case("the second derivative of what is linear: no path", Raises("require", RuntimeError))
def linear_second(t):
    x = t.leaf(X)
    (g,) = t.grad(t.sum(x * 2.0), x, create_graph=True)
    t.grad(t.sum(g), x)


@case("backward twice with create_graph adds into .grad as a graph", [True, 12 * X])
def accumulated_graph(t):
    x = t.leaf(X)
    y = t.sum(x**3)
    t.backward(y, create_graph=True)
    t.backward(y, create_graph=True)
    g = x.grad
    x.grad = None
    return [g.requires_grad, t.value(t.grad(t.sum(g), x)[0])]


@case("second derivative by where", [0.0, 6 * 3.0, 6 * 5.0])
def through_where(t):
    x = t.leaf(X)
    (g,) = t.grad(t.sum(t.where(x > 2.5, x**3, x)), x, create_graph=True)
    return list(t.value(t.grad(t.sum(g), x)[0]))


@case("second derivative of division", [2 / X**3])
def of_division(t):
    x = t.leaf(X)
    (g,) = t.grad(t.sum(1.0 / x), x, create_graph=True)
    return [t.value(t.grad(t.sum(g), x)[0])]


@case("an inner descent step is differentiated", 2 * 0.8**2 * 5.0)
def inner_step(t):
    x = t.leaf(5.0)
    (g,) = t.grad(x * x, x, create_graph=True)
    stepped = x - 0.1 * g
    return t.value(t.grad(stepped * stepped, x)[0])
