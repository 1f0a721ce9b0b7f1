"""Calls that are recorded by themselves, among compiled code: what their functions return, and their two sweeps.

A function that cannot be compiled need not send all that calls it to the tape. But of what it returns nothing is known
before it has run, and nothing may run twice. So its caller is recorded as a whole the first time, and what the function
returned is observed (`OBSERVED`): the kinds of its arguments, and that of its result. From then on the caller is
compiled for these kinds, and the call is a pair like any other, whose forward sweep keeps a record of the call:

    y, record = g_fwd(a, n)             a_bar = g_bwd(record, y_bar)

If the function returns something else some day, or passes a value on by another way than its result
(`autograd/alone.py`), an error is raised before anything is returned, and the caller is recorded as a whole again:
generated code cannot go on in another form in its middle, and to start again would run everything twice.
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import CellType, CodeType, FunctionType
from typing import Any

import numpy as np

from s2s import kinds as K
from s2s.autograd import rebuild
from s2s.autograd.alone import Call, Watched
from s2s.autograd.strip import plain
from s2s.compiler.reliance import contents
from s2s.errors import DynamicCallError, NotCompiled, S2SError
from s2s.kinds import Kind
from s2s.transforms.usercalls import Callee, widened

# Kinds of arguments that are kept for one function; then it is not called by itself any more.
_MOST = 16

Seen = tuple[tuple[Kind, ...], Kind]


class Observations:
    """What functions were seen to return, by code; and those that are not to be recorded by themselves."""

    def __init__(self) -> None:
        self._seen: dict[CodeType, dict[tuple[Kind, ...], tuple[Seen, ...]]] = {}  # by what closure cells hold
        self._refused: set[CodeType] = set()
        self._lock = threading.Lock()

    def note(self, function: FunctionType, arguments: Iterable[Any], result: Any) -> None:
        """A function was called with some arguments, or arguments of some kinds, and has returned."""
        kinds, code = tuple(widened(K.of(a)) for a in arguments), function.__code__
        with self._lock:
            by_cells = dict(self._seen.get(code, {}))
            seen = dict(by_cells.get(_cells(function), ()))
            seen[kinds] = K.join(seen.get(kinds, K.NEVER), widened(K.of(result)))
            by_cells[_cells(function)] = tuple(seen.items())
            self._seen[code] = by_cells
            if max(len(seen), len(by_cells)) > _MOST or not _can_return(seen[kinds]):
                self._refused.add(code)

    def refuse(self, code: CodeType) -> None:
        """From now on what calls the function is recorded as a whole."""
        with self._lock:
            self._refused.add(code)

    def is_refused(self, code: CodeType) -> bool:
        return code in self._refused

    def has_seen(self, code: CodeType) -> bool:
        return code in self._seen

    def result(self, callee: Callee, kinds: Sequence[Kind]) -> Kind:
        """The kind of what a function has returned for such arguments; UNKNOWN where that was not seen."""
        code = callee.function.__code__
        kinds = kinds[callee.itself is not None :]
        if code in self._refused or not all(map(_can_be_passed, kinds)):
            return K.UNKNOWN
        seen = self._seen.get(code, {}).get(_cells(callee.function), ())
        results = [result for given, result in seen if _covers(kinds, given)]
        return K.joined(results) if results else K.UNKNOWN

    def state(self, codes: Iterable[CodeType]) -> Any:
        """What is known of some functions, to be compared."""
        return tuple((code, code in self._refused, tuple(self._seen.get(code, {}).items())) for code in codes)


OBSERVED = Observations()


def _cells(function: FunctionType) -> tuple[Kind, ...]:
    """The kinds of the numbers and arrays that a function's closure cells hold."""
    kinds = [widened(K.of(value)) for value in contents(function)]
    return tuple(kind for kind in kinds if K.dtype_of(kind) is not None)


def _can_be_passed(kind: Kind) -> bool:
    """Whether a value of this kind can be passed: a number, an array, a constant, a container of these."""
    inner = K.children(kind)
    if inner is not None:
        return not isinstance(kind, K.Record) and all(map(_can_be_passed, inner))
    return isinstance(kind, (K.Scalar, K.Int, K.Bool, K.Str, K.NoneKind, K.Array, K.Static))


def _can_return(kind: Kind) -> bool:
    """Whether a result of this kind can be taken: a number, an array, None, a tuple of these."""
    if isinstance(kind, K.Tuple):
        return kind.cls is tuple and all(_can_return(k) and not isinstance(k, K.Tuple) for k in kind.items)
    return isinstance(kind, (K.Scalar, K.Int, K.Bool, K.NoneKind, K.Array))


def _covers(kinds: Sequence[Kind], given: Sequence[Kind]) -> bool:
    return len(kinds) == len(given) and all(_fits(k, g) for k, g in zip(map(widened, kinds), given))


def _fits(declared: Kind, kind: Kind) -> bool:
    return K.join(declared, kind) == declared


# --- while a function is recorded as a whole ----------------------------------------------------------------------


@contextmanager
def observing(codes: Iterable[CodeType]) -> Iterator[None]:
    """While this lasts, what functions of some codes return in records is noted."""
    watched = frozenset(codes)

    def watch(function: FunctionType, rebuilt: FunctionType, rebuilder: rebuild.Rebuilder) -> Any:
        if function.__code__ not in watched:
            return rebuilt

        @functools.wraps(rebuilt)
        def call(*args: Any, **keywords: Any) -> Any:
            kinds = [K.of(plain(a)) for a in (*args, *keywords.values())]
            watched = Watched([*args, *keywords.values()], rebuilder)
            output = [rebuilt(*args, **keywords)]
            if watched.stands_alone(output):
                OBSERVED.note(function, kinds, plain(output[0]))
            else:
                OBSERVED.refuse(function.__code__)
            return output[0]

        return call

    with rebuild.watching(watch):
        yield


# --- the sweeps of one call ---------------------------------------------------------------------------------------


class _Kept:
    """What `store.Backward` says of a reverse sweep: this one works on a record, which nobody else has."""

    undoes = False
    inner: Mapping[int, Any] = {}

    def copied(self, residuals: Any) -> Any:
        return residuals


class RecordedPair:
    """The sweeps of a call that is recorded by itself."""

    fresh: tuple[bool, ...] = ()
    built = None
    sweep = _Kept()

    def __init__(self, callee: Callee, kinds: Sequence[Kind], active: Sequence[str]) -> None:
        self.result = OBSERVED.result(callee, kinds)
        self.callee = callee
        by_param = dict(zip(callee.params, kinds))
        for param in active:
            if not isinstance(by_param[param], (K.Scalar, K.Array)):
                raise NotCompiled(f"a container of active values enters `{callee.name}`, which cannot be compiled")
        self.wrt = self.by_name(active)
        self.forward = CellType(self.run)
        self.backward = CellType(self.pull)

    def by_name(self, active: Sequence[str]) -> tuple[str, ...]:
        """The names of the function's own parameters, which it is recorded by."""
        own = [*inspect.signature(self.callee.function, follow_wrapped=False).parameters]
        if not set(active) <= set(own):
            raise NotCompiled(f"an active value enters a variadic parameter of `{self.callee.name}`")
        return tuple(active)

    def run(self, *values: Any) -> tuple[Any, Call]:
        """The value of the call, and its record."""
        function = values[0] if self.callee.itself is not None else self.callee.function
        given = values[self.callee.itself is not None :]
        count = len(given) - len(self.callee.keywords)
        names = self.callee.params[self.callee.itself is not None :]
        # What may be a float may be an integer this time, which has no derivative.
        wrt = [n for n, v in zip(names, given) if n in self.wrt and not isinstance(v, (int, np.integer))]
        try:
            record = Call(function, given[:count], dict(zip(self.callee.keywords, given[count:])), wrt)
        except S2SError:
            OBSERVED.refuse(function.__code__)
            raise
        if not _fits(self.result, widened(K.of(record.value))):
            OBSERVED.note(function, given, record.value)
            raise DynamicCallError(
                f"`{self.callee.name}`, a call of which was recorded by itself, returned {_said(record.value)}, and "
                "something else before, for such arguments",
                hint="call the gradient again: it knows of both from now on.",
            )
        return record.value, record

    def pull(self, record: Call, bar: Any) -> Any:
        """The cotangents of the active arguments."""
        bars = list(bar) if isinstance(self.result, K.Tuple) else [bar]
        found = record.pull(bars)
        cotangents = [found.get(name, 0.0) for name in self.wrt]
        return cotangents[0] if len(cotangents) == 1 else tuple(cotangents)


def checked(callee: Callee, kinds: Sequence[Kind]) -> CellType:
    """The function that makes a call without derivatives, which must keep to the same."""
    pair = RecordedPair(callee, kinds, ())

    def call(*values: Any) -> Any:
        return pair.run(*values)[0]

    return CellType(call)


def _said(value: Any) -> str:
    return f"{type(value).__name__} of shape {value.shape}" if hasattr(value, "shape") else type(value).__name__


# --- which function is to blame -----------------------------------------------------------------------------------


def to_blame(refusal: S2SError, root: FunctionType, functions: Iterable[FunctionType]) -> FunctionType | None:
    """The function, among some, whose text a refusal points into; None where that is the root's own."""
    origin = refusal.origin
    if origin is None:
        return None
    found = [
        (last - first, function)
        for function in (root, *functions)
        if function.__code__.co_filename == origin.file and function.__code__.co_name == origin.function
        for first, last in [_lines(function.__code__)]
        if first <= origin.line <= last
    ]
    nearest = min(found, key=lambda entry: entry[0], default=(0, root))[1]
    return None if nearest is root else nearest


def _lines(code: CodeType) -> tuple[int, int]:
    numbers = [line for _, _, line in code.co_lines() if line is not None]
    inner = [_lines(c) for c in code.co_consts if isinstance(c, CodeType)]
    return min([*numbers, *(a for a, _ in inner)]), max([*numbers, *(b for _, b in inner)])
