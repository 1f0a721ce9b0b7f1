"""What a Core expression calls: the function object behind an operator, a method, an attribute or a call."""

from __future__ import annotations

import operator
import types
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from s2s import kinds as K
from s2s.kinds import Kind
from s2s.transforms.samples import result_kind

OPERATORS: dict[type, Any] = {
    gast.Add: operator.add, gast.Sub: operator.sub, gast.Mult: operator.mul, gast.Div: operator.truediv,
    gast.FloorDiv: operator.floordiv, gast.Mod: operator.mod, gast.Pow: operator.pow, gast.MatMult: operator.matmul,
    gast.BitAnd: operator.and_, gast.BitOr: operator.or_, gast.BitXor: operator.xor, gast.LShift: operator.lshift,
    gast.RShift: operator.rshift, gast.Eq: operator.eq, gast.NotEq: operator.ne, gast.Lt: operator.lt,
    gast.LtE: operator.le, gast.Gt: operator.gt, gast.GtE: operator.ge,
}  # fmt: skip
UNARY: dict[type, Any] = {
    gast.USub: operator.neg, gast.UAdd: operator.pos, gast.Invert: operator.invert, gast.Not: operator.not_,
}  # fmt: skip


def attribute_kind(owner: Kind, attr: str) -> Kind:
    """The kind of an attribute of a value of some kind. A cell of a closure may be empty still."""
    if isinstance(owner, K.Static):
        try:
            return K.of(getattr(owner.value, attr))
        except (AttributeError, ValueError):
            return K.UNKNOWN
    if isinstance(owner, (K.Record, K.Object)):
        return dict(owner.fields).get(attr, K.UNKNOWN)
    if isinstance(owner, K.Tuple) and attr in getattr(owner.cls, "_fields", ()):
        return owner.items[owner.cls._fields.index(attr)]  # type: ignore[attr-defined]
    if attr == "flat" and isinstance(owner, K.Array):
        return K.Array(owner.dtype, 1)  # it is indexed, looped over and operated on like an array in a row
    ndim = K.ndim_of(owner)
    if attr == "ndim" and ndim is not None:
        return K.Int(ndim)
    if isinstance(owner, (K.Array, K.Scalar, K.Int, K.Bool)):
        found = result_kind(_GETTERS.setdefault(attr, operator.attrgetter(attr)), (owner,))
        return K.UNKNOWN if _is_method(found) else found
    return K.UNKNOWN


def _is_method(kind: Kind) -> bool:
    """Whether an attribute of a sample is a method, which is bound to the sample."""
    return isinstance(kind, K.Static) and isinstance(kind.value, types.BuiltinFunctionType)


_GETTERS: dict[str, Any] = {}


def owner_type(kind: Kind) -> type | None:
    """The class in which a method of a value of this kind is looked up."""
    if isinstance(kind, K.Array):
        return np.ndarray
    if isinstance(kind, K.Scalar):
        return type(kind.dtype.type(0).item()) if kind.python else np.ndarray
    if isinstance(kind, (K.Tuple, K.Sequence, K.Object)):
        return kind.cls
    return _OWNERS.get(type(kind))


_OWNERS: dict[type, type] = {K.Int: int, K.Bool: bool, K.Str: str, K.List: list, K.Dict: dict, K.Range: range}


def callee(node: Any, kind: Callable[[Any], Kind], local: set[str]) -> tuple[Any, list[Any]]:
    """The function that a Call calls, and its positional operands (a method's owner first); None if not known.

    A method of a NumPy scalar is that of an array: the rules are the same.
    """
    target = node.func
    if type(target) is not gast.Attribute:
        known = kind(target)
    else:
        owner = kind(target.value)
        if isinstance(owner, (K.Static, K.Unknown)):
            known = attribute_kind(owner, target.attr)
        elif isinstance(owner, K.Object) and owner.fields:
            found = attribute_kind(owner, target.attr)
            return (found.value, list(node.args)) if isinstance(found, K.Static) else (None, [target.value, *node.args])
        else:
            cls = owner_type(owner)
            method = getattr(cls, target.attr, None) if cls is not None else None
            return method, [target.value, *node.args]
    return known.value if isinstance(known, K.Static) else None, list(node.args)


def operation(node: Any, kind: Callable[[Any], Kind], local: set[str]) -> tuple[Any, list[Any], dict[str, Any]]:
    """The function behind any Core operation, its positional operands and its keywords.

    `x * y` is `operator.mul`, `x.T` is `numpy.ndarray.T`, `x[i]` is `operator.getitem`; None where it is not known.
    """
    sort = type(node)
    if sort is gast.BinOp:
        return OPERATORS[type(node.op)], [node.left, node.right], {}
    if sort is gast.UnaryOp:
        return UNARY[type(node.op)], [node.operand], {}
    if sort is gast.Compare:
        return OPERATORS.get(type(node.ops[0]), operator.is_), [node.left, *node.comparators], {}
    if sort is gast.Subscript:
        return operator.getitem, [node.value, node.slice], {}
    if sort is gast.Attribute:
        owner = kind(node.value)
        found = getattr(np.ndarray, node.attr, None) if isinstance(owner, (K.Array, K.Scalar)) else None
        return None if isinstance(found, types.MethodDescriptorType) else found, [node.value], {}
    if sort is gast.Call:
        function, operands = callee(node, kind, local)
        return function, operands, {k.arg: k.value for k in node.keywords}
    return None, [], {}
