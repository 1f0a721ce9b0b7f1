"""Small rewritings of derivative code: products with one, double signs, sums over axes that were never added.

Formulas of rules are written for the general case; put into a program, they often say more than is needed. A rewriting
takes one operation on atoms, looks through the atoms to the operations that made them, and gives a shorter operation,
or None. The value stays the same for every float (but for `a * (1 / b)` and products taken in another order, where the
last digit may differ), and so do shape and dtype. They are for the reverse sweep only: the user's own operations stay
as they are.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any, Protocol

import gast
import numpy as np

from s2s import core
from s2s import kinds as K
from s2s.kinds import Kind
from s2s.runtime import numeric
from s2s.transforms.callee import OPERATORS


class Look(Protocol):
    """What a rewriting may ask about the operands of an operation."""

    def made(self, atom: Any) -> Any:
        """The operation that made an atom, if it would give the same value here."""

    def only(self, atom: Any) -> Any:
        """The same, if the atom is not read anywhere else."""

    def kind(self, node: Any) -> Kind: ...

    def function(self, node: Any) -> Any: ...

    def shape(self, atom: Any) -> str | None:
        """The canonical name of an array's shape."""

    def widest(self, atoms: Iterable[Any]) -> str | None:
        """The canonical name of the shape that atoms broadcast to, if one of them has it already."""


def rewritten(expr: Any, look: Look, may_share: Callable[[Any], bool]) -> Any:
    """The operation in its shortest form: perhaps an atom, perhaps nested; itself if nothing applies.

    may_share: whether the result may be (or be a view of) what an expression names, where it was a new array.
    """
    for _ in range(8):
        for rewrite in _REWRITINGS.get(type(expr.op) if type(expr) is gast.BinOp else type(expr), ()):
            shorter = rewrite(expr, look)
            if shorter is not None:
                if rewrite in _NO_NEW_ALIAS or not _is_shared(shorter) or may_share(shorter):
                    break
        else:
            return expr
        expr = shorter
        if not _is_flat(expr):
            return expr
    return expr


def _is_shared(expr: Any) -> bool:
    """Whether a value may share memory with another one: a name, or a view."""
    return not isinstance(expr, (gast.BinOp, gast.UnaryOp))


def _is_flat(expr: Any) -> bool:
    if isinstance(expr, gast.Call):
        return all(map(core.is_atom, expr.args))
    if isinstance(expr, gast.BinOp):
        return core.is_atom(expr.left) and core.is_atom(expr.right)
    return not isinstance(expr, gast.UnaryOp) or core.is_atom(expr.operand)


# --- numbers ----------------------------------------------------------------------------------------------------


def _constants(expr: Any, look: Look) -> Any:
    """`2 - 1` is 1."""
    if not (_number(expr.left) and _number(expr.right)):
        return None
    value = OPERATORS[type(expr.op)](expr.left.value, expr.right.value)
    if value == value and (isinstance(value, float) or abs(value) < 1 << 53) and value >= 0:
        return core.constant(value)
    return None


def _one(expr: Any, look: Look) -> Any:
    """`1.0 * g`, `g / 1` and `g ** 1` are g."""
    if _is_one(expr.left) and isinstance(expr.op, gast.Mult) and _stays(expr.right, expr.left, look):
        return expr.right
    return expr.left if _is_one(expr.right) and _stays(expr.left, expr.right, look) else None


def _stays(atom: Any, one: Any, look: Look) -> bool:
    """Whether a product of an atom with one has the atom's own type. A 0-d array becomes a scalar."""
    kind = look.kind(atom)
    dtype = K.dtype_of(kind)
    zero_dimensions = isinstance(kind, K.Array) and kind.ndim == 0
    return dtype is not None and dtype.kind in "fc" and not zero_dimensions and isinstance(kind, (K.Array, K.Scalar))


# --- signs ------------------------------------------------------------------------------------------------------


def _double_sign(expr: Any, look: Look) -> Any:
    """`-(-g)` is g."""
    return _negated(look.made(expr.operand)) if _is_negation(expr) else None


def _sign_in_sum(expr: Any, look: Look) -> Any:
    """`x + -t` is `x - t`, `-t + x` is `x - t`, `x - -t` is `x + t`."""
    right = _negated(look.made(expr.right))
    if right is not None:
        op = gast.Sub if isinstance(expr.op, gast.Add) else gast.Add
        return gast.BinOp(expr.left, op(), right)
    left = _negated(look.made(expr.left)) if isinstance(expr.op, gast.Add) else None
    return None if left is None else gast.BinOp(expr.right, gast.Sub(), left)


def _sign_in_product(expr: Any, look: Look) -> Any:
    """`a * -b` is `-(a * b)`, so that whatever takes it in can subtract; not of an array read elsewhere too."""
    for side in ("right", "left"):
        factor = getattr(expr, side)
        inner = _negated(look.made(factor) if K.ndim_of(look.kind(factor)) == 0 else look.only(factor))
        if inner is not None:
            return gast.UnaryOp(gast.USub(), core.rebuilt(expr, **{side: inner}))
    return None


def _sign_in_dot(expr: Any, look: Look) -> Any:
    """`np.dot(-a, v)` is `-np.dot(a, v)`, which is smaller than a where v is a vector."""
    if look.function(expr) is not np.dot or len(expr.args) != 2:
        return None
    for i, vector in ((0, expr.args[1]), (1, expr.args[0])):
        inner = _negated(look.made(expr.args[i]))
        if inner is not None and K.ndim_of(look.kind(vector)) == 1:
            args = [inner if j == i else arg for j, arg in enumerate(expr.args)]
            return gast.UnaryOp(gast.USub(), core.rebuilt(expr, args=args))
    return None


# --- products ---------------------------------------------------------------------------------------------------


def _reciprocal(expr: Any, look: Look) -> Any:
    """`g * (1 / b)` is `g / b`."""
    inner = look.only(expr.right)
    if type(inner) is gast.BinOp and isinstance(inner.op, gast.Div) and _is_one(inner.left):
        return gast.BinOp(expr.left, gast.Div(), inner.right)
    return None


def _left_association(expr: Any, look: Look) -> Any:
    """`g * (2 * x)` is `g * 2 * x`, which needs no parentheses; not where it would take one more pass over an array."""
    inner = look.only(expr.right)
    if type(inner) is not gast.BinOp or not isinstance(inner.op, gast.Mult):
        return None
    outside, inside = K.ndim_of(look.kind(expr.left)), K.ndim_of(look.kind(expr.right))
    if outside is None or inside is None or outside > inside:
        return None
    return gast.BinOp(gast.BinOp(expr.left, gast.Mult(), inner.left), gast.Mult(), inner.right)


def _scaled_twice(expr: Any, look: Look) -> Any:
    """`g * 0.5 * 4` is `g * 2.0`."""
    inner: Any = look.only(expr.left) if _is_scaled(expr) else None
    if not _is_scaled(inner):
        return None
    scale = inner.right.value * expr.right.value
    if not (isinstance(scale, float) and 1e-30 < scale < 1e30):
        return None
    return gast.BinOp(inner.left, gast.Mult(), core.constant(scale))


def _one_inside(expr: Any, look: Look) -> Any:
    """`g * 1.0 * x` is `g * x`: a new array, whether or not `g * 1.0` is one."""
    inner = look.only(expr.left)
    if _is_scaled(inner) and _is_one(inner.right):
        return core.rebuilt(expr, left=inner.left) if _stays(inner.left, inner.right, look) else None
    return None


def _is_scaled(expr: Any) -> bool:
    return type(expr) is gast.BinOp and isinstance(expr.op, gast.Mult) and _number(expr.right)


def _factor_of_zero(expr: Any, look: Look) -> Any:
    """`zero_with(v, -g * 0.5)` is `zero_with(v, g)`: both factors are zero together."""
    if not (look.function(expr) is numeric.zero_with and len(expr.args) == 2):
        return None
    made = look.made(expr.args[1])
    inner = made.left if _is_scaled(made) and made.right.value >= 0.5 else _negated(made)
    return None if inner is None else core.rebuilt(expr, args=[expr.args[0], inner])


def _sum_of_products(expr: Any, look: Look) -> Any:
    """`np.sum(a * b)` of two vectors is `a @ b`, which makes no third one."""
    if look.function(expr) is not np.sum or len(expr.args) != 1 or expr.keywords:
        return None
    product = look.only(expr.args[0])
    if not (isinstance(product, gast.BinOp) and isinstance(product.op, gast.Mult)):
        return None
    kinds = [look.kind(side) for side in (product.left, product.right)]
    vectors = all(isinstance(k, K.Array) and k.ndim == 1 and k.dtype.kind in "fc" for k in kinds)
    alike = vectors and kinds[0] == kinds[1] and _same(product.left, product.right, look)
    return core.rebuilt(product, op=gast.MatMult()) if alike else None


# --- shapes -----------------------------------------------------------------------------------------------------


def _stretched_operand(expr: Any, look: Look) -> Any:
    """`np.broadcast_to(e, z.shape) * other` is `e * other`, where other has the shape of z anyway."""
    for side, other in (("left", "right"), ("right", "left")):
        stretched = _unstretched(getattr(expr, side), getattr(expr, other), look)
        if stretched is not None:
            return core.rebuilt(expr, **{side: stretched})
    return None


def _stretched_factor(expr: Any, look: Look) -> Any:
    """The same for `guarded_multiply(e, other)`."""
    if not (look.function(expr) in (numeric.guarded_multiply, numeric.guarded_divide) and len(expr.args) == 2):
        return None
    g, slope = expr.args
    stretched = _unstretched(g, slope, look)
    return None if stretched is None else core.rebuilt(expr, args=[stretched, slope])


def _unstretched(atom: Any, other: Any, look: Look) -> Any:
    """What an atom is the broadcast of, to the shape that the other operand has anyway."""
    call = look.made(atom)
    if type(call) is not gast.Call or len(call.args) != 2:
        return None
    stretched, owner = call.args[0], _owner_of_shape(look.made(call.args[1]), look)
    if not _same(owner, other, look):
        return None
    if look.function(call) is numeric.unbroadcast and look.widest([stretched, other]) == look.shape(other):
        return stretched
    fits = look.function(call) is np.broadcast_to and _keeps_dtype(look.kind(stretched), look.kind(other))
    return stretched if fits else None


def _stretched_result(expr: Any, look: Look) -> Any:
    """`np.broadcast_to(e, shape) * 2` is `np.broadcast_to(e * 2, shape)`: what is done to a number costs nothing."""
    if isinstance(expr, gast.UnaryOp):
        sides: tuple[tuple[str, Any], ...] = (("operand", None),) if _is_negation(expr) else ()
    else:
        sides = (("left", expr.right), ("right", expr.left))
    for side, other in sides:
        call = look.only(getattr(expr, side))
        if type(call) is not gast.Call or look.function(call) is not np.broadcast_to or len(call.args) != 2:
            continue
        stretched, shape = call.args
        if other is None or _both_numbers(look.kind(stretched), look.kind(other)):
            return core.rebuilt(call, args=[core.rebuilt(expr, **{side: stretched}), shape])
    return None


def _both_numbers(a: Kind, b: Kind) -> bool:
    """Whether two kinds are numbers whose product has the dtype that a product with an array would have."""
    if K.ndim_of(a) != 0 or K.ndim_of(b) != 0:
        return False
    python = [isinstance(k, (K.Int, K.Bool)) or (isinstance(k, K.Scalar) and k.python) for k in (a, b)]
    return all(python) or K.dtype_of(a) == K.dtype_of(b) or python == [False, True]


def _keeps_dtype(stretched: Kind, other: Kind) -> bool:
    """Whether a number and an array of its dtype do the same to another array. Python's numbers take its dtype."""
    own, theirs = K.dtype_of(stretched), K.dtype_of(other)
    if own is None or theirs is None or isinstance(stretched, K.Numeric):
        return False
    if isinstance(stretched, K.Scalar) and stretched.python:
        return own.kind == theirs.kind
    return True


def _same_shape(expr: Any, look: Look) -> Any:
    """`unbroadcast(e, y.shape)` is e, where e has this shape."""
    if not (look.function(expr) is numeric.unbroadcast and len(expr.args) == 2):
        return None
    value, shape = expr.args
    owner = _owner_of_shape(look.made(shape), look)
    return value if _same(owner, value, look) else None


def _same(owner: Any, value: Any, look: Look) -> bool:
    """Whether two arrays are known to have the same shape."""
    return owner is not None and look.shape(owner) is not None and look.shape(owner) == look.shape(value)


def _owner_of_shape(made: Any, look: Look) -> Any:
    if type(made) is gast.Attribute and made.attr == "shape" and core.is_atom(made.value):
        return made.value
    if type(made) is gast.Call and look.function(made) in (np.shape, numeric.shape_of) and len(made.args) == 1:
        return made.args[0]
    return None


_Rewriting = Callable[[Any, Look], Any]
# By the operator of two operands, or the type of any other operation.
_REWRITINGS: dict[type, tuple[_Rewriting, ...]] = {
    **dict.fromkeys((gast.Add, gast.Sub), (_constants, _sign_in_sum, _stretched_operand)),
    gast.Mult: (_constants, _one, _sign_in_product, _reciprocal, _left_association,
                _scaled_twice, _one_inside, _stretched_operand, _stretched_result),
    gast.Div: (_one, _sign_in_product, _one_inside, _stretched_operand, _stretched_result),
    gast.MatMult: (_sign_in_product,),
    gast.Pow: (_one,),
    gast.UnaryOp: (_double_sign, _stretched_result),
    gast.Call: (_same_shape, _stretched_factor, _factor_of_zero, _sign_in_dot, _sum_of_products),
}  # fmt: skip
# `unbroadcast` gives its argument itself where the shapes are equal: leaving it out shares nothing that was not shared.
_NO_NEW_ALIAS = (_constants, _same_shape, _stretched_factor, _factor_of_zero)


def _number(node: Any) -> bool:
    return type(node) is gast.Constant and type(node.value) in (int, float)


def _is_one(node: Any) -> bool:
    return _number(node) and operator.eq(node.value, 1)


def _is_negation(node: Any) -> bool:
    return type(node) is gast.UnaryOp and isinstance(node.op, gast.USub)


def _negated(node: Any) -> Any:
    """The operand of a negation, None for anything else."""
    return node.operand if _is_negation(node) else None
