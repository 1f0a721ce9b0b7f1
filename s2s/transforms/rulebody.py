"""Rule bodies as Core: lowered once, decided by the kinds of the arguments, and put in place of a call.

The body of a rule is ordinary Python. For given kinds its `if`s are decided, and what remains is usually one
expression: it is written into the program where the derivative is needed. A body that stays longer than `LIMIT`
statements, or keeps an open `if`, is called by its name instead.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import CellType
from typing import Any

import gast
import numpy as np

from s2s import core
from s2s import kinds as K
from s2s.core import MISSING, Function, Scope
from s2s.errors import NotCompiled
from s2s.kinds import Kind
from s2s.runtime import numeric
from s2s.transforms.infer import infer
from s2s.transforms.operations import Operations
from s2s.transforms.prune import prune
from s2s.transforms.structure import next_number
from s2s.transforms.task import Program, Task
from s2s.transforms.versions import versions

LIMIT = 3


class Namer:
    """Fresh names for one function: temporaries numbered beyond its own, and what its scope binds."""

    def __init__(self, fn: Function) -> None:
        self.scope: Scope = fn.scope
        self.taken = set(fn.local_names())
        self.count = itertools.count(next_number(self.taken))

    def temporary(self, hint: str) -> str:
        return core.temporary(hint, next(self.count))

    def plain(self, hint: str) -> str:
        """A name of its own that is no temporary: it is assigned more than once."""
        name = core.unique(hint, lambda n: n in self.taken or self.scope.lookup(n) is not MISSING)
        self.taken.add(name)
        return name

    def numpy(self, function: str) -> str:
        """The path of a function of NumPy, under the name that the module has in the user's scope."""
        return f"{self.bind('np', np)}.{function}"

    def bind(self, hint: str, value: Any) -> str:
        """A name that means `value` in the function's scope."""
        self.scope, name = self.scope.bind(hint, value, self.taken)
        return name

    def cell(self, hint: str, cell: CellType) -> str:
        """A name that means what a cell holds."""
        self.scope, name = self.scope.bind_cell(hint, cell, self.taken)
        return name


class DerivedNames:
    """Names of adjoints or tangents: `x_bar` for `x`, or `x_bar_` where the user has an `x_bar`."""

    def __init__(self, fn: Function, suffix: str) -> None:
        self.suffix = suffix
        self.names: dict[str, str] = {}
        self.stems = {core.stem(n) for n in fn.local_names()}
        self.reserved: set[str] = set()

    def __call__(self, name: str) -> str:
        if name not in self.names:
            suffix = self.suffix
            while core.stem(name) + suffix in self.stems or core.derived(name, suffix) in self.reserved:
                suffix += "_"
            self.names[name] = core.derived(name, suffix)
            self.reserved.add(self.names[name])
        return self.names[name]


@dataclass(frozen=True)
class Body:
    """A straight-line body: statements that each assign one name, and the expression of the result."""

    params: tuple[str, ...]
    stmts: tuple[Any, ...]
    result: Any
    scope: Scope


_lowered: dict[Any, Function] = {}
_bodies: dict[Any, Body | None] = {}


def body_of(program: Program, function: Callable[..., Any], kinds: Mapping[str, Kind], item: int | None) -> Body | None:
    """The body of a rule for arguments of these kinds, or None where it must be called.

    item: which item of the returned tuple is wanted; None: the whole result.
    """
    key = (function, tuple(kinds.items()), item)
    if key not in _bodies:
        _bodies[key] = _specialise(program, function, kinds, item)
    return _bodies[key]


def _specialise(
    program: Program, function: Callable[..., Any], kinds: Mapping[str, Kind], item: int | None
) -> Body | None:
    try:
        if function not in _lowered:
            _lowered[function] = versions(program.lower(function), Task("primal", program))
        fn = _lowered[function]
        task = Task("primal", program, kinds=kinds)
        fn = prune(infer(fn, task), task)
        fn = fn.with_body(_attributes(fn))
    except NotCompiled:
        return None
    if not all(isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name) for s in fn.body[:-1]):
        return None
    stmts, result = _straight(fn, item)
    if len(stmts) > LIMIT or result is None:
        return None
    return Body(tuple(fn.param_names), tuple(stmts), result, fn.scope)


def _attributes(fn: Function) -> list[Any]:
    """The body with `np.shape(x)` as `x.shape` where x is an array, and likewise for size and ndim."""
    operations = Operations(fn)

    def rewritten(stmt: Any) -> Any:
        value = getattr(stmt, "value", None)
        if isinstance(value, gast.Call) and len(value.args) == 1 and isinstance(value.args[0], gast.Name):
            attr = _ATTRIBUTES.get(operations.function(value))
            if attr is not None and isinstance(operations.kind(value.args[0]), K.Array):
                return core.rebuilt(stmt, value=core.attribute(value.args[0], attr))
        if isinstance(value, gast.Call) and value.keywords:
            kept = [k for k in value.keywords if not _says_nothing(k)]
            return core.rebuilt(stmt, value=core.rebuilt(value, keywords=kept))
        return stmt

    return [rewritten(stmt) for stmt in fn.body]


def _says_nothing(keyword: Any) -> bool:
    """Whether a keyword of a reduction has the value that it has anyway."""
    value = keyword.value
    return isinstance(value, gast.Constant) and (keyword.arg, value.value) in _DEFAULTS


_DEFAULTS = (("axis", None), ("keepdims", False), ("where", True), ("dtype", None), ("out", None))
_ATTRIBUTES: dict[Any, str] = {np.shape: "shape", np.size: "size", np.ndim: "ndim", numeric.shape_of: "shape"}


def _straight(fn: Function, item: int | None) -> tuple[list[Any], Any]:
    """The statements that the wanted result needs, copies resolved; the last one becomes the result's expression."""
    copies: dict[str, Any] = {}
    values: dict[str, Any] = {}
    for stmt in fn.body[:-1]:
        value = core.substitute(stmt.value, copies)
        (name,) = core.writes(stmt)
        if core.is_atom(value):
            copies[name] = value
        else:
            values[name] = core.rebuilt(stmt, value=value)
    result = core.substitute(fn.body[-1].value, copies)
    if item is not None:
        whole = values[result.id].value if isinstance(result, gast.Name) and result.id in values else result
        if not isinstance(whole, gast.Tuple):
            return [], None
        result = whole.elts[item]
    wanted = core.reads(result)
    kept: list[Any] = []
    for name, stmt in reversed(values.items()):
        if name in wanted:
            kept.append(stmt)
            wanted |= core.reads(stmt.value)
    kept.reverse()
    if kept and isinstance(result, gast.Name) and result.id == core.writes(kept[-1])[0]:
        result = kept.pop().value
    return kept, result


class Bodies:
    """Instances of rule bodies in one function."""

    def __init__(self, program: Program, namer: Namer, kind: Callable[[Any], Kind], shapes: Mapping[str, str]) -> None:
        self.program = program
        self.namer = namer
        self.kind = kind
        self.shapes = shapes

    def instance(
        self,
        function: Callable[..., Any],
        args: Mapping[str, Any],
        item: int | None,
        origin: Any,
        kinds: Mapping[str, Kind],
    ) -> tuple[list[Any], Any] | None:
        """Statements and the result's expression; None where the rule must be called.

        args: a node, or a Python object (a default), for each parameter of the body.
        kinds: the kinds of arguments that are no names of the program (`g`, `ans`).
        """
        known = {p: kinds[p] if p in kinds else self.kind_of(v) for p, v in args.items()}
        body = body_of(self.program, function, known, item)
        if body is None or any(not _substitutable(v) for v in args.values()):
            return None
        loads: dict[str, Any] = {p: v if isinstance(v, gast.AST) else core.constant(v) for p, v in args.items()}
        stores: dict[str, str] = {}
        for stmt in body.stmts:
            (name,) = core.writes(stmt)
            stores[name] = self.namer.temporary(core.stem(name))
            loads[name] = core.name(stores[name])
        loads |= self.imported(body, set(loads))
        stmts = [core.place(self.shared(core.substitute(s, loads, stores)), origin) for s in body.stmts]
        return stmts, core.substitute(body.result, loads)

    def shared(self, stmt: Any) -> Any:
        """A read of a shape, read of the array that is canonical for it: the other one need not be kept for that."""
        value = stmt.value
        if (
            isinstance(value, gast.Attribute)
            and value.attr in _ATTRIBUTES.values()
            and isinstance(value.value, gast.Name)
        ):
            canonical = self.shapes.get(value.value.id)
            if canonical is not None and canonical != value.value.id:
                return core.rebuilt(stmt, value=core.attribute(canonical, value.attr))
        return stmt

    def imported(self, body: Body, bound: set[str]) -> dict[str, Any]:
        """Names of the rule's module, under names that mean the same in the program."""
        found = {}
        for name in (core.reads(body.result) | core.reads(list(body.stmts))) - bound:
            value = body.scope.lookup(name)
            if value is not MISSING:
                found[name] = core.name(self.namer.bind(name, value))
        return found

    def kind_of(self, value: Any) -> Kind:
        if isinstance(value, gast.AST):
            return self.kind(value)
        if isinstance(value, tuple) and any(isinstance(v, gast.AST) for v in value):
            return K.Tuple(tuple(map(self.kind_of, value)))
        return K.of_literal(value)


def _substitutable(value: Any) -> bool:
    return isinstance(value, gast.AST) or value is None or isinstance(value, (bool, int, float, str))
