"""A compiled gradient that is called on Variables: one node of the eager graph, with a generated adjoint.

`df = grad(f)` is a function like any other, and what differentiates it is the compiled pair of sweeps of the gradient's
own text. So `df(v)` runs the forward sweep on the data of v, and a backward pass runs the reverse sweep. Where that
pass is itself recorded, for a higher derivative, the call is recorded on the tape in its place, which runs the function
again: so only calls that can be repeated unnoticed become a node. All others are recorded as they run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from s2s.autograd import modes
from s2s.autograd.dispatch import is_quiet
from s2s.autograd.engine import key, sweep
from s2s.autograd.nodes import freed
from s2s.autograd.record import is_recording
from s2s.autograd.value import VOLATILE, Identity, Node, Output, Value, dtype_of
from s2s.autograd.variable import Variable
from s2s.compiler import driver as drivers
from s2s.compiler import given
from s2s.compiler.argnums import Selection, Wanted
from s2s.compiler.arguments import check_arguments
from s2s.compiler.driver import Driver, Request
from s2s.compiler.pullback import Slot, pulled
from s2s.runtime import pytree


class CompiledNode(Node):
    """A call of a compiled gradient.

    pull: the generated reverse sweep; None once it is released.
    again: calls the gradient on the tape, with other arguments.
    leaves: of each parameter that holds Variables which require grad, its plain leaves and structure.
    places: for each parent its parameter and the number of its leaf.
    results: the leaves of the result and its structure; the leaves tell what has no derivative.
    """

    __slots__ = ("again", "called", "leaves", "places", "pull", "results")

    again: Callable[[Mapping[str, Any]], Any]
    called: str
    leaves: dict[str, tuple[list[Any], Any]]
    places: list[tuple[str, int]]
    pull: Any
    results: tuple[list[Any], Any]

    @property
    def name(self) -> str:
        return self.called

    def cotangents(self, g: Any, recording: type[Value] | None) -> Sequence[Any]:
        if self.pull is None:
            raise freed(self.name)
        gs = {0: g} if self.dtype is not None else g
        if recording is not None:
            return self._recorded(gs, recording)
        leaves, structure = self.results
        bars = [gs.get(i, _zero(leaf)) for i, leaf in enumerate(leaves)]
        returned = self.pull(pytree.unflatten(structure, bars))
        found = {name: pytree.leaves(bar) for name, bar in zip(self.leaves, returned)}
        return [found[name][i] for name, i in self.places]

    def _recorded(self, gs: Mapping[int, Any], recording: type[Value]) -> Sequence[Any]:
        leaves = {name: list(found) for name, (found, _) in self.leaves.items()}
        targets: list[Any] = []
        for parent, (name, i) in zip(self.parents, self.places, strict=True):
            data = leaves[name][i]
            node = Identity((parent,), dtype_of(data))
            leaves[name][i] = Variable.make(data, node)
            targets.append(node)
        with modes.enable_grad():
            out = self.again({n: pytree.unflatten(self.leaves[n][1], found) for n, found in leaves.items()})
        ends = [(o.parent(), gs[i]) for i, o in enumerate(pytree.leaves(out)) if isinstance(o, Value) and i in gs]
        seeds = [(parent, c) for parent, c in ends if parent is not None]
        swept = sweep(seeds, keep=True, recording=True, targets=targets) if seeds else []
        found = {key(target): c for target, c in swept}
        return [found.get(key(target)) for target in targets]

    def release(self) -> None:
        self.pull = None


def _zero(leaf: Any) -> Any:
    return np.zeros_like(leaf)[()] if pytree.carries_derivative(leaf) else leaf


def call(driver: Driver, values: Mapping[str, Any], others: Sequence[Any]) -> Any:
    """The result of a gradient on Variables, as one node, in a tuple; None if the call has to be recorded.

    values: the arguments by parameter. others: what the function relies on.
    """
    flat = {name: pytree.flatten(value) for name, value in values.items()}
    variables = [leaf for leaves, _ in flat.values() for leaf in leaves if isinstance(leaf, Value)]
    if not variables or is_recording() or any(type(v).copies for v in variables) or given.is_recording([*others]):
        return None
    plain = {name: pytree.unflatten(s, [_data(leaf) for leaf in leaves]) for name, (leaves, s) in flat.items()}
    places = [
        (name, i)
        for name, (leaves, _) in flat.items()
        for i, leaf in enumerate(leaves)
        if isinstance(leaf, Value) and leaf.parent() is not None
    ]
    quiet = is_quiet(variables)
    if quiet or not places or not modes.state.enabled:
        return (_constant(driver, plain, quiet),)
    if driver.request.backend == "numba":
        return None
    check_arguments(plain, driver.request.selection)
    params = tuple(dict.fromkeys(name for name, _ in places))
    if not _can_be_repeated(driver, params, plain):
        return None
    pair = _derived(driver, "vjp", params)
    compiled = pair.variant(plain).compiled
    if compiled.refusal is not None or compiled.writes:
        return None
    out, pullback = pulled(pair, plain, [Slot(name, None, plain[name], True) for name in params])
    node = CompiledNode([flat[name][0][i].parent() for name, i in places], None)
    kept = pytree.copied(plain)
    node.called = driver.function.__name__
    node.pull, node.places = pullback, places
    node.leaves = {name: pytree.flatten(kept[name]) for name in params}
    node.again = lambda changed: driver.recorded({**kept, **changed})
    leaves, structure = node.results = pytree.flatten(out)
    if len(leaves) == 1 and pytree.carries_derivative(leaves[0]):
        node.dtype = dtype_of(leaves[0])
    if modes.state.enabled is not True:
        modes.state.enabled.note(node)
    return (pytree.unflatten(structure, [_result(node, i, leaf) for i, leaf in enumerate(leaves)]),)


def _constant(driver: Driver, plain: Mapping[str, Any], quiet: bool) -> Any:
    """The result where nothing is recorded."""
    args, keywords = driver.layout.spread(plain)
    leaves, structure = pytree.flatten(driver.call(*args, **keywords))
    made = [Variable.make(leaf) if pytree.carries_derivative(leaf) else leaf for leaf in leaves]
    for leaf in made:
        if quiet and isinstance(leaf, Value):
            leaf._wants = VOLATILE
    return pytree.unflatten(structure, made)


def _result(node: CompiledNode, i: int, leaf: Any) -> Any:
    if not pytree.carries_derivative(leaf):
        return leaf
    data = np.array(leaf) if isinstance(leaf, np.ndarray) else leaf
    return Variable.make(data, node if node.dtype is not None else Output(node, i, dtype_of(leaf)))


def _data(leaf: Any) -> Any:
    return leaf._data if isinstance(leaf, Value) else leaf


def _derived(driver: Driver, mode: Any, params: tuple[str, ...]) -> Driver:
    """What differentiates the gradient itself by some parameters."""
    selection = Selection(tuple(map(Wanted, params)), single=False)
    return driver.derived.setdefault(
        (mode, params), Driver(driver.function, Request(mode, selection, strict=False), driver)
    )


def _can_be_repeated(driver: Driver, params: tuple[str, ...], plain: Mapping[str, Any]) -> bool:
    return _derived(driver, "jvp", params).variant(dict(plain)).compiled.repeatable


drivers.on_variables = call
