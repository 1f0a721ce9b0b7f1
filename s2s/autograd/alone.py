"""A call that is recorded by itself, among compiled code: what it must not do, and whether it did.

Compiled code knows of such a call that values go in by its arguments and come out by its result. So it is refused if
derivatives could pass by another way: if the function has written into an argument, put something into a container
among them, returned memory that somebody else holds, or left a recorded value anywhere, in a list, an object, a global
or a closure. What is left is found by counting: a value of the record that has more references than the result, the
arguments and the graph account for is held by somebody else.
"""

from __future__ import annotations

import gc
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from s2s.autograd import dispatch
from s2s.autograd.rebuild import Rebuilder
from s2s.autograd.record import Leaf, Ran, Record, pull_all, record
from s2s.autograd.value import Node, Saved, Value, ndarray
from s2s.errors import DynamicCallError
from s2s.runtime import pytree


class Call:
    """A call that was recorded: `value` is what it returned."""

    def __init__(self, function: FunctionType, args: Sequence[Any], keywords: Mapping[str, Any], wrt: Sequence[str]):
        self._run: Record = record(function, args, keywords, wrt, lambda ran: _check(function.__name__, ran))
        self._outputs, structure = pytree.flatten(self._run.output)
        self.value = pytree.unflatten(structure, [o._data if isinstance(o, Value) else o for o in self._outputs])

    def pull(self, bars: Sequence[Any]) -> dict[str, Any]:
        """The cotangents of the parameters by which it was recorded.

        bars: those of the leaves of the value; None for one that has none.
        """
        found = zip(self._outputs, bars, strict=True)
        seeds = [(out, _alike(out._data, bar)) for out, bar in found if isinstance(out, Value) and bar is not None]
        return pull_all(self._run, seeds, keep=False)


def _alike(x: Any, bar: Any) -> Any:
    return np.broadcast_to(np.asarray(bar), np.shape(x))[()]


def _check(name: str, ran: Ran) -> None:
    for param, leaves in ran.copies.items():
        if _changed(ran.given[param], [copy for _, copy in leaves]):
            raise _error(name, f"changed its argument `{param}`")
        if any(_is_written(before, copy) for before, copy in leaves):
            raise _error(name, f"wrote into its argument `{param}`")
    if _shared(ran.output, (copy for leaves in ran.copies.values() for _, copy in leaves), ran.rebuilder):
        raise _error(name, "returned memory that an argument, or a name of its own, has too")
    roots = [ran.output, ran.given, ran.copies, ran.leaves, ran.rebuilder.copies]
    if _held_elsewhere(roots):
        gc.collect()  # what only holds itself is nobody's
        if _held_elsewhere(roots):
            raise _error(name, "left a value that carries a derivative behind, other than by its result")


class Watched:
    """A call within a record: whether it could be recorded by itself as well."""

    def __init__(self, arguments: Sequence[Any], rebuilder: Rebuilder) -> None:
        """To be made right before the call."""
        self._arguments = arguments
        self._rebuilder = rebuilder
        self._leaves = [pytree.leaves(argument) for argument in arguments]
        self._before = [[_state(leaf) for leaf in leaves] for leaves in self._leaves]
        own = {id(v): v for leaves in self._leaves for leaf in leaves if isinstance(leaf, Value) for v in _own(leaf)}
        self._mark = object()
        self._own = [*own.values(), self._mark]
        del own  # which would count
        self._held = {id(value): sys.getrefcount(value) for value in self._own}

    def stands_alone(self, output: list[Any]) -> bool:
        """Whether nothing has passed but by the arguments and the result, which is in a list."""
        if not self._unchanged():
            return False
        if _shared(output, (leaf for leaves in self._leaves for leaf in leaves), self._rebuilder):
            return False
        if not _held_elsewhere([output], self._own, self._held):
            return True
        gc.collect()
        return not _held_elsewhere([output], self._own, self._held)

    def _unchanged(self) -> bool:
        return not any(
            _changed(argument, leaves) or any(not _is_as_before(leaf, b) for leaf, b in zip(leaves, before))
            for argument, leaves, before in zip(self._arguments, self._leaves, self._before)
        )


def _own(value: Value) -> list[Any]:
    node = value._node
    return [value] if node is None else [value, node]


def _state(leaf: Any) -> Any:
    """What tells whether an array was written."""
    if isinstance(leaf, Value):
        return leaf.storage().version if type(leaf._data) is ndarray else None
    return leaf.copy() if type(leaf) is ndarray else None


def _is_as_before(leaf: Any, before: Any) -> bool:
    now = _state(leaf)
    return np.array_equal(now, before) if type(now) is ndarray else now == before


def _changed(argument: Any, leaves: Sequence[Any]) -> bool:
    """Whether an argument holds something else than it did."""
    after = pytree.leaves(argument)
    return len(after) != len(leaves) or any(leaf is not before for leaf, before in zip(after, leaves))


def _shared(output: list[Any], arguments: Iterable[Any], rebuilder: Rebuilder) -> bool:
    """Whether a result has memory that an argument has, or an array that the function finds by name."""
    known = {id(dispatch.root(_data(value))) for value in arguments if _is_array(value)} | rebuilder.arrays
    return any(_is_array(leaf) and id(dispatch.root(_data(leaf))) in known for leaf in pytree.leaves(output))


def _error(name: str, did: str) -> DynamicCallError:
    return DynamicCallError(
        f"`{name}`, a call of which was recorded by itself, {did}",
        hint="call the gradient again: from now on the whole function that calls it is recorded.",
    )


def _data(value: Any) -> Any:
    return value._data if isinstance(value, Value) else value


def _is_array(value: Any) -> bool:
    return type(_data(value)) is ndarray


def _is_written(before: Any, copy: Any) -> bool:
    if isinstance(copy, Value):
        return copy._storage is not None and bool(copy._storage.version)
    return type(copy) is ndarray and not np.array_equal(before, copy)


# What may hold values of a record, and belongs to it.
_HOLDERS = (Node, Saved, Leaf, tuple, list, dict)


def _held_elsewhere(roots: Iterable[Any], own: Sequence[Any] = (), held: Mapping[int, int] | None = None) -> bool:
    """Whether a value or node that is reached from some objects is held by others than these and what is reached.

    own: values and nodes that others hold, too, the last of them a mark. held: the references that each of them had.
    """
    held = held or {}
    mark = object()
    found: dict[int, Any] = {id(mark): mark, **{id(value): value for value in own}}
    counts: Counter[int] = Counter()
    pending = list(roots)
    seen = {id(root) for root in pending} | held.keys()
    while pending:
        for inner in gc.get_referents(pending.pop()):
            is_value = issubclass(type(inner), (Value, Node))
            if is_value:
                found[id(inner)] = inner
                counts[id(inner)] += 1
            if (is_value or issubclass(type(inner), _HOLDERS)) and id(inner) not in seen:
                seen.add(id(inner))
                pending.append(inner)
    value = inner = None
    references = {}
    for key, value in found.items():
        references[key] = sys.getrefcount(value) - counts[key]
    ours = references.pop(id(mark)) - 1  # by its own name, too
    grown = references[id(own[-1])] - held[id(own[-1])] if own else 0
    return any(count > held[key] + grown if key in held else count > ours for key, count in references.items())
