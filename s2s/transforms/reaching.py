"""Which values reach the result whole: where one of them is infinite or no number, so is the result.

Such a value needs no guard against zero times infinity, even if parts of it are dropped elsewhere: where it would be
needed, the function has no finite value, and so no derivative. A value reaches the result by an operation that surely
runs after it, hands on what is not finite, and gives what reaches the result itself. What goes round a loop has to be
handed on in each round, and after the last one. So the names that reach are the most that satisfy this: each step
leads to a later one, and the last to the result.

An array that is written into goes on as its next version, if what is overwritten was read before and reaches by
itself, or if nothing was there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import gast

from s2s import core
from s2s import kinds as K
from s2s.rules.arithmetic import POWERS
from s2s.runtime import stores as S
from s2s.transforms.copies import assignments
from s2s.transforms.operations import Operations, basic_index
from s2s.transforms.propagate import key
from s2s.transforms.selecting import may_drop

Block = tuple[int, ...]  # the numbers of the blocks around a statement


def reaching(operations: Operations, is_first: Callable[[Any], bool]) -> set[str]:
    """The active names whose values reach the result whole.

    is_first: whether nothing that carries a derivative was where a statement writes.
    """
    return _Reaching(operations, is_first).run()


class _Reaching:
    def __init__(self, operations: Operations, is_first: Callable[[Any], bool]) -> None:
        self.operations = operations
        self.is_first = is_first
        self.active = operations.fn.facts.active
        self.times = assignments(operations.fn)
        self.uses: dict[str, list[tuple[Block, Any]]] = {}
        self.made: dict[str, list[Block]] = {}  # the blocks in which a name is assigned
        self.loops: set[int] = set()  # the numbers of the bodies of loops
        self.number = 0
        self.computed_as: dict[str, list[str]] = {}  # by twin, the names whose value it computes
        for name, twin in operations.fn.facts.twins.items():
            self.computed_as.setdefault(twin, []).append(name)
        self.survey(operations.fn.body, ())

    def survey(self, stmts: Sequence[Any], block: Block) -> None:
        for stmt in stmts:
            if isinstance(stmt, gast.Assign) and isinstance(stmt.targets[0], gast.Name):
                self.made.setdefault(stmt.targets[0].id, []).append(block)
                # what a decomposed function hands on is told by its twin, which may leave out what is no number
                if stmt.targets[0].id not in self.operations.fn.facts.twins:
                    for name in core.reads(stmt.value) & self.active:
                        self.uses.setdefault(name, []).append((block, stmt))
            for _, inner in core.blocks(stmt):
                if isinstance(stmt, gast.With):
                    self.survey(inner, block)
                    continue
                self.number += 1
                if isinstance(stmt, (gast.For, gast.While)):
                    self.loops.add(self.number)
                self.survey(inner, (*block, self.number))

    def run(self) -> set[str]:
        found = {name for name in self.active if name in self.made}
        result = core.reads(self.operations.fn.body[-1])
        size = -1
        while size != len(found):
            size = len(found)
            for name in reversed(self.made):  # what a name is handed on to is mostly made after it
                if name in found and not all(self.goes_on(name, place, found, result) for place in self.places(name)):
                    found.remove(name)
        return found

    def places(self, name: str) -> Iterator[Block]:
        """The blocks in which the value of a name has to be handed on."""
        blocks = self.made[name]
        shared = blocks[0]
        for block in blocks[1:]:
            shared = tuple(a for a, b in zip(shared, block) if a == b)
        yield shared
        for block in blocks:
            if self.times[name] > 1 and len(block) > len(shared) and block[len(shared)] in self.loops:
                yield block[: len(shared) + 1]  # what a loop carries is handed on in each round, too

    def goes_on(self, name: str, block: Block, found: set[str], result: frozenset[str]) -> bool:
        """Whether the value of a name is handed on in a block to what reaches the result."""
        names = [name, *self.computed_as.get(name, ())]
        if not block and result.intersection(names):
            return True
        return any(
            place == block and core.writes(stmt)[0] in found and self.hands_on(stmt, same, found)
            for same in names
            for place, stmt in self.uses.get(same, ())
        )

    # --- operations ---

    def hands_on(self, stmt: Any, name: str, found: set[str]) -> bool:
        """Whether the result of an assignment is not finite where the value of a name is not."""
        value = stmt.value
        if isinstance(value, gast.Name):
            return True
        function = self.operations.function(value)
        if function in _WRITES:
            return self.written(stmt, function, name, found)
        if function in POWERS:
            exponent = getattr(value.right if isinstance(value, gast.BinOp) else value.args[-1], "value", None)
            if not isinstance(exponent, (int, float)) or exponent <= 0:
                return False
        return not may_drop(name, value, self.operations) and self.keeps_all(core.writes(stmt)[0], name)

    def keeps_all(self, result: str, name: str) -> bool:
        """Whether a value has a place in a result: a number has none in an array that is empty."""
        of, own = (K.ndim_of(self.operations.kind(core.name(n))) for n in (result, name))
        return own != 0 or of == 0

    # --- writes ---

    def written(self, stmt: Any, function: Any, name: str, found: set[str]) -> bool:
        """Whether a write hands on what it stores, or what the array held before."""
        x, index, value = stmt.value.args
        if not basic_index(index, self.operations.kind):
            return False
        if getattr(value, "id", None) == name:
            sizes, number = self.operations.sizes, self.operations.kind(value)
            length = sizes.item(core.subscript(x.id, index))
            return length is not None and length == (() if isinstance(number, K.Scalar) else sizes.shape(value))
        if x.id != name or function is S.seen_item:
            return False
        if function is not S.set_item:
            return True
        return self.is_first(stmt) or any(
            core.writes(read)[0] in found and place == self.block_of(stmt) and self.same(read.value, x, index)
            for place, read in self.uses.get(name, ())
            if isinstance(read.value, gast.Subscript)
        )

    def block_of(self, stmt: Any) -> Block:
        return self.made[core.writes(stmt)[0]][0]

    def same(self, read: Any, x: Any, index: Any) -> bool:
        """Whether an item that was read is the one that is written."""
        parts = [list(i.elts) if isinstance(i, gast.Tuple) else [i] for i in (read.slice, index)]
        alike = len(parts[0]) == len(parts[1]) and all(map(self.same_part, *parts))
        return bool(read.value.id == x.id and alike)

    def same_part(self, one: Any, other: Any) -> bool:
        if key(one) == key(other):
            return True
        integer = self.operations.sizes.integer
        if isinstance(one, gast.Slice) and isinstance(other, gast.Slice):
            pairs = ((one.lower, other.lower), (one.upper, other.upper), (one.step, other.step))
            return all(a is b or (a is not None and b is not None and self.same_part(a, b)) for a, b in pairs)
        term = integer(one)
        return term is not None and term == integer(other)


_WRITES = {S.set_item, S.add_item, S.sub_item, S.seen_item}
