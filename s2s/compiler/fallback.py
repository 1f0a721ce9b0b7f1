"""What is not compiled is recorded on the tape, with a warning that names the place and the reason."""

from __future__ import annotations

import functools
import inspect
import pathlib
import sys
import threading
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Any

import numpy as np

from s2s.errors import FallbackWarning, S2SError, SourceUnavailableError, UnsupportedSyntaxError

# Frames of these files are not the user's: ours, and those through which our cached properties run.
_OURS = (str(pathlib.Path(__file__).parent.parent), "<s2s ", functools.__file__)


@dataclass(frozen=True)
class Fallback:
    """One function that went to the tape: what, where (`line` 0 if unknown) and why."""

    function: str
    file: str
    line: int
    reason: str

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}: " if self.line else ""
        return f"{where}{self.function} is recorded on the tape: {self.reason}"


class Fallbacks:
    """The fallbacks of one gradient function; each is warned of once for every place that calls it."""

    def __init__(self) -> None:
        self.records: list[Fallback] = []
        self._warned: set[tuple[Fallback, str, int]] = set()
        self._lock = threading.Lock()

    def report(self, fallback: Fallback, refusal: S2SError) -> None:
        """Record a fallback, and warn at the user's line that makes the call."""
        frame = caller()
        site = (fallback, frame.f_code.co_filename, frame.f_lineno)
        with self._lock:
            if fallback not in self.records:
                self.records.append(fallback)
            if site in self._warned:
                return
            self._warned.add(site)
        warnings.warn_explicit(
            f"{fallback.function} could not be compiled and is recorded on the tape: {refusal}",
            FallbackWarning,
            frame.f_code.co_filename,
            frame.f_lineno,
            frame.f_globals.get("__name__", "<unknown>"),
            frame.f_globals.setdefault("__warningregistry__", {}),
        )


def caller() -> FrameType:
    """The frame of the innermost code that is neither ours nor generated."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith(_OURS):
            return frame
        frame = frame.f_back
    return sys._getframe(1)


def fallback_of(refusal: S2SError, name: str, file: str, line: int) -> Fallback:
    """The record of a refusal: its own place, or else that of the function."""
    if refusal.origin is not None:
        return Fallback(name, refusal.origin.file, refusal.origin.line, refusal.message)
    return Fallback(name, file, line, refusal.message)


def no_source(refusal: S2SError, name: str) -> S2SError:
    """The error of asking for the generated source of a function that is recorded on the tape."""
    message = f"{name} is recorded on the tape, so there is no generated source: {refusal.message}"
    cls = SourceUnavailableError if isinstance(refusal, SourceUnavailableError) else UnsupportedSyntaxError
    error = cls(message, origin=refusal.origin, hint=refusal.hint)
    error.__cause__ = refusal.__cause__
    return error


def strict_error(refusal: S2SError) -> S2SError:
    """The error that a refusal is where the tape is refused too."""
    if isinstance(refusal, SourceUnavailableError):
        return SourceUnavailableError(refusal.message, origin=refusal.origin, hint=refusal.hint)
    hint = refusal.hint or "without strict=True the function is recorded on the tape."
    error = UnsupportedSyntaxError(refusal.message, origin=refusal.origin, hint=hint)
    error.__cause__ = refusal.__cause__
    return error


# --- what is recorded in the place of a function of ours --------------------------------------------------------------


def sum_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose value is the sum of another one's."""

    def total(*args: Any, **keywords: Any) -> Any:
        return np.sum(function(*args, **keywords))

    total.__name__ = getattr(function, "__name__", "total")
    total.__module__ = function.__module__  # a record rebuilds it where it rebuilds the function
    total.__signature__ = inspect.signature(function, follow_wrapped=False)  # type: ignore[attr-defined]
    return total
