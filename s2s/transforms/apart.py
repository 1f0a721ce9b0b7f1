"""What a branch leaves a number or an array, by the branch that was taken, is kept apart as long as it is written into.

`x += v` rebinds a number and writes into an array, and so what follows differs: it moves into the branches.

    if c:                       if c:
        t = x                       t·3 = iadd(x, 1.0)
    else:                           s = np.sum(t·3)
        t = y              ->   else:
    t·2 = iadd(t, 1.0)              t·4 = y + 1.0
    s = np.sum(t·2)                 s = np.sum(t·4)

Copies of what moves get names of their own; those that are read later meet as versions do. Values that are only
computed with stay together: their kind is `Numeric`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import gast

from s2s import core
from s2s import kinds as K
from s2s.core import Function
from s2s.transforms.bound import bound_after
from s2s.transforms.copies import copies
from s2s.transforms.infer import infer
from s2s.transforms.operations import Operations
from s2s.transforms.stores import Numbers
from s2s.transforms.structure import all_defs, all_uses, copied, definitions_of, reads_of, statements, with_blocks
from s2s.transforms.task import Task
from s2s.transforms.versions import INPLACE

# Of statements that move into one pair of branches, and of pairs in one function.
LONG, OFTEN = 60, 16


def apart(fn: Function, task: Task) -> Function:
    """`fn`, in which what writes into a number or array knows which of the two it is, where branches tell."""
    for _ in range(OFTEN):
        new = _Apart(fn).run()
        if new is fn:
            break
        fn = infer(copies(new, task), task)
    return fn


class _Apart:
    def __init__(self, fn: Function) -> None:
        self.fn = fn
        self.operations = Operations(fn)
        self.reads, self.definitions = reads_of(fn), definitions_of(fn)
        self.found = False

    def run(self) -> Function:
        *body, last = self.fn.body
        body = self.block(body)
        return replace(self.fn, body=(*body, last)) if self.found else self.fn

    def block(self, stmts: Sequence[Any]) -> list[Any]:
        new: list[Any] = []
        for position, stmt in enumerate(stmts):
            moved = 0 if self.found or core.is_exit(stmt) else self.moving(stmt, stmts[position + 1 :])
            if moved:
                self.found = True
                rest = stmts[position + 1 :]
                return [*new, self.with_tails(stmt, rest[:moved]), *rest[moved:]]
            new.append(with_blocks(stmt, lambda _, block: self.block(block)))
        return new

    def is_vague(self, name: str) -> bool:
        return isinstance(self.operations.kind(core.name(name)), (K.Numeric, K.Unknown))

    def mixed(self, stmt: Any) -> Iterator[str]:
        """The names at which a number and an array, or things that have no common kind at all, meet behind an `if`."""
        ends = [_ending(stmt.body), _ending(stmt.orelse)]
        for name in ends[0].keys() & ends[1].keys():
            kinds = [self.operations.kind(end[name]) for end in ends]
            if self.definitions[name] == 2 and self.is_vague(name) and any(K.is_known(k) for k in kinds):
                yield name

    def moving(self, stmt: Any, rest: Sequence[Any]) -> int:
        """How many statements move into the branches of an `if`: all that read what meets there, and so on."""
        if not isinstance(stmt, gast.If) or not (mixed := set(self.mixed(stmt))):
            return 0
        end, vague = 0, set(mixed)
        for position, following in enumerate(rest):
            if vague & set(all_uses(following)):
                end = position + 1
                vague |= {name for name in all_defs(following) if self.is_vague(name)}
        tail = rest[:end]
        inside = statements(tail)
        if len(inside) > LONG or any(map(core.is_exit, tail)) or not any(self.writes(s, vague) for s in inside):
            return 0
        uses, defined = (Counter(n for s in tail for n in names(s)) for names in (all_uses, all_defs))
        alone = all(uses[name] == self.reads[name] for name in mixed)
        later = {name for name in defined if self.reads[name] > uses[name]}
        alone = alone and later <= (bound_after(tail, set(), later) or set())
        return end if alone and all(defined[name] == self.definitions[name] for name in defined) else 0

    def writes(self, stmt: Any, names: set[str]) -> bool:
        """Whether a statement writes into one of some names, or reads an item of it."""
        target = stmt.target if isinstance(stmt, gast.AugAssign) else (getattr(stmt, "targets", None) or [None])[0]
        value = getattr(stmt, "value", None)
        into = [getattr(node, "value", None) for node in (target, value) if isinstance(node, gast.Subscript)]
        if isinstance(value, gast.Call) and value.args and self.operations.function(value) in INPLACE.values():
            into.append(value.args[0])
        return any(getattr(node, "id", None) in names for node in into)

    def with_tails(self, stmt: Any, tail: Sequence[Any]) -> Any:
        """The `if` with statements moved into both branches."""
        uses, defined = (Counter(n for s in tail for n in names(s)) for names in (all_uses, all_defs))
        later = [name for name in defined if self.reads[name] > uses[name]]
        origin, numbers = core.origin_of(stmt), Numbers(self.fn)
        branches = []
        for branch in (stmt.body, stmt.orelse):
            own = {name: numbers.next(name) for name in (*self.mixed(stmt), *defined)}
            meet = [core.assign(name, own[name], origin) for name in later]
            branches.append([*(core.substitute(s, own, own) for s in (*branch, *tail)), *meet])
        return core.rebuilt(stmt, body=branches[0], orelse=branches[1])


def _ending(block: Sequence[Any]) -> dict[str, Any]:
    """The copies that a block ends with: the names at which versions meet, and what they are given."""
    found: dict[str, Any] = {}
    for stmt in reversed(block):
        copy = copied(stmt)
        if copy is None:
            break
        found.setdefault(*copy)
    return found
