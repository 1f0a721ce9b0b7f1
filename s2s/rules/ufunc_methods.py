"""The methods of NumPy's binary functions: `reduce`, `accumulate`, `reduceat` and `outer`.

Those of sums, products and extrema are known by other names; the rest are what they say, one operation after another.
"""

from typing import Any

import numpy as np

from s2s import kinds as K
from s2s.errors import MissingRuleError
from s2s.rules.composites import median_shapes
from s2s.rules.kinds_of import reduced, running
from s2s.rules.registry import decompose, zero_derivative

REDUCTIONS: dict[Any, Any] = {np.add: np.sum, np.multiply: np.prod}
EXTREMA: dict[Any, Any] = {np.maximum: np.max, np.minimum: np.min}
ACCUMULATIONS: dict[Any, Any] = {np.add: np.cumsum, np.multiply: np.cumprod}
# Others whose values may be combined one after another.
FOLDED: tuple[Any, ...] = (
    np.subtract, np.divide, np.power, np.float_power, np.logaddexp, np.logaddexp2, np.hypot, np.fmax, np.fmin,
    np.maximum, np.minimum, np.arctan2, np.copysign, np.remainder, np.fmod, np.heaviside,
)  # fmt: skip


def whole(where, ufunc):
    """Refuse masks of reductions that are not sums, products or extrema."""
    if where is not True:
        raise MissingRuleError(f"`where=` of {ufunc.__name__}.reduce has no derivative")


def segments(indices, size):
    """Where the parts of `reduceat` begin and end."""
    ends = np.append(indices[1:], size)
    return np.stack([indices, np.where(ends > indices, ends, np.add(indices, 1))])


zero_derivative(whole)
zero_derivative(segments, kind=lambda indices, size: K.Array(np.dtype(int), 2))


def register_reduction(ufunc, function):
    """`ufunc.reduce` as another function, that knows masks and initial values."""
    neutral = ufunc.identity

    @decompose(ufunc.reduce, kind=reduced(ufunc.reduce, dtype=2, keepdims=4))
    def reduction(array, axis=0, dtype=None, out=None, keepdims=False, initial=neutral, where=True):
        return function(array, axis=axis, keepdims=keepdims, initial=initial, where=where)


def register_extremum(ufunc, function):
    """The same for extrema, which have no neutral element."""

    @decompose(ufunc.reduce, kind=reduced(ufunc.reduce, dtype=2, keepdims=4))
    def extremum(array, axis=0, dtype=None, out=None, keepdims=False, initial=None, where=True):
        if initial is None:
            return function(array, axis=axis, keepdims=keepdims)
        return function(array, axis=axis, keepdims=keepdims, initial=initial, where=where)


def register_fold(ufunc):
    """`ufunc.reduce` as one operation after another."""
    neutral = ufunc.identity

    @decompose(ufunc.reduce, kind=reduced(ufunc.reduce, dtype=2, keepdims=4))
    def fold(array, axis=0, dtype=None, out=None, keepdims=False, initial=neutral, where=True):
        whole(where, ufunc)
        order, shape, kept = median_shapes(np.shape(array), axis)
        rows = np.reshape(np.transpose(array, order), shape)
        if initial is None:
            value = rows[..., 0]
            rows = rows[..., 1:]
        else:
            value = initial + np.zeros_like(rows, shape=shape[:-1])
        for i in range(np.shape(rows)[-1]):
            value = ufunc(value, rows[..., i])
        if keepdims:
            return np.reshape(value, kept)
        return value


def register_accumulation(ufunc, function):
    """`ufunc.accumulate` as another function."""

    @decompose(ufunc.accumulate, kind=running(function))
    def accumulation(array, axis=0, dtype=None, out=None):
        return function(array, axis=axis)


def register_steps(ufunc):
    """`ufunc.accumulate` as one operation after another."""

    @decompose(ufunc.accumulate, kind=running(ufunc.accumulate))
    def steps(array, axis=0, dtype=None, out=None):
        rows = np.moveaxis(array, axis, 0)
        values = [rows[0]]
        for i in range(1, len(rows)):
            values.append(ufunc(values[i - 1], rows[i]))
        return np.stack(values, axis=axis)


def register_parts(ufunc):
    """`ufunc.reduceat` as the reductions of parts, `ufunc.outer` as the function of operands that do not meet."""
    along = running(ufunc.accumulate)

    @decompose(ufunc.reduceat, kind=lambda array, indices, *others: along(array, *others))
    def parts(array, indices, axis=0, dtype=None, out=None):
        rows = np.moveaxis(array, axis, 0)
        bounds = segments(indices, len(rows))
        values = []
        for i in range(len(bounds[0])):
            values.append(ufunc.reduce(rows[bounds[0, i] : bounds[1, i]], axis=0))
        return np.stack(values, axis=axis)

    @decompose(ufunc.outer)
    def outer(A, B):
        return ufunc(np.reshape(A, np.shape(A) + (1,) * np.ndim(B)), B)


for _ufunc, _function in REDUCTIONS.items():
    register_reduction(_ufunc, _function)
    register_accumulation(_ufunc, ACCUMULATIONS[_ufunc])
for _ufunc, _function in EXTREMA.items():
    register_extremum(_ufunc, _function)
for _ufunc in FOLDED:
    if _ufunc not in EXTREMA:
        register_fold(_ufunc)
    register_steps(_ufunc)
for _ufunc in (*REDUCTIONS, *FOLDED):
    register_parts(_ufunc)
