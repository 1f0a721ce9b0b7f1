"""Branches that kinds decide are taken out before differentiation: `if axis is None`, `isinstance(x, np.ndarray)`.

So are loops over containers that are empty, and questions whether an operation raises that cannot.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gast

from s2s import core
from s2s import kinds as K
from s2s.core import Function
from s2s.runtime.catching import caught
from s2s.transforms.task import Task


def prune(fn: Function, task: Task) -> Function:
    """`fn` without the branches whose condition is known from kinds, and the loops that make no round."""
    return fn.with_body(_block(fn.body, fn))


def known(test: Any, fn: Function) -> bool | None:
    """The truth of an atom, where its kind tells it."""
    if isinstance(test, gast.Constant):
        return bool(test.value)
    kind = fn.facts.kinds.get(test.id)
    if isinstance(kind, (K.Bool, K.Int, K.Str)):
        return None if kind.value is None else bool(kind.value)
    return False if isinstance(kind, K.NoneKind) else None


def _block(stmts: Sequence[Any], fn: Function) -> list[Any]:
    new: list[Any] = []
    for stmt in stmts:
        if isinstance(stmt, gast.If) and not core.is_exit(stmt):
            truth = known(stmt.test, fn)
            if truth is None:
                new.append(core.rebuilt(stmt, body=_block(stmt.body, fn), orelse=_block(stmt.orelse, fn)))
            else:
                new.extend(_block(stmt.body if truth else stmt.orelse, fn))
        elif isinstance(stmt, gast.For) and K.is_empty(fn.facts.kinds.get(getattr(stmt.iter, "id", ""), K.UNKNOWN)):
            continue
        elif isinstance(stmt, (gast.For, gast.While, gast.With)):
            new.append(core.rebuilt(stmt, body=_block(stmt.body, fn)))
        elif isinstance(stmt, gast.Assign) and _raises_nothing(stmt, fn):
            new.append(core.rebuilt(stmt, value=core.constant(None)))
        else:
            new.append(stmt)
    return [s for s in new if not isinstance(s, gast.Pass)] or [core.place(gast.Pass(), fn.origin)]


def _raises_nothing(stmt: Any, fn: Function) -> bool:
    """Whether a statement asks what an operation raises, and its kind says that it is nothing."""
    asks = isinstance(stmt.value, gast.Call) and isinstance(stmt.value.func, gast.Name)
    if not asks or fn.scope.lookup(stmt.value.func.id) is not caught:
        return False
    return all(isinstance(fn.facts.kinds.get(name), K.NoneKind) for name in core.writes(stmt))
