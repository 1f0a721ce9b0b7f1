"""Statements that are there for their effect: expressions, `assert`, `raise`, `with`, `pass`, `global`."""

from __future__ import annotations

from typing import Any

import gast

from s2s import core
from s2s.frontend.lower.assignments import assign_to
from s2s.frontend.lower.blocks import block
from s2s.frontend.lower.generator_functions import Running, give, go_through, managed
from s2s.frontend.lower.lowering import Lowering, lowers
from s2s.runtime.catching import raised


@lowers(gast.Expr)
def expression(low: Lowering, node: Any) -> None:
    if isinstance(node.value, gast.Yield) and low.yielding:
        give(low, node.value)
        return
    value = low.value(node.value)
    if not isinstance(value, gast.Constant) and not (isinstance(value, gast.Name) and low.is_certain(value.id)):
        low.emit(gast.Expr(value))


@lowers(gast.Pass)
def nothing(low: Lowering, node: Any) -> None:
    pass


@lowers(gast.Global, gast.Nonlocal)
def declaration(low: Lowering, node: Any) -> None:
    """What these names mean is known already; an assignment to one is refused where it stands."""


@lowers(gast.Assert)
def assertion(low: Lowering, node: Any) -> None:
    """The message is evaluated when the test has failed. Under `python -O` nothing is, as ever."""
    if not __debug__:
        return
    test = low.atom(node.test, "cond")
    if node.msg is None or core.is_atom(node.msg):
        message = None if node.msg is None else low.atom(node.msg)
        low.emit(gast.Assert(test, message))
        return

    def fail() -> None:
        low.emit(gast.Assert(core.constant(False), low.atom(node.msg, "message")))

    low.branch(low.negated(test), fail)


@lowers(gast.Raise)
def raising(low: Lowering, node: Any) -> None:
    """In a handler, the exception that is handled is named: it is raised again, or the context of another one."""
    if not low.handled:
        operands = low.operands([part for part in (node.exc, node.cause) if part is not None])
        low.emit(gast.Raise(*operands, *[None] * (2 - len(operands))))
    elif node.exc is None:
        low.emit(gast.Raise(core.name(low.handled[-1]), None))
    else:
        error, cause = low.operands([node.exc, node.cause or core.constant(None)])
        made = core.call(low.bind("raised", raised), error, cause, low.handled[-1])
        low.emit(gast.Raise(low.as_atom(made, "error"), core.constant(None) if _is_none(node.cause) else None))


def _is_none(node: Any) -> bool:
    return isinstance(node, gast.Constant) and node.value is None


@lowers(gast.With)
def with_block(low: Lowering, node: Any) -> None:
    _enter(low, node, list(node.items))


def _enter(low: Lowering, node: Any, items: list[Any]) -> None:
    """One `with` for each item, each inside the one before."""
    item, *others = items
    made = managed(low, item.context_expr)
    if made is not None:
        _managed(low, node, item, others, made)
        return
    context = low.atom(item.context_expr, "context")
    target = item.optional_vars
    with low.nested() as body:
        name = None
        if isinstance(target, gast.Name):
            name = low.target_name(target.id)
        elif target is not None:
            name = low.temporary("item")
            assign_to(low, target, core.name(name))
        if name is not None:
            body.bound.add(name)
        if others:
            _enter(low, node, others)
        else:
            block(low, node.body)
    stored = None if name is None else core.name(name, gast.Store)
    low.emit(gast.With([gast.withitem(context, stored)], body.body(), None))
    if not low.swallows(node):
        low.block.bound |= body.bound


def _managed(low: Lowering, node: Any, item: Any, others: list[Any], made: Running) -> None:
    """The body where the generator of a context manager yields."""
    value = low.temporary("item")

    def body() -> None:
        if item.optional_vars is not None:
            assign_to(low, item.optional_vars, core.name(value))
        if others:
            _enter(low, node, others)
        else:
            block(low, node.body)

    go_through(low, value, made, body)
