"""Which names may be unbound when they are read: those that a program assigns on some paths only.

After `versions` these are meeting names, which only copies read: where one is unbound Python raises, as it should.
What we add to the program, pushes onto tapes and the reverse sweep, must not raise. Where it might, the pass raises
`Unbound`, and the function is compiled anew with the variable bound from the start: it holds `absent` until it is
assigned, and is asked for where the program reads it (`Task.absent`, `versions`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from typing import Any

import gast

from s2s import core
from s2s.core import Function
from s2s.errors import NotCompiled
from s2s.runtime.absent import absent
from s2s.transforms.liveness import Liveness
from s2s.transforms.structure import blocks, copied, definitions_of, defs, statements, uses


class Unbound(NotCompiled):
    """The gradient needs a name where it may not be assigned yet, as its variable is bound to nothing."""

    def __init__(self, name: str, origin: Any) -> None:
        super().__init__(f"the gradient needs `{core.stem(name)}` where it may not be assigned yet", origin=origin)
        self.variable = core.variable(name)


@core.noted
def unbound_reads(fn: Function) -> list[tuple[Any, str]]:
    """The statements that read a local name which may be unbound there, each with the name."""
    return _Reads(fn).of(fn.body)


def may_read_unbound(fn: Function, lives: Liveness) -> bool:
    """Whether a local name is live where the function begins: else none is unbound where it is read."""
    exposed = lives.block_summary(fn.body).gen
    return bool(exposed & lives.mask(fn.local_names().difference(fn.param_names)))


def is_read_first(fn: Function, block: Iterable[Any], name: str) -> bool:
    """Whether a block may read a name before it assigns it."""
    return bool(_Reads(fn, among={name}).of(block))


def unbound_or_carried(fn: Function) -> set[str]:
    """The names that may be unbound where they are read, or at a loop that carries them to its next round."""
    reads, times = _Reads(fn), definitions_of(fn)
    found = {name for _, name in reads.of(fn.body)}
    return found | {name for name in reads.carried if times[name] > 1}


def absent_reads(fn: Function) -> list[tuple[Any, str]]:
    """The statements that read a local name which may be unbound there, or hold `absent`, each with the name."""
    return _Reads(fn, {stmt for stmt, _ in unbinding(fn)}).of(fn.body)


def unbinding(fn: Function) -> Iterator[tuple[Any, str]]:
    """The statements that give a name `absent`, each with the name."""
    local = fn.local_names()
    for stmt in statements(fn.body):
        if type(stmt) is gast.Assign and type(stmt.value) is gast.Name and stmt.value.id not in local:
            copy = copied(stmt)
            if copy is not None and fn.scope.lookup(stmt.value.id) is absent:
                yield stmt, copy[0]


def unsettled(fn: Function) -> set[str]:
    """The names that may be unbound where they are read, or be copies of `absent`."""
    found, unbound = {name for _, name in unbinding(fn)}, {name for _, name in unbound_reads(fn)}
    if not found:
        return unbound
    pairs = [(c[0], c[1].id) for s in statements(fn.body) if (c := copied(s)) and isinstance(c[1], gast.Name)]
    while more := {target for target, source in pairs if source in found} - found:
        found |= more
    return found | unbound


class _Reads:
    """A walk over a function in the order of the program; `unbound` are the local names that may be so where it is.

    Sets of names are the bits of one integer, as in `liveness`.
    """

    def __init__(self, fn: Function, unbinding: Set[Any] = frozenset(), among: Set[str] | None = None) -> None:
        """unbinding: the statements that unbind what they assign. among: the names in question; all, if not given."""
        self.unbinding = unbinding
        names = fn.local_names().difference(fn.param_names) if among is None else among
        self.bits = {name: 1 << i for i, name in enumerate(names)}
        self.unbound = (1 << len(names)) - 1
        self.carried: set[str] = set()  # those that loops carry, and that may be unbound before
        self.found: list[tuple[Any, str]] = []

    def of(self, stmts: Iterable[Any]) -> list[tuple[Any, str]]:
        """The statements of a block that read a name which may be unbound, each with the name."""
        self.block(stmts)
        return self.found

    def among(self, names: Iterable[str]) -> int:
        """Those of some names that are in question."""
        mask, bits = 0, self.bits
        for name in names:
            if name in bits:
                mask |= bits[name]
        return mask

    def block(self, stmts: Iterable[Any]) -> None:
        for stmt in stmts:
            read = self.unbound & self.among(uses(stmt))
            if read:
                self.found += [(stmt, name) for name in sorted(set(uses(stmt))) if read & self.among([name])]
                self.unbound &= ~read  # else this statement has raised
            kind = type(stmt)
            if kind is gast.If and not core.is_exit(stmt):
                self.unbound = self.after(stmt.body) | self.after(stmt.orelse)
            elif kind is gast.For or kind is gast.While:
                self.carried.update(n for n in headers_of(stmt.body) if self.unbound & self.among([n]))
                before = self.unbound  # the loop may make no round
                self.unbound &= ~self.among(core.writes(stmt))
                self.block(stmt.body)
                self.unbound |= before
            elif kind is gast.Raise:
                self.unbound = 0  # nothing after it runs
            elif stmt in self.unbinding:
                self.unbound |= self.among(core.writes(stmt))
            else:
                self.unbound &= ~self.among(core.writes(stmt))
                if kind is not gast.Assign:
                    for _, inner in core.blocks(stmt):
                        self.block(inner)

    def after(self, stmts: Iterable[Any]) -> int:
        """The names that may be unbound after a block, if that is the one that runs."""
        before = self.unbound
        self.block(stmts)
        after, self.unbound = self.unbound, before
        return after


def headers_of(stmts: Sequence[Any]) -> dict[str, str]:
    """The meeting names of a loop: the copies that end its body, by name; what they copy."""
    rest = [s for s in stmts if not core.is_exit(s)]
    found: dict[str, str] = {}
    read: set[str] = set()  # by the copies that follow: what they read is no meeting name, but a variable of the body
    for stmt in reversed(rest):
        copy = copied(stmt)
        if copy is None or not isinstance(copy[1], gast.Name):
            break
        if copy[0] not in read:
            found[copy[0]] = copy[1].id
        read.add(copy[1].id)
    return found


def may_be_unbound(fn: Function) -> set[str]:
    """The variables that may be read before they are assigned, as far as the structure tells.

    Temporaries are assigned before they are read, by construction.
    """
    return {name for _, name in unbound_reads(fn) if not core.is_temporary(name)}


def may_read_deleted(fn: Function) -> bool:
    """Whether a variable that is deleted may be read before it is assigned again."""
    deleted = {name for s in statements(fn.body) if isinstance(s, gast.Delete) for name in defs(s)}
    return bool(deleted) and bound_after(fn.body, set(fn.param_names), deleted) is None


def bound_after(block: Iterable[Any], bound: set[str], variables: Set[str]) -> set[str] | None:
    """The variables that are certainly bound after a block; None if it may read one that is not."""
    for stmt in block:
        if any(name in variables and name not in bound for name in uses(stmt)):
            return None
        inner = {field: bound_after(stmts, bound | set(defs(stmt)), variables) for field, stmts in blocks(stmt)}
        then, other = inner.get("body", bound), inner.get("orelse", bound)
        if then is None or other is None:
            return None
        if isinstance(stmt, gast.Try):
            if None in inner.values():
                return None
            bound = set.intersection(*(inner[field] or set() for field, _ in blocks(stmt)))
        elif isinstance(stmt, gast.If):
            bound = then & other
        elif isinstance(stmt, gast.Delete):
            bound = bound - set(defs(stmt))
        elif isinstance(stmt, gast.Raise):
            bound = set(variables)  # nothing after it runs
        elif not isinstance(stmt, (gast.For, gast.While)):
            bound = bound | set(defs(stmt))
    return bound


def is_bound_first(loop: Any, name: str) -> bool:
    """Whether the body of a loop surely binds a name before it reads it."""
    return bound_after(loop.body, set(), {name}) is not None
