"""Functions whose rule is a decomposition get a twin: the same value, computed by operations that have rules.

The user's own call stays as it is, so that the value does not change by a bit; its derivative is its twin's
(`facts.twins`). What the reverse sweep does not read of the twin is dead and is dropped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import gast

from s2s import core
from s2s import kinds as K
from s2s.core import Function
from s2s.errors import NotCompiled
from s2s.kinds import Kind
from s2s.transforms.activity import activity
from s2s.transforms.copies import copies
from s2s.transforms.infer import infer
from s2s.transforms.loops import loops
from s2s.transforms.mutation import mutation
from s2s.transforms.operations import Operation, Operations
from s2s.transforms.prune import prune
from s2s.transforms.rulebody import Namer
from s2s.transforms.scalarise import scalarise
from s2s.transforms.sequences import sequences
from s2s.transforms.stores import stores
from s2s.transforms.structure import with_blocks
from s2s.transforms.task import Task
from s2s.transforms.versions import versions

DEPTH = 8
_ANALYSE = (versions, copies, infer, prune, mutation, loops, scalarise, copies, infer, sequences, stores)


def expand(fn: Function, task: Task) -> Function:
    """`fn` with twins for the active calls of functions that have a decomposition."""
    for _ in range(DEPTH):
        run = _Expand(fn, task)
        body = run.block(fn.body)
        if not run.twins:
            return fn
        twins = {**fn.facts.twins, **run.twins}
        fn = replace(fn, body=tuple(body), scope=run.namer.scope)
        fn = fn.with_facts(twins=twins, storages=run.storages)
        fn = activity(prune(infer(fn, task), task), task)
    raise NotCompiled("decompositions nest too deeply", origin=fn.origin)


class _Expand:
    def __init__(self, fn: Function, task: Task) -> None:
        self.program = task.program
        self.fn = fn
        self.namer = Namer(fn)
        self.operations = Operations(fn)
        self.twins: dict[str, str] = {}
        self.storages = dict(fn.facts.storages)

    def block(self, stmts: Sequence[Any]) -> list[Any]:
        new: list[Any] = []
        for stmt in stmts:
            found = self.active_call(stmt)
            if found is not None:
                (name,) = core.writes(stmt)
                twin, body = self.twin(found, core.origin_of(stmt))
                self.twins[name] = twin
                new.extend(body)
            new.append(with_blocks(stmt, lambda _, block: self.block(block)))
        return new

    def active_call(self, stmt: Any) -> Operation | None:
        if not isinstance(stmt, gast.Assign) or not isinstance(stmt.targets[0], gast.Name):
            return None
        name = stmt.targets[0].id
        if name not in self.fn.facts.active or name in self.fn.facts.twins:
            return None
        found = self.operations.find(stmt.value)
        return found if found is not None and found.rule.decomposition is not None else None

    def twin(self, found: Operation, origin: Any) -> tuple[str, list[Any]]:
        """The statements of the decomposition for these arguments, and the name of their result."""
        stmts: list[Any] = []
        body, result = self.spliced(found.rule.decomposition, found.bound, stmts, origin)
        name = self.namer.temporary(found.rule.name)
        return name, [*stmts, *body, core.assign(name, result, origin)]

    def atom(self, value: Any, stmts: list[Any], origin: Any) -> Any:
        if isinstance(value, gast.AST) and not core.is_atom(value):
            held = self.namer.temporary("t")
            stmts.append(core.assign(held, value, origin))
            return core.name(held)
        if isinstance(value, gast.AST) or value is None or isinstance(value, (bool, int, float, str)):
            return core.atom(value) if isinstance(value, gast.AST) else core.constant(value)
        return core.name(self.namer.bind("default", value))

    def kind(self, value: Any) -> Kind:
        """The kind of an argument: a node, or a default."""
        return self.operations.kind(value) if isinstance(value, gast.AST) else K.of_literal(value)

    def spliced(self, function: Any, bound: Mapping[str, Any], stmts: list[Any], origin: Any) -> tuple[list[Any], Any]:
        """The body of a plain function for given arguments, under names of this function."""
        inner, bound = opened(self.program.lower(function), bound)
        args = {p: self.atom(v, stmts, origin) for p, v in bound.items()}
        task = Task("primal", self.program, kinds={p: self.kind(v) for p, v in bound.items()})
        for step in _ANALYSE:
            inner = step(inner, task)
        if inner.facts.written:
            raise NotCompiled(f"the decomposition of `{function.__name__}` writes into an argument", origin=origin)
        own = {n: self.namer.temporary(core.stem(n)) for n in inner.local_names() - set(args)}
        self.storages.update({own[n]: own[storage] for n, storage in inner.facts.storages.items()})
        loads: dict[str, Any] = {**args, **{n: core.name(new) for n, new in own.items()}}
        for free in core.reads(list(inner.body)) - set(loads):
            value = inner.scope.lookup(free)
            if value is not core.MISSING:
                loads[free] = core.name(self.namer.bind(free, value))
        body = [self.placed(core.substitute(s, loads, own), origin) for s in inner.body]
        return body[:-1], body[-1].value

    def placed(self, stmt: Any, origin: Any) -> Any:
        """A statement of the decomposition, at the place of the call."""
        new = core.rebuilt(with_blocks(stmt, lambda _, block: [self.placed(s, origin) for s in block]))
        new.origin = origin
        return new


def opened(fn: Function, bound: Mapping[str, Any]) -> tuple[Function, dict[str, Any]]:
    """A function and the values of its parameters, of which those of a variadic one have a parameter each."""
    variadic = getattr(fn.params.vararg, "id", None)
    if variadic is None:
        return fn, dict(bound)
    values = bound[variadic]
    items = [core.unique(f"{variadic}_{i}", fn.local_names().__contains__) for i in range(len(values))]
    params = core.rebuilt(fn.params, args=[*fn.params.args, *(core.name(n, gast.Param) for n in items)], vararg=None)
    display = core.assign(variadic, gast.Tuple([core.name(n) for n in items], gast.Load()), fn.origin)
    rest = {p: v for p, v in bound.items() if p != variadic}
    return replace(fn, params=params, body=(display, *fn.body)), {**rest, **dict(zip(items, values, strict=True))}
