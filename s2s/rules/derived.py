"""The parts of rules that follow from what is written: cotangents and tangents from partials, and rules joined."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from inspect import CO_VARARGS, CO_VARKEYWORDS
from types import GetSetDescriptorType, MethodDescriptorType
from typing import Any

import numpy as np

from s2s.rules.rule import Body, Rule
from s2s.runtime.numeric import guarded_multiply, real_if_real, shape_of, unbroadcast


def merged(earlier: Rule | None, new: Rule) -> Rule:
    """`new` joined with what the earlier rule says of other parameters, if both have the same signature.

    A derivative by a parameter that the earlier rule has in the same form replaces all it says of that parameter: its
    tangent and its cotangent must not come from two different hands.
    """
    if earlier is None or earlier.zero or earlier.decomposition is not None:
        return new
    if parameters_of(earlier) != parameters_of(new):
        return new
    replaced = (earlier.vjps.keys() & new.vjps.keys()) | (earlier.jvps.keys() & new.jvps.keys())

    def joined(attribute: str) -> dict[str, Any]:
        kept = {p: v for p, v in getattr(earlier, attribute).items() if p not in replaced}
        return {**kept, **getattr(new, attribute)}

    return replace(
        earlier,
        bodies=joined("bodies"),
        partial_index=joined("partial_index"),
        partials=joined("partials"),
        vjps=joined("vjps"),
        jvps=joined("jvps"),
        linear=(earlier.linear - replaced) | new.linear,
        guarded=earlier.guarded or new.guarded,
        singular=earlier.singular or new.singular,
        choosing=earlier.choosing or new.choosing,
    )


def parameters_of(rule: Rule) -> tuple[str, ...]:
    """The names of a rule's parameters, in the order of its code (a signature takes long to make)."""
    return rule.model.__code__.co_varnames[rule.skip : code_parameters(rule.model)]


def code_parameters(function: Body) -> int:
    """How many of a function's local names are parameters."""
    code = function.__code__
    variadic = bool(code.co_flags & CO_VARARGS) + bool(code.co_flags & CO_VARKEYWORDS)
    return code.co_argcount + code.co_kwonlyargcount + variadic


def positions(body: Body, skip: int = 1) -> dict[str, int]:
    """The positions of the parameters of a body among those that are the function's own."""
    code = body.__code__
    return {name: i for i, name in enumerate(code.co_varnames[skip : code.co_argcount])}


def leading(body: Body) -> tuple[str, ...]:
    """The parameters of a body that have no default, after `ans`."""
    code, defaults = body.__code__, body.__defaults__ or ()
    return code.co_varnames[1 : code.co_argcount - len(defaults)]


def component(body: Body, index: int | None) -> Body:
    """The partial of one parameter: the body itself, or one item of the tuple that it returns."""
    if index is None:
        return body

    def partial(*args: Any, **kwargs: Any) -> Any:
        return body(*args, **kwargs)[index]

    # What a generated source says of it.
    partial.__module__, partial.__qualname__ = body.__module__, f"{body.__name__}(...)[{index}]"
    return partial


def reader(body: Body, name: str) -> Callable[[Sequence[Any], Mapping[str, Any]], Any]:
    """Finds the value of a parameter among the arguments of a call."""
    position = positions(body).get(name)
    if position is None:
        return lambda params, kwargs: kwargs[name]
    return lambda params, kwargs: params[position]


def vjp_of(partial: Body, value: Callable[..., Any], guard: bool, choosing: bool) -> Body:
    """The cotangent of a parameter from its partial."""

    def elementwise_vjp(g: Any, ans: Any, *params: Any, **kwargs: Any) -> Any:
        if guard:
            product = guarded_multiply(g, slope_of(partial, ans, params, kwargs))
        elif choosing:
            product = guarded_multiply(partial(ans, *params, **kwargs), g)
        else:
            product = g * partial(ans, *params, **kwargs)
        return unbroadcast(product, shape_of(value(params, kwargs)))

    return elementwise_vjp


def jvp_of(partial: Body, guard: bool, choosing: bool) -> Body:
    """The tangent of the result from the partial of one parameter."""

    def elementwise_jvp(p_dot: Any, ans: Any, *params: Any, **kwargs: Any) -> Any:
        if guard:
            product = guarded_multiply(p_dot, slope_of(partial, ans, params, kwargs))
        elif choosing:
            product = guarded_multiply(partial(ans, *params, **kwargs), p_dot)
        else:
            product = partial(ans, *params, **kwargs) * p_dot
        return real_if_real(unbroadcast(product, shape_of(ans)), ans)

    return elementwise_jvp


def slope_of(partial: Body, ans: Any, params: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """A partial that may be infinite: Python's numbers, which cannot say so, are taken as NumPy's."""
    with np.errstate(divide="ignore", invalid="ignore"):
        try:
            return partial(ans, *params, **kwargs)
        except ZeroDivisionError:
            return partial(
                *(np.asarray(v)[()] if isinstance(v, (float, complex)) else v for v in (ans, *params)), **kwargs
            )


def itself(function: Any, position: int, body: Body) -> Body:
    """The tangent of a function that is linear in one parameter."""
    defaults = body.__kwdefaults__ or {}

    def linear_jvp(p_dot: Any, ans: Any, *params: Any, **kwargs: Any) -> Any:
        given = {k: v for k, v in kwargs.items() if k not in defaults or v is not defaults[k]}
        return called(function, (*params[:position], p_dot, *params[position + 1 :]), given)

    return linear_jvp


def called(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """The function's result; methods and attributes of arrays are looked up, as on anything that acts as an array."""
    if isinstance(function, GetSetDescriptorType):
        return getattr(args[0], function.__name__)
    if isinstance(function, MethodDescriptorType):
        return getattr(args[0], function.__name__)(*args[1:], **kwargs)
    return function(*args, **kwargs)
