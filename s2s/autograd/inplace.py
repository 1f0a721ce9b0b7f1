"""Writes: in-place operators, index assignment, and `out=`.

An operation in place is recorded as the operation itself, whose result then takes the target's place in the graph. If
the target is a view, what changes is its base: the base's new node sends the cotangent of the written region through
the operation and that of the rest to the base's former node, and the other views of the base take new nodes when they
are used next.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from s2s.autograd import modes, operation
from s2s.autograd.dispatch import apply, is_quiet, missing, replay, shapes_to_sum
from s2s.autograd.hooks import move_retained
from s2s.autograd.nodes import RuleNode, hold, plain, values_in
from s2s.autograd.operation import WHOLE
from s2s.autograd.refusals import noted
from s2s.autograd.value import INFERENCE, VOLATILE, Node, Saved, Value, View, dtype_of, ndarray
from s2s.errors import EagerError, InplaceModificationError
from s2s.runtime.numeric import is_basic, is_mask, unbroadcast
from s2s.runtime.stores import require_in_step, require_read_first

# How in-place operators are written.
_SPELT = {
    operator.iadd: "+=", operator.isub: "-=", operator.imul: "*=", operator.itruediv: "/=", operator.ifloordiv: "//=",
    operator.imod: "%=", operator.ipow: "**=", operator.imatmul: "@=",
}  # fmt: skip


def augment(target: Value, function: Any, other: Any) -> Any:
    """`target += other` and its like, for `function` of `operator`; returns what the name is bound to."""
    if any(True for _ in values_in(other)) and not isinstance(other, Value):
        other = apply(np.array, (other,))
    data, spelt = target._data, _SPELT.get(function, function.__name__)
    if type(data) is not ndarray:
        result = apply(function, (target, other))
        return result if target.copies or not isinstance(result, Value) else _moved(target, result, spelt)
    refuse_leaf(target, spelt)
    op = operation.find(function)
    if op is not None and op.zero:
        # `//=` leaves nothing of what was there but steps: the result is a constant.
        assign(target, Ellipsis, function(data.copy(), plain(other)), spelt)
        return target
    operands = (target, other)
    parents = [v.parent() if isinstance(v, Value) else None for v in operands]
    active = tuple(i for i, parent in enumerate(parents) if parent is not None) if _records(target, operands) else ()
    node = _prepare(function, operands, active, [p for p in parents if p is not None]) if active else None
    _write(target, data, lambda: function(data, plain(other)), spelt)
    if node is not None:
        if node.plan.reads_ans:
            node.ans = target.keep()
        rebase(target, node)
    return target


def _records(target: Value, operands: Sequence[Any]) -> bool:
    """Whether a write is recorded. One of a volatile value makes its target volatile."""
    values = [v for v in operands if isinstance(v, Value) and v is not target]
    if target._wants == VOLATILE or not is_quiet(values):
        return bool(modes.state.enabled) and target._wants != VOLATILE
    if target._view is not None or target.parent() is not None:
        raise EagerError("a volatile value is written into one that is not", hint="write its detach(), or a copy")
    target._wants = VOLATILE
    return False


def _prepare(function: Any, operands: Sequence[Any], active: tuple[int, ...], parents: list[Any]) -> RuleNode:
    """The node of an operation in place; it keeps the old value of the target where its formulas read it."""
    op = operation.find(function)
    if op is None:
        raise missing(function)
    plan = op.plan(active)
    target = operands[0]
    node = RuleNode(parents, target._data.dtype, op, plan)
    node.shapes = shapes_to_sum(plan, [plain(v) for v in operands], target._data)
    reads = plan.reads or (0, 0)
    node.values = [hold(v, r, target.copies) if r else None for v, r in zip(operands, reads, strict=True)]
    if reads[0] == WHOLE and not target.copies:
        node.values[0] = Saved(target._data.copy())
    if modes.state.enabled is not True:
        modes.state.enabled.note(node)
    return node


def _write(target: Value, region: ndarray, write: Any, name: str) -> None:
    if target._wants == INFERENCE and not modes.state.inference:
        raise EagerError(
            f"{name!r} writes a value that was made in inference_mode outside of it", hint="write into its clone()"
        )
    storage = target.storage()
    if storage.guard:
        refusal = InplaceModificationError(f"{name!r} writes an array, but {storage.guard}", hint="write into a copy")
        raise noted(refusal)
    if storage.cells:
        storage.release(region)
    write()
    storage.written(name)


def _moved(target: Value, result: Value, name: str) -> Value:
    """The target as the result of an operation: for numbers, whose memory cannot be written."""
    refuse_leaf(target, name)
    if np.shape(result._data):
        raise EagerError(f"the result of {name!r} has shape {np.shape(result._data)}, and its target is one number")
    target._data = result._data
    target.storage().written(name)
    if result._wants == VOLATILE:
        target._wants = VOLATILE
    if result._node is not None:
        rebase(target, result._node)
    return target


def refuse_leaf(target: Value, name: str) -> None:
    """Raise if a leaf that requires grad, or a view of one, would be written while operations are recorded."""
    owner = target if target._view is None else target._view.base
    if modes.state.enabled and owner._wants is True and owner._node is None:
        what = "a leaf Variable" if owner is target else "a view of a leaf Variable"
        refusal = InplaceModificationError(
            f"{what} that requires grad is written by the in-place operation {name!r}",
            hint="write under no_grad(), or into a clone()",
        )
        raise noted(refusal)


def rebase(target: Value, node: Node) -> None:
    """The target's place in the graph becomes `node`; through its base, if it is a view."""
    view = target._view
    owner = target if view is None else view.base
    old = owner._node
    if view is None:
        target._node = node
    else:
        parent = owner.parent()
        owner._node = WriteThrough(view, [p for p in (parent, node) if p is not None], owner._data)
        view.seen = None
    owner._wants = False
    if old is not None and old.hooks is not None and owner._node is not None:
        move_retained(owner, old, owner._node)


class WriteThrough(Node):
    """A base after a write through one of its views. Parents: the base's former place, if any, and the write."""

    __slots__ = ("like", "view")

    def __init__(self, view: View, parents: Sequence[Any], data: ndarray) -> None:
        super().__init__(parents, data.dtype)
        self.view = View(view.base, view.chain, None)
        self.view.base = None  # type: ignore[assignment]  # the chain is all that is needed; the base holds this node
        self.like = data

    @property
    def name(self) -> str:
        return f"{self.parents[-1].name} through a view"  # type: ignore[union-attr]

    def cotangents(self, g: Any, recording: type[Value] | None) -> Sequence[Any]:
        if dtype_of(g).kind != "c":
            return self._parted(g, recording)
        # an imaginary part has the cotangent -g.imag: views are taken of the conjugate
        return [np.conjugate(part) for part in self._parted(np.conjugate(g), recording)]

    def _parted(self, g: Any, recording: type[Value] | None) -> Sequence[Any]:
        """The cotangent of the base's former place, zero where it was written, and that of what was written."""
        # laid out as the base is, so that what was a view of the base is a view here too
        copy: Any = np.empty_like(self.like, dtype=dtype_of(g))
        copy[...] = plain(g)
        if recording is None:
            region = replay(self.view, copy)
            written = region.copy()
            region[...] = 0
        else:
            parent = g.parent() if isinstance(g, Value) else None
            copy = recording.make(copy) if parent is None else recording.linked(copy, parent)
            region = replay(self.view, copy)
            written = apply(np.copy, (region,))
            region[...] = 0.0
        return (written,) if len(self.parents) == 1 else (copy, written)


class SetItem(Node):
    """`target[index] = value`. Parents: the target's former place, the value, or both."""

    __slots__ = ("index", "places", "shape")

    def __init__(self, parents: Sequence[Any], places: tuple[int, ...], index: Any, target: Any, value: Any) -> None:
        super().__init__(parents, target.dtype)
        self.places = places
        self.index = index
        self.shape = np.shape(value)

    @property
    def name(self) -> str:
        return "setitem"

    def cotangents(self, g: Any, recording: type[Value] | None) -> Sequence[Any]:
        return [self._of_value(g) if place else self._of_target(g) for place in self.places]

    def _of_target(self, g: Any) -> Any:
        g = apply(np.copy, (g,)) if isinstance(g, Value) else np.array(g)
        g[self.index] = 0.0
        return g

    def _of_value(self, g: Any) -> Any:
        taken = g[self.index]
        last = last_writes(self.index, g.shape)
        if last is not None:
            taken = taken * last
        have = np.shape(taken)
        core = self.shape[max(0, len(self.shape) - len(have)) :]
        taken = unbroadcast(taken, core)
        if core != self.shape:
            return np.reshape(taken, self.shape)
        return taken + 0.0 if taken is g else taken


def last_writes(index: Any, shape: tuple[int, ...]) -> Any:
    """Where the assignment at an index is not overwritten by a later one of the same; None if all are last."""
    if is_basic(index) or is_mask(index):
        return None
    spots = np.arange(math.prod(shape)).reshape(shape)[index]
    times = np.arange(spots.size)
    latest = np.empty(math.prod(shape), dtype=np.intp)
    latest[spots.ravel()] = times
    last = latest[spots.ravel()] == times
    return None if last.all() else last.reshape(spots.shape)


def assign(target: Value, index: Any, value: Any, name: str = "setitem") -> None:
    """`target[index] = value`."""
    data = target._data
    index = frozen(plain(index))
    if any(True for _ in values_in(value)) and not isinstance(value, Value):
        value = apply(np.array, (value,))
    if type(data) is not ndarray:
        data[index] = value  # raises, as it does for the plain number
        return
    refuse_leaf(target, name)
    parents = [target.parent(), value.parent() if isinstance(value, Value) else None]
    places = tuple(i for i, parent in enumerate(parents) if parent is not None) if _records(target, (value,)) else ()
    if 1 in places and data.dtype.kind not in "fc":
        message = f"a value that carries a gradient is stored into an array of {data.dtype}, which would drop it"
        raise noted(TypeError(message))
    raw = plain(value)
    region = _region(data, index)
    if type(raw) is ndarray and raw.size > 1:
        if region is data:  # by arrays: NumPy sets item by item
            require_read_first(data, raw, lambda x, v: x.__setitem__(index, v), repr(name))
        else:
            require_in_step(region, raw)
    _write(target, region, lambda: data.__setitem__(index, raw), name)
    if places:
        rebase(target, SetItem([p for p in parents if p is not None], places, index, data, raw))


def _region(data: ndarray, index: Any) -> ndarray:
    """A view of what an assignment writes, or of more."""
    parts = index if isinstance(index, tuple) else (index,)
    if not is_basic(parts) or any(isinstance(part, bool) for part in parts):
        return data
    spans = tuple(slice(i, i + 1 or None) if isinstance(i, (int, np.integer)) else i for i in parts)
    return data[spans if any(part is Ellipsis for part in spans) else (*spans, ...)]  # without `...`, () gives a number


def frozen(index: Any) -> Any:
    """An index that later writes into its arrays and lists do not change."""
    if isinstance(index, tuple):
        return tuple(map(frozen, index))
    if isinstance(index, (ndarray, list)):
        copy = np.array(index)
        return copy if copy.size or isinstance(index, ndarray) else copy.astype(np.intp)
    return index


class ScatterAdd(Node):
    """`np.add.at(target, index, value)`. Parents: the target's former place, the value, or both."""

    __slots__ = ("index", "places", "shape")

    def __init__(self, parents: Sequence[Any], places: tuple[int, ...], index: Any, target: Any, value: Any) -> None:
        super().__init__(parents, target.dtype)
        self.places = places
        self.index = index
        self.shape = np.shape(value)

    def cotangents(self, g: Any, recording: type[Value] | None) -> Sequence[Any]:
        return [unbroadcast(g[self.index], self.shape) if place else g for place in self.places]


def scatter_add(target: Value, index: Any, value: Any) -> None:
    """`np.add.at(target, index, value)`."""
    refuse_leaf(target, "add.at")
    index = frozen(plain(index))
    parents = [target.parent(), value.parent() if isinstance(value, Value) else None]
    places = tuple(i for i, parent in enumerate(parents) if parent is not None) if _records(target, (value,)) else ()
    data, raw = target._data, plain(value)
    _write(target, data, lambda: np.add.at(data, index, raw), "add.at")
    if places:
        rebase(target, ScatterAdd([p for p in parents if p is not None], places, index, data, raw))


def scatter(target: Value, values: Any, write: Callable[[ndarray, Any], None], name: str) -> None:
    """Write values to the places of an array where `write(array, values)` puts values of their shape."""
    if not isinstance(values, Value):
        values = apply(np.array, (values,))
    require_read_first(target._data, plain(values), write, repr(name))
    # Numbers in place of the values tell which of them arrives where.
    marks = np.zeros(target._data.shape, int)
    shape = np.shape(plain(values))
    write(marks, np.arange(1, math.prod(shape) + 1).reshape(shape))
    touched = marks > 0
    taken = apply(operator.getitem, (apply(np.reshape, (values, -1)), marks[touched] - 1))
    assign(target, touched, taken, name)
