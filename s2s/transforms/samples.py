"""Small values that stand for kinds: the kind of a result is found by calling the function on samples.

Arrays have two entries in each dimension (so that products of all ranks fit) and are positive definite in their last
two dimensions (so that factorisations succeed). Results of sampling are cached by function and kinds.
"""

from __future__ import annotations

import functools
import operator
import warnings
from types import FunctionType, MethodDescriptorType, MethodType
from typing import Any

import numpy as np

from s2s import kinds as K
from s2s.kinds import Kind
from s2s.transforms.conduct import draws

# Sizes are made no larger, so that no array in a sample is.
LARGEST = 8


class NoSample(Exception):
    """No value can stand for this kind."""


def sample(kind: Kind) -> Any:
    """A value of the kind. Raises NoSample where nothing is known of it."""
    maker = _MAKERS.get(type(kind))
    if maker is None:
        raise NoSample(kind)
    return maker(kind)


def _array(kind: Any) -> Any:
    shape = (2,) * kind.ndim
    if kind.dtype.kind in "USOMmV":
        return np.zeros(shape, kind.dtype)
    value = np.full(shape, 1 if kind.dtype.kind in "iub" else 0.5)
    if kind.dtype.kind in "fc" and kind.ndim >= 2:
        value = value + np.eye(2)
    array = value.astype(kind.dtype)
    return array if kind.cls is np.ndarray else array.view(kind.cls)


def _scalar(kind: Any) -> Any:
    value = 1.5 if kind.dtype.kind in "fc" else 1
    return kind.dtype.type(value).item() if kind.python else kind.dtype.type(value)


def _record(kind: Any) -> Any:
    value = object.__new__(kind.cls)
    for field_name, inner in kind.fields:
        object.__setattr__(value, field_name, sample(inner))
    return value


def _tuple(kind: Any) -> Any:
    items = tuple(sample(item) for item in kind.items)
    return items if kind.cls is tuple else kind.cls(*items)


def _generator(cls: type) -> Any:
    """A generator of random numbers that is nobody's."""
    return np.random.RandomState(0) if issubclass(cls, np.random.RandomState) else np.random.default_rng(0)


_MAKERS: dict[type, Any] = {
    K.Int: lambda k: 1 if k.value is None else min(k.value, LARGEST),
    K.Bool: lambda k: True if k.value is None else k.value,
    K.Str: lambda k: "a" if k.value is None else k.value,
    K.NoneKind: lambda k: None,
    K.Scalar: _scalar,
    K.Array: _array,
    K.Tuple: _tuple,
    K.List: lambda k: [sample(item) for item in k.items],
    K.Sequence: lambda k: k.cls([sample(k.item)] * 2),
    K.Dict: lambda k: {key: sample(item) for key, item in k.items},
    K.Record: _record,
    K.Range: lambda k: range(2),
    K.Slice: lambda k: slice(None),
    K.Static: lambda k: k.value,
    K.Object: lambda k: _generator(k.cls),
}


_cache: dict[Any, Kind] = {}


def result_kind(function: Any, args: tuple[Kind, ...], keywords: tuple[tuple[str, Kind], ...] = ()) -> Kind:
    """The kind of `function(*args, **keywords)`, by example; UNKNOWN where the example fails."""
    key = (id(function), args, keywords)
    found = _cache.get(key)
    if found is None:
        found = _cache[key] = _try(function, args, keywords)
        _alive.append(function)  # its id must not be given to another function
    return found


_alive: list[Any] = []


def _try(function: Any, args: tuple[Kind, ...], keywords: tuple[tuple[str, Kind], ...]) -> Kind:
    """The result's kind; for numbers of unknown dimensions, what a number and a vector have in common."""
    results = []
    for ndim in (None, 1) if any(isinstance(k, K.Numeric) for k in args) else (None,):
        substitutes = tuple(_standing_for(k, ndim) for k in args)
        results.append(_try_once(function, substitutes, keywords))
    return K.join(results[0], results[-1])


def _standing_for(kind: Kind, ndim: int | None) -> Kind:
    if not isinstance(kind, K.Numeric):
        return kind
    return K.Scalar(kind.dtype) if ndim is None else K.Array(kind.dtype, ndim)


def _try_once(function: Any, args: tuple[Kind, ...], keywords: tuple[tuple[str, Kind], ...]) -> Kind:
    if any(isinstance(k, K.Static) and isinstance(k.value, (FunctionType, MethodType)) for k in args):
        return K.UNKNOWN  # a function of the user's may do anything
    try:
        values = [sample(kind) for kind in args]
        named = {name: sample(kind) for name, kind in keywords}
        owner = getattr(function, "__self__", None)
        if owner is not None and draws(function):
            # The generator behind `np.random.rand` is the user's, and is not to move.
            function = getattr(_generator(type(owner)), function.__name__)
        if isinstance(function, MethodDescriptorType) and values and isinstance(values[0], np.generic):
            # The methods of NumPy's scalars are looked up among those of arrays.
            function, values = getattr(values[0], function.__name__), values[1:]
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return _result(function, K.of(function(*values, **named)))
    except Exception:  # any failure means that the example says nothing
        return K.UNKNOWN


# How many items these give depends on sizes, of which a sample says nothing.
_VARIABLE = {tuple, operator.mul, *(getattr(np, name) for name in ("unstack", "split") if hasattr(np, name))}


def _result(function: Any, kind: Kind) -> Kind:
    """A result's kind; the number of its items counts only where it is not that of the sample."""
    if isinstance(kind, K.List):
        return K.Sequence(_joined(kind.items), list)
    if isinstance(kind, K.Tuple) and function in _VARIABLE:
        return K.Sequence(_joined(kind.items), tuple)
    return kind


def _joined(kinds: tuple[Kind, ...]) -> Kind:
    found = [_result(list, kind) for kind in kinds] or [K.UNKNOWN]
    return functools.reduce(K.join, found)
