"""`functools.reduce` -> a loop that carries the value, in the order in which it calls the function.

                                   acc = start
reduce(f, xs, start)      ->       for x in xs:
                                       acc = f(acc, x)
"""

from __future__ import annotations

import functools
from typing import Any

import gast

from s2s import core
from s2s.frontend.lower.comprehensions import iterate, opened
from s2s.frontend.lower.generators import builtin, callee
from s2s.frontend.lower.lowering import Lowering

EMPTY = "reduce() of empty iterable with no initial value"


def folded(low: Lowering, function: Any, node: Any) -> Any:
    """Emit a call of `functools.reduce`, and give its value; None for other calls."""
    if function is not functools.reduce or node.keywords or len(node.args) not in (2, 3):
        return None
    if any(isinstance(argument, gast.Starred) for argument in node.args):
        return None
    called, iterable, *start = node.args
    called = callee(low, called)
    carried, item = low.temporary("acc"), low.temporary("item")

    def step() -> None:
        low.store(carried, gast.Call(called, [core.name(carried), core.name(item)], []))

    low.effects += 1
    if start:
        source = opened(low, iterable)
        low.store(carried, start[0])
        iterate(low, core.name(item, gast.Store), source, step, None)
        return core.name(carried)
    items = _listed(low, node, iterable)
    _refuse_none(low, node, items)
    low.store(carried, core.subscript(items, core.constant(0)))
    rounds = gast.Call(builtin(low, node, range), [core.constant(1), _size(low, node, items)], [])
    index = low.temporary("i")

    def indexed() -> None:
        low.store(item, core.subscript(items, core.name(index)))
        step()

    iterate(low, core.name(index, gast.Store), opened(low, rounds), indexed, None)
    return core.name(carried)


def _listed(low: Lowering, node: Any, iterable: Any) -> Any:
    """The items, in a list of their own."""
    items = low.temporary("items")
    low.store(items, gast.Call(builtin(low, node, list), [iterable], []))
    return core.name(items)


def _size(low: Lowering, node: Any, items: Any) -> Any:
    return low.atom(gast.Call(builtin(low, node, len), [items], []), "count")


def _refuse_none(low: Lowering, node: Any, items: Any) -> None:
    """Raise as `reduce` does where there is nothing to begin with."""

    def fail() -> None:
        error = gast.Call(builtin(low, node, TypeError), [core.constant(EMPTY)], [])
        low.emit(gast.Raise(low.atom(error), None))

    low.branch(low.negated(items), fail)
