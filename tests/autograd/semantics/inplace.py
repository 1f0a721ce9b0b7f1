"""In-place operations: what is right, and what is refused."""

import numpy as np

from tests.autograd.semantics.table import Raises, X, case

WRITTEN = "in-?place|modified|version"


@case("a leaf that requires grad cannot be written", Raises("leaf", RuntimeError))
def leaf(t):
    x = t.leaf(X)
    x += 1.0


@case("nor through an index", Raises("leaf", RuntimeError))
def leaf_item(t):
    x = t.leaf(X)
    x[0] = 1.0


@case("nor through a view", Raises("leaf", RuntimeError))
def leaf_view(t):
    x = t.leaf(X)
    v = x[1:]
    v *= 2.0


@case("under no_grad it can, and stays a leaf", [np.zeros(3), np.full(3, 2.0), True])
def leaf_under_no_grad(t):
    x = t.leaf(X)
    t.backward(t.sum(x * x))
    with t.no_grad():
        x -= x.grad * 0.5
    x.grad = None
    t.backward(t.sum((x + 1.0) ** 2))
    return [t.value(x), t.value(x.grad), x.requires_grad]


@case("a leaf written under no_grad after it was saved", Raises(WRITTEN, RuntimeError))
def leaf_saved_then_written(t):
    x = t.leaf(X)
    y = t.sum(x * x)
    with t.no_grad():
        x += 1.0
    t.backward(y)


@case("a saved result that was overwritten", Raises(WRITTEN, RuntimeError))
def saved_result(t):
    x = t.leaf(X)
    y = t.exp(x)
    y += 1.0
    t.backward(t.sum(y))


@case("the error names both versions", Raises("version 2.*version 0|version 2.*expected.*0", RuntimeError))
def names_versions(t):
    x = t.leaf(X)
    y = t.exp(x)
    y += 1.0
    y += 1.0
    t.backward(t.sum(y))


@case("a saved operand that was overwritten", Raises(WRITTEN, RuntimeError))
def saved_operand(t):
    x = t.leaf(X)
    h = x * 1.0
    y = t.sum(h * h)
    h += 1.0
    t.backward(y)


@case("a saved constant that was overwritten", Raises(WRITTEN, RuntimeError))
def saved_constant(t):
    x, w = t.leaf(X), t.const([1.0, 2.0, 3.0])
    y = t.sum(x * w)
    w *= 5.0
    t.backward(y)


@case("a saved base that was overwritten through a view", Raises(WRITTEN, RuntimeError))
def saved_base(t):
    x, w = t.leaf(X), t.const([1.0, 2.0, 3.0])
    y = t.sum(x * w)
    v = w[1:]
    v *= 5.0
    t.backward(y)


@case("a saved view whose base was overwritten", Raises(WRITTEN, RuntimeError))
def saved_view(t):
    x, w = t.leaf(X), t.const([1.0, 2.0, 3.0, 4.0])
    y = t.sum(x * w[1:])
    w *= 5.0
    t.backward(y)


@case("views share the counter also where they do not overlap", Raises(WRITTEN, RuntimeError))
def views_do_not_overlap(t):
    x, w = t.leaf(X[:2]), t.const([1.0, 2.0, 3.0, 4.0])
    y = t.sum(x * w[:2])
    w[2:] = 0.0
    t.backward(y)


@case("a detached alias shares the counter", Raises(WRITTEN, RuntimeError))
def saved_then_detached_written(t):
    x = t.leaf(X)
    h = x * 1.0
    y = t.sum(h * h)
    d = h.detach()
    d += 1.0
    t.backward(y)


@case("a write that no rule needs is harmless", np.full(3, 3.0))
def harmless(t):
    x = t.leaf(X)
    y = x + 1.0
    y *= 2.0
    y += x
    t.backward(t.sum(y))
    return t.value(x.grad)


@case("a clone may be written", [2 * X, np.full(3, 7.0)])
def clone_written(t):
    x = t.leaf(X)
    h = x * 1.0
    c = h.clone()
    y = t.sum(h * h)
    c[:] = 7.0
    t.backward(y)
    return [t.value(x.grad), t.value(c)]


@case("in-place operations chain: ((x*2)+3)*x", 4 * X + 3)
def chain(t):
    x = t.leaf(X)
    y = x.clone()
    y *= 2.0
    y += 3.0
    y *= x
    t.backward(t.sum(y))
    return t.value(x.grad)


@case("each in-place operator", [1.0 - 0.0, -1.0, 0.5, 12.0, np.full(3, 1 / 3)])
def operators(t):
    found = []
    x = t.leaf(2.0)
    for step in (lambda y: y.__iadd__(1.0), lambda y: (-y).__isub__(1.0), lambda y: y.__imul__(0.5)):
        (g,) = t.grad(step(x * 1.0), x)
        found.append(float(t.value(g)))
    y = x * 1.0
    y **= 3
    found.append(float(t.value(t.grad(y, x)[0])))
    x = t.leaf(X)
    y = x * 1.0
    y /= 3.0
    found.append(t.value(t.grad(t.sum(y), x)[0]))
    return found


@case("y *= y needs an operand that it overwrites", Raises(WRITTEN, RuntimeError))
def by_itself(t):
    x = t.leaf(X)
    y = x * x
    y *= y
    t.backward(t.sum(y))
    return t.value(x.grad)


@case("writing an active value into a constant: the constant joins the graph", [60 + 111.0, True])
def into_constant(t):
    x = t.leaf(3.0)
    c = t.const([1.0, 1.0, 1.0])
    c[1] = x * x
    c += x
    t.backward(t.sum(c * t.const([1.0, 10.0, 100.0])))
    return [t.value(x.grad), c.requires_grad]


@case("an item set hides what stood there", [1.0, 0.0, 1.0])
def item_hides(t):
    x = t.leaf(X)
    y = x * 1.0
    y[1] = 5.0
    t.backward(t.sum(y))
    return list(t.value(x.grad))


@case("an item set from another item", [0.0, 1.0, 2.0])
def item_from_item(t):
    x = t.leaf(X)
    y = x * 1.0
    y[0] = y[2]
    t.backward(t.sum(y))
    return list(t.value(x.grad))


@case("a slice set, with broadcasting", [3.0, np.zeros(3)])
def slice_broadcast(t):
    x, s = t.leaf(X), t.leaf(1.0)
    y = x * 1.0
    y[:] = s
    t.backward(t.sum(y))
    return [float(t.value(s.grad)), t.value(x.grad)]


@case("a mask set", [2.0, np.array([1.0, 0.0, 0.0])])
def mask_set(t):
    x, s = t.leaf(X), t.leaf(1.0)
    y = x * 1.0
    y[y > 2.5] = s
    t.backward(t.sum(y))
    return [float(t.value(s.grad)), t.value(x.grad)]


@case("an index array set", [np.array([1.0, 10.0]), [0.0, 100.0, 0.0]])
def index_array_set(t):
    x, v = t.leaf(X), t.leaf([7.0, 8.0])
    y = x * 1.0
    y[[0, 2]] = v
    t.backward(t.sum(y * t.const([1.0, 100.0, 10.0])))
    return [t.value(v.grad), list(t.value(x.grad))]


@case("a raw write to data is not noticed", 2 * np.array([9.0, 3.0, 5.0]))
def raw_write(t):
    x = t.leaf(X)
    h = x * 1.0
    y = t.sum(h * h)
    t.write(h, 0, 9.0)
    t.backward(y)
    return t.value(x.grad)


@case("a write under no_grad to what nobody saved keeps the graph", [np.full(3, 2.0), np.zeros(3)])
def unrecorded_write(t):
    x = t.leaf(X)
    y = x * 2.0
    with t.no_grad():
        y[:] = 0.0
    t.backward(t.sum(y))
    return [t.value(x.grad), t.value(y)]


@case("an integer array cannot take an active value", Raises("int|float|long|cast", (RuntimeError, TypeError)))
def into_integers(t):
    x = t.leaf(X)
    c = t.const([1, 2, 3])
    c += x


@case("a broadcast value cannot be widened in place", Raises("shape|broadcast|size", (RuntimeError, ValueError)))
def widened(t):
    x = t.leaf(2.0)
    y = x * 1.0
    y += t.const(X)


@case("detach_ cuts the value off, in place", [False, True, None])
def detach_(t):
    x = t.leaf(X)
    y = x * 2.0
    y.detach_()
    return [y.requires_grad, y.is_leaf, t.value(x.grad)]


@case("detach_ of a view is refused", Raises("view", RuntimeError))
def detach_view(t):
    x = t.leaf(X)
    y = x * 2.0
    y[1:].detach_()


@case("detach shares memory, and carries no gradient", [9.0, False])
def detach_shares(t):
    x = t.leaf(X)
    y = x * 1.0
    d = y.detach()
    d[0] = 9.0
    return [float(t.value(y)[0]), d.requires_grad]


@case("requires_grad_ after a write into a constant", Raises("leaf|leaves", RuntimeError))
def requires_grad_off_on_inner(t):
    y = t.leaf(X) * 2.0
    y.requires_grad_(False)


@case("requires_grad = False on an inner value", Raises("leaf|leaves|detach", RuntimeError))
def requires_grad_set_on_inner(t):
    y = t.leaf(X) * 2.0
    y.requires_grad = False
