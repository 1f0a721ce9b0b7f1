"""What the last passes ask of a statement: what it reads in which order, what it binds, which blocks it holds.

These functions take any statement of Core Python, and of the text that `fold` makes of it (nested expressions).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from operator import is_
from typing import Any

import gast

from s2s import core
from s2s.core import Function

Block = Sequence[Any]


@core.noted
def loads(node: Any) -> tuple[str, ...]:
    """The names that an expression reads, in the order of evaluation, as often as they are read."""
    found: list[str] = []
    _load(node, found)
    return tuple(found)


def _load(node: Any, found: list[str]) -> None:
    kind = type(node)
    if kind is gast.Name:
        if type(node.ctx) is gast.Load:
            found.append(node.id)
    elif kind is list:
        for item in node:
            _load(item, found)
    elif kind is gast.Dict:
        for entry in zip(node.keys, node.values):
            _load(list(entry), found)
    elif kind not in core.LEAVES:
        fields = node.__dict__
        for field_name in node._fields:
            child = fields[field_name]
            if type(child) not in core.LEAVES:
                _load(child, found)


_HEADERS: dict[type, tuple[str, ...]] = {
    gast.Assign: ("value", "targets"), gast.AugAssign: ("target", "value"), gast.If: ("test",), gast.While: ("test",),
    gast.For: ("iter",), gast.With: ("items",), gast.Delete: ("targets",), gast.Assert: ("test", "msg"),
    gast.Raise: ("exc", "cause"), gast.Expr: ("value",), gast.Return: ("value",),
}  # fmt: skip


COMPOUND = frozenset({gast.If, gast.For, gast.While, gast.With, gast.Try})


def header(stmt: Any) -> tuple[str, ...]:
    """The fields of a statement that hold its own expressions, in the order of evaluation."""
    return _HEADERS.get(type(stmt), ())


@core.noted
def uses(stmt: Any) -> tuple[str, ...]:
    """The names that a statement itself reads, in the order of evaluation; nested blocks are not entered."""
    return tuple(_uses(stmt))


def _uses(stmt: Any) -> list[str]:
    found: list[str] = []
    kind = type(stmt)
    if kind is gast.Assign and type(stmt.targets[0]) is gast.Name:
        _load(stmt.value, found)
        return found
    for field_name in header(stmt):
        _load(getattr(stmt, field_name), found)
    if kind is gast.AugAssign and type(stmt.target) is gast.Name:
        found.insert(0, stmt.target.id)
    elif kind is gast.Delete:
        found.extend(defs(stmt))
    elif kind is gast.Try:
        _load([handler.type for handler in stmt.handlers], found)
    elif kind is gast.FunctionDef:
        found.extend(sorted(captures(stmt)))
        _load(stmt.args, found)
    return found


@core.noted
def defs(stmt: Any) -> list[str]:
    """The names that a statement itself binds or unbinds; nested blocks are not entered."""
    if type(stmt) is gast.Delete:
        return [t.id for t in stmt.targets if isinstance(t, gast.Name)]
    return core.writes(stmt)


def blocks(stmt: Any) -> list[tuple[str, list[Any]]]:
    """The nested blocks of a statement that run where it stands: all but the body of a closure."""
    return core.nested_blocks(stmt) if type(stmt) in COMPOUND else []


def statements(block: Iterable[Any]) -> list[Any]:
    """All statements of a block, nested ones after the statement that holds them."""
    return [s for stmt in block for s in (_with_nested(stmt) if type(stmt) in COMPOUND else (stmt,))]


@core.noted
def all_uses(stmt: Any) -> tuple[str, ...]:
    """The names that a statement reads, nested blocks included, as often as they are read."""
    if type(stmt) not in COMPOUND:
        return uses(stmt)
    return (*uses(stmt), *[name for _, block in blocks(stmt) for inner in block for name in all_uses(inner)])


@core.noted
def all_defs(stmt: Any) -> tuple[str, ...]:
    """The names that a statement binds or unbinds, nested blocks included, as often as it does."""
    if type(stmt) not in COMPOUND:
        return tuple(defs(stmt))
    return (*defs(stmt), *[name for _, block in blocks(stmt) for inner in block for name in all_defs(inner)])


@core.noted
def reads_of(fn: Function) -> Counter[str]:
    """How often each name is read in the text of a function."""
    return Counter(chain.from_iterable(map(all_uses, fn.body)))


@core.noted
def definitions_of(fn: Function) -> Counter[str]:
    """How often each name is bound or unbound in the text of a function, parameters apart."""
    return Counter(chain.from_iterable(map(all_defs, fn.body)))


@core.noted
def _with_nested(stmt: Any) -> list[Any]:
    return [stmt, *[inner for _, block in blocks(stmt) for inner in statements(block)]]


def duplicate(stmts: Sequence[Any]) -> list[Any]:
    """The statements of a block once more, for another place: a statement stands in one place."""
    return [core.rebuilt(with_blocks(stmt, lambda _, block: duplicate(block))) for stmt in stmts]


def with_blocks(stmt: Any, change: Callable[[str, list[Any]], list[Any]]) -> Any:
    """The statement with its blocks replaced by `change(field, block)`; itself if nothing changes."""
    if type(stmt) not in COMPOUND:
        return stmt
    changes: dict[str, Any] = {}
    handlers = list(getattr(stmt, "handlers", ()))
    for field_name, block in blocks(stmt):
        new = change(field_name, block)
        if len(new) == len(block) and all(map(is_, new, block)):
            continue
        if field_name.startswith("handlers."):
            at = int(field_name.split(".")[1])
            handlers[at] = core.rebuilt(handlers[at], body=_filled(new, stmt))
            changes["handlers"] = handlers
        else:
            changes[field_name] = _filled(new, stmt) if field_name == "body" else new
    return core.rebuilt(stmt, **changes) if changes else stmt


def _filled(block: list[Any], owner: Any) -> list[Any]:
    kept = [s for s in block if not isinstance(s, gast.Pass)]
    return kept or [like(gast.Pass(), owner)]


def with_header(stmt: Any, change: Callable[[Any], Any], extra: tuple[str, ...] = ()) -> Any:
    """The statement with its own expressions changed, in `header` and in further fields; nested blocks stay."""
    changes = {}
    for field_name in (*extra, *header(stmt)):
        old = getattr(stmt, field_name)
        if isinstance(old, list):
            new: Any = [change(item) for item in old]
            same = all(map(is_, old, new))
        else:
            new = None if old is None else change(old)
            same = new is old
        if not same:
            changes[field_name] = new
    return core.rebuilt(stmt, **changes) if changes else stmt


def replace_reads(stmt: Any, values: Mapping[str, Any]) -> Any:
    """The statement with expressions or names in place of names that it reads itself; nested blocks stay."""
    if not values:
        return stmt
    visit = core.Substitution(values).visit
    if assigned(stmt) is None:
        return with_header(stmt, visit)
    value = visit(stmt.value)
    return stmt if value is stmt.value else core.rebuilt(stmt, value=value)


def next_number(names: Iterable[str]) -> int:
    """A number that no temporary among the names has, nor any above it."""
    return 1 + max(map(_number, names), default=0)


@lru_cache(maxsize=8192)
def _number(name: str) -> int:
    """The number of a temporary, 0 of any other name."""
    return int(name.split("··")[1].split("·")[0]) if "··" in name else 0


def like(stmt: Any, model: Any) -> Any:
    """A new statement with the origin and the sweep of another."""
    core.place(stmt, core.origin_of(model))
    if is_reverse(model):
        stmt.sweep = "reverse"
    return stmt


def is_reverse(stmt: Any) -> bool:
    """Whether differentiation made the statement for the reverse sweep."""
    notes = stmt.__dict__
    return "sweep" in notes and notes["sweep"] == "reverse"


def is_ours(stmt: Any) -> bool:
    """Whether differentiation made the statement, for the reverse sweep or as one of tangents."""
    return "sweep" in stmt.__dict__


def captures(closure: Any) -> frozenset[str]:
    """The names that a closure takes from around it."""
    return frozenset((core.reads(closure.body) | core.rebound(closure)) - core.own_names(closure))


@core.noted
def captured(fn: Function) -> frozenset[str]:
    """The local names that closures of the function hold in cells: they may be read and written at any call."""
    return frozenset(n for s in statements(fn.body) if type(s) is gast.FunctionDef for n in captures(s))


@core.noted
def copied(stmt: Any) -> tuple[str, Any] | None:
    """Target and source of a copy `target = source` of an atom; None for any other statement."""
    name = assigned(stmt)
    return (name, stmt.value) if name is not None and core.is_atom(stmt.value) else None


def assigned(stmt: Any) -> str | None:
    """The name of `name = expression`; None for any other statement."""
    target: Any = stmt.targets[0] if type(stmt) is gast.Assign else None
    return target.id if type(target) is gast.Name else None
