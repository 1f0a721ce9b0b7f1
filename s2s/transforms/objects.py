"""Objects of plain classes: what is done with them becomes calls of functions, and what is made of them names.

    p = Point(x, y)         p_x = x; p_y = y                    the body of `__init__`, whose `self` is taken apart
    p.x += q.norm()         p_x += Point_norm(q)                which is inlined in turn
    p + q                   Point_add(p, q)
    model(x)                Model_call(model, x)                an argument or global object stays what it is

`heap.py` knows which objects the function makes and what refers to them; of objects that come from outside, the
attributes are read and written where they are. An object that is used in another way, or may be one of two of which
one is written to, `Escapes`: its class is left alone then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import gast

from s2s import core
from s2s import kinds as K
from s2s.errors import NotCompiled
from s2s.kinds import Kind
from s2s.transforms import classes as C
from s2s.transforms.bound import is_bound_first
from s2s.transforms.heap import UNSURE, VALUE, Escapes, Made
from s2s.transforms.references import Attribute, Given, Super
from s2s.transforms.rows import Row
from s2s.transforms.structure import captures, replace_reads, statements, uses, with_blocks
from s2s.transforms.uses import BINARY, Uses

# They give the same for a namedtuple and a plain tuple.
TAKING_TUPLES = (sum, max, min, any, all, len, list, tuple, zip, enumerate, reversed, sorted)
OUTSIDE = "an attribute of an argument is set, and the argument may be read under another name"


class Objects(Uses):
    """The objects of a function, at the place that the walk through it has come to."""

    # --- statements ---

    def statement(self, stmt: Any, place: Any) -> list[Any] | None:
        """What takes the place of a statement, to be looked at in turn; None for one that stays."""
        self.origin = core.origin_of(stmt) or self.origin
        changed = self.of_mapping(stmt)
        if changed is not None:
            return changed
        queue = _looked_into(stmt)
        if self.queue(queue) is not None:
            return self.of_queue(stmt, queue.id)
        spread = self.spread(stmt)
        if spread is not None:
            return spread
        if isinstance(stmt, gast.Assign):
            return self.assign(stmt, stmt.targets[0], place)
        if isinstance(stmt, gast.Expr):
            if isinstance(stmt.value, gast.Name) and stmt.value.id in self.state:
                return []
            before: list[Any] = []
            value = self.expression(stmt.value, before, place)
            return None if value is None else [*before, core.rebuilt(stmt, value=value)]
        if isinstance(stmt, gast.AugAssign):
            return self.augmented(stmt)
        if isinstance(stmt, gast.Delete) and isinstance(stmt.targets[0], gast.Name):
            return [] if self.state.pop(stmt.targets[0].id, None) is not None else None
        if isinstance(stmt, gast.If):
            return self.branch(stmt)
        if isinstance(stmt, gast.For):
            made = self.made(stmt.iter)
            if self.listed(stmt.iter) is not None:
                return self.loop_over(stmt, made)
            self.iterated(made)
        return None

    def spread(self, stmt: Any) -> list[Any] | None:
        """`f(*args)` where `args` is a tuple of objects."""
        call = getattr(stmt, "value", None)
        if not isinstance(call, gast.Call):
            return None
        args: list[Any] = []
        for arg in call.args:
            made = self.made(arg.value) if isinstance(arg, gast.Starred) else None
            args.extend([arg] if made is None else [self.item(made, key) for key in self.keys(made)])
        return [core.rebuilt(stmt, value=core.rebuilt(call, args=args))] if len(args) != len(call.args) else None

    def branch(self, stmt: Any) -> list[Any] | None:
        """An `if` on an object, whose class decides it."""
        negated = isinstance(stmt.test, gast.UnaryOp)
        atom = stmt.test.operand if negated else stmt.test
        if self.made(atom) is None:
            return None
        name = self.host.temporary("cond")
        test = core.name(name)
        return [
            self.new(name, self.truth(atom)),
            core.rebuilt(stmt, test=gast.UnaryOp(gast.Not(), test) if negated else test),
        ]

    def assign(self, stmt: Any, target: Any, place: Any) -> list[Any] | None:
        if isinstance(target, gast.Attribute):
            return self.set(stmt, target)
        if isinstance(target, gast.Subscript):
            call = self.calling(target.value, "__setitem__", target.slice, stmt.value)
            return None if call is None else [core.place(gast.Expr(call), core.origin_of(stmt))]
        if isinstance(target, gast.Tuple):
            return self.unpack(stmt, target, place)
        if isinstance(stmt.value, gast.Name) and stmt.value.id in self.state:
            self.state[target.id] = self.reference(stmt.value)
            self.names.add(target.id)
            return []
        if isinstance(stmt.value, gast.Name) and stmt.value.id in self.supers:
            self.supers[target.id] = self.supers[stmt.value.id]
            return []
        if isinstance(stmt.value, gast.Name) and self.host.object(stmt.value) is NotImplemented:
            raise self.escape("an operator that may not be implemented", *self.state.values())
        if isinstance(stmt.value, gast.Call) and self.is_super(stmt.value):
            self.supers[target.id] = self.super_of(stmt.value, place)
            return []
        if isinstance(stmt.value, gast.List) and target.id in self.listings:
            return self.new_list(target.id, stmt.value)
        before: list[Any] = []
        self.target = target.id
        self.hint = "" if core.is_temporary(target.id) else core.stem(target.id)
        value = self.expression(stmt.value, before, place)
        self.hint = ""
        return None if value is None else [*before, core.rebuilt(stmt, value=value)]

    def unpack(self, stmt: Any, target: Any, place: Any) -> list[Any] | None:
        """`a, b = p` of a record; `a, b = p, q` where one of them is an object."""
        made = self.made(stmt.value)
        if made is not None and isinstance(made.cls, type) and issubclass(made.cls, tuple | list):
            items = [self.item(made, attr) for attr in self.keys(made)]
            plain = len(items) == len(target.elts) and all(isinstance(t, gast.Name) for t in target.elts)
            if plain and not {t.id for t in target.elts} & core.reads(items):
                return [core.rebuilt(stmt, targets=[t], value=item) for t, item in zip(target.elts, items)]
            return [core.rebuilt(stmt, value=gast.Tuple(items, gast.Load()))]
        if isinstance(stmt.value, gast.Call):
            before: list[Any] = []
            value = self.expression(stmt.value, before, place)
            return None if value is None else [*before, core.rebuilt(stmt, value=value)]
        if not isinstance(stmt.value, gast.Tuple) or not any(map(self.made, stmt.value.elts)):
            return None
        if any(isinstance(e, gast.Starred) for e in (*target.elts, *stmt.value.elts)):
            raise self.escape("an object is unpacked by `*`", *map(self.made, stmt.value.elts))
        held = [(self.host.temporary("item"), value) for value in stmt.value.elts]
        return [self.new(name, value) for name, value in held] + [
            core.rebuilt(stmt, targets=[t], value=core.name(name)) for t, (name, _) in zip(target.elts, held)
        ]

    def set(self, stmt: Any, target: Any) -> list[Any] | None:
        """`p.x = v`."""
        ref = self.reference(target.value)
        if ref is None or isinstance(ref, Super):
            return None
        if self.mapping(target.value) is not None or self.view(target.value) is not None:
            raise self.escape("an attribute of a dict", ref)
        if any(stmt is made for made in self.making):
            return self.store(ref, target.attr, stmt.value, core.stem(target.value.id))
        cls = self.class_of(ref)
        found = C.member(cls, target.attr)
        if isinstance(found, property):
            setter = Attribute(found.fset, target.value)
            call = self.runs(setter, f"{cls.__name__}_set_{target.attr}", [stmt.value])
            return [core.place(gast.Expr(call), core.origin_of(stmt))]
        if isinstance(ref, Given):
            return self.set_given(stmt, target, ref)
        if isinstance(ref, Row):
            cell = self.cell(ref, target.attr, gast.Store)
            if cell is None or self.reference(stmt.value) is not None:
                raise self.escape(f"`{target.attr}` is set of an object in a list", ref)
            return [core.rebuilt(stmt, targets=[cell])]
        if not isinstance(ref, Made):
            return None
        if not C.settable(cls, target.attr) or C.is_descriptor(found):
            raise self.escape(f"`{target.attr}` cannot be set", ref)
        return self.store(ref, target.attr, stmt.value, core.stem(target.value.id))

    def set_given(self, stmt: Any, target: Any, ref: Given) -> list[Any] | None:
        """`m.x = v` of an argument: the attribute is set, and the program goes on with a variable for it."""
        place, plain = (ref.cell, target.attr), getattr(ref.cls, "__setattr__") is object.__setattr__  # noqa: B009
        if core.is_aside(stmt) or not plain or C.is_descriptor(C.member(ref.cls, target.attr)):
            return None
        known = self.kind(stmt.value)
        if isinstance(known, (K.Int, K.Bool, K.Str, K.NoneKind)) and place not in self.state:
            return None  # it carries no derivative, and is read where it is
        if self.reference(stmt.value) is not None:
            raise NotCompiled("an attribute of an argument is set to an object", origin=self.origin)
        name = self.heap.variable(ref.cell, target.attr, core.stem(target.value.id))
        self.state[place] = VALUE
        self.set_outside.setdefault(target.attr, []).append(ref.cell)
        real = core.rebuilt(stmt, value=core.name(name))
        return [self.new(name, stmt.value), core.aside(real)]

    def augmented(self, stmt: Any) -> list[Any] | None:
        target = stmt.target
        if isinstance(target, gast.Name):
            if self.made(target) is None and self.made(stmt.value) is None:
                return None
            atom = core.name(target.id)
            mapping = self.mapping(target)
            if mapping is not None:
                if not isinstance(stmt.op, gast.BitOr):
                    raise self.escape("an operator of a dict", mapping)
                call = core.call(core.attribute(target.id, "update"), stmt.value)
                return [core.place(gast.Expr(call), core.origin_of(stmt))]
            value = self.calling(atom, f"__i{BINARY.get(type(stmt.op))}__", stmt.value)
            value = gast.BinOp(atom, stmt.op, stmt.value) if value is None else value
            return [core.place(gast.Assign([target], value, None), core.origin_of(stmt))]
        ref = self.reference(target.value)
        if ref is None or (isinstance(target, gast.Attribute) and not isinstance(ref, (Made, Given, Row))):
            return None
        if isinstance(ref, Given) and isinstance(target, gast.Attribute):
            known = dict(ref.fields).get(target.attr), self.kind(stmt.value)
            if (ref.cell, target.attr) not in self.state and all(isinstance(k, (K.Int, K.Bool)) for k in known):
                return None
        if isinstance(target, gast.Attribute) and self.state.get((ref, target.attr)) is VALUE:
            for other in self.heap.aliases(ref):
                raise self.escape("an attribute is set of what may be one object or another", ref, other)
            name = self.heap.variable(ref, target.attr, core.stem(target.value.id))
            return [core.rebuilt(stmt, target=core.name(name, gast.Store))]
        held = self.host.temporary("old")
        read = core.rebuilt(target, ctx=gast.Load())
        changed = core.rebuilt(stmt, target=core.name(held, gast.Store))
        back = core.place(gast.Assign([target], core.name(held), None), core.origin_of(stmt))
        return [self.new(held, read), changed, back]

    # --- what stays ---

    def check(self, stmt: Any) -> tuple[list[Any], Any]:
        """A statement that stays, and what it needs before: an object in it must be one that can be made again."""
        if isinstance(stmt, gast.FunctionDef):
            return [], stmt
        before: list[Any] = []
        names: dict[str, str] = {}
        for name in uses(stmt):
            if isinstance(self.kinds.get(name), Given) and not _is_access(stmt, name):
                self.wholes.append(stmt)
            if name in self.supers:
                raise self.escape("`super()` as a value")
            if name not in self.state or name in names:
                continue
            made = self.reference(core.name(name))
            if isinstance(stmt, gast.Return) and isinstance(made, Made):
                returned = self.whole_of(made, before, [])
                if returned is not None:
                    names[name] = returned.id
                    continue
            named = isinstance(made, Made) and isinstance(made.cls, type) and C.is_namedtuple(made.cls)
            if not named or isinstance(stmt, gast.Delete):
                what = made.cls.__name__
                raise self.escape(f"an object of {what} is used as a whole", made)
            values = [core.name(made.variables[a]) for a in self.keys(made) if self.state.get((made, a)) is VALUE]
            if len(values) < len(self.keys(made)):
                raise self.escape("an object that holds others is used as a whole", made)
            whole: Any = gast.Tuple(values, gast.Load())
            if not self.takes_any_tuple(stmt):
                whole = gast.Call(self.host.value(made.cls.__name__, made.cls), values, [])
                self.whole.append(whole)
            names[name] = self.host.temporary(core.stem(name))
            before.append(self.new(names[name], whole))
        return before, replace_reads(stmt, names)

    def takes_any_tuple(self, stmt: Any) -> bool:
        """Whether a tuple of another class would do as well in a statement."""
        value = getattr(stmt, "value", None)
        if not isinstance(value, gast.Call) or not isinstance(value.func, (gast.Name, gast.Attribute)):
            return isinstance(stmt, gast.For)
        function = self.host.object(value.func)
        return any(function is f for f in TAKING_TUPLES) or getattr(function, "__module__", None) == "numpy"

    def check_left(self, body: Sequence[Any]) -> None:
        """Functions that are left may not read names of objects, which are gone."""
        for stmt in statements(body):
            if isinstance(stmt, gast.FunctionDef) and captures(stmt) & self.names:
                raise Escapes("a nested function that is not inlined uses an object", core.origin_of(stmt))

    def check_outside(self, body: Sequence[Any], is_called: bool) -> None:
        """Refuse a program that might see attributes which it sets in another way than by their variables.

        is_called: by compiled code, which knows nothing of these variables.
        """
        if not self.set_outside:
            return
        if is_called:
            raise NotCompiled("a function that is not inlined sets an attribute of an argument", origin=self.origin)
        for stmt in self.wholes:
            raise NotCompiled(OUTSIDE, origin=core.origin_of(stmt))
        for cells in self.set_outside.values():
            if any(one is not other and one.cls is other.cls for one in cells for other in cells):
                raise NotCompiled(OUTSIDE, origin=self.origin)
        for stmt in statements(body):
            reads = [] if core.is_aside(stmt) else list(_attributes(stmt))
            if isinstance(stmt, gast.FunctionDef) or any(not self.is_harmless(node) for node in reads):
                raise NotCompiled(OUTSIDE, origin=core.origin_of(stmt))

    def is_harmless(self, node: Any) -> bool:
        """Whether the read of an attribute is none of one that the program sets."""
        if node.attr not in self.set_outside or isinstance(self.host.object(node.value), type):
            return True
        cell, _ = self.allowed.get(id(node), (None, None))
        return cell is not None and all(c is cell or c.cls is not cell.cls for c in self.set_outside[node.attr])

    # --- blocks ---

    def decided(self, stmt: Any) -> list[Any] | None:
        """The block of an `if` that surely runs; None if that is not known."""
        if not isinstance(stmt, gast.If) or core.is_exit(stmt):
            return None
        negated = isinstance(stmt.test, gast.UnaryOp)
        known = self.kind(stmt.test.operand if negated else stmt.test)
        if not isinstance(known, K.Bool) or known.value is None:
            return None
        return list(stmt.body if known.value is not negated else stmt.orelse)

    def compound(self, stmt: Any, run: Callable[[list[Any]], list[Any]]) -> list[Any]:
        """A statement with its blocks gone through by `run`."""
        if isinstance(stmt, (gast.For, gast.While)):
            return self.loop(stmt, run)
        start, kinds = self.state, self.kinds
        states: list[dict[Any, Any]] = []
        ends: list[dict[str, Kind]] = []
        new: dict[str, list[Any]] = {}
        for field, block in core.blocks(stmt):
            self.heap.state, self.kinds = dict(start), dict(kinds)
            if isinstance(stmt, gast.Try) and states:
                self.heap.state |= _unsure(start, states)
                self.kinds = _common([kinds, *ends])
            new[field] = run(block)
            states.append(self.state)
            ends.append(self.kinds)
        if isinstance(stmt, gast.If):
            if not stmt.orelse:
                states.append(dict(start))
                ends.append(kinds)
                new["orelse"] = []
            self.join(new, states, ends)
        else:
            self.kinds = _common(ends)
            if isinstance(stmt, gast.Try):
                self.heap.state, self.kinds = start | _unsure(start, states), _common([kinds, *ends])
        changed = with_blocks(stmt, lambda field, _: new[field])
        return [core.rebuilt(changed, orelse=new["orelse"]) if new.get("orelse") else changed]

    def loop(self, stmt: Any, run: Callable[[list[Any]], list[Any]]) -> list[Any]:
        """A loop, whose body is gone through until what is known at its head holds at its end."""
        names, head = set(core.all_writes(stmt)), dict(self.kinds)

        def body() -> list[Any]:
            nonlocal head
            start = self.state
            while True:
                self.heap.state, self.kinds = dict(start), dict(head)
                new = run(stmt.body)
                kept = _common([head, self.kinds])
                if kept == head:
                    return new
                head = kept

        def is_new(name: str) -> bool:
            return core.is_temporary(name) or (name in names and is_bound_first(stmt, name))

        grown = len(self.grown)
        before, new = self.heap.looped(body, is_new)
        self.check_growth(stmt, grown)
        self.kinds = head
        return [*before, with_blocks(stmt, lambda _, block: new)]

    def join(self, blocks: dict[str, list[Any]], states: Sequence[Any], kinds: Sequence[Any]) -> None:
        """Go on after the two blocks of an `if`."""
        ended = [bool(block) and isinstance(block[-1], gast.Raise) for block in (blocks["body"], blocks["orelse"])]
        if any(ended):
            self.heap.state, self.kinds = (states[0], kinds[0]) if ended[1] else (states[1], kinds[1])
            return
        self.kinds = _common(kinds)
        then, other = self.heap.joined(states[0], states[1])
        blocks["body"], blocks["orelse"] = [*blocks["body"], *then], [*blocks["orelse"], *other]

    def leave(self, stmts: Sequence[Any], kept: Sequence[str]) -> None:
        """Forget the names of a body that was inlined, which nothing reads any more."""
        if not any(isinstance(s, gast.FunctionDef) for s in statements(stmts)):
            for name in {n for s in stmts for n in core.all_writes(s)} - set(kept):
                self.state.pop(name, None)


def _looked_into(stmt: Any) -> Any:
    """What a loop goes through or asks, or a statement assigns or deletes an item of; None for other statements."""
    if isinstance(stmt, (gast.For, gast.While)):
        return stmt.iter if isinstance(stmt, gast.For) else stmt.test
    target = stmt.targets[0] if isinstance(stmt, (gast.Assign, gast.Delete)) else getattr(stmt, "target", None)
    return target.value if isinstance(target, gast.Subscript) else None


def _is_access(stmt: Any, name: str) -> bool:
    """Whether a statement copies a name, or reads or sets an attribute of what it holds."""
    if not isinstance(stmt, (gast.Assign, gast.AugAssign)):
        return False
    target = stmt.targets[0] if isinstance(stmt, gast.Assign) else stmt.target
    if isinstance(target, gast.Attribute):
        return name not in core.reads(stmt.value)
    value = stmt.value.value if isinstance(stmt.value, gast.Attribute) else stmt.value
    return isinstance(target, gast.Name) and isinstance(value, gast.Name)


def _attributes(stmt: Any) -> Iterator[Any]:
    """The reads of attributes that a statement itself holds."""
    nested = {id(inner) for _, block in core.blocks(stmt) for inner in block}
    pending = [stmt]
    while pending:
        node = pending.pop()
        if isinstance(node, gast.Attribute) and isinstance(node.ctx, gast.Load):
            yield node
        pending.extend(child for child in gast.iter_child_nodes(node) if id(child) not in nested)


def _common(kinds: Sequence[dict[str, Kind]]) -> dict[str, Kind]:
    """What is known on all ways."""
    first, *others = kinds
    return {name: kind for name, kind in first.items() if all(other.get(name) == kind for other in others)}


def _unsure(start: dict[Any, Any], states: Sequence[dict[Any, Any]]) -> dict[Any, Any]:
    """What some blocks that may have run in part have changed."""
    return {loc: UNSURE for state in states for loc in {**start, **state} if start.get(loc) is not state.get(loc)}
