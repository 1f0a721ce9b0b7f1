"""Which keys a dict has at one place of the program.

d = {"x": x}                        x, in this order
for ...: d["v"] = a * d["x"]        at the head of the loop x, and v in some rounds; after the write surely both
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Keys:
    """The keys that a dict has.

    sure: the keys that are there.
    types: those of the keys: 1 and True are the same key, and not the same value.
    perhaps: the keys that are there on some ways only.
    ordered: whether `sure` is the order of insertion, and all of them are there.
    """

    sure: tuple[Any, ...] = ()
    types: tuple[type, ...] = ()
    perhaps: frozenset[Any] = frozenset()
    ordered: bool = True

    def has(self, key: Any) -> bool | None:
        """Whether a key is there; None where some ways put it in, and others do not."""
        return True if key in self.sure else None if key in self.perhaps else False

    def met(self, other: Keys) -> Keys:
        """What is known of a dict that has the one keys or the others."""
        if self == other:
            return self
        there = {*self.sure, *self.perhaps, *other.sure, *other.perhaps}
        return self._only({*self.sure} & {*other.sure}, there, False)

    def added(self, key: Any) -> Keys:
        if key in self.sure:
            return self
        return Keys((*self.sure, key), (*self.types, type(key)), self.perhaps - {key}, self.ordered)

    def without(self, key: Any) -> Keys:
        return self._only({*self.sure} - {key}, {*self.sure, *self.perhaps} - {key}, self.ordered)

    def _only(self, sure: set[Any], there: set[Any], ordered: bool) -> Keys:
        kept = [(key, cls) for key, cls in zip(self.sure, self.types) if key in sure]
        return Keys(tuple(key for key, _ in kept), tuple(cls for _, cls in kept), frozenset(there - sure), ordered)
