"""Kinds: what the compiler knows of a value before it runs.

A variant of a function is compiled for the kinds of its arguments. Kinds form a join semilattice: `join` gives the
least kind that covers two others, `UNKNOWN` covers all. A kind is hashable and compared by value.
"""

from __future__ import annotations

import dataclasses
import functools
import types
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2s.runtime.absent import absent


@dataclass(frozen=True)
class Kind:
    """Base of all kinds."""


@dataclass(frozen=True)
class Unknown(Kind):
    """Nothing is known."""


@dataclass(frozen=True)
class Never(Kind):
    """No value at all: of a call of which it is not known yet whether it returns, of a variable not assigned yet."""


@dataclass(frozen=True)
class NoneKind(Kind):
    """None."""


@dataclass(frozen=True)
class Int(Kind):
    """A Python int; `value` where it is known (a literal, an ndim)."""

    value: int | None = None


@dataclass(frozen=True)
class Bool(Kind):
    """A Python bool (`numpy.bool_` is a Scalar)."""

    value: bool | None = None


@dataclass(frozen=True)
class Str(Kind):
    """A str."""

    value: str | None = None


@dataclass(frozen=True)
class Scalar(Kind):
    """A number without dimensions: a Python float or complex (`python`), or a NumPy scalar of a dtype."""

    dtype: np.dtype[Any]
    python: bool = False


@dataclass(frozen=True)
class Array(Kind):
    """An array: its exact class, dtype and number of dimensions (0 too)."""

    dtype: np.dtype[Any]
    ndim: int
    cls: type = np.ndarray


@dataclass(frozen=True)
class Numeric(Kind):
    """A number or array of a dtype, whose number of dimensions is not known."""

    dtype: np.dtype[Any]


@dataclass(frozen=True)
class Tuple(Kind):
    """A tuple (or a namedtuple, by `cls`) of known length."""

    items: tuple[Kind, ...]
    cls: type = tuple


@dataclass(frozen=True)
class List(Kind):
    """A list of known length."""

    items: tuple[Kind, ...]


@dataclass(frozen=True)
class Sequence(Kind):
    """A list or tuple (`cls`) of unknown length, whose items are all of one kind."""

    item: Kind
    cls: type = list


@dataclass(frozen=True)
class Dict(Kind):
    """A dict with known constant keys, in order.

    senses: what tells keys apart that are equal.
    """

    items: tuple[tuple[Any, Kind], ...]
    senses: tuple[Any, ...] = dataclasses.field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "senses", senses(key for key, _ in self.items))

    def same_keys(self, other: Dict) -> bool:
        return self.senses == other.senses and [k for k, _ in self.items] == [k for k, _ in other.items]


def senses(keys: Iterable[Any]) -> tuple[Any, ...]:
    """What tells equal keys apart: 1, 1.0 and True are one key of a dict, as 0.0 and -0.0 are, and differ in use."""
    return tuple(
        senses(key) if type(key) is tuple else (type(key), repr(key) if type(key) is float else "") for key in keys
    )


@dataclass(frozen=True)
class Record(Kind):
    """A dataclass or SimpleNamespace instance: its class and the kinds of its fields."""

    cls: type
    fields: tuple[tuple[str, Kind], ...]


@dataclass(frozen=True)
class Object(Kind):
    """An instance of a class that is no container: its class, and the kinds of those attributes that are known.

    A generator of random numbers is one, without attributes.
    """

    cls: type
    fields: tuple[tuple[str, Kind], ...] = ()


@dataclass(frozen=True)
class Method(Kind):
    """A method of an object, or a property: the function that it runs with the object as its first argument.

    owner: of a class method, the class that takes the place of the object.
    """

    function: types.FunctionType
    is_property: bool = False
    owner: type | None = None


@dataclass(frozen=True)
class Range(Kind):
    """A range."""


@dataclass(frozen=True)
class Slice(Kind):
    """A slice object."""


@dataclass(frozen=True)
class Iterator(Kind):
    """An iterator that is consumed once (`zip`, `enumerate`, `reversed`); `item` is the kind of what it gives."""

    item: Kind


@dataclass(frozen=True)
class Static(Kind):
    """A value known by identity: a module, function, class, dtype, ufunc, ellipsis, bound method of a module."""

    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Static) and other.value is self.value

    def __hash__(self) -> int:
        return hash(("Static", id(self.value)))


UNKNOWN = Unknown()
NEVER = Never()
_NOTHING_YET: Kind = NEVER
NONE = NoneKind()
FLOAT = Scalar(np.dtype(float), python=True)
COMPLEX = Scalar(np.dtype(complex), python=True)

STATIC_TYPES = (
    types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType, type, np.ufunc, np.dtype,
    types.EllipsisType, types.CellType, types.MethodDescriptorType, types.GetSetDescriptorType,
    types.WrapperDescriptorType, functools._lru_cache_wrapper,
)  # fmt: skip


# Types of functions that NumPy has and `types` lacks.
_FUNCTIONS = ("_ArrayFunctionDispatcher", "cython_function_or_method")


def is_static(value: Any) -> bool:
    """Whether a value is known by identity: a module, function, class, ..."""
    return isinstance(value, STATIC_TYPES) or type(value).__name__ in _FUNCTIONS


def of(value: Any) -> Kind:
    """The kind of a value (numbers in containers are known by type only); a kind stands for itself."""
    known = _EXACT.get(type(value))
    if known is not None:
        return known(value)
    if isinstance(value, Kind):
        return value
    if isinstance(value, np.generic):
        return Scalar(value.dtype)
    if isinstance(value, np.memmap):
        return Array(value.dtype, value.ndim, np.memmap)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return Tuple(tuple(of(v) for v in value), type(value))
    if is_static(value):
        return NEVER if value is absent else Static(value)
    if is_random_generator(type(value)):
        return Object(type(value))
    if dataclasses.is_dataclass(value):
        return Record(type(value), tuple((f.name, of(getattr(value, f.name))) for f in dataclasses.fields(value)))
    return UNKNOWN


def is_random_generator(cls: type) -> bool:
    """Whether instances of a class draw NumPy's random numbers (told by name: the module loads late)."""
    return cls.__module__.startswith("numpy.random") and cls.__name__ in ("RandomState", "Generator")


_EXACT: dict[type, Callable[[Any], Kind]] = {
    int: lambda v: Int(),
    bool: lambda v: Bool(),
    float: lambda v: FLOAT,
    complex: lambda v: COMPLEX,
    str: lambda v: Str(),
    type(None): lambda v: NONE,
    np.ndarray: lambda v: Array(v.dtype, v.ndim),
    tuple: lambda v: Tuple(tuple(of(item) for item in v)),
    list: lambda v: List(tuple(of(item) for item in v)),
    dict: lambda v: Dict(tuple((k, of(item)) for k, item in v.items())),
    range: lambda v: Range(),
    slice: lambda v: Slice(),
    type: lambda v: NEVER if v is absent else Static(v),
    **dict.fromkeys((types.ModuleType, types.FunctionType, types.BuiltinFunctionType, np.ufunc, type(np.sum)), Static),
    types.SimpleNamespace: lambda v: Record(type(v), tuple((k, of(item)) for k, item in vars(v).items())),
}


def of_literal(value: Any) -> Kind:
    """The kind of a constant in the source: its value is known too."""
    if type(value) in (int, bool, str):
        return {int: Int, bool: Bool, str: Str}[type(value)](value)  # type: ignore[no-any-return]
    return of(value)


def join(a: Kind, b: Kind) -> Kind:
    """The least kind that covers both."""
    if a == b or b == NEVER:
        return a
    if a == NEVER:
        return b
    if type(a) is type(b):
        if isinstance(a, (Int, Bool, Str)):
            return type(a)()
        if isinstance(a, Tuple) and isinstance(b, Tuple) and a.cls is b.cls and len(a.items) == len(b.items):
            return Tuple(tuple(map(join, a.items, b.items)), a.cls)
        if isinstance(a, List) and isinstance(b, List) and len(a.items) == len(b.items):
            return List(tuple(map(join, a.items, b.items)))
        if isinstance(a, Sequence) and isinstance(b, Sequence) and a.cls is b.cls:
            return Sequence(join(a.item, b.item), a.cls)
        if isinstance(a, Dict) and isinstance(b, Dict) and a.same_keys(b):
            return Dict(tuple((k, join(v, w)) for (k, v), (_, w) in zip(a.items, b.items)))
        if isinstance(a, Record) and isinstance(b, Record) and a.cls is b.cls:
            if [k for k, _ in a.fields] == [k for k, _ in b.fields]:
                return Record(a.cls, tuple((k, join(v, w)) for (k, v), (_, w) in zip(a.fields, b.fields)))
    if {type(a), type(b)} <= {List, Sequence} and all(isinstance(k, List) or k.cls is list for k in (a, b)):  # type: ignore[attr-defined]
        return Sequence(joined([*(children(a) or ()), *(children(b) or ())]), list)
    for one, other in ((a, b), (b, a)):
        if isinstance(one, Int) and isinstance(other, (Scalar, Array, Numeric)) and other.dtype.kind in "fc":
            return Numeric(other.dtype) if isinstance(other, Array) else other
    return _join_numeric(a, b)


def joined(kinds: Iterable[Kind]) -> Kind:
    """The least kind that covers some kinds; NEVER for none."""
    return functools.reduce(join, kinds, _NOTHING_YET)


def _join_numeric(a: Kind, b: Kind) -> Kind:
    x, y = dtype_of(a), dtype_of(b)
    if x is None or y is None or x.kind not in "fc" or y.kind not in "fc":
        return UNKNOWN
    if isinstance(a, Scalar) and isinstance(b, Scalar):
        # A Python float and a NumPy scalar behave alike but for their type: the wider dtype covers both.
        return Scalar(np.result_type(x, y))
    if isinstance(a, Array) and isinstance(b, Array) and a.ndim == b.ndim and a.cls is b.cls and x == y:
        return a
    return Numeric(np.result_type(x, y))


def dtype_of(kind: Kind) -> np.dtype[Any] | None:
    """The dtype of a number or array (int and bool for Python's), None for what is no number."""
    sort = type(kind)
    return kind.dtype if sort in _OF_NUMBERS else _DTYPES.get(sort)  # type: ignore[attr-defined]


_OF_NUMBERS = frozenset((Scalar, Array, Numeric))
_DTYPES: dict[type, np.dtype[Any]] = {Bool: np.dtype(bool), Int: np.dtype(int)}


def children(kind: Kind) -> tuple[Kind, ...] | None:
    """The kinds of a container's items, None where the kind is no container."""
    held = _CHILDREN.get(type(kind))
    return None if held is None else held(kind)


_CHILDREN: dict[type, Callable[[Any], tuple[Kind, ...]]] = {
    Tuple: lambda kind: kind.items,
    List: lambda kind: kind.items,
    Sequence: lambda kind: (kind.item,),
    Dict: lambda kind: tuple([v for _, v in kind.items]),
    Record: lambda kind: tuple([v for _, v in kind.fields]),
}


def differentiable(kind: Kind) -> bool:
    """Whether a value of this kind can carry a derivative: a float or complex number or array, or holds one."""
    inner = children(kind)
    if inner is not None:
        return any(map(differentiable, inner))
    dtype = dtype_of(kind)
    return isinstance(kind, Unknown) or (dtype is not None and dtype.kind in "fc")


def is_empty(kind: Kind) -> bool:
    """Whether a container certainly holds nothing."""
    return isinstance(kind, (Tuple, List, Dict)) and not kind.items


def is_known(kind: Kind) -> bool:
    """Whether something is known of a value, and of all that it holds."""
    return not isinstance(kind, Unknown) and all(map(is_known, children(kind) or ()))


def ndim_of(kind: Kind) -> int | None:
    """The number of dimensions of a number or array, where known."""
    if type(kind) is Array:
        return kind.ndim
    return 0 if type(kind) in _NUMBERS else None


_NUMBERS = frozenset((Scalar, Int, Bool))


def is_python_number(kind: Kind) -> bool:
    """Whether a value is a Python float or complex: it raises where NumPy's numbers are infinite."""
    return isinstance(kind, Scalar) and kind.python


def immutable(kind: Kind) -> bool:
    """Whether `x += v` on a value of this kind certainly rebinds x."""
    return type(kind) in _IMMUTABLE


_IMMUTABLE = frozenset((Scalar, Int, Bool, Str, NoneKind))
