"""Forward mode: a function, where and along what -> its value and the tangent of its value."""

from __future__ import annotations

import contextlib
import functools
import types
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from s2s.autograd import Variable, grad, modes
from s2s.autograd.record import contains_variable, pull, record
from s2s.autograd.value import Value
from s2s.codegen.build import annotate
from s2s.compiler.argnums import Argnums, Selection, Wanted
from s2s.compiler.derivative import GradientFunction
from s2s.compiler.driver import Driver, Request
from s2s.compiler.fallback import strict_error
from s2s.compiler.given import Values, bound_values, kept
from s2s.compiler.layout import Layout, layout_of
from s2s.compiler.reliance import contents
from s2s.compiler.shared import Read
from s2s.compiler.store import Compiled
from s2s.compiler.target import target_of
from s2s.errors import ArgumentError, NotCompiled, S2SError
from s2s.frontend.source import Unwrapped
from s2s.runtime import pytree


def push_forward(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], strict: bool) -> Any:
    """The value of `f` at `primals`, and its tangent along `tangents`; None is the tangent of what stays as it is."""
    check_directions("jvp", primals, tangents)
    target, inner = target_and_inner(f)
    layout = layout_of(target.function)
    values = bound_values(target.function, layout, (*target.bound, *primals), target.keywords)
    dots = _by_parameter(layout, len(target.bound), primals, tangents)
    if not dots:
        raise ArgumentError("no tangent is given: all of them are None", hint="give at least one primal a tangent.")
    return Forward(_driver(target.function, tuple(dots), strict, inner), values).push(dots)


def check_directions(name: str, primals: Any, tangents: Any) -> None:
    """Raise ArgumentError unless there is a tuple of primals and one of as many tangents."""
    for what, given in (("primals", primals), ("tangents", tangents)):
        if not isinstance(given, (tuple, list)):
            raise ArgumentError(
                f"the {what} are a tuple, with an item for each argument, not of type {type(given).__name__}",
                hint="write (x,) and (x_dot,) for a function of one argument.",
            )
    if len(primals) != len(tangents):
        raise ArgumentError(f"{name} takes one tangent for each primal: there are {len(primals)} and {len(tangents)}")


def linearized(f: Callable[..., Any], primals: Sequence[Any], strict: bool) -> tuple[Any, Callable[..., Any]]:
    """The value of `f` at `primals`, and the function from tangents of these to the tangent of the value."""
    target, inner = target_and_inner(f)
    layout = layout_of(target.function)
    values = bound_values(target.function, layout, (*target.bound, *primals), target.keywords)
    moving = [carries_derivative(p) or None for p in primals]
    if not any(moving):
        raise ArgumentError("there is no float among the primals to differentiate by", hint="pass floats: 2.0 for 2.")
    still = [m and zero_tangent(p) for m, p in zip(moving, primals)]
    dots = _by_parameter(layout, len(target.bound), primals, still)
    forward = Forward(_driver(target.function, tuple(dots), strict, inner), values, once=True)
    forward.keep()
    out, _ = forward.push(dots)

    def pushforward(*tangents: Any) -> Any:
        """The tangent of the value along tangents of the primals; None for one that stays as it is."""
        if len(tangents) != len(primals):
            raise ArgumentError(
                f"the pushforward takes one tangent for each primal: there are {len(tangents)}, not {len(primals)}"
            )
        given = [zero if t is None else t for zero, t in zip(still, tangents)]
        return forward.push(_by_parameter(layout, len(target.bound), primals, given))[1]

    return out, pushforward


def target_and_inner(f: Any, argnums: Argnums = ()) -> tuple[Unwrapped, GradientFunction | None]:
    """What is differentiated: a plain function and what is bound to it, or the gradient of one."""
    if isinstance(f, GradientFunction):
        return Unwrapped(f.primal, f.bound, f.keywords), f
    return target_of(f, argnums), None


class Forward:
    """A function at a point, where any number of tangents can be pushed forward.

    The tangents are those of the parameters by which the driver differentiates, in the structure and dtypes of these.
    """

    def __init__(self, driver: Driver, values: Values, once: bool = False) -> None:
        """
        values: the arguments, by parameter.
        once: let the function run once, or so that nobody can tell.
        """
        self.driver = driver
        self.values = values
        self.once = once
        self.args, self.keywords = driver.layout.spread(values)
        self._read: Read | None = None
        self.nested = contains_variable([*values.values(), *contents(driver.function)])

    @cached_property
    def compiled(self) -> Compiled:
        return self.driver.variant(self.values).compiled

    @cached_property
    def refusal(self) -> S2SError | None:
        """Why the tape has to serve, None if it has not."""
        if self.compiled.built is None:
            return self.compiled.refusal
        if self.once and not self.compiled.repeatable:
            refusal = NotCompiled("it may have effects or draw random numbers, and each pushforward would run it again")
            if self.driver.request.strict:
                raise strict_error(refusal)
            return refusal
        return self.driver.shared(self.values, self.compiled.writes)

    def keep(self) -> None:
        """Go on with copies of the arguments, so that they may be written into between two calls of `push`."""
        if not self.nested and self.refusal is None:
            values = kept(self.values)
            self.args, self.keywords = self.driver.layout.spread(values)
            self._read = Read(self.driver.function, values)

    def push(self, dots: Mapping[str, Any]) -> tuple[Any, Any]:
        """The value, and its tangent."""
        if self.nested or contains_variable([*dots.values()]):
            return self._within.push(dots)
        if self.refusal is not None:
            return self._record.push(dots)
        if self._read is not None and not self._read.is_as_it_was():
            raise ArgumentError(
                f"a global, closure variable or attribute that {self.driver.function.__name__} reads has changed since "
                "it was linearized",
                hint="call linearize again, or vjp, which keeps what was read.",
            )
        keywords = dict(zip(self._tangents, dots.values()))
        try:
            assert self.compiled.built is not None
            value, tangent = self.compiled.built.function(*self.args, **self.keywords, **keywords)
        except Exception as error:
            annotate(error)
            raise
        return value, pytree.map(_own, tangent)  # a tangent of what is returned as it came is what the caller gave

    @cached_property
    def _tangents(self) -> tuple[str, ...]:
        """The keywords of the generated function that take the tangents, after its own and the seeds."""
        assert self.compiled.built is not None
        return layout_of(self.compiled.built.function).kwonly[-len(self.driver.request.selection.params) :]

    @cached_property
    def _record(self) -> _Recorded:
        assert self.refusal is not None
        self.driver.report(self.refusal)
        return _Recorded(self.driver, self.args, self.keywords)

    @cached_property
    def _within(self) -> _Recorded:
        """A record that is part of another one, which its results continue."""
        return _Recorded(self.driver, self.args, self.keywords, nested=True)


def _driver(
    function: types.FunctionType, moved: tuple[str, ...], strict: bool, inner: GradientFunction | None
) -> Driver:
    """What serves calls in which some parameters move; it is kept for a function that keeps no values alive."""
    request = Request("jvp", Selection(tuple(map(Wanted, moved)), single=False), strict=strict)
    if inner is None and function.__closure__ is None and not function.__defaults__ and not function.__kwdefaults__:
        return _kept(function, function.__code__, request)
    return Driver(function, request, inner.driver if inner else None)


@functools.lru_cache(maxsize=256)
def _kept(function: types.FunctionType, code: types.CodeType, request: Request) -> Driver:
    return Driver(function, request)


class _Recorded:
    """The same on the tape: the cotangent of a parameter is linear in the seed u, so the derivative of its product with
    the tangent by u is the tangent of the result.
    """

    def __init__(self, driver: Driver, args: Sequence[Any], keywords: Mapping[str, Any], nested: bool = False) -> None:
        """nested: the call is part of a record itself, which its results continue."""
        self._nested = nested
        self._run = record(driver.primal, args, keywords, driver.request.selection.params)
        self._pulled: dict[int, tuple[Any, Mapping[str, Any]]] = {}

    def push(self, dots: Mapping[str, Any]) -> tuple[Any, Any]:
        outputs, structure = pytree.flatten(self._run.output)
        values = [out._data if isinstance(out, Value) and not self._nested else out for out in outputs]
        moved = {name: pytree.leaves(dot) for name, dot in dots.items()}
        tangents = [self._tangent(i, out, moved) for i, out in enumerate(outputs)]
        return pytree.unflatten(structure, values), pytree.unflatten(structure, tangents)

    def _tangent(self, index: int, out: Any, moved: Mapping[str, Sequence[Any]]) -> Any:
        if not isinstance(out, Value):
            return zero_tangent(out)
        if out.parent() is None:
            return zero_tangent(out._data)  # a result that depends on no primal
        if index not in self._pulled:
            u = Variable(np.ones_like(out._data), requires_grad=True)
            with contextlib.nullcontext() if self._nested else modes.pushing():
                self._pulled[index] = u, pull(self._run, out, u, create_graph=True)
        u, found = self._pulled[index]
        pairs = [pair for name in moved for pair in zip(pytree.leaves(found[name]), moved[name])]
        products = [np.sum(np.real(g * dot)) for g, dot in pairs if isinstance(g, Value) and dot is not None]
        products = [product for product in products if product.parent() is not None]
        if not products:
            return zero_tangent(out._data)  # a result that depends on no primal that moves
        (by_u,) = grad(sum(products), u, materialize_grads=True, retain_graph=True, create_graph=self._nested)
        assert by_u is not None
        if self._nested:
            return np.conj(by_u) if np.iscomplexobj(out._data) else by_u
        return np.conj(by_u.numpy())[()]  # gradients are conjugated at the border


def _by_parameter(layout: Layout, bound: int, primals: Sequence[Any], tangents: Sequence[Any]) -> Mapping[str, Any]:
    """The tangents of the parameters that move."""
    single = len(layout.positional) - bound
    found = {
        name: _like(primal, tangent, name)
        for name, primal, tangent in zip(layout.positional[bound:], primals, tangents)
        if tangent is not None
    }
    rest = tangents[max(single, 0) :]
    if layout.vararg and any(t is not None for t in rest):
        places = [f"{layout.vararg}[{i}]" for i in range(len(rest))]
        found[layout.vararg] = tuple(
            zero_tangent(p) if t is None else _like(p, t, place) for p, t, place in zip(primals[single:], rest, places)
        )
    return found


def _like(primal: Any, tangent: Any, place: str) -> Any:
    """A tangent in the structure, shapes and dtypes of its primal."""
    try:
        return pytree.map(lambda x, x_dot: _leaf(x, x_dot, place), primal, tangent)
    except ArgumentError:
        raise
    except ValueError as error:
        raise ArgumentError(f"the tangent of {place} differs from it in structure: {error}") from error


def _leaf(x: Any, x_dot: Any, place: str) -> Any:
    if x_dot is None or not (pytree.carries_derivative(x) or isinstance(x, Value)):
        return zero_tangent(x)
    primal, tangent = (v._data if isinstance(v, Value) else v for v in (x, x_dot))
    if np.shape(tangent) != np.shape(primal):
        raise ArgumentError(f"the tangent of {place} has shape {np.shape(tangent)}, its primal {np.shape(primal)}")
    dtype, given = np.asarray(primal).dtype, np.asarray(tangent).dtype
    if given.kind not in "iuf" and not (given.kind == dtype.kind == "c"):
        raise ArgumentError(f"the tangent of {place} has dtype {given}, its primal {dtype}")
    if isinstance(x, Value) or isinstance(x_dot, Value):
        return x_dot
    return np.asarray(x_dot, dtype) if isinstance(x, np.ndarray) else type(x)(x_dot)


def carries_derivative(tree: Any) -> bool:
    """Whether a primal holds a float or complex number."""
    return any(isinstance(leaf, Value) or pytree.carries_derivative(leaf) for leaf in pytree.leaves(tree))


def zero_tangent(tree: Any) -> Any:
    """The tangent of what does not move."""
    return pytree.map(_zero, tree)


def _own(tangent: Any) -> Any:
    return np.array(tangent) if isinstance(tangent, np.ndarray) else tangent


def _zero(x: Any) -> Any:
    if isinstance(x, Value):
        x = x._data
    if not pytree.carries_derivative(x):
        return None
    return np.zeros_like(x) if isinstance(x, np.ndarray) else type(x)(0)
