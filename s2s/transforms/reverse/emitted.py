"""A block of the reverse sweep while it grows: statements, and the restorations of what they need."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Any

from s2s import core


@dataclass(frozen=True)
class Entry:
    """A statement of the reverse sweep and the names that it needs from outside itself."""

    stmt: Any
    exposed: Set[str]


class Emitted:
    """A block of the reverse sweep while it grows.

    needed: the names that its statements need and that are not restored yet.
    handed: the names that it needs with their value after the loop, and the statements at its start that read them.
    """

    def __init__(self, storages: Mapping[str, str] = core.NOTHING) -> None:
        """storages: the names of memory, by those for its contents, under which statements find these."""
        self.storages = storages
        self.needed: set[str] = set()
        self.handed: dict[str, Any] = {}
        self._entries: list[Entry] = []
        self._restored: dict[str, Entry] = {}
        self._opening: list[Any] = []

    def add(self, stmt: Any, exposed: Set[str] | None = None) -> None:
        if self.storages and exposed is None:
            stmt = core.substitute(stmt, self.storages)
        entry = Entry(stmt, core.reads(stmt) if exposed is None else exposed)
        self._entries.append(entry)
        self.needed |= entry.exposed

    def extend(self, other: Emitted) -> None:
        """Add what another block holds, which hands nothing over."""
        self._entries += other._in_order()
        self.needed |= other.needed

    def __bool__(self) -> bool:
        return bool(self._entries)

    def exposes(self, name: str) -> bool:
        """Whether the block needs a name from outside: also one that it needs with its value after the loop."""
        return name in self.needed or name in self.handed

    @property
    def exposed(self) -> set[str]:
        return self.needed | self.handed.keys()

    def restore(self, name: str, stmt: Any) -> None:
        """Put the statement that restores a name before the first that needs it, or at the start if none does."""
        if self.storages:
            stmt = core.substitute(stmt, self.storages)
        if name not in self.needed:
            self._opening.append(stmt)
            return
        if name in self._restored:
            self._entries, self._restored = self._in_order(), {}
        self._restored[name] = Entry(stmt, core.reads(stmt))
        self.needed.discard(name)
        self.needed |= self._restored[name].exposed

    def hand_over(self, name: str, carrier: str, stmt: Any) -> None:
        """Restore a name at the start, from the one that holds its value still."""
        self.needed.discard(name)
        self.handed[carrier] = stmt

    @property
    def added(self) -> int:
        """How many statements were added, restorations apart."""
        return len(self._entries)

    def since(self, added: int) -> list[Any]:
        """The statements that were added since there were so many."""
        return [entry.stmt for entry in self._entries[added:]]

    @property
    def stmts(self) -> list[Any]:
        return [*reversed(self.handed.values()), *reversed(self._opening), *(e.stmt for e in self._in_order())]

    def _in_order(self) -> list[Entry]:
        """The entries, each behind the restorations of what it is the first to need."""
        if not self._restored:
            return self._entries
        times = {name: time for time, name in enumerate(self._restored)}
        waiting = dict(self._restored)
        found: list[Entry] = []

        def begun(entry: Entry) -> tuple[Entry, Iterator[str]]:
            return entry, iter(sorted(entry.exposed & waiting.keys(), key=times.__getitem__))

        for entry in self._entries:
            stack = [begun(entry)]
            while stack:
                entry, due = stack[-1]
                name = next((n for n in due if n in waiting), None)
                if name is not None:
                    stack.append(begun(waiting.pop(name)))
                else:
                    found.append(Entry(entry.stmt, entry.exposed - times.keys()))
                    stack.pop()
        return found


def reverse_assign(target: Any, value: Any, origin: Any) -> Any:
    """An assignment of the reverse sweep."""
    return as_reverse(core.assign(target, value, origin))


def as_reverse(stmt: Any) -> Any:
    """Mark a new statement as one of the reverse sweep."""
    stmt.sweep = "reverse"
    return stmt
