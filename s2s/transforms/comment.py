"""Comments: where each sweep begins, and in the reverse sweep the user's statement that is differentiated."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import gast

from s2s import core
from s2s.core import Function
from s2s.transforms.structure import is_reverse, statements, with_blocks
from s2s.transforms.task import Task

# The header of a block stands in the output itself; `return x` says nothing.
_UNQUOTED = re.compile(r"(for|while|if|elif|else|with|try|except|finally|async|def)\b|return( \w+)?$")


def comment(fn: Function, task: Task) -> Function:
    """`fn` with a banner above each sweep and a quote above the adjoint of each statement."""
    if not any(is_reverse(s) for s in statements(fn.body)):
        return fn
    body = _Quotes().block(fn.body)
    banners = {}
    first = next(i for i, s in enumerate(body) if any(is_reverse(inner) for inner in statements([s])))
    if first > 0:
        banners[0] = "forward"
    banners[first] = "reverse"
    for at, banner in banners.items():
        stmt = core.rebuilt(body[at])
        body[at] = core.place(stmt, core.origin_of(stmt), [banner, *getattr(stmt, "comment", ())])
    return fn.with_body(body)


class _Quotes:
    """Quotes each original statement above the first of the statements made from it."""

    def __init__(self) -> None:
        self.quoted: Any = None

    def block(self, block: Iterable[Any]) -> list[Any]:
        return [self.statement(s) for s in block]

    def statement(self, stmt: Any) -> Any:
        origin = core.origin_of(stmt)
        if is_reverse(stmt) and origin is not None and not _restores(stmt) and not isinstance(stmt, gast.Return):
            if origin != self.quoted and not core.blocks(stmt) and not _UNQUOTED.match(origin.text):
                stmt = core.place(core.rebuilt(stmt), origin, [origin.text])
            self.quoted = origin
        return with_blocks(stmt, lambda _, inner: self.block(inner))


def _restores(stmt: Any) -> bool:
    """Whether a statement takes a value from a tape, which any adjoint may be the first to need."""
    value = getattr(stmt, "value", None)
    return isinstance(value, gast.Call) and isinstance(value.func, gast.Attribute) and value.func.attr == "pop"
