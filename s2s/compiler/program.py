"""Answers the passes' questions about functions other than the one that is compiled."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from types import CellType, FunctionType
from typing import Any

from s2s.compiler.callees import Callees
from s2s.compiler.dynamic import checked
from s2s.compiler.nested import OPERATORS, derivative_of
from s2s.core import Function
from s2s.errors import SourceUnavailableError, UnsupportedSyntaxError
from s2s.frontend.lower import lower_function
from s2s.frontend.source import Unwrapped, find, unwrap
from s2s.kinds import Kind
from s2s.transforms.task import Derivative, Pair
from s2s.transforms.usercalls import Callee


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

    def derives(self, operator: Any) -> bool:
        return operator in OPERATORS if isinstance(operator, FunctionType) else False

    def derivative(self, value: Any) -> Derivative | None:
        return derivative_of(value)

    @cached_property
    def callees(self) -> Callees:
        """The functions that compiled code calls."""
        return Callees(self)

    def result(self, called: Callee, kinds: Sequence[Kind]) -> Kind:
        return self.callees.result(called, kinds)

    def written(self, called: Callee, kinds: Sequence[Kind]) -> tuple[str, ...]:
        return self.callees.written(called, kinds)

    def pair(self, called: Callee, kinds: Sequence[Kind], active: Sequence[str]) -> Pair:
        return self.callees.pair(called, kinds, active)

    def checked(self, called: Callee, kinds: Sequence[Kind]) -> CellType:
        return checked(called, kinds)

    def pushforward(self, called: Callee, kinds: Sequence[Kind], active: Sequence[str]) -> CellType:
        return self.callees.pushforward(called, kinds, active)


PROGRAM = SourceProgram()
