"""Derivatives that a compiled program calls in turn, as `grad(energy)(x)` in a loss."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import FunctionType
from typing import Any

from s2s import core
from s2s.compiler.layout import layout_of
from s2s.core import Function
from s2s.errors import NotCompiled
from s2s.frontend.lower import lower_function
from s2s.kinds import Kind

# The functions that make derivatives of their first argument: what they make is found when compiling.
OPERATORS: set[Any] = set()


class Nestable:
    """A derivative of a function that another program may call: `derived` is what the compiler asks of it."""

    __slots__ = ()

    @property
    def derived(self) -> CalledGradient:
        raise NotImplementedError


def derivative_of(value: Any) -> CalledGradient | None:
    """What an object is, if it is a derivative that a program may call."""
    return value.derived if isinstance(value, Nestable) else None


@dataclass(frozen=True)
class CalledGradient:
    """A gradient function that is called by another program.

    function: the primal. identity: what is asked of it: two with the same have the same derivative.
    """

    function: FunctionType
    identity: Any
    called: Any = field(compare=False)

    @property
    def bound(self) -> tuple[Any, ...]:
        return self.called.bound  # type: ignore[no-any-return]

    @property
    def keywords(self) -> Mapping[str, Any]:
        return self.called.keywords  # type: ignore[no-any-return]

    def lowered(self, kinds: Mapping[str, Kind], resting_on: Any) -> Function:
        """The generated function in Core, without a parameter for the seed, which is 1."""
        driver = self.called.driver
        if driver.request.backend not in (None, "numpy") or not driver.request.selection.whole:
            raise NotCompiled(f"the derivative of {self.function.__name__} is not of one function's own text")
        compiled = driver.compiled({name: kinds[name] for name in driver.layout.names}, resting_on)
        if compiled.built is None:
            raise compiled.refusal or NotCompiled(f"the derivative of {self.function.__name__}")
        if compiled.writes:
            raise NotCompiled(f"the derivative of {self.function.__name__}, which writes into its arguments")
        generated = compiled.built.function
        (seed,) = set(layout_of(generated).kwonly) - set(driver.layout.names)
        return without(lower_function(generated), seed)


def without(fn: Function, seed: str) -> Function:
    """A function whose seed is 1."""
    params = fn.params
    kept = [i for i, p in enumerate(params.kwonlyargs) if p.id != seed]
    params = core.rebuilt(
        params,
        kwonlyargs=[params.kwonlyargs[i] for i in kept],
        kw_defaults=[params.kw_defaults[i] for i in kept],
    )
    return replace(fn, params=params).with_body(core.substitute(s, {seed: core.constant(1.0)}) for s in fn.body)
