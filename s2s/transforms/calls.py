"""Which calls of user functions are inlined: all whose function is known and has a source, but for NumPy's own."""

from __future__ import annotations

import types
from typing import Any

import gast

from s2s import rules
from s2s.core import MISSING, Function, Scope
from s2s.transforms.inline import inline_calls
from s2s.transforms.task import Program, Task

# Python functions of these packages are known by their rules or not at all.
OPAQUE = ("numpy", "scipy", "math", "builtins", "s2s")


def inline(fn: Function, task: Task) -> Function:
    """`fn` with the bodies of the user functions that it calls by name."""
    return inline_calls(fn, lambda call, scope: _resolve(call, scope, task.program), task.program.lower)


def value_of_path(node: Any, scope: Scope) -> Any:
    """The object that a path reads, through modules and classes only; else MISSING."""
    if isinstance(node, gast.Name):
        return scope.lookup(node.id)
    owner = value_of_path(node.value, scope)
    if not isinstance(owner, (types.ModuleType, type)):
        return getattr(owner, "__dict__", {}).get(node.attr, MISSING) if owner is not MISSING else MISSING
    return getattr(owner, node.attr, MISSING)


def _resolve(call: Any, scope: Scope, program: Program) -> Any:
    """What a call runs, if it is to be inlined."""
    value = value_of_path(call.func, scope)
    if value is MISSING and isinstance(call.func, gast.Attribute):
        value = _method(call.func, scope)
    if not isinstance(value, (types.FunctionType, types.MethodType)) or rules.find(value) is not None:
        return None
    module = getattr(value, "__module__", None) or ""
    if module.partition(".")[0] in OPAQUE:
        return None
    return program.callee(value)


def _method(path: Any, scope: Scope) -> Any:
    """A method of an object that is not local, looked up without running properties."""
    owner = value_of_path(path.value, scope)
    if owner is MISSING or isinstance(owner, (types.ModuleType, type)):
        return MISSING
    found = getattr(type(owner), path.attr, None)
    return types.MethodType(found, owner) if isinstance(found, types.FunctionType) else MISSING


