"""Writes into memory as functions that give what they have written into.

The compiler turns `x[i] = v` into `x·2 = set_item(x, i, v)`: in single assignment the array after the write has a
name of its own. The generated text holds the statements again, not these calls; they run where a stage of the
compiler is run.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from s2s.errors import ArgumentError, InplaceModificationError
from s2s.runtime import pytree


def set_item(x: Any, index: Any, value: Any) -> Any:
    """`x[index] = value`; gives x."""
    x[index] = value
    return x


def set_flat(x: Any, index: Any, value: Any) -> Any:
    """`x.flat[index] = value`; gives x."""
    x.flat[index] = value
    return x


def put_back(g: Any, shape: tuple[int, ...]) -> Any:
    """The cotangent of values of a shape that were written into places in turn, over and over."""
    size = math.prod(shape)
    if g.size == size:
        return np.reshape(g, shape)
    rounds = -(-g.size // size)
    padded = np.concatenate([np.ravel(g), np.zeros(rounds * size - g.size, g.dtype)])
    return np.reshape(np.sum(np.reshape(padded, (rounds, size)), axis=0), shape)


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
    """`x`, which may share memory with `part`, or hold it, after a write into that, now `value`; gives x."""
    return x


def taken(bar: Any, x: Any, part: Any) -> Any:
    """The cotangents of all elements of x that are elements of the array `part`; zeros take their place in `bar`.

    x: an array, which may be `part` or overlap it, or a container of such ones; bar: its cotangent or shadow.
    """
    total = np.zeros(part.shape, part.dtype)
    for holder, entry, held in _held((bar,), (x,)):
        if held is part:
            total += holder[entry]
            _clear(holder, entry, Ellipsis)
        elif isinstance(held, np.ndarray) and np.may_share_memory(held, part):
            inside, where = _common(held, part)
            np.add.at(total.reshape(-1), where, np.ravel(holder[entry])[inside])
            _clear(holder, entry, inside)
    return total


def _clear(holder: Any, entry: Any, inside: Any) -> None:
    """Set elements of a cotangent to zero. In a shadow that of an array without dimensions may be a number."""
    if isinstance(holder[entry], np.ndarray):
        holder[entry].flat[inside] = 0
    elif inside is Ellipsis or len(inside):
        holder[entry] = 0.0


def _held(bars: Any, xs: Any) -> Iterator[tuple[Any, Any, Any]]:
    """All that a list of values holds, numbers apart: the shadow that its cotangent stands in, where there, and it."""
    if type(xs) is list or type(xs) is tuple:
        parts: Iterable[tuple[Any, Any]] = enumerate(xs[: len(bars)])
    else:
        parts = () if pytree.is_leaf(xs) else pytree.children(xs)
    for entry, child in parts:
        if type(child) is np.ndarray and bars[entry] is not None:
            yield bars, entry, child
        elif type(child) not in _NUMBERS and bars[entry] is not None:
            yield bars, entry, child
            yield from _held(bars[entry], child)


_NUMBERS = frozenset({float, int, bool, complex, np.ndarray, np.float64, np.float32, np.complex128, np.int64, np.bool_})


def _common(x: Any, part: Any) -> tuple[Any, Any]:
    """Which elements of x, in a row, are elements of `part`, and their positions there."""
    own, others = _addresses(x), _addresses(part)
    order = np.argsort(others)
    found = np.minimum(np.searchsorted(others, own, sorter=order), len(order) - 1)
    where = order[found]
    inside = np.flatnonzero(others[where] == own)
    return inside, where[inside]


def _addresses(x: Any) -> Any:
    """The addresses of the elements of an array, in a row."""
    offsets = [np.arange(n) * stride for n, stride in zip(x.shape, x.strides)]
    return (_address(x) + sum(np.ix_(*offsets), np.zeros((1,) * x.ndim, int))).reshape(-1)


def slot(bar: Any, x: Any, part: Any) -> Any:
    """The shadow at the one place where x holds the container `part`."""
    return _one([holder[entry] for holder, entry, held in _held((bar,), (x,)) if held is part])


def slot_of_item(bar: Any, x: Any, part: Any) -> Any:
    """`slot` in a list that holds `part` itself, if anywhere: nothing within its items is a container."""
    return _one([place for place, held in zip(bar, x) if held is part])


def _one(places: list[Any]) -> Any:
    if len(places) != 1:
        raise ArgumentError(
            "a list or dict that is written into stands in several places of another one",
            hint="put a copy of it into each place",
        )
    return places[0]


def emptied(bar: Any) -> Any:
    """What a shadow of a list or dict holds, in another one; zeros take its place."""
    held = bar.copy()
    for entry in bar if isinstance(bar, dict) else range(len(bar)):
        bar[entry] = pytree.shadow(bar[entry])
    return held


def put_in_place(x_dot: Any, x: Any, part: Any, part_dot: Any) -> Any:
    """The tangent of x, with that of `part` for what x shares with it, or holds of it; see `taken`."""
    if x is part:
        return part_dot
    if isinstance(x, np.ndarray):
        if isinstance(part, np.ndarray) and np.may_share_memory(x, part):
            x_dot = np.array(x_dot)
            inside, where = _common(x, part)
            x_dot.flat[inside] = np.ravel(part_dot)[where]
        return x_dot
    if not pytree.is_leaf(x):
        changed = {e: put_in_place(x_dot[e], child, part, part_dot) for e, child in pytree.children(x)}
        if isinstance(x_dot, tuple):
            return tuple(changed.values())
        for entry, item_dot in changed.items():
            x_dot[entry] = item_dot
    return x_dot


def private(x: Any) -> Any:
    """A copy of what the program writes into, laid out in memory as it was.

    The layout decides in which order a reduction adds, and so the last bits of its result. What may not be written into
    stays so.
    """
    if not isinstance(x, np.ndarray):
        return copied(x)
    copy = np.copy(x)  # keeps the order of the axes
    if copy.strides != x.strides and not x.dtype.hasobject:
        memory, low = _memory(x)
        copy = np.ndarray(x.shape, x.dtype, memory, _address(x) - low, x.strides)
    copy.flags.writeable = x.flags.writeable
    return copy


def copied(tree: Any) -> Any:
    """A copy of all arrays, lists, tuples and dicts in a value; what is one object stays one."""
    return _copied(tree, {}, {})


def _copied(value: Any, made: dict[int, Any], memories: dict[int, tuple[Any, int]]) -> Any:
    """made: the copies, by the identity of what they are copies of. memories: those of the arrays that own memory."""
    if id(value) in made:
        return made[id(value)]
    if isinstance(value, np.ndarray):
        whole = value
        while isinstance(whole.base, np.ndarray):
            whole = whole.base
        if id(whole) not in memories:
            memories[id(whole)] = _memory(whole)
        memory, low = memories[id(whole)]
        copy: Any = np.ndarray(value.shape, value.dtype, memory, _address(value) - low, value.strides)
        copy.flags.writeable = value.flags.writeable
    elif type(value) in (list, tuple):
        copy = type(value)(_copied(item, made, memories) for item in value)
    elif type(value) is dict:
        copy = {key: _copied(item, made, memories) for key, item in value.items()}
    else:
        return value
    made[id(value)] = copy
    return copy


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


def require_in_step(region: Any, value: Any) -> None:
    """Refuse `region[...] = value` where NumPy reads elements of the memory that both share after it has written them.

    Of arrays with one dimension it sees to the order if both have the same step in memory, or opposite directions;
    where more dimensions overlap it makes a copy first.
    """
    if isinstance(value, np.ndarray) and region.ndim == 1 and value.size > 1:
        own, other = region.strides[0], value.strides[-1]
        if own * other > 0 and own != other:
            require_read_first(region, value, _assign, "an assignment")


def _assign(region: Any, value: Any) -> None:
    region[...] = value


def require_read_first(x: Any, value: Any, write: Callable[[Any, Any], Any], what: str) -> None:
    """Refuse `write(x, value)` if it comes out otherwise than with a copy of the value, of whose memory x is a part.

    It is done on numbers in the place of the elements, which tell where each of them arrives.
    """
    if not np.may_share_memory(x, value):
        return
    if x.dtype != value.dtype:
        raise overlapping(what)
    results = []
    for copies in (False, True):
        numbered, other = _numbered(x, value)
        write(numbered, other.copy() if copies else other)
        results.append(numbered)
    if not np.array_equal(*results):
        raise overlapping(what)


def _numbered(*arrays: Any) -> list[Any]:
    """Arrays of numbers that share memory as the given ones do; all elements of the memory differ."""
    bounds = [np.lib.array_utils.byte_bounds(a) for a in arrays]
    low, high = min(b[0] for b in bounds), max(b[1] for b in bounds)
    size = arrays[0].dtype.itemsize
    dtype = np.dtype({4: np.int32, 8: np.int64}.get(size, arrays[0].dtype))
    numbers = np.arange(-(-(high - low) // size)).astype(dtype)
    return [np.ndarray(a.shape, dtype, numbers, _address(a) - low, a.strides) for a in arrays]


def overlapping(what: str) -> InplaceModificationError:
    """The error of a write whose result depends on the order in which elements are read and written."""
    return InplaceModificationError(
        f"{what} writes into memory that it still reads, element by element", hint="write a copy of what is read"
    )


def last_writes(shape: tuple[int, ...], index: Any) -> Any:
    """Which elements of `x[index]`, for x of a shape, are the last that an assignment to it writes to their place."""
    places = np.arange(int(np.prod(shape, dtype=int))).reshape(shape)[index]
    order = np.arange(places.size).reshape(np.shape(places))
    last = np.zeros(int(np.prod(shape, dtype=int)), int)
    last[places] = order
    return last[places] == order
