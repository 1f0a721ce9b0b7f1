"""Which values may lose parts later on, so that a zero cotangent can meet an infinite slope.

Where a quotient or logarithm is infinite and the function goes on with it, its derivative is infinite too and no guard
is needed; where the infinite entry is masked out, indexed away or clipped, its cotangent is zero, and zero times
infinity must be zero. The guard costs a pass over the array, so it is written only where this can happen.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from typing import Any

import gast
import numpy as np

from s2s import core, rules
from s2s import kinds as K
from s2s.core import Function
from s2s.transforms.operations import Operations

SELECTING = {
    np.where, np.select, np.choose, np.maximum, np.minimum, np.fmax, np.fmin, np.clip, np.ndarray.clip, np.max, np.min,
    np.ndarray.max, np.ndarray.min, max, min, np.take, np.ndarray.take, np.compress, np.extract, np.nansum, np.nanmean,
    np.nan_to_num, np.sort, np.ndarray.sort, np.triu, np.tril, np.diag, np.diagonal, np.trace, np.median, np.isfinite,
    np.tanh, np.arctan, np.exp, np.logaddexp, np.sign, np.heaviside, np.prod, np.ndarray.prod, operator.getitem,
}  # fmt: skip


# Their slopes are zero where they choose the other operand: there a cotangent counts for nothing, even an infinite one.
CHOOSING = {np.maximum, np.minimum, np.fmax, np.fmin, np.clip, np.ndarray.clip}
POWERS = {operator.pow, np.power, np.float_power}


def may_be_dropped(fn: Function) -> set[str]:
    """The active names of which a later operation may drop or saturate entries."""
    operations = Operations(fn)
    found: set[str] = set()
    size = -1
    while size != len(found):
        size = len(found)
        for targets, value in _assignments(fn.body):
            if targets & found or _may_drop(value, operations):
                found |= core.reads(value) & fn.facts.active
    return found


def may_be_nonfinite(fn: Function) -> set[str]:
    """The names that are not finite where a quotient or logarithm is infinite, or a root has no real value.

    As factors they are slopes of products: of `where(x > 0, x * log(x), 0)` the one by x. Python's numbers raise
    instead.
    """
    operations = Operations(fn)
    found: set[str] = set()
    size = -1
    while size != len(found):
        size = len(found)
        for targets, value in _assignments(fn.body):
            if targets <= found or not isinstance(value, (gast.BinOp, gast.UnaryOp, gast.Call, gast.Name)):
                continue
            rule = None if isinstance(value, gast.Name) else rules.find(operations.function(value))
            singular = rule is not None and (rule.singular or rule.guarded or _fractional(value, operations))
            passes_on = isinstance(value, gast.Name) or (rule is not None and rule.bodies)
            passes_on = passes_on or operations.function(value) in POWERS
            if singular or (passes_on and core.reads(value) & found):
                found |= {n for n in targets if not _raises(operations.kind(core.name(n)))}
    return found


def may_be_steep(fn: Function) -> set[str]:
    """The active names whose cotangent may be infinite: a later operation may have an infinite slope."""
    operations = Operations(fn)
    found: set[str] = set()
    size = -1
    while size != len(found):
        size = len(found)
        for targets, value in _assignments(fn.body):
            if targets & found or _steep(value, operations):
                found |= core.reads(value) & fn.facts.active
    return found


def _steep(value: Any, operations: Operations) -> bool:
    if not isinstance(value, (gast.BinOp, gast.UnaryOp, gast.Call)):
        return False
    rule = rules.find(operations.function(value))
    return rule is not None and (rule.singular or rule.guarded or _fractional(value, operations))


def _fractional(value: Any, operations: Operations) -> bool:
    """Whether an operation is a power that not all real numbers have."""
    if operations.function(value) not in POWERS:
        return False
    exponent = value.right if isinstance(value, gast.BinOp) else (value.args or [None])[-1]
    return not (isinstance(exponent, gast.Constant) and type(exponent.value) is int and exponent.value >= 0)


def _raises(kind: K.Kind) -> bool:
    return isinstance(kind, K.Scalar) and kind.python


def _may_drop(value: Any, operations: Operations) -> bool:
    if not core.reads(value) & operations.fn.facts.active:
        return False
    if isinstance(value, gast.BinOp) and isinstance(value.op, (gast.Mult, gast.MatMult)):
        return any(_mask(operand, operations) for operand in (value.left, value.right))
    if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Div):
        return bool(core.reads(value.right) & operations.fn.facts.active)  # a quotient by infinity is zero
    return operations.function(value) in SELECTING or any(k.arg == "where" for k in getattr(value, "keywords", ()))


def _mask(operand: Any, operations: Operations) -> bool:
    """Whether a factor is an array that is no result of the inputs: it may hold zeros."""
    kind = operations.kind(operand)
    inactive = not core.reads(operand) & operations.fn.facts.active
    return inactive and not isinstance(operand, gast.Constant) and isinstance(kind, (K.Array, K.Numeric, K.Bool))


def _assignments(stmts: Sequence[Any]) -> Iterator[tuple[set[str], Any]]:
    for stmt in reversed(stmts):
        for _, block in reversed(core.blocks(stmt)):
            yield from _assignments(block)
        if isinstance(stmt, gast.Assign):
            yield set(core.writes(stmt)), stmt.value
