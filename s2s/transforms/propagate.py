"""Copies, known conditions and known values are put in place of names, in the order of the program.

The table of what names hold is kept along the way. An entry goes when its name, or a name that it reads, is assigned
again, and what depends on memory goes when memory may be written. So single assignment is not taken for granted.

- a copy `a = b`: where a is read, b is. The user's own copies stay, as they say something to the reader
- `if` on a constant: the branch
- the reverse sweep computes what is held by a name already: the name
- operations of the reverse sweep in their shortest form (`peephole`)
"""

from __future__ import annotations

import operator
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import gast
import numpy as np

from s2s import core
from s2s import kinds as K
from s2s.core import Function
from s2s.kinds import Kind
from s2s.transforms.callee import OPERATORS
from s2s.transforms.conduct import module_of
from s2s.transforms.effects import Effects, Knowledge
from s2s.transforms.peephole import rewritten
from s2s.transforms.samples import result_kind
from s2s.transforms.sharing import Sharing
from s2s.transforms.structure import (
    COMPOUND,
    all_defs,
    assigned,
    blocks,
    captured,
    copied,
    defs,
    is_reverse,
    like,
    loads,
    reads_of,
    replace_reads,
    uses,
    with_blocks,
)  # fmt: skip


def propagate(fn: Function, known: Knowledge) -> Function:
    """`fn` with copies and known values in place."""
    run = _Propagation(fn, known)
    return fn.with_body(run.block(fn.body))


class _Table:
    """What names hold: an atom (a copy) or an operation."""

    def __init__(self) -> None:
        self.copies: dict[str, Any] = {}
        self.operations: dict[str, Any] = {}
        self.readers: defaultdict[str, set[str]] = defaultdict(set)
        self.in_memory: set[str] = set()
        self.holders: dict[Any, str] = {}

    def hold(self, name: str, value: Any, effects: Effects, found: bool) -> None:
        """found: whether another operation of this form may take the name's value."""
        read = loads(value)
        if name in read:
            return
        for other in read:
            self.readers[other].add(name)
        if effects.reads:
            self.in_memory.add(name)
        self.operations[name] = value
        if found:
            self.holders.setdefault(key(value), name)

    def copy(self, name: str, value: Any) -> None:
        for other in loads(value):
            if other == name:
                return
            self.readers[other].add(name)
        self.copies[name] = value

    def drop(self, names: Iterable[str]) -> None:
        """Names are assigned: forget what they held, and what was held in terms of them."""
        for name in names:
            for entry in (name, *self.readers.pop(name, ())) if name in self.readers else (name,):
                if entry in self.copies:
                    del self.copies[entry]
                elif entry in self.operations:
                    value = self.operations.pop(entry)
                    if self.holders.get(key(value)) == entry:
                        del self.holders[key(value)]
                if entry in self.in_memory:
                    self.in_memory.remove(entry)

    def memory_written(self) -> None:
        self.drop(list(self.in_memory))


class _Propagation:
    """One run over a function. It is also what rewritings look at (`peephole.Look`)."""

    def __init__(self, fn: Function, known: Knowledge) -> None:
        self.fn = fn
        self.known = known
        self.function = known.function
        self.kind = known.kind
        self.fixed = captured(fn)
        self.table = _Table()
        self.count = Counter(reads_of(fn))
        self.own_reads: list[str] = []

    @cached_property
    def sharing(self) -> Sharing:
        return Sharing(self.fn, self.known)

    # --- statements ---

    def block(self, stmts: Iterable[Any]) -> list[Any]:
        new: list[Any] = []
        for stmt in stmts:
            ours = is_reverse(stmt)
            if not ours or not self.doubled(stmt, new):
                new += self.statement(stmt, ours)
        return new

    def statement(self, stmt: Any, ours: bool) -> list[Any]:
        """The statement, and before it what it needs; `ours`: of the reverse sweep."""
        kind = type(stmt)
        if kind is gast.FunctionDef:
            self.table.drop([stmt.name])
            return [stmt]
        if kind is gast.For or kind is gast.While:
            return [self.loop(stmt)]
        self.own_reads = list(uses(stmt))
        replaced = self.replaced(stmt)
        if kind is gast.If:
            return self.branch(replaced)
        if kind in COMPOUND:
            return [self.protected(replaced)]
        before: list[Any] = []
        if ours:
            if assigned(replaced) is not None:
                replaced = self.shortened(replaced, before)
            elif kind is gast.AugAssign:
                replaced = self.with_sign(replaced)
        self.note(replaced, ours)
        return [*before, replaced]

    def replaced(self, stmt: Any) -> Any:
        """The statement with copies in place of the names that it reads."""
        table = self.table.copies
        copies = {n: table[n] for n in self.own_reads if n in table}
        return replace_reads(stmt, copies) if copies and not isinstance(stmt, gast.Delete) else stmt

    def branch(self, stmt: Any) -> list[Any]:
        if isinstance(stmt.test, gast.Constant) and not core.is_exit(stmt):
            taken = stmt.body if stmt.test.value else stmt.orelse
            return self.block(s for s in taken if not isinstance(s, gast.Pass))
        return [with_blocks(stmt, self.inner)]

    def inner(self, field_name: str, block: Sequence[Any]) -> list[Any]:
        """A block that may not run: what it assigns is unknown afterwards, and before its sibling runs."""
        new = self.block(block)
        self.forget(block)
        self.table.drop(name for stmt in new for name in all_defs(stmt))  # temporaries of ours, too
        return new

    def protected(self, stmt: Any) -> Any:
        self.table.drop(defs(stmt))
        self.forget([stmt])
        return with_blocks(stmt, self.inner)

    def loop(self, stmt: Any) -> Any:
        if isinstance(stmt, gast.For):
            self.own_reads = list(uses(stmt))
            stmt = self.replaced(stmt)
        self.forget([stmt])
        if isinstance(stmt, gast.While):
            self.own_reads = list(uses(stmt))
            stmt = self.replaced(stmt)
        return with_blocks(stmt, self.inner)

    def forget(self, block: Iterable[Any]) -> None:
        """Forget what may be different once a block has run."""
        for stmt in block:
            changes = self.known.changes(stmt)
            if changes.memory:
                self.table.memory_written()
            self.table.drop(changes.names)

    # --- the table ---

    def note(self, stmt: Any, ours: bool) -> None:
        """Take a simple statement into the table."""
        self.forget([stmt])
        name = assigned(stmt)
        if name is None or name in self.fixed:
            return
        copy = copied(stmt)
        if copy is None:
            effects = self.known.effects(stmt.value, ours)
            if not effects.writes:
                # The program's own reads of items stay in its expressions.
                self.table.hold(name, stmt.value, effects, ours or type(stmt.value) is not gast.Subscript)
        elif self.may_replace(name, copy[1], stmt):
            self.table.copy(name, copy[1])

    def may_replace(self, name: str, value: Any, stmt: Any) -> bool:
        """Whether a copy is ours, not one that the user wrote to give a value another name."""
        if isinstance(value, gast.Name) and (value.id in self.fixed or value.id not in self.known.local):
            return False
        if core.is_temporary(name):
            return True
        if not isinstance(value, gast.Name):
            return False
        return is_reverse(stmt) or core.variable(name) == core.variable(value.id)

    # --- operations of the reverse sweep ---

    def shortened(self, stmt: Any, before: list[Any]) -> Any:
        name = assigned(stmt)
        assert name is not None
        value = stmt.value
        for _ in range(4):
            shorter = rewritten(value, self, lambda expr: self.sharing.allowed(name, loads(expr)))
            if shorter is value:
                break
            value = self.flattened(shorter, stmt, before)
        holder = self.table.holders.get(key(value)) if self.is_costly(name, value) else None
        if holder is not None and self.sharing.allowed(name, [holder]):
            value = core.name(holder)
        return stmt if value is stmt.value else core.rebuilt(stmt, value=value)

    def with_sign(self, stmt: Any) -> Any:
        """`x += -v` is `x -= v`, where `-v` is not read anywhere else."""
        made = self.only(stmt.value) if isinstance(stmt.op, (gast.Add, gast.Sub)) else None
        if not isinstance(made, gast.UnaryOp) or not isinstance(made.op, gast.USub):
            return stmt
        op = gast.Sub if isinstance(stmt.op, gast.Add) else gast.Add
        return core.rebuilt(stmt, op=op(), value=made.operand)

    def doubled(self, stmt: Any, new: list[Any]) -> bool:
        """`x = g * w` and then `x += g * w`: the first becomes `x = g * 2 * w` (in `new`), the second goes.

        So it is for `x -= g * v` where w is `-v`.
        """
        name, added, sign = _added(stmt)
        if not name:
            return False
        self.own_reads = list(uses(stmt))
        one, other = self.table.operations.get(name), self.only(added)
        added_name = added.id if isinstance(added, gast.Name) else ""
        if self.count[added_name] == 1 and getattr(self.table.copies.get(added_name), "id", None) == name:
            other = one
        if not (isinstance(one, gast.BinOp) and isinstance(one.op, (gast.Mult, gast.Div, gast.MatMult))):
            return False
        if other is None or self.signed(one, 1) != self.signed(other, sign):
            return False
        for at in range(len(new) - 1, -1, -1):
            if assigned(new[at]) == name:
                break
            if blocks(new[at]) or (name in uses(new[at]) and assigned(new[at]) != added_name):
                return False
        else:
            return False
        before: list[Any] = []
        twice = gast.BinOp(gast.BinOp(one.left, gast.Mult(), core.constant(2)), one.op, one.right)
        flat = self.flattened(twice, new[at], before)
        new[at : at + 1] = [*before, core.rebuilt(new[at], value=flat)]
        self.note(new[at + len(before)], is_reverse(new[at + len(before)]))
        return True

    def signed(self, expr: Any, sign: int) -> tuple[int, Any]:
        """The sign of a product, and its key without the signs of its factors."""
        for side in ("left", "right") if isinstance(expr, gast.BinOp) else ():
            made = self.made(getattr(expr, side))
            if isinstance(made, gast.UnaryOp) and isinstance(made.op, gast.USub):
                expr, sign = core.rebuilt(expr, **{side: made.operand}), -sign
        return sign, key(expr)

    def flattened(self, expr: Any, stmt: Any, before: list[Any]) -> Any:
        """The expression as one operation on atoms; what is nested goes into temporaries."""
        if isinstance(expr, gast.Call):
            return core.rebuilt(expr, args=[self.held(a, stmt, before) for a in expr.args])
        if not isinstance(expr, (gast.BinOp, gast.UnaryOp)):
            return expr
        fields = ("left", "right") if isinstance(expr, gast.BinOp) else ("operand",)
        changes = {f: self.held(getattr(expr, f), stmt, before) for f in fields}
        return core.rebuilt(expr, **changes)

    def held(self, expr: Any, stmt: Any, before: list[Any]) -> Any:
        if core.is_atom(expr):
            return expr
        flat = self.flattened(expr, stmt, before)
        name = self.known.fresh("t", *self.found(flat))
        self.count[name] = 1
        self.own_reads.append(name)
        new = like(core.assign(name, flat, None), stmt)
        before.append(new)
        self.note(new, is_reverse(new))
        return core.name(name)

    def found(self, expr: Any) -> tuple[Kind, str | None]:
        """Kind and shape of a new temporary, as `infer` would find them."""
        if isinstance(expr, gast.Call):
            return result_kind(self.function(expr), tuple(map(self.kind, expr.args))), None
        unary = isinstance(expr, gast.UnaryOp)
        operands = (expr.operand,) if unary else (expr.left, expr.right)
        function = operator.neg if unary else OPERATORS[type(expr.op)]
        kind = result_kind(function, tuple(map(self.kind, operands)))
        elementwise = isinstance(kind, K.Array) and not isinstance(expr.op, gast.MatMult)
        return kind, self.widest(operands) if elementwise else None

    def is_costly(self, name: str, value: Any) -> bool:
        """Whether the operation that gives a name its value is worth that name rather than being done again."""
        sort = type(value)
        if sort is gast.Call:
            function = self.function(value)
            return isinstance(function, np.ufunc) or module_of(function) == "math"
        if sort is gast.Subscript:  # an array makes a number of an item each time
            return isinstance(self.kind(value.value), K.Array) and K.immutable(self.known.kinds.get(name, K.UNKNOWN))
        if sort is not gast.BinOp:
            return False
        heavy = type(value.op) in _HEAVY
        return heavy or isinstance(self.kind(value.left), K.Array) or isinstance(self.kind(value.right), K.Array)

    # --- what rewritings look at ---

    def made(self, atom: Any) -> Any:
        return self.table.operations.get(atom.id) if type(atom) is gast.Name else None

    def only(self, atom: Any) -> Any:
        if type(atom) is not gast.Name or self.count[atom.id] != 1 or atom.id not in self.own_reads:
            return None
        return self.made(atom)

    def widest(self, atoms: Iterable[Any]) -> str | None:
        shapes = {self.shape(a) for a in atoms if K.ndim_of(self.kind(a)) != 0}
        return None if None in shapes else self.known.broadcasts.widest(shapes)  # type: ignore[arg-type]

    def shape(self, atom: Any) -> str | None:
        if not isinstance(atom, gast.Name):
            return None
        return self.known.shapes.get(atom.id)


def _added(stmt: Any) -> tuple[str, Any, int]:
    """Of `x += v` and `x = x + v`, x, v and 1; of `x -= v`, -1; an empty name of any other statement."""
    kind, name = type(stmt), assigned(stmt)
    if kind is gast.AugAssign and type(stmt.target) is gast.Name:
        name, op, added = stmt.target.id, stmt.op, stmt.value
    elif name is not None and type(stmt.value) is gast.BinOp and getattr(stmt.value.left, "id", None) == name:
        op, added = stmt.value.op, stmt.value.right
    else:
        return _NOTHING_ADDED
    sign = _SIGNS.get(type(op))
    return (name, added, sign) if sign else _NOTHING_ADDED


_HEAVY = frozenset((gast.Pow, gast.MatMult, gast.Div))
_NOTHING_ADDED = "", None, 1
_SIGNS = {gast.Add: 1, gast.Sub: -1}


@core.noted
def key(expr: Any) -> Any:
    """A hashable form of an operation: equal for equal text."""
    return _key(expr)


def _key(expr: Any) -> Any:
    kind = type(expr)
    if kind is gast.Name:
        return expr.id
    if kind is gast.Constant:
        return type(expr.value), repr(expr.value)
    if kind is list:
        return tuple(map(_key, expr))
    if kind in core.LEAVES:
        return kind if isinstance(expr, gast.AST) else expr
    return kind, *[_key(getattr(expr, f)) for f in expr._fields if f != "ctx"]
