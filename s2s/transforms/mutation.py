"""Writes into memory, in one form: `x[i] = v`, `x *= v`, `np.copyto(x, v)`, `np.add(a, b, out=x)` become calls of a few
functions that write into their first argument (`runtime/stores.py`), in statements of their own.

Where kinds show that `x += v` rebinds a number, it becomes `x = x + v`. What else may write into an array or
container is refused.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import gast
import numpy as np

from s2s import core, rules
from s2s import kinds as K
from s2s.core import Function
from s2s.errors import NotCompiled
from s2s.runtime import stores as S
from s2s.transforms.aliases import Aliases, Holders, written_in
from s2s.transforms.callee import attribute_kind
from s2s.transforms.conduct import ours
from s2s.transforms.copies import assignments, copies
from s2s.transforms.filling import Filling
from s2s.transforms.givenback import Given
from s2s.transforms.infer import COPYING, expression_kinds, infer
from s2s.transforms.lists import Lists
from s2s.transforms.meetings import without_constant_meetings
from s2s.transforms.operations import Operations, basic_index
from s2s.transforms.refusing import refuse
from s2s.transforms.rulebody import Namer
from s2s.transforms.structure import statements, uses, with_blocks
from s2s.transforms.task import Task
from s2s.transforms.usercalls import user_callee
from s2s.transforms.versions import INPLACE

BINARY = {function: op for op, function in INPLACE.items()}
ADDING = {gast.Add: S.add_item, gast.Sub: S.sub_item}
# Containers that are written into item by item.
CONTAINERS = (K.List, K.Sequence, K.Dict)


def mutation(fn: Function, task: Task) -> Function:
    """`fn`, in which every write into memory is a call of one of our functions; raises NotCompiled where it is not."""
    run = Mutation(fn, task)
    new = replace(fn, body=tuple(run.block(fn.body)), scope=run.namer.scope)
    _refuse_iterators(new, run.flats)
    if not run.found:
        return new
    new = infer(copies(without_constant_meetings(new), task), task)
    _refuse_growing(new)
    return new


def _refuse_iterators(fn: Function, flats: Mapping[str, str]) -> None:
    """Refuse `x.flat` where it is more than indexed."""
    for stmt in statements(fn.body) if flats else []:
        if flats.keys() & set(uses(stmt)):
            raise NotCompiled("`flat` is compiled only where it is indexed", origin=core.origin_of(stmt))


def _refuse_growing(fn: Function) -> None:
    """Refuse loops over lists that grow or shrink meanwhile, and over dicts that are written into."""
    operations = Operations(fn)
    same = Holders(fn, operations).find
    for loop in statements(fn.body):
        over = getattr(getattr(loop, "iter", None), "id", "")
        if not isinstance(loop, gast.For) or not over or isinstance(operations.kind(loop.iter), K.Array):
            continue
        for stmt in statements(loop.body):
            into = written_in(stmt, operations)
            if into is None or same(into[0]) != same(over):
                continue
            known = operations.kind(core.name(into[0]))
            stays = isinstance(known, (K.List, K.Sequence)) and operations.function(stmt.value) is S.set_item
            if K.children(known) is not None and not stays:
                raise NotCompiled("a list is written into in a loop over it", origin=core.origin_of(loop))


class Mutation:
    def __init__(self, fn: Function, task: Task) -> None:
        self.fn = fn
        self.program = task.program
        self.namer = Namer(fn)
        self.operations = Operations(fn)
        self.kind = self.operations.kind
        self.kind_of = expression_kinds(fn)
        self.flats = self.flat_views()
        self.found = False
        self.sets_aside = any(map(core.is_aside, statements(fn.body)))

    @cached_property
    def aliases(self) -> Aliases:
        return Aliases(self.fn, self.operations)

    def flat_views(self) -> dict[str, str]:
        """The names that hold `x.flat`, and x; they look at x whenever they are read."""
        times = assignments(self.fn)
        found: dict[str, str] = {}
        for stmt in statements(self.fn.body):
            value = getattr(stmt, "value", None)
            if isinstance(stmt, gast.Assign) and isinstance(value, gast.Attribute) and value.attr == "flat":
                (name,) = core.writes(stmt) or [""]
                if isinstance(self.kind(value.value), K.Array) and times[name] == 1:
                    found[name] = value.value.id
        return found

    def block(self, stmts: Sequence[Any]) -> list[Any]:
        return [new for stmt in stmts for new in self.statement(stmt)]

    def statement(self, stmt: Any) -> list[Any]:
        origin = core.origin_of(stmt)
        if self.sets_aside:
            self.refuse_unknown(stmt, origin)
        if isinstance(stmt, gast.Assign):
            (target,) = stmt.targets
            if isinstance(target, (gast.Name, gast.Tuple)):
                return self.assign(stmt, origin)
            return self.write(stmt, target, stmt.value, origin)
        if isinstance(stmt, gast.AugAssign):
            if isinstance(stmt.target, gast.Attribute):
                return self.attribute(stmt, stmt.target, origin)
            return self.augmented_item(stmt.target, type(stmt.op), stmt.value, origin)
        if isinstance(stmt, gast.Delete):
            (place,) = stmt.targets
            if isinstance(place, gast.Subscript):
                self.refuse_target(place.value, origin)
                deleted = Lists(self, origin).deleted(place.value, place.slice)
                if deleted is not None:
                    return deleted
            raise NotCompiled("`del` of an item or attribute is not compiled yet", origin=origin)
        if isinstance(stmt, gast.Expr):
            return self.effect(stmt, origin)
        if isinstance(stmt, gast.With):
            self.context(stmt)
        return [with_blocks(stmt, lambda _, block: self.block(block))]

    def refuse_unknown(self, stmt: Any, origin: Any) -> None:
        """Where attributes of arguments are set, nothing may run that might read them under another name."""
        value = getattr(stmt, "value", None)
        if value is None or core.is_atom(value) or core.is_aside(stmt):
            return
        operands = {n for n in core.reads(value) if n in self.operations.local}
        unknown = any(isinstance(self.kind(core.name(n)), K.Unknown) for n in operands)
        called = isinstance(value, gast.Call) and self.operations.function(value)
        if unknown or called is None or user_callee(called, value) is not None:
            raise NotCompiled("an attribute of an argument is set, which a call might read", origin=origin)

    # --- the forms of a write ---

    def store(self, function: Callable[..., Any], x: Any, *args: Any, origin: Any) -> Any:
        """The statement that writes into `x`, which is to be an array of the function's own."""
        self.refuse_target(x, origin)
        return self.written_into(function, x, *args, origin=origin)

    def refuse_target(self, x: Any, origin: Any) -> None:
        local = isinstance(x, gast.Name) and x.id in self.operations.local
        if not local or not isinstance(self.kind_of(x), (K.Array, *CONTAINERS)):
            what = type(self.kind_of(x)).__name__.lower()
            raise NotCompiled(f"a write into {_SAID.get(what, 'an object')} is not compiled yet", origin=origin)

    def written_into(self, function: Callable[..., Any], x: Any, *args: Any, origin: Any) -> Any:
        self.found = True
        name = self.namer.bind(function.__name__, function)
        return core.place(gast.Expr(core.call(name, x, *args)), origin)

    def held(self, value: Any, out: list[Any], hint: str, origin: Any) -> Any:
        name = self.namer.temporary(hint)
        out.append(core.assign(name, value, origin))
        return core.name(name)

    def write(self, stmt: Any, target: Any, value: Any, origin: Any) -> list[Any]:
        """`x[i] = v`."""
        if isinstance(target, gast.Attribute):
            return self.attribute(stmt, target, origin)
        if isinstance(target.value, gast.Name) and target.value.id in self.flats:
            x = core.name(self.flats[target.value.id])
            self.fits(x, self.kind(value), origin)
            return [self.store(S.set_flat, x, target.slice, value, origin=origin)]
        if not isinstance(self.kind_of(target.value), CONTAINERS):
            self.fits(target.value, self.kind(value), origin)
        elif isinstance(target.slice, gast.Slice):
            self.refuse_target(target.value, origin)
            stored = Lists(self, origin).stored(target.value, target.slice, value)
            if stored is None:
                raise NotCompiled("an in-place write to a slice of a list is not compiled yet", origin=origin)
            return stored
        return [self.store(S.set_item, target.value, target.slice, value, origin=origin)]

    def attribute(self, stmt: Any, target: Any, origin: Any) -> list[Any]:
        """A write to an attribute is kept if it is of a number without derivative, or aside; others are refused."""
        if core.is_aside(stmt):
            return [stmt]
        value, owner = self.kind(stmt.value), self.kind(target.value)
        if isinstance(value, (K.Int, K.Bool, K.Str, K.NoneKind)):
            if isinstance(attribute_kind(owner, target.attr), (K.Unknown, type(value))):
                return [stmt]
        if isinstance(owner, K.Static) and value == K.FLOAT == attribute_kind(owner, target.attr):
            return [stmt]  # a number of a module; `activity` refuses one that carries a derivative
        raise NotCompiled("an in-place write to an attribute is not compiled yet", origin=origin)

    def fits(self, x: Any, value: K.Kind, origin: Any) -> None:
        """Refuse to store what NumPy would cut to the array's dtype."""
        known, given = K.dtype_of(self.kind_of(x)), K.dtype_of(value)
        if known is None or given is None or not np.can_cast(given, known, "same_kind"):
            raise NotCompiled("a value of another kind is stored into an array", origin=origin)

    def augmented_item(self, target: Any, op: type, value: Any, origin: Any) -> list[Any]:
        """`x[i] op= v`: the item is read, operated on, and stored; a sum is added without reading."""
        x, index = target.value, target.slice
        flat = x.id if isinstance(x, gast.Name) and x.id in self.flats else None
        if op in ADDING and flat is None and basic_index(index, self.kind) and isinstance(self.kind(x), K.Array):
            self.fits(x, self.kind(value), origin)
            return [self.store(ADDING[op], x, index, value, origin=origin)]
        new: list[Any] = []
        if flat is not None:
            x = core.name(self.flats[flat])
            old = self.held(core.subscript(self.flattened(x, new, origin), index), new, "old", origin)
        else:
            old = self.held(core.subscript(x, index), new, "old", origin)
        made = core.binary(old, op, value)
        old_kind = self.item_kind(x, index, flat is not None)
        container = isinstance(self.kind_of(x), CONTAINERS)
        if container and isinstance(old_kind, K.Array):
            return [new[0], self.written_into(INPLACE[op], old, value, origin=origin)]
        if not isinstance(old_kind, (K.Scalar, K.Array, K.Int)):
            raise NotCompiled("an in-place operation on an item of a container is not compiled yet", origin=origin)
        item = self.held(made, new, "new", origin)
        if not container:
            self.fits(x, _result(self.kind(x), old_kind, self.kind(value)), origin)
        function = S.set_item if flat is None else S.set_flat
        return [*new, self.store(function, x, index, item, origin=origin)]

    def item_kind(self, x: Any, index: Any, flat: bool) -> K.Kind:
        """The kind of `x[index]`, or of `x.flat[index]`."""
        kind = self.kind_of(x)
        if flat and isinstance(kind, K.Array):
            rule: Any = rules.find(operator.getitem)
            return rule.kind(K.Array(kind.dtype, 1), self.kind(index))  # type: ignore[no-any-return]
        return self.kind_of(core.subscript(x, index))

    def flattened(self, x: Any, out: list[Any], origin: Any) -> Any:
        """What `x.flat` holds now, as an array of its own."""
        return self.held(core.call(core.attribute(x, "flatten")), out, "flat", origin)

    def assign(self, stmt: Any, origin: Any) -> list[Any]:
        value = stmt.value
        if set(core.writes(stmt)) & self.flats.keys():
            return []
        if isinstance(value, gast.Subscript) and getattr(value.value, "id", None) in self.flats:
            new: list[Any] = []
            flat = self.flattened(core.name(self.flats[value.value.id]), new, origin)
            return [*new, core.rebuilt(stmt, value=core.subscript(flat, value.slice))]
        if not isinstance(value, gast.Call):
            return Lists(self, origin).joined(stmt) or Lists(self, origin).spread(stmt) or [stmt]
        function = self.operations.function(value)
        if function in BINARY:
            return self.augmented(stmt, function, origin)
        found = self.written(value, function, origin)
        if found is None:
            return [stmt]
        stores, result = found
        return [*stores, core.rebuilt(stmt, value=result)]

    def effect(self, stmt: Any, origin: Any) -> list[Any]:
        if not isinstance(stmt.value, gast.Call):
            return [stmt]
        found = self.written(stmt.value, self.operations.function(stmt.value), origin)
        return [stmt] if found is None else found[0]

    def augmented(self, stmt: Any, function: Any, origin: Any) -> list[Any]:
        """`y = x; y op= v`, which rebinds y where x is a number, and writes into x where it is an array."""
        left, right = stmt.value.args
        kind = self.kind(left)
        if K.immutable(kind):
            return [core.rebuilt(stmt, value=core.binary(left, BINARY[function], right))]
        if function is operator.iadd and isinstance(left, gast.Name):
            found = Lists(self, origin).method(list.extend, left, [right])
            if found is not None:
                return [*found[0], core.rebuilt(stmt, value=left)]
        if not isinstance(kind, K.Array):
            raise NotCompiled("an in-place operation on a container, or on an unknown value", origin=origin)
        if BINARY[function] is gast.MatMult:
            raise NotCompiled("`@=` is not compiled yet", origin=origin)
        self.fits(left, _result(kind, kind, self.kind(right)), origin)
        return [self.store(function, left, right, origin=origin), core.rebuilt(stmt, value=left)]

    def written(self, call: Any, function: Any, origin: Any) -> tuple[list[Any], Any] | None:
        """The stores that a call stands for, and its result; None for a call that writes into nothing."""
        filled = Filling(self, origin).form(call, function)
        if filled is not None:
            return filled
        owner = call.func.value if isinstance(call.func, gast.Attribute) else None
        none = core.constant(None)
        if function in COPYING and not call.keywords:
            made = Lists(self, origin).copied(function, owner if owner is not None and not call.args else call.args[0])
            if made is not None:
                return made
        own = isinstance(owner, gast.Name) and owner.id in self.operations.local
        if function is list.append and len(call.args) == 1 and own:
            return [self.store(S.append, owner, call.args[0], origin=origin)], none
        if function is list.pop and not call.args and own:
            popped: list[Any] = []
            last = self.held(core.subscript(owner, core.constant(-1)), popped, "last", origin)
            return [*popped, self.store(S.drop_last, owner, last, origin=origin)], last
        if own and not call.keywords and not any(isinstance(a, gast.Starred) for a in call.args):
            found = Lists(self, origin).method(function, owner, call.args)
            if found is not None:
                return found
        user = user_callee(function, call)
        if user is not None and user.recorded:
            return None  # it is seen to when the program runs
        if user is not None and not ours(function) and self.program.callee(user.function) is not None:
            return Given(self, user, call, origin).stored(function)
        refuse(self, call, function, origin)
        return None

    def context(self, stmt: Any) -> None:
        for item in stmt.items:
            defined = self.definition(item.context_expr)
            if not isinstance(defined, gast.Call) or self.operations.function(defined) is not np.errstate:
                raise NotCompiled("`with` is compiled for np.errstate only", origin=core.origin_of(stmt))

    def definition(self, atom: Any) -> Any:
        """What a name is bound to that is bound once; else None."""
        found: list[Any] = []

        def search(stmts: Sequence[Any]) -> None:
            for stmt in stmts:
                if isinstance(stmt, gast.Assign) and core.writes(stmt) == [getattr(atom, "id", None)]:
                    found.append(stmt.value)
                for _, block in core.blocks(stmt):
                    search(block)

        search(self.fn.body)
        return found[0] if len(found) == 1 else None


_SAID = {
    "array": "an array that is not the function's own", "list": "a list", "dict": "a dict", "sequence": "a list",
    "numeric": "what may be a number or an array", "unknown": "a value that is not known",
}  # fmt: skip


def _result(x: K.Kind, old: K.Kind, value: K.Kind) -> K.Kind:
    """The kind of `old op value`, of which only the dtype matters, and whether it fits back into x."""
    dtypes = [K.dtype_of(old), K.dtype_of(value)]
    if any(d is None for d in dtypes):
        return K.UNKNOWN
    if K.is_python_number(value) or isinstance(value, (K.Int, K.Bool)):
        weak = K.dtype_of(value)
        known = K.dtype_of(x)
        if known is not None and weak is not None and "biufc".index(weak.kind) <= "biufc".index(known.kind):
            return K.Array(known, 0)  # Python's numbers take on the array's precision
    return K.Array(np.result_type(*dtypes), 0)
