"""Copies are read through: a parameter of an inlined function is the argument itself.

`t = s` is taken out where s holds the same value at every read of t: t is assigned once and read after that, within
the block of the copy or blocks in that; s is assigned before the copy, once, or within its block as well: versions
that meet there meet anew in each round. What is read elsewhere may be the t of an earlier round, or none at all. An s
that may be unbound stays apart: a read of t shows that it is bound.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from typing import Any

import gast

from s2s import core
from s2s.core import Function
from s2s.transforms.bound import unbound_reads
from s2s.transforms.structure import replace_reads, uses, with_blocks
from s2s.transforms.task import Task

Place = tuple[int, ...]  # the positions of a statement in its block and in those around it, the outermost first


def copies(fn: Function, task: Task) -> Function:
    """`fn` without the copies `t = s` that can be read through, and with s read for t."""
    places = _Places(fn)
    unsure = {name for _, name in unbound_reads(fn)}
    found: dict[str, Any] = {}
    for target, source in places.copies.items():
        if source.id not in unsure and places.holds_still(target, source.id):
            found[target] = found.get(source.id, source)
    return fn.with_body(_block(fn.body, found)) if found else fn


def assignments(fn: Function) -> Counter[str]:
    """How often each name is assigned in the text of a function; parameters are assigned by the call."""
    times = Counter(fn.param_names)
    times.update(chain.from_iterable(map(core.all_writes, fn.body)))
    return times


class _Places:
    """Where names are assigned and read, and which statements are copies."""

    def __init__(self, fn: Function) -> None:
        self.assigned: dict[str, list[Place]] = {name: [()] for name in fn.param_names}
        self.read: dict[str, list[Place]] = {}
        self.copies: dict[str, Any] = {}
        self.survey(fn.body, ())

    def survey(self, stmts: Sequence[Any], around: Place) -> None:
        for position, stmt in enumerate(stmts):
            here = (*around, position)
            for name in uses(stmt):
                self.read.setdefault(name, []).append(here)
            for name in core.writes(stmt):
                self.assigned.setdefault(name, []).append(here)
            if (
                isinstance(stmt, gast.Assign)
                and isinstance(stmt.value, gast.Name)
                and isinstance(stmt.targets[0], gast.Name)
            ):
                self.copies[stmt.targets[0].id] = stmt.value
            for number, (_, block) in enumerate(core.blocks(stmt)):
                self.survey(block, (*here, number))

    def holds_still(self, target: str, source: str) -> bool:
        """Whether the source of a copy holds the same value at every read of its target."""
        starts = self.assigned.get(source, [])
        if len(self.assigned[target]) != 1 or not starts:
            return False
        (copy,) = self.assigned[target]
        block = copy[:-1]

        def within(place: Place) -> bool:
            return place[: len(block)] == block

        steady = len(starts) == 1 or all(map(within, starts))
        return (
            steady
            and all(start < copy for start in starts)
            and all(copy < place and within(place) for place in self.read.get(target, ()))
        )


def _block(stmts: Sequence[Any], found: dict[str, Any]) -> list[Any]:
    new = []
    for stmt in stmts:
        if isinstance(stmt, gast.Assign) and core.writes(stmt)[:1] and core.writes(stmt)[0] in found:
            continue
        new.append(replace_reads(with_blocks(stmt, lambda _, inner: _block(inner, found)), found))
    return new
