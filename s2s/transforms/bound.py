"""Which names may be unbound when they are read: those that a program assigns on some paths only.

After `versions` these are meeting names, which only copies read: where one is unbound Python raises, as it should. What
we add to the program, pushes onto tapes and the reverse sweep, must not raise: where it might, the function is not
compiled.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import gast

from s2s import core
from s2s.core import Function
from s2s.transforms.structure import uses

UNBOUND = "the gradient needs `{}` where it may not be assigned yet"


def unbound_reads(fn: Function) -> Iterator[tuple[Any, str]]:
    """The statements that read a local name which may be unbound there, each with the name."""
    yield from _block(fn.body, set(fn.param_names), fn.local_names())


def _block(stmts: Sequence[Any], bound: set[str], local: set[str]) -> Iterator[tuple[Any, str]]:
    """The reads of a block; `bound` ends as the names that are bound at its end."""
    for stmt in stmts:
        for name in sorted((set(uses(stmt)) & local) - bound):
            yield stmt, name
            bound.add(name)  # else this statement has raised
        if isinstance(stmt, gast.If) and not core.is_exit(stmt):
            ends = [set(bound), set(bound)]
            yield from _block(stmt.body, ends[0], local)
            yield from _block(stmt.orelse, ends[1], local)
            bound |= ends[0] & ends[1]
        elif isinstance(stmt, (gast.For, gast.While)):
            yield from _block(stmt.body, bound | set(core.writes(stmt)), local)
        else:
            bound.update(core.writes(stmt))
            for _, block in core.blocks(stmt):
                yield from _block(block, bound, local)
