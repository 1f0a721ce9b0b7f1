"""What is added to a buffer is computed where it is added, so that one statement does both.

    t = g * u[1:]                    v_bar[0] -= g * v[1]
    v_bar[0] -= g * v[1]      ->     u_bar[1:] += g * u[1:]
    u_bar[1:] += t

`fold` puts an expression where its value is used, but not past a write into memory. Here it is known which memory that
is: no other array shares it, or these are other items (`places`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from s2s import core
from s2s.core import Function
from s2s.transforms.effects import Knowledge
from s2s.transforms.places import NEAR, Places, is_part, written
from s2s.transforms.structure import (
    all_defs,
    all_uses,
    assigned,
    defs,
    is_reverse,
    statements,
    uses,
)


class Sinking:
    """Moves computations of the reverse sweep down, block by block."""

    def __init__(self, fn: Function, places: Places) -> None:
        self.places = places
        self.known = Knowledge(fn)
        ours = [stmt for stmt in statements(fn.body) if is_reverse(stmt)]  # they run after all others
        self.reads = Counter(n for stmt in ours for n in uses(stmt))
        self.bound = Counter(n for stmt in ours for n in defs(stmt))

    def block(self, stmts: list[Any], indices: Mapping[str, Any]) -> list[Any]:
        """The statements of a block, put into another order."""
        for at, stmt in enumerate(stmts):
            if is_ours(stmt):
                self.pull(at, stmts, indices)
        return stmts

    def pull(self, to: int, stmts: list[Any], indices: Mapping[str, Any]) -> None:
        """Move what the statement at a position alone reads down to it, and what that alone reads."""
        for name in uses(stmts[to]):
            at = next((i for i in range(to - 1, max(to - NEAR, -1), -1) if assigned(stmts[i]) == name), None)
            if at is None or not self.is_for_one(name, stmts[at]):
                continue
            if any(map(is_write, stmts[at + 1 : to])):
                if not self.may_pass(at, to, stmts, indices):
                    continue
                stmts.insert(to - 1, stmts.pop(at))
                at = to - 1
            self.pull(at, stmts, indices)

    def is_for_one(self, name: str, stmt: Any) -> bool:
        """Whether a statement computes a temporary that one other statement reads."""
        once = self.reads[name] == self.bound[name] == 1 and core.is_temporary(name)
        return once and is_reverse(stmt) and not self.known.effects(stmt.value, True).writes

    def may_pass(self, at: int, to: int, stmts: Sequence[Any], indices: Mapping[str, Any]) -> bool:
        """Whether a computation may be done after the statements of its block that stand before a position."""
        stmt, passed = stmts[at], stmts[at + 1 : to]
        changed = {name for other in passed for name in all_defs(other)}
        if not changed.isdisjoint(uses(stmt)):
            return False
        parts = self.places.parts(stmts, at + 1, changed)
        if is_part(stmt.value):
            parts[stmt.value.value.id] = parts.pop(assigned(stmt) or "", None)
        for other in passed:
            target = written(other)
            if core.blocks(other) or not is_reverse(other):
                return False
            if target is None and (assigned(other) is None or self.known.writes_memory(other)):
                return False
            if target is not None and not all(
                self.places.spares(target, name, parts.get(name), indices) for name in set(uses(stmt))
            ):
                return False
        return True


def is_ours(stmt: Any) -> bool:
    """Whether a statement of the reverse sweep writes into an array."""
    return is_reverse(stmt) and is_write(stmt)


def is_write(stmt: Any) -> bool:
    return written(stmt) is not None


def has_work(stmts: Sequence[Any]) -> bool:
    """Whether something is added to a buffer that was computed before another write."""
    computed: set[str] = set()
    late: set[str] = set()
    for stmt in stmts:
        if any(has_work(block) for _, block in core.blocks(stmt)):
            return True
        if is_ours(stmt) and late.intersection(all_uses(stmt)):
            return True
        name = assigned(stmt)
        if name is not None and is_reverse(stmt) and core.is_temporary(name):
            computed.add(name)
            if late.intersection(uses(stmt)):
                late.add(name)
        elif is_write(stmt):
            late |= computed
    return False
