"""Text that is made of active values, and numbers that are made of such text.

`print(f"loss {x}")` is as it should be. `float(f"{x}")` is a number that depends on x by a way on which no derivative
can be followed: where the result depends on such a number, the program is refused, at the line that makes it. A
decision (`"nan" in text`, `len(text)`) is one about the value, as a comparison is. An exception holds what it was made
with: what is taken out of it may be text, or the value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from typing import Any

import gast

from s2s import core, rules
from s2s import kinds as K
from s2s.core import Function, Origin
from s2s.errors import NotCompiled, S2SError, UnsupportedSyntaxError
from s2s.kinds import Kind
from s2s.runtime.catching import caught
from s2s.runtime.written import HINT, MADE_OF_TEXT
from s2s.transforms.operations import Operations
from s2s.transforms.usercalls import user_callee

# Functions of text, and of containers of text, whose result says where something stands, how much there is of it, or
# what it is; and those that make text of it.
_DECIDING = {
    len, str.find, str.rfind, str.index, str.rindex, str.count, list.index, list.count, tuple.index, tuple.count,
    isinstance, type, bool, hasattr, caught,
}  # fmt: skip
_WRITING = {str, repr, ascii, format, print}


def is_text(kind: Kind) -> bool:
    """Whether a value is surely text, or an array of it."""
    dtype = kind.dtype if isinstance(kind, (K.Scalar, K.Array)) else None
    return isinstance(kind, K.Str) or (dtype is not None and dtype.kind in "US")


def holds_text(kind: Kind) -> bool:
    """Whether a value may be text, or hold some."""
    inner = (kind.item,) if isinstance(kind, K.Iterator) else K.children(kind)
    if inner is not None:
        return any(map(holds_text, inner))
    return isinstance(kind, (K.Unknown, K.Object)) or is_text(kind)


def numbers_of_text(fn: Function, operations: Operations, varied: Set[str]) -> dict[str, S2SError]:
    """The names of numbers that are made of text that is made of varied values, each with the error that it is."""
    found = {n for n, kind in fn.facts.kinds.items() if holds_text(kind)}
    if not found:
        return {}
    run = _Texts(fn, operations, varied)
    size = -1
    while size != len(run.texts) + len(run.numbers):
        size = len(run.texts) + len(run.numbers)
        run.block(fn.body)
    return run.numbers


class _Texts:
    def __init__(self, fn: Function, operations: Operations, varied: Set[str]) -> None:
        self.operations = operations
        self.varied = varied
        self.texts: set[str] = set()
        self.numbers: dict[str, S2SError] = {}

    def block(self, stmts: Sequence[Any]) -> None:
        for stmt in stmts:
            if isinstance(stmt, gast.Assign):
                self.assign(stmt)
            elif isinstance(stmt, gast.For) and core.reads(stmt.iter) & self.texts:
                self.add([stmt.target.id], holds_text)
            elif isinstance(stmt, gast.Expr):
                self.written_to(stmt.value)
            for _, block in core.blocks(stmt):
                self.block(block)

    def assign(self, stmt: Any) -> None:
        read, names = core.reads(stmt.value), core.writes(stmt)
        if read & self.texts:
            self.written_to(stmt.value)
            self.add(names, holds_text)
            if self.makes(stmt.value):
                self.note_numbers(names, stmt)
        elif read & self.varied:
            may = self.varied.isdisjoint(names) and not self.has_rule(stmt.value)
            self.add(names, lambda kind: is_text(kind) or (may and holds_text(kind)))

    def has_rule(self, node: Any) -> bool:
        """Whether an expression calls a function with a rule, whose result is no text but by its kind."""
        return isinstance(node, gast.Call) and rules.find(self.operations.function(node)) is not None

    def add(self, names: Sequence[str], chosen: Callable[[Kind], bool]) -> None:
        self.texts.update(n for n in names if chosen(self.operations.kind(core.name(n))))

    def written_to(self, node: Any) -> None:
        """An object of the function's own that text is given to (`file.write(text)`) may give it back."""
        if isinstance(node, gast.Call) and core.reads(node) & self.texts:
            owners = (core.reads(node) & self.operations.local) - self.varied
            self.add([*owners], lambda kind: isinstance(kind, K.Unknown))

    def makes(self, node: Any) -> bool:
        """Whether an expression is more than a choice or a display of what there is."""
        if isinstance(node, gast.Call):
            return self.operations.function(node) not in _DECIDING | _WRITING
        return isinstance(node, (gast.BinOp, gast.UnaryOp))

    def note_numbers(self, names: Sequence[str], stmt: Any) -> None:
        read = core.reads(stmt.value) & self.texts
        for name in names:
            kind = self.operations.kind(core.name(name))
            dtype = K.dtype_of(kind)
            if isinstance(kind, K.Unknown) or (dtype is not None and dtype.kind in "iufc"):
                sure = all(K.is_known(self.operations.kind(core.name(n))) for n in (name, *read))
                self.numbers.setdefault(name, self.error(stmt, sure))

    def error(self, stmt: Any, sure: bool) -> S2SError:
        origin: Origin | None = core.origin_of(stmt)
        calls = user_callee(self.operations.function(stmt.value), stmt.value) is not None
        if sure and not calls:
            return UnsupportedSyntaxError(MADE_OF_TEXT, origin=origin, hint=HINT)
        return NotCompiled("text that is made of active values enters what may make a number of it", origin=origin)
