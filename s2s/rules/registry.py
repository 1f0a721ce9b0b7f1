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
import inspect
import sys
import threading
import types
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from s2s.errors import ArgumentError
from s2s.kinds import Kind
from s2s.rules.derived import component, itself, jvp_of, leading, merged, positions, reader, vjp_of
from s2s.rules.rule import Body, Rule

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
        """The rule of a function, method descriptor, attribute descriptor or operator, if there is one.

        >>> import numpy as np
        >>> from s2s.rules import find
        >>> find(np.tanh).differentiable, find(np.ndarray.sum).name, find(print)
        (('x',), 'sum_vjp', None)
        """
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
        """All functions that have a rule; `docs/rules.md` lists them by name.

        >>> import numpy as np
        >>> from s2s.rules import supported
        >>> np.tanh in supported(), np.random.standard_t in supported()
        (True, False)
        """
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


def _check_functions(form: str, functions: tuple[Any, ...]) -> None:
    """Raise ArgumentError unless a rule is for functions, methods or attributes of classes."""
    if not functions:
        raise ArgumentError(f"{form} is given no function", hint=f"write @{form}(function).")
    for function in functions:
        if not callable(function) and not hasattr(type(function), "__get__"):
            raise ArgumentError(f"{form} takes functions, and {function!r} is none")


def _check_body(form: str, functions: tuple[Any, ...], body: Any, before: tuple[str, ...], by: tuple[str, ...]) -> None:
    """Raise ArgumentError unless a body has what stands before the function's parameters, and those that are named."""
    _check_functions(form, functions)
    if not callable(body):
        raise ArgumentError(f"{form} takes a body that is a function, not {body!r}")
    own = _parameter_names(body)[len(before) :]
    if not by or not set(by).issubset(own):
        missing = [name for name in by if name not in own]
        shape = ", ".join((*before, "*parameters of the function"))
        raise ArgumentError(
            f"the body of {form} has no parameter {', '.join(map(repr, missing)) or 'to derive by'}",
            hint=f"its parameters are ({shape}), under the function's own names, and wrt is among them.",
        )


def _parameter_names(body: Any) -> tuple[str, ...]:
    """The names of all parameters; of a plain function they are read of its code, which is fast."""
    if type(body) is not types.FunctionType or hasattr(body, "__wrapped__"):
        return tuple(inspect.signature(body).parameters)
    code = body.__code__
    stars = bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + stars]


def decompose(*functions: Any, **facts: Any) -> Callable[[F], F]:
    """The body computes what the functions compute, in operations that have rules.

    facts: see `Facts`. The body has the parameters of the functions, under their names.

    >>> import numpy as np
    >>> def contrast(x):
    ...     return np.ptp(x)
    >>> @decompose(contrast)
    ... def contrast_by_parts(x):
    ...     return np.max(x) - np.min(x)
    >>> find(contrast).decomposition(np.array([1.0, 4.0, 2.0])).item()
    3.0
    """

    def register(body: F) -> F:
        _check_functions("decompose", functions)
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
    of one function, make one rule. guarded: a slope can be infinite where the result is finite, and is written as a
    quotient; singular: only where the result is infinite too; choosing: where the slope is zero, the operand does not
    matter at all.

    >>> import numpy as np
    >>> def blend(x, y):
    ...     return x * np.exp(y)
    >>> @elementwise(blend)
    ... def slopes(ans, x, y):
    ...     return np.exp(y), ans
    >>> find(blend).vjps["y"](1.0, blend(2.0, 0.0), 2.0, 0.0).item()
    2.0
    """

    def register(body: F) -> F:
        by = leading(body) if wrt is None else names(wrt)
        _check_body("elementwise", functions, body, ("ans",), by)
        index = {p: i if len(by) > 1 else None for i, p in enumerate(by)}
        partials = {p: component(body, index[p]) for p in by}
        guard = guarded or singular
        value = {p: reader(body, p) for p in by}
        new = Rule(
            body.__name__,
            functions,
            body,
            skip=1,
            bodies=dict.fromkeys(by, body),
            partial_index=index,
            partials=partials,
            vjps={p: vjp_of(partials[p], value[p], guard, choosing) for p in by},
            jvps={p: jvp_of(partials[p], guard, choosing) for p in by},
            guarded=guarded,
            singular=singular,
            choosing=choosing,
        )
        registry.update(functions, lambda earlier: Facts(**facts).declare(merged(earlier, new)))
        return body

    return register


def linear(*functions: Any, wrt: str, **facts: Any) -> Callable[[F], F]:
    """The body `(g, ans, *params)` is the transpose by one parameter; the tangent is the (first) function itself.

    g: the cotangent, of the result's shape; the body returns one of the parameter's shape.

    >>> import numpy as np
    >>> def halved(x, axis=0):
    ...     return np.sum(x, axis=axis) / 2
    >>> @linear(halved, wrt="x")
    ... def halved_transposed(g, ans, x, axis=0):
    ...     return np.broadcast_to(np.expand_dims(g / 2, axis), np.shape(x))
    >>> x = np.ones((2, 3))
    >>> find(halved).vjps["x"](np.ones(3), halved(x), x).tolist()
    [[0.5, 0.5, 0.5], [0.5, 0.5, 0.5]]
    >>> find(halved).jvps["x"](x, halved(x), x).tolist()
    [1.0, 1.0, 1.0]
    """

    def register(body: F) -> F:
        _check_body("linear", functions, body, ("g", "ans"), (wrt,))
        position = positions(body, skip=2)[wrt]
        jvps = {wrt: itself(functions[0], position, body)}
        new = Rule(body.__name__, functions, body, skip=2, vjps={wrt: body}, jvps=jvps, linear=frozenset({wrt}))
        registry.update(functions, lambda earlier: Facts(**facts).declare(merged(earlier, new)))
        return body

    return register


def vjp(*functions: Any, wrt: str, **facts: Any) -> Callable[[F], F]:
    """The body `(g, ans, *params)` gives the cotangent of one parameter, in its shape, with `d = sum(real(g * dx))`.

    Without a `jvp` by the same parameter, forward mode records the function on the tape.

    >>> import numpy as np
    >>> def power(x, k):
    ...     return np.sum(k * x**2)
    >>> @vjp(power, wrt="x")
    ... def power_vjp(g, ans, x, k):
    ...     return g * 2 * k * x
    >>> @jvp(power, wrt="x")
    ... def power_jvp(x_dot, ans, x, k):
    ...     return np.sum(2 * k * x * x_dot)
    >>> x = np.array([1.0, 3.0])
    >>> find(power).vjps["x"](1.0, power(x, 2.0), x, 2.0).tolist()
    [4.0, 12.0]
    """

    def register(body: F) -> F:
        _check_body("vjp", functions, body, ("g", "ans"), (wrt,))
        new = Rule(body.__name__, functions, body, skip=2, vjps={wrt: body})
        registry.update(functions, lambda earlier: Facts(**facts).declare(merged(earlier, new)))
        return body

    return register


def jvp(*functions: Any, wrt: str, **facts: Any) -> Callable[[F], F]:
    """The body `(p_dot, ans, *params)` gives the tangent of the result through one parameter.

    p_dot: the tangent of that parameter, of its shape; the body returns one of the result's shape. See `vjp`.

    >>> def shifted(x, by):
    ...     return x + by
    >>> @jvp(shifted, wrt="x")
    ... def shifted_jvp(x_dot, ans, x, by):
    ...     return x_dot
    >>> find(shifted).jvps["x"](2.0, shifted(1.0, 5.0), 1.0, 5.0)
    2.0
    """

    def register(body: F) -> F:
        _check_body("jvp", functions, body, (f"{wrt}_dot", "ans"), (wrt,))
        new = Rule(body.__name__, functions, body, skip=2, jvps={wrt: body})
        registry.update(functions, lambda earlier: Facts(**facts).declare(merged(earlier, new)))
        return body

    return register


def zero_derivative(*functions: Any, **facts: Any) -> None:
    """The functions are constant almost everywhere, in all parameters (or their results are no floats at all).

    >>> import numpy as np
    >>> def bucket(x):
    ...     return np.floor(x / 10)
    >>> zero_derivative(bucket)
    >>> find(bucket).zero
    True
    """
    _check_functions("zero_derivative", functions)
    for function in functions:
        name = getattr(function, "__name__", str(function))
        registry.put(Facts(**facts).declare(Rule(name, (function,), function, zero=True)))
