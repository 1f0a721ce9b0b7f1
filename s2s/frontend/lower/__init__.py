"""A parsed function -> a function in Core Python.

The rewritings stand in one module for each family of constructs, registered by the type of node (`lowering.py`). A new
syntax form is one more module here, imported below.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import gast

from s2s import core, errors
from s2s.frontend.lower import (
    access,
    assignments,
    blocks,
    calls,
    closures,
    combinations,
    comprehensions,
    displays,
    effects,
    imports,
    loops,
    matches,
    operators,
    refusals,
    tries,
)
from s2s.frontend.lower.flow import Flow
from s2s.frontend.lower.lowering import Lowering
from s2s.frontend.lower.names import collect
from s2s.frontend.lower.parameters import lower_parameters
from s2s.frontend.origins import origin as place_of
from s2s.frontend.scope import scope_of
from s2s.frontend.source import find

FORMS = (access, assignments, blocks, calls, closures, combinations, comprehensions, displays, effects, imports, loops,
         matches, operators, refusals, tries)  # fmt: skip


def lower_function(function: Any) -> core.Function:
    """Lower what a call of `function` runs. Raises as `source.find` and `lower` do."""
    source = find(function)
    return lower(
        source.node,
        scope=scope_of(source.function),
        file=source.file,
        text_lines=source.lines,
        class_name=source.class_name,
        defaults={**source.defaults, **source.kwdefaults},
        shown=source.function.__code__.co_name,
    )


def lower(
    node: Any,
    *,
    scope: core.Scope,
    file: str,
    text_lines: tuple[str, ...] | list[str] | str,
    class_name: str | None = None,
    defaults: Mapping[str, Any] | None = None,
    shown: str | None = None,
) -> core.Function:
    """Lower a function definition to Core Python.

    scope: what its free names mean.
    file, text_lines: the file, and its lines, to which the positions of the nodes refer.
    class_name: the class around the function, which mangles private names.
    defaults: the default objects by parameter name.
    shown: what messages call the function, if not by the name of its definition.

    Raises NotCompiled where the function holds a construct that is not lowered, naming it and its place.
    """
    lines = text_lines.splitlines(keepends=True) if isinstance(text_lines, str) else text_lines

    def origins(part: Any) -> core.Origin:
        return place_of(part, file, lines, shown or node.name)

    origin = origins(node)
    try:
        return _lower(node, Lowering(collect(node, scope, class_name), origins, origin), defaults or {})
    except RecursionError:
        raise errors.NotCompiled(f"{node.name} is nested too deeply", origin=origin) from None


def _lower(node: Any, low: Lowering, defaults: Mapping[str, Any]) -> core.Function:
    suspending = node if isinstance(node, gast.AsyncFunctionDef) else low.names.suspending
    if suspending is not None:
        refusals.refused(low, suspending)
    params, scope = lower_parameters(node.args, low.names, defaults, low.origin)
    low.names = replace(low.names, scope=scope)
    low.block.bound.update(p.id for p in core.parameters(params))
    doc, statements = _split_docstring(node.body)
    _lower_body(low, statements)
    lowered = core.Function(node.name, params, tuple(low.block.statements), low.names.scope, low.origin, doc)
    _refuse_unassigned(low, lowered)
    return lowered


def _split_docstring(body: list[Any]) -> tuple[str | None, list[Any]]:
    first, *rest = body
    if isinstance(first, gast.Expr) and isinstance(first.value, gast.Constant) and isinstance(first.value.value, str):
        return first.value.value, rest
    return None, body


def _lower_body(low: Lowering, statements: list[Any]) -> None:
    """The statements, and one `return`: of the last statement's value if it is the only one, else of `result`."""
    *before, last = statements or [gast.Pass()]
    ahead = low.flow.block(before)
    if isinstance(last, gast.Return) and ahead == Flow():
        blocks.block(low, before)
        with low.at(low.origins(last)):
            low.emit(gast.Return(low.atom(last.value or core.constant(None), "result")))
        return
    if low.flow.block(statements) == Flow():
        blocks.block(low, statements)
        low.emit(gast.Return(core.constant(None)))
        return
    if low.flow.block(statements).falls:
        statements = [*statements, core.place(gast.Return(None), low.origin)]
    blocks.block(low, statements)
    low.emit(gast.Return(core.constant(None) if low.result is None else core.name(low.result)))


closures.BODY.append(_lower_body)


def _refuse_unassigned(low: Lowering, lowered: core.Function) -> None:
    """Refuse a local whose assignments can never run: in the text that is left it would be a global."""
    for name in low.read.keys() - lowered.local_names():
        raise errors.NotCompiled(f"{name!r} is read, but no assignment to it can be reached", origin=low.read[name])
