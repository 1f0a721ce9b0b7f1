"""Where lowered statements go: a stack of open blocks, fresh temporaries, and the flags that stand for jumps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import gast

from s2s import core, errors

# Python's own parser takes a hundred levels of indentation.
_DEEPEST = 90


@dataclass(slots=True)
class Block:
    """Statements, and the names that are certainly bound behind them."""

    statements: list[Any] = field(default_factory=list)
    bound: set[str] = field(default_factory=set)

    def body(self) -> list[Any]:
        """The statements, where at least one must stand."""
        return self.statements or [core.place(gast.Pass(), None)]


class Emitter:
    """Adds Core statements to the innermost open block. Every statement gets the origin that is current."""

    def __init__(self, origin: core.Origin) -> None:
        self.origin = origin
        self.blocks = [Block()]
        self.watched: set[str] = set()
        self._temporaries = 0

    @property
    def block(self) -> Block:
        return self.blocks[-1]

    def temporary(self, hint: str) -> str:
        self._temporaries += 1
        return core.temporary(hint, self._temporaries)

    def emit(self, stmt: Any) -> None:
        self.block.statements.append(core.place(stmt, self.origin))

    def assign(self, name: str, value: Any) -> None:
        """Bind a name to a Core expression."""
        self.emit(core.assign(name, value, None))
        self.block.bound.add(name)

    def is_bound(self, name: str) -> bool:
        """Whether a name is bound here on every way."""
        return any(name in block.bound for block in reversed(self.blocks))

    @contextmanager
    def at(self, origin: core.Origin) -> Iterator[None]:
        before, self.origin = self.origin, origin
        try:
            yield
        finally:
            self.origin = before

    @contextmanager
    def nested(self) -> Iterator[Block]:
        """Open a block inside the current one."""
        if len(self.blocks) > _DEEPEST:
            raise errors.NotCompiled(f"blocks are nested more than {_DEEPEST} deep", origin=self.origin)
        block = Block()
        self.blocks.append(block)
        try:
            yield block
        finally:
            self.blocks.pop()

    def branch(
        self,
        test: Any,
        then: Callable[[], None],
        otherwise: Callable[[], None] | None = None,
        *,
        falls: tuple[bool, bool] = (True, True),
    ) -> None:
        """Emit an `if` on an atom, whose blocks the two functions fill.

        falls: whether execution may go on behind the first and the second block.
        """
        with self.nested() as body:
            then()
        with self.nested() as orelse:
            if otherwise is not None:
                otherwise()
        if body.statements or not orelse.statements:
            self.emit(gast.If(test, body.body(), orelse.statements))
        else:
            self.emit(gast.If(self.negated(test), orelse.statements, []))
        going_on = [block.bound for block, goes in zip((body, orelse), falls) if goes]
        if going_on:
            self.block.bound |= set.intersection(*going_on)

    def negated(self, test: Any) -> gast.expr:
        cond = self.temporary("cond")
        self.assign(cond, gast.UnaryOp(gast.Not(), test))
        return core.name(cond)

    # --- flags: what stands for a jump that what follows has to know of

    @contextmanager
    def watching(self, flag: str) -> Iterator[None]:
        """While this is open, a jump that concerns the flag sets it; before, it is False."""
        if flag in self.watched:
            yield
            return
        self.assign(flag, core.constant(False))
        self.watched.add(flag)
        try:
            yield
        finally:
            self.watched.discard(flag)

    def set_flags(self, flags: list[str | None]) -> None:
        for flag in dict.fromkeys(flags):
            if flag in self.watched:
                self.assign(flag, core.constant(True))
