"""Stand-ins for what NumPy has besides functions with rules: `np.r_`, `np.c_`, `np.vectorize`, and iterators.

They take recorded values by parts that have rules, with the dtypes and the calls of NumPy's own: `np.r_[x, 0.0]` is a
concatenation, `np.vectorize(f)(x)` an array of the results of `f`.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from s2s.autograd.dispatch import apply, missing
from s2s.autograd.drawing import Drawing
from s2s.autograd.nodes import plain
from s2s.autograd.proxies import TYPES, TypeProxy, has_value, values_within
from s2s.autograd.refusals import noted
from s2s.autograd.value import ndarray
from s2s.kinds import is_random_generator
from s2s.rules.callbacks import written


def _is_active(tree: Any) -> bool:
    return any(value.parent() is not None for value in values_within(tree))


def _call(function: Any, *args: Any) -> Any:
    return apply(function, args) if has_value(args) else function(*args)


def _array_of(items: list[Any], like: ndarray, function: Any) -> Any:
    """Values as an array of the dtype and shape of what NumPy makes of their data."""
    if like.dtype.kind not in "fc":
        if _is_active(items):
            raise missing(function)
        return like
    return _call(np.ndarray.reshape, _call(np.ndarray.astype, _call(np.array, items), like.dtype), like.shape)


# --- np.r_ and np.c_ --------------------------------------------------------------------------------------------


class Joiner:
    """`np.r_` or `np.c_`: what stands between the brackets is joined along the first or the last axis."""

    def __init__(self, original: Any, columns: bool) -> None:
        self._original = original
        self._columns = columns

    def __getitem__(self, key: Any) -> Any:
        items = key if isinstance(key, tuple) else (key,)
        bounds = [[item.start, item.stop, item.step] for item in items if isinstance(item, slice)]
        if not has_value([items, bounds]):
            return self._original[key]
        if has_value(bounds) or any(isinstance(item, str) for item in items):
            message = (
                f"np.{'c_' if self._columns else 'r_'} takes recorded values beside numbers, arrays and slices of "
                "plain numbers only: use np.concatenate, np.stack or np.linspace"
            )
            raise noted(TypeError(message))
        joined = self._original[tuple(map(plain, items))]
        parts = [_call(np.ndarray.astype, self._part(item), joined.dtype) for item in items]
        return apply(np.concatenate, (parts, -1 if self._columns else 0))

    def _part(self, item: Any) -> Any:
        if isinstance(item, slice):
            return self._original[item]
        array = _call(np.atleast_1d, _call(np.array, item) if isinstance(item, (list, tuple)) else item)
        return _call(np.ndarray.reshape, array, (-1, 1)) if self._columns and np.ndim(plain(array)) == 1 else array

    def __getattr__(self, name: str) -> Any:
        return getattr(self._original, name)

    def __repr__(self) -> str:
        return repr(self._original)


# --- np.vectorize -----------------------------------------------------------------------------------------------


class Vectorized:
    """An `np.vectorize` object over a function that takes recorded values."""

    def __init__(self, original: Any, counterpart: Callable[[Any], Any] = lambda function: function) -> None:
        self._original = original
        self._counterpart = counterpart

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        original = self._original
        if not callable(original.pyfunc):  # a decorator with options, which gets its function now
            return Vectorized(original(*args, **kwargs), self._counterpart)
        if not has_value(args) and not has_value(kwargs):
            return original(*args, **kwargs)
        shape = np.broadcast_shapes(*(np.shape(plain(a)) for a in args))
        several = original.signature is not None or len(original.otypes or "") > 1
        if kwargs or original.excluded or several or 0 in shape:
            if _is_active((args, kwargs)):
                raise missing(np.vectorize)
            return original(*plain(list(args)), **plain(kwargs))
        places = list(np.ndindex(shape))
        function = self._counterpart(original.pyfunc)
        # a first call tells what it returns; it takes NumPy's numbers, later ones Python's
        first = [] if original.otypes else [function(*(_element(a, shape, places[0]) for a in args))]
        outputs = first if original.cache else []
        outputs = outputs + [function(*(_number(a, shape, i) for a in args)) for i in places[len(outputs) :]]
        if isinstance(outputs[0], tuple):
            raise missing(np.vectorize)
        dtype = np.asarray(plain(first[0])).dtype if first else np.dtype(original.otypes[0])
        return _array_of(outputs, np.empty(shape, dtype), np.vectorize)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._original, name)

    def __repr__(self) -> str:
        return repr(self._original)


def _element(argument: Any, shape: tuple[int, ...], index: tuple[int, ...]) -> Any:
    """The element of an argument that falls upon an index of the broadcast shape."""
    array = plain(argument)
    if not isinstance(array, (ndarray, list, tuple)):
        return argument
    argument = _call(np.array, argument) if isinstance(array, (list, tuple)) else argument
    return (argument if np.shape(array) == shape else _call(np.broadcast_to, argument, shape))[index]


def _number(argument: Any, shape: tuple[int, ...], index: tuple[int, ...]) -> Any:
    """The same as Python's number; what was a number, or stands in a list, stays as it is."""
    if isinstance(argument, (list, tuple)) and np.shape(plain(argument)) == shape:
        return functools.reduce(operator.getitem, index, argument)
    element = _element(argument, shape, index)
    return element if element is argument or not hasattr(element, "item") else element.item()


class _VectorizeType(TypeProxy):
    """`np.vectorize` itself."""

    __slots__ = ()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return Vectorized(self._type(*args, **kwargs))


class _GeneratorType(TypeProxy):
    """`np.random.Generator`, `np.random.RandomState`."""

    __slots__ = ()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return Drawing(self._type(*plain(list(args)), **plain(kwargs)))


@functools.cache
def _generator_type(cls: type) -> Any:
    return _GeneratorType(cls, lambda cls, *args: cls(*args))


# --- iterators --------------------------------------------------------------------------------------------------


def from_iterator(iterable: Iterable[Any], dtype: Any, count: int = -1, **options: Any) -> Any:
    """`np.fromiter`."""
    items = list(itertools.islice(iterable, count if count >= 0 else None))
    made = np.fromiter(plain(items), plain(dtype), count, **options)
    return _array_of(items, made, np.fromiter) if has_value(items) else made


def _enumerated(cls: type, array: Any) -> Iterator[tuple[tuple[int, ...], Any]]:
    return ((index, array[index]) for index in np.ndindex(np.shape(plain(array))))


def _iterated(cls: type, *args: Any, **kwargs: Any) -> Any:
    if _is_active((args, kwargs)):
        message = (
            "np.nditer reads arrays in memory, where values that carry a gradient are not: loop over x.flat, or over "
            "np.ndindex(x.shape)"
        )
        raise noted(TypeError(message))
    return cls(*_frozen(plain(list(args))), **_frozen(plain(kwargs)))


def _frozen(tree: Any) -> Any:
    """Copies of the arrays, into which nothing is written: writes into their memory are not recorded."""
    if isinstance(tree, dict):
        return {name: _frozen(value) for name, value in tree.items()}
    if isinstance(tree, (list, tuple)):
        return type(tree)(map(_frozen, tree))
    if type(tree) is not np.ndarray:
        return tree
    copied = tree.copy()
    copied.flags.writeable = False
    return copied


TYPES[np.vectorize] = _VectorizeType(np.vectorize, lambda cls, *args: cls(*args))
TYPES[np.ndenumerate] = TypeProxy(np.ndenumerate, _enumerated)
TYPES[np.nditer] = TypeProxy(np.nditer, _iterated)

_STANDINS = [
    (np.r_, Joiner(np.r_, columns=False)),
    (np.c_, Joiner(np.c_, columns=True)),
    (np.fromiter, from_iterator),
]


def of_type(cls: type) -> Any:
    """What takes the place of a type."""
    return _generator_type(cls) if is_random_generator(cls) else TYPES.get(cls, cls)


def standin(value: Any, counterpart: Callable[[Any], Any]) -> Any:
    """What takes the place of one of NumPy's objects; None for any other."""
    if isinstance(value, np.vectorize):
        return Vectorized(value, counterpart)
    if is_random_generator(type(value)):
        return Drawing(value)
    ours = written(value)
    if ours is not None:
        return counterpart(ours)
    return next((made for original, made in _STANDINS if original is value), None)
