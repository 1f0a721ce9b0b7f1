"""Nested functions that call themselves: each becomes a function of its own, which takes the variables that it reads.

    def power(v, k): return 1.0 if k == 0 else s * v * power(v, k - 1)
    y = power(x, n)

    def power(v, k, s): return 1.0 if k == 0 else s * v * power(v, k - 1, s)        a function around which nothing is
    y = power(x, n, s)

A call of it stays a call, as that of any function that calls itself.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from types import FunctionType
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import gast

from s2s import core
from s2s.codegen.build import build
from s2s.core import Function
from s2s.errors import NotCompiled
from s2s.transforms.parameters import bind_arguments, defaults_of
from s2s.transforms.structure import with_blocks
from s2s.transforms.usercalls import in_form

if TYPE_CHECKING:
    from s2s.transforms.inline import _Inliner


# By the text, and what the free names in it mean: who compiles a program again finds the same functions.
_LIFTED: WeakValueDictionary[Hashable, FunctionType] = WeakValueDictionary()


def place_of(function: Any) -> Hashable:
    """Where a nested function is defined: what it is known by when a program is gone through again."""
    return core.stem(function.name), core.origin_of(function)


def call_of(run: _Inliner, stmt: Any, call: Any, function: Any) -> list[Any] | None:
    """What takes the place of a call of a nested function that calls itself; None for a wrong call."""
    lifting = _Lifting(run, function)
    given = lifting.bound(call)
    if given is None:
        return None
    lifted = lifting.lifted()
    arguments = dict(zip(lifting.names.values(), [*given, *map(core.name, lifting.variables)], strict=True))
    call = core.rebuilt(call, func=core.name(run.importer.bind(core.stem(function.name), lifted)))
    return run.formed(
        stmt, call, core.stem(function.name), arguments, run.lower(lifted),
        lambda fixed: in_form(lifted, fixed),
    )  # fmt: skip


class _Lifting:
    """A nested function on its way out of the program.

    itself: the names that it has in the program. variables: those around it that it reads.
    names: the parameters of the function that it becomes, by what they are in the program.
    """

    def __init__(self, run: _Inliner, function: Any) -> None:
        self.run = run
        self.function = function
        self.origin = core.origin_of(function) or run.fn.origin
        params = function.args
        if core.rebound(function) - core.own_names(function):
            raise self.refusal("rebinds names outside of itself")
        if params.vararg is not None or params.kwarg is not None:
            raise self.refusal("takes `*` or `**`")
        place = place_of(function)
        self.itself = {n for n, f in run.known.items() if isinstance(f, gast.FunctionDef) and place_of(f) == place}
        others = run.derivatives.called(function, dict.fromkeys(self.itself))
        inner = [f for f in others.values() if f is not None]
        self.body = [*inner, *function.body]
        if not self.itself.isdisjoint(core.reads(inner)):
            raise self.refusal("is called by another one that it calls")
        self.own = core.own_names(function) | {f.name for f in inner}
        free = set(core.reads(self.body) - self.own - self.itself)
        self.constants, self.variables = run.derivatives.captured(free, self.origin)
        self.names: dict[str, str] = {}
        self.params = [p.id for p in core.parameters(params)]
        taken = free - set(self.variables)
        for name in [*self.params, *self.variables, *sorted(self.own - set(self.params))]:
            self.names[name] = core.unique(core.stem(name), taken.__contains__)
            taken.add(self.names[name])
        self.all_names = dict(self.names)
        self.names = {name: self.names[name] for name in (*self.params, *self.variables)}

    def refusal(self, why: str) -> NotCompiled:
        return NotCompiled(
            f"recursive call of the nested function {core.stem(self.function.name)}, which {why}", origin=self.origin
        )

    def bound(self, call: Any) -> list[Any] | None:
        """The arguments of a call, one for each parameter; None for a wrong call."""
        if any(isinstance(a, gast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
            raise self.refusal("is called with `*` or `**`")
        stems = {core.stem(name): name for name in self.params}
        renamed = core.substitute(self.function.args, {}, {name: stem for stem, name in stems.items()})
        given = bind_arguments(renamed, call.args, {k.arg: k.value for k in call.keywords})
        if given is None:
            return None
        found = defaults_of(renamed) | given
        if not all(isinstance(node, gast.Constant) for name, node in found.items() if name not in given):
            raise self.refusal("has defaults that are not constants")
        return [found[core.stem(name)] for name in self.params]

    def lifted(self) -> FunctionType:
        """The function, which finds itself in a cell of its own; one and the same for one text over the same things."""
        scope = self.run.importer.scope
        read = core.reads(self.body) | {node.id for node in self.constants.values()}
        scope = replace(scope, names={n: value for n, value in scope.names.items() if n in read})
        taken = {*self.all_names.values(), *self.itself}
        scope, name = scope.bind(core.stem(self.function.name), self, taken)
        body = [self.calling(s, name) for s in self.body]
        if any(not self.itself.isdisjoint(core.reads([s])) for s in body):
            raise self.refusal("is more than called")
        moved = tuple(core.substitute(s, self.constants | self.all_names, self.all_names) for s in body)
        params = core.positional(self.names.values())
        name_of_all = core.stem(self.function.name)
        built = build(Function(name_of_all, params, moved, scope, self.origin), filename_hint=f"nested {name_of_all}")
        function = built.function
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
        if name in cells:
            cells.pop(name).cell_contents = function
        held = tuple((free, id(cell.cell_contents)) for free, cell in cells.items() if free in scope.names)
        return _LIFTED.setdefault((built.source, id(scope.globals), self.origin, held), function)

    def calling(self, stmt: Any, name: str) -> Any:
        """A statement in which the function calls the one that it becomes."""
        if isinstance(stmt, gast.FunctionDef):
            return core.rebuilt(stmt, body=[self.calling(s, name) for s in stmt.body])
        if isinstance(stmt, gast.Assign) and getattr(stmt.value, "id", None) in self.itself:
            self.itself |= {*core.writes(stmt)} if core.is_temporary(stmt.targets[0].id) else set()
            return core.place(gast.Pass(), core.origin_of(stmt)) if core.writes(stmt)[0] in self.itself else stmt
        stmt = with_blocks(stmt, lambda _, block: [self.calling(s, name) for s in block])
        call = getattr(stmt, "value", None)
        if not isinstance(call, gast.Call) or getattr(call.func, "id", None) not in self.itself:
            return stmt
        given = self.bound(call)
        if given is None:
            raise self.refusal("is called with other arguments than it takes")
        args = [*given, *map(core.name, self.variables)]
        return core.rebuilt(stmt, value=core.rebuilt(call, func=core.name(name), args=args, keywords=[]))
