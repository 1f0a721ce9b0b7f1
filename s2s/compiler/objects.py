"""What is known of the objects among a function's arguments: `self`, or a model that is passed in.

Of a plain instance a variant knows the class and the kinds of those attributes whose names the function mentions, or a
method or property that it may reach. The guard tests them on every call, so that attributes may be set at any time;
their values are read live.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from s2s import kinds as K
from s2s.core import MISSING
from s2s.kinds import Kind
from s2s.transforms.classes import DEEPEST, IMPLICIT, is_plain, owners


@dataclass
class Reached:
    """What a function may read of its arguments.

    names: the names that it mentions, and those that the methods and properties among them mention in turn.
    functions: these methods and the getters of these properties.
    """

    names: set[str] = field(default_factory=set)
    functions: dict[types.FunctionType, None] = field(default_factory=dict)

    def read_code(self, code: types.CodeType) -> None:
        self.names.update(code.co_names)
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                self.read_code(constant)

    def read_object(self, value: Any, depth: int = DEEPEST) -> None:
        """Take in what of an object's class bears one of the names, until nothing is added."""
        count = -1
        while count != len(self.names):
            count = len(self.names)
            for name in sorted(self.names):
                for owner in owners(type(value)):
                    self.read_functions(vars(owner).get(name))
            for name in self.names & vars(value).keys() if depth else ():
                if is_plain(vars(value)[name]):
                    self.read_object(vars(value)[name], depth - 1)

    def read_functions(self, static: Any) -> None:
        for function in functions_of(static):
            if function not in self.functions:
                self.functions[function] = None
                self.read_code(function.__code__)


def reached(function: types.FunctionType, values: Iterable[Any]) -> Reached:
    """What a function may read of some arguments; nothing where none is a plain object."""
    found = Reached()
    objects = [value for value in values if is_plain(value)]
    if objects:
        found.names |= IMPLICIT
        found.read_code(function.__code__)
    count = -1
    while count != len(found.names):
        count = len(found.names)
        for value in objects:
            found.read_object(value)
    return found


def kinds_of(function: types.FunctionType, values: Mapping[str, Any]) -> dict[str, Kind]:
    """The kinds of the arguments of a function, by parameter."""
    names = reached(function, values.values()).names
    return {name: kind_of(value, names) if names else K.of(value) for name, value in values.items()}


def kind_of(value: Any, names: set[str], depth: int = DEEPEST) -> Kind:
    """The kind of a value, of whose attributes those of certain names count."""
    if not is_plain(value) or depth == 0:
        return K.of(value)
    return K.Object(type(value), tuple(_fields(value, names, depth)))


def _fields(value: Any, names: set[str], depth: int) -> Iterator[tuple[str, Kind]]:
    for name in sorted(names):
        static = inspect.getattr_static(type(value), name, MISSING)
        if isinstance(static, property):
            if isinstance(static.fget, types.FunctionType):
                yield name, K.Method(static.fget, is_property=True)
        elif isinstance(static, classmethod) and name not in vars(value):
            if isinstance(static.__func__, types.FunctionType):
                yield name, K.Method(static.__func__, owner=type(value))
        elif name in vars(value) or isinstance(static, staticmethod) or _is_data(static):
            kind = kind_of(getattr(value, name), names, depth - 1)
            if kind is not K.UNKNOWN:
                yield name, kind
        elif isinstance(static, types.FunctionType):
            yield name, K.Method(static)


def _is_data(static: Any) -> bool:
    """Whether an attribute of a class is what its instances give: nothing that binds or computes."""
    return static is not MISSING and not hasattr(type(static), "__get__")


def functions_of(static: Any) -> Iterator[types.FunctionType]:
    """The Python functions that an attribute of a class runs."""
    if isinstance(static, property):
        inner: tuple[Any, ...] = (static.fget, static.fset)
    else:
        inner = (static.__func__ if isinstance(static, (staticmethod, classmethod)) else static,)
    yield from (f for f in inner if isinstance(f, types.FunctionType))
