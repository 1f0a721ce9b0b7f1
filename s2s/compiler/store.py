"""From a function and a task to generated code, once in a process.

`grad(lambda w: loss(w, batch))`, made anew in every step of a loop, is compiled once: what was compiled for a code
object, kinds of arguments and facts about free names serves every function with the same three, with its own closure
cells put in place.
"""

from __future__ import annotations

import contextlib
import gc
import threading
import types
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import gast

from s2s import core
from s2s.codegen.build import Built, build
from s2s.errors import ArgumentError, NotCompiled, S2SError, SourceUnavailableError
from s2s.runtime.stores import copied
from s2s.transforms.split import Halves
from s2s.transforms.task import Task

Lower = Callable[[], core.Function]

_ENTRIES = 4096


@dataclass(frozen=True)
class Backward:
    """The reverse sweep as a function of its own: `(residuals, out_bar)` -> the cotangent, or a tuple of cotangents.

    tapes, inner, fresh, undoes: see `transforms.split.Halves`.
    """

    built: Built
    tapes: tuple[int, ...]
    inner: Mapping[int, Any]
    fresh: tuple[bool, ...]
    undoes: bool = False

    def writes_back(self) -> bool:
        """Whether the reverse sweep, or that of a call in it, writes into arrays among its residuals."""
        reached = [self]
        for sweep in reached:  # which grows
            reached.extend(p.sweep for p in sweep.inner.values() if all(p.sweep is not known for known in reached))
        return any(sweep.undoes for sweep in reached)

    def copied(self, residuals: tuple[Any, ...]) -> tuple[Any, ...]:
        """The residuals with copies of the tapes, which a reverse sweep empties; those of calls likewise."""
        if self.writes_back():
            return copied(residuals)  # type: ignore[no-any-return]
        if not self.tapes and not self.inner:
            return residuals
        copies = list(residuals)
        for i, pair in self.inner.items():
            copy = pair.sweep.copied
            held = residuals[i]
            copies[i] = held and ([*map(copy, held)] if i in self.tapes else copy(held))
        for i in self.tapes:
            copies[i] = list(copies[i])
        return tuple(copies)


@dataclass(frozen=True)
class Compiled:
    """A generated function, or why there is none: a `refusal` means the tape.

    backward: the reverse sweep, where `built` is the forward sweep alone (mode `vjp`).
    """

    built: Built | None = None
    refusal: S2SError | None = None
    backward: Backward | None = None
    writes: tuple[str, ...] = ()  # the parameters that the program writes into, of which it takes copies
    repeatable: bool = False  # in mode `jvp`: whether it can be run again without anybody noticing

    def bound_to(self, function: types.FunctionType) -> Compiled:
        """The same for another function of the same code: the generated function over its closure cells."""
        if self.built is None or not function.__closure__:
            return self
        backward = self.backward and replace(self.backward, built=_bound(self.backward.built, function))
        return replace(self, built=_bound(self.built, function), backward=backward)


class Store:
    """What has been compiled, by code, task and facts; the oldest go first. Compiles one function at a time."""

    def __init__(self) -> None:
        self._entries: OrderedDict[Hashable, Compiled] = OrderedDict()
        # Reentrant: to compile the gradient of a gradient is to compile that gradient.
        self.lock = threading.RLock()

    def get(self, key: Hashable, function: types.FunctionType, lower: Lower, task: Task) -> Compiled:
        """What was compiled under a key, or is compiled now, over the cells of `function`."""
        with self.lock:
            found = self._entries.get(key)
            if found is None:
                found = self._entries[key] = compile_function(lower, task, function.__name__)
                if len(self._entries) > _ENTRIES:
                    self._entries.popitem(last=False)
        return found.bound_to(function)


STORE = Store()


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """Without Python's collector of cycles, which would walk all the programs of a compilation again and again.

    Programs are trees: they go when nobody holds them.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@_uncollected()
def compile_function(lower: Lower, task: Task, name: str) -> Compiled:
    """Lower, transform and build. What the user has to mend is raised; what the tape can do instead is returned."""
    from s2s.transforms.pipeline import compile_core, compile_halves

    try:
        lowered = lower()
        _refuse_none(lowered)
        if task.mode == "vjp":
            return _halves(compile_halves(lowered, task), name)
        made = compile_core(lowered, task)
        built = build(made, filename_hint=f"{task.mode} of {name}")
        return Compiled(built, writes=tuple(made.facts.written), repeatable=made.facts.repeatable)
    except (NotCompiled, SourceUnavailableError) as refusal:
        return Compiled(refusal=refusal)
    except S2SError as error:
        if not isinstance(error, core.CoreError):
            raise
        return Compiled(refusal=_fault(error))
    except Exception as error:
        return Compiled(refusal=_fault(error))


def _halves(halves: Halves, name: str) -> Compiled:
    backward = build(halves.backward, filename_hint=f"reverse sweep of {name}")
    return Compiled(
        build(halves.forward, filename_hint=f"forward sweep of {name}"),
        writes=tuple(halves.forward.facts.written),
        backward=Backward(backward, halves.tapes, halves.inner, halves.fresh, halves.undoes),
    )


def _fault(error: Exception) -> NotCompiled:
    """A fault of the compiler's own: the tape does without it, a strict call shows it."""
    if isinstance(error, RecursionError):
        return NotCompiled("it is nested too deeply: an expression of hundreds of terms, say")
    refusal = NotCompiled(f"the compiler failed, which is a fault of its own: {type(error).__name__}: {error}")
    refusal.__cause__ = error
    return refusal


def _refuse_none(lowered: core.Function) -> None:
    last = lowered.body[-1]
    if isinstance(last.value, gast.Constant) and last.value.value is None:
        raise ArgumentError(
            f"{lowered.name} returns None, which has no derivative",
            origin=lowered.origin,
            hint="a return statement is missing.",
        )


def _bound(built: Built, function: types.FunctionType) -> Built:
    return replace(built, function=_rebound(built.function, function))


def _rebound(generated: types.FunctionType, function: types.FunctionType) -> types.FunctionType:
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    closure = tuple(
        cells.get(name, cell) for name, cell in zip(generated.__code__.co_freevars, generated.__closure__ or ())
    )
    made = types.FunctionType(
        generated.__code__, generated.__globals__, generated.__name__, generated.__defaults__, closure
    )
    made.__kwdefaults__ = generated.__kwdefaults__
    return made
