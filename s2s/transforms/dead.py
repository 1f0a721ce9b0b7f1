"""Dead code goes: what computes values that nothing needs, and does nothing else.

A statement is needed if it has an effect, or assigns a name that a needed statement reads; so a variable that only
feeds itself round a loop is not needed. The user's statements are dropped only if they surely do nothing (`effects`);
those of the reverse sweep are ours, and need not raise. A tape counts as a name that pushes and pops assign.

A copy of a variable that may be unbound raises where it is (`bound`). If nothing needs the copy, the variable is still
read, in a statement of its own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import gast

from s2s import core
from s2s import kinds as K
from s2s.core import Function
from s2s.transforms.bound import may_read_unbound, unbound_reads
from s2s.transforms.effects import Knowledge, tape_operation
from s2s.transforms.renaming import without_empty_branches
from s2s.transforms.structure import COMPOUND, assigned, blocks, captured, defs, is_reverse, reads_of, uses, with_blocks

_MOVING = frozenset((gast.Assign, gast.Expr))  # what may push on a tape or pop from it
_FINITE = (K.Range, K.Array, K.Tuple, K.List, K.Sequence, K.Dict, K.Str)


def remove_dead(fn: Function, known: Knowledge) -> Function:
    """`fn` without the statements that nothing needs."""
    while True:
        marks = _Marks(fn, known)
        marks.collect(fn.body, None)
        marks.spread()
        fn = fn.with_body(_kept(fn.body, marks, fn))
        overwritten = _Overwritten(fn, known)
        fn = fn.with_body(overwritten.block(fn.body, 0, False))
        if all(map(reads_of(fn).get, overwritten.reads)):
            return fn


def _kept(block: Sequence[Any], marks: _Marks, fn: Function) -> list[Any]:
    new = []
    for stmt in block:
        if stmt not in marks.needed:
            if stmt in marks.raising:
                new.append(core.place(gast.Expr(stmt.value), core.origin_of(stmt)))
            continue
        if type(stmt) in COMPOUND:
            stmt = _without_empty_branches(with_blocks(stmt, lambda _, inner: _kept(inner, marks, fn)), fn)
        if stmt is not None:
            new.append(stmt)
    return new


def _without_empty_branches(stmt: Any, fn: Function) -> Any:
    return without_empty_branches(stmt, fn.facts) if type(stmt) is gast.If and not core.is_exit(stmt) else stmt


class _Overwritten:
    """Takes out values that are never read before their name is assigned again.

    reads: the names that were read for them, which may be needed no more if nothing else reads them.
    """

    def __init__(self, fn: Function, known: Knowledge) -> None:
        self.fn = fn
        self.known = known
        self.lives = known.liveness(fn)
        self.reads: set[str] = set()

    def block(self, stmts: Sequence[Any], out: int, protected: bool) -> list[Any]:
        new, live = [], out
        for stmt in reversed(stmts):
            left: Any = stmt
            if type(stmt) in COMPOUND:
                left = self.lives.with_inner(stmt, live, protected, self.block)
                if left is not stmt:
                    left = _without_empty_branches(left, self.fn)
            elif self.is_overwritten(stmt, live):
                left = None
            if left is None:
                self.reads |= self.known.local.intersection(uses(stmt))
            else:
                new.append(left)
                live = self.lives.before(left, live, protected)
        return new[::-1]

    def is_overwritten(self, stmt: Any, live: int) -> bool:
        name = assigned(stmt)
        if name is None or (live | self.lives.always) & self.lives.bit(name):
            return False
        effects = self.known.effects(stmt.value, is_reverse(stmt))
        return not (effects.raises or effects.writes)


class _Marks:
    """Marks needed statements; a node that stands in two places is needed in both if in one."""

    def __init__(self, fn: Function, known: Knowledge) -> None:
        self.known = known
        self.needed: set[Any] = set()
        self.waiting: list[Any] = []
        self.parents: defaultdict[Any, list[Any]] = defaultdict(list)
        self.definers: defaultdict[str, list[Any]] = defaultdict(list)
        self.names: set[str] = set()
        self.always = captured(fn)
        unsure = unbound_reads(fn) if may_read_unbound(fn, known.liveness(fn)) else []
        self.unsure = {stmt for stmt, _ in unsure if not is_reverse(stmt)}
        self.raising: dict[Any, None] = {}  # the copies of what may be unbound, in order

    def collect(self, block: Sequence[Any], parent: Any) -> None:
        """Note who assigns what; what has effects is needed."""
        for stmt in block:
            if parent is not None:
                self.parents[stmt].append(parent)
            moves = self.known.tapes and type(stmt) in _MOVING
            tape = tape_operation(stmt.value, self.known.tapes) if moves else None
            for name in defs(stmt) if tape is None else (*defs(stmt), tape):
                self.definers[name].append(stmt)
            if stmt in self.unsure and isinstance(stmt, gast.Assign) and isinstance(stmt.value, gast.Name):
                self.raising[stmt] = None
            if self.has_effect(stmt, tape):
                self.need([stmt])
            if type(stmt) in COMPOUND:
                for _, inner in blocks(stmt):
                    self.collect(inner, stmt)

    def need(self, stmts: Iterable[Any]) -> None:
        for stmt in stmts:
            if stmt not in self.needed:
                self.needed.add(stmt)
                self.waiting.append(stmt)

    def spread(self) -> None:
        """What needed statements read, and what holds them, is needed; then what copies that may raise read."""
        self.follow()
        for stmt in self.raising:
            if stmt not in self.needed:
                self.requires(stmt)
                self.follow()

    def requires(self, stmt: Any) -> None:
        if stmt in self.parents:
            self.need(self.parents[stmt])
        for name in uses(stmt):
            if name not in self.names:
                self.names.add(name)
                if name in self.definers:
                    self.need(self.definers[name])

    def follow(self) -> None:
        while self.waiting:
            stmt = self.waiting.pop()
            self.requires(stmt)
            kind = type(stmt)
            if (kind is gast.For or kind is gast.While) and core.is_exit(stmt.body[-1]):
                self.need([stmt.body[-1]])
            if kind is gast.If and core.is_exit(stmt):
                self.need([stmt.body[0]])

    def has_effect(self, stmt: Any, tape: str | None) -> bool:
        """Whether a statement does anything but assign names and move a tape, its nested blocks apart."""
        ours = is_reverse(stmt)
        kind = type(stmt)
        if kind is gast.Expr and stmt in self.unsure:
            return True
        if kind is gast.Pass or kind is gast.Break or (kind is gast.If and core.is_exit(stmt)):
            return False
        if self.always and not self.always.isdisjoint(defs(stmt)):
            return True
        if kind is gast.Assign or kind is gast.Expr:
            if tape is not None:
                return False
            found = self.known.effects(stmt.value, ours)
            raises = found.raises and not self.known.repeats_a_meeting(stmt)
            return raises or found.writes or not self.plain_target(stmt, ours)
        if kind is gast.AugAssign:
            return not (ours and isinstance(stmt.target, gast.Name) and K.immutable(self.known.kind(stmt.target)))
        if kind is gast.If:
            return not (ours or isinstance(stmt.test, gast.Constant) or K.immutable(self.known.kind(stmt.test)))
        if kind is gast.For:
            return not (ours or isinstance(self.known.kind(stmt.iter), _FINITE))
        # A loop of the user's may not end, which is an effect; ours end.
        return not (kind is gast.While and ours)

    def plain_target(self, stmt: Any, ours: bool) -> bool:
        if type(stmt) is gast.Expr or assigned(stmt) is not None:
            return True
        if not isinstance(stmt.targets[0], gast.Tuple):
            return False
        kind = self.known.kind(stmt.value)
        return ours or (isinstance(kind, K.Tuple) and len(kind.items) == len(stmt.targets[0].elts))
