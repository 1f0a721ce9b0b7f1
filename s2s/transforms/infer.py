"""Kinds and shapes of all names, by abstract interpretation of single-assignment Core.

Each statement is visited once, the body of a loop until the kinds at its head are stable. A function's result kind is
found by example (`samples`), or by its rule's `kind`. Facts that are known before the program runs (`x.ndim`,
`axis is None`, `isinstance(x, np.ndarray)`) get a known value, which `prune` uses to decide an `if`.

Shapes: an elementwise result has the shape of its array operand where there is one, or where all operands are known
to share theirs. `facts.shapes` maps a name to the canonical name of its shape.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gast
import numpy as np

from s2s import core, rules
from s2s import kinds as K
from s2s.core import MISSING, Function
from s2s.kinds import Kind
from s2s.transforms.callee import OPERATORS, UNARY, attribute_kind, callee
from s2s.transforms.conduct import followed
from s2s.transforms.items import (
    chosen_kind,
    entry_kind,
    item_kind,
    iterator_kind,
    literal,
    slice_kind,
    unpacked,
    view_kind,
)
from s2s.transforms.known import ITERATORS, STATIC
from s2s.transforms.sameshape import kept_of, shape_key
from s2s.transforms.samples import NoSample, result_kind, sample
from s2s.transforms.task import Task


def infer(fn: Function, task: Task) -> Function:
    """`fn` with facts about kinds and shapes, given the kinds of its parameters (`task.kinds`)."""
    run = _Inference(fn, {name: task.kinds.get(name, K.UNKNOWN) for name in fn.param_names})
    run.block(fn.body[:-1])
    return fn.with_facts(kinds=run.kinds, shapes=run.shapes)


def infer_rest(fn: Function) -> Function:
    """`fn` with facts about the names of which nothing is known yet; what is known stays."""
    run = _Inference(fn, dict(fn.facts.kinds), dict(fn.facts.shapes))
    run.block(fn.body[:-1])
    return fn.with_facts(kinds=run.kinds, shapes=run.shapes)


def expression_kinds(fn: Function) -> Callable[[Any], Kind]:
    """Gives the kinds of expressions of a function about whose names everything is known."""
    return _Inference(fn, dict(fn.facts.kinds), dict(fn.facts.shapes)).kind


class _Inference:
    def __init__(self, fn: Function, known: dict[str, Kind], shapes: Mapping[str, str] | None = None) -> None:
        self.fn = fn
        self.local = fn.local_names()
        self.kinds = known
        self.fixed = frozenset(known)
        self.shapes: dict[str, str] = dict(shapes or {})
        self.changed = False
        self.keys: dict[Any, str] = {}  # what has the shape that a key of `sameshape` describes
        self.reduced: dict[str, str] = {}  # shapes that broadcast to another one: of reductions that keep their axes
        for name in fn.param_names:
            self.define_shape(name, name)

    # --- statements ---

    def block(self, stmts: Sequence[Any]) -> None:
        for stmt in stmts:
            visit = getattr(self, f"visit_{type(stmt).__name__}", None)
            if visit is not None:
                visit(stmt)

    def define(self, name: str, kind: Kind, shape: str | None = None) -> None:
        if name in self.fixed:
            return
        old = self.kinds.get(name)
        new = kind if old is None else K.join(old, kind)
        if new != old:
            self.kinds[name] = new
            self.changed = True
        self.define_shape(name, shape or name)

    def define_shape(self, name: str, shape: str) -> None:
        if not isinstance(self.kinds.get(name), K.Array):
            if self.shapes.pop(name, None) is not None:
                self.changed = True  # an array in the first round that is none in general
            return
        old = self.shapes.get(name)
        new = shape if old in (None, shape) else name
        if new != old:
            self.shapes[name] = new
            self.changed = True

    def visit_Assign(self, stmt: Any) -> None:
        (target,) = stmt.targets
        if any(name in self.local and name not in self.kinds for name in core.reads(stmt.value)):
            return  # nothing has reached an operand yet: of what meets at the target, this is no part
        kind = self.kind(stmt.value)
        if isinstance(target, gast.Name):
            self.define(target.id, kind, self.shape(stmt.value, kind) or self.same_shape(stmt.value, kind, target.id))
            self.note_reduction(stmt.value, target.id)
        elif isinstance(target, gast.Tuple):
            for name, item in zip(target.elts, unpacked(kind, target.elts)):
                self.define(name.value.id if isinstance(name, gast.Starred) else name.id, item)

    def visit_If(self, stmt: Any) -> None:
        test = self.kind(stmt.test)
        for block, never in ((stmt.body, False), (stmt.orelse, True)):
            if not (isinstance(test, K.Bool) and test.value is never):
                self.branch(block)

    def branch(self, stmts: Sequence[Any]) -> None:
        """Visit a block that may not run: names that it binds stand for no shape outside."""
        keys, reduced = self.keys, self.reduced
        self.keys, self.reduced = dict(keys), dict(reduced)
        self.block(stmts)
        self.keys, self.reduced = keys, reduced

    def visit_For(self, stmt: Any) -> None:
        def once() -> None:
            self.define(stmt.target.id, item_kind(self.kind(stmt.iter)))
            self.block(stmt.body)

        self.stable(once)

    def visit_While(self, stmt: Any) -> None:
        self.stable(lambda: self.block(stmt.body))

    def stable(self, once: Any) -> None:
        """Visit a loop's body until nothing changes any more."""
        outer, keys, reduced = self.changed, self.keys, self.reduced
        while True:
            self.changed, self.keys, self.reduced = False, dict(keys), dict(reduced)
            once()
            if not self.changed:
                break
            outer = True
        self.changed, self.keys, self.reduced = outer, keys, reduced

    def visit_With(self, stmt: Any) -> None:
        for item in stmt.items:
            if item.optional_vars is not None:
                self.define(item.optional_vars.id, K.UNKNOWN)
        self.block(stmt.body)

    # --- expressions ---

    def kind(self, node: Any) -> Kind:
        method = getattr(self, f"kind_{type(node).__name__}", None)
        return K.UNKNOWN if method is None else method(node)

    def kind_Constant(self, node: Any) -> Kind:
        return K.of_literal(node.value)

    def kind_Name(self, node: Any) -> Kind:
        if node.id in self.local:
            return self.kinds.get(node.id, K.UNKNOWN)
        value = self.fn.scope.lookup(node.id)
        return K.UNKNOWN if value is MISSING else K.of(value)

    def kind_Attribute(self, node: Any) -> Kind:
        return attribute_kind(self.kind(node.value), node.attr)

    def kind_Call(self, node: Any) -> Kind:
        if isinstance(node.func, gast.Attribute) and not node.args and not node.keywords:
            view = view_kind(self.kind(node.func.value), node.func.attr)
            if view is not None:
                return view
        function, operands = callee(node, self.kind, self.local)
        if function is None or any(isinstance(a, gast.Starred) for a in operands):
            return K.UNKNOWN
        args = tuple(self.kind(a) for a in operands)
        keywords = tuple((k.arg, self.kind(k.value)) for k in node.keywords)
        if any(name is None for name, _ in keywords):
            return K.UNKNOWN
        if function in (max, min):
            return chosen_kind(args, dict(keywords))
        if function in ITERATORS and not keywords:
            return iterator_kind(function, args)
        rule = rules.find(function)
        if rule is not None and rule.kind is not None:
            try:
                bound = rule.bind(args, dict(keywords))
            except TypeError:  # a wrong call, which raises when the program runs
                return K.UNKNOWN
            return rule.kind(*(v if isinstance(v, Kind) else K.of_literal(v) for v in bound.values()))
        if rule is None and not followed(function):
            return K.UNKNOWN
        if function in STATIC:
            return _static_result(function, args, keywords)
        return result_kind(function, args, keywords)

    def kind_BinOp(self, node: Any) -> Kind:
        function = OPERATORS[type(node.op)]
        left, right = self.kind(node.left), self.kind(node.right)
        if isinstance(left, K.Int) and isinstance(right, K.Int):
            return _known(function, left, right)
        return result_kind(function, (left, right))

    def kind_UnaryOp(self, node: Any) -> Kind:
        operand = self.kind(node.operand)
        if isinstance(node.op, gast.Not):
            value = getattr(operand, "value", None) if isinstance(operand, K.Bool) else None
            return K.Bool(None if value is None else not value)
        if isinstance(operand, K.Int):
            return _known(UNARY[type(node.op)], operand)
        return result_kind(UNARY[type(node.op)], (operand,))

    def kind_Compare(self, node: Any) -> Kind:
        (op,), (right_node,) = node.ops, node.comparators
        left, right = self.kind(node.left), self.kind(right_node)
        if isinstance(op, (gast.Is, gast.IsNot)):
            same = _identical(left, right)
            return K.Bool(None if same is None else same == isinstance(op, gast.Is))
        if isinstance(op, (gast.In, gast.NotIn)):
            return K.Bool()
        function = OPERATORS[type(op)]
        known = literal(left), literal(right)
        return _truth(function, *known) if MISSING not in known else result_kind(function, (left, right))

    def kind_Subscript(self, node: Any) -> Kind:
        owner, index = self.kind(node.value), self.index_kind(node.slice)
        inner = K.children(owner)
        if inner is None or isinstance(owner, K.Record):
            known = _GETITEM.kind(owner, index)
            return known if not isinstance(known, K.Unknown) else result_kind(operator.getitem, (owner, index))
        if isinstance(node.slice, gast.Slice):
            parts = (node.slice.lower, node.slice.upper, node.slice.step)
            return slice_kind(owner, [K.NONE if part is None else self.kind(part) for part in parts])
        return entry_kind(owner, index)

    def index_kind(self, node: Any) -> Kind:
        if isinstance(node, gast.Slice):
            return K.Slice()
        if isinstance(node, gast.Tuple):
            return K.Tuple(tuple(self.index_kind(e) for e in node.elts))
        return self.kind(node)

    def kind_Tuple(self, node: Any) -> Kind:
        if any(isinstance(e, gast.Starred) for e in node.elts):
            return K.UNKNOWN
        return K.Tuple(tuple(self.kind(e) for e in node.elts))

    def kind_List(self, node: Any) -> Kind:
        if any(isinstance(e, gast.Starred) for e in node.elts):
            return K.UNKNOWN
        return K.List(tuple(self.kind(e) for e in node.elts))

    def kind_Dict(self, node: Any) -> Kind:
        keys = [MISSING if k is None else literal(self.kind(k)) for k in node.keys]
        if MISSING in keys:
            return K.UNKNOWN
        return K.Dict(tuple((k, self.kind(v)) for k, v in zip(keys, node.values)))

    def kind_JoinedStr(self, node: Any) -> Kind:
        return K.Str()

    # --- shapes ---

    def shape(self, node: Any, kind: Kind) -> str | None:
        """The canonical name whose shape the value has, where one is known."""
        if not isinstance(kind, K.Array):
            return None
        if isinstance(node, gast.Name):
            return self.shapes.get(node.id)
        operands = self.elementwise_operands(node)
        if operands is None:
            return None
        found = set()
        for operand in operands:
            operand_kind = self.kind(operand)
            if K.ndim_of(operand_kind) == 0 or isinstance(operand, gast.Constant):
                continue
            if K.ndim_of(operand_kind) != kind.ndim:
                return None
            found.add(self.shapes.get(operand.id) if isinstance(operand, gast.Name) else None)
        if len(found) == 2 and None not in found:
            one, other = sorted(filter(None, found))
            return one if self.reduced.get(other) == one else other if self.reduced.get(one) == other else None
        return found.pop() if len(found) == 1 else None

    def note_reduction(self, node: Any, name: str) -> None:
        """A reduction that keeps its axes broadcasts back to the shape that it came from."""
        shape = self.shapes.get(name)
        whole = kept_of(node, lambda call: callee(call, self.kind, self.local))
        if shape is not None and whole in self.shapes:
            self.reduced[shape] = self.shapes[whole]

    def same_shape(self, node: Any, kind: Kind, name: str) -> str | None:
        """The name that was first given a value of the same shape, by the same operation on like operands."""
        if not isinstance(kind, K.Array):
            return None
        key = shape_key(node, self.shapes, self.kind, lambda call: callee(call, self.kind, self.local))
        return None if key is None else self.keys.setdefault(key, name)

    def elementwise_operands(self, node: Any) -> Sequence[Any] | None:
        if isinstance(node, gast.UnaryOp):
            return [node.operand]
        if isinstance(node, gast.BinOp):
            return None if isinstance(node.op, gast.MatMult) else [node.left, node.right]
        if isinstance(node, gast.Compare):
            return [node.left, *node.comparators]
        if isinstance(node, gast.Call) and not node.keywords:
            function, operands = callee(node, self.kind, self.local)
            rule = rules.find(function) if function is not None else None
            if rule is not None and (rule.partials or isinstance(function, np.ufunc) or function in _SAME_SHAPE):
                if isinstance(function, np.ufunc) and function.signature is not None:
                    return None
                return operands[:1] if function in _SAME_SHAPE else operands
        return None


_GETITEM: Any = rules.find(operator.getitem)
_SAME_SHAPE = {np.copy, np.ndarray.copy, np.ndarray.astype, np.zeros_like, np.ones_like, np.empty_like, np.cumsum,
               np.real, np.imag}  # fmt: skip


def _known(function: Any, *operands: Kind) -> Kind:
    values = [literal(k) for k in operands]
    small = all(v is not MISSING and abs(v) < 1000 for v in values)
    if not small or (function in (operator.pow, operator.lshift) and values[1] > 64):
        return result_kind(function, tuple(type(k)() for k in operands))
    try:
        return K.of_literal(function(*values))
    except Exception:
        return K.UNKNOWN


def _truth(function: Any, left: Any, right: Any) -> Kind:
    """A comparison of known values."""
    try:
        return K.Bool(bool(function(left, right)))
    except Exception:  # Python shall say so when the program runs
        return K.UNKNOWN


def _identical(a: Kind, b: Kind) -> bool | None:
    for one, other in ((a, b), (b, a)):
        if isinstance(one, K.NoneKind) and not isinstance(other, K.Unknown):
            return isinstance(other, K.NoneKind)
    if isinstance(a, K.Static) and isinstance(b, K.Static):
        return a.value is b.value
    if isinstance(a, K.Bool) and isinstance(b, K.Bool) and a.value is not None and b.value is not None:
        return a.value is b.value
    return None


def _static_result(function: Any, args: tuple[Kind, ...], keywords: tuple[tuple[str, Kind], ...]) -> Kind:
    if function is len:
        (owner,) = args
        fixed = K.children(owner) if isinstance(owner, (K.Tuple, K.List, K.Dict)) else None
        return K.Int(None if fixed is None else len(fixed))
    try:
        return K.of_literal(function(*map(sample, args), **{n: sample(k) for n, k in keywords}))
    except (NoSample, Exception):
        return K.UNKNOWN
