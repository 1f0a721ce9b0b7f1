"""Function: an operation of the user's own, with its own backward.

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

    y = Power.apply(x, 3)

`forward` and `backward` see Variables. `backward` gets one gradient for each result, and returns one for each argument
of `forward` (None for those that have none); with `create_graph=True` what it does is recorded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from s2s.autograd import modes
from s2s.autograd.border import fit, private, public
from s2s.autograd.inplace import rebase, refuse_leaf
from s2s.autograd.nodes import freed
from s2s.autograd.value import Node, Output, Saved, Value, dtype_of, ndarray
from s2s.autograd.variable import Variable
from s2s.errors import ArgumentError


class Context:
    """What `forward` leaves for `backward`; attributes of any name may be set."""

    def __init__(self, needs_input_grad: tuple[bool, ...]) -> None:
        self.needs_input_grad = needs_input_grad
        self.materialize_grads = True
        self.to_save: tuple[Any, ...] = ()
        self.non_differentiable: tuple[Any, ...] = ()
        self.dirty: tuple[Any, ...] = ()
        self._saved: list[Any] | None = []
        self._name = ""

    def save_for_backward(self, *tensors: Any) -> None:
        """Save arguments or results (or None) for `backward`; they are checked for writes in between."""
        self.to_save = tensors

    def mark_non_differentiable(self, *results: Any) -> None:
        """These results carry no gradient."""
        self.non_differentiable = results

    def mark_dirty(self, *arguments: Any) -> None:
        """These arguments are written by `forward`, which returns them."""
        self.dirty = arguments

    def set_materialize_grads(self, value: bool) -> None:
        """Whether `backward` gets zeros (the default) or None for results without gradient."""
        self.materialize_grads = value

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What was saved, in order."""
        if self._saved is None:
            raise freed(self._name)
        return tuple(held.unpack() if isinstance(held, _SavedVariable) else held for held in self._saved)


class _SavedVariable:
    """A Variable as a context holds it: without its node where that is the context's own, which would be a cycle."""

    __slots__ = ("held", "index", "name", "node", "parent")

    def __init__(self, variable: Any, name: str, own: Node | None) -> None:
        self.held = variable.keep()
        self.name = name
        self.parent: Any = variable.parent()
        self.index = -1
        self.node: Any = None
        if own is not None and (
            self.parent is own or (isinstance(self.parent, Output) and self.parent.parents[0] is own)
        ):
            self.index = self.parent.index if isinstance(self.parent, Output) else 0
            self.parent = None

    def unpack(self) -> Variable:
        data = self.held.read(self.name) if type(self.held) is Saved else self.held
        if self.index >= 0 and self.node is not None:
            node = self.node()
            return Variable.make(data, node if node.dtype is not None else Output(node, self.index, dtype_of(data)))
        if isinstance(self.parent, Variable) and self.parent._data is data:
            return self.parent
        return Variable.make(data) if self.parent is None else Variable.linked(data, self.parent)


class FunctionNode(Node):
    """A call of a Function. `results` are the shapes and dtypes of several results, None for one."""

    __slots__ = ("context", "function", "inputs", "results")

    function: type[Function]
    context: Context
    inputs: list[Any]
    results: Any

    @property
    def name(self) -> str:
        return self.function.__name__

    def cotangents(self, g: Any, recording: type[Value] | None) -> Sequence[Any]:
        gs = [g.get(i) for i in range(len(self.results))] if self.results is not None else [g]
        given = [None if c is None else public(c) for c in gs]
        if self.results is not None and self.context.materialize_grads:
            for i, (shape, dtype) in enumerate(self.results):
                if given[i] is None:
                    given[i] = Variable.make(np.zeros(shape, dtype if dtype.kind in "fc" else float))
        for held in self.context._saved or ():
            if isinstance(held, _SavedVariable) and held.index >= 0:
                held.node = lambda: self
        try:
            returned = self.function.backward(self.context, *given)
        finally:
            for held in self.context._saved or ():
                if isinstance(held, _SavedVariable):
                    held.node = None
        return self._checked(returned, recording is not None)

    def _checked(self, returned: Any, recording: bool) -> Sequence[Any]:
        gradients = list(returned) if isinstance(returned, (tuple, list)) else [returned]
        while len(gradients) > len(self.inputs) and gradients[-1] is None:
            gradients.pop()
        if len(gradients) != len(self.inputs):
            raise ArgumentError(
                f"{self.name}.backward returned {len(gradients)} gradients for {len(self.inputs)} arguments of forward"
            )
        result = []
        for i, (gradient, form) in enumerate(zip(gradients, self.inputs, strict=True)):
            if form is None:
                continue
            if gradient is not None:
                shape, dtype = form
                if np.shape(gradient) != shape:
                    raise ArgumentError(
                        f"{self.name}.backward returned a gradient of shape {np.shape(gradient)} for argument {i} of "
                        f"shape {shape}"
                    )
                gradient = fit(private(gradient, recording), dtype)
            result.append(gradient)
        return result

    def release(self) -> None:
        if self.context.to_save:
            self.context._saved = None


class Function:
    """Base of operations with their own backward: static `forward(ctx, ...)` and `backward(ctx, ...)`."""

    @staticmethod
    def forward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        """Compute the result or results."""
        raise NotImplementedError("a Function needs a static forward(ctx, ...)")

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        """Compute the gradients of the arguments from those of the results."""
        raise NotImplementedError("a Function needs a static backward(ctx, ...)")

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run `forward`, and record it if an argument requires grad."""
        parents = [a.parent() if isinstance(a, Value) and modes.state.enabled else None for a in args]
        context = Context(tuple(p is not None for p in parents))
        context._name = cls.__name__
        kind = next((type(a) for a in args if isinstance(a, Value)), Variable)
        with modes.no_grad():
            out = cls.forward(context, *args, **kwargs)
        several = isinstance(out, (tuple, list))
        outs = list(out) if several else [out]
        node = None
        if any(p is not None for p in parents):
            node = FunctionNode([p for p in parents if p is not None], None if several else dtype_of(_data(outs[0])))
        results = [cls._result(o, context, _place(node, i, o), kind, args) for i, o in enumerate(outs)]
        if node is not None:
            node.function, node.context = cls, context
            node.inputs = [None if p is None else _form(a) for a, p in zip(args, parents, strict=True)]
            node.results = [_form(r) for r in results] if several else None
            pairs = {id(o): r for o, r in zip(outs, results, strict=True)}
            saved = [pairs.get(id(v), v) for v in context.to_save]
            context._saved = [_SavedVariable(v, cls.__name__, node) if isinstance(v, Value) else v for v in saved]
            context.to_save = (True,) * bool(saved)
        context.non_differentiable = context.dirty = ()
        return (type(out)(*results) if hasattr(out, "_fields") else type(out)(results)) if several else results[0]

    @staticmethod
    def _result(out: Any, context: Context, place: Node | None, kind: Any, args: Any) -> Any:
        data = _data(out)
        if not isinstance(data, (ndarray, np.generic, float, complex, int)):
            return out
        if any(out is d for d in context.dirty):
            refuse_leaf(out, "Function")
            out.storage().written("Function")
            if place is not None:
                rebase(out, place)
            return out
        silent = any(out is n for n in context.non_differentiable) or dtype_of(data).kind not in "fc"
        result = kind.make(data, None if silent else place)
        if isinstance(out, Value) and (any(out is a for a in args) or out._storage is not None):
            result._storage = out.storage()
        return result


def _data(out: Any) -> Any:
    return out._data if isinstance(out, Value) else out


def _form(value: Any) -> tuple[tuple[int, ...], np.dtype[Any]]:
    data = _data(value)
    return np.shape(data), dtype_of(data)


def _place(node: FunctionNode | None, i: int, out: Any) -> Node | None:
    """The node of a result: that of the call, or its i-th output."""
    if node is None or node.dtype is not None:
        return node
    data = _data(out)
    return Output(node, i, dtype_of(data)) if isinstance(data, (ndarray, np.generic, float, complex, int)) else None
