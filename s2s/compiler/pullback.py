"""`vjp`: a function and its arguments -> its value, and the function that takes cotangents back.

The compiled pair of sweeps (`transforms/split.py`) serves it: the forward sweep runs once, the reverse sweep for each
call of the pullback. As these calls come later, the arrays among the arguments are copied at entry and those of the
value when they are given out, so that nobody writes into what the reverse sweep reads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2s.autograd.record import Record, contains_variable, pull_all, record, visible
from s2s.autograd.value import Value
from s2s.codegen.build import annotate, listing
from s2s.compiler.argnums import Selection, Wanted
from s2s.compiler.driver import Driver, Request
from s2s.compiler.forward import carries_derivative, target_and_inner
from s2s.compiler.given import bound_values, kept
from s2s.compiler.layout import Layout, layout_of
from s2s.compiler.program import PROGRAM
from s2s.compiler.reliance import contents
from s2s.compiler.store import Compiled
from s2s.errors import ArgumentError
from s2s.runtime import pytree


def pull_back(f: Callable[..., Any], primals: Sequence[Any], has_aux: bool, strict: bool) -> tuple[Any, ...]:
    """The value of `f` at `primals` and its pullback; with `has_aux`, the auxiliary result too."""
    target, inner = target_and_inner(f)
    layout = layout_of(target.function)
    values = bound_values(target.function, layout, (*target.bound, *primals), target.keywords)
    slots = _slots(layout, values, len(target.bound), len(primals))
    wanted = Selection(tuple(map(Wanted, dict.fromkeys(s.param for s in slots if s.active))), single=False)
    request = Request("vjp", wanted, has_aux, strict)
    return pulled(Driver(target.function, request, inner.driver if inner else None), values, slots)


def pulled(driver: Driver, values: Mapping[str, Any], slots: Sequence[Slot]) -> tuple[Any, ...]:
    """The value and its pullback, to be called with cotangents of it, which gives those of the slots.

    values: the arguments, by parameter; the driver differentiates by those of the slots that are active.
    """
    args, keywords = driver.layout.spread(values)
    if contains_variable([*values.values(), *contents(driver.function)]):
        return _recorded(driver, args, keywords, slots, nested=True)
    compiled = driver.variant(dict(values)).compiled
    refusal = compiled.refusal
    if refusal is None:
        refusal = driver.shared(dict(values), compiled.writes)
    if refusal is not None:
        driver.report(refusal)
        return _recorded(driver, args, keywords, slots)
    return _compiled(driver, compiled, kept(dict(values)), slots)


@dataclass(frozen=True)
class Slot:
    """A primal: its parameter, its place in a variadic one, and whether it carries a derivative."""

    param: str
    key: Any
    value: Any
    active: bool

    @property
    def place(self) -> str:
        return self.param if self.key is None else f"{self.param}[{self.key}]"


class Pullback:
    """The function from a cotangent of the value to those of the primals, a tuple with one entry for each.

    An entry has the shape, dtype and structure of its primal, and is None for a primal without a derivative. It can be
    called any number of times.
    """

    def __init__(self, out: Any, pull: Callable[[Any], tuple[Any, ...]], compiled: Compiled | None = None) -> None:
        """
        out: the value, which tells what a cotangent looks like.
        pull: the cotangents of the primals for one that has been checked.
        """
        self._out = out
        self._pull = pull
        self._compiled = compiled

    def __call__(self, out_bar: Any) -> tuple[Any, ...]:
        return self._pull(_like(self._out, out_bar))

    def __repr__(self) -> str:
        return "<pullback, compiled>" if self._compiled else "<pullback, recorded on the tape>"

    def source(self) -> str:
        """The generated source of the forward and of the reverse sweep; empty if the tape serves."""
        if self._compiled is None or self._compiled.built is None or self._compiled.backward is None:
            return ""
        return listing(PROGRAM.callees.with_callees(self._compiled.built, self._compiled.backward.built))


def _slots(layout: Layout, values: Mapping[str, Any], bound: int, count: int) -> list[Slot]:
    params = layout.positional[bound : bound + count]
    slots = [Slot(name, None, values[name], carries_derivative(values[name])) for name in params]
    if layout.vararg:
        items = values[layout.vararg][max(bound - len(layout.positional), 0) :]
        slots += [Slot(layout.vararg, i, item, carries_derivative(item)) for i, item in enumerate(items)]
    return slots


# --- compiled ---------------------------------------------------------------------------------------------------


def _compiled(driver: Driver, compiled: Compiled, values: Mapping[str, Any], slots: Sequence[Slot]) -> tuple[Any, ...]:
    assert compiled.built is not None and compiled.backward is not None
    forward, backward = compiled.built.function, compiled.backward
    out, *aux, residuals = _called(forward, *(values.get(name, 1.0) for name in layout_of(forward).positional))
    order = driver.request.selection.params

    def pull(out_bar: Any) -> tuple[Any, ...]:
        bar = pytree.as_shadow(out, out_bar)
        returned = _called(backward.built.function, backward.copied(residuals), bar)
        bars = dict(zip(order, (returned,) if len(order) == 1 else returned))
        taken: set[int] = set()
        fresh = {name for name, is_fresh in zip(order, backward.fresh) if is_fresh}
        return tuple(_cotangent(slot, bars, slot.param in fresh, taken) for slot in slots)

    return pytree.copied(out), Pullback(out, pull, compiled), *aux


def _called(function: Callable[..., Any], *args: Any) -> Any:
    try:
        return function(*args)
    except Exception as error:
        annotate(error)
        raise


def _cotangent(slot: Slot, bars: Mapping[str, Any], fresh: bool, taken: set[int]) -> Any:
    """The cotangent of a primal, which shares its memory with nothing."""
    if not slot.active:
        return None
    bar = bars[slot.param] if slot.key is None else bars[slot.param][slot.key]
    if not pytree.is_leaf(slot.value):
        return pytree.map(pytree.copied, pytree.unshadow(slot.value, bar))
    bar = pytree.as_gradient(slot.value, bar)
    if isinstance(bar, np.ndarray) and (not fresh or bar.base is not None or id(bar) in taken):
        bar = bar.copy()
    taken.add(id(bar))
    return bar


# --- on the tape ------------------------------------------------------------------------------------------------


def _recorded(
    driver: Driver,
    args: Sequence[Any],
    keywords: Mapping[str, Any],
    slots: Sequence[Slot],
    nested: bool = False,
) -> tuple[Any, ...]:
    """The same by a record, which is kept. nested: the call is part of a record itself, which its results continue."""
    run = record(driver.primal, args, keywords, driver.request.selection.params)
    output, aux = _parted(driver, run)
    outputs, structure = pytree.flatten(output)
    plain = pytree.unflatten(structure, [o._data if isinstance(o, Value) else o for o in outputs])

    def pull(out_bar: Any) -> tuple[Any, ...]:
        seeds = [(o, bar) for o, bar in zip(outputs, pytree.leaves(out_bar)) if isinstance(o, Value)]
        bars = pull_all(run, seeds, keep=True, create_graph=nested)
        bars = visible(bars) if nested else bars
        return tuple(None if not s.active else bars[s.param] if s.key is None else bars[s.param][s.key] for s in slots)

    values = [visible(part) if nested else pytree.copied(_plain(part)) for part in (output, *aux)]
    return values[0], Pullback(plain, pull), *values[1:]


def _parted(driver: Driver, run: Record) -> tuple[Any, list[Any]]:
    if not driver.request.has_aux:
        return run.output, []
    if not isinstance(run.output, tuple) or len(run.output) != 2:
        raise ArgumentError(f"with has_aux, {driver.function.__name__} must return (value, aux)")
    return run.output[0], [run.output[1]]


def _plain(tree: Any) -> Any:
    return pytree.map(lambda leaf: leaf._data if isinstance(leaf, Value) else leaf, tree)


# --- the cotangent of the value -----------------------------------------------------------------------------------


def _like(out: Any, out_bar: Any) -> Any:
    """A cotangent in the structure, shapes and dtypes of the value; refused where it is another's."""
    try:
        return pytree.map(_leaf, out, out_bar)
    except ValueError as error:
        raise ArgumentError(f"the cotangent differs from the value in structure: {error}") from error


def _leaf(x: Any, bar: Any) -> Any:
    if not pytree.carries_derivative(x):
        return None
    data = bar._data if isinstance(bar, Value) else bar
    if data is None or isinstance(data, (str, bool)) or np.asarray(data).dtype == object:
        raise ArgumentError(f"the cotangent of a number or array must be one too, not {data!r}")
    if np.shape(data) != np.shape(x):
        raise ArgumentError(f"the cotangent has shape {np.shape(data)}, the value {np.shape(x)}")
    dtype, given = np.asarray(x).dtype, np.asarray(data).dtype
    if given.kind not in "iuf" and not (given.kind == dtype.kind == "c"):
        raise ArgumentError(f"the cotangent has dtype {given}, the value {dtype}")
    if isinstance(bar, Value):
        return bar
    return np.asarray(bar, dtype) if isinstance(x, np.ndarray) else type(x)(np.asarray(bar)[()])
