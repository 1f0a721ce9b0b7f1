"""`functools.partial(f, a, k=b)` -> `lambda *args, **kwargs: f(a, *args, k=b, **kwargs)`, `a` and `b` evaluated now."""

from __future__ import annotations

import functools
from typing import Any

import gast

from s2s import core
from s2s.frontend.lower.generators import callee
from s2s.frontend.lower.lowering import Lowering


def partial(low: Lowering, function: Any, node: Any) -> Any:
    """The closure that such a call amounts to; None for other calls."""
    if function is not functools.partial or not node.args or any(isinstance(a, gast.Starred) for a in node.args):
        return None
    if any(k.arg is None for k in node.keywords):
        return None
    called = callee(low, node.args[0])
    given = [_fixed(low, a) for a in node.args[1:]]
    named = [gast.keyword(k.arg, _fixed(low, k.value)) for k in node.keywords]
    rest, others = "args·", "kwargs·"
    args = [*given, gast.Starred(core.name(rest), gast.Load())]
    call = gast.Call(called, args, [*named, gast.keyword(None, core.name(others))])
    params = gast.arguments([], [], core.name(rest, gast.Param), [], [], core.name(others, gast.Param), [])
    return low.value(gast.copy_location(gast.Lambda(params, gast.copy_location(call, node)), node))


def _fixed(low: Lowering, node: Any) -> Any:
    """A value under a name that nothing assigns again."""
    name = low.temporary("given")
    low.store(name, node)
    return core.name(name)
