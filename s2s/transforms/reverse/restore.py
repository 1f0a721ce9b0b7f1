"""What the reverse sweep reads of the forward sweep, and how it finds it again.

A name that is defined outside all loops still holds its value. A name of a loop's body changes with every round: in the
reversed body it is restored just before its first use there, in one of three ways.

- *Computed again*, where the operation is exactly repeatable and cheap, and its operands are at hand: arithmetic on
  integers, comparisons of scalars, reads of items and shapes, of globals and
  constants of modules that the program cannot write.
- *Handed over*: where the body ends with `h = x` (the loop carries x as h), and h is restored anyway, h still holds x.
- *Popped from its tape*, onto which the forward sweep pushed it right after its definition.

Since every name has one definition, one push matches one pop, and blocks are reversed as they ran.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import gast

from s2s import core
from s2s import kinds as K
from s2s.core import Function
from s2s.transforms.bound import Unbound, headers_of, unbound_or_carried
from s2s.transforms.conduct import module_of
from s2s.transforms.copies import assignments
from s2s.transforms.effects import Knowledge
from s2s.transforms.intervals import backwards_of
from s2s.transforms.operations import Operations, basic_index
from s2s.transforms.regions import Regions
from s2s.transforms.reverse.emitted import Emitted, as_reverse, reverse_assign
from s2s.transforms.rulebody import Namer
from s2s.transforms.structure import statements


class Restorer:
    """Plans saves and restorations; holds the edits of the forward sweep that they need."""

    def __init__(self, fn: Function, namer: Namer, lasting: bool = True) -> None:
        """lasting: whether the reverse sweep runs before anybody else can change what is free in the program."""
        self.fn = fn
        self.namer = namer
        self.lasting = lasting
        self.operations = Operations(fn)
        self.pushes: dict[int, list[Any]] = {}  # after a statement
        self.starts: dict[int, list[Any]] = {}  # at the start of a loop's body
        self.counts: dict[int, str] = {}  # the names that count the rounds of a loop
        self.shapes: dict[str, str] = {}  # names that hold shapes, by the array's name
        self.tapes: list[Any] = []
        self.copies: dict[tuple[str, int], str] = {}  # of arrays as they are after a loop
        self.again: set[str] = set()  # the names that are computed again
        self.pushed: dict[str, str] = {}  # the names whose values are pushed, by tape
        self.definitions: dict[str, Any] = {}
        self.home: dict[str, int] = {}  # the loop (by id) in whose body a name is defined; absent: no loop
        self.range_targets: set[str] = set()
        self.times = assignments(fn)
        self.unsure = unbound_or_carried(fn)
        # Whether the memory of a name is written into: its contents now are not those that an operation read.
        self.changed: Callable[[str], bool] = lambda name: False
        if fn.facts.storages:
            self.changed = self.regions.aliases.sharing(fn.facts.storages)
        self._survey(fn.body, None)

    @cached_property
    def regions(self) -> Regions:
        """What is read and written of memory that is written into."""
        return Regions(self.operations)

    def is_first(self, stmt: Any) -> bool:
        """Whether nothing that carries a derivative was where a statement writes."""
        storage = self.fn.facts.storages[core.writes(stmt)[0]]
        return storage not in self.fn.facts.active and self.regions.is_first(stmt)

    def _survey(self, stmts: Sequence[Any], loop: Any) -> None:
        for stmt in stmts:
            inner = stmt if isinstance(stmt, (gast.For, gast.While)) else loop
            for name in core.writes(stmt):
                if isinstance(stmt, gast.Assign):
                    self.definitions[name] = stmt
                if inner is not None:
                    self.home[name] = id(inner)
            if isinstance(stmt, gast.For) and self._over_range(stmt):
                self.range_targets.add(stmt.target.id)
            for _, block in core.blocks(stmt):
                self._survey(block, inner)

    # --- the restorations of one reversed block ---

    def restore(self, stmts: Sequence[Any], loop: Any, out: Emitted) -> None:
        """Restore the names that are defined in a block of a loop's body, as far as the reversed block needs them.

        loop: the loop whose body the block is; None for a branch in a body.
        """
        headers = headers_of(stmts) if loop is not None else {}
        for stmt in reversed(stmts):
            for name in reversed(self._defined_by(stmt)):
                if out.exposes(name) and name not in headers:
                    self._restore_name(name, stmt, headers, loop, out)
        targets = [loop.target.id] if isinstance(loop, gast.For) and not self._over_range(loop) else []
        for name in [*reversed(headers), *targets]:
            if out.exposes(name):
                tape = self.tape(name)
                self.starts.setdefault(id(loop), []).append(_push(tape, name, core.origin_of(loop)))
                out.restore(name, _pop(tape, name, core.origin_of(loop)))

    def _defined_by(self, stmt: Any) -> list[str]:
        names = list(dict.fromkeys(core.all_writes(stmt)))
        if id(stmt) in self.counts:
            names.append(self.counts[id(stmt)])
        own = self.definitions.get(names[0]) is stmt if names else False
        return [*names, self.shapes[names[0]]] if own and names[0] in self.shapes else names

    def shape_of(self, name: str) -> str | None:
        """A name for the shape of an array that a loop makes anew: the shape is saved, not the array.

        None for an array that is still there in the reverse sweep. What is written into keeps its shape; after a write
        through another name it may be `absent`, which has none.
        """
        name = self.fn.facts.storages.get(name, name)
        if self.home.get(name) is None or self.definitions.get(name) is None:
            return None
        definition = self.definitions[name]
        if core.writes(definition) != [name] or isinstance(definition.value, gast.Name):
            return None  # a meeting name, or one of several
        if name not in self.shapes:
            self.shapes[name] = self.namer.temporary("shape")
            self.home[self.shapes[name]] = self.home[name]
        return self.shapes[name]

    def _restore_name(self, name: str, stmt: Any, headers: dict[str, str], loop: Any, out: Emitted) -> None:
        origin = core.origin_of(stmt)
        array = core.writes(stmt)[0] if name in self.shapes.values() else None
        if array is not None:
            read = core.attribute(array, "shape")
            if array in out.needed or self._repeatable(array, stmt, out):
                out.restore(name, reverse_assign(name, read, origin))
                return
            known = self._part_of_shape(array)
            if known is not None:
                owner, shape = known.value.id, self.namer.temporary("shape")
                out.restore(name, reverse_assign(name, core.subscript(shape, known.slice), origin))
                out.restore(shape, reverse_assign(shape, core.attribute(owner, "shape"), origin))
                return
            self.pushes.setdefault(id(stmt), []).append(core.assign(name, read, origin))
        place = self._stored(name)
        if place is not None and all(self._at_hand(n, self.home.get(name), out, 3) for n in core.reads(place)):
            out.restore(name, reverse_assign(name, place, origin))
            return
        if self._repeatable(name, stmt, out):
            self.again.add(name)
            out.restore(name, as_reverse(core.rebuilt(stmt)))
            return
        carrier = next((h for h, source in headers.items() if source == name and h not in self.unsure), None)
        if carrier is not None:
            out.hand_over(name, carrier, reverse_assign(name, core.name(carrier), origin))
            return
        place = self._in_copy(name, stmt, out)
        if place is not None:
            out.restore(name, reverse_assign(name, place, origin))
            return
        tape = self.tape(name)
        self.pushes.setdefault(id(stmt), []).append(_push(tape, name, origin))
        out.restore(name, _pop(tape, name, origin))

    def read_again(self, stmts: Sequence[Any], out: Emitted) -> None:
        """Read numbers again, outside loops, that stand still in an array that is written into."""
        for stmt in reversed(stmts):
            name = next(iter(self._defined_by(stmt)), "")
            own = name in self.definitions and self.definitions[name] is stmt
            if not own or not core.is_temporary(name) or not out.exposes(name):
                continue
            stands = self.regions.untouched(name) and self.changed(stmt.value.value.id)
            place = stmt.value if stands else self._stored(name)
            if place is not None and isinstance(self.operations.kind(core.name(name)), K.Scalar):
                out.restore(name, reverse_assign(name, place, core.origin_of(stmt)))

    def _in_copy(self, name: str, stmt: Any, out: Emitted) -> Any:
        """The item of a copy of an array, made after the loop that reads nearly all its items; None for other names."""
        place, loop = self.regions.kept_by_loop(name)
        if place is None or not all(self._at_hand(n, self.home.get(name), out, 3) for n in core.reads(place.slice)):
            return None
        storage = self.fn.facts.storages.get(place.value.id, place.value.id)
        if (storage, id(loop)) not in self.copies:
            copy = self.copies[storage, id(loop)] = self.namer.temporary(f"{core.stem(storage)}_saved")
            made = core.call(core.attribute(core.name(storage), "copy"))
            self.pushes.setdefault(id(loop), []).append(core.assign(copy, made, core.origin_of(loop)))
        return core.subscript(self.copies[storage, id(loop)], place.slice)

    def _stored(self, name: str) -> Any:
        """The item of an array that holds the value of a name still; None where the sweep undoes writes."""
        kind = self.operations.kind(core.name(name))
        known = isinstance(kind, K.Array) or (isinstance(kind, K.Scalar) and not kind.python)
        if not known or not self.fn.facts.storages or self.fn.facts.saved or self.changed(name):
            return None
        return self.regions.stored(name)

    def _part_of_shape(self, array: str) -> Any:
        """`x[i:j]`, where these items of the shape of x, which no loop assigns, are the shape of an array."""
        shape = self.operations.sizes.shape(core.name(array))
        first: Any = shape[0].roots[0][0] if shape and len(shape[0].roots) == 1 else None
        if not shape or first is None or first[0] != "length" or self.home.get(first[1]) is not None:
            return None
        owner, axis = first[1:]
        known = isinstance(self.operations.kind(core.name(owner)), K.Array) and owner not in self.fn.facts.storages
        if not known or shape != self.operations.sizes.shapes.get(owner, ())[axis : axis + len(shape)]:
            return None
        lower = core.constant(axis) if axis else None
        return core.subscript(owner, gast.Slice(lower, core.constant(axis + len(shape)), None))

    def tape(self, name: str) -> str:
        """A new tape: an empty list at the start of the forward sweep."""
        if name in self.unsure:
            raise Unbound(name, self.fn.origin)
        tape = core.derived(name, "_tape")
        if tape in self.namer.taken:
            tape = self.namer.temporary(core.stem(tape))
        self.namer.taken.add(tape)
        self.pushed[tape] = name
        self.tapes.append(core.assign(tape, gast.List([], gast.Load()), None))
        return tape

    # --- what may be computed again ---

    def _repeatable(self, name: str, stmt: Any, out: Emitted, depth: int = 3) -> bool:
        """Whether computing a name again is exact, cheap and needs nothing that is not at hand."""
        if not isinstance(stmt, gast.Assign) or core.writes(stmt) != [name]:
            return False
        if not self._exact(name, stmt.value):
            return False
        return all(self._at_hand(operand, self.home.get(name), out, depth) for operand in core.reads(stmt.value))

    def _at_hand(self, operand: str, home: int | None, out: Emitted, depth: int) -> bool:
        """Whether an operand is there without a tape of its own: another loop's, restored anyway, or computed again."""
        operand = self.fn.facts.storages.get(operand, operand)
        if self.home.get(operand) is None or self.home.get(operand) != home:
            return True
        if out.exposes(operand) or operand in self.range_targets:
            return True
        return depth > 0 and self._repeatable(operand, self.definitions.get(operand), out, depth - 1)

    def _exact(self, name: str, value: Any) -> bool:
        """Whether an operation gives the same bits again, at the cost of a push or less."""
        kind = self.operations.kind
        result = kind(core.name(name))
        if isinstance(value, gast.Constant):
            return True
        if isinstance(value, gast.Name) and value.id in self.operations.local:
            return self.times[name] == 1 and not {name, value.id} & self.unsure
        if isinstance(value, gast.Name) or (isinstance(value, gast.Attribute) and self._of_module(value)):
            return core.reads(value).isdisjoint(self.operations.local) and self._globals_stay
        if isinstance(value, (gast.BinOp, gast.UnaryOp, gast.Compare)):
            return isinstance(result, (K.Int, K.Bool, K.Scalar)) and all(
                isinstance(kind(o), (K.Int, K.Bool, K.Scalar, K.NoneKind)) for o in _operands(value)
            )
        if isinstance(value, gast.Subscript):
            owner = kind(value.value)
            if not isinstance(owner, (K.Array, K.Tuple, K.List, K.Sequence, K.Range)) or not isinstance(
                value.value, gast.Name
            ):
                return False
            if self._is_outside(value.value.id) and not self._globals_stay:
                return False
            view = isinstance(owner, K.Array) and isinstance(result, K.Array) and basic_index(value.slice, kind)
            return view or not self.changed(value.value.id) or self._is_found_again(name)
        if isinstance(value, gast.Attribute) and self._of_function(value):
            return isinstance(value.value, gast.Name) and self._globals_stay
        if isinstance(value, gast.Attribute):
            return isinstance(kind(value.value), K.Array) and value.attr in ("shape", "ndim", "size", "T", "dtype")
        if isinstance(value, gast.Call):
            stays = all(map(self._stays, core.reads(value.args)))
            function = self.operations.function(value)
            outside = any(map(self._is_outside, core.reads(value.args)))
            stays = stays and (not outside or self._globals_stay)
            return (function in (len, range) and stays) or (module_of(function) == "math" and self._of_numbers(value))
        return False

    def _stays(self, name: str) -> bool:
        """Whether what a name holds has the length in the reverse sweep that it had: a set may have got longer."""
        kind = self.operations.kind(core.name(name))
        if K.children(kind) is not None:
            return not self.changed(name)
        return K.immutable(kind) or isinstance(kind, K.Array)

    def _is_outside(self, name: str) -> bool:
        """Whether a name is not the program's own, or is read through one that is not: what it holds may grow."""
        if name not in self.operations.local:
            return True
        definition = getattr(self.definitions.get(name), "value", None)
        if not isinstance(definition, (gast.Subscript, gast.Attribute)) or not isinstance(definition.value, gast.Name):
            return False
        return self._is_outside(definition.value.id)

    def _is_found_again(self, name: str) -> bool:
        """Whether an item that was read of memory that is written into is there in the reverse sweep."""
        saved = self.fn.facts.saved
        undone = name not in saved.values() and self.regions.is_restored(name, saved)
        return undone or self.regions.untouched(name)

    def _of_numbers(self, call: Any) -> bool:
        """Whether a call is one of numbers."""
        kinds = [self.operations.kind(a) for a in call.args]
        return not call.keywords and all(isinstance(k, (K.Scalar, K.Int)) for k in kinds)

    def _of_module(self, value: Any) -> bool:
        owner = self.operations.kind(value.value)
        return isinstance(owner, K.Static) and isinstance(owner.value, types.ModuleType)

    def _of_function(self, value: Any) -> bool:
        owner = self.operations.kind(value.value)
        return isinstance(owner, K.Static) and isinstance(owner.value, (types.FunctionType, types.CellType))

    @cached_property
    def _globals_stay(self) -> bool:
        """Whether nothing in the program can write what is free in it."""
        known = Knowledge(self.fn)
        return self.lasting and not any(map(known.writes_memory, statements(self.fn.body)))

    # --- loops ---

    def reversed_loop(self, loop: Any, inner: Emitted, out: Emitted) -> None:
        """The reversed loop around its reversed body."""
        if not inner:
            return
        origin, exposed = core.origin_of(loop), inner.exposed
        leaves_early = core.is_exit(loop.body[-1])
        if isinstance(loop, gast.For) and self._over_range(loop) and not leaves_early:
            target, rounds = loop.target.id, self._backwards(loop.iter, origin, out)
        elif isinstance(loop, gast.For) and self._over_range(loop) and loop.target.id in exposed:
            taken = core.subscript(loop.iter, gast.Slice(None, core.name(self.count_trips(loop)), None))
            run = self.namer.temporary("run")
            out.add(reverse_assign(run, taken, origin))
            target, rounds = loop.target.id, self._backwards(core.name(run), origin, out)
        else:
            target, rounds = self.namer.plain("_"), self.namer.temporary("rounds")
            counted = core.call(self.namer.bind("range", range), self.count_trips(loop))
            out.add(reverse_assign(rounds, counted, origin))
        new = gast.For(core.name(target, gast.Store), core.name(rounds), inner.stmts, [], None)
        out.add(as_reverse(core.place(new, origin)), exposed - {target} | {rounds})

    def _backwards(self, atom: Any, origin: Any, out: Emitted) -> str:
        """`reversed(...)` of a range, which is written again where that needs nothing more."""
        definition = self.definitions.get(atom.id)
        straight = None if definition is None else backwards_of(definition.value)
        if straight is not None:
            return self._again(straight, origin, out).id  # type: ignore[no-any-return]
        atom = self._again(atom, origin, out)
        name = self.namer.temporary("backwards")
        out.add(reverse_assign(name, core.call(self.namer.bind("reversed", reversed), atom), origin))
        return name

    def _again(self, atom: Any, origin: Any, out: Emitted) -> Any:
        """A range under a name of its own, where computing it again needs nothing more."""
        definition = self.definitions.get(atom.id)
        if definition is None or not self._repeatable(atom.id, definition, out):
            return atom
        again = self.namer.temporary(core.stem(atom.id))
        out.add(reverse_assign(again, definition.value, origin))
        return core.name(again)

    def count_trips(self, loop: Any) -> str:
        """Count the rounds of a loop in the forward sweep; the name of the count."""
        trips = self.counts[id(loop)] = self.namer.plain("trips")
        step = core.assign(trips, core.binary(trips, gast.Add, 1), core.origin_of(loop))
        self.starts.setdefault(id(loop), []).insert(0, step)
        return trips

    def _over_range(self, loop: Any) -> bool:
        return isinstance(self.operations.kind(loop.iter), K.Range)

    # --- the forward sweep ---

    def forward(self, stmts: Sequence[Any]) -> list[Any]:
        """The forward sweep's statements with pushes and counts."""
        new: list[Any] = []
        for stmt in stmts:
            changes = {name: self.forward(block) for name, block in core.blocks(stmt) if "." not in name}
            if isinstance(stmt, (gast.For, gast.While)) and id(stmt) in self.starts:
                changes["body"] = self.starts[id(stmt)] + changes["body"]
            if id(stmt) in self.counts:
                new.append(core.assign(self.counts[id(stmt)], core.constant(0), core.origin_of(stmt)))
            new.append(core.rebuilt(stmt, **changes) if changes else stmt)
            new.extend(self.pushes.get(id(stmt), []))
        return new


def _operands(value: Any) -> list[Any]:
    if isinstance(value, gast.BinOp):
        return [value.left, value.right]
    return [value.operand] if isinstance(value, gast.UnaryOp) else [value.left, *value.comparators]


def _push(tape: str, name: str, origin: Any) -> Any:
    return core.place(gast.Expr(core.call(core.attribute(tape, "append"), name)), origin)


def _pop(tape: str, name: str, origin: Any) -> Any:
    return reverse_assign(name, core.call(core.attribute(tape, "pop")), origin)
