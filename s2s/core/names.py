"""Names of ours, which hold a middle dot: versions, temporaries, and what is derived from them."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache


def version(name: str, number: int) -> str:
    """Version `number` of a name; version 1 is the name itself."""
    return name if number == 1 else f"{name}·{number}"


def temporary(hint: str, number: int) -> str:
    """A temporary: `temporary("cond", 3)` is `cond··3`."""
    return f"{hint}··{number}"


def is_temporary(name: str) -> bool:
    return "··" in name


@lru_cache(maxsize=8192)
def variable(name: str) -> str:
    """The name without its version: what the user (or the lowering, for a temporary) called it."""
    head, mark, number = name.partition("··")
    return head + mark + number.split("·", 1)[0] if mark else stem(name)


@lru_cache(maxsize=8192)
def stem(name: str) -> str:
    """The part of a name that a reader sees: `x` of `x·2`, `cond` of `cond··3`."""
    return name.split("·", 1)[0]


def derived(name: str, suffix: str) -> str:
    """`x·2` with suffix `_bar` is `x_bar·2`; `cond··3` is `cond_bar··3`."""
    head = stem(name)
    return head + suffix + name[len(head) :]


def unique(hint: str, taken: Callable[[str], bool], numbers: dict[str, int] | None = None) -> str:
    """`hint`, or `hint2`, `hint3`, ...: the first for which `taken` (a predicate) is false.

    numbers: the last number that each hint was given, where many names are made and none becomes free again.
    """
    numbers = {} if numbers is None else numbers
    number = numbers.get(hint, 1)
    while taken(name := hint if number == 1 else f"{hint}{number}"):
        number += 1
    numbers[hint] = number
    return name
