"""What generated code calls, in forms that Numba compiles.

Numba knows none of `runtime.numeric`, and compiles each function for the types of its arguments; so each helper is
written here once more, by type. The module is imported where `backend="numba"` is asked for, and nowhere else.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba import types
from numba.core.errors import TypingError
from numba.cpython.unsafe import tuple as tuples
from numba.extending import overload

from s2s.runtime import numeric, stores

OPTIONS: Any = {"error_model": "numpy", "boundscheck": True}
tuple_setitem: Any = tuples.tuple_setitem


def _stub(*args: Any) -> Any:
    raise NotImplementedError


def _helper(name: str, by_type: Callable[..., Any]) -> Any:
    """A function that compiled code may call, which is compiled as `by_type` says for the types of its arguments."""
    stub = _named(_stub, name)
    overload(stub, jit_options=OPTIONS, strict=False)(by_type)
    return stub


def _named(function: Any, name: str) -> Any:
    made = type(function)(function.__code__, function.__globals__, name)
    made.__qualname__ = name
    return made


def _is_array(kind: Any) -> bool:
    return isinstance(kind, types.Array)


def _is_number(kind: Any) -> bool:
    return isinstance(kind, (types.Float, types.Integer, types.Complex, types.Boolean))


# --- memory -----------------------------------------------------------------------------------------------------


def _owned(x: Any) -> Any:
    if _is_array(x):
        return lambda x: x.copy()
    return lambda x: x


def _made(x: Any) -> Any:
    return lambda x: x


def _array(x: Any) -> Any:
    if _is_array(x):
        return lambda x: x.copy()
    return lambda x: np.array(x)


def _array_of(x: Any, dtype: Any) -> Any:
    if _is_array(x):
        return lambda x, dtype: x.astype(dtype)
    return None


# --- shapes -----------------------------------------------------------------------------------------------------


def _shape_of(x: Any) -> Any:
    if _is_array(x):
        return lambda x: x.shape
    return lambda x: ()


def _require_scalar(out: Any) -> Any:
    if not _is_array(out):
        return lambda out: None

    def impl(out: Any) -> None:
        if out.size != 1:
            raise ValueError("a gradient needs a function that returns one number")

    return impl


def _unbroadcast(g: Any, shape: Any) -> Any:
    rank = len(shape)
    if _is_number(g):
        if rank == 0:
            return lambda g, shape: g
        return lambda g, shape: np.full(shape, g)
    if rank == 0:
        return lambda g, shape: g.sum()
    if g.ndim < rank:
        raise TypingError("a cotangent of fewer dimensions than its operand")
    added = g.ndim - rank

    def impl(g: Any, shape: Any) -> Any:
        if added == 0:
            same = True
            for axis in range(rank):
                same = same and g.shape[axis] == shape[axis]
            if same:
                return np.ascontiguousarray(g)
        out = np.zeros(shape, g.dtype)
        whole = g.shape
        for axis in range(rank):
            whole = tuple_setitem(whole, added + axis, max(whole[added + axis], shape[axis]))
        for index in np.ndindex(whole):
            place, source = shape, index
            for axis in range(rank):
                i = index[added + axis]
                place = tuple_setitem(place, axis, 0 if shape[axis] == 1 else i)
                source = tuple_setitem(source, added + axis, 0 if g.shape[added + axis] == 1 else i)
            out[place] += g[source]
        return out

    return impl


# --- guards -----------------------------------------------------------------------------------------------------


def _zero_with(value: Any, factor: Any) -> Any:
    if _is_number(value):
        return lambda value, factor: value if factor != 0 or math.isfinite(value) else factor * 0.0
    return lambda value, factor: np.where(np.isfinite(value) | (factor != 0), value, 0.0)


def _guarded_multiply(g: Any, slope: Any) -> Any:
    if _is_number(g) and _is_number(slope):
        return lambda g, slope: g * slope if g != 0 else g * 0.0
    return lambda g, slope: np.where(np.isfinite(g * slope) | (g != 0), g * slope, 0.0)


def _guarded_divide(numerator: Any, denominator: Any) -> Any:
    if _is_number(numerator) and _is_number(denominator):
        return lambda numerator, denominator: numerator / denominator if numerator != 0 else numerator * 0.0
    return lambda numerator, denominator: np.where(
        np.isfinite(numerator / denominator) | (numerator != 0), numerator / denominator, 0.0
    )


def _infinite(g: Any) -> Any:
    if _is_number(g):
        return lambda g: g * np.inf if g != 0 else g * 0.0
    return lambda g: np.where(g != 0, g * np.inf, 0.0)


def _sign(x: Any) -> Any:
    return lambda x: np.sign(x)


def _tie_weight(x: Any, other: Any, ans: Any) -> Any:
    if _is_number(x) and _is_number(other):
        return lambda x, other, ans: 0.5 if x == other else (1.0 if x == ans else 0.0)
    return lambda x, other, ans: np.where(x == other, 0.5, np.where(x == ans, 1.0, 0.0))


def _backwards(start: Any, stop: Any, step: Any) -> Any:
    def impl(start: Any, stop: Any, step: Any) -> Any:
        count = len(range(start, stop, step))
        return range(start + (count - 1) * step, start - step, -step)

    return impl


_OWNED = _helper("owned", _owned)
_ARRAY = _helper("array", _array)

# What the dialect calls, by name.
OURS = {
    "owned·": _OWNED,
    "made·": _helper("made", _made),
    "array·": _ARRAY,
    "array_of·": _helper("array_of", _array_of),
    "backwards·": _helper("backwards", _backwards),
}

# What takes the place of the helpers of generated code.
HELPERS: dict[Any, Any] = {
    numeric.shape_of: _helper("shape_of", _shape_of),
    numeric.require_scalar: _helper("require_scalar", _require_scalar),
    numeric.unbroadcast: _helper("unbroadcast", _unbroadcast),
    numeric.zero_with: _helper("zero_with", _zero_with),
    numeric.guarded_multiply: _helper("guarded_multiply", _guarded_multiply),
    numeric.guarded_divide: _helper("guarded_divide", _guarded_divide),
    numeric.infinite: _helper("infinite", _infinite),
    numeric.sign: _helper("sign", _sign),
    numeric.tie_weight: _helper("tie_weight", _tie_weight),
    stores.private: _OWNED,
    np.array: _ARRAY,
    np.asarray: _ARRAY,
}


def compiled(function: Any) -> Any:
    """A function that Numba compiles when it is called."""
    return numba.njit(error_model="numpy", boundscheck=True)(function)
