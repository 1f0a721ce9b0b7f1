"""Containers that are built and taken apart again within the function disappear: their items are names.

`t = (a, b)` and then `p, q = t` or `t[0]` become copies of a and b. Lists count too: a list that is written into never
gets here (`mutation` has refused it).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gast

from s2s import core
from s2s import kinds as K
from s2s.core import Function
from s2s.transforms.task import Task


def scalarise(fn: Function, task: Task) -> Function:
    """`fn` with reads of known displays replaced by their items, and unpackings by item reads."""
    pass_ = _Scalarise(fn)
    new = fn.with_body(pass_.block(fn.body))
    return new.with_facts(kinds={**fn.facts.kinds, **pass_.kinds})


class _Scalarise:
    def __init__(self, fn: Function) -> None:
        self.fn = fn
        self.displays: dict[str, Any] = {}
        self.kinds: dict[str, K.Kind] = {}

    def block(self, stmts: Sequence[Any]) -> list[Any]:
        new: list[Any] = []
        for stmt in stmts:
            if isinstance(stmt, gast.Assign):
                new.extend(self.assign(stmt))
            else:
                changes = {name: self.block(block) for name, block in core.blocks(stmt) if "." not in name}
                new.append(core.rebuilt(stmt, **changes) if changes else stmt)
        return new

    def assign(self, stmt: Any) -> list[Any]:
        (target,) = stmt.targets
        if isinstance(target, gast.Tuple):
            return self.unpack(stmt, target)
        value = self.resolved(stmt.value)
        if isinstance(target, gast.Name):
            if isinstance(value, (gast.Tuple, gast.List)) and not any(isinstance(e, gast.Starred) for e in value.elts):
                self.displays[target.id] = value
            elif isinstance(value, gast.Name) and value.id in self.displays and "·" in target.id:
                self.displays.pop(target.id, None)
        return [stmt if value is stmt.value else core.rebuilt(stmt, value=value)]

    def resolved(self, value: Any) -> Any:
        """An item read of a known display as that item."""
        if isinstance(value, gast.Subscript) and isinstance(value.value, gast.Name):
            display, index = self.displays.get(value.value.id), value.slice
            if display is not None and isinstance(index, gast.Constant) and type(index.value) is int:
                if -len(display.elts) <= index.value < len(display.elts):
                    return display.elts[index.value]
        return value

    def unpack(self, stmt: Any, target: Any) -> list[Any]:
        value = stmt.value
        if isinstance(value, gast.Name) and value.id in self.displays:
            value = self.displays[value.id]
        if isinstance(value, (gast.Tuple, gast.List)):
            items = value.elts if not any(isinstance(e, gast.Starred) for e in value.elts) else None
            return [stmt] if items is None else self.pair(stmt, target, items)
        kind = self.fn.facts.kinds.get(value.id) if isinstance(value, gast.Name) else None
        if isinstance(kind, (K.Tuple, K.List)):
            count = len(kind.items)
            return self.pair(stmt, target, [core.subscript(value, i) for i in range(count)])
        return [stmt]

    def pair(self, stmt: Any, target: Any, items: Sequence[Any]) -> list[Any]:
        """One assignment for each target; a wrong number of items stays, so that Python says so."""
        stars = [i for i, e in enumerate(target.elts) if isinstance(e, gast.Starred)]
        count, origin = len(target.elts), core.origin_of(stmt)
        if len(items) != count and not stars or len(items) < count - 1:
            return [stmt]
        at = stars[0] if stars else count
        after = count - at - 1
        new = []
        for position, element in enumerate(target.elts):
            if position == at:
                middle = list(items[at : len(items) - after])
                if not all(core.is_atom(item) for item in middle):
                    return [stmt]
                display = gast.List(middle, gast.Load())
                new.append(core.assign(core.rebuilt(element.value, ctx=gast.Store()), display, origin))
                self.displays[element.value.id] = display
            else:
                item = items[position] if position < at else items[position - count]
                new.append(core.assign(core.rebuilt(element, ctx=gast.Store()), item, origin))
        return new
