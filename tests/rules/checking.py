"""A rule against finite differences, and its two directions against each other, for one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from s2s import rules


def inner(g: Any, x: Any) -> float:
    """`sum(real(g * x))` over all leaves."""
    return float(sum(np.sum(np.real(a * b)) for a, b in zip(leaves(g), leaves(x), strict=True)))


def leaves(value: Any) -> list[Any]:
    """The numbers and arrays of nested sequences."""
    if isinstance(value, (list, tuple)):
        return [leaf for part in value for leaf in leaves(part)]
    return [np.asarray(value)]


def random_like(value: Any, rng: np.random.Generator) -> Any:
    """Random numbers in the structure, shapes and dtypes of a value."""
    if isinstance(value, (list, tuple)):
        items = [random_like(item, rng) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    array = np.asarray(value)
    if array.dtype.kind not in "fc":
        return np.zeros_like(array)[()]
    made = rng.normal(size=array.shape) + (1j * rng.normal(size=array.shape) if array.dtype.kind == "c" else 0)
    return made.astype(array.dtype) if isinstance(value, np.ndarray) else type(value)(made[()])


def moved(value: Any, direction: Any, step: float) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(moved(v, d, step) for v, d in zip(value, direction, strict=True))
    if not isinstance(value, np.ndarray):
        return value + step * direction if isinstance(value, (float, complex)) else value
    there = value.copy(order="K")  # some functions go by the layout
    there += step * direction
    return there


def called(function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """The result of a function, method or attribute of arrays."""
    if not callable(function):
        return getattr(args[0], function.__name__)
    return function(*args, **kwargs)


def check(
    function: Any,
    *args: Any,
    wrt: str | Sequence[str],
    tolerance: float = 1e-7,
    differences: bool = True,
    **kwargs: Any,
) -> None:
    """The rule of `function(*args, **kwargs)` by each parameter of `wrt`: tangents equal differences, and
    `<g, J v> = <J^T g, v>`, which makes cotangents right too; cotangents have the parameter's shape."""
    rng = np.random.default_rng(7)
    rule = rules.find(function)
    assert rule is not None, function
    bound = rule.bind(args, kwargs)
    ans = called(function, args, kwargs)
    g = random_like(ans, rng)
    for parameter in [wrt] if isinstance(wrt, str) else wrt:
        value = bound[parameter]
        direction = random_like(value, rng)
        positional, keywords = rule.spread(bound)
        tangent = rule.jvps[parameter](direction, ans, *positional, **keywords)
        assert [np.shape(t) for t in leaves(tangent)] == [np.shape(a) for a in leaves(ans)], parameter
        if differences:
            f = along(function, rule, bound, parameter, direction)
            expected = (8 * (f(1e-3) - f(-1e-3)) - (f(2e-3) - f(-2e-3))) / 12e-3
            got = flat(tangent)
            scale = 1 + np.max(np.abs(expected), initial=0)
            np.testing.assert_allclose(got, expected, atol=tolerance * scale, rtol=0, err_msg=f"tangent by {parameter}")
        cotangent = rule.vjps[parameter](g, ans, *positional, **keywords)
        shapes = [np.shape(a) for a in leaves(value)]
        assert [np.shape(c) for c in leaves(cotangent)] == shapes, f"cotangent of {parameter}"
        assert isinstance(cotangent, (list, tuple)) <= isinstance(value, (list, tuple)), f"a list for {parameter}"
        real = not any(np.iscomplexobj(leaf) for leaf in (*leaves(ans), *leaves(value)))
        assert not (real and any(map(np.iscomplexobj, leaves(cotangent)))), f"a complex cotangent of real {parameter}"
        there, back = inner(g, tangent), inner(cotangent, direction)
        epsilon = np.sqrt(np.finfo(np.asarray(leaves(direction)[0]).dtype).eps)
        assert abs(there - back) <= epsilon * 10 * (1 + abs(there)), f"{parameter}: {there} and {back}"


def along(function: Any, rule: Any, bound: dict[str, Any], parameter: str, direction: Any) -> Any:
    """The result, flat, as a function of the distance gone in a direction."""

    def f(step: float) -> Any:
        args, kwargs = without_defaults(rule, {**bound, parameter: moved(bound[parameter], direction, step)})
        return flat(called(function, args, kwargs))

    return f


def without_defaults(rule: Any, bound: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of a call; defaults are left out, as one of ours may be none of the function's."""
    args, kwargs = rule.spread(bound)
    for position, parameter in enumerate(rule.signature.parameters.values()):
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD and bound[parameter.name] is parameter.default:
            later = list(rule.signature.parameters)[position : len(args)]
            kwargs |= dict(zip(later, args[position:]))
            args = args[:position]
            break
    return args, {k: v for k, v in kwargs.items() if v is not rule.signature.parameters[k].default}


def flat(value: Any) -> Any:
    return np.concatenate([np.ravel(leaf) for leaf in leaves(value)] or [np.zeros(0)])
