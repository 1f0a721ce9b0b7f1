"""Is a gradient right? Each of its elements is compared with differences of the function.

An element is held to its own size: beside one of 1e8, an element that should be 1 and is 2 is wrong. What differences
can tell is limited by the noise of the function, which is estimated for each element (`differences.py`). Elements
beyond the first few hundred are drawn at random, and random directions test all of them at once: the derivative along
a direction d is the inner product of the gradient with d.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from s2s.api import grad, value_and_grad
from s2s.compiler.argnums import Argnums, select
from s2s.compiler.forward import target_and_inner
from s2s.compiler.layout import layout_of
from s2s.errors import ArgumentError, S2SError
from s2s.runtime import pytree
from s2s.tools.differences import Slope, central_slope, complex_slope

Method = Literal["central", "complex"]

# So many elements are compared one by one, and so many mismatches are shown.
MAX_ELEMENTS = 200
MAX_SHOWN = 10


class CheckError(S2SError, AssertionError):
    """A gradient differs from differences of its function."""

    __str__ = S2SError.__str__


@dataclass(frozen=True)
class Mismatch:
    """One place where they differ: as it would be written, the gradient there, and the difference quotient."""

    place: str
    gradient: Any
    expected: Any

    def __str__(self) -> str:
        return f"{self.place}: the gradient is {_shown(self.gradient)}, differences give {_shown(self.expected)}"


@dataclass(frozen=True)
class ValueMismatch(Mismatch):
    """The value that `value_and_grad` gives, where it is not the function's own to the last bit."""

    def __str__(self) -> str:
        return f"{self.place}: value_and_grad gives {self.gradient!r}, the function {self.expected!r}"


def _shown(value: Any) -> str:
    return f"{value:.9g}" if isinstance(value, float) else str(value)


@dataclass(frozen=True)
class Report:
    """What a check found: no mismatches, if `ok`.

    unclear: places where the function is too noisy, or not defined around the point, for differences to tell.
    """

    function: str
    mismatches: tuple[Mismatch, ...]
    unclear: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the gradient agrees."""
        return not self.mismatches

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        if not self.ok:
            return "\n  ".join(
                [f"the gradient of {self.function} differs from differences at", *map(str, self.mismatches)]
            )
        text = f"the gradient of {self.function} agrees with differences"
        if self.unclear:
            more = ", ..." if len(self.unclear) > MAX_SHOWN else ""
            text += f", which cannot tell {', '.join(self.unclear[:MAX_SHOWN])}{more}"
        return text


def check(
    f: Callable[..., Any],
    *args: Any,
    argnums: Argnums = 0,
    gradient: Callable[..., Any] | None = None,
    method: Method = "central",
    directions: int = 4,
    rtol: float | None = None,
    atol: float = 0.0,
    seed: int = 0,
    raise_exception: bool = True,
) -> Report:
    """Compare a gradient of `f` at some arguments with differences of `f`.

    Of our own gradient, the value of `value_and_grad` is compared with that of `f` too, bit for bit.

    args: the arguments of `f`, which are not changed. If the first is a function, it is the gradient to be checked (as
        `gradient` is).
    argnums: the parameters to differentiate by, as for `grad`.
    gradient: the user's own gradient: takes the arguments of `f`, returns what `grad(f, argnums)` would.
    method: "central" or "complex" (for functions that take complex arguments and are analytic).
    directions: how many random directions are tried, beside 200 elements, if there are more elements than these.
    rtol: how far an element may be off in relation to its size; without it, what the dtype and the method can tell.
    atol: how far any element may be off. The noise of the difference quotient is allowed for in any case.
    seed: of the random elements and directions.
    raise_exception: raise CheckError if they differ; else the report says so.

    Raises ArgumentError if `f` gives no scalar, or another value at each call.

    >>> import s2s
    >>> def f(x):
    ...     return x**3
    >>> s2s.check(f, 2.0).ok
    True
    >>> print(s2s.check(f, lambda x: 2 * x**2, 2.0, raise_exception=False))
    the gradient of f differs from differences at
      x: the gradient is 8, differences give 12
    """
    if gradient is None and args and callable(args[0]):
        gradient, args = args[0], args[1:]
    selected = _places(f, argnums, len(args))
    point = _Point(f, args, selected, method)
    mismatches = [] if gradient is not None else list(_compare_values(f, args, argnums))
    found = (gradient or grad(f, argnums))(*_copies(args))
    gradients = [found] if isinstance(argnums, (int, str)) else list(found)
    comparison = _Comparison(point, pytree.leaves(gradients), rtol, atol)
    mismatches += comparison.mismatches(directions, np.random.default_rng(seed))
    report = Report(getattr(f, "__name__", repr(f)), tuple(mismatches), tuple(comparison.unclear))
    if raise_exception and not report.ok:
        raise CheckError(str(report))
    return report


def _places(f: Any, argnums: Argnums, count: int) -> list[tuple[int, str]]:
    """The positions of the arguments to differentiate by, and their names."""
    target, _ = target_and_inner(f, argnums)
    layout = layout_of(target.function)
    found = []
    for wanted in select(layout, argnums, len(target.bound)).wanted:
        if wanted.param == layout.vararg and isinstance(wanted.key, int):
            position, name = len(layout.positional) - len(target.bound) + wanted.key, f"{wanted.param}[{wanted.key}]"
        elif wanted.param in layout.positional:
            position, name = layout.positional.index(wanted.param) - len(target.bound), wanted.param
        else:
            raise ArgumentError(f"check passes arguments by position only, and {wanted} takes none")
        if position >= count:
            raise ArgumentError(f"check got {count} arguments of {f!r}, and {name} is not among them")
        found.append((position, name))
    return found


def _copies(args: Sequence[Any]) -> list[Any]:
    """The arguments with arrays of their own, into which a function may write."""
    return [pytree.map(lambda leaf: leaf.copy() if isinstance(leaf, np.ndarray) else leaf, arg) for arg in args]


def _compare_values(f: Callable[..., Any], args: Sequence[Any], argnums: Argnums) -> Iterator[Mismatch]:
    """The value that comes with our gradient, if it is not that of the function."""
    value, plain = value_and_grad(f, argnums)(*_copies(args))[0], f(*_copies(args))
    if _bits(value) == _bits(plain):
        return
    if _bits(f(*_copies(args))) != _bits(plain):
        raise ArgumentError(
            "check needs a function that gives the same value at each call", hint="draw random numbers outside of it."
        )
    yield ValueMismatch("its value", value, plain)


def _bits(value: Any) -> Any:
    array = np.asarray(value)
    return type(value), array.dtype, array.shape, array.tobytes()


class _Point:
    """A function at some arguments, and its slopes along directions of those at `selected` positions."""

    def __init__(
        self, f: Callable[..., Any], args: Sequence[Any], selected: Sequence[tuple[int, str]], method: Method
    ) -> None:
        self.f = f
        self.args = list(args)
        self.positions = [position for position, _ in selected]
        self.leaves, self.structure = pytree.flatten([args[p] for p in self.positions])
        # dicts are flattened in another order than they are written in
        numbered = pytree.unflatten(self.structure, range(len(self.leaves)))
        written = [(name + rest, i) for (_, name), tree in zip(selected, numbered) for rest, i in pytree.paths(tree)]
        self.names = {i: place for place, i in written}
        self.active = [i for i, leaf in enumerate(self.leaves) if pytree.carries_derivative(leaf)]
        self.method = method
        if method == "complex" and any(np.iscomplexobj(self.leaves[i]) for i in self.active):
            raise ArgumentError("a complex step tells nothing of complex arguments", hint='leave `method` "central".')
        dtypes = [np.asarray(self.leaves[i]).dtype for i in self.active]
        out = np.asarray(f(*_copies(args)))
        if out.size != 1:
            raise ArgumentError(f"check needs a scalar result, and got one of shape {out.shape}")
        dtypes.append(out.dtype if out.dtype.kind in "fc" else np.dtype(float))
        self.eps = max(float(np.finfo(d).eps) for d in dtypes)

    def slope(self, direction: dict[int, Any]) -> Slope:
        """The derivative along a direction, which is given for some of the leaves."""
        if self.method == "complex":
            return complex_slope(lambda step: self._value(direction, step))
        sizes = [float(np.max(np.abs(self.leaves[i][d != 0] if np.ndim(d) else self.leaves[i]), initial=0.0))
                 for i, d in direction.items()]  # fmt: skip
        return central_slope(lambda step: float(np.real(self._value(direction, step))), max([1.0, *sizes]), self.eps)

    def _value(self, direction: dict[int, Any], step: complex) -> Any:
        moved = [leaf.copy() if isinstance(leaf, np.ndarray) else leaf for leaf in self.leaves]
        for i, d in direction.items():
            leaf = self.leaves[i]
            new = np.asarray(leaf) + step * d
            if not np.iscomplexobj(step):
                new = new.astype(np.asarray(leaf).dtype)
            moved[i] = new if isinstance(leaf, np.ndarray) else new[()].item()
        args = _copies(self.args)
        for position, tree in zip(self.positions, pytree.unflatten(self.structure, moved)):
            args[position] = tree
        with np.errstate(all="ignore"):
            return np.asarray(self.f(*args)).reshape(())[()]


@dataclass(frozen=True)
class _Element:
    """An element of the gradient, of which a complex one has two parts."""

    leaf: int
    index: tuple[int, ...]
    imaginary: bool


class _Comparison:
    """A gradient, as leaves, beside the slopes at a point.

    unclear: filled by `mismatches`; see Report.
    """

    def __init__(self, point: _Point, gradient: Sequence[Any], rtol: float | None, atol: float) -> None:
        self.point = point
        self.gradient = gradient
        self.unclear: list[str] = []
        power = 0.95 if point.method == "complex" else 0.6
        self.rtol = min(0.05, 100 * point.eps**power) if rtol is None else rtol
        self.atol = atol

    def mismatches(self, directions: int, rng: np.random.Generator) -> list[Mismatch]:
        """The places where they differ, ten at most."""
        return self._misshapen() or list(itertools.islice(self._differing(directions, rng), MAX_SHOWN))

    def _misshapen(self) -> list[Mismatch]:
        found, leaves = self.gradient, self.point.leaves
        if len(found) != len(leaves):
            return [Mismatch("its structure", f"{len(found)} leaves", f"{len(leaves)} leaves")]
        return [
            Mismatch(f"the shape of {self.point.names[i]}", np.shape(found[i]), np.shape(leaves[i]))
            for i in self.point.active
            if np.shape(found[i]) != np.shape(leaves[i])
        ]

    def _differing(self, directions: int, rng: np.random.Generator) -> Iterator[Mismatch]:
        arrays = {i: np.asarray(self.gradient[i]) for i in self.point.active}
        finite = [np.abs(a[np.isfinite(a)]) for a in arrays.values()]
        self.largest = max((float(np.max(a, initial=0.0)) for a in finite), default=0.0)
        elements = self._elements()
        chosen = elements
        if len(elements) > MAX_ELEMENTS:
            odd = [e for e in elements if not np.isfinite(self._got(e))][:MAX_SHOWN]
            drawn = rng.choice(len(elements), MAX_ELEMENTS, replace=False)
            chosen = list(dict.fromkeys([*odd, *(elements[i] for i in sorted(drawn))]))
        alike = True
        for element in chosen:
            for mismatch in self._at(element):
                alike = False
                yield mismatch
        if alike and len(elements) > MAX_ELEMENTS:
            yield from self._along_directions(arrays, directions, rng)

    def _elements(self) -> list[_Element]:
        leaves = self.point.leaves
        return [
            _Element(i, index, imaginary)
            for i in self.point.active
            for index in np.ndindex(np.shape(leaves[i]))
            for imaginary in ((False, True) if np.iscomplexobj(leaves[i]) else (False,))
        ]

    def _got(self, element: _Element) -> float:
        value = np.asarray(self.gradient[element.leaf])[element.index]
        return float(value.imag if element.imaginary else value.real)

    def _at(self, element: _Element) -> Iterator[Mismatch]:
        """The mismatch of an element, if there is one."""
        place = self.point.names[element.leaf]
        if element.index:
            place += f"[{', '.join(map(str, element.index))}]"
        if np.iscomplexobj(self.point.leaves[element.leaf]):
            place += ".imag" if element.imaginary else ".real"
        along = np.zeros(np.shape(self.point.leaves[element.leaf]), complex if element.imaginary else float)
        along[element.index] = 1j if element.imaginary else 1.0
        slope = self.point.slope({element.leaf: along})
        # d = real(g * dx), so that along 1j the slope is minus the imaginary part
        want = -slope.value if element.imaginary else slope.value
        yield from self._compare(place, self._got(element), want, slope, 0.0)

    def _along_directions(
        self, arrays: dict[int, Any], directions: int, rng: np.random.Generator
    ) -> Iterator[Mismatch]:
        for k in range(directions):
            direction = {i: self._drawn(i, rng) for i in arrays}
            products = [np.real(arrays[i] * d) for i, d in direction.items()]
            # A sum of terms that cancel is known no better than its largest terms.
            terms = max(float(np.max(np.abs(p), initial=0.0)) for p in products)
            slope = self.point.slope(direction)
            got = sum(float(np.sum(p)) for p in products)
            yield from self._compare(f"random direction {k}, all elements", got, slope.value, slope, terms)

    def _drawn(self, i: int, rng: np.random.Generator) -> Any:
        shape = np.shape(self.point.leaves[i])
        d = rng.choice([-1.0, 1.0], shape)
        return d + 1j * rng.choice([-1.0, 1.0], shape) if np.iscomplexobj(self.point.leaves[i]) else d

    def _compare(self, place: str, got: float, want: float, slope: Slope, terms: float) -> Iterator[Mismatch]:
        if not np.isfinite(got) and not np.isfinite(want):
            self.unclear.append(place)
            return
        # The gradient was computed in rounded arithmetic from terms that may be as large as its largest elements.
        rounding = 10 * self.point.eps * self.largest
        noise = 3 * slope.error + rounding
        if not abs(got - want) <= self.atol + self.rtol * max(abs(want), terms) + noise:
            yield Mismatch(place, got, want)
        elif noise > 0.1 * max(abs(got), abs(want)) and (abs(got) > rounding or slope.error > 100 * slope.rounding):
            self.unclear.append(place)
