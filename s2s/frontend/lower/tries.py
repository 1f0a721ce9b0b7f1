"""`try` -> one with handlers alone, or with `finally` alone, which the pass `tries` takes on.

try:                                try:
    a                                   completed = False
except E as error:                      try:
    b                                       a
else:                   ->                  completed = True
    c                                   except E as error:
finally:                                    b
    d                                   if completed:
                                            c
                                    finally:
                                        d

The name of a handler is one of its own: Python deletes it at the end.
"""

from __future__ import annotations

from typing import Any

import gast

from s2s import core
from s2s.frontend.lower.blocks import block
from s2s.frontend.lower.lowering import Lowering, lowers, rewrites


@rewrites(gast.Try)
def parts(low: Lowering, node: Any) -> list[Any] | None:
    if node.finalbody and node.handlers:
        inner = _at(low, node, gast.Try(node.body, node.handlers, node.orelse, []))
        return [gast.Try([inner], [], [], node.finalbody)]
    if node.orelse:
        completed = low.temporary("completed")
        flag = core.name(completed, gast.Store)
        body = [*node.body, _at(low, node, gast.Assign([flag], core.constant(True), None))]
        return [
            gast.Assign([flag], core.constant(False), None),
            gast.Try(body, node.handlers, [], []),
            gast.If(core.name(completed), node.orelse, []),
        ]
    return None


def _at(low: Lowering, node: Any, stmt: Any) -> Any:
    return core.place(stmt, core.origin_of(node) or low.origins(node))


@lowers(gast.Try)
def tried(low: Lowering, node: Any) -> None:
    with low.nested() as body:
        block(low, node.body)
    if node.finalbody:
        _finally(low, node, body)
        return
    ends = [body.bound] if low.flow.block(node.body).falls else []
    handlers = []
    for handler in node.handlers:
        made, bound = _handler(low, handler)
        handlers.append(made)
        if low.flow.block(handler.body).falls:
            ends.append(bound)
    low.emit(gast.Try(body.body(), handlers, [], []))
    if ends:
        low.block.bound |= set.intersection(*ends)


def _finally(low: Lowering, node: Any, body: Any) -> None:
    if low.flow.block(node.finalbody).jumps:
        raise low.refuse("a jump out of `finally`", node)
    with low.nested() as final:
        block(low, node.finalbody)
    low.emit(gast.Try(body.body(), [], [], final.body()))
    low.block.bound |= body.bound | final.bound


def _handler(low: Lowering, handler: Any) -> tuple[Any, set[str]]:
    """A handler, and what is certainly bound behind it."""
    classes = handler.type.elts if isinstance(handler.type, gast.Tuple) else [handler.type]
    if handler.type is not None and not all(_is_error(low.resolve(c)) for c in classes):
        raise low.refuse("a handler of exceptions that are not known", handler.type)
    outer, name = low.renamed, low.temporary("error")
    with low.nested() as body:
        if handler.name is not None:
            users = low.target_name(handler.name.id)
            if low.is_bound(users):
                low.emit(gast.Delete([core.name(users, gast.Del)]))
            low.renamed = {**outer, low.names.mangle(handler.name.id): name}
        body.bound.add(name)
        low.handled.append(name)
        block(low, handler.body)
        low.handled.pop()
        low.renamed = outer
    stored = core.name(name, gast.Store)
    return gast.ExceptHandler(handler.type, stored, body.body()), body.bound


def _is_error(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, BaseException)
