"""Shapes by name: which arrays have one shape, and which shapes broadcast to which.

A shape goes by the name of the first array that has it, its canonical name. Broadcasting is an algebra on such names:
associative, commutative, and `bcast(X, X)` is X. So the shape of an elementwise result is the set of its operands'
shapes, and where one of them holds all others already, it is that one: of `a = x * y` and then `a + x` both are {x, y}.
Other expressions have one shape if they do the same to operands of the same shapes: `x[1:]` and `x[:-1]` are as long
as each other; two sums over the same axis of arrays of one shape are, too. A key says what an expression does to
shapes; equal keys, equal shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from typing import Any, NamedTuple

import gast
import numpy as np

from s2s import kinds as K
from s2s.core import MISSING
from s2s.kinds import Kind

REDUCTIONS = {
    np.sum, np.mean, np.max, np.min, np.prod, np.var, np.std, np.ndarray.sum, np.ndarray.mean, np.ndarray.max,
    np.ndarray.min, np.ndarray.prod, np.ndarray.var, np.ndarray.std,
}  # fmt: skip
# Other functions that do the same to the same shapes.
ALIKE = {np.dot, np.ndarray.dot, np.outer, np.expand_dims, np.transpose, np.ndarray.transpose, np.matmul}

Callee = Callable[[Any], tuple[Any, list[Any]]]


class Broadcasts:
    """The order of shapes: which canonical names stand for shapes that broadcast to which.

    parts: a shape is the broadcast of these others. within: a reduction that keeps its axes, and what it reduces.
    """

    def __init__(self, parts: Mapping[str, frozenset[str]], within: Mapping[str, str]) -> None:
        self.parts = dict(parts)
        self.within = dict(within)

    def forget(self, name: str) -> None:
        self.parts.pop(name, None)
        self.within.pop(name, None)

    def holds(self, whole: str, part: str) -> bool:
        """Whether broadcasting `part` with `whole` surely gives `whole`."""
        if whole == part or any(self.holds(p, part) for p in self.parts.get(whole, ())):
            return True
        return part in self.within and self.holds(whole, self.within[part])

    def widest(self, shapes: Collection[str]) -> str | None:
        """The one to which all others broadcast."""
        for whole in shapes:
            if len(shapes) == 1 or all(self.holds(whole, part) for part in shapes):
                return whole
        return None

    def together(self, shapes: Iterable[str]) -> frozenset[str]:
        """What the broadcast of several shapes is the broadcast of, without what others hold."""
        found = frozenset().union(*(self.parts.get(shape, (shape,)) for shape in shapes))
        return frozenset(s for s in found if not any(o != s and self.holds(o, s) for o in found))


def shape_key(node: Any, shapes: Mapping[str, str], kind: Callable[[Any], Kind], callee: Callee) -> Hashable | None:
    """A key of the shape of an expression's result; None where nothing is known."""

    def operand(item: Any) -> Hashable | None:
        if isinstance(item, gast.Constant):
            return ("constant", repr(item.value))
        if isinstance(item, gast.Name):
            return ("shape", shapes[item.id]) if item.id in shapes else _number(kind(item))
        return None

    if isinstance(node, gast.BinOp) and isinstance(node.op, gast.MatMult):
        return _all("matmul", operand(node.left), operand(node.right))
    if isinstance(node, gast.Attribute) and node.attr == "T":
        return _all("T", operand(node.value))
    if isinstance(node, gast.Subscript) and isinstance(node.value, gast.Name) and node.value.id in shapes:
        return _sliced(node, shapes[node.value.id])
    if isinstance(node, gast.Call):
        function, operands = callee(node)
        if function in REDUCTIONS | ALIKE:
            keywords = [(k.arg, operand(k.value)) for k in node.keywords]
            if all(value is not None for _, value in keywords):
                return _all(function, *(operand(o) for o in operands), *keywords)
    return None


class Reduction(NamedTuple):
    """The reduction of an array over constant axes."""

    array: str
    axis: Any
    keepdims: bool


def reduction(node: Any, callee: Callee) -> Reduction | None:
    """What a call reduces, where nothing else decides the shape of its result."""
    if not isinstance(node, gast.Call):
        return None
    function, operands = callee(node)
    given = {"axis": None, "keepdims": False, **{k.arg: k.value for k in node.keywords}}
    if len(operands) == 2 and not any(k.arg == "axis" for k in node.keywords):
        given["axis"] = operands[1]
    if function not in REDUCTIONS or len(operands) > 2 or len(given) > 2 or not isinstance(operands[0], gast.Name):
        return None
    known = [constant(v) if isinstance(v, gast.AST) else v for v in (given["axis"], given["keepdims"])]
    return None if MISSING in known else Reduction(operands[0].id, known[0], bool(known[1]))


def constant(node: Any) -> Any:
    """The value of a constant, of a negative one, or of a tuple of such; MISSING for anything else."""
    if isinstance(node, gast.Constant):
        return node.value
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub) and isinstance(node.operand, gast.Constant):
        return -node.operand.value
    if isinstance(node, gast.Tuple):
        items = tuple(map(constant, node.elts))
        return MISSING if MISSING in items else items
    return MISSING


def new_axis(node: Any, callee: Callee) -> tuple[str, int] | None:
    """The array that gets one more axis, and where: `x[:, None]`, `np.expand_dims(x, 1)`."""
    if isinstance(node, gast.Call):
        function, operands = callee(node)
        if function is not np.expand_dims or len(operands) != 2 or node.keywords:
            return None
        array, axis = operands[0], constant(operands[1])
    elif isinstance(node, gast.Subscript):
        parts = node.slice.elts if isinstance(node.slice, gast.Tuple) else [node.slice]
        array, places = node.value, [i for i, p in enumerate(parts) if isinstance(p, gast.Constant) and p.value is None]
        axis = (
            places[0] if len(places) == 1 and all(map(_is_whole, parts[: places[0]] + parts[places[0] + 1 :])) else -1
        )
    else:
        return None
    return (array.id, axis) if isinstance(array, gast.Name) and type(axis) is int and axis >= 0 else None


def _is_whole(part: Any) -> bool:
    return isinstance(part, gast.Slice) and part.lower is part.upper is part.step is None


def _all(*parts: Hashable | None) -> Hashable | None:
    return None if None in parts else parts


def _number(kind: Kind) -> Hashable | None:
    """Numbers do not change a shape."""
    return "number" if isinstance(kind, K.Scalar) else None


def _sliced(node: Any, shape: str) -> Hashable | None:
    """A slice by constants; of the first axis, by how much shorter it is."""
    index = node.slice
    if isinstance(index, gast.Slice):
        lower, upper = _bound(index.lower), _bound(index.upper)
        if index.step is None and lower is not None and upper is not None and lower >= 0 >= upper:
            return ("shorter", shape, lower - upper)
    parts = index.elts if isinstance(index, gast.Tuple) else [index]
    if all(_constant(part) for part in parts):
        return ("index", shape, gast.dump(index))
    return None


def _bound(node: Any) -> int | None:
    if node is None:
        return 0
    value = node.value if isinstance(node, gast.Constant) else None
    return value if type(value) is int and value != 0 else None


def _constant(node: Any) -> bool:
    if isinstance(node, gast.Slice):
        return all(b is None or isinstance(b, gast.Constant) for b in (node.lower, node.upper, node.step))
    return isinstance(node, gast.Constant) and (node.value is None or type(node.value) is int or node.value is Ellipsis)
