"""Writes into memory as functions that give what they have written into.

The compiler turns `x[i] = v` into `x·2 = set_item(x, i, v)`: in single assignment the array after the write has a
name of its own. The generated text holds the statements again, not these calls; they run where a stage of the
compiler is run.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from s2s.errors import ArgumentError
from s2s.runtime import pytree


def set_item(x: Any, index: Any, value: Any) -> Any:
    """`x[index] = value`; gives x."""
    x[index] = value
    return x


def add_item(x: Any, index: Any, value: Any) -> Any:
    """`x[index] += value`; gives x."""
    x[index] += value
    return x


def sub_item(x: Any, index: Any, value: Any) -> Any:
    """`x[index] -= value`; gives x."""
    x[index] -= value
    return x


def add_at(x: Any, index: Any, value: Any) -> Any:
    """`np.add.at(x, index, value)`: elements that the index names several times get all of the values; gives x."""
    np.add.at(x, index, value)
    return x


def sub_at(x: Any, index: Any, value: Any) -> Any:
    """`np.subtract.at(x, index, value)`; gives x."""
    np.subtract.at(x, index, value)
    return x


def append(x: Any, value: Any) -> Any:
    """`x.append(value)`; gives x."""
    x.append(value)
    return x


def drop_last(x: Any, last: Any) -> Any:
    """`x.pop()` of a list whose last item is `last`; gives x."""
    x.pop()
    return x


def seen_item(x: Any, index: Any, value: Any) -> Any:
    """`x`, a part of which was written into through its view `value = x[index]`; gives x."""
    return x


def seen(x: Any, part: Any, value: Any) -> Any:
    """`x`, which may be the object `part` or hold it, after a write into that: what it is now is `value`; gives x."""
    return x


def taken(bar: Any, x: Any, part: Any) -> Any:
    """The cotangents at all places where x is the array `part`, or holds it, added up; zeros take their place in `bar`.

    bar: an array for an array x, a shadow for a container.
    """
    total = np.zeros_like(part)
    for place in _places(bar, x, part):
        total += place
        place[...] = 0
    return total


def _places(bar: Any, x: Any, part: Any) -> Iterator[Any]:
    """The shadows at all places where x is `part`, or holds it."""
    if x is part:
        yield bar
    elif not pytree.is_leaf(x):
        for entry, child in pytree.children(x):
            if bar[entry] is not None:
                yield from _places(bar[entry], child, part)


def slot(bar: Any, x: Any, part: Any) -> Any:
    """The shadow at the one place where x holds the container `part`."""
    places = list(_places(bar, x, part))
    if len(places) != 1:
        raise ArgumentError(
            "a list or dict that is written into stands in several places of another one",
            hint="put a copy of it into each place",
        )
    return places[0]


def put_in_place(x_dot: Any, x: Any, part: Any, value_dot: Any) -> Any:
    """The tangent of x with another one in the places where x is `part`, or holds it."""
    if x is part:
        return value_dot
    if pytree.is_leaf(x):
        return x_dot
    for entry, child in pytree.children(x):
        if not (pytree.is_leaf(child) and child is not part):
            x_dot[entry] = put_in_place(x_dot[entry], child, part, value_dot)
    return x_dot


def private(x: Any) -> Any:
    """A copy of what the program writes into, laid out in memory as it was.

    The layout decides in which order a reduction adds, and so the last bits of its result.
    """
    if isinstance(x, np.ndarray):
        copy = np.copy(x)  # keeps the order of the axes
        if copy.strides == x.strides:
            return copy
    return copied(x)


def copied(tree: Any) -> Any:
    """A copy of all arrays, lists, tuples and dicts in a value; views of one array are views of its copy."""
    return _copied(tree, {})


def _copied(value: Any, made: dict[int, tuple[Any, Any, int]]) -> Any:
    if isinstance(value, np.ndarray):
        whole = value
        while isinstance(whole.base, np.ndarray):
            whole = whole.base
        if id(whole) not in made:
            made[id(whole)] = (whole, *_memory(whole))
        _, memory, low = made[id(whole)]
        return np.ndarray(value.shape, value.dtype, memory, _address(value) - low, value.strides)
    if type(value) in (list, tuple):
        return type(value)(_copied(item, made) for item in value)
    if type(value) is dict:
        return {key: _copied(item, made) for key, item in value.items()}
    return value


def _memory(x: Any) -> tuple[Any, int]:
    """A copy of the memory of an array, as bytes, and the address of which its first byte is a copy."""
    low, high = np.lib.array_utils.byte_bounds(x)
    memory = np.zeros(high - low, np.uint8)
    copy = np.ndarray(x.shape, x.dtype, memory, _address(x) - low, x.strides)
    copy[...] = x
    return memory, low


def _address(x: Any) -> int:
    return int(x.__array_interface__["data"][0])


def disjoint(arrays: Iterable[Any]) -> bool:
    """Whether no two of some arrays may share memory, as far as the bounds of their memory tell."""
    spans = sorted(np.lib.array_utils.byte_bounds(a) for a in arrays if a.size)
    return all(before[1] <= after[0] for before, after in itertools.pairwise(spans))


def last_writes(shape: tuple[int, ...], index: Any) -> Any:
    """Which elements of `x[index]`, for x of a shape, are the last that an assignment to it writes to their place."""
    places = np.arange(int(np.prod(shape, dtype=int))).reshape(shape)[index]
    order = np.arange(places.size).reshape(np.shape(places))
    last = np.zeros(int(np.prod(shape, dtype=int)), int)
    last[places] = order
    return last[places] == order
