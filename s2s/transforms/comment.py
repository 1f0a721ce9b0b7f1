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
    if task.mode != "vjp":  # where each sweep is a function of its own
        banners[first] = "reverse"
    for at, banner in banners.items():
        body[at] = commented(body[at], banner)
    return fn.with_body(body)


class _Quotes:
    """Quotes each original statement above the first of the statements made from it."""

    def __init__(self) -> None:
        self.quoted: Any = None

    def block(self, block: Iterable[Any]) -> list[Any]:
        new: list[Any] = []
        restored = 0
        for stmt in block:
            quote = self.quote(stmt)
            if quote is not None and restored:
                # What is restored for a statement belongs to it.
                new[-restored] = commented(new[-restored], quote)
            elif quote is not None:
                stmt = commented(stmt, quote)
            new.append(with_blocks(stmt, lambda _, inner: self.block(inner)))
            restored = restored + 1 if _restores(stmt) else 0
        return new

    def quote(self, stmt: Any) -> str | None:
        """The text to write above a statement, if it is not there already."""
        origin = core.origin_of(stmt)
        if not is_reverse(stmt) or origin is None or _restores(stmt) or isinstance(stmt, gast.Return):
            return None
        known, self.quoted = self.quoted, origin
        new = origin != known and not core.blocks(stmt) and not _UNQUOTED.match(origin.text)
        return origin.text if new else None


def commented(stmt: Any, *lines: str) -> Any:
    """The statement with lines of comment above those that it has."""
    return core.place(core.rebuilt(stmt), core.origin_of(stmt), [*lines, *getattr(stmt, "comment", ())])


def _restores(stmt: Any) -> bool:
    """Whether a statement of the reverse sweep takes a value from a tape."""
    value = getattr(stmt, "value", None) if is_reverse(stmt) else None
    return isinstance(value, gast.Call) and isinstance(value.func, gast.Attribute) and value.func.attr == "pop"
