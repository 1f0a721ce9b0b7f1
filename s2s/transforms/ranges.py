"""Signs and bounds that hold for all values, and so slopes that are finite although their rules' need not be.

`exp` of what is never positive lies between zero and one: of `-x**2`, or of `z - max(z)`. A quotient by what is at
least one, `1 + exp(x)` or the sum of `exp(z - max(z))`, has no infinite slope, and neither has its logarithm or root.
All this is said of numbers; what may be no number is asked elsewhere (`selecting.may_be_nonfinite`).
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import gast
import numpy as np

from s2s import core
from s2s import kinds as K
from s2s.transforms.callee import callee
from s2s.transforms.sameshape import Reduction, new_axis, reduction

if TYPE_CHECKING:
    from s2s.transforms.operations import Operations

_EXPONENTIALS = {np.exp, np.exp2, np.expm1}
_NEVER_NEGATIVE = {np.exp, np.exp2, np.square, np.abs, np.absolute, np.fabs, np.sqrt, abs, operator.abs}
_LINEAR = {np.sum, np.mean, np.ndarray.sum, np.ndarray.mean}
_MAXIMA = {np.max, np.ndarray.max}
_STEEP_BELOW_ONE = {np.log, np.log2, np.log10, np.sqrt, np.cbrt, np.reciprocal}


class Ranges:
    """What is known of the values of one function's names.

    sign: 1 for names that are never negative, -1 for those that are never positive. above_one: at least one.
    steady: results of operations whose slopes are finite, whatever their operands.
    """

    def __init__(self, operations: Operations) -> None:
        self.operations = operations
        self.sign: dict[str, int] = {}
        self.above_one: set[str] = set()
        self.steady: set[str] = set()
        # Meeting names change between one operation and the next: what is said of them holds for no other time.
        self.moving = set(_copied(operations.fn.body))
        self.opposite: dict[str, str] = {}
        self.maxima: dict[str, Reduction] = {}
        self.peaks: dict[str, Any] = {}  # the axis over which the greatest element is one
        self.hollows: dict[str, Any] = {}  # the axis over which the greatest element is zero
        self.block(operations.fn.body)

    def block(self, stmts: Sequence[Any]) -> None:
        for stmt in stmts:
            if isinstance(stmt, gast.Assign) and isinstance(stmt.targets[0], gast.Name):
                self.assign(stmt.targets[0].id, stmt.value)
            for _, inner in core.blocks(stmt):
                self.block(inner)

    def assign(self, name: str, value: Any) -> None:
        if isinstance(value, gast.Call):
            self.call(name, value)
        elif isinstance(value, gast.BinOp):
            self.arithmetic(name, value)
        elif isinstance(value, gast.UnaryOp) and isinstance(value.op, gast.USub):
            self.put(name, -self.sign_of(value.operand))
            if isinstance(value.operand, gast.Name) and value.operand.id not in self.moving:
                self.opposite[name] = value.operand.id
        elif isinstance(value, gast.Subscript):
            self.put(name, self.sign_of(value.value))
            self.maximum_with_axis(name, value)

    def put(self, name: str, sign: int) -> None:
        dtype = K.dtype_of(self.operations.kind(core.name(name)))
        if sign and dtype is not None and dtype.kind == "f":
            self.sign[name] = sign

    def sign_of(self, atom: Any) -> int:
        """1 for what is never negative, -1 for what is never positive, 0 where nothing is known."""
        if isinstance(atom, gast.Name):
            return self.sign.get(atom.id, 0)
        value = atom.value if isinstance(atom, gast.Constant) else None
        return (1 if value >= 0 else -1 if value < 0 else 0) if isinstance(value, (int, float)) else 0

    def at_least_one(self, atom: Any) -> bool:
        if isinstance(atom, gast.Name):
            return atom.id in self.above_one
        return self.sign_of(atom) == 1 and atom.value >= 1

    def arithmetic(self, name: str, value: Any) -> None:
        left, right, op = value.left, value.right, value.op
        signs = self.sign_of(left), self.sign_of(right)
        if isinstance(op, gast.Mult):
            same = self.same(left, right)
            self.put(name, same or signs[0] * signs[1])
        elif isinstance(op, gast.Add):
            self.put(name, signs[0] if signs[0] == signs[1] else 0)
            if signs == (1, 1) and (self.at_least_one(left) or self.at_least_one(right)):
                self.above(name)
        elif isinstance(op, gast.Sub):
            self.put(name, signs[0] if signs[0] == -signs[1] else 0)
            self.less_maximum(name, left, right)
        elif isinstance(op, gast.Div):
            self.put(name, signs[0] * signs[1])
            if self.at_least_one(right):
                self.steady.add(name)
        elif isinstance(op, gast.Pow) and isinstance(right, gast.Constant) and type(right.value) is int:
            self.put(name, 1 if right.value >= 0 and right.value % 2 == 0 else 0)

    def same(self, left: Any, right: Any) -> int:
        """1 for a name and itself, -1 for a name and its negative."""
        if not (isinstance(left, gast.Name) and isinstance(right, gast.Name)):
            return 0
        if left.id == right.id:
            return 1
        return -1 if self.opposite.get(left.id) == right.id or self.opposite.get(right.id) == left.id else 0

    def above(self, name: str) -> None:
        self.put(name, 1)
        if name in self.sign:
            self.above_one.add(name)

    def call(self, name: str, value: Any) -> None:
        function = self.operations.function(value)
        if function in _MAXIMA:
            found = reduction(value, self.operands)
            if found is not None and found.array not in self.moving:
                self.maxima[name] = found
            return
        self.maximum_with_axis(name, value)
        operands = self.operands(value)[1]
        first = operands[0] if operands else None
        if first is None or (value.keywords and function not in _LINEAR):
            return
        if function in _LINEAR:
            self.total(name, value, first)
        if function in _EXPONENTIALS and self.sign_of(first) == -1:
            self.steady.add(name)
            if isinstance(first, gast.Name) and first.id in self.hollows and function is not np.expm1:
                self.peaks[name] = self.hollows[first.id]
        if function in _STEEP_BELOW_ONE and self.at_least_one(first):
            self.steady.add(name)
        if function is np.log1p and self.sign_of(first) == 1:
            self.steady.add(name)
        if function in _NEVER_NEGATIVE:
            self.put(name, 1)
        elif function is np.cosh:
            self.above(name)

    def operands(self, node: Any) -> tuple[Any, list[Any]]:
        return callee(node, self.operations.kind, self.operations.local)

    def total(self, name: str, value: Any, first: Any) -> None:
        """Sums have the sign of their terms; one over the axis of peaks is at least one."""
        self.put(name, self.sign_of(first))
        found = reduction(value, self.operands)
        if found is None or self.operations.function(value) not in (np.sum, np.ndarray.sum):
            return
        if found.array in self.peaks and self.peaks[found.array] == found.axis:
            self.above(name)

    def maximum_with_axis(self, name: str, value: Any) -> None:
        """`max(z, axis=1)[:, None]` is `max(z, axis=1, keepdims=True)`."""
        inserted = new_axis(value, self.operands)
        if inserted is not None and inserted[0] in self.maxima:
            array, axis, kept = self.maxima[inserted[0]]
            if not kept and axis == inserted[1]:
                self.maxima[name] = Reduction(array, axis, True)

    def less_maximum(self, name: str, left: Any, right: Any) -> None:
        """`z - max(z)` is never positive, and zero somewhere."""
        if not (isinstance(left, gast.Name) and isinstance(right, gast.Name) and right.id in self.maxima):
            return
        array, axis, kept = self.maxima[right.id]
        if array == left.id and (kept or axis is None):
            self.put(name, -1)
            self.hollows[name] = axis


def _copied(stmts: Sequence[Any]) -> Iterator[str]:
    """The names that are assigned by copies, as meeting names are, and the targets of loops."""
    for stmt in stmts:
        if isinstance(getattr(stmt, "value", None), gast.Name) or isinstance(stmt, gast.For):
            yield from core.writes(stmt)
        for _, block in core.blocks(stmt):
            yield from _copied(block)
