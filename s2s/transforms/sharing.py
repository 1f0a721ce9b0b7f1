"""Which names may come to share memory without anybody noticing.

Where a rewriting gives an existing object in place of a new one, two names share it that did not before. That is seen
only if one of them is written into, or if what was a result of its own becomes part of another one. Names that may
share memory anyhow are gathered in classes, without regard to the order of statements.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import gast
import numpy as np

from s2s import kinds as K
from s2s.core import Function
from s2s.transforms.conduct import module_of
from s2s.transforms.effects import Knowledge
from s2s.transforms.structure import assigned, defs, loads, statements, uses


class Sharing:
    """Classes of the names of one function that may share memory, and what happens to them."""

    def __init__(self, fn: Function, known: Knowledge) -> None:
        self.known = known
        self.leader: dict[str, str] = {}
        self.written: set[str] = set()
        self.returned: set[str] = set()
        self.join(self.mutable(fn.param_names))
        for stmt in statements(fn.body):
            self.visit(stmt)
        self.written = {self.find(n) for n in self.written}
        self.returned = {self.find(n) for n in self.returned}

    def allowed(self, target: str, sources: Iterable[str]) -> bool:
        """Whether `target`, which holds a new object, may hold one that the sources share instead."""
        if self.is_number(target):
            return True
        if self.find(target) in self.returned:
            return False
        return not any(self.find(n) in self.written for n in self.mutable([target, *sources]))

    def find(self, name: str) -> str:
        while self.leader.setdefault(name, name) != name:
            self.leader[name] = name = self.leader[self.leader[name]]
        return name

    def join(self, names: Iterable[str]) -> None:
        first: str | None = None
        for name in names:
            first = first or name
            self.leader[self.find(name)] = self.find(first)

    def is_number(self, name: str) -> bool:
        return K.immutable(self.known.kinds.get(name, K.UNKNOWN))

    def mutable(self, names: Iterable[str]) -> list[str]:
        return [n for n in names if not self.is_number(n)]

    def visit(self, stmt: Any) -> None:
        if isinstance(stmt, gast.Return):
            self.returned.update(self.mutable(uses(stmt)))
        elif isinstance(stmt, gast.AugAssign):
            # The values are added, the object stays.
            target = stmt.target
            self.written.update(self.mutable([target.id] if isinstance(target, gast.Name) else loads(target)))
        elif isinstance(stmt, gast.Assign) and assigned(stmt) is not None and self.is_new(stmt.value):
            return
        elif isinstance(stmt, (gast.If, gast.While, gast.Assert)):
            return
        else:
            names = self.mutable([*uses(stmt), *defs(stmt)])
            self.join(names)
            if self.known.writes_memory(stmt):
                self.written.update(names)

    def is_new(self, value: Any) -> bool:
        """Whether an operation surely gives a new object, which shares nothing with its operands."""
        if isinstance(value, gast.Call):
            if value.keywords:
                return False
            function = self.known.function(value)
            if not (isinstance(function, np.ufunc) or function is np.sum or module_of(function) == "math"):
                return False
        elif not isinstance(value, (gast.BinOp, gast.UnaryOp, gast.Compare)):
            return False
        return not any(isinstance(self.known.kind(o), K.Unknown) for o in self.known.operands(value))
