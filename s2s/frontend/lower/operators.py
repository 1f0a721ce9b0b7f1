"""Operators. `and`, `or`, chained comparisons and conditional expressions become branches:

                    t = a                                   t = a < b
a and b     ->      if t:               a < b < c   ->      if t:
                        t = b                                   t = b < c
"""

from __future__ import annotations

from typing import Any

import gast

from s2s import core
from s2s.frontend.lower.lowering import Lowering, branches, lowers
from s2s.frontend.lower.operands import Held


@lowers(gast.Constant)
def constant(low: Lowering, node: Any) -> Any:
    return node


@lowers(gast.Name)
def name(low: Lowering, node: Any) -> Any:
    return low.load(node)


@lowers(gast.BinOp)
def binary(low: Lowering, node: Any) -> Any:
    left, right = low.operands([node.left, node.right])
    return gast.BinOp(left, node.op, right)


@lowers(gast.UnaryOp)
def unary(low: Lowering, node: Any) -> Any:
    operand = low.atom(node.operand)
    if isinstance(node.op, gast.USub) and isinstance(operand, gast.Constant) and type(operand.value) in (int, float):
        return core.constant(-operand.value)
    return gast.UnaryOp(node.op, operand)


@lowers(gast.Compare)
def compare(low: Lowering, node: Any) -> Any:
    left, right = low.operands([node.left, *node.comparators])
    return gast.Compare(left, node.ops, [right])


@branches(gast.Compare)
def chained_comparison(low: Lowering, node: Any, into: str) -> None:
    left, right = low.operands([node.left, node.comparators[0]])
    low.assign(into, gast.Compare(left, node.ops[:1], [right]))
    _go_on_comparing(low, node, 1, low.hold(right), into)


def _go_on_comparing(low: Lowering, node: Any, position: int, left: Held, into: str) -> None:
    """From the comparison at a position on; `left` is its left operand."""

    def then() -> None:
        right = low.atom(node.comparators[position])
        low.assign(into, gast.Compare(low.settle(left), [node.ops[position]], [right]))
        if position + 1 < len(node.ops):
            _go_on_comparing(low, node, position + 1, low.hold(right), into)

    low.branch(core.name(into), then)


@branches(gast.BoolOp)
def boolean(low: Lowering, node: Any, into: str) -> None:
    first, *rest = node.values
    low.store(into, first)

    def then() -> None:
        boolean(low, gast.BoolOp(node.op, rest), into)

    if rest:
        test = core.name(into)
        low.branch(test if isinstance(node.op, gast.And) else low.negated(test), then)


@branches(gast.IfExp)
def conditional(low: Lowering, node: Any, into: str) -> None:
    test = low.atom(node.test, "cond")
    low.branch(test, lambda: low.store(into, node.body), lambda: low.store(into, node.orelse))
