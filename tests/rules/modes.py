"""One call in all four modes: compiled backward and forward, on the tape, and the gradient's own tangent."""

from __future__ import annotations

import itertools
import linecache
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

import s2s
from s2s.autograd.record import tape_value_and_grad
from tests.catalog import catalog

_numbers = itertools.count()


def written(text: str, names: Sequence[str], **scope: Any) -> Any:
    """A function of some names, of its text: an expression, or statements of which the last one returns."""
    body = text if "return " in text else f"return {text}"
    source = f"def f({', '.join(names)}):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    where = f"<call {next(_numbers)}>"
    linecache.cache[where] = len(source), None, source.splitlines(True), where
    found = {**catalog.namespace(), **scope}
    exec(compile(source, where, "exec"), found)
    return found["f"]


def loss(text: str, args: Sequence[Any], names: Sequence[str], **scope: Any) -> Any:
    """The call, of which each part of the result is made one number by a curved function that keeps to its scale."""
    made = written(text, names, **scope)(*args)
    parts = [f"out[{i}]" for i in range(len(made))] if isinstance(made, (tuple, list)) else ["out"]
    values = list(made) if isinstance(made, (tuple, list)) else [made]
    terms = []
    for part, value in zip(parts, values, strict=True):
        if np.asarray(value).dtype.kind in "fc":
            scale = 1.3 / (1.0 + np.max(np.abs(value), initial=0))
            terms.append(
                f"np.sum(np.sin(np.real({part}) * {scale}) + np.real({part} * {part}) * {scale})"
                if np.iscomplexobj(value)
                else f"np.sum(np.sin({part} * {scale}))"
            )
    lines = text.splitlines()
    last = lines[-1].removeprefix("return ")
    return written("\n".join([*lines[:-1], f"out = {last}", f"return {' + '.join(terms)}"]), names, **scope)


def slopes(f: Any, args: Sequence[Any]) -> list[Any]:
    """The gradient by differences."""
    return catalog.gradient(f, list(args), [np.ones(())])


def directions(args: Sequence[Any]) -> list[Any]:
    rng = np.random.default_rng(5)
    made = [
        rng.normal(size=np.shape(a)) + (1j * rng.normal(size=np.shape(a)) if np.iscomplexobj(a) else 0) for a in args
    ]
    return [d if isinstance(a, np.ndarray) else type(a)(d) for a, d in zip(args, made, strict=True)]


def assert_all_modes(
    text: str, *args: Any, compiled: bool = True, second: bool = True, tol: float = 1e-6, **scope: Any
):
    """The derivative of a call by all its arguments, named a, b, c, ..., is that of differences, in every mode.

    compiled: whether the compiler takes it; else it goes to the tape. second: whether there is a second derivative.
    """
    names = tuple("abcdefgh"[: len(args)])
    f = loss(text, args, names, **scope)
    expected = slopes(f, args)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        gradient = s2s.grad(f, argnums=tuple(range(len(args))), strict=compiled)
        found = gradient(*args)
        for x, slope in zip(args, found, strict=True):
            assert np.asarray(slope).dtype == np.asarray(x).dtype
        assert catalog.agree(found, expected, tol), f"{text}: {found}, by differences {expected}"
        recorded = tape_value_and_grad(f, names, tuple(args))[2]
        assert catalog.agree([recorded[n] for n in names], expected, tol), f"{text}: on the tape {recorded}, {expected}"
        along = directions(args)
        value, tangent = s2s.jvp(f, tuple(args), tuple(along), strict=compiled)
        assert np.array_equal(value, f(*args))
        slope = sum(np.sum(np.real(e * d)) for e, d in zip(expected, along, strict=True))
        assert catalog.agree([tangent], [slope], tol), f"{text}: forward {tangent}, by differences {slope}"
        if second:
            curved = s2s.jvp(gradient if compiled else s2s.grad(f, tuple(range(len(args)))), tuple(args), tuple(along))[
                1
            ]
            twice = catalog.derivative(lambda *a: list(gradient(*a)), args, along)
            assert catalog.agree(curved, twice, 10 * tol), f"{text}: second {curved}, by differences {twice}"
