"""Which values may lose parts later on, so that a zero cotangent can meet an infinite slope.

Where a quotient or logarithm is infinite and the function goes on with it, its derivative is infinite too and no guard
is needed; where the infinite entry is masked out, indexed away or clipped, its cotangent is zero, and zero times
infinity must be zero. The guard costs a pass over the array, so it is written only where this can happen.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from functools import lru_cache
from typing import Any

import gast
import numpy as np

from s2s import core, rules
from s2s import kinds as K
from s2s.rules.arithmetic import POWERS
from s2s.runtime import stores
from s2s.runtime.numeric import unbroadcast
from s2s.transforms.callee import operation
from s2s.transforms.conduct import draws
from s2s.transforms.operations import Operations, boolean_index
from s2s.transforms.usercalls import callee_of

SELECTING = {
    np.where, np.select, np.choose, np.maximum, np.minimum, np.fmax, np.fmin, np.clip, np.ndarray.clip, np.max, np.min,
    np.ndarray.max, np.ndarray.min, max, min, np.take, np.ndarray.take, np.compress, np.extract, np.nansum, np.nanmean,
    np.nan_to_num, np.sort, np.ndarray.sort, np.triu, np.tril, np.diag, np.diagonal, np.trace, np.median, np.isfinite,
    np.tanh, np.arctan, np.exp, np.logaddexp, np.sign, np.heaviside, np.prod, np.ndarray.prod, operator.getitem,
}  # fmt: skip


# These are not finite where an operand is not, or an entry of it.
HANDING_ON = {
    np.sum, np.ndarray.sum, np.mean, np.ndarray.mean, sum, math.fsum, float, np.cumsum, np.ndarray.cumsum,
    np.linalg.norm, np.var, np.ndarray.var, np.std, np.ndarray.std, np.dot, np.ndarray.dot, np.matmul, np.outer,
    np.inner, np.vdot, np.tensordot, np.reshape, np.ndarray.reshape, np.ravel, np.ndarray.ravel, np.ndarray.flatten,
    np.ndarray.T,
    np.transpose, np.ndarray.transpose, np.swapaxes, np.ndarray.swapaxes, np.moveaxis, np.expand_dims, np.squeeze,
    np.ndarray.squeeze, np.broadcast_to, np.concatenate, np.stack, np.hstack, np.vstack, np.dstack, np.column_stack,
    np.block, np.flip, np.flipud, np.fliplr, np.roll, np.rot90, np.array, np.asarray, np.asanyarray,
    np.ascontiguousarray, np.ndarray.astype, np.ndarray.item, np.full, np.full_like, list, tuple, unbroadcast,
    stores.private,
}  # fmt: skip
# What a program that calls one of these is given may hold entries that are no numbers.
MISSING_DATA = {
    np.isnan, np.isfinite, np.isinf, np.nan_to_num, np.nansum, np.nanmean, np.nanprod, np.nanvar, np.nanstd, np.nanmax,
    np.nanmin,
}  # fmt: skip
# These hand on the entries of their operands as they are.
MOVING = {
    np.where, np.select, np.choose, operator.getitem, np.take, np.ndarray.take, np.stack, np.concatenate, np.hstack,
    np.vstack, np.dstack, np.column_stack, np.block, np.append, np.roll, np.repeat, np.tile, np.array, np.asarray,
    np.asanyarray, np.ascontiguousarray, np.ndarray.astype, np.full, np.full_like, np.copy, np.ndarray.copy,
    np.ndarray.flatten, np.ndarray.item, np.pad, np.sort, list, tuple, float,
}  # fmt: skip


def may_be_steep(operations: Operations) -> set[str]:
    """The active names whose cotangent may be infinite: a later operation may have an infinite slope."""
    return _leading_to(_singular, operations)


def may_move_steeply(operations: Operations, nonfinite: set[str], given: Set[str] = frozenset()) -> set[str]:
    """The names whose tangents may be infinite or no numbers: results of what has an infinite slope, and what follows.

    nonfinite: what `may_be_nonfinite` gives.
    given: the parameters whose tangents may be so.
    """

    def results(targets: set[str], value: Any, found: set[str]) -> set[str]:
        moves = core.reads(value) & (found | operations.fn.facts.active)
        return (
            targets
            if moves and (core.reads(value) & (found | nonfinite) or _singular(targets, value, operations))
            else set()
        )

    return _closure(results, operations, given, forward=True)


def may_be_nonfinite(operations: Operations, given: Set[str] = frozenset(), but: Set[str] = frozenset()) -> set[str]:
    """The names that are not finite where a quotient or logarithm is infinite, or a root has no real value.

    As factors they are slopes of products: of `where(x > 0, x * log(x), 0)` the one by x. Python's numbers raise
    instead. What is written as no finite number counts too, and so do data, where the program asks for missing ones.

    given: the parameters that may be so. but: quotients whose divisors are no zeros.
    """

    def results(targets: set[str], value: Any, found: set[str]) -> set[str]:
        if targets <= found:
            return set()
        if _written_nonfinite(value, operations):
            return targets
        singular = not targets <= but and _singular(targets, value, operations)
        if not (singular or _passes_on(value, found, operations)):
            return set()
        return {n for n in targets if not K.is_python_number(operations.kind(core.name(n)))}

    numbers = {n for n in given if K.is_python_number(operations.kind(core.name(n)))}
    return _closure(results, operations, _incomplete_data(operations) | (given - numbers), forward=True)


def _incomplete_data(operations: Operations) -> set[str]:
    """The arrays that the program is given, where it may leave out entries that are no numbers.

    A program that asks which entries are numbers may have such ones in all arrays; one that masks entries out, in those
    that it is not differentiated by.
    """
    assigned = list(_assignments(operations.fn.body))
    asks = any(_asks(value, operations) for _, value in assigned)
    if not asks and not any(_masks(value, operations) for _, value in assigned):
        return set()
    given = set[str]().union(*(core.reads(value) for _, value in assigned)).difference(*(t for t, _ in assigned))
    floats = {n for n in given if (K.dtype_of(operations.kind(core.name(n))) or np.dtype(bool)).kind in "fc"}
    return floats if asks else floats - operations.fn.facts.active


def _asks(value: Any, operations: Operations) -> bool:
    """Whether an operation asks which entries are numbers, or leaves out those that are none."""
    return isinstance(value, gast.Call) and operations.function(value) in MISSING_DATA


def _masks(value: Any, operations: Operations) -> bool:
    """Whether an operation leaves out entries by a mask."""
    if isinstance(value, gast.Subscript):
        return boolean_index(value.slice, operations.kind)
    if not isinstance(value, gast.Call):
        return False
    return operations.function(value) is np.where or any(k.arg == "where" for k in value.keywords)


def _written_nonfinite(value: Any, operations: Operations) -> bool:
    """Whether an expression is `np.nan`, `math.inf`, `float("nan")`, or has such a number as an operand."""
    if isinstance(value, gast.Attribute):
        owner = operations.kind(value.value)
        return isinstance(owner, K.Static) and _is_nonfinite(getattr(owner.value, value.attr, None))
    if isinstance(value, gast.Call) and operations.function(value) is float and len(value.args) == 1:
        (text,) = value.args
        return isinstance(text, gast.Constant) and isinstance(text.value, str)
    return any(_is_nonfinite(operations.fn.scope.lookup(n)) for n in core.reads(value) - operations.local)


def _is_nonfinite(value: Any) -> bool:
    return isinstance(value, (float, np.floating)) and not np.isfinite(value)


def _leading_to(reached: Callable[[set[str], Any, Operations], bool], operations: Operations) -> set[str]:
    """The active names from which an operation of some sort is reached."""

    def operands(targets: set[str], value: Any, found: set[str]) -> set[str]:
        leads = targets & found or reached(targets, value, operations)
        return set(core.reads(value) & operations.fn.facts.active) if leads else set()

    return _closure(operands, operations)


def _closure(
    more: Callable[[set[str], Any, set[str]], set[str]],
    operations: Operations,
    known: Iterable[str] = (),
    *,
    forward: bool = False,
) -> set[str]:
    """All names that `more(targets, value, found)` gives for the assignments of the function, until none is new.

    forward: assignments are visited in the order of the program, along which results follow from operands; else
    backwards. So a round is enough, but for what goes round loops.
    """
    assigned = list(_assignments(operations.fn.body))
    if forward:
        assigned.reverse()
    found = set(known)
    size = -1
    while size != len(found):
        size = len(found)
        for targets, value in assigned:
            found |= more(targets, value, found)
    return found


def _singular(targets: set[str], value: Any, operations: Operations) -> bool:
    """Whether an operation may have an infinite slope, or no value, somewhere."""
    if not isinstance(value, (gast.BinOp, gast.UnaryOp, gast.Call)) or targets <= operations.ranges.steady:
        return False
    if _is_users(value, operations):
        return True
    rule = rules.find(operations.function(value))
    return rule is not None and (rule.singular or rule.guarded or _fractional(value, operations))


def _passes_on(value: Any, found: set[str], operations: Operations) -> bool:
    """Whether an operation gives what is not finite where its operand is not."""
    if not core.reads(value) & found or isinstance(value, gast.Compare):
        return False
    if isinstance(value, (gast.Name, gast.List, gast.Tuple)):
        return True
    function = operations.function(value)
    rule = rules.find(function)
    return function in POWERS or function in MOVING or (rule is not None and bool(rule.bodies or rule.view))


def _is_users(value: Any, operations: Operations) -> bool:
    """Whether an expression calls a function of the user's, which may do anything; in `callpairs` it goes by a cell."""
    if not isinstance(value, gast.Call) or not core.reads(value) & operations.fn.facts.active:
        return False
    function = operations.function(value)
    return function is None or callee_of(function) is not None


def _fractional(value: Any, operations: Operations) -> bool:
    """Whether an operation is a power that not all real numbers have."""
    if operations.function(value) not in POWERS:
        return False
    exponent = value.right if isinstance(value, gast.BinOp) else (value.args or [None])[-1]
    return not (isinstance(exponent, gast.Constant) and type(exponent.value) is int and exponent.value >= 0)


def may_drop(name: str, value: Any, operations: Operations) -> bool:
    """Whether an operation may be finite though its operand of a name is not.

    Of functions that work element by element, this is asked of the function itself; of others, few are known not to.
    """
    if isinstance(value, gast.BinOp) and isinstance(value.op, (gast.Mult, gast.MatMult)):
        return any(_mask(operand, operations) for operand in (value.left, value.right))
    if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Div):
        return name in core.reads(value.right)  # a quotient by infinity is zero
    if _is_users(value, operations):
        return True
    function, operands, keywords = operation(value, operations.kind, operations.local)
    if function is None:
        return False  # a display
    if function in SELECTING or "where" in keywords or draws(function):
        return True
    rule = rules.find(function)
    if rule is None or not rule.bodies or function in POWERS:
        return function not in HANDING_ON and function not in POWERS
    at = [i for i, operand in enumerate(operands) if getattr(operand, "id", None) == name]
    number = 1.0 + 1.0j if (K.dtype_of(operations.kind(core.name(name))) or K.FLOAT.dtype).kind == "c" else 1.0
    return not at or any(_is_finite_at_infinity(function, len(operands), i, number) for i in at)


@lru_cache(maxsize=1000)
def _is_finite_at_infinity(function: Any, count: int, at: int, number: complex) -> bool:
    """Whether a function that works element by element is finite somewhere though an operand of it is not.

    number: one of the kind of the operand.
    """
    parts = [np.inf, -np.inf] if number == 1.0 else [complex(np.inf, 1.0), complex(-np.inf, 1.0), complex(1.0, np.inf)]
    for infinite, other in itertools.product(parts, (-2.0, 0.5, 2.0)):
        operands = [np.array(infinite if i == at else other) for i in range(count)]
        try:
            with np.errstate(all="ignore"):
                if np.isfinite(function(*operands)):
                    return True
        except (ValueError, OverflowError):
            pass  # so does the program then
        except Exception:  # it takes other operands than these, so that nothing is known of it
            return True
    return False


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
