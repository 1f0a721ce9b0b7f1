"""Is what the compiler makes of a function right? Value, gradient and tangent, against differences and the tape.

`verify(f, args)` raises AssertionError where anything disagrees, and tells what could be compared.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import s2s
from s2s import core
from s2s import kinds as K
from s2s.autograd.record import tape_value_and_grad
from s2s.codegen.build import build
from s2s.codegen.writer import write_function
from s2s.transforms.pipeline import stages
from s2s.transforms.task import Task

STEPS = 1e-5, 3e-6
LARGE = 1e6  # beyond this, differences and rounding tell little


@dataclass
class Outcome:
    """What was compared.

    compiled: else the tape was taken, for the `reason`.
    refused: a write was refused that reads what it has written.
    raised: the function raised, and so did its gradient.
    finite: else there is nothing to compare with differences. At a `kink` these do not agree among themselves.
    second: whether the second derivative was compared.
    """

    compiled: bool = True
    reason: str = ""
    raised: bool = False
    refused: bool = False
    finite: bool = True
    kink: bool = False
    second: bool = False


# --- trees of numbers ---


def leaves(tree: Any) -> Iterator[Any]:
    """The numbers, arrays and other leaves of a container."""
    if isinstance(tree, dict):
        children: Sequence[Any] = list(tree.values())
    elif dataclasses.is_dataclass(tree):
        children = [getattr(tree, f.name) for f in dataclasses.fields(tree)]
    elif isinstance(tree, (list, tuple)):
        children = tree
    else:
        yield tree
        return
    for child in children:
        yield from leaves(child)


def mapped(function: Callable[..., Any], tree: Any, *others: Any) -> Any:
    """A container of the same structure with `function` applied to its leaves."""
    if isinstance(tree, dict):
        return {k: mapped(function, v, *(o[k] for o in others)) for k, v in tree.items()}
    if dataclasses.is_dataclass(tree):
        names = [f.name for f in dataclasses.fields(tree)]
        return replace(tree, **{n: mapped(function, getattr(tree, n), *(getattr(o, n) for o in others)) for n in names})
    if isinstance(tree, (list, tuple)):
        items = [mapped(function, *parts) for parts in zip(tree, *others)]
        return type(tree)(*items) if hasattr(tree, "_fields") else type(tree)(items)
    return function(tree, *others)


def is_float(leaf: Any) -> bool:
    return isinstance(leaf, (float, np.generic, np.ndarray)) and np.asarray(leaf).dtype.kind == "f"


def differentiable(args: Sequence[Any]) -> list[int]:
    """The positions of the arguments that hold a float."""
    return [i for i, arg in enumerate(args) if any(map(is_float, leaves(arg)))]


def direction(rng: np.random.Generator, tree: Any) -> Any:
    """A random tangent in the structure, shapes and dtypes of a tree; None for what carries no derivative."""

    def draw(leaf: Any) -> Any:
        if not is_float(leaf):
            return None
        if isinstance(leaf, np.ndarray):
            return rng.normal(size=leaf.shape).astype(leaf.dtype)
        return type(leaf)(rng.normal())

    return mapped(draw, tree)


def inner(gradient: Any, tangent: Any) -> float:
    """The derivative along a tangent, by the gradient."""
    pairs = zip(leaves(gradient), leaves(tangent), strict=True)
    return float(sum(np.sum(np.multiply(g, d, dtype=float)) for g, d in pairs if d is not None))


def widened(leaf: Any) -> Any:
    """In double precision."""
    if isinstance(leaf, np.ndarray) and leaf.dtype == np.float32:
        return leaf.astype(float)
    return float(leaf) if isinstance(leaf, np.float32) else leaf


def same(a: Any, b: Any) -> bool:
    """Equal bit for bit, in type too."""
    x, y = np.asarray(a), np.asarray(b)
    return type(a) is type(b) and x.dtype == y.dtype and x.tobytes() == y.tobytes()


# --- what is compared ---


def verify(
    f: Any,
    args: Sequence[Any],
    argnums: int | Sequence[int] | None = None,
    *,
    each_stage: bool = True,
    second: bool = False,
    seed: int = 0,
) -> Outcome:
    """Compare everything that is generated for a call of `f`; `argnums` are all that hold a float, if not given.

    each_stage: run the program after each pass too. second: compare a second derivative.
    """
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return _verify(f, args, argnums, each_stage, second, np.random.default_rng(seed))


def _verify(
    f: Any,
    args: Sequence[Any],
    argnums: int | Sequence[int] | None,
    each_stage: bool,
    second: bool,
    rng: np.random.Generator,
) -> Outcome:
    found = Outcome()
    argnums = differentiable(args) if argnums is None else [argnums] if isinstance(argnums, int) else list(argnums)
    plain = run(f, args)
    gradient = s2s.value_and_grad(f, argnums, strict=True)
    try:
        gradient.source(*args)
    except s2s.UnsupportedSyntaxError as refusal:
        assert "fault of its own" not in str(refusal), refusal
        found.compiled, found.reason = False, refusal.message
        gradient = s2s.value_and_grad(f, argnums)
    if isinstance(plain, Exception):
        found.raised = True
        raised = run(gradient, args, keep=True)
        assert type(raised) is type(plain) and raised.args == plain.args, f"{raised!r} instead of {plain!r}"
        return found
    try:
        value, gradients = run_or_raise(gradient, args)
    except s2s.InplaceModificationError as refusal:
        assert "still reads" in str(refusal), refusal
        found.refused, found.finite = True, False
        return found
    assert same(value, plain), f"the value is {value!r}, not {plain!r}"
    fits(gradients, [args[i] for i in argnums])
    tangents = [direction(rng, arg) if i in argnums else None for i, arg in enumerate(args)]
    single = any(np.asarray(leaf).dtype == np.float32 for leaf in leaves(args))
    found.finite = all(np.all(np.abs(leaf) < LARGE) for leaf in [value, *leaves(gradients)] if is_float(leaf))
    if found.finite:
        along = inner(gradients, [tangents[i] for i in argnums])
        found.kink = not agrees_with_differences(f, args, tangents, along, single)
        agrees_with_tape(f, args, argnums, gradients, 1e-4 if single else 1e-9)
        agrees_with_forward_mode(f, args, tangents, plain, along, 1e-4 if single else 1e-9, found.compiled)
    if found.compiled and each_stage:
        tolerance = 1e-4 if single else 1e-9
        check_stages(gradient, args, plain, gradients, tolerance if found.finite else None)
    if second and found.finite and not found.kink and not single:
        found.second = second_derivative_agrees(f, args, argnums, tangents)
    return found


def run(f: Any, args: Sequence[Any], *, keep: bool = False) -> Any:
    """What a call on copies of the arguments returns, or raises.

    keep: the call must leave its arguments as they were, also where the function writes into them, and what it returns
        must not share memory with them, nor among itself.
    """
    given = copy.deepcopy(args)
    try:
        result = f(*given)
    except Exception as error:
        return error
    if keep:
        assert mapped(type, given) == mapped(type, args), "the structure of an argument was changed"
        for before, after in zip(leaves(args), leaves(given), strict=True):
            assert same(before, after), f"an argument was changed: {after!r}, not {before!r}"
        apart(result, given)
    return result


def apart(results: Any, args: Any) -> None:
    """The arrays of what was returned share no memory with arguments, nor with each other."""
    arrays, others = [], [leaf for leaf in leaves(args) if isinstance(leaf, np.ndarray)]
    for leaf in leaves(results):
        if isinstance(leaf, np.ndarray):
            for other in (*arrays, *others):
                assert not np.may_share_memory(leaf, other), f"{leaf!r} shares memory with another"
            arrays.append(leaf)


def run_or_raise(f: Any, args: Sequence[Any]) -> Any:
    """What a call returns that leaves its arguments as they were."""
    result = run(f, args, keep=True)
    if isinstance(result, Exception):
        raise result
    return result


def fits(gradients: Sequence[Any], args: Sequence[Any]) -> None:
    """Each gradient has the structure of its argument, its shapes and dtypes."""
    assert len(gradients) == len(args)
    for g, arg in zip(gradients, args):
        assert type(g) is type(arg) or np.isscalar(arg), f"a {type(g)} as gradient by a {type(arg)}"
        for got, given in zip(leaves(g), leaves(arg), strict=True):
            if isinstance(given, np.ndarray) and is_float(given):
                assert isinstance(got, np.ndarray), got
                assert got.shape == given.shape and got.dtype == given.dtype, (got, given)
                assert got.flags.writeable


def close(got: float, expected: float, tolerance: float) -> bool:
    return abs(got - expected) <= tolerance * max(1.0, abs(expected))


def agrees_with_differences(f: Any, args: Sequence[Any], tangents: Sequence[Any], along: float, single: bool) -> bool:
    """Compare with central differences of two step sizes; False where these disagree, at a kink."""
    tangents = mapped(widened, spread(tangents, args))
    args = mapped(widened, list(args))

    def moved(h: float) -> Any:
        return run(f, mapped(lambda x, d: moved_by(x, h, d), args, tangents))

    quotients = []
    for h in STEPS:
        up, down = moved(h), moved(-h)
        if isinstance(up, Exception) or isinstance(down, Exception):
            return False
        quotients.append(float(up - down) / (2 * h))
    if not close(*quotients, 1e-4):
        return False
    tolerance = 1e-2 if single else 2e-4
    assert close(along, quotients[0], tolerance), f"the gradient gives {along!r}, differences {quotients}"
    return True


def moved_by(x: Any, step: float, tangent: Any) -> Any:
    """A leaf, moved along its tangent; an array is laid out as it was, which decides what is a view of it."""
    if tangent is None or not isinstance(x, np.ndarray):
        return x if tangent is None else x + step * tangent
    return np.add(x, step * tangent, out=np.empty_like(x))


def spread(tangents: Sequence[Any], args: Sequence[Any]) -> list[Any]:
    """Tangents with None for each leaf of the arguments that have none."""
    return [mapped(lambda leaf: None, arg) if t is None else t for t, arg in zip(tangents, args)]


def agrees_with_tape(f: Any, args: Sequence[Any], argnums: Sequence[int], gradients: Any, tolerance: float) -> None:
    names = f.__code__.co_varnames[: f.__code__.co_argcount]
    wrt = tuple(names[i] for i in argnums)
    _, _, by_name = tape_value_and_grad(f, wrt, copy.deepcopy(list(args)), {}, False, 1.0, False)
    equal_trees(gradients, [by_name[n] for n in wrt], tolerance, "the tape")


def equal_trees(got: Any, expected: Any, tolerance: float, what: str) -> None:
    for g, e in zip(leaves(got), leaves(expected), strict=True):
        if is_float(e):
            scale = max(1.0, float(np.max(np.abs(e), initial=0.0)))
            assert np.all(np.abs(np.asarray(g) - e) <= tolerance * scale), f"{g!r}, but {what} gives {e!r}"


def agrees_with_forward_mode(
    f: Any, args: Sequence[Any], tangents: Sequence[Any], plain: Any, along: float, tolerance: float, compiled: bool
) -> None:
    value, tangent = run_or_raise(functools.partial(s2s.jvp, f, strict=compiled), (tuple(args), tuple(tangents)))
    assert same(value, plain), f"forward mode gives the value {value!r}, not {plain!r}"
    assert close(float(tangent), along, tolerance), f"forward mode gives {tangent!r}, the gradient {along!r}"


def second_derivative_agrees(
    f: Any, args: Sequence[Any], argnums: Sequence[int], tangents: Sequence[Any], h: float = 1e-5
) -> bool:
    """Compare reverse over reverse, and forward over reverse, with differences of the gradient, all along `tangents`.

    False where it cannot be told: at a kink of the gradient, or where a second derivative is not finite.
    """
    gradient = s2s.grad(f, argnums)
    moved = [tangents[i] for i in argnums]

    def slope(*args: Any) -> Any:
        return sum(np.sum(g * d) for g, d in zip(leaves(gradient(*args)), leaves(moved)) if d is not None)

    along = spread(tangents, args)
    quotients = []
    for step in (h, h / 3):
        ends = [mapped(lambda x, d: moved_by(x, s, d), list(args), along) for s in (step, -step)]
        up, down = (run(slope, end) for end in ends)
        if isinstance(up, Exception) or isinstance(down, Exception):
            return False
        quotients.append(float(up - down) / (2 * step))
    if not close(*quotients, 1e-4) or not abs(quotients[0]) < LARGE:
        return False
    twice = inner(run_or_raise(s2s.grad(slope, argnums), args), moved)
    assert close(twice, quotients[0], 2e-4), f"reverse over reverse gives {twice!r}, differences {quotients}"
    _, mixed = run_or_raise(functools.partial(s2s.jvp, slope), (tuple(args), tuple(tangents)))
    assert close(float(mixed), twice, 1e-9), f"forward over reverse gives {mixed!r}, reverse over reverse {twice!r}"
    return True


# --- stages ---


def check_stages(gradient: Any, args: Sequence[Any], value: Any, gradients: Any, tolerance: float | None) -> None:
    """Each stage is Core Python until operations are folded, and does the same: the primal's the value, then all.

    tolerance: of gradients; None compares values alone, where gradients are not finite.
    """
    for name, program in stages_of(gradient, args):
        result = run(build(program).function, args)
        if isinstance(result, Exception):
            result.add_note(f"after `{name}`:\n{write_function(program)}")
            raise result
        found, others = result if isinstance(result, tuple) else (result, None)
        assert same(found, value), f"after `{name}` the value is {found!r}, not {value!r}:\n{write_function(program)}"
        if others is not None and tolerance is not None:
            equal_trees(others, gradients, tolerance, f"the stage after `{name}`")


def stages_of(gradient: Any, args: Sequence[Any], **changes: Any) -> Iterator[tuple[str, core.Function]]:
    """The program after each pass for a call of a gradient function, checked as far as it is Core."""
    values = gradient.driver.bind(tuple(args), {})
    kinds = {name: K.of(value) for name, value in values.items()}
    task: Task = replace(gradient.driver.task(kinds), **changes)
    core_so_far = True
    for name, program in stages(gradient.driver.lowered(kinds, None), task):
        core_so_far = core_so_far and name != "fold"
        if core_so_far:
            core.check(program)
        yield name, program
