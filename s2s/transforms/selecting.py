"""Which values may lose parts later on, so that a zero cotangent can meet an infinite slope.

Where a quotient or logarithm is infinite and the function goes on with it, its derivative is infinite too and no guard
is needed; where the infinite entry is masked out, indexed away or clipped, its cotangent is zero, and zero times
infinity must be zero. The guard costs a pass over the array, so it is written only where this can happen.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import gast
import numpy as np

from s2s import core, rules
from s2s import kinds as K
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


def may_be_dropped(operations: Operations) -> set[str]:
    """The active names of which a later operation may drop or saturate entries."""
    return _leading_to(_may_drop, operations)


def may_be_steep(operations: Operations) -> set[str]:
    """The active names whose cotangent may be infinite: a later operation may have an infinite slope."""
    return _leading_to(_singular, operations)


def may_be_nonfinite(operations: Operations) -> set[str]:
    """The names that are not finite where a quotient or logarithm is infinite, or a root has no real value.

    As factors they are slopes of products: of `where(x > 0, x * log(x), 0)` the one by x. Python's numbers raise
    instead.
    """

    def results(targets: set[str], value: Any, found: set[str]) -> set[str]:
        if targets <= found or not (_singular(value, operations) or _passes_on(value, found, operations)):
            return set()
        return {n for n in targets if not K.is_python_number(operations.kind(core.name(n)))}

    return _closure(results, operations)


def _leading_to(reached: Callable[[Any, Operations], bool], operations: Operations) -> set[str]:
    """The active names from which an operation of some sort is reached."""

    def operands(targets: set[str], value: Any, found: set[str]) -> set[str]:
        leads = targets & found or reached(value, operations)
        return core.reads(value) & operations.fn.facts.active if leads else set()

    return _closure(operands, operations)


def _closure(more: Callable[[set[str], Any, set[str]], set[str]], operations: Operations) -> set[str]:
    """All names that `more(targets, value, found)` gives for the assignments of the function, until none is new."""
    assigned = list(_assignments(operations.fn.body))
    found: set[str] = set()
    size = -1
    while size != len(found):
        size = len(found)
        for targets, value in assigned:
            found |= more(targets, value, found)
    return found


def _singular(value: Any, operations: Operations) -> bool:
    """Whether an operation may have an infinite slope, or no value, somewhere."""
    if not isinstance(value, (gast.BinOp, gast.UnaryOp, gast.Call)):
        return False
    rule = rules.find(operations.function(value))
    return rule is not None and (rule.singular or rule.guarded or _fractional(value, operations))


def _passes_on(value: Any, found: set[str], operations: Operations) -> bool:
    """Whether an operation gives what is not finite where its operand is not."""
    if not core.reads(value) & found or not isinstance(value, (gast.BinOp, gast.UnaryOp, gast.Call, gast.Name)):
        return False
    if isinstance(value, gast.Name):
        return True
    function = operations.function(value)
    rule = rules.find(function)
    return function in POWERS or (rule is not None and bool(rule.bodies))


def _fractional(value: Any, operations: Operations) -> bool:
    """Whether an operation is a power that not all real numbers have."""
    if operations.function(value) not in POWERS:
        return False
    exponent = value.right if isinstance(value, gast.BinOp) else (value.args or [None])[-1]
    return not (isinstance(exponent, gast.Constant) and type(exponent.value) is int and exponent.value >= 0)


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
