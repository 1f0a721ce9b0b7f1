"""Writes into memory in the reverse sweep.

The adjoint of a storage is a buffer of its own, in which the cotangents of what is overwritten are set to zero as
they are taken out. Where the reverse sweep reads what was overwritten, the forward sweep saves it, and the reverse
sweep writes it back into the same memory, so that every view and every other name of it sees it again.

    x[i] = v        saved = x[i]; x[i] = v      x[i] = saved; g = x_bar[i]; x_bar[i] = 0; v_bar += g
    x[s] += v       x[s] += v                   v_bar += x_bar[s]
    x *= v          saved = x.copy(); x *= v    v_bar += x_bar * saved; x_bar *= v; x[...] = saved

What has to be saved is found by making the reverse sweep twice: the first time with everything saved, to see what it
reads (`needed`).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import gast

from s2s import core, rules
from s2s import kinds as K
from s2s.core import Function
from s2s.errors import NotCompiled
from s2s.runtime import pytree
from s2s.runtime import stores as S
from s2s.transforms.callee import OPERATORS
from s2s.transforms.contents import contents_read
from s2s.transforms.infer import expression_kinds, infer_rest
from s2s.transforms.inplace import ITEM_WRITES, KEEPING
from s2s.transforms.operations import Operation, Operations, basic_index, boolean_index
from s2s.transforms.regions import Regions
from s2s.transforms.reverse.adjoints import BORROWED, OWNED, Bars
from s2s.transforms.reverse.emitted import Emitted, as_reverse, reverse_assign
from s2s.transforms.reverse.fragments import Contribution
from s2s.transforms.rulebody import Namer
from s2s.transforms.structure import with_blocks
from s2s.transforms.versions import INPLACE

if TYPE_CHECKING:
    from s2s.transforms.reverse.sweep import Sweep

BINARY = {function: OPERATORS[op] for op, function in INPLACE.items()}
SUBTRACTING = {S.sub_item, S.sub_at}


class Stores:
    """The part of the sweep that reverses writes."""

    def __init__(self, sweep: Sweep) -> None:
        self.sweep = sweep
        self.storages = sweep.fn.facts.storages
        self.saved = sweep.fn.facts.saved
        self.owners = set(self.storages) | set(self.storages.values())
        self.places: dict[str, Any] = {}  # by version of a container, the zeros in another shadow that stand for it
        self.read_old: dict[str, set[str]] = {}  # by version, the names whose contents before the write are read

    @cached_property
    def kind_of(self) -> Callable[[Any], K.Kind]:
        """Gives the kinds of expressions."""
        return expression_kinds(self.sweep.fn)

    def is_store(self, stmt: Any) -> bool:
        """Whether a statement writes into memory, or looks at what was written through another name."""
        if not isinstance(stmt, gast.Assign) or not isinstance(stmt.value, gast.Call):
            return False
        (target,) = stmt.targets
        if not isinstance(target, gast.Name) or target.id not in self.storages:
            return False
        function = self.sweep.fragments.operations.function(stmt.value)
        return function in ITEM_WRITES or function in BINARY

    def operands(self, stmt: Any) -> Set[str]:
        """The names that a statement computes a value of: of what was written into, `seen` asks for the place alone."""
        is_seen = self.is_store(stmt) and self.sweep.fragments.operations.function(stmt.value) is S.seen
        return core.reads([stmt.value.args[0], stmt.value.args[2]] if is_seen else stmt.value)

    def restores(self, stmt: Any) -> bool:
        """Whether reversing a statement writes back what it, or a statement in it, has overwritten."""
        return any(name in self.saved for name in core.all_writes(stmt))

    def reverse(self, stmt: Any, bars: Bars, out: Emitted, origin: Any) -> None:
        (target,) = stmt.targets
        function = self.sweep.fragments.operations.function(stmt.value)
        present = target.id in bars
        if function in BINARY:
            self.whole(stmt.value, target.id, BINARY[function], bars, out, origin)
            return
        if function is S.seen:
            if present:
                self.seen(target.id, stmt.value.args, bars, out, origin)
            return
        x, *_ = stmt.value.args
        if K.children(self.sweep.kind(x)) is not None:
            self.container(target.id, function, stmt.value.args, bars, out, origin)
            return
        if function in (S.append, S.drop_last):
            raise NotCompiled("what is written into is not known to be a list", origin=origin)
        self.write_back(target.id, function, x, stmt.value.args[1], out, origin)
        if present:
            self.item(stmt, function, bars, out)

    def seen(self, y: str, args: Sequence[Any], bars: Bars, out: Emitted, origin: Any) -> None:
        """What x holds of the object that was written into is what that holds now."""
        sweep, (x, part, value) = self.sweep, args
        self.own_array(y, x, bars, out, origin)
        bar, state = core.name(sweep.bar(y)), bars.pop(y)
        if K.children(sweep.kind(value)) is not None:
            search = S.slot_of_item if _is_flat(sweep.kind(x)) else S.slot
            place = core.call(sweep.namer.bind(search.__name__, search), bar, x, part)
            self.places[value.id] = sweep.held(place, out, origin)
            # Emptied even where the value carries no derivative: what x held there before is gone.
            g = core.call(sweep.namer.bind("emptied", S.emptied), self.places[value.id])
            if value.id in sweep.active:
                sweep.add(Contribution(value.id, g, handed=True), bars, out, origin)
            else:
                sweep.held(g, out, origin)
            if x.id in sweep.active:
                sweep.add(Contribution(x.id, bar, handed=state is OWNED), bars, out, origin)
            return
        taken = core.call(sweep.namer.bind("taken", S.taken), bar, x, part)
        g = sweep.held(taken, out, origin)
        if x.id in sweep.active:
            sweep.add(Contribution(x.id, bar, fresh=state is OWNED, handed=state is OWNED), bars, out, origin)
        if value.id in sweep.active:
            sweep.add(Contribution(value.id, g), bars, out, origin)

    def container(self, y: str, function: Any, args: Sequence[Any], bars: Bars, out: Emitted, origin: Any) -> None:
        """A write into a list or dict, whose shadow changes in the same way, backwards."""
        sweep, (x, *index, value) = self.sweep, args
        back, bar = y in self.saved, core.name(sweep.bar(y))
        key = index[0] if index else None
        new_key = function is S.set_item and _adds_key(sweep.kind(x), sweep.kind(core.name(y)))
        if back:
            out.add(as_reverse(core.place(self.undone(function, x, key, value, y, new_key), origin)))
        shadows = [self.places.pop(y)] if y in self.places else []
        if y in bars:
            sweep.own(y, bars, out, origin)
            shadows.insert(0, bar)
        active = isinstance(value, gast.Name) and value.id in sweep.active and function is not S.drop_last
        g = self.shape_before(function, shadows, key, value, new_key, y in bars and active, out, origin)
        if y not in bars:
            return
        state = bars.pop(y)
        if function is S.set_item and not new_key:
            g = sweep.held(core.subscript(bar, key), out, origin)
            zero = sweep.held(self.zero_item(y, x, key, out, origin), out, origin)
            out.add(as_reverse(core.assign(core.subscript(bar, key, gast.Store), zero, origin)))
        if x.id in sweep.active:
            sweep.add(Contribution(x.id, bar, fresh=state is OWNED, handed=state is OWNED), bars, out, origin)
        if active:
            known, added = sweep.kind(value), out.added
            fresh = isinstance(known, (K.Array, K.Numeric)) or K.children(known) is not None
            sweep.add(Contribution(value.id, g, fresh=fresh), bars, out, origin)
            # A shadow that is made here, of what the value is a part of, may be that of the container before the write.
            self.read_old.setdefault(y, set()).update(contents_read(out.since(added)))

    def shape_before(
        self, function: Any, shadows: Sequence[Any], key: Any, value: Any, new_key: bool, taken: bool,
        out: Emitted, origin: Any,
    ) -> Any:  # fmt: skip
        """Give shadows the items that a container had before a write; what the first one held instead, if `taken`."""
        g: Any = None
        for shadow in shadows:
            if function is S.drop_last:
                zero = self.sweep.zero(value.id) if isinstance(value, gast.Name) else value
                call = core.call(core.attribute(shadow, "append"), self.sweep.held(zero, out, origin))
            elif function is S.append or new_key:
                call = core.call(core.attribute(shadow, "pop"), *([] if key is None else [key]))
            else:
                break
            if taken and g is None:
                g = self.sweep.held(call, out, origin)
            else:
                made: Any = gast.Expr(call)
                out.add(as_reverse(core.place(made, origin)))
        return g

    def undone(self, function: Any, x: Any, key: Any, value: Any, y: str, new_key: bool) -> Any:
        """The statement that takes a write into a list or dict back."""
        if function is S.append:
            return gast.Expr(core.call(core.attribute(x, "pop")))
        if function is S.drop_last:
            return gast.Expr(core.call(core.attribute(x, "append"), value))
        if new_key:
            return gast.Expr(core.call(core.attribute(x, "pop"), key))
        return gast.Assign([core.subscript(x, key, gast.Store)], core.name(self.saved[y]), None)

    def zero_item(self, y: str, x: Any, key: Any, out: Emitted, origin: Any) -> Any:
        """The shadow of the item that was there before, which may have been of another kind or shape."""
        if isinstance(self.kind_of(core.subscript(x, key)), K.Scalar):
            return core.constant(0.0)
        self.read_old[y] = {x.id}
        item = self.sweep.held(core.subscript(x, key), out, origin)
        return core.call(self.sweep.namer.bind("shadow", pytree.shadow), item)

    def write_back(self, y: str, function: Any, x: Any, index: Any, out: Emitted, origin: Any) -> None:
        if y in self.saved:
            target = core.subscript(self.place(x, function, out, origin), index, gast.Store)
            out.add(as_reverse(core.assign(target, core.name(self.saved[y]), origin)))

    def whole(self, call: Any, y: str, function: Any, bars: Bars, out: Emitted, origin: Any) -> None:
        """`x op= v`: the operation's rule, which finds the old x where it was, and its result in a copy."""
        sweep, x = self.sweep, call.args[0]
        made: list[Contribution] = []
        if y in bars:
            rule: Any = rules.find(function)
            bound = dict(zip(rule.bind(call.args), call.args))
            state = bars.pop(y)
            g = core.name(sweep.bar(y)) if isinstance(state, str) else state.atom
            spread = None if isinstance(state, str) else state.how
            made = _together(sweep.fragments.of(Operation(function, rule, bound), y, g, spread, origin))
            read = contents_read([n for c in made for n in (c.value, *c.stmts)])
            self.read_old[y] = read - {y}
            if y in read:
                ans = sweep.namer.temporary(core.stem(y))
                out.add(reverse_assign(ans, core.call(core.attribute(x, "copy")), origin))
                made = [_substituted(c, {y: ans}) for c in made]
        self.write_back(y, function, x, core.constant(Ellipsis), out, origin)
        if made:
            sweep.add_all(made[::-1], g, state, bars, out, origin)

    def item(self, stmt: Any, function: Any, bars: Bars, out: Emitted) -> None:
        """A write to an item: its cotangent is taken out of the adjoint of the whole."""
        (x, index, value), (y,), origin = stmt.value.args, core.writes(stmt), core.origin_of(stmt)
        sweep, bar = self.sweep, self.sweep.bar(y)
        if function is S.set_item and _is_all(index) and self.alike(y, value):
            # Nothing is left of what was there, whose adjoint is absent from now on.
            sweep.pass_on(y, value, *sweep.taken(y, bars), bars, out, origin)
            return
        self.own_array(y, x, bars, out, origin)
        state = bars.pop(y)
        active = isinstance(value, gast.Name) and value.id in sweep.active
        keeps = x.id in sweep.active
        contribution = None
        if active:
            contribution = self.taken(y, function, index, value, keeps, out, origin)
        if keeps:
            if function not in KEEPING and not sweep.restorer.is_first(stmt):  # nobody takes the cotangent once more
                item = core.subscript(self.place(bar, function, out, origin), index, gast.Store)
                zero = core.assign(item, core.constant(0.0), origin)
                out.add(as_reverse(zero))
            sweep.add(Contribution(x.id, core.name(bar), fresh=state is OWNED), bars, out, origin)
        if contribution is not None:
            sweep.add(contribution, bars, out, origin)

    def own_array(self, y: str, x: Any, bars: Bars, out: Emitted, origin: Any) -> None:
        """Own an adjoint that is written into: of an array without dimensions, operations make numbers."""
        known = self.sweep.kind(x)
        if isinstance(bars.get(y), str) and (isinstance(known, K.Numeric) or K.ndim_of(known) == 0):
            bars[y] = BORROWED
        self.sweep.own(y, bars, out, origin)

    def alike(self, y: str, value: Any) -> bool:
        """Whether an array and what is written into it have one shape and one dtype."""
        kinds, sizes = (self.sweep.kind(core.name(y)), self.sweep.kind(value)), self.sweep.fragments.operations.sizes
        if kinds[0] != kinds[1] or not isinstance(kinds[0], K.Array) or kinds[0].ndim == 0:
            return False
        return sizes.shape(core.name(y)) == sizes.shape(value)

    def place(self, x: Any, function: Any, out: Emitted, origin: Any) -> Any:
        """What is indexed: an array, or its elements in a row."""
        if function is not S.set_flat:
            return core.atom(x)
        return self.sweep.held(core.attribute(x, "flat"), out, origin)

    def taken(
        self, y: str, function: Any, index: Any, value: Any, keeps: bool, out: Emitted, origin: Any
    ) -> Contribution:
        """The cotangent of the value that was written: a part of the adjoint, as it is now."""
        sweep = self.sweep
        stmts: list[Any] = []
        emit = sweep.fragments.emit
        flat = function is S.set_flat
        part = emit(stmts, "g", core.subscript(self.place(sweep.bar(y), function, out, origin), index), origin)
        kind = item_kind(sweep.kind(core.name(y)), index, sweep.kind, flat)
        gathered = not basic_index(index, sweep.kind)
        if isinstance(kind, K.Array) and keeps and not gathered and not flat:
            part = emit(stmts, "g", core.call(core.attribute(part, "copy")), origin)
        repeats = gathered and not boolean_index(index, sweep.kind)
        if repeats and function in (S.set_item, S.seen_item, S.set_flat):
            last = sweep.namer.bind("last_writes", S.last_writes)
            shape = sweep.fragments.shape(y, stmts, origin)
            if flat:
                size = emit(stmts, "size", core.call(sweep.namer.bind("prod", math.prod), shape), origin)
                shape = emit(stmts, "shape", gast.Tuple([size], gast.Load()), origin)
            kept = emit(stmts, "last", core.call(last, shape, index), origin)
            part = emit(stmts, "g", core.binary(part, gast.Mult, kept), origin)
        sizes = sweep.fragments.operations.sizes
        length = None if flat else sizes.item(core.subscript(y, index))
        if length is None or length != sizes.shape(value):
            part = self.fitted(part, kind, y, value, flat, stmts, origin)
        part = emit(stmts, "g", sweep.fragments.cast(part, y, value, stmts, origin), origin)
        for stmt in stmts:
            out.add(stmt)
        return Contribution(value.id, part, negative=function in SUBTRACTING, fresh=False)

    def fitted(self, part: Any, kind: K.Kind, y: str, value: Any, flat: bool, stmts: list[Any], origin: Any) -> Any:
        """The cotangent in the shape of the value, which may have been broadcast, or written repeatedly."""
        sweep = self.sweep
        fragments, known = sweep.fragments, sweep.kind(value)
        if K.ndim_of(kind) != 0:
            if K.ndim_of(known) == 0 and isinstance(kind, K.Array):
                part = fragments.emit(stmts, "g", core.call(sweep.namer.numpy("sum"), part), origin)
            elif flat and isinstance(kind, K.Array):
                shape = fragments.shape(value.id, stmts, origin)
                put_back = core.call(sweep.namer.bind("put_back", S.put_back), part, shape)
                part = fragments.emit(stmts, "g", put_back, origin)
            else:
                part = fragments.emit(stmts, "g", fragments.unbroadcast_to(part, value.id, stmts, origin), origin)
        elif isinstance(known, K.Array):  # an array of one element, stored as a number
            shape = fragments.shape(value.id, stmts, origin)
            part = fragments.emit(stmts, "g", core.call(sweep.namer.numpy("reshape"), part, shape), origin)
        return part


def _is_flat(kind: K.Kind) -> bool:
    """Whether a kind is a list of containers that hold none."""
    inner = K.children(kind) if isinstance(kind, (K.List, K.Sequence)) else None
    held = [K.children(item) for item in inner or ()]
    return bool(held) and all(items is not None and not any(map(_may_hold, items)) for items in held)


def _may_hold(kind: K.Kind) -> bool:
    return K.children(kind) is not None or not K.is_known(kind)


def _is_all(index: Any) -> bool:
    """Whether an index names all of an array: `x[...]`, `x[:]`."""
    if isinstance(index, gast.Slice):
        return index.lower is index.upper is index.step is None
    return isinstance(index, gast.Constant) and index.value is Ellipsis


def _substituted(made: Contribution, names: dict[str, Any]) -> Contribution:
    stmts = [core.substitute(s, names) for s in made.stmts]
    return replace(made, stmts=stmts, value=core.substitute(made.value, names))


def _together(made: Iterable[Contribution]) -> list[Contribution]:
    """Contributions that may be added in any order: the last one computes what they share."""
    *others, last = made
    stmts = [stmt for each in (*others, last) for stmt in each.stmts]
    return [*(replace(each, stmts=[]) for each in others), replace(last, stmts=stmts)]


def _adds_key(before: K.Kind, after: K.Kind) -> bool:
    """Whether an item was stored in a dict that did not have its key before."""
    return isinstance(before, K.Dict) and isinstance(after, K.Dict) and len(before.items) < len(after.items)


def item_kind(x: K.Kind, index: Any, kind: Any, flat: bool = False) -> K.Kind:
    """The kind of `x[index]`, or of `x.flat[index]`."""
    x = K.Array(x.dtype, 1) if flat and isinstance(x, K.Array) else x

    def of(node: Any) -> K.Kind:
        if isinstance(node, gast.Tuple):
            return K.Tuple(tuple(map(of, node.elts)))
        return kind(node)  # type: ignore[no-any-return]

    known = _GETITEM.kind(x, of(index))
    return x if isinstance(index, gast.Constant) and index.value is Ellipsis else known


_GETITEM: Any = rules.find(operator.getitem)


# --- what is saved ------------------------------------------------------------------------------------------------


def with_saves(fn: Function, wanted: set[str] | None = None) -> Function:
    """`fn`, in which what the wanted versions (None: all) overwrite is saved before."""
    return _Saves(fn, wanted).run()


class _Saves:
    def __init__(self, fn: Function, wanted: set[str] | None) -> None:
        self.fn = fn
        self.wanted = wanted
        self.namer = Namer(fn)
        self.operations = Operations(fn)
        self.kind = expression_kinds(fn)
        self.saved: dict[str, str] = {}

    def run(self) -> Function:
        body = self.block(self.fn.body)
        new = replace(self.fn, body=tuple(body), scope=self.namer.scope).with_facts(saved=self.saved)
        return infer_rest(new) if self.saved else new

    def block(self, stmts: Sequence[Any]) -> list[Any]:
        new: list[Any] = []
        for stmt in stmts:
            new.extend(self.save(stmt))
            new.append(with_blocks(stmt, lambda _, block: self.block(block)))
        return new

    def save(self, stmt: Any) -> list[Any]:
        name = next(iter(core.writes(stmt)), "") if isinstance(stmt, gast.Assign) else ""
        if name not in self.fn.facts.storages or not isinstance(stmt.value, gast.Call):
            return []
        function = self.operations.function(stmt.value)
        if function not in (ITEM_WRITES - {S.seen, S.seen_item}) and function not in BINARY:
            return []
        if self.wanted is not None and name not in self.wanted:
            return []
        origin, x = core.origin_of(stmt), stmt.value.args[0]
        if function in (S.append, S.drop_last):
            self.saved[name] = name  # taken back by what is at hand
            return []
        known = self.kind(x)
        if K.children(known) is not None:
            return self.save_item(name, x, stmt.value.args[1], known, origin)
        stem = core.stem(self.fn.facts.storages[name])
        self.saved[name] = saved = self.namer.temporary(stem)
        if function in BINARY:
            return [core.assign(saved, core.call(core.attribute(x, "copy")), origin)]
        index = stmt.value.args[1]
        if function is S.set_flat:
            flat = self.namer.temporary("flat")
            return [
                core.assign(flat, core.attribute(x, "flat"), origin),
                core.assign(saved, core.subscript(flat, index), origin),
            ]
        read = core.subscript(x, index)
        kind = item_kind(self.kind(x), index, self.kind)
        if not isinstance(kind, (K.Array, K.Unknown)) or not basic_index(index, self.kind):
            return [core.assign(saved, read, origin)]
        part = self.namer.temporary("part")
        return [
            core.assign(part, read, origin),
            core.assign(saved, core.call(core.attribute(part, "copy")), origin),
        ]

    def save_item(self, name: str, x: Any, key: Any, kind: K.Kind, origin: Any) -> list[Any]:
        """The item of a container, before it is stored anew."""
        if _adds_key(kind, self.fn.facts.kinds.get(name, K.UNKNOWN)):
            self.saved[name] = name
            return []
        self.saved[name] = saved = self.namer.temporary(core.stem(self.fn.facts.storages[name]))
        return [core.assign(saved, core.subscript(x, key), origin)]


def needed(fn: Function, sweep: Sweep) -> set[str]:
    """The versions whose write has to be undone, as the sweep that was made reads what was there before."""
    regions = Regions(Operations(fn))
    aliases = regions.aliases
    readers: dict[str, list[tuple[Any, str]]] = {}
    for stmt, names in sweep.contents:
        for name in names:
            readers.setdefault(aliases.find(name), []).append((stmt, name))
    wanted = {y for y, names in sweep.stores.read_old.items() if any(aliases.find(n) == aliases.find(y) for n in names)}
    for stmt, _ in sweep.contents:
        name = next(iter(core.writes(stmt)), "")
        earlier = readers.get(aliases.find(name), ()) if name in sweep.stores.saved else ()
        if any(regions.is_in_the_way(read, reader, stmt) for reader, read in earlier):
            wanted.add(name)
    return wanted | regions.worth_undoing(sweep.restorer.again, wanted)
