"""Answers the passes' questions about functions other than the one that is compiled."""

from __future__ import annotations

from typing import Any

from s2s.core import Function
from s2s.errors import SourceUnavailableError, UnsupportedSyntaxError
from s2s.frontend.lower import lower_function
from s2s.frontend.source import Unwrapped, find, unwrap


class SourceProgram:
    """The program as its source files hold it."""

    def lower(self, function: Any) -> Function:
        """A function in Core."""
        return lower_function(function)

    def callee(self, value: Any) -> Unwrapped | None:
        """What a call of `value` runs, if its source can be had."""
        try:
            callee = unwrap(value)
            find(callee.function)
        except (SourceUnavailableError, UnsupportedSyntaxError):
            return None
        return callee


PROGRAM = SourceProgram()
