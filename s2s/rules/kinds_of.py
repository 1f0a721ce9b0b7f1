"""Kinds of results that sample values do not tell: those that depend on values, as the ndim of `reshape(x, shape)`.

Each function takes the kinds of a rule's parameters, in order, and says `UNKNOWN` where it does not know.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from s2s import kinds as K
from s2s.kinds import Kind


def numeric(dtype: Any, ndim: int | None) -> Kind:
    """An array of a known or unknown number of dimensions."""
    return K.Numeric(dtype) if ndim is None else K.Array(dtype, ndim)


def common_dtype(*parts: Any) -> Any:
    """The dtype of what is computed of values of these kinds (or dtypes); None where one is not known."""
    dtypes = [K.dtype_of(part) if isinstance(part, Kind) else part for part in parts]
    return None if any(dtype is None for dtype in dtypes) else np.result_type(*dtypes)


def number_or_array(dtype: Any, ndim: int | None) -> Kind:
    """As NumPy returns results: without dimensions they are scalars."""
    return K.Scalar(dtype) if ndim == 0 else numeric(dtype, ndim)


def as_array(kind: Kind) -> Kind:
    """The kind of `np.asarray` of a value."""
    items = K.children(kind) if isinstance(kind, (K.Tuple, K.List, K.Sequence)) else None
    if items is None:
        dtype = K.dtype_of(kind)
        return K.UNKNOWN if dtype is None else numeric(dtype, K.ndim_of(kind))
    arrays = [as_array(item) for item in items]
    if not arrays:
        return K.Array(np.dtype(float), 1)
    if any(not isinstance(a, K.Array) for a in arrays):
        return K.UNKNOWN
    ndims = {a.ndim for a in arrays if isinstance(a, K.Array)}
    dtypes = [a.dtype for a in arrays if isinstance(a, K.Array)]
    return K.Array(np.result_type(*dtypes), ndims.pop() + 1) if len(ndims) == 1 else K.UNKNOWN


def count(kind: Kind) -> int | None:
    """How many axes (or sizes) an int or a tuple of ints names."""
    if isinstance(kind, (K.Int, K.Bool)) or (isinstance(kind, K.Scalar) and kind.dtype.kind in "iu"):
        return 1
    return len(kind.items) if isinstance(kind, (K.Tuple, K.List)) else None


def dtype_named(kind: Kind, otherwise: Any) -> Any:
    """The dtype that an argument `dtype` asks for; None where it is not known."""
    if isinstance(kind, K.NoneKind):
        return otherwise
    if isinstance(kind, K.Static) or (isinstance(kind, K.Str) and kind.value is not None):
        try:
            return np.dtype(kind.value)
        except TypeError:
            return None
    return None


@functools.cache
def result_dtype(function: Any, dtype: Any) -> Any:
    """The dtype of a function's result for an array of `dtype`."""
    return np.asarray(function(np.ones(1, dtype))).dtype


def reduced(function: Any, *, axis: int = 1, keepdims: int, dtype: int | None = None) -> Callable[..., Kind]:
    """The kind of a reduction, whose parameters of these names stand at these positions."""

    def kind(*kinds: Kind) -> Kind:
        a = as_array(kinds[0])
        found = K.dtype_of(a)
        if found is None:
            return K.UNKNOWN
        wanted = dtype_named(kinds[dtype], found) if dtype is not None else found
        if wanted is None:
            return K.UNKNOWN
        keep = kinds[keepdims]
        if not isinstance(keep, K.Bool) or keep.value is None:
            return K.Numeric(result_dtype(function, wanted))
        return number_or_array(result_dtype(function, wanted), _left(K.ndim_of(a), kinds[axis], keep.value))

    return kind


def _left(ndim: int | None, axis: Kind, keep: bool) -> int | None:
    """How many dimensions a reduction leaves."""
    if keep:
        return ndim
    if isinstance(axis, K.NoneKind):
        return 0
    gone = count(axis)
    return None if ndim is None or gone is None else max(ndim - gone, 0)  # a number takes an axis


def running(function: Any) -> Callable[..., Kind]:
    """The kind of `cumsum` and its like: flat without an axis."""

    def kind(a: Kind, axis: Kind, dtype: Kind, out: Kind) -> Kind:
        array = as_array(a)
        found = K.dtype_of(array)
        wanted = None if found is None else dtype_named(dtype, found)
        if wanted is None:
            return K.UNKNOWN
        ndim = 1 if isinstance(axis, K.NoneKind) else K.ndim_of(array)
        return numeric(result_dtype(function, wanted), None if ndim is None else max(ndim, 1))

    return kind


def of_ndim(ndim: Callable[..., int | None]) -> Callable[..., Kind]:
    """The kind of a function that keeps the dtype of its first argument: `ndim(its ndim, *other kinds)` dimensions."""

    def kind(a: Kind, *others: Kind) -> Kind:
        array = as_array(a)
        dtype = K.dtype_of(array)
        return K.UNKNOWN if dtype is None else numeric(dtype, ndim(K.ndim_of(array), *others))

    return kind


def by_method(kind_of: Callable[..., Kind]) -> Callable[..., Kind]:
    """The kind of what NumPy leaves to a method: a NumPy number's gives a number, where a Python number is an array."""

    def kind(a: Kind, *others: Kind) -> Kind:
        found = kind_of(a, *others)
        if isinstance(a, K.Scalar) and not a.python and isinstance(found, K.Array) and found.ndim == 0:
            return K.Numeric(found.dtype)
        return found

    return kind


def computed(kind_of: Callable[..., Kind]) -> Callable[..., Kind]:
    """The kind of a function that gives a number instead of an array without dimensions."""

    def kind(*kinds: Kind) -> Kind:
        found = kind_of(*kinds)
        return number_or_array(found.dtype, found.ndim) if isinstance(found, K.Array) else found

    return kind


same = of_ndim(lambda ndim, *others: ndim)
flat = of_ndim(lambda ndim, *others: 1)
shaped = of_ndim(lambda ndim, shape, *others: count(shape))
