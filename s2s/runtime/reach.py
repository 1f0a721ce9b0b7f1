"""What is reached through a value: the arrays, and the lists, dicts and objects in which they stand."""

from __future__ import annotations

import collections
import functools
import sys
import types
import weakref
from collections.abc import Collection, Iterable, Iterator
from typing import Any

import numpy as np

from s2s.runtime.installed import is_installed, is_installed_class, is_installed_module

_ATOMS = (int, float, complex, str, bytes, type(None), np.generic, np.dtype, types.ModuleType, types.CodeType)
_ITEMS = (list, tuple, set, frozenset, collections.deque)
_NOT_WRITTEN = (
    tuple, frozenset, type, types.FunctionType, types.MethodType, types.BuiltinFunctionType, types.CellType,
    functools.partial,
)  # fmt: skip
_NUMBERS = frozenset({int, float, complex, bool, str, bytes, type(None), np.float64})


def reached(values: Iterable[Any], names: set[str] | None = None, seen: Iterable[Any] = ()) -> Iterator[Any]:
    """The arrays, and what else may be written into: lists, dicts, sets and objects, in the order of meeting them.

    What is met twice is given twice, and entered once. Functions are entered by their cells, defaults and the globals
    that they name, methods by their objects, too; modules of the user's by the names that functions mention.

    names: the attributes that count, to which functions that are met add those that they mention; None for all.
    seen: what is not entered.

    >>> a = np.zeros(2)
    >>> [type(found).__name__ for found in reached([{"w": a, "v": [a]}])]
    ['dict', 'ndarray', 'list', 'ndarray']
    """
    for value in visited(values, names, seen):
        if not _is_atom(value) and (_is_array(value) or _is_written(value)):
            yield value


def visited(values: Iterable[Any], names: set[str] | None = None, seen: Iterable[Any] = ()) -> Iterator[Any]:
    """All that is met on the way, numbers and functions, too."""
    entered = {id(value): value for value in seen}  # which are held, so that no other object gets their identity
    pending = [*values][::-1]
    while pending:
        value = pending.pop()
        yield value
        if _is_atom(value) or (_is_array(value) and not value.dtype.hasobject) or id(value) in entered:
            continue
        entered[id(value)] = value
        if names is not None and isinstance(value, types.FunctionType):
            names |= mentioned(value.__code__)
        pending.extend([*_parts(value, names)][::-1])


def _is_atom(value: Any) -> bool:
    return type(value) in _NUMBERS or isinstance(value, _ATOMS)


def _is_written(value: Any) -> bool:
    """Whether a value is something whose items or attributes may be set."""
    if isinstance(value, _NOT_WRITTEN):
        return False
    if _is_ours(type(value)):
        return False
    is_container = isinstance(value, (list, dict, set, collections.deque)) or _is_array(value)
    return is_container or hasattr(value, "__dict__") or bool(slots_of(type(value)))


def _is_array(value: Any) -> bool:
    """Whether a value is an array, and no recorded value that gives itself out as one."""
    return issubclass(type(value), np.ndarray)


def _is_ours(cls: type) -> bool:
    module = cls.__module__
    return isinstance(module, str) and module.partition(".")[0] == "s2s"  # some metaclasses make it a descriptor


def _parts(value: Any, names: Collection[str] | None) -> Iterator[Any]:
    if _is_ours(type(value)):
        held = getattr(value, "__dict__", {})  # of a gradient function
        yield from (held[name] for name in ("primal", "bound", "keywords") if name in held)
        return
    if _is_array(value):
        yield from value.flat
    elif isinstance(value, _ITEMS):
        yield from value
    elif isinstance(value, dict):
        yield from [*value.values()]
    elif isinstance(value, types.FunctionType):
        yield from found_by(value)
    elif isinstance(value, types.CellType):
        yield from _content(value)
    elif isinstance(value, types.MethodType):
        yield from (value.__self__, value.__func__)
    elif isinstance(value, functools.partial):
        yield from (value.func, *value.args, *value.keywords.values())
    elif isinstance(value, type):
        yield from _of_class(value, names)
    else:
        yield from _of_class(type(value), names)
    if not isinstance(value, (type, types.FunctionType)):
        own = {**getattr(value, "__dict__", {}), **slots(value)}
        yield from [held for name, held in own.items() if names is None or name in names]


def _of_class(cls: type, names: Collection[str] | None) -> Iterator[Any]:
    """What a class of the user's holds, and the functions of its methods and properties."""
    for base in cls.__mro__:
        if base.__module__ == "builtins" or is_installed_class(base):
            continue
        for name, held in [*vars(base).items()]:
            if (names is None and not name.startswith("__")) or (names is not None and name in names):
                yield from functions_of(held) or (held,)


def functions_of(held: Any) -> tuple[types.FunctionType, ...]:
    """The functions that a method, property or partial function runs, or what a class holds for one."""
    if isinstance(held, property):
        found: tuple[Any, ...] = (held.fget, held.fset)
    elif isinstance(held, (staticmethod, classmethod, types.MethodType)):
        found = (held.__func__,)
    elif isinstance(held, functools.partial):
        found = (held.func,)
    else:
        found = (held.__wrapped__ if isinstance(held, functools._lru_cache_wrapper) else held,)
    return tuple(f for f in found if isinstance(f, types.FunctionType))


def slots(value: Any) -> dict[str, Any]:
    """What the slots of an object hold."""
    return {name: getattr(value, name) for name in slots_of(type(value)) if hasattr(value, name)}


def slots_of(cls: type) -> tuple[str, ...]:
    """The slots of a class."""
    names = _SLOTS.get(cls)
    if names is None:
        members = (pair for base in cls.__mro__ for pair in vars(base).items())
        names = _SLOTS[cls] = tuple(n for n, member in members if isinstance(member, types.MemberDescriptorType))
    return names


# The slots of classes, which stay as they are.
_SLOTS: weakref.WeakKeyDictionary[type, tuple[str, ...]] = weakref.WeakKeyDictionary()


def found_by(function: types.FunctionType) -> Iterator[Any]:
    """What a function of the user's finds by name, and its defaults."""
    if not is_installed(function):
        yield from function.__defaults__ or ()
        yield from (function.__kwdefaults__ or {}).values()
        yield from named_by(function)


def named_by(function: types.FunctionType) -> Iterator[Any]:
    """What a function of the user's finds by name, in cells, globals and modules of the user's."""
    if is_installed(function):
        return
    for cell in function.__closure__ or ():
        yield from _content(cell)
    names = mentioned(function.__code__)
    for name in names:
        held = function.__globals__.get(name, sys.modules.get(name))
        if isinstance(held, types.ModuleType):
            yield from _of_module(held, names, {id(held)})
        elif held is not None:
            yield held


def _content(cell: types.CellType) -> Iterator[Any]:
    try:
        yield cell.cell_contents
    except ValueError:  # empty
        return


def _of_module(module: types.ModuleType, names: frozenset[str], seen: set[int]) -> Iterator[Any]:
    """What a module of the user's holds under some names, and the modules there in turn."""
    if is_installed_module(module):
        return
    for name in names & vars(module).keys():
        held = vars(module)[name]
        if not isinstance(held, types.ModuleType):
            yield held
        elif id(held) not in seen:
            seen.add(id(held))
            yield from _of_module(held, names, seen)


@functools.lru_cache(maxsize=4096)
def mentioned(code: types.CodeType) -> frozenset[str]:
    """The names of attributes and globals in code, and the strings, by which `getattr` may find some."""
    found = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, str) and constant.isidentifier():
            found.add(constant)
        elif isinstance(constant, types.CodeType):
            found |= mentioned(constant)
    return frozenset(found)
