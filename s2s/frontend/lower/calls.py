"""Calls. A method of a local stays one operation: the method is looked up with the call, after the arguments.

So does a function that is no local. A call among the arguments that rebinds either would be missed, for Python looks
the function up first; and an error in merging `**` arguments comes after all arguments are evaluated. Everything else
goes in Python's order.
"""

from __future__ import annotations

from typing import Any

import gast

from s2s.frontend.lower import names
from s2s.frontend.lower.access import path
from s2s.frontend.lower.folds import folded
from s2s.frontend.lower.getters import attribute
from s2s.frontend.lower.lowering import Lowering, lowers
from s2s.frontend.lower.orders import ordered
from s2s.frontend.lower.partials import partial
from s2s.frontend.lower.taking import taken


@lowers(gast.Call)
def call(low: Lowering, node: Any) -> Any:
    function = low.resolve(node.func)
    arguments = [*node.args, *node.keywords]
    if names.reads_frame(function, len(arguments)):
        raise low.refuse(f"a call of {function.__name__}", node)
    for form in (taken, ordered, folded, partial, attribute):
        value = form(low, function, node)
        if value is not None:
            return value
    whole = low.is_path(node.func) and isinstance(node.func, gast.Attribute)
    method = isinstance(node.func, gast.Attribute) and not whole
    owner = node.func.value if method else node.func
    held = low.hold(path(low, owner) if whole else low.atom(owner), volatile=False)
    operands = low.settle_all([held, *(low.hold(low.operand(argument)) for argument in arguments)])
    callee = gast.Attribute(operands[0], low.names.mangle(node.func.attr), gast.Load()) if method else operands[0]
    if not names.is_harmless(function):
        low.effects += 1
    count = 1 + len(node.args)
    return gast.Call(callee, operands[1:count], operands[count:])


@lowers(gast.keyword)
def keyword(low: Lowering, node: Any) -> Any:
    return gast.keyword(node.arg, low.atom(node.value))
