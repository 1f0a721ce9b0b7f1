"""The error of a function without a derivative rule, with the lines that add one."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from s2s.errors import MissingRuleError

if TYPE_CHECKING:
    from s2s.core import Origin


def described(function: Any) -> str:
    """What a message calls a function: `numpy.linalg.norm`, `numpy.add.reduceat`, `json.dumps`, `abs`."""
    name = str(getattr(function, "__qualname__", None) or getattr(function, "__name__", repr(function)))
    owner = getattr(function, "__self__", None)
    if isinstance(owner, np.ufunc):
        return f"numpy.{owner.__name__}.{function.__name__}"
    module = getattr(function, "__module__", None)
    if module is None and owner is not None and not isinstance(owner, ModuleType):  # a method of C
        module = type(owner).__module__
    return f"{module}.{name}" if module and module not in ("builtins", "_operator") else name


def missing_rule(function: Any, active: Sequence[int | str] = (), origin: Origin | None = None) -> MissingRuleError:
    """The error of an active value in a function that has no rule, or none by the parameter in question.

    active: the positions and keywords of the arguments that carry derivatives, as far as they are known.

    >>> print(missing_rule(np.setxor1d, ["ar1"]))
    `numpy.setxor1d` has no derivative by `ar1`, which carries one
    Hint: pass `s2s.stop_gradient` of it, or add a rule, the cotangent and the tangent in the place of the dots:
    import numpy, s2s
    @s2s.rules.vjp(numpy.setxor1d, wrt='ar1')
    def setxor1d_vjp(g, ans, ar1, ar2, assume_unique=False): return ...
    @s2s.rules.jvp(numpy.setxor1d, wrt='ar1')
    def setxor1d_jvp(ar1_dot, ans, ar1, ar2, assume_unique=False): return ...
    """
    name, parameters = described(function), _parameters(function)
    wrt = _first(parameters, active)
    by = (
        f"derivative by `{wrt}`, which carries one"
        if active and wrt
        else "derivative rule, and an argument carries one"
    )
    return MissingRuleError(f"`{name}` has no {by}", origin=origin, hint=_hint(function, name, parameters, wrt or "x"))


def _hint(function: Any, name: str, parameters: list[inspect.Parameter], wrt: str) -> str:
    """The lines that add a rule."""
    stem = str(getattr(function, "__name__", "function"))
    stem = stem if stem.isidentifier() else "function"
    listed = ", ".join(map(_written, parameters)) or "x"
    modules = ", ".join(dict.fromkeys([*_module(name), "s2s"]))
    return "\n".join(
        [
            "pass `s2s.stop_gradient` of it, or add a rule, the cotangent and the tangent in the place of the dots:",
            f"import {modules}",
            f"@s2s.rules.vjp({name}, wrt={wrt!r})",
            f"def {stem}_vjp(g, ans, {listed}): return ...",
            f"@s2s.rules.jvp({name}, wrt={wrt!r})",
            f"def {stem}_jvp({wrt}_dot, ans, {listed}): return ...",
        ]
    )


def _module(name: str) -> Iterable[str]:
    root = name.partition(".")[0]
    return [root] if "." in name and root != "__main__" and root in sys.modules else []


def _parameters(function: Any) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # a C function that says nothing of its parameters
        return []


def _first(parameters: list[inspect.Parameter], active: Sequence[int | str]) -> str | None:
    """The name of the first parameter that gets an active argument."""
    for place in active:
        if isinstance(place, str):
            return place
        named = [p for p in parameters if p.kind is not p.KEYWORD_ONLY]
        if place < len(named) and named[place].kind is not inspect.Parameter.VAR_POSITIONAL:
            return named[place].name
    return parameters[0].name if parameters and not active else None


def _written(parameter: inspect.Parameter) -> str:
    """A parameter as it stands in a `def`; a default that has no short text is left to the caller's mind."""
    stars = "*" * ((parameter.kind is parameter.VAR_POSITIONAL) + 2 * (parameter.kind is parameter.VAR_KEYWORD))
    if parameter.default is parameter.empty:
        return f"{stars}{parameter.name}"
    plain = parameter.default is None or isinstance(parameter.default, (bool, int, float, str, tuple))
    return f"{parameter.name}={parameter.default!r}" if plain else f"{parameter.name}=None"
