"""Displays of tuples, lists, sets and dicts, and f-strings: their parts become atoms."""

from __future__ import annotations

import sys
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


# Of `{x!r:{width()}}`: whether x is converted before the width is known.
_CONVERTS_FIRST = sys.version_info >= (3, 13)


@lowers(gast.JoinedStr)
def formatted(low: Lowering, node: Any) -> Any:
    return gast.JoinedStr(low.operands(node.values))


@lowers(gast.FormattedValue)
def formatted_value(low: Lowering, node: Any) -> Any:
    value, conversion, spec = node.value, node.conversion, node.format_spec
    computed = spec is not None and any(isinstance(part, gast.FormattedValue) for part in spec.values)
    if _CONVERTS_FIRST and conversion != -1 and computed:
        value, conversion = gast.JoinedStr([gast.FormattedValue(value, conversion, None)]), -1
    held = low.hold(low.atom(value))
    spec = None if spec is None else low.value(spec)
    return gast.FormattedValue(low.settle(held), conversion, spec)
