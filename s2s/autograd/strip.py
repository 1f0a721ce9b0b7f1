"""After a record: what the function left in lists, dicts, objects, globals and cells becomes plain data again."""

from __future__ import annotations

import types
from collections.abc import Iterable
from typing import Any, NamedTuple

from s2s.autograd.drawing import Drawing
from s2s.autograd.proxies import is_library
from s2s.autograd.texts import Text, plain_text
from s2s.autograd.traced import Traced
from s2s.runtime import pytree


class NameIn(NamedTuple):
    """A place where a Value may be left: a name in a namespace."""

    namespace: dict[str, Any]
    name: str


def strip(places: Iterable[Any]) -> None:
    """Put plain data in the place of Traced values, in place, in all that is reached from `places`.

    places: lists, tuples, dicts, objects, cells, and names in namespaces.
    """
    seen: set[int] = set()
    stack: list[Any] = []
    for place in places:
        if isinstance(place, NameIn):
            if place.name in place.namespace:
                place.namespace[place.name] = _visit(place.namespace[place.name], stack)
        elif isinstance(place, types.CellType):
            _strip_cell(place, stack)
        elif isinstance(place, tuple):
            _visit(place, stack)
        else:
            stack.append(place)
    while stack:
        holder = stack.pop()
        if id(holder) not in seen:
            seen.add(id(holder))
            _strip_holder(holder, stack)


def stripped(tree: Any) -> Any:
    """The plain data of a tree; its lists, dicts and objects are changed in place."""
    stack: list[Any] = []
    result = _visit(tree, stack)
    strip(stack)
    return result


def plain(tree: Any) -> Any:
    """The plain data of a tree; what it is made of stays as it is."""
    return pytree.map(lambda leaf: leaf._data if isinstance(leaf, Traced) else leaf, tree)


def _strip_cell(cell: types.CellType, stack: list[Any]) -> None:
    try:
        cell.cell_contents = _visit(cell.cell_contents, stack)
    except ValueError:  # empty
        return


def _strip_holder(holder: Any, stack: list[Any]) -> None:
    if isinstance(holder, list):
        for i, item in enumerate(holder):
            if type(item) not in _ATOMS:
                new = _visit(item, stack)
                if new is not item:
                    holder[i] = new
        return
    namespace = holder if isinstance(holder, dict) else getattr(holder, "__dict__", None)
    if isinstance(namespace, dict):
        for key, item in namespace.items():
            if type(item) not in _ATOMS:
                new = _visit(item, stack)
                if new is not item:
                    namespace[key] = new


_ATOMS = frozenset({int, float, str, bool, complex, type(None), bytes})
_OPAQUE = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType)


def _visit(value: Any, stack: list[Any]) -> Any:
    """The plain counterpart of a value; what may hold more of them goes onto the stack."""
    if isinstance(value, Traced):
        return value._data
    if type(value) is Text:
        return plain_text(value)
    if type(value) is Drawing:
        return value._generator
    if isinstance(value, tuple):
        items = [_visit(item, stack) for item in value]
        if all(new is old for new, old in zip(items, value, strict=True)):
            return value
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, (list, dict)):
        stack.append(value)
    elif hasattr(value, "__dict__") and not isinstance(value, _OPAQUE) and not is_library(type(value)):
        stack.append(value)
    return value
