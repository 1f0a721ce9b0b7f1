"""Comprehensions -> loops that fill a new list, set or dict. Their targets are names of their own.

                                        t = []
[x * x for x in xs if x]        ->      iter = xs
                                        for x in iter:
                                            if x:
                                                t2 = x * x
                                                t.append(t2)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import gast

from s2s import core
from s2s.frontend.lower.assignments import assign_to
from s2s.frontend.lower.generator_functions import Running, go_through, running
from s2s.frontend.lower.generators import Parts, generator_of
from s2s.frontend.lower.lowering import Lowering, lowers


@lowers(gast.ListComp, gast.SetComp, gast.DictComp)
def comprehension(low: Lowering, node: Any) -> Any:
    return filled(low, node, opened(low, node.generators[0].iter))


@dataclass(frozen=True)
class Source:
    """What is iterated over: a name, or a generator and what it iterates over itself, or several in turn."""

    header: str
    generator: Any = None
    inner: Source | None = None
    parts: tuple[Source, ...] = ()
    running: Running | None = None


def opened(low: Lowering, iterable: Any) -> Source:
    """An iterable, evaluated now."""
    if isinstance(iterable, Parts):
        return Source("", parts=tuple(opened(low, part) for part in iterable.elts))
    made = running(low, iterable)
    if made is not None:
        return Source("", running=made)
    generator = generator_of(low, iterable)
    if generator is not None:
        return source_of(low, generator)
    header = low.temporary("iter")
    low.store(header, iterable)
    return Source(header)


def source_of(low: Lowering, generator: Any) -> Source:
    """What `generator_of` gives, as a source."""
    return Source("", generator, opened(low, generator.generators[0].iter))


def filled(low: Lowering, node: Any, source: Source) -> Any:
    """The list, set or dict that a comprehension makes."""
    into = low.temporary("t")
    low.assign(into, _empty(low, node))
    through(low, node, source, lambda: _put(low, node, into))
    return core.name(into)


def through(low: Lowering, node: Any, source: Source, each: Callable[[], None], leaving: str | None = None) -> None:
    """Emit the loops of a comprehension, with what `each` emits inside.

    source: its first iterable, which is evaluated outside: there the targets still mean what they meant before.
    leaving: the flag that ends all loops.
    """
    if any(generator.is_async for generator in node.generators):
        raise low.refuse("an asynchronous comprehension", node)
    names = dict.fromkeys(name for generator in node.generators for name in _targets(generator.target))
    own = {low.names.mangle(name): low.temporary(core.stem(name)) for name in names}
    with _renamed(low, {**low.renamed, **own}):
        _loop(low, node.generators, source, each, leaving)


def iterate(low: Lowering, target: Any, source: Source, each: Callable[[], None], leaving: str | None) -> None:
    """Emit the loops that assign each item of a source to a target, with what `each` emits inside."""
    if source.parts:
        _in_turn(low, target, source.parts, each, leaving)
        return
    outside, generator = low.renamed, source.generator
    simple = isinstance(target, gast.Name)
    item = low.target_name(target.id) if simple else low.temporary("item")

    def one() -> None:
        if not simple:
            assign_to(low, target, core.name(item))
        each()

    def generated() -> None:
        low.store(item, generator.elt)
        with _renamed(low, outside):
            one()

    if source.running is not None:
        if leaving is not None:
            raise low.refuse("leaving a loop over a generator function early")
        go_through(low, item, source.running, one)
        return
    if source.inner is not None:
        through(low, generator, source.inner, generated, leaving)
        return
    with low.nested() as body:
        body.bound.add(item)
        one()
        if leaving is not None:
            low.emit(gast.If(core.name(leaving), [core.place(gast.Break(), low.origin)], []))
    low.emit(gast.For(core.name(item, gast.Store), core.name(source.header), body.body(), [], None))


def _in_turn(
    low: Lowering, target: Any, sources: tuple[Source, ...], each: Callable[[], None], leaving: str | None
) -> None:
    first, *rest = sources
    iterate(low, target, first, each, leaving)
    if rest and leaving is None:
        _in_turn(low, target, tuple(rest), each, leaving)
    elif rest:
        low.branch(low.negated(core.name(leaving)), lambda: _in_turn(low, target, tuple(rest), each, leaving))


@contextmanager
def _renamed(low: Lowering, names: dict[str, str]) -> Iterator[None]:
    outside, low.renamed = low.renamed, names
    try:
        yield
    finally:
        low.renamed = outside


def _empty(low: Lowering, node: Any) -> Any:
    if isinstance(node, gast.DictComp):
        return gast.Dict([], [])
    if not isinstance(node, gast.SetComp):
        return gast.List([], gast.Load())
    if low.names.is_local("set") or low.names.scope.lookup("set") is not set:
        raise low.refuse("a set comprehension where `set` has another meaning", node)
    return core.call("set")


def _targets(target: Any) -> list[str]:
    return [n.id for n in gast.walk(target) if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Store)]


def _loop(low: Lowering, generators: list[Any], source: Source, each: Callable[[], None], leaving: str | None) -> None:
    generator, *inner = generators
    iterate(low, generator.target, source, lambda: _filter(low, generator.ifs, inner, each, leaving), leaving)


def _filter(low: Lowering, tests: list[Any], inner: list[Any], each: Callable[[], None], leaving: str | None) -> None:
    if tests:
        low.branch(low.atom(tests[0], "cond"), lambda: _filter(low, tests[1:], inner, each, leaving))
    elif inner:
        _loop(low, inner, opened(low, inner[0].iter), each, leaving)
    else:
        each()


def _put(low: Lowering, node: Any, into: str) -> None:
    if isinstance(node, gast.DictComp):
        key, value = low.operands([node.key, node.value])
        low.emit(gast.Assign([core.subscript(into, key, gast.Store)], value, None))
    else:
        method = "add" if isinstance(node, gast.SetComp) else "append"
        low.emit(gast.Expr(core.call(core.attribute(into, method), low.atom(node.elt))))
