"""Whether somebody else holds what a program writes into: another argument, an object, what is found by name.

The program works on copies of the arguments that it writes into, so nobody else would see the write. What is reached
through objects is told by the names of attributes that the function, and those that it may call, mention.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping
from types import FunctionType
from typing import Any

import numpy as np

from s2s.runtime.reach import mentioned, reached
from s2s.runtime.stores import disjoint


def is_shared(function: FunctionType, values: Mapping[str, Any], written: Collection[str], alone: bool = False) -> bool:
    """Whether what the parameters `written` hold can be reached in another way, too.

    alone: whether `function` is known to reach nothing by name.

    >>> a = np.zeros(3)
    >>> is_shared(lambda x, y: y, {"x": a, "y": [a[1:]]}, ["x"]), is_shared(lambda x, y: y, {"x": a, "y": a}, [])
    (True, False)
    """
    own = [[*reached([value])] for name, value in values.items() if name in written]
    if any(map(_meets_itself, own)):
        return True
    given = [value for name, value in values.items() if name not in written]
    plain = alone and all(isinstance(value, (np.ndarray, np.generic, float, int)) for value in given)
    others = given if plain else _elsewhere(function, given)
    return any(_meet(one, other) for one, other in [*itertools.combinations(own, 2), *((one, others) for one in own)])


def reaches_nothing(function: FunctionType) -> bool:
    """Whether a function finds no arrays, containers or objects by name."""
    return not _elsewhere(function, [])


def _elsewhere(function: FunctionType, values: list[Any]) -> list[Any]:
    """What is reached from a function and some values."""
    names = {*mentioned(function.__code__)}
    while True:
        count = len(names)
        found = [*reached([function, *values], names)]
        if len(names) == count:
            return found


def _meets_itself(found: list[Any]) -> bool:
    """Whether a container is met twice, or two arrays share memory."""
    return len({id(one) for one in found}) < len(found) or not disjoint(_arrays(found))


def _meet(found: list[Any], others: list[Any]) -> bool:
    """Whether a container is among both, or arrays of the two share memory."""
    if not {id(one) for one in found}.isdisjoint(map(id, others)):
        return True
    return not all(disjoint([one, other]) for one in _arrays(found) for other in _arrays(others))


def _arrays(found: list[Any]) -> list[Any]:
    return [one for one in found if isinstance(one, np.ndarray)]
