"""The parameters of a function, and the text of a function that has the same ones.

A call of a gradient binds its arguments by a generated function with the primal's own signature, so that binding,
defaults and their errors are Python's own and cost nothing extra.
"""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import CO_VARARGS, CO_VARKEYWORDS, Parameter, Signature
from typing import Any

from s2s import core

# The keywords that a plain function of ours hands on to one of a library, which knows no seed.
HANDED_ON = "s2s_keywords"


@dataclass(frozen=True)
class Layout:
    """The parameters of a function by their sorts; its objects (defaults) are not in it, so that it can be a key."""

    posonly: tuple[str, ...] = ()
    plain: tuple[str, ...] = ()
    vararg: str | None = None
    kwonly: tuple[str, ...] = ()
    kwarg: str | None = None

    @property
    def positional(self) -> tuple[str, ...]:
        """The parameters that take one positional argument each."""
        return self.posonly + self.plain

    @property
    def names(self) -> tuple[str, ...]:
        """All parameters, in the order of the signature."""
        vararg = (self.vararg,) if self.vararg else ()
        kwarg = (self.kwarg,) if self.kwarg else ()
        return (*self.positional, *vararg, *self.kwonly, *kwarg)

    @property
    def seed(self) -> str:
        """The keyword by which the seed is given: `out_bar`, unless an argument of the function could be meant."""
        taken = {"out_bar"} if self.kwarg not in (None, HANDED_ON) else set()
        return core.unique("out_bar", (taken | set(self.names)).__contains__)

    def parameters(self, defaults: int, keyword_defaults: Sequence[str], *, seed: bool) -> str:
        """The text between the brackets of a `def`; defaults are placeholders, to be set on the function."""
        required = len(self.positional) - defaults
        parts = [name if i < required else f"{name}=None" for i, name in enumerate(self.positional)]
        if self.posonly:
            parts.insert(len(self.posonly), "/")
        if self.vararg:
            parts.append(f"*{self.vararg}")
        elif self.kwonly or seed:
            parts.append("*")
        parts.extend(f"{name}=None" if name in keyword_defaults else name for name in self.kwonly)
        if seed:
            parts.append(f"{self.seed}=None")
        if self.kwarg:
            parts.append(f"**{self.kwarg}")
        return ", ".join(parts)

    def arguments(self) -> Iterator[str]:
        """The texts of the arguments that hand all parameters on to a function of the same signature."""
        yield from self.positional
        if self.vararg:
            yield f"*{self.vararg}"
        yield from (f"{name}={name}" for name in self.kwonly)
        if self.kwarg:
            yield f"**{self.kwarg}"

    def spread(self, values: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Values by parameter as positional and keyword arguments; what is left out takes its default."""
        args = [values[name] for name in self.positional if name in values]
        if self.vararg:
            args.extend(values[self.vararg])
        keywords = {name: values[name] for name in self.kwonly if name in values}
        if self.kwarg:
            keywords.update(values[self.kwarg])
        return args, keywords

    def gathered(self, args: Sequence[Any], keywords: Mapping[str, Any]) -> dict[str, Any]:
        """The values by parameter of positional and keyword arguments; see `spread`."""
        values = dict(zip(self.positional, args))
        if self.vararg:
            values[self.vararg] = tuple(args[len(self.positional) :])
        values |= {name: keywords[name] for name in self.kwonly if name in keywords}
        if self.kwarg:
            values[self.kwarg] = {n: v for n, v in keywords.items() if n not in self.kwonly and n != self.seed}
        return values


def layout_of(function: types.FunctionType) -> Layout:
    """The parameters of a function, by its code: `__signature__` and `__wrapped__` tell of others."""
    code = function.__code__
    names = iter(code.co_varnames)
    posonly = tuple(next(names) for _ in range(code.co_posonlyargcount))
    plain = tuple(next(names) for _ in range(code.co_argcount - code.co_posonlyargcount))
    kwonly = tuple(next(names) for _ in range(code.co_kwonlyargcount))
    vararg = next(names) if code.co_flags & CO_VARARGS else None
    kwarg = next(names) if code.co_flags & CO_VARKEYWORDS else None
    return Layout(posonly, plain, vararg, kwonly, kwarg)


def layout_of_signature(signature: Signature) -> Layout:
    """The same from a signature object."""
    sorts: dict[Any, list[str]] = {}
    for name, parameter in signature.parameters.items():
        sorts.setdefault(parameter.kind, []).append(name)
    return Layout(
        tuple(sorts.get(Parameter.POSITIONAL_ONLY, ())),
        tuple(sorts.get(Parameter.POSITIONAL_OR_KEYWORD, ())),
        next(iter(sorts.get(Parameter.VAR_POSITIONAL, ())), None),
        tuple(sorts.get(Parameter.KEYWORD_ONLY, ())),
        next(iter(sorts.get(Parameter.VAR_KEYWORD, ())), None),
    )
