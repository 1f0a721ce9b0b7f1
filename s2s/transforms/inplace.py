"""The end of single assignment for memory: statements that write take the place of calls, storages that of versions.

`x·2 = set_item(x, i, v)` becomes `x[i] = v` again, and `x·2` is x from there on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import gast

from s2s import core
from s2s.core import Function
from s2s.runtime import stores as S
from s2s.transforms.infer import WRITING
from s2s.transforms.operations import Operations
from s2s.transforms.rulebody import Namer
from s2s.transforms.structure import with_blocks
from s2s.transforms.task import Task
from s2s.transforms.versions import INPLACE

ADDING = {S.add_item: gast.Add, S.sub_item: gast.Sub}
AT = {S.add_at: "add.at", S.sub_at: "subtract.at"}
WHOLE = {function: op for op, function in INPLACE.items()}
# Writes that give a new version part by part: `whole` ones read all of it.
ITEM_WRITES = {S.seen, S.set_flat, S.append, S.drop_last, S.set_item, S.seen_item, *ADDING, *AT}
KEEPING = {*ADDING, *AT}  # the old contents stay part of the new


def inplace(fn: Function, task: Task) -> Function:
    """`fn` with the versions of each storage under its name, and with statements in place of the calls that write."""
    return _Inplace(fn).run() if fn.facts.storages else fn


class _Inplace:
    def __init__(self, fn: Function) -> None:
        self.fn = fn
        self.operations = Operations(fn)
        self.namer = Namer(fn)
        self.storages = fn.facts.storages

    def run(self) -> Function:
        body = self.block(self.fn.body)
        facts = self.fn.facts
        kinds = {n: k for n, k in facts.kinds.items() if n not in self.storages}
        shapes = {n: self.storages.get(s, s) for n, s in facts.shapes.items() if n not in self.storages}
        new = replace(self.fn, body=tuple(body), scope=self.namer.scope)
        return new.with_facts(kinds=kinds, shapes=shapes, storages={})

    def block(self, stmts: Sequence[Any]) -> list[Any]:
        new: list[Any] = []
        for stmt in stmts:
            for made in self.statement(stmt):
                if new and _pops(made) is not None and _reads_last(new[-1], _pops(made)):
                    made = core.rebuilt(new.pop(), value=made.value)
                new.append(made)
        return new

    def statement(self, stmt: Any) -> list[Any]:
        stmt = with_blocks(stmt, lambda _, block: self.block(block))
        if not isinstance(stmt, gast.Assign) or not set(core.writes(stmt)) & self.storages.keys():
            return [core.substitute(stmt, self.storages)]
        value = core.substitute(stmt.value, self.storages)
        function = self.operations.function(stmt.value) if isinstance(value, gast.Call) else None
        if function not in WRITING - {S.seen, S.seen_item}:
            return []  # versions meet, or what is written already is looked at through another view
        return [core.place(s, core.origin_of(stmt)) for s in written(function, self.namer, *value.args)]


def written(function: Any, namer: Namer, x: Any, *args: Any) -> list[Any]:
    """The statements that do what one of the functions does that write into their first argument."""
    if function in WHOLE:
        return [gast.AugAssign(core.name(x.id, gast.Store), WHOLE[function](), *args)]
    if function is S.append:
        return [gast.Expr(core.call(core.attribute(x, "append"), *args))]
    if function is S.drop_last:
        return [gast.Expr(core.call(core.attribute(x, "pop")))]
    index, value = args
    if function in AT:
        return [gast.Expr(core.call(core.path(namer.numpy(AT[function])), x, index, value))]
    before: list[Any] = []
    if function is S.set_flat:
        flat = namer.temporary("flat")
        before, x = [core.assign(flat, core.attribute(x, "flat"), None)], core.name(flat)
    item = core.subscript(x, index, gast.Store)
    if function in ADDING:
        return [gast.AugAssign(item, ADDING[function](), value)]
    return [*before, gast.Assign([item], value, None)]


def _pops(stmt: Any) -> str | None:
    """The list of `x.pop()`, as a statement of its own."""
    call = stmt.value if isinstance(stmt, gast.Expr) and isinstance(stmt.value, gast.Call) else None
    if call is None or call.args or not isinstance(call.func, gast.Attribute) or call.func.attr != "pop":
        return None
    return getattr(call.func.value, "id", None)


def _reads_last(stmt: Any, name: str | None) -> bool:
    """Whether a statement is `v = x[-1]`."""
    value = getattr(stmt, "value", None)
    return (
        isinstance(stmt, gast.Assign)
        and isinstance(stmt.targets[0], gast.Name)
        and isinstance(value, gast.Subscript)
        and getattr(value.value, "id", None) == name
        and getattr(value.slice, "value", None) == -1
    )
