"""Which names surely hold numbers, in the lines that differentiation has made.

NumPy's operations on arrays without dimensions give numbers, so that what the program holds as a number may have a
tangent or an adjoint that is such an array still: one that the caller gave, a view of another one, or a read-only
broadcast. `t += v` would write into it, where it rebinds a number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gast
import numpy as np

from s2s import core
from s2s import kinds as K
from s2s.core import Function
from s2s.runtime import numeric
from s2s.transforms.operations import Operations
from s2s.transforms.structure import is_ours, statements
from s2s.transforms.task import Task

# Functions that give a number wherever their result has no dimensions.
_COMPUTING: set[Any] = {np.sum, np.prod, np.mean, np.dot, np.vdot, np.inner, np.trace, np.max, np.min}
_COMPUTING |= {numeric.guarded_multiply, numeric.guarded_divide, float, complex, int, len}


def sure_numbers(fn: Function, task: Task) -> frozenset[str]:
    """The names, among those that hold values without dimensions, that never hold an array."""
    found = _Numbers(fn, given_numbers(fn, task))
    while found.narrowed():
        pass
    return frozenset(found.sure)


def given_numbers(fn: Function, task: Task) -> set[str]:
    """The parameters that are numbers: the function's own, and the tangents of a function that users call."""
    given = {name for name in fn.param_names if name in task.kinds}
    if task.mode == "jvp" and task.result is None:
        given.update(arg.id for arg in fn.params.kwonlyargs)
    return {name for name in given if K.immutable(fn.facts.kinds.get(name, K.UNKNOWN))}


class _Numbers:
    def __init__(self, fn: Function, given: set[str]) -> None:
        self.operations = Operations(fn)
        self.kind = self.operations.kind
        self.definitions: list[tuple[str, Callable[[], bool]]] = []
        for stmt in statements(fn.body):
            self.note(stmt)
        bound = {name for name, _ in self.definitions if K.immutable(self.kind(core.name(name)))}
        self.sure = (bound - set(fn.param_names)) | given

    def note(self, stmt: Any) -> None:
        """Take note of what a statement binds."""
        target = stmt.targets[0] if isinstance(stmt, gast.Assign) and len(stmt.targets) == 1 else None
        if isinstance(target, gast.Name):
            self.definitions.append((target.id, lambda: not is_ours(stmt) or self.is_number(stmt.value)))
        elif isinstance(stmt, gast.For):
            over = isinstance(self.kind(stmt.iter), (K.Array, K.Range))
            self.definitions.extend((name, lambda: over) for name in core.writes(stmt))
        elif not isinstance(stmt, gast.AugAssign):  # which leaves a number one
            self.definitions.extend((name, lambda: not is_ours(stmt)) for name in core.writes(stmt))

    def narrowed(self) -> bool:
        """Drop the names of which a definition is not sure; whether there were any."""
        doubtful = {name for name, is_sure in self.definitions if name in self.sure and not is_sure()}
        self.sure -= doubtful
        return bool(doubtful)

    def is_number(self, node: Any) -> bool:
        """Whether a value without dimensions is a number."""
        if isinstance(node, gast.Name):
            return node.id in self.sure
        if isinstance(node, gast.Subscript):
            return isinstance(self.kind(node.value), K.Array) and not self.leaves_a_view(node.slice)
        if isinstance(node, gast.Attribute):
            return node.attr in ("real", "imag") and self.is_number(node.value)
        if isinstance(node, gast.Call):
            return self.computes(self.operations.function(node), node.args)
        return isinstance(node, (gast.Constant, gast.BinOp, gast.UnaryOp, gast.Compare))

    def leaves_a_view(self, index: Any) -> bool:
        """Whether an index keeps an array without dimensions: it may hold an ellipsis."""
        parts = index.elts if isinstance(index, gast.Tuple) else [index]
        return not all(isinstance(self.kind(p), (K.Int, K.Scalar)) for p in parts)

    def computes(self, function: Any, args: Sequence[Any]) -> bool:
        if function is numeric.unbroadcast:
            return self.is_number(args[0]) or (K.ndim_of(self.kind(args[0])) or 0) > 0
        return isinstance(function, np.ufunc) or function in _COMPUTING
