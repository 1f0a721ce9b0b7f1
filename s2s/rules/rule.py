"""What is known of the derivative of one function, and how calls of the function bind to it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from s2s.kinds import Kind

Body = Callable[..., Any]

_NOTHING: Mapping[str, Any] = MappingProxyType({})
_REQUIRED: Any = inspect.Parameter.empty
# Keywords of every ufunc that leave the derivative as it is: casts of a cotangent are its receiver's business.
_UFUNC_KEYWORDS = frozenset({"casting", "order", "dtype", "subok"})


@dataclass(frozen=True, eq=False)
class Rule:
    """What is known of the derivative of one function.

    name: what the rule is called.
    model: a function whose parameters are the function's own after `skip` leading ones.
    bodies, partial_index: of elementwise rules, by parameter: the written body, and which item of the tuple that it
        returns is the partial (None: it returns the partial alone).
    partials: of elementwise rules, by parameter: `(ans, *params)` -> the partial derivative.
    vjps, jvps: by parameter, for all forms but `decompose`: `(g, ans, *params)` -> the cotangent, of the parameter's
        shape; `(p_dot, ans, *params)` -> the tangent, of the result's shape.
    linear: parameters by which the tangent is the function itself with the tangent in their place.
    decomposition: `(*params)` -> the same result in plain NumPy.
    zero: the derivative is zero by all parameters; zeros: the parameters by which it is.
    guarded: a slope can be infinite where the result is finite: bodies return quotients `a / b`.
    singular: likewise, but only where the result is infinite too.
    choosing: of elementwise rules, where a slope is zero the operand counts for nothing, however steep what follows is.
    kind: `(*kinds)`, one for each parameter -> the kind of the result; None where sample values tell.
    view: parameters whose memory the result may share (if none is named, it may be that of all); mutates: parameters
        that the function writes into. Of Python's and NumPy's own functions `transforms.known` says it.
    containers: parameters that are sequences (nested for `np.array`) of differentiable values; their cotangent is a
        like sequence of cotangents. In any other parameter a sequence stands for `np.array` of it.
    """

    name: str
    functions: tuple[Any, ...]
    model: Body
    skip: int = 0
    bodies: Mapping[str, Body] = field(default_factory=dict)
    partial_index: Mapping[str, int | None] = field(default_factory=dict)
    partials: Mapping[str, Body] = field(default_factory=dict)
    vjps: Mapping[str, Body] = field(default_factory=dict)
    jvps: Mapping[str, Body] = field(default_factory=dict)
    linear: frozenset[str] = frozenset()
    decomposition: Body | None = None
    zero: bool = False
    zeros: frozenset[str] = frozenset()
    guarded: bool = False
    singular: bool = False
    choosing: bool = False
    kind: Callable[..., Kind] | None = None
    view: tuple[str, ...] = ()
    mutates: tuple[str, ...] = ()
    containers: tuple[str, ...] = ()

    @functools.cached_property
    def signature(self) -> inspect.Signature:
        """The function's own signature."""
        try:
            whole = inspect.signature(self.model)
        except (TypeError, ValueError):  # a C function that says nothing of its parameters
            whole = inspect.signature(lambda *args, **kwargs: None)
        return whole.replace(parameters=list(whole.parameters.values())[self.skip :])

    @functools.cached_property
    def differentiable(self) -> tuple[str, ...]:
        """The parameters by which there is a derivative, in the order of the signature."""
        if self.decomposition is not None:
            return tuple(p for p in self.signature.parameters if p not in self.zeros)
        return tuple(p for p in self.signature.parameters if p in self.vjps or p in self.jvps)

    def bind(self, args: Sequence[Any], kwargs: Mapping[str, Any] = _NOTHING) -> dict[str, Any]:
        """All parameters of a call by name, in the order of the signature, defaults filled in; TypeError else."""
        most, defaults, required = self._layout
        if len(args) > most:
            return self._bind_slowly(args, kwargs)
        bound = dict(defaults)
        bound.update(zip(bound, args, strict=False))
        if kwargs or len(args) < required:
            if any(k not in bound for k in kwargs) or any(k in kwargs for k in list(bound)[: len(args)]):
                return self._bind_slowly(args, kwargs)
            bound.update(kwargs)
            if any(v is _REQUIRED for v in bound.values()):
                return self._bind_slowly(args, kwargs)
        return bound

    def _bind_slowly(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        if self.partials:
            kwargs = {k: v for k, v in kwargs.items() if k not in _UFUNC_KEYWORDS}
        found = self.signature.bind(*args, **kwargs)
        found.apply_defaults()
        return dict(found.arguments)

    @functools.cached_property
    def _layout(self) -> tuple[int, dict[str, Any], int]:
        """How many arguments can be given by position, -1 where that needs a look; defaults, and how many have none."""
        parameters = self.signature.parameters
        defaults = {name: p.default for name, p in parameters.items()}
        named = [p for p in parameters.values() if p.kind is not p.POSITIONAL_OR_KEYWORD]
        if any(self.partials or p.kind is not p.KEYWORD_ONLY or p.default is _REQUIRED for p in named):
            return -1, defaults, 0
        return len(defaults) - len(named), defaults, sum(v is _REQUIRED for v in defaults.values())

    def spread(self, bound: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """The bound parameters as positional and keyword arguments, for `body(g, ans, *args, **kwargs)`."""
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        for name, parameter in self.signature.parameters.items():
            if parameter.kind is parameter.VAR_POSITIONAL:
                args.extend(bound[name])
            elif parameter.kind is parameter.VAR_KEYWORD:
                kwargs.update(bound[name])
            elif parameter.kind is parameter.KEYWORD_ONLY:
                kwargs[name] = bound[name]
            else:
                args.append(bound[name])
        return args, kwargs
