"""A user's function on the tape: run it once on Traced values, then differentiate the record.

The value is the plain call's, bit for bit; side effects and random draws happen once; exceptions pass as they are. The
arguments are not changed: arrays are copied at entry. Arguments that share memory may be read, but not written.

`tape_value_and_grad` is what the API calls for functions that are not compiled. Within a record it is called with
Traced values among the arguments or in the function's cells; then the gradient is itself recorded
(`create_graph=True`), and its leaves stand apart from those of the outer record, so that the derivatives cannot be
confused.
"""

from __future__ import annotations

import functools
import inspect
import threading
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2s.autograd import dispatch, modes
from s2s.autograd.border import fit
from s2s.autograd.engine import key, sweep
from s2s.autograd.rebuild import Rebuilder, is_full
from s2s.autograd.refusals import refusals
from s2s.autograd.routes import Routes
from s2s.autograd.strip import strip, stripped
from s2s.autograd.texts import Text, written
from s2s.autograd.traced import Traced
from s2s.autograd.value import Identity, Node, Value, dtype_of, ndarray
from s2s.autograd.variable import Variable
from s2s.errors import ArgumentError, no_value
from s2s.runtime import pytree

_NUMBERS = (float, complex, np.floating, np.complexfloating)


@dataclass(frozen=True)
class Leaf:
    """A leaf of an argument: what was given, and where its cotangent arrives (None if it carries no derivative)."""

    given: Any
    parent: Node | Value | None


@dataclass(frozen=True)
class Record:
    """A run of a function.

    output: what it returned, with Traced values.
    leaves: by name of the parameters asked for, the structure of the argument and its leaves.
    """

    output: Any
    leaves: dict[str, tuple[Any, list[Leaf]]]


@dataclass(frozen=True)
class Ran:
    """A record when its function has returned, before anything is taken out of the user's things.

    output: what was returned, in a list. given: the arguments, by name. copies: their leaves, as they were and as the
        function saw them.
    """

    output: list[Any]
    given: dict[str, Any]
    copies: dict[str, list[tuple[Any, Any]]]
    leaves: dict[str, tuple[Any, list[Leaf]]]
    rebuilder: Rebuilder


def record(
    f: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    wrt: Sequence[str],
    check: Callable[[Ran], None] | None = None,
) -> Record:
    """Run a function with the parameters `wrt` as leaves of a new record.

    check: is told when it has returned, and may raise.
    """
    bound = inspect.signature(f, follow_wrapped=False).bind(*args, **kwargs)
    bound.apply_defaults()
    rebuilder = Rebuilder(routes := Routes(f, bound.arguments))
    if isinstance(f, types.FunctionType):
        rebuilder.unrebuilt.exempt(f.__code__)
    entry = _Entry(rebuilder)
    leaves: dict[str, tuple[Any, list[Leaf]]] = {}
    copies: dict[str, list[tuple[Any, Any]]] = {}
    made: list[tuple[Any, Any]] = []
    passed = dict(bound.arguments)
    for name, value in passed.items():
        given, structure = pytree.flatten(value)
        made = [entry.argument(leaf, name in wrt) for leaf in given]
        copies[name] = [(leaf, traced) for leaf, (traced, _) in zip(given, made, strict=True)]
        bound.arguments[name] = pytree.unflatten(structure, [traced for traced, _ in made])
        if name in wrt:
            if made and all(parent is None for _, parent in made):
                raise ArgumentError(
                    f"cannot differentiate by {name!r}: it is of type {_kind(value)} and holds no float",
                    hint="pass floats: 2.0 for 2, x.astype(float) for an integer array",
                )
            leaves[name] = structure, [Leaf(leaf, parent) for leaf, (_, parent) in zip(given, made, strict=True)]
    unknown = [name for name in wrt if name not in leaves]
    if unknown:
        raise ArgumentError(f"{_name(f)} has no parameter {unknown[0]!r}", hint=f"it has {list(bound.arguments)}")
    entry.guard()
    routes.arguments(passed, bound.arguments)
    _nesting.places.append([])
    refusals.records += 1
    try:
        with modes.enable_grad():
            output = [_callable(f, rebuilder)(*bound.args, **bound.kwargs)]
        refusal = refusals.first()
        if refusal is not None:
            raise refusal
        routes.check()
        if check is not None:
            del made  # only what it is told of may hold values of the record
            check(Ran(output, bound.arguments, copies, leaves, rebuilder))
    except BaseException as error:
        refusal = refusals.first()
        if refusal is not None and isinstance(error, Exception) and error is not refusal:
            raise refusal from error
        if len(_nesting.places) == 1:
            error.args = stripped(error.args)
            strip([error.__dict__])
        raise
    finally:
        _leave([*rebuilder.write_back(), getattr(f, "__self__", f), *_objects(bound.arguments)])
    return Record(output[0], leaves)


class _Nesting(threading.local):
    """The records that run in this thread, the innermost last: for each, where Values may be left."""

    def __init__(self) -> None:
        self.places: list[list[Any]] = []


_nesting = _Nesting()


def is_recording() -> bool:
    """Whether a function is being recorded in this thread."""
    return bool(_nesting.places)


def _leave(places: list[Any]) -> None:
    """At the end of a record, take its Values out of the user's things; those of an outer record stay till its end."""
    mine = [*_nesting.places.pop(), *places]
    refusals.records -= 1
    if not _nesting.places:
        refusals.clear()
        written.texts.clear()
    if _nesting.places:
        _nesting.places[-1].extend(mine)
    else:
        strip(mine)


def _objects(arguments: Mapping[str, Any]) -> list[Any]:
    """Objects among the arguments that are no pytrees: the function works on the caller's own."""
    return [v for v in arguments.values() if hasattr(v, "__dict__") and not callable(v) and not isinstance(v, Value)]


def _callable(f: Any, rebuilder: Rebuilder) -> Any:
    call = vars(type(f)).get("__call__") or getattr(type(f), "__call__", None)  # noqa: B004 - not a test
    if isinstance(call, types.FunctionType):
        rebuilder.unrebuilt.exempt(call.__code__)
    made = rebuilder.counterpart(f)
    if made is not f or isinstance(f, (types.FunctionType, types.MethodType)):
        return made
    return types.MethodType(rebuilder.counterpart(call), f) if isinstance(call, types.FunctionType) else f


class _Entry:
    """Turns the leaves of arguments into Traced values, which share no memory with the caller's."""

    def __init__(self, rebuilder: Rebuilder) -> None:
        self._rebuilder = rebuilder

    def argument(self, leaf: Any, wanted: bool) -> tuple[Any, Node | Value | None]:
        """The value that the function sees, and where its cotangent arrives."""
        if isinstance(leaf, Value):
            return self._inner(leaf, wanted)
        if isinstance(leaf, np.memmap):
            leaf = np.asarray(leaf)
        if type(leaf) is ndarray and not leaf.dtype.hasobject:
            return self._array(leaf, wanted)
        if wanted and not isinstance(leaf, (*_NUMBERS, int, str, bytes, np.integer, np.bool_, type(None))):
            raise ArgumentError(
                f"cannot differentiate by an argument that holds {_kind(leaf)}", hint="pass numbers or arrays"
            )
        if isinstance(leaf, _NUMBERS):
            if not wanted:
                return leaf, None
            traced = Traced.make(leaf)
            return self._leaf(traced, dtype_of(leaf))
        # what a callable is rebuilt from is looked at there
        return self._rebuilder.counterpart(leaf), None

    def _leaf(self, traced: Traced, dtype: np.dtype[Any]) -> tuple[Any, Node]:
        # the leaf itself is never in the function's hands, so that the function may write into its argument
        leaf = Traced.make(traced._data)
        leaf._wants = True
        traced._node = node = Identity((leaf,), dtype)
        return traced, node

    def _inner(self, outer: Value, wanted: bool) -> tuple[Any, Node | Value | None]:
        """A value of an outer record: a copy with a place of its own in the graph."""
        data = outer._data
        parent = outer.parent()
        copy = _copied(data) if type(data) is ndarray else data
        if dtype_of(data).kind not in "fc":
            return copy, None
        if parent is None:
            return self._leaf(Traced.make(copy), dtype_of(data)) if wanted else (Traced.make(copy), None)
        node = Identity((parent,), dtype_of(data))
        return Traced.make(copy, node), node if wanted else None

    def _array(self, array: ndarray, wanted: bool) -> tuple[Any, Node | None]:
        if array.dtype.kind not in "fc":
            return _copied(array), None
        traced = Traced.make(_copied(array))
        self._rebuilder.copies.setdefault(id(dispatch.root(array)), []).append(traced)
        return self._leaf(traced, array.dtype) if wanted else (traced, None)

    def guard(self) -> None:
        """Arguments that share memory cannot be written: their copies do not share it."""
        for traced in self._rebuilder.copies.values():
            if len(traced) > 1:
                for one in traced:
                    one.storage().guard = "it shares its memory with another argument"


def _copied(array: ndarray) -> ndarray:
    """A copy that may be written into where the array may."""
    copy = np.array(array)
    copy.flags.writeable = array.flags.writeable
    return copy


def tape_value_and_grad(
    f: Callable[..., Any],
    wrt: Sequence[str],
    args: Sequence[Any],
    kwargs: Mapping[str, Any] | None = None,
    has_aux: bool = False,
    seed: Any = None,
    create_graph: bool = False,
) -> tuple[Any, Any, dict[str, Any]]:
    """The value of `f(*args, **kwargs)`, its auxiliary result (None without `has_aux`), and gradients by parameter.

    wrt: names of parameters; each gradient has the structure and dtypes of its argument. A variadic parameter counts as
        a tuple or dict.
    seed: the cotangent of the value, 1 by default.
    create_graph: return Values that continue the graph: the value, the auxiliary result and the gradients.

    Raises ArgumentError if the value is not a scalar. The convention for complex numbers is d = sum(real(g * dx)).
    """
    run = record(f, args, kwargs or {}, wrt)
    value, aux = run.output, None
    if has_aux:
        if not isinstance(value, tuple) or len(value) != 2:
            raise ArgumentError(f"with has_aux, {_name(f)} must return (value, aux), not {_kind(value)}")
        value, aux = value
    gradients = pull(run, value, _seed(f, value, seed, create_graph), create_graph)
    if not create_graph:
        return _plain(value), _plain(aux), gradients
    return visible(value), visible(aux), visible(gradients)


def tape_gradient(
    f: Callable[..., Any],
    wrt: Sequence[str],
    args: Sequence[Any],
    kwargs: Mapping[str, Any] | None = None,
    create_graph: bool = False,
) -> dict[str, Any]:
    """The gradients alone; see `tape_value_and_grad`."""
    return tape_value_and_grad(f, wrt, args, kwargs, create_graph=create_graph)[2]


def pull(run: Record, output: Any, seed: Any, create_graph: bool = False) -> dict[str, Any]:
    """The gradients by the leaves of a record, for a cotangent `seed` of `output`, one of the values it returned."""
    return pull_all(run, [(output, seed)], create_graph, create_graph)


def pull_all(run: Record, seeds: Sequence[tuple[Any, Any]], keep: bool, create_graph: bool = False) -> dict[str, Any]:
    """The same for several values that it returned, each with its cotangent.

    keep: whether the record can be differentiated once more.
    """
    targets = [leaf.parent for _, leaves in run.leaves.values() for leaf in leaves if leaf.parent is not None]
    parents = [(output.parent() if isinstance(output, Value) else None, seed) for output, seed in seeds]
    starts = [(parent, seed) for parent, seed in parents if parent is not None]
    found: dict[int, Any] = {}
    if starts and targets:
        swept = sweep(starts, keep=keep, recording=create_graph, targets=targets)
        found = {key(target): g for target, g in swept}
    result = {}
    for name, (structure, leaves) in run.leaves.items():
        gs = [_gradient(leaf, found, create_graph) for leaf in leaves]
        result[name] = pytree.unflatten(structure, gs)
    return result


def _gradient(leaf: Leaf, found: dict[int, Any], create_graph: bool) -> Any:
    if leaf.parent is None:
        return leaf.given
    given = leaf.given._data if isinstance(leaf.given, Value) else leaf.given
    g = found.get(key(leaf.parent))
    if create_graph:
        return g if g is not None else Traced.make(np.zeros_like(given)[()])
    g = np.zeros_like(given) if g is None else fit(g, dtype_of(given))
    if type(given) is ndarray:
        return np.array(g)
    return type(given)(np.asarray(g)[()])


def _seed(f: Any, value: Any, seed: Any, recording: bool) -> Any:
    data = value._data if isinstance(value, Value) else value
    if data is None:
        raise no_value(_name(f).removesuffix("()"))
    if not isinstance(data, (ndarray, np.number, float, int, complex)) or isinstance(data, bool):
        raise ArgumentError(f"{_name(f)} must return a scalar to have a gradient, not {_kind(value)}")
    if np.size(data) != 1:
        raise ArgumentError(
            f"{_name(f)} must return a scalar to have a gradient, not an array of shape {np.shape(data)}",
            hint="return one number: sum the result, or weigh it, before it is returned",
        )
    if seed is None:
        seed = np.ones_like(data, dtype=dtype_of(data) if dtype_of(data).kind in "fc" else float)[()]
    if isinstance(seed, Value):
        return seed if recording else seed._data
    seed = np.broadcast_to(np.asarray(seed), np.shape(data))[()]
    return Traced.make(seed) if recording else seed


def _plain(tree: Any) -> Any:
    """The tree without Traced values."""
    if isinstance(tree, Traced):
        return tree._data
    leaves, structure = pytree.flatten(tree)
    if not any(isinstance(leaf, (Traced, Text)) for leaf in leaves):
        return tree
    return pytree.unflatten(structure, [stripped(leaf) for leaf in leaves])


def visible(tree: Any) -> Any:
    """The tree as users see it: outside of all records, Variables in the place of Traced values."""
    if _nesting.places:
        return tree

    def shown(leaf: Any) -> Any:
        if not isinstance(leaf, Traced):
            return leaf
        parent = leaf.parent()
        return Variable.make(leaf._data) if parent is None else Variable.linked(leaf._data, parent)

    return pytree.map(shown, tree)


def contains_variable(tree: Any) -> bool:
    """Whether a tree holds a Variable; of functions, whether a cell, a default or the object of a method does."""
    return _contains(tree, set())


def _contains(tree: Any, seen: set[int]) -> bool:
    if isinstance(tree, Value):
        return True
    for leaf in pytree.leaves(tree):
        if isinstance(leaf, Value):
            return True
        if callable(leaf) and id(leaf) not in seen:
            seen.add(id(leaf))
            if any(_contains(part, seen) for part in _parts(leaf)):
                return True
    return False


def _parts(function: Any) -> list[Any]:
    """What a callable carries along."""
    if isinstance(function, types.MethodType):
        return [function.__func__, getattr(function.__self__, "__dict__", None)]
    if isinstance(function, functools.partial):
        return [function.func, function.args, function.keywords]
    if isinstance(function, types.FunctionType):
        cells = [c.cell_contents for c in function.__closure__ or () if is_full(c)]
        return [*cells, function.__defaults__, function.__kwdefaults__]
    inner = getattr(function, "__wrapped__", None)
    return [] if inner is None else [inner]


def _name(f: Any) -> str:
    return f"{getattr(f, '__name__', type(f).__name__)}()"


def _kind(value: Any) -> str:
    data = value._data if isinstance(value, Value) else value
    return f"{type(data).__name__} of {data.dtype}" if isinstance(data, ndarray) else type(data).__name__
