"""A name that both sweeps assign, each for itself, is two names: what one sweep needs shall not bind the other.

The reverse sweep restores and recomputes what the forward sweep had. Where nothing is handed over from one to the
other under a name, its versions may be merged differently in each.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from s2s import core
from s2s.core import Function
from s2s.transforms.liveness import Liveness
from s2s.transforms.renaming import renamed_block
from s2s.transforms.structure import captured, defs, is_reverse, statements, uses


def part_sweeps(fn: Function) -> Function:
    """`fn` with fresh versions, in the reverse sweep, of names that are not handed over to it."""
    start = next((i for i, s in enumerate(fn.body) if any(map(is_reverse, statements([s])))), 0)
    if start == 0:
        return fn
    forward, reverse = fn.body[:start], fn.body[start:]
    lives = Liveness(fn)
    handed_over = lives.block_before(reverse, 0)
    mentioned = _names(forward) | set(fn.param_names)
    names = {}
    numbers = _next_versions(_names(fn.body) | set(fn.param_names))
    for name in sorted({n for s in statements(reverse) for n in defs(s)} & mentioned - captured(fn)):
        if not lives.bit(name) & handed_over:
            variable = core.variable(name)
            names[name] = core.version(variable, numbers[variable])
            numbers[variable] += 1
    if not names:
        return fn
    kinds = {**fn.facts.kinds, **{new: fn.facts.kinds[old] for old, new in names.items() if old in fn.facts.kinds}}
    return fn.with_body([*forward, *renamed_block(reverse, core.Substitution(names, names), fn.facts)]).with_facts(
        kinds=kinds
    )


def _names(block: Sequence[Any]) -> set[str]:
    return {n for s in statements(block) for n in (*uses(s), *defs(s))}


def _next_versions(names: set[str]) -> dict[str, int]:
    """For each variable, a version number above all that are in use."""
    found: dict[str, int] = {}
    for name in names:
        variable = core.variable(name)
        number = int(name[len(variable) + 1 :] or 1)
        found[variable] = max(found.get(variable, 1), number + 1)
    return found
