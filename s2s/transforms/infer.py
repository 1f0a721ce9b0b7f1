"""Kinds and shapes of all names, by abstract interpretation of single-assignment Core.

Each statement is visited once, the body of a loop again where that changes what it has been asked for. A function's
result kind is found by example (`samples`), or by its rule's `kind`. Facts that are known before the program runs
(`x.ndim`, `axis is None`, `isinstance(x, np.ndarray)`) get a known value, which `prune` uses to decide an `if`.

Shapes: an elementwise result has the shape of its array operand where there is one, or where all operands are known
to share theirs. `facts.shapes` maps a name to the canonical name of its shape.
"""

from __future__ import annotations

import copy
import functools
import operator
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import gast
import numpy as np

from s2s import core, rules
from s2s import kinds as K
from s2s.core import MISSING, Facts, Function
from s2s.kinds import Kind
from s2s.rules.stores import STORES, stored_kind
from s2s.runtime import numeric
from s2s.runtime.catching import caught
from s2s.runtime.stores import append, drop_last, private, seen, set_item
from s2s.transforms.bound import unsettled
from s2s.transforms.callee import OPERATORS, UNARY, callee
from s2s.transforms.classes import kind_of_attribute
from s2s.transforms.conduct import followed, ours
from s2s.transforms.copies import assignments
from s2s.transforms.decided import identical, known_result, static_result, truth
from s2s.transforms.dims import Shape, Sizes
from s2s.transforms.items import (
    chosen_kind,
    displayed,
    entry_kind,
    item_kind,
    iterator_kind,
    lengthened,
    literal,
    slice_kind,
    unpacked,
    view_kind,
)
from s2s.transforms.known import ITERATORS, STATIC
from s2s.transforms.raising import caught_kind
from s2s.transforms.sameshape import Broadcasts, new_axis, reduction, shape_key
from s2s.transforms.samples import result_kind
from s2s.transforms.structure import assigned, statements
from s2s.transforms.task import Program, Task
from s2s.transforms.usercalls import uncached, user_callee
from s2s.transforms.versions import INPLACE

NO_FACTS = Facts()


def infer(fn: Function, task: Task) -> Function:
    """`fn` with facts about kinds and shapes, given the kinds of its parameters (`task.kinds`)."""
    given = {**_seeds(fn), **{name: kind for name, kind in task.kinds.items() if name in fn.param_names}}
    known = {name: given.get(name, K.UNKNOWN) for name in fn.param_names}
    return _Inference(fn, known, program=task.program).result()


def _seeds(fn: Function) -> dict[str, Kind]:
    """The kinds of keywords whose default is a number: seeds of a gradient that is differentiated in turn."""
    defaults = zip(fn.params.kwonlyargs, fn.params.kw_defaults)
    return {p.id: K.of_literal(d.value) for p, d in defaults if isinstance(d, gast.Constant)}


def infer_rest(fn: Function) -> Function:
    """`fn` with facts about the names of which nothing is known yet; what is known stays."""
    return _Inference(fn, dict(fn.facts.kinds), fn.facts).result()


def expression_kinds(fn: Function) -> Callable[[Any], Kind]:
    """Gives the kinds of expressions of a function about whose names everything is known."""
    return _Inference(fn, dict(fn.facts.kinds), fn.facts).kind


class _Inference:
    def __init__(
        self, fn: Function, known: dict[str, Kind], facts: Facts = NO_FACTS, program: Program | None = None
    ) -> None:
        """program: knows the kinds of what the user's functions return."""
        self.fn = fn
        self.program = program
        self.local = fn.local_names()
        self.kinds = known
        self.fixed = frozenset(known)
        self.shapes = dict(facts.shapes)
        self.broadcasts = Broadcasts(facts.parts, facts.within)
        self.rounds: set[str] = set()  # the names that the loop which is visited assigns
        self.read_from: dict[str, Any] = {}  # the item read of a container that a name is
        self.absent: set[str] = set()  # the names that hold no value on some ways
        self.unnamed: set[str] = set()  # these, and what is made of them: others do not go by their shapes
        self.owners: dict[str, str] = {}  # the array of which a name holds the shape
        self.early: set[str] = set()  # the names that were asked for before anything was known of them
        self.changed = False  # whether something is known otherwise than it was asked for
        self.keys: dict[Any, str] = {}  # what has the shape that a key of `sameshape` describes
        self.lost: dict[str, tuple[str, int]] = {}  # by shape: of which it is a reduction, and the axis that it lacks
        self.looked_at: tuple[Any, Any] = None, None  # the last call that was asked for, and what it calls
        self.sizes = Sizes(facts.ints, facts.lengths, self.kind, self.called)
        self.times = assignments(fn)
        for name in fn.param_names:
            self.define_shape(name, name)
            self.sizes.define(name)

    @cached_property
    def unsure(self) -> set[str]:
        return unsettled(self.fn)

    def result(self) -> Function:
        self.block(self.fn.body[:-1])
        order, sizes = self.broadcasts, self.sizes
        known = {"parts": order.parts, "within": order.within, "ints": sizes.ints, "lengths": sizes.shapes}
        del self.sizes  # which holds methods of ours: a cycle, that only the collector would free
        return self.fn.with_facts(kinds=self.kinds, shapes=self.shapes, **known)

    # --- statements ---

    def block(self, stmts: Sequence[Any]) -> None:
        for stmt in stmts:
            visit = getattr(self, f"visit_{type(stmt).__name__}", None)
            if visit is not None:
                visit(stmt)

    def define(self, name: str, kind: Kind, shape: str | None = None) -> None:
        if name not in self.fixed:
            self.define_kind(name, kind)
            self.define_shape(name, shape or name)

    def define_kind(self, name: str, kind: Kind) -> None:
        old = self.kinds.get(name)
        new = kind if old is None else K.join(old, kind)
        if new is not old and new != old:
            self.kinds[name] = new
            self.changed |= old is not None or name in self.early

    def note_absent(self, name: str | None) -> None:
        """A name holds no value on some way: on that way it has no shape, least of all one that others go by."""
        if name is None:
            return
        self.absent.add(name)
        self.unnamed.add(name)
        if self.shapes.get(name, name) != name:
            self.shapes[name] = name
            self.changed = True

    def is_unnamed(self, value: Any) -> bool:
        """Whether an expression is no value where one of its operands is none: all others raise."""
        if not self.unnamed or self.unnamed.isdisjoint(core.reads(value)):
            return False
        return isinstance(value, gast.Name) or (isinstance(value, gast.Call) and self.called(value)[0] is seen)

    def define_shape(self, name: str, shape: str) -> None:
        if not isinstance(self.kinds.get(name), K.Array):
            if self.shapes.pop(name, None) is not None:
                self.changed = True  # an array in the first round that is none in general
            return
        old = self.shapes.get(name)
        new = shape if old in (None, shape) and name not in self.absent else name
        if new != old:
            self.shapes[name] = new
            self.changed |= old is not None

    def visit_Assign(self, stmt: Any) -> None:
        (target,) = stmt.targets
        name = assigned(stmt)
        if not self.reached(stmt.value):
            if isinstance(stmt.value, gast.Name) and stmt.value.id in self.absent:
                self.note_absent(name)
            return
        kind = self.kinds[name] if name in self.fixed and name in self.kinds else self.kind(stmt.value)
        self.note_write(stmt.value)
        if isinstance(kind, K.Never):
            self.note_absent(name)
            return
        if name is not None and self.is_unnamed(stmt.value):
            self.unnamed.add(name)
        if name is not None:
            if isinstance(stmt.value, gast.Subscript) and K.children(kind) is not None:
                self.read_from[name] = stmt.value
            self.name_shape(name, stmt.value, kind)
        elif isinstance(target, gast.Subscript) and isinstance(target.slice, gast.Slice):
            self.grow(target.value, lambda owner: lengthened(owner, item_kind(kind)))
        elif isinstance(target, gast.Subscript):
            self.grow(target.value, lambda owner: stored(owner, self.index_kind(target.slice), kind))
        elif isinstance(target, gast.Tuple):
            terms = self.sizes.items(stmt.value)
            for i, (element, item) in enumerate(zip(target.elts, unpacked(kind, target.elts))):
                name = element.value.id if isinstance(element, gast.Starred) else element.id
                self.define(name, item)
                self.measure(name, core.subscript(stmt.value, core.constant(i)) if terms is not None else None)

    def visit_Delete(self, stmt: Any) -> None:
        (target,) = stmt.targets
        if isinstance(target, gast.Subscript):
            self.grow(target.value, lengthened)

    def visit_Expr(self, stmt: Any) -> None:
        if self.reached(stmt.value):
            self.note_write(stmt.value)

    def reached(self, node: Any) -> bool:
        """Whether something has reached all operands: else of what meets at a target, an expression is no part yet."""
        self.looked_at = None, None  # kinds may be others than in the last round of a loop
        unknown = (core.reads(node) & self.local).difference(self.kinds)
        self.early |= unknown
        return not unknown

    # --- writes into containers, before single assignment says in which version ---

    def note_write(self, value: Any) -> None:
        """A call that writes into a list or dict changes what it may hold, from now on and in earlier rounds."""
        if not isinstance(value, gast.Call) or self.fn.facts.storages:
            return
        function, operands = self.called(value)
        if function is set_item:
            self.grow(operands[0], lambda owner: stored(owner, *map(self.index_kind, operands[1:])))
        elif function in LISTS:
            held = [self.kind(o) for o in operands[LISTS[function] :]] if LISTS[function] else []
            items = [k for h in held for k in (K.children(h) or [K.UNKNOWN])] if function is list.extend else held
            self.grow(operands[0], lambda owner: lengthened(owner, *items))

    def grow(self, owner: Any, change: Callable[[Kind], Kind]) -> None:
        old = self.kind(owner)
        if isinstance(old, (K.List, K.Sequence, K.Dict)) and isinstance(owner, gast.Name) and owner.id in self.local:
            new = change(old)
            if self.rounds and new != K.NEVER and len(K.children(new) or ()) == len(K.children(old) or ()):
                new = K.join(old, new)  # another round finds what this one stores, and so on to a fixed point
            elif _rebinds_anew(old, new):
                new = K.join(old, new)  # whether an item is updated in place is asked when all is known
            if new not in (old, K.NEVER) and owner.id not in self.fixed:
                self.kinds[owner.id] = new
                self.changed = True
                if owner.id in self.read_from:
                    whole = self.read_from[owner.id]
                    if not isinstance(whole.slice, gast.Slice):
                        self.grow(whole.value, lambda old: stored(old, self.index_kind(whole.slice), new))
                    elif any(K.children(item) is not None for item in K.children(new) or ()):
                        self.grow(whole.value, lambda old: lengthened(old, *(K.children(new) or ())))

    @cached_property
    def growing(self) -> bool:
        """Whether lists or dicts may be written into, so that their length now is not their length later."""
        return not self.fn.facts.storages and any(map(self.may_write, statements(self.fn.body)))

    def may_write(self, stmt: Any) -> bool:
        if isinstance(stmt, (gast.AugAssign, gast.Delete)):
            return True
        if isinstance(stmt, gast.Assign) and isinstance(stmt.targets[0], gast.Subscript):
            return True
        call = getattr(stmt, "value", None)
        if not isinstance(call, gast.Call):
            return False
        method = call.func.attr if isinstance(call.func, gast.Attribute) else None
        return method in _METHODS or (method is None and self.fn.scope.lookup(getattr(call.func, "id", "")) in WRITING)

    def visit_If(self, stmt: Any) -> None:
        test = self.kind(stmt.test)
        for block, never in ((stmt.body, False), (stmt.orelse, True)):
            if not (isinstance(test, K.Bool) and test.value is never):
                self.branch(block)

    def branch(self, stmts: Sequence[Any]) -> None:
        """Visit a block that may not run: names that it binds stand for no shape outside."""
        keys, self.keys = self.keys, dict(self.keys)
        self.block(stmts)
        self.keys = keys

    def visit_For(self, stmt: Any) -> None:
        if K.is_empty(self.kind(stmt.iter)):
            return

        def once() -> None:
            self.define(stmt.target.id, item_kind(self.kind(stmt.iter)))
            self.measure(stmt.target.id)
            self.block(stmt.body)

        self.stable(once, stmt)

    def visit_While(self, stmt: Any) -> None:
        self.stable(lambda: self.block(stmt.body), stmt)

    def stable(self, once: Callable[[], None], loop: Any) -> None:
        """Visit a loop's body until nothing is known otherwise than it was asked for: once, where no kind changes."""
        outer, keys, rounds = self.changed, self.keys, self.rounds
        self.rounds = rounds or set(core.all_writes(loop))
        while True:
            self.changed, self.keys = False, dict(keys)
            once()
            if not self.changed:
                break
            outer = True
        self.changed, self.keys, self.rounds = outer, keys, rounds

    def visit_With(self, stmt: Any) -> None:
        for item in stmt.items:
            if item.optional_vars is not None:
                self.define(item.optional_vars.id, K.UNKNOWN)
        self.block(stmt.body)

    # --- expressions ---

    def kind(self, node: Any) -> Kind:
        if type(node) is gast.Name and node.id in self.local:
            if node.id in self.kinds:
                return self.kinds[node.id]
            self.early.add(node.id)
            return K.UNKNOWN
        method = getattr(self, f"kind_{type(node).__name__}", None)
        return K.UNKNOWN if method is None else method(node)

    def kind_Slice(self, node: Any) -> Kind:
        return K.Slice()

    def kind_Constant(self, node: Any) -> Kind:
        return K.of_literal(node.value)

    def kind_Name(self, node: Any) -> Kind:
        value = self.fn.scope.lookup(node.id)
        return K.UNKNOWN if value is MISSING else K.of(value)

    def kind_Attribute(self, node: Any) -> Kind:
        return kind_of_attribute(node, self.kind(node.value), self.fn.scope, self.local)

    def kind_Call(self, node: Any) -> Kind:
        if isinstance(node.func, gast.Attribute) and not node.args and not node.keywords:
            view = view_kind(self.kind(node.func.value), node.func.attr)
            if view is not None:
                return view
        function, operands = self.called(node)
        if function is None or any(isinstance(a, gast.Starred) for a in operands):
            return K.UNKNOWN
        args = tuple(self.kind(a) for a in operands)
        keywords = tuple((k.arg, self.kind(k.value)) for k in node.keywords)
        if any(name is None for name, _ in keywords):
            return K.UNKNOWN
        if function is caught:
            return caught_kind(args)
        if function is list.pop and K.children(args[0]) is not None:
            return K.joined(K.children(args[0]) or ())
        if function in COPYING and len(args) == 1 and not keywords:
            return args[0]
        if function in (max, min):
            return chosen_kind(args, dict(keywords))
        if function in ITERATORS and {name for name, _ in keywords} <= {"start"}:
            return iterator_kind(function, (*args, *(kind for _, kind in keywords)))
        user = user_callee(uncached(function), node)
        if user is not None:
            sampled = result_kind(function, args, keywords) if ours(function) else K.UNKNOWN
            if sampled != K.UNKNOWN:
                return sampled
            return K.UNKNOWN if self.program is None else self.program.result(user, args)
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
            if function is len and self.growing and isinstance(args[0], (K.List, K.Dict)):
                return K.Int()
            return static_result(function, args, keywords)
        found = result_kind(function, args, keywords)
        return self.like_operands(rule, args, dict(keywords)) if found == K.UNKNOWN and rule is not None else found

    def like_operands(self, rule: rules.Rule, args: Sequence[Kind], keywords: dict[str, Kind]) -> Kind:
        """The kind of the result of an elementwise rule for a function that no sample can be given to: an object's."""
        try:
            bound = rule.bind(args, keywords)
        except TypeError:
            return K.UNKNOWN
        operands = [bound[p] for p in rule.partials]
        if not operands or isinstance(rule.functions[0], np.ufunc) or not all(isinstance(k, Kind) for k in operands):
            return K.UNKNOWN
        found: Kind = functools.reduce(lambda a, b: result_kind(operator.add, (a, b)), operands)
        return found

    def kind_BinOp(self, node: Any) -> Kind:
        function = OPERATORS[type(node.op)]
        left, right = self.kind(node.left), self.kind(node.right)
        if isinstance(left, K.Int) and isinstance(right, K.Int):
            return known_result(function, left, right)
        return result_kind(function, (left, right))

    def kind_UnaryOp(self, node: Any) -> Kind:
        operand = self.kind(node.operand)
        if isinstance(node.op, gast.Not):
            value = getattr(operand, "value", None) if isinstance(operand, K.Bool) else None
            return K.Bool(None if value is None else not value)
        if isinstance(operand, K.Int):
            return known_result(UNARY[type(node.op)], operand)
        return result_kind(UNARY[type(node.op)], (operand,))

    def kind_Compare(self, node: Any) -> Kind:
        (op,), (right_node,) = node.ops, node.comparators
        left, right = self.kind(node.left), self.kind(right_node)
        if isinstance(op, (gast.Is, gast.IsNot)):
            same = identical(left, right)
            return K.Bool(None if same is None else same == isinstance(op, gast.Is))
        if isinstance(op, (gast.In, gast.NotIn)):
            return K.Bool()
        function = OPERATORS[type(op)]
        known = literal(left), literal(right)
        return truth(function, *known) if MISSING not in known else result_kind(function, (left, right))

    def kind_Subscript(self, node: Any) -> Kind:
        owner, index = self.kind(node.value), self.index_kind(node.slice)
        if isinstance(owner, K.Range) and isinstance(index, K.Int):
            return K.Int()  # whatever is in range
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
        return displayed(tuple, node.elts, self.kind)

    def kind_List(self, node: Any) -> Kind:
        return displayed(list, node.elts, self.kind)

    def kind_Dict(self, node: Any) -> Kind:
        keys = [MISSING if k is None else literal(self.kind(k)) for k in node.keys]
        if MISSING in keys:
            return K.UNKNOWN
        return K.Dict(tuple((k, self.kind(v)) for k, v in zip(keys, node.values)))

    def kind_JoinedStr(self, node: Any) -> Kind:
        return K.Str()

    # --- shapes ---

    def name_shape(self, name: str, node: Any, kind: Kind) -> None:
        """Define a name, and take note of its shape: another name's, or one of its own that is related to others'."""
        if isinstance(node, gast.Attribute) and node.attr == "shape" and isinstance(node.value, gast.Name):
            self.owners[name] = node.value.id
        fixed = name in self.fixed
        if not isinstance(kind, K.Array) or (fixed and name not in self.shapes):
            if not fixed:
                self.define(name, kind)
                self.measure(name, node)
            return
        operands = self.elementwise_operands(node)
        shapes = self.operand_shapes(node, operands, kind)
        shape = None if shapes is None else self.broadcasts.widest(shapes)
        parts = None if shapes is None or shape is not None else self.broadcasts.together(shapes)
        key = self.key(node) if parts is None else ("broadcast", parts)
        if not fixed:
            self.define_kind(name, kind)
        length = self.measure(name, node, operands)
        if shape is None:
            shape = self.keys.get(key) or self.keys.get(length) or name
        if isinstance(node, gast.Name) and shape in self.rounds and name in self.unsure:
            shape = name  # it may be read in a later round, which has shapes of its own
        self.define(name, kind, shape)
        own = self.shapes.get(name) == name
        if own and not fixed:
            self.broadcasts.forget(name)
            self.lost.pop(name, None)
            if parts is not None:
                self.broadcasts.parts[name] = parts
            elif key is not None and key[0] == "reduce":
                self.note_reduction(name, *key[1:])
        for known in (key, length) if name not in self.unnamed else ():
            if known is not None and known not in self.keys and name in self.shapes:
                self.keys[known] = self.shapes[name]

    def measure(self, name: str, node: Any = None, operands: Sequence[Any] | None = None) -> Shape | None:
        """Take note of what is known of sizes where a name is assigned; the shape of an array in terms of others.

        operands: of an elementwise operation that gives an array.
        """
        if name in self.fixed:
            return self.sizes.shapes.get(name)
        rounds = self.rounds if isinstance(node, gast.Name) and name in self.unsure else frozenset[str]()
        if self.sizes.define(name, node, operands, self.times[name] > 1, rounds):
            self.changed = True
        return self.sizes.shapes.get(name)

    def called(self, node: Any) -> tuple[Any, list[Any]]:
        if self.looked_at[0] is not node:
            self.looked_at = node, callee(node, self.kind, self.local)
        return self.looked_at[1]  # type: ignore[no-any-return]

    def operand_shapes(self, node: Any, operands: Sequence[Any] | None, kind: K.Array) -> set[str] | None:
        """The shapes whose broadcast is the shape of the value; None where they are not known."""
        if isinstance(node, gast.Name):
            return {self.shapes[node.id]} if node.id in self.shapes else None
        if operands is None:
            return None
        found, ndim = set(), 0
        for operand in operands:
            if isinstance(operand, gast.Constant) or K.ndim_of(self.kind(operand)) == 0:
                continue
            if not isinstance(operand, gast.Name) or operand.id not in self.shapes:
                return None
            found.add(self.shapes[operand.id])
            ndim = max(ndim, K.ndim_of(self.kind(operand)) or 0)
        return found if ndim == kind.ndim else None

    def note_reduction(self, name: str, whole: str, axis: Any, keepdims: bool) -> None:
        """A reduction that keeps its axes broadcasts back to the shape that it came from."""
        if keepdims:
            self.broadcasts.within[name] = whole
        elif isinstance(axis, int):
            self.lost[name] = whole, axis

    def key(self, node: Any) -> Any:
        """What describes the shape of a value that is not elementwise."""

        find = self.called
        reduced = reduction(node, find)
        if reduced is not None and reduced.array in self.shapes:
            ndim = K.ndim_of(self.kinds[reduced.array]) or 0
            axis = reduced.axis + ndim if isinstance(reduced.axis, int) and reduced.axis < 0 else reduced.axis
            return "reduce", self.shapes[reduced.array], axis, reduced.keepdims
        inserted = new_axis(node, find)
        if inserted is not None and inserted[0] in self.shapes:
            whole, axis = self.lost.get(self.shapes[inserted[0]], ("", -1))
            if axis == inserted[1]:
                return "reduce", whole, axis, True
        return shape_key(node, self.shapes, self.kind, find)

    def elementwise_operands(self, node: Any) -> Sequence[Any] | None:
        sort = type(node)
        if sort is gast.BinOp:
            return None if isinstance(node.op, gast.MatMult) else [node.left, node.right]
        if sort is gast.UnaryOp:
            return [node.operand]
        if sort is gast.Compare:
            return [node.left, *node.comparators]
        if sort is gast.Call and not node.keywords:
            function, operands = self.called(node)
            if function in (numeric.unbroadcast, np.broadcast_to) and len(operands) == 2:
                owner = self.owners.get(getattr(operands[1], "id", ""))
                return None if owner is None else [core.name(owner)]
            rule = rules.find(function) if function is not None else None
            if rule is not None and (rule.partials or isinstance(function, np.ufunc) or function in _SAME_SHAPE):
                if isinstance(function, np.ufunc) and function.signature is not None:
                    return None
                return operands[:1] if function in _SAME_SHAPE else operands
        return None


stored: Callable[..., Kind] = stored_kind


def _rebinds_anew(old: Kind, new: Kind) -> bool:
    """Whether a container holds a number where it held an array, or the other way round."""
    pairs = zip(K.children(old) or (), K.children(new) or ())
    return any(K.dtype_of(a) and K.dtype_of(b) and K.immutable(a) is not K.immutable(b) for a, b in pairs)


# Functions whose result is of the kind of their argument.
COPYING = {list.copy, dict.copy, copy.copy, copy.deepcopy}
# Functions that write into their first argument, and give it.
WRITING = STORES | set(INPLACE.values())
# Functions that change a list, and at which operand what they put in begins; None if they put nothing in.
LISTS: dict[Any, int | None] = {
    append: 1, drop_last: None, list.append: 1, list.extend: 1, list.insert: 2, list.pop: None, list.clear: None,
    list.remove: None, list.reverse: None, list.sort: None,
}  # fmt: skip
_METHODS = {f.__name__ for f in LISTS} | {f.__name__ for f in (dict.update, dict.setdefault, dict.popitem)}
_GETITEM: Any = rules.find(operator.getitem)
_SAME_SHAPE = {np.copy, np.ndarray.copy, np.ndarray.astype, np.zeros_like, np.ones_like, np.empty_like, np.cumsum,
               np.real, np.imag, np.full_like, numeric.real_if_real, numeric.fitted, private, *WRITING}  # fmt: skip
