"""Contributions in the shape and dtype of the operand: what broadcasting has stretched is summed, dtypes are cast."""

from __future__ import annotations

from collections.abc import Set
from typing import TYPE_CHECKING, Any

from s2s import core
from s2s import kinds as K
from s2s.core import Function
from s2s.runtime import numeric
from s2s.transforms.partials import Partials
from s2s.transforms.reverse.emitted import as_reverse
from s2s.transforms.rulebody import Namer
from s2s.transforms.task import Program

if TYPE_CHECKING:
    from s2s.transforms.reverse.restore import Restorer


class Fitting(Partials):
    """Brings cotangents to the shapes and dtypes of operands."""

    def __init__(
        self, fn: Function, namer: Namer, program: Program, restorer: Restorer, given: Set[str] = frozenset()
    ) -> None:
        super().__init__(fn, namer, program, as_reverse, given)
        self.restorer = restorer

    def unbroadcast(self, value: Any, y: str, target: str, stmts: list[Any], origin: Any, smaller: bool = False) -> Any:
        """Sum over the axes along which the operand was broadcast, where it may have been.

        smaller: the value may be smaller than y, as it stands for its broadcast.
        """
        result, operand = self.kind(core.name(y)), self.kind(core.name(target))
        if K.ndim_of(result) == 0:
            return value
        shapes = self.fn.facts.shapes
        alike = isinstance(operand, K.Array) and shapes.get(y) is not None and shapes.get(y) == shapes.get(target)
        if alike and not smaller:
            return value
        held = self.emit(stmts, "t", value, origin)
        if K.ndim_of(operand) == 0 and isinstance(result, K.Array):
            return core.call(self.namer.numpy("sum"), held)
        return self.unbroadcast_to(held, target, stmts, origin)

    def unbroadcast_to(self, held: Any, target: str, stmts: list[Any], origin: Any) -> Any:
        """Sum an atom to the shape of a number or array."""
        if isinstance(self.kind(core.name(target)), K.Array):
            shape = self.shape(target, stmts, origin)
        else:
            shape_of = self.namer.bind("shape_of", numeric.shape_of)
            shape = self.emit(stmts, "shape", core.call(shape_of, target), origin)
        return core.call(self.namer.bind("unbroadcast", numeric.unbroadcast), held, shape)

    def shape(self, name: str, stmts: list[Any], origin: Any) -> Any:
        """The shape of an array, as an atom."""
        canonical = self.fn.facts.shapes.get(name, name)
        kept = self.restorer.shape_of(canonical)
        return core.name(kept) if kept else self.emit(stmts, "shape", core.attribute(canonical, "shape"), origin)

    def cast(self, value: Any, y: str, operand: Any, stmts: list[Any], origin: Any) -> Any:
        """To the operand's dtype, where the result's is another: real parts, and float32 of float64."""
        have, want = K.dtype_of(self.kind(core.name(y))), K.dtype_of(self.kind(operand))
        if have is None or want is None or have == want:
            return value
        held = self.emit(stmts, "t", value, origin)
        if have.kind == "c" and want.kind == "f":
            held = self.emit(stmts, "t", core.call(self.namer.numpy("real"), held), origin)
        becomes_complex = have.kind != "c" and want.kind == "c"
        if not becomes_complex and _precision(have) == _precision(want):
            return held
        dtype = core.attribute(operand, "dtype") if not K.is_python_number(self.kind(operand)) else None
        if dtype is None or isinstance(self.kind(operand), K.Scalar):
            return held
        return core.call(core.attribute(held, "astype"), self.emit(stmts, "dtype", dtype, origin))

    def reduces(self, y: str, target: str) -> bool:
        """Whether going from y's shape to the operand's surely sums, and so makes a new array."""
        of_y, of_target = K.ndim_of(self.kind(core.name(y))), K.ndim_of(self.kind(core.name(target)))
        return of_y is not None and of_target is not None and of_y > of_target


def _precision(dtype: Any) -> int:
    """The size of the real numbers that a dtype holds."""
    return int(dtype.itemsize) // (2 if dtype.kind == "c" else 1)
