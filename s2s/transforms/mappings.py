"""Dicts that a function makes, with keys that are known: each item is a variable, as the attributes of objects are.

    d = {"a": x, "b": y}                d_a = x; d_b = y
    d["c"] = d.pop("a") * 2             d_c = d_a * 2                       the keys are b, c from now on
    for k, v in d.items(): f(k, v)      f("b", d_b); f("c", d_c)

So nothing has to be known of the order of writes, of two names of one dict, or of dicts in dicts, but what `heap.py`
knows of objects. Arguments that are dicts are taken apart at the start, if something is done with them that needs it.
A dict that is used as a whole, or under keys that are found when the program runs, `Escapes`: the displays that it may
come from are left alone then. `dicts.py` has the expressions.

That begins with the first statement that needs it (`Tracking`): dicts that are only read are seen to by later passes.
"""

from __future__ import annotations

import copy
import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gast

from s2s import core
from s2s import kinds as K
from s2s.core import MISSING
from s2s.transforms.heap import VALUE, Made
from s2s.transforms.keys import Keys
from s2s.transforms.making import Making
from s2s.transforms.structure import statements


class _Location:
    """The location of the keys of a dict, in order, beside its items: no key of the user's."""


KEYS: Any = _Location()
SOME_WAYS = "a dict has some keys on some paths only"
_KEY_TYPES = (str, int, bool, type(None))
# Displays of dicts that are left alone in one function: from then on, all are.
MOST = 6
_CHANGING = frozenset({"update", "setdefault", "pop", "popitem", "clear", "copy"})


@dataclass(frozen=True)
class Site:
    """Where a dict is made; `dict` itself stands for everywhere."""

    file: str
    line: int
    column: int
    name: str = ""


class Tracking(Exception):
    """Something is done with a dict for which its items have to be variables."""


@dataclass(frozen=True, eq=False)
class View:
    """`d.items()`, `d.keys()`, `d.values()`."""

    made: Made
    what: str

    @property
    def cls(self) -> Any:
        return self.made.cls


def left_alone(sites: Sequence[Site], opaque: Sequence[Any]) -> list[Any]:
    """What is to be left alone beside what is so already; all dicts, once there are many of them."""
    new = [site for site in dict.fromkeys(sites) if site not in opaque and dict not in opaque]
    many = len(new) + sum(isinstance(known, Site) for known in opaque) > MOST
    return [*new, dict] if new and many else list(new)


class Mappings(Making):
    """What is done with dicts.

    tracks: whether the items of dicts are variables.
    """

    tracks = False
    dicts_seen = False

    # --- which dicts there are ---

    def mapping(self, node: Any) -> Made | None:
        """The dict that an atom means, if its items are variables."""
        made = self.made(node)
        return made if made is not None and made.cls is dict else None

    def view(self, node: Any) -> View | None:
        found = self.state.get(node.id) if isinstance(node, gast.Name) else None
        return found if isinstance(found, View) else None

    def take_arguments_apart(self, kinds: Mapping[str, K.Kind]) -> list[Any]:
        """The items of arguments that are dicts, in variables."""
        before: list[Any] = []
        self.dicts_seen = any(isinstance(kind, K.Dict) for kind in kinds.values())
        for name, kind in kinds.items():
            site = Site("", 0, 0, name)
            if self.tracks and isinstance(kind, K.Dict) and site not in self.opaque and dict not in self.opaque:
                self.state[name] = self.taken_apart(core.name(name), kind, name, site, before)
                self.names.add(name)
        return before

    def taken_apart(self, node: Any, kind: K.Dict, hint: str, site: Site, before: list[Any]) -> Made:
        made = self.heap.make(dict, hint=hint)
        made.sites = frozenset({site})
        self.seen.append(site)
        for key, item in kind.items:
            name = self.variable_of(made, key)
            before.append(core.assign(name, core.subscript(node, core.constant(key)), self.origin))
            self.kinds[name] = item
            if isinstance(item, K.Dict):
                self.state[made, key] = self.taken_apart(core.name(name), item, core.stem(name), site, before)
            else:
                self.state[made, key] = VALUE
        self.set_keys(made, functools.reduce(Keys.added, (key for key, _ in kind.items), Keys()))
        return made

    def new_dict(self, items: Sequence[tuple[Any, Any]], before: list[Any]) -> Any:
        """A name of a new dict, None where its items are to stay in it."""
        site = self.site()
        if any(known == site or known is dict for known in self.opaque) or any(self.is_function(v) for _, v in items):
            return None
        made = self.made_of(dict)
        made.sites = frozenset({site})
        self.seen.append(site)
        name = self.host.temporary("made")
        self.state[name] = made
        self.set_keys(made, Keys())
        for key, value in items:
            before.extend(self.put(made, key, value))
        return core.name(name)

    def site(self) -> Site:
        origin = self.origin
        return Site("", 0, 0) if origin is None else Site(origin.file, origin.line, origin.column)

    def is_function(self, node: Any) -> bool:
        found = self.host.object(node) if isinstance(node, gast.Name) else None
        return isinstance(found, gast.FunctionDef) or callable(found)

    # --- their items ---

    def set_keys(self, made: Made, keys: Keys) -> None:
        self.state[made, KEYS] = self.heap.same(keys)

    def keys_at(self, made: Made) -> Keys:
        found = self.state.get((made, KEYS))
        if not isinstance(found, Keys):
            raise self.escape(SOME_WAYS, made)
        return found

    def known_keys(self, made: Made) -> tuple[Any, ...]:
        """All keys, in order."""
        found = self.keys_at(made)
        if not found.ordered:
            raise self.escape(SOME_WAYS, made)
        return found.sure

    def has(self, made: Made, key: Any) -> bool:
        """Whether a key is there."""
        found = self.keys_at(made).has(key)
        if found is None:
            raise self.escape(SOME_WAYS, made)
        return found

    def constant(self, node: Any) -> Any:
        """The value of a key that is known, else MISSING."""
        if isinstance(node, gast.Constant):
            return node.value if isinstance(node.value, _KEY_TYPES) else MISSING
        kind = self.kind(node)
        if isinstance(kind, (K.Str, K.Int, K.Bool)) and kind.value is not None:
            return kind.value
        return MISSING

    def key(self, made: Made, node: Any) -> Any:
        found = self.constant(node)
        if found is MISSING:
            raise self.escape("a dict is used under a key that is not known when compiling", made)
        return found

    def variable_of(self, made: Made, key: Any) -> str:
        if key not in made.variables:
            stem = re.sub(r"\W", "_", str(key)) or "item"
            made.variables[key] = self.heap.fresh(f"{made.hint or 'item'}_{stem}")
        return made.variables[key]

    def put(self, made: Made, key: Any, value: Any) -> list[Any]:
        """The statements of `d[key] = value`."""
        self.variable_of(made, key)
        self.check_written(made)
        keys = self.keys_at(made)
        new = self.store(made, key, value, made.hint)
        self.set_keys(made, keys.added(key))
        return new

    def check_written(self, made: Made) -> None:
        """Two arguments, or two items of one, may be one dict."""
        if any(site.name for site in made.sites) or not made.sites:
            raise self.escape("a dict is written into that may be an argument, or held by one", made)

    def removed(self, made: Made, key: Any) -> None:
        self.check_written(made)
        for other in self.heap.aliases(made):
            raise self.escape("an item is deleted of what may be one dict or another", made, other)
        self.state.pop((made, key), None)
        self.set_keys(made, self.keys_at(made).without(key))

    def items_of(self, node: Any, before: list[Any]) -> list[tuple[Any, Any]] | None:
        """The keys and items of a dict, as atoms, as they are now; None for what is no such dict."""
        made = self.mapping(node)
        if made is None:
            return None
        held = []
        for key in self.known_keys(made):
            atom = self.item(made, key)
            if self.made(atom) is None:  # the variable may be assigned before the item is stored elsewhere
                name = self.host.temporary("item")
                before.append(self.new(name, atom))
                atom = core.name(name)
            held.append((key, atom))
        return held

    # --- statements ---

    def of_mapping(self, stmt: Any) -> list[Any] | None:
        """What takes the place of a statement that changes a dict, or goes through one; None for others."""
        if not self.tracks:
            self.dicts_seen = self.dicts_seen or isinstance(getattr(stmt, "value", None), gast.Dict)
            if self.wants(stmt):
                raise Tracking
            return None
        if isinstance(stmt, gast.Assign) and isinstance(stmt.targets[0], gast.Subscript):
            made = self.mapping(stmt.targets[0].value)
            return None if made is None else self.put(made, self.key(made, stmt.targets[0].slice), stmt.value)
        if isinstance(stmt, gast.Delete) and isinstance(stmt.targets[0], gast.Subscript):
            made = self.mapping(stmt.targets[0].value)
            if made is None:
                return None
            key = self.key(made, stmt.targets[0].slice)
            if not self.has(made, key):
                raise self.escape("a key is deleted that is not there", made)
            self.removed(made, key)
            return []
        if isinstance(stmt, gast.For):
            return self.rounds(stmt)
        return None

    def wants(self, stmt: Any) -> bool:
        """Whether a statement may be one for which items of dicts have to be variables."""
        there = self.dicts_seen
        value = getattr(stmt, "value", None)
        if isinstance(stmt, gast.Assign) and isinstance(value, gast.Dict) and (None in value.keys or not value.keys):
            return True
        if isinstance(value, gast.Call):
            func = value.func
            if isinstance(func, gast.Attribute) and func.attr in _CHANGING:
                return there
            function = self.host.object(func) if isinstance(func, (gast.Name, gast.Attribute)) else None
            return (function is dict and (there or bool(value.keywords))) or (function is copy.copy and there)
        if isinstance(stmt, gast.Delete):
            return there and isinstance(stmt.targets[0], gast.Subscript)
        target = stmt.targets[0] if isinstance(stmt, gast.Assign) else getattr(stmt, "target", None)
        return there and isinstance(target, gast.Subscript) and isinstance(getattr(target.slice, "value", None), str)

    def rounds(self, stmt: Any) -> list[Any] | None:
        """A loop over a dict, or over what is known, whose rounds use dicts under other keys: round by round."""
        rows = self.rows(stmt.iter)
        if rows is None and self.uses_keys(stmt):
            rows = self.known_rows(stmt.iter)
        if rows is None:
            if self.mapping(stmt.iter) is not None or self.view(stmt.iter) is not None:
                raise self.escape("a loop over a dict", self.made(stmt.iter) or self.view(stmt.iter))
            return None
        starts = [[*before, self.new(stmt.target.id, atom)] for before, atom in rows]
        new: list[Any] | None = self.host.tables.in_rounds(stmt, starts)
        if new is None:
            raise self.escape("a loop over a dict is too long", self.made(stmt.iter) or self.view(stmt.iter))
        return new

    def uses_keys(self, loop: Any) -> bool:
        """Whether a loop may use dicts under keys that are others in each round."""

        def uses(stmt: Any) -> bool:
            value = getattr(stmt, "value", None)
            owner: Any = None
            key: Any = None
            for place in (value, *(stmt.targets if isinstance(stmt, (gast.Assign, gast.Delete)) else ())):
                if isinstance(place, gast.Subscript):
                    owner, key = place.value, place.slice
                    if isinstance(key, gast.Name) and self.mapping(owner) is not None:
                        return True
            if isinstance(value, gast.Call) and isinstance(value.func, gast.Attribute) and value.args:
                return isinstance(value.args[0], gast.Name) and self.mapping(value.func.value) is not None
            return False

        return any(map(uses, statements(loop.body)))

    def known_rows(self, node: Any) -> list[tuple[list[Any], Any]] | None:
        """What a loop over a display, or `zip`, `enumerate` or `range` of what is known, gives."""
        tables = self.host.tables
        if not isinstance(node, gast.Name):
            return None
        display = tables.known.get(node.id)
        found = tables.rows.get(node.id) if display is None else getattr(display, "elts", None)
        if found is None:
            return None
        if display is None:
            tables.iterators.add(node.id)
        made = []
        for row in found:
            before: list[Any] = []
            made.append((before, self.row_as_object(row, before)))
        return made

    def row_as_object(self, row: Any, before: list[Any]) -> Any:
        """A row as an atom; of a tuple, with its items in variables."""
        known = self.host.tables.known.get(row.id) if isinstance(row, gast.Name) else None
        display = known if isinstance(known, gast.Tuple) else row
        if not isinstance(display, gast.Tuple):
            return row
        items = {str(i): self.row_as_object(e, before) for i, e in enumerate(display.elts)}
        return self.record(tuple, items, before)

    def rows(self, node: Any) -> list[tuple[list[Any], Any]] | None:
        """What a loop over a dict or one of its views gives: for each round statements, and an atom."""
        made, view = self.mapping(node), self.view(node)
        if view is not None:
            made = view.made
        elif made is None:
            return self.parts(node)
        what = "keys" if view is None else view.what
        return [self.row_of(made, key, what) for key in self.known_keys(made)]

    def parts(self, node: Any) -> list[tuple[list[Any], Any]] | None:
        """What a loop over a tuple or list with dicts in it gives."""
        made = self.made(node)
        if made is None or made.cls not in (tuple, list):
            return None
        held = [self.state.get((made, key)) for key in self.keys(made)]
        if not any(isinstance(part, Made) and part.cls is dict for part in held):
            return None
        return [([], self.item(made, key)) for key in self.keys(made)]

    def row_of(self, made: Made, key: Any, what: str) -> tuple[list[Any], Any]:
        owner, before = self.host.temporary("made"), list[Any]()
        self.state[owner] = made
        if what == "keys":
            return before, core.constant(key)
        held = self.host.temporary("item")
        read = self.new(held, core.subscript(owner, core.constant(key)))
        if what == "values":
            return [read], core.name(held)
        pair = self.host.temporary("pair")
        whole = self.heap.make(tuple, hint="pair")
        whole.variables |= {"0": self.heap.fresh("key"), "1": held}
        self.state[whole, "0"], self.state[whole, "1"] = VALUE, VALUE
        self.state[pair] = whole
        return [self.new(whole.variables["0"], core.constant(key)), read], core.name(pair)
