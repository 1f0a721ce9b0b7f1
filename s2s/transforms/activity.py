"""Which names carry derivatives: those that depend on the inputs and on which the result depends.

An active value that enters a function without a rule is no detail: the function is refused here, never passed over.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable, Sequence, Set
from typing import Any

import gast
from astunparse import Unparser

from s2s import core
from s2s import kinds as K
from s2s.core import Function
from s2s.errors import NotCompiled
from s2s.rules.missing import described, missing_rule
from s2s.transforms.callee import operation
from s2s.transforms.known import INERT
from s2s.transforms.operations import Operations
from s2s.transforms.structure import statements
from s2s.transforms.task import Task
from s2s.transforms.texts import is_text, numbers_of_text
from s2s.transforms.usercalls import user_callee


def activity(fn: Function, task: Task) -> Function:
    """`fn` with `facts.active`. Raises NotCompiled or MissingRuleError where an active value is not understood."""
    found = _Activity(fn, task, {name for name in task.wrt if K.differentiable(task.kinds[name])})
    active = found.run()
    for stmt in statements(fn.body):
        if isinstance(stmt, gast.For) and stmt.target.id in active:  # `loops` has left it as it is
            raise NotCompiled("a loop over active values of unknown kind", origin=core.origin_of(stmt))
    found.refuse_numbers_of_text()
    return fn.with_facts(active=active)


class _Activity:
    """What depends on the names `start`, and the result on it."""

    def __init__(self, fn: Function, task: Task, start: Iterable[str]) -> None:
        self.fn = fn
        self.task = task
        self.operations = Operations(fn)
        self.varied = set(start)
        self.seen: dict[int, Set[str]] = {}  # by statement, the varied operands that it was looked at with

    def run(self) -> frozenset[str]:
        self._until_stable(lambda: self.forward(self.fn.body), self.varied)
        useful = set(core.reads(self.fn.body[-1]))
        self._until_stable(lambda: self.backward(self.fn.body, useful), useful)
        return frozenset(self.varied & useful)

    def refuse_numbers_of_text(self) -> None:
        """Numbers that are made of text of active values, where the result depends on them as on an input."""
        numbers = numbers_of_text(self.fn, self.operations, self.varied)
        if numbers:
            other = _Activity(self.fn, self.task, numbers)
            for name in other.run():
                if name in numbers:
                    raise numbers[name]

    def _until_stable(self, visit: Callable[[], None], found: set[str]) -> None:
        size = -1
        while size != len(found):
            size = len(found)
            visit()

    # --- forward: what depends on the inputs ---

    def forward(self, stmts: Sequence[Any]) -> None:
        for stmt in stmts:
            if isinstance(stmt, gast.Assign):
                self.assign(stmt)
            elif isinstance(stmt, gast.For):
                if core.reads(stmt.iter) & self.varied:
                    self.add([stmt.target.id])
            elif isinstance(stmt, gast.Expr):
                self.depends(stmt.value, core.origin_of(stmt))
            for _, block in core.blocks(stmt):
                self.forward(block)

    def assign(self, stmt: Any) -> None:
        operands = core.reads(stmt.value) & self.varied
        if not operands or self.seen.get(id(stmt)) == operands:
            return
        self.seen[id(stmt)] = operands
        if core.is_aside(stmt):
            return
        (target,) = stmt.targets
        if isinstance(target, gast.Name) and is_text(self.operations.kind(target)):
            return
        varied = self.depends(stmt.value, core.origin_of(stmt))
        if isinstance(target, (gast.Name, gast.Tuple)):
            if varied:
                self.refuse_odd_kinds(stmt)
                self.refuse_objects(stmt)
                self.add(core.writes(stmt))
        else:
            raise NotCompiled("an active value is stored into an object", origin=core.origin_of(stmt))

    def refuse_odd_kinds(self, stmt: Any) -> None:
        """An operation with a derivative whose result seems to be no float: a guard against a kind that is wrong."""
        if isinstance(stmt.value, (gast.BinOp, gast.UnaryOp, gast.Call)):
            kinds = [self.fn.facts.kinds.get(name, K.UNKNOWN) for name in core.writes(stmt)]
            if any(isinstance(kind, (K.Int, K.Bool, K.NoneKind)) for kind in kinds):
                raise NotCompiled("an active value gives a result of another kind", origin=core.origin_of(stmt))

    def refuse_objects(self, stmt: Any) -> None:
        """An array of objects, which may be anything: NumPy does with each what it does itself."""
        kinds = [self.fn.facts.kinds.get(name, K.UNKNOWN) for name in core.writes(stmt)]
        kinds += [self.operations.kind(core.name(name)) for name in core.reads(stmt.value)]
        if any(dtype is not None and dtype.kind == "O" for dtype in map(K.dtype_of, kinds)):
            raise NotCompiled("an active value meets an array of objects", origin=core.origin_of(stmt))

    def add(self, names: Sequence[str]) -> None:
        self.varied.update(n for n in names if K.differentiable(self.fn.facts.kinds.get(n, K.UNKNOWN)))

    def depends(self, node: Any, origin: Any) -> bool:
        """Whether the value of an expression depends on the inputs."""
        if not core.reads(node) & self.varied:
            return False
        if isinstance(node, (gast.Name, gast.Tuple, gast.List, gast.Dict, gast.Set)):
            return True
        if isinstance(node, (gast.Compare, gast.JoinedStr)):
            return False
        if isinstance(node, gast.Attribute) and K.children(self.operations.kind(node.value)) is not None:
            return True
        if isinstance(node, gast.Subscript):
            return self.item(node, origin)
        if isinstance(node, gast.BinOp) and self.joins(node):
            raise NotCompiled(self.joining(node), origin=origin)
        found = self.operations.find(node)
        if found is None:
            return self.opaque(node, origin)
        if found.rule.zero:
            return False
        if found.function is sum and K.children(self.operations.kind(found.bound.get("start"))) is not None:
            raise NotCompiled(
                "`sum` that joins sequences, with active values among them, is not compiled yet", origin=origin
            )
        varied = {p for p, v in found.bound.items() if core.reads(_nodes(v)) & self.varied}
        known = set(found.rule.differentiable)
        self.refuse_missing(found, varied - known, origin)
        return bool(varied & known)

    def item(self, node: Any, origin: Any) -> bool:
        """An item read depends on what is read; of an unknown object, which may compute, nothing is known."""
        kind = self.operations.kind(node.value)
        if isinstance(kind, K.Unknown):
            raise NotCompiled("an item of an object is read with active values", origin=origin)
        return bool(core.reads(node.value) & self.varied)

    def joins(self, node: Any) -> bool:
        """Whether an operator works on a sequence as a whole: `[x] * 3`, `(x,) + (y,)`."""
        left, right = self.operations.kind(node.left), self.operations.kind(node.right)
        for one, other in ((left, right), (right, left)):
            if isinstance(one, (K.List, K.Tuple, K.Sequence, K.Dict)):
                return isinstance(other, K.Unknown) or not isinstance(other, (K.Array, K.Scalar, K.Numeric))
        return False

    def joining(self, node: Any) -> str:
        """What is said of an operator on sequences."""
        left, right = (_KINDS.get(type(self.operations.kind(side)), "a value") for side in (node.left, node.right))
        symbol = Unparser.binop[type(node.op).__name__]
        return f"`{symbol}` of {left} and {right}, with active values among them, is not compiled yet"

    def refuse_missing(self, found: Any, varied: set[str], origin: Any) -> None:
        """A rule that lacks the parameter in question: refused, unless the parameter can carry no derivative."""
        for parameter in varied - found.rule.zeros:
            value = found.bound[parameter]
            kinds = [self.operations.kind(n) for n in _nodes(value)]
            if any(K.differentiable(k) for k in kinds):
                raise missing_rule(found.function, [parameter], origin)

    def opaque(self, node: Any, origin: Any) -> bool:
        """An operation without a rule meets an active value."""
        function = self.operations.function(node)
        if isinstance(node, gast.Call) and any(isinstance(a, gast.Starred) for a in node.args):
            raise NotCompiled(f"a call of `{described(function)}` with `*`", origin=origin)
        if user_callee(function, node) is not None:
            return any(K.differentiable(self.operations.kind(a)) for a in node.args if core.reads(a) & self.varied)
        if function in INERT or _is_exception(function):
            return False
        if getattr(function, "__objclass__", None) in (list, dict, set):
            raise NotCompiled(
                f"`{described(function)}` puts an active value into a container that is not the function's own",
                origin=origin,
            )
        if function is not None and not _has_source(function):
            raise missing_rule(function, self.active_places(node), origin)
        called = node.func if isinstance(node, gast.Call) else None
        named = isinstance(called, gast.Name) and not core.is_temporary(called.id)
        what = f"a call of `{core.stem(called.id)}`, which" if named else "an operation that"  # type: ignore[union-attr]
        raise NotCompiled(f"an active value enters {what} is not known when compiling", origin=origin)

    def active_places(self, node: Any) -> list[int | str]:
        """The positions and keywords of the operands of an operation that depend on the inputs."""
        _, operands, keywords = operation(node, self.operations.kind, self.operations.local)
        places: list[tuple[int | str, Any]] = [*enumerate(operands), *keywords.items()]
        return [place for place, operand in places if core.reads(operand) & self.varied]

    # --- backward: what the result depends on ---

    def backward(self, stmts: Sequence[Any], useful: set[str]) -> None:
        for stmt in reversed(stmts):
            for _, block in reversed(core.blocks(stmt)):
                self.backward(block, useful)
            if isinstance(stmt, gast.Assign) and set(core.writes(stmt)) & useful:
                twins = self.fn.facts.twins
                useful |= core.reads(stmt.value) | {twins[n] for n in core.writes(stmt) if n in twins}
            elif isinstance(stmt, gast.For) and stmt.target.id in useful:
                useful |= core.reads(stmt.iter)


_KINDS = {
    K.List: "a list", K.Tuple: "a tuple", K.Sequence: "a sequence", K.Dict: "a dict", K.Int: "an int", K.Bool: "a bool",
    K.Str: "a string", K.NoneKind: "None", K.Unknown: "a value of unknown kind",
}  # fmt: skip


def _nodes(value: Any) -> list[Any]:
    if isinstance(value, gast.AST):
        return [value]
    return [v for v in value if isinstance(v, gast.AST)] if isinstance(value, tuple) else []


def _is_exception(function: Any) -> bool:
    """Whether a call makes an exception of Python's own: what it holds is told like text (`texts`)."""
    return isinstance(function, type) and issubclass(function, BaseException) and function.__module__ == "builtins"


def _has_source(function: Any) -> bool:
    known = (types.FunctionType, types.MethodType, functools._lru_cache_wrapper, type)
    return isinstance(function, known) or not callable(function)
