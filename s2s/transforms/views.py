"""Names that are views of one array for certain, by slices, integers and transposes: after a write into the one, the
other can be read again, or put in.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

import gast
import numpy as np

from s2s import kinds as K
from s2s.core import Function
from s2s.transforms.copies import assignments
from s2s.transforms.operations import Operations, basic_index
from s2s.transforms.structure import assigned, statements


class Views:
    """The views of one function.

    single: what the names are bound to that are bound once; of what is unpacked, nothing. made: those that are views.
    """

    def __init__(self, fn: Function, operations: Operations) -> None:
        self.operations = operations
        times, stmts = assignments(fn), statements(fn.body)
        self.single: dict[str, Any] = {n: s.value for s in stmts if (n := assigned(s)) is not None and times[n] == 1}
        self.made = {n: v for n, v in self.single.items() if self.is_view(v)}

    def is_view(self, value: Any) -> bool:
        """Whether an expression is surely a view of the one array that it names."""
        kind = self.operations.kind
        if isinstance(value, gast.Subscript):
            return isinstance(kind(value.value), K.Array) and basic_index(value.slice, kind)
        if isinstance(value, gast.Attribute):
            return isinstance(kind(value.value), K.Array) and value.attr == "T"
        if isinstance(value, gast.Call) and not value.keywords:
            return self.operations.function(value) in _TRANSPOSES and len(self.operands(value)) == 1
        return isinstance(value, gast.Name)

    def operands(self, call: Any) -> list[Any]:
        owner = call.func.value if isinstance(call.func, gast.Attribute) else None
        is_method = owner is not None and isinstance(self.operations.kind(owner), K.Array)
        return [owner, *call.args] if is_method else list(call.args)

    def whole(self, name: str) -> str:
        """The array that a view is a view of."""
        value = self.made[name]
        node = self.operands(value)[0] if isinstance(value, gast.Call) else getattr(value, "value", value)
        return str(node.id)

    def chain(self, name: str) -> list[str]:
        """A name and the arrays that it is a view of, in order."""
        found = [name]
        while found[-1] in self.made:
            found.append(self.whole(found[-1]))
        return found

    @property
    def through(self) -> Mapping[str, Set[str]]:
        """By array, the names that are views of it, or of views of it."""
        found: dict[str, set[str]] = {}
        for name in self.made:
            for base in self.chain(name)[1:]:
                found.setdefault(base, set()).add(name)
        return found


_TRANSPOSES = {np.transpose, np.ndarray.transpose}
