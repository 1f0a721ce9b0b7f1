"""The object that `jacobian(f)` returns: a function like `f` that gives all its derivatives, entry by entry.

By rows: the compiled forward sweep runs once, and the reverse sweep once for each entry of the value. By columns: the
tangent program runs once for each entry of the arguments, so it serves only where nobody can tell how often it runs
(`transforms/repeats.py`). `jacrev` and `jacfwd` prefer the one or the other, and `jacobian` the one with fewer runs;
all take the other where theirs does not compile, and the tape where neither does.

In the convention for complex numbers, d = sum(real(g * dx)), a real entry of the value has one row, its gradient g. The
two parts of a complex one have a row each. By a complex argument the columns along 1 and 1j give g.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from s2s.autograd.record import contains_variable
from s2s.autograd.value import Value
from s2s.codegen.build import listing
from s2s.compiler.argnums import Argnums, Selection, Wanted, select
from s2s.compiler.arguments import check_arguments
from s2s.compiler.derivative import GradientFunction, named
from s2s.compiler.driver import Driver, Request
from s2s.compiler.fallback import Fallback
from s2s.compiler.forward import Forward, target_and_inner, zero_tangent
from s2s.compiler.given import Values
from s2s.compiler.program import PROGRAM
from s2s.compiler.pullback import Pullback, Slot, pulled
from s2s.compiler.target import Derived
from s2s.errors import ArgumentError
from s2s.runtime import pytree

Order = Literal["jacobian", "jacrev", "jacfwd"]


class JacobianFunction(Derived):
    """All derivatives of a function; called with the function's own arguments.

    fallbacks: what was recorded on the tape so far, where and why.
    """

    __name__: str
    __qualname__: str

    def __init__(
        self,
        f: Callable[..., Any],
        order: Order,
        argnums: Argnums = 0,
        has_aux: bool = False,
        holomorphic: bool = False,
        strict: bool = False,
    ) -> None:
        """order: which way is preferred."""
        self._arguments = (f, order, argnums, has_aux, holomorphic, strict)
        self._order = order
        self._has_aux = has_aux
        self._holomorphic = holomorphic
        target, inner = target_and_inner(f, argnums)
        super().__init__(target)
        self._bound, self._keywords = target.bound, target.keywords
        inside = inner.driver if inner else None
        any_way = Driver(target.function, Request("jvp", Selection((), single=False)), inside)
        name = getattr(f, "__name__", target.function.__name__)
        self._selection = select(any_way.layout, argnums, len(target.bound), name)
        params = Selection(tuple(map(Wanted, self._selection.params)), single=False)
        self._reverse = Driver(target.function, Request("vjp", params, has_aux, strict), inside)
        # Its refusals are no error: the other way may serve.
        self._forward = Driver(target.function, Request("jvp", params), inside)
        functools.update_wrapper(self, f if hasattr(f, "__name__") else target.function, updated=())
        self.__wrapped__: Any = f

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        values = self._values(args, keywords)
        if not contains_variable([*values.values()]):
            check_arguments(values, self._selection)
        slots = [Slot(w.param, w.key, w.of(values[w.param]), True) for w in self._selection.wanted]
        self._check_slots(slots)
        forward = Forward(self._forward, values, once=True)
        columns = sum(np.size(leaf) for slot in slots for leaf in pytree.leaves(slot.value) if _is_active(leaf))
        out: Any
        aux: Sequence[Any]
        if self._forward_first(columns) and _serves(forward):
            out, aux, table = self._by_columns(forward, values, slots)
        else:
            out, pull, *aux = pulled(self._reverse, values, slots)
            self._check_value(out, slots)
            rows = sum(np.size(leaf) for leaf in pytree.leaves(out) if _is_active(leaf))
            if self._order == "jacobian" and rows > columns and _serves(forward):
                out, aux, table = self._by_columns(forward, values, slots)
            else:
                table = self._by_rows(out, pull, slots)
        found = self._assembled(out, slots, table)
        return (found, *aux) if self._has_aux else found

    def _forward_first(self, columns: int) -> bool:
        return self._order == "jacfwd" or (self._order == "jacobian" and columns == 1)

    def __repr__(self) -> str:
        _, order, argnums, *_ = self._arguments
        return f"<{order} of {self.__qualname__} by {argnums!r}>"

    def __get__(self, instance: Any, owner: type | None = None) -> JacobianFunction:
        """On methods argnums count after `self`."""
        f = self._arguments[0]
        if instance is None and not isinstance(f, classmethod):
            return self
        if self._bound or not isinstance(f, (types.FunctionType, classmethod, GradientFunction)):
            return self
        return type(self)(f.__get__(instance, owner), *self._arguments[1:])

    def __reduce__(self) -> Any:
        """By qualified name, where that leads here; else by what it was made from."""
        if named(self.__module__, self.__qualname__) is self:
            return self.__qualname__
        return type(self), self._arguments

    @property
    def fallbacks(self) -> list[Fallback]:
        """What was recorded on the tape so far, where and why."""
        return list(self._reverse.fallbacks.records)

    def source(self, *example_args: Any, **example_keywords: Any) -> str:
        """The generated source for arguments like these: of the tangent program, or of the two sweeps.

        Empty if the tape serves.
        """
        values = self._values(example_args, example_keywords)
        if self._order == "jacfwd" and _serves(forward := Forward(self._forward, values, once=True)):
            assert forward.compiled.built is not None
            return listing(PROGRAM.callees.with_callees(forward.compiled.built))
        compiled = self._reverse.variant(values).compiled
        if compiled.built is None or compiled.backward is None:
            return ""
        return listing(PROGRAM.callees.with_callees(compiled.built, compiled.backward.built))

    def _values(self, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> Values:
        return self._reverse.bind((*self._bound, *args), {**self._keywords, **keywords})

    # --- what is refused ---

    def _check_slots(self, slots: Sequence[Slot]) -> None:
        if not self._holomorphic:
            return
        for slot in slots:
            if any(_is_active(leaf) and not np.iscomplexobj(_data(leaf)) for leaf in pytree.leaves(slot.value)):
                raise ArgumentError(
                    f"holomorphic=True differentiates by complex numbers, and {slot.place} holds real ones",
                    hint="make it complex: x.astype(complex).",
                )

    def _check_value(self, out: Any, slots: Sequence[Slot]) -> None:
        leaves = [leaf for leaf in pytree.leaves(out) if _is_active(leaf)]
        if not leaves:
            raise ArgumentError(
                f"{self.__name__} returned no float that could have a derivative",
                hint="return floats or arrays of floats.",
            )
        complexes = [np.iscomplexobj(_data(leaf)) for leaf in leaves]
        if self._holomorphic and not all(complexes):
            raise ArgumentError("holomorphic=True is for functions with complex values, and this one is real")
        if self._holomorphic or not any(complexes):
            return
        for slot in slots:
            if any(_is_active(leaf) and np.iscomplexobj(_data(leaf)) for leaf in pytree.leaves(slot.value)):
                raise ArgumentError(
                    f"the value is complex, and so is {slot.place}: a Jacobian needs a holomorphic function then",
                    hint="pass holomorphic=True if it is one; else differentiate the real and the imaginary part.",
                )

    # --- the two ways; each gives, by leaf of the value and by slot, a Jacobian for each leaf of the slot ---

    def _by_rows(self, out: Any, pull: Pullback, slots: Sequence[Slot]) -> list[list[list[Any]] | None]:
        leaves, structure = pytree.flatten(out)

        def row(index: int, entry: int, unit: complex) -> list[list[Any]]:
            seed = [_unit(leaf, entry, unit) if i == index else zero_tangent(leaf) for i, leaf in enumerate(leaves)]
            return [pytree.leaves(bar) for bar in pull(pytree.unflatten(structure, seed))]

        table: list[list[list[Any]] | None] = []
        for index, leaf in enumerate(leaves):
            if not _is_active(leaf):
                table.append(None)
                continue
            in_two = np.iscomplexobj(_data(leaf)) and not self._holomorphic
            rows = []
            for entry in range(np.size(_data(leaf))):
                found = row(index, entry, 1)
                if in_two:
                    found = _combined(found, row(index, entry, -1j), 1j)
                rows.append(found)
            table.append([self._stacked(rows, s, slot, leaf) for s, slot in enumerate(slots)])
        return table

    def _stacked(self, rows: Sequence[list[list[Any]]], s: int, slot: Slot, out: Any) -> list[Any]:
        return [
            _shaped([row[s][i] for row in rows], out, x, 0) if _is_active(x) else None
            for i, x in enumerate(pytree.leaves(slot.value))
        ]

    def _by_columns(
        self, forward: Forward, values: Values, slots: Sequence[Slot]
    ) -> tuple[Any, list[Any], list[list[list[Any]] | None]]:
        still = {name: zero_tangent(values[name]) for name in self._selection.params}

        def push(dots: Mapping[str, Any]) -> tuple[Any, list[Any], list[Any]]:
            out, out_dot = forward.push(dots)
            if not self._has_aux:
                return out, [], pytree.leaves(out_dot)
            if not isinstance(out, tuple) or len(out) != 2:
                raise ArgumentError(f"with has_aux, {self.__name__} must return (value, aux)")
            return out[0], [out[1]], pytree.leaves(out_dot[0])

        first = None
        columns: list[list[list[list[Any]]]] = []  # by slot, leaf of it, entry of that: the tangents of the value
        for slot in slots:
            leaves, _ = pytree.flatten(slot.value)
            of_slot = []
            for i, leaf in enumerate(leaves):
                found = []
                for entry in range(np.size(_data(leaf)) if _is_active(leaf) else 0):
                    out, aux, column = push(_moved(still, slot, i, _unit(leaf, entry, 1)))
                    first = first or (out, aux)
                    self._check_value(out, slots)
                    if np.iscomplexobj(_data(leaf)) and not self._holomorphic:
                        (column,) = _combined([column], [push(_moved(still, slot, i, _unit(leaf, entry, 1j)))[2]], -1j)
                    found.append(column)
                of_slot.append(found)
            columns.append(of_slot)
        if first is None:
            first = push(still)[:2]
        out, aux = first
        self._check_value(out, slots)
        table: list[list[list[Any]] | None] = []
        for k, y in enumerate(pytree.leaves(out)):
            if not _is_active(y):
                table.append(None)
                continue
            table.append([
                [
                    _shaped([column[k] for column in found], y, x, -1) if _is_active(x) else None
                    for x, found in zip(pytree.leaves(slot.value), of_slot)
                ]
                for slot, of_slot in zip(slots, columns)
            ])  # fmt: skip
        return out, aux, table

    def _assembled(self, out: Any, slots: Sequence[Slot], table: Sequence[list[list[Any]] | None]) -> Any:
        """In the structure of the value, and within it in that of the arguments."""
        structures = [pytree.flatten(slot.value)[1] for slot in slots]

        def by_slots(entry: list[list[Any]] | None) -> Any:
            if entry is None:
                return None
            parts = tuple(pytree.unflatten(structure, leaves) for structure, leaves in zip(structures, entry))
            return parts[0] if self._selection.single else parts

        return pytree.unflatten(pytree.flatten(out)[1], [by_slots(entry) for entry in table])


def _serves(forward: Forward) -> bool:
    """Whether the tangent program is compiled, and nobody can tell how often it runs."""
    return not forward.nested and forward.refusal is None


def _data(leaf: Any) -> Any:
    return leaf._data if isinstance(leaf, Value) else leaf


def _is_active(leaf: Any) -> bool:
    return pytree.carries_derivative(_data(leaf))


def _unit(leaf: Any, entry: int, unit: complex) -> Any:
    """A tangent or cotangent of a leaf: `unit` at one entry, zeros elsewhere."""
    data = _data(leaf)
    value = unit if np.iscomplexobj(data) else unit.real
    if not isinstance(data, np.ndarray):
        return type(data)(value)
    made = np.zeros_like(data)
    made.flat[entry] = value
    return made


def _moved(still: Mapping[str, Any], slot: Slot, index: int, tangent: Any) -> Mapping[str, Any]:
    """The tangents of the parameters, of which one leaf of one slot moves."""
    whole = still[slot.param]
    leaves, structure = pytree.flatten(whole if slot.key is None else whole[slot.key])
    leaves[index] = tangent
    part = pytree.unflatten(structure, leaves)
    if slot.key is not None:
        items: Iterator[Any] = ((key, part if key == slot.key else old) for key, old in pytree.children(whole))
        part = dict(items) if isinstance(whole, dict) else tuple(item for _, item in items)
    return {**still, slot.param: part}


def _combined(first: list[list[Any]], second: list[list[Any]], factor: complex) -> list[list[Any]]:
    """`first + factor * second`, leaf by leaf."""
    return [[a + factor * b if _is_active(a) else a for a, b in zip(x, y)] for x, y in zip(first, second)]


def _shaped(parts: Sequence[Any], out: Any, x: Any, axis: int) -> Any:
    """The Jacobian of a leaf of the value by a leaf of the arguments, of shape `out.shape + x.shape`.

    parts: its rows (axis 0) or columns (axis -1). It has the dtype of the argument, a complex one where the value is.
    """
    y, given = _data(out), _data(x)
    shape = (*np.shape(y), *np.shape(given))
    dtype = given.dtype if isinstance(given, (np.ndarray, np.generic)) else np.dtype(type(given))
    if np.iscomplexobj(y):
        dtype = np.result_type(dtype, np.complex64)
    if not parts:
        return np.zeros(shape, dtype)
    stacked = np.stack(parts, axis=axis)
    if any(isinstance(part, Value) for part in parts):
        return np.reshape(stacked, shape)
    stacked = np.reshape(stacked, shape).astype(dtype, copy=False)
    if shape or isinstance(given, np.ndarray):
        return stacked
    python = isinstance(given, (float, complex)) and not isinstance(given, np.generic)
    return stacked.item() if python else stacked[()]


class HessianFunction(JacobianFunction):
    """The second derivatives of a function of real arguments: the Jacobian of its gradient."""

    def _check_slots(self, slots: Sequence[Slot]) -> None:
        for slot in slots:
            if any(_is_active(leaf) and np.iscomplexobj(_data(leaf)) for leaf in pytree.leaves(slot.value)):
                raise ArgumentError(
                    f"a Hessian is by real numbers, and {slot.place} holds complex ones",
                    hint="take the real and the imaginary part as arguments.",
                )
