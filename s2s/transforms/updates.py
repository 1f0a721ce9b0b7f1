"""An item that the user updates in place is updated in place: `x[i] = x[i] / v` is `x[i] /= v` again.

Differentiation takes an update apart, into the read of the old item, the operation, and the write of the new one. Where
the reverse sweep needs neither, they are one statement again.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Sequence
from typing import Any

import gast

from s2s import core
from s2s.core import Function
from s2s.transforms.effects import Knowledge
from s2s.transforms.liveness import Liveness
from s2s.transforms.places import NEAR, is_part, sums_of_integers, written
from s2s.transforms.propagate import key
from s2s.transforms.structure import all_defs, all_uses, assigned, definitions_of, is_reverse, like, statements, uses
from s2s.transforms.task import Task


def updates(fn: Function, task: Task) -> Function:
    """`fn` with the user's own updates of items in place."""
    if not any(_is_update(stmt) for stmt in statements(fn.body)):
        return fn
    return fn.with_body(_Updates(fn).block(fn.body, 0, False))


class _Updates:
    def __init__(self, fn: Function) -> None:
        self.known = Knowledge(fn)
        self.lives = Liveness(fn)
        self.definitions = definitions_of(fn) + Counter(fn.param_names)

    def block(self, stmts: Sequence[Any], out: int, protected: bool) -> list[Any]:
        lives = self.lives.afters(stmts, out, protected)
        new = [self.lives.with_inner(s, live, protected, self.block) for s, live in zip(stmts, lives)]
        indices = sums_of_integers(new, self.definitions, self.known.kind)
        gone: set[int] = set()
        for at, stmt in enumerate(new):
            found = self.parts(new, at, lives[at]) if _is_update(stmt) else None
            if found is not None and self.is_one_place(new, at, found[0], indices):
                operation = new[found[1]].value
                new[at] = like(gast.AugAssign(written(stmt), operation.op, operation.right), stmt)
                gone.update(found)
                places = core.reads(new[found[0]].value.slice) & indices.keys()
                gone.update(
                    i for n in places if (i := self.only(new, found[0], core.name(n), at, lives[at])) is not None
                )
        return [stmt for at, stmt in enumerate(new) if at not in gone]

    def parts(self, stmts: Sequence[Any], at: int, live: int) -> tuple[int, int] | None:
        """The positions of the read and the operation of an update, if nothing else needs these."""
        operation = self.only(stmts, at, stmts[at].value, at, live)
        value = None if operation is None else stmts[operation].value
        if operation is None or not isinstance(value, gast.BinOp) or type(value.op) is not _user_operator(stmts[at]):
            return None
        read = self.only(stmts, operation, value.left, at, live)
        if read is None or any(assigned(s) is None or self.known.writes_memory(s) for s in stmts[read:at]):
            return None
        later = {name for stmt in stmts[operation + 1 : at] for name in all_defs(stmt)}
        return (read, operation) if later.isdisjoint(core.reads(value.right)) else None

    def is_one_place(self, stmts: Sequence[Any], at: int, read: int, indices: dict[str, Any]) -> bool:
        """Whether an item is written that was read before."""
        one, other = stmts[read].value, written(stmts[at])
        if not is_part(one) or one.value.id != other.value.id:
            return False
        places = [core.substitute(part.slice, indices) for part in (one, other)]
        changed = {name for stmt in stmts[read:at] for name in all_defs(stmt)}
        return key(places[0]) == key(places[1]) and changed.isdisjoint({one.value.id, *core.reads(places[0])})

    def only(self, stmts: Sequence[Any], reader: int, atom: Any, at: int, live: int) -> int | None:
        """The position of the definition of a temporary that nothing reads but one statement, up to a position.

        live: the names that are read later.
        """
        name = getattr(atom, "id", "")
        if not core.is_temporary(name) or live & self.lives.bit(name):
            return None
        found = next((i for i in range(reader - 1, max(reader - NEAR, -1), -1) if assigned(stmts[i]) == name), None)
        if found is None or uses(stmts[reader]).count(name) != 1:
            return None
        others = (s for i, s in enumerate(stmts[found + 1 : at + 1], found + 1) if i != reader)
        return None if any(name in (*all_uses(s), *all_defs(s)) for s in others) else found


def _is_update(stmt: Any) -> bool:
    """Whether a statement writes a name into an item, where the user updates one in place."""
    plain = isinstance(stmt, gast.Assign) and written(stmt) is not None and isinstance(stmt.value, gast.Name)
    return plain and not is_reverse(stmt) and _user_operator(stmt) is not None


def _user_operator(stmt: Any) -> Any:
    """The class of the operator of the user's own `x[i] += v`, None for any other statement."""
    origin = core.origin_of(stmt)
    try:
        (user,) = ast.parse(origin.text.strip()).body if origin is not None else []
    except (SyntaxError, ValueError):
        return None
    augmented = isinstance(user, ast.AugAssign) and isinstance(user.target, ast.Subscript)
    return getattr(gast, type(user.op).__name__) if augmented else None  # type: ignore[attr-defined]
