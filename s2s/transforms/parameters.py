"""The parameters of a function in Core, and what a call gives each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gast

from s2s import core


def bind_arguments(params: Any, positional: Sequence[Any], keywords: Mapping[str, Any]) -> dict[str, Any] | None:
    """The argument of each parameter as Python binds them, but for those that take their defaults.

    `*args` gets a tuple display, `**kwargs` a dict display. None where Python would raise TypeError.
    """
    first = [p.id for p in (*params.posonlyargs, *params.args)]
    by_name = {p.id for p in (*params.args, *params.kwonlyargs)}
    found: dict[str, Any] = dict(zip(first, positional))
    surplus = {name: node for name, node in keywords.items() if name not in by_name}
    named = {name: node for name, node in keywords.items() if name in by_name}
    if found.keys() & named.keys():
        return None
    found |= named
    if (len(positional) > len(first) and params.vararg is None) or (surplus and params.kwarg is None):
        return None
    if not found.keys() | defaults_of(params).keys() >= by_name | set(first):
        return None
    if params.vararg is not None:
        found[params.vararg.id] = gast.Tuple(list(positional[len(first) :]), gast.Load())
    if params.kwarg is not None:
        found[params.kwarg.id] = gast.Dict([core.constant(name) for name in surplus], list(surplus.values()))
    return found


def defaults_of(params: Any) -> dict[str, Any]:
    """The default of each parameter that has one."""
    positional = [p.id for p in (*params.posonlyargs, *params.args)]
    found = dict(zip(positional[len(positional) - len(params.defaults) :], params.defaults))
    return found | {p.id: node for p, node in zip(params.kwonlyargs, params.kw_defaults) if node is not None}
