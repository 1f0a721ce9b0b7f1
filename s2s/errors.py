"""Every error and warning of s2s: what was met, where, and what to do next.

An error that concerns a place in the user's source carries the `Origin` of that place. Its text then ends with
the file, the line, the line's text and a caret, as Python's own syntax errors do.
"""

from __future__ import annotations

import linecache
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from s2s.core import Origin


class S2SError(Exception):
    """Base of all errors of s2s.

    message: what was met.
    origin: the place in the user's source, if there is one.
    hint: what to do next.
    """

    def __init__(self, message: str, *, origin: Origin | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.origin = origin
        self.hint = hint

    def __str__(self) -> str:
        parts = [self.message]
        if self.origin is not None:
            parts.append(pointer(self.origin))
        if self.hint:
            parts.append(f"Hint: {self.hint}")
        return "\n".join(parts)


class UnsupportedSyntaxError(S2SError, SyntaxError):
    """A construct that cannot be compiled, where the tape is refused (`strict=True`) or cannot be right."""

    __str__ = S2SError.__str__


class SourceUnavailableError(S2SError, OSError):
    """The source of a function cannot be found, or is not the text that its code was compiled from."""

    __str__ = S2SError.__str__


class MissingRuleError(S2SError, NotImplementedError):
    """An active value enters a function that has no derivative rule."""

    __str__ = S2SError.__str__


class BackendError(S2SError, RuntimeError):
    """A backend is missing, or arrays of different backends meet."""

    __str__ = S2SError.__str__


class ArgumentError(S2SError, TypeError, ValueError):
    """An argument of a call of ours is of a kind that it cannot be."""

    __str__ = S2SError.__str__


class EagerError(ArgumentError, RuntimeError):
    """A call of the eager API that cannot be: a RuntimeError too, as PyTorch raises."""

    __str__ = S2SError.__str__


class GradientLossError(S2SError, TypeError, RuntimeError):
    """A Variable that requires grad is asked for its plain number where that would lose the gradient.

    It is no ValueError: `except ValueError` around `math.sqrt(v)` is about the number.
    """

    __str__ = S2SError.__str__


def no_value(name: str) -> ArgumentError:
    """The error where a function of this name returned None."""
    return ArgumentError(f"{name}() returned None: a function needs a return of its value to have a gradient")


class GraphFreedError(S2SError, RuntimeError):
    """A second backward pass needs values that the first one freed."""

    __str__ = S2SError.__str__


class InplaceModificationError(S2SError, RuntimeError):
    """A value that the backward pass needs was modified in place."""

    __str__ = S2SError.__str__


class DynamicCallError(S2SError, RuntimeError):
    """A call that is recorded by itself did what the compiled code around it does not know of."""


class NotCompiled(S2SError):
    """Raised within the compiler: this function goes to the tape. It never reaches the user as it is."""


class FallbackWarning(UserWarning):
    """A function is recorded on the tape, because it could not be compiled."""


def pointer(origin: Origin) -> str:
    """The place as text: file, line, the line itself, and a caret below its first column."""
    line = linecache.getline(origin.file, origin.line).rstrip("\n")
    # A column of `ast` counts bytes of UTF-8.
    before = line.encode()[: origin.column].decode(errors="ignore").lstrip()
    padding = "".join(map(_blank, before))
    shown = line.strip() or origin.text
    return f'  File "{origin.file}", line {origin.line}, in {origin.function}\n    {shown}\n    {padding}^'


def _blank(character: str) -> str:
    """White space as wide as a character is shown."""
    if character == "\t":
        return character
    if unicodedata.combining(character):
        return ""
    return "  " if unicodedata.east_asian_width(character) in "WF" else " "
