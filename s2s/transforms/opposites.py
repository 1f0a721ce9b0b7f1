"""Two branches in turn, on a condition and on its opposite, are one branch.

    a = error is None                       a = error is None
    if a:                                   if a:
        y = f(x)                                y = f(x)
        error2 = None                           error2 = None
    else:                         ->        else:
        error2 = error                          error2 = error
    b = error2 is not None                      y = x
    if b:
        y = x

So a name that both assign is never without a value. Names have one definition here, or are assigned by copies alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gast

from s2s import core
from s2s.core import Function
from s2s.transforms.structure import copied, duplicate, reads_of, statements, with_blocks
from s2s.transforms.task import Task


def opposites(fn: Function, task: Task) -> Function:
    """`fn`, in which branches on `x is None` and on `x is not None` that stand together are one."""
    tests = {name: test for stmt in statements(fn.body) if (test := _tested(stmt)) for name in core.writes(stmt)}
    return fn.with_body(_block(fn.body, tests, reads_of(fn))) if tests else fn


def _tested(stmt: Any) -> tuple[str, bool] | None:
    """The name of which a statement asks whether it is None, and whether it asks for the opposite."""
    value = stmt.value if isinstance(stmt, gast.Assign) else None
    if not isinstance(value, gast.Compare) or not isinstance(value.ops[0], (gast.Is, gast.IsNot)):
        return None
    (right,) = value.comparators
    is_none = isinstance(right, gast.Constant) and right.value is None
    if not is_none or not isinstance(value.left, gast.Name) or not isinstance(stmt.targets[0], gast.Name):
        return None
    return value.left.id, isinstance(value.ops[0], gast.IsNot)


def _block(stmts: Sequence[Any], tests: dict[str, Any], reads: Any) -> list[Any]:
    new: list[Any] = []
    for stmt in stmts:
        joined = _joined(new, stmt, tests, reads)
        if joined is None:
            new.append(stmt)
        else:
            position, one = joined
            new[position:] = [one]
    return [with_blocks(s, lambda _, inner: _block(inner, tests, reads)) for s in new]


def _joined(stmts: list[Any], stmt: Any, tests: dict[str, Any], reads: Any) -> tuple[int, Any] | None:
    """The branch that a branch and one before it amount to, and where it stands; None for any other statement."""
    asked = tests.get(getattr(stmt.test, "id", "")) if _is_branch(stmt) else None
    if asked is None or not asked[1] or reads[stmt.test.id] > 1:
        return None
    between: list[Any] = []
    for position in range(len(stmts) - 1, -1, -1):
        before = stmts[position]
        if _is_branch(before):
            test = tests.get(getattr(before.test, "id", ""))
            if test is None or test[1] or not _is_opposite(test[0], asked[0], before, between):
                return None
            then = [*before.body, *duplicate(between), *stmt.orelse]
            return position, core.rebuilt(before, body=then, orelse=[*before.orelse, *between, *stmt.body])
        if copied(before) is not None:
            between.insert(0, before)
        elif core.writes(before) != [stmt.test.id]:
            return None
    return None


def _is_branch(stmt: Any) -> bool:
    return isinstance(stmt, gast.If) and not core.is_exit(stmt)


def _is_opposite(first: str, second: str, branch: Any, between: list[Any]) -> bool:
    """Whether a second name is None behind a branch just where the first one, on which it branches, is None."""
    then, otherwise = (_value(second, [*block, *between]) for block in (branch.body, branch.orelse))
    return (then is None or then == first) and otherwise == first


def _value(name: str, stmts: list[Any]) -> str | None:
    """The name of which a name is a copy behind some statements, itself if of none; None if it is None."""
    for stmt in reversed(stmts):
        if name in core.all_writes(stmt):
            copy = copied(stmt)
            if copy is None:
                return name
            if isinstance(copy[1], gast.Constant):
                return None if copy[1].value is None else name
            name = copy[1].id
    return name
