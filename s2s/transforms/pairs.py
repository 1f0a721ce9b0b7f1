"""Pairs that are made in several places and taken apart again -> a name for each item.

`return a, b` in several places, or in the branches of a function that was inlined, makes a pair that has another origin
on each path. Where it is only handed on, taken apart or returned as a value with its auxiliary result, its items go
their ways under names of their own. A pair that is made in one place alone is the business of `scalarise`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import gast

from s2s import core
from s2s.core import Function
from s2s.transforms.rulebody import Namer
from s2s.transforms.structure import assigned, captured, copied, defs, statements, uses, with_blocks
from s2s.transforms.task import Task


def pairs(fn: Function, task: Task) -> Function:
    """`fn`, in which tuples of known length that meet are assigned item by item."""
    items = _Found(fn, task).items()
    if not items:
        return fn
    body = _split(fn.body, items)
    last = body[-1]
    if getattr(last.value, "id", None) in items:
        value = gast.Tuple([core.name(n) for n in items[last.value.id]], gast.Load())
        body[-1] = core.rebuilt(last, value=core.name(last.value.id))
        body.insert(-1, core.assign(last.value.id, value, core.origin_of(last)))
    return fn.with_body(body)


class _Found:
    """Which names hold such tuples: those that are copied to one another stand or fall together."""

    def __init__(self, fn: Function, task: Task) -> None:
        self.fn = fn
        self.lengths: dict[str, set[int]] = defaultdict(set)
        self.displays: dict[str, int] = defaultdict(int)
        self.reach: dict[str, int] = defaultdict(int)
        self.copies: list[tuple[str, str]] = []
        self.odd = set(fn.param_names) | captured(fn)
        for stmt in statements(fn.body[:-1]):
            self.look(stmt)
        last = fn.body[-1].value
        if task.has_aux and isinstance(last, gast.Name):
            self.lengths[last.id].add(2)
        else:
            self.odd |= core.reads(last)

    def look(self, stmt: Any) -> None:
        value: Any = getattr(stmt, "value", None)
        name, copy = assigned(stmt), copied(stmt)
        if copy is not None and isinstance(copy[1], gast.Name):
            self.copies.append((copy[0], copy[1].id))
            return
        if name and isinstance(value, gast.Tuple) and not any(isinstance(e, gast.Starred) for e in value.elts):
            self.lengths[name].add(len(value.elts))
            self.displays[name] += 1
        else:
            self.odd |= set(defs(stmt))
        length, item = taken_apart(stmt), item_read(stmt)
        if length is not None:
            self.lengths[length[0]].add(length[1])
        elif item is not None:
            self.reach[item[0]] = max(self.reach[item[0]], item[1] + 1)
        else:
            self.odd |= set(uses(stmt))

    def items(self) -> dict[str, list[str]]:
        """For each such name, the names of its items."""
        group = {n: {n} for n in (*self.lengths, *self.odd, *(n for pair in self.copies for n in pair))}
        for a, b in self.copies:
            joined = group[a] | group[b]
            group.update(dict.fromkeys(joined, joined))
        namer = Namer(self.fn)
        found: dict[str, list[str]] = {}
        for name, together in group.items():
            lengths = set[int]().union(*(self.lengths[n] for n in together))
            several = sum(self.displays[n] for n in together) > 1
            if several and len(lengths) == 1 and not together & self.odd and max(lengths) >= self.reached(together):
                found[name] = [namer.temporary(core.stem(name)) for _ in range(*lengths)]
        return found

    def reached(self, names: set[str]) -> int:
        """How many items there must be, so that all reads by index find one."""
        return max(self.reach[n] for n in names)


def item_read(stmt: Any) -> tuple[str, int] | None:
    """The name of which a statement reads an item, and the item's index; None for other statements."""
    value = stmt.value if assigned(stmt) else None
    if not isinstance(value, gast.Subscript) or not isinstance(value.value, gast.Name):
        return None
    index = getattr(value.slice, "value", None) if isinstance(value.slice, gast.Constant) else None
    return (value.value.id, index) if type(index) is int and index >= 0 else None


def taken_apart(stmt: Any) -> tuple[str, int] | None:
    """The name that a statement unpacks, and into how many; None for other statements."""
    if not isinstance(stmt, gast.Assign) or not isinstance(stmt.value, gast.Name):
        return None
    (target,) = stmt.targets
    plain = isinstance(target, gast.Tuple) and all(isinstance(e, gast.Name) for e in target.elts)
    return (stmt.value.id, len(target.elts)) if plain else None


def _split(block: Sequence[Any], items: dict[str, list[str]]) -> list[Any]:
    new: list[Any] = []
    for stmt in block:
        read = item_read(stmt)
        target = stmt.targets[0] if isinstance(stmt, gast.Assign) else None
        origin = core.origin_of(stmt)
        if isinstance(target, gast.Name) and target.id in items:
            values = stmt.value.elts if isinstance(stmt.value, gast.Tuple) else map(core.name, items[stmt.value.id])
            new += [core.assign(n, value, origin) for n, value in zip(items[target.id], values)]
        elif read is not None and read[0] in items:
            new.append(core.assign(target, core.name(items[read[0]][read[1]]), origin))
        elif target is not None and getattr(stmt.value, "id", None) in items:
            values = map(core.name, items[stmt.value.id])
            new += [core.assign(element, value, origin) for element, value in zip(target.elts, values)]
        else:
            new.append(with_blocks(stmt, lambda _, inner: _split(inner, items)))
    return new
