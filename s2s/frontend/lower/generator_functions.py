"""Generator functions that are gone through where they are called -> their bodies, around what is done for each item.

def squares(xs):                        xs = a
    for x in xs:                        for x in xs:
        yield x * x             ->          v = x * x
for v in squares(a):                        s += v
    s += v

A nested one, or one of the module, whose items are all taken, in their order: so what stands between two of them
happens when it would. What leaves the loop early, and what the generator returns early, is refused. A context manager
that `contextlib.contextmanager` made is one that yields once, around the body of the `with`.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import gast

from s2s import core
from s2s.frontend.lower import names
from s2s.frontend.lower.blocks import block
from s2s.frontend.lower.lowering import Lowering
from s2s.frontend.source import find_any


@dataclass(frozen=True)
class Running:
    """A generator that a call has made: the body of its function, and what its variables are called."""

    body: list[Any]
    renamed: dict[str, str]


@dataclass(frozen=True)
class Generator:
    """A nested generator function: its node, and what the variables around it are called."""

    node: Any
    renamed: dict[str, str]


def define(low: Lowering, node: Any) -> bool:
    """Take note of a nested generator function; False for any other."""
    if not any(isinstance(n, gast.Yield) for n in names.own_nodes(node)):
        return False
    if node.decorator_list or low.names.mangle(node.name) in low.names.repeated:
        raise low.refuse("a generator function with decorators, or under a name that is bound again,", node)
    low.generators[low.names.mangle(node.name)] = Generator(node, low.renamed)
    return True


def is_call(low: Lowering, node: Any) -> bool:
    """Whether an expression is a call of a generator function that is known."""
    if not isinstance(node, gast.Call):
        return False
    named = isinstance(node.func, gast.Name) and low.names.mangle(node.func.id) in low.generators
    return named or inspect.isgeneratorfunction(low.resolve(node.func))


def running(low: Lowering, call: Any) -> Running | None:
    """What a call of a generator function makes, its arguments evaluated now; None for any other call."""
    if not isinstance(call, gast.Call):
        return None
    function = low.resolve(call.func)
    known = low.generators.get(low.names.mangle(call.func.id)) if isinstance(call.func, gast.Name) else None
    if known is not None:
        node, around = known.node, known.renamed
    elif inspect.isgeneratorfunction(function):
        if function.__globals__ is not low.names.scope.globals:
            raise low.refuse(f"the generator function {function.__name__}, which is one of another module,", call)
        if function.__closure__ or function.__defaults__ or function.__kwdefaults__:
            raise low.refuse("a generator function with defaults, or of another function,", call)
        node, around = find_any(function).node, {}
    else:
        return None
    _refuse_odd(low, node, call, _ODD)
    return _started(low, node, call, around, nested=known is not None)


def managed(low: Lowering, call: Any) -> Running | None:
    """The generator behind a call of a context manager that `contextlib.contextmanager` made; None for any other."""
    function = low.resolve(call.func) if isinstance(call, gast.Call) else None
    inner = getattr(function, "__wrapped__", None)
    if getattr(function, "__code__", None) is not _MANAGER or not inspect.isgeneratorfunction(inner):
        return None
    if inner.__globals__ is not low.names.scope.globals or inner.__closure__ or inner.__defaults__:
        return None
    node = find_any(inner).node
    if not _yields_once(node.body):
        return None
    _refuse_odd(low, node, call, _ODD_IN_MANAGERS)
    return _started(low, node, call, {}, nested=False)


_MANAGER = contextlib.contextmanager(lambda: iter(())).__code__
_ODD_IN_MANAGERS = (
    gast.YieldFrom, gast.Await, gast.Return, gast.FunctionDef, gast.Lambda, gast.Global, gast.Nonlocal, gast.ClassDef,
    gast.Delete,
)  # fmt: skip
_ODD = (*_ODD_IN_MANAGERS, gast.Try, gast.With)


def _yields_once(body: list[Any]) -> bool:
    """Whether statements surely yield once, as far as these stand in no branches."""
    yields = [s for s in body if any(isinstance(n, gast.Yield) for n in gast.walk(s))]
    if len(yields) != 1:
        return False
    (stmt,) = yields
    if isinstance(stmt, (gast.Try, gast.With)):
        rest = [*getattr(stmt, "handlers", ()), *getattr(stmt, "orelse", ()), *getattr(stmt, "finalbody", ())]
        return not any(isinstance(n, gast.Yield) for r in rest for n in gast.walk(r)) and _yields_once(stmt.body)
    return isinstance(stmt, gast.Expr) and isinstance(stmt.value, gast.Yield)


def _started(low: Lowering, node: Any, call: Any, around: dict[str, str], nested: bool) -> Running:
    own = names.collect(node, low.names.scope, low.names.class_name)
    free = _free(node) - own.local
    if not nested and any(low.names.is_local(n) or n in low.renamed for n in free):
        raise low.refuse(f"a call of `{node.name}`, whose globals have the names of variables here,", call)
    renamed = {**around, **{name: low.temporary(name) for name in sorted(own.local)}}
    for param, argument in _bound(low, node, call):
        low.store(renamed[param], argument)
    return Running(list(node.body), renamed)


def _refuse_odd(low: Lowering, node: Any, call: Any, odd: tuple[type, ...]) -> None:
    inside = list(names.own_nodes(node))
    statements = sum(isinstance(n, gast.Expr) and isinstance(n.value, gast.Yield) for n in inside)
    if statements != sum(isinstance(n, gast.Yield) for n in inside) or any(isinstance(n, odd) for n in inside):
        raise low.refuse(f"the generator function {node.name}", call)
    params = node.args
    if params.vararg or params.kwarg or params.defaults or any(d is not None for d in params.kw_defaults):
        raise low.refuse(f"the generator function {node.name}, which has defaults or takes `*`,", call)


def _bound(low: Lowering, node: Any, call: Any) -> Iterable[tuple[str, Any]]:
    params = [p.id for p in (*node.args.posonlyargs, *node.args.args)]
    given = dict(zip(params, call.args)) | {k.arg: k.value for k in call.keywords}
    wanted = {*params, *(p.id for p in node.args.kwonlyargs)}
    starred = any(isinstance(a, gast.Starred) for a in call.args)
    if starred or given.keys() != wanted or len(call.args) + len(call.keywords) != len(wanted):
        raise low.refuse(f"this call of the generator function {node.name}", call)
    return [(low.names.mangle(name), value) for name, value in given.items()]


def _free(node: Any) -> set[str]:
    return {n.id for n in gast.walk(gast.Module(node.body, [])) if isinstance(n, gast.Name)}


def go_through(low: Lowering, target: str, made: Running, each: Callable[[], None]) -> None:
    """Emit the body of a generator, with what `each` emits after every item, which the target names."""
    outside, loops = low.renamed, low.loops

    def item(value: Any) -> None:
        low.store(target, core.constant(None) if value is None else value)
        inside, inner = low.renamed, low.loops
        low.renamed, low.loops = outside, loops
        each()
        low.renamed, low.loops = inside, inner

    low.effects += 1
    low.renamed, low.loops = made.renamed, []
    low.yielding.append(item)
    block(low, made.body)
    low.yielding.pop()
    low.renamed, low.loops = outside, loops


def give(low: Lowering, node: Any) -> None:
    """Do with an item of the innermost generator what is done with it where the generator is gone through."""
    take = low.yielding.pop()  # which is no part of this generator
    take(node.value)
    low.yielding.append(take)
