"""The test that a compiled variant still fits: kinds of arguments -> one Python expression.

A variant holds for arguments of certain kinds, and for what the function's free names meant when it was compiled. Its
guard tests both on every call, so it is written as an expression that costs nanoseconds:

    type(x) is ndarray and (x.dtype is float64 or x.dtype == float64) and x.ndim == 2 and type(n) is int and np is numpy

Objects appear in it under names of ours (`Bindings`), which hold a middle dot and so meet none of the user's.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2s import kinds as K
from s2s.compiler.classes import Class
from s2s.compiler.objects import functions_of
from s2s.kinds import Kind
from s2s.transforms.anew import made_anew
from s2s.transforms.classes import owners


@dataclass(frozen=True)
class Anew(Kind):
    """A function that is made anew (`transforms/anew.py`): its code, and the module in which it runs."""

    code: types.CodeType
    module: Module


class Module:
    """The globals of a module, known by identity."""

    def __init__(self, namespace: dict[str, Any]) -> None:
        self.namespace = namespace

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Module) and other.namespace is self.namespace

    def __hash__(self) -> int:
        return id(self.namespace)


def interchangeable(kind: Kind) -> Kind:
    """The kind, or of a function that is made anew the kind of all those of its code."""
    if isinstance(kind, K.Static) and made_anew(kind.value):
        return Anew(kind.value.__code__, Module(kind.value.__globals__))
    return kind


class Bindings:
    """Names for the objects that a generated text refers to, one for each object."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self._names: dict[int, str] = {}

    def __call__(self, value: Any, hint: str = "v") -> str:
        """The name of an object."""
        name = self._names.get(id(value))
        if name is None:
            stem = hint if hint.isidentifier() else "v"
            name = self._names[id(value)] = f"{stem}·{len(self._names)}"
            self.values[name] = value
        return name


def conditions(place: str, kind: Kind, value: Any, bind: Bindings) -> Iterator[str]:
    """The conditions under which what stands at `place` has this kind.

    value: an example, which tells the type where the kind says nothing.
    """
    method = _TESTS.get(type(kind))
    if method is None:
        yield _type_is(place, type(value), bind)
    else:
        yield from method(place, kind, value, bind)


def _type_is(place: str, cls: type, bind: Bindings) -> str:
    return f"{bind(type, 'type')}({place}) is {bind(cls, cls.__name__)}"


def _dtype_is(place: str, dtype: np.dtype[Any], bind: Bindings) -> str:
    # Native dtypes are singletons in all but rare cases (unpickled, structured), where they compare equal.
    name = bind(dtype, dtype.name)
    return f"({place}.dtype is {name} or {place}.dtype == {name})"


def _array(place: str, kind: K.Array, value: Any, bind: Bindings) -> Iterator[str]:
    yield _type_is(place, kind.cls, bind)
    yield _dtype_is(place, kind.dtype, bind)
    yield f"{place}.ndim == {kind.ndim}"


def _scalar(place: str, kind: K.Scalar, value: Any, bind: Bindings) -> Iterator[str]:
    yield _type_is(place, type(value), bind)
    if kind.dtype.kind in "VSUmM":
        yield _dtype_is(place, kind.dtype, bind)


def _items(place: str, kind: K.Tuple | K.List, value: Any, bind: Bindings) -> Iterator[str]:
    yield _type_is(place, type(value), bind)
    yield f"{bind(len, 'len')}({place}) == {len(kind.items)}"
    for i, item in enumerate(kind.items):
        yield from conditions(f"{place}[{i}]", item, value[i], bind)


def _sequence(place: str, kind: K.Sequence, value: Any, bind: Bindings) -> Iterator[str]:
    yield _type_is(place, kind.cls, bind)
    item = f"item·{place.count('·')}"
    inner = " and ".join(conditions(item, kind.item, value[0], bind))
    yield f"{bind(all, 'all')}([{inner} for {item} in {place}])"


def _dict(place: str, kind: K.Dict, value: Any, bind: Bindings) -> Iterator[str]:
    yield _type_is(place, dict, bind)
    yield from _entries(place, [k for k, _ in kind.items], bind)
    for key, item in kind.items:
        written = repr(key) if type(key) in (str, int) else bind(key, "key")
        yield from conditions(f"{place}[{written}]", item, value[key], bind)


def _record(place: str, kind: K.Record, value: Any, bind: Bindings) -> Iterator[str]:
    yield _type_is(place, kind.cls, bind)
    if kind.cls is types.SimpleNamespace:
        yield from _entries(f"{bind(vars, 'vars')}({place})", [k for k, _ in kind.fields], bind)
    for name, item in kind.fields:
        yield from conditions(f"{place}.{name}", item, getattr(value, name), bind)


def _object(place: str, kind: K.Object, value: Any, bind: Bindings) -> Iterator[str]:
    yield _type_is(place, kind.cls, bind)
    for name, inner in kind.fields:
        if not isinstance(inner, K.Method):
            yield f"{bind(hasattr, 'hasattr')}({place}, {name!r})"
            yield from conditions(f"{place}.{name}", inner, getattr(value, name), bind)
            continue
        for owner in owners(kind.cls):
            # `super()` may reach those that are hidden.
            hidden = vars(owner).get(name)
            if isinstance(hidden, types.FunctionType) and hidden is not inner.function:
                yield f"{bind(owner, owner.__name__)}.__dict__.get({name!r}) is {bind(hidden, name)}"
                yield from body_is(bind(hidden, name), hidden, bind)
        if inner.is_property:
            found = inspect.getattr_static(kind.cls, name)
            yield f"{bind(type, 'type')}({place}).{name} is {bind(found, name)}"
        else:
            yield f"{bind(getattr, 'getattr')}({place}.{name}, '__func__', None) is {bind(inner.function, name)}"
        yield from body_is(bind(inner.function, name), inner.function, bind)


def _entries(place: str, keys: list[Any], bind: Bindings) -> Iterator[str]:
    # The order counts: it is the order in which the function loops over them.
    yield f"[*{place}] == {bind(keys, 'keys')}"
    if any(type(key) is not str for key in keys):
        yield f"{bind(K.senses, 'senses')}({place}) == {bind(K.senses(keys), 'known')}"


def _static(place: str, kind: K.Static, value: Any, bind: Bindings) -> Iterator[str]:
    if isinstance(value, types.MethodType):
        yield _type_is(place, types.MethodType, bind)
        yield f"{place}.__self__ is {bind(value.__self__, 'self')}"
        yield from _static(f"{place}.__func__", K.Static(value.__func__), value.__func__, bind)
        return
    yield f"{place} is {bind(value, getattr(value, '__name__', 'v'))}"
    if isinstance(value, types.FunctionType):
        yield from body_is(place, value, bind)


def body_is(place: str, function: types.FunctionType, bind: Bindings) -> Iterator[str]:
    """The conditions under which the function at `place` runs the same code with the same defaults.

    A function that had no defaults was called with all arguments, so that those it gets do not matter.
    """
    yield f"{place}.__code__ is {bind(function.__code__, 'code')}"
    if function.__defaults__:
        yield f"{place}.__defaults__ is {bind(function.__defaults__, 'defaults')}"
    for name, default in (function.__kwdefaults__ or {}).items():
        yield f"{place}.__kwdefaults__[{name!r}] is {bind(default, 'default')}"


def _anew(place: str, kind: Anew, value: Any, bind: Bindings) -> Iterator[str]:
    yield _type_is(place, types.FunctionType, bind)
    yield f"{place}.__code__ is {bind(kind.code, 'code')}"
    yield f"{place}.__globals__ is {bind(kind.module.namespace, 'globals')}"


def _class(place: str, kind: Class, value: Any, bind: Bindings) -> Iterator[str]:
    yield f"{place} is {bind(value, value.__name__)}"
    yield f"{place}.__mro__ is {bind(value.__mro__, 'mro')}"
    for owner, size in zip(owners(value), kind.sizes):
        yield f"{bind(len, 'len')}({bind(owner, owner.__name__)}.__dict__) == {size}"
    for member in kind.members:
        owner, held = member.owner.value, vars(member.owner.value)[member.name]
        inside = f"{bind(owner, owner.__name__)}.__dict__.get({member.name!r})"
        if isinstance(member.kind, K.Static):
            yield f"{inside} is {bind(held, member.name)}"
            for function in functions_of(held):
                yield from body_is(bind(function, member.name), function, bind)
        else:
            yield from conditions(inside, member.kind, held, bind)


_TESTS: dict[type[Kind], Any] = {
    K.Array: _array,
    K.Scalar: _scalar,
    K.Tuple: _items,
    K.List: _items,
    K.Sequence: _sequence,
    K.Dict: _dict,
    K.Record: _record,
    K.Object: _object,
    K.Static: _static,
    Anew: _anew,
    Class: _class,
}
