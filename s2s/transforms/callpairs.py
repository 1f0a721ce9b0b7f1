"""Active calls of user functions that are not inlined become calls of their forward sweeps.

    y = f(a, n)             y, residuals = f_fwd(a, n)          forward sweep
                            a_bar += f_bwd(residuals, y_bar)    reverse sweep

The residuals are a name of the program like any other: in a loop they are pushed and popped. What the reverse sweep
does with them stands in `facts.calls`. The sweeps are reached by cells, which may be filled later: a function that
calls itself is not compiled yet when its body is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import gast

from s2s import core
from s2s import kinds as K
from s2s.core import Function, PairCall
from s2s.transforms.operations import Operations
from s2s.transforms.rulebody import Namer
from s2s.transforms.structure import assigned, with_blocks
from s2s.transforms.task import Task
from s2s.transforms.usercalls import Callee, user_callee


def callpairs(fn: Function, task: Task) -> Function:
    """`fn` with forward sweeps in the place of functions whose result carries a derivative."""
    run = _CallPairs(fn, task)
    body = tuple(run.block(fn.body))
    return replace(fn, body=body, scope=run.namer.scope).with_facts(calls=run.calls)


class _CallPairs:
    def __init__(self, fn: Function, task: Task) -> None:
        self.fn = fn
        self.program = task.program
        self.namer = Namer(fn)
        self.operations = Operations(fn)
        self.calls: dict[str, PairCall] = {}

    def block(self, stmts: Sequence[Any]) -> list[Any]:
        return [self.statement(stmt) for stmt in stmts]

    def statement(self, stmt: Any) -> Any:
        found = active_call(stmt, self.fn, self.operations)
        if found is None and isinstance(getattr(stmt, "value", None), gast.Call):
            return self.inactive(stmt)
        if found is None:
            return with_blocks(stmt, lambda _, block: self.block(block))
        callee, active = found
        y, args = stmt.targets[0].id, stmt.value.args
        pair = self.program.pair(callee, [self.operations.kind(a) for a in args], active)
        residuals = self.namer.temporary(f"{callee.name}_residuals")
        backward = self.namer.cell(f"{callee.name}_bwd", pair.backward)
        operands = tuple(a.id for p, a in zip(callee.params, args) if p in active)
        self.calls[y] = PairCall(pair, backward, residuals, operands)
        target = gast.Tuple([core.name(y, gast.Store), core.name(residuals, gast.Store)], gast.Store())
        forward = self.namer.cell(f"{callee.name}_fwd", pair.forward)
        return core.rebuilt(stmt, targets=[target], value=core.call(forward, *args))

    def inactive(self, stmt: Any) -> Any:
        """A call that carries no derivative: one that is recorded by itself must return what it is taken to return."""
        callee = user_callee(self.operations.function(stmt.value), stmt.value)
        if callee is None or not callee.recorded:
            return stmt
        cell = self.program.checked(callee, [self.operations.kind(a) for a in stmt.value.args])
        called = core.name(self.namer.cell(f"{callee.name}_checked", cell))
        return core.rebuilt(stmt, value=core.rebuilt(stmt.value, func=called))


def active_call(stmt: Any, fn: Function, operations: Operations) -> tuple[Callee, list[str]] | None:
    """The function that a statement calls, and the parameters by which it is differentiated; None for others."""
    name = assigned(stmt)
    if name is None or name not in fn.facts.active or not isinstance(stmt.value, gast.Call):
        return None
    callee = user_callee(operations.function(stmt.value), stmt.value)
    if callee is None:
        return None
    return callee, [
        p
        for p, a in zip(callee.params, stmt.value.args)
        if isinstance(a, gast.Name) and a.id in fn.facts.active and K.differentiable(operations.kind(a))
    ]
