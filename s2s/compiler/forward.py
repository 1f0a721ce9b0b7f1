"""Forward mode: a function, where and along what -> its value and the tangent of its value."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from s2s.autograd import Variable, grad
from s2s.autograd.record import contains_variable, pull, record
from s2s.autograd.value import Value
from s2s.codegen.build import annotate
from s2s.compiler.argnums import Selection, Wanted
from s2s.compiler.derivative import GradientFunction
from s2s.compiler.driver import Driver, Request, bound_values
from s2s.compiler.layout import Layout, layout_of
from s2s.compiler.reliance import contents
from s2s.compiler.target import target_of
from s2s.errors import ArgumentError
from s2s.frontend.source import Unwrapped
from s2s.runtime import pytree


def push_forward(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], strict: bool) -> Any:
    """The value of `f` at `primals`, and its tangent along `tangents`; None is the tangent of what stays as it is."""
    inner = f if isinstance(f, GradientFunction) else None
    target = Unwrapped(inner.primal, inner.bound, inner.keywords) if inner else target_of(f)
    if len(primals) != len(tangents):
        raise ArgumentError(f"jvp takes one tangent for each primal: there are {len(primals)} and {len(tangents)}")
    layout = layout_of(target.function)
    values = bound_values(target.function, layout, (*target.bound, *primals), target.keywords)
    dots = _by_parameter(layout, len(target.bound), primals, tangents)
    driver = _driver(target.function, tuple(dots), strict, inner)
    args, keywords = driver.layout.spread(values)
    if contains_variable([list(primals), list(tangents), *contents(target.function)]):
        return _recorded(driver, args, keywords, dots, nested=True)
    variant = driver.variant(values)
    if variant.compiled.built is None:
        assert variant.compiled.refusal is not None
        driver.report(variant.compiled.refusal)
        return _recorded(driver, args, keywords, dots)
    names = [n for n in layout_of(variant.compiled.built.function).kwonly if n not in values]
    if inner:
        names.remove(inner.driver.layout.seed)
    try:
        return variant.call(*args, **keywords, **dict(zip(names, dots.values())))
    except Exception as error:
        annotate(error)
        raise


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


def _recorded(
    driver: Driver, args: Sequence[Any], keywords: Mapping[str, Any], dots: Mapping[str, Any], nested: bool = False
) -> Any:
    """The same on the tape: the cotangent of a parameter is linear in the seed u, so the derivative of its product with
    the tangent by u is the tangent of the result.

    nested: the call is part of a record itself, which its results continue.
    """
    run = record(driver.primal, args, keywords, tuple(dots))
    moved = {name: pytree.leaves(dot) for name, dot in dots.items()}

    def tangent(out: Any) -> Any:
        if not isinstance(out, Value):
            return _still(out)
        if out.parent() is None:
            return _still(out._data)  # a result that depends on no primal
        u = Variable(np.ones_like(out._data), requires_grad=True)
        found = pull(run, out, u, create_graph=True)
        pairs = [pair for name in moved for pair in zip(pytree.leaves(found[name]), moved[name])]
        products = [np.sum(g * dot) for g, dot in pairs if isinstance(g, Value) and dot is not None]
        products = [product for product in products if product.parent() is not None]
        if not products:
            return _still(out._data)  # a result that depends on no primal that moves
        (by_u,) = grad(sum(products), u, materialize_grads=True, create_graph=nested)
        assert by_u is not None
        return by_u if nested else by_u.numpy()[()]

    outputs, structure = pytree.flatten(run.output)
    values = [out._data if isinstance(out, Value) and not nested else out for out in outputs]
    return pytree.unflatten(structure, values), pytree.unflatten(structure, [tangent(out) for out in outputs])


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
            _still(p) if t is None else _like(p, t, place) for p, t, place in zip(primals[single:], rest, places)
        )
    if not found:
        raise ArgumentError("no tangent is given: all of them are None", hint="give at least one primal a tangent.")
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
        return _still(x)
    if isinstance(x, Value) or isinstance(x_dot, Value):
        return x_dot
    if np.shape(x_dot) != np.shape(x):
        raise ArgumentError(f"the tangent of {place} has shape {np.shape(x_dot)}, its primal {np.shape(x)}")
    dtype = np.asarray(x).dtype
    given = np.asarray(x_dot).dtype
    if given.kind not in "iuf" and not (given.kind == dtype.kind == "c"):
        raise ArgumentError(f"the tangent of {place} has dtype {given}, its primal {dtype}")
    return x_dot.astype(dtype) if isinstance(x, np.ndarray) else type(x)(x_dot)


def _still(tree: Any) -> Any:
    """The tangent of what does not move."""
    return pytree.map(lambda x: x * 0 if pytree.carries_derivative(x) else None, tree)
