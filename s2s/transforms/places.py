"""Memory in the finished sweeps: which names may share it, and which items of an array are surely not the same.

Single assignment is over: a name may be assigned in several places. What is said of an index holds within a block, of
names that nothing assigns between the statements that are compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from typing import Any

import gast
import numpy as np

from s2s import core
from s2s import kinds as K
from s2s.core import Function
from s2s.runtime import numeric
from s2s.transforms.aliases import Aliases, Pairs
from s2s.transforms.callee import callee
from s2s.transforms.dims import Sizes, root
from s2s.transforms.intervals import Intervals
from s2s.transforms.operations import Operations, basic_index
from s2s.transforms.structure import all_defs, all_uses, assigned, definitions_of, defs, is_reverse, statements, uses

NEAR = 50  # how many statements are looked at for what belongs together, so that long programs take no more time a line


class Memory(Aliases):
    """Who holds an array when it is copied, by statement: the names that are read later."""

    def __init__(self, fn: Function, operations: Operations) -> None:
        self.holders: dict[int, set[str]] = {}
        self.last = set(map(id, _packing(fn.body)))
        super().__init__(fn, operations)
        self.foreign: set[str] = {self.find(n) for n in fn.param_names}
        for stmt in statements(fn.body):
            if id(stmt) not in self.last:
                self.foreign.update(self.find(n) for n in self.not_ours(stmt))

    def statement(self, stmt: Any, pairs: Pairs, live: int) -> Pairs:
        if id(stmt) in self.last:
            return pairs
        source = copied_array(stmt)
        if source is not None:
            found = {source, *pairs.get(source, ())} - set(core.writes(stmt))
            self.holders[id(stmt)] = {n for n in found if live & self.lives.bit(n)}
        return super().statement(stmt, pairs, live)

    def not_ours(self, stmt: Any) -> set[str]:
        """The names that a statement binds to an array that is not surely made here, or lets somebody keep."""
        if isinstance(stmt, (gast.For, gast.With, gast.FunctionDef)):
            return {*defs(stmt), *uses(stmt)}
        value = getattr(stmt, "value", None)
        if isinstance(stmt, (gast.Return, gast.AugAssign)) or value is None:
            return set()
        if isinstance(value, gast.Call):
            found = self.operations.conduct(value)
            if self.is_made(stmt):
                return set()
            return {*defs(stmt), *(uses(stmt) if found is None else core.reads(list(found.keeps)))}
        if isinstance(value, (gast.Tuple, gast.List, gast.Dict, gast.Set)):
            return {*defs(stmt), *uses(stmt)}
        if isinstance(stmt, gast.Assign) and not isinstance(stmt.targets[0], gast.Name):
            return set(uses(stmt)) if K.children(self.kind(core.name(_base(stmt) or ""))) is not None else set()
        return set() if self.is_made(stmt) else set(defs(stmt))

    def is_made(self, stmt: Any) -> bool:
        """Whether a name is bound to a new array, to another name, or to a view of one."""
        name, value = assigned(stmt), getattr(stmt, "value", None)
        if name is None or not is_array(self.kind(core.name(name))):
            return False
        if isinstance(value, gast.Call):
            function = self.operations.function(value)
            return function in _MAKES or (isinstance(function, np.ufunc) and not value.keywords)
        if isinstance(value, gast.Subscript):
            return basic_index(value.slice, self.kind)
        return isinstance(value, (gast.Name, gast.BinOp, gast.UnaryOp))

    def needless(self, stmt: Any) -> bool:
        """Whether a copy of an array is needless: the array was made here, and nobody reads it any more."""
        source, name = copied_array(stmt), assigned(stmt)
        if source is None or name is None or not is_reverse(stmt):
            return False
        arrays = is_array(self.kind(core.name(source))) and is_array(self.kind(core.name(name)))
        function = self.operations.function(stmt.value)
        held = self.holders.get(id(stmt), {source})
        return arrays and function is np.array and not held and self.find(source) not in self.foreign

    def may_share(self, name: str, other: str) -> bool:
        return self.find(name) == self.find(other)

    def touches(self, stmt: Any, name: str) -> bool:
        """Whether a statement reads, writes or binds a name that may share memory with another one."""
        mentioned = {*all_uses(stmt), *all_defs(stmt)}
        return any(self.may_share(n, name) for n in mentioned)


class Places(Intervals):
    """The items of arrays that statements name."""

    def __init__(self, fn: Function, memory: Memory) -> None:
        operations = memory.operations
        integers = {n: root("value", n) for n, k in fn.facts.kinds.items() if isinstance(k, K.Int)}
        super().__init__(
            operations, Sizes(integers, {}, operations.kind, lambda c: callee(c, operations.kind, operations.local))
        )
        self.memory = memory
        self.times = times = definitions_of(fn) + Counter(fn.param_names)
        for stmt in statements(fn.body):
            name = assigned(stmt)
            if name is not None and times[name] == 1:
                self.definitions[name] = stmt
            elif isinstance(stmt, gast.For):
                self.loops_of.setdefault(stmt.target.id, []).append(stmt)
        self.loops_of = {name: loops for name, loops in self.loops_of.items() if times[name] == len(loops)}

    def are_other_items(self, one: Any, other: Any, indices: Mapping[str, Any]) -> bool:
        """Whether two subscripts of one array name items that are not the same.

        indices: the sums that some names in them stand for.
        """
        parts = (core.substitute(subscript.slice, indices) for subscript in (one, other))
        first, second = (self.region(one.value, part) for part in parts)
        return self.are_apart(first, second)

    def leaves_alone(self, stmt: Any, target: Any, indices: Mapping[str, Any]) -> bool:
        """Whether a statement neither reads nor writes an item of an array, though others of that array perhaps."""
        base = target.value.id
        if not self.memory.touches(stmt, base):
            return True
        mentioned = {n for n in (*all_uses(stmt), *all_defs(stmt)) if self.memory.may_share(n, base)}
        if mentioned != {base} or core.blocks(stmt):
            return False
        items = [n for n in gast.walk(stmt) if isinstance(n, gast.Subscript) and getattr(n.value, "id", None) == base]
        names = [n for n in gast.walk(stmt) if isinstance(n, gast.Name) and n.id == base]
        return len(items) == len(names) and all(self.are_other_items(target, item, indices) for item in items)

    def spares(self, target: Any, name: str, part: Any, indices: Mapping[str, Any]) -> bool:
        """Whether a write to items of an array leaves alone what a name holds, or the part of it that is read."""
        kind, base = self.memory.kind(core.name(name)), target.value.id
        if K.immutable(kind) or isinstance(kind, K.Static):
            return True
        if name not in self.operations.local:
            return False
        if not self.memory.may_share(name, base):
            return True
        return part is not None and part.value.id == base and self.are_other_items(target, part, indices)

    def parts(self, stmts: Sequence[Any], to: int, changed: Set[str]) -> dict[str, Any]:
        """The names that a block has bound to parts of arrays, `g = x[i]`, with indices that have not changed since.

        to: the position up to which is looked for them. changed: names that change after it.
        """
        found: dict[str, Any] = {}
        for at in range(to - 1, max(to - NEAR, -1), -1):
            stmt = stmts[at]
            name = assigned(stmt)
            if name is not None and is_part(stmt.value) and name not in changed:
                if changed.isdisjoint((stmt.value.value.id, *core.reads(stmt.value.slice))):
                    found[name] = stmt.value
            changed = changed | set(all_defs(stmt))
        return found


_MAKES = {np.zeros_like, np.ones_like, np.full_like, np.empty_like, np.zeros, np.ones, np.full, np.array, np.copy}
_MAKES |= {np.ndarray.copy, np.outer, np.dot, numeric.scatter, numeric.from_diagonal}


def is_part(value: Any) -> bool:
    """Whether a value is `x[i]`."""
    return isinstance(value, gast.Subscript) and isinstance(value.value, gast.Name)


def written(stmt: Any) -> Any:
    """The `x[i]` of `x[i] = v` and `x[i] += v`."""
    sort = type(stmt)
    target: Any = stmt.targets[0] if sort is gast.Assign else stmt.target if sort is gast.AugAssign else None
    return target if type(target) is gast.Subscript and type(target.value) is gast.Name else None


def _packing(stmts: Sequence[Any]) -> list[Any]:
    """The last statements, which put the results into tuples and return them."""
    found: list[Any] = []
    for stmt in reversed(stmts):
        if not isinstance(stmt, gast.Return) and not isinstance(getattr(stmt, "value", None), gast.Tuple):
            break
        found.append(stmt)
    return found


def is_array(kind: K.Kind) -> bool:
    return isinstance(kind, K.Array) and kind.ndim > 0


def _base(stmt: Any) -> str | None:
    return getattr(getattr(stmt.targets[0], "value", None), "id", None)


def copied_array(stmt: Any) -> str | None:
    """The x of `y = f(x)`, a copy perhaps."""
    value = getattr(stmt, "value", None)
    if not isinstance(stmt, gast.Assign) or not isinstance(value, gast.Call) or value.keywords or len(value.args) != 1:
        return None
    return getattr(value.args[0], "id", None)


def sums_of_integers(stmts: Sequence[Any], definitions: Counter[str], kind: Any) -> dict[str, Any]:
    """The sums of integers that a block names, for indices, of names that do not change in it."""
    changing = {n for s in stmts for n in all_defs(s) if definitions[n] != 1}
    found = {}
    for stmt in stmts:
        name, value = assigned(stmt), getattr(stmt, "value", None)
        if name is not None and definitions[name] == 1 and isinstance(value, gast.BinOp):
            integers = all(isinstance(kind(v), K.Int) for v in (value.left, value.right))
            if integers and changing.isdisjoint(core.reads(value)):
                found[name] = value
    return found
