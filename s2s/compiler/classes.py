"""What a compiled function relies on of the classes of which it makes objects: methods, properties, other attributes.

The bodies of methods stand in the compiled function, attributes of classes are read live.
"""

from __future__ import annotations

import types
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from s2s import kinds as K
from s2s.compiler.objects import functions_of
from s2s.kinds import Kind
from s2s.transforms.classes import IMPLICIT, owners

# What runs when an object is made.
MAKING = frozenset({"__init__", "__post_init__", "__new__", "__setattr__"})


@dataclass(frozen=True)
class Member:
    """What a class holds under a name: something that is known by identity, or a value of some kind."""

    owner: K.Static
    name: str
    kind: Kind


@dataclass(frozen=True)
class Class(Kind):
    """A class, what it and those before it in its order hold under some names, and how much they hold."""

    cls: K.Static
    members: tuple[Member, ...]
    sizes: tuple[int, ...]


def class_kind(cls: type, names: Collection[str]) -> Class:
    """What is known of a class."""
    members = tuple(
        Member(K.Static(owner), name, kind_of_member(held))
        for owner in owners(cls)
        for name, held in vars(owner).items()
        if name in names or name in IMPLICIT or name in MAKING
    )
    return Class(K.Static(cls), members, tuple(len(vars(owner)) for owner in owners(cls)))


def kind_of_member(held: Any) -> Kind:
    """The kind of what a class holds; what has none, and what computes or binds, is known by identity."""
    kind = K.of(held)
    return K.Static(held) if kind is K.UNKNOWN or hasattr(type(held), "__get__") else kind


def functions_in(classes: Iterable[type], names: Collection[str]) -> Iterator[types.FunctionType]:
    """The functions of classes that have one of the names, or that Python calls without one."""
    for cls in classes:
        for owner in owners(cls):
            for name, held in vars(owner).items():
                if name in names or name in IMPLICIT or name in MAKING:
                    yield from functions_of(held)


def names_in(code: types.CodeType) -> Iterator[str]:
    """The names that a code object mentions."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from names_in(constant)
