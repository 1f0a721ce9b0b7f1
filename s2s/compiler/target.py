"""What a gradient function differentiates: any callable -> a plain function and the arguments bound to it."""

from __future__ import annotations

import builtins
import inspect
import itertools
import linecache
import math
import types
from inspect import Parameter, Signature
from typing import Any

import numpy as np

from s2s.compiler.argnums import Argnums, select
from s2s.compiler.layout import HANDED_ON, layout_of_signature
from s2s.errors import ArgumentError, MissingRuleError, SourceUnavailableError
from s2s.frontend.source import Unwrapped, unwrap
from s2s.rules.registry import registry

_numbers = itertools.count(1)


class Derived:
    """An object of ours that is called with the arguments of the function that it was made of."""

    def __init__(self, target: Unwrapped) -> None:
        self._signature = _free_parameters(target)

    def as_function(self) -> types.FunctionType:
        """A plain function that calls it, with the parameters that are left to give."""
        return calling(self, self._signature, type(self).__name__)


def _free_parameters(target: Unwrapped) -> Signature:
    """The parameters of a function that are not bound."""
    signature = inspect.signature(target.function, follow_wrapped=False)
    free = list(signature.parameters.values())[len(target.bound) :]
    return signature.replace(parameters=[p for p in free if p.name not in target.keywords])


def target_of(f: Any, argnums: Argnums = ()) -> Unwrapped:
    """The plain function that a call of `f` runs, and what is bound.

    A function with a rule (a ufunc, say) gets a plain function that calls it, with parameters of their own for what
    `argnums` means. Raises MissingRuleError for what is not written in Python and has none.
    """
    if not callable(f) and not isinstance(f, staticmethod):
        raise ArgumentError(f"cannot differentiate {f!r}, which is no function", hint="pass a function.")
    if isinstance(f, Derived):
        return Unwrapped(f.as_function())
    rule = registry.find(f)
    if rule is not None:
        return Unwrapped(calling(f, _as_given(rule.signature, argnums, rule.name), rule.name))
    try:
        return unwrap(f)
    except SourceUnavailableError as error:
        if isinstance(f, type):
            raise
        name = getattr(f, "__name__", repr(f))
        raise MissingRuleError(
            f"{name} is not written in Python, and has no derivative rule",
            hint=f"register one with s2s.rules, or differentiate a Python function that does what {name} does.",
        ) from error


def _as_given(signature: Signature, argnums: Argnums, name: str) -> Signature:
    """The parameters of a plain function that hands on what it is given, and no defaults: a rule may have others.

    What has a default, and is not among the wanted, is taken by `*args` and `**keywords`.
    """
    parameters = signature.parameters
    layout = layout_of_signature(signature)
    chosen = select(layout, argnums, name=name).params if argnums != () else ()
    needed = [i for i, p in enumerate(layout.positional) if p in chosen or parameters[p].default is Parameter.empty]
    own = {*layout.positional[: max(needed, default=-1) + 1], *chosen}
    left = [p for p in parameters.values() if p.name not in own and p.default is not Parameter.empty]
    kept = [p.replace(default=Parameter.empty) for p in parameters.values() if p not in left]
    kinds = {p.kind for p in kept}
    stars = ((Parameter.VAR_POSITIONAL, "args"), (Parameter.VAR_KEYWORD, HANDED_ON))
    kept += [Parameter(star, kind) for kind, star in stars if left and kind not in kinds]
    return signature.replace(parameters=sorted(kept, key=lambda p: p.kind))


def calling(f: Any, signature: Signature, name: str) -> types.FunctionType:
    """A plain function of a signature that calls another one, which may have no name; it has a source as any other."""
    parameters = signature.parameters
    layout = layout_of_signature(signature)
    given = {name: p.default for name, p in parameters.items() if p.default is not Parameter.empty}
    defaults = tuple(given[name] for name in layout.positional if name in given)
    keyword_defaults = {name: given[name] for name in layout.kwonly if name in given}
    own = getattr(f, "__name__", name)
    name = own if own.isidentifier() else name
    dotted, namespace = _reachable(f, name)
    head = f"def {name}({layout.parameters(len(defaults), tuple(keyword_defaults), seed=False)}):"
    text = f"{head}\n    return {dotted}({', '.join(layout.arguments())})\n"
    file = f"<s2s call of {name} #{next(_numbers)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec"), namespace)
    made: types.FunctionType = namespace[name]
    made.__defaults__, made.__kwdefaults__ = defaults or None, keyword_defaults or None
    return made


def _reachable(f: Any, name: str) -> tuple[str, dict[str, Any]]:
    """How a function is written, and the globals in which that means it."""
    for alias, module in (("np", np), ("np.linalg", np.linalg), ("math", math)):
        if getattr(module, name, None) is f:
            root = alias.partition(".")[0]
            return f"{alias}.{name}", {root: np if root == "np" else module, "__name__": "s2s"}
    if getattr(builtins, name, None) is f:
        return f"builtins.{name}", {"builtins": builtins, "__name__": "s2s"}
    return "function", {"function": f, "__name__": "s2s"}
