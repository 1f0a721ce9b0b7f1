"""How objects are made: by `__init__`, by the fields of a dataclass or namedtuple, by keywords of a namespace."""

from __future__ import annotations

import dataclasses
import math
import types
from collections.abc import Sequence
from typing import Any

import gast

from s2s import core
from s2s.core import MISSING
from s2s.transforms import classes as C
from s2s.transforms.heap import Made
from s2s.transforms.references import Attribute
from s2s.transforms.rows import Rows

_EMPTY: dict[Any, Any] = {list: lambda: gast.List([], gast.Load()), dict: lambda: gast.Dict([], [])}


class Making(Rows):
    """New objects, their attributes in names."""

    def construct(self, cls: Any, node: Any, before: list[Any]) -> Any:
        if any(isinstance(a, gast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
            return None
        self.seen.append(cls)
        keywords = {k.arg: k.value for k in node.keywords}
        if cls is types.SimpleNamespace:
            return None if node.args else self.record(cls, keywords, before)
        if isinstance(cls, type) and C.is_namedtuple(cls):
            given = self.bound(cls._fields, cls._field_defaults, node.args, keywords)  # type: ignore[attr-defined]
            return None if given is None else self.record(cls, given, before)
        owner = C.dataclass_of(cls)
        if owner is not None:
            name = self.host.temporary("made")
            self.state[name] = self.made_of(cls)
            return self.of_dataclass(owner, name, node, before)
        name = self.host.temporary("self")
        init = C.member(cls, "__init__")
        self.state[name] = self.made_of(cls)
        if init is not MISSING:
            call = self.runs(Attribute(init, core.name(name)), f"{cls.__name__}_init", node.args, node.keywords)
            before.append(core.place(gast.Expr(call), self.origin))
        elif node.args or keywords:
            return None
        return core.name(name)

    def made_of(self, cls: Any) -> Made:
        return self.heap.make(cls, hint=self.hint or ("item" if cls in (tuple, list) else cls.__name__.lower()))

    def bound(self, names: Sequence[str], defaults: Any, args: Sequence[Any], keywords: Any) -> Any:
        """The value of each field as `__init__` binds it; None for a wrong call."""
        given = dict(zip(names, args))
        if len(args) > len(names) or given.keys() & keywords.keys() or not keywords.keys() <= set(names):
            return None
        given |= keywords
        for name in names:
            if name not in given and name in defaults:
                default = defaults[name]
                plain = type(default) is float and math.isfinite(default)
                given[name] = core.constant(default) if plain else self.host.value(name, default)
        return {name: given[name] for name in names} if given.keys() == set(names) else None

    def record(self, cls: Any, values: dict[str, Any], before: list[Any]) -> Any:
        """A new object with these attributes, under a name."""
        made = self.made_of(cls)
        self.seen.append(cls)
        name = self.host.temporary("made")
        for attr, value in values.items():
            before.extend(self.store(made, attr, value, cls.__name__.lower()))
        self.state[name] = made
        return core.name(name)

    def of_dataclass(self, owner: type, name: str, node: Any, before: list[Any]) -> Any:
        """The generated `__init__` for an object that has a name: parameters, defaults, factories, `__post_init__`."""
        fields = [(f, only) for f, only in C.fields_of(owner)]
        positional = [f.name for f, _ in fields if f.init and not f.kw_only]
        names = [*positional, *(f.name for f, _ in fields if f.init and f.kw_only)]
        if len(node.args) > len(positional):
            return None
        factories = {f.name: f.default_factory for f, _ in fields if f.default_factory is not dataclasses.MISSING}
        defaults = {f.name: f.default for f, _ in fields if f.default is not dataclasses.MISSING} | factories
        given = self.bound(names, defaults, node.args, {k.arg: k.value for k in node.keywords})
        if given is None:
            return None
        passed = {*(positional[: len(node.args)]), *(k.arg for k in node.keywords)}
        cls = self.reference(core.name(name)).cls
        for field, only in fields:
            if field.name in factories and field.name not in passed:
                held = self.host.temporary(field.name)
                factory = factories[field.name]
                made = _EMPTY[factory]() if factory in _EMPTY else core.call(self.host.value("factory", factory))
                before.append(self.new(held, made))
                given[field.name] = core.name(held)
            if field.name in given and not only:
                target = gast.Attribute(core.name(name), field.name, gast.Store())
                self.making.append(core.assign(target, given[field.name], self.origin))
                before.append(self.making[-1])
        after = C.member(cls, "__post_init__")
        if after is not MISSING:
            args = [given[f.name] for f, only in fields if only]
            call = self.runs(Attribute(after, core.name(name)), f"{cls.__name__}_post_init", args)
            before.append(core.place(gast.Expr(call), self.origin))
        return core.name(name)

    def replaced(self, made: Made, keywords: Sequence[Any]) -> Any:
        """An object like another one, with some fields changed."""
        if any(k.arg is None for k in keywords):
            raise self.escape("`**` in a call of replace", made)
        if C.is_namedtuple(made.cls):
            names = list(made.cls._fields)
        else:
            fields = list(C.fields_of(made.cls))
            if any(only or not f.init for f, only in fields):
                raise self.escape("a dataclass with fields that `replace` does not take", made)
            names = [f.name for f, _ in fields]
        changes = {k.arg: k.value for k in keywords}
        if not changes.keys() <= set(names):
            raise self.escape("a field that is not there", made)
        values = [gast.keyword(n, changes[n] if n in changes else self.item(made, n)) for n in names]
        return gast.Call(self.host.value(made.cls.__name__, made.cls), [], values)
