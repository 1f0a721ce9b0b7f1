"""Which parts of arrays are read and written: whether what was read stands there still when the program has gone on.

A region is an interval for each axis, in terms of sizes and of the loops' indices (`dims`). Of a write that may run
after a read, in the same round of the loops around both or in a later round of one of them, it is asked whether the
two regions are surely apart. So `x[t]` is not overwritten by `x[t + 1] = ...` in a loop over `range(n)`, in this round
or later. Dependence tests of this kind: Allen and Kennedy, "Optimizing Compilers for Modern Architectures", chapter 3.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from typing import Any

import gast

from s2s import core
from s2s import kinds as K
from s2s.runtime import stores as S
from s2s.transforms.aliases import Aliases
from s2s.transforms.conduct import module_of
from s2s.transforms.copies import assignments
from s2s.transforms.dims import Term, names_of
from s2s.transforms.intervals import Intervals, Region
from s2s.transforms.operations import Operations
from s2s.transforms.structure import uses

Place = tuple[tuple[int, bool], ...]


class Regions(Intervals):
    """The reads and writes of one function, whose writes give new versions of storages.

    Names that are assigned in several places are assigned by copies there: a name that was read from an array, or that
    counts the rounds of a loop, is assigned in one place, and read in the round in which it was assigned.
    """

    def __init__(self, operations: Operations) -> None:
        super().__init__(operations, operations.sizes)
        self.storages = operations.fn.facts.storages
        self.places: dict[int, Place] = {}
        self.around: dict[int, tuple[Any, ...]] = {}  # by statement, the loops that it stands in
        self.statements: list[tuple[Place, Any]] = []
        self.writes: dict[str, list[Any]] = {}  # by representative of what may share memory, the statements
        self.survey(operations.fn.body, (), ())

    @cached_property
    def aliases(self) -> Aliases:
        """Which names may share memory."""
        return Aliases(self.operations.fn, self.operations)

    def survey(self, stmts: Sequence[Any], around: Place, loops: tuple[Any, ...]) -> None:
        for position, stmt in enumerate(stmts):
            is_loop = isinstance(stmt, (gast.For, gast.While))
            here = (*around, (position, is_loop))
            self.places[id(stmt)], self.around[id(stmt)] = here, loops
            self.statements.append((here, stmt))
            if isinstance(stmt, gast.Assign):
                for name in core.writes(stmt):
                    self.definitions[name] = stmt
                    if name in self.storages and isinstance(stmt.value, gast.Call):
                        self.writes.setdefault(self.aliases.find(name), []).append(stmt)
            elif isinstance(stmt, gast.For):
                self.loops_of[stmt.target.id] = [stmt]
            for number, (_, block) in enumerate(core.blocks(stmt)):
                self.survey(block, (*here, (number, False)), (*loops, stmt) if is_loop else loops)

    # --- what may run when ---

    def may_follow(self, first: Any, second: Any) -> bool:
        """Whether the second statement may run after the first: it stands behind it, in a block of it, or in a loop
        with it."""
        return any(True for _ in self.ways(first, second))

    def ways(self, first: Any, second: Any) -> Iterator[Any]:
        """How the second may run after the first: in a later round of a loop around both, or (None) in the same one."""
        for a, b in zip(self.around[id(first)], self.around[id(second)]):
            if a is not b:
                break
            yield a
        one, other = self.places[id(first)], self.places[id(second)]
        difference = next((a[0] - b[0] for a, b in zip(one, other) if a != b), len(one) - len(other))
        if difference < 0:
            yield None

    # --- regions ---

    def read(self, name: str) -> tuple[str, Region] | None:
        """The storage that a name was read from by an index, and the region."""
        stmt = self.definitions.get(name)
        value = getattr(stmt, "value", None)
        if not isinstance(value, gast.Subscript) or not isinstance(value.value, gast.Name):
            return None
        return self.storages.get(value.value.id, value.value.id), self.region(value.value, value.slice)

    def written(self, stmt: Any) -> tuple[str, Region]:
        """The storage that a statement writes into, and the region."""
        (name,) = core.writes(stmt)
        x, *rest = stmt.value.args
        function = self.operations.function(stmt.value)
        return self.storages[name], self.region(x, rest[0]) if function in _AT_AN_INDEX else []

    # --- whether regions are apart ---

    def apart(self, first: Region, reader: Any, second: Region, writer: Any) -> bool:
        """Whether a write never touches the region of an earlier statement."""
        return all(self.apart_then(first, second, loop, reader, writer) for loop in self.ways(reader, writer))

    def apart_then(self, first: Region, second: Region, loop: Any, reader: Any, writer: Any) -> bool:
        varying = self.varying(reader, writer, loop)
        later = self.range(loop)[2] if isinstance(loop, gast.For) else 0
        index = loop.target.id if later else None
        for one, other in zip(first, second):
            for high, low, order in ((other.low, one.high, later), (one.low, other.high, -later)):
                if high is not None and low is not None and self.above(high, low, varying, index, order):
                    return True
        return False

    def varying(self, reader: Any, writer: Any, loop: Any) -> set[str]:
        """The names that may have other values when the writer runs than when the reader ran."""
        mine, theirs = self.around[id(reader)], self.around[id(writer)]
        shared = [a for a, b in zip(mine, theirs) if a is b]
        apart = [*mine[len(shared) :], *theirs[len(shared) :], *([] if loop is None else [loop])]
        return {name for each in apart for name in core.all_writes(each)}

    def above(self, high: Term, low: Term, varying: set[str], index: str | None, later: int) -> bool:
        """Whether `high` is surely more than `low`, of which the writer's is of a later round.

        index: of the loop whose later round it is. later: 1 if the index is greater for `high` than for `low`, else -1.
        """
        if not low.roots and (self.least(high) or 0) > low.constant >= 0:
            return True  # in all rounds
        most = self.most(low)
        if most is not None and not (names_of(high) | names_of(most)) & varying and self.exceeds(high, most):
            return True
        if (names_of(high) | names_of(low)) & (varying - {index}):
            return False
        own = ("value", index)
        if any(root != own and index in names_of(Term(0, ((root, 1),))) for root, _ in (*high.roots, *low.roots)):
            return False  # it is not known how these change from round to round
        step = dict(high.roots).get(own, 0) * later
        difference = high.plus(low, -1)
        return not difference.roots and step >= 0 and difference.constant + step > 0

    # --- what is written back ---

    def is_restored(self, name: str, saved: Collection[str]) -> bool:
        """Whether the reverse sweep finds what a name was read from again, as it undoes all writes there.

        So it does if the name is read before anything is written there: then, backwards, all of that is undone.
        """
        found = self.read(name)
        if found is None or not isinstance(self.operations.kind(core.name(found[0])), K.Array):
            return False
        writers = self.writes.get(self.aliases.find(found[0]), ())
        if not all(core.writes(w)[0] in saved for w in writers):
            return False
        start = self.places[id(self.definitions[name])]
        depth = len(start)
        last = max((place[:depth] for place in self.readers(name)), default=start)
        places = [self.places[id(w)] for w in writers]
        # It is found in the block that it is read in, before the last statement there that reads it is reversed.
        return not any(start < p and (p[:depth] < last or (p[:depth] == last and len(p) > depth)) for p in places)

    def readers(self, name: str) -> Iterator[Place]:
        """Where a name is read, or a number that may be computed again from it."""
        names = {name}
        for place, stmt in self.statements:
            if names.isdisjoint(uses(stmt)):
                continue
            yield place
            value = getattr(stmt, "value", None)
            called = self.operations.function(value) if isinstance(value, gast.Call) else None
            if isinstance(stmt, gast.Assign) and (
                called is None or module_of(called) == "math" or called in (len, range)
            ):
                names.update(core.writes(stmt))

    def worth_undoing(self, again: Collection[str], wanted: Collection[str]) -> set[str]:
        """The writes whose undoing, of a number each, spares the sweeps more numbers that were read there.

        again: the names that are read again, if all writes are undone. wanted: the writes that are undone anyway.
        """
        found: set[str] = set()
        for writers in self.writes.values():
            names = {core.writes(w)[0] for w in writers}
            leader = self.aliases.find(next(iter(names)))
            spared = {n for n in again if (r := self.read(n)) is not None and self.aliases.find(r[0]) == leader}
            spared = {n for n in spared if not self.untouched(n) and self.is_restored(n, names)}
            if len(spared) > len(names - set(wanted)) and all(map(self.writes_number, writers)):
                found |= names
        return found

    def writes_number(self, writer: Any) -> bool:
        """Whether a statement writes into one place of an array."""
        if self.operations.function(writer.value) not in _AT_AN_INDEX - {S.seen_item}:
            return False
        return self.operations.sizes.item(core.subscript(*writer.value.args[:2])) == ()

    # --- what stands still ---

    def untouched(self, name: str) -> bool:
        """Whether what a name was read from stands there still, whatever has run since."""
        found = self.read(name)
        return found is not None and self.stands(*found, self.definitions[name])

    def stands(self, storage: str, region: Region, reader: Any) -> bool:
        """Whether nothing that may run after a statement writes into a region."""
        writers = self.writes.get(self.aliases.find(storage), ())
        return all(self.spared(storage, region, reader, writer) for writer in writers)

    def spared(self, storage: str, region: Region, reader: Any, writer: Any) -> bool:
        """Whether a write leaves a region alone, once a statement has read it."""
        into, second = self.written(writer)
        return not self.may_follow(reader, writer) or (into == storage and self.apart(region, reader, second, writer))

    def kept_by_loop(self, name: str) -> tuple[Any, Any]:
        """The item that a name is read from, and the loop after which that stands there still, outside other loops.

        The loop reads nearly all items: it runs as often as the array is long, but for two rounds. Else None.
        """
        stmt: Any = self.definitions.get(name)
        found, loops = self.read(name), () if stmt is None else self.around[id(stmt)]
        if (
            found is None
            or found[0] not in self.storages.values()
            or len(loops) != 1
            or not self.is_one_array(found[0])
        ):
            return None, None
        (loop,), array = loops, stmt.value.value
        if K.ndim_of(self.operations.kind(core.name(name))) != 0 or not self.runs_over(loop, array):
            return None, None
        writers = [w for w in self.writes.get(self.aliases.find(found[0]), ()) if loop in self.around[id(w)]]
        stands = all(self.spared(*found, stmt, writer) for writer in writers)
        return (stmt.value, loop) if stands else (None, None)

    def is_one_array(self, name: str) -> bool:
        """Whether a name stands for one array, whatever loops do: it is assigned once at most, outside of them."""
        stmt = self.definitions.get(name)
        return stmt is None or (self.times[name] == 1 and not self.around[id(stmt)])

    @cached_property
    def times(self) -> Counter[str]:
        """How often names are assigned."""
        return assignments(self.operations.fn)

    def runs_over(self, loop: Any, array: Any) -> bool:
        """Whether a loop has as many rounds as an array has items, but for two."""
        if not isinstance(loop, gast.For) or core.is_exit(loop.body[-1]):
            return False
        ends = [self.sizes.integer(arg) for arg in self.range(loop)[0]]
        shape = self.sizes.shape(array)
        if not 1 <= len(ends) <= 2 or None in ends or shape is None or len(shape) != 1:
            return False
        missing = shape[0].plus(ends[-1], -1).plus(Term(0) if len(ends) == 1 else ends[0])  # type: ignore[arg-type]
        return not missing.roots and missing.constant <= 2

    def is_first(self, writer: Any) -> bool:
        """Whether a write is the first that touches its region."""
        storage, region = self.written(writer)
        earlier = [(w, *self.written(w)) for w in self.writes.get(self.aliases.find(storage), ())]
        return all(
            not self.may_follow(other, writer) or (into == storage and self.apart(second, other, region, writer))
            for other, into, second in earlier
        )

    def is_in_the_way(self, name: str, reader: Any, writer: Any) -> bool:
        """Whether a write may change, later, what a statement reads by a name."""
        found = self.read(name)
        return self.may_follow(reader, writer) if found is None else not self.spared(*found, reader, writer)

    def stored(self, name: str) -> Any:
        """`x[i]`, where all of the value of a name was stored, once it was computed, and stands still; None else."""
        sizes, value = self.operations.sizes, core.name(name)
        kind = self.operations.kind(value)
        shape = () if isinstance(kind, K.Scalar) else sizes.shape(value)
        for writer in self.stores_of.get(name, ()):
            storage, region = self.written(writer)
            place = core.subscript(core.name(storage), writer.value.args[1])
            of = self.operations.kind(place.value)
            alike = isinstance(of, K.Array) and of.dtype == K.dtype_of(kind) and shape == sizes.item(place)
            if alike and self.always_follows(writer, name) and self.stands(storage, region, writer):
                return place
        return None

    def always_follows(self, stmt: Any, name: str) -> bool:
        """Whether a statement runs whenever a name was defined: it stands in the same block, behind the definition."""
        start, place = self.places.get(id(self.definitions.get(name)), ()), self.places[id(stmt)]
        return start[:-1] == place[:-1] and () < start < place

    @cached_property
    def stores_of(self) -> dict[str, list[Any]]:
        """The statements `y = set_item(x, i, v)`, by v."""
        found: dict[str, list[Any]] = {}
        for writer in (w for writers in self.writes.values() for w in writers):
            if self.operations.function(writer.value) is S.set_item and isinstance(writer.value.args[2], gast.Name):
                found.setdefault(writer.value.args[2].id, []).append(writer)
        return found


_AT_AN_INDEX = {S.set_item, S.add_item, S.sub_item, S.seen_item}
