"""The order of values, as positions: what compiled `sorted(...)` and `max(..., key=...)` ask before they read items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def sorting(keys: Sequence[Any], reverse: Any = False) -> list[int]:
    """The positions of values in the order in which `sorted` puts them.

    >>> sorting([3.0, 1.0, 2.0])
    [1, 2, 0]
    """
    return sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse)


def first_largest(keys: Sequence[Any]) -> int:
    """The position of the value that `max` takes; it raises what `max` raises where there is none."""
    return max(range(len(keys)), key=keys.__getitem__) if len(keys) else max(())


def first_smallest(keys: Sequence[Any]) -> int:
    """The position of the value that `min` takes."""
    return min(range(len(keys)), key=keys.__getitem__) if len(keys) else min(())


def position(items: list[Any], value: Any) -> int:
    """The position of the first item that equals a value; raises what `items.remove(value)` raises where there is none.

    >>> position([2, 0, 1], 0)
    1
    """
    for i, item in enumerate(items):
        if item is value or item == value:
            return i
    [].remove(value)
    raise AssertionError


def is_indexed(value: Any) -> bool:
    """Whether a loop over a value gives its items by position: `value[0]`, `value[1]`, ..."""
    return isinstance(value, (list, tuple, range, str)) or (isinstance(value, np.ndarray) and value.ndim > 0)


def require_equal_lengths(*values: Any) -> None:
    """Raise what `zip(..., strict=True)` raises where lengths differ.

    >>> require_equal_lengths([1, 2], [1])
    Traceback (most recent call last):
    ValueError: zip() argument 2 is shorter than argument 1
    """
    for i, value in enumerate(values[1:], 2):
        if len(value) != len(values[0]):
            how = "shorter" if len(value) < len(values[0]) else "longer"
            before = "argument 1" if i == 2 else f"arguments 1-{i - 1}"
            raise ValueError(f"zip() argument {i} is {how} than {before}")


def require_items(items: Any, least: int) -> None:
    """Raise what `a, *b = items` raises where there are too few items.

    >>> require_items([1], 2)
    Traceback (most recent call last):
    ValueError: not enough values to unpack (expected at least 2, got 1)
    """
    if len(items) < least:
        raise ValueError(f"not enough values to unpack (expected at least {least}, got {len(items)})")
