"""Names that mean something in one function, in the text of another: what an inlined body keeps of its own scope.

A body that moves into a caller may come from another module or closure. A free name of it is kept where it means the
same in the caller: the same global, the same cell. A module, function or class is bound in the caller's scope. Anything
else may change between calls, so that it is read where it lives when it is used: a number `RATE` of the module
`settings` as `settings.RATE`, the variable of a closure as the `cell_contents` of its cell.
"""

from __future__ import annotations

import builtins
import itertools
import sys
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from types import FunctionType
from typing import Any

import gast

from s2s import core
from s2s import kinds as K
from s2s.core import MISSING, Function, Scope
from s2s.errors import NotCompiled
from s2s.transforms.anew import Reads, made_anew
from s2s.transforms.structure import next_number, uses, with_blocks, with_header


class Importer:
    """Gives the free names of other functions a meaning in one function.

    scope: the function's scope; it grows.
    taken: the names that are local in the function, or that it leaves unresolved.
    """

    def __init__(self, scope: Scope, taken: Collection[str]) -> None:
        self.scope = scope
        self.taken = set(taken)

    def bind(self, hint: str, value: Any) -> str:
        """A name that means `value`."""
        self.scope, name = self.scope.bind(hint, value, self.taken)
        return name

    def meaning(self, name: str, theirs: Scope) -> Any:
        """The expression that means here what a free name means in another scope: an atom, or a path that is read live.

        None where it means nothing yet, or has no place that can be named.
        """
        value = theirs.lookup(name)
        if value is MISSING:
            return None
        if self._is_shared(name, theirs):
            return core.name(name)
        if name in theirs.names or _is_known(value):
            return core.name(self.bind(name, value))
        if name in theirs.cells:
            return core.attribute(self.bind(f"{name}_cell", theirs.cells[name]), "cell_contents")
        module = sys.modules.get(theirs.globals.get("__name__", ""))
        if module is None or vars(module) is not theirs.globals:
            return None
        hint = module.__name__.rpartition(".")[2]
        return core.attribute(self.bind(hint if hint.isidentifier() else "module", module), name)

    def apart(self, names: Iterable[str], theirs: Scope, shares: bool) -> list[str]:
        """Those of some names that are cells of a function made anew, and are to be read there.

        A cell that holds what is known by identity is none; nor one of the caller's own, if `shares`.
        """
        cells = [n for n in names if n in theirs.cells and not _is_known(theirs.lookup(n))]
        return [n for n in cells if not (shares and self._is_shared(n, theirs))]

    def _is_shared(self, name: str, theirs: Scope) -> bool:
        """Whether a name is the same variable in both scopes, and is not hidden here."""
        if name in self.taken or name in self.scope.names or name in theirs.names:
            return False
        if name in theirs.cells or name in self.scope.cells:
            return theirs.cells.get(name) is self.scope.cells.get(name)
        if theirs.globals is self.scope.globals:
            return True
        return name not in theirs.globals and name not in self.scope.globals and hasattr(builtins, name)


def _is_known(value: Any) -> bool:
    return K.is_static(value) and not made_anew(value)


def opened(fn: Function, held: FunctionType, param: str) -> Function:
    """A function whose first parameter is the function itself, from which it reads what its closure cells hold.

    held: the function that `fn` was made of.
    """
    numbers = itertools.count(next_number(fn.local_names()))
    local = fn.local_names() | {param}
    importer = Importer(replace(fn.scope, cells={}), local)
    reads = Reads(core.name(param), held, lambda hint: core.temporary(hint, next(numbers)), fn.origin)
    cells = sorted(core.reads(fn.body) & fn.scope.cells.keys() - local)
    places = reads.cells(importer.apart(cells, fn.scope, shares=False), fn.scope)
    live = {core.temporary(name, next(numbers)): place for name, place in places.items()}
    meanings: dict[str, Any] = dict(zip(places, map(core.name, live)))
    meanings |= {name: importer.meaning(name, fn.scope) for name in cells if name not in places}
    if None in meanings.values():
        raise NotCompiled(f"{fn.name} has a closure variable that holds nothing yet", origin=fn.origin)
    body = LiveReads(live).block(core.substitute(stmt, meanings) for stmt in fn.body)
    params = core.rebuilt(fn.params, args=[core.name(param, gast.Param), *fn.params.args])
    return replace(fn, params=params, body=(*reads.statements, *body), scope=importer.scope)


class LiveReads:
    """Rewrites statements so that names which stand for live places are read there, whenever they are used.

    places: the path of each such name. A longer path that begins with the name begins with the path instead, where that
        begins with an object of the scope; an operand must be an atom, so that the name is assigned before it is used.
    """

    def __init__(self, places: Mapping[str, Any]) -> None:
        self.places = places
        self.roots = _PathRoots({n: path for n, path in places.items() if not core.is_temporary(path.value.id)})

    def block(self, stmts: Iterable[Any]) -> list[Any]:
        return [new for stmt in stmts for new in self.statement(stmt)]

    def statement(self, stmt: Any) -> list[Any]:
        """The reads that the statement needs before it, and the statement."""
        stmt = with_blocks(stmt, lambda _, block: self.block(block))
        if isinstance(stmt, gast.FunctionDef):
            stmt = core.rebuilt(stmt, body=self.block(stmt.body))
            defaults = core.reads([*stmt.args.defaults, *(d for d in stmt.args.kw_defaults if d)])
            return [*(core.assign(n, self.places[n], None) for n in sorted(defaults & self.places.keys())), stmt]
        if self.places.keys().isdisjoint(uses(stmt)):
            return [stmt]
        if isinstance(stmt, gast.Try):
            handlers = [core.rebuilt(h, type=h.type and core.substitute(h.type, self.places)) for h in stmt.handlers]
            return [core.rebuilt(stmt, handlers=handlers)]
        stmt = with_header(stmt, self.roots.visit)
        origin = core.origin_of(stmt)
        reads = [core.assign(n, self.places[n], origin) for n in dict.fromkeys(uses(stmt)) if n in self.places]
        if isinstance(stmt, gast.While):
            stmt = core.rebuilt(stmt, body=_before_exit(stmt.body, [core.rebuilt(read) for read in reads]))
        return [*reads, stmt]


class _PathRoots(core.Substitution):
    """Replaces the roots of paths, which may become longer; operands stay atoms."""

    def visit_Name(self, node: Any) -> Any:
        return node

    def visit_Attribute(self, node: Any) -> Any:
        root = node
        while isinstance(root, gast.Attribute):
            root = root.value
        is_path = isinstance(node.ctx, gast.Load) and isinstance(root, gast.Name) and root.id in self.loads
        return core.substitute(node, self.loads) if is_path else self.generic_visit(node)


def _before_exit(body: list[Any], stmts: list[Any]) -> list[Any]:
    return [*body[:-1], *stmts, body[-1]] if core.is_exit(body[-1]) else [*body, *stmts]
