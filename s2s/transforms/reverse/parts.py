"""Which containers have a shadow that is a part of another one's.

`t = h[i]` of a list of lists needs no shadow of its own: what arrives at t is put into `h_bar[i]` at once. That is
right as long as `h_bar` has an item at i which is that of t: from the read to the last use of t, h must hold what it
held. Where it may be given other items meanwhile, or t is written into, t has a shadow of its own, which is added where
the read is reversed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import gast

from s2s import core
from s2s import kinds as K
from s2s.core import Function
from s2s.runtime import stores as S
from s2s.transforms.aliases import Aliases
from s2s.transforms.inplace import ITEM_WRITES
from s2s.transforms.liveness import Liveness
from s2s.transforms.operations import Operations
from s2s.transforms.structure import statements


def parts_of(fn: Function, operations: Operations) -> dict[str, Any]:
    """The containers that are read as parts of active containers, each with the read.

    A slice is no part: it is a list of its own.
    """
    found = dict(_reads(fn, operations.kind))
    if found and fn.facts.storages:
        for name in _Detached(fn, operations, found).names:
            del found[name]
    return found


def is_slice(index: Any, kind: Callable[[Any], K.Kind]) -> bool:
    """Whether an index is a slice."""
    return isinstance(index, gast.Slice) or isinstance(kind(index), K.Slice)


def _reads(fn: Function, kind: Callable[[Any], K.Kind]) -> Iterator[tuple[str, Any]]:
    for stmt in statements(fn.body):
        value: Any = getattr(stmt, "value", None)
        if not isinstance(stmt, gast.Assign) or not isinstance(value, (gast.Attribute, gast.Subscript)):
            continue
        if isinstance(value, gast.Subscript) and is_slice(value.slice, kind):
            continue
        if K.children(kind(value.value)) is None or not core.reads(value.value) & fn.facts.active:
            continue
        for name in core.writes(stmt):
            if K.children(kind(core.name(name))) is not None:
                yield name, value


class _Detached:
    """The parts that are used after the container that they were read from may have got other items."""

    def __init__(self, fn: Function, operations: Operations, parts: Mapping[str, Any]) -> None:
        self.operations = operations
        self.parts = parts
        self.storages = fn.facts.storages
        self.aliases = Aliases(fn, operations)
        self.lives = Liveness(fn)
        self.names = set(parts) & set(self.storages.values())  # those that are written into have versions
        self.block(fn.body, 0)

    def block(self, stmts: Sequence[Any], out: int) -> None:
        for stmt, live in zip(stmts, self.lives.afters(stmts, out)):
            written = self.written(stmt)
            if written is not None:
                for part in self.parts:
                    if live & self.lives.bit(part):
                        self.look(part, written)
            for inner in self.lives.inner(stmt, live):
                self.block(inner.block, inner.out)

    def written(self, stmt: Any) -> str | None:
        """The container that a statement gives other items."""
        if not isinstance(stmt, gast.Assign) or not isinstance(stmt.value, gast.Call):
            return None
        if self.operations.function(stmt.value) not in ITEM_WRITES - {S.seen, S.seen_item}:
            return None
        x = stmt.value.args[0]
        return x.id if isinstance(x, gast.Name) and K.children(self.operations.kind(x)) is not None else None

    def look(self, part: str, written: str) -> None:
        """Detach the part, or what it is a part of in turn, if the write may be into its owner."""
        while part in self.parts:
            owner = self.parts[part].value.id
            if self.may_be_one(owner, written):
                self.names.add(part)
            part = owner

    def may_be_one(self, owner: str, written: str) -> bool:
        if self.storages.get(owner, owner) == self.storages.get(written, written):
            return True
        kinds = [self.operations.kind(core.name(n)) for n in (owner, written)]
        return self.aliases.find(owner) == self.aliases.find(written) and _alike(*kinds)


def _alike(one: K.Kind, other: K.Kind) -> bool:
    """Whether two containers may be one: not where the items of one are containers and those of the other are none."""
    depths = [{K.children(item) is not None for item in K.children(kind) or ()} for kind in (one, other)]
    return not depths[0] or not depths[1] or bool(depths[0] & depths[1])
