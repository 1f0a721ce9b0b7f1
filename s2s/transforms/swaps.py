"""Names that change places do so in one assignment, as a person would write it.

    t = a
    a = b          ->      a, b = b, a
    b = t

Joins of versions are copies, one after the other; where they go in a circle, a name is needed that holds a value
meanwhile. In the reverse sweep that name may serve in place of one of the others until the end of the block:

    t_bar = a_bar                  a_bar, b_bar = b_bar, a_bar
    a_bar = b_bar                  ...
    ...                    ->
    b_bar = t_bar
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import gast

from s2s import core
from s2s.core import Function
from s2s.transforms.liveness import Liveness
from s2s.transforms.renaming import renamed_block
from s2s.transforms.structure import all_defs, all_uses, captured, copied, is_reverse, like, statements
from s2s.transforms.task import Task


def swaps(fn: Function, task: Task) -> Function:
    """`fn` with copies that go in a circle in one assignment."""
    if not any(_copy(stmt) for stmt in statements(fn.body)):
        return fn
    return fn.with_body(_Swaps(fn).block(fn.body, 0, False))


class _Swaps:
    def __init__(self, fn: Function) -> None:
        self.fn = fn
        self.lives = Liveness(fn)
        self.fixed = captured(fn)

    def block(self, stmts: Sequence[Any], out: int, protected: bool) -> list[Any]:
        lives = list(self.lives.afters(stmts, out, protected))
        new = [self.lives.with_inner(s, live, protected, self.block) for s, live in zip(stmts, lives)]
        for start, end in self.runs(stmts):
            self.in_one(new, start, end, lives)
        return [stmt for stmt in new if stmt is not None]

    def runs(self, stmts: Sequence[Any]) -> Iterator[tuple[int, int]]:
        """Where copies of one sweep stand together, two at least, the last ones first."""
        end = len(stmts)
        while end > 1:
            start = end
            while (
                start and self.is_copy(stmts[start - 1]) and is_reverse(stmts[start - 1]) == is_reverse(stmts[end - 1])
            ):
                start -= 1
            if end - start > 1:
                yield start, end
            end = min(start, end - 1)

    def is_copy(self, stmt: Any) -> bool:
        copy = _copy(stmt)
        return copy is not None and not self.fixed.intersection(copy)

    def in_one(self, stmts: list[Any], start: int, end: int, lives: Sequence[int]) -> None:
        """Put the copies from `start` to `end` into one assignment, where they go in a circle."""
        held: dict[str, str] = {}
        for stmt in stmts[start:end]:
            target, source = _copy(stmt) or ("", "")
            held[target] = held.get(source, source)
        held = {t: s for t, s in held.items() if t != s and lives[end - 1] & self.lives.bit(t)}
        back, names = len(stmts), {}
        if not _ordered(held)[1]:
            for target in held:
                at = self.taken_back(stmts, target, held, end, lives)
                if at is not None:
                    back, names = at, {target: _copy(stmts[at])[0]}  # type: ignore[index]
        turned = {names.get(t, t): s for t, s in held.items()}
        first, circles = _ordered(turned)
        if not circles:
            return
        model = stmts[start]
        new = [like(core.assign(t, core.name(turned[t]), None), model) for t in first]
        for circle in circles:
            order = sorted(circle, key=_order(model))
            targets = gast.Tuple([core.name(t, gast.Store) for t in order], gast.Store())
            sources = gast.Tuple([core.name(turned[t]) for t in order], gast.Load())
            new.append(like(gast.Assign([targets], sources, None), model))
        stmts[start:end] = [*new, *[None] * (end - start - len(new))]  # so that positions stay what they are
        if names:
            new_names = core.Substitution(names, names)
            stmts[end:back] = [
                next(iter(renamed_block([s] if s else [], new_names, self.fn.facts)), None) for s in stmts[end:back]
            ]
            stmts[back] = None

    def taken_back(
        self, stmts: Sequence[Any], target: str, held: Mapping[str, str], end: int, lives: Sequence[int]
    ) -> int | None:
        """The position of the later copy `s = target`, until which the target may be called s."""
        for at in range(end, len(stmts)):
            if stmts[at] is None:
                continue
            copy = _copy(stmts[at])
            if copy is not None and copy[1] == target and copy[0] in held.values() and copy[0] not in held:
                between = {n for s in stmts[end:at] if s for n in (*all_uses(s), *all_defs(s))}
                free = copy[0] not in between and not lives[end - 1] & self.lives.bit(copy[0])
                return at if free and not lives[at] & self.lives.bit(target) else None
            if target in all_defs(stmts[at]):
                return None
        return None


def _copy(stmt: Any) -> tuple[str, str] | None:
    """Target and source of `a = b`."""
    found = copied(stmt) if isinstance(stmt, gast.Assign) else None
    return (found[0], found[1].id) if found is not None and isinstance(found[1], gast.Name) else None


def _ordered(held: Mapping[str, str]) -> tuple[list[str], list[list[str]]]:
    """The names that may be assigned one after the other, in an order; then those that change places, in circles.

    A name may be assigned once no other one has to be assigned what it holds.
    """
    left, first = dict(held), list[str]()
    while free := [name for name in left if name not in left.values()]:
        first += free
        left = {name: source for name, source in left.items() if name not in free}
    circles = []
    while left:
        circle = [next(iter(left))]
        while (source := left.pop(circle[-1])) != circle[0]:
            circle.append(source)
        circles.append(circle)
    return first, circles


def _order(stmt: Any) -> Any:
    """The order of the user's own assignment, where that is one."""
    origin = core.origin_of(stmt)
    text = "" if origin is None else origin.text.partition("=")[0]
    names = [part.strip() for part in text.split(",")]

    def position(name: str) -> int:
        stem = core.stem(name).removesuffix("_bar")
        return names.index(stem) if stem in names else len(names)

    return position
