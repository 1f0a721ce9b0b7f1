"""What was refused in a record, which raises it in the end.

A function may catch the error of an operation that cannot be recorded, `except Exception:`, and go on in another way
than it does with plain numbers. So such errors are noted where they are made.
"""

from __future__ import annotations

import linecache
import pathlib
import sys
import threading
import types
from typing import TypeVar

from s2s.core import Origin
from s2s.errors import S2SError, pointer

_PACKAGE = str(pathlib.Path(__file__).parent.parent)
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
    """The error, with the line at which it came, which the record that runs raises in the end, too.

    recorded: whether it is of a recorded value for certain, whatever thread this is.
    """
    if refusals.records:
        _point(refusal)
        refusals.found.append(refusal)
    elif recorded:
        _strays.append(refusal)
    return refusal


def _point(refusal: Exception) -> None:
    """Have an error name the line of the innermost code that is not ours, unless it names one already."""
    frame: types.FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename.startswith((_PACKAGE, "<")):
        frame = frame.f_back
    if frame is None:
        return
    place = line_of(frame.f_code, frame.f_lineno)
    if not isinstance(refusal, S2SError):
        refusal.add_note(pointer(place))
    elif refusal.origin is None:
        refusal.origin = place


def line_of(code: types.CodeType, line: int) -> Origin:
    """A line of a function as the place that an error names."""
    text = linecache.getline(code.co_filename, line)
    column = len(text) - len(text.lstrip())
    return Origin(code.co_filename, line, column, line, column, text.strip(), code.co_name)
