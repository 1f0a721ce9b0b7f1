"""Hooks on gradients, and retained gradients of inner values."""

import numpy as np

from tests.autograd.semantics.table import Raises, X, case


@case("a hook on an inner value sees the whole gradient once, and may change it", [1, np.full(3, 3.0), 60 * X])
def on_inner(t):
    seen = []
    x = t.leaf(X)
    h = x * x

    def hook(g):
        seen.append(t.value(g))
        return g * 10.0

    h.register_hook(hook)
    t.backward(t.sum(h) + t.sum(h * 2.0))
    return [len(seen), seen[0], t.value(x.grad)]


@case("a hook on a leaf changes what lands in .grad", 3 * np.ones(3))
def on_leaf(t):
    x = t.leaf(X)
    x.register_hook(lambda g: g * 3)
    t.backward(t.sum(x))
    return t.value(x.grad)


@case("a hook on a leaf sees the sum of its gradients", [1, 2 * X + 1])
def on_leaf_once(t):
    seen = []
    x = t.leaf(X)
    x.register_hook(lambda g: seen.append(t.value(g)))
    t.backward(t.sum(x * x) + t.sum(x))
    return [len(seen), seen[0]]


@case("a hook that returns None changes nothing", 2 * X)
def returning_none(t):
    x = t.leaf(X)
    x.register_hook(lambda g: None)
    t.backward(t.sum(x * x))
    return t.value(x.grad)


@case("hooks run in the order of registration, each on what the last returned", [[1.0, 2.0], 20.0])
def in_order(t):
    seen = []
    x = t.leaf(3.0)
    x.register_hook(lambda g: (seen.append(float(t.value(g))), g * 2)[1])
    x.register_hook(lambda g: (seen.append(float(t.value(g))), g * 10)[1])
    t.backward(x * 1.0)
    return [seen, float(t.value(x.grad))]


@case("a removed hook does not run", [[1.0], 1.0])
def removed(t):
    seen = []
    x = t.leaf(3.0)
    handle = x.register_hook(lambda g: seen.append(float(t.value(g))))
    y = x * 1.0
    t.backward(y, retain_graph=True)
    handle.remove()
    x.grad = None
    t.backward(y)
    return [seen, float(t.value(x.grad))]


@case("removing one of two equal hooks leaves the other", [4.0])
def removed_one_of_two(t):
    x = t.leaf(3.0)

    def double(g):
        return g * 2

    first = x.register_hook(double)
    x.register_hook(double)
    x.register_hook(double)
    first.remove()
    first.remove()
    t.backward(x * 1.0)
    return [float(t.value(x.grad))]


@case("hooks run for grad(), too, on inner values and on inputs", [6 * X])
def under_grad(t):
    x = t.leaf(X)
    h = x * x
    h.register_hook(lambda g: g * 3)
    return [t.value(t.grad(t.sum(h), x)[0])]


@case("a hook of the input itself applies to what grad() returns", [np.full(3, 5.0)])
def under_grad_on_input(t):
    x = t.leaf(X)
    x.register_hook(lambda g: g * 5)
    return [t.value(t.grad(t.sum(x), x)[0])]


@case("a hook of an inner input applies to what grad() returns", [np.full(3, 5.0)])
def under_grad_on_inner_input(t):
    x = t.leaf(X)
    h = x * 2.0
    h.register_hook(lambda g: g * 5)
    return [t.value(t.grad(t.sum(h), h)[0])]


@case("a value that requires no grad takes no hook", Raises("require", RuntimeError))
def on_constant(t):
    t.const(X).register_hook(lambda g: g)


@case("hooks are differentiable under create_graph, and run in the second pass, too", 24 * X)
def differentiable(t):
    x = t.leaf(X)
    h = x * 1.0
    h.register_hook(lambda g: g * 2)
    (g,) = t.grad(t.sum(h**3), x, create_graph=True)
    return t.value(t.grad(t.sum(g), x)[0])


@case("a hook returning another shape is refused", Raises("shape|size", RuntimeError))
def another_shape(t):
    x = t.leaf(X)
    x.register_hook(lambda g: t.sum(g))
    t.backward(t.sum(x * x))


@case("an error in a hook passes to the caller", Raises("mine", KeyError))
def error_passes(t):
    x = t.leaf(X)

    def fail(g):
        raise KeyError("mine")

    x.register_hook(fail)
    t.backward(t.sum(x * x))


@case("post-accumulate hooks of a leaf run after .grad is there, with the leaf", [[True, 2.0], None])
def post_accumulate(t):
    seen = []
    x = t.leaf(1.0)

    def step(p):
        seen.extend([p is x, float(t.value(p.grad))])
        p.grad = None

    x.register_post_accumulate_grad_hook(step)
    t.backward(x * 2.0)
    return [seen, t.value(x.grad)]


@case("post-accumulate hooks do not run for grad()", [[], 2.0])
def post_accumulate_not_for_grad(t):
    seen = []
    x = t.leaf(1.0)
    x.register_post_accumulate_grad_hook(lambda p: seen.append(1))
    (g,) = t.grad(x * 2.0, x)
    return [seen, float(t.value(g))]


@case("post-accumulate hooks are for leaves", Raises("leaf", RuntimeError))
def post_accumulate_on_inner(t):
    (t.leaf(X) * 2.0).register_post_accumulate_grad_hook(lambda p: None)


@case("a removed post-accumulate hook does not run", [1, 4.0])
def post_accumulate_removed(t):
    seen = []
    x = t.leaf(1.0)
    handle = x.register_post_accumulate_grad_hook(lambda p: seen.append(1))
    t.backward(x * 2.0)
    handle.remove()
    t.backward(x * 2.0)
    return [len(seen), float(t.value(x.grad))]


@case("a step of descent in a post-accumulate hook", X - 0.1 * 2 * X)
def post_accumulate_step(t):
    x = t.leaf(X)

    def step(p):
        with t.no_grad():
            t.add_(p, p.grad * -0.1)
        p.grad = None

    x.register_post_accumulate_grad_hook(step)
    t.backward(t.sum(x * x))
    return t.value(x)


@case(".grad of an inner value is None until retain_grad()", [None, 4 * X**2, 16 * X**3])
def retained(t):
    x = t.leaf(X)
    h = x * x
    k = h * 2.0
    k.retain_grad()
    t.backward(t.sum(k * k))
    return [t.value(h.grad), t.value(k.grad), t.value(x.grad)]


@case("retain_grad of a leaf does nothing", [2 * X, False])
def retain_of_leaf(t):
    x = t.leaf(X)
    x.retain_grad()
    t.backward(t.sum(x * x))
    return [t.value(x.grad), x.retains_grad]


@case("retain_grad of a constant", Raises("require", RuntimeError))
def retain_of_constant(t):
    t.const(X).retain_grad()


@case("retain_grad twice counts once", [True, 2 * np.ones(3)])
def retain_twice(t):
    x = t.leaf(X)
    h = x * x
    h.retain_grad()
    h.retain_grad()
    t.backward(t.sum(h * 2.0))
    return [h.retains_grad, t.value(h.grad)]


@case("retained gradients add up, too", 3 * np.ones(3))
def retained_adds(t):
    x = t.leaf(X)
    h = x * x
    h.retain_grad()
    y = t.sum(h)
    t.backward(y, retain_graph=True)
    t.backward(y, t.const(2.0))
    return t.value(h.grad)


@case("retained gradients come after hooks", 10 * np.ones(3))
def retained_after_hooks(t):
    x = t.leaf(X)
    h = x * x
    h.retain_grad()
    h.register_hook(lambda g: g * 10)
    t.backward(t.sum(h))
    return t.value(h.grad)


@case("retained gradients under create_graph are differentiable", [True, 4 * X])
def retained_created(t):
    x = t.leaf(X)
    h = x * x
    h.retain_grad()
    t.backward(t.sum(h**2), create_graph=True)
    return [h.grad.requires_grad, t.value(t.grad(t.sum(h.grad), x)[0])]


@case(
    "an in-place operation after a hook: the hook sees the gradient of the value before",
    [np.full(3, 2.0), np.full(3, 1.0)],
)
def hook_before_write(t):
    seen = []
    x = t.leaf(X)
    h = x * 1.0
    h.register_hook(lambda g: seen.append(t.value(g)))
    t.mul_(h, 2.0)
    h.register_hook(lambda g: seen.append(t.value(g)))
    t.backward(t.sum(h))
    return [seen[1], seen[0]]


@case("retain_grad before an in-place operation: .grad is that of the value after", np.full(3, 1.0))
def retain_before_write(t):
    x = t.leaf(X)
    h = x * 1.0
    h.retain_grad()
    t.mul_(h, 2.0)
    t.backward(t.sum(h))
    return t.value(h.grad)


@case("a hook on a view sees the view's gradient", np.array([3.0, 3.0]))
def on_view(t):
    seen = []
    x = t.leaf(X)
    v = x[1:]
    v.register_hook(lambda g: seen.append(t.value(g)))
    t.backward(t.sum(v * 3.0) + t.sum(x))
    return seen[0]
