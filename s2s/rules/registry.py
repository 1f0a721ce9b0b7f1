"""The forms in which a derivative is written down, and the table of all rules.

A rule is written as a plain Python function beside its formula, in one of the forms below, and serves reverse mode,
forward mode, the tape and higher derivatives. From the most to the least preferred:

- `decompose`: plain NumPy code that computes the same; its derivative follows
- `elementwise`: the partial derivatives; products with cotangents and tangents, and broadcasting, follow
- `linear`: the transpose; the tangent is the function itself, applied to the tangent
- `vjp`, `jvp`: the cotangent of one parameter; the tangent of the result through one parameter
- `zero_derivative`: nothing at all

The parameters of a body after its leading `ans`, `g, ans` or `p_dot, ans` are those of the function itself, under the
function's own names, so that calls bind to the rule as they bind to the function. A parameter is differentiable if the
rule has a derivative by it; an active value in a parameter that is neither differentiable nor in `zeros` is an error.
"""

from __future__ import annotations

import importlib
import sys
import threading
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import CO_VARARGS, CO_VARKEYWORDS
from types import GetSetDescriptorType, MethodDescriptorType
from typing import Any, TypeVar

import numpy as np

from s2s.kinds import Kind
from s2s.rules.rule import Body, Rule
from s2s.runtime.numeric import guarded_multiply, real_if_real, shape_of, unbroadcast

F = TypeVar("F", bound=Body)


# Libraries that may not be there: the modules with their rules are imported once the library has been.
LATER = {"numpy.random": ("s2s.rules.draws",), "scipy.special": ("s2s.rules.scipy_special", "s2s.rules.scipy_families")}


class Registry:
    """Rules by function. `version` grows with each registration, so that compiled code can tell that it is stale."""

    def __init__(self) -> None:
        self._rules: dict[Any, Rule] = {}
        self._codes: set[types.CodeType] = set()
        self._lock = threading.Lock()
        self._later = dict(LATER)
        self._loading = threading.RLock()
        self.version = 0

    def find(self, function: Any) -> Rule | None:
        """The rule of a function, method descriptor, attribute descriptor or operator, if there is one."""
        try:
            found = self._rules.get(function)
        except TypeError:  # unhashable
            return None
        return self._rules.get(function) if found is None and self._load() else found

    def _load(self) -> bool:
        """Import the rules of libraries that have been imported meanwhile; whether there were any."""
        ready = [library for library in list(self._later) if library in sys.modules]
        if ready:
            with self._loading:
                for library in ready:
                    for module in self._later.get(library, ()):
                        importlib.import_module(module)
                    self._later.pop(library, None)
        return bool(ready)

    def holds_code(self, code: types.CodeType) -> bool:
        """Whether a function of this code has a rule: others of the code have none, so that it is known by identity."""
        return code in self._codes

    def supported(self) -> tuple[Any, ...]:
        """All functions that have a rule."""
        self._load()
        with self._lock:
            return tuple(self._rules)

    def put(self, rule: Rule) -> None:
        """Register a rule for its functions, in place of earlier ones."""
        self.update(rule.functions, lambda earlier: rule)

    def update(self, functions: Iterable[Any], change: Callable[[Rule | None], Rule]) -> None:
        """Register what `change` makes of the earlier rule of each function; those that share one go on doing so."""
        with self._lock:
            made: dict[int, Rule] = {}
            for function in functions:
                earlier = self._rules.get(function)
                if id(earlier) not in made:
                    made[id(earlier)] = change(earlier)
                self._rules[function] = made[id(earlier)]
                if isinstance(function, types.FunctionType):
                    self._codes.add(function.__code__)
            self.version += 1


registry = Registry()
find = registry.find
supported = registry.supported


# --- the forms --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Facts:
    """What a rule declares beside its formula; see `Rule`."""

    kind: Callable[..., Kind] | None = None
    view: str | tuple[str, ...] = ()
    mutates: str | tuple[str, ...] = ()
    containers: str | tuple[str, ...] = ()
    zeros: str | tuple[str, ...] = ()

    def declare(self, rule: Rule) -> Rule:
        """The rule with these facts beside those that it has."""
        if self == _NO_FACTS:
            return rule
        return replace(
            rule,
            kind=self.kind or rule.kind,
            view=names(self.view) or rule.view,
            mutates=names(self.mutates) or rule.mutates,
            containers=names(self.containers) or rule.containers,
            zeros=rule.zeros | set(names(self.zeros)),
        )


_NO_FACTS = Facts()


def names(given: str | tuple[str, ...]) -> tuple[str, ...]:
    """One name or several as a tuple."""
    return (given,) if isinstance(given, str) else given


def decompose(*functions: Any, **facts: Any) -> Callable[[F], F]:
    """The body computes what the functions compute, in operations that have rules."""

    def register(body: F) -> F:
        rule = Rule(body.__name__, functions, body, decomposition=body)
        registry.put(Facts(**facts).declare(rule))
        return body

    return register


def elementwise(
    *functions: Any,
    wrt: str | tuple[str, ...] | None = None,
    guarded: bool = False,
    singular: bool = False,
    choosing: bool = False,
    **facts: Any,
) -> Callable[[F], F]:
    """The body `(ans, *params)` returns the partial derivative of each element, or a tuple of them, one for each name.

    `wrt` names the parameters; without it they are all that have no default. Several bodies, each for some parameters
    of one function, make one rule.
    """

    def register(body: F) -> F:
        by = _leading(body) if wrt is None else names(wrt)
        index = {p: i if len(by) > 1 else None for i, p in enumerate(by)}
        partials = {p: _component(body, index[p]) for p in by}
        guard = guarded or singular
        value = {p: _reader(body, p) for p in by}
        new = Rule(
            body.__name__,
            functions,
            body,
            skip=1,
            bodies=dict.fromkeys(by, body),
            partial_index=index,
            partials=partials,
            vjps={p: _vjp_of(partials[p], value[p], guard, choosing) for p in by},
            jvps={p: _jvp_of(partials[p], guard, choosing) for p in by},
            guarded=guarded,
            singular=singular,
            choosing=choosing,
        )
        registry.update(functions, lambda earlier: Facts(**facts).declare(_merged(earlier, new)))
        return body

    return register


def linear(*functions: Any, wrt: str, **facts: Any) -> Callable[[F], F]:
    """The body `(g, ans, *params)` is the transpose by one parameter; the tangent is the (first) function itself."""

    def register(body: F) -> F:
        position = _positions(body, skip=2)[wrt]
        jvps = {wrt: _itself(functions[0], position, body)}
        new = Rule(body.__name__, functions, body, skip=2, vjps={wrt: body}, jvps=jvps, linear=frozenset({wrt}))
        registry.update(functions, lambda earlier: Facts(**facts).declare(_merged(earlier, new)))
        return body

    return register


def vjp(*functions: Any, wrt: str, **facts: Any) -> Callable[[F], F]:
    """The body `(g, ans, *params)` gives the cotangent of one parameter."""

    def register(body: F) -> F:
        new = Rule(body.__name__, functions, body, skip=2, vjps={wrt: body})
        registry.update(functions, lambda earlier: Facts(**facts).declare(_merged(earlier, new)))
        return body

    return register


def jvp(*functions: Any, wrt: str, **facts: Any) -> Callable[[F], F]:
    """The body `(p_dot, ans, *params)` gives the tangent of the result through one parameter."""

    def register(body: F) -> F:
        new = Rule(body.__name__, functions, body, skip=2, jvps={wrt: body})
        registry.update(functions, lambda earlier: Facts(**facts).declare(_merged(earlier, new)))
        return body

    return register


def zero_derivative(*functions: Any, **facts: Any) -> None:
    """The functions are constant almost everywhere, in all parameters (or their results are no floats at all)."""
    for function in functions:
        name = getattr(function, "__name__", str(function))
        registry.put(Facts(**facts).declare(Rule(name, (function,), function, zero=True)))


# --- putting rules together -------------------------------------------------------------------------------------


def _merged(earlier: Rule | None, new: Rule) -> Rule:
    """`new` joined with what the earlier rule says of other parameters, if both have the same signature.

    A derivative by a parameter that the earlier rule has in the same form replaces all it says of that parameter: its
    tangent and its cotangent must not come from two different hands.
    """
    if earlier is None or earlier.zero or earlier.decomposition is not None:
        return new
    if _parameters(earlier) != _parameters(new):
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


def _parameters(rule: Rule) -> tuple[str, ...]:
    """The names of a rule's parameters, in the order of its code (a signature takes long to make)."""
    return rule.model.__code__.co_varnames[rule.skip : code_parameters(rule.model)]


def code_parameters(function: Body) -> int:
    """How many of a function's local names are parameters."""
    code = function.__code__
    variadic = bool(code.co_flags & CO_VARARGS) + bool(code.co_flags & CO_VARKEYWORDS)
    return code.co_argcount + code.co_kwonlyargcount + variadic


def _positions(body: Body, skip: int = 1) -> dict[str, int]:
    """The positions of the parameters of a body among those that are the function's own."""
    code = body.__code__
    return {name: i for i, name in enumerate(code.co_varnames[skip : code.co_argcount])}


def _leading(body: Body) -> tuple[str, ...]:
    """The parameters of a body that have no default, after `ans`."""
    code, defaults = body.__code__, body.__defaults__ or ()
    return code.co_varnames[1 : code.co_argcount - len(defaults)]


def _component(body: Body, index: int | None) -> Body:
    """The partial of one parameter: the body itself, or one item of the tuple that it returns."""
    if index is None:
        return body

    def partial(*args: Any, **kwargs: Any) -> Any:
        return body(*args, **kwargs)[index]

    # What a generated source says of it.
    partial.__module__, partial.__qualname__ = body.__module__, f"{body.__name__}(...)[{index}]"
    return partial


def _reader(body: Body, name: str) -> Callable[[Sequence[Any], Mapping[str, Any]], Any]:
    """Finds the value of a parameter among the arguments of a call."""
    position = _positions(body).get(name)
    if position is None:
        return lambda params, kwargs: kwargs[name]
    return lambda params, kwargs: params[position]


def _vjp_of(partial: Body, value: Callable[..., Any], guard: bool, choosing: bool) -> Body:
    """The cotangent of a parameter from its partial."""

    def elementwise_vjp(g: Any, ans: Any, *params: Any, **kwargs: Any) -> Any:
        if guard:
            product = guarded_multiply(g, _slope(partial, ans, params, kwargs))
        elif choosing:
            product = guarded_multiply(partial(ans, *params, **kwargs), g)
        else:
            product = g * partial(ans, *params, **kwargs)
        return unbroadcast(product, shape_of(value(params, kwargs)))

    return elementwise_vjp


def _jvp_of(partial: Body, guard: bool, choosing: bool) -> Body:
    """The tangent of the result from the partial of one parameter."""

    def elementwise_jvp(p_dot: Any, ans: Any, *params: Any, **kwargs: Any) -> Any:
        if guard:
            product = guarded_multiply(p_dot, _slope(partial, ans, params, kwargs))
        elif choosing:
            product = guarded_multiply(partial(ans, *params, **kwargs), p_dot)
        else:
            product = partial(ans, *params, **kwargs) * p_dot
        return real_if_real(unbroadcast(product, shape_of(ans)), ans)

    return elementwise_jvp


def _slope(partial: Body, ans: Any, params: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """A partial that may be infinite: Python's numbers, which cannot say so, are taken as NumPy's."""
    with np.errstate(divide="ignore", invalid="ignore"):
        try:
            return partial(ans, *params, **kwargs)
        except ZeroDivisionError:
            return partial(
                *(np.asarray(v)[()] if isinstance(v, (float, complex)) else v for v in (ans, *params)), **kwargs
            )


def _itself(function: Any, position: int, body: Body) -> Body:
    """The tangent of a function that is linear in one parameter."""
    defaults = body.__kwdefaults__ or {}

    def linear_jvp(p_dot: Any, ans: Any, *params: Any, **kwargs: Any) -> Any:
        given = {k: v for k, v in kwargs.items() if k not in defaults or v is not defaults[k]}
        return _call(function, (*params[:position], p_dot, *params[position + 1 :]), given)

    return linear_jvp


def _call(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """The function's result; methods and attributes of arrays are looked up, as on anything that acts as an array."""
    if isinstance(function, GetSetDescriptorType):
        return getattr(args[0], function.__name__)
    if isinstance(function, MethodDescriptorType):
        return getattr(args[0], function.__name__)(*args[1:], **kwargs)
    return function(*args, **kwargs)
