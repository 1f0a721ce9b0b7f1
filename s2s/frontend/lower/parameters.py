"""The parameters of a function in Core: names, and defaults that are constants or names of objects."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import gast

from s2s import core, errors
from s2s.frontend.lower.names import Names

_LITERALS = (int, float, complex, str, bytes, bool, type(None), type(...))


def lower_parameters(
    params: Any, names: Names, defaults: Mapping[str, Any], origin: core.Origin
) -> tuple[gast.arguments, core.Scope]:
    """The parameters without annotations, and the scope that holds the defaults which are no literals.

    defaults: the default objects by (mangled) name; they were evaluated once, where the function was defined.
    """
    scope = names.scope

    def default(param: Any, node: Any) -> Any:
        nonlocal scope
        if node is None:
            return None
        name = names.mangle(param.id)
        if name not in defaults:
            if isinstance(node, gast.Constant):
                return node
            raise errors.NotCompiled(f"the default of {name!r} is not known", origin=origin)
        value = defaults[name]
        if _is_literal(value):
            return core.constant(value)
        scope, bound = scope.bind(f"{name}_default", value, names.local)
        return core.name(bound)

    def parameter(param: Any) -> Any:
        return param and core.name(names.mangle(param.id), gast.Param)

    positional = [*params.posonlyargs, *params.args]
    first = len(positional) - len(params.defaults)
    lowered = gast.arguments(
        args=[parameter(p) for p in params.args],
        posonlyargs=[parameter(p) for p in params.posonlyargs],
        vararg=parameter(params.vararg),
        kwonlyargs=[parameter(p) for p in params.kwonlyargs],
        kw_defaults=[default(p, node) for p, node in zip(params.kwonlyargs, params.kw_defaults)],
        kwarg=parameter(params.kwarg),
        defaults=[default(p, node) for p, node in zip(positional[first:], params.defaults)],
    )
    return lowered, scope


def _is_literal(value: Any) -> bool:
    if type(value) in (float, complex):
        return math.isfinite(value) if type(value) is float else value.real == 0 and math.isfinite(value.imag)
    return type(value) in _LITERALS
