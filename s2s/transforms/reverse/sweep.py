"""The reverse sweep: the program's blocks backwards, with the state of every adjoint.

Where branches meet, both are brought to one state. At the head of a reversed loop the adjoints that the loop carries
are made present, so that each round starts in the same state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import gast

from s2s import core
from s2s import kinds as K
from s2s.core import Function, PairCall
from s2s.errors import NotCompiled
from s2s.runtime import pytree
from s2s.transforms.aliases import passed_through
from s2s.transforms.contents import contents_read
from s2s.transforms.operations import basic_index, boolean_index, may_pick_inactive
from s2s.transforms.reverse.adjoints import BORROWED, OWNED, Adjoints, Bars, Spread, State, both
from s2s.transforms.reverse.emitted import Emitted, as_reverse, reverse_assign
from s2s.transforms.reverse.fragments import SMALLER, Contribution, Fragments
from s2s.transforms.reverse.parts import is_slice
from s2s.transforms.reverse.restore import Restorer
from s2s.transforms.reverse.stores import Stores
from s2s.transforms.rulebody import Namer


class Sweep(Adjoints):
    """Builds the reverse sweep of one function."""

    def __init__(self, fn: Function, namer: Namer, fragments: Fragments, restorer: Restorer) -> None:
        super().__init__(fn, namer, fragments)
        self.restorer = restorer
        self.heads: dict[int, set[str]] = {}  # by loop, the adjoints that are present at its head
        self.kinds: dict[str, K.Kind] = {}  # of temporaries, where they are known
        self.stores = Stores(self)
        self.contents: list[tuple[Any, set[str]]] = []  # the names whose contents reversing a statement reads

    # --- blocks ---

    def block(self, stmts: Sequence[Any], bars: Bars, loop: Any = None, in_loop: bool = False) -> Emitted:
        """The reversed block; `bars` ends as the state at the block's start."""
        out = Emitted(storages=self.fn.facts.storages)
        for stmt in reversed(stmts):
            visit = getattr(self, f"visit_{type(stmt).__name__}", None)
            if visit is not None:
                added = out.added
                visit(stmt, bars, out, in_loop)
                self.note(stmt, out, added)
        if loop is not None:
            added = out.added
            self.close_round(loop, bars, out)
            self.note(loop, out, added)
        if in_loop:
            self.restorer.restore(stmts, loop, out)
        elif self.fn.facts.storages:
            self.restorer.read_again(stmts, out)
        return out

    def note(self, stmt: Any, out: Emitted, added: int) -> None:
        """Note what reversing a statement reads itself; what its blocks read is noted there."""
        if self.fn.facts.storages:
            own = [new for new in out.since(added) if not core.blocks(new)]
            self.contents.append((stmt, contents_read(own)))

    def visit_If(self, stmt: Any, bars: Bars, out: Emitted, in_loop: bool) -> None:
        if core.is_exit(stmt):
            return
        self.settle(stmt, bars, out)
        entry = set(bars)
        self.note_vague([stmt], entry.intersection(core.all_writes(stmt)), False)
        then_bars, else_bars = dict(bars), dict(bars)
        then = self.block(stmt.body, then_bars, in_loop=in_loop)
        other = self.block(stmt.orelse, else_bars, in_loop=in_loop)
        added = then.added, other.added
        self.meet(entry, then_bars, then, else_bars, other, core.origin_of(stmt))
        self.note(stmt, then, added[0])
        self.note(stmt, other, added[1])
        bars.clear()
        bars.update({n: both(then_bars[n], else_bars[n]) for n in then_bars if n in else_bars})
        if not then and not other:
            return
        test, exposed = stmt.test, then.exposed | other.exposed
        if not then:
            test = core.name(self.namer.temporary("cond"))
            negation = reverse_assign(test.id, gast.UnaryOp(gast.Not(), stmt.test), core.origin_of(stmt))
            new = gast.If(test, other.stmts, [])
            out.add(negation, core.reads(stmt.test))
        else:
            new = gast.If(test, then.stmts, other.stmts)
            exposed = exposed | core.reads(stmt.test)
        out.add(as_reverse(core.place(new, core.origin_of(stmt))), exposed)

    def meet(self, entry: set[str], a_bars: Bars, a: Emitted, b_bars: Bars, b: Emitted, origin: Any) -> None:
        """Bring both branches to one state: an adjoint that only one of them has started is zero in the other."""
        for mine, theirs, emitted in ((a_bars, b_bars, a), (b_bars, a_bars, b)):
            for name, state in list(mine.items()):
                if isinstance(state, Spread) and state is not theirs.get(name):
                    self.own(name, mine, emitted, origin)
        for mine, theirs, emitted in ((a_bars, b_bars, a), (b_bars, a_bars, b)):
            for name in [n for n in theirs if n not in mine]:
                if self.is_part(name):
                    theirs.pop(name)  # bound anew when needed
                elif name in entry:
                    self.empty(name, mine, emitted, origin)  # consumed in this branch, and not in the other
                else:
                    self.start_zero(name, mine, emitted, origin)

    def visit_For(self, stmt: Any, bars: Bars, out: Emitted, in_loop: bool) -> None:
        self.loop(stmt, bars, out, in_loop)

    visit_While = visit_For

    def visit_With(self, stmt: Any, bars: Bars, out: Emitted, in_loop: bool) -> None:
        """The context managers that are compiled (`np.errstate`) do not change values: the body is reversed bare."""
        inner = self.block(stmt.body, bars, in_loop=in_loop)
        out.extend(inner)

    def settle(self, stmt: Any, bars: Bars, out: Emitted) -> None:
        """Before control flow, adjoints that it touches are held in their own shape: all paths find one state."""
        touched = core.reads(stmt) | set(core.all_writes(stmt))
        for name in sorted(touched & set(bars)):
            if isinstance(bars[name], Spread):
                self.own(name, bars, out, core.origin_of(stmt))

    # --- loops ---

    def loop(self, stmt: Any, bars: Bars, out: Emitted, in_loop: bool) -> None:
        origin, consumed = core.origin_of(stmt), set(core.all_writes(stmt))
        if not consumed & set(bars) and not self.stores.restores(stmt):
            return
        self.settle(stmt, bars, out)
        carried = self.heads[id(stmt)] = self.carried(stmt, set(bars))
        self.note_vague(stmt.body, carried & consumed, True)
        for name in sorted(carried - set(bars)):
            if self.is_part(name):
                self.own(name, bars, out, origin)
            else:
                self.start_zero(name, bars, out, origin)
        for name in sorted(self.contributed(stmt.body, carried) - consumed):
            if name in bars and not isinstance(self.kind(core.name(name)), K.Scalar):
                self.own(name, bars, out, origin)
        buffers = consumed & set(bars) & self.stores.owners
        for name in sorted(buffers):
            self.own(name, bars, out, origin)
        for name in consumed & set(bars) - buffers:
            bars[name] = Spread(core.name(self.bar(name)), SMALLER) if self.is_loose(name, stmt, carried) else BORROWED
        inner = self.block(stmt.body, dict(bars), stmt, True)
        self.restorer.reversed_loop(stmt, inner, out)

    def is_loose(self, name: str, loop: Any, carried: set[str]) -> bool:
        """Whether a carried adjoint is zero in all rounds but the first, and of another shape in each.

        It is then the number 0.0 in these rounds, and taken for smaller than it may be.
        """
        canonical = self.fn.facts.shapes.get(name, name)
        if name in self.vague:
            return False
        if not isinstance(self.kind(core.name(name)), K.Array) or self.restorer.home.get(canonical) is None:
            return False
        fed = set(carried)
        self._reach(loop.body, fed, set())
        if name not in fed:
            self.loose.add(name)
        return name in self.loose

    def note_vague(self, stmts: Sequence[Any], present: set[str], in_turn: bool) -> None:
        """Take note of adjoints that are consumed and not fed, in a round of a loop or on one way of two.

        What consumes them next is the assignment of an earlier value, which may be a list of another length, say. So
        they are None from then on, and get their structure from that value.
        """
        varying = {n for n in present if not self.has_structure(n) and not self.is_part(n)}
        if not varying:
            return
        fed, lost = set(present), set[str]()
        self._reach(stmts, fed, set(), lost)
        lost |= self.containers(present - fed) if in_turn else set()
        self.vague |= varying & lost

    def containers(self, names: set[str]) -> set[str]:
        return {n for n in names if K.children(self.kind(core.name(n))) is not None}

    def carried(self, stmt: Any, present: set[str]) -> set[str]:
        """The adjoints that are present at the head of the reversed loop: a fixed point over rounds."""
        while True:
            after = set(present)
            self._reach(stmt.body, after, set())
            if after <= present:
                return present
            present = present | after

    def contributed(self, stmts: Sequence[Any], present: set[str]) -> set[str]:
        """The names to whose adjoints a block contributes."""
        found: set[str] = set()
        self._reach(stmts, set(present), found)
        return found

    def _reach(
        self, stmts: Sequence[Any], present: set[str], contributed: set[str], lost: set[str] | None = None
    ) -> None:
        """lost: takes what was present, and is not on one way of two, or is no more in the next round."""
        for stmt in reversed(stmts):
            if isinstance(stmt, gast.Assign):
                targets = set(core.writes(stmt)) & present
                if targets & self.active:
                    present -= targets
                    value = self.fn.facts.twins.get(next(iter(targets)))
                    names = {value} if value else self.stores.operands(stmt) & self.active
                    contributed |= names
                    present |= names
            elif isinstance(stmt, gast.If):
                a, b = set(present), set(present)
                self._reach(stmt.body, a, contributed, lost)
                self._reach(stmt.orelse, b, contributed, lost)
                if lost is not None:
                    lost |= present & (a ^ b)
                present.clear()
                present |= a | b
            elif isinstance(stmt, (gast.For, gast.While)):
                for name in self.carried(stmt, set(present)) - present:
                    contributed.add(name)
                    present.add(name)
                after = set(present)
                self._reach(stmt.body, after, contributed, lost)
                if lost is not None:
                    lost |= self.containers(present - after)
            elif isinstance(stmt, gast.With):
                self._reach(stmt.body, present, contributed, lost)

    def close_round(self, loop: Any, bars: Bars, out: Emitted) -> None:
        """At the start of the body a carried adjoint is held by its name: zero where it was consumed and not fed."""
        for name in sorted(self.heads[id(loop)] & set(bars)):
            if isinstance(state := bars[name], Spread) and name not in self.loose:
                self.own(name, bars, out, core.origin_of(loop))
            elif isinstance(state, Spread) and state.atom.id != self.bar(name):
                out.add(reverse_assign(self.bar(name), state.atom, core.origin_of(loop)))
        for name in sorted(self.heads[id(loop)] - set(bars)):
            self.empty(name, bars, out, core.origin_of(loop))
        for name in sorted(self.heads[id(loop)] & self.stores.owners & set(core.all_writes(loop))):
            self.own(name, bars, out, core.origin_of(loop))  # a buffer at the start of the next round, too

    # --- statements ---

    def visit_Assign(self, stmt: Any, bars: Bars, out: Emitted, in_loop: bool) -> None:
        (target,) = stmt.targets
        origin = core.origin_of(stmt)
        if isinstance(target, gast.Tuple):
            call = self.fn.facts.calls.get(core.writes(stmt)[0])
            if call is None:
                self.unpacking(stmt, bars, out)
            elif core.writes(stmt)[0] in bars:
                self.pair_call(core.writes(stmt)[0], call, bars, out, origin)
            return
        if self.stores.is_store(stmt):
            self.stores.reverse(stmt, bars, out, origin)
            return
        if not isinstance(target, gast.Name) or target.id not in bars:
            return
        y, value = target.id, stmt.value
        if y in self.fn.facts.leaves:
            return  # its adjoint is an item of the gradient
        g, state = self.taken(y, bars)
        twin = self.fn.facts.twins.get(y)
        if twin is not None:
            self.pass_on(y, core.name(twin), g, state, bars, out, origin)
        elif isinstance(value, gast.Name):
            self.pass_on(y, value, g, state, bars, out, origin)
        elif isinstance(value, (gast.Tuple, gast.List, gast.Dict)):
            self.display(value, g, bars, out, origin)
        elif isinstance(value, (gast.Subscript, gast.Attribute)) and isinstance(value.value, gast.Name):
            self.part(y, value, g, state, bars, out, origin)
        else:
            self.operation(value, y, g, state, bars, out, origin)

    def taken(self, y: str, bars: Bars) -> tuple[Any, State]:
        """The adjoint of a name, which is absent from now on, and its state."""
        state = bars.pop(y)
        return (state.atom if isinstance(state, Spread) else core.name(self.bar(y))), state

    def pass_on(self, y: str, atom: Any, g: Any, state: State, bars: Bars, out: Emitted, origin: Any) -> None:
        """A copy hands its adjoint on, and with it the ownership."""
        if atom.id in self.active:
            if y in self.vague and not isinstance(state, Spread):
                g = self.held(core.call(self.namer.bind("filled", pytree.filled), g, atom), out, origin)
            spread = state.how if isinstance(state, Spread) else None
            kinds = self.kind(core.name(y)), self.kind(atom)
            if isinstance(kinds[0], K.Numeric) and isinstance(kinds[1], K.Array):
                stmts: list[Any] = []  # the adjoint of what may be a number may be a number
                g = self.fragments.unbroadcast(g, y, atom.id, stmts, origin)
                self.add(Contribution(atom.id, g, stmts, fresh=False), bars, out, origin)
                return
            own = state is OWNED
            self.add(Contribution(atom.id, g, fresh=own, spread=spread, handed=own), bars, out, origin)

    def operation(self, value: Any, y: str, g: Any, state: State, bars: Bars, out: Emitted, origin: Any) -> None:
        found = self.fragments.operations.find(value)
        if found is None:
            return  # an inactive operation: `activity` has seen to it
        made = list(self.fragments.of(found, y, g, state.how if isinstance(state, Spread) else None, origin))
        self.add_all(made, g, state, bars, out, origin)

    def add_all(
        self, made: Sequence[Contribution], g: Any, state: State, bars: Bars, out: Emitted, origin: Any
    ) -> None:
        """Add contributions of an operation, to one of which its adjoint is handed on, if no other one may hold it."""
        holders = [c for c in made if self.may_hold(c.value, c.stmts, g)]
        for contribution in made:
            if contribution in holders:
                bare = getattr(contribution.value, "id", None) == getattr(g, "id", "")
                alone = len(holders) == 1 and state is OWNED
                contribution = replace(contribution, fresh=alone and (bare or contribution.fresh))
            self.add(contribution, bars, out, origin)

    def may_hold(self, value: Any, stmts: Sequence[Any], g: Any) -> bool:
        """Whether the value of a contribution may be the adjoint `g` itself, or its memory: nothing has made it new."""
        if isinstance(value, gast.Name):
            made = next((s.value for s in reversed(stmts) if core.writes(s) == [value.id]), None)
            return value.id == getattr(g, "id", None) if made is None else self.may_hold(made, stmts, g)
        if isinstance(value, gast.Call):
            return any(self.may_hold(n, stmts, g) for n in passed_through(value, self.fragments.operations))
        return isinstance(value, (gast.Subscript, gast.Attribute)) and self.may_hold(value.value, stmts, g)

    def pair_call(self, y: str, call: PairCall, bars: Bars, out: Emitted, origin: Any) -> None:
        """`y, residuals = f_fwd(a, b)`: the reverse sweep of f returns what goes to the adjoints of a and b."""
        if isinstance(bars[y], Spread):
            self.own(y, bars, out, origin)
        bars.pop(y)
        made = [self.namer.temporary(f"{core.stem(name)}_bar") for name in call.operands]
        self.kinds.update((bar, self.kind(core.name(name))) for bar, name in zip(made, call.operands))
        targets = [core.name(bar, gast.Store) for bar in made]
        value = core.call(call.backward, call.residuals, self.bar(y))
        whole = targets[0] if len(targets) == 1 else gast.Tuple(targets, gast.Store())
        out.add(reverse_assign(whole, value, origin))
        fresh = call.pair.fresh or (False,) * len(made)
        for bar, name, is_fresh in zip(made, call.operands, fresh):
            self.add(Contribution(name, core.name(bar), fresh=is_fresh), bars, out, origin)

    def display(self, node: Any, g: Any, bars: Bars, out: Emitted, origin: Any) -> None:
        """`t = (a, b)`: each item gets its part of the shadow."""
        elements = list(enumerate(node.elts)) if not isinstance(node, gast.Dict) else list(zip(node.keys, node.values))
        for key, element in elements:
            if isinstance(element, gast.Starred):
                raise NotCompiled("a starred item in a display of active values", origin=origin)
            if isinstance(element, gast.Name) and element.id in self.active:
                self.add(Contribution(element.id, core.subscript(g, core.atom(key)), fresh=False), bars, out, origin)

    def part(self, y: str, value: Any, g: Any, state: State, bars: Bars, out: Emitted, origin: Any) -> None:
        """A read of an item: its adjoint is added into the adjoint of the whole, in place."""
        owner = value.value.id
        if owner not in self.active:
            return
        if self.is_part(y):
            return  # the shadow of a part is the part of the shadow: everything has arrived there already
        if isinstance(value, gast.Attribute):
            if K.children(self.kind(value.value)) is None:
                self.operation(value, y, g, state, bars, out, origin)
                return
            index: Any = self.field_index(value)
        else:
            index = value.slice
        whole = self.kind(core.name(owner))
        if isinstance(whole, K.Numeric):
            raise NotCompiled("an item is read of what may be a number or an array", origin=origin)
        if K.ndim_of(whole) == 0:
            g = g if K.ndim_of(self.kind(core.name(y))) == 0 else core.call(self.namer.numpy("sum"), g)
            self.add(Contribution(owner, g, fresh=False), bars, out, origin)
            return
        self.own(owner, bars, out, origin)
        self.scatter(owner, index, g, self.kind(core.name(y)), out, origin)

    def scatter(self, owner: str, index: Any, g: Any, item: K.Kind, out: Emitted, origin: Any) -> None:
        """`x_bar[index] += g`, for indices that may repeat by `np.add.at`; `item` is the kind of what was read."""
        kind = self.kind(core.name(owner))
        bar = self.bar(owner)
        held: list[Any] = []
        tree = K.children(item) is not None or is_slice(index, self.kind)
        if K.children(kind) is not None and (tree or may_pick_inactive(kind, index)):
            # `+=` would lengthen a list; the shadow of an integer is None, and stays so.
            part = self.held(core.subscript(bar, index), out, origin)
            total = self.held(core.call(self.namer.bind("add_shadows", pytree.add), part, g), out, origin)
            new: Any = core.assign(core.subscript(bar, index, gast.Store), total, origin)
        elif K.children(kind) is not None or basic_index(index, self.kind) or boolean_index(index, self.kind):
            target = core.subscript(bar, index, gast.Store)
            new = gast.AugAssign(target, gast.Add(), g)
        else:
            at = core.path(self.namer.numpy("add.at"))
            if isinstance(index, gast.Tuple):
                if any(isinstance(e, gast.Slice) for e in index.elts):
                    index = self.explicit(index, held, origin)
                index = self.fragments.emit(held, "index", index, origin)
            for stmt in held:
                out.add(stmt)
            new = gast.Expr(core.call(at, bar, index, g))
        out.add(as_reverse(core.place(new, origin)))

    def explicit(self, index: Any, held: list[Any], origin: Any) -> Any:
        """An index tuple with `slice(...)` calls in place of colons, which a call's argument needs."""
        elements = []
        for element in index.elts:
            if isinstance(element, gast.Slice):
                bounds = [core.constant(None) if b is None else b for b in (element.lower, element.upper, element.step)]
                element = self.fragments.emit(
                    held, "index", core.call(self.namer.bind("slice", slice), *bounds), origin
                )
            elements.append(element)
        return gast.Tuple(elements, gast.Load())

    def unpacking(self, stmt: Any, bars: Bars, out: Emitted) -> None:
        """`a, b = x`: item reads of x, all at once."""
        origin, (target,) = core.origin_of(stmt), stmt.targets
        present = [n for n in core.writes(stmt) if n in bars]
        if not present:
            return
        if not isinstance(stmt.value, gast.Name):
            raise NotCompiled("an unpacking of active values", origin=origin)
        owner, count = stmt.value.id, len(target.elts)
        star = next((i for i, e in enumerate(target.elts) if isinstance(e, gast.Starred)), count)
        self.own(owner, bars, out, origin)
        for position, element in enumerate(target.elts):
            name = element.value.id if isinstance(element, gast.Starred) else element.id
            if name not in bars:
                continue
            g, _ = self.taken(name, bars)
            index: Any = core.constant(position if position <= star else position - count)
            if isinstance(element, gast.Starred):
                if not isinstance(self.kind(stmt.value), K.Array):
                    raise NotCompiled("a starred target that takes active values", origin=origin)
                stop = position - count + 1
                index = gast.Slice(core.constant(position), core.constant(stop) if stop else None, None)
            self.scatter(owner, index, g, self.kind(core.name(name)), out, origin)
