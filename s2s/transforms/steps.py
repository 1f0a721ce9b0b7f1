"""Whether two arrays of one memory go through it in step: then NumPy writes the one from the other in a safe order.

`c[1:] = c[:-1]` and `c[:] = c[::-1]` come out as if all were read before anything is written, `c[2:8] = c[::2]` does
not (`stores.require_in_step`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import gast

from s2s import core
from s2s import kinds as K


class Axis(NamedTuple):
    """An axis of a view: which one of the array it is, and how many elements there a step is."""

    number: int
    step: int


class Steps:
    """The axes of views, by what they are views of.

    views: what names are bound to that are views for certain, and the array that each is a view of.
    """

    def __init__(self, views: Mapping[str, Any], kind: Callable[[Any], K.Kind]) -> None:
        self.views = views
        self.kind = kind

    def in_step(self, region: Any, value: Any) -> bool:
        """Whether two expressions are views along one axis of one array, with equal steps or opposite ones."""
        one, other = self.axes(region), self.axes(value)
        if one is None or other is None or one[0] != other[0] or len(one[1]) != 1 or len(other[1]) != 1:
            return False
        (a,), (b,) = one[1], other[1]
        return a.number == b.number and (a.step == b.step or a.step * b.step < 0)

    def axes(self, node: Any) -> tuple[str, list[Axis]] | None:
        """The array that an expression is a view of, and the axes that are left of it; None where it is not known."""
        if isinstance(node, gast.Name):
            if node.id in self.views:
                return self.axes(self.views[node.id])
            known = self.kind(node)
            return (node.id, [Axis(i, 1) for i in range(known.ndim)]) if isinstance(known, K.Array) else None
        if isinstance(node, gast.Attribute) and node.attr == "T":
            whole = self.axes(node.value)
            return None if whole is None else (whole[0], whole[1][::-1])
        if isinstance(node, gast.Subscript):
            whole = self.axes(node.value)
            left = None if whole is None else self.indexed(whole[1], node.slice)
            return None if whole is None or left is None else (whole[0], left)
        return None

    def indexed(self, axes: list[Axis], index: Any) -> list[Axis] | None:
        parts = index.elts if isinstance(index, gast.Tuple) else [index]
        axes, found = list(axes), list[Axis]()
        for position, part in enumerate(parts):
            if isinstance(part, gast.Constant) and part.value is Ellipsis:
                rest = len(parts) - position - 1
                found += axes[: len(axes) - rest]
                axes = axes[len(axes) - rest :]
            elif isinstance(part, gast.Slice):
                step = 1 if part.step is None else self.number(part.step)
                axis = axes.pop(0)
                if not step:
                    return None
                found.append(Axis(axis.number, axis.step * step))
            elif isinstance(self.kind(part), K.Int):
                axes.pop(0)
            else:
                return None
        return found + axes

    def number(self, node: Any) -> int | None:
        known = self.kind(node) if core.is_atom(node) else None
        value = node.value if isinstance(node, gast.Constant) else getattr(known, "value", None)
        return value if isinstance(value, int) else None
