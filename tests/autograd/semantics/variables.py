"""Variables: leaves, flags, copies, conversions."""

import copy
import pickle

import numpy as np

from tests.autograd.semantics.table import Raises, X, case


@case("leaves and inner values", [True, False, True, True])
def is_leaf(t):
    x = t.leaf(X)
    y = x * 2.0
    return [x.is_leaf, y.is_leaf, t.const(X).is_leaf, (t.const(X) * 2.0).is_leaf]


@case("grad_fn of leaves is None", [None, None, False])
def grad_fn(t):
    x = t.leaf(X)
    return [x.grad_fn, t.const(X).grad_fn, (x * 2.0).grad_fn is None]


@case("requires_grad spreads", [True, False])
def requires_grad(t):
    x, c = t.leaf(X), t.const(X)
    return [(x * c).requires_grad, (c * c).requires_grad]


@case("requires_grad_ of a constant, and back", [True, False, True])
def requires_grad_(t):
    c = t.const(X)
    same = c.requires_grad_() is c
    first = c.requires_grad
    c.requires_grad_(False)
    return [first, c.requires_grad, same]


@case("an integer leaf", Raises("float", RuntimeError))
def integer_leaf(t):
    t.leaf(np.array([1, 2, 3]))


@case("requires_grad_ of integers", Raises("float", RuntimeError))
def integer_requires_grad(t):
    t.const([1, 2, 3]).requires_grad_()


@case("comparisons carry no gradient", [[True, False, True]])
def comparisons(t):
    y = t.leaf(X) != t.const([0.0, 3.0, 0.0])
    return [[bool(b) for b in t.value(y)]]


@case("detach gives a leaf without gradient", [True, False, None])
def detach(t):
    y = (t.leaf(X) * 2.0).detach()
    return [y.is_leaf, y.requires_grad, y.grad_fn]


@case("clone passes gradients on", [False, np.ones(3)])
def clone(t):
    x = t.leaf(X)
    y = x.clone()
    t.backward(t.sum(y))
    return [y.is_leaf, t.value(x.grad)]


@case("item of one element", [2.5, 2.5])
def item(t):
    return [t.leaf(2.5).item(), (t.leaf([[2.5]]) * 1.0).item()]


@case("item of several elements", Raises("one element|scalar|size 1|single|convert", (RuntimeError, ValueError)))
def item_of_several(t):
    t.leaf(X).item()


@case("numpy() of a value that requires grad", Raises("detach", (RuntimeError, TypeError)))
def numpy_of_leaf(t):
    t.leaf(X).numpy()


@case("numpy() after detach", X)
def numpy_of_detached(t):
    return t.leaf(X).detach().numpy()


@case("np.asarray of a value that requires grad", Raises("detach", (RuntimeError, TypeError)))
def asarray(t):
    np.asarray(t.leaf(X))


@case("tolist", [[2.0, 3.0, 5.0]])
def tolist(t):
    return [t.leaf(X).tolist()]


@case("truth of one element", [True, False])
def truth(t):
    return [bool(t.leaf(2.0)), bool(t.leaf(0.0))]


@case("truth of several elements", Raises("ambiguous", (RuntimeError, ValueError)))
def truth_of_several(t):
    bool(t.leaf(X))


@case("length and iteration", [3, [2.0, 3.0, 5.0], [0.0, 2.0, 0.0]])
def iteration(t):
    x = t.leaf(X)
    values = [v.item() for v in x]
    for i, v in enumerate(x):
        if i == 1:
            t.backward(v * 2.0)
    return [len(x), values, list(t.value(x.grad))]


@case("shape, dtype, ndim", [[2, 3], "float32", 2])
def forms(t):
    x = t.leaf(np.ones((2, 3)), np.float32)
    return [list(x.shape), str(x.dtype).removeprefix("torch."), x.ndim]


@case("transposing", [[1.0, 3.0], [2.0, 4.0]])
def transpose(t):
    return [list(row) for row in t.value(t.leaf([[1.0, 2.0], [3.0, 4.0]]).T)]


@case("repr shows what requires grad", [True, True, False])
def representation(t):
    x = t.leaf(X)
    return ["requires_grad=True" in repr(x), "grad_fn=" in repr(x * 2.0), "grad" in repr(t.const(X))]


@case("a leaf is pickled with its flag", [True, X])
def pickling(t):
    x = pickle.loads(pickle.dumps(t.leaf(X)))
    return [x.requires_grad, t.value(x)]


@case("deep copies of leaves have memory of their own, and their flag", [True, X, False])
def deep_copy(t):
    x = t.leaf(X)
    y = copy.deepcopy(x)
    with t.no_grad():
        x += 1.0
    return [y.requires_grad, t.value(y), y is x]


@case("deep copies keep .grad", np.ones(3))
def deep_copy_grad(t):
    x = t.leaf(X)
    t.backward(t.sum(x))
    return t.value(copy.deepcopy(x).grad)


@case("an inner value cannot be deep-copied", Raises("leaf|leaves|user", RuntimeError))
def deep_copy_inner(t):
    copy.deepcopy(t.leaf(X) * 2.0)


@case("hash is by identity, equality by elements", [True, 2])
def hashing(t):
    x, y = t.leaf(X), t.leaf(X)
    return [hash(x) == hash(x), len({x, y, x})]


@case("float() of a value without gradient", 2.5)
def float_of_constant(t):
    return float(t.const(2.5))


@case(
    "float() of a value that requires grad", Raises("detach", TypeError), torch=2.5, differs="silent detachment"
)  # fmt: skip
def float_of_leaf(t):
    return float(t.leaf(2.5))


@case("assigning .data keeps the leaf, and the next gradient sees it", [True, 2 * np.ones(3)])
def data_assigned(t):
    x = t.leaf(X)
    x.data = t.const(np.ones(3)).data
    t.backward(t.sum(x * x))
    return [x.requires_grad, t.value(x.grad)]


@case("a leaf of a leaf's data shares memory", [9.0])
def shares_data(t):
    x = t.leaf(X)
    d = x.detach()
    t.write(d, 0, 9.0)
    return [float(t.value(x)[0])]


@case("setting requires_grad", [True, False])
def setting(t):
    c = t.const(X)
    c.requires_grad = True
    first = c.requires_grad
    c.requires_grad = False
    return [first, c.requires_grad]


@case("reflected operators", [-np.ones(3), -6 / X**2, np.log(2) * 2**X])
def reflected(t):
    found = []
    for f in (lambda x: 1.0 - x, lambda x: 6.0 / x, lambda x: 2.0**x):
        x = t.leaf(X)
        found.append(t.value(t.grad(t.sum(f(x)), x)[0]))
    return found


@case("a graph goes when its last value does: next_functions lead to the leaves", ["AccumulateGrad", 0])
def next_functions(t):
    x = t.leaf(X)
    y = x * 2.0
    node, index = y.grad_fn.next_functions[0]
    return [type(node).__name__, index]


@case("the leaf of an accumulating node", [True])
def accumulating_node(t):
    x = t.leaf(X)
    return [(x * 2.0).grad_fn.next_functions[0][0].variable is x]
