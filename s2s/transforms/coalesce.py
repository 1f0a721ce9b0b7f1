"""Out of single assignment: the versions of a variable become one name again, and the copies between them go.

Two names may be merged if they never hold different values while both are live (Chaitin, "Register allocation and
spilling via graph coloring", 1982): a definition of one interferes with the other if that is live after it, unless the
definition is a copy of it. Copies are merged first, those of inner loops before those of outer ones; then all versions
of one variable, the user's own name first; then temporaries into what they are copied to.

Before that, values are pushed on their tapes as early as possible and popped as late as possible, which shortens their
lives.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import gast

from s2s import core
from s2s.core import Function
from s2s.transforms import effects
from s2s.transforms.liveness import Liveness
from s2s.transforms.renaming import renamed
from s2s.transforms.structure import assigned, captured, copied, defs, statements, with_blocks
from s2s.transforms.sweeps import part_sweeps
from s2s.transforms.task import Task


def coalesce(fn: Function, task: Task) -> Function:
    """`fn` with as few names as its variables need."""
    fn = part_sweeps(move_tape_operations(fn))
    names = _Interference(fn).classes()
    if not names:
        return fn
    return renamed(fn, names)


# --- interference -----------------------------------------------------------------------------------------------


class _Interference:
    """Which names of one function may not share a name, as bit masks."""

    def __init__(self, fn: Function) -> None:
        self.fn = fn
        self.lives = Liveness(fn)
        self.copies: list[tuple[int, str, str]] = []
        self.adjacent: dict[str, int] = {}
        self.group = self._groups()
        self._walk(fn.body, 0, False, 0)
        self._parameters()

    def _groups(self) -> dict[str, int]:
        """For each name, the mask of all names with which it might ever be merged."""
        fixed = captured(self.fn)
        local = dict.fromkeys(self.fn.param_names)
        leader: dict[str, str] = {}

        def find(variable: str) -> str:
            while leader.setdefault(variable, variable) != variable:
                leader[variable] = variable = leader[leader[variable]]
            return variable

        for stmt in statements(self.fn.body):
            if isinstance(stmt, gast.Try):
                fixed |= set(defs(stmt))
            local.update(dict.fromkeys(defs(stmt)))
            copy = copied(stmt)
            if copy is not None and isinstance(copy[1], gast.Name):
                one, other = core.variable(copy[0]), core.variable(copy[1].id)
                if core.is_temporary(one) or core.is_temporary(other):
                    leader[find(one)] = find(other)
        masks: dict[str, int] = {}
        candidates = [n for n in local if n not in fixed]
        for name in candidates:
            root = find(core.variable(name))
            masks[root] = masks.get(root, 0) | self.lives.bit(name)
        return {n: masks[find(core.variable(n))] for n in candidates}

    def _walk(self, block: Sequence[Any], out: int, protected: bool, depth: int) -> None:
        for stmt, after in zip(reversed(block), reversed(self.lives.afters(block, out, protected))):
            deeper = depth + isinstance(stmt, (gast.For, gast.While))
            for inner in self.lives.inner(stmt, after, protected):
                self._walk(inner.block, inner.out, inner.protected, deeper)
            bound = defs(stmt)
            if not bound:
                continue
            live = self.lives.at_definition(stmt, after, protected)
            source = copied(stmt)
            if source is not None and isinstance(source[1], gast.Name):
                live &= ~self.lives.bit(source[1].id)
                self.copies.append((depth, bound[0], source[1].id))
            together = self.lives.mask(bound)
            for name in bound:
                self._interferes(name, live | together)

    def _parameters(self) -> None:
        entry = self.lives.block_before(self.fn.body, 0) | self.lives.mask(self.fn.param_names)
        for name in self.fn.param_names:
            self._interferes(name, entry)

    def _interferes(self, name: str, live: int) -> None:
        group = self.group.get(name)
        if group is not None:
            self.adjacent[name] = self.adjacent.get(name, 0) | (live & group & ~self.lives.bit(name))

    def classes(self) -> dict[str, str]:
        """The new name of each name that changes."""
        classes = _Classes(self)
        # The walk met the last copy first.
        self.copies.reverse()
        copies = [(t, s) for _, t, s in sorted(self.copies, key=lambda c: -c[0])]
        for target, source in copies:
            if core.variable(target) == core.variable(source):
                classes.merge(source, target)
        by_variable: dict[str, list[str]] = {}
        for name in self.group:
            by_variable.setdefault(core.variable(name), []).append(name)
        for members in by_variable.values():
            if len(members) > 1:
                classes.merge_all(members)
        for target, source in copies:
            classes.merge(target, source)
        return classes.names()


class _Classes:
    """Names that were merged so far: a forest of names, with what is known of each class at its root."""

    def __init__(self, graph: _Interference) -> None:
        params = set(graph.fn.param_names)
        self.bit = graph.lives.bit
        self.by_length = {graph.lives.bit(name).bit_length(): name for name in graph.group}
        self.parent = {name: name for name in graph.group}
        self.mask = {name: graph.lives.bit(name) for name in graph.group}
        self.adjacent = {name: graph.adjacent.get(name, 0) for name in graph.group}
        # The one variable of the user's of which names are in the class.
        self.variable = {name: None if core.is_temporary(name) else core.variable(name) for name in graph.group}
        # The best name comes first: a parameter's, the user's plain one, the first version.
        self.name = {
            name: (name not in params, core.is_temporary(name), core.variable(name) != name, name)
            for name in graph.group
        }

    def root(self, name: str) -> str:
        while (parent := self.parent[name]) != name:
            self.parent[name] = name = self.parent[parent]
        return name

    def merge(self, one: str, other: str) -> bool:
        """Let two names share a class; False if they may not."""
        if one not in self.parent or other not in self.parent:
            return False
        a, b = self.root(one), self.root(other)
        if a == b:
            return True
        if self.adjacent[a] & self.mask[b] or self.adjacent[b] & self.mask[a]:
            return False
        if self.variable[a] != self.variable[b] and None not in (self.variable[a], self.variable[b]):
            return False
        self.parent[b] = a
        self.mask[a] |= self.mask.pop(b)
        self.adjacent[a] |= self.adjacent.pop(b)
        self.variable[a] = self.variable[a] or self.variable[b]
        # Of names equally good the class's own is kept.
        if self.name[b][:-1] < self.name[a][:-1]:
            self.name[a] = self.name[b]
        return True

    def first(self, names: int) -> str:
        """The class of the first of some names. The bits of names are in the order of names here."""
        return self.root(self.by_length[(names & -names).bit_length()])

    def merge_all(self, members: Iterable[str]) -> None:
        """Merge the versions of a variable as far as they may be, each with the first class that takes it.

        No class does that holds a name with which it interferes. From one version to the next few such names come and
        go: so how many a class holds is kept along the way.
        """
        merged = 0  # the names of all classes so far
        taken = 0  # the names of classes that hold some with which the version interferes
        interfering, count = 0, Counter[str]()
        for name in members:
            root = self.root(name)
            if self.mask[root] & merged:
                continue
            changed = interfering ^ (self.adjacent[root] & merged)
            interfering ^= changed
            while changed:
                leader = self.first(changed)
                count[leader] += 1 if changed & -changed & interfering else -1
                taken = taken | self.mask[leader] if count[leader] else taken & ~self.mask[leader]
                changed &= changed - 1
            free = merged & ~taken
            while free:
                leader = self.first(free)
                if self.merge(leader, root):
                    break
                free &= ~self.mask[leader]
            merged |= self.mask[self.root(name)]

    def names(self) -> dict[str, str]:
        """The name of its class for each name that changes."""
        best = {name: self.name[self.root(name)][-1] for name in self.parent}
        return {name: new for name, new in best.items() if new != name}


# --- tapes ------------------------------------------------------------------------------------------------------


def move_tape_operations(fn: Function) -> Function:
    """`fn` with pushes moved up to the definition of what they push, pops down to the first use."""
    tapes = effects.tapes(fn)
    if not tapes:
        return fn
    return fn.with_body(_move_in_block(fn.body, tapes, Liveness(fn)))


def _move_in_block(block: Iterable[Any], tapes: frozenset[str], lives: Liveness) -> list[Any]:
    stmts = [with_blocks(s, lambda _, inner: _move_in_block(inner, tapes, lives)) for s in block]
    return _lower_pops(_raise_pushes(stmts, tapes, lives), tapes, lives)


def _raise_pushes(stmts: list[Any], tapes: frozenset[str], lives: Liveness) -> list[Any]:
    new: list[Any] = []
    for stmt in stmts:
        at = len(new)
        if _pushed(stmt, tapes) is not None:
            pushed, tape = stmt.value.args[0].id, lives.bit(stmt.value.func.value.id)
            while at and not _holds_push(new[at - 1], pushed, tape, tapes, lives):
                at -= 1
        new.insert(at, stmt)
    return new


def _pushed(stmt: Any, tapes: frozenset[str]) -> str | None:
    """The name that a statement pushes on a tape."""
    if not isinstance(stmt, gast.Expr) or effects.tape_operation(stmt.value, tapes) is None:
        return None
    value = stmt.value.args[0] if stmt.value.args else None
    return value.id if isinstance(value, gast.Name) else None


def _holds_push(earlier: Any, pushed: str, tape: int, tapes: frozenset[str], lives: Liveness) -> bool:
    """Whether a push may not move above an earlier statement: this assigns the value, or is a push itself."""
    if _pushed(earlier, tapes) is not None or lives.summary(earlier).mentioned & tape:
        return True
    return pushed in core.all_writes(earlier) or pushed in defs(earlier)


def _lower_pops(stmts: list[Any], tapes: frozenset[str], lives: Liveness) -> list[Any]:
    new: list[Any] = []
    for stmt in reversed(stmts):
        at = 0
        name = assigned(stmt)
        if name is not None:
            tape = effects.tape_operation(stmt.value, tapes)
            if tape is not None:
                needed = lives.bit(name) | lives.bit(tape)
                at = next((i for i, later in enumerate(new) if lives.summary(later).mentioned & needed), 0)
        new.insert(at, stmt)
    return new
