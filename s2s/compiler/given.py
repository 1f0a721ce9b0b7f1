"""What a call gives: its arguments by parameter, their kinds as a key, and what is to be known of them beforehand."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from s2s import kinds as K
from s2s.autograd.record import contains_variable
from s2s.codegen.build import annotate
from s2s.compiler.dispatch import dispatcher
from s2s.compiler.guards import Bindings, interchangeable
from s2s.compiler.layout import Layout
from s2s.errors import ArgumentError
from s2s.kinds import Kind
from s2s.runtime import pytree
from s2s.runtime.stores import private

Values = dict[str, Any]


def bound_values(
    function: types.FunctionType, layout: Layout, args: tuple[Any, ...], keywords: Mapping[str, Any]
) -> Values:
    """The arguments of a call by parameter, bound as Python binds them."""

    def values(values: tuple[Any, ...], seed: Any) -> tuple[Any, ...]:
        return values

    binder = dispatcher(function, layout, [], Bindings(), values, values, annotate)
    return dict(zip(layout.names, binder(*args, **keywords)))


def key_of(kinds: Mapping[str, Kind]) -> Any:
    """Kinds as a key: those of functions made anew as the kinds of all that take their place."""
    return tuple((name, interchangeable(kind)) for name, kind in kinds.items())


def passed_functions(values: Values) -> tuple[Kind, ...]:
    """The functions among the arguments, as far as they are known."""
    return tuple(interchangeable(K.Static(v)) for v in values.values() if isinstance(v, types.FunctionType))


def kept(values: Values) -> Values:
    """The arguments with copies of their arrays, laid out in memory as they are; what is one array stays one.

    A program that is run later, or of which a part is, reads what the arguments held.
    """
    copies: dict[int, Any] = {}

    def copy(leaf: Any) -> Any:
        if type(leaf) not in (np.ndarray, np.memmap):
            return leaf
        if id(leaf) not in copies:
            copies[id(leaf)] = private(leaf)
        return copies[id(leaf)]

    return {name: pytree.map(copy, value) for name, value in values.items()}


def is_recording(values: list[Any]) -> bool:
    """Whether a Variable is among some values."""
    try:
        return contains_variable(values)
    except RecursionError:
        raise ArgumentError("an argument contains itself, or is nested too deeply") from None


def general(kind: Kind) -> Kind:
    """A kind that covers lists and tuples of any length, where their items are alike."""
    if isinstance(kind, (K.Tuple, K.List)):
        items = tuple(general(item) for item in kind.items)
        cls = kind.cls if isinstance(kind, K.Tuple) else list
        if items and cls in (tuple, list) and all(item == items[0] for item in items):
            return K.Sequence(items[0], cls)
        return replace(kind, items=items)
    if isinstance(kind, K.Dict):
        return K.Dict(tuple((key, general(item)) for key, item in kind.items))
    return kind
