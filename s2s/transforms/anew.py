"""Functions that are made anew: a lambda in the arguments of a call, a closure that a factory returns.

Each is another object, but those of one code run the same text. So what is compiled for one serves all of them: the
text is taken from the code, and what differs from one to the next, the values of closure cells and defaults, is read
from the function that the program holds when it runs:

    y = g(x)                closure = g.__closure__
                            k_cell = closure[0]
                            k = k_cell.cell_contents
                            y = k * x

Cells are read whenever their variable is, as other functions may bind it again. What kinds of values cells and defaults
hold is no business of this module: a variant's guard asks for them (`compiler/reliance.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import CellType, FunctionType
from typing import Any

import gast

from s2s import core, rules
from s2s.core import MISSING, Scope


def made_anew(value: Any) -> bool:
    """Whether a function is known by its code and not by identity, as another one of the code may take its place.

    Functions that a module or class holds by their names are themselves; so are those with attributes, or with a rule,
    and ours.
    """
    if not isinstance(value, FunctionType) or "<" not in value.__code__.co_qualname or value.__dict__:
        return False
    return (value.__module__ or "").partition(".")[0] != "s2s" and not rules.registry.holds_code(value.__code__)


def part(value: Any, node: Any) -> Any:
    """What the program reads of a function or cell that is known: its cells, one of them, what it holds; else MISSING.

    value: what is known of the operand of `node`, an attribute or item.
    """
    if isinstance(node, gast.Attribute):
        if isinstance(value, FunctionType) and node.attr == "__closure__":
            return value.__closure__ or MISSING
        if isinstance(value, CellType) and node.attr == "cell_contents":
            return content(value)
    if isinstance(node, gast.Subscript) and is_closure(value) and isinstance(node.slice, gast.Constant):
        return value[node.slice.value]
    return MISSING


def is_closure(value: Any) -> bool:
    """Whether a value is the tuple of a function's cells."""
    return isinstance(value, tuple) and bool(value) and all(isinstance(item, CellType) for item in value)


def content(cell: CellType) -> Any:
    """What a cell holds, MISSING for an empty one."""
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING


class Reads:
    """Reads of the cells and defaults of a function: the statements, and the expressions that stand for them.

    function: the expression for it, an atom or path, which is read once. held: the function that is known by it.
    """

    def __init__(self, function: Any, held: FunctionType, temporary: Callable[[str], str], origin: Any) -> None:
        self.function = function
        self.held = held
        self.temporary = temporary
        self.origin = origin
        self.statements: list[Any] = []
        self._containers: dict[str, str] = {}

    def cells(self, names: Iterable[str], scope: Scope) -> dict[str, Any]:
        """The path of each name that is a cell of the function; none for those that are empty."""
        order = self.held.__code__.co_freevars
        return {
            name: core.attribute(self._item("__closure__", order.index(name), f"{name}_cell"), "cell_contents")
            for name in names
            if name in scope.cells and scope.lookup(name) is not MISSING
        }

    def defaults(self, names: Iterable[str]) -> dict[str, Any]:
        """The default of each parameter that has one."""
        code = self.held.__code__
        first = code.co_argcount - len(self.held.__defaults__ or ())
        keywords = self.held.__kwdefaults__ or {}
        found: dict[str, Any] = {}
        for name in names:
            number = code.co_varnames[: code.co_argcount].index(name) if name not in keywords else -1
            if name in keywords:
                found[name] = core.name(self._item("__kwdefaults__", name, name))
            elif number >= first:
                found[name] = core.name(self._item("__defaults__", number - first, name))
        return found

    def _item(self, attribute: str, key: Any, hint: str) -> str:
        """A name for an item of one of the function's containers."""
        container = self._containers.get(attribute)
        if container is None:
            container = self._containers[attribute] = self._held(
                attribute.strip("_"), core.attribute(self.function, attribute)
            )
        return self._held(hint, core.subscript(container, core.constant(key)))

    def _held(self, hint: str, value: Any) -> str:
        name = self.temporary(hint)
        self.statements.append(core.assign(name, value, self.origin))
        return name
