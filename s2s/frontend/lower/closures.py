"""Nested functions and lambdas -> `def` statements of Core, whose own variables have names of their own.

    def g(z, k=2.0):                        k··3 = 2.0
        t = z * k                   ->      def g(z··1, k··2=k··3):
        return t + y                            t··4 = z··1 * k··2
                                                ...

Free names are the variables of the enclosing function. Those that such a function rebinds stand in a `Nonlocal` at its
beginning.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gast

from s2s import core
from s2s.frontend.lower import names, refusals
from s2s.frontend.lower.generator_functions import define
from s2s.frontend.lower.lowering import Lowering, lowers

Body = Callable[[Lowering, list[Any]], None]
# How the body of a function is lowered, which `lower` knows.
BODY: list[Body] = []


@lowers(gast.FunctionDef)
def definition(low: Lowering, node: Any) -> None:
    if define(low, node):
        return
    if node.decorator_list:
        raise low.refuse("a nested function with decorators", node)
    body = node.body[1:] if _is_text(node.body[0]) else node.body
    name = low.target_name(node.name)
    low.block.bound.add(name)  # when it is called, at the latest
    low.emit(_closure(low, node, list(body), name))


@lowers(gast.Lambda)
def anonymous(low: Lowering, node: Any) -> Any:
    returned = gast.copy_location(gast.Return(node.body), node.body)
    made = _closure(low, node, [returned], low.temporary("lambda_"))
    low.emit(made)
    return core.name(made.name)


def _closure(low: Lowering, node: Any, body: list[Any], name: str) -> Any:
    outer = gast.FunctionDef(name, node.args, body, [], None, None, [])
    own = names.collect(outer, low.names.scope, low.names.class_name)
    if own.suspending is not None:
        refusals.refused(low, own.suspending)
    declared = [n for n in names.own_nodes(outer) if isinstance(n, (gast.Nonlocal, gast.Global))]
    rebound = [low.renamed.get(n, n) for d in declared for n in map(low.names.mangle, d.names)]
    if any(isinstance(d, gast.Global) for d in declared) or not all(map(low.names.is_local, rebound)):
        raise low.refuse("a nested function that rebinds names outside of itself", node)
    defaults = [d for d in (*node.args.defaults, *node.args.kw_defaults) if d is not None]
    held = iter(_held(low, defaults))
    inner = Lowering(replace(own, local=own.local | low.names.local), low.origins, low.origin)
    inner.take_over(low, own.local)
    inner.shared = low.shared | {inner.renamed.get(n, n) for n in own.shared}
    params = _parameters(node.args, inner, held)
    inner.block.bound.update(p.id for p in core.parameters(params))
    BODY[0](inner, body)
    low.take_back(inner)
    body = [core.place(gast.Nonlocal(rebound), low.origin)] if rebound else []
    made = gast.FunctionDef(name, params, [*body, *inner.block.statements], [], None, None, [])
    made.variables = frozenset(inner.renamed[n] for n in own.local)
    _refuse_unassigned(low, made)
    return made


def _is_text(stmt: Any) -> bool:
    return isinstance(stmt, gast.Expr) and isinstance(stmt.value, gast.Constant) and isinstance(stmt.value.value, str)


def _held(low: Lowering, defaults: list[Any]) -> list[Any]:
    """The defaults, evaluated now: atoms that mean the same for good."""
    found = []
    for atom in low.operands(defaults):
        if not isinstance(atom, gast.Constant):
            name = low.temporary("default")
            low.assign(name, atom)
            atom = core.name(name)
        found.append(atom)
    return found


def _parameters(params: Any, inner: Lowering, defaults: Any) -> Any:
    def parameter(param: Any) -> Any:
        return param and core.name(inner.renamed[inner.names.mangle(param.id)], gast.Param)

    return gast.arguments(
        args=[parameter(p) for p in params.args],
        posonlyargs=[parameter(p) for p in params.posonlyargs],
        vararg=parameter(params.vararg),
        kwonlyargs=[parameter(p) for p in params.kwonlyargs],
        defaults=[next(defaults) for _ in params.defaults],
        kw_defaults=[d and next(defaults) for d in params.kw_defaults],
        kwarg=parameter(params.kwarg),
    )


def _refuse_unassigned(low: Lowering, made: Any) -> None:
    """Refuse a variable whose assignments can never run: in the text that is left it would mean something else."""
    written = {p.id for p in core.parameters(made.args)} | {n for s in made.body for n in core.all_writes(s)}
    for name in sorted((core.reads(made.body) & made.variables) - written):
        raise low.refuse(f"{core.stem(name)!r}, which is read, but no assignment to it can be reached,")
