"""What asks whether a statement in a `try` raises what is handled there: `error = caught(classes, function, operands)`.

The functions asked about only compute, so that they may run twice: once for the question, once for the value.
"""

from __future__ import annotations

import operator
import types
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import gast
import numpy as np

from s2s import core
from s2s.core import MISSING, Function
from s2s.errors import NotCompiled
from s2s.runtime import catching
from s2s.runtime.ordering import require_equal_lengths
from s2s.transforms.callee import OPERATORS, UNARY
from s2s.transforms.conduct import row_of
from s2s.transforms.rulebody import Namer
from s2s.transforms.structure import like, statements
from s2s.transforms.versions import INPLACE

Classes = tuple[type[BaseException], ...]

# Methods of lists, dicts and sets that raise nothing, whatever else they do.
_SAFE = {"append", "add", "clear", "reverse", "items", "keys", "values", "get"}
# Methods of arrays, texts and containers that only compute.
_COMPUTING = {
    name for cls in (np.ndarray, str, tuple) for name in dir(cls)
    if not name.startswith("_") and name not in ("fill", "partition", "put", "resize", "setfield", "setflags", "sort",
                                                 "byteswap", "tofile", "dump")
} - _SAFE | {"index", "count", "copy"}  # fmt: skip
_BOOLEAN = (gast.Is, gast.IsNot, gast.In, gast.NotIn)


@dataclass(frozen=True)
class Context:
    """An open `try`: the name that its exception is kept under, and what is intercepted in it."""

    error: str
    classes: Classes


class Questions:
    """Asks about the statements of one function, in their order."""

    def __init__(self, fn: Function, namer: Namer) -> None:
        self.fn = fn
        self.namer = namer
        self.local = fn.local_names()
        self.held: dict[str, Any] = dict.fromkeys(fn.param_names)  # what all assignments give a name, as `given` says
        for stmt in statements(fn.body):
            self.note(stmt)

    def note(self, stmt: Any) -> None:
        for name in core.writes(stmt):
            given = self.given(stmt)
            self.held[name] = given if self.held.get(name, given) is given else None

    def given(self, stmt: Any) -> Any:
        """What a statement assigns: a new exception (its class is given), a bool, `np.errstate(...)`, or None: else."""
        value = getattr(stmt, "value", None)
        if isinstance(value, gast.Call):
            function = self.object(value.func)
            if function is isinstance:
                return bool
            is_error = isinstance(function, type) and issubclass(function, BaseException)
            return function if is_error or function is np.errstate else None
        is_test = isinstance(value, gast.Compare) and isinstance(value.ops[0], _BOOLEAN)
        negates = isinstance(value, gast.UnaryOp) and isinstance(value.op, gast.Not)
        is_constant = isinstance(value, gast.Constant) and isinstance(value.value, bool)
        return bool if is_test or negates or is_constant else None

    def of(self, stmt: Any, open: Context) -> list[Any]:
        """What asks whether a statement raises; nothing where it cannot."""
        if isinstance(stmt, gast.AugAssign):
            function = INPLACE[type(stmt.op)]
            named = core.name(self.namer.bind(function.__name__, function))
            if isinstance(stmt.target, gast.Name):
                return self.asking(stmt, open, catching.augment, [named, core.name(stmt.target.id), stmt.value])
            if isinstance(stmt.target, gast.Subscript):
                operands = [named, stmt.target.value, stmt.target.slice, stmt.value]
                return self.asking(stmt, open, catching.augment_item, operands)
            raise refused("an attribute that is written", stmt)
        if isinstance(stmt, gast.Assign):
            (target,) = stmt.targets
            if isinstance(target, gast.Subscript):
                return self.asking(stmt, open, catching.store, [target.value, target.slice, stmt.value])
            if isinstance(target, gast.Attribute):
                raise refused("an attribute that is written", stmt)
            if isinstance(target, gast.Tuple) and not isinstance(stmt.value, (gast.Tuple, gast.List)):
                count = core.constant(len(target.elts))
                if core.is_atom(stmt.value) and not any(isinstance(e, gast.Starred) for e in target.elts):
                    return self.asking(stmt, open, catching.unpack, [stmt.value, count])
                raise refused("an unpacking", stmt)
        return self.of_expression(stmt, stmt.value, open)

    def of_expression(self, stmt: Any, node: Any, open: Context) -> list[Any]:
        if isinstance(node, gast.BinOp):
            return self.asking(stmt, open, OPERATORS[type(node.op)], [node.left, node.right])
        if isinstance(node, gast.UnaryOp):
            known = isinstance(node.op, gast.Not) and self.holds(node.operand) is bool
            return [] if known else self.asking(stmt, open, UNARY[type(node.op)], [node.operand])
        if isinstance(node, gast.Compare):
            return self.of_comparison(stmt, node, open)
        if isinstance(node, gast.Subscript):
            return self.asking(stmt, open, operator.getitem, [node.value, node.slice])
        if isinstance(node, gast.Attribute) and not core.is_path(node, self.local):
            return self.asking(stmt, open, getattr, [node.value, core.constant(node.attr)])
        if isinstance(node, gast.Call):
            return self.of_call(stmt, node, open)
        starred = [e for e in getattr(node, "elts", ()) if isinstance(e, gast.Starred)]
        if starred or (isinstance(node, (gast.Dict, gast.Set)) and not _has_known_keys(node)):
            raise refused("a display with `*`, or with computed keys,", stmt)
        return []

    def of_comparison(self, stmt: Any, node: Any, open: Context) -> list[Any]:
        op, operands = node.ops[0], [node.left, *node.comparators]
        if isinstance(op, (gast.Is, gast.IsNot)):
            return []
        if isinstance(op, (gast.In, gast.NotIn)):
            return self.asking(stmt, open, operator.contains, operands[::-1])
        return self.asking(stmt, open, OPERATORS[type(op)], operands)

    def of_call(self, stmt: Any, node: Any, open: Context) -> list[Any]:
        if any(isinstance(a, gast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
            raise refused("a call with `*` or `**`", stmt)
        if isinstance(node.func, gast.Attribute) and not core.is_path(node.func, self.local):
            name = node.func.attr
            if name in _SAFE:
                return []
            if name not in _COMPUTING:
                raise refused(f"a call of the method `{name}`", stmt)
            operands = [core.constant(name), node.func.value, *node.args]
            return self.asking(stmt, open, catching.method, operands, node.keywords)
        function = self.object(node.func)
        if function is require_equal_lengths:
            raise refused("a strict `zip`", stmt)  # which raises behind its last item, and not before the first
        if function in (print, catching.raised) or (isinstance(function, type) and issubclass(function, BaseException)):
            return []
        if not only_computes(function, node):
            shown = node.func.attr if isinstance(node.func, gast.Attribute) else core.stem(node.func.id)
            raise refused(f"a call of `{shown}`", stmt)
        return self.ask(stmt, open, node.func, node.args, node.keywords)

    def of_truth(self, stmt: Any, test: Any, open: Context | None) -> list[Any]:
        """What asks whether the truth of an atom can be told; nothing where it can."""
        atom = test.operand if isinstance(test, gast.UnaryOp) else test
        if open is None or isinstance(atom, gast.Constant) or self.holds(atom) is bool:
            return []
        return self.asking(stmt, open, bool, [atom])

    def asking(
        self, stmt: Any, open: Context, function: Any, operands: Sequence[Any], keywords: Sequence[Any] = ()
    ) -> list[Any]:
        return self.ask(stmt, open, core.name(self.namer.bind(function.__name__, function)), operands, keywords)

    def ask(
        self, stmt: Any, open: Context, function: Any, operands: Sequence[Any], keywords: Sequence[Any] = ()
    ) -> list[Any]:
        """`error = caught(classes, function, operands)`."""
        *before, classes = self.expression(open.classes, stmt)
        atoms = []
        for operand in operands:
            made, atom = self.index(stmt, operand)
            before += made
            atoms.append(atom)
        if not core.is_atom(function):
            held = self.namer.temporary("asked")
            before.append(like(core.assign(held, function, None), stmt))
            function = core.name(held)
        caught = core.name(self.namer.bind("caught", catching.caught))
        call = gast.Call(caught, [classes, function, *atoms], list(keywords))
        return [*before, like(core.assign(open.error, call, None), stmt)]

    def index(self, stmt: Any, node: Any) -> tuple[list[Any], Any]:
        """An index as an atom, and what makes it."""
        if core.is_atom(node):
            return [], node
        before: list[Any] = []
        name = self.namer.temporary("index")
        if isinstance(node, gast.Slice):
            bounds = [core.constant(None) if b is None else b for b in (node.lower, node.upper, node.step)]
            value: Any = core.call(self.namer.bind("slice", slice), *bounds)
        else:
            parts = [self.index(stmt, e) for e in node.elts]
            before = [s for made, _ in parts for s in made]
            value = gast.Tuple([atom for _, atom in parts], gast.Load())
        return [*before, like(core.assign(name, value, None), stmt)], core.name(name)

    def expression(self, classes: Classes, model: Any) -> list[Any]:
        """The classes as an atom, which comes last, after what makes it."""
        named = [core.name(self.namer.bind(c.__name__, c)) for c in classes]
        if len(named) == 1:
            return named
        held = self.namer.temporary("errors")
        return [like(core.assign(held, gast.Tuple(named, gast.Load()), None), model), core.name(held)]

    # --- what things are

    def holds(self, node: Any) -> Any:
        """What a name always holds, as `given` says."""
        return self.held.get(getattr(node, "id", ""))

    def classes(self, handler: Any) -> Classes:
        if handler.type is None:
            return (BaseException,)
        nodes = handler.type.elts if isinstance(handler.type, gast.Tuple) else [handler.type]
        found = [self.object(node) for node in nodes]
        if not all(isinstance(c, type) and issubclass(c, BaseException) for c in found):
            raise NotCompiled("a handler of exceptions that are not known", origin=self.fn.origin)
        return tuple(found)

    def raised(self, stmt: Any) -> type | None:
        """The class of what a `raise` raises, None if it is not known."""
        if stmt.exc is None:
            raise refused("a bare `raise`", stmt)
        found = self.object(stmt.exc)
        return found if isinstance(found, type) else self.holds(stmt.exc)

    def is_setting(self, context: Any) -> bool:
        """Whether a name holds `np.errstate(...)`, which sees no exceptions."""
        return self.holds(context) is np.errstate

    def object(self, node: Any) -> Any:
        """What a path means, through modules; MISSING for what is local."""
        if isinstance(node, gast.Attribute):
            owner = self.object(node.value)
            return getattr(owner, node.attr, MISSING) if isinstance(owner, types.ModuleType) else MISSING
        if not isinstance(node, gast.Name) or node.id in self.local:
            return MISSING
        return self.namer.scope.lookup(node.id)


def refused(what: str, stmt: Any) -> NotCompiled:
    """The error that says what in a `try` is not compiled."""
    return NotCompiled(f"{what} in `try` is not compiled yet", origin=core.origin_of(stmt))


def concerns(cls: type, classes: Classes) -> bool:
    return any(issubclass(cls, c) or issubclass(c, cls) for c in classes)


def _has_known_keys(node: Any) -> bool:
    return all(isinstance(k, gast.Constant) for k in (node.keys if isinstance(node, gast.Dict) else node.elts))


def only_computes(function: Any, call: Any) -> bool:
    """Whether a call does nothing but give a result, as far as the table of `known` tells."""
    row = row_of(function) if callable(function) else None
    if row is None or row.outer or any(k.arg is None for k in call.keywords):
        return False
    bound = row.bind(call.args, {k.arg: k.value for k in call.keywords})
    return not any(set(marks) & set("!(") for marks, _ in bound)
