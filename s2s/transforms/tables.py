"""Functions in tuples, lists and dicts: loops over them are unrolled, items that are called become branches.

    for f in (np.sin, g):                   f = np.sin
        s += f(x)               ->          s += f(x)
                                            f = g
                                            s += f(x)

    h = {"a": f, "b": g}[key]               if key == "a":
    y = h(x)                    ->              y = f(x)
                                            else:
                                                y = g(x)

`inline` asks for each statement, as it goes through a program. A display is known as long as nothing but reads of it
and other names see it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import gast

from s2s import core
from s2s import kinds as K
from s2s.transforms.spread import exposes
from s2s.transforms.structure import blocks, copied, duplicate, like, statements, uses

if TYPE_CHECKING:
    from s2s.transforms.inline import _Inliner

# A loop is unrolled into so many rounds, and so many statements, at most.
ROUNDS = 16
STATEMENTS = 400

_DISPLAYS = (gast.Tuple, gast.List, gast.Dict)
_VIEWS = ("items", "keys", "values")


class Tables:
    """The displays that are known at one place of a program, as far as functions are in them.

    known: displays by name. rows: what a loop over a name goes through. chosen: by the name of an item that is found
    when the program runs, the display and the name of the key. given: the names that rounds give other functions.
    iterators: names of what only gives rows.
    """

    def __init__(self, run: _Inliner) -> None:
        self.run = run
        self.known: dict[str, Any] = {}
        self.rows: dict[str, list[Any]] = {}
        self.chosen: dict[str, tuple[Any, str]] = {}
        self.given: set[str] = set()
        self.iterators: set[str] = set()

    def state(self) -> tuple[dict[str, Any], ...]:
        return dict(self.known), dict(self.rows), dict(self.chosen)

    def restore(self, state: tuple[dict[str, Any], ...]) -> None:
        self.known, self.rows, self.chosen = state

    # --- what is known

    def learn(self, stmt: Any) -> None:
        """Take note of what a statement, which stays, makes known."""
        self.forget(stmt)
        target = stmt.targets[0] if isinstance(stmt, gast.Assign) else None
        if not isinstance(target, gast.Name) or target.id in core.reads(stmt.value):
            return
        value = stmt.value
        if isinstance(value, gast.Name) and value.id in self.known:
            self.known[target.id] = self.known[value.id]
        elif isinstance(value, gast.Name) and value.id in self.rows:
            self.rows[target.id] = self.rows[value.id]
        elif isinstance(value, _DISPLAYS) and _is_plain(value):
            self.known[target.id] = value
        elif isinstance(value, gast.Call):
            rows = self.rows_of(value)
            functions = rows is not None and any(map(self.has_function, rows))
            if rows is not None and (functions or self.run.objects.tracks):
                self.rows[target.id] = rows
            if functions:
                self.iterators.add(target.id)

    def forget(self, stmt: Any) -> None:
        """What a statement changes, or lets others change, is not known any more."""
        if not (self.known or self.rows or self.chosen):
            return
        written = {*core.all_writes(stmt), *self.run.displays.rebound_in(stmt)}
        inner = statements([stmt])
        open = [
            display for name, display in self.known.items()
            if not isinstance(display, gast.Tuple) and any(_exposes(s, name) for s in inner)
        ]  # fmt: skip

        def stays(name: str, *nodes: Any) -> bool:
            return name not in written and written.isdisjoint(core.reads(list(nodes)))

        self.known = {n: d for n, d in self.known.items() if stays(n, d) and not any(d is other for other in open)}
        self.rows = {n: rows for n, rows in self.rows.items() if stays(n, *rows)}
        self.chosen = {n: (display, key) for n, (display, key) in self.chosen.items() if stays(n, display)}

    def holds(self, node: Any) -> bool:
        """Whether an item is a function that is known, or a display of such."""
        if not isinstance(node, gast.Name):
            return False
        found = self.run.object(node)
        nested = node.id in self.known and self.has_function(self.known[node.id])
        return nested or isinstance(found, gast.FunctionDef) or callable(found)

    def has_function(self, display: Any) -> bool:
        return any(map(self.holds, _items(display)))

    def display(self, node: Any) -> Any:
        return self.known.get(node.id) if isinstance(node, gast.Name) else None

    def rows_of(self, call: Any) -> list[Any] | None:
        """What a loop over `zip(...)`, `enumerate(...)` or `d.items()` gives, for known displays."""
        if call.keywords or any(isinstance(a, gast.Starred) for a in call.args):
            return None
        if isinstance(call.func, gast.Attribute):
            owner = self.display(call.func.value)
            if not isinstance(owner, gast.Dict) or call.args or call.func.attr not in _VIEWS:
                return None
            pairs = [gast.Tuple([k, v], gast.Load()) for k, v in zip(owner.keys, owner.values)]
            return {"items": pairs, "keys": list(owner.keys), "values": list(owner.values)}[call.func.attr]
        function = self.run.object(call.func)
        if function is range:
            bounds: list[Any] = [a.value if isinstance(a, gast.Constant) else None for a in call.args]
            if bounds and all(type(b) is int for b in bounds) and len(range(*bounds)) <= ROUNDS:
                return [core.constant(i) for i in range(*bounds)]
            return None
        parts = [self.display(a) for a in call.args]
        if not parts or not all(isinstance(p, (gast.Tuple, gast.List)) for p in parts):
            return None
        if function is zip:
            return [gast.Tuple(list(row), gast.Load()) for row in zip(*(p.elts for p in parts))]
        if function is enumerate and len(parts) == 1:
            return [gast.Tuple([core.constant(i), e], gast.Load()) for i, e in enumerate(parts[0].elts)]
        return None

    # --- what takes the place of a statement

    def statement(self, stmt: Any) -> list[Any] | None:
        """The statements that one amounts to, which are to be gone through in turn; None where it stays."""
        if not (self.known or self.rows or self.chosen or self.given):
            return None
        if isinstance(stmt, gast.For):
            rows = self.rows.get(stmt.iter.id) if isinstance(stmt.iter, gast.Name) else None
            rows = rows if rows is not None and any(map(self.has_function, rows)) else None
            display = self.display(stmt.iter)
            if display is not None and self.has_function(display):
                rows = list(_items(display, loop=True))
            return None if rows is None else self.unrolled(stmt, rows)
        if not isinstance(stmt, (gast.Assign, gast.Expr)):
            return None
        value, target = stmt.value, stmt.targets[0] if isinstance(stmt, gast.Assign) else None
        parts: list[Any] = getattr(self.display(value), "elts", [])
        if isinstance(target, gast.Tuple) and len(parts) == len(target.elts) and any(map(self.holds, parts)):
            if all(isinstance(t, gast.Name) for t in target.elts):
                self.given.update(core.writes(stmt))
                return [core.rebuilt(stmt, targets=[t], value=part) for t, part in zip(target.elts, parts)]
        if isinstance(target, gast.Name) and isinstance(value, gast.Subscript):
            return self.item(stmt, target.id, value)
        called = value.func.id if isinstance(value, gast.Call) and isinstance(value.func, gast.Name) else ""
        if called in self.chosen:
            return self.branches(stmt, *self.chosen[called])
        known: Any = self.run.known.get(called) if called in self.given else None
        if K.is_static(known) and hasattr(known, "__name__"):
            named = self.run.importer.bind(
                known.__name__, known
            )  # the name itself means something else in other rounds
            return [core.rebuilt(stmt, value=core.rebuilt(value, func=core.name(named)))]
        return None

    def unrolled(self, stmt: Any, rows: Sequence[Any]) -> list[Any] | None:
        """A loop, round by round; what leaves it is asked before each next one."""
        written = {*core.all_writes(stmt), *self.run.displays.rebound_in(stmt)}
        if not written.isdisjoint(core.reads(list(rows))):
            return None
        self.given.add(stmt.target.id)
        return self.in_rounds(stmt, [[like(core.assign(stmt.target.id, row, None), stmt)] for row in rows])

    def in_rounds(self, stmt: Any, starts: Sequence[list[Any]]) -> list[Any] | None:
        """A loop, round by round, each of which begins with some statements."""
        if len(starts) > ROUNDS or len(starts) * len(statements(stmt.body)) > STATEMENTS:
            return None
        *body, last = stmt.body
        body, leave = (body, last) if core.is_exit(last) else (stmt.body, None)
        new: list[Any] = []
        for start in reversed(starts):
            rest = new
            if rest and leave is not None:
                rest = self.unless(leave.test, rest, stmt)
            new = [*start, *duplicate(body), *rest]
        return new

    def item(self, stmt: Any, target: str, value: Any) -> list[Any] | None:
        """An item of a known display: itself, or one of several functions."""
        display, key = self.display(value.value), value.slice
        if display is None or not core.is_atom(key) or not self.has_function(display):
            return None
        if isinstance(key, gast.Constant):
            found = _item(display, key.value)
            return None if found is None else [core.rebuilt(stmt, value=found)]
        if not all(map(self.holds, _items(display))) or any(self.display(e) is not None for e in _items(display)):
            return None
        held = self.run.temporary("key")
        self.run.forget(stmt)
        self.chosen[target] = display, held
        return [like(core.assign(held, key, None), stmt), *self.checked(stmt, display, held)]

    def checked(self, stmt: Any, display: Any, key: str) -> list[Any]:
        """What raises where a display has no such item."""
        by_name = isinstance(display, gast.Dict)
        count = 0 if by_name else len(display.elts)
        keys = display.keys if by_name else [core.constant(i) for i in range(-count, count)]
        error = KeyError if by_name else IndexError
        what = core.name(key) if by_name else core.constant(f"{_word(display)} index out of range")
        allowed, there, raised = (self.run.temporary(hint) for hint in ("keys", "cond", "error"))
        made = core.call(self.run.importer.bind(error.__name__, error), what)
        failing = [like(core.assign(raised, made, None), stmt), like(gast.Raise(core.name(raised), None), stmt)]
        test = gast.Compare(core.name(key), [gast.In()], [core.name(allowed)])
        return [
            like(core.assign(allowed, gast.Tuple(list(keys), gast.Load()), None), stmt),
            like(core.assign(there, test, None), stmt),
            *self.unless(core.name(there), failing, stmt),
        ]

    def unless(self, test: Any, block: list[Any], model: Any) -> list[Any]:
        cond = self.run.temporary("cond")
        negated = like(core.assign(cond, gast.UnaryOp(gast.Not(), test), None), model)
        return [negated, like(gast.If(core.name(cond), block, []), model)]

    def branches(self, stmt: Any, display: Any, key: str) -> list[Any]:
        """A call of one of several functions."""
        *items, last = _items(display)
        count = 1 + len(items)
        new = [core.rebuilt(stmt, value=core.rebuilt(stmt.value, func=last))]
        for position in reversed(range(len(items))):
            cond, wanted = self.run.temporary("cond"), self.run.temporary("keys")
            if isinstance(display, gast.Dict):
                keys = [display.keys[position]]
            else:
                keys = [core.constant(position), core.constant(position - count)]
            called = core.rebuilt(stmt, value=core.rebuilt(stmt.value, func=items[position]))
            test = gast.Compare(core.name(key), [gast.In()], [core.name(wanted)])
            new = [
                like(core.assign(wanted, gast.Tuple(keys, gast.Load()), None), stmt),
                like(core.assign(cond, test, None), stmt),
                like(gast.If(core.name(cond), [called], new), stmt),
            ]
        return new


def _is_plain(display: Any) -> bool:
    """Whether all items of a display stand there, under keys that are known."""
    if isinstance(display, gast.Dict):
        keys = [k.value if isinstance(k, gast.Constant) else None for k in display.keys]
        return all(isinstance(k, (str, int)) for k in keys) and len(set(keys)) == len(keys)
    return not any(isinstance(e, gast.Starred) for e in display.elts)


def _items(display: Any, loop: bool = False) -> Iterator[Any]:
    """The items of a display; of a dict, its values, or what a loop over it gives."""
    if isinstance(display, gast.Dict):
        yield from display.keys if loop else display.values
    elif isinstance(display, (gast.Tuple, gast.List)):
        yield from display.elts
    else:
        yield display


def _item(display: Any, key: Any) -> Any:
    if isinstance(display, gast.Dict):
        return next((v for k, v in zip(display.keys, display.values) if k.value == key), None)
    there = type(key) is int and -len(display.elts) <= key < len(display.elts)
    return display.elts[key] if there else None


def _exposes(stmt: Any, name: str) -> bool:
    """Whether a statement does more with a display than to read it, to loop over it, or to give it another name."""
    if copied(stmt) is not None or (isinstance(stmt, gast.For) and name not in core.reads(stmt.body)):
        return False
    if isinstance(stmt, gast.FunctionDef):
        return name in uses(stmt)
    value = getattr(stmt, "value", None)
    shows = isinstance(value, _DISPLAYS) or (isinstance(value, gast.Call) and not blocks(stmt) and _reads(value, name))
    return not shows and not blocks(stmt) and exposes(stmt, name)


def _reads(call: Any, name: str) -> bool:
    """Whether a call is `zip(...)` or `enumerate(...)`, under these names, of a name."""
    return isinstance(call.func, gast.Name) and call.func.id in ("zip", "enumerate", "len") and name in core.reads(call)


def _word(display: Any) -> str:
    return "list" if isinstance(display, gast.List) else "tuple"
