"""Function: operations with a backward of their own."""

import numpy as np

from tests.autograd.semantics.table import Raises, X, case


@case("saved values, a constant argument, None for it", 3 * X**2)
def power(t):
    class Power(t.Function):
        @staticmethod
        def forward(ctx, x, n):
            ctx.save_for_backward(x)
            ctx.n = n
            return x**n

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * ctx.n * x ** (ctx.n - 1), None

    x = t.leaf(X)
    t.backward(t.sum(Power.apply(x, 3)))
    return t.value(x.grad)


@case("forward runs without recording, its result requires grad", [False, True, False])
def forward_mode(t):
    seen = []

    class F(t.Function):
        @staticmethod
        def forward(ctx, x):
            seen.append((x * 2.0).requires_grad)
            return x * 2.0

        @staticmethod
        def backward(ctx, g):
            return g * 2.0

    y = F.apply(t.leaf(X))
    return [*seen, y.requires_grad, F.apply(t.const(X)).requires_grad]


@case("needs_input_grad says which arguments require grad", [[True, False, False]])
def needs_input_grad(t):
    seen = []

    class F(t.Function):
        @staticmethod
        def forward(ctx, x, w, n):
            return x * w * n

        @staticmethod
        def backward(ctx, g):
            seen.append(list(ctx.needs_input_grad))
            return g, None, None

    t.backward(t.sum(F.apply(t.leaf(X), t.const(X), 2.0)))
    return seen


@case("several results, of which one is used: zeros for the other", [[0.0, 0.0, 0.0], np.full(3, 3.0)])
def several_results(t):
    seen = []

    class F(t.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2.0, x * 3.0

        @staticmethod
        def backward(ctx, a, b):
            seen.append(list(t.value(a)))
            return a * 2.0 + b * 3.0

    x = t.leaf(X)
    _, b = F.apply(x)
    t.backward(t.sum(b))
    return [seen[0], t.value(x.grad)]


@case("set_materialize_grads(False): None for it", [True, np.full(3, 3.0)])
def not_materialized(t):
    seen = []

    class F(t.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2.0, x * 3.0

        @staticmethod
        def backward(ctx, a, b):
            seen.append(a is None)
            return b * 3.0

    x = t.leaf(X)
    _, b = F.apply(x)
    t.backward(t.sum(b))
    return [seen[0], t.value(x.grad)]


@case("results marked as not differentiable", [True, False, np.full(3, 2.0)])
def non_differentiable(t):
    class F(t.Function):
        @staticmethod
        def forward(ctx, x):
            a, b = x * 2.0, x * 3.0
            ctx.mark_non_differentiable(b)
            return a, b

        @staticmethod
        def backward(ctx, a, b):
            return a * 2.0 + b * 100.0

    x = t.leaf(X)
    a, b = F.apply(x)
    t.backward(t.sum(a))
    return [a.requires_grad, b.requires_grad, t.value(x.grad)]


@case("mark_dirty: an argument that is written and returned", [True, 6 * X, 2 * X])
def dirty(t):
    class Double(t.Function):
        @staticmethod
        def forward(ctx, x):
            x *= 2.0
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 2.0

    x = t.leaf(X)
    h = x * 1.0
    y = Double.apply(h)
    t.backward(t.sum(y * t.const(3 * X)))
    return [y is h, t.value(x.grad), t.value(h)]


@case("mark_dirty of a leaf that requires grad", Raises("leaf", RuntimeError))
def dirty_leaf(t):
    class Double(t.Function):
        @staticmethod
        def forward(ctx, x):
            x *= 2.0
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 2.0

    Double.apply(t.leaf(X))


@case("a saved argument that is written afterwards", Raises("in-?place|modified|version", RuntimeError))
def saved_and_written(t):
    class Square(t.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 2 * x * g

    x = t.leaf(X)
    h = x * 1.0
    y = Square.apply(h)
    h += 1.0
    t.backward(t.sum(y))


@case("saved values are freed", Raises("retain_graph", RuntimeError))
def freed(t):
    class Square(t.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 2 * x * g

    y = t.sum(Square.apply(t.leaf(X)))
    t.backward(y)
    t.backward(y)


@case("None may be saved", [True, np.full(3, 2.0)])
def saved_none(t):
    seen = []

    class F(t.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x, None)
            return x * 2.0

        @staticmethod
        def backward(ctx, g):
            x, none = ctx.saved_tensors
            seen.append(none is None)
            return g * 2.0

    x = t.leaf(X)
    t.backward(t.sum(F.apply(x)))
    return [seen[0], t.value(x.grad)]


@case("too few gradients", Raises("gradient", RuntimeError))
def too_few(t):
    class F(t.Function):
        @staticmethod
        def forward(ctx, x, w):
            return x * w

        @staticmethod
        def backward(ctx, g):
            return g

    t.backward(t.sum(F.apply(t.leaf(X), t.leaf(X))))


@case("Nones beyond the arguments are allowed", np.full(3, 2.0))
def more_nones(t):
    class F(t.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2.0

        @staticmethod
        def backward(ctx, g):
            return g * 2.0, None, None

    x = t.leaf(X)
    t.backward(t.sum(F.apply(x)))
    return t.value(x.grad)


@case("a gradient of a shape that cannot be", Raises("shape", RuntimeError))
def wrong_shape(t):
    class F(t.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2.0

        @staticmethod
        def backward(ctx, g):
            return g[:2]

    t.backward(t.sum(F.apply(t.leaf(X))))


@case("a gradient of a broadcast shape is summed", [6.0])
def broadcast_gradient(t):
    class F(t.Function):
        @staticmethod
        def forward(ctx, x, v):
            ctx.v = v
            return x * v

        @staticmethod
        def backward(ctx, g):
            return g * 2.0, None

    x = t.leaf([1.0])
    t.backward(t.sum(F.apply(x, t.const(X))))
    return list(t.value(x.grad))


@case("None for an argument that requires grad: no gradient", [None, np.full(3, 1.0)])
def none_gradient(t):
    class F(t.Function):
        @staticmethod
        def forward(ctx, x, w):
            return x + w

        @staticmethod
        def backward(ctx, g):
            return None, g

    x, w = t.leaf(X), t.leaf(X)
    t.backward(t.sum(F.apply(x, w)))
    return [t.value(x.grad), t.value(w.grad)]


@case("a result that is an argument itself", [False, True, np.full(3, 3.0)])
def returns_argument(t):
    class F(t.Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 3.0

    x = t.leaf(X)
    y = F.apply(x)
    t.backward(t.sum(y))
    return [y is x, y.requires_grad, t.value(x.grad)]


@case("results that are no tensors pass as they are", ["text", 7])
def other_results(t):
    class F(t.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2.0, "text", 7

        @staticmethod
        def backward(ctx, g, a, b):
            return g * 2.0

    _, text, number = F.apply(t.leaf(X))
    return [text, int(number)]


@case("without a backward of its own", Raises("backward|implement", (NotImplementedError, RuntimeError)))
def no_backward(t):
    class F(t.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2.0

    t.backward(t.sum(F.apply(t.leaf(X))))


@case("setup_context apart from forward", 3 * X**2)
def setup_context(t):
    class Cube(t.Function):
        @staticmethod
        def forward(x):
            return x**3

        @staticmethod
        def setup_context(ctx, inputs, output):
            (x,) = inputs
            ctx.save_for_backward(x)

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * 3 * x**2

    x = t.leaf(X)
    t.backward(t.sum(Cube.apply(x)))
    return t.value(x.grad)


@case("marked dirty, but not returned", Raises("dirty", RuntimeError))
def dirty_not_returned(t):
    class F(t.Function):
        @staticmethod
        def forward(ctx, x):
            x *= 2.0
            ctx.mark_dirty(x)
            return x * 1.0

        @staticmethod
        def backward(ctx, g):
            return g

    F.apply(t.leaf(X) * 1.0)


@case("the name of the node", ["CubeBackward"])
def node_name(t):
    class Cube(t.Function):
        @staticmethod
        def forward(ctx, x):
            return x**3

        @staticmethod
        def backward(ctx, g):
            return g

    return [type(Cube.apply(t.leaf(X)).grad_fn).__name__]


@case("attributes of the context reach backward, and the node's", [5])
def context_attributes(t):
    class F(t.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.five = 5
            return x * 1.0

        @staticmethod
        def backward(ctx, g):
            return g * ctx.five

    return [F.apply(t.leaf(X)).grad_fn.five]


@case("a Function within a Function's backward", 8 * X)
def nested(t):
    class Double(t.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2.0

        @staticmethod
        def backward(ctx, g):
            return Double.apply(g)

    x = t.leaf(X)
    (g,) = t.grad(t.sum(Double.apply(x) ** 2), x, create_graph=True)
    return t.value(g)
