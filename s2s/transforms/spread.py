"""Calls with `*args` and `**kwargs` become plain calls where the text tells what these hold.

    args = [x, y]               args = [x, y]
    f(*args, **{"k": z})        f(x, y, k=z)

A display is known until its name, or a name in it, is assigned again, and while nothing but calls and reads of items
see it: a list that is passed on, or has another name, may be changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

import gast

from s2s import core
from s2s.transforms.structure import statements, uses

_READS = ("get", "items", "keys", "values", "count", "index")


class Displays:
    """The displays that are known at one place of a function, by name."""

    def __init__(self, known: Mapping[str, Any], rebound: set[str] | None = None) -> None:
        """rebound: the names that closures which were met declare `nonlocal`; the copies have them in common."""
        self.known = dict(known)
        self.rebound: set[str] = set() if rebound is None else rebound

    def copy(self) -> Displays:
        return Displays(self.known, self.rebound)

    def rebound_in(self, stmt: Any) -> Set[str]:
        """The names that a compound statement may assign by calls of closures."""
        return self.rebound | core.rebound(stmt) if core.blocks(stmt) else frozenset()

    def before(self, stmt: Any) -> Any:
        """The statement with its calls spread out. What a compound statement changes is not known in its blocks."""
        if core.blocks(stmt):
            self._forget(stmt)
            return stmt
        call = stmt.value if isinstance(stmt, (gast.Assign, gast.Expr)) else None
        return core.rebuilt(stmt, value=self.spread(call)) if isinstance(call, gast.Call) else stmt

    def after(self, stmt: Any) -> None:
        """Take note of what a statement assigns."""
        self._forget(stmt)
        if isinstance(stmt, gast.Assign) and isinstance(stmt.targets[0], gast.Name) and _is_plain(stmt.value):
            name = stmt.targets[0].id
            if name not in core.reads(stmt.value):
                self.known[name] = stmt.value
        elif isinstance(stmt, gast.Assign) and isinstance(self._display(stmt.value), gast.Tuple):
            for target in filter(lambda t: isinstance(t, gast.Name), stmt.targets):
                self.known[target.id] = self._display(stmt.value)  # another name of a tuple, which cannot be changed

    def spread(self, call: Any) -> Any:
        """The call with the items of known displays among its arguments."""
        if not any(isinstance(a, gast.Starred) for a in call.args) and all(k.arg for k in call.keywords):
            return call
        args: list[Any] = []
        for argument in call.args:
            display = self._display(argument.value) if isinstance(argument, gast.Starred) else None
            args.extend(display.elts if isinstance(display, (gast.Tuple, gast.List)) else [argument])
        keywords: list[Any] = []
        for keyword in call.keywords:
            display = self._display(keyword.value) if keyword.arg is None else None
            if isinstance(display, gast.Dict):
                keywords.extend(gast.keyword(k.value, v) for k, v in zip(display.keys, display.values))
            else:
                keywords.append(keyword)
        names = [k.arg for k in keywords if k.arg]
        if len(names) > len(set(names)):
            return call  # an error, which Python shall raise
        return core.rebuilt(call, args=args, keywords=keywords)

    def _display(self, node: Any) -> Any:
        return self.known.get(node.id) if isinstance(node, gast.Name) else None

    def _forget(self, stmt: Any) -> None:
        if not self.known:
            return
        written = {*core.all_writes(stmt), *self.rebound_in(stmt)}
        inner = statements([stmt])
        for name, display in list(self.known.items()):
            seen = not isinstance(display, gast.Tuple) and any(exposes(s, name) for s in inner)
            if seen or written & {name, *core.reads(display)}:
                del self.known[name]


def _is_plain(value: Any) -> bool:
    """Whether a value is a display whose items all stand there, keywords without repetition."""
    if isinstance(value, gast.Dict):
        keys = [k.value if isinstance(k, gast.Constant) else None for k in value.keys]
        return all(isinstance(k, str) for k in keys) and len(set(keys)) == len(keys)
    return isinstance(value, (gast.Tuple, gast.List)) and not any(isinstance(e, gast.Starred) for e in value.elts)


def exposes(stmt: Any, name: str) -> bool:
    """Whether a statement itself does more with a list or dict than to read its items or to spread it out in a call."""
    if name not in uses(stmt):
        return False
    value = stmt.value if isinstance(stmt, (gast.Assign, gast.Expr)) else None
    if isinstance(value, gast.Subscript):
        return name in core.reads(value.slice) or name in core.reads(
            stmt.targets if isinstance(stmt, gast.Assign) else []
        )
    if not isinstance(value, gast.Call):
        return True
    reads = isinstance(value.func, gast.Attribute) and value.func.attr in _READS
    operands = [] if reads else [value.func]
    operands += [a for a in value.args if not isinstance(a, gast.Starred)]
    operands += [k.value for k in value.keywords if k.arg is not None]
    return name in core.reads(operands)
