"""Is a gradient right? It is compared with differences of the function, and where it is not, the place is found.

Along a random direction d the derivative of f is the inner product of its gradient with d; one number tests all
elements at once. Differences are central, with one step of Richardson's extrapolation (error h**4), or a complex step,
which has no cancellation but asks for an analytic function (Squire and Trapp, SIAM Review 40, 1998). Where the two
differ, elements are tried one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from s2s.api import grad
from s2s.compiler.argnums import Argnums, select
from s2s.compiler.derivative import GradientFunction
from s2s.compiler.layout import layout_of
from s2s.compiler.target import target_of
from s2s.errors import ArgumentError, S2SError
from s2s.runtime import pytree

Method = Literal["central", "complex"]


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


def _shown(value: Any) -> str:
    return f"{value:.9g}" if isinstance(value, float) else str(value)


@dataclass(frozen=True)
class Report:
    """What a check found: nothing, if `ok`."""

    function: str
    mismatches: tuple[Mismatch, ...]

    @property
    def ok(self) -> bool:
        """Whether the gradient agrees."""
        return not self.mismatches

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        if self.ok:
            return f"the gradient of {self.function} agrees with differences"
        return "\n  ".join([f"the gradient of {self.function} differs from differences at", *map(str, self.mismatches)])


def check(
    f: Callable[..., Any],
    *args: Any,
    argnums: Argnums = 0,
    gradient: Callable[..., Any] | None = None,
    method: Method = "central",
    directions: int = 4,
    rtol: float | None = None,
    atol: float | None = None,
    seed: int = 0,
    raise_exception: bool = True,
) -> Report:
    """Compare a gradient of `f` at some arguments with differences of `f`.

    args: the arguments of `f`. If the first is a function, it is the gradient to be checked (as `gradient` is).
    argnums: the parameters to differentiate by, as for `grad`.
    gradient: the user's own gradient: takes the arguments of `f`, returns what `grad(f, argnums)` would.
    method: "central" or "complex" (for functions that take complex arguments and are analytic).
    directions: how many random directions are tried.
    rtol, atol: tolerances; without them, what the dtype and the method can tell.
    raise_exception: raise CheckError if they differ; else the report says so.

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
    found = (gradient or grad(f, argnums))(*args)
    gradients = (found,) if isinstance(argnums, (int, str)) else tuple(found)
    point = _Point(f, args, [position for position, _ in selected], method)
    report = Report(
        getattr(f, "__name__", repr(f)), tuple(point.compare(selected, gradients, directions, rtol, atol, seed))
    )
    if raise_exception and not report.ok:
        raise CheckError(str(report))
    return report


def _places(f: Any, argnums: Argnums, count: int) -> list[tuple[int, str]]:
    """The positions of the arguments to differentiate by, and their names."""
    target = f if isinstance(f, GradientFunction) else None
    function, bound = (target.primal, target.bound) if target else (lambda t: (t.function, t.bound))(target_of(f))
    layout = layout_of(function)
    found = []
    for wanted in select(layout, argnums, len(bound)).wanted:
        if wanted.param == layout.vararg and isinstance(wanted.key, int):
            position, name = len(layout.positional) - len(bound) + wanted.key, f"{wanted.param}[{wanted.key}]"
        elif wanted.param in layout.positional:
            position, name = layout.positional.index(wanted.param) - len(bound), wanted.param
        else:
            raise ArgumentError(f"check passes arguments by position only, and {wanted} takes none")
        if position >= count:
            raise ArgumentError(f"check got {count} arguments of {f!r}, and {name} is not among them")
        found.append((position, name))
    return found


class _Point:
    """A function at some arguments, moved along directions of those at `positions`."""

    def __init__(self, f: Callable[..., Any], args: Sequence[Any], positions: Sequence[int], method: Method) -> None:
        self.f = f
        self.args = list(args)
        self.positions = positions
        self.leaves, self.structure = pytree.flatten([args[p] for p in positions])
        self.active = [i for i, leaf in enumerate(self.leaves) if pytree.carries_derivative(leaf)]
        self.method = method
        dtypes = [np.asarray(self.leaves[i]).dtype for i in self.active]
        self.eps = max((float(np.finfo(d).eps) for d in dtypes), default=float(np.finfo(float).eps))

    def compare(
        self,
        selected: Sequence[tuple[int, str]],
        gradients: Sequence[Any],
        directions: int,
        rtol: float | None,
        atol: float | None,
        seed: int,
    ) -> Iterator[Mismatch]:
        """The places where gradients differ from differences."""
        names = [name + rest for (p, name) in selected for rest, _ in pytree.paths(self.args[p])]
        found = pytree.leaves(list(gradients))
        if len(found) != len(self.leaves):
            yield Mismatch("its structure", f"{len(found)} leaves", f"{len(self.leaves)} leaves")
            return
        shapes = [
            Mismatch(f"the shape of {names[i]}", np.shape(found[i]), np.shape(self.leaves[i]))
            for i in self.active
            if np.shape(found[i]) != np.shape(self.leaves[i])
        ]
        if shapes:
            yield from shapes
            return
        default = self.eps ** (0.95 if self.method == "complex" else 0.6) * 100
        self.rtol = default if rtol is None else rtol
        self.atol = default if atol is None else atol
        rng = np.random.default_rng(seed)
        drawn = [self._direction(rng) for _ in range(directions)]
        if all(self._agree(self._along(found, d), self.slope(d), found, d) for d in drawn):
            return
        yield from self._located(names, found)

    def _located(self, names: Sequence[str], found: Sequence[Any]) -> Iterator[Mismatch]:
        """Each element that differs (ten of them at most)."""
        shown = 0
        for i in self.active:
            for index in np.ndindex(np.shape(self.leaves[i])):
                direction = [np.zeros(np.shape(leaf)) for leaf in self.leaves]
                direction[i][index] = 1.0
                got, want = self._along(found, direction), self.slope(direction)
                if not self._agree(got, want, found, direction):
                    yield Mismatch(names[i] + (f"[{', '.join(map(str, index))}]" if index else ""), got, want)
                    shown += 1
                    if shown == 10:
                        return
        if not shown:
            yield Mismatch("a random direction, but no single element", "off", "see tolerances")

    def _direction(self, rng: np.random.Generator) -> list[Any]:
        drawn = []
        for leaf in self.leaves:
            d = rng.standard_normal(np.shape(leaf))
            drawn.append(d + 1j * rng.standard_normal(np.shape(leaf)) if np.iscomplexobj(leaf) else d)
        size = np.sqrt(sum(float(np.sum(np.abs(drawn[i]) ** 2)) for i in self.active))
        return [d / size for d in drawn]

    def _along(self, gradient: Sequence[Any], direction: Sequence[Any]) -> float:
        return sum(float(np.sum(np.real(np.asarray(gradient[i]) * direction[i]))) for i in self.active)

    def _agree(self, got: float, want: float, gradient: Sequence[Any], direction: Sequence[Any]) -> bool:
        # A sum of terms that cancel is known no better than its largest terms.
        terms = max(float(np.max(np.abs(np.asarray(gradient[i]) * direction[i]), initial=0.0)) for i in self.active)
        return bool(abs(got - want) <= self.atol + self.rtol * max(abs(want), terms))

    def slope(self, direction: Sequence[Any]) -> float:
        """The derivative along a direction, by differences."""
        if self.method == "complex":
            return float(np.imag(self._value(direction, 1e-30j)) / 1e-30)
        sizes = [float(np.max(np.abs(self.leaves[i]), initial=0.0)) for i in self.active]
        h = self.eps**0.2 * max([1.0, *sizes]) * 0.1

        def central(h: float) -> float:
            return float(np.real(self._value(direction, h) - self._value(direction, -h))) / (2 * h)

        return (4 * central(h / 2) - central(h)) / 3

    def _value(self, direction: Sequence[Any], step: complex) -> Any:
        moved = list(self.leaves)
        for i in self.active:
            leaf, d = self.leaves[i], direction[i]
            new = np.asarray(leaf) + step * d
            if not np.iscomplexobj(step):
                new = new.astype(np.asarray(leaf).dtype)
            moved[i] = new if isinstance(leaf, np.ndarray) else new[()].item()
        args = list(self.args)
        for position, tree in zip(self.positions, pytree.unflatten(self.structure, moved)):
            args[position] = tree
        out = np.asarray(self.f(*args))
        if out.size != 1:
            raise ArgumentError(f"check needs a scalar result, and got one of shape {out.shape}")
        return out.reshape(())[()]
