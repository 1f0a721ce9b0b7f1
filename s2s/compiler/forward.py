"""Forward mode: a function, where and along what -> its value and the tangent of its value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from s2s.codegen.build import annotate
from s2s.compiler.argnums import Selection, Wanted
from s2s.compiler.derivative import GradientFunction
from s2s.compiler.driver import Driver, Request
from s2s.compiler.layout import layout_of
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
    driver = Driver(target.function, Request("jvp", Selection((), single=False)), inner.driver if inner else None)
    values = driver.bind((*target.bound, *primals), target.keywords)
    dots = _by_parameter(driver, len(target.bound), primals, tangents)
    moved = Selection(tuple(Wanted(name) for name in dots), single=False)
    driver = Driver(target.function, Request("jvp", moved, strict=strict), inner.driver if inner else None)
    variant = driver.variant(values)
    args, keywords = driver.layout.spread(values)
    if variant.compiled.built is None:
        return variant.call(*args, **keywords, **{driver.layout.seed: tuple(dots.values())})
    names = [n for n in layout_of(variant.compiled.built.function).kwonly if n not in values]
    if inner:
        names.remove(inner.driver.layout.seed)
    try:
        return variant.call(*args, **keywords, **dict(zip(names, dots.values())))
    except Exception as error:
        annotate(error)
        raise


def _by_parameter(driver: Driver, bound: int, primals: Sequence[Any], tangents: Sequence[Any]) -> Mapping[str, Any]:
    """The tangents of the parameters that move."""
    layout = driver.layout
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
    except ValueError as error:
        raise ArgumentError(f"the tangent of {place} differs from it in structure: {error}") from error


def _leaf(x: Any, x_dot: Any, place: str) -> Any:
    if not pytree.carries_derivative(x):
        return None
    if x_dot is None:
        return _still(x)
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
