"""Methods and properties of known objects become calls of plain functions, which `inline` takes on.

    self.energy(x)      Model_energy(self, x)
    self.half           Model_half(self)

An object is known by the kind of the parameter that it came in by, or of the attribute that it was read from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import FunctionType
from typing import Any

import gast

from s2s import core
from s2s import kinds as K
from s2s.core import Function
from s2s.kinds import Kind
from s2s.transforms.copies import assignments
from s2s.transforms.structure import with_blocks
from s2s.transforms.task import Task


def methods(fn: Function, task: Task) -> Function:
    """`fn` with calls of functions in place of methods and properties; `fn` itself where there are none."""
    known = {name: kind for name, kind in task.kinds.items() if isinstance(kind, K.Object) and kind.fields}
    if not known:
        return fn
    run = _Methods(fn, known)
    body = tuple(run.block(fn.body))
    return replace(fn, body=body, scope=run.scope) if run.changed else fn


class _Methods:
    def __init__(self, fn: Function, known: Mapping[str, Kind]) -> None:
        self.times = assignments(fn)
        self.objects: dict[str, Kind] = {name: kind for name, kind in known.items() if self.times[name] == 1}
        self.local = fn.local_names()
        self.scope = fn.scope
        self.changed = False

    def block(self, stmts: Sequence[Any]) -> list[Any]:
        return [self.statement(stmt) for stmt in stmts]

    def statement(self, stmt: Any) -> Any:
        if isinstance(stmt, (gast.Assign, gast.Expr)):
            value = self.expression(stmt.value)
            self.changed |= value is not stmt.value
            stmt = stmt if value is stmt.value else core.rebuilt(stmt, value=value)
            self.note(stmt)
            return stmt
        return with_blocks(stmt, lambda _, block: self.block(block))

    def note(self, stmt: Any) -> None:
        """Take note of a name that holds an object for good."""
        if isinstance(stmt, gast.Assign) and isinstance(stmt.targets[0], gast.Name):
            name, kind = stmt.targets[0].id, self.kind(stmt.value)
            if isinstance(kind, K.Object) and self.times[name] == 1:
                self.objects[name] = kind

    def kind(self, node: Any) -> Kind:
        if isinstance(node, gast.Name):
            return self.objects.get(node.id, K.UNKNOWN)
        if isinstance(node, gast.Attribute):
            owner = self.kind(node.value)
            return dict(owner.fields).get(node.attr, K.UNKNOWN) if isinstance(owner, K.Object) else K.UNKNOWN
        return K.UNKNOWN

    def expression(self, node: Any) -> Any:
        if isinstance(node, gast.Attribute):
            kind = self.kind(node)
            return self.call(kind, node, []) if isinstance(kind, K.Method) and kind.is_property else node
        if not isinstance(node, gast.Call):
            return node
        kind = self.kind(node.func)
        if isinstance(kind, K.Object):
            return self.expression(core.rebuilt(node, func=core.attribute(node.func, "__call__")))
        if isinstance(kind, K.Method) and not kind.is_property:
            return self.call(kind, node.func, node.args, node.keywords)
        if isinstance(kind, K.Static) and isinstance(kind.value, FunctionType):
            return core.rebuilt(node, func=self.named(kind.value, node.func))
        return node

    def call(self, method: K.Method, place: Any, args: Sequence[Any], keywords: Sequence[Any] = ()) -> Any:
        return gast.Call(self.named(method.function, place), [place.value, *args], list(keywords))

    def named(self, function: Any, place: Any) -> Any:
        """A name of the scope that means a function."""
        owner = self.kind(place.value)
        assert isinstance(owner, K.Object)
        self.scope, name = self.scope.bind(f"{owner.cls.__name__}_{place.attr}", function, self.local)
        return core.name(name)
