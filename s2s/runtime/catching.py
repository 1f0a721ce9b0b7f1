"""Exceptions as values: what compiled code asks before it does what a `try` of the user's guards.

    error = caught(ZeroDivisionError, operator.truediv, a, b)
    if error is None:
        y = a / b

The functions asked about only compute: that they run once more is seen by nobody.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

Errors = type[BaseException] | tuple[type[BaseException], ...]


def caught(errors: Errors, function: Callable[..., Any], *args: Any, **kwargs: Any) -> BaseException | None:
    """The exception of these classes that a call raises, None if it raises none; any other is raised.

    A call that steps an iterator is not made: the iterator would be spent.

    >>> import operator
    >>> caught(ZeroDivisionError, operator.truediv, 1.0, 0.0)
    ZeroDivisionError('float division by zero')
    """
    if any(isinstance(value, Iterator) for value in (*args, *kwargs.values())):
        return None
    try:
        function(*args, **kwargs)
    except errors as error:
        return error
    return None


def method(name: str, owner: Any, *args: Any, **kwargs: Any) -> Any:
    """The method of a value, called."""
    return getattr(owner, name)(*args, **kwargs)


def store(owner: Any, index: Any, value: Any) -> None:
    """`owner[index] = value` on a copy: raises what the assignment raises, and changes nothing."""
    if isinstance(owner, np.ndarray):
        part = owner[index]
        room = np.empty(np.shape(part), owner.dtype)
        room[...] = value
    elif isinstance(owner, (list, dict)):
        owner.copy()[index] = value


def augment(function: Callable[[Any, Any], Any], target: Any, value: Any) -> Any:
    """What an in-place operation makes of a copy of its target."""
    if isinstance(target, (np.ndarray, list, dict, set)):
        return function(target.copy(), value)
    return function(copy.deepcopy(target), value)  # which is itself, but for objects of other classes


def augment_item(function: Callable[[Any, Any], Any], owner: Any, index: Any, value: Any) -> None:
    """`owner[index] += value` on copies of the owner and of the item."""
    store(owner, index, augment(function, owner[index], value))


def unpack(value: Any, count: int) -> None:
    """`a, b = value`, for so many names: raises what the assignment raises."""
    items = iter(value)
    found = sum(1 for _ in itertools.islice(items, count))
    if found < count:
        raise ValueError(f"not enough values to unpack (expected {count}, got {found})")
    if next(items, items) is not items:
        raise ValueError(f"too many values to unpack (expected {count})")


def raised(error: Any, cause: Any = None, handled: BaseException | None = None) -> BaseException:
    """The exception that `raise error from cause` raises, while another one is handled.

    >>> raised(ValueError)
    ValueError()
    """
    if isinstance(error, type) and issubclass(error, BaseException):
        error = error()
    if not isinstance(error, BaseException):
        return TypeError("exceptions must derive from BaseException")
    if cause is not None:
        error.__cause__ = cause() if isinstance(cause, type) else cause
    if handled is not None and handled is not error:
        error.__context__ = handled
    return error
