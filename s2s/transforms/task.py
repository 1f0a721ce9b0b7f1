"""What is asked of the compiler: which derivative, by which parameters, for arguments of which kinds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from s2s.core import Function
from s2s.kinds import Kind

Mode = Literal["grad", "value_and_grad", "jvp", "vjp", "primal"]


class Callee(Protocol):
    """What a call runs: a plain function, after leading and keyword arguments that are bound already."""

    @property
    def function(self) -> Any: ...
    @property
    def bound(self) -> tuple[Any, ...]: ...
    @property
    def keywords(self) -> Mapping[str, Any]: ...


class Program(Protocol):
    """What a pass may ask about other functions than its own; the compiler answers."""

    def lower(self, function: Any) -> Function:
        """A function in Core. Raises NotCompiled, or SourceUnavailableError."""
        ...

    def callee(self, value: Any) -> Callee | None:
        """What a call of an object runs, if that is a Python function with a source; else None."""
        ...


@dataclass(frozen=True)
class Task:
    """What a pass may ask about the job.

    mode: which program is wanted; "vjp" is the pair of a forward and a reverse sweep (`split.py`), "primal" the
        function itself, lowered and written out again.
    wrt: the parameters by which to differentiate, in the order in which gradients are returned.
    kinds: the kinds of all parameters (variadic ones: a Tuple or Dict).
    single: whether the gradient is returned bare, not as a tuple.
    has_aux: whether the function returns `(value, aux)`.
    program: answers questions about other functions.
    """

    mode: Mode
    program: Program
    wrt: tuple[str, ...] = ()
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    single: bool = True
    has_aux: bool = False
