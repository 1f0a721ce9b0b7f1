"""Grad modes: no_grad, enable_grad, set_grad_enabled, inference_mode, anomaly detection."""

import threading

import numpy as np

from tests.autograd.semantics.table import Raises, X, case


@case("no_grad, enable_grad within, and the mode comes back after an error", [False, True, True, False])
def no_grad(t):
    x = t.leaf(X)
    try:
        with t.no_grad():
            y = x * x
            raise KeyError
    except KeyError:
        pass
    z = x * x
    with t.no_grad():
        with t.enable_grad():
            w = x * x
        v = x * 2.0
    return [r.requires_grad for r in (y, z, w, v)]


@case("is_grad_enabled", [True, False, True, False, True])
def is_enabled(t):
    found = [t.is_grad_enabled()]
    with t.no_grad():
        found.append(t.is_grad_enabled())
        with t.enable_grad():
            found.append(t.is_grad_enabled())
        found.append(t.is_grad_enabled())
    return [*found, t.is_grad_enabled()]


@case("set_grad_enabled as a call and as a context", [False, True, False, True])
def set_enabled(t):
    t.set_grad_enabled(False)
    found = [t.is_grad_enabled()]
    t.set_grad_enabled(True)
    found.append(t.is_grad_enabled())
    with t.set_grad_enabled(False):
        found.append(t.is_grad_enabled())
    return [*found, t.is_grad_enabled()]


@case("no_grad decorates functions", [False, True])
def decorator(t):
    x = t.leaf(X)

    @t.no_grad()
    def f(v):
        return v * 2.0

    return [f(x).requires_grad, t.is_grad_enabled()]


@case("no_grad decorates without brackets", [False, True])
def bare_decorator(t):
    x = t.leaf(X)

    @t.no_grad
    def f(v):
        return v * 2.0

    return [f(x).requires_grad, t.is_grad_enabled()]


@case("enable_grad decorates", [True, False])
def enable_decorator(t):
    x = t.leaf(X)

    @t.enable_grad()
    def f(v):
        return v * 2.0

    with t.no_grad():
        return [f(x).requires_grad, t.is_grad_enabled()]


@case("a decorated generator has the mode in its body, its caller has not", [[False, True], [False, True]])
def generators(t):
    x = t.leaf(X)

    @t.no_grad()
    def f():
        yield (x * 2.0).requires_grad
        yield (x * 2.0).requires_grad

    return [[flag, t.is_grad_enabled()] for flag in f()]


@case("the mode is each thread's own", [True, False])
def threads(t):
    found = []
    with t.no_grad():
        thread = threading.Thread(target=lambda: found.append(t.is_grad_enabled()))
        thread.start()
        thread.join()
        found.append(t.is_grad_enabled())
    return found


@case("results under no_grad are leaves", [True, False])
def results_are_leaves(t):
    x = t.leaf(X)
    with t.no_grad():
        y = x * 2.0
    return [y.is_leaf, y.requires_grad]


@case("a leaf made under no_grad requires grad, and is used after", 2 * X)
def leaf_under_no_grad(t):
    with t.no_grad():
        x = t.leaf(X)
    t.backward(t.sum(x * x))
    return t.value(x.grad)


@case("inference_mode switches recording off", [False, False, True, False])
def inference(t):
    x = t.leaf(X)
    with t.inference_mode():
        y = x * 2.0
        found = [y.requires_grad, t.is_grad_enabled(), t.is_inference_mode_enabled()]
    return [*found, t.is_inference_mode_enabled()]


@case("inference_mode(False) switches nothing off", [True, False])
def inference_off(t):
    x = t.leaf(X)
    with t.inference_mode(False):
        return [(x * 2.0).requires_grad, t.is_inference_mode_enabled()]


@case("inference_mode(False) inside records again", [True])
def inference_off_inside(t):
    x = t.leaf(X)
    with t.inference_mode(), t.inference_mode(False):
        return [(x * 2.0).requires_grad]


@case("enable_grad inside inference_mode does not record", [False])
def enable_in_inference(t):
    x = t.leaf(X)
    with t.inference_mode(), t.enable_grad():
        return [(x * 2.0).requires_grad]


@case("inference_mode decorates", [False])
def inference_decorator(t):
    x = t.leaf(X)

    @t.inference_mode()
    def f(v):
        return v * 2.0

    return [f(x).requires_grad]


@case("what was made in inference_mode cannot be saved for backward", Raises("inference", RuntimeError))
def inference_saved(t):
    x = t.leaf(X)
    with t.inference_mode():
        c = t.const(X) * 2.0
    x * c


@case("its clone can", 2 * X)
def inference_cloned(t):
    x = t.leaf(X)
    with t.inference_mode():
        c = t.const(X) * 2.0
    t.backward(t.sum(x * c.clone()))
    return t.value(x.grad)


@case("what needs no saved value may use it", np.ones(3))
def inference_added(t):
    x = t.leaf(X)
    with t.inference_mode():
        c = t.const(X) * 2.0
    t.backward(t.sum(x + c))
    return t.value(x.grad)


@case("it cannot be written outside", Raises("inference", RuntimeError))
def inference_written(t):
    with t.inference_mode():
        c = t.const(X) * 2.0
    c += 1.0


@case("it cannot be made to require grad outside", Raises("inference", RuntimeError))
def inference_requires_grad(t):
    with t.inference_mode():
        c = t.const(X) * 2.0
    c.requires_grad_()


@case("anomaly detection names the function whose gradient is no number", Raises("nan", RuntimeError))
def anomaly(t):
    class Bad(t.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1.0

        @staticmethod
        def backward(ctx, g):
            return g * float("nan")

    x = t.leaf(X)
    with t.detect_anomaly():
        t.backward(t.sum(Bad.apply(x)))


@case("it lets good gradients pass", 2 * X)
def anomaly_passes(t):
    x = t.leaf(X)
    with t.detect_anomaly():
        t.backward(t.sum(x * x))
    return t.value(x.grad)


@case("without it no error", [True])
def no_anomaly(t):
    class Bad(t.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1.0

        @staticmethod
        def backward(ctx, g):
            return g * float("nan")

    x = t.leaf(X)
    t.backward(t.sum(Bad.apply(x)))
    return [bool(np.isnan(t.value(x.grad)).all())]


@case("saved_tensors_hooks pack what is saved and unpack what is read", [["pack", "unpack"], 3 * X**2])
def saved_hooks(t):
    seen = []
    x = t.leaf(X)

    def pack(v):
        seen.append("pack")
        return t.value(v)

    def unpack(packed):
        seen.append("unpack")
        return t.const(packed)

    with t.hooks_of_saved(pack, unpack):
        y = x**3
    t.backward(t.sum(y))
    return [seen, t.value(x.grad)]


@case("what the hooks change, the gradient shows", 2 * X * 10)
def saved_hooks_change(t):
    x = t.leaf(X)
    with t.hooks_of_saved(lambda v: v.detach() * 10, lambda v: v):
        y = x**2
    t.backward(t.sum(y))
    return t.value(x.grad)


@case("saved_tensors_hooks and the second order", 6 * X)
def saved_hooks_second(t):
    x = t.leaf(X)
    with t.hooks_of_saved(lambda v: t.value(v), lambda p: t.const(p)):
        y = t.sum(x**3)
    (g,) = t.grad(y, x, create_graph=True)
    return t.value(t.grad(t.sum(g), x)[0])


@case("saved_tensors_hooks nest: the inner ones hold", [["inner"]])
def saved_hooks_nest(t):
    seen = []
    x = t.leaf(X)
    with t.hooks_of_saved(lambda v: (seen.append("outer"), v)[1], lambda v: v):
        with t.hooks_of_saved(lambda v: (seen.append("inner"), v)[1], lambda v: v):
            t.sum(x**3)
    return [seen]


@case("saved_tensors_hooks see what a Function saves", [1, 3 * X**2])
def saved_hooks_function(t):
    seen = []

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
    with t.hooks_of_saved(lambda v: (seen.append(1), t.value(v))[1], lambda p: t.const(p)):
        y = Cube.apply(x)
    t.backward(t.sum(y))
    return [len(seen), t.value(x.grad)]
