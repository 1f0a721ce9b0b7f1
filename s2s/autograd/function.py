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
of `forward` (None for those that have none); with `create_graph=True` what it does is recorded. The context is the node
of the graph itself, as in PyTorch: `y.grad_fn.n` is 3.

In the older form `forward` and `backward` are methods of an instance, which is the context, and see plain arrays; see
`instances`.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np

from s2s.autograd import modes
from s2s.autograd.context import Context, FunctionNode, Refusal, SavedVariable, form_of
from s2s.autograd.dispatch import is_quiet
from s2s.autograd.inplace import rebase, refuse_leaf
from s2s.autograd.value import INFERENCE, VOLATILE, Node, Output, Value, dtype_of, ndarray
from s2s.autograd.variable import Variable
from s2s.errors import EagerError

_NUMBERS = (ndarray, np.generic, float, complex, int)


class Function(Context):
    """Base of operations with their own backward: static `forward(ctx, ...)` and `backward(ctx, ...)`.

    With a static `setup_context(ctx, inputs, output)`, `forward` takes no context. A static `jvp(ctx, *tangents)` gives
    the tangents of the results in forward mode, where the derivative of `backward` would be taken without it.

    >>> class Square(Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x
    ...
    ...     @staticmethod
    ...     def backward(ctx, g):
    ...         (x,) = ctx.saved_tensors
    ...         return 2 * x * g
    >>> x = Variable(3.0, requires_grad=True)
    >>> Square.apply(x).backward()
    >>> x.grad
    Variable(6.)
    """

    _node_class: type[FunctionNode]
    _instances = False  # whether the class is of the older form

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        defined = inspect.getattr_static(cls, "forward")
        cls._instances = not isinstance(defined, (staticmethod, classmethod))
        node = cls._node_type if cls._instances else FunctionNode
        cls._node_class = type(f"{cls.__name__}Backward", (node,), {"function": cls, "__slots__": ()})

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the result or results."""
        raise NotImplementedError("a Function needs a static forward(ctx, ...)")

    @staticmethod
    def backward(*gradients: Any) -> Any:
        """Compute the gradients of the arguments from those of the results."""
        raise NotImplementedError("a Function needs a static backward(ctx, ...) to be differentiated")

    setup_context: Any = None
    jvp: Any = None

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run `forward`, and record it if an argument requires grad."""
        if cls._instances:
            raise EagerError(
                f"{cls.__name__} is of the older form, whose forward is a method: call an instance, "
                f"{cls.__name__}(...)(*arguments)",
                hint="or make forward and backward static, with a context as their first parameter",
            )
        values = [a for a in args if isinstance(a, Value)]
        quiet = is_quiet(values)
        recorded = bool(modes.state.enabled) and not quiet
        parents = [a.parent() if isinstance(a, Value) and recorded else None for a in args]
        context = Context()
        context.needs_input_grad = tuple(p is not None for p in parents)
        node = cls._node_class([p for p in parents if p is not None], context)
        kind = type(values[0]) if values else Variable
        with modes.no_grad():
            if cls.setup_context is None:
                out = cls.forward(context, *args, **kwargs)
            else:
                out = cls.forward(*args, **kwargs)
                cls.setup_context(context, args, out)
        return finish(node, args, parents, out, kind, quiet)

    # --- the older form -------------------------------------------------------------------------------------------

    _node_type: Any = FunctionNode

    def __call__(self, *args: Any) -> Any:
        """Run the `forward` of an instance of the older form, and record it; see `instances`."""
        return call_instance(self, args)

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What an instance has saved: plain arrays."""
        return tuple(held.read() if isinstance(held, SavedVariable) else held for held in self._held())

    def _flat_forward(self, args: Sequence[Any]) -> Any:
        return self.forward(*args)

    def _flat_backward(self, gradients: Sequence[Any]) -> Any:
        return self.backward(*gradients)

    def _node_of(self, parents: Sequence[Any]) -> FunctionNode:
        return self._node_class(parents, self)


def call_instance(instance: Function, args: Sequence[Any]) -> Any:
    """Call an instance; the module of the older form, which needs this class, sets this function."""
    raise NotImplementedError


def finish(node: FunctionNode, args: Sequence[Any], parents: Sequence[Any], out: Any, kind: Any, quiet: bool) -> Any:
    """The results of a call in their places of the graph, and what it saves."""
    several = isinstance(out, (tuple, list))
    outs = list(out) if several else [out]
    context = node.context
    if any(not any(d is o for o in outs) for d in context.dirty_tensors):
        raise EagerError(f"{node.name}: an argument that was marked as dirty must be returned")
    recorded = bool(node.parents)
    if not several and _is_numeric(outs[0]):
        node.dtype = dtype_of(_data(outs[0]))
    results = [_result(o, context, _place(node, i, o) if recorded else None, kind, args) for i, o in enumerate(outs)]
    if quiet:
        for result in results:
            if isinstance(result, Value):
                result._wants = VOLATILE
    if recorded:
        node.inputs = [None if p is None else form_of(a) for a, p in zip(args, parents, strict=True)]
        node.results = [form_of(r) if _is_numeric(r) else None for r in results] if several else None
        pairs = {id(o): r for o, r in zip(outs, results, strict=True)}
        saved = [pairs.get(id(v), v) for v in context.to_save]
        context._saved = [_held(v, node) for v in saved]
        context.to_save = (True,) * bool(saved)
        watch = modes.state.enabled
        if watch is not True:
            watch.note(node)
    context.non_differentiable = context.dirty_tensors = ()
    if not several:
        return results[0]
    return type(out)(*results) if hasattr(out, "_fields") else type(out)(results)


def _held(value: Any, node: FunctionNode) -> Any:
    if isinstance(value, Value):
        return SavedVariable(value, node)
    if isinstance(value, (ndarray, np.generic)):
        return SavedVariable(Variable.make(value), node)
    return value


def _result(out: Any, context: Any, place: Node | None, kind: Any, args: Any) -> Any:
    data = _data(out)
    if not isinstance(data, _NUMBERS):
        return out
    if any(out is d for d in context.dirty_tensors):
        refuse_leaf(out, "Function")
        out.storage().written("Function")
        if place is not None:
            rebase(out, place)
        return out
    silent = any(out is n for n in context.non_differentiable) or dtype_of(data).kind not in "fc"
    if silent and not context.keeps_silent_results:
        place = None
    if silent and not isinstance(out, (Value, ndarray, np.generic)):
        return out
    result = kind.make(data, place)
    if isinstance(out, Value) and (any(out is a for a in args) or out._storage is not None):
        result._storage = out.storage()
    if modes.state.inference and not any(out is a for a in args):
        result._wants = INFERENCE
    return result


def _data(out: Any) -> Any:
    return out._data if isinstance(out, Value) else out


def _is_numeric(out: Any) -> bool:
    return isinstance(_data(out), _NUMBERS)


def _place(node: FunctionNode, i: int, out: Any) -> Node | None:
    """The node of a result: that of the call, or its i-th output."""
    if not _is_numeric(out):
        return None
    return node if node.dtype is not None else Output(node, i, dtype_of(_data(out)))


def once_differentiable(backward: Any) -> Any:
    """Mark a static `backward` whose operations cannot be recorded: its results cannot be differentiated again.

    They are computed without recording. Where `create_graph` asks for their derivative, they are Variables that
    require grad, and whose backward pass is an error.
    """

    def wrapped(ctx: Any, *gradients: Any) -> Any:
        with modes.no_grad():
            returned = backward(ctx, *gradients)
        if not modes.state.enabled:
            return returned
        several = isinstance(returned, (tuple, list))
        made = [_undifferentiable(r, ctx) for r in (returned if several else [returned])]
        return tuple(made) if several else made[0]

    return wrapped


def _undifferentiable(value: Any, node: Any) -> Any:
    if value is None:
        return None
    data = _data(value)
    return Variable.make(data, Refusal(node, dtype_of(data)))
