"""Hooks: functions that see a gradient on its way, and may put another in its place."""

from __future__ import annotations

import itertools
import weakref
from typing import Any

from s2s.autograd.value import Node, Value

_keys = itertools.count()


class Handle:
    """A registered hook; `remove()` takes it away again. Also a context."""

    def __init__(self, owner: Node | Value, place: str, key: int) -> None:
        self._owner = weakref.ref(owner)
        self._place = place
        self._key = key

    def remove(self) -> None:
        """Take the hook away; nothing happens the second time."""
        owner: Any = self._owner()
        hooks = getattr(owner, self._place, None) or {}
        if self._key in hooks:
            setattr(owner, self._place, {k: h for k, h in hooks.items() if k != self._key} or None)

    def __enter__(self) -> Handle:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()


def add(owner: Node | Value, place: str, hook: Any) -> Handle:
    """Register a hook behind those that are there; a backward pass that runs goes on with those that it has met."""
    key = next(_keys)
    setattr(owner, place, {**(getattr(owner, place, None) or {}), key: hook})
    return Handle(owner, place, key)


class Retain:
    """The hook of `retain_grad`: it takes what the others leave, and its Variable is not kept alive by it."""

    def __init__(self, variable: Value) -> None:
        self.owner = weakref.ref(variable)

    def keep(self, gradient: Any) -> None:
        """Add a gradient to the Variable's `.grad`."""
        variable: Any = self.owner()
        if variable is not None:
            before = variable.grad
            variable._grad = gradient if before is None else before + gradient


def move_retained(owner: Value, old: Node, new: Node) -> None:
    """`retain_grad` follows its Variable; hooks stay with the value that they were registered on."""
    moved = {k: h for k, h in (old.hooks or {}).items() if isinstance(h, Retain) and h.owner() is owner}
    if moved:
        old.hooks = {k: h for k, h in (old.hooks or {}).items() if k not in moved} or None
        new.hooks = {**(new.hooks or {}), **moved}
