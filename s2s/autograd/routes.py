"""Memory and containers that a recorded function reaches in two ways.

A record works on copies of the arguments, and arrays that are found by name can join its graph. What objects, lists and
dicts hold is read and written as it is, by methods and functions in them, too. Where one thing is reached on both
sides, a write on one side is not seen on the other, or not recorded. So values cannot be written then, and what is
reached in two ways is compared with what it was when the function has returned.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from s2s.autograd.value import Value, ndarray
from s2s.errors import InplaceModificationError
from s2s.runtime import pytree
from s2s.runtime.installed import is_installed
from s2s.runtime.reach import found_by, reached

_SHARED = "something that the function reaches through an object or a container shares its memory"


class Routes:
    """What one record may reach as it is, and what of it is an argument, or found by name, as well."""

    def __init__(self, function: Any, arguments: Mapping[str, Any]) -> None:
        leaves = [leaf for value in arguments.values() for leaf in pytree.leaves(value)]
        named, as_it_is, rebuilt = _parted([function, *(leaf for leaf in leaves if not _is_array(leaf))])
        found = [*reached(as_it_is, seen=rebuilt)]
        arrays = [one for one in found if _is_array(one)]
        # arrays that are not of floats are read as they are, by whatever name
        self._spans = _spans([*arrays, *(array for array in named if array.dtype.kind not in "fc")])
        self._held = {id(one): one for one in found}
        self._watched: list[Callable[[], bool]] = []
        self._named: set[int] = set()

    def arguments(self, given: Mapping[str, Any], copies: Mapping[str, Any]) -> None:
        """Take note of the arguments, as they were given and as the function sees them."""
        pairs = [pair for name in given for pair in _containers(given[name], copies[name])]
        met: set[int] = set()
        twice = {id(one) for one, _ in pairs if id(one) in met or met.add(id(one))}  # type: ignore[func-returns-value]
        for one, copy in pairs:
            if id(one) in twice or id(one) in self._held:
                self._watch(one, _contents)
                self._watch(copy, _contents)
        leaves = [(x, c) for n in given for x, c in zip(pytree.leaves(given[n]), pytree.leaves(copies[n]), strict=True)]
        arrays = [(array, copy) for array, copy in leaves if _is_array(array) and not array.dtype.hasobject]
        for number, (array, copy) in enumerate(arrays):
            if isinstance(copy, Value):
                if self.is_reached(array):
                    copy.storage().guard = _SHARED
                    self._watch(array, _elements)
            elif self.is_reached(array) or _overlaps(
                array, _spans([a for i, (a, _) in enumerate(arrays) if i != number])
            ):
                self._watch(array, _elements)
                self._watch(copy, _elements)

    def named(self, array: ndarray) -> str:
        """Take note of an array of floats that is found by name; why it cannot be written, empty if it can."""
        if not self.is_reached(array):
            return ""
        if id(array) not in self._named:
            self._named.add(id(array))
            self._watch(array, _elements)
        return _SHARED

    def is_reached(self, array: ndarray) -> bool:
        """Whether memory of an array may be read or written as it is."""
        return _overlaps(array, self._spans)

    def _watch(self, one: Any, state: Callable[[Any], Any]) -> None:
        before = state(one)
        self._watched.append(lambda: _same(state(one), before))

    def check(self) -> None:
        """Refuse what was written while it was reached in two ways."""
        if not all(is_same() for is_same in self._watched):
            raise InplaceModificationError(
                "the function has written into what it reaches in two ways, as an argument or by its name, and through "
                "an object, a container or another argument",
                hint="pass or hold a copy",
            )


def _parted(values: Iterable[Any]) -> tuple[list[ndarray], list[Any], list[Any]]:
    """What functions among some values find by name: arrays, and other things, with other values; and the functions."""
    arrays: list[ndarray] = []
    others: list[Any] = []
    functions: dict[int, types.FunctionType] = {}
    pending = [*values]
    while pending:
        value = pending.pop()
        if type(value) is ndarray:
            arrays.append(value)
        elif isinstance(value, types.FunctionType):
            if id(value) not in functions and not is_installed(value):
                functions[id(value)] = value
                pending.extend(found_by(value))
        elif isinstance(value, types.MethodType):
            pending.append(value.__func__)
            others.append(value.__self__)
        elif isinstance(value, functools.partial):
            pending.extend((value.func, *value.args, *value.keywords.values()))
        elif isinstance(value, functools._lru_cache_wrapper):
            pending.append(value.__wrapped__)
        elif not isinstance(value, Value):
            others.append(value)
    return arrays, others, [*functions.values()]


def _containers(given: Any, copy: Any) -> Iterator[tuple[Any, Any]]:
    """The lists, dicts and objects in an argument, with those that the function sees in their place."""
    if pytree.is_leaf(given):
        return
    if not isinstance(given, tuple):
        yield given, copy
    for (_, one), (_, other) in zip(pytree.children(given), pytree.children(copy), strict=True):
        yield from _containers(one, other)


def _contents(container: Any) -> list[Any]:
    keys = [*container] if isinstance(container, dict) else []
    return [*keys, *(child for _, child in pytree.children(container))]


def _elements(array: ndarray) -> bytes:
    return array.tobytes()


def _same(now: Any, before: Any) -> bool:
    if isinstance(now, bytes):
        return bool(now == before)
    return len(now) == len(before) and all(a is b for a, b in zip(now, before))


def _is_array(value: Any) -> bool:
    """Whether a value is an array, and no recorded value that gives itself out as one."""
    return issubclass(type(value), ndarray)


def _spans(arrays: Sequence[Any]) -> list[tuple[int, int]]:
    return [np.lib.array_utils.byte_bounds(array) for array in arrays if array.size]


def _overlaps(array: ndarray, spans: Sequence[tuple[int, int]]) -> bool:
    if not spans or not array.size:
        return False
    low, high = np.lib.array_utils.byte_bounds(array)
    return any(low < end and start < high for start, end in spans)
