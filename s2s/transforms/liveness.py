"""Which names are live: may be read before they are assigned again.

Structured code needs no iteration. A block is summarised by the names that it reads before it assigns them (`gen`) and
those that it surely assigns (`kill`); a loop's head then sees what the body exposes and what is live after the loop.
Sets of names are the bits of one integer, so that a step costs next to nothing in a function of thousands of lines.

Within `try` and `with`, any statement may be left by an exception that is caught: nothing is killed there. Names in
the cells of closures are always live.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import gast

from s2s.core import Function
from s2s.transforms.structure import COMPOUND, blocks, captured, defs, uses, with_blocks


class Inner(NamedTuple):
    """A nested block, and the names that are live at its end. `protected`: exceptions in it may be caught."""

    field: str
    block: Sequence[Any]
    out: int
    protected: bool


class Summary(NamedTuple):
    gen: int
    kill: int
    mentioned: int


class Liveness:
    """Liveness of one function. Passes walk its blocks from the end and ask for the state before each statement.

    earlier: of a function with mostly the same statements, what is known of them.
    swallowing: whether a `with` may catch exceptions; where `mutation` has seen that none does, its body is a plain
        block.
    """

    def __init__(self, fn: Function, earlier: Liveness | None = None, *, swallowing: bool = True) -> None:
        self.catching = (gast.Try, gast.With) if swallowing else (gast.Try,)
        self.bits: dict[str, int] = earlier.bits if earlier else {}
        self.summaries: dict[Any, Summary] = earlier.summaries if earlier else {}
        self.always = self.mask(captured(fn))

    def bit(self, name: str) -> int:
        bits = self.bits
        if name not in bits:
            bits[name] = 1 << len(bits)
        return bits[name]

    def mask(self, names: Iterable[str]) -> int:
        mask, bits = 0, self.bits
        for name in names:
            if name not in bits:
                bits[name] = 1 << len(bits)
            mask |= bits[name]
        return mask

    def summary(self, stmt: Any) -> Summary:
        """What a statement does, nested blocks included."""
        known = self.summaries
        if stmt not in known:
            known[stmt] = self._summary(stmt)
        return known[stmt]

    def _summary(self, stmt: Any) -> Summary:
        gen, kill = self.mask(uses(stmt)), self.mask(defs(stmt))
        if type(stmt) not in COMPOUND:
            return Summary(gen, kill, gen | kill)
        inner = [self.block_summary(block) for _, block in blocks(stmt)]
        mentioned = gen | kill
        for part in inner:
            mentioned |= part.mentioned
        if isinstance(stmt, gast.If):
            if stmt.orelse:
                return Summary(gen | inner[0].gen | inner[1].gen, inner[0].kill & inner[1].kill, mentioned)
            return Summary(gen | inner[0].gen, 0, mentioned)
        if isinstance(stmt, gast.With) and not isinstance(stmt, self.catching):
            return Summary(gen | inner[0].gen & ~kill, kill | inner[0].kill, mentioned)
        # A loop may run no trip, and a caught exception may cut a block short: nothing is surely assigned.
        for part in inner:
            gen |= part.gen if isinstance(stmt, gast.Try) else part.gen & ~kill
        return Summary(gen, 0, mentioned)

    def block_summary(self, block: Iterable[Any]) -> Summary:
        gen = kill = mentioned = 0
        known = self.summaries
        for stmt in block:
            part = known[stmt] if stmt in known else self.summary(stmt)
            gen |= part.gen & ~kill
            kill |= part.kill
            mentioned |= part.mentioned
        return Summary(gen, kill, mentioned)

    def before(self, stmt: Any, after: int, protected: bool = False) -> int:
        """The names that are live before a statement, given those that are live after it."""
        gen, kill, _ = self.summary(stmt)
        return gen | self.always | (after if protected else after & ~kill)

    def block_before(self, block: Sequence[Any], out: int, protected: bool = False) -> int:
        for stmt in reversed(block):
            out = self.before(stmt, out, protected)
        return out

    def afters(self, block: Sequence[Any], out: int, protected: bool = False) -> list[int]:
        """For each statement of a block, the names that are live after it."""
        lives, known = [], self.summaries
        for stmt in reversed(block):
            lives.append(out)
            gen, kill, _ = known[stmt] if stmt in known else self.summary(stmt)
            out = gen | self.always | (out if protected else out & ~kill)
        return lives[::-1]

    def inner(self, stmt: Any, after: int, protected: bool = False) -> Iterator[Inner]:
        """The nested blocks of a statement, with what is live at their ends."""
        out = after
        if isinstance(stmt, (gast.For, gast.While)):
            out |= self.summary(stmt).gen
            if isinstance(stmt, gast.For):
                # The iterable is evaluated once, before the loop: it does not make its names live within.
                out = after | (self.block_summary(stmt.body).gen & ~self.mask(defs(stmt)))
        elif isinstance(stmt, gast.Try):
            out |= self.summary(stmt).gen
        caught = protected or isinstance(stmt, self.catching)
        for field, block in blocks(stmt):
            yield Inner(field, block, out, caught)

    def with_inner(
        self, stmt: Any, after: int, protected: bool, change: Callable[[Sequence[Any], int, bool], list[Any]]
    ) -> Any:
        """The statement with its blocks replaced by `change(block, live at its end, protected)`."""
        if type(stmt) not in COMPOUND:
            return stmt
        found = {inner.field: inner for inner in self.inner(stmt, after, protected)}
        return with_blocks(stmt, lambda field, block: change(block, found[field].out, found[field].protected))

    def at_definition(self, stmt: Any, after: int, protected: bool = False) -> int:
        """The names that are live right after a statement binds its own: for a loop or `with`, as its body starts."""
        if isinstance(stmt, (gast.For, gast.With)):
            (body,) = self.inner(stmt, after, protected)
            return self.block_before(body.block, body.out, body.protected)
        return after
