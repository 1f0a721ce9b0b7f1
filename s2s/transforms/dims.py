"""Sizes in terms of others: how long the axes of arrays are, as far as this can be told before the program runs.

A *term* stands for an integer: a sum of roots and a constant. Roots are the values of names, the lengths of the axes
of arrays of which no more is known, and functions of other terms: the length of a slice, the broadcast of two lengths.
Equal terms are equal numbers, whatever the call. So `u[2:]`, `u[1:-1]` and `u[:-2]` are as long as each other, and
`lu[k + 1 :, k]` is as long as `lu[k + 1 :, k + 1 :]` is wide. Terms of names that a loop assigns hold within a round.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Set
from typing import Any, NamedTuple

import gast
import numpy as np

from s2s import core
from s2s import kinds as K
from s2s.kinds import Kind

Callee = Callable[[Any], tuple[Any, list[Any]]]


class Term(NamedTuple):
    """`constant` and a sum of roots, each times a factor."""

    constant: int
    roots: tuple[tuple[Hashable, int], ...] = ()

    def plus(self, other: Term, times: int = 1) -> Term:
        factors = dict(self.roots)
        for root, factor in other.roots:
            factors[root] = factors.get(root, 0) + factor * times
        roots = tuple(sorted(((r, f) for r, f in factors.items() if f), key=repr))
        return Term(self.constant + other.constant * times, roots)

    def times(self, factor: int) -> Term:
        return Term(0).plus(self, factor)

    def names(self) -> set[str]:
        """The names in terms of which it is."""
        return set().union(*(_names(root) for root, _ in self.roots))


Shape = tuple[Term, ...]


def root(*parts: Hashable) -> Term:
    """A number of which no more is known than what it is."""
    return Term(0, ((parts, 1),))


def own_shape(name: str, ndim: int) -> Shape:
    """The shape of an array of which no more is known."""
    return tuple(root("length", name, axis) for axis in range(ndim))


def is_own(shape: Shape, name: str) -> bool:
    return shape == own_shape(name, len(shape))


def names_of(found: Any) -> set[str]:
    """The names in terms of which a term or a shape is."""
    return found.names() if isinstance(found, Term) else set().union(*(t.names() for t in found))


def _names(part: Any) -> set[str]:
    if isinstance(part, Term):
        return part.names()
    if isinstance(part, tuple) and part[0] in ("value", "length", "count"):
        return {part[1]}
    return set().union(*map(_names, part)) if isinstance(part, (tuple, frozenset)) else set()


class Sizes:
    """The terms of integers, and the shapes of arrays, by name.

    ints: of integers; of a shape that has a name, the terms of its items. shapes: of arrays.
    """

    def __init__(
        self, ints: Mapping[str, Any], shapes: Mapping[str, Shape], kind: Callable[[Any], Kind], find: Callee
    ) -> None:
        self.ints = dict(ints)
        self.shapes = dict(shapes)
        self.mixed: set[str] = set()  # what is assigned in several places, and is no one tuple of terms
        self.kind = kind
        self.find = find

    def integer(self, node: Any) -> Term | None:
        """The term of an integer: an atom, or one operation on atoms."""
        if isinstance(node, gast.Constant):
            return Term(node.value) if type(node.value) is int else None
        if isinstance(node, gast.Name):
            known = self.ints.get(node.id)
            return known if isinstance(known, Term) else None
        if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
            operand = self.integer(node.operand)
            return None if operand is None else operand.times(-1)
        if isinstance(node, gast.BinOp):
            return self.arithmetic(node)
        if isinstance(node, gast.Subscript) and isinstance(node.value, gast.Name):
            items, index = self.items(node.value) or (), getattr(node.slice, "value", None)
            return items[index] if type(index) is int and -len(items) <= index < len(items) else None
        if isinstance(node, gast.Call) and not node.keywords:
            function, operands = self.find(node)
            shape = self.shape(operands[0]) if function is len and len(operands) == 1 else None
            return shape[0] if shape else None
        if isinstance(node, gast.Attribute) and node.attr == "size":
            shape = self.shape(node.value)
            return shape[0] if shape is not None and len(shape) == 1 else None
        return None

    def arithmetic(self, node: Any) -> Term | None:
        left, right = self.integer(node.left), self.integer(node.right)
        if left is None or right is None:
            return None
        if isinstance(node.op, (gast.Add, gast.Sub)):
            return left.plus(right, 1 if isinstance(node.op, gast.Add) else -1)
        if isinstance(node.op, gast.Mult) and not (left.roots and right.roots):
            return left.times(right.constant) if not right.roots else right.times(left.constant)
        if isinstance(node.op, (gast.Mult, gast.FloorDiv, gast.Mod)):
            return root(type(node.op).__name__, left, right)
        return None

    def items(self, node: Any) -> tuple[Term, ...] | None:
        """The items of a tuple of integers: a shape, or a display."""
        if isinstance(node, gast.Name):
            known = self.ints.get(node.id)
            return None if isinstance(known, Term) else known
        if isinstance(node, gast.Attribute) and node.attr == "shape":
            return self.shape(node.value)
        if isinstance(node, gast.Tuple):
            found = [self.integer(e) for e in node.elts]
            return None if None in found else tuple(found)  # type: ignore[arg-type]
        return None

    # --- arrays ---

    def shape(self, node: Any) -> Shape | None:
        """The shape of an array: a name, or one operation on atoms; None where nothing is known of it."""
        if isinstance(node, gast.Name):
            return self.shapes.get(node.id)
        if isinstance(node, gast.Subscript):
            return self.item(node)
        if isinstance(node, gast.Attribute) and node.attr == "T":
            shape = self.shape(node.value)
            return None if shape is None else shape[::-1]
        if isinstance(node, gast.BinOp) and isinstance(node.op, gast.MatMult):
            return self.product([node.left, node.right])
        if isinstance(node, gast.Call):
            return self.call(node)
        return None

    def call(self, node: Any) -> Shape | None:
        function, operands = self.find(node)
        if function in _MADE and operands and {k.arg for k in node.keywords} <= {"dtype"}:
            return self.listed(operands[0])
        if node.keywords:
            return None
        if function is np.outer and len(operands) == 2:
            found = [self.shape(o) for o in operands]
            return None if any(s is None or len(s) != 1 for s in found) else found[0] + found[1]  # type: ignore[operator]
        if function in _PRODUCTS and len(operands) == 2:
            return self.product(operands)
        if function in _FLAT and len(operands) == 1:
            shape = self.shape(operands[0])
            return shape if shape is not None and len(shape) == 1 else None
        if function in _TRANSPOSES and len(operands) == 1:
            shape = self.shape(operands[0])
            return None if shape is None else shape[::-1]
        if function in _DIAGONALS and len(operands) == 1:
            shape = self.shape(operands[0])
            if shape is None or len(shape) != 2:
                return None
            return shape[:1] if shape[0] == shape[1] else (root("least", frozenset(shape)),)
        return None

    def listed(self, node: Any) -> Shape | None:
        """The shape that is the argument of `np.zeros`."""
        items = self.items(node)
        if items is not None:
            return items
        length = self.integer(node)
        return None if length is None else (length,)

    def product(self, operands: Sequence[Any]) -> Shape | None:
        """The shape of a matrix product of arrays of one or two dimensions."""
        found = [self.shape(o) for o in operands]
        if any(s is None or not 1 <= len(s) <= 2 for s in found):
            return None
        left, right = found
        return left[:-1] + (right[1:])  # type: ignore[index]

    def broadcast(self, operands: Iterable[Any]) -> Shape | None:
        """The shape of an elementwise result."""
        total: Shape = ()
        for operand in operands:
            if isinstance(operand, gast.Constant) or K.ndim_of(self.kind(operand)) == 0:
                continue
            shape = self.shape(operand)
            if shape is None:
                return None
            short, long = sorted((total, shape), key=len)
            lead = len(long) - len(short)
            total = long[:lead] + tuple(map(_common, short, long[lead:]))
        return total

    # --- names ---

    def define(
        self,
        name: str,
        node: Any = None,
        operands: Sequence[Any] | None = None,
        joins: bool = False,
        rounds: Set[str] = frozenset(),
    ) -> bool:
        """Take note of what a name is assigned; whether that contradicts what was known of it.

        node: the value, None where nothing is known of it. operands: those of an elementwise operation.
        joins: the name is assigned in other places, too. rounds: names in terms of which nothing may be said, as the
        name is read in another round of a loop than it is assigned in.
        """
        kind = self.kind(core.name(name))
        found: Term | Shape | None
        own: Term | Shape | None = None
        if isinstance(kind, K.Array):
            table: dict[str, Any] = self.shapes
            found = self.broadcast(operands) if operands is not None else self.shape(node)
            own = own_shape(name, kind.ndim)
            if found is not None and len(found) != kind.ndim:
                found = own
        else:
            table = self.ints
            found = self.integer(node) if isinstance(kind, K.Int) else self.items(node)
            own = root("value", name) if isinstance(kind, K.Int) else None
        old = table.get(name)
        if found is None or (rounds and names_of(found) & rounds) or (joins and old not in (None, found)):
            found = own
            if joins and own is None:
                self.mixed.add(name)
        elif name in self.mixed:
            found = None
        for other in (self.ints, self.shapes):
            if other is not table or found is None:
                other.pop(name, None)
        if found is not None:
            table[name] = found
        return old not in (None, found)

    # --- items ---

    def item(self, node: Any) -> Shape | None:
        """The shape of `x[index]`, by slices, integers, new axes, and one array of places or a mask at most."""
        shape = self.shape(node.value)
        parts = list(node.slice.elts) if isinstance(node.slice, gast.Tuple) else [node.slice]
        kinds = [None if isinstance(p, gast.Slice) else self.kind(p) for p in parts]
        arrays = [k for k in kinds if isinstance(k, K.Array)]
        if shape is None or len(arrays) > 1 or (arrays and any(isinstance(k, (K.Int, K.Scalar)) for k in kinds)):
            return None
        taken = [_axes(part, kind) for part, kind in zip(parts, kinds)]
        if None in taken:
            return None
        missing = len(shape) - sum(t for t in taken if t is not None and t >= 0)
        if missing < 0 or taken.count(_ELLIPSIS) > 1:
            return None
        found: list[Term] = []
        axis = 0
        for part, kind, count in zip(parts, kinds, taken):
            assert count is not None
            here = shape[axis : axis + count] if count >= 0 else shape[axis : axis + missing]
            axis += len(here)
            if count == _ELLIPSIS:
                found.extend(here)
            elif isinstance(part, gast.Slice):
                length = self.length(here[0], part)
                if length is None:
                    return None
                found.append(length)
            elif isinstance(kind, K.Array):
                if not isinstance(part, gast.Name):
                    return None
                if kind.dtype.kind == "b":
                    found.append(root("count", part.id))
                else:
                    found.extend(self.shape(part) or ())
            elif count == 0:
                found.append(Term(1))
        return (*found, *shape[axis:])

    def length(self, size: Term, part: Any) -> Term | None:
        """How long a slice of an axis is."""
        bounds = [None if b is None else self.integer(b) for b in (part.lower, part.upper, part.step)]
        if any(b is None and given is not None for b, given in zip(bounds, (part.lower, part.upper, part.step))):
            return None
        lower, upper, step = bounds
        if step == Term(1):
            step = None
        if step is None and _sign(lower, 1) and _sign(upper, -1):
            shorter = size.plus(lower or Term(0), -1).plus(upper or Term(0))
            return _positive(shorter) if shorter != size else size
        return root("slice", size, lower, upper, step)


def _sign(bound: Term | None, sign: int) -> bool:
    """Whether a bound is left out, or a constant of a sign, so that it counts from that end."""
    if bound is None:
        return True
    return not bound.roots and (bound.constant >= 0 if sign > 0 else bound.constant < 0)


def _positive(term: Term) -> Term:
    """The term, or zero where it is negative: `max(0, n - 2)`, for a length n; of such a one, taken again."""
    if len(term.roots) == 1 and term.constant <= 0:
        (inner, factor), constant = term.roots[0], term.constant
        if factor == 1 and isinstance(inner, tuple) and inner[0] == "positive":
            return root("positive", inner[1].plus(Term(constant)))
    return root("positive", term) if term.roots else Term(max(0, term.constant))


def _common(a: Term, b: Term) -> Term:
    """The length of an axis that two operands broadcast to."""
    if a == b or b == Term(1):
        return a
    if a == Term(1) or not b.roots:
        return b
    return a if not a.roots else root("common", _operands(a) | _operands(b))


def _operands(term: Term) -> frozenset[Term]:
    """What a length is the broadcast of."""
    if len(term.roots) == 1 and not term.constant:
        inner, factor = term.roots[0]
        if factor == 1 and isinstance(inner, tuple) and inner[0] == "common":
            return inner[1]  # type: ignore[no-any-return]
    return frozenset((term,))


def _axes(part: Any, kind: Kind | None) -> int | None:
    """How many axes a part of an index takes; None where it is not known."""
    if isinstance(part, gast.Slice) or isinstance(kind, K.Int):
        return 1
    if isinstance(part, gast.Constant):
        return {None: 0, Ellipsis: _ELLIPSIS}.get(part.value)
    if isinstance(kind, K.Scalar) and kind.dtype.kind in "iu":
        return 1
    if isinstance(kind, K.Array) and kind.dtype.kind in "biu":
        return kind.ndim if kind.dtype.kind == "b" else 1
    return None


_ELLIPSIS = -1
_MADE = {np.zeros, np.ones, np.empty, np.full}
_PRODUCTS = {np.dot, np.ndarray.dot, np.matmul}
_FLAT = {np.ravel, np.ndarray.ravel, np.ndarray.flatten}
_TRANSPOSES = {np.transpose, np.ndarray.transpose}
_DIAGONALS = {np.diagonal, np.ndarray.diagonal}
