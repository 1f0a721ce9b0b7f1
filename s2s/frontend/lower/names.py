"""Which names of a function are local, as Python's own compiler decides it, and what its free names mean."""

from __future__ import annotations

import builtins
import cmath
import functools
import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from operator import attrgetter
from types import ModuleType
from typing import Any

import gast
import numpy as np

from s2s import core

SUSPENDING = (gast.Yield, gast.YieldFrom, gast.Await)

# What has no nodes of the function's own scope inside.
_CLOSED = frozenset((gast.Name, gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef, gast.Lambda))

# Functions of NumPy that call functions of the user, or step an iterator.
_CALLING_BACK = {
    "apply_along_axis",
    "apply_over_axes",
    "fromfunction",
    "fromiter",
    "frompyfunc",
    "piecewise",
    "vectorize",
}
_BUILTINS = (abs, bool, complex, float, int, isinstance, len, range, round, slice, str)


@dataclass(frozen=True)
class Names:
    """The names of one function.

    local: the names that the function binds anywhere, its parameters too.
    deleted: those that a `del` may unbind.
    shared: those that nested functions declare `nonlocal`: any call may rebind them.
    repeated: local names that are bound in several places.
    once: those that are bound in one place, and read in one.
    suspending: a node that makes the function a generator or coroutine, if there is one.
    class_name: the class around the function, which mangles its private names.
    scope: the meaning of all other names.
    """

    local: frozenset[str]
    deleted: frozenset[str]
    class_name: str | None
    scope: core.Scope
    suspending: Any = None
    shared: frozenset[str] = frozenset()
    repeated: frozenset[str] = frozenset()
    once: frozenset[str] = frozenset()

    def mangle(self, name: str) -> str:
        """`__x` inside of class `_C` is `_C__x`."""
        if self.class_name is None or not name.startswith("__") or name.endswith("__") or "." in name:
            return name
        owner = self.class_name.lstrip("_")
        return f"_{owner}{name}" if owner else name

    def is_local(self, name: str) -> bool:
        return name in self.local or core.is_temporary(name)

    def is_path(self, node: Any) -> bool:
        """Whether a node is a dotted read of something that is not local."""
        while isinstance(node, gast.Attribute):
            node = node.value
        return isinstance(node, gast.Name) and not self.is_local(self.mangle(node.id))

    def resolve(self, node: Any) -> Any:
        """The object that a path means now, through modules only; MISSING if it cannot be told."""
        if isinstance(node, gast.Attribute):
            owner = self.resolve(node.value)
            return getattr(owner, node.attr, core.MISSING) if isinstance(owner, ModuleType) else core.MISSING
        if isinstance(node, gast.Name) and not self.is_local(self.mangle(node.id)):
            return self.scope.lookup(self.mangle(node.id))
        return core.MISSING


def is_harmless(function: Any) -> bool:
    """Whether a call certainly rebinds no name of the user's and steps no iterator."""
    return id(function) in _harmless()


@functools.cache
def _harmless() -> frozenset[int]:
    """The ids of functions of the library, which live as long as the interpreter."""
    library = [
        value
        for module in (math, cmath, np, np.linalg)
        for name, value in vars(module).items()
        if callable(value) and name not in _CALLING_BACK
    ]
    return frozenset(map(id, [*library, *_BUILTINS]))


def reads_frame(value: Any, arguments: int) -> bool:
    """Whether a call reads or writes the names of the frame that calls it, which a generated function does not have."""
    frames = (builtins.locals, builtins.globals, builtins.eval, builtins.exec)
    return any(value is f for f in frames) or (
        arguments == 0 and any(value is f for f in (builtins.vars, builtins.dir))
    )


def collect(function: Any, scope: core.Scope, class_name: str | None) -> Names:
    """The names of a function."""
    bound, outer, deleted = Counter[str](), set[str](), set[str]()
    bound.update(p.id for p in core.parameters(function.args))
    suspending = None
    for node in own_nodes(function):
        kind = type(node)
        if kind is gast.Name:
            if type(node.ctx) is not gast.Load:
                bound[node.id] += 1
            if type(node.ctx) is gast.Del:
                deleted.add(node.id)
        elif kind is gast.Global or kind is gast.Nonlocal:
            outer.update(node.names)
        elif kind in SUSPENDING:
            suspending = node
        elif kind in _BINDING:
            bound.update(filter(None, [_BINDING[kind](node)]))
    mangle = Names(frozenset(), frozenset(), class_name, scope).mangle
    local = {name for name in bound if name not in outer}
    repeated = {mangle(name) for name, times in bound.items() if times > 1}
    inside = core.nodes_in(function)
    shared = {mangle(name) for node in inside if type(node) is gast.Nonlocal for name in node.names}
    sets = (frozenset(map(mangle, local)), frozenset(map(mangle, deleted)))
    reads = Counter([node.id for node in inside if type(node) is gast.Name and type(node.ctx) is gast.Load])
    once = {mangle(name) for name in bound if bound[name] == reads[name] == 1} - shared
    return Names(*sets, class_name, scope, suspending, frozenset(shared), frozenset(repeated), frozenset(once))


def own_nodes(function: Any) -> Iterator[Any]:
    """The nodes of a function that are evaluated in its own scope, but for leaves and targets of comprehensions."""
    pending = list(function.body)
    while pending:
        node = pending.pop()
        yield node
        if type(node) is gast.comprehension:
            pending.extend([node.iter, *node.ifs])
        elif type(node) not in _CLOSED:
            fields = node.__dict__
            for value in [fields[f] for f in node._fields if f in fields]:
                pending.extend([v for v in (value if type(value) is list else [value]) if type(v) not in core.LEAVES])


# What binds a name by a plain string: that name, if there is one.
_BINDING: dict[type, Callable[[Any], str | None]] = {
    gast.alias: lambda node: node.asname or node.name.split(".")[0],
    gast.MatchMapping: lambda node: node.rest,
    **dict.fromkeys(
        (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef, gast.MatchAs, gast.MatchStar), attrgetter("name")
    ),
}
