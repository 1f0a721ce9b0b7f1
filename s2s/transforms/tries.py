"""`try` -> branches on exceptions as values.

    try:                            error = caught(ValueError, math.log, x)
        y = math.log(x)             if error is None:
        z = y * y           ->          y = math.log(x)
    except ValueError:                  z = y * y
        z = 0.0                     if error is not None:
                                        z = 0.0

Each operation that a handler may have to do with is asked about before it is done; what follows it, and the loops
around it, go on if it raised nothing. So the passes that follow know of no exceptions: the derivative enters the
reversed program where the program left it, as with any branch. The kinds tell which operations cannot raise what is
handled (`raising`): their questions are answered when compiling. An operation asked about must do nothing but compute;
what else a `try` holds sends the function to the tape.

It stands after `inline`: what a helper does is asked about as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import gast
import numpy as np

from s2s import core
from s2s.core import Function
from s2s.errors import NotCompiled
from s2s.runtime import catching
from s2s.transforms.bound import unbound_reads
from s2s.transforms.questions import Classes, Context, Questions, concerns
from s2s.transforms.rulebody import Namer
from s2s.transforms.structure import like, statements
from s2s.transforms.task import Task

Open = Context | None
# Operations, and expressions, on atoms that raise for operands that do not fit one another, at most.
_HARMLESS = (gast.Add, gast.Sub, gast.Mult, gast.UAdd, gast.USub, gast.Not, gast.Compare, gast.Tuple, gast.List)
# Statements, and those that run behind them if no exception was intercepted; None where none can be.
Made = tuple[list[Any], list[Any] | None]


def tries(fn: Function, task: Task) -> Function:
    """`fn` without `try`. Raises NotCompiled where one holds what cannot be asked about."""
    if not any(isinstance(stmt, gast.Try) for stmt in statements(fn.body)):
        return fn
    run = _Tries(fn)
    *body, last = fn.body
    new, _ = run.block(body, None)
    return replace(fn, body=(*new, last), scope=run.namer.scope)


class _Tries:
    def __init__(self, fn: Function) -> None:
        self.fn = fn
        self.namer = Namer(fn)
        self.questions = Questions(fn, self.namer)
        self.unbound = {id(stmt): name for stmt, name in unbound_reads(fn) if not core.is_temporary(name)}

    def block(self, stmts: Sequence[Any], open: Open) -> tuple[list[Any], bool]:
        """The new statements, and whether an exception may have been intercepted in them."""
        new: list[Any] = []
        for position, stmt in enumerate(stmts):
            if open is not None and id(stmt) in self.unbound and concerns(UnboundLocalError, open.classes):
                name = core.stem(self.unbound[id(stmt)])
                reason = f"`{name}` may be unbound where a handler takes the error"
                raise NotCompiled(reason, origin=core.origin_of(stmt))
            visit = getattr(self, f"visit_{type(stmt).__name__}", self.simple)
            made, guarded = visit(stmt, open)
            new += made
            if guarded is not None:
                rest, _ = self.block(stmts[position + 1 :], open)
                return [*new, *self.unless_failed(open, [*guarded, *rest], stmt)], True
        return new, False

    def unless_failed(self, open: Any, block: list[Any], model: Any) -> list[Any]:
        return self.guarded(open, gast.Is(), block, model)

    def if_failed(self, open: Any, block: list[Any], model: Any) -> list[Any]:
        return self.guarded(open, gast.IsNot(), block, model)

    def guarded(self, open: Any, op: Any, block: list[Any], model: Any) -> list[Any]:
        return self.branch(self.compared(open, op), block, [], model) if block else []

    def compared(self, open: Any, op: Any) -> Any:
        """`error is None`, or the opposite."""
        return gast.Compare(core.name(open.error), [op], [core.constant(None)])

    def if_handled(self, open: Context, error: str, then: list[Any], otherwise: list[Any], model: Any) -> list[Any]:
        """A branch on whether an exception is one of those that are intercepted."""
        *before, classes = self.questions.expression(open.classes, model)
        test = core.call(self.namer.bind("isinstance", isinstance), core.name(error), classes)
        return [*before, *self.branch(test, then, otherwise, model)]

    def branch(self, test: Any, then: list[Any], otherwise: list[Any], model: Any) -> list[Any]:
        cond = self.namer.temporary("cond")
        then = then or [like(gast.Pass(), model)]
        return [self.set(cond, test, model), like(gast.If(core.name(cond), then, otherwise), model)]

    def set(self, name: str, value: Any, model: Any) -> Any:
        return like(core.assign(name, value, None), model)

    # --- try

    def visit_Try(self, stmt: Any, open: Open) -> Made:
        outer: Classes = () if open is None else open.classes
        if stmt.finalbody:
            return self.finally_(stmt, open, outer)
        handled = [self.questions.classes(handler) for handler in stmt.handlers]
        inner = self.enter(tuple(dict.fromkeys([*(c for classes in handled for c in classes), *outer])))
        body, fails = self.block(stmt.body, inner)
        new = [self.set(inner.error, core.constant(None), stmt), *body]
        if not fails:
            return new, None
        blocks, passes_on = [], open is not None
        for handler in stmt.handlers:
            block, again = self.block(handler.body, open)
            blocks.append([self.set(handler.name.id, core.name(inner.error), stmt), *block])
            passes_on |= again
        rest = [] if open is None else [self.set(open.error, core.name(inner.error), stmt)]
        chosen = self.choose(inner, handled, blocks, rest, stmt)
        return [*new, *self.if_failed(inner, chosen, stmt)], [] if passes_on else None

    def choose(self, inner: Context, handled: list[Any], blocks: list[Any], rest: list[Any], model: Any) -> list[Any]:
        """The handler of the exception; the last one takes what is left where nobody else intercepts anything."""
        if not blocks:
            return rest
        if len(blocks) == 1 and not rest:
            return list(blocks[0])
        *before, classes = self.questions.expression(handled[0], model)
        test = core.call(self.namer.bind("isinstance", isinstance), core.name(inner.error), classes)
        return [*before, *self.branch(test, blocks[0], self.choose(inner, handled[1:], blocks[1:], rest, model), model)]

    def finally_(self, stmt: Any, open: Open, outer: Classes) -> Made:
        """What only computes need not run where the exception leaves the function."""
        pure = all(map(self.computes, statements(stmt.finalbody)))
        if pure and open is None:
            return self.block(stmt.body, None)[0] + self.block(stmt.finalbody, None)[0], None
        inner = self.enter(outer if pure else (BaseException,))
        body, fails = self.block(stmt.body, inner)
        final, again = self.block(stmt.finalbody, open)
        if again and any(map(_may_jump, statements(stmt.body))):
            # The exception of a `finally` that is handled takes the place of a `return` in its `try`.
            raise NotCompiled("a jump out of `try` whose `finally` may raise", origin=core.origin_of(stmt))
        new = [self.set(inner.error, core.constant(None), stmt), *body, *final]
        if not fails:
            return new, [] if again else None
        raised = like(gast.Raise(core.name(inner.error), None), stmt)
        if open is None:
            return [*new, *self.if_failed(inner, [raised], stmt)], None
        kept = [self.set(open.error, core.name(inner.error), stmt)]
        if not pure:
            kept = self.if_handled(open, inner.error, kept, [raised], stmt)
        passing = self.if_failed(inner, kept, stmt)
        return [*new, *(self.unless_failed(open, passing, stmt) if again else passing)], []

    def enter(self, classes: Classes) -> Context:
        return Context(self.namer.temporary("error"), classes)

    def computes(self, stmt: Any) -> bool:
        """Whether a statement does nothing that is seen when its function is left by an exception.

        It raises none of its own in place of that, but for operands that do not fit one another.
        """
        if isinstance(stmt, gast.Assign):
            if not isinstance(stmt.targets[0], gast.Name):
                return False
            if isinstance(stmt.value, gast.Call):
                return isinstance(self.questions.object(stmt.value.func), np.ufunc) and not stmt.value.keywords
            return core.is_atom(stmt.value) or isinstance(getattr(stmt.value, "op", stmt.value), _HARMLESS)
        if isinstance(stmt, gast.AugAssign):
            return isinstance(stmt.target, gast.Name) and isinstance(stmt.op, _HARMLESS)
        return isinstance(stmt, (gast.If, gast.For, gast.While, gast.Pass))

    # --- what stands in one

    def visit_If(self, stmt: Any, open: Open) -> Made:
        before = self.questions.of_truth(stmt, stmt.test, open)
        body, first = self.block(stmt.body, open)
        orelse, second = self.block(stmt.orelse, open)
        new = core.rebuilt(stmt, body=body or stmt.body, orelse=orelse)
        if before:
            return [*before, *self.unless_failed(open, [new], stmt)], []
        return [new], [] if first or second else None

    def visit_For(self, stmt: Any, open: Open) -> Made:
        if open is None:
            return self.loop(stmt, open)
        before = self.questions.ask(stmt, open, core.name(self.namer.bind("iter", iter)), [stmt.iter])
        return [*before, *self.unless_failed(open, self.loop(stmt, open)[0], stmt)], []

    def visit_While(self, stmt: Any, open: Open) -> Made:
        if open is None or isinstance(stmt.test, gast.Constant):
            return self.loop(stmt, open)
        # while test: body  ->  while True: go = test; stop = not go; if go: body; if stop: break
        go, stop = self.namer.temporary("go"), self.namer.temporary("stop")
        body, leaves = _exit_of(stmt.body)
        again = [
            self.set(go, stmt.test, stmt),
            self.set(stop, gast.UnaryOp(gast.Not(), core.name(go)), stmt),
            like(
                gast.If(core.name(go), [*body, *([] if leaves is None else [self.set(stop, leaves, stmt)])], []), stmt
            ),
            like(gast.If(core.name(stop), [like(gast.Break(), stmt)], []), stmt),
        ]
        return self.loop(core.rebuilt(stmt, test=core.constant(True), body=again), open)

    def loop(self, stmt: Any, open: Open) -> Made:
        """A loop, which an exception leaves."""
        inner, leaves = _exit_of(stmt.body)
        body, fails = self.block(inner, open)
        if not fails:
            return [core.rebuilt(stmt, body=[*body, *stmt.body[len(inner) :]] or stmt.body)], None
        leaving = self.namer.temporary("leaving")
        if leaves is None:
            body.append(self.set(leaving, self.compared(open, gast.IsNot()), stmt))
        else:
            kept, left = self.set(leaving, leaves, stmt), self.set(leaving, core.constant(True), stmt)
            body += self.branch(self.compared(open, gast.Is()), [kept], [left], stmt)
        body.append(like(gast.If(core.name(leaving), [like(gast.Break(), stmt)], []), stmt))
        return [core.rebuilt(stmt, body=body)], []

    def visit_With(self, stmt: Any, open: Open) -> Made:
        body, fails = self.block(stmt.body, open)
        if fails and not all(self.questions.is_setting(item.context_expr) for item in stmt.items):
            raise NotCompiled("`with` in `try` is not compiled yet", origin=core.origin_of(stmt))
        return [core.rebuilt(stmt, body=body or stmt.body)], [] if fails else None

    def visit_Raise(self, stmt: Any, open: Open) -> Made:
        if open is None:
            return [stmt], None
        known = self.questions.raised(stmt)
        if known is not None and not concerns(known, open.classes):
            return [stmt], None
        cause = stmt.cause if stmt.cause is not None else core.constant(None)
        value = core.call(self.namer.bind("raised", catching.raised), stmt.exc, cause)
        new = [self.set(open.error, value, stmt)]
        if known is None or not issubclass(known, open.classes):
            again = like(gast.Raise(core.name(open.error), None), stmt)
            new += self.if_handled(open, open.error, [], [again], stmt)
        return new, []

    def visit_Assert(self, stmt: Any, open: Open) -> Made:
        if open is None or not concerns(AssertionError, open.classes):
            return [stmt], None
        before = self.questions.of_truth(stmt, stmt.test, open)
        args = [] if stmt.msg is None else [stmt.msg]
        error = core.call(self.namer.bind("AssertionError", AssertionError), *args)
        passed = [like(gast.Pass(), stmt)]
        new = like(gast.If(stmt.test, passed, [self.set(open.error, error, stmt)]), stmt)
        return [*before, *(self.unless_failed(open, [new], stmt) if before else [new])], []

    def visit_Delete(self, stmt: Any, open: Open) -> Made:
        if open is not None and not isinstance(stmt.targets[0], gast.Name):
            raise NotCompiled("`del` in `try` is not compiled yet", origin=core.origin_of(stmt))
        return [stmt], None

    def visit_FunctionDef(self, stmt: Any, open: Open) -> Made:
        return [stmt], None

    visit_Pass = visit_Break = visit_FunctionDef

    def simple(self, stmt: Any, open: Open) -> Made:
        """A statement, and before it the question whether it raises."""
        self.questions.note(stmt)
        asked = [] if open is None else self.questions.of(stmt, open)
        return (asked, [stmt]) if asked else ([stmt], None)


def _may_jump(stmt: Any) -> bool:
    """Whether a statement may be a part of a jump: it sets a flag of ours, or stores what is returned."""
    value, names = getattr(stmt, "value", None), core.writes(stmt)
    is_flag = isinstance(value, gast.Constant) and value.value is True
    return any(core.is_temporary(name) and (is_flag or core.stem(name) == "result") for name in names)


def _exit_of(body: list[Any]) -> tuple[list[Any], Any]:
    """The body of a loop without the exit at its end, and the condition on which that is taken; None without one."""
    return (body[:-1], body[-1].test) if core.is_exit(body[-1]) else (body, None)
