"""Meeting names that always stand for one object: `s·2 = s` before a loop, and `s·2 = s·3` at its end, where `s·3` is a
copy of `s·2`, make `s·2` another name of `s`.

In-place operations leave many: `s += x` in a loop rebinds s to itself. An object that a loop makes anew in each round
is one object within a round: a name that may be read before the round has assigned it stands for an earlier one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gast

from s2s import core
from s2s.core import Function
from s2s.transforms.bound import is_read_first
from s2s.transforms.copies import assignments
from s2s.transforms.structure import blocks, copied, statements, uses, with_blocks


def without_constant_meetings(fn: Function) -> Function:
    """`fn` with the one object that such a name stands for read in its place."""
    while found := _constant_meetings(fn):
        fn = fn.with_body(_replaced(fn.body, found))
    return fn


def _constant_meetings(fn: Function) -> dict[str, str]:
    """The names that always stand for one object, and the names of these objects, which are assigned once."""
    times = assignments(fn)
    sources: dict[str, list[str]] = {}
    for stmt in statements(fn.body):
        copy = copied(stmt)
        if copy is not None and isinstance(copy[1], gast.Name):
            sources.setdefault(copy[0], []).append(copy[1].id)
    homes = _homes(fn.body, None)
    found: dict[str, str] = {}
    for name, copies_of in sources.items():
        if times[name] > 1 and len(copies_of) == times[name]:
            others = {_original(source, times, sources) for source in copies_of} - {name}
            if len(others) == 1 and times[(other := others.pop())] == 1 and _is_of_round(fn, homes.get(other), name):
                found[name] = other
    return found


def _homes(stmts: Sequence[Any], loop: Any) -> dict[str, Any]:
    """The innermost loop around the definition of each name that is defined in one."""
    found: dict[str, Any] = {}
    for stmt in stmts:
        inner = stmt if isinstance(stmt, (gast.For, gast.While)) else loop
        if inner is not None:
            found.update(dict.fromkeys(core.writes(stmt), inner))
        for _, block in blocks(stmt):
            found |= _homes(block, inner)
    return found


def _is_of_round(fn: Function, loop: Any, name: str) -> bool:
    """Whether a name is read only where the round of a loop that it is in has assigned it."""
    if loop is None:
        return True
    inside = sum(name in uses(s) for s in statements(loop.body))
    everywhere = sum(name in uses(s) for s in statements(fn.body))
    return inside == everywhere and not is_read_first(fn, loop.body, name)


def _original(name: str, times: Mapping[str, int], sources: Mapping[str, list[str]]) -> str:
    """What a name is a copy of, through copies that are its only assignment."""
    while times[name] == 1 and name in sources:
        (name,) = sources[name]
    return name


def _replaced(stmts: Sequence[Any], names: Mapping[str, str]) -> list[Any]:
    new = []
    for stmt in stmts:
        copy = copied(stmt)
        if copy is None or copy[0] not in names:
            inner = with_blocks(stmt, lambda _, block: _replaced(block, names))
            new.append(core.substitute(inner, names))
    return new
