"""Blocks with jumps -> blocks without: what stands behind a possible jump moves into the branch that does not jump.

    if c:                      if c:
        return a                   result = a
    rest              ->       else:
                                   rest

Where no single branch is the one that goes on, the jump sets a flag, and the rest is guarded by it:

    if c:                      done = False
        if d:                  if c:
            break                  if d:
        s             ->               done = True
    rest                           else:
                                       s
                               if not done:
                                   rest
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import gast

from s2s import core
from s2s.frontend.lower.flow import JUMPS, LOOPS
from s2s.frontend.lower.lowering import Lowering, lowers

# From here on the rest of a block is guarded statement by statement, in place of being moved into a branch.
_NESTING = 16


def block(low: Lowering, statements: Iterable[Any]) -> None:
    """Lower statements into the current block."""
    pending = list(statements)[::-1]
    while pending:
        stmt = pending.pop()
        rewritten = low.rewritten(stmt)
        if rewritten is not None:
            pending.extend(reversed(rewritten))
            continue
        if isinstance(stmt, LOOPS) and stmt.orelse:
            pending.extend(reversed(_without_else(low, stmt)))
            continue
        flow = low.flow.of(stmt)
        if flow.jumps and flow.falls and pending:
            _jumping(low, stmt, pending[::-1])
            return
        low.statement(stmt)
        if not flow.falls:
            return


def _without_else(low: Lowering, node: Any) -> list[Any]:
    """The statements that a loop and its `else` amount to: `else` runs unless the loop was left by `break`."""
    origin = core.origin_of(node) or low.origins(node)
    loop = core.place(core.rebuilt(node, orelse=[]), origin)
    if gast.Break not in low.flow.block(node.body).jumps:
        return [loop, *node.orelse]
    loop.exit = low.temporary("done")
    test = gast.UnaryOp(gast.Not(), core.name(loop.exit))
    return [loop, core.place(gast.If(test, node.orelse, []), origin)]


def _jumping(low: Lowering, stmt: Any, rest: list[Any]) -> None:
    """A statement that may jump, or go on to the rest of its block."""
    nested = len(low.blocks) < _NESTING
    if isinstance(stmt, gast.If) and nested:
        if not low.flow.block(stmt.body).falls:
            low.statement(_derived(low, stmt, gast.If(stmt.test, stmt.body, [*stmt.orelse, *rest])))
            return
        if not low.flow.block(stmt.orelse).falls:
            low.statement(_derived(low, stmt, gast.If(stmt.test, [*stmt.body, *rest], stmt.orelse)))
            return
    if nested:
        flag = _flag(low, low.flow.of(stmt).jumps)
        with low.watching(flag):
            low.statement(stmt)
        low.statement(_derived(low, stmt, _guard(flag, rest)))
        return
    flag = _flag(low, frozenset[type]().union(*(low.flow.of(s).jumps for s in [stmt, *rest])))
    with low.watching(flag):
        low.statement(stmt)
        for chunk in _chunks(low, rest):
            low.statement(_derived(low, chunk[0], _guard(flag, chunk)))


def _chunks(low: Lowering, statements: list[Any]) -> Iterator[list[Any]]:
    """Statements in runs that end with one that may jump."""
    chunk: list[Any] = []
    for stmt in statements:
        chunk.append(stmt)
        if low.flow.of(stmt).jumps:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _guard(flag: str, statements: list[Any]) -> gast.If:
    return gast.If(gast.UnaryOp(gast.Not(), core.name(flag)), statements, [])


def _derived(low: Lowering, stmt: Any, new: Any) -> Any:
    """A statement that stands for one of the user's."""
    return core.place(new, core.origin_of(stmt) or low.origins(stmt))


def _flag(low: Lowering, jumps: frozenset[type]) -> str:
    """The flag that tells whether a jump of these kinds was taken."""
    if not low.loops:
        return low.returned_flag()
    loop = low.loops[-1]
    if gast.Continue in jumps or loop.exit is None:
        loop.skip = loop.skip or low.temporary("skip")
        return loop.skip
    return loop.exit


@lowers(gast.If)
def branch(low: Lowering, node: Any) -> None:
    falls = low.flow.block(node.body).falls, low.flow.block(node.orelse).falls
    low.branch(low.atom(node.test, "cond"), lambda: block(low, node.body), lambda: block(low, node.orelse), falls=falls)


@lowers(*JUMPS)
def jump(low: Lowering, node: Any) -> None:
    loops = low.loops
    if isinstance(node, gast.Return):
        low.store(low.result_name(), node.value or core.constant(None))
        low.set_flags([*(flag for loop in reversed(loops) for flag in (loop.exit, loop.skip)), low.returned])
    elif isinstance(node, gast.Break):
        low.set_flags([loops[-1].exit, loops[-1].skip])
    else:
        low.set_flags([loops[-1].skip])
