"""Copies of values that never change are read through: a parameter of an inlined function is the argument itself.

Only between names that are assigned once; a meeting name changes, and reading it later would read another value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import gast

from s2s import core
from s2s.core import Function
from s2s.transforms.task import Task


def copies(fn: Function, task: Task) -> Function:
    """`fn` without the copies `a = b` of single assigned names, and with b read for a."""
    times = assignments(fn)
    found: dict[str, Any] = {}
    for stmt in _all(fn.body):
        if isinstance(stmt, gast.Assign) and isinstance(stmt.targets[0], gast.Name) and core.is_atom(stmt.value):
            target, source = stmt.targets[0].id, stmt.value
            local = isinstance(source, gast.Name) and times[source.id] == 1
            if times[target] == 1 and local:
                found[target] = found.get(source.id, source)
    return fn.with_body(_block(fn.body, found)) if found else fn


def assignments(fn: Function) -> Counter[str]:
    """How often each name is assigned in the text of a function; parameters are assigned by the call."""
    times = Counter(name for stmt in _all(fn.body) for name in core.writes(stmt))
    times.update(fn.param_names)
    return times


def _all(stmts: Sequence[Any]) -> Iterator[Any]:
    for stmt in stmts:
        yield stmt
        for _, block in core.blocks(stmt):
            yield from _all(block)


def _block(stmts: Sequence[Any], found: dict[str, Any]) -> list[Any]:
    new = []
    for stmt in stmts:
        if isinstance(stmt, gast.Assign) and core.writes(stmt)[:1] and core.writes(stmt)[0] in found:
            continue
        changes: dict[str, Any] = {name: _block(block, found) for name, block in core.blocks(stmt) if "." not in name}
        if not changes:
            new.append(core.substitute(stmt, found))
            continue
        for part in ("test", "iter"):
            if hasattr(stmt, part):
                changes[part] = core.substitute(getattr(stmt, part), found)
        if isinstance(stmt, gast.With):
            changes["items"] = [core.substitute(item, found) for item in stmt.items]
        new.append(core.rebuilt(stmt, **changes))
    return new or [core.place(gast.Pass(), None)]
