"""What a call of a Function leaves in the graph: its context, which is its node, and what that saves."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from s2s.autograd import modes
from s2s.autograd.border import fit, private, public
from s2s.autograd.nodes import freed
from s2s.autograd.value import Node, Output, Packed, Saved, Value, dtype_of
from s2s.autograd.variable import Variable
from s2s.errors import EagerError
from s2s.runtime.numeric import unbroadcast


class Context:
    """What `forward` leaves for `backward`; attributes of any name may be set."""

    needs_input_grad: tuple[bool, ...] = ()
    materialize_grads = True
    keeps_silent_results = False  # whether results without a gradient have a place in the graph all the same
    to_save: tuple[Any, ...] = ()
    non_differentiable: tuple[Any, ...] = ()
    dirty_tensors: tuple[Any, ...] = ()
    _saved: list[Any] | None = None
    _node: Any = None  # refers weakly to the node, which holds this

    def save_for_backward(self, *tensors: Any) -> None:
        """Save arguments or results (or None) for `backward`; they are checked for writes in between."""
        self.to_save = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Save values for `jvp`, which reads them from `saved_tensors` as well."""
        self.to_save = self.to_save or tensors

    def mark_non_differentiable(self, *results: Any) -> None:
        """These results carry no gradient."""
        self.non_differentiable = results

    def mark_dirty(self, *arguments: Any) -> None:
        """These arguments are written by `forward`, which returns them."""
        self.dirty_tensors = arguments

    def mark_shared_storage(self, *pairs: Any) -> None:
        """Nothing: which memory is shared is known without. For code of the older generation."""

    def set_materialize_grads(self, value: bool) -> None:
        """Whether `backward` gets zeros (the default) or None for results without gradient."""
        self.materialize_grads = value

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What was saved, in order."""
        node = self._node and self._node()
        return tuple(held.unpack(node) if isinstance(held, SavedVariable) else held for held in self._held())

    @property
    def saved_variables(self) -> tuple[Any, ...]:
        """The older name of `saved_tensors`."""
        return self.saved_tensors

    def _held(self) -> list[Any]:
        node = self._node and self._node()
        if self._saved is None and self.to_save and node is not None:
            raise freed(node.name)
        return self._saved or []


class SavedVariable:
    """A Variable as a context holds it: without its node where that is the context's own, which would be a cycle."""

    __slots__ = ("held", "index", "name", "parent")

    def __init__(self, variable: Any, own: Node) -> None:
        self.held = variable.keep()
        self.name = own.name
        self.parent: Any = variable.parent()
        self.index = -1
        if self.parent is own or (isinstance(self.parent, Output) and self.parent.parents[0] is own):
            self.index = self.parent.index if isinstance(self.parent, Output) else 0
            self.parent = None

    def unpack(self, node: Any) -> Variable:
        """The Variable again; `node` is that of the context."""
        data = self.read()
        if self.index >= 0 and isinstance(node, Node):
            return Variable.make(data, node if node.dtype is not None else Output(node, self.index, dtype_of(data)))
        if isinstance(self.parent, Variable) and self.parent._data is data:
            return self.parent
        return Variable.make(data) if self.parent is None else Variable.linked(data, self.parent)

    def read(self) -> Any:
        """The plain value."""
        return self.held.read(self.name) if type(self.held) in (Saved, Packed) else self.held


class FunctionNode(Node):
    """A call of a Function. What its context holds is found here, too.

    inputs: for each argument its shape and dtype, None for one without gradient.
    results: the shapes and dtypes of several results, None for one.
    """

    __slots__ = ("context", "inputs", "results")

    function: Any
    context: Any
    inputs: list[Any]
    results: Any

    def __init__(self, parents: Sequence[Any], context: Context) -> None:
        super().__init__(parents, None)
        self.context = context
        self.inputs, self.results = [], None
        context._node = weakref.ref(self)

    def __getattr__(self, name: str) -> Any:
        if name in ("context", "made_at"):
            raise AttributeError(name)
        return getattr(self.context, name)

    @property
    def name(self) -> str:
        return str(self.function.__name__)

    def run_backward(self, gradients: Sequence[Any], recording: bool) -> Any:
        """The user's backward, on Variables."""
        return self.function.backward(self.context, *gradients)

    def cotangents(self, g: Any, recording: type[Value] | None) -> Sequence[Any]:
        gs = [g.get(i) for i in range(len(self.results))] if self.results is not None else [g]
        given = [None if c is None else public(c) for c in gs]
        if self.results is not None and self.context.materialize_grads:
            for i, form in enumerate(self.results):
                if given[i] is None and form is not None:
                    shape, dtype = form
                    given[i] = Variable.make(np.zeros(shape, dtype if dtype.kind in "fc" else float))
        if self.context.to_save:
            self.context._held()  # raises, if they are freed
        if recording is not None and modes.state.pushing and self.function.jvp is not None:
            return self._transposed(gs, given, recording)
        return self.checked(self.run_backward(given, recording is not None), recording is not None)

    def _transposed(self, gs: Sequence[Any], given: Sequence[Any], recording: type[Value]) -> Sequence[Any]:
        """The cotangents as functions of `gs` alone, of which the derivative is the user's `jvp`."""
        with modes.no_grad():
            cotangents = self.checked(self.run_backward(given, False), False)
        node = Transposed(self, gs)
        return [
            None if c is None else recording.make(c, Output(node, i, dtype_of(c))) for i, c in enumerate(cotangents)
        ]

    def checked(self, returned: Any, recording: bool) -> Sequence[Any]:
        """The gradients of those arguments that have one, as cotangents."""
        gradients = list(returned) if isinstance(returned, (tuple, list)) else [returned]
        while len(gradients) > len(self.inputs) and gradients[-1] is None:
            gradients.pop()
        if len(gradients) != len(self.inputs):
            raise EagerError(
                f"{self.name}.backward returned {len(gradients)} gradients for {len(self.inputs)} arguments of forward"
            )
        result = []
        for i, (gradient, form) in enumerate(zip(gradients, self.inputs, strict=True)):
            if form is not None:
                result.append(None if gradient is None else self._fitted(gradient, i, form, recording))
        return result

    def _fitted(self, gradient: Any, i: int, form: Any, recording: bool) -> Any:
        shape, dtype = form
        given = np.shape(gradient)
        c = private(gradient, recording)
        if given != shape:
            try:
                stretched = np.broadcast_shapes(given, shape) == given
            except ValueError:
                stretched = False
            if not stretched:
                raise EagerError(
                    f"{self.name}.backward returned a gradient of shape {given} for argument {i} of shape {shape}"
                )
            c = unbroadcast(c, shape)
        return fit(c, dtype)

    def release(self) -> None:
        if self.context.to_save:
            self.context._saved = None

    def pack(self, watch: Any) -> None:
        for held in self.context._saved or ():
            if isinstance(held, SavedVariable):
                held.held = watch.packed(held.held)


class Transposed(Node):
    """The backward of a Function as a function of the gradients that it gets: `jvp` is its derivative.

    parents: of those gradients.
    """

    __slots__ = ("active", "of")

    def __init__(self, of: FunctionNode, gs: Sequence[Any]) -> None:
        parents = [g.parent() if isinstance(g, Value) else None for g in gs]
        super().__init__([p for p in parents if p is not None], None)
        self.of = of
        self.active = [i for i, p in enumerate(parents) if p is not None]

    def cotangents(self, g: Any, recording: type[Value] | None) -> Sequence[Any]:
        of, numbers = self.of, iter(range(len(self.of.inputs)))
        tangents: list[Any] = []
        for form in of.inputs:
            if form is None:
                tangents.append(None)
                continue
            dot = g.get(next(numbers))
            if dot is None and of.context.materialize_grads:
                dot = np.zeros(*form)
            tangents.append(None if dot is None else Variable.make(dot))
        returned = of.function.jvp(of.context, *tangents)
        outs = returned if isinstance(returned, (tuple, list)) else [returned]
        count = 1 if of.results is None else len(of.results)
        if len(outs) != count:
            raise EagerError(f"{of.name}.jvp returned {len(outs)} tangents for {count} results of forward")
        return [None if outs[i] is None else np.asarray(_plain(outs[i]))[()] for i in self.active]


def _plain(value: Any) -> Any:
    return value._data if isinstance(value, Value) else value


class Refusal(Node):
    """The place of a gradient that cannot be differentiated again."""

    __slots__ = ("of",)

    def __init__(self, context: Context, dtype: Any) -> None:
        node = context._node()
        super().__init__(node.parents, dtype)
        self.of = node.name

    def cotangents(self, g: Any, recording: type[Value] | None) -> Sequence[Any]:
        raise EagerError(
            f"the gradient of {self.of} is differentiated a second time, but its backward is once_differentiable",
            hint="write its backward with operations on Variables, and without the mark",
        )


def form_of(value: Any) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """The shape and dtype of a value."""
    data = _plain(value)
    return np.shape(data), dtype_of(data)
