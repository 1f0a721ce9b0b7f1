"""Views: gradients through shared memory, in both directions."""

import numpy as np

from tests.autograd.semantics.table import Raises, X, case


@case("a write through a view is seen by its base and its gradient", [[2.0, 6, 10], [1.0, 2, 2], 8.0])
def through_view(t):
    x, w = t.leaf(X), t.leaf(2.0)
    c = x * 1.0
    v = c[1:]
    v *= w
    t.backward(t.sum(c))
    return [list(t.value(c)), list(t.value(x.grad)), float(t.value(w.grad))]


@case("a view is used after its base was written", 6 * X[1:])
def view_after_base_write(t):
    x = t.leaf(X)
    c = x * 1.0
    v = c[1:]
    c *= x
    t.backward(t.sum(v * 3.0))
    return t.value(x.grad)[1:]


@case("a second view after a write through the first", [1.0, 4.0, 4.0])
def two_views(t):
    x = t.leaf(X)
    c = x * 1.0
    a, b = c[1:], c[:]
    a *= 2.0
    a *= 2.0
    t.backward(t.sum(b))
    return list(t.value(x.grad))


@case("views of views", [1.0, 1.0, 3.0])
def view_of_view(t):
    x = t.leaf(X)
    c = x * 1.0
    v = c[1:][1:]
    v *= 3.0
    t.backward(t.sum(c))
    return list(t.value(x.grad))


@case("a transposed view", [[1.0, 2.0], [1.0, 2.0]])
def transposed(t):
    x = t.leaf(np.ones((2, 2)))
    c = x * 1.0
    v = c.T
    v[1] *= 2.0
    t.backward(t.sum(c))
    return [list(row) for row in t.value(x.grad)]


@case("a reshaped view", [1.0, 1.0, 5.0, 5.0])
def reshaped(t):
    x = t.leaf(np.ones(4))
    c = x * 1.0
    v = c.reshape(2, 2)
    v[1] *= 5.0
    t.backward(t.sum(c))
    return list(t.value(x.grad))


@case("a view of a constant that gets an active value", [True, [0.0, 1.0, 1.0]])
def constant_base(t):
    x = t.leaf(np.ones(2))
    c = t.const([1.0, 1.0, 1.0])
    v = c[1:]
    v *= x
    c.requires_grad  # noqa: B018 - asked for before it is used
    t.backward(t.sum(c))
    return [c.requires_grad, [0.0, *t.value(x.grad)]]


@case("an element view of a vector is a write, too", [1.0, 6.0, 1.0])
def element_write(t):
    x = t.leaf(X)
    c = x * 1.0
    c[1] *= 6.0
    t.backward(t.sum(c))
    return list(t.value(x.grad))


@case("a write to the base hides what a view had", [0.0, 0.0, 1.0])
def base_write_hides(t):
    x = t.leaf(X)
    c = x * 1.0
    v = c[:2]
    v *= 7.0
    c[:2] = 0.0
    t.backward(t.sum(c))
    return list(t.value(x.grad))


@case(
    "a value saved from a view, then a write through another view", Raises("in-?place|modified|version", RuntimeError)
)
def saved_then_other_view(t):
    x = t.leaf(X)
    c = x * 1.0
    a, b = c[:2], c[2:]
    y = t.sum(a * a)
    b += 1.0
    t.backward(y)


@case("gradients of the base and of the view", [np.array([1.0, 3.0, 3.0]), np.array([2.0, 2.0])])
def grads_of_both(t):
    x = t.leaf(X)
    c = x * 1.0
    v = c[1:]
    y = t.sum(c) + t.sum(v * 2.0)
    gc, gv = t.grad(y, [c, v])
    return [t.value(gc), t.value(gv)]


@case("a view made under no_grad may be written there", [9.0])
def view_under_no_grad(t):
    x = t.leaf(X)
    with t.no_grad():
        v = x[1:]
        v[0] = 9.0
    return [float(t.value(x)[1])]


@case("is_leaf and requires_grad of a view after a write", [False, True, False, True])
def flags(t):
    x, c = t.leaf(np.ones(2)), t.const(np.ones(3))
    v = c[1:]
    v *= x
    return [c.is_leaf, c.requires_grad, v.is_leaf, v.requires_grad]


@case("broadcast views carry the sum back", [3 * np.ones(2)])
def expanded(t):
    x = t.leaf(np.ones(2))
    t.backward(t.sum(t.expand(x, 3, 2)))
    return [t.value(x.grad)]


@case("joining parts, one of them scaled", [1.0, 1.0, 2.0, 2.0])
def split_parts(t):
    x = t.leaf(np.ones(4))
    c = x * 1.0
    a, b = c[:2], c[2:]
    y = t.concatenate([a, b * 2.0])
    t.backward(t.sum(y))
    return list(t.value(x.grad))


@case("a diagonal written in a loop", [6.0, 1.0, 1.0, 6.0])
def diagonal_loop(t):
    x = t.leaf(np.ones((2, 2)))
    c = x * 1.0
    for i in range(2):
        c[i, i] *= 2.0
        c[i, i] *= 3.0
    t.backward(t.sum(c))
    return list(t.value(x.grad).ravel())


@case("swapping rows through a copy", [[10.0, 10.0], [1.0, 1.0]])
def swapped_rows(t):
    x = t.leaf(np.ones((2, 2)))
    c = x * 1.0
    first = c[0].clone()
    c[0] = c[1]
    c[1] = first
    t.backward(t.sum(c * t.const([[1.0], [10.0]])))
    return [list(row) for row in t.value(x.grad)]


@case("a stencil over views", [[0.25, 0.5, 0.25]])
def stencil(t):
    x = t.leaf(X)
    c = x * 1.0
    inner = c[1:-1]
    new = 0.25 * c[:-2] + 0.5 * inner + 0.25 * c[2:]
    (g,) = t.grad(t.sum(new), x)
    return [list(t.value(g))]
