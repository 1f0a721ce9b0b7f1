"""A loop is left on the condition itself, without a flag, where nothing comes between.

done = False                          for i in r:
for i in r:                               ...
    ...                                   if cond:
    if cond:                  ->              ...
        ...                               if cond:
        done = True                           break
    if done:
        break
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gast

from s2s import core
from s2s import kinds as K
from s2s.core import Function
from s2s.transforms.effects import Knowledge
from s2s.transforms.structure import copied, definitions_of, defs, reads_of, statements, with_blocks


def direct_exits(fn: Function, known: Knowledge) -> Function:
    """`fn` without flags of ours that only repeat a condition."""
    loops = [s for s in statements(fn.body) if type(s) is gast.For or type(s) is gast.While]
    return fn.with_body(_Exits(fn, known).block(fn.body)) if any(map(_flag, loops)) else fn


class _Exits:
    def __init__(self, fn: Function, known: Knowledge) -> None:
        self.known = known
        self.reads = reads_of(fn)
        self.written = definitions_of(fn)

    def block(self, stmts: Sequence[Any]) -> list[Any]:
        new: list[Any] = []
        for stmt in stmts:
            stmt = with_blocks(stmt, lambda _, inner: self.block(inner))
            flag = _flag(stmt)
            if flag is not None and self.reads[flag] == 1 and self.written[flag] == 2:
                start = next((i for i, s in enumerate(new) if _sets(s, flag, False)), None)
                body = None if start is None else _without_flag(stmt.body, flag, self.known)
                if start is not None and body is not None:
                    del new[start]
                    stmt = core.rebuilt(stmt, body=body)
            new.append(stmt)
        return new


def _flag(stmt: Any) -> str | None:
    """The flag on which a loop is left, if it is one of ours."""
    if not isinstance(stmt, (gast.For, gast.While)) or not core.is_exit(stmt.body[-1]):
        return None
    test = stmt.body[-1].test
    return test.id if isinstance(test, gast.Name) and core.is_temporary(test.id) else None


def _sets(stmt: Any, flag: str, value: bool) -> bool:
    copy = copied(stmt)
    return copy is not None and copy[0] == flag and isinstance(copy[1], gast.Constant) and copy[1].value is value


def _without_flag(body: Sequence[Any], flag: str, known: Knowledge) -> list[Any] | None:
    """The loop's body with its exit on the condition under which the flag is set; None if that may have changed."""
    for at, stmt in enumerate(body):
        if not isinstance(stmt, gast.If) or not any(_sets(s, flag, True) for s in stmt.body):
            continue
        test = stmt.test
        if not isinstance(test, gast.Name) or not K.immutable(known.kind(test)):
            return None
        if any(test.id in defs(s) for later in body[at:] for s in statements([later])):
            return None
        then = [s for s in stmt.body if not _sets(s, flag, True)] or [core.place(gast.Pass(), core.origin_of(stmt))]
        leave = core.rebuilt(body[-1], test=test)
        return [*body[:at], core.rebuilt(stmt, body=then), *body[at + 1 : -1], leave]
    return None
