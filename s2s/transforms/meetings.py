"""Meeting names that always stand for one object: `s·2 = s` before a loop, and `s·2 = s·3` at its end, where `s·3` is a
copy of `s·2`, make `s·2` another name of `s`.

In-place operations leave many: `s += x` in a loop rebinds s to itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gast

from s2s import core
from s2s.core import Function
from s2s.transforms.copies import assignments
from s2s.transforms.structure import copied, statements, with_blocks


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
    found: dict[str, str] = {}
    for name, copies_of in sources.items():
        if times[name] > 1 and len(copies_of) == times[name]:
            others = {_original(source, times, sources) for source in copies_of} - {name}
            if len(others) == 1 and times[(other := others.pop())] == 1:
                found[name] = other
    return found


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
