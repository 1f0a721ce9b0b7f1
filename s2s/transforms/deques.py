"""Deques that a function makes: each is a list under a name of its own, its methods are those of the list.

    q = deque([a]); q.appendleft(b); q.popleft()    ->    q_items = list([a]); q_items.insert(0, b); q_items.pop(0)

A list takes time for what is done at its left end, which deques are short enough for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import gast

from s2s import core
from s2s.transforms.dicts import TAKING, Dicts
from s2s.transforms.heap import VALUE, Made

ITEMS, LENGTH = "items", "maxlen"
_SAME = ("append", "extend", "clear", "reverse", "insert", "count", "index")


class Deques(Dicts):
    """What is done with deques."""

    def queue(self, node: Any) -> Made | None:
        made = self.made(node)
        return made if made is not None and made.cls is deque else None

    def items_in(self, made: Made) -> Any:
        """The list that holds the items, as an atom."""
        return core.name(made.variables[ITEMS])

    def of_queue(self, stmt: Any, name: str) -> list[Any]:
        """A loop over a deque, or a statement that assigns or deletes an item."""
        made = self.state[name]
        items = self.items_in(made)
        if isinstance(stmt, (gast.For, gast.While)):
            return [core.rebuilt(stmt, **{"iter" if isinstance(stmt, gast.For) else "test": items})]
        field = "target" if isinstance(stmt, gast.AugAssign) else "targets"
        target = stmt.target if field == "target" else stmt.targets[0]
        if isinstance(target.slice, gast.Slice):
            raise self.escape("a slice of a deque", made)
        new = core.rebuilt(target, value=items)
        return [core.rebuilt(stmt, **{field: new if field == "target" else [new]})]

    def of_deque_call(self, node: Any, before: list[Any]) -> Any:
        """A deque that is made, a method of one, or a function that goes through one; None for others."""
        path = isinstance(node.func, (gast.Name, gast.Attribute))
        function = self.host.object(node.func) if path else None
        if function is deque:
            return self.new_deque(node, before)
        made = self.queue(node.func.value) if isinstance(node.func, gast.Attribute) else None
        if made is not None:
            return self.of_deque_method(made, node, before)
        names = {a.id: self.items_in(queue).id for a in node.args if (queue := self.queue(a)) is not None}
        in_numpy = (getattr(function, "__module__", None) or "").partition(".")[0] == "numpy"
        goes_through = in_numpy or function is reversed or function in TAKING
        return core.substitute(node, names) if names and goes_through else None

    def new_deque(self, node: Any, before: list[Any]) -> Any:
        given = {k.arg: k.value for k in node.keywords}
        starred = any(isinstance(a, gast.Starred) for a in node.args)
        if deque in self.opaque or starred or len(node.args) > 1 or not given.keys() <= {LENGTH}:
            return None
        self.seen.append(deque)
        made = self.heap.make(deque, hint=self.hint or "queue")
        name, items = self.host.temporary("made"), self.heap.variable(made, ITEMS, "queue")
        self.state[name], self.state[made, ITEMS] = made, VALUE
        queue = self.queue(node.args[0]) if node.args else None
        others = node.args if queue is None else [self.items_in(queue)]
        first: Any = core.call(self.host.value("list", list), *others) if others else gast.List([], gast.Load())
        if others and LENGTH in given:
            raise self.escape("a deque of a greatest length is made of items", made)
        before.append(self.new(items, first))
        if LENGTH in given:
            before.append(self.new(self.heap.variable(made, LENGTH, "queue"), given[LENGTH]))
            self.state[made, LENGTH] = VALUE
        return core.name(name)

    def of_deque_method(self, made: Made, node: Any, before: list[Any]) -> Any:
        name, args, items = node.func.attr, list(node.args), self.items_in(made)
        bounded = (made, LENGTH) in self.state
        if (
            node.keywords
            or any(isinstance(a, gast.Starred) for a in args)
            or (bounded and name in ("insert", "extend"))
        ):
            raise self.escape(f"`{name}` of a deque", made)
        if name == "append" and bounded and len(args) == 1:
            return self.appended(made, args, before)
        if name in _SAME:
            args = [a if self.queue(a) is None else self.items_in(self.queue(a)) for a in args]  # type: ignore[arg-type]
            return core.rebuilt(node, func=core.attribute(items.id, name), args=args)
        if name == "appendleft" and len(args) == 1 and not bounded:
            return core.call(core.attribute(items.id, "insert"), core.constant(0), *args)
        if name in ("pop", "popleft") and not args:
            self.require_items(items, before)
            return core.call(core.attribute(items.id, "pop"), *([core.constant(0)] if name == "popleft" else []))
        raise self.escape(f"`{name}` of a deque", made)

    def appended(self, made: Made, args: Sequence[Any], before: list[Any]) -> Any:
        """`q.append(v)` of a deque with a greatest length."""
        items = self.items_in(made)
        call = core.call(core.attribute(items.id, "append"), *args)
        before.append(core.place(gast.Expr(call), self.origin))
        length, cond = self.host.temporary("length"), self.host.temporary("cond")
        before.append(self.new(length, core.call(self.host.value("len", len), items)))
        test = gast.Compare(core.name(length), [gast.Gt()], [core.name(made.variables[LENGTH])])
        before.append(self.new(cond, test))
        dropped = gast.Expr(core.call(core.attribute(items.id, "pop"), core.constant(0)))
        before.append(core.place(gast.If(core.name(cond), [core.place(dropped, self.origin)], []), self.origin))
        return core.constant(None)

    def require_items(self, items: Any, before: list[Any]) -> None:
        """Raise what a deque raises that is empty."""
        cond, error = self.host.temporary("cond"), self.host.temporary("error")
        length = self.host.temporary("length")
        before.append(self.new(length, core.call(self.host.value("len", len), items)))
        before.append(self.new(cond, gast.Compare(core.name(length), [gast.Eq()], [core.constant(0)])))
        made = core.call(self.host.value("IndexError", IndexError), core.constant("pop from an empty deque"))
        raised = [self.new(error, made), core.place(gast.Raise(core.name(error), None), self.origin)]
        before.append(core.place(gast.If(core.name(cond), raised, []), self.origin))
