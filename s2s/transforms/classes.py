"""What is known of classes: which ones make plain objects, how these are made, and what their attributes run.

A plain object is what its attributes are: they are found in the usual way, in the object and then in the classes of
the method resolution order. Such an object can be taken apart (`objects.py`).
"""

from __future__ import annotations

import abc
import dataclasses
import inspect
import types
import typing
from collections.abc import Iterator
from types import FunctionType
from typing import Any

import gast

from s2s import core
from s2s import kinds as K
from s2s.core import MISSING, Scope
from s2s.transforms.callee import attribute_kind
from s2s.transforms.usercalls import OPAQUE

# Attributes of objects are followed so deep: what a variant relies on is guarded.
DEEPEST = 3
# Classes that add nothing to their instances.
_MARKS: tuple[Any, ...] = (object, abc.ABC, typing.Generic, typing.Protocol)
# Attributes of objects that Python reads without a name in the text.
IMPLICIT = frozenset(
    f"__{name}__"
    for stem in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul")
    for name in (stem, f"r{stem}", f"i{stem}")
) | {
    "__call__", "__getitem__", "__setitem__", "__len__", "__bool__", "__neg__", "__pos__", "__abs__", "__invert__",
    "__contains__", "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__",
}  # fmt: skip


class LocalClass:
    """A class that the function defines: the definitions of its methods and the names of its attributes, by name."""

    def __init__(self, name: str, members: dict[str, Any]) -> None:
        self.__name__ = name
        self.members = members


def owners(cls: type) -> list[type]:
    """The user's classes in which the attributes of instances are looked up, but for those that add nothing."""
    return [c for c in cls.__mro__ if c not in _MARKS and c.__module__ != "builtins"]


def member(cls: Any, name: str, after: type | None = None) -> Any:
    """What a class, or the next one after another in its order, holds under a name; MISSING if nothing."""
    if isinstance(cls, LocalClass):
        return cls.members.get(name, MISSING)
    if not isinstance(cls, type):
        return MISSING
    order = owners(cls)
    for owner in order[order.index(after) + 1 :] if after is not None else order:
        if name in vars(owner):
            return vars(owner)[name]
    return MISSING


def makes_records(cls: Any) -> bool:
    """Whether instances of a class are plain objects that a call of it makes by `__init__`, or by the fields."""
    if isinstance(cls, LocalClass) or cls is types.SimpleNamespace:
        return True
    if not isinstance(cls, type) or type(cls) not in (type, abc.ABCMeta) or inspect.isabstract(cls):
        return False
    if is_namedtuple(cls):
        return True
    if any(c.__module__.partition(".")[0] in OPAQUE for c in cls.__mro__ if c not in _MARKS) or not owners(cls):
        return False
    plain: Any = cls
    if plain.__new__ is not object.__new__ or member(cls, "__del__") is not MISSING or hasattr(cls, "__getattr__"):
        return False
    if plain.__getattribute__ is not object.__getattribute__:
        return False
    changing = ((plain.__setattr__, object.__setattr__), (plain.__delattr__, object.__delattr__))
    if any(found is not usual for found, usual in changing) and not is_frozen(cls):
        return False
    return isinstance(plain.__init__, FunctionType) or plain.__init__ is object.__init__


def is_namedtuple(cls: type) -> bool:
    """Whether a class is a namedtuple, or adds no more to one than methods."""
    if not issubclass(cls, tuple) or not isinstance(getattr(cls, "_fields", None), tuple):
        return False
    *added, own, plain = (c for c in cls.__mro__ if c is not object and c is not typing.Generic)
    special = ("__new__", "__init__", "__getattribute__", "__getattr__", "__getitem__", "__iter__", "__len__", "__eq__")
    return plain is tuple and hasattr(own, "_make") and not any(n in vars(c) for c in added for n in special)


def dataclass_of(cls: Any) -> type | None:
    """The class whose generated `__init__` a dataclass has."""
    for owner in owners(cls) if isinstance(cls, type) else ():
        if "__init__" in vars(owner):
            made = "__dataclass_fields__" in vars(owner) and is_generated(vars(owner)["__init__"])
            return owner if made else None
    return None


def is_frozen(cls: type) -> bool:
    """Whether the attributes of a dataclass cannot be set."""
    return getattr(getattr(cls, "__dataclass_params__", None), "frozen", False) and is_generated(cls.__setattr__)


def is_generated(function: Any) -> bool:
    """Whether `dataclasses` has written a function."""
    return isinstance(function, FunctionType) and function.__code__.co_filename == "<string>"


def settable(cls: Any, name: str) -> bool:
    """Whether an attribute of an instance can be set, where no property stands in the way."""
    if isinstance(cls, LocalClass) or cls is types.SimpleNamespace:
        return True
    if not isinstance(cls, type) or is_frozen(cls) or issubclass(cls, tuple):
        return False
    return isinstance(member(cls, name), types.MemberDescriptorType) or cls.__dictoffset__ != 0


def is_descriptor(found: Any) -> bool:
    """Whether what a class holds under a name takes what is set there; a slot is an attribute as any other."""
    return hasattr(type(found), "__set__") and not isinstance(found, types.MemberDescriptorType)


def fields_of(cls: type) -> Iterator[tuple[dataclasses.Field[Any], bool]]:
    """The fields of a dataclass in order, and of each whether it is a parameter only (`InitVar`)."""
    for field in cls.__dataclass_fields__.values():  # type: ignore[attr-defined]
        kind = field._field_type.name
        if kind != "_FIELD_CLASSVAR":
            yield field, kind == "_FIELD_INITVAR"


# --- objects that come from outside -----------------------------------------------------------------------------


def is_plain(value: Any) -> bool:
    """Whether a value is an instance of a user's class whose attributes are found in the usual way."""
    cls: Any = type(value)
    if cls.__module__.partition(".")[0] in OPAQUE or not hasattr(value, "__dict__") or K.of(value) is not K.UNKNOWN:
        return False
    return cls.__getattribute__ is object.__getattribute__ and not hasattr(cls, "__getattr__")


def value_of_path(node: Any, scope: Scope) -> Any:
    """The object that a path reads, through modules, classes and the attributes of plain objects; else MISSING."""
    if isinstance(node, gast.Name):
        return scope.lookup(node.id)
    owner = value_of_path(node.value, scope)
    if isinstance(owner, (types.ModuleType, type)):
        return getattr(owner, node.attr, MISSING)
    if owner is MISSING or not is_plain(owner) or depth(node) > DEEPEST:
        return MISSING
    static = inspect.getattr_static(type(owner), node.attr, MISSING)
    return MISSING if hasattr(type(static), "__get__") else vars(owner).get(node.attr, static)


def kind_of_attribute(node: Any, owner: K.Kind, scope: Scope, local: set[str]) -> K.Kind:
    """The kind of an attribute of a value of some kind, or of a plain object that names find."""
    found = attribute_kind(owner, node.attr)
    if found is not K.UNKNOWN or not core.is_path(node, local):
        return found
    value = value_of_path(node, scope)
    return K.UNKNOWN if value is MISSING else K.of(value)


def depth(node: Any) -> int:
    """How many attributes a path reads."""
    return 1 + depth(node.value) if isinstance(node, gast.Attribute) else 0
