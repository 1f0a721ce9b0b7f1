"""backward(): what arrives in .grad, seeds, kept and freed graphs."""

import numpy as np

from tests.autograd.semantics.table import Raises, X, case


@case("gradients add up in leaves until .grad is reset", [2 * X + 10, np.ones(3)])
def accumulates(t):
    x = t.leaf(X)
    t.backward(t.sum(x * x))
    t.backward(t.sum(x * 10.0))
    first = t.value(x.grad)
    x.grad = None
    t.backward(t.sum(x))
    return [first, t.value(x.grad)]


@case("several tensors: the sum of their gradients", 2 * X + np.cos(X))
def several(t):
    x = t.leaf(X)
    t.backward([t.sum(x * x), t.sum(t.sin(x))])
    return t.value(x.grad)


@case("a vector weighs a tensor that is no scalar", 2 * X * [1, 10, 100])
def weighed(t):
    x = t.leaf(X)
    t.backward(x * x, t.const([1.0, 10.0, 100.0]))
    return t.value(x.grad)


@case("None among grad_tensors stands for the seed of a scalar", 2 * X * [1, 10, 100] + 1)
def none_in_grad_tensors(t):
    x = t.leaf(X)
    t.backward([x * x, t.sum(x)], [t.const([1.0, 10.0, 100.0]), None])
    return t.value(x.grad)


@case("grad_tensors by keyword, as a sequence", 3 * X**2 * [1, 0, 2])
def seeds_by_keyword(t):
    x = t.leaf(X)
    t.backward(tensors=[x**3], grad_tensors=[t.const([1.0, 0.0, 2.0])])
    return t.value(x.grad)


@case("a seed scales a scalar, too", 5 * np.ones(3))
def seed_of_scalar(t):
    x = t.leaf(X)
    t.backward(t.sum(x), t.const(5.0))
    return t.value(x.grad)


@case("no seed for a vector: the error says scalar", Raises("scalar", RuntimeError))
def vector_without_seed(t):
    t.backward(t.leaf(X) * 2.0)


@case("the same of a method", Raises("scalar", RuntimeError))
def vector_method_without_seed(t):
    (t.leaf(X) * 2.0).backward()


@case("one element counts as a scalar, whatever the shape", np.array([[8.0]]))
def one_element(t):
    x = t.leaf([[4.0]])
    t.backward(x * x)
    return t.value(x.grad)


@case("fewer seeds than tensors", Raises("grad_tensors|gradient", RuntimeError))
def too_few_seeds(t):
    x = t.leaf(X)
    t.backward([t.sum(x), t.sum(x)], [None])


@case("a seed of another shape", Raises("shape", RuntimeError))
def seed_of_another_shape(t):
    t.backward(t.leaf(X) * 2.0, t.const([1.0, 2.0]))


@case("a value of no leaf that requires grad", Raises("require", RuntimeError))
def of_a_constant(t):
    t.backward(t.sum(t.const(X) * 2.0))


@case(
    "a tensor that needs no grad takes None, beside one that does", 2 * X,
    torch=Raises("does not require grad"), differs="outputs without grad",
)  # fmt: skip
def constant_among_tensors(t):
    x = t.leaf(X)
    t.backward([t.sum(x * x), t.sum(t.const(X))], [None, None])
    return t.value(x.grad)


@case("backward of a leaf itself", [1.0, 4.0])
def of_a_leaf(t):
    x = t.leaf(3.0)
    t.backward(x)
    first = float(t.value(x.grad))
    t.backward(x, t.const(3.0))
    return [first, float(t.value(x.grad))]


@case("the second pass through a freed graph names retain_graph", Raises("retain_graph", RuntimeError))
def second_pass(t):
    x = t.leaf(X)
    y = t.sum(t.exp(x) * x)
    t.backward(y)
    t.backward(y)


@case("a second pass that needs nothing saved is fine", np.full(3, 2.0))
def second_pass_without_saved(t):
    x = t.leaf(X)
    y = t.sum(x + 1.0)
    t.backward(y)
    t.backward(y)
    return t.value(x.grad)


@case("a part of the graph that was freed by another output's pass", Raises("retain_graph", RuntimeError))
def shared_part_freed(t):
    x = t.leaf(X)
    h = t.exp(x)
    a, b = t.sum(h * 2.0), t.sum(h * 3.0)
    t.backward(a)
    t.backward(b)


@case("retain_graph keeps what is saved", 6 * X**2)
def retained(t):
    x = t.leaf(X)
    y = t.sum(x**3)
    t.backward(y, retain_graph=True)
    t.backward(y)
    return t.value(x.grad)


@case("the pass after the last retained one frees", Raises("retain_graph", RuntimeError))
def retained_then_freed(t):
    x = t.leaf(X)
    y = t.sum(x**3)
    t.backward(y, retain_graph=True)
    t.backward(y)
    t.backward(y)


@case("retain_graph defaults to create_graph", 6 * X**2)
def create_graph_retains(t):
    x = t.leaf(X)
    y = t.sum(x**3)
    t.backward(y, create_graph=True)
    x_grad = x.grad
    t.backward(y)
    assert x_grad is not None
    return t.value(x.grad)


@case("retain_graph=False frees under create_graph, too", Raises("retain_graph", RuntimeError))
def create_graph_without_retaining(t):
    x = t.leaf(X)
    y = t.sum(x**3)
    t.backward(y, create_graph=True, retain_graph=False)
    t.backward(y)


@case("create_graph makes .grad differentiable", [True, 6 * X])
def create_graph(t):
    x = t.leaf(X)
    t.backward(t.sum(x**3), create_graph=True)
    g = x.grad
    x.grad = None
    t.backward(t.sum(g))
    return [g.requires_grad, t.value(x.grad)]


@case("without create_graph, .grad requires none", [False, True])
def grad_is_a_leaf(t):
    x = t.leaf(X)
    t.backward(t.sum(x**3))
    return [x.grad.requires_grad, x.grad.is_leaf]


@case("inputs= fills these leaves only", [2 * X, None])
def inputs(t):
    x, w = t.leaf(X), t.leaf(X)
    t.backward(t.sum(x * x + w * w), inputs=[x])
    return [t.value(x.grad), t.value(w.grad)]


@case("inputs= may be one tensor", [2 * X, None])
def one_input(t):
    x, w = t.leaf(X), t.leaf(X)
    t.backward(t.sum(x * x + w * w), inputs=x)
    return [t.value(x.grad), t.value(w.grad)]


@case("inputs= may be inner values, whose .grad is filled", [2 * X**2, None])
def inner_input(t):
    x = t.leaf(X)
    h = x * x
    t.backward(t.sum(h * h), inputs=[h])
    return [t.value(h.grad), t.value(x.grad)]


@case("inputs= without any", Raises("empty", RuntimeError))
def no_inputs(t):
    t.backward(t.sum(t.leaf(X)), inputs=[])


@case("an input that is not reached keeps .grad None", [None, np.ones(3)])
def input_not_reached(t):
    x, w = t.leaf(X), t.leaf(X)
    t.backward(t.sum(w), inputs=[x, w])
    return [t.value(x.grad), t.value(w.grad)]


@case("the .grad of two leaves are two arrays", [np.full(3, 8.0), np.full(3, 2.0)])
def grads_are_apart(t):
    x, y = t.leaf(X), t.leaf(X)
    t.backward(t.sum(x + y))
    with t.no_grad():
        x.grad *= 7.0
    t.backward(t.sum(x + y))
    return [t.value(x.grad), t.value(y.grad)]


@case("the seed is not what lands in .grad", [np.ones(3), X])
def seed_is_not_grad(t):
    x = t.leaf(X)
    seed = t.const(np.ones(3))
    t.backward(x + 0.0, seed)
    with t.no_grad():
        x.grad *= t.const(X)
    return [t.value(seed), t.value(x.grad)]


@case("a leaf used twice in one operation", [2 * X, 2 * X])
def twice_in_one(t):
    x = t.leaf(X)
    t.backward(t.sum(x * x))
    first = t.value(x.grad)
    x.grad = None
    t.backward(t.sum(x**2))
    return [first, t.value(x.grad)]


@case("a diamond: each node once, after all its users", [1, 2 * (7.0**10 + 60 * 7.0**9)])
def diamond(t):
    runs = []

    class Twice(t.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2.0

        @staticmethod
        def backward(ctx, g):
            runs.append(1)
            return g * 2.0

    x = t.leaf(3.0)
    y = Twice.apply(x)
    z = y
    for _ in range(10):
        z = z + z * y
    t.backward(z)
    return [len(runs), t.value(x.grad)]


@case("a chain of 20,000 nodes needs no recursion", 1.0001**20000)
def long_chain(t):
    x = t.leaf(1.0)
    y = x
    for _ in range(20000):
        y = y * 1.0001
    t.backward(y)
    return t.value(x.grad)


@case("branches that do not reach the output have no gradient", [2 * X, None])
def unused_branch(t):
    x, w = t.leaf(X), t.leaf(X)
    unused = w * x
    t.backward(t.sum(x * x))
    return [t.value(x.grad), t.value(w.grad)]


@case("assigning .grad a value of another shape", Raises("shape|size", RuntimeError))
def grad_of_another_shape(t):
    x = t.leaf(X)
    x.grad = t.const([1.0])


@case("what .grad is set to is added to", np.full(3, 11.0))
def grad_is_set(t):
    x = t.leaf(X)
    x.grad = t.const(np.full(3, 10.0))
    t.backward(t.sum(x))
    return t.value(x.grad)


@case("the method takes the gradient, and retain_graph", 4 * X * [1, 2, 3])
def method(t):
    x = t.leaf(X)
    y = x * x
    y.backward(t.const([1.0, 2.0, 3.0]), retain_graph=True)
    y.backward(gradient=t.const([1.0, 2.0, 3.0]))
    return t.value(x.grad)


@case("the method takes inputs", [None, np.ones(3)])
def method_with_inputs(t):
    x, w = t.leaf(X), t.leaf(X)
    t.sum(x + w).backward(inputs=[w])
    return [t.value(x.grad), t.value(w.grad)]


@case("complex leaves: the conjugate convention", 2 * np.array([1 + 2j, 3 - 1j]))
def complex_leaf(t):
    z = t.leaf([1 + 2j, 3 - 1j])
    t.backward(t.sum(t.real(z * t.conj(z))))
    return t.value(z.grad)


@case("a complex scalar needs its seed", Raises("real|complex", RuntimeError))
def complex_scalar(t):
    z = t.leaf([1 + 2j])
    t.backward(z * z)


@case("float32 leaves get float32 gradients through float64", ["float32", X.astype(np.float32) * 2])
def dtype_of_gradient(t):
    x = t.leaf(X, np.float32)
    t.backward(t.sum(x * t.const(np.full(3, 2.0))))
    return [str(x.grad.dtype).removeprefix("torch."), t.value(x.grad) * t.value(x)]


@case("backward inside no_grad works", 2 * X)
def backward_in_no_grad(t):
    x = t.leaf(X)
    y = t.sum(x * x)
    with t.no_grad():
        t.backward(y)
    return t.value(x.grad)


@case("the same tensor twice among the outputs counts twice", 4 * X)
def output_twice(t):
    x = t.leaf(X)
    y = t.sum(x * x)
    t.backward([y, y])
    return t.value(x.grad)


@case("an output that another output depends on", 2 * X + 3 * X**2)
def output_of_output(t):
    x = t.leaf(X)
    h = x * x
    y = h * x
    t.backward([t.sum(h), t.sum(y)])
    return t.value(x.grad)


@case("who holds .grad sees what is added to it", [True, 2 * np.ones(3)])
def held_grad(t):
    x = t.leaf(X)
    t.backward(t.sum(x))
    g = x.grad
    t.backward(t.sum(x))
    return [g is x.grad, t.value(g)]
