"""Single-use temporaries go back into the expression that uses them, so that the output reads like the input.

The statements of a block are read in order. The definition of a temporary is held back until a statement reads it. If
that is its only use, the expression takes the name's place; otherwise the definition is written out after all. Python's
semantics are kept: an expression moves past another only if the two commute (`effects`), and never into the body of a
loop or a branch.

The result is no Core any more: expressions are nested.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import gast

from s2s import core
from s2s import kinds as K
from s2s.core import Function
from s2s.transforms.effects import NONE, Effects, Knowledge, tape_operation
from s2s.transforms.liveness import Liveness
from s2s.transforms.numbers import sure_numbers
from s2s.transforms.structure import (
    assigned,
    blocks,
    copied,
    defs,
    header,
    is_ours,
    is_reverse,
    loads,
    replace_reads,
    statements,
    uses,
)
from s2s.transforms.task import Task

LINE = 100
_HELD_AT_MOST = 40


def fold(fn: Function, task: Task) -> Function:
    """`fn` with its temporaries folded where they may be."""
    return fn.with_body(_Folder(fn, task).block(fn.body, 0, False, 1))


def _copies_before(stmts: Sequence[Any]) -> dict[str, str]:
    """What names are copies of at the end of a run of statements."""
    found: dict[str, str] = {}
    assigned_later: set[str] = set()
    for stmt in reversed(stmts):
        copy = copied(stmt)
        if blocks(stmt):
            break
        if copy is not None and isinstance(copy[1], gast.Name) and not {copy[0], copy[1].id} & assigned_later:
            found[copy[0]] = copy[1].id
        assigned_later.update(defs(stmt))
    return found


@dataclass
class _Held:
    """A definition that is held back: `name = value`, where `value` has taken in other temporaries."""

    stmt: Any
    name: str
    effects: Effects
    names: int
    width: int

    @property
    def value(self) -> Any:
        return self.stmt.value


class _Folder:
    def __init__(self, fn: Function, task: Task) -> None:
        self.fn = fn
        self.task = task
        self.known = Knowledge(fn)
        self.lives = Liveness(fn)

    @cached_property
    def numbers(self) -> frozenset[str]:
        """The names that surely hold numbers."""
        return sure_numbers(self.fn, self.task)

    def is_rebound(self, stmt: Any, name: str) -> bool:
        """Whether `name += v`, in the place of a statement, certainly rebinds the name."""
        return K.immutable(self.known.kind(core.name(name))) and (not is_ours(stmt) or name in self.numbers)

    def block(self, stmts: Sequence[Any], out: int, protected: bool, depth: int) -> list[Any]:
        run = _Block(self, depth, protected)
        for stmt, live in zip(stmts, self.lives.afters(stmts, out, protected)):
            folded = self.lives.with_inner(stmt, live, protected, lambda b, o, p: self.block(b, o, p, depth + 1))
            run.step(folded, live, self.inner_names(stmt))
            if isinstance(folded, gast.While):
                self.test_in_header(run.new, live)
        run.flush(set(run.held))
        return run.new

    def test_in_header(self, new: list[Any], live: int) -> None:
        """`cond = e` before a loop `while cond` and again at the end of its body: `while e`."""
        if len(new) < 2:
            return
        (before, loop), last = new[-2:], new[-1].body[-1]
        name = assigned(last)
        if name is None or not isinstance(loop.test, gast.Name) or loop.test.id != name or assigned(before) != name:
            return
        rest = loop.body[:-1]
        read = {n for stmt in statements(rest) for n in (*uses(stmt), *defs(stmt))} | set(loads(last.value))
        if name in read or live & self.lives.bit(name) or not core.is_temporary(name):
            return
        first = core.substitute(last.value, _copies_before(new[:-2]))
        if rest and gast.dump(before.value) in (gast.dump(first), gast.dump(last.value)):
            new[-2:] = [core.rebuilt(loop, test=last.value, body=rest)]

    def inner_names(self, stmt: Any) -> int:
        """The names that the blocks within a statement mention."""
        mask = 0
        for _, block in blocks(stmt):
            mask |= self.lives.block_summary(block).mentioned
        return mask

    def is_temporary(self, name: str) -> bool:
        return core.is_temporary(name) and not self.lives.always & self.lives.bit(name)

    def moved_tapes(self, stmt: Any) -> list[str]:
        """The tape that a statement pushes on or pops from, which counts as a name that it binds."""
        tape = tape_operation(getattr(stmt, "value", None), self.known.tapes) if self.known.tapes else None
        return [] if tape is None else [tape]

    def operation_effects(self, stmt: Any) -> Effects:
        """What a statement does by itself, apart from what its operands do."""
        ours = is_reverse(stmt)
        if self.moved_tapes(stmt):
            return NONE
        if isinstance(stmt, (gast.Assign, gast.Expr)):
            found = self.known.effects(stmt.value, ours)
            target = stmt.targets[0] if isinstance(stmt, gast.Assign) else None
            if isinstance(target, (gast.Subscript, gast.Attribute)):
                return found | Effects(raises=not ours, writes=True)
            if isinstance(target, gast.Tuple):
                return found | Effects(raises=not ours, reads=True)
            return found
        if isinstance(stmt, gast.AugAssign):
            simple = isinstance(stmt.target, gast.Name) and K.immutable(self.known.kind(stmt.target))
            return Effects(raises=not ours) if simple else Effects(not ours, True, True)
        if isinstance(stmt, gast.Return):
            return NONE
        # Compound statements, assertions, deletions: what is held back is written before them.
        return Effects(True, True, True)


class _Block:
    """The folding of one block: the statements written so far, and the definitions held back, in order."""

    def __init__(self, folder: _Folder, depth: int, protected: bool) -> None:
        self.folder = folder
        self.protected = protected
        self.lives = folder.lives
        self.room = LINE - 4 * depth
        self.new: list[Any] = []
        self.held: dict[str, _Held] = {}

    def step(self, stmt: Any, live: int, inner: int) -> None:
        """Take in the next statement; `live` after it; `inner`: the names that its blocks mention."""
        bound = {*defs(stmt), *core.all_writes(stmt), *self.folder.moved_tapes(stmt)}
        chosen = self._entering(stmt, live, inner, bound) if self.held else []
        name = assigned(stmt)
        if name is not None and self.folder.is_temporary(name):
            self._hold(stmt, name, chosen, bound)
        else:
            own = self.folder.operation_effects(stmt)
            for part in chosen:
                own = own | self.held[part].effects
            self._let_pass(chosen, bound, own)
            folded, _ = self._take(chosen, stmt)
            self.new.append(without_pass(as_inplace(folded, self.folder)))

    def _entering(self, stmt: Any, live: int, inner: int, bound: set[str]) -> list[str]:
        """Those of the held definitions that a statement may take in; what may not stay is written out."""
        reads = uses(stmt)
        self.flush({n for n in bound if n in self.held and n not in reads})
        if inner:
            self.flush({n for n in self.held if self.lives.bit(n) & inner})
        chosen = [n for n in reads if n in self.held and self._may_enter(n, stmt, reads, live, bound)]
        self.flush({n for n in reads if n in self.held and n not in chosen})
        chosen = self._in_order(chosen)
        if self.protected or isinstance(stmt, gast.Return) or core.is_exit(stmt):
            # What is held back may be needed where control goes from here.
            self.flush({n for n in self.held if n not in chosen})
            chosen = [n for n in chosen if n in self.held]
        return chosen

    def _hold(self, stmt: Any, name: str, chosen: list[str], bound: set[str]) -> None:
        """Hold the definition of a temporary back."""
        self._let_pass(chosen, bound, NONE)
        own = self.folder.known.effects(stmt.value, is_reverse(stmt))
        folded, taken = self._take(chosen, stmt)
        for part in taken:
            own = own | part.effects
        self.held[name] = _Held(folded, name, own, self.lives.mask(uses(folded)), width(folded.value))
        if len(self.held) > _HELD_AT_MOST:
            self.flush({next(iter(self.held))})

    def _take(self, chosen: list[str], stmt: Any) -> tuple[Any, list[_Held]]:
        """The statement with what was chosen folded into it, as far as the line stays short."""
        fitting = self._fitting([n for n in chosen if n in self.held], stmt) if chosen else []
        taken = {n: self.held.pop(n) for n in fitting}
        folded = replace_reads(stmt, {n: h.value for n, h in taken.items()}) if taken else stmt
        return sign_in_front(folded) if is_reverse(stmt) else folded, list(taken.values())

    def _may_enter(self, name: str, stmt: Any, reads: tuple[str, ...], live: int, bound: set[str]) -> bool:
        if reads.count(name) != 1 or isinstance(stmt, (gast.While, gast.FunctionDef, gast.Try)):
            return False
        if live & self.lives.bit(name) and name not in bound:
            return False
        if isinstance(stmt, gast.Assert) and stmt.msg is not None and name in uses(gast.Expr(stmt.msg)):
            return False
        if isinstance(stmt, gast.AugAssign):
            # `a[i] += v` reads a[i] before it evaluates v.
            plain = isinstance(stmt.target, gast.Name)
            return name not in bound and (plain or not self.held[name].effects.writes)
        return not (isinstance(stmt, gast.Delete) and name in bound)

    def _in_order(self, chosen: list[str]) -> list[str]:
        """Those that may be folded: none moves past another, or past one that stays, unless the two commute."""
        chosen = [n for n in chosen if n in self.held]
        if not chosen:
            return chosen
        order = {n: i for i, n in enumerate(self.held)}
        for i, late in enumerate(chosen):
            for early in chosen[:i]:
                if order[early] > order[late] and not self.held[early].effects.commutes(self.held[late].effects):
                    self.flush({late})
                    return self._in_order(chosen)
        for name in chosen:
            later = [h for n, h in self.held.items() if order[n] > order[name] and n not in chosen]
            if not all(h.effects.commutes(self.held[name].effects) for h in later):
                self.flush({name})
                return self._in_order(chosen)
        return chosen

    def _let_pass(self, chosen: list[str], bound: set[str], own: Effects) -> None:
        """Write out what may not be evaluated after a statement that binds names and does `own`."""
        if not self.held:
            return
        written = self.lives.mask(bound)
        staying = [h for n, h in self.held.items() if n not in chosen]
        self.flush({h.name for h in staying if h.names & written or not h.effects.commutes(own)})

    def _fitting(self, chosen: list[str], stmt: Any) -> list[str]:
        """Those that leave the line short enough, the widest given up first."""
        origin = core.origin_of(stmt)
        room = self.room
        if origin is not None and not is_reverse(stmt):
            room = max(room, len(origin.text))
        total = width(stmt) + sum(self.held[n].width for n in chosen)
        while chosen and total > room:
            widest = max(chosen, key=lambda n: self.held[n].width)
            total -= self.held[widest].width
            self.flush({widest})
            chosen = [n for n in chosen if n in self.held]
        return chosen

    def flush(self, names: set[str]) -> None:
        """Write out definitions, and before them the earlier ones that do not commute with them."""
        if not names:
            return
        written: list[_Held] = []
        for held in reversed(list(self.held.values())):
            if held.name in names or any(not held.effects.commutes(w.effects) for w in written):
                written.append(self.held.pop(held.name))
        self.new.extend(h.stmt for h in reversed(written))


# --- the look of a statement ------------------------------------------------------------------------------------

_ATTACHED = (gast.Add, gast.Sub)
_INPLACE = {operator.iadd: gast.Add, operator.isub: gast.Sub, operator.imul: gast.Mult, operator.itruediv: gast.Div,
            operator.ifloordiv: gast.FloorDiv, operator.imod: gast.Mod, operator.ipow: gast.Pow,
            operator.imatmul: gast.MatMult, operator.iand: gast.BitAnd, operator.ior: gast.BitOr,
            operator.ixor: gast.BitXor, operator.ilshift: gast.LShift, operator.irshift: gast.RShift}  # fmt: skip


def as_inplace(stmt: Any, folder: _Folder) -> Any:
    """`x = iadd(x, v)` as `x += v`; so also `x = x + v` of numbers, where the user wrote it so or the line is ours."""
    name = assigned(stmt)
    if name is None:
        return stmt
    value, known = stmt.value, folder.known
    if isinstance(value, gast.Call) and isinstance(value.func, gast.Name) and value.func.id not in known.local:
        op = _INPLACE.get(known.scope.lookup(value.func.id))
        if op is not None and len(value.args) == 2:
            left, right = value.args
            if isinstance(left, gast.Name) and left.id == name:
                return _augmented(stmt, op(), right)
            if K.immutable(known.kind(left)):
                return core.rebuilt(stmt, value=gast.BinOp(left, op(), right))
        return stmt
    if not (isinstance(value, gast.BinOp) and isinstance(value.left, gast.Name) and value.left.id == name):
        return stmt
    if not isinstance(value.op, _ATTACHED) or _wrote_plainly(stmt, name) or not folder.is_rebound(stmt, name):
        return stmt
    return _augmented(stmt, value.op, value.right)


def _wrote_plainly(stmt: Any, name: str) -> bool:
    """Whether the statement is the user's own `x = x + v`."""
    origin = core.origin_of(stmt)
    plain = origin is not None and origin.text.replace(" ", "").startswith(f"{core.stem(name)}=")
    return plain and not is_reverse(stmt)


def without_pass(stmt: Any) -> Any:
    """`if c: pass` with an `else`: `if not c`."""
    if isinstance(stmt, gast.If) and stmt.orelse and all(isinstance(s, gast.Pass) for s in stmt.body):
        return core.rebuilt(stmt, test=gast.UnaryOp(gast.Not(), stmt.test), body=stmt.orelse, orelse=[])
    return stmt


def sign_in_front(stmt: Any) -> Any:
    """`-(a * b)` as `-a * b`, in the reverse sweep. Not so before `@`: the matrix may be much the larger one."""
    value = getattr(stmt, "value", None)
    if isinstance(value, gast.UnaryOp) and isinstance(value.op, gast.USub) and _is_product(value.operand):
        return core.rebuilt(stmt, value=_negated(value.operand))
    return stmt


def _is_product(node: Any) -> bool:
    return isinstance(node, gast.BinOp) and isinstance(node.op, (gast.Mult, gast.Div))


def _negated(node: Any) -> Any:
    return core.rebuilt(node, left=_negated(node.left)) if _is_product(node) else gast.UnaryOp(gast.USub(), node)


def _augmented(stmt: Any, op: Any, right: Any) -> Any:
    new = core.place(gast.AugAssign(stmt.targets[0], op, right), core.origin_of(stmt))
    if is_reverse(stmt):
        new.sweep = "reverse"
    return new


@core.noted
def width(node: Any) -> int:
    """About how many characters a statement's own line, or an expression, takes."""
    kind = type(node)
    if kind is gast.Name:
        return len(node.id)
    if kind is gast.Constant:
        return len(repr(node.value))
    if kind is gast.Attribute:
        return width(node.value) + 1 + len(node.attr)
    if kind is gast.Assign and len(node.targets) == 1:
        return width(node.value) + width(node.targets[0]) + 4
    if isinstance(node, gast.stmt):
        parts = [p for f in header(node) for p in _as_list(getattr(node, f)) if p is not None]
        return 8 * (not isinstance(node, (gast.Assign, gast.Expr))) + sum(width(p) + 2 for p in parts)
    if kind is gast.Subscript:
        return width(node.value) + 2 + width(node.slice)
    if kind is gast.Slice:
        bounds = [b for b in (node.lower, node.upper, node.step) if b is not None]
        return sum(map(width, bounds)) + (1 if node.step is None else 2)
    if kind is gast.UnaryOp:
        return width(node.operand) + 1
    if kind is gast.BinOp:
        return width(node.left) + width(node.right) + 4 + 2 * (_is_sum(node.left) + _is_sum(node.right))
    total = 2 if kind is gast.Compare or kind is gast.Call else 0
    for field_name in node._fields:
        for child in _as_list(getattr(node, field_name)):
            if isinstance(child, gast.expr):
                total += width(child) + 2
            elif isinstance(child, (gast.operator, gast.cmpop, gast.unaryop)):
                total += 1
            elif isinstance(child, gast.keyword):
                total += width(child.value) + len(child.arg or "") + 3
            elif isinstance(child, gast.AST):
                total += width(child)
    return total


def _is_sum(node: Any) -> bool:
    """Whether an operand may stand in parentheses."""
    return type(node) is gast.BinOp and isinstance(node.op, _ATTACHED)


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
