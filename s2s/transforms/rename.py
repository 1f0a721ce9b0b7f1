"""Our names get plain ones: `x·2` becomes `x`, where that is free, else `x2`; `cond··3` becomes `cond`."""

from __future__ import annotations

import builtins
import keyword

import gast

from s2s import core
from s2s.core import Function
from s2s.transforms.renaming import renamed
from s2s.transforms.structure import defs, statements, uses
from s2s.transforms.task import Task

_RESERVED = set(keyword.kwlist) | set(dir(builtins))


def rename(fn: Function, task: Task) -> Function:
    """`fn` with plain names."""
    used = dict.fromkeys(fn.param_names)
    for stmt in statements(fn.body):
        used.update(dict.fromkeys(defs(stmt)))
        used.update(dict.fromkeys(uses(stmt)))
    # Free names are in use as they are; what a nested closure binds might be shadowed as well.
    taken = {n for n in used if "·" not in n} | _RESERVED | set(fn.scope.names) | _closure_names(fn)
    names: dict[str, str] = {}
    numbers: dict[str, int] = {}
    for name in used:
        if "·" in name:
            names[name] = core.unique(core.stem(name) or "t", taken.__contains__, numbers)
            taken.add(names[name])
    return renamed(fn, names) if names else fn


def _closure_names(fn: Function) -> set[str]:
    closures = [s for s in statements(fn.body) if isinstance(s, gast.FunctionDef)]
    return {n.id for c in closures for n in gast.walk(c) if isinstance(n, gast.Name)}
