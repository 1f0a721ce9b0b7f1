"""Functions of the older generation: an instance is one call, and its methods see plain arrays.

    class Power(Function):
        def __init__(self, n):
            self.n = n

        def forward(self, x):
            self.save_for_backward(x)
            return x**self.n

        def backward(self, g):
            (x,) = self.saved_tensors
            return g * self.n * x ** (self.n - 1)

    y = Power(3)(x)

What `backward` does cannot be recorded, so its results cannot be differentiated again. A `NestedIOFunction` takes and
returns nested lists, tuples and dicts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from s2s.autograd import function, modes
from s2s.autograd.context import Context, FunctionNode, Refusal
from s2s.autograd.dispatch import is_quiet
from s2s.autograd.function import Function, finish
from s2s.autograd.value import Value, dtype_of
from s2s.autograd.variable import Variable
from s2s.errors import EagerError


class InstanceNode(FunctionNode):
    """A call of an instance, which is its context."""

    __slots__ = ()

    @property
    def name(self) -> str:
        return type(self.context).__name__

    @property
    def creator(self) -> Any:
        return self.context

    def run_backward(self, gradients: Sequence[Any], recording: bool) -> Any:
        with modes.no_grad():
            returned = self.context._flat_backward([g if g is None else g._data for g in gradients])
        return refusing(returned, self.context) if recording else returned


def refusing(returned: Any, context: Context) -> Any:
    """Gradients whose derivative is an error."""
    several = isinstance(returned, (tuple, list))
    made = [
        None if g is None else Variable.make(g, Refusal(context, dtype_of(g)))
        for g in (returned if several else [returned])
    ]
    return made if several else made[0]


def call(instance: Any, args: Sequence[Any]) -> Any:
    """Call an instance of a Function of the older form."""
    if not instance._instances:
        name = type(instance).__name__
        raise EagerError(f"{name} has a static forward: it is called as {name}.apply(...)")
    if instance._node is not None and instance._node() is not None:
        raise EagerError(
            f"this {type(instance).__name__} has recorded a call already: its saved values would be overwritten",
            hint="make an instance for each call",
        )
    values = [a for a in args if isinstance(a, Value)]
    quiet = is_quiet(values)
    recorded = bool(modes.state.enabled) and not quiet
    parents = [a.parent() if isinstance(a, Value) and recorded else None for a in args]
    instance.needs_input_grad = tuple(p is not None for p in parents)
    node = instance._node_of([p for p in parents if p is not None])
    given = {id(a._data): a for a in values}
    with modes.no_grad():
        out = instance._flat_forward([a._data if isinstance(a, Value) else a for a in args])
    several = isinstance(out, (tuple, list))
    outs = [given.get(id(o), o) for o in (out if several else [out])]
    instance.to_save = tuple(given.get(id(v), v) for v in instance.to_save)
    instance.dirty_tensors = tuple(given.get(id(v), v) for v in instance.dirty_tensors)
    return finish(node, args, parents, outs if several else outs[0], type(values[0]) if values else Variable, quiet)


Function._node_type = InstanceNode
function.call_instance = call


# --- nested arguments and results -------------------------------------------------------------------------------


class NestedIOFunction(Function):
    """A Function of nested lists, tuples and dicts of Variables: `forward_extended` and `backward_extended`.

    `forward_extended(self, *arguments)` gets the arguments, nested as they were given, with arrays for Variables, and
    returns arrays, nested in any way. `backward_extended(self, *gradients)` gets gradients nested as the results were
    (one argument for each item, where the results were a tuple or list), and returns one for each argument, nested as
    that was; None stands for no gradient of all that is in its place.
    """

    def __call__(self, *args: Any) -> Any:
        """Run `forward_extended` and record it."""
        self._arguments = args
        flat = [leaf for leaf in leaves_of(args) if isinstance(leaf, Value)]
        results = iter(_as_list(call(self, flat)))
        return filled(self._results, lambda leaf: next(results))

    def forward_extended(self, *args: Any) -> Any:
        """Compute the results."""
        raise NotImplementedError("a NestedIOFunction needs a method forward_extended(self, ...)")

    def backward_extended(self, *gradients: Any) -> Any:
        """Compute the gradients of the arguments."""
        raise NotImplementedError("a NestedIOFunction needs a method backward_extended(self, ...)")

    def forward(self, *args: Any) -> Any:  # type: ignore[override]
        """`forward_extended` on what the arguments hold."""
        data = iter(args)
        out = self.forward_extended(*filled(self._arguments, lambda v: next(data) if isinstance(v, Value) else v))
        # structures alone: no array is kept alive by them
        self._results = filled(out, lambda leaf: None)
        self._arguments = filled(self._arguments, lambda v: _Place if isinstance(v, Value) else None)
        return tuple(leaves_of(out))

    def backward(self, *gradients: Any) -> Any:  # type: ignore[override]
        """`backward_extended` on gradients nested as the results are."""
        items = iter(gradients)
        nested = filled(self._results, lambda leaf: next(items))
        returned = self.backward_extended(*(nested if isinstance(nested, (tuple, list)) else (nested,)))
        if len(self._arguments) == 1 and not (isinstance(returned, tuple) and len(returned) == 1):
            returned = (returned,)
        return tuple(_matched(self._arguments, returned))

    def save_for_backward(self, *tensors: Any) -> None:
        """Save nested values for `backward_extended`."""
        self._nesting = filled(tensors, lambda leaf: None)
        super().save_for_backward(*leaves_of(tensors))

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What was saved, nested as it was."""
        flat = iter(super().saved_tensors)
        return filled(self._nesting, lambda leaf: next(flat))  # type: ignore[no-any-return]

    def mark_dirty(self, *arguments: Any) -> None:
        """These arguments, or what they hold, are written."""
        super().mark_dirty(*leaves_of(arguments))

    def mark_non_differentiable(self, *results: Any) -> None:
        """These results, or what they hold, carry no gradient."""
        super().mark_non_differentiable(*leaves_of(results))


class _Place:
    """Stands where a Variable stood among the arguments."""


def _as_list(results: Any) -> list[Any]:
    return list(results) if isinstance(results, (tuple, list)) else [results]


def leaves_of(tree: Any) -> Iterator[Any]:
    """What nested lists, tuples and dicts hold, in order."""
    if isinstance(tree, (list, tuple)):
        for item in tree:
            yield from leaves_of(item)
    elif isinstance(tree, dict):
        for item in tree.values():
            yield from leaves_of(item)
    else:
        yield tree


def filled(tree: Any, make: Any) -> Any:
    """The same nesting with what `make` gives for each leaf."""
    if isinstance(tree, (list, tuple)):
        items = [filled(item, make) for item in tree]
        return type(tree)(*items) if hasattr(tree, "_fields") else type(tree)(items)
    if isinstance(tree, dict):
        return {key: filled(item, make) for key, item in tree.items()}
    return make(tree)


def _matched(places: Any, returned: Any) -> Iterator[Any]:
    """What stands in the places of Variables; None where a whole part has none."""
    if places is _Place:
        yield returned
    elif isinstance(places, (list, tuple, dict)):
        pairs: Any = [(p, None) for p in leaves_of(places)]
        if returned is not None:
            if type(returned) is not type(places) or len(returned) != len(places):
                raise EagerError(f"backward_extended returned {returned!r} where the arguments hold {places!r}")
            keys = list(places) if isinstance(places, dict) else range(len(places))
            pairs = [(places[key], returned[key]) for key in keys]
        for place, part in pairs:
            yield from _matched(place, part)
