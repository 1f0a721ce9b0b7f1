"""What a Variable is made of: data, its place in the graph, and the memory that it shares with others.

A `Value` without a node that wants a gradient is a leaf. A node holds its *parents* (nodes, or leaves); cotangents flow
from a node to its parents. A value points to its node and no node points to a value that it made, so a graph holds no
reference cycle and goes as soon as its last value does.

Memory. Values that share memory (an array and its views) share one `Storage`, which counts in-place operations. A node
that reads an array in the backward pass holds it in a `Saved` cell together with the count at that time.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from s2s.autograd.modes import state
from s2s.errors import EagerError, InplaceModificationError

ndarray = np.ndarray
V = TypeVar("V", bound="Value")
# What `_wants` of a value without a node may be, besides False and True (a leaf that requires grad): volatile values
# switch recording off for what depends on them, and those made in inference mode cannot enter a record.
VOLATILE, INFERENCE = 2, 3
orders = itertools.count(1)
_new = object.__new__


class Storage:
    """The memory of an array and its views: how often it was written, by what, and what nodes hold of it.

    guard: why it cannot be written, if it cannot.
    """

    __slots__ = ("cells", "guard", "version", "writer")

    def __init__(self) -> None:
        self.version = 0
        self.writer = ""
        self.cells: list[Saved] = []
        self.guard = ""

    def written(self, writer: str) -> None:
        """Count an in-place operation."""
        self.version += 1
        self.writer = writer

    def release(self, region: np.ndarray) -> None:
        """Before a write to `region`: what nodes have saved of it becomes copies of their own."""
        kept = []
        for cell in self.cells:
            if np.may_share_memory(cell.array, region):
                cell.array, cell.storage = cell.array.copy(), None
            else:
                kept.append(cell)
        self.cells = kept


class Saved:
    """An array that a node reads in the backward pass, at the version it had.

    Without storage, nobody else can write it: it is a copy, or the data of a value that was neither viewed nor written.
    Without version, a write turns it into a copy in time.
    """

    __slots__ = ("array", "storage", "version")

    def __init__(self, array: np.ndarray) -> None:
        self.array = array
        self.storage: Storage | None = None
        self.version: int | None = 0

    def watch(self, storage: Storage, copies: bool) -> None:
        """Take note of the storage, and of its version."""
        self.storage = storage
        if copies:
            self.version = None
            storage.cells.append(self)
        else:
            self.version = storage.version

    def read(self, name: str) -> np.ndarray:
        """The array; raises InplaceModificationError if it has been written since."""
        storage = self.storage
        if storage is not None and storage.version != self.version and self.version is not None:
            raise InplaceModificationError(
                f"the backward pass of {name!r} needs an array of shape {self.array.shape} that was modified by the "
                f"in-place operation {storage.writer!r} (it is at version {storage.version}, expected {self.version})",
                hint="use the operation that returns a new array, or write into a clone()",
            )
        return self.array


class Packed:
    """What `saved_tensors_hooks` made of a saved array, and how to get it back."""

    __slots__ = ("packed", "unpack")

    def __init__(self, packed: Any, unpack: Any) -> None:
        self.packed = packed
        self.unpack = unpack

    def read(self, name: str) -> Any:
        """The array again."""
        unpacked = self.unpack(self.packed)
        if isinstance(unpacked, Value):
            return unpacked._data
        if isinstance(unpacked, (ndarray, np.generic)):
            return unpacked
        raise EagerError(f"the unpack hook of saved_tensors_hooks returned a {type(unpacked).__name__}, no Variable")


class Node:
    """One recorded operation.

    parents: where the cotangents go; the sequence `cotangents` returns has one entry for each.
    dtype: of the result (None if it has several results): cotangents are cast to it.
    order: grows with each node, so that parents come before children.
    hooks: called with the whole cotangent, before it goes on; by keys of their own.
    made_at: the lines that made it, noted under anomaly detection only.
    """

    __slots__ = ("__weakref__", "dtype", "hooks", "made_at", "order", "parents")

    made_at: Any
    seedless = False  # whether a backward pass starts here without a gradient

    def __init__(self, parents: Sequence[Node | Value], dtype: np.dtype[Any] | None) -> None:
        self.parents = parents
        self.dtype = dtype
        self.order = next(orders)
        self.hooks: dict[int, Any] | None = None

    @property
    def name(self) -> str:
        """What the operation is called in messages."""
        return type(self).__name__

    def cotangents(self, g: Any, recording: type[Value] | None) -> Sequence[Any]:
        """The cotangents of the parents; `g` is that of the result. With `recording`, all are such Values."""
        raise NotImplementedError

    def release(self) -> None:
        """Drop what is held for the backward pass."""

    def pack(self, watch: Any) -> None:
        """Put what `watch.packed` makes of what is held in its place."""

    @property
    def creator(self) -> Any:
        """What made the values of this node: itself, or the instance of a Function of the older form."""
        return self

    @property
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        """For each parent its node, and which of the node's results it is; leaves have nodes that add to `.grad`."""
        return tuple(_next_function(parent) for parent in self.parents)

    def __repr__(self) -> str:
        return f"<{self.name}>"


class AccumulateGrad:
    """Where the gradient of a leaf arrives, as `next_functions` shows it."""

    def __init__(self, variable: Value) -> None:
        self.variable = variable
        self.next_functions: tuple[Any, ...] = ()

    def __repr__(self) -> str:
        return "<AccumulateGrad>"


def _next_function(parent: Node | Value) -> tuple[Any, int]:
    if isinstance(parent, Value):
        return AccumulateGrad(parent), 0
    return (parent.parents[0], parent.index) if isinstance(parent, Output) else (parent, 0)


class Identity(Node):
    """Passes the cotangent on: a name of its own in the graph for a value that has one already."""

    __slots__ = ()

    def cotangents(self, g: Any, recording: type[Value] | None) -> Sequence[Any]:
        return (g,)


class Output(Node):
    """One of the results of a node that has several."""

    __slots__ = ("index",)

    parents: tuple[Node]

    def __init__(self, parent: Node, index: int, dtype: np.dtype[Any]) -> None:
        super().__init__((parent,), dtype)
        self.index = index

    @property
    def name(self) -> str:
        return f"{self.parents[0].name}[{self.index}]"

    def cotangents(self, g: Any, recording: type[Value] | None) -> Sequence[Any]:
        return (Part(self.index, g),)


class Part:
    """The cotangent of one result of several; the engine gathers them in a dict by index."""

    __slots__ = ("g", "index")

    def __init__(self, index: int, g: Any) -> None:
        self.index = index
        self.g = g


class View:
    """How a value came from its base: `chain` holds the calls, as steps of `dispatch`.

    seen: the node that the base had when the value's own node was made; if the base has another, it is made anew.
    """

    __slots__ = ("base", "chain", "seen")

    def __init__(self, base: Value, chain: tuple[Any, ...], seen: Node | None) -> None:
        self.base = base
        self.chain = chain
        self.seen = seen


class Value:
    """Data and its place in the graph. `Variable` adds what users see."""

    __slots__ = ("__weakref__", "_after", "_data", "_grad", "_hooks", "_node", "_saved", "_storage", "_view", "_wants")

    order = 0  # as a parent: comes before all nodes
    seedless = False
    copies = False  # whether writes copy what nodes hold, where they would make the backward pass raise

    _data: Any
    _node: Node | None
    _wants: int
    _storage: Storage | None
    _saved: Saved | None
    _view: View | None

    @classmethod
    def make(cls: type[V], data: Any, node: Node | None = None) -> V:
        """A value over data that is not copied, with a place in the graph."""
        self = _new(cls)
        self._data = data
        self._node = node
        self._wants = False
        self._storage = self._saved = self._view = None
        return self

    @classmethod
    def linked(cls: type[V], data: Any, parent: Node | Value) -> V:
        """A value over data whose cotangent goes to `parent`."""
        return cls.make(data, parent if isinstance(parent, Node) else Identity((parent,), dtype_of(data)))

    def parent(self) -> Node | Value | None:
        """Where the cotangent of this value goes: its node, itself if it is a leaf that wants it, or None."""
        if self._view is not None:
            self._refresh()
        if self._node is not None:
            return self._node
        return self if self._wants is True else None

    def _refresh(self) -> None:
        """A view whose base was written takes its new place in the graph."""
        view = self._view
        assert view is not None
        if view.base._node is not view.seen and view.base._node is not None:  # detach_() takes the base's node alone
            view.seen = view.base._node
            self._node = self._replay(view)

    def _replay(self, view: View) -> Node | None:
        raise NotImplementedError

    def storage(self) -> Storage:
        """The memory that this value shares with its views."""
        storage = self._storage
        if storage is None:
            storage = self._storage = Storage()
            if self._saved is not None:
                self._saved.watch(storage, self.copies)
        return storage

    def keep(self) -> Any:
        """What a node holds of this value to read it later."""
        data = self._data
        if type(data) is not ndarray:
            return data
        cell = self._saved
        storage = self._storage
        if cell is not None and cell.array is data and cell.storage is storage:
            if storage is None or cell.version is None or cell.version == storage.version:
                return cell
        if self._wants is INFERENCE and not state.inference:
            raise EagerError(
                "a value that was made in inference_mode cannot be saved for backward", hint="use its clone()"
            )
        cell = self._saved = Saved(data)
        if storage is not None:
            cell.watch(storage, self.copies)
        return cell


def dtype_of(data: Any) -> np.dtype[Any]:
    """The dtype of an array or number."""
    try:
        return data.dtype  # type: ignore[no-any-return]
    except AttributeError:
        return np.result_type(type(data))
