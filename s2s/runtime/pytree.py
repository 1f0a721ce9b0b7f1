"""Containers of numbers: their leaves, and the shadows in which their cotangents are gathered.

An argument may be a list, tuple, dict, namedtuple, dataclass or SimpleNamespace, nested at will. optree takes such a
*pytree* apart and puts it together; records are registered with it in a namespace of our own when they are first met.

The cotangent of a container is gathered in a *shadow*: plain lists for what is indexed by position, plain dicts for
what is read by key or field, and for a leaf zeros, or None where no derivative exists. An integer has the zero of a
number, since code that is compiled once may meet a float in its place. A shadow is written in place, whatever the
container allows, and needs no registration:

    params     ({"w": array([1., 2.]), "name": "net"}, 3.0)
    shadow     [{"w": array([0., 0.]), "name": None}, 0.0]
    gradient   ({"w": array([..., ...]), "name": "net"}, ...)
"""

from __future__ import annotations

import copy
import dataclasses
import threading
from collections.abc import Callable, Hashable, Iterable, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
import optree

NAMESPACE = "s2s"

_LOCK = threading.RLock()
_registered: set[type] = set()


# --- registration -----------------------------------------------------------------------------------------------


def register(
    cls: type, fields: Callable[[Any], Mapping[str, Any]], build: Callable[[Any, dict[str, Any]], Any]
) -> None:
    """Let instances of a class be taken apart.

    fields: gives the parts of an instance by name.
    build: makes an instance like a given one from new parts; fields that are not in it stay as they were.
    """

    def flatten(tree: Any) -> tuple[Iterable[Any], Any, Iterable[str]]:
        parts = fields(tree)
        return tuple(parts.values()), _Like(tree, tuple(parts)), tuple(parts)

    def unflatten(like: Any, parts: Iterable[Any]) -> Any:
        return build(like.tree, dict(zip(like.names, parts)))

    with _LOCK:
        if cls not in _registered:
            optree.register_pytree_node(cls, flatten, unflatten, namespace=NAMESPACE)
            _registered.add(cls)


class _Like:
    """The record that a spec was made from; two are equal if they have the same class and fields."""

    def __init__(self, tree: Any, names: tuple[str, ...]) -> None:
        self.tree = tree
        self.names = names

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Like) and type(self.tree) is type(other.tree) and self.names == other.names

    def __hash__(self) -> int:
        return hash((type(self.tree), self.names))


def is_record(value: Any) -> bool:
    """Whether a value is a dataclass instance or a SimpleNamespace."""
    return isinstance(value, SimpleNamespace) or (dataclasses.is_dataclass(value) and not isinstance(value, type))


def _meet(value: Any) -> bool:
    """Register the class of a record; False, so that optree's search for leaves goes on."""
    if type(value) not in _registered and is_record(value):
        register(type(value), _fields, _rebuild)
    return False


def _fields(record: Any) -> dict[str, Any]:
    if isinstance(record, SimpleNamespace):
        return dict(vars(record))
    return {f.name: getattr(record, f.name) for f in dataclasses.fields(record)}


def _rebuild(record: Any, parts: dict[str, Any]) -> Any:
    """A record like another with other parts. `__init__` is not run: it may check or compute what gradients break."""
    if isinstance(record, SimpleNamespace):
        return type(record)(**parts)
    new = copy.copy(record)
    for name, value in parts.items():
        object.__setattr__(new, name, value)
    return new


# --- leaves -----------------------------------------------------------------------------------------------------


def flatten(tree: Any) -> tuple[list[Any], Any]:
    """The leaves of a tree in order, and the structure that `unflatten` takes. None is a leaf."""
    leaves, structure = optree.tree_flatten(tree, _meet, none_is_leaf=True, namespace=NAMESPACE)
    return leaves, structure


def unflatten(structure: Any, leaves: Iterable[Any]) -> Any:
    """The tree of a structure with other leaves."""
    return optree.tree_unflatten(structure, leaves)


def leaves(tree: Any) -> list[Any]:
    """The leaves of a tree, in order."""
    return flatten(tree)[0]


def paths(tree: Any) -> list[tuple[str, Any]]:
    """The leaves of a tree with the place of each as it would be written: `("['w'][0]", leaf)`."""
    if is_leaf(tree):
        return [("", tree)]
    return [(_written(tree, entry) + rest, leaf) for entry, child in children(tree) for rest, leaf in paths(child)]


def map(function: Callable[..., Any], tree: Any, *others: Any) -> Any:
    """A tree with the function applied to each leaf, and to the leaves of other trees of the same structure."""
    first, structure = flatten(tree)
    columns = [first]
    for other in others:
        found, same = flatten(other)
        if same != structure:
            raise ValueError(f"two trees differ in structure: {structure} and {same}")
        columns.append(found)
    return unflatten(structure, [function(*row) for row in zip(*columns)])


def copied(tree: Any) -> Any:
    """A tree with copies of its arrays."""
    if is_leaf(tree):
        return np.array(tree) if type(tree) in (np.ndarray, np.memmap) else tree
    return map(copied, tree)


def stop_gradient(x: Any) -> Any:
    """A copy of `x` that derivatives take for a constant: zero cotangents and tangents pass through it, to any order.

    x: a number, an array of any shape and dtype, or a pytree of these; the value has its structure, shapes and dtypes,
    and shares no memory with it.

    >>> import s2s
    >>> s2s.grad(lambda x: x * s2s.stop_gradient(x))(3.0)
    3.0
    """
    record = getattr(type(x), "__s2s_function__", None)
    if record is not None:
        return record(x, stop_gradient, (type(x),), (x,), {})
    if not is_leaf(x):
        return map(stop_gradient, x)
    return copied(x)


def is_leaf(tree: Any) -> bool:
    """Whether a value has no parts."""
    _meet(tree)
    return bool(optree.tree_is_leaf(tree, none_is_leaf=True, namespace=NAMESPACE))


def children(tree: Any) -> list[tuple[Hashable, Any]]:
    """The parts of a container, each with its index, key or field name."""
    parts, _ = _one_level(tree)
    return parts


def _one_level(tree: Any) -> tuple[list[tuple[Hashable, Any]], Callable[[list[Any]], Any]]:
    """The parts of a container by entry, and what puts it together again."""
    if type(tree) is dict:
        return list(tree.items()), lambda values: dict(zip(tree, values))
    _meet(tree)
    level = optree.tree_flatten_one_level(tree, none_is_leaf=True, namespace=NAMESPACE)
    return list(zip(level.entries, level.children)), lambda values: level.unflatten_func(level.metadata, values)


def _written(tree: Any, entry: Hashable) -> str:
    if is_record(tree):
        return f".{entry}"
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return f".{tree._fields[entry]}"
    return f"[{entry!r}]"


# --- shadows ----------------------------------------------------------------------------------------------------


def carries_derivative(leaf: Any) -> bool:
    """Whether a leaf is a float or complex number or array."""
    if isinstance(leaf, (np.ndarray, np.generic)):
        return leaf.dtype.kind in "fc"
    return isinstance(leaf, (float, complex))


def _is_number(leaf: Any) -> bool:
    return isinstance(leaf, (int, float, complex, np.bool_, np.number))


def shadow(tree: Any) -> Any:
    """Zeros in the shape of a tree, to be accumulated into; see the module."""
    if is_leaf(tree):
        if isinstance(tree, np.ndarray):
            return np.zeros(tree.shape, tree.dtype) if carries_derivative(tree) else None
        return 0.0 if _is_number(tree) else None
    parts = [(entry, shadow(child)) for entry, child in children(tree)]
    return dict(parts) if _by_key(tree) else [child for _, child in parts]


def as_shadow(tree: Any, bar: Any) -> Any:
    """A cotangent in the structure of a tree as a shadow, which holds the cotangent's own leaves."""
    if is_leaf(tree):
        return bar if carries_derivative(tree) else shadow(tree)
    bars = dict(children(bar))
    parts = [(entry, as_shadow(child, bars[entry])) for entry, child in children(tree)]
    return dict(parts) if _by_key(tree) else [child for _, child in parts]


def accumulate(into: Any, index: Any, bar: Any) -> None:
    """Add a cotangent to one part of a shadow: `into[index] += bar`.

    What carries no derivative stays None. A slice of a list, or a part that is a shadow itself, takes a cotangent of
    its own structure.
    """
    if isinstance(into, list) and isinstance(index, slice):
        for position, part in zip(range(*index.indices(len(into))), bar):
            into[position] = add(into[position], part)
    else:
        into[index] = add(into[index], bar)


def add(into: Any, bar: Any) -> Any:
    """The sum of a shadow and a cotangent of its structure, in place where the shadow can be written."""
    if into is None or bar is None:
        return into
    if isinstance(into, dict):
        for key, part in bar.items():
            into[key] = add(into[key], part)
    elif isinstance(into, list):
        for position, part in enumerate(bar):
            into[position] = add(into[position], part)
    elif isinstance(into, np.ndarray) and (into.dtype.kind == "c" or not np.iscomplexobj(bar)):
        into[...] += bar
    else:
        # A real buffer takes complex contributions too, whose imaginary parts may cancel: cut at the end.
        into = into + bar
    return into


def filled(bar: Any, tree: Any) -> Any:
    """A cotangent or shadow of a value; zeros in its structure where it is None, which stands for zero.

    >>> filled(None, [1.0, 2.0]), filled([0.5, 1.5], [1.0, 2.0])
    ([0.0, 0.0], [0.5, 1.5])
    """
    if bar is None:
        return shadow(tree)
    if isinstance(tree, np.ndarray) and np.shape(bar) != tree.shape:
        return np.broadcast_to(bar, tree.shape)
    return bar


def summed(one: Any, other: Any) -> Any:
    """The sum of two cotangents or shadows of one structure, in new memory; None stands for zero.

    >>> summed([1.0], [2.0]), summed(None, [2.0]), summed(None, None)
    ([3.0], [2.0], None)
    """
    if one is None:
        return None if other is None else add(shadow(other), other)
    total = add(shadow(one), one) if not isinstance(one, np.ndarray) else one
    if isinstance(total, np.ndarray):
        return np.array(total) if other is None else total + other
    return add(total, other)


def unshadow(tree: Any, tree_bar: Any) -> Any:
    """The gradient in the structure of the argument, from its shadow.

    Leaves that carry no derivative come back unchanged (arrays as copies). The others have the dtype of the argument's
    leaf, share memory with nothing, and are writable.
    """
    return _unshadow(tree, tree_bar, {id(leaf) for leaf in leaves(tree)})


def _unshadow(tree: Any, bar: Any, taken: set[int]) -> Any:
    if is_leaf(tree):
        if not carries_derivative(tree):
            return tree.copy() if isinstance(tree, np.ndarray) else tree
        return _own(as_gradient(tree, bar), taken)
    parts, build = _one_level(tree)
    bars = bar if _by_key(tree) else dict(enumerate(bar))
    return build([_unshadow(child, bars[key], taken) for key, child in _keyed(tree, parts)])


def as_gradient(leaf: Any, bar: Any) -> Any:
    """A cotangent as the gradient by a number or array: in its dtype and shape, real where it is real."""
    dtype = leaf.dtype if isinstance(leaf, (np.ndarray, np.generic)) else np.dtype(type(leaf))
    if dtype.kind == "f" and np.iscomplexobj(bar):
        bar = bar.real
    if isinstance(leaf, np.ndarray):
        bar = np.asarray(bar, dtype)
        return bar if bar.shape == leaf.shape else np.broadcast_to(bar, leaf.shape)
    number = bar.item() if isinstance(bar, (np.ndarray, np.generic)) else bar
    return type(leaf)(number)


def _own(bar: Any, taken: set[int]) -> Any:
    """A gradient that is nobody else's memory; `taken` holds the ids of arrays given out before."""
    if not isinstance(bar, np.ndarray):
        return bar
    if bar.base is not None or id(bar) in taken or not bar.flags.writeable:
        bar = bar.copy()
    taken.add(id(bar))
    return bar


def _by_key(tree: Any) -> bool:
    return isinstance(tree, dict) or is_record(tree)


def _keyed(tree: Any, parts: list[tuple[Hashable, Any]]) -> Iterable[tuple[Hashable, Any]]:
    return parts if _by_key(tree) else enumerate(child for _, child in parts)


def add_tangents(a: Any, b: Any) -> Any:
    """The sum of two tangents of one sequence of results."""
    if isinstance(a, (list, tuple)):
        return type(a)(map(add_tangents, a, b))
    return a + b


def zero_tangent(tree: Any) -> Any:
    """The tangent of what does not change: a tree like another, with zeros for its numbers and arrays, integers too."""
    return map(_zero_like, tree)


def _zero_like(leaf: Any) -> Any:
    if isinstance(leaf, np.ndarray):
        return np.zeros(leaf.shape, leaf.dtype if carries_derivative(leaf) else float)
    if carries_derivative(leaf):
        return type(leaf)(0.0)
    return 0.0 if _is_number(leaf) else leaf


def tangent_or_zero(tangent: Any) -> Any:
    """The tangent of an item that may be an integer, whose own is None."""
    return 0.0 if tangent is None else tangent
