"""`shuffle` and `permutation` of recorded arrays: the order is drawn as NumPy draws it, and the items are recorded."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from s2s.autograd.nodes import plain
from s2s.autograd.value import Value
from s2s.core import MISSING
from s2s.kinds import is_random_generator

_NAMES = frozenset({"shuffle", "permutation"})


def shuffled(method: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What such a method of a generator gives for an array that is recorded; MISSING for other calls.

    A copy of the generator draws the places. They are taken if they make of the data what the generator makes of it.
    """
    name, generator = getattr(method, "__name__", ""), getattr(method, "__self__", None)
    if name not in _NAMES or not is_random_generator(type(generator)) or not args or not isinstance(args[0], Value):
        return MISSING
    x: Any = args[0]
    axis = kwargs.get("axis", args[1] if len(args) > 1 else 0)
    if len(args) > 2 or kwargs.keys() - {"axis"} or x.ndim == 0 or not isinstance(axis, int):
        return MISSING
    places = np.arange(x.shape[axis])
    twin = getattr(copy.deepcopy(generator), name)
    drawn = twin(places)
    places = places if name == "shuffle" else drawn
    data = np.array(plain(x))
    given = method(data, *args[1:], **kwargs)
    if not np.array_equal(np.take(plain(x), places, axis), data if name == "shuffle" else given, equal_nan=True):
        return MISSING
    taken = x.take(places, axis)
    if name == "permutation":
        return taken
    x[...] = taken
    return None
