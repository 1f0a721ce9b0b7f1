"""Forward mode: from a Core function to the function that computes its value and tangent.

Each active statement is followed by the statement of its tangent: `y = np.sin(x)` by `y_dot = np.cos(x) * x_dot`.
Control flow stays as it is. Tangents of containers are like containers of tangents.

Griewank and Walther, "Evaluating Derivatives" (2nd edition, 2008), chapter 3.1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import gast
import numpy as np

from s2s import core
from s2s import kinds as K
from s2s.core import Function
from s2s.errors import NotCompiled
from s2s.rules.missing import described
from s2s.runtime import pytree
from s2s.runtime import stores as S
from s2s.transforms.aliases import Aliases
from s2s.transforms.callpairs import active_call
from s2s.transforms.contents import contents_read
from s2s.transforms.infer import WRITING, infer_rest
from s2s.transforms.inplace import ITEM_WRITES, KEEPING, WHOLE, written
from s2s.transforms.operations import Operation, may_pick_inactive
from s2s.transforms.partials import Partials, leading
from s2s.transforms.rulebody import DerivedNames, Namer
from s2s.transforms.structure import with_blocks
from s2s.transforms.task import Task
from s2s.transforms.usercalls import Callee


def forward(fn: Function, task: Task) -> Function:
    """The function that computes `(out, out_dot)`; it takes the tangents of `task.wrt` as keyword-only parameters."""
    return _Forward(fn, task).build()


class _Forward:
    def __init__(self, fn: Function, task: Task) -> None:
        self.fn = fn
        self.task = task
        self.namer = Namer(fn)
        self.partials = Partials(fn, self.namer, task.program, as_tangent, task.given)
        self.kind = self.partials.kind
        self.active = fn.facts.active
        self.dot = DerivedNames(fn, "_dot")

    def build(self) -> Function:
        params = self.fn.params
        tangents = [gast.Name(self.dot(name), gast.Param(), None, None) for name in self.task.wrt]
        if self.task.result is not None:
            params = core.positional([*self.fn.param_names, *(t.id for t in tangents)])
        else:
            params = gast.arguments(
                params.args, params.posonlyargs, params.vararg, [*params.kwonlyargs, *tangents],
                [*params.kw_defaults, *(None for _ in tangents)], params.kwarg, params.defaults,
            )  # fmt: skip
        *body, last = self.fn.body
        new = self.block(body)
        result = self.namer.temporary("result")
        pair = gast.Tuple([last.value, self.tangent(last.value, new, None)], gast.Load())
        new.append(tangent_assign(result, pair, None))
        new.append(core.place(gast.Return(core.name(result)), None))
        made = replace(self.fn, name=f"{self.fn.name}_jvp", params=params, body=tuple(new), scope=self.namer.scope)
        kinds = {**self.fn.facts.kinds, **{dot: self.kind(core.name(n)) for n, dot in self.dot.names.items()}}
        shapes = {**self.fn.facts.shapes}
        shapes.update({dot: shapes[n] for n, dot in self.dot.names.items() if n in shapes})
        return infer_rest(made.with_facts(kinds=kinds, shapes=shapes))

    def tangent(self, atom: Any, out: list[Any], origin: Any) -> Any:
        """The tangent of an atom: its name, or a zero of its kind."""
        if isinstance(atom, gast.Name) and atom.id in self.active:
            return core.name(self.dot(atom.id))
        kind = self.kind(atom)
        if kind == K.NEVER:
            return atom  # `absent`
        if K.children(kind) is not None or isinstance(kind, K.Unknown):
            zero: Any = core.call(self.namer.bind("zero_tangent", pytree.zero_tangent), atom)
        elif isinstance(kind, (K.Array, K.Numeric)) and (K.dtype_of(kind) or K.FLOAT.dtype).kind in "fc":
            zero = core.call(self.namer.numpy("zeros_like"), atom)
        else:
            return core.constant(0.0)
        return self.hold(zero, out, origin)

    def hold(self, value: Any, out: list[Any], origin: Any, hint: str = "t") -> Any:
        if core.is_atom(value):
            return value
        name = self.namer.temporary(hint)
        out.append(tangent_assign(name, value, origin))
        return core.name(name)

    # --- statements ---

    def block(self, stmts: Sequence[Any]) -> list[Any]:
        out: list[Any] = []
        for stmt in stmts:
            found = active_call(stmt, self.fn, self.partials.operations)
            if found is not None:
                out.append(self.user_call(stmt, *found))
                continue
            if isinstance(stmt, gast.Assign) and self.is_store(stmt):
                self.store(stmt, out)
                continue
            out.append(with_blocks(stmt, lambda _, block: self.block(block)))
            if isinstance(stmt, gast.Assign) and set(core.writes(stmt)) & self.active:
                self.assign(stmt, out)
        return out

    def assign(self, stmt: Any, out: list[Any]) -> None:
        (target,) = stmt.targets
        origin = core.origin_of(stmt)
        if isinstance(target, gast.Tuple):
            self.unpack(stmt, target, out, origin)
            return
        y, value = target.id, stmt.value
        twin = self.fn.facts.twins.get(y)
        if twin is not None:
            tangent: Any = self.tangent(core.name(twin), out, origin)
        elif core.is_atom(value):
            tangent = self.tangent(value, out, origin)
        elif isinstance(value, (gast.Tuple, gast.List)):
            tangent = core.rebuilt(value, elts=[self.tangent(e, out, origin) for e in value.elts])
        elif isinstance(value, gast.Dict):
            tangent = core.rebuilt(value, values=[self.tangent(e, out, origin) for e in value.values])
        elif isinstance(value, gast.Subscript) or (
            isinstance(value, gast.Attribute) and K.children(self.kind(value.value)) is not None
        ):
            tangent = self.part(value, out, origin)
        else:
            tangent = self.operation(value, y, out, origin)
        tangent = self.own(y, value, tangent, out, origin)
        out.append(tangent_assign(self.dot(y), tangent, origin))

    # --- writes into memory ---

    def is_store(self, stmt: Any) -> bool:
        value = stmt.value
        return isinstance(value, gast.Call) and self.partials.operations.function(value) in WRITING

    def own(self, y: str, value: Any, tangent: Any, out: list[Any], origin: Any) -> Any:
        """A tangent that is memory of its own, where the value is, and one of the two tangents is written into.

        Tangents of buffers share memory just where their values do.
        """
        kind = self.kind(core.name(y))
        is_tree = K.children(kind) is not None
        if not self.fn.facts.storages or not (is_tree or isinstance(kind, (K.Array, K.Numeric))):
            return tangent
        made: Any = tangent
        if isinstance(tangent, gast.Name) and tangent.id not in self.dot.reserved:
            made = next((s.value for s in reversed(out) if core.writes(s) == [tangent.id]), None)
        stretched = isinstance(made, gast.Call) and self.partials.operations.function(made) is np.broadcast_to
        names = {y, *(core.reads(value) & self.active)}
        if not any(map(self.is_written, names)) or (self.surely_shares(value) and not stretched):
            return tangent
        if isinstance(made, (gast.BinOp, gast.UnaryOp)):
            return tangent
        copy = self.namer.bind("copied", pytree.copied) if is_tree else self.namer.numpy("array")
        return core.call(copy, self.hold(tangent, out, origin))

    def surely_shares(self, value: Any) -> bool:
        """Whether a value is what it names, or a view of it, whatever the layout in memory: then so is the tangent."""
        if isinstance(value, gast.Call):
            found = self.partials.operations.conduct(value)
            return found is not None and found.view is not None
        return bool(self.aliases.shared(value))

    @cached_property
    def is_written(self) -> Callable[[str], bool]:
        """Tells of a name whether its memory is written into."""
        return self.aliases.sharing(self.fn.facts.storages)

    @cached_property
    def aliases(self) -> Aliases:
        return Aliases(self.fn, self.partials.operations)

    def store(self, stmt: Any, out: list[Any]) -> None:
        """A write into a buffer, and the write into its tangent."""
        (y,), call, origin = core.writes(stmt), stmt.value, core.origin_of(stmt)
        function = self.partials.operations.function(call)
        if y not in self.active:
            out.append(stmt)
        elif function in ITEM_WRITES:
            # A list that carries no tangent yet has one of the length that it has before it grows.
            x_dot = None if function is S.seen else self.tangent(call.args[0], out, origin)
            out.append(stmt)
            self.store_item(y, call, x_dot, out, origin)
        else:
            self.store_whole(stmt, y, call, out, origin)

    def store_item(self, y: str, call: Any, x_dot: Any, out: list[Any], origin: Any) -> None:
        function, (x, *index, value) = self.partials.operations.function(call), call.args
        if function is S.seen:
            put = self.namer.bind("put_in_place", S.put_in_place)
            dots = self.tangent(x, out, origin), self.tangent(value, out, origin)
            out.append(tangent_assign(self.dot(y), core.call(put, dots[0], x, *index, dots[1]), origin))
            return
        if K.ndim_of(self.kind(x)) == 0:  # of an array without dimensions, operations make numbers
            x_dot = core.call(self.namer.numpy("array"), x_dot)
        out.append(tangent_assign(self.dot(y), x_dot, origin))
        value_dot = self.tangent(value, out, origin)
        if not (isinstance(value_dot, gast.Constant) and function in KEEPING):
            made = written(function, self.namer, core.name(self.dot(y)), *index, value_dot)
            out.extend(as_tangent(core.place(s, origin)) for s in made)

    def store_whole(self, stmt: Any, y: str, call: Any, out: list[Any], origin: Any) -> None:
        """`x op= v`: the operation's tangent is made before, where all names stand for what they were."""
        x, made = call.args[0], list[Any]()
        tangent = self.operation(call, y, made, origin)
        is_own = isinstance(tangent, gast.Name) and x.id in self.active and tangent.id == self.dot(x.id)
        if not isinstance(tangent, (gast.BinOp, gast.UnaryOp)) and not is_own:
            tangent = core.call(self.namer.numpy("array"), self.hold(tangent, made, origin))
        made.append(tangent_assign(self.dot(y), tangent, origin))
        if y in contents_read(made):
            operation = core.binary(x, WHOLE[self.partials.operations.function(call)], call.args[1])
            ans = self.hold(operation, out, origin, core.stem(y))
            made = [core.substitute(s, {y: ans}) for s in made]
        out.extend(made)
        out.append(stmt)

    def user_call(self, stmt: Any, callee: Callee, active: Sequence[str]) -> Any:
        """`y, y_dot = f_jvp(a, n, a_dot)` for `y = f(a, n)`."""
        y, args = stmt.targets[0].id, stmt.value.args
        cell = self.task.program.pushforward(callee, [self.kind(a) for a in args], active)
        dots = [self.dot(a.id) for p, a in zip(callee.params, args) if p in active]
        target = gast.Tuple([core.name(y, gast.Store), core.name(self.dot(y), gast.Store)], gast.Store())
        value = core.call(self.namer.cell(f"{callee.name}_jvp", cell), *args, *dots)
        return tangent_assign(target, value, core.origin_of(stmt))

    def part(self, node: Any, out: list[Any], origin: Any) -> Any:
        """The tangent of an item: the item of the tangent. That of a named tuple may be a plain one."""
        owner, kind = self.tangent(node.value, out, origin), self.kind(node.value)
        if isinstance(node, gast.Attribute) and isinstance(kind, K.Tuple):
            return core.subscript(owner, kind.cls._fields.index(node.attr))  # type: ignore[attr-defined]
        item = core.rebuilt(node, value=owner)
        if isinstance(node, gast.Subscript) and may_pick_inactive(kind, node.slice):
            return core.call(self.namer.bind("tangent_or_zero", pytree.tangent_or_zero), self.hold(item, out, origin))
        return item

    def unpack(self, stmt: Any, target: Any, out: list[Any], origin: Any) -> None:
        if not isinstance(stmt.value, gast.Name):
            raise NotCompiled("an unpacking of active values", origin=origin)
        elements = []
        for element in target.elts:
            inner = element.value if isinstance(element, gast.Starred) else element
            name = core.name(self.dot(inner.id), gast.Store)
            elements.append(core.rebuilt(element, value=name) if isinstance(element, gast.Starred) else name)
        pattern = gast.Tuple(elements, gast.Store())
        out.append(tangent_assign(pattern, self.tangent(stmt.value, out, origin), origin))

    # --- operations ---

    def operation(self, value: Any, y: str, out: list[Any], origin: Any) -> Any:
        """The tangent of an operation: the sum over its active operands."""
        found = self.partials.operations.find(value)
        if found is None:
            return self.tangent(core.constant(0.0), out, origin)
        total: Any = None
        for parameter, atom in self.partials.active_parameters(found):
            x_dot = core.name(self.dot(atom.id))
            if parameter in found.rule.bodies:
                term, negative = self.product(found, parameter, y, x_dot, out, origin)
            else:
                term, negative = self.through_jvp(found, parameter, atom, x_dot, value, y, out, origin), False
            term = self.hold(term, out, origin)
            if total is None:
                total = gast.UnaryOp(gast.USub(), term) if negative else term
            elif K.children(self.kind(core.name(y))) is not None:
                total = core.call(
                    self.namer.bind("add_tangents", pytree.add_tangents), self.hold(total, out, origin), term
                )
            else:
                total = core.binary(self.hold(total, out, origin), gast.Sub if negative else gast.Add, term)
        return self.shaped(total, found, y, out, origin)

    def product(
        self, found: Operation, parameter: str, y: str, x_dot: Any, out: list[Any], origin: Any
    ) -> tuple[Any, bool]:
        stmts, partial = self.partials.partial(found, parameter, y, origin)
        steady = y in self.partials.operations.ranges.steady
        singular = (found.rule.singular and not steady) or self.partials.nonfinite_factor(partial, stmts)
        if found.rule.choosing and found.bound[parameter].id in self.partials.moving_steeply:
            value = self.partials.chosen(partial, x_dot, stmts, origin)
            out.extend(stmts)
            return value, False
        guarded = (found.rule.guarded and not steady) or (singular and not K.is_python_number(self.kind(core.name(y))))
        value, negative = self.partials.multiplied(x_dot, partial, guarded, stmts, origin, finite=found.rule.guarded)
        out.extend(stmts)
        return value, negative

    def through_jvp(
        self, found: Operation, parameter: str, atom: Any, x_dot: Any, value: Any, y: str, out: list[Any], origin: Any
    ) -> Any:
        """The rule's jvp: the operation itself where it is linear, an inlined body, or a call."""
        if parameter in found.rule.linear:
            itself = with_operand(value, found, parameter, x_dot)
            if itself is not None:
                return itself
        function = found.rule.jvps.get(parameter)
        if function is None:
            raise NotCompiled(f"`{described(found.function)}` has no tangent by `{parameter}`", origin=origin)
        stmts: list[Any] = []
        ans = core.name(y)
        if parameter not in found.rule.linear:
            names = leading(function, 2)
            args = {names[0]: x_dot, names[1]: ans, **found.bound}
            made = self.partials.bodies.instance(
                function, args, None, origin, {names[0]: self.kind(atom), names[1]: self.kind(ans)}
            )
            if made is not None:
                out.extend(as_tangent(s) for s in made[0])
                return made[1]
        positional, keywords = found.rule.spread(
            {p: self.partials.operand(v, stmts, origin) for p, v in found.bound.items()}
        )
        out.extend(stmts)
        hint = function.__name__ if parameter not in found.rule.linear else f"{found.rule.name}_jvp"
        return core.call(self.namer.bind(hint, function), x_dot, ans, *positional, **keywords)

    def shaped(self, total: Any, found: Operation, y: str, out: list[Any], origin: Any) -> Any:
        """Brought to the shape and dtype of the result, where the sum may be smaller or complex."""
        result = self.kind(core.name(y))
        active = [atom.id for _, atom in self.partials.active_parameters(found)]
        dtypes = [K.dtype_of(self.kind(core.name(a))) for a in active]
        want = K.dtype_of(result)
        if want is not None and want.kind == "f" and any(d is not None and d.kind == "c" for d in dtypes):
            total = core.call(self.namer.numpy("real"), self.hold(total, out, origin))
        if not isinstance(result, (K.Array, K.Numeric)) or not found.rule.bodies:
            return total
        shapes = self.fn.facts.shapes
        if any(shapes.get(a) is not None and shapes.get(a) == shapes.get(y) for a in active):
            return total
        shape = self.hold(core.call(self.namer.numpy("shape"), core.name(y)), out, origin)
        return core.call(self.namer.numpy("broadcast_to"), self.hold(total, out, origin), shape)


def with_operand(value: Any, found: Operation, parameter: str, new: Any) -> Any:
    """The operation with another operand in place of one parameter; None where its place is not clear."""
    if isinstance(value, gast.BinOp):
        side = "left" if next(iter(found.bound)) == parameter else "right"
        return core.rebuilt(value, **{side: new})
    name = found.bound[parameter].id
    places = [n for n in gast.walk(value) if isinstance(n, gast.Name) and n.id == name]
    return core.substitute(value, {name: new}) if len(places) == 1 else None


def tangent_assign(target: Any, value: Any, origin: Any) -> Any:
    """An assignment of a tangent."""
    return as_tangent(core.assign(target, value, origin))


def as_tangent(stmt: Any) -> Any:
    """Mark a statement as ours, one of the tangent program."""
    stmt.sweep = "tangent"
    return stmt
