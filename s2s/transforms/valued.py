"""A derivative is of a value: on the paths where a function returns None instead of its value, it raises.

A loop that returns what it finds ends without a value on a path that no caller means to take. To differentiation this
path gives no result of another kind, but an error, as it does on the tape.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import gast

from s2s import core
from s2s.core import Function
from s2s.errors import no_value
from s2s.transforms.rulebody import Namer
from s2s.transforms.structure import statements, with_blocks
from s2s.transforms.task import Task


def valued(fn: Function, task: Task) -> Function:
    """`fn`, which raises ArgumentError in place of its returns of None, if it has others.

    What compiled code calls (`task.result`) may return None.
    """
    returned = fn.body[-1].value
    if task.result is not None or not isinstance(returned, gast.Name) or not core.is_temporary(returned.id):
        return fn
    namer = Namer(fn)
    nones = [stmt for stmt in statements(fn.body) if _gives_none(stmt, returned.id)]
    if not nones:
        return fn

    def block(_: str, stmts: Sequence[Any]) -> list[Any]:
        new: list[Any] = []
        for stmt in stmts:
            if _gives_none(stmt, returned.id):
                return [*new, *_failure(fn, namer, core.origin_of(stmt))]
            new.append(with_blocks(stmt, block))
        return new

    return replace(fn, body=tuple(block("body", fn.body)), scope=namer.scope)


def _gives_none(stmt: Any, returned: str) -> bool:
    is_none = isinstance(stmt, gast.Assign) and isinstance(stmt.value, gast.Constant) and stmt.value.value is None
    return is_none and returned in core.writes(stmt)


def _failure(fn: Function, namer: Namer, origin: Any) -> list[Any]:
    """What raises; the names are bound in the scope of the function."""
    error = namer.temporary("error")
    call = core.call(namer.bind("no_value", no_value), core.constant(fn.origin.function if fn.origin else fn.name))
    return [core.assign(error, call, origin), core.place(gast.Raise(core.name(error), None), origin)]
