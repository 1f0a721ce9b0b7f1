"""Lists among the operands of NumPy functions become arrays, which is what NumPy makes of them: rules know arrays only.

    y = x * pair        t = np.asarray(pair)
                        y = x * t

The parameters that rules take as lists (`rule.containers`: the parts of a `concatenate`) stay lists, and so do those
that are no numbers to differentiate by (shapes, axes).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import gast
import numpy as np

from s2s import core
from s2s import kinds as K
from s2s.core import Function
from s2s.transforms.infer import infer_rest
from s2s.transforms.operations import Operation, Operations
from s2s.transforms.rulebody import Namer
from s2s.transforms.structure import with_blocks
from s2s.transforms.task import Task


def sequences(fn: Function, task: Task) -> Function:
    """`fn` with arrays in place of the lists that NumPy would turn into arrays."""
    run = _Sequences(fn)
    body = tuple(run.block(fn.body))
    return infer_rest(replace(fn, body=body, scope=run.namer.scope)) if run.changed else fn


class _Sequences:
    def __init__(self, fn: Function) -> None:
        self.namer = Namer(fn)
        self.operations = Operations(fn)
        self.changed = False

    def block(self, stmts: Sequence[Any]) -> list[Any]:
        new: list[Any] = []
        for stmt in stmts:
            if isinstance(stmt, gast.Assign) and isinstance(stmt.value, (gast.BinOp, gast.Call)):
                new.extend(self.assign(stmt))
                continue
            new.append(with_blocks(stmt, lambda _, block: self.block(block)))
        return new

    def assign(self, stmt: Any) -> list[Any]:
        found = self.operations.find(stmt.value)
        lists = [] if found is None else [node.id for p, node in found.nodes().items() if self.is_list(p, node, found)]
        if not lists or not self.makes_arrays(stmt.value, found):
            return [stmt]
        self.changed = True
        arrays = {name: self.namer.temporary(core.stem(name)) for name in lists}
        asarray = self.namer.bind("np", np) + ".asarray"
        origin = core.origin_of(stmt)
        made = [core.assign(held, core.call(asarray, name), origin) for name, held in arrays.items()]
        return [*made, core.rebuilt(stmt, value=core.substitute(stmt.value, arrays))]

    def is_list(self, parameter: str, node: Any, found: Operation) -> bool:
        if parameter in found.rule.containers or parameter not in found.rule.differentiable:
            return False
        kind = self.operations.kind(node)
        if found.rule.decomposition is not None and not K.differentiable(kind):
            return False  # an axis, or a shape
        return isinstance(node, gast.Name) and isinstance(kind, (K.List, K.Tuple, K.Sequence))

    def makes_arrays(self, value: Any, found: Any) -> bool:
        """Whether NumPy does the operation: an operator does it with an array on the other side."""
        if isinstance(value, gast.BinOp):
            return any(_is_numpy(self.operations.kind(side)) for side in (value.left, value.right))
        module = getattr(found.function, "__module__", None) or ""
        owner = getattr(found.function, "__objclass__", None)
        return isinstance(found.function, np.ufunc) or owner is np.ndarray or module.startswith("numpy")


def _is_numpy(kind: Any) -> bool:
    """Whether a list beside a value of this kind is made an array (an integer repeats it)."""
    if isinstance(kind, K.Scalar):
        return not kind.python and kind.dtype.kind in "fc"
    return isinstance(kind, K.Array)
