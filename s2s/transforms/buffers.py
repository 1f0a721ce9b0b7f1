"""Adjoints in buffers, without the copies and zeros that nothing needs.

Reversing a write takes a part out of a buffer, sets it to zero, and adds to it; a buffer that may be somebody else's is
copied before it is written into. Each is right wherever it stands; here the program is seen whole.

    g = x_bar[i].copy()              g = x_bar[i]
    x_bar[i] = 0.0            ->     x_bar[i] = g * 0.5
    x_bar[i] += g * 0.5

    a_bar = np.array(b_bar)   ->     a_bar = b_bar      where nobody else holds what b_bar is
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import gast
import numpy as np

from s2s import core
from s2s import kinds as K
from s2s.core import Function
from s2s.runtime import numeric
from s2s.transforms.callee import OPERATORS
from s2s.transforms.operations import Operations
from s2s.transforms.places import Memory, Places, copied_array, is_array, sums_of_integers, written
from s2s.transforms.propagate import key
from s2s.transforms.sink import Sinking, has_work
from s2s.transforms.structure import (
    all_defs,
    all_uses,
    assigned,
    definitions_of,
    defs,
    is_reverse,
    reads_of,
    statements,
    uses,
    with_blocks,
)
from s2s.transforms.task import Task


def buffers(fn: Function, task: Task) -> Function:
    """`fn` without needless copies of adjoints and zeros in them."""
    operations = Operations(fn)
    work = any(is_reverse(stmt) and _may_be_needless(stmt, operations) for stmt in statements(fn.body))
    if not work and not has_work(fn.body):
        return fn
    return fn.with_body(_Buffers(fn, Memory(fn, operations)).block(fn.body))


def _may_be_needless(stmt: Any, operations: Operations) -> bool:
    """Whether a statement is of a form that may be found needless here."""
    whole = copied_array(stmt) is not None and operations.function(stmt.value) is np.array
    return whole or _zeroed(stmt) or (_part_copied(stmt) or _whole(stmt)) is not None


class _Buffers:
    def __init__(self, fn: Function, memory: Memory) -> None:
        self.memory = memory
        self.operations = memory.operations
        self.kind = memory.kind
        self.reads = reads_of(fn)
        self.definitions = definitions_of(fn) + Counter(fn.param_names)
        self.places = Places(fn, memory)
        self.sinking = Sinking(fn, self.places)
        self.indices: dict[str, Any] = {}  # of the block that is visited, what is assigned once in terms of what is not

    def block(self, stmts: Sequence[Any]) -> list[Any]:
        new = [with_blocks(s, lambda _, inner: self.block(inner)) for s in stmts]
        self.indices = sums_of_integers(new, self.definitions, self.kind)
        new = self.sinking.block(self.without_undone(self.without_zeros(new)), self.indices)
        for at, stmt in enumerate(new):
            if self.memory.needless(stmt):
                new[at] = core.rebuilt(stmt, value=core.name(copied_array(stmt)))
            elif self.is_only_read(new, at):
                new[at] = core.rebuilt(stmt, value=stmt.value.func.value)
        return new

    # --- zeros that are added to ---

    def without_zeros(self, stmts: list[Any]) -> list[Any]:
        """`x[i] = 0.0` and later `x[i] += v`: `x[i] = v`."""
        at = 0
        while at < len(stmts):
            later = self.added_to(stmts, at) if _zeroed(stmts[at]) else None
            if later is None:
                at += 1
                continue
            stmts[later] = core.rebuilt(stmts[at], value=stmts[later].value)
            del stmts[at]
        return stmts

    def added_to(self, stmts: Sequence[Any], at: int) -> int | None:
        """The position of the statement that adds to what was set to zero, the next one that has to do with it."""
        target = stmts[at].targets[0]
        base, place = target.value.id, self.place(target)
        indices = core.reads(target.slice)
        for later in range(at + 1, len(stmts)):
            stmt = stmts[later]
            if isinstance(stmt, gast.AugAssign) and isinstance(stmt.op, gast.Add) and self.place(stmt.target) == place:
                apart = not any(self.memory.may_share(n, base) for n in {*core.reads(stmt.value), *indices})
                return later if apart and self.fits(stmt.value, base) else None
            if not self.places.leaves_alone(stmt, target, self.indices) or indices & {*all_defs(stmt)}:
                return None
        return None

    def place(self, target: Any) -> Any:
        """What tells whether two targets are the same place: `x[t]` is `x[i + 1]` for `t = i + 1`."""
        if not isinstance(target, gast.Subscript):
            return None
        return key(target.value), key(core.substitute(target.slice, self.indices))

    def fits(self, value: Any, base: str) -> bool:
        """Whether an assignment would take a value as the addition does: numbers of one precision."""
        return K.dtype_of(self.kind(value)) == K.dtype_of(self.kind(core.name(base)))

    # --- writes that are undone before they are read ---

    def without_undone(self, stmts: list[Any]) -> list[Any]:
        """`p = x[...]; s = p.copy(); x[...] = v` and later `x[...] = s`, if nothing between has to do with x: none."""
        at = 2
        while at < len(stmts):
            back = self.undone(stmts, at)
            if back is None:
                at += 1
            else:
                del stmts[back], stmts[at - 2 : at + 1]
        return stmts

    def undone(self, stmts: Sequence[Any], at: int) -> int | None:
        """The position of the statement that writes back what a write to all of an array has overwritten."""
        part, saved, write = stmts[at - 2 : at + 1]
        name, base = assigned(saved), _whole(write)
        if name is None or base is None or not self.is_alike(write.value, base):
            return None
        if _part_copied(saved) != assigned(part) or _whole_read(part) != base:
            return None
        if self.reads[name] != 1 or self.reads[assigned(part) or ""] != 1:
            return None
        for back in range(at + 1, len(stmts)):
            stmt = stmts[back]
            if _whole(stmt) == base and getattr(stmt.value, "id", None) == name:
                return back
            if self.memory.touches(stmt, base):
                return None
        return None

    def is_alike(self, value: Any, base: str) -> bool:
        """Whether a value has the shape and the dtype of an array, so that writing it there raises nothing."""
        shapes = self.memory.fn.facts.shapes
        kinds = [self.kind(node) for node in (value, core.name(base))]
        shape = shapes.get(getattr(value, "id", ""))
        return (
            isinstance(kinds[0], K.Array) and kinds[0] == kinds[1] and shape is not None and shape == shapes.get(base)
        )

    # --- copies that are only read ---

    def is_only_read(self, stmts: Sequence[Any], at: int) -> bool:
        """Whether `g = part.copy()` is read by operations that give new values, before the part may be written into."""
        stmt = stmts[at]
        name, part = assigned(stmt), _part_copied(stmt)
        if name is None or part is None or not is_reverse(stmt) or not is_array(self.kind(core.name(part))):
            return False
        left = self.reads[name]
        for end, later in enumerate(stmts[at + 1 :], at + 1):
            if not left:
                return True
            if core.blocks(later) and (self.memory.touches(later, part) or name in all_uses(later)):
                return False
            count = uses(later).count(name)
            if count and not self.computes(later):
                return False
            left -= count
            if left and (self.writes_into(later, part, stmts[:end], at) or name in defs(later)):
                return False
        return not left

    def computes(self, stmt: Any) -> bool:
        """Whether a statement binds a name to a new value."""
        value = getattr(stmt, "value", None)
        if assigned(stmt) is None:
            return False
        if isinstance(value, gast.Call):
            function = self.operations.function(value)
            return (isinstance(function, np.ufunc) or function in _SUMS) and not value.keywords
        return isinstance(value, (gast.BinOp, gast.UnaryOp))

    def writes_into(self, stmt: Any, part: str, before: Sequence[Any], at: int) -> bool:
        """Whether a statement may write into the memory of an array, which may be a part of another one.

        before: the statements before it. at: the position among them of the one that names the part.
        """
        target = written(stmt)
        if target is not None and self.memory.may_share(part, target.value.id):
            changed = {name for other in before[at:] for name in all_defs(other)}
            within = self.places.parts(before, at, changed).get(part)
            return not self.places.spares(target, part, within, self.indices)
        if isinstance(stmt, gast.Assign) and isinstance(stmt.targets[0], gast.Name) and self.computes(stmt):
            return False
        return self.memory.touches(stmt, part)


_SUMS = {np.sum, np.dot, np.outer, numeric.guarded_divide, numeric.guarded_multiply, *OPERATORS.values()}


def _part_copied(stmt: Any) -> str | None:
    """The x of `y = x.copy()`."""
    value = getattr(stmt, "value", None)
    if not isinstance(value, gast.Call) or value.args or value.keywords or not isinstance(value.func, gast.Attribute):
        return None
    return value.func.value.id if value.func.attr == "copy" and isinstance(value.func.value, gast.Name) else None


def _whole(stmt: Any) -> str | None:
    """The x of `x[...] = v`."""
    target = stmt.targets[0] if isinstance(stmt, gast.Assign) else None
    return _all_of(target)


def _whole_read(stmt: Any) -> str | None:
    """The x of `p = x[...]`."""
    return _all_of(getattr(stmt, "value", None))


def _all_of(node: Any) -> str | None:
    if not isinstance(node, gast.Subscript) or not isinstance(node.value, gast.Name):
        return None
    everything = isinstance(node.slice, gast.Constant) and node.slice.value is Ellipsis
    return str(node.value.id) if everything else None


def _zeroed(stmt: Any) -> bool:
    """Whether a statement of the reverse sweep is `x[i] = 0.0`."""
    if not isinstance(stmt, gast.Assign) or not isinstance(stmt.targets[0], gast.Subscript) or not is_reverse(stmt):
        return False
    zero = isinstance(stmt.value, gast.Constant) and type(stmt.value.value) is float and stmt.value.value == 0.0
    return zero and isinstance(stmt.targets[0].value, gast.Name)
