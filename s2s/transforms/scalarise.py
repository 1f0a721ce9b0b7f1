"""Containers that are built and taken apart again within the function disappear: their items are names.

`t = (a, b)` and then `p, q = t` or `t[0]` become copies of a and b. Lists and dicts count too, but for those that are
written into. An item whose name is assigned again later, in a loop, gets a name of its
own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import gast

from s2s import core
from s2s import kinds as K
from s2s.core import Function
from s2s.runtime.ordering import require_items
from s2s.transforms.aliases import containers_written
from s2s.transforms.copies import assignments
from s2s.transforms.infer import expression_kinds
from s2s.transforms.operations import Operations
from s2s.transforms.rulebody import Namer
from s2s.transforms.structure import statements, with_blocks
from s2s.transforms.task import Task

# A list times a number is written out up to this length.
LONGEST = 64


def scalarise(fn: Function, task: Task) -> Function:
    """`fn` with reads of known displays replaced by their items, and unpackings by item reads."""
    pass_ = _Scalarise(fn)
    new = replace(fn, body=tuple(pass_.block(fn.body)), scope=pass_.namer.scope)
    return new.with_facts(kinds={**fn.facts.kinds, **pass_.kinds})


class _Scalarise:
    def __init__(self, fn: Function) -> None:
        self.fn = fn
        self.kind = expression_kinds(fn)
        self.namer = Namer(fn)
        self.operations = Operations(fn)
        self.times = assignments(fn)
        self.taken_apart = {n for s in statements(fn.body) if isinstance(s, gast.Assign) for n in _owners(s)}
        self.displays: dict[str, Any] = {}
        self.written = containers_written(fn, self.operations)
        self.kinds: dict[str, K.Kind] = {}

    def block(self, stmts: Sequence[Any]) -> list[Any]:
        new: list[Any] = []
        for stmt in stmts:
            if isinstance(stmt, gast.Assign):
                new.extend(self.assign(stmt))
            else:
                new.append(with_blocks(stmt, lambda _, block: self.block(block)))
        return new

    def assign(self, stmt: Any) -> list[Any]:
        (target,) = stmt.targets
        if isinstance(target, gast.Tuple):
            return self.unpack(stmt, target)
        value = self.joined(self.resolved(stmt.value))
        new: list[Any] = []
        if isinstance(target, gast.Name) and target.id in self.taken_apart and self.times[target.id] == 1:
            value = self.lasting(value, new, core.origin_of(stmt))
            if _is_plain(value) and (isinstance(value, gast.Tuple) or not self.written(target.id)):
                self.displays[target.id] = value
        new.append(stmt if value is stmt.value else core.rebuilt(stmt, value=value))
        return new

    # --- displays ---

    def lasting(self, value: Any, new: list[Any], origin: Any) -> Any:
        """A display whose items will be the same when they are read in its place."""
        field = "values" if isinstance(value, gast.Dict) else "elts"
        if not _is_plain(value) or all(self.lasts(e) for e in getattr(value, field)):
            return value
        items = []
        for item in getattr(value, field):
            if not self.lasts(item):
                held = self.hold(item, core.stem(item.id), new, origin)
                item = held
            items.append(item)
        return core.rebuilt(value, **{field: items})

    def lasts(self, atom: Any) -> bool:
        """Whether an atom means the same for good: its name is not assigned again."""
        return isinstance(atom, gast.Constant) or self.times[atom.id] <= 1

    def hold(self, value: Any, hint: str, new: list[Any], origin: Any) -> Any:
        name = self.namer.temporary(hint)
        self.kinds[name] = self.kind(value)
        new.append(core.assign(name, value, origin))
        return core.name(name)

    def display(self, node: Any) -> Any:
        return self.displays.get(node.id) if isinstance(node, gast.Name) else None

    def resolved(self, value: Any) -> Any:
        """An item read of a known display as that item; `dict(a=x)` as a display."""
        if isinstance(value, gast.Subscript):
            return self.item(value.value, value.slice, value)
        if isinstance(value, gast.Call) and not value.args and self.operations.function(value) is dict:
            if all(k.arg for k in value.keywords):
                keys = [core.constant(k.arg) for k in value.keywords]
                return gast.Dict(keys, [k.value for k in value.keywords])
        get = isinstance(value, gast.Call) and isinstance(value.func, gast.Attribute) and value.func.attr == "get"
        if get and 1 <= len(value.args) <= 2 and not value.keywords and isinstance(value.args[0], gast.Constant):
            owner, (key, *default) = value.func.value, value.args
            kind = self.kind(owner)
            if isinstance(kind, K.Dict):
                if key.value in dict(kind.items):
                    return self.item(owner, key, core.subscript(owner, key))
                return default[0] if default else core.constant(None)
        return value

    def item(self, owner: Any, index: Any, otherwise: Any) -> Any:
        display = self.display(owner)
        if display is None or not isinstance(index, gast.Constant):
            return otherwise
        if isinstance(display, gast.Dict):
            found = [v for k, v in zip(display.keys, display.values) if k.value == index.value]
            return found[-1] if found else otherwise
        inside = type(index.value) is int and -len(display.elts) <= index.value < len(display.elts)
        return display.elts[index.value] if inside else otherwise

    def joined(self, value: Any) -> Any:
        """The sum of two known lists, or a list taken several times, as one display."""
        if not isinstance(value, gast.BinOp):
            return value
        left, right = self.display(value.left), self.display(value.right)
        if isinstance(value.op, gast.Add) and type(left) is type(right) and isinstance(left, (gast.List, gast.Tuple)):
            return core.rebuilt(left, elts=[*left.elts, *right.elts])
        if isinstance(value.op, gast.Mult):
            for display, count in ((left, self.kind(value.right)), (right, self.kind(value.left))):
                number = count.value if isinstance(count, K.Int) else None
                if isinstance(display, (gast.List, gast.Tuple)) and number is not None:
                    if 0 <= number * len(display.elts) <= LONGEST:
                        return core.rebuilt(display, elts=display.elts * number)
        return value

    # --- unpacking ---

    def unpack(self, stmt: Any, target: Any) -> list[Any]:
        value = self.display(stmt.value) or stmt.value
        if isinstance(value, (gast.Tuple, gast.List)):
            return self.pair(stmt, target, value.elts) if _is_plain(value) else [stmt]
        kind = self.kind(value)
        if isinstance(kind, (K.Sequence, K.Array)) and any(isinstance(e, gast.Starred) for e in target.elts):
            return self.starred(stmt, target, value)
        if not isinstance(kind, (K.Tuple, K.List, K.Sequence)):
            return [stmt]
        new: list[Any] = []
        if not isinstance(value, gast.Name):
            value = self.hold(value, "items", new, core.origin_of(stmt))
            stmt = core.rebuilt(stmt, value=value)
        if isinstance(kind, K.Sequence):
            return [*new, stmt]
        return [*new, *self.pair(stmt, target, [core.subscript(value, i) for i in range(len(kind.items))])]

    def starred(self, stmt: Any, target: Any, value: Any) -> list[Any]:
        """`a, *b = xs` of a list or array of unknown length: item reads and a slice."""
        (at,) = [i for i, e in enumerate(target.elts) if isinstance(e, gast.Starred)]
        count, origin = len(target.elts), core.origin_of(stmt)
        after = count - at - 1
        least = core.call(self.namer.bind("require_items", require_items), value, core.constant(count - 1))
        new: list[Any] = [core.place(gast.Expr(least), origin)] if count > 1 else []
        bounds = core.constant(at) if at else None, core.constant(-after) if after else None
        for position, element in enumerate(target.elts):
            item: Any = core.subscript(value, core.constant(position if position < at else position - count))
            if position == at:
                item, element = core.subscript(value, gast.Slice(*bounds, None)), element.value
                known = self.kind(value)
                if not (isinstance(known, K.Sequence) and known.cls is list):
                    item = core.call(self.namer.bind("list", list), self.hold(item, "rest", new, origin))
            new.append(core.assign(core.rebuilt(element, ctx=gast.Store()), item, origin))
        return new

    def pair(self, stmt: Any, target: Any, items: Sequence[Any]) -> list[Any]:
        """One assignment for each target; a wrong number of items stays, so that Python says so."""
        stars = [i for i, e in enumerate(target.elts) if isinstance(e, gast.Starred)]
        count, origin = len(target.elts), core.origin_of(stmt)
        if (len(items) != count and not stars) or len(items) < count - 1:
            return [stmt]
        at = stars[0] if stars else count
        after = count - at - 1
        new: list[Any] = []
        for position, element in enumerate(target.elts):
            if position == at:
                middle = list(items[at : len(items) - after])
                middle = [i if core.is_atom(i) else self.hold(i, "item", new, origin) for i in middle]
                display = gast.List(middle, gast.Load())
                new.extend(self.assign(core.assign(core.rebuilt(element.value, ctx=gast.Store()), display, origin)))
            else:
                item = items[position] if position < at else items[position - count]
                new.append(core.assign(core.rebuilt(element, ctx=gast.Store()), item, origin))
        return new


def _is_plain(value: Any) -> bool:
    """Whether a value is a display whose items all stand there."""
    if isinstance(value, gast.Dict):
        return all(isinstance(k, gast.Constant) for k in value.keys)
    return isinstance(value, (gast.Tuple, gast.List)) and not any(isinstance(e, gast.Starred) for e in value.elts)


def _owners(stmt: Any) -> set[str]:
    """The names of containers that a statement may take apart: it reads their items, or joins them."""
    value = stmt.value
    if isinstance(stmt.targets[0], gast.Tuple):
        nodes = [value]
    elif isinstance(value, gast.Subscript):
        nodes = [value.value]
    elif isinstance(value, gast.BinOp):
        nodes = [value.left, value.right]
    else:
        nodes = [value.func.value] if isinstance(value, gast.Call) and isinstance(value.func, gast.Attribute) else []
    return {node.id for node in nodes if isinstance(node, gast.Name)}
