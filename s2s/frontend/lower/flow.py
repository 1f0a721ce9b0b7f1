"""Where execution can go from a statement: behind it, or away by `break`, `continue` or `return`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import gast

JUMPS = (gast.Break, gast.Continue, gast.Return)
LOOPS = (gast.For, gast.While)


@dataclass(frozen=True, slots=True)
class Flow:
    """How a statement, or a block, may be left.

    jumps: the kinds of jump (`gast.Break`, ...) that may lead out of it.
    falls: whether execution may reach what stands behind it.
    """

    jumps: frozenset[type] = frozenset()
    falls: bool = True


class FlowAnalysis:
    """The flow of statements, found once for each.

    swallows: whether a `with` may go on behind its body after an exception.
    rewritten: the statements to which one amounts, or None.
    """

    def __init__(self, swallows: Callable[[Any], bool], rewritten: Callable[[Any], list[Any] | None]) -> None:
        self.swallows = swallows
        self.rewritten = rewritten
        self._known: dict[int, tuple[Any, Flow]] = {}  # the node is held, so that its id stays its own

    def of(self, stmt: Any) -> Flow:
        known = self._known.get(id(stmt))
        if known is None:
            known = self._known[id(stmt)] = stmt, self._find(stmt)
        return known[1]

    def block(self, statements: Iterable[Any]) -> Flow:
        jumps: frozenset[type] = frozenset()
        for stmt in statements:
            flow = self.of(stmt)
            jumps |= flow.jumps
            if not flow.falls:
                return Flow(jumps, falls=False)
        return Flow(jumps)

    def _find(self, stmt: Any) -> Flow:
        rewritten = self.rewritten(stmt)
        if rewritten is not None:
            return self.block(rewritten)
        if isinstance(stmt, JUMPS):
            return Flow(frozenset([type(stmt)]), falls=False)
        if isinstance(stmt, gast.Raise):
            return Flow(falls=False)
        if isinstance(stmt, gast.If):
            then, otherwise = self.block(stmt.body), self.block(stmt.orelse)
            return Flow(then.jumps | otherwise.jumps, then.falls or otherwise.falls)
        if isinstance(stmt, LOOPS):
            return self._loop(stmt)
        if isinstance(stmt, gast.With):
            body = self.block(stmt.body)
            return Flow(body.jumps, body.falls or self.swallows(stmt))
        if isinstance(stmt, gast.Try):
            return self._try(stmt)
        return Flow()

    def _try(self, stmt: Any) -> Flow:
        """Of a `try` with handlers or with `finally`: the body may fail at once, so that each handler may run."""
        body, final = self.block(stmt.body), self.block(stmt.finalbody)
        handlers = [self.block(handler.body) for handler in stmt.handlers]
        jumps = body.jumps.union(final.jumps, *(flow.jumps for flow in handlers))
        return Flow(jumps, final.falls and (body.falls or any(flow.falls for flow in handlers)))

    def _loop(self, stmt: Any) -> Flow:
        body = self.block(stmt.body)
        breaks = gast.Break in body.jumps
        returns = body.jumps & {gast.Return}
        if is_endless(stmt):
            return Flow(returns, falls=breaks)
        otherwise = self.block(stmt.orelse)
        return Flow(returns | otherwise.jumps, breaks or otherwise.falls)


def is_endless(stmt: Any) -> bool:
    return isinstance(stmt, gast.While) and isinstance(stmt.test, gast.Constant) and bool(stmt.test.value)
