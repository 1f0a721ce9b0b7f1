"""Code that runs as it is within a record: methods of the user's objects, and functions that are kept in containers.

A recorded function runs over stand-ins (`rebuild.py`), for which `type(x) is float` holds where x stands for a float.
What it reaches through an attribute or an index of an object, a list or a dict is not rebuilt. There a recorded value
behaves like the plain one, or raises an error, in every way but one: `type(x)` shows what it is, and a branch goes the
other way without a word. So a record refuses code that may be reached so and asks for the type of anything but `self`.

What may be reached is told by names: a method counts once code that counts mentions its name.
"""

from __future__ import annotations

import collections
import dis
import functools
import itertools
import types
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2s.autograd import operation
from s2s.autograd.proxies import is_library, package
from s2s.autograd.refusals import line_of
from s2s.errors import UnsupportedSyntaxError
from s2s.runtime.installed import is_installed, is_installed_class
from s2s.runtime.reach import mentioned, slots

# Methods that Python calls without a mention, but for those that print and compare objects.
_IMPLICIT = frozenset(
    {"__call__", "__getitem__", "__setitem__", "__len__", "__iter__", "__next__", "__contains__", "__enter__",
     "__exit__", "__bool__", "__getattr__", "__getattribute__", "__setattr__", "__neg__", "__pos__", "__abs__",
     "__lt__", "__le__", "__gt__", "__ge__", "__array__", "__array_ufunc__", "__array_function__", "__get__", "__set__",
     "__missing__",
     *(f"__{kind}{name}__" for kind in ("", "r", "i")
       for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"))}
)  # fmt: skip
_CONSTRUCTORS = frozenset({"__init__", "__new__", "__post_init__"})
# Names by which an object is made like another, and by which an attribute is read whose name is computed.
_MAKING = frozenset({"__class__", "type", "cls", "replace", "_replace"})
_READING = frozenset({"getattr", "attrgetter", "methodcaller"})

_ATOMS = (int, float, str, bytes, complex, type(None), np.ndarray, np.generic, types.ModuleType)
_EXACT = frozenset({*_ATOMS, bool})
_CONTAINERS = (list, tuple, set, frozenset, collections.deque)
# Of a large package that is reached, so many functions are looked at.
_MOST = 512


@dataclass(frozen=True)
class _Method:
    """A function of a class; `own` is the parameter that is the object itself, None for a static method."""

    function: types.FunctionType
    own: str | None


class Unrebuilt:
    """What may run as it is in one record."""

    def __init__(self) -> None:
        self._mentioned = set(_IMPLICIT)
        self._waiting: dict[str, list[_Method]] = {}
        self._seen: dict[int, Any] = {}
        self._classes: set[type] = set()
        self._functions = 0

    def rebuilt(self, code: types.CodeType) -> None:
        """Take note of code that is rebuilt: what it mentions may be reached."""
        self._drain([*self._mention(mentioned(code))])

    def exempt(self, code: types.CodeType) -> None:
        """Take note that a method is rebuilt, if it does not call its object, which would run it as it is."""
        if code.co_argcount and _reads_attributes_only(code, code.co_varnames[0]):
            self._seen[id(code)] = code

    def look(self, value: Any) -> None:
        """Take note of a value that recorded code has at hand, and of what is reached through it."""
        self._drain([value])

    def _drain(self, pending: list[Any]) -> None:
        while pending:
            value = pending.pop()
            key = value.function.__code__ if isinstance(value, _Method) else value
            if id(key) in self._seen or type(value) in _EXACT or isinstance(value, _ATOMS):
                continue
            self._seen[id(key)] = key
            pending += self._method(value) if isinstance(value, _Method) else self._parts(value)

    def _mention(self, names: Iterable[str]) -> Iterator[_Method]:
        """Add to the names that are mentioned; the methods that waited for them are given."""
        new = set(names) - self._mentioned
        self._mentioned |= new
        for name in [*self._waiting] if new & _READING else new & self._waiting.keys():
            yield from self._waiting.pop(name)
        if new & _MAKING:
            yield from self._mention(_CONSTRUCTORS)

    def _method(self, method: _Method) -> Iterator[Any]:
        """What is reached through a function that may run as it is."""
        function = method.function
        if _is_ours(function) or self._functions > _MOST:
            return
        self._functions += 1
        if operation.find(function) is not None:
            raise _of_own_rule(function)
        line = asks_type(function.__code__, method.own)
        if line:
            raise _refusal(function, line)
        if is_installed(function):
            return  # what it reaches in turn has no end: its own questions count, and those of what user code names
        yield from self._mention(mentioned(function.__code__))
        yield from _by_name(function)

    def _parts(self, value: Any) -> Iterator[Any]:
        """What is reached through a value."""
        if isinstance(value, type):
            yield from self._mention(() if _is_foreign(value) else _CONSTRUCTORS)
            yield from self._of_class(value)
        elif isinstance(value, types.FunctionType):
            yield _Method(value, None)
        elif isinstance(value, types.MethodType):
            yield value.__self__
            if isinstance(value.__func__, types.FunctionType):
                yield _method_of(value.__func__)
        elif isinstance(value, functools.partial):
            yield from (value.func, *value.args, *value.keywords.values())
        elif isinstance(value, functools._lru_cache_wrapper):
            yield value.__wrapped__
        elif isinstance(value, _CONTAINERS):
            yield from [*value]
        elif isinstance(value, (dict, types.SimpleNamespace)):
            yield from [*(value if isinstance(value, dict) else vars(value)).values()]
        elif _is_foreign(type(value)):
            yield from self._of_class(type(value))
        else:
            yield from [*getattr(value, "__dict__", {}).values()]
            yield from slots(value).values()
            yield from self._of_class(type(value))

    def _of_class(self, cls: type) -> Iterator[Any]:
        """What is reached through a class and its bases; functions that nobody mentions wait for it."""
        for base in cls.__mro__:
            if _is_ours(base) or base in self._classes:
                continue
            self._classes.add(base)
            for name, attribute in [*vars(base).items()]:
                methods = [*_methods(attribute)]
                if name in self._mentioned or _READING & self._mentioned:
                    yield from methods
                elif methods:
                    self._waiting.setdefault(name, []).extend(methods)
                if not methods and not name.startswith("__") and not _is_foreign(base):
                    yield attribute


def _is_foreign(value: type | types.FunctionType) -> bool:
    """Whether a function or class is not the user's, or was made by rebuilt code."""
    return _is_ours(value) or (is_installed_class(value) if isinstance(value, type) else is_installed(value))


def _is_ours(value: type | types.FunctionType) -> bool:
    """Whether a function or class is none that recorded values could mislead: a library's, ours, or rebuilt already."""
    if is_library(value) or package(value) == "s2s":
        return True
    return isinstance(value, types.FunctionType) and hasattr(value.__globals__, "source")


@functools.lru_cache(maxsize=4096)
def asks_type(code: types.CodeType, own: str | None) -> int:
    """The line in which code asks for the type of a value other than `own`; 0 if there is none."""
    instructions = _instructions(code)
    for here, first, second in zip(instructions, instructions[1:], instructions[2:]):
        if here.argval != "type" or here.opname not in ("LOAD_GLOBAL", "LOAD_NAME"):
            continue
        if first.opname in _CALLS:
            continue  # it is an argument itself: `isinstance(cls, type)`
        if own is None or first.argval != own or second.opname not in _CALLS:
            return (here.positions.lineno if here.positions else None) or code.co_firstlineno
    nested = (asks_type(inner, own) for inner in code.co_consts if isinstance(inner, types.CodeType))
    return next(filter(None, nested), 0)


@functools.lru_cache(maxsize=4096)
def _reads_attributes_only(code: types.CodeType, own: str) -> bool:
    """Whether a function uses a parameter for its attributes alone."""
    instructions = _instructions(code)
    return all(
        after.opname in ("LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR")
        for here, after in itertools.pairwise(instructions)
        if here.argval == own or (isinstance(here.argval, tuple) and own in here.argval)
    ) and not any(isinstance(inner, types.CodeType) and own in inner.co_freevars for inner in code.co_consts)


_CALLS = ("PRECALL", "CALL")


def _instructions(code: types.CodeType) -> list[dis.Instruction]:
    return [
        i for i in dis.get_instructions(code) if i.opname not in ("CACHE", "PUSH_NULL", "COPY_FREE_VARS", "MAKE_CELL")
    ]


def _method_of(function: types.FunctionType) -> _Method:
    code = function.__code__
    return _Method(function, code.co_varnames[0] if code.co_argcount else None)


def _methods(attribute: Any) -> Iterator[_Method]:
    """The functions that an attribute of a class runs."""
    if isinstance(attribute, staticmethod):
        if isinstance(attribute.__func__, types.FunctionType):
            yield _Method(attribute.__func__, None)
        return
    candidates: list[Any] = [attribute]
    if isinstance(attribute, property):
        candidates = [attribute.fget, attribute.fset]
    elif isinstance(attribute, (classmethod, functools.partialmethod, functools.cached_property)):
        candidates = [attribute.func if not isinstance(attribute, classmethod) else attribute.__func__]
    for candidate in candidates:
        while not isinstance(candidate, types.FunctionType) and hasattr(candidate, "__wrapped__"):
            candidate = candidate.__wrapped__
        if isinstance(candidate, types.FunctionType):
            yield _method_of(candidate)


def _by_name(function: types.FunctionType) -> Iterator[Any]:
    """What a function finds by name: in globals, in modules that it names, and in cells."""
    names = mentioned(function.__code__)
    for name in sorted(names):
        value = function.__globals__.get(name)
        if isinstance(value, types.ModuleType) and not is_library(value) and package(value) != "s2s":
            yield from (vars(value)[inner] for inner in names if inner in vars(value))
        elif value is not None:
            yield value
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # empty
            continue


def _of_own_rule(function: types.FunctionType) -> UnsupportedSyntaxError:
    return UnsupportedSyntaxError(
        f"{function.__qualname__} has a rule of its own, and is reached through an object or a container, where a "
        "record does not see its calls",
        hint=f"call it as a function that is found by name: {function.__qualname__}(...)",
    )


def _refusal(function: types.FunctionType, line: int) -> UnsupportedSyntaxError:
    return UnsupportedSyntaxError(
        f"{function.__qualname__} asks for the type of a value, and is reached through an object or a container, where "
        "recorded values cannot hide their own",
        origin=line_of(function.__code__, line),
        hint="ask isinstance(x, float), which is answered as for the plain value.",
    )
