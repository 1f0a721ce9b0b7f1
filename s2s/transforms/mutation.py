"""Refuses what writes into values: in-place code is not compiled yet and goes to the tape.

Where kinds show that `x += v` rebinds a number, it becomes `x = x + v`.
"""

from __future__ import annotations

import types
from collections.abc import Sequence
from typing import Any

import gast
import numpy as np

from s2s import core, rules
from s2s import kinds as K
from s2s.core import Function
from s2s.errors import NotCompiled
from s2s.transforms.callee import attribute_kind
from s2s.transforms.conduct import followed, in_numpy
from s2s.transforms.known import LOOKING
from s2s.transforms.operations import Operations
from s2s.transforms.structure import with_blocks
from s2s.transforms.task import Task
from s2s.transforms.usercalls import user_callee
from s2s.transforms.versions import INPLACE

BINARY = {function: op for op, function in INPLACE.items()}


def mutation(fn: Function, task: Task) -> Function:
    """`fn`, in which nothing is mutated that a derivative could depend on; raises NotCompiled else."""
    return fn.with_body(_Mutation(fn, task).block(fn.body))


class _Mutation:
    def __init__(self, fn: Function, task: Task) -> None:
        self.fn = fn
        self.program = task.program
        self.operations = Operations(fn)
        self.kind = self.operations.kind

    def block(self, stmts: Sequence[Any]) -> list[Any]:
        return [self.statement(stmt) for stmt in stmts]

    def statement(self, stmt: Any) -> Any:
        origin = core.origin_of(stmt)
        if isinstance(stmt, gast.Assign):
            (target,) = stmt.targets
            if isinstance(target, (gast.Name, gast.Tuple)):
                return core.rebuilt(stmt, value=self.expression(stmt.value, origin))
            self.write(target, stmt.value, origin)
        elif isinstance(stmt, gast.AugAssign):
            self.write(stmt.target, stmt.value, origin)
        elif isinstance(stmt, gast.Delete):
            raise NotCompiled("`del` of an item or attribute is not compiled yet", origin=origin)
        elif isinstance(stmt, gast.Expr):
            self.expression(stmt.value, origin)
        elif isinstance(stmt, gast.With):
            self.context(stmt)
        return with_blocks(stmt, lambda _, block: self.block(block))

    def write(self, target: Any, value: Any, origin: Any) -> None:
        """A write to an attribute of a number that carries no derivative is kept; other writes are refused."""
        if isinstance(target, gast.Attribute) and isinstance(self.kind(value), (K.Int, K.Bool, K.Str, K.NoneKind)):
            known = attribute_kind(self.kind(target.value), target.attr)
            if isinstance(known, (K.Unknown, type(self.kind(value)))):
                return
        raise NotCompiled("an in-place write is not compiled yet", origin=origin)

    def context(self, stmt: Any) -> None:
        for item in stmt.items:
            defined = self.definition(item.context_expr)
            if defined is None or self.operations.function(defined) is not np.errstate:
                raise NotCompiled("`with` is compiled for np.errstate only", origin=core.origin_of(stmt))

    def definition(self, atom: Any) -> Any:
        found: list[Any] = []

        def search(stmts: Sequence[Any]) -> None:
            for stmt in stmts:
                if isinstance(stmt, gast.Assign) and core.writes(stmt) == [getattr(atom, "id", None)]:
                    found.append(stmt.value)
                for _, block in core.blocks(stmt):
                    search(block)

        search(self.fn.body)
        return found[0] if len(found) == 1 and isinstance(found[0], gast.Call) else None

    def expression(self, value: Any, origin: Any) -> Any:
        if not isinstance(value, gast.Call):
            return value
        function = self.operations.function(value)
        if function in BINARY:
            return self.augmented(value, BINARY[function], origin)
        user = user_callee(function, value)
        if user is not None:
            self.program.check(user, [self.kind(a) for a in value.args])
            return value
        if self.writes(value) or any(k.arg == "out" and not _is_none(k.value) for k in value.keywords):
            raise NotCompiled("an in-place write is not compiled yet", origin=origin)
        known = function in LOOKING or (followed(function) and not self.calls_back(function, value))
        if not known and rules.find(function) is None:
            self.unknown(value, function, origin)
        return value

    def writes(self, call: Any) -> bool:
        """Whether a call surely writes into a value; of lists and dicts `unknown` says it."""
        found = self.operations.conduct(call)
        written = [self.kind(operand) for operand in found.writes] if found is not None else []
        return any(not isinstance(k, (K.List, K.Sequence, K.Dict)) for k in written)

    def calls_back(self, function: Any, call: Any) -> bool:
        """Whether a function of NumPy's may call a function of the user's, which could write."""
        operands = [*call.args, *(k.value for k in call.keywords)]
        calls = any(isinstance(self.kind(o), (K.Static, K.Unknown)) and not _is_type(self.kind(o)) for o in operands)
        return in_numpy(function) and calls

    def augmented(self, call: Any, op: type, origin: Any) -> Any:
        left, right = call.args
        if not K.immutable(self.kind(left)):
            raise NotCompiled("an in-place operation on an array or container is not compiled yet", origin=origin)
        return core.binary(left, op, right)

    def unknown(self, call: Any, function: Any, origin: Any) -> None:
        """A function that is not known may write into arrays and containers that are passed to it."""
        operands = [*call.args, *(k.value for k in call.keywords)]
        if isinstance(call.func, gast.Attribute) and core.is_atom(call.func.value):
            operands.append(call.func.value)
        for operand in operands:
            inner = operand.value if isinstance(operand, gast.Starred) else operand
            known = self.kind(inner)
            local = isinstance(inner, gast.Name) and inner.id in self.operations.local
            is_object = isinstance(known, K.Object) and not K.is_random_generator(known.cls)
            if local and (isinstance(known, (K.Array, K.Numeric)) or is_object or K.children(known) is not None):
                what = getattr(function, "__name__", None) or "a function"
                if what in ("append", "add") and f".{what}(" not in getattr(origin, "text", ""):
                    raise NotCompiled("a comprehension is not compiled yet", origin=origin)
                raise NotCompiled(f"`{what}` may write into an array or container that it is given", origin=origin)


def _is_type(kind: Any) -> bool:
    """Whether a value of this kind is a dtype or class, or the like."""
    return isinstance(kind, K.Static) and isinstance(kind.value, (type, np.dtype, types.EllipsisType))


def _is_none(node: Any) -> bool:
    return isinstance(node, gast.Constant) and node.value is None
