"""The text of a module that is written statement by statement, and run as it is written: names, imports, constants."""

from __future__ import annotations

import ast
import base64
import importlib
import inspect
import math
import operator
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from s2s.autograd.value import Value, ndarray
from s2s.errors import EagerError

_SMALL = 200


class Module:
    """The module as far as it is written.

    scope: the values of all names, for ones as seeds.
    """

    def __init__(self) -> None:
        self.imports: set[str] = set()
        self.constants: list[str] = []
        self.body: list[str] = []
        self.scope: dict[str, Any] = {"np": np, "operator": operator, "base64": base64}
        self._of_arrays: dict[int, tuple[str, Any]] = {}
        self._taken: set[str] = set()

    def text(self, parameters: Sequence[str]) -> str:
        """The whole module."""
        head = ["import numpy as np", *sorted(self.imports)]
        parts = ["\n".join(head), *(["\n".join(self.constants)] if self.constants else [])]
        body = textwrap.indent("\n".join(self.body), "    ")
        return "\n\n".join(parts) + f"\n\n\ndef gradient({', '.join(parameters)}):\n{body}"

    # --- statements -----------------------------------------------------------------------------------------------

    def assigned(self, hint: str, expression: str) -> str:
        """Assign an expression to a new name."""
        name = self._free(f"{hint}_bar" if hint.isidentifier() else "t_bar")
        return self.set(name, expression)

    def set(self, name: str, expression: str) -> str:
        """Assign an expression to a name."""
        self.run(f"{name} = {expression}")
        return name

    def run(self, statement: str) -> None:
        """Write a statement."""
        with np.errstate(all="ignore"):
            exec(statement, self.scope)
        self.body.append(statement)

    def _free(self, name: str) -> str:
        found, i = name, 1
        while found in self._taken or found in self.scope:
            i += 1
            found = f"{name}{i}"
        self._taken.add(found)
        return found

    def imported(self, function: Any) -> str:
        """The name of a function that a module holds."""
        module, name = function.__module__, function.__name__
        if module == "builtins":
            return str(name)
        if getattr(importlib.import_module(module), name, None) is not function:
            raise EagerError(f"the formula {name} stands in no module, so that it cannot be written out")
        if module.partition(".")[0] == "numpy" and getattr(np, name, None) is function:
            return f"np.{name}"
        self.imports.add(f"from {module} import {name}")
        self.scope[name] = function
        return str(name)

    # --- constants ------------------------------------------------------------------------------------------------

    def constant(self, value: Any) -> str:
        """A value as an expression; arrays get names."""
        if isinstance(value, Value):
            value = value._data
        if type(value) is ndarray:
            known = self._of_arrays.get(id(value))
            if known is None:
                name = self._free(f"c{len(self.constants)}")
                self.constants.append(f"{name} = {self._array(value)}")
                exec(self.constants[-1], self.scope)
                known = self._of_arrays[id(value)] = name, value
            return known[0]
        if isinstance(value, (tuple, list)):
            items = ", ".join(map(self.constant, value))
            return f"[{items}]" if isinstance(value, list) else f"({items}{',' * (len(value) == 1)})"
        if isinstance(value, slice):
            return f"slice({self.constant(value.start)}, {self.constant(value.stop)}, {self.constant(value.step)})"
        if value is Ellipsis:
            return "..."
        if isinstance(value, np.generic):
            return f"np.{type(value).__name__}({_number(value.item())})"
        if isinstance(value, np.dtype):
            return f"np.dtype({value.str!r})"
        if isinstance(value, type) and issubclass(value, (int, float, complex)):
            return value.__name__
        if value is None or isinstance(value, (bool, int, float, complex, str)):
            return _number(value)
        if callable(value):
            return self.imported(value)
        raise EagerError(f"a constant of type {type(value).__name__} cannot be written out")

    def _array(self, array: ndarray) -> str:
        if array.size and not any(array.strides) and array.size > 1:  # a stand-in, or one number stretched
            return f"np.broadcast_to({self.constant(array.flat[0])}, {array.shape})"
        dtype = "" if array.dtype in (np.float64, np.bool_, np.int64, np.complex128) else f", np.{array.dtype.name}"
        order = "" if array.flags.c_contiguous or not array.flags.f_contiguous else ", order='F'"
        if array.size > _SMALL or not array.size:
            self.imports.add("import base64")
            text = base64.b85encode(np.ascontiguousarray(array).tobytes()).decode()
            flat = f"np.frombuffer(base64.b85decode({text!r}), {array.dtype.str!r})"
            return f"np.array({flat}.reshape({array.shape}){order})"
        return f"np.array({_numbers(array.tolist())}{dtype}{order})"


class Filled(ast.NodeTransformer):
    """A rule's expression with constants in the place of its parameters, and its globals imported."""

    def __init__(self, names: Mapping[str, str], body: Any, writer: Module) -> None:
        self._names = names
        self._globals = body.__globals__
        self._writer = writer

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in self._names:
            return ast.parse(self._names[node.id], mode="eval").body
        known = self._globals.get(node.id)
        if known is not None and known is not np:
            if known is math:
                self._writer.imports.add("import math")
                self._writer.scope["math"] = math
            else:
                return ast.parse(self._writer.imported(known), mode="eval").body
        return node


def less_defaults(pull: Any, before: int, args: Sequence[Any]) -> Sequence[Any]:
    """Arguments less those at the end that are what the formula takes without them."""
    defaults = [p.default for p in inspect.signature(pull).parameters.values()][before:]
    rest = list(args)
    while rest and len(rest) <= len(defaults) and isinstance(rest[-1], (bool, int, str, type(None))):
        if type(rest[-1]) is not type(defaults[len(rest) - 1]) or rest[-1] != defaults[len(rest) - 1]:
            break
        rest.pop()
    return rest


def _number(value: Any) -> str:
    if isinstance(value, complex):
        return f"complex({_number(value.real)}, {_number(value.imag)})"
    if isinstance(value, float) and not math.isfinite(value):
        return "np.nan" if value != value else "np.inf" if value > 0 else "-np.inf"
    return repr(value)


def _numbers(tree: Any) -> str:
    return f"[{', '.join(map(_numbers, tree))}]" if isinstance(tree, list) else _number(tree)
