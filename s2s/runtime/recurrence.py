"""Running products and the linear recurrence behind their derivatives, along the last axis and without a division.

The derivative of `cumprod` by one factor is a product of all the others, which a division by that factor would give
only where it is not zero. The recurrence y[k] = b[k] + x[k] * y[k-1] gives it always, and its own derivative is the
same recurrence run backwards: so all orders follow.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np


def recurrence(b: Any, x: Any) -> Any:
    """y with y[k] = b[k] + x[k] * y[k - 1], along the last axis."""
    for value in (b, x):
        record = getattr(type(value), "__s2s_function__", None)
        if record is not None:
            return record(value, recurrence, (type(value),), (b, x), {})
    y = np.array(b, dtype=np.result_type(b, x))
    for k in range(1, y.shape[-1]):
        y[..., k] += x[..., k] * y[..., k - 1]
    return y


def reverse_recurrence(b: Any, x: Any) -> Any:
    """y with y[k] = b[k] + x[k + 1] * y[k + 1], along the last axis: the transpose of `recurrence` in b."""
    return np.flip(recurrence(np.flip(b, -1), previous(np.flip(x, -1), 0)), -1)


def previous(x: Any, first: Any) -> Any:
    """The elements moved on by one along the last axis, with `first` at the start and the last one gone."""
    return np.concatenate([np.full_like(x[..., :1], first), x[..., :-1]], axis=-1)


def products_before(x: Any) -> Any:
    """The product of all elements before each one, along the last axis."""
    return previous(np.cumprod(x, axis=-1), 1)


def product_of_rest(a: Any, axis: int | Sequence[int] | None) -> Any:
    """The product of all elements but the one itself, for each element, over `axis`."""
    if np.ndim(a) == 0:
        return np.ones_like(a)[()]
    axes = list(range(a.ndim)) if axis is None else ([axis] if isinstance(axis, int) else list(axis))
    last = list(range(-len(axes), 0))
    moved = np.moveaxis(a, axes, last)
    kept = moved.shape[: a.ndim - len(axes)]
    rows = np.reshape(moved, (*kept, math.prod(moved.shape[a.ndim - len(axes) :])))
    rest = products_before(rows) * np.flip(products_before(np.flip(rows, -1)), -1)
    return np.moveaxis(np.reshape(rest, moved.shape), last, axes)
