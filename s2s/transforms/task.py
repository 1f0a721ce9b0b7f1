"""What is asked of the compiler: which derivative, by which parameters, for arguments of which kinds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import CellType, CodeType
from typing import Any, Literal, Protocol

from s2s.core import Function
from s2s.kinds import Kind
from s2s.transforms.usercalls import Callee as Called

Mode = Literal["grad", "value_and_grad", "jvp", "vjp", "primal"]


class Callee(Protocol):
    """What a call runs: a plain function, after leading and keyword arguments that are bound already."""

    @property
    def function(self) -> Any: ...
    @property
    def bound(self) -> tuple[Any, ...]: ...
    @property
    def keywords(self) -> Mapping[str, Any]: ...


class Derivative(Callee, Protocol):
    """A derivative that a program calls: `function` is its primal, whose arguments it takes."""

    @property
    def called(self) -> Any:
        """The object that the user's program calls."""
        ...

    def lowered(self, kinds: Mapping[str, Kind], resting_on: Any) -> Function:
        """The generated function for arguments of these kinds. Raises NotCompiled."""
        ...


class Pair(Protocol):
    """The compiled sweeps of a function, in cells that are filled when it is compiled, which may be later.

    fresh: of each cotangent that the reverse sweep returns, whether it is an array of its own; empty while not known.
    """

    @property
    def forward(self) -> CellType: ...
    @property
    def backward(self) -> CellType: ...
    @property
    def fresh(self) -> tuple[bool, ...]: ...


class Program(Protocol):
    """What a pass may ask about other functions than its own; the compiler answers."""

    def lower(self, function: Any) -> Function:
        """A function in Core. Raises NotCompiled, or SourceUnavailableError."""
        ...

    def callee(self, value: Any) -> Callee | None:
        """What a call of an object runs, if that is a Python function with a source; else None."""
        ...

    def derives(self, operator: Any) -> bool:
        """Whether a function makes a derivative of its first argument: `s2s.grad`, say."""
        ...

    def derivative(self, value: Any) -> Derivative | None:
        """What an object that such a function made is; None for other objects."""
        ...

    def result(self, called: Called, kinds: Sequence[Kind]) -> Kind:
        """The kind of what a function returns for arguments of these kinds; NEVER where that is being asked already."""
        ...

    def written(self, called: Called, kinds: Sequence[Kind]) -> tuple[str, ...]:
        """The parameters into which a function writes. Raises NotCompiled for one that a program cannot hold."""
        ...

    def pair(self, called: Called, kinds: Sequence[Kind], active: Sequence[str]) -> Pair:
        """The sweeps of a function, by some of its parameters. Raises NotCompiled."""
        ...

    def checked(self, called: Called, kinds: Sequence[Kind]) -> CellType:
        """The function that makes a call that is recorded by itself, where nothing is differentiated."""
        ...

    def pushforward(self, called: Called, kinds: Sequence[Kind], active: Sequence[str]) -> CellType:
        """The function that gives the value and its tangent: it takes the tangents of `active` after the parameters."""
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
    result: of a function that is called by compiled code, the kind that the caller takes its value to have.
    owned: whether cotangents of arrays are returned as arrays of their own, as callers within a recursion rely on it.
    absent: the variables that are bound from the start, to `absent`, as the gradient needs them; see `bound`.
    program: answers questions about other functions.
    recorded: the functions a call of which is recorded by itself.
    """

    mode: Mode
    program: Program
    wrt: tuple[str, ...] = ()
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    single: bool = True
    has_aux: bool = False
    result: Kind | None = None
    owned: bool = False
    recorded: frozenset[CodeType] = frozenset()
    absent: frozenset[str] = frozenset()

    @property
    def given(self) -> frozenset[str]:
        """The parameters whose values may be infinite, as they come from other compiled code."""
        return frozenset(self.wrt if self.result is not None else ())
