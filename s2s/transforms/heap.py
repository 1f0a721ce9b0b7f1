"""The objects that a function makes, as far as names tell: which object a name or attribute refers to at each place.

An object that is made in the function is taken apart: each attribute is a variable of its own. The objects themselves
are no values of the program any more, but references, which are followed as the program is gone through:

    b = a               b refers to what a refers to: nothing is left of the statement
    if c: p = a         p refers to a new object, whose attributes are those of a or b:
    else: p = b         p_x = a_x, p_x = b_x at the ends of the branches

An object of the last form stands for one of several. It may be another one under a second name, so that a write to an
attribute of one of the two is refused. An object that was made after the other one came to be is surely another one.

A loop is gone through until the references at its head are those at its end: those that it changes meet there.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from s2s import core
from s2s.transforms.keys import Keys


@dataclass(eq=False)
class Made:
    """An object that the function makes; `meeting`: one of several.

    number: of the objects in the order in which they come to be.
    hint: what it is called in the text.
    real: of an argument, its name: its attributes are there, and a variable stands for one that the program sets.
    given: those that the argument has when the program begins.
    parts: the objects that its attributes hold.
    variables: the names that hold its attributes, by attribute.
    sites: of a dict, where it may have been made; none if that is not known.
    """

    cls: Any
    number: int
    meeting: bool = False
    hint: str = ""
    real: str = ""
    given: frozenset[str] = frozenset()
    parts: dict[str, Made] = field(default_factory=dict)
    variables: dict[Any, str] = field(default_factory=dict)
    sites: frozenset[Any] = frozenset()


class _Mark:
    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


# An attribute whose value its variable holds; a name or attribute that may be one thing or the other.
VALUE: Any = _Mark("VALUE")
UNSURE: Any = _Mark("UNSURE")

# A name, or an attribute of an object.
Location = str | tuple[Made, str]
# Attributes of objects in objects are copied so many at the head of a loop.
MOST = 200


class Escapes(Exception):
    """An object is used in a way that needs the object itself: its class is to be left alone.

    classes: those of the objects that may be meant; none if all are.
    """

    def __init__(self, reason: str, origin: Any, classes: Sequence[Any] = ()) -> None:
        super().__init__(reason)
        self.reason = reason
        self.origin = origin
        self.classes = tuple(classes)


class Heap:
    """What names and attributes refer to at one place of the function.

    temporary, fresh: give a new temporary, and a new variable, from a hint.
    """

    def __init__(self, temporary: Callable[[str], str], fresh: Callable[[str], str]) -> None:
        self.temporary = temporary
        self.fresh = fresh
        self.state: dict[Location, Any] = {}
        self.numbers = itertools.count()
        self.interned: dict[Any, Any] = {}

    def same(self, value: Any) -> Any:
        """The one value that stands for all that are equal to it: values of locations are compared by identity."""
        return self.interned.setdefault(value, value)

    # --- objects and their attributes ---

    def make(self, cls: Any, *, meeting: bool = False, hint: str = "") -> Made:
        return Made(cls, next(self.numbers), meeting, hint)

    def variable(self, made: Made, attr: str, stem: str) -> str:
        """The name that holds an attribute."""
        if attr not in made.variables:
            made.variables[attr] = self.fresh(f"{made.hint or stem}_{attr}")
        return made.variables[attr]

    def aliases(self, made: Made) -> Iterator[Made]:
        """Other objects in sight that may be the same one."""
        for other in {id(o): o for o in self.state.values() if isinstance(o, Made)}.values():
            if other is not made and other.cls is made.cls and not apart(made, other):
                yield other

    # --- where ways meet ---

    def joined(self, one: dict[Location, Any], other: dict[Location, Any]) -> tuple[list[Any], list[Any]]:
        """Go on from two states; gives the copies at the end of each way."""
        self.state = {}
        met: dict[tuple[Made, Made], Made] = {}
        ends: tuple[list[Any], list[Any]] = ([], [])
        for location in {**one, **other}:
            a, b = one.get(location), other.get(location)
            self.state[location] = self.meet(location, a, b, (one, other), met, ends)
        return ends

    def meet(self, location: Location, a: Any, b: Any, states: Any, met: Any, ends: Any) -> Any:
        """What a location refers to, where it refers to one thing or another."""
        if a is b:
            return a
        if isinstance(a, Keys) and isinstance(b, Keys):
            return self.same(a.met(b))
        if VALUE in (a, b) and None in (a, b) and is_loadable(location):
            ends[0 if a is None else 1].append(load(location))
            return VALUE
        if not isinstance(a, Made) or not isinstance(b, Made) or a.cls is not b.cls:
            return UNSURE
        if (a, b) not in met:
            new = met[a, b] = self.make(a.cls, meeting=True)
            new.sites = a.sites | b.sites if a.sites and b.sites else frozenset()
            for attr in dict.fromkeys((*fields(states[0], a), *fields(states[1], b))):
                values = states[0].get((a, attr)), states[1].get((b, attr))
                if values[0] is VALUE and values[1] is VALUE:
                    name = self.variable(new, attr, _hint(location))
                    for old, end in zip((a, b), ends):
                        end.append(core.assign(name, old.variables[attr], None))
                    self.state[new, attr] = VALUE
                else:
                    found = self.meet((new, attr), *values, states, met, ends)
                    self.state[new, attr] = found
        return met[a, b]

    def looped(
        self, run: Callable[[], list[Any]], assigned_first: Callable[[str], bool]
    ) -> tuple[list[Any], list[Any]]:
        """The copies before a loop, and the loop's body, which `run` gives.

        assigned_first: whether the body surely assigns a name before it reads it.
        """
        entry, start = self.state, next(self.numbers)
        changing: set[Location] = set()
        unsure: set[Location] = set()
        loaded: dict[Location, None] = {}
        keys: dict[Location, Keys] = {}
        while True:
            found = len(changing) + len(unsure) + len(loaded), dict(keys)
            self.state = dict(entry)
            before = [*self.heads(changing - unsure), *map(load, loaded)]
            self.state.update(dict.fromkeys(loaded, VALUE))
            self.state.update(keys)
            self.state.update(dict.fromkeys(unsure, UNSURE))
            head = dict(self.state)
            body = run()
            tail: list[Any] = []
            for location in {**head, **self.state}:
                if location in unsure or (isinstance(location, tuple) and location[0].number > start):
                    continue  # attributes at the head go with what refers to the object; others are of one round
                old, new = head.get(location), self.state.get(location)
                if location in changing:
                    if not self.carry(old, new, head, tail):
                        unsure.add(location)
                elif old is not new:
                    if isinstance(old, Keys) and isinstance(new, Keys):
                        keys[location] = self.same(old.met(new))
                    elif old is None and new is VALUE and is_loadable(location):
                        loaded[location] = None
                    elif isinstance(old, Made) and isinstance(new, Made) and old.cls is new.cls:
                        changing.add(location)
                    elif old is not None or not isinstance(location, str) or not assigned_first(location):
                        unsure.add(location)
            if (len(changing) + len(unsure) + len(loaded), keys) == found:
                break
        lost: dict[Location, Any] = {location: UNSURE for location in self.state if isinstance(location, str)}
        self.state = lost | head
        return before, _before_exit(body, _in_turn(tail, self.temporary))

    def heads(self, changing: set[Location]) -> list[Any]:
        """Put objects in the place of those that a loop changes; gives the copies of their attributes before it."""
        before: list[Any] = []
        entry = dict(self.state)
        for location in [location for location in entry if location in changing]:
            self.state[location] = self.head_of(entry[location], location, entry, before)
        return before

    def head_of(self, old: Made, location: Location, entry: dict[Location, Any], before: list[Any]) -> Any:
        if len(before) > MOST:
            return UNSURE
        new = self.make(old.cls, meeting=True)
        for attr in fields(entry, old):
            value = entry[old, attr]
            if value is VALUE:
                name = self.variable(new, attr, _hint(location))
                before.append(core.assign(name, old.variables[attr], None))
            elif isinstance(value, Made):
                value = self.head_of(value, (new, attr), entry, before)
            self.state[new, attr] = value
        return new

    def carry(self, old: Any, new: Any, head: dict[Location, Any], tail: list[Any]) -> bool:
        """Add the copies that make the object at a loop's head that at its end; False if these are not alike."""
        if not isinstance(old, Made) or not isinstance(new, Made) or old.cls is not new.cls:
            return False
        if set(fields(head, old)) != set(fields(self.state, new)):
            return False
        for attr in fields(head, old):
            a, b = head[old, attr], self.state[new, attr]
            if a is UNSURE:
                continue
            if isinstance(a, Made):
                if not self.carry(a, b, head, tail):
                    return False
            elif a is not b:
                return False
            elif a is VALUE and old is not new:
                tail.append(core.assign(old.variables[attr], new.variables[attr], None))
        return True


def apart(one: Made, other: Made) -> bool:
    """Whether two objects are surely not the same one."""
    if one is other:
        return False
    if not one.meeting and not other.meeting:
        return True
    if one.sites and other.sites and one.sites.isdisjoint(other.sites):
        return True
    if one.meeting and other.meeting:
        return False
    met, plain = (one, other) if one.meeting else (other, one)
    return plain.number > met.number


def is_loadable(location: Location) -> bool:
    """Whether an attribute can be read from an argument."""
    return isinstance(location, tuple) and bool(location[0].real) and location[1] in location[0].given


def load(location: Any) -> Any:
    """The read of an attribute of an argument, into the variable that stands for it."""
    made, attr = location
    return core.aside(core.assign(made.variables[attr], core.attribute(made.real, attr), None))


def fields(state: dict[Location, Any], made: Made) -> list[str]:
    """The attributes that an object has in some state."""
    return [location[1] for location in state if isinstance(location, tuple) and location[0] is made]


def _hint(location: Location) -> str:
    return core.stem(location if isinstance(location, str) else location[1])


def _in_turn(copies: list[Any], temporary: Callable[[str], str]) -> list[Any]:
    """Copies that happen all at once, as statements in turn: what is overwritten too early is held."""
    written = {name for copy in copies for name in core.writes(copy)}
    held: list[Any] = []
    new: list[Any] = []
    for copy in copies:
        source = copy.value.id
        if source in written:
            name = temporary(core.stem(source))
            held.append(core.assign(name, source, None))
            copy = core.rebuilt(copy, value=core.name(name))
        new.append(copy)
    return [*held, *new]


def _before_exit(body: list[Any], stmts: list[Any]) -> list[Any]:
    return [*body[:-1], *stmts, body[-1]] if body and core.is_exit(body[-1]) else [*body, *stmts]
