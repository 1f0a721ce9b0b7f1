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
    while True:
        found = _constant_meeting(fn)
        if found is None:
            return fn
        fn = fn.with_body(_replaced(fn.body, *found))


def _constant_meeting(fn: Function) -> tuple[str, str] | None:
    """A name that always stands for one object, and the name of that object."""
    times = assignments(fn)
    sources: dict[str, list[str]] = {}
    for stmt in statements(fn.body):
        found = copied(stmt)
        if found is not None and isinstance(found[1], gast.Name):
            sources.setdefault(found[0], []).append(found[1].id)
    for name, copies_of in sources.items():
        if times[name] > 1 and len(copies_of) == times[name]:
            others = {_original(source, times, sources) for source in copies_of} - {name}
            if len(others) == 1 and times[(other := others.pop())] == 1:
                return name, other
    return None


def _original(name: str, times: Mapping[str, int], sources: Mapping[str, list[str]]) -> str:
    """What a name is a copy of, through copies that are its only assignment."""
    while times[name] == 1 and name in sources:
        (name,) = sources[name]
    return name


def _replaced(stmts: Sequence[Any], name: str, new: str) -> list[Any]:
    found = []
    for stmt in stmts:
        copy = copied(stmt)
        if copy is None or copy[0] != name:
            inner = with_blocks(stmt, lambda _, block: _replaced(block, name, new))
            found.append(core.substitute(inner, {name: new}))
    return found
