"""Which exceptions an operation may raise, as far as kinds tell: what `caught(...)` gives is known to be None or not.

Arithmetic on Python's floats raises ArithmeticErrors at most, NumPy's what `np.errstate` and the warnings filter make
of a floating-point flag; an item of a list is there or not. Of what is not listed here anything may come.
"""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Sequence

import numpy as np

from s2s import kinds as K
from s2s.kinds import Kind
from s2s.runtime import catching
from s2s.runtime.patterns import is_mapping, is_sequence
from s2s.transforms.callee import attribute_kind, owner_type
from s2s.transforms.items import literal
from s2s.transforms.known import STATIC, TOTAL_CALLS, TOTAL_NUMPY, TOTAL_OPERATORS

Classes = tuple[type[BaseException], ...]

NOTHING: Classes = ()
ANYTHING: Classes = (BaseException,)
# What a floating-point flag may become, and what a lack of memory is.
FLAGS: Classes = (FloatingPointError, RuntimeWarning, MemoryError)
ARITHMETIC: Classes = (ZeroDivisionError, OverflowError)

_COMPARISONS = {operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge}
_DIVIDING = {operator.truediv, operator.floordiv, operator.mod, operator.pow}
_INPLACE = {
    operator.iadd: operator.add, operator.isub: operator.sub, operator.imul: operator.mul,
    operator.itruediv: operator.truediv, operator.ifloordiv: operator.floordiv, operator.imod: operator.mod,
    operator.ipow: operator.pow,
}  # fmt: skip
_NUMBERS = (K.Int, K.Bool, K.Scalar, K.Array, K.Numeric)
_TRUE_OR_FALSE = (K.Int, K.Bool, K.Scalar, K.Str, K.NoneKind, K.Tuple, K.List, K.Sequence, K.Dict, K.Range)
_ITERABLE = (K.Tuple, K.List, K.Sequence, K.Dict, K.Range, K.Iterator, K.Str)
_HARMLESS = {builtins.isinstance, builtins.type, builtins.callable, builtins.hasattr, is_mapping, is_sequence, slice}


def caught_kind(args: Sequence[Kind]) -> Kind:
    """The kind of `caught(classes, function, *operands)`: None where the operation raises none of the classes."""
    classes = args[0].items if args and isinstance(args[0], K.Tuple) else args[:1]
    handled = tuple(c.value for c in classes if isinstance(c, K.Static))
    if len(args) < 2 or len(handled) < len(classes) or not isinstance(args[1], K.Static):
        return K.UNKNOWN
    raised = exceptions(args[1].value, args[2:])
    met = any(issubclass(a, b) or issubclass(b, a) for a in handled for b in raised)
    return K.UNKNOWN if met else K.NONE


def exceptions(function: object, operands: Sequence[Kind]) -> Classes:
    """The classes of what a call may raise, with those below them."""
    if function in (getattr, catching.store, catching.method, catching.augment, catching.augment_item):
        return _special(function, operands)
    if function is bool:
        return NOTHING if isinstance(operands[0], _TRUE_OR_FALSE) else _truth_of_array(operands[0])
    if function is iter:
        there = isinstance(operands[0], _ITERABLE) or (K.ndim_of(operands[0]) or 0) > 0
        return NOTHING if there else ANYTHING
    if function in _HARMLESS:
        return NOTHING
    if function is operator.not_:
        return exceptions(bool, operands)
    if function is operator.getitem and len(operands) == 2:
        return _item(*operands)
    if function is len or function in STATIC:
        return NOTHING if isinstance(operands[0], (*_ITERABLE, *_NUMBERS)) and operands[0] != K.FLOAT else ANYTHING
    if not operands or not all(isinstance(k, _NUMBERS) for k in operands):
        return ANYTHING
    return _of_numbers(function, operands)


def _of_numbers(function: object, operands: Sequence[Kind]) -> Classes:
    arrays = sum(isinstance(k, K.Numeric) or (K.ndim_of(k) or 0) > 0 for k in operands)
    shapes: Classes = (ValueError,) if arrays > 1 else NOTHING
    plain = all(K.is_python_number(k) for k in operands)
    if function in TOTAL_OPERATORS or function in (operator.neg, operator.pos, operator.abs, abs):
        return _overflow(operands) if plain else FLAGS + shapes
    if function in _COMPARISONS:
        complexes = any((K.dtype_of(k) or K.FLOAT.dtype).kind == "c" for k in operands)
        return ANYTHING if complexes else NOTHING if plain else FLAGS + shapes
    if function in _DIVIDING:
        return ARITHMETIC if plain else FLAGS + shapes + ARITHMETIC + (ValueError,)
    if function in (float, int) and len(operands) == 1 and not arrays:
        return NOTHING if function is float else (ValueError, OverflowError)
    if function in TOTAL_CALLS and not arrays:
        return NOTHING if plain else FLAGS
    if getattr(function, "__module__", "") == "math" and not arrays:
        return (ValueError, OverflowError) if function is not math.pow else (ValueError, *ARITHMETIC)
    if function in TOTAL_NUMPY and len(operands) == 1:
        return FLAGS
    if isinstance(function, np.ufunc) and function.signature is None and len(operands) == function.nin:
        return FLAGS + shapes
    return ANYTHING


def _overflow(operands: Sequence[Kind]) -> Classes:
    """An int that is too large for a float may meet one."""
    known = all(not isinstance(k, K.Int) or k.value is not None for k in operands)
    return NOTHING if known or all(isinstance(k, (K.Int, K.Bool)) for k in operands) else (OverflowError,)


def _truth_of_array(kind: Kind) -> Classes:
    return (ValueError,) if isinstance(kind, (K.Array, K.Numeric)) else ANYTHING


def _item(owner: Kind, index: Kind) -> Classes:
    inner = K.children(owner)
    known = literal(index)
    if isinstance(owner, (K.Tuple, K.List)) and isinstance(known, int):
        inside = -len(owner.items) <= known < len(owner.items)
        return NOTHING if inside and isinstance(owner, K.Tuple) else (IndexError,)
    if isinstance(owner, (K.Tuple, K.List, K.Sequence)) and isinstance(index, (K.Int, K.Bool)):
        return (IndexError,)
    if isinstance(owner, (K.Tuple, K.List, K.Sequence)) and isinstance(index, K.Slice):
        return NOTHING
    if isinstance(owner, K.Dict) and inner is not None and isinstance(index, (K.Int, K.Bool, K.Str)):
        return (KeyError,)
    if isinstance(owner, K.Array) and owner.ndim:
        parts = index.items if isinstance(index, K.Tuple) else (index,)
        simple = all(isinstance(p, (K.Int, K.Slice, K.NoneKind)) for p in parts)
        if simple and len(parts) == 1 and isinstance(index, K.Slice):
            return (MemoryError,)
        return (IndexError, MemoryError) if simple else ANYTHING
    return ANYTHING


def _special(function: object, operands: Sequence[Kind]) -> Classes:
    if function is getattr:
        name = literal(operands[1]) if len(operands) == 2 else None
        known = isinstance(name, str) and not isinstance(attribute_kind(operands[0], name), K.Unknown)
        return NOTHING if known else ANYTHING
    if function is catching.method:
        cls = owner_type(operands[1])
        found = getattr(cls, str(literal(operands[0])), None) if cls is not None else None
        return ANYTHING if found is None else exceptions(found, operands[1:])
    if function is catching.augment and isinstance(operands[0], K.Static):
        plain = _INPLACE.get(operands[0].value)
        target, value = operands[1:]
        if plain is None or not isinstance(target, _NUMBERS):
            return ANYTHING
        exact = isinstance(target, K.Array) and K.dtype_of(target) != K.dtype_of(value)
        return ANYTHING if exact else exceptions(plain, [target, value])
    if function is catching.store and isinstance(operands[0], (K.Dict,)):
        return NOTHING if isinstance(operands[1], (K.Int, K.Bool, K.Str)) else ANYTHING
    return ANYTHING
