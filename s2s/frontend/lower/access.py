"""Attributes and subscripts. A dotted read of what is not local (`np.linalg.norm`) stays whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gast

from s2s.frontend.lower.lowering import Lowering, lowers


@lowers(gast.Attribute)
def attribute(low: Lowering, node: Any) -> Any:
    if low.is_path(node):
        return path(low, node)
    return gast.Attribute(low.atom(node.value), low.names.mangle(node.attr), gast.Load())


def path(low: Lowering, node: Any) -> Any:
    """A path, its private names mangled."""
    if low.names.class_name is None:
        return node
    if isinstance(node, gast.Attribute):
        return gast.Attribute(path(low, node.value), low.names.mangle(node.attr), gast.Load())
    return low.load(node)


@lowers(gast.Subscript)
def subscript(low: Lowering, node: Any) -> Any:
    return place(low, node, low.operands(place_operands(node)), gast.Load)


def place_operands(node: Any) -> list[Any]:
    """What is evaluated to find the place that a subscript or an attribute means: the object, then the index."""
    if isinstance(node, gast.Attribute):
        return [node.value]
    found = [node.value]
    for element in _elements(node.slice):
        if isinstance(element, gast.Slice):
            found.extend(part for part in (element.lower, element.upper, element.step) if part is not None)
        else:
            found.append(element)
    return found


def place(low: Lowering, node: Any, operands: list[Any], ctx: type) -> Any:
    """The place again, on its operands as atoms."""
    owner, *rest = operands
    if isinstance(node, gast.Attribute):
        return gast.Attribute(owner, low.names.mangle(node.attr), ctx())
    atoms = iter(rest)
    elements = [_index(element, atoms) for element in _elements(node.slice)]
    index = gast.Tuple(elements, gast.Load()) if isinstance(node.slice, gast.Tuple) else elements[0]
    return gast.Subscript(owner, index, ctx())


def _elements(index: Any) -> list[Any]:
    return index.elts if isinstance(index, gast.Tuple) else [index]


def _index(element: Any, atoms: Iterator[Any]) -> Any:
    if not isinstance(element, gast.Slice):
        return next(atoms)
    parts = (element.lower, element.upper, element.step)
    return gast.Slice(*(None if part is None else next(atoms) for part in parts))
