"""Which names may share memory, statement by statement.

Single assignment says which value a name has, not which memory it stands for: `v = c[1:]` is a view, `y = a` is the
same object, a list holds the arrays that were put in. `Aliases` goes through a program with the pairs of names that
may share memory at each point. A pair ends where one of the two is assigned anew, or is not read any more; so two
buffers that a loop swaps are known to be two.

Shape analyses keep such pairs for pointers: Landi and Ryder, "A safe approximate algorithm for interprocedural
pointer aliasing" (PLDI 1992).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import Any

import gast

from s2s import core
from s2s import kinds as K
from s2s.core import Function
from s2s.transforms.conduct import has_memory
from s2s.transforms.infer import WRITING
from s2s.transforms.liveness import Liveness
from s2s.transforms.operations import Operations
from s2s.transforms.structure import statements
from s2s.transforms.usercalls import user_callee

Pairs = dict[str, set[str]]  # symmetric: with whom each name may share memory


class Aliases:
    """The pairs of one function.

    `others` gives, for each statement that writes into memory (by identity), the names that may share memory with
    what it writes into and are read later; `before`, for the value of each assignment and effect, and for the last
    statement, the pairs that it finds. `find` gives one name for all that may share memory at any time.
    """

    def __init__(self, fn: Function, operations: Operations, through: Mapping[str, Set[str]] = core.NOTHING) -> None:
        """through: by array, the names by which it is asked for as long as they live: its views."""
        self.fn = fn
        self.through = through
        self.operations = operations
        self.kind = operations.kind
        self.lives = Liveness(fn, swallowing=False)
        self.others: dict[int, set[str]] = {}
        self.before: dict[int, Pairs] = {}
        self.leader: dict[str, str] = {}
        self.block(fn.body, {}, 0)

    def find(self, name: str) -> str:
        """The representative of all names that a name may share memory with at any time."""
        while self.leader.setdefault(name, name) != name:
            self.leader[name] = name = self.leader[self.leader[name]]
        return name

    def share(self, at: Any, one: str, other: str) -> bool:
        """Whether two names may share memory where a value is computed: that of a statement."""
        return one == other or other in self.before.get(id(at), {}).get(one, ())

    def sharing(self, names: Iterable[str]) -> Callable[[str], bool]:
        """Tells of a name whether it may share memory with one of some names at any time."""
        found = {self.find(name) for name in names}
        return lambda name: self.find(name) in found

    # --- blocks ---

    def block(self, stmts: Sequence[Any], pairs: Pairs, out: int) -> Pairs:
        for stmt, live in zip(stmts, self.lives.afters(stmts, out)):
            pairs = self.statement(stmt, pairs, live)
            pairs = self.living(pairs, live)
        return pairs

    def living(self, pairs: Pairs, live: int) -> Pairs:
        """The pairs of names that are read later."""
        kept = {n: {p for p in others if live & self.asked(p)} for n, others in pairs.items() if live & self.asked(n)}
        return {n: others for n, others in kept.items() if others}

    def asked(self, name: str) -> int:
        """The names of which one must be read later for a name to count."""
        return self.lives.bit(name) | self.lives.mask(self.through.get(name, ()))

    def statement(self, stmt: Any, pairs: Pairs, live: int) -> Pairs:
        if isinstance(stmt, (gast.Assign, gast.Expr, gast.Return)):
            self.before[id(stmt.value)] = _union(pairs, self.before.get(id(stmt.value), {}))
        if isinstance(stmt, gast.Assign):
            for name in core.writes(stmt):
                pairs = self.bound(name, stmt.value, pairs)
        elif isinstance(stmt, gast.Expr) and isinstance(stmt.value, gast.Call):
            pairs = self.effect(stmt, pairs, live)
        elif isinstance(stmt, gast.If):
            inner = {part.field: part for part in self.lives.inner(stmt, live)}
            ends = [
                self.block(inner[f].block, dict(pairs), inner[f].out) if f in inner else pairs
                for f in ("body", "orelse")
            ]
            pairs = _union(*ends)
        elif isinstance(stmt, (gast.For, gast.While)):
            pairs = self.loop(stmt, pairs, live)
        elif isinstance(stmt, gast.With):
            (inner_block,) = self.lives.inner(stmt, live)
            pairs = self.block(inner_block.block, pairs, inner_block.out)
        return pairs

    def loop(self, stmt: Any, pairs: Pairs, live: int) -> Pairs:
        (inner,) = self.lives.inner(stmt, live)
        while True:
            start = pairs
            if isinstance(stmt, gast.For):
                start = self.bound(stmt.target.id, stmt.iter, start)
            after = _union(pairs, self.block(inner.block, dict(start), inner.out))
            if after == pairs:
                return pairs
            pairs = after

    def bound(self, name: str, value: Any, pairs: Pairs) -> Pairs:
        """A name is bound to a value that may share memory with some names."""
        found: set[str] = set()
        if self.tracked(name):
            for source in self.shared(value):
                found |= {source} | pairs.get(source, set())
                self.leader[self.find(name)] = self.find(source)
        found.discard(name)
        new = {n: others - {name} for n, others in pairs.items() if n != name}
        for other in found:
            new[other] = new.get(other, set()) | {name}
        if found:
            new[name] = found
        return new

    def effect(self, stmt: Any, pairs: Pairs, live: int) -> Pairs:
        written = written_by(stmt.value, self.operations)
        if written is None:
            return pairs
        name, stored = written
        others = {p for p in pairs.get(name, ()) if live & self.asked(p)}
        self.others[id(stmt)] = self.others.get(id(stmt), set()) | others
        if stored is not None and self.tracked(stored) and self.holds(name):
            for holder in {name, *filter(self.holds, pairs.get(name, ()))}:
                pairs = _joined(holder, {stored, *pairs.get(stored, ())} - {holder}, pairs)
            self.leader[self.find(name)] = self.find(stored)
        return pairs

    def holds(self, name: str) -> bool:
        """Whether what is stored into the value of a name may be held by it: an array takes values only."""
        return not isinstance(self.kind(core.name(name)), (K.Array, K.Numeric))

    # --- expressions ---

    def tracked(self, name: str) -> bool:
        return has_memory(self.kind(core.name(name)))

    def shared(self, node: Any) -> set[str]:
        """The names whose memory the value of an expression may share."""
        return {n for n in self.names_shared(node) if n in self.operations.local and self.tracked(n)}

    def names_shared(self, node: Any) -> Set[str]:
        """The names, local or not, whose memory the value of an expression may share."""
        if isinstance(node, (gast.Compare, gast.JoinedStr)):
            return frozenset()
        if isinstance(node, (gast.BinOp, gast.UnaryOp, gast.Subscript, gast.Call)):
            return core.reads(passed_through(node, self.operations))
        return core.reads(node)


class Holders(Aliases):
    """The pairs of names that may be one list or dict, or hold one: two lists of the same arrays are no such pair.

    >>> from s2s import kinds as K
    >>> may_hold_containers(K.List((K.FLOAT,))), may_hold_containers(K.List((K.List((K.FLOAT,)),)))
    (False, True)
    """

    def tracked(self, name: str) -> bool:
        reached = name in self.fn.facts.kinds  # no value reaches the items of a list that is always empty
        return reached and is_container(self.kind(core.name(name)))

    def names_shared(self, node: Any) -> Set[str]:
        found = super().names_shared(node)
        return {n for n in found if may_hold_containers(self.kind(core.name(n)))} if self.is_new(node) else found

    def is_new(self, node: Any) -> bool:
        """Whether the value of an expression is a new list or tuple of the items of its operands."""
        if isinstance(node, gast.Call):
            return self.operations.function(node) in (list, tuple, sorted, list.copy)
        return isinstance(node, gast.BinOp) or (isinstance(node, gast.Subscript) and isinstance(node.slice, gast.Slice))


def is_container(kind: K.Kind) -> bool:
    """Whether a value may be, or hold, a list or dict, or what a list or dict is looked at through."""
    if isinstance(kind, K.Tuple):
        return may_hold_containers(kind)
    return has_memory(kind) and not isinstance(kind, (K.Array, K.Numeric))


def may_hold_containers(kind: K.Kind) -> bool:
    """Whether an item of a value may be, or hold, a list or dict."""
    inner = K.children(kind)
    return is_container(kind) if inner is None else any(map(is_container, inner))


def passed_through(node: Any, operations: Operations) -> list[Any]:
    """The operands of an operation whose memory its result may share; all, where nothing is known of it.

    The result of `append` is the list, which holds what was appended from then on.
    """
    user = user_callee(operations.function(node), node)
    if user is not None and user.gives_back:
        return [arg for param, arg in zip(user.params, node.args) if param not in user.gives_back]
    found = operations.conduct(node)
    if found is None:
        return [core.name(n) for n in sorted(core.reads(node))]
    return [*found.shares, *(found.keeps if found.shares else ())]


def written_by(call: Any, operations: Operations) -> tuple[str, str | None] | None:
    """The name that a call writes into, and the name of what it stores there; None where it writes into nothing."""
    function = operations.function(call)
    if function not in WRITING or not isinstance(call.args[0], gast.Name):
        return None
    stored = call.args[-1]
    return call.args[0].id, stored.id if isinstance(stored, gast.Name) else None


def written_in(stmt: Any, operations: Operations) -> tuple[str, str | None] | None:
    """What `written_by` says of the call that is a statement."""
    is_call = isinstance(stmt, gast.Expr) and isinstance(stmt.value, gast.Call)
    return written_by(stmt.value, operations) if is_call else None


def containers_written(fn: Function, operations: Operations) -> Callable[[str], bool]:
    """Tells of a name whether it may be a list or dict that the function writes into."""
    found = (written_in(stmt, operations) for stmt in statements(fn.body))
    names = [w[0] for w in found if w is not None and K.children(operations.kind(core.name(w[0]))) is not None]
    if not names:
        return lambda name: False
    return Aliases(fn, operations).sharing(names)


def _joined(name: str, others: set[str], pairs: Pairs) -> Pairs:
    new = dict(pairs)
    for other in others:
        new[name] = new.get(name, set()) | {other}
        new[other] = new.get(other, set()) | {name}
    return new


def _union(a: Pairs, b: Pairs) -> Pairs:
    return {n: a.get(n, set()) | b.get(n, set()) for n in a.keys() | b.keys()}
