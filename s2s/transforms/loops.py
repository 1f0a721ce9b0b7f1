"""Loops over arrays, sequences, `zip`, `enumerate`, `reversed` and dict views become loops over indices.

The reverse sweep goes through a loop backwards, which an index can and an iterator cannot; and an item read has an adjoint.
Loops over ranges, and over what carries no derivative and cannot be indexed, stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import gast

from s2s import core
from s2s import kinds as K
from s2s.core import Function
from s2s.transforms.operations import Operations
from s2s.transforms.rulebody import Namer
from s2s.transforms.task import Task


def loops(fn: Function, task: Task) -> Function:
    """`fn` with loops over indices."""
    run = _Loops(fn)
    return replace(fn, body=tuple(run.block(fn.body)), scope=run.namer.scope)


class _Loops:
    def __init__(self, fn: Function) -> None:
        self.fn = fn
        self.namer = Namer(fn)
        self.operations = Operations(fn)
        self.kind = self.operations.kind
        self.definitions: dict[str, Any] = {}

    def block(self, stmts: Sequence[Any]) -> list[Any]:
        new: list[Any] = []
        for stmt in stmts:
            if isinstance(stmt, gast.Assign) and isinstance(stmt.targets[0], gast.Name):
                self.definitions[stmt.targets[0].id] = stmt.value
                new.extend(self.views(stmt))
                continue
            changes = {name: self.block(block) for name, block in core.blocks(stmt) if "." not in name}
            stmt = core.rebuilt(stmt, **changes) if changes else stmt
            new.extend(self.loop(stmt) if isinstance(stmt, gast.For) else [stmt])
        return new

    def views(self, stmt: Any) -> list[Any]:
        """`d.items()` of a dict with known keys is the tuple of its items; likewise keys and values."""
        call, origin = stmt.value, core.origin_of(stmt)
        if not (isinstance(call, gast.Call) and isinstance(call.func, gast.Attribute) and not call.args):
            return [stmt]
        known = self.kind(call.func.value)
        if not isinstance(known, K.Dict) or call.func.attr not in ("items", "values", "keys"):
            return [stmt]
        new: list[Any] = []
        items = []
        for key, _ in known.items:
            item: Any = core.constant(key)
            if call.func.attr != "keys":
                item = self.hold(new, "item", core.subscript(call.func.value, core.constant(key)), origin)
            if call.func.attr == "items":
                item = self.hold(new, "item", gast.Tuple([core.constant(key), item], gast.Load()), origin)
            items.append(item)
        return [*new, core.rebuilt(stmt, value=gast.Tuple(items, gast.Load()))]

    def loop(self, stmt: Any) -> list[Any]:
        if isinstance(self.kind(stmt.iter), K.Range) or not self.indexable(stmt.iter):
            return [stmt]
        origin = core.origin_of(stmt)
        before: list[Any] = []
        count = self.count(stmt.iter, before, origin)
        rounds = self.hold(before, "iter", core.call(self.namer.bind("range", range), count), origin)
        index = self.namer.temporary("i")
        body: list[Any] = []
        item = self.item(stmt.iter, core.name(index), before, body, origin)
        body.append(core.assign(stmt.target, item, origin))
        target = core.name(index, gast.Store)
        return [*before, core.rebuilt(stmt, target=target, iter=rounds, body=[*body, *stmt.body])]

    # --- what is iterated over ---

    def definition(self, atom: Any) -> tuple[Any, list[Any], dict[str, Any]]:
        """The function and operands of the call that made an iterator."""
        call = self.definitions.get(atom.id) if isinstance(atom, gast.Name) else None
        if not isinstance(call, gast.Call):
            return None, [], {}
        return self.operations.function(call), list(call.args), {k.arg: k.value for k in call.keywords}

    def indexable(self, atom: Any) -> bool:
        known = self.kind(atom)
        if isinstance(known, (K.Array, K.Tuple, K.List, K.Sequence, K.Range)):
            return not (isinstance(known, K.Array) and known.ndim == 0)
        function, operands, keywords = self.definition(atom)
        if not isinstance(known, K.Iterator) or keywords.keys() - {"start"} or not operands:
            return False
        if function is reversed and not isinstance(self.kind(operands[0]), (K.Array, K.Tuple, K.List, K.Sequence, K.Range)):
            return False
        return all(self.indexable(o) for o in (operands if function is zip else operands[:1]))

    def count(self, atom: Any, before: list[Any], origin: Any) -> Any:
        """The number of items, as an atom."""
        if not isinstance(self.kind(atom), K.Iterator):
            return self.hold(before, "count", core.call(self.namer.bind("len", len), atom), origin)
        function, operands, _ = self.definition(atom)
        if function is not zip:
            return self.count(operands[0], before, origin)
        counts = [self.count(o, before, origin) for o in operands]
        if len(counts) == 1:
            return counts[0]
        return self.hold(before, "count", core.call(self.namer.bind("min", min), *counts), origin)

    def item(self, atom: Any, index: Any, before: list[Any], body: list[Any], origin: Any) -> Any:
        """The item at an index: statements for the body, and an atom or display."""
        if not isinstance(self.kind(atom), K.Iterator):
            return self.hold(body, "item", core.subscript(atom, index), origin)
        function, operands, keywords = self.definition(atom)
        if function is zip:
            items = [self.item(o, index, before, body, origin) for o in operands]
            return self.hold(body, "item", gast.Tuple(items, gast.Load()), origin)
        if function is enumerate:
            start = operands[1] if len(operands) > 1 else keywords.get("start")
            number = index if start is None else self.hold(body, "i", core.binary(index, gast.Add, start), origin)
            item = self.item(operands[0], index, before, body, origin)
            return self.hold(body, "item", gast.Tuple([number, item], gast.Load()), origin)
        size = self.count(operands[0], before, origin)
        last = self.hold(before, "last", core.binary(size, gast.Sub, 1), origin)
        back = self.hold(body, "i", core.binary(last, gast.Sub, index), origin)
        return self.item(operands[0], back, before, body, origin)

    def hold(self, stmts: list[Any], hint: str, value: Any, origin: Any) -> Any:
        name = self.namer.temporary(hint)
        stmts.append(core.assign(name, value, origin))
        return core.name(name)
