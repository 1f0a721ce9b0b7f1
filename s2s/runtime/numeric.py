"""The small functions that generated code and the derivative rules call beside NumPy's own.

They take Python's numbers, NumPy's numbers and arrays alike, need nothing but NumPy, and are written in operations that
have rules, so that they can be differentiated again. Those that write into a buffer of their own have a rule in
`rules/helpers.py`; on a value that records operations they ask it to record them as one (`__s2s_function__`, called
as NumPy calls `__array_function__`).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy import ndarray

from s2s.errors import ArgumentError

# --- shapes -----------------------------------------------------------------------------------------------------


def shape_of(x: Any) -> tuple[int, ...]:
    """The shape of a number, an array or a nested list."""
    shape = getattr(x, "shape", None)
    if shape is None:
        return () if isinstance(x, (float, int, complex)) else np.shape(x)
    return shape  # type: ignore[no-any-return]


def unbroadcast(g: Any, shape: tuple[int, ...]) -> Any:
    """The cotangent of what was broadcast from `shape`: g summed over the axes that broadcasting added or stretched.

    A cotangent that is smaller than `shape`, standing for equal values all over, is spread out.
    """
    have = g.shape if type(g) is ndarray else shape_of(g)
    if have == shape:
        return g
    added = len(have) - len(shape)
    if added > 0:
        g = summed(g, tuple(range(added)))
        have = have[added:]
    elif added < 0:
        have = (1,) * -added + have
        g = np.reshape(g, have)
    stretched = tuple([i for i, (n, m) in enumerate(zip(shape, have)) if n == 1 and m != 1])
    if stretched:
        g = summed(g, stretched, keepdims=True)
    return g if shape_of(g) == shape else np.broadcast_to(g, shape)


def summed(x: Any, axis: Any, keepdims: bool = False) -> Any:
    """`np.sum`, without its detour for arrays, which costs as much as the sum of a small one."""
    if type(x) is ndarray:
        return np.add.reduce(x, axis, None, None, keepdims)  # type: ignore[call-overload]
    return np.sum(x, axis=axis, keepdims=keepdims)


def axis_size(shape: tuple[int, ...], axis: Any) -> int:
    """The number of elements that a reduction over `axis` (None, an int or several) takes together."""
    if axis is None:
        return math.prod(shape)
    if isinstance(axis, int):
        return shape[axis]
    return math.prod(shape[i] for i in axis)


def real_if_real(x: Any, like: Any) -> Any:
    """`x`, without its imaginary part where `like` has none."""
    return x.real if np.iscomplexobj(x) and not np.iscomplexobj(like) else x


def require_scalar(out: Any) -> None:
    """Refuse a result of which there is no gradient, because it holds more or less than one number."""
    shape = shape_of(out)
    if math.prod(shape) != 1:
        raise ArgumentError(
            f"grad needs a scalar: the function returned an array of shape {shape}",
            hint="sum the result, or weigh it, before it is returned.",
        )


def fitted(g: Any, like: Any) -> Any:
    """A cotangent as the one of `like`: its real part for a real number, in the precision of a floating array."""
    g = real_if_real(g, like)
    dtype = getattr(like, "dtype", None)
    if type(g) is float:
        return dtype.type(g) if dtype is not None and dtype.kind in "fc" else g
    return g.astype(dtype) if dtype is not None and dtype.kind in "fc" and np.result_type(g) != dtype else g


# --- zero cotangents win ----------------------------------------------------------------------------------------


def guarded_divide(numerator: Any, denominator: Any) -> Any:
    """`numerator / denominator`, but zero wherever the numerator is; never raises, as NumPy's division does not."""
    if type(numerator) is float and type(denominator) is float:
        if not numerator:
            return 0.0
        return numerator / denominator if denominator else infinite(math.copysign(1.0, denominator) * numerator)
    if _divides(denominator):
        return numerator / denominator
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return zero_with(np.true_divide(numerator, denominator), numerator)


def _divides(x: Any) -> bool:
    """Whether a quotient by x surely is as finite as its numerator: x is positive, or one number, and not tiny."""
    if type(x) is ndarray:
        return x.dtype.kind == "f" and x.size > 0 and bool(np.minimum.reduce(x, None) > _TINY)
    return isinstance(x, (float, np.floating)) and _TINY < abs(float(x)) < math.inf


_TINY = 1e-30  # a quotient by less may overflow


def _is_finite(x: Any) -> bool:
    """Whether x surely holds finite numbers only. The sum of their squares is finite only if they are; a sum that
    overflows by itself only costs time, and a dot product gives no warning."""
    if type(x) is ndarray:
        return x.dtype.kind in "fc" and math.isfinite(np.vdot(x, x).real)
    return isinstance(x, (float, np.floating)) and math.isfinite(x)


def guarded_multiply(g: Any, slope: Any) -> Any:
    """`g * slope`, but zero wherever g is, whatever the slope."""
    if type(g) is float and type(slope) is float:
        return g * slope if g else 0.0
    if _is_finite(slope):
        return g * slope
    with np.errstate(invalid="ignore", over="ignore"):
        return zero_with(g * slope, g)


def infinite(g: Any) -> Any:
    """The product of g and an infinite slope: zero for a zero g, else infinite with the sign of g."""
    if type(g) is float:
        return g * math.inf if g else 0.0
    return guarded_multiply(g, math.inf)


def zero_with(value: Any, factor: Any) -> Any:
    """A product with `factor`, made zero where the factor is zero and the product is not finite."""
    if _is_finite(value):
        return value
    if np.all(np.isfinite(value)):
        return value
    mended = np.where(kept_with(value, factor), value, 0)
    return mended if shape_of(mended) else mended[()]


def kept_with(value: Any, factor: Any) -> Any:
    """Where `zero_with` leaves a value as it is. A number that was summed up goes by all of the factor."""
    counts = factor != 0
    return np.isfinite(value) | (np.any(counts) if np.ndim(value) == 0 else counts)


# --- powers -----------------------------------------------------------------------------------------------------


def power_slope(x: Any, y: Any) -> Any:
    """The derivative of `x ** y` by x, `y * x ** (y - 1)`: zero for y = 0, infinite where the power of x is."""
    with np.errstate(divide="ignore", invalid="ignore"):
        try:
            slope = y * x ** (y - 1)
        except ZeroDivisionError:
            slope = y * np.power(float(x) if isinstance(x, float) else x, np.asarray(y) - 1.0)
    zero = y == 0
    return np.where(zero, 0, slope)[()] if np.any(zero) else slope


def log_or_zero(x: Any, ans: Any) -> Any:
    """`log(x)`, but zero at zero: the factor in the derivative of `ans = x ** y` by y.

    It is complex where `ans` is, and nan for a negative x where that is real.
    """
    if type(x) is float and type(ans) is float:
        return math.log(x) if x > 0 else (math.nan if x else 0.0)
    zero = x == 0
    base = np.where(zero, 1, x)[()] if np.any(zero) else x
    with np.errstate(invalid="ignore"):
        return np.log(base + 0j if np.iscomplexobj(ans) else base)


# --- signs and ties ---------------------------------------------------------------------------------------------


def sign(x: float) -> float:
    """The sign of a Python float as a Python float: the derivative of `abs`, zero at zero."""
    return 1.0 if x > 0 else (-1.0 if x < 0 else x)


def tie_weight(x: Any, other: Any, ans: Any) -> Any:
    """The derivative by x of a choice between x and another: one where x is the result, a half where both are."""
    tied = x == other
    chosen = x == ans
    if not np.any(tied):
        return chosen
    return np.where(tied, ans.dtype.type(0.5), chosen)[()]


def clip_weights(a: Any, lower: Any, upper: Any) -> tuple[Any, Any, Any]:
    """The derivatives of `minimum(maximum(a, lower), upper)` by its three arguments, of which a bound may be None."""
    by_a, by_lower, by_upper, raised = np.ones_like(a, dtype=bool)[()], 0, 0, a
    if lower is not None:
        raised = np.maximum(a, lower)
        by_a, by_lower = tie_weight(a, lower, raised), tie_weight(lower, a, raised)
    if upper is not None:
        ans = np.minimum(raised, upper)
        kept, by_upper = tie_weight(raised, upper, ans), tie_weight(upper, raised, ans)
        by_a, by_lower = by_a * kept, by_lower * kept
    return by_a, by_lower, by_upper


def extremum_weight(a: Any, ans: Any, axis: Any, keepdims: bool, initial: Any, where: Any) -> Any:
    """The derivative of the greatest or least element over `axis` by each element: ties share evenly.

    A nan that decides the result has the whole of it; a starting value that ties has its share too.
    """
    if axis is not None and not keepdims and np.ndim(a) > 0:
        ans = np.expand_dims(ans, axis)
    chosen = a == ans
    if np.any(ans != ans):
        chosen = chosen | (a != a)
    if where is True and initial is None:
        weight = chosen / summed(chosen, axis, keepdims=True)
        return weight if weight.dtype == ans.dtype else weight.astype(ans.dtype)
    if where is not True:
        chosen = chosen & where
    count = np.sum(chosen, axis=axis, keepdims=True)
    if initial is not None:
        count = count + (initial == ans)
    return np.where(chosen, chosen / np.maximum(count, 1), 0).astype(ans.dtype)


def extremum_share(g: Any, a: Any, extremum: Any, axis: Any, keepdims: bool, initial: Any, where: Any) -> Any:
    """The cotangent g of the greatest or least element over `axis`, handed to the elements: ties share evenly."""
    whole = extremum
    if axis is not None and not keepdims and np.ndim(a) > 0:
        g, whole = np.expand_dims(g, axis), np.expand_dims(extremum, axis)
    if where is True and initial is None and _is_finite(extremum):
        chosen = a == whole
        if np.count_nonzero(chosen) == extremum.size:
            return g * (
                chosen.astype(extremum.dtype) if type(g) is float else chosen
            )  # each has one element of its own
    return g * extremum_weight(a, whole, axis, True, initial, where)


# --- gathering and scattering -----------------------------------------------------------------------------------


def scatter(g: Any, index: Any, shape: tuple[int, ...]) -> Any:
    """The cotangent of `a` in `a[index]`, for `a` of `shape`: zeros, with g added at the index."""
    record = getattr(type(g), "__s2s_function__", None)
    if record is not None:
        return record(g, scatter, (type(g),), (g, index, shape), {})
    a_bar = np.zeros_like(g, shape=shape)
    if is_basic(index):
        a_bar[index] = g
    else:
        scatter_add(a_bar, index, g)
    return a_bar


def from_diagonal(g: Any, offset: int, shape: tuple[int, ...]) -> Any:
    """The cotangent of a matrix `a` of `shape` in `np.diagonal(a, offset)`: zeros, with g on the diagonal."""
    return scatter(g, on_diagonal(len(g), offset), shape)


def on_diagonal(size: int, offset: int) -> tuple[Any, Any]:
    """The index of a diagonal of matrices."""
    steps = np.arange(size)
    return steps + max(-offset, 0), steps + max(offset, 0)


def scatter_add(target: Any, index: Any, value: Any) -> None:
    """`target[index] += value`, in place, where an element that the index names several times gets all of them."""
    if is_basic(index) or is_mask(index):
        target[index] += value
    else:
        np.add.at(target, index, value)


def is_basic(index: Any) -> bool:
    """Whether an index selects without arrays, so that no element is selected twice."""
    if isinstance(index, tuple):
        return all(isinstance(part, _BASIC) for part in index)
    return isinstance(index, _BASIC)


def is_mask(index: Any) -> bool:
    """Whether an index is a boolean array, which selects no element twice either."""
    dtype = getattr(index, "dtype", None)
    return dtype is not None and dtype.kind == "b"


_BASIC = (int, slice, type(None), type(Ellipsis), np.integer)


def pieces(g: Any, like: Any) -> Any:
    """The parts of an array in nested lists, nested as `like` is."""
    if isinstance(like, (list, tuple)):
        return [pieces(part, item) for part, item in zip(g, like, strict=True)]
    return fitted(g, like)
