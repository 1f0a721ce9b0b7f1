"""What was refused in a record, which raises it in the end.

A function may catch the error of an operation that cannot be recorded, `except Exception:`, and go on in another way
than it does with plain numbers. So such errors are noted where they are made.
"""

from __future__ import annotations

import threading
from typing import TypeVar

Refusal = TypeVar("Refusal", bound=Exception)

# Refusals of recorded values in threads that no record runs in: a recorded function has started them.
_strays: list[Exception] = []


class _Refusals(threading.local):
    """The refusals in the records that run in this thread, and how many of these there are."""

    def __init__(self) -> None:
        self.found: list[Exception] = []
        self.records = 0

    def first(self) -> Exception | None:
        """What was refused first in the record that ends, if anything was."""
        return next(iter((*self.found, *_strays)), None)

    def clear(self) -> None:
        self.found.clear()
        _strays.clear()


refusals = _Refusals()


def noted(refusal: Refusal, recorded: bool = False) -> Refusal:
    """The error, which the record that runs raises in the end, too.

    recorded: whether it is of a recorded value for certain, whatever thread this is.
    """
    if refusals.records:
        refusals.found.append(refusal)
    elif recorded:
        _strays.append(refusal)
    return refusal
