"""The operators, methods and attributes of arrays that a Variable has, each by the rule of the array's own."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from s2s.autograd import ufuncs
from s2s.autograd.dispatch import apply
from s2s.autograd.inplace import assign, augment
from s2s.autograd.nodes import plain
from s2s.autograd.value import Value

_OPERANDS = (Value, float, int, np.ndarray, complex, np.generic, list, tuple)


def _binary(function: Any) -> Callable[[Any, Any], Any]:
    def method(self: Any, other: Any) -> Any:
        return apply(function, (self, other)) if isinstance(other, _OPERANDS) else NotImplemented

    return method


def _reflected(function: Any) -> Callable[[Any, Any], Any]:
    def method(self: Any, other: Any) -> Any:
        return apply(function, (other, self)) if isinstance(other, _OPERANDS) else NotImplemented

    return method


def _unary(function: Any) -> Callable[[Any], Any]:
    return lambda self: apply(function, (self,))


def _in_place(function: Any) -> Callable[[Any, Any], Any]:
    return lambda self, other: augment(self, function, other) if isinstance(other, _OPERANDS) else NotImplemented


def _comparison(function: Any) -> Callable[[Any, Any], Any]:
    return lambda self, other: function(self._data, plain(other))


def _method(name: str) -> Callable[..., Any]:
    """An array method, by the rule of ndarray's."""
    function = getattr(np.ndarray, name)

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        target = kwargs.pop("out", None)
        result = apply(function, (self, *args), kwargs)
        return result if target is None else ufuncs.store(result, target, f"ndarray.{name}")

    method.__name__ = name
    return method


def attribute(name: str) -> Any:
    """An array attribute that shares the gradient, by the rule of ndarray's."""
    function = getattr(np.ndarray, name)
    return property(
        lambda self: apply(function, (self,)), lambda self, value: assign(apply(function, (self,)), ..., value)
    )


_OPERATORS = (
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "matmul",
    "and",
    "or",
    "xor",
    "lshift",
    "rshift",
)
_METHODS = (
    "all", "any", "argmax", "argmin", "argpartition", "argsort", "astype", "choose", "clip", "compress", "conj",
    "conjugate", "copy", "cumprod", "cumsum", "diagonal", "dot", "flatten", "max", "mean", "min", "nonzero", "prod",
    "ravel", "repeat", "reshape", "round", "searchsorted", "squeeze", "std", "sum", "swapaxes", "take", "trace",
    "transpose", "var",
)  # fmt: skip


def install(cls: type) -> None:
    """Give a class of values all of them."""
    for name in _OPERATORS:
        function = getattr(operator, f"__{name}__")
        setattr(cls, f"__{name}__", _binary(function))
        setattr(cls, f"__r{name}__", _reflected(function))
        setattr(cls, f"__i{name}__", _in_place(getattr(operator, f"__i{name}__")))
    for name in ("neg", "pos", "abs", "invert"):
        setattr(cls, f"__{name}__", _unary(getattr(operator, f"__{name}__")))
    for name in ("lt", "le", "eq", "ne", "gt", "ge"):
        setattr(cls, f"__{name}__", _comparison(getattr(operator, f"__{name}__")))
    for name, method in (("divmod", _binary(divmod)), ("rdivmod", _reflected(divmod)), ("hash", object.__hash__)):
        setattr(cls, f"__{name}__", method)  # equality took the hash away
    for name in _METHODS:
        setattr(cls, name, _method(name))
