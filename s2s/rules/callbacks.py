"""NumPy's functions that call the user's, written out in Python: they are looked into as functions of the user's are.

A compiled function has them inlined, with what they call; a record goes through them.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

F = TypeVar("F", bound=Callable[..., Any])

_WRITTEN: dict[Any, Any] = {}


def written(function: Any) -> Any:
    """What stands for a function of NumPy's that calls others; None for any other function.

    >>> written(np.apply_along_axis) is apply_along_axis, written(np.sum)
    (True, None)
    """
    try:
        return _WRITTEN.get(function)
    except TypeError:  # unhashable
        return None


def writes_out(function: Any) -> Callable[[F], F]:
    """The body does what the function does."""

    def register(body: F) -> F:
        _WRITTEN[function] = body
        return body

    return register


@writes_out(np.apply_along_axis)
def apply_along_axis(func1d, axis, arr, *args, **kwargs):
    rows = np.moveaxis(arr, axis, -1)
    others, size = np.shape(rows)[:-1], np.shape(rows)[-1]
    results = [func1d(row, *args, **kwargs) for row in np.reshape(rows, (-1, size))]
    made = np.stack(results)
    made = np.reshape(made, others + np.shape(made)[1:])
    first, inner = axis % np.ndim(arr), np.ndim(made) - len(others)
    if inner == 0:
        return made
    return np.moveaxis(made, range(len(others), len(others) + inner), range(first, first + inner))


@writes_out(np.apply_over_axes)
def apply_over_axes(func, a, axes):
    for axis in np.ravel(axes).tolist():
        along = axis % np.ndim(a)
        reduced = func(a, along)
        a = reduced if np.ndim(reduced) == np.ndim(a) else np.expand_dims(reduced, along)
    return a


@writes_out(np.piecewise)
def piecewise(x, condlist, funclist, *args, **kw):
    conditions = condlist if np.ndim(condlist) == np.ndim(x) + 1 else [condlist]
    if len(funclist) == len(conditions) + 1:
        conditions = [*conditions, np.logical_not(np.any(np.stack(conditions), axis=0))]
    y = np.zeros_like(x)
    for condition, function in zip(conditions, funclist):
        if callable(function):
            chosen = x[condition]
            if np.size(chosen) > 0:
                y[condition] = function(chosen, *args, **kw)
        else:
            y[condition] = function
    return y
