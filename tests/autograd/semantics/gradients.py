"""grad(): what is returned, and that nothing is stored."""

import numpy as np

from tests.autograd.semantics.table import Raises, X, case


@case("grad returns and does not store", [2 * X * 2.0, True])
def does_not_store(t):
    x, w = t.leaf(X), t.leaf(2.0)
    (g,) = t.grad(t.sum(x * x * w), [x])
    return [t.value(g), x.grad is None and w.grad is None]


@case("the result is a tuple, also for one input", ["tuple", 1, np.ones(3)])
def is_a_tuple(t):
    x = t.leaf(X)
    g = t.grad(t.sum(x), x)
    return [type(g).__name__, len(g), t.value(g[0])]


@case("several inputs, in their order", [X, 2 * np.ones(3)])
def several_inputs(t):
    x, w = t.leaf(np.full(3, 2.0)), t.leaf(X)
    gx, gw = t.grad(t.sum(x * w), (x, w))
    return [t.value(gx), t.value(gw)]


@case("the same input twice", [2 * X, 2 * X])
def input_twice(t):
    x = t.leaf(X)
    a, b = t.grad(t.sum(x * x), [x, x])
    return [t.value(a), t.value(b)]


@case("inputs that are no leaves", [2 * X**2, 4 * X**3])
def inner_inputs(t):
    x = t.leaf(X)
    h = x * x
    gh, gx = t.grad(t.sum(h * h), [h, x])
    return [t.value(gh), t.value(gx)]


@case("the output itself among the inputs", [1.0, 2.0])
def output_as_input(t):
    x = t.leaf(1.0)
    y = x * 2.0
    gy, gx = t.grad(y, [y, x])
    return [t.value(gy), t.value(gx)]


@case("a leaf by itself", np.array([1.0, 2.0, 3.0]))
def leaf_by_itself(t):
    x = t.leaf(X)
    return t.value(t.grad(x, x, t.const([1.0, 2.0, 3.0]))[0])


@case("an unused input is an error that names allow_unused", Raises("allow_unused", RuntimeError))
def unused(t):
    x, y = t.leaf(X), t.leaf(X)
    t.grad(t.sum(y * y), [x])


@case("allow_unused gives None", [None, 2 * X])
def allowed_unused(t):
    x, y = t.leaf(X), t.leaf(X)
    gx, gy = t.grad(t.sum(y * y), [x, y], allow_unused=True)
    return [t.value(gx), t.value(gy)]


@case("materialize_grads gives zeros", [np.zeros(3), 2 * X])
def materialized(t):
    x, y = t.leaf(X), t.leaf(X)
    gx, gy = t.grad(t.sum(y * y), [x, y], materialize_grads=True)
    return [t.value(gx), t.value(gy)]


@case("materialized zeros can be differentiated under create_graph", [True, True])
def materialized_requires_none(t):
    x, y = t.leaf(X), t.leaf(X)
    gx, gy = t.grad(t.sum(y * y), [x, y], materialize_grads=True, create_graph=True)
    return [gx.requires_grad, gy.requires_grad]


@case("an input that does not require grad", Raises("require", RuntimeError))
def input_without_grad(t):
    x = t.leaf(X)
    t.grad(t.sum(x), [t.const(X)])


@case("the same with allow_unused", Raises("require", RuntimeError))
def input_without_grad_allowed(t):
    x = t.leaf(X)
    t.grad(t.sum(x), [t.const(X)], allow_unused=True)


@case("no inputs", Raises("empty", RuntimeError))
def no_inputs(t):
    t.grad(t.sum(t.leaf(X)), [])


@case("several outputs with their vectors", np.array([1.0, 10.0, 100.0]) + 2 * X)
def several_outputs(t):
    x = t.leaf(X)
    (g,) = t.grad([x * 1.0, t.sum(x * x)], [x], [t.const([1.0, 10.0, 100.0]), None])
    return t.value(g)


@case(
    "outputs that need no grad take None", 2 * X, torch=Raises("does not require grad"), differs="outputs without grad"
)
def output_without_grad(t):
    x = t.leaf(X)
    (g,) = t.grad([t.sum(x * x), t.const(X)], [x], [None, None])
    return t.value(g)


@case("only outputs that need no grad", Raises("require", RuntimeError))
def only_outputs_without_grad(t):
    t.grad([t.const(1.0)], [t.leaf(1.0)])


@case("the graph is freed as by backward", Raises("retain_graph", RuntimeError))
def frees(t):
    x = t.leaf(X)
    y = t.sum(x**3)
    t.grad(y, x)
    t.grad(y, x)


@case("retain_graph, then backward", [3 * X**2, 3 * X**2])
def retains(t):
    x = t.leaf(X)
    y = t.sum(x**3)
    (g,) = t.grad(y, x, retain_graph=True)
    t.backward(y)
    return [t.value(g), t.value(x.grad)]


@case("create_graph: the result requires grad, and the graph is kept", [True, 6 * X, 3 * X**2])
def create_graph(t):
    x = t.leaf(X)
    y = t.sum(x**3)
    (g,) = t.grad(y, x, create_graph=True)
    (h,) = t.grad(t.sum(g), x)
    (again,) = t.grad(y, x)
    return [g.requires_grad, t.value(h), t.value(again)]


@case("a gradient that depends on nothing requires no grad under create_graph", [False, np.full(3, 2.0)])
def constant_gradient(t):
    x = t.leaf(X)
    (g,) = t.grad(t.sum(x * 2.0), x, create_graph=True)
    return [g.requires_grad, t.value(g)]


@case("differentiating by a seed", [6 * X, 3 * X**2])
def by_the_seed(t):
    x = t.leaf(X)
    v = t.leaf(np.ones(3))
    (g,) = t.grad(x**3, x, v, create_graph=True)
    gx, gv = t.grad(t.sum(g), [x, v])
    return [t.value(gx), t.value(gv)]


@case("seeds by keyword, retain_graph and create_graph off by default", [False, 2 * X * X])
def keyword_seed(t):
    x = t.leaf(X)
    (g,) = t.grad(outputs=x * x, inputs=x, grad_outputs=t.const(X))
    return [g.requires_grad, t.value(g)]


@case("inner inputs cut nothing off: paths around them count", [2 * X**2 + 1, 4 * X**3 + 2 * X])
def paths_around(t):
    x = t.leaf(X)
    h = x * x
    y = t.sum(h * h) + t.sum(h)
    gh, gx = t.grad(y, [h, x])
    return [t.value(gh), t.value(gx)]


@case("nodes that lead to no input are left alone, and not freed", [np.ones(3), 2 * X])
def other_branch_not_freed(t):
    x, w = t.leaf(X), t.leaf(X)
    branch = t.sum(w * w)
    y = t.sum(x) + branch
    (g,) = t.grad(y, x)
    t.backward(branch)
    return [t.value(g), t.value(w.grad)]


@case("grad inside no_grad with create_graph records", [True, 6 * X])
def create_graph_in_no_grad(t):
    x = t.leaf(X)
    y = t.sum(x**3)
    with t.no_grad():
        (g,) = t.grad(y, x, create_graph=True)
    return [g.requires_grad, t.value(t.grad(t.sum(g), x)[0])]


@case("the gradient by an element taken out", [1.0, 2.0])
def by_an_element(t):
    x = t.leaf(X)
    e = x[1:2]
    (g,) = t.grad(t.sum(e * 2.0) - t.sum(x), e)
    return [1.0, float(t.value(g)[0])]


@case("an input used only through another input", [np.full(3, 3.0), np.full(3, 6.0)])
def through_another(t):
    x = t.leaf(X)
    h = x * 2.0
    gh, gx = t.grad(t.sum(h * 3.0), [h, x])
    return [t.value(gh), t.value(gx)]


@case("a seed of another shape", Raises("shape", RuntimeError))
def seed_of_another_shape(t):
    x = t.leaf(X)
    t.grad(x * 2.0, x, t.const(1.0))
