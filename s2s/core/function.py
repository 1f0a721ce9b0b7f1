"""A function in Core Python, what its free names mean, and what passes have found out about it."""

from __future__ import annotations

import builtins
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import is_
from types import CellType, MappingProxyType
from typing import Any

import gast

from s2s.core.names import unique
from s2s.core.nodes import Origin, all_writes, parameters
from s2s.kinds import Kind


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"


MISSING: Any = _Missing()
NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True)
class Scope:
    """What the free names of a function mean.

    `globals` and `cells` are the user's own, live. `names` are bound by us around the generated function: runtime
    helpers, rules, defaults that are no literals. `names` shadow nothing: a fresh name is chosen by `bind`.
    """

    globals: Mapping[str, Any]
    cells: Mapping[str, CellType] = field(default_factory=dict)
    names: Mapping[str, Any] = field(default_factory=dict)

    def lookup(self, name: str) -> Any:
        """The object that a free name refers to now, or MISSING."""
        if name in self.names:
            return self.names[name]
        if name in self.cells:
            try:
                return self.cells[name].cell_contents
            except ValueError:
                return MISSING
        if name in self.globals:
            return self.globals[name]
        return getattr(builtins, name, MISSING)

    def bind(self, hint: str, value: Any, taken: Iterable[str] = ()) -> tuple[Scope, str]:
        """A scope in which a name means `value`, and that name: an existing one, or `hint`, made unique."""
        for name, held in self.names.items():
            if held is value:
                return self, name
        if self.lookup(hint) is value and hint not in taken:
            return self, hint
        name = self._free(hint, taken)
        return replace(self, names={**self.names, name: value}), name

    def bind_cell(self, hint: str, cell: CellType, taken: Iterable[str] = ()) -> tuple[Scope, str]:
        """A scope in which a name means what a cell holds, now or later, and that name."""
        for name, held in self.cells.items():
            if held is cell:
                return self, name
        name = self._free(hint, taken)
        return replace(self, cells={**self.cells, name: cell}), name

    def _free(self, hint: str, taken: Iterable[str]) -> str:
        return unique(hint, lambda n: n in taken or n in self.cells or self.lookup(n) is not MISSING)


@dataclass(frozen=True)
class PairCall:
    """A call whose value comes from a forward sweep; see `transforms.callpairs`.

    pair: the compiled sweeps. backward: the name of the reverse sweep. residuals: the name of what it is called with.
    operands: the names whose cotangents it returns.
    """

    pair: Any
    backward: str
    residuals: str
    operands: tuple[str, ...]


@dataclass(frozen=True)
class Facts:
    """What passes have found out, by name (each name has one meaning after the `versions` pass).

    kinds: what is known of the value.
    leaves: names that hold an item of a container argument: the argument and the item's path in it.
    twins: a name whose derivative is that of another one, which computes the same (a decomposition).
    shapes: the name whose array has the same shape, for arrays known to share theirs (a canonical one).
    parts: of a canonical name whose shape is the broadcast of others: the canonical names of those.
    within: of a canonical name whose shape is that of a reduction that keeps its axes: the shape that was reduced.
    ints, lengths: the terms of integers, and of the lengths of the axes of arrays (`transforms.dims`).
    active: names whose derivative is wanted.
    storages: names for the contents of memory after a write, and the name of that memory (`stores`).
    saved: by such a name, the name that holds what the write has overwritten, where the reverse sweep asks for it.
    written: arguments that the program writes into: it works on copies of them.
    bound: what names find objects of which methods and attributes are taken as they were when compiling.
    repeatable: whether it can be run again without anybody noticing (`repeats`).
    calls: the calls of forward sweeps, by the name of the value.
    tapes: the names whose values are pushed, by tape.
    fresh: parameters whose cotangent the reverse sweep makes anew, so that nobody else holds it.
    """

    kinds: Mapping[str, Kind] = field(default_factory=dict)
    shapes: Mapping[str, str] = field(default_factory=dict)
    parts: Mapping[str, frozenset[str]] = field(default_factory=dict)
    within: Mapping[str, str] = field(default_factory=dict)
    ints: Mapping[str, Any] = field(default_factory=dict)
    lengths: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    active: frozenset[str] = frozenset()
    twins: Mapping[str, str] = field(default_factory=dict)
    leaves: Mapping[str, tuple[str, tuple[Any, ...]]] = field(default_factory=dict)
    storages: Mapping[str, str] = field(default_factory=dict)
    saved: Mapping[str, str] = field(default_factory=dict)
    written: tuple[str, ...] = ()
    bound: frozenset[str] = frozenset()
    repeatable: bool = False
    calls: Mapping[str, PairCall] = field(default_factory=dict)
    tapes: Mapping[str, str] = field(default_factory=dict)
    fresh: frozenset[str] = frozenset()

    @cached_property
    def effects(self) -> dict[Any, Any]:
        """What follows for the effects of expressions: `transforms.effects` fills it, one pass for the next."""
        return {}

    def without_shapes_of(self, names: Collection[str]) -> Facts:
        """The facts without what they say of shapes in terms of some names, as these have more than one."""
        shapes = {n: shape for n, shape in self.shapes.items() if n not in names and shape not in names}
        parts = {n: p for n, p in self.parts.items() if n not in names and p.isdisjoint(names)}
        within = {n: whole for n, whole in self.within.items() if n not in names and whole not in names}
        return replace(self, shapes=shapes, parts=parts, within=within)


@dataclass(frozen=True)
class Function:
    """A function in Core Python: what every pass takes and gives."""

    name: str
    params: gast.arguments
    body: tuple[gast.stmt, ...]
    scope: Scope
    origin: Origin
    doc: str | None = None
    facts: Facts = Facts()

    def with_body(self, body: Iterable[gast.stmt]) -> Function:
        """The function with other statements; itself, if they are the same ones."""
        new = tuple(body)
        return self if len(new) == len(self.body) and all(map(is_, new, self.body)) else replace(self, body=new)

    def with_facts(self, **changes: Any) -> Function:
        """The function with other facts; what was noted of its text holds for it, too."""
        new = object.__new__(Function)
        new.__dict__.update(self.__dict__, facts=replace(self.facts, **changes))
        return new

    @property
    def param_names(self) -> list[str]:
        return [p.id for p in parameters(self.params)]

    def local_names(self) -> set[str]:
        return set(self._local_names)

    @cached_property
    def _local_names(self) -> frozenset[str]:
        return frozenset(self.param_names).union(*map(all_writes, self.body))
