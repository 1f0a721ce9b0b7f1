"""Objects in lists: a list of objects of one class becomes a list for each attribute, an object in it a row of these.

    ps.append(Point(x, y))          ps_x.append(x); ps_y.append(y)
    for p in ps: p.x *= 2           for k in range(len(ps_x)): ps_x[k] *= 2

A row is read and written where it is, so that two names of it agree whatever happens. Whether a list is to hold objects
is known when the first one is put in, which is too late: `Listing` makes the walk begin anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gast

from s2s import core
from s2s.transforms import classes as C
from s2s.transforms.heap import VALUE, Made, fields
from s2s.transforms.references import References


@dataclass(frozen=True, eq=False)
class Listed:
    """The class of a list of objects."""

    cls: Any
    attrs: tuple[str, ...]

    @property
    def __name__(self) -> str:
        return f"list of {self.cls.__name__}"


@dataclass(frozen=True, eq=False)
class Row:
    """An object in a list: `index` is a number, or a name that is not assigned again while the row is in sight."""

    whole: Made
    index: str | int

    @property
    def cls(self) -> Any:
        return self.whole.cls.cls


class Listing(Exception):
    """A name holds a list of objects."""

    def __init__(self, name: str, listed: Listed) -> None:
        super().__init__(name)
        self.name = name
        self.listed = listed


class Rows(References):
    """What is done with lists of objects."""

    def listed(self, node: Any) -> Made | None:
        """The list of objects that an atom means."""
        made = self.made(node)
        return made if made is not None and isinstance(made.cls, Listed) else None

    def columns(self, listed: Made) -> list[str]:
        return [listed.variables[attr] for attr in listed.cls.attrs]

    def length(self, listed: Made) -> Any:
        return core.call(self.host.value("len", len), core.name(self.columns(listed)[0]))

    def discovered(self, name: str, made: Made) -> None:
        """A list under a name is found to hold an object: begin anew, if that can be known from the start."""
        attrs = tuple(fields(self.state, made))
        plain = bool(attrs) and all(self.state[made, attr] is VALUE for attr in attrs)
        if name in self.listings or not plain or not C.makes_records(made.cls) or isinstance(made.cls, Listed):
            raise self.escape("an object is put into a list", made)
        raise Listing(name, Listed(made.cls, attrs))

    def new_list(self, name: str, display: Any) -> list[Any]:
        """`ps = [...]` of what is known to hold objects."""
        listed = self.heap.make(self.listings[name], hint=self.hint_of(name))
        statements: list[Any] = []
        for attr in listed.cls.attrs:
            column = self.heap.variable(listed, attr, "")
            statements.append(self.new(column, gast.List([], gast.Load())))
            self.state[listed, attr] = VALUE
        if name in core.reads(display):
            raise self.escape("a list of objects is made of itself", listed)
        self.state[name] = listed
        self.names.add(name)
        put_in = (gast.Call(core.attribute(name, "append"), [item], []) for item in display.elts)
        return [*statements, *(core.place(gast.Expr(call), self.origin) for call in put_in)]

    def hint_of(self, name: str) -> str:
        return self.listings[name].cls.__name__.lower() if core.is_temporary(name) else core.stem(name)

    def append(self, listed: Made, item: Any, before: list[Any]) -> Any:
        """`ps.append(p)`: p is a row from now on."""
        made = self.made(item)
        if made is None or made.cls is not listed.cls.cls or set(fields(self.state, made)) != {*listed.cls.attrs}:
            raise self.escape("a list of objects that are not alike", listed, made)
        alike = all(self.state[made, attr] is VALUE for attr in listed.cls.attrs)
        if not alike or any(self.heap.aliases(made)) or any(self.heap.aliases(listed)):
            raise self.escape("an object that may be another one is put into a list", listed, made)
        index = self.host.temporary("row")
        before.append(self.new(index, self.length(listed)))
        for attr, column in zip(listed.cls.attrs, self.columns(listed)):
            call = gast.Call(core.attribute(column, "append"), [core.name(made.variables[attr])], [])
            before.append(core.place(gast.Expr(call), self.origin))
        row = Row(listed, index)
        for location, held in list(self.state.items()):
            if held is made:
                self.state[location] = row
        self.grown.append(listed)
        return core.constant(None)

    def row(self, listed: Made, index: Any, before: list[Any]) -> Any:
        """`ps[i]`."""
        if not isinstance(index, (gast.Name, gast.Constant)):
            raise self.escape("a slice of a list of objects", listed)
        name: str | int = self.host.temporary("row")
        number = index.value if isinstance(index, gast.Constant) else None
        if type(number) is int and number >= 0:
            # The first column is read for the error of an index that is out of range.
            before.append(self.new(name, core.subscript(self.columns(listed)[0], index)))
            name = number
        elif isinstance(index, gast.Name) and index.id in self.counters:
            before.append(self.new(name, index))
        else:  # negative indices count from the end that the list has now
            whole, length = self.host.temporary("rows"), self.host.temporary("length")
            before.append(self.new(length, self.length(listed)))
            before.append(self.new(whole, core.call(self.host.value("range", range), core.name(length))))
            before.append(self.new(name, core.subscript(whole, index)))
        held = self.host.temporary("item")
        self.state[held] = Row(listed, name)
        return core.name(held)

    def loop_over(self, stmt: Any, listed: Made) -> list[Any]:
        """`for p in ps`."""
        length, over, counter = (self.host.temporary(hint) for hint in ("length", "rows", "row"))
        self.counters.add(counter)
        first = core.place(
            gast.Assign([stmt.target], core.subscript(stmt.iter, core.name(counter)), None), core.origin_of(stmt)
        )
        loop = core.rebuilt(stmt, target=core.name(counter, gast.Store), iter=core.name(over), body=[first, *stmt.body])
        self.over.append((loop, listed))
        return [
            self.new(length, self.length(listed)),
            self.new(over, core.call(self.host.value("range", range), core.name(length))),
            loop,
        ]

    def cell(self, row: Row, attr: str, ctx: type = gast.Load) -> Any:
        """The place of an attribute of a row; None where it has none of this name."""
        if attr not in row.whole.cls.attrs:
            return None
        return core.subscript(row.whole.variables[attr], core.atom(row.index), ctx)

    def same_row(self, one: Row, other: Row) -> Any:
        """Whether two rows are one object."""
        if one.whole is not other.whole:
            if any(whole is other.whole for whole in self.heap.aliases(one.whole)):
                raise self.escape("whether an object in a list is another one", one, other)
            return core.constant(False)
        return gast.Compare(core.atom(one.index), [gast.Eq()], [core.atom(other.index)])

    def check_growth(self, stmt: Any, before: int) -> None:
        """A list of objects that grows while a loop goes over it."""
        for loop, listed in self.over:
            if loop is stmt and any(grown is listed for grown in self.grown[before:]):
                raise self.escape("a list of objects grows in a loop over it", listed)
