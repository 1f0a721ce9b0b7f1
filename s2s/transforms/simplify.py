"""Differentiation writes more than is needed; this pass takes it out again, to a fixed point.

`propagate` puts copies and known values in place and shortens operations, `remove_dead` drops what nothing needs.
Reads that cost nothing (`x.shape`, `len(x)`, `range(n)`) are done again where they are needed instead of being kept
in a name, as a person would write them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any

import gast

from s2s import core
from s2s import kinds as K
from s2s.core import Function
from s2s.transforms.dead import remove_dead
from s2s.transforms.delay import delay
from s2s.transforms.effects import Knowledge
from s2s.transforms.exits import direct_exits
from s2s.transforms.propagate import propagate
from s2s.transforms.structure import (
    COMPOUND,
    all_defs,
    assigned,
    captured,
    definitions_of,
    is_reverse,
    like,
    loads,
    reads_of,
    replace_reads,
    statements,
    uses,
    with_blocks,
)  # fmt: skip
from s2s.transforms.task import Task

_ROUNDS = 5
_MERGED = (gast.BinOp, gast.UnaryOp)
_FIXED_ATTRIBUTES = ("shape", "ndim", "size", "T", "dtype")


def simplify(fn: Function, task: Task) -> Function:
    """`fn` in fewer and shorter statements, which compute the same."""
    known = Knowledge(fn)
    before = None
    for _ in range(_ROUNDS):
        shorter = propagate(delay(fn, known), known)
        if before is not None and shorter is fn:
            break
        before, fn = fn, remove_dead(shorter, known)
        if before is fn or is_settled(before, fn):
            break
    plainer = direct_exits(fn, known)
    if plainer is not fn:
        fn = remove_dead(plainer, known)
    return known.noted(read_again(fn, known))


def is_settled(before: Function, fn: Function) -> bool:
    """Whether another round would find nothing, after one that made `fn` of `before`.

    Rounds find more where dead code has gone: what was assigned elsewhere, too, is known now; all reads of a copy may
    stand in one block (`delay`); an operation whose result only one statement of the reverse sweep reads is merged with
    that one (`peephole`).
    """
    reads = reads_of(fn)
    changed = {name for name, _ in reads.items() - reads_of(before).items()}
    if any(reads[name] for name, _ in definitions_of(before).items() - definitions_of(fn).items()):
        return False
    old, new = set(statements(before.body)), statements(fn.body)
    once: set[str] = set()
    for stmt in new:
        name = assigned(stmt)
        if name is not None:
            if type(stmt.value) is gast.Name and name in changed and is_reverse(stmt):
                return False
            if type(stmt.value) in _MERGED and reads[name] == 1:
                once.add(name)
    ours = [stmt for stmt in new if is_reverse(stmt) and not once.isdisjoint(uses(stmt))]
    return all(stmt in old and changed.isdisjoint(once.intersection(uses(stmt))) for stmt in ours)


def read_again(fn: Function, known: Knowledge) -> Function:
    """`fn` with reads that cost nothing done where their value is used."""
    return _Rereading(fn, known).run()


def _without(block: Sequence[Any], needless: Set[Any]) -> list[Any]:
    """A block without some statements."""
    kept = [s for s in block if s not in needless]
    return [with_blocks(s, lambda _, b: _without(b, needless)) if type(s) in COMPOUND else s for s in kept]


class _Rereading:
    def __init__(self, fn: Function, known: Knowledge) -> None:
        self.fn = fn
        self.known = known
        self.lives = known.liveness(fn)
        self.definitions = Counter(fn.param_names)
        self.definitions.update(definitions_of(fn))
        self.reads = reads_of(fn)
        self.left = Counter(self.reads)  # how often names are read once that is done
        self.versions = Counter(map(core.variable, self.definitions))
        self.fixed = captured(fn)
        self.shaped = list(fn.param_names)
        self.owners: set[str] = set()  # names of which reads are done again, which may be assigned again
        self.cheap: list[Any] = []  # what reads at no cost, in the order of the program
        targets = [s.targets[0] for s in statements(fn.body) if type(s) is gast.Assign]
        self.safe = gast.Attribute not in map(type, targets)

    def run(self) -> Function:
        if not self.safe:
            return self.fn
        body = self.block(self.fn.body, {}, 0, False)
        needless = set(self.needless())
        return self.fn.with_body(_without(body, needless) if needless else body)

    def needless(self) -> Iterator[Any]:
        """The reads of which nothing is read any more, as all was read again."""
        for stmt in reversed(self.cheap):
            effects = self.known.effects(stmt.value, is_reverse(stmt))
            if not (self.left[stmt.targets[0].id] or effects.raises or effects.writes):
                self.left.subtract(uses(stmt))
                yield stmt

    def block(self, stmts: Iterable[Any], outer: Mapping[str, Any], out: int, protected: bool) -> list[Any]:
        """The block with reads put before the statements that use them; `outer`: reads that hold all through it."""
        stmts = list(stmts)
        cheap = dict(outer)
        new: list[Any] = []
        known_before = len(self.shaped)
        for stmt, live in zip(stmts, self.lives.afters(stmts, out, protected)):
            read = [n for n in uses(stmt) if n in cheap]
            if read and not isinstance(stmt, (gast.While, gast.FunctionDef)):
                again = self.repeated(read, cheap, self.lives.before(stmt, live), stmt, new)
                if again:
                    stmt = self.replaced(stmt, again)
            changed = self.owners.intersection(all_defs(stmt))
            if changed:
                for held in [n for n, s in cheap.items() if not changed.isdisjoint((n, *loads(s.value)))]:
                    del cheap[held]
            new.append(self.lives.with_inner(stmt, live, protected, lambda b, o, p: self.block(b, cheap, o, p)))
            name = assigned(stmt)
            if name is not None and self.is_cheap(name, stmt):
                cheap[name] = stmt
                self.cheap.append(stmt)
            if name is not None and not core.is_temporary(name) and not is_reverse(stmt):
                self.shaped.append(name)
        del self.shaped[known_before:]
        return new

    def repeated(
        self, names: Iterable[str], cheap: Mapping[str, Any], live: int, stmt: Any, new: list[Any]
    ) -> dict[str, str]:
        """Do reads again before a statement, parts first (`len(x)` before `range(len(x))`); returns their new names."""
        made: dict[str, str] = {}
        for name in dict.fromkeys(names):
            value = self.read_of_user(cheap[name].value, live)
            if not self.stays_alive(value, cheap, live):
                continue
            if value is cheap[name].value and self.stands_before(name, stmt, cheap, new):
                continue
            parts = self.repeated([n for n in loads(value) if n in cheap], cheap, live, stmt, new)
            made[name] = self.known.fresh(core.stem(name), self.known.kind(core.name(name)), None)
            read = like(core.assign(made[name], core.substitute(value, parts), None), stmt)
            self.left.update(uses(read))
            self.cheap.append(read)
            new.append(read)
        return made

    def replaced(self, stmt: Any, again: Mapping[str, str]) -> Any:
        """A statement that reads again under other names."""
        changed = replace_reads(stmt, again)
        self.left.subtract(uses(stmt))
        self.left.update(uses(changed))
        return changed

    def stands_before(self, name: str, stmt: Any, cheap: Mapping[str, Any], new: Sequence[Any]) -> bool:
        """Whether a read is done right before a statement anyway, for it alone."""
        if self.reads[name] != 1 or not isinstance(cheap[name].value, gast.Attribute):
            return False
        for earlier in reversed(new):
            if earlier is cheap[name]:
                return is_reverse(earlier) == is_reverse(stmt) and core.origin_of(earlier) == core.origin_of(stmt)
            if assigned(earlier) not in cheap:
                return False
        return False

    def read_of_user(self, value: Any, live: int) -> Any:
        """`t.shape` of a temporary as `x.shape` of a variable that has the same shape and is kept anyway."""
        if not isinstance(value, gast.Attribute) or value.attr not in ("shape", "ndim", "size"):
            return value
        shape = self.known.shapes.get(value.value.id)
        if shape is None or not core.is_temporary(value.value.id):
            return value
        for name in self.shaped:
            if self.known.shapes.get(name) == shape and self.definitions[name] == 1 and self.lives.bit(name) & live:
                return core.attribute(name, value.attr)
        return value

    def is_cheap(self, name: str, stmt: Any) -> bool:
        """Whether a statement reads, at no cost, what stays the same for ever."""
        value = stmt.value
        owners = loads(value)
        if not core.is_temporary(name) or not self.fixed.isdisjoint((name, *owners)):
            return False
        if self.is_neighbour(value) and name not in owners:
            self.owners.update((name, *owners))
            return True
        if any(n in self.known.local and self.definitions[n] != 1 for n in (name, *owners)):
            return False
        if isinstance(value, gast.Attribute):
            return value.attr in _FIXED_ATTRIBUTES and isinstance(self.known.kind(value.value), K.Array)
        if not isinstance(value, gast.Call) or value.keywords:
            return False
        function = self.known.function(value)
        if function is len:
            return isinstance(self.known.kind(value.args[0]), (K.Array, K.Tuple, K.Range))
        return function is range and not self.known.effects(value).writes

    def is_neighbour(self, value: Any) -> bool:
        """Whether a value is `i + 1` or `i - 1` of an integer, as indices are."""
        if not isinstance(value, gast.BinOp) or not isinstance(value.op, (gast.Add, gast.Sub)):
            return False
        number, name = getattr(value.right, "value", None), value.left
        return type(number) is int and isinstance(name, gast.Name) and isinstance(self.known.kind(name), K.Int)

    def stays_alive(self, value: Any, cheap: Mapping[str, Any], live: int) -> bool:
        """Whether what is read is there anyway, or may be kept without taking a name from another version."""
        for name in loads(value):
            if name in cheap:
                if not self.stays_alive(cheap[name].value, cheap, live):
                    return False
            elif name in self.known.local and not self.lives.bit(name) & live:
                if self.versions[core.variable(name)] != 1:
                    return False
        return True
