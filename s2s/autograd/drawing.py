"""Stand-ins for generators of random numbers, whose draws carry the gradients of their parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from s2s.autograd import operation, proxies
from s2s.autograd.dispatch import apply, missing
from s2s.autograd.nodes import plain
from s2s.autograd.proxies import FunctionProxy, has_value, values_within
from s2s.autograd.value import Value


class Drawing:
    """A generator. What it draws of recorded values is recorded by the rules of its methods."""

    def __init__(self, generator: Any) -> None:
        self._generator = generator

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """So that `isinstance` finds a generator, also where NumPy asks."""
        return type(self._generator)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._generator, name)
        return self._method(getattr(type(self._generator), name), found) if callable(found) else found

    def _method(self, function: Any, bound: Any) -> Callable[..., Any]:
        plainly = FunctionProxy(bound)

        def draw(*args: Any, **kwargs: Any) -> Any:
            if isinstance(kwargs.get("out"), Value):
                return _drawn_into(bound, args, kwargs)
            if has_value((args, kwargs)) and operation.find(function) is not None:
                return apply(function, (self._generator, *args), kwargs)
            return plainly(*args, **kwargs)

        return draw

    def __repr__(self) -> str:
        return repr(self._generator)


def _drawn_into(method: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A draw of numbers of no parameters into an array."""
    out: Any = kwargs["out"]
    rest = {name: value for name, value in kwargs.items() if name != "out"}
    if any(value.parent() is not None for value in values_within((args, rest))):
        raise missing(method, args, kwargs)
    drawn = np.array(plain(out))
    method(*plain(list(args)), out=drawn, **plain(rest))
    out[...] = drawn
    return out


proxies.drawing = Drawing
