"""An import inside of a function -> an assignment of the module, or of what it holds, which is known when compiling.

import numpy.linalg as la           ->      la = numpy.linalg
from math import pi                 ->      pi = math.pi

The module is imported when the function is compiled; a number in it is read when it runs.
"""

from __future__ import annotations

import importlib
from typing import Any

import gast

from s2s import core
from s2s.frontend.lower.lowering import Lowering, lowers


@lowers(gast.Import)
def imported(low: Lowering, node: Any) -> None:
    for alias in node.names:
        module = _module(low, node, alias.name)
        if alias.asname is None:
            module = _module(low, node, alias.name.partition(".")[0])
        low.assign(low.target_name(alias.asname or module.__name__), low.bind(_hint(module), module))


@lowers(gast.ImportFrom)
def imported_from(low: Lowering, node: Any) -> None:
    module = _module(low, node, "." * (node.level or 0) + (node.module or ""))
    for alias in node.names:
        name = low.target_name(alias.asname or alias.name)
        if not hasattr(module, alias.name):
            submodule = _module(low, node, f"{module.__name__}.{alias.name}")
            low.assign(name, low.bind(_hint(submodule), submodule))
        else:
            low.assign(name, core.attribute(low.bind(_hint(module), module), alias.name))


def _hint(module: Any) -> str:
    return str(module.__name__).rpartition(".")[2]


def _module(low: Lowering, node: Any, name: str) -> Any:
    try:
        return importlib.import_module(name, low.names.scope.globals.get("__package__"))
    except Exception as error:
        raise low.refuse(f"an import of `{name}`, which fails ({error}),", node) from error
