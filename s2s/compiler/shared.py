"""Whether somebody else holds what a program writes into: another argument, an object, what is found by name.

The program works on copies of the arguments that it writes into, so nobody else would see the write. What is reached
through objects is told by the names of attributes that the function, and those that it may call, mention.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Mapping
from types import FunctionType
from typing import Any

import numpy as np

from s2s.runtime.reach import mentioned, named_by, reached, visited
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
    return _found(reached, function, values)


def _found(walk: Callable[..., Iterable[Any]], function: FunctionType, values: Iterable[Any]) -> list[Any]:
    """What a walk from a function and some values finds, by the attributes that the functions on the way mention.

    Its own defaults it finds by its parameters, unless it finds itself by name.
    """
    names = {*mentioned(function.__code__)}
    while True:
        count = len(names)
        found = [*walk([*named_by(function), *values], names)]
        if len(names) == count:
            return found


class Read:
    """What a function reads besides numbers and arrays that it is given: globals, cells, and what objects hold.

    >>> held = [1.0]
    >>> read = Read(lambda x: x * held[0], {"x": 2.0})
    >>> held[0] = 3.0
    >>> read.is_as_it_was()
    False
    """

    def __init__(self, function: FunctionType, values: Mapping[str, Any]) -> None:
        self._function = function
        self._values = values
        self._before = self._now()

    def _now(self) -> list[Any]:
        return _found(visited, self._function, self._values.values())

    def is_as_it_was(self) -> bool:
        """Whether all of it is the same: numbers by value, all else by identity. Elements of arrays do not count."""
        now = self._now()
        return len(now) == len(self._before) and all(map(_is_same, now, self._before))


def _is_same(one: Any, other: Any) -> bool:
    if one is other:
        return True
    is_number = isinstance(one, (int, float, complex, np.generic, str)) and type(one) is type(other)
    return is_number and bool(one == other or (one != one and other != other))


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
