"""The adjoints: their names, their states, and how they are started, added to and owned.

An adjoint is *absent* (zero, and no name holds it), or it is held by its name: *owned*, a buffer of its own that may be
written into, or *borrowed*, memory that may be somebody else's; or it is *spread*, a smaller value that stands for its
broadcast. The first contribution assigns, later ones are added: in place where the adjoint is owned.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gast

from s2s import core
from s2s import kinds as K
from s2s.core import Function
from s2s.runtime import pytree
from s2s.transforms.reverse.emitted import Emitted, as_reverse, reverse_assign
from s2s.transforms.reverse.fragments import SMALLER, Contribution, Fragments
from s2s.transforms.reverse.parts import parts_of
from s2s.transforms.rulebody import DerivedNames, Namer

OWNED, BORROWED = "owned", "borrowed"


@dataclass(frozen=True)
class Spread:
    """The state of an adjoint that is the broadcast of a smaller value; `how` is SCALAR or SMALLER."""

    atom: Any
    how: str


State = str | Spread
Bars = dict[str, State]  # the adjoints that are present, by primal name


class Adjoints:
    """The adjoints of one function."""

    def __init__(self, fn: Function, namer: Namer, fragments: Fragments) -> None:
        self.fn = fn
        self.namer = namer
        self.fragments = fragments
        self.kind = fragments.kind
        self.active = fn.facts.active
        self.bar = DerivedNames(fn, "_bar")
        self.parts = parts_of(fn, fragments.operations)
        self.loose: set[str] = set()  # carried adjoints that are the number 0.0 in all rounds but the first
        self.vague: set[str] = set()  # adjoints that may be None, for zero, as no value tells their structure there

    def field_index(self, node: Any) -> Any:
        kind = self.kind(node.value)
        if isinstance(kind, K.Tuple):
            return core.constant(kind.cls._fields.index(node.attr))  # type: ignore[attr-defined]
        return core.constant(node.attr)

    def is_part(self, name: str) -> bool:
        """Whether a name is a container that is a part of another one: its shadow is a part of the other's shadow."""
        return name in self.parts

    def add(self, made: Contribution, bars: Bars, out: Emitted, origin: Any) -> None:
        """Assign a contribution to the adjoint of its target, or add it."""
        for stmt in made.stmts:
            out.add(stmt)
        name, bar = made.target, self.bar(made.target)
        if self.is_part(name):
            self.own(name, bars, out, origin)
        if name in self.vague and name in bars:
            total = core.call(self.namer.bind("summed", pytree.summed), bar, self.held(made.value, out, origin))
            out.add(reverse_assign(bar, total, origin))
            bars[name] = OWNED
            return
        if K.children(self.kind(core.name(name))) is not None:
            self.add_container(made, bars, out, origin)
            return
        state = bars.get(name)
        if made.spread and (state is None or isinstance(state, Spread)):
            self.add_spread(made, bars, out, origin)
            return
        value = made.value
        if state is None:
            if made.negative:
                value = gast.UnaryOp(gast.USub(), self.held(value, out, origin))
            bars[name] = OWNED if made.fresh or made.negative else BORROWED
            out.add(reverse_assign(bar, value, origin))
            return
        op = gast.Sub if made.negative else gast.Add
        value = self.held(value, out, origin)
        if state is OWNED and isinstance(self.kind(core.name(name)), K.Array):
            out.add(as_reverse(core.place(gast.AugAssign(core.name(bar, gast.Store), op(), value), origin)))
        else:
            old = state.atom if isinstance(state, Spread) else core.name(bar)
            out.add(reverse_assign(bar, core.binary(old, op, value), origin))
            bars[name] = OWNED

    def add_spread(self, made: Contribution, bars: Bars, out: Emitted, origin: Any) -> None:
        """A value that stands for its broadcast needs no array while nothing but its like is added."""
        state, how = bars.get(made.target), made.spread or ""
        value = self.held(made.value, out, origin)
        if isinstance(state, Spread):
            value = self.held(core.binary(state.atom, gast.Sub if made.negative else gast.Add, value), out, origin)
            how = how if how == state.how else SMALLER
        elif made.negative:
            value = self.held(gast.UnaryOp(gast.USub(), value), out, origin)
        bars[made.target] = Spread(value, how)

    def add_container(self, made: Contribution, bars: Bars, out: Emitted, origin: Any) -> None:
        bar = self.bar(made.target)
        value = self.held(made.value, out, origin)
        if made.target not in bars:
            bars[made.target] = OWNED if made.handed else BORROWED
            out.add(reverse_assign(bar, value, origin))
        else:
            self.own(made.target, bars, out, origin)
            out.add(reverse_assign(bar, core.call(self.namer.bind("add_shadows", pytree.add), bar, value), origin))

    def held(self, value: Any, out: Emitted, origin: Any) -> Any:
        stmts: list[Any] = []
        atom = self.fragments.emit(stmts, "t", value, origin)
        for stmt in stmts:
            out.add(stmt)
        return atom

    def own(self, name: str, bars: Bars, out: Emitted, origin: Any) -> None:
        """Make the adjoint of an array or container a buffer that may be written into."""
        if bars.get(name) is OWNED:
            return
        bar = self.bar(name)
        if self.is_part(name):
            whole = self.parts[name]
            owner = whole.value.id
            self.own(owner, bars, out, origin)
            index = self.field_index(whole) if isinstance(whole, gast.Attribute) else whole.slice
            out.add(reverse_assign(bar, core.subscript(self.bar(owner), index), origin))
        elif name not in bars:
            self.start_zero(name, bars, out, origin)
        elif isinstance(state := bars[name], Spread):
            full = core.call(self.namer.numpy("full_like"), name, state.atom)
            out.add(reverse_assign(bar, full, origin))
        elif name in self.vague:
            summed = self.namer.bind("summed", pytree.summed)
            out.add(reverse_assign(bar, core.call(summed, bar, core.constant(None)), origin))
        elif self.is_list_of_numbers(name):
            out.add(reverse_assign(bar, core.call(self.namer.bind("list", list), bar), origin))
        elif K.children(self.kind(core.name(name))) is not None:
            copy = self.namer.bind("add_shadows", pytree.add)
            zero = self.held(core.call(self.namer.bind("shadow", pytree.shadow), bar), out, origin)
            out.add(reverse_assign(bar, core.call(copy, zero, bar), origin))
        else:
            out.add(reverse_assign(bar, core.call(self.namer.numpy("array"), bar), origin))
        bars[name] = OWNED

    def is_list_of_numbers(self, name: str) -> bool:
        """Whether the shadow of a value is one list, whose items are not written into."""
        kind = self.kind(core.name(name))
        a_list = isinstance(kind, K.List) or (isinstance(kind, K.Sequence) and kind.cls is list)
        return a_list and all(map(K.immutable, K.children(kind) or ()))

    def start_zero(self, name: str, bars: Bars, out: Emitted, origin: Any) -> None:
        out.add(reverse_assign(self.bar(name), self.zero(name), origin))
        bars[name] = OWNED

    def empty(self, name: str, bars: Bars, out: Emitted, origin: Any) -> None:
        """Start an adjoint anew, which has been passed on; its old value tells the shape, the same in each round."""
        bar, kind = self.bar(name), self.kind(core.name(name))
        zero: Any = core.constant(0.0)
        if name in self.vague:
            zero = core.constant(None)
        elif K.children(kind) is not None:
            zero = core.call(self.namer.bind("shadow", pytree.shadow), bar)
        elif isinstance(kind, K.Array) and name not in self.loose:
            zero = core.call(self.namer.numpy("zeros_like"), bar)
        out.add(reverse_assign(bar, zero, origin))
        bars[name] = OWNED

    def has_structure(self, name: str) -> bool:
        """Whether the adjoints of all values of a name have one structure, whatever the values are."""
        return _is_fixed(self.kind(core.name(name)))

    def zero(self, name: str) -> Any:
        """A zero adjoint for a name."""
        kind = self.kind(core.name(name))
        if K.children(kind) is not None:
            return core.call(self.namer.bind("shadow", pytree.shadow), name)
        if isinstance(kind, K.Array):
            return core.call(self.namer.numpy("zeros_like"), name)
        return core.constant(0.0)


def _is_fixed(kind: K.Kind) -> bool:
    inner = K.children(kind)
    if inner is None or isinstance(kind, K.Sequence):
        return K.immutable(kind)
    return all(map(_is_fixed, inner))


def both(a: State, b: State) -> State:
    """The state of an adjoint that comes from two branches."""
    if isinstance(a, Spread):
        return a
    return OWNED if a is OWNED and b is OWNED else BORROWED
