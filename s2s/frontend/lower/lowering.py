"""The registry of rewritings, and what each of them works with.

A rewriting is a function that is registered for a type of node by `@lowers`. That of an expression emits what has to be
computed before and gives the Core expression that is left; that of a statement emits Core statements. `@branches`
registers expressions whose value comes from one of several branches: these store it under a given name. `@rewrites`
registers statements that others amount to: it gives these, and emits nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import gast
import numpy as np

from s2s import core, errors
from s2s.frontend.lower.flow import FlowAnalysis
from s2s.frontend.lower.names import Names
from s2s.frontend.lower.operands import OrderedEmitter

_REWRITINGS: dict[type, Callable[[Lowering, Any], Any]] = {}
_BRANCHING: dict[type, Callable[[Lowering, Any, str], None]] = {}
_AMOUNTING: dict[type, Callable[[Lowering, Any], list[Any] | None]] = {}

# Operands that are not evaluated by reading an atom: they unpack or format it, at their turn.
_ACTING = (gast.Starred, gast.keyword, gast.FormattedValue)


def lowers(*types: type) -> Callable[[Any], Any]:
    """Register a rewriting `(lowering, node)` of these types of node."""

    def register(rewriting: Any) -> Any:
        _put(_REWRITINGS, types, rewriting)
        return rewriting

    return register


def branches(*types: type) -> Callable[[Any], Any]:
    """Register a rewriting `(lowering, node, name)` that stores the value of the node under a name."""

    def register(rewriting: Any) -> Any:
        _put(_BRANCHING, types, rewriting)
        return rewriting

    return register


def rewrites(*types: type) -> Callable[[Any], Any]:
    """Register a rewriting `(lowering, node)` that gives the statements to which the node amounts, or None."""

    def register(rewriting: Any) -> Any:
        _put(_AMOUNTING, types, rewriting)
        return rewriting

    return register


def _put(table: dict[type, Any], types: Iterable[type], rewriting: Any) -> None:
    """Enter a rewriting; a type of node has one, so that the order of imports decides nothing."""
    for kind in types:
        if kind in table:
            raise ValueError(f"{kind.__name__} is rewritten by {table[kind].__module__} already")
        table[kind] = rewriting


@dataclass(slots=True)
class Loop:
    """An open loop: the flag that leaves it, and the one that skips the rest of its body."""

    exit: str | None
    skip: str | None = None


class Lowering(OrderedEmitter):
    """The lowering of one function: the way of its nodes through the rewritings."""

    def __init__(self, names: Names, origins: Callable[[Any], core.Origin], origin: core.Origin) -> None:
        super().__init__(names, origin)
        self.origins = origins
        self.flow = FlowAnalysis(self.swallows, self.rewritten)
        self.loops: list[Loop] = []
        self.result: str | None = None  # what early returns store
        self.returned: str | None = None  # the flag that tells that one was met
        self.renamed: dict[str, str] = {}  # the targets of open comprehensions
        self.handled: list[str] = []  # the exceptions of open handlers
        self.generators: dict[str, Any] = {}  # the nested generator functions
        self.kept: dict[str, Any] = {}  # the generators that names hold
        self.yielding: list[Callable[[Any], None]] = []  # what is done for an item of each open generator
        self.read: dict[str, core.Origin] = {}
        self._amounts: dict[int, tuple[Any, list[Any] | None]] = {}  # the node is held, so that its id stays its own

    def refuse(self, what: str, node: Any = None) -> errors.NotCompiled:
        """The error that says what is not compiled, and where."""
        has_place = getattr(node, "lineno", None) is not None and hasattr(node, "end_lineno")
        return errors.NotCompiled(
            f"{what} cannot be compiled yet", origin=self.origins(node) if has_place else self.origin
        )

    # --- the way through the rewritings

    def statement(self, node: Any) -> None:
        """Emit what a statement does."""
        with self.at(core.origin_of(node) or self.origins(node)):
            self._rewriting(node)(self, node)

    def rewritten(self, node: Any) -> list[Any] | None:
        """The statements to which one amounts, always the same; None where it is lowered as it is."""
        rewriting = _AMOUNTING.get(type(node))
        if rewriting is None:
            return None
        if id(node) not in self._amounts:
            origin = core.origin_of(node) or self.origins(node)
            made = rewriting(self, node)
            for stmt in made or ():
                core.place(stmt, core.origin_of(stmt) or origin)
            self._amounts[id(node)] = node, made
        return self._amounts[id(node)][1]

    def value(self, node: Any) -> Any:
        """Emit what an expression needs; gives a Core expression for it."""
        if self.is_branching(node):
            name = self.temporary("t")
            self.store(name, node)
            return core.name(name)
        return self._rewriting(node)(self, node)

    def atom(self, node: Any, hint: str = "t") -> Any:
        """As `value`, but gives an atom, which is named by the hint if it is a temporary."""
        if self.is_branching(node):
            name = self.temporary(hint)
            self.store(name, node)
            return core.name(name)
        return self.as_atom(self.value(node), hint)

    def as_atom(self, value: Any, hint: str = "t") -> Any:
        if core.is_atom(value):
            return value
        name = self.temporary(hint)
        self.assign(name, value)
        return core.name(name)

    def store(self, name: str, node: Any) -> None:
        """Bind a name to the value of an expression, in each branch if it has several."""
        # The first operand of `or` must not be seen under a name of the user's, which a later one may read.
        if self.is_branching(node) and (isinstance(node, gast.IfExp) or core.is_temporary(name)):
            _BRANCHING[type(node)](self, node, name)
        else:
            self.assign(name, self.value(node))

    @staticmethod
    def is_branching(node: Any) -> bool:
        return type(node) in _BRANCHING and (not isinstance(node, gast.Compare) or len(node.ops) > 1)

    def _rewriting(self, node: Any) -> Callable[[Lowering, Any], Any]:
        found = _REWRITINGS.get(type(node))
        if found is None:
            raise self.refuse(type(node).__name__, node)
        return found

    # --- operands, in the order of evaluation

    def operands(self, nodes: Iterable[Any]) -> list[Any]:
        """The operands of one operation as atoms (or `*` and `**` of atoms), evaluated in order."""
        return self.settle_all([self.hold(self.operand(node)) for node in nodes])

    def operand(self, node: Any) -> Any:
        return self.value(node) if isinstance(node, _ACTING) else self.atom(node)

    # --- names

    def bind(self, hint: str, value: Any) -> Any:
        """A name that means an object in the lowered function: that of the user's, if there is one."""
        scope, name = self.names.scope.bind(hint, value, self.names.local)
        self.names = replace(self.names, scope=scope)
        return core.name(name)

    def take_over(self, outer: Lowering, own: Iterable[str]) -> None:
        """Lower a function within `outer`: its own variables get names that nothing else has."""
        self._temporaries = outer._temporaries
        self.block.bound.update(*(block.bound for block in outer.blocks))
        self.renamed = {**outer.renamed, **{name: self.temporary(name) for name in sorted(own)}}

    def take_back(self, inner: Lowering) -> None:
        """Go on after a function within this one."""
        self._temporaries = inner._temporaries
        self.names = replace(self.names, scope=inner.names.scope)
        self.read = {**inner.read, **self.read}

    def load(self, node: Any) -> Any:
        """The read of a variable, under the name that it has in Core."""
        name = self.names.mangle(node.id)
        name = self.renamed.get(name, name)
        if name in self.names.local:
            self.read.setdefault(name, self.origin)
        return node if name == node.id and isinstance(node.ctx, gast.Load) else core.name(name)

    def target_name(self, name: str) -> str:
        """What a variable that is assigned to is called in Core."""
        name = self.names.mangle(name)
        if name in self.renamed:
            return self.renamed[name]
        if not self.names.is_local(name):
            raise self.refuse(f"an assignment to the global or enclosing name {name!r}")
        return name

    def result_name(self) -> str:
        self.result = self.result or self.temporary("result")
        return self.result

    def returned_flag(self) -> str:
        self.returned = self.returned or self.temporary("returned")
        return self.returned

    def is_path(self, node: Any) -> bool:
        root = node
        while isinstance(root, gast.Attribute):
            root = root.value
        return self.names.is_path(node) and self.names.mangle(root.id) not in self.renamed

    def resolve(self, node: Any) -> Any:
        """The object that a path means now; MISSING if it cannot be told."""
        return self.names.resolve(node) if self.is_path(node) else core.MISSING

    def swallows(self, node: Any) -> bool:
        """Whether a `with` may go on after an exception in its body."""
        calls = [item.context_expr for item in node.items if isinstance(item.context_expr, gast.Call)]
        return len(calls) < len(node.items) or any(self.resolve(c.func) is not np.errstate for c in calls)
