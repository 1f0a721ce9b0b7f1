"""Comprehensions -> loops that fill a new list, set or dict. Their targets are names of their own.

                                        t = []
[x * x for x in xs if x]        ->      iter = xs
                                        for x in iter:
                                            if x:
                                                t2 = x * x
                                                t.append(t2)
"""

from __future__ import annotations

from typing import Any

import gast

from s2s import core
from s2s.frontend.lower.assignments import assign_to
from s2s.frontend.lower.lowering import Lowering, lowers


@lowers(gast.ListComp, gast.SetComp, gast.DictComp)
def comprehension(low: Lowering, node: Any) -> Any:
    if any(generator.is_async for generator in node.generators):
        raise low.refuse("an asynchronous comprehension", node)
    # The first iterable is evaluated outside: there the targets still mean what they meant before.
    header = low.temporary("iter")
    low.store(header, node.generators[0].iter)
    into = low.temporary("t")
    low.assign(into, _empty(low, node))
    outside = low.renamed
    names = dict.fromkeys(name for generator in node.generators for name in _targets(generator.target))
    low.renamed = {**outside, **{low.names.mangle(name): low.temporary(name) for name in names}}
    try:
        _loop(low, node, node.generators, header, into)
    finally:
        low.renamed = outside
    return core.name(into)


def _empty(low: Lowering, node: Any) -> Any:
    if isinstance(node, gast.ListComp):
        return gast.List([], gast.Load())
    if isinstance(node, gast.DictComp):
        return gast.Dict([], [])
    if low.names.is_local("set") or low.names.scope.lookup("set") is not set:
        raise low.refuse("a set comprehension where `set` has another meaning", node)
    return core.call("set")


def _targets(target: Any) -> list[str]:
    return [n.id for n in gast.walk(target) if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Store)]


def _loop(low: Lowering, node: Any, generators: list[Any], header: str, into: str) -> None:
    generator, *inner = generators
    simple = isinstance(generator.target, gast.Name)
    item = low.target_name(generator.target.id) if simple else low.temporary("item")
    with low.nested() as body:
        if not simple:
            assign_to(low, generator.target, core.name(item))
        _filter(low, node, generator.ifs, inner, into)
    low.emit(gast.For(core.name(item, gast.Store), core.name(header), body.body(), [], None))


def _filter(low: Lowering, node: Any, tests: list[Any], inner: list[Any], into: str) -> None:
    if tests:
        low.branch(low.atom(tests[0], "cond"), lambda: _filter(low, node, tests[1:], inner, into))
    elif inner:
        header = low.temporary("iter")
        low.store(header, inner[0].iter)
        _loop(low, node, inner, header, into)
    elif isinstance(node, gast.DictComp):
        key, value = low.operands([node.key, node.value])
        low.emit(gast.Assign([core.subscript(into, key, gast.Store)], value, None))
    else:
        method = "append" if isinstance(node, gast.ListComp) else "add"
        low.emit(gast.Expr(core.call(core.attribute(into, method), low.atom(node.elt))))
