"""Divisors that are not zero where the result is finite, so that a quotient by them needs no guard.

A quotient that is dropped is guarded, since its slope is infinite where the divisor is zero. But if the program goes on
with a logarithm of the divisor, or another quotient by it, and that reaches the result (`reaching`), the result is not
finite there, and has no derivative. So the pivots of an elimination need no guard where the logarithm of their product
is wanted: each pivot, once read, stands on the diagonal until that is read as a whole.

What overflows counts as finite here, as everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from typing import Any

import gast
import numpy as np

from s2s import core
from s2s import kinds as K
from s2s.transforms.callee import operation
from s2s.transforms.copies import assignments
from s2s.transforms.operations import Operations
from s2s.transforms.regions import Regions

_LOGARITHMS = {np.log, np.log2, np.log10, np.reciprocal}
_DIAGONALS = {np.diagonal, np.ndarray.diagonal, np.diag}


def safe_quotients(operations: Operations, reaching: Set[str], regions: Callable[[], Regions]) -> set[str]:
    """The quotients whose divisor is not zero where the result is finite, those apart that reach the result.

    regions: what is read and written of memory, asked for where there is such a quotient.
    """
    found = [
        (name, divisor.id)
        for name, value in _assigned(operations.fn.body)
        if name not in reaching and isinstance(divisor := _divisor(value), gast.Name)
    ]
    found = [(name, divisor) for name, divisor in found if divisor in operations.fn.facts.active]
    if not found:
        return set()
    poles = _Poles(operations, reaching, regions())
    return {name for name, divisor in found if poles.is_pole(divisor)}


class _Poles:
    def __init__(self, operations: Operations, reaching: Set[str], regions: Regions) -> None:
        self.operations = operations
        self.reaching = reaching
        self.regions = regions
        self.times = assignments(operations.fn)
        self.readers: dict[str, list[Any]] = {}
        for _, stmt in regions.statements:
            if isinstance(stmt, gast.Assign) and isinstance(stmt.targets[0], gast.Name):
                for name in core.reads(stmt.value):
                    self.readers.setdefault(name, []).append(stmt)

    def is_pole(self, name: str) -> bool:
        """Whether the result is not finite where a number, or any of an array, is zero."""
        stmt = self.regions.definitions.get(name)
        if stmt is None or self.times[name] != 1 or name in self.operations.fn.facts.twins:
            return False
        place = self.regions.places[id(stmt)]
        uses = [use for use in self.readers.get(name, ()) if len(self.regions.places[id(use)]) == len(place)]
        return any(self.follows(use, stmt) and self.diverges(use, name) for use in uses) or self.is_item(name, stmt)

    def diverges(self, use: Any, name: str) -> bool:
        """Whether an operation, which reaches the result, is not finite where its operand is zero."""
        (target,) = core.writes(use)
        if target not in self.reaching or target in self.operations.fn.facts.twins:
            return False
        divisor = _divisor(use.value)
        if getattr(divisor, "id", None) == name:
            return K.ndim_of(self.operations.kind(divisor)) != 0 or K.ndim_of(self.kind(target)) == 0
        if not isinstance(use.value, gast.Call) or use.value.keywords:
            return False
        return self.operations.function(use.value) in _LOGARITHMS

    def is_item(self, name: str, stmt: Any) -> bool:
        """Whether a number was read from an array, stands there still, and is read there once more, with others."""
        found = self.regions.read(name)
        if found is None or K.ndim_of(self.kind(name)) != 0 or not self.regions.untouched(name):
            return False
        if not self.regions.is_one_array(found[0]):
            return False
        ends = [end for interval in found[1] for end in interval]
        if len(found[1]) != 2 or ends[0] is None or ends.count(ends[0]) != 4:
            return False  # it is not on the diagonal
        versions = [n for n in self.readers if self.regions.storages.get(n, n) == found[0]]
        uses = [use for n in versions for use in self.readers[n] if self.takes_diagonal(use, n)]
        return any(self.follows(use, stmt) and self.is_pole(core.writes(use)[0]) for use in uses)

    def takes_diagonal(self, use: Any, matrix: str) -> bool:
        function, operands, keywords = operation(use.value, self.operations.kind, self.operations.local)
        of = [getattr(operand, "id", None) for operand in operands] == [matrix] and not keywords
        return function in _DIAGONALS and of and K.ndim_of(self.kind(matrix)) == 2

    def follows(self, use: Any, stmt: Any) -> bool:
        """Whether a statement surely runs after another one, in the same round of the loops around it."""
        one, other = self.regions.places[id(stmt)], self.regions.places[id(use)]
        return len(other) <= len(one) and other[:-1] == one[: len(other) - 1] and other[-1][0] > one[len(other) - 1][0]

    def kind(self, name: str) -> K.Kind:
        return self.operations.kind(core.name(name))


def _divisor(value: Any) -> Any:
    return value.right if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Div) else None


def _assigned(stmts: Any) -> Iterator[tuple[str, Any]]:
    for stmt in stmts:
        if isinstance(stmt, gast.Assign) and isinstance(stmt.targets[0], gast.Name):
            yield stmt.targets[0].id, stmt.value
        for _, block in core.blocks(stmt):
            yield from _assigned(block)
