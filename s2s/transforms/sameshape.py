"""Expressions whose results have one shape because they do the same to operands of the same shapes.

`x[1:]` and `x[:-1]` are as long as each other; two sums over the same axis of arrays of one shape are, too. A key
says what an expression does to shapes; equal keys, equal shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any

import gast
import numpy as np

from s2s import kinds as K
from s2s.kinds import Kind

REDUCTIONS = {
    np.sum, np.mean, np.max, np.min, np.prod, np.var, np.std, np.ndarray.sum, np.ndarray.mean, np.ndarray.max,
    np.ndarray.min, np.ndarray.prod, np.ndarray.var, np.ndarray.std, np.dot, np.ndarray.dot, np.outer, np.expand_dims,
    np.transpose, np.ndarray.transpose, np.matmul,
}  # fmt: skip


def shape_key(
    node: Any, shapes: Mapping[str, str], kind: Callable[[Any], Kind], callee: Callable[[Any], tuple[Any, list[Any]]]
) -> Hashable | None:
    """A key of the shape of an expression's result; None where nothing is known."""

    def operand(item: Any) -> Hashable | None:
        if isinstance(item, gast.Constant):
            return ("constant", repr(item.value))
        if isinstance(item, gast.Name):
            return ("shape", shapes[item.id]) if item.id in shapes else _number(kind(item))
        return None

    if isinstance(node, gast.BinOp) and isinstance(node.op, gast.MatMult):
        return _all("matmul", operand(node.left), operand(node.right))
    if isinstance(node, gast.BinOp):
        left, right = operand(node.left), operand(node.right)
        return None if left is None or right is None else ("broadcast", frozenset([left, right]))
    if isinstance(node, gast.Attribute) and node.attr == "T":
        return _all("T", operand(node.value))
    if isinstance(node, gast.Subscript) and isinstance(node.value, gast.Name) and node.value.id in shapes:
        return _sliced(node, shapes[node.value.id])
    if isinstance(node, gast.Call):
        function, operands = callee(node)
        if function in REDUCTIONS:
            keywords = [(k.arg, operand(k.value)) for k in node.keywords]
            if all(value is not None for _, value in keywords):
                return _all(function, *(operand(o) for o in operands), *keywords)
    return None


def kept_of(node: Any, callee: Callable[[Any], tuple[Any, list[Any]]]) -> str | None:
    """The array that a reduction with `keepdims=True` reduces."""
    if not isinstance(node, gast.Call):
        return None
    kept = any(
        k.arg == "keepdims" and isinstance(k.value, gast.Constant) and k.value.value is True for k in node.keywords
    )
    function, operands = callee(node) if kept else (None, [])
    return operands[0].id if function in REDUCTIONS and isinstance(operands[0], gast.Name) else None


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
