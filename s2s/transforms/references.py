"""What names refer to: objects that the function makes, its arguments, global objects, classes, `super()`.

And what the attributes of these run. See `objects.py`.
"""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import Any, Protocol

import gast

from s2s import core
from s2s import kinds as K
from s2s.core import MISSING
from s2s.kinds import Kind
from s2s.transforms import classes as C
from s2s.transforms.heap import UNSURE, VALUE, Escapes, Heap, Made


class Host(Protocol):
    """What `inline` offers: names, and what names hold that are no objects."""

    local: set[str]
    tables: Any

    def temporary(self, hint: str) -> str: ...
    def fresh(self, hint: str) -> str: ...
    def value(self, hint: str, value: Any) -> Any: ...
    def object(self, node: Any) -> Any: ...
    def global_object(self, node: Any) -> Any: ...
    def objects_in(self, node: Any) -> list[Any]: ...


@dataclass(frozen=True, eq=False)
class Bound:
    """An object that is known by identity."""

    value: Any


@dataclass(frozen=True)
class Given(K.Object):
    """The kind of an argument, or of an object in one: `cell` is the object, of which some attributes may be set."""

    cell: Any = None


@dataclass(frozen=True)
class Super:
    """`super()` in a method of a class."""

    receiver: Any
    after: type


@dataclass(frozen=True)
class Attribute:
    """An attribute that is found in a class: a function that runs with `first` as its first argument, or a value."""

    function: Any = None
    first: Any = None
    is_property: bool = False
    value: Any = MISSING


class References:
    """What names refer to, at the place that the walk through a function has come to.

    kinds: what is known of names that hold no such object.
    opaque: classes that are left alone.
    listings: the names that hold lists of objects, and of which; see `rows.py`.
    """

    def __init__(
        self, host: Host, kinds: Mapping[str, Kind], opaque: Sequence[Any], listings: Mapping[str, Any]
    ) -> None:
        self.host = host
        self.heap = Heap(host.temporary, host.fresh)
        self.kinds = {name: self.given(kind, name) for name, kind in kinds.items()}
        self.supers: dict[str, Super] = {}
        self.receivers: dict[FunctionType, Any] = {}
        # A class that is an argument may be another one in the next call, whatever its methods are.
        given = [k.value for k in kinds.values() if isinstance(k, K.Static) and isinstance(k.value, type)]
        self.opaque = [*opaque, *given]
        self.whole: list[Any] = []  # calls that make an object as it is
        self.making: list[Any] = []  # statements that set an attribute of an object that is being made
        self.seen: list[Any] = []  # the classes of the objects
        self.set_outside: dict[str, list[Made]] = {}  # the arguments of which an attribute is set, by attribute
        self.allowed: dict[int, Any] = {}  # reads of attributes of arguments
        self.listings: dict[str, Any] = dict(listings)
        self.homes: dict[int, Any] = {}  # displays of objects, by identity: their names
        self.target = ""  # the name that a statement assigns
        self.grown: list[Made] = []  # lists of objects, as often as one was put in
        self.over: list[Any] = []  # loops over lists of objects, and these
        self.counters: set[str] = set()  # names that count the rows of a list
        self.wholes: list[Any] = []  # statements with an argument that is an object as a whole
        self.hint = ""  # what the value of a statement will be called
        self.names: set[str] = set()  # that meant an object somewhere
        self.by_name: set[str] = set()  # that found a global object
        self.origin: Any = None

    def given(self, kind: Kind, name: str) -> Kind:
        """The kind of a parameter; of an object among them, with what is to be known of it."""
        if not isinstance(kind, K.Object) or K.is_random_generator(kind.cls):
            return kind
        cell = self.heap.make(kind.cls, hint=name)
        cell.real, cell.given = name, frozenset(n for n, k in kind.fields if not isinstance(k, K.Method))
        return Given(kind.cls, kind.fields, cell)

    @property
    def state(self) -> dict[Any, Any]:
        return self.heap.state

    def escape(self, what: str, *made: Any) -> Escapes:
        classes: list[Any] = []
        for m in (getattr(m, "made", m) for m in made if m is not None):
            if hasattr(m, "cls"):
                classes += getattr(m, "sites", ()) or [getattr(m.cls, "cls", m.cls)]
        return Escapes(what, self.origin, classes)

    # --- what names refer to ---

    def reference(self, node: Any) -> Any:
        """The object that an atom or path means, if it is one of a known class; else None."""
        if isinstance(node, gast.Name) and node.id in self.host.local:
            found = self.state.get(node.id)
            if found is UNSURE:
                raise self.escape(f"`{core.stem(node.id)}` may be one object or another")
            if found is not None:
                return found
            if node.id in self.supers:
                return self.supers[node.id]
            kind = self.kinds.get(node.id)
            if isinstance(kind, Given):
                return kind
            held = self.host.object(node)
            return self.found(node, held) if held is not MISSING and C.is_plain(held) else None
        if not isinstance(node, (gast.Name, gast.Attribute)):
            return None
        value = self.host.global_object(node)
        return None if value is MISSING else self.found(node, value)

    def found(self, node: Any, value: Any) -> Bound:
        """A global object, which what is called meanwhile may put another one in the place of (`outside`)."""
        self.by_name.add(core.stem(node.id if isinstance(node, gast.Name) else node.attr))
        return Bound(value)

    def made(self, node: Any) -> Any:
        found = self.reference(node) if isinstance(node, gast.Name) and node.id in self.state else None
        return found if isinstance(found, Made) else None

    def class_of(self, ref: Any) -> Any:
        return type(ref.value) if isinstance(ref, Bound) else ref.cls

    def cls(self, node: Any) -> Any:
        """The class that an atom or path means, else None."""
        found = self.host.object(node) if isinstance(node, (gast.Name, gast.Attribute)) else None
        return found if isinstance(found, (type, C.LocalClass)) else None

    def attribute(self, ref: Any, node: Any, name: str) -> Attribute | None:
        """What a class, or what is known of an argument, has under a name; None for what is the object's own."""
        if isinstance(ref, Super):
            inner, node = ref.receiver
            return self.of_class(self.class_of(inner), C.member(self.class_of(inner), name, ref.after), inner, node)
        if isinstance(ref, K.Object):
            kind = dict(ref.fields).get(name)
            if isinstance(kind, K.Method):
                first = node if kind.owner is None else self.host.value(kind.owner.__name__, kind.owner)
                return Attribute(kind.function, first, kind.is_property)
            if isinstance(kind, K.Static) and isinstance(kind.value, FunctionType):
                return Attribute(kind.value)
            return None
        if isinstance(ref, Bound) and name in vars(ref.value):
            return None
        cls = self.class_of(ref)
        return self.of_class(cls, C.member(cls, name), ref, node)

    def of_class(self, cls: Any, found: Any, ref: Any, node: Any) -> Attribute | None:
        if found is MISSING or isinstance(found, types.MemberDescriptorType):
            return None
        if isinstance(ref, Bound):
            node = self.host.value(cls.__name__.lower(), ref.value)
        if isinstance(found, property):
            return Attribute(found.fget, node, is_property=True)
        if isinstance(found, staticmethod):
            return Attribute(found.__func__)
        if isinstance(found, classmethod):
            return Attribute(found.__func__, self.host.value(cls.__name__, cls))
        if isinstance(found, (FunctionType, gast.FunctionDef)):
            return Attribute(found, node)
        if hasattr(type(found), "__get__"):
            raise self.escape(f"an attribute that {type(found).__name__} computes", ref)
        return Attribute(value=found)

    def runs(self, attribute: Attribute, hint: str, args: Sequence[Any], keywords: Sequence[Any] = ()) -> Any:
        """The call of what an attribute runs."""
        function = attribute.function
        if isinstance(function, gast.FunctionDef):
            func: Any = core.name(function.name)
        elif isinstance(function, FunctionType):
            func = self.host.value(hint, function)
        else:
            raise self.escape(f"a method that is no function of Python's: {hint}")
        first = [] if attribute.first is None else [attribute.first]
        return gast.Call(func, [*first, *args], list(keywords))

    def method(self, node: Any, name: str) -> tuple[Any, Attribute] | None:
        """A method that Python runs for an operator, of the object that an atom means."""
        ref = self.reference(node)
        if ref is None or isinstance(ref, Super):
            return None
        found = self.attribute(ref, node, name)
        return None if found is None or found.function is None else (ref, found)

    def calling(self, node: Any, name: str, *args: Any) -> Any:
        """The call of such a method, else None."""
        found = self.method(node, name)
        if found is None:
            return None
        return self.runs(found[1], f"{self.class_of(found[0]).__name__}_{name.strip('_')}", args)

    # --- attributes of objects that are made here ---

    def new(self, name: Any, value: Any) -> Any:
        return core.assign(name, value, self.origin)

    def store(self, made: Made, attr: str, value: Any, stem: str) -> list[Any]:
        """The statements that set an attribute."""
        for other in self.heap.aliases(made):
            raise self.escape("an attribute is set of what may be one object or another", made, other)
        inner = self.made(value)
        if inner is not None:
            self.state[made, attr] = inner
            return []
        self.state[made, attr] = VALUE
        return [self.new(self.heap.variable(made, attr, stem), value)]

    def keys(self, made: Made) -> list[str]:
        """The names of the items of a tuple, in order."""
        if not isinstance(made.cls, type) or not issubclass(made.cls, tuple | list):
            raise self.escape("an object is unpacked", made)
        if made.cls in (tuple, list):
            return sorted((loc[1] for loc in self.state if isinstance(loc, tuple) and loc[0] is made), key=int)
        return list(getattr(made.cls, "_fields"))  # noqa: B009

    def item(self, made: Made, attr: str) -> Any:
        """The value of an attribute, as an atom."""
        own = self.state.get((made, attr))
        if own is VALUE:
            known = self.kinds.get(made.variables[attr])
            if made.cls is tuple and isinstance(known, (K.Str, K.Int)) and known.value is not None:
                return core.constant(known.value)
            return core.name(made.variables[attr])
        if not isinstance(own, Made):
            raise self.escape(f"`{attr}` is read, which may not be set, or may be one thing or another", made)
        name = self.host.temporary(attr if attr.isidentifier() else "item")
        self.state[name] = own
        return core.name(name)

    # --- super ---

    def is_super(self, call: Any) -> bool:
        return self.host.object(call.func) is super

    def super_of(self, call: Any, place: Any) -> Super:
        function: Any = place.functions[-1] if place.functions else None
        known = not call.args and isinstance(function, FunctionType) and function in self.receivers
        if not known or self.receivers[function][0] is None:
            raise self.escape("`super` outside of a method")
        cell = dict(zip(function.__code__.co_freevars, function.__closure__ or ())).get("__class__")
        if cell is None:
            raise self.escape("`super` outside of a class")
        return Super(self.receivers[function], cell.cell_contents)

    def receive(self, function: Any, first: Any) -> None:
        """Take note of the first argument of a method that calls `super`."""
        if "__class__" in function.__code__.co_freevars and first is not None:
            self.receivers[function] = (self.reference(first), first)

    # --- what is known of other names ---

    def kind(self, node: Any) -> Any:
        if isinstance(node, gast.Constant):
            return K.of_literal(node.value)
        return self.kinds.get(node.id) if isinstance(node, gast.Name) and node.id in self.host.local else None

    def learn(self, stmt: Any) -> None:
        """Take note of what a statement that stays assigns."""
        for name in core.writes(stmt):
            self.state.pop(name, None)
            self.kinds.pop(name, None)
            self.supers.pop(name, None)
        if isinstance(stmt, gast.Assign) and isinstance(stmt.targets[0], gast.Name):
            kind = self.known_kind(stmt.value)
            if kind is not None:
                self.kinds[stmt.targets[0].id] = kind
        if isinstance(stmt, gast.For):
            over = self.kind(stmt.iter)
            if isinstance(over, K.Range):
                self.kinds[stmt.target.id] = K.Int()
            elif isinstance(over, K.Array) and over.ndim == 1:
                self.kinds[stmt.target.id] = K.Scalar(over.dtype)

    def known_kind(self, node: Any) -> Kind | None:
        if core.is_atom(node):
            return self.kind(node)  # type: ignore[no-any-return]
        if isinstance(node, gast.Attribute):
            owner = self.kind(node.value) if core.is_atom(node.value) else None
            if not isinstance(owner, Given):
                return None
            kind = dict(owner.fields).get(node.attr)
            self.allowed[id(node)] = (owner.cell, node)
            if isinstance(kind, K.Object) and not K.is_random_generator(kind.cls):
                if node.attr not in owner.cell.parts:
                    owner.cell.parts[node.attr] = Made(kind.cls, owner.cell.number)
                return Given(kind.cls, kind.fields, owner.cell.parts[node.attr])
            return None if isinstance(kind, K.Method) else kind
        if isinstance(node, gast.Subscript):
            owner, index = self.kind(node.value), self.kind(node.slice)
            if isinstance(owner, K.Array) and owner.ndim == 1 and isinstance(index, K.Int):
                return K.Scalar(owner.dtype)
        if isinstance(node, gast.Call) and isinstance(node.func, gast.Name) and self.host.object(node.func) is range:
            return K.Range()
        if isinstance(node, gast.BinOp):
            kinds = self.kind(node.left), self.kind(node.right)
            if all(isinstance(k, K.Int) for k in kinds) and not isinstance(node.op, (gast.Div, gast.Pow)):
                return K.Int()
            if all(isinstance(k, K.Scalar) for k in kinds):
                return K.Scalar(kinds[0].dtype, all(k.python for k in kinds))
        return None

    def forget(self, names: Sequence[str]) -> None:
        for name in names:
            self.kinds.pop(name, None)
            self.supers.pop(name, None)


def type_of(kind: Any) -> type | None:
    """The type of the values of a kind."""
    if isinstance(kind, K.Scalar):
        return type(kind.dtype.type(0).item()) if kind.python else kind.dtype.type
    if isinstance(kind, K.Array):
        return kind.cls
    return {K.Int: int, K.Bool: bool, K.Str: str, K.NoneKind: type(None)}.get(type(kind))
