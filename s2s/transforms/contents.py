"""Which contents of memory a statement reads: of an array it may ask no more than the shape."""

from __future__ import annotations

from typing import Any

import gast

from s2s import core

_SHAPES = frozenset({"shape", "ndim", "size", "dtype", "strides", "itemsize"})
_OF_SHAPE = frozenset({"zeros_like", "ones_like", "empty_like", "full_like", "shape_of", "shape", "ndim", "size"})


def contents_read(node: Any) -> set[str]:
    """The names of arrays of which a statement reads more than the shape, or the place for what it writes."""
    if isinstance(node, list):
        return set().union(*map(contents_read, node))
    if isinstance(node, gast.Name):
        return {node.id} if isinstance(node.ctx, gast.Load) else set()
    if isinstance(node, gast.Attribute) and node.attr in _SHAPES:
        return set()
    if isinstance(node, gast.Call):
        called = node.func.attr if isinstance(node.func, gast.Attribute) else getattr(node.func, "id", "")
        if core.stem(called) in _OF_SHAPE:
            return set().union(*(contents_read(a) for a in node.args[1:]), set())
    if isinstance(node, gast.Expr) and isinstance(node.value, gast.Call):
        called = node.value.func
        if isinstance(called, gast.Attribute) and called.attr in ("append", "pop"):
            return contents_read(node.value.args)
    if isinstance(node, gast.Assign) and isinstance(node.targets[0], gast.Subscript):
        return contents_read(node.value) | contents_read(node.targets[0].slice)
    found: set[str] = set()
    for child in gast.iter_child_nodes(node):
        found |= contents_read(child)
    return found
