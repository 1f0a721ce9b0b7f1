"""Generators whose items are all taken where they are made -> the loops of a comprehension.

sum(x * x for x in xs)     ->      sum([x * x for x in xs])
any(x > 0 for x in xs)     ->      a loop that ends at the first item that is true

The list holds what the generator gives; `sum` and the like do with it what they do with the generator, to the last bit.
"""

from __future__ import annotations

from typing import Any

import gast

from s2s import core
from s2s.frontend.lower.access import path
from s2s.frontend.lower.comprehensions import Source, filled, source_of, through
from s2s.frontend.lower.generators import generator_of
from s2s.frontend.lower.lowering import Lowering

# Functions that take all items of their first argument before they return.
TAKING = (sum, max, min, list, tuple, dict, set, frozenset, any, all)


def taken(low: Lowering, function: Any, node: Any) -> Any:
    """Emit a call that takes all items of a generator, and give its value; None for other calls."""
    joins = isinstance(node.func, gast.Attribute) and node.func.attr == "join" and _is_text(node.func.value)
    if not node.args or not (joins or any(function is f for f in TAKING)):
        return None
    generator = generator_of(low, node.args[0])
    if generator is None:
        return None
    _refuse_mixing(low, node)
    source = source_of(low, generator)
    inner: Any = source.inner
    rest = [low.hold(low.operand(argument)) for argument in [*node.args[1:], *node.keywords]]
    low.effects += 1
    if function in (any, all) and not rest:
        return _decided(low, generator, inner, function is any)
    if function is dict and not rest and isinstance(generator.elt, gast.Tuple) and len(generator.elt.elts) == 2:
        return filled(low, gast.DictComp(*generator.elt.elts, generator.generators), inner)
    kind = gast.SetComp if function is set and not rest else gast.ListComp
    items = filled(low, kind(generator.elt, generator.generators), inner)
    if function in (list, set) and not rest:
        return items
    operands = [items, *low.settle_all(rest)]
    callee = gast.Attribute(node.func.value, "join", gast.Load()) if joins else path(low, node.func)
    return gast.Call(callee, operands[: len(node.args)], operands[len(node.args) :])


def _is_text(node: Any) -> bool:
    return isinstance(node, gast.Constant) and isinstance(node.value, str)


def _decided(low: Lowering, generator: Any, source: Source, wanted: bool) -> Any:
    """`any` and `all` ask for items until one decides."""
    found = low.temporary("found")

    def each() -> None:
        test = low.atom(generator.elt, "cond")
        low.branch(test if wanted else low.negated(test), lambda: low.assign(found, core.constant(True)))

    low.assign(found, core.constant(False))
    through(low, generator, source, each, leaving=found)
    return core.name(found) if wanted else low.negated(core.name(found))


def _refuse_mixing(low: Lowering, node: Any) -> None:
    """Refuse what shows that items are made one by one, as they are asked for."""
    inside = list(gast.walk(node.args[0]))
    if any(isinstance(n, gast.Call) and low.resolve(n.func) is next for n in inside):
        raise low.refuse("a call of `next` in a generator expression", node)
    if any(isinstance(n, gast.NamedExpr) for n in inside) and any(k.arg == "key" for k in node.keywords):
        raise low.refuse("an assignment in a generator expression beside `key`", node)
