"""Results that kinds decide before the program runs: arithmetic on small known integers, comparisons, `len`, `is`."""

from __future__ import annotations

import operator
from typing import Any

from s2s import kinds as K
from s2s.core import MISSING
from s2s.kinds import Kind
from s2s.transforms.anew import made_anew
from s2s.transforms.items import literal
from s2s.transforms.samples import NoSample, result_kind, sample


def known_result(function: Any, *operands: Kind) -> Kind:
    values = [literal(k) for k in operands]
    small = all(v is not MISSING and abs(v) < 1000 for v in values)
    if not small or (function in (operator.pow, operator.lshift) and values[1] > 64):
        return result_kind(function, tuple(type(k)() for k in operands))
    try:
        return K.of_literal(function(*values))
    except Exception:
        return K.UNKNOWN


def truth(function: Any, left: Any, right: Any) -> Kind:
    """A comparison of known values."""
    try:
        return K.Bool(bool(function(left, right)))
    except Exception:  # Python shall say so when the program runs
        return K.UNKNOWN


def identical(a: Kind, b: Kind) -> bool | None:
    for one, other in ((a, b), (b, a)):
        if isinstance(one, K.NoneKind) and not isinstance(other, K.Unknown):
            return isinstance(other, K.NoneKind)
    if isinstance(a, K.Static) and isinstance(b, K.Static):
        # Another function of the code may be there when the program runs.
        return None if made_anew(a.value) or made_anew(b.value) else a.value is b.value
    if isinstance(a, K.Bool) and isinstance(b, K.Bool) and a.value is not None and b.value is not None:
        return a.value is b.value
    return None


def static_result(function: Any, args: tuple[Kind, ...], keywords: tuple[tuple[str, Kind], ...]) -> Kind:
    if function is len:
        (owner,) = args
        fixed = K.children(owner) if isinstance(owner, (K.Tuple, K.List, K.Dict)) else None
        return K.Int(None if fixed is None else len(fixed))
    try:
        return K.of_literal(function(*map(sample, args), **{n: sample(k) for n, k in keywords}))
    except (NoSample, Exception):
        return K.UNKNOWN
