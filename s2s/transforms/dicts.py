"""Expressions with dicts whose items are variables (`mappings.py`): displays, methods, copies, `in`."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import gast

from s2s import core
from s2s.core import MISSING
from s2s.runtime.patterns import is_mapping, is_sequence
from s2s.transforms.heap import VALUE, Made
from s2s.transforms.mappings import Mappings, View


class Dicts(Mappings):
    """What takes the place of an expression with a dict."""

    # --- expressions ---

    def of_Dict(self, node: Any, before: list[Any], place: Any) -> Any:
        if not self.tracks:
            return None
        items: list[tuple[Any, Any]] = []
        for key, value in zip(node.keys, node.values):
            if key is None:
                inner = self.items_of(value, before)
                if inner is None:
                    return None
                items += inner
                continue
            known = self.constant(key)
            if known is MISSING:
                return None
            items.append((known, value))
        return self.new_dict(items, before)

    def of_call_on_mapping(self, node: Any, before: list[Any]) -> Any:
        """A method of a dict, or a function that is called with one; None for others."""
        if not self.tracks:
            return None
        if isinstance(node.func, gast.Attribute) and self.mapping(node.func.value) is not None:
            return self.of_dict_method(self.mapping(node.func.value), node, before)
        path = isinstance(node.func, (gast.Name, gast.Attribute))
        function = self.host.object(node.func) if path else None
        if function in (is_mapping, is_sequence) and self.mapping(node.args[0]) is not None:
            return core.constant(function is is_mapping)
        if function is copy.copy and len(node.args) == 1 and self.mapping(node.args[0]) is not None:
            return self.copied(self.mapping(node.args[0]), node, before)
        if function is dict and len(node.args) <= 1:
            items = self.items_of(node.args[0], before) if node.args else []
            more = self.keyword_items(node.keywords, before)
            return None if items is None or more is None else self.new_dict([*items, *more], before)
        spread = [k for k in node.keywords if k.arg is None and self.mapping(k.value) is not None]
        if spread:
            keywords = self.keyword_items(node.keywords, before)
            if keywords is not None and all(isinstance(key, str) for key, _ in keywords):
                return core.rebuilt(node, keywords=[gast.keyword(key, value) for key, value in keywords])
        views = [a for a in node.args if self.view(a) is not None or self.mapping(a) is not None]
        if views and function in TAKING:
            return core.rebuilt(node, args=[self.displayed(a, before) for a in node.args])
        return None

    def pair(self, made: Made, key: Any, before: list[Any]) -> Any:
        """A tuple of a key and its item, as it is now."""
        name = self.host.temporary("pair")
        before.append(self.new(name, gast.Tuple([core.constant(key), self.item(made, key)], gast.Load())))
        return core.name(name)

    def displayed(self, node: Any, before: list[Any]) -> Any:
        """What a loop over a dict or view gives, in a tuple."""
        if self.view(node) is None and self.mapping(node) is None:
            return node
        view = self.view(node)
        made: Any = self.mapping(node) if view is None else view.made
        what = "keys" if view is None else view.what
        form: dict[str, Callable[[Any], Any]] = {
            "keys": core.constant, "values": lambda key: self.item(made, key),
            "items": lambda key: self.pair(made, key, before),
        }  # fmt: skip
        atoms = [form[what](key) for key in self.known_keys(made)]
        name = self.host.temporary("items")
        before.append(self.new(name, gast.Tuple(atoms, gast.Load())))
        return core.name(name)

    def keyword_items(self, keywords: Sequence[Any], before: list[Any]) -> list[tuple[Any, Any]] | None:
        items: list[tuple[Any, Any]] = []
        for keyword in keywords:
            inner = [(keyword.arg, keyword.value)] if keyword.arg else self.items_of(keyword.value, before)
            if inner is None:
                return None
            items += inner
        return items

    def of_dict_method(self, made: Any, node: Any, before: list[Any]) -> Any:
        name, args = node.func.attr, node.args
        form = _METHODS.get(name)
        if form is None or any(isinstance(a, gast.Starred) for a in args) or (node.keywords and name != "update"):
            raise self.escape(f"`{name}` of a dict", made)
        done = form(self, made, node, before)
        if done is None:
            raise self.escape(f"`{name}` of a dict", made)
        return done

    def seen_through(self, made: Made, node: Any, before: list[Any]) -> Any:
        """`d.items()`."""
        if node.args:
            return None
        name = self.host.temporary(node.func.attr)
        self.state[name] = View(made, node.func.attr)
        return core.name(name)

    def get(self, made: Made, node: Any, before: list[Any]) -> Any:
        if not 1 <= len(node.args) <= 2:
            return None
        key = self.key(made, node.args[0])
        if self.has(made, key):
            return self.item(made, key)
        return node.args[1] if len(node.args) > 1 else core.constant(None)

    def setdefault(self, made: Made, node: Any, before: list[Any]) -> Any:
        if len(node.args) != 2:
            return None
        key = self.key(made, node.args[0])
        if not self.has(made, key):
            before.extend(self.put(made, key, node.args[1]))
        return self.item(made, key)

    def pop(self, made: Made, node: Any, before: list[Any]) -> Any:
        if not 1 <= len(node.args) <= 2:
            return None
        key = self.key(made, node.args[0])
        if self.has(made, key):
            return self.popped(made, key, before)
        return node.args[1] if len(node.args) > 1 else None

    def popitem(self, made: Made, node: Any, before: list[Any]) -> Any:
        keys = self.known_keys(made)
        if node.args or not keys:
            return None
        held = self.popped(made, keys[-1], before)
        return self.record(tuple, {"0": core.constant(keys[-1]), "1": held}, before)

    def popped(self, made: Made, key: Any, before: list[Any]) -> Any:
        atom = self.item(made, key)
        if self.made(atom) is None:  # the variable may be assigned again before the value is used
            name = self.host.temporary("item")
            before.append(self.new(name, atom))
            atom = core.name(name)
        self.removed(made, key)
        return atom

    def clear(self, made: Made, node: Any, before: list[Any]) -> Any:
        if node.args:
            return None
        for key in self.known_keys(made):
            self.removed(made, key)
        return core.constant(None)

    def update(self, made: Made, node: Any, before: list[Any]) -> Any:
        items = self.items_of(node.args[0], before) if node.args else []
        more = self.keyword_items(node.keywords, before)
        if items is None or more is None or len(node.args) > 1:
            return None
        for key, value in [*items, *more]:
            before.extend(self.put(made, key, value))
        return core.constant(None)

    def joined(self, node: Any, before: list[Any]) -> Any:
        """`d | e`."""
        parts = [self.items_of(side, before) for side in (node.left, node.right)]
        return None if None in parts else self.new_dict([*parts[0], *parts[1]], before)  # type: ignore[misc]

    def copied(self, made: Any, node: Any, before: list[Any]) -> Any:
        """`d.copy()`, `copy.copy(d)`."""
        items = self.items_of(core.name(self.named(made)), before)
        return None if items is None else self.new_dict(items, before)

    def named(self, made: Made) -> str:
        name = self.host.temporary("made")
        self.state[name] = made
        return name

    def has_key(self, node: Any) -> Any:
        """`key in d`; None where it is another comparison."""
        (op,), (right,) = node.ops, node.comparators
        made, view = self.mapping(right), self.view(right)
        if view is not None and view.what == "keys":
            made = view.made
        if made is not None:
            return core.constant(self.has(made, self.key(made, node.left)) is isinstance(op, gast.In))
        display = self.host.tables.known.get(right.id) if isinstance(right, gast.Name) else None
        known = self.constant(node.left)
        if (
            self.tracks
            and isinstance(node.left, gast.Name)
            and known is not MISSING
            and isinstance(display, gast.Tuple)
        ):
            others = [e.value if isinstance(e, gast.Constant) else MISSING for e in display.elts]
            if MISSING not in others:
                return core.constant((known in others) is isinstance(op, gast.In))
        return None

    def compared(self, node: Any) -> Any:
        """`key == "a"`, of what is known: which branches run decides which keys there are."""
        (op,), values = node.ops, [self.constant(side) for side in (node.left, *node.comparators)]
        if not self.tracks or MISSING in values or not isinstance(op, (gast.Eq, gast.NotEq)):
            return None
        return core.constant((values[0] == values[1]) is isinstance(op, gast.Eq))

    # --- as a whole, where nothing comes after ---

    def whole_of(self, made: Made, before: list[Any], met: list[Made]) -> Any:
        """A display of what a dict, tuple or list holds; None where it is held twice, or is not known."""
        if any(made is other for other in met) or made.cls not in (dict, tuple, list):
            return None
        met.append(made)
        keys = self.known_keys(made) if made.cls is dict else self.keys(made)
        values = []
        for key in keys:
            held = self.state.get((made, key))
            atom: Any = core.name(made.variables[key]) if held is VALUE else None
            if isinstance(held, Made):
                atom = self.whole_of(held, before, met)
            if atom is None:
                return None
            values.append(atom)
        name = self.host.temporary(made.hint or "made")
        if made.cls is dict:
            display: Any = gast.Dict([core.constant(key) for key in keys], values)
        else:
            display = {tuple: gast.Tuple, list: gast.List}[made.cls](values, gast.Load())
        before.append(self.new(name, display))
        return core.name(name)


TAKING = (sum, max, min, any, all, len, list, tuple, sorted, zip, enumerate)
_METHODS: dict[str, Callable[..., Any]] = {
    "items": Dicts.seen_through, "keys": Dicts.seen_through, "values": Dicts.seen_through, "get": Dicts.get,
    "setdefault": Dicts.setdefault, "pop": Dicts.pop, "popitem": Dicts.popitem, "clear": Dicts.clear,
    "update": Dicts.update, "copy": Dicts.copied,
}  # fmt: skip
