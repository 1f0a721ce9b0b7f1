"""The new value of an adjoint is assigned after the last use of the old one, so that one name does for both.

    t_bar = p_bar
    p_bar = t_bar * x         ->          x_bar = x_bar + p_bar * p
    x_bar = x_bar + t_bar * p             p_bar = p_bar * x

The contributions of one statement may be added in any order; differentiation writes them in the order of the operands.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gast

from s2s import core
from s2s.core import Function
from s2s.transforms.effects import Knowledge
from s2s.transforms.structure import (
    COMPOUND,
    assigned,
    copied,
    definitions_of,
    defs,
    is_reverse,
    reads_of,
    statements,
    uses,
    with_blocks,
)  # fmt: skip


def delay(fn: Function, known: Knowledge) -> Function:
    """`fn` with assignments of the reverse sweep put off where that frees a copy of the old value."""
    return _Delay(fn, known).run()


class _Delay:
    def __init__(self, fn: Function, known: Knowledge) -> None:
        self.fn = fn
        self.known = known
        self.lives = known.liveness(fn)
        self.reads = reads_of(fn)
        self.definitions = definitions_of(fn)

    def run(self) -> Function:
        return self.fn.with_body(self.block(self.fn.body))

    def block(self, block: Sequence[Any]) -> list[Any]:
        stmts = [with_blocks(s, lambda _, inner: self.block(inner)) if type(s) in COMPOUND else s for s in block]
        old: dict[str, str] = {}  # names, and the copies that were made of them
        at = 0
        while at < len(stmts):
            stmt = stmts[at]
            if old:
                name = assigned(stmt)
                last = self.last_use(stmts, at, old[name]) if name in old and is_reverse(stmt) else at
                if last > at and self.may_move(stmt, stmts[at + 1 : last + 1]):
                    stmts.insert(last, stmts.pop(at))
                    del old[name]  # type: ignore[arg-type]
                    continue
                for bound in (*defs(stmt), *core.all_writes(stmt)):
                    old.pop(bound, None)
            copy = copied(stmt) if is_reverse(stmt) else None
            if copy is not None and isinstance(copy[1], gast.Name):
                old[copy[1].id] = copy[0]
            at += 1
        return stmts

    def last_use(self, stmts: Sequence[Any], at: int, copy: str) -> int:
        """The position of the last use of a copy, and of what is made of it, if all its uses are known; else `at`."""
        if self.definitions[copy] != 1:
            return at
        bit, seen, last = self.lives.bit(copy), 0, at
        for position, stmt in enumerate(stmts):
            seen += uses(stmt).count(copy)
            if position > at and self.lives.summary(stmt).mentioned & bit:
                last = position
        if seen != self.reads[copy]:
            return at
        made = {n for s in stmts[at + 1 : last + 1] for n in defs(s) if core.is_temporary(n)}
        while last + 1 < len(stmts) and made.intersection(uses(stmts[last + 1])):
            last += 1
            made.update(n for n in defs(stmts[last]) if core.is_temporary(n))
        return last

    def may_move(self, stmt: Any, passed: Sequence[Any]) -> bool:
        """Whether an assignment may be done after other statements."""
        effects = self.known.effects(stmt.value, True)
        if effects.writes:
            return False
        name = assigned(stmt)
        assert name is not None
        for other in passed:
            if not is_reverse(other) or self.lives.summary(other).mentioned & self.lives.bit(name):
                return False
            if set(uses(stmt)).intersection(defs(other), core.all_writes(other)):
                return False
            if effects.reads and any(self.known.writes_memory(s) for s in statements([other])):
                return False
        return True
