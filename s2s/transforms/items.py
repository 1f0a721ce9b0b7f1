"""The kinds of the items of containers and iterators, and the values of kinds that tell them."""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import gast

from s2s import kinds as K
from s2s.core import MISSING
from s2s.kinds import Kind
from s2s.transforms.samples import result_kind


def literal(kind: Kind) -> Any:
    """The value of a kind whose value is known, else MISSING."""
    if isinstance(kind, (K.Int, K.Bool, K.Str)):
        return MISSING if kind.value is None else kind.value
    if isinstance(kind, K.Static):
        return kind.value
    return None if isinstance(kind, K.NoneKind) else MISSING


def entry_kind(owner: Kind, index: Kind) -> Kind:
    """The kind of one item of a container; NEVER where there is none."""
    inner = K.children(owner) or ()
    if isinstance(owner, K.Dict):
        key = literal(index)
        return dict(owner.items).get(key, K.UNKNOWN) if key is not MISSING else joined(inner)
    if not isinstance(index, K.Int):
        return K.UNKNOWN
    if index.value is None or not isinstance(owner, (K.Tuple, K.List)):
        return K.joined(inner)
    return inner[index.value] if -len(inner) <= index.value < len(inner) else K.UNKNOWN


def slice_kind(owner: Kind, bounds: Sequence[Kind]) -> Kind:
    """The kind of a slice of a list or tuple."""
    known = [literal(b) for b in bounds]
    if isinstance(owner, (K.Tuple, K.List)) and MISSING not in known:
        part = owner.items[slice(*known)]
        return K.Tuple(part) if isinstance(owner, K.Tuple) else K.List(part)
    if isinstance(owner, (K.Tuple, K.List, K.Sequence)):
        is_list = isinstance(owner, K.List) or (isinstance(owner, K.Sequence) and owner.cls is list)
        return K.Sequence(joined(K.children(owner) or ()), list if is_list else tuple)
    return K.UNKNOWN


def iterator_kind(function: Any, args: tuple[Kind, ...]) -> Kind:
    """The kind of `zip(...)`, `enumerate(...)` or `reversed(...)`."""
    if not args:
        return K.UNKNOWN if function is not zip else K.Iterator(K.UNKNOWN)
    if function is enumerate:
        start = args[1] if len(args) > 1 else K.Int(0)
        return K.Iterator(K.Tuple((K.Int() if isinstance(start, (K.Int, K.Bool)) else K.UNKNOWN, item_kind(args[0]))))
    items = tuple(item_kind(a) for a in args)
    return K.Iterator(items[0] if function is reversed else K.Tuple(items))


def chosen_kind(args: tuple[Kind, ...], keywords: dict[str | None, Kind]) -> Kind:
    """The kind of what `max` or `min` chooses: any of the arguments, or of the items of the only one."""
    choices = [item_kind(args[0])] if len(args) == 1 else list(args)
    if "default" in keywords:
        choices.append(keywords["default"])
    return joined(choices)


def view_kind(owner: Kind, method: str) -> Kind | None:
    """The kind of `d.items()`, `d.values()` or `d.keys()` of a dict with known keys: what a loop over it gives."""
    if not isinstance(owner, K.Dict) or method not in ("items", "values", "keys"):
        return None
    keys, values = joined([K.of_literal(k) for k, _ in owner.items]), joined([v for _, v in owner.items])
    return K.Iterator({"items": K.Tuple((keys, values)), "values": values, "keys": keys}[method])


def joined(kinds: Sequence[Kind]) -> Kind:
    """The join of several kinds; UNKNOWN of none."""
    return functools.reduce(K.join, kinds) if kinds else K.UNKNOWN


def item_kind(kind: Kind) -> Kind:
    """The kind of what a loop over a value of `kind` gives."""
    if isinstance(kind, K.Range):
        return K.Int()
    if isinstance(kind, K.Iterator):
        return kind.item
    if isinstance(kind, K.Array):
        return result_kind(operator.getitem, (kind, K.Int())) if kind.ndim else K.UNKNOWN
    if isinstance(kind, (K.Tuple, K.List, K.Sequence)):
        return joined(K.children(kind) or ())
    if isinstance(kind, K.Dict):
        return joined([K.of(key) for key, _ in kind.items])
    return K.Str() if isinstance(kind, K.Str) else K.UNKNOWN


def displayed(cls: type, elements: Sequence[Any], kind: Callable[[Any], Kind]) -> Kind:
    """The kind of a list or tuple that is written out, maybe with `*`."""
    spread = [e for e in elements if isinstance(e, gast.Starred)]
    if all(isinstance(kind(e.value), (K.Tuple, K.List)) for e in spread):
        inner = [K.children(kind(e.value)) or () if isinstance(e, gast.Starred) else (kind(e),) for e in elements]
        items = tuple(itertools.chain(*inner))
        return K.Tuple(items) if cls is tuple else K.List(items)
    items = tuple(item_kind(kind(e.value)) if isinstance(e, gast.Starred) else kind(e) for e in elements)
    return K.Sequence(K.joined(items), cls)


def lengthened(owner: Kind, *items: Kind) -> Kind:
    """The kind of a list that gets longer or shorter, and holds these items too; of a dict, nothing is known."""
    if isinstance(owner, K.Dict):
        return K.UNKNOWN
    return K.Sequence(K.joined([*(K.children(owner) or ()), *items]), list)


def unpacked(kind: Kind, targets: Sequence[Any]) -> list[Kind]:
    """The kinds that the targets of an unpacking get."""
    starred = [i for i, t in enumerate(targets) if isinstance(t, gast.Starred)]
    items = K.children(kind) if isinstance(kind, (K.Tuple, K.List)) else None
    if items is not None and not starred and len(items) == len(targets):
        return list(items)
    if items is not None and starred and len(items) >= len(targets) - 1:
        (at,) = starred
        after = len(targets) - at - 1
        middle = K.List(items[at : len(items) - after])
        return [*items[:at], middle, *items[len(items) - after :]]
    if starred:
        return [K.Sequence(item_kind(kind)) if i in starred else item_kind(kind) for i in range(len(targets))]
    return [item_kind(kind)] * len(targets)
