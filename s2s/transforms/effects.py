"""What an expression may do besides giving a value: raise, read what others write, write what others read.

`dead` drops only what does nothing, `fold` moves an expression past another only if the two commute.
Of a value of known kind all operations are known: arithmetic on numbers does nothing, a NumPy function reads its
arrays and may raise where shapes or axes do not fit. Of an unknown value nothing is known: even `a + b` may print.
Floating-point warnings are no effect, nor is a lack of memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import count
from typing import Any, NamedTuple

import gast
import numpy as np

from s2s import core
from s2s import kinds as K
from s2s.core import Facts, Function, Scope
from s2s.kinds import Kind
from s2s.transforms.callee import OPERATORS, operation
from s2s.transforms.conduct import Conduct, module_of, of_ours
from s2s.transforms.known import TOTAL_CALLS, TOTAL_NUMPY, TOTAL_OPERATORS
from s2s.transforms.liveness import Liveness
from s2s.transforms.operations import Operations, conduct_of
from s2s.transforms.sameshape import Broadcasts
from s2s.transforms.structure import (
    COMPOUND,
    all_defs,
    assigned,
    blocks,
    definitions_of,
    is_reverse,
    next_number,
    reads_of,
    statements,
)


class Effects(NamedTuple):
    """raises: may raise an error. reads: the value depends on memory that can be written. writes: may write memory,
    or do something that the world sees."""

    raises: bool = False
    reads: bool = False
    writes: bool = False

    def __or__(self, other: Any) -> Effects:
        return Effects(self.raises or other.raises, self.reads or other.reads, self.writes or other.writes)

    def commutes(self, other: Effects) -> bool:
        """Whether the two may be done in either order, as far as anybody can tell."""
        if (self.writes and any(other)) or (other.writes and any(self)):
            return False
        return not (self.raises and other.raises)


_DISPLAYS = frozenset((gast.Tuple, gast.List, gast.Dict, gast.Set))


class Changes(NamedTuple):
    """names: those that are assigned. memory: whether what expressions read, other than names, may be written."""

    names: tuple[str, ...]
    memory: bool


NONE = Effects()
READ = Effects(reads=True)
CHECK = Effects(raises=True, reads=True)
ANYTHING = Effects(raises=True, reads=True, writes=True)


class Knowledge:
    """What is known of the names of one function, and so of its expressions."""

    def __init__(self, fn: Function) -> None:
        self.scope = fn.scope
        self.operations = Operations(fn)
        self.kinds = dict(fn.facts.kinds)
        self.shapes = dict(fn.facts.shapes)
        self.broadcasts = Broadcasts(fn.facts.parts, fn.facts.within)
        self.local = self.operations.local
        self.tapes = tapes(fn)
        self._lives: Liveness | None = None
        self._fitting = False  # whether operands are taken to fit
        self._effects_of: dict[tuple[Any, bool], Effects] = fn.facts.effects
        self._functions: dict[Any, Any] = {}
        self._changes: dict[Any, Changes] = {}

    def learn(self, name: str, kind: Kind, shape: str | None) -> None:
        """Take note of a new name."""
        self.local.add(name)
        self.kinds[name] = kind
        if shape is not None:
            self.shapes[name] = shape

    def noted(self, fn: Function) -> Function:
        """`fn` with what is known of its names, and of its expressions."""
        fn = fn.with_facts(kinds=self.kinds, shapes=self.shapes)
        fn.facts.effects.update(self._effects_of)
        return fn

    def fresh(self, hint: str, kind: Kind, shape: str | None) -> str:
        """A new temporary."""
        name = core.temporary(hint, next(self._numbers))
        self.learn(name, kind, shape)
        return name

    @cached_property
    def _numbers(self) -> Iterator[int]:
        return count(next_number(self.local))

    def kind(self, node: Any) -> Kind:
        known = self.kinds.get(node.id) if type(node) is gast.Name else None
        return self.operations.kind(node) if known is None else known

    def function(self, node: Any) -> Any:
        """The function behind an operation, None if it is not known."""
        known = self._functions
        if node not in known:
            known[node] = operation(node, self.kind, self.local)[0]
        return known[node]

    def conduct(self, node: Any) -> Conduct | None:
        """What an operation does with its operands; None where it may do anything."""
        return conduct_of(node, self.kind, self.local)

    def liveness(self, fn: Function) -> Liveness:
        """The liveness of the function, or of what a pass has made of it."""
        self._lives = Liveness(fn, self._lives)
        return self._lives

    def effects(self, expr: Any, ours: bool = False) -> Effects:
        """What one operation on atoms may do. `ours`: in the reverse sweep, whose errors are no part of a program."""
        known, asked = self._effects_of, (expr, ours)
        if asked in known:
            return known[asked]
        effects = self._effects(expr, ours)
        if ours and effects.raises:
            effects = Effects(False, effects.reads, effects.writes)
        known[asked] = effects
        return effects

    def repeats_a_meeting(self, stmt: Any) -> bool:
        """Whether all that an elementwise operation may raise for are shapes which an earlier one has raised for.

        The result has the shape that was named when the same shapes met before.
        """
        name = assigned(stmt)
        if name is None or self.shapes.get(name, name) == name:
            return False
        self._fitting = True
        try:
            return not self._effects(stmt.value, False).raises
        finally:
            self._fitting = False

    def changes(self, stmt: Any) -> Changes:
        """What a statement and its blocks change."""
        known = self._changes
        if stmt not in known:
            known[stmt] = Changes(all_defs(stmt), self._changes_memory(stmt))
        return known[stmt]

    def _changes_memory(self, stmt: Any) -> bool:
        written = self.writes_memory(stmt)
        if written or type(stmt) not in COMPOUND:
            return written
        return any(self.changes(s).memory for _, block in blocks(stmt) for s in block)

    def writes_memory(self, stmt: Any) -> bool:
        """Whether a statement itself may write what expressions read, other than names; blocks are not entered."""
        kind = type(stmt)
        if kind is gast.AugAssign:
            return not (isinstance(stmt.target, gast.Name) and K.immutable(self.kind(stmt.target)))
        if kind is gast.Assign and isinstance(stmt.targets[0], (gast.Subscript, gast.Attribute)):
            return True
        if kind is gast.Assign or kind is gast.Expr:
            if tape_operation(stmt.value, self.tapes) is not None:
                return False
            return self.effects(stmt.value, is_reverse(stmt)).writes
        return isinstance(stmt, (gast.With, gast.Delete, gast.Raise, gast.Try, gast.FunctionDef))

    def _effects(self, expr: Any, ours: bool) -> Effects:
        sort = type(expr)
        if sort is gast.Constant:
            return NONE
        if sort is gast.Name:
            return NONE if expr.id in self.local else READ
        if sort is gast.Attribute and core.is_path(expr, self.local):
            return READ
        if sort in _DISPLAYS:
            return self._display(expr)
        if sort is gast.JoinedStr:
            return ANYTHING
        nodes = self.operands(expr)
        kinds = list(map(self.kind, nodes))
        if sort is gast.Call:
            return self._call(expr, nodes, kinds, ours)
        if sort is gast.Compare and isinstance(expr.ops[0], (gast.Is, gast.IsNot)):
            return NONE
        if K.Unknown in map(type, kinds):
            return READ if ours else ANYTHING
        if sort is gast.Attribute:
            return READ if isinstance(kinds[0], (K.Array, K.Scalar)) else CHECK
        if sort is gast.Subscript:
            return CHECK
        raises = not self._fits(expr, nodes, kinds)
        return Effects(raises, reads=not all(map(K.immutable, kinds)))

    def _display(self, expr: Any) -> Effects:
        elements = expr.values if isinstance(expr, gast.Dict) else expr.elts
        keys = expr.keys if isinstance(expr, gast.Dict) else expr.elts if isinstance(expr, gast.Set) else []
        if any(isinstance(e, gast.Starred) for e in elements) or None in keys:
            return ANYTHING
        return NONE if all(isinstance(k, gast.Constant) for k in keys) else CHECK

    def _fits(self, expr: Any, nodes: list[Any], kinds: list[Kind]) -> bool:
        """Whether an operator on numbers certainly gives a value."""
        if not all(map(_is_number, kinds)):
            return False
        if isinstance(expr, gast.UnaryOp):
            return isinstance(expr.op, (gast.USub, gast.UAdd)) or not isinstance(kinds[0], (K.Array, K.Numeric))
        if not self._broadcasts(nodes, kinds):
            return False
        if isinstance(expr, gast.Compare):
            return isinstance(expr.ops[0], (gast.Eq, gast.NotEq, gast.Lt, gast.LtE, gast.Gt, gast.GtE)) and not any(
                (K.dtype_of(k) or K.FLOAT.dtype).kind == "c" for k in kinds
            )
        if isinstance(expr.op, gast.MatMult):
            return all(isinstance(k, K.Array) and k.ndim == 1 for k in kinds)
        if OPERATORS[type(expr.op)] in TOTAL_OPERATORS:
            return True
        numpy = any(isinstance(k, K.Array) or (isinstance(k, K.Scalar) and not k.python) for k in kinds)
        floats = any((K.dtype_of(k) or K.FLOAT.dtype).kind in "fc" for k in kinds)
        return numpy and floats and isinstance(expr.op, (gast.Div, gast.Pow))

    def operands(self, expr: Any) -> list[Any]:
        """The values that an operation works on: atoms, with a method's owner, without the function that is called."""
        sort = type(expr)
        if sort is gast.BinOp:
            return [expr.left, expr.right]
        if sort is gast.UnaryOp:
            return [expr.operand]
        if sort is gast.Compare:
            return [expr.left, *expr.comparators]
        if sort is not gast.Call:
            return [expr.value]
        target = expr.func
        method = type(target) is gast.Attribute and core.is_atom(target.value) and not core.is_path(target, self.local)
        return [*([target.value] if method else []), *expr.args, *[k.value for k in expr.keywords]]

    def _broadcasts(self, nodes: list[Any], kinds: list[Kind]) -> bool:
        """Whether shapes certainly fit: apart from numbers, one operand's is the broadcast of all, and so was made."""
        if self._fitting:
            return True
        shapes = set()
        for node, kind in zip(nodes, kinds):
            if isinstance(kind, K.Numeric):
                shapes.add(f"unknown {node.id}")
            elif K.ndim_of(kind) != 0:
                shapes.add(self.shapes.get(node.id, node.id))
        return len(shapes) <= 1 or self.broadcasts.widest(shapes) is not None

    def _call(self, expr: Any, nodes: list[Any], kinds: list[Kind], ours: bool) -> Effects:
        if tape_operation(expr, self.tapes) is not None:
            return Effects(reads=True, writes=True)
        found = self.conduct(expr)
        if found is None or not found.only_reads or any(k.arg == "out" for k in expr.keywords):
            return ANYTHING
        function = self.function(expr)
        if ours and of_ours(function):
            return READ
        if module_of(function) == "_operator" and kinds and K.immutable(kinds[0]):
            return Effects(raises=True)
        if K.Iterator in map(type, kinds) and function not in (zip, enumerate, reversed):
            return ANYTHING
        if K.Unknown in map(type, kinds):
            return READ if ours else ANYTHING
        return Effects(
            raises=not self._total_call(expr, function, nodes, kinds), reads=not all(map(K.immutable, kinds))
        )

    def _total_call(self, expr: Any, function: Any, nodes: list[Any], kinds: list[Kind]) -> bool:
        if function in TOTAL_CALLS and not expr.keywords:
            if function in (len, reversed):
                sized = isinstance(kinds[0], (K.Tuple, K.List, K.Sequence, K.Range, K.Dict))
                return sized or (isinstance(kinds[0], K.Array) and kinds[0].ndim > 0)
            fits = (K.Int,) if function is range else (K.Scalar, K.Int)
            return all(isinstance(k, fits) and (K.dtype_of(k) or K.FLOAT.dtype).kind in "fi" for k in kinds) and (
                function is not range or len(kinds) < 3
            )
        if expr.keywords or not all(map(_is_number, kinds)):
            return False
        if isinstance(function, np.ufunc):
            return function.signature is None and self._broadcasts(nodes, kinds)
        return function in TOTAL_NUMPY and len(kinds) == 1


def is_total(expr: Any, kinds: Mapping[str, Kind], scope: Scope) -> bool:
    """Whether evaluating an operation on atoms certainly does nothing but give a value."""
    fn = Function("", _NO_PARAMETERS, (), scope, None, facts=Facts(kinds=kinds))  # type: ignore[arg-type]
    knowledge = Knowledge(fn)
    knowledge.local.update(kinds)
    found = knowledge.effects(expr)
    return not (found.raises or found.writes)


_NO_PARAMETERS = gast.arguments([], [], None, [], [], None, [])


def _is_number(kind: Kind) -> bool:
    dtype = K.dtype_of(kind)
    return dtype is not None and dtype.kind in "biufc"


# --- tapes ------------------------------------------------------------------------------------------------------


def tape_operation(expr: Any, tapes: frozenset[str]) -> str | None:
    """The tape on which `tape.append(value)` or `tape.pop()` works; None for any other expression."""
    if type(expr) is not gast.Call or type(expr.func) is not gast.Attribute:
        return None
    owner = expr.func.value
    return owner.id if type(owner) is gast.Name and owner.id in tapes else None


def tapes(fn: Function) -> frozenset[str]:
    """The lists that are made empty and only pushed to and popped from."""
    simple = [s for s in statements(fn.body) if type(s) is gast.Assign or type(s) is gast.Expr]
    empty = [s for s in simple if type(s.value) is gast.List and not s.value.elts]
    made = Counter(name for s in empty if (name := assigned(s)) is not None)
    if not made:
        return frozenset()
    moved = Counter(name for s in simple if type(s.value) is gast.Call and (name := _stack_use(s)) is not None)
    read, defined = reads_of(fn), definitions_of(fn)
    parameters = fn.param_names
    return frozenset(n for n in made if n not in parameters and read[n] == moved[n] and defined[n] == made[n])


def _stack_use(stmt: Any) -> str | None:
    """The name of what a call as a statement, or as a value, pushes on or pops from."""
    call = stmt.value
    if not isinstance(call.func, gast.Attribute) or call.keywords or not isinstance(call.func.value, gast.Name):
        return None
    push = isinstance(stmt, gast.Expr) and call.func.attr == "append" and len(call.args) == 1
    pop = call.func.attr == "pop" and not call.args
    return call.func.value.id if push or pop else None
