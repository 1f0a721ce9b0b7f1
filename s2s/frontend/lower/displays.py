"""Displays of tuples, lists, sets and dicts, and f-strings: their parts become atoms."""

from __future__ import annotations

from typing import Any

import gast

from s2s.frontend.lower.lowering import Lowering, lowers


@lowers(gast.Tuple, gast.List, gast.Set)
def sequence(low: Lowering, node: Any) -> Any:
    elements = low.operands(node.elts)
    return gast.Set(elements) if isinstance(node, gast.Set) else type(node)(elements, gast.Load())


@lowers(gast.Starred)
def starred(low: Lowering, node: Any) -> Any:
    return gast.Starred(low.atom(node.value), gast.Load())


@lowers(gast.Dict)
def dictionary(low: Lowering, node: Any) -> Any:
    parts: list[Any] = []
    for key, value in zip(node.keys, node.values):
        parts.extend([gast.keyword(None, value)] if key is None else [key, value])
    operands = iter(low.operands(parts))
    keys: list[Any] = []
    values: list[Any] = []
    for operand in operands:
        unpacked = isinstance(operand, gast.keyword)
        keys.append(None if unpacked else operand)
        values.append(operand.value if unpacked else next(operands))
    return gast.Dict(keys, values)


@lowers(gast.JoinedStr)
def formatted(low: Lowering, node: Any) -> Any:
    return gast.JoinedStr(low.operands(node.values))


@lowers(gast.FormattedValue)
def formatted_value(low: Lowering, node: Any) -> Any:
    value = low.hold(low.atom(node.value))
    spec = None if node.format_spec is None else low.value(node.format_spec)
    return gast.FormattedValue(low.settle(value), node.conversion, spec)
