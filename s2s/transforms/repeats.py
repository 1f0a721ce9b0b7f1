"""Whether a program may be run again: it does nothing but compute a value of its arguments.

Forward mode gives one direction in a run of the program, so a Jacobian by columns runs it as often as it has columns.
Where the program prints, draws random numbers or changes what lives longer than a call, this would show, or even mix
the derivatives of different draws. The fact is on the safe side: a call of which nothing is known counts as an effect.
"""

from __future__ import annotations

from typing import Any

import gast

from s2s import core
from s2s import kinds as K
from s2s.core import Function
from s2s.kinds import Kind
from s2s.runtime import numeric, stores
from s2s.transforms.operations import Operations
from s2s.transforms.structure import header, statements
from s2s.transforms.task import Task

_COMPUTED = (gast.BinOp, gast.UnaryOp, gast.Compare, gast.Subscript, gast.Call, gast.Attribute)


def repeats(fn: Function, task: Task) -> Function:
    """`fn` with the fact."""
    return fn.with_facts(repeatable=_repeatable(fn))


def _repeatable(fn: Function) -> bool:
    operations = Operations(fn)
    writes = False
    for stmt in statements(fn.body):
        if isinstance(stmt, (gast.With, gast.FunctionDef)) or _is_store(stmt):
            return False
        if isinstance(stmt, gast.For) and isinstance(operations.kind(stmt.iter), (K.Unknown, K.Iterator, K.Object)):
            return False
        for call in _operations(stmt):
            if isinstance(call, gast.Attribute):
                if isinstance(operations.kind(call.value), K.Unknown):
                    return False  # it may be a property
                continue
            conduct = operations.conduct(call)
            if operations.function(call) in (numeric.require_scalar, stores.require_in_step):
                continue
            if conduct is None or conduct.outer or conduct.calls:
                return False
            writes = writes or bool(conduct.writes)
    return not (writes and _reaches_out(fn, operations))


def _is_store(stmt: Any) -> bool:
    """Whether a statement writes in a form that `mutation` has left alone: into an attribute, say."""
    targets = stmt.targets if isinstance(stmt, (gast.Assign, gast.Delete)) else []
    return isinstance(stmt, gast.AugAssign) or any(isinstance(t, (gast.Attribute, gast.Subscript)) for t in targets)


def _operations(stmt: Any) -> list[Any]:
    """The operations in a statement's own expressions."""
    fields = [getattr(stmt, field) for field in header(stmt)]
    nodes = [n for field in fields for n in (field if isinstance(field, list) else [field]) if n is not None]
    return [part for node in nodes for part in gast.walk(node) if isinstance(part, _COMPUTED)]


def _reaches_out(fn: Function, operations: Operations) -> bool:
    """Whether memory that is neither an argument's (which are copied) nor the program's own is in its hands."""
    free = {name for stmt in statements(fn.body) for name in core.reads(stmt)} - operations.local
    kinds = [operations.kind(core.name(name)) for name in [*free, *fn.param_names]]
    held = {name: operations.kind(core.name(name)) for name in free}
    return any(map(_is_object, kinds)) or any(_holds_memory(kind) for kind in held.values())


def _is_object(kind: Kind) -> bool:
    return isinstance(kind, (K.Unknown, K.Object, K.Method, K.Iterator)) or any(map(_is_object, K.children(kind) or ()))


def _holds_memory(kind: Kind) -> bool:
    return not (K.immutable(kind) or isinstance(kind, (K.Static, K.Range)))
