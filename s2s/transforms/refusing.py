"""Calls that may write into what they are given in a way that is not known are refused."""

from __future__ import annotations

import types
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import gast
import numpy as np

from s2s import core, rules
from s2s import kinds as K
from s2s.errors import NotCompiled
from s2s.transforms.conduct import followed, in_numpy
from s2s.transforms.known import LOOKING

if TYPE_CHECKING:
    from s2s.transforms.mutation import Mutation


def refuse(run: Mutation, call: Any, function: Any, origin: Any) -> None:
    """Refuse a call of a function that may write into an array or container, or may call one that does."""
    written = _written(run, call)
    if any(not isinstance(run.kind(o), (K.List, K.Sequence, K.Dict)) for o in written):
        what = getattr(function, "__name__", "a function")
        raise NotCompiled(f"an in-place write by `{what}` is not compiled yet", origin=origin)
    known = function in LOOKING or (followed(function) and not _calls_back(run, function, call))
    if (not known or written) and rules.find(function) is None:
        _refuse_unknown(run, call, function, origin)


def _written(run: Mutation, call: Any) -> Sequence[Any]:
    """The operands that a call surely writes into; of lists and dicts `_refuse_unknown` says it."""
    found = run.operations.conduct(call)
    return [] if found is None else found.writes


def _calls_back(run: Mutation, function: Any, call: Any) -> bool:
    """Whether a function of NumPy's may call a function of the user's, which could write."""
    kinds = [run.kind(o) for o in (*call.args, *(k.value for k in call.keywords))]
    return in_numpy(function) and any(isinstance(k, (K.Static, K.Unknown)) and not _is_type(k) for k in kinds)


def _is_type(kind: Any) -> bool:
    """Whether a value of this kind is a dtype or class, or the like."""
    return isinstance(kind, K.Static) and isinstance(kind.value, (type, np.dtype, types.EllipsisType))


def _refuse_unknown(run: Mutation, call: Any, function: Any, origin: Any) -> None:
    """A function that is not known may write into arrays and containers that are passed to it."""
    operands = [*call.args, *(k.value for k in call.keywords)]
    if isinstance(call.func, gast.Attribute) and core.is_atom(call.func.value):
        operands.append(call.func.value)
    for operand in operands:
        inner = operand.value if isinstance(operand, gast.Starred) else operand
        known = run.kind(inner)
        local = isinstance(inner, gast.Name) and inner.id in run.operations.local
        is_object = isinstance(known, K.Object) and not K.is_random_generator(known.cls)
        if local and (isinstance(known, (K.Array, K.Numeric)) or is_object or K.children(known) is not None):
            what = getattr(function, "__name__", None) or "a function"
            if what in ("append", "add") and f".{what}(" not in getattr(origin, "text", ""):
                raise NotCompiled("a comprehension is not compiled yet", origin=origin)
            raise NotCompiled(f"`{what}` may write into an array or container that it is given", origin=origin)
    _refuse_reached(run, [call.func, *operands], function, origin)


def _refuse_reached(run: Mutation, operands: list[Any], function: Any, origin: Any) -> None:
    """It may write into what is reached through values of which nothing is known: `add = l.append; add(v)`."""
    local = run.operations.local
    atoms = [operand.value if isinstance(operand, gast.Starred) else operand for operand in operands]
    unknown = {n for a in atoms for n in core.reads(a) if n in local and isinstance(run.kind(core.name(n)), K.Unknown)}
    if not unknown:
        return
    is_reached = run.aliases.sharing(unknown)
    for name in sorted(local - unknown):
        known = run.kind(core.name(name))
        if (isinstance(known, (K.Array, K.Numeric, K.Object)) or K.children(known) is not None) and is_reached(name):
            what = getattr(function, "__name__", None) or "a function"
            raise NotCompiled(f"`{what}` may write into `{core.stem(name)}`, which it reaches", origin=origin)
