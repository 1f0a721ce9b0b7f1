"""Names replaced all over a function, in its statements and in what is known of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import gast

from s2s import core
from s2s import kinds as K
from s2s.core import Facts, Function
from s2s.transforms.structure import COMPOUND, copied, is_reverse, like, with_blocks, with_header


def renamed(fn: Function, names: Mapping[str, str]) -> Function:
    """`fn` with names replaced, several by one perhaps; copies of a name to itself go, with branches left empty."""
    body = renamed_block(fn.body, core.Substitution(names, names), fn.facts)
    return fn.with_body(body).with_facts(**_merged_facts(fn.facts, names))


def renamed_block(block: Iterable[Any], names: core.Substitution, facts: Facts) -> list[Any]:
    """The statements of a block with names replaced."""
    new = []
    for stmt in block:
        if type(stmt) in COMPOUND:
            stmt = with_blocks(stmt, lambda _, inner: renamed_block(inner, names, facts))
        stmt = renamed_header(stmt, names)
        copy = copied(stmt)
        if copy is not None and isinstance(copy[1], gast.Name) and copy[1].id == copy[0]:
            continue
        if isinstance(stmt, gast.If):
            stmt = without_empty_branches(stmt, facts)
        if stmt is not None:
            new.append(stmt)
    return new


def renamed_header(stmt: Any, names: core.Substitution) -> Any:
    """A statement with names replaced, its blocks apart."""
    if type(stmt) not in COMPOUND:
        return names.visit(stmt)
    return with_header(stmt, names.visit, ("target",) if isinstance(stmt, gast.For) else ())


def without_empty_branches(stmt: Any, facts: Facts) -> Any:
    """An `if` without statements that do nothing; None if nothing is left of it."""
    then, other = [[s for s in b if not isinstance(s, gast.Pass)] for b in (stmt.body, stmt.orelse)]
    if then:
        return stmt if len(other) == len(stmt.orelse) else core.rebuilt(stmt, orelse=other)
    if other:
        return core.rebuilt(stmt, body=[like(gast.Pass(), stmt)], orelse=other)
    # The truth of a number is told without effects; of an array or an unknown object it may raise.
    plain = isinstance(stmt.test, gast.Constant) or (
        isinstance(stmt.test, gast.Name) and K.immutable(facts.kinds.get(stmt.test.id, K.UNKNOWN))
    )
    return None if plain or is_reverse(stmt) else core.rebuilt(stmt, body=[like(gast.Pass(), stmt)], orelse=[])


def _merged_facts(facts: Facts, names: Mapping[str, str]) -> dict[str, Any]:
    kinds: dict[str, K.Kind] = {}
    for name, kind in facts.kinds.items():
        new = names.get(name, name)
        kinds[new] = K.join(kinds[new], kind) if new in kinds else kind
    kept = facts.without_shapes_of(names.keys() | names.values())
    active = frozenset(names.get(n, n) for n in facts.active)
    return {"kinds": kinds, "shapes": kept.shapes, "parts": kept.parts, "within": kept.within, "active": active}
