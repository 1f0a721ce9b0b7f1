"""Loops over arrays, sequences, `zip`, `enumerate`, `reversed` and dict views become loops over indices.

A range that is gone through backwards is a range, `range(n)[::-1]`.

The reverse sweep goes through a loop backwards, which an index can and an iterator cannot; and an item read has an
adjoint. Loops over ranges, and over what carries no derivative and cannot be indexed, stay as they are. So does a loop
over an iterator that somebody else reads too, or that is made in another block, outside an enclosing loop: it gives its
items only once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import gast

from s2s import core
from s2s import kinds as K
from s2s.core import Function
from s2s.transforms.copies import assignments
from s2s.transforms.known import ITERATORS
from s2s.transforms.operations import Operations
from s2s.transforms.rulebody import Namer
from s2s.transforms.structure import statements, uses, with_blocks
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
        self.times = assignments(fn)
        self.uses = Counter(name for stmt in statements(fn.body) for name in uses(stmt))
        self.views_of: dict[str, K.Kind] = {}
        self.definitions: dict[str, Any] = {}  # those of the current block

    def kind(self, atom: Any) -> K.Kind:
        known = self.views_of.get(atom.id) if isinstance(atom, gast.Name) else None
        return known or self.operations.kind(atom)

    def block(self, stmts: Sequence[Any]) -> list[Any]:
        outer, self.definitions = self.definitions, {}
        new: list[Any] = []
        for stmt in stmts:
            if isinstance(stmt, gast.Assign) and isinstance(stmt.targets[0], gast.Name):
                stmt = self.lasting(stmt, new)
                self.definitions[stmt.targets[0].id] = stmt.value
                new.extend(self.views(stmt))
                continue
            stmt = with_blocks(stmt, lambda _, block: self.block(block))
            if isinstance(stmt, gast.For) and self.becomes_indexed(stmt.iter):
                made = set(self.iterators(stmt.iter))
                new = [s for s in new if not (isinstance(s, gast.Assign) and made & set(core.writes(s)))]
                new.extend(self.loop(stmt))
            else:
                new.append(stmt)
        self.definitions = outer
        return new

    def lasting(self, stmt: Any, new: list[Any]) -> Any:
        """A call that makes an iterator, over names that are not assigned again before it is read."""
        value, origin = stmt.value, core.origin_of(stmt)
        if not isinstance(value, gast.Call) or self.operations.function(value) not in ITERATORS:
            return stmt
        args = [
            self.hold(new, core.stem(a.id), a, origin) if isinstance(a, gast.Name) and self.times[a.id] > 1 else a
            for a in value.args
        ]
        for old, held in zip(value.args, args):
            if held is not old:
                self.views_of[held.id] = self.kind(old)
        return core.rebuilt(stmt, value=core.rebuilt(value, args=args))

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
        kinds = {"keys": [K.of_literal(k) for k, _ in known.items], "values": [v for _, v in known.items]}
        kinds["items"] = [K.Tuple(pair) for pair in zip(kinds["keys"], kinds["values"])]
        self.views_of[stmt.targets[0].id] = K.Tuple(tuple(kinds[call.func.attr]))
        for key, _ in known.items:
            item: Any = core.constant(key)
            if call.func.attr != "keys":
                item = self.hold(new, "item", core.subscript(call.func.value, core.constant(key)), origin)
            if call.func.attr == "items":
                item = self.hold(new, "item", gast.Tuple([core.constant(key), item], gast.Load()), origin)
            items.append(item)
        return [*new, core.rebuilt(stmt, value=gast.Tuple(items, gast.Load()))]

    def loop(self, stmt: Any) -> list[Any]:
        origin = core.origin_of(stmt)
        before: list[Any] = []
        function, operands, _ = self.definition(stmt.iter)
        if function is reversed and isinstance(self.kind(operands[0]), K.Range):
            backwards = gast.Slice(None, None, core.constant(-1))
            rounds = self.hold(before, "iter", core.subscript(operands[0], backwards), origin)
            return [*before, core.rebuilt(stmt, iter=rounds)]
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

    def becomes_indexed(self, atom: Any) -> bool:
        return not isinstance(self.kind(atom), K.Range) and self.indexable(atom)

    def indexable(self, atom: Any) -> bool:
        known = self.kind(atom)
        if not isinstance(known, K.Iterator):
            return _has_items(known)
        function, operands, keywords = self.definition(atom)
        if keywords.keys() - {"start"} or not operands or self.uses[atom.id] > 1:
            return False
        if function is reversed and not _has_items(self.kind(operands[0])):
            return False
        return all(self.indexable(o) for o in (operands if function is zip else operands[:1]))

    def iterators(self, atom: Any) -> Iterator[str]:
        """The names of the iterators that a loop reads."""
        if isinstance(self.kind(atom), K.Iterator):
            yield atom.id
            for operand in self.definition(atom)[1]:
                yield from self.iterators(operand)

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


def _has_items(kind: K.Kind) -> bool:
    """Whether a value of this kind is read by index."""
    if isinstance(kind, K.Array):
        return kind.ndim > 0
    return isinstance(kind, (K.Tuple, K.List, K.Sequence, K.Range))
