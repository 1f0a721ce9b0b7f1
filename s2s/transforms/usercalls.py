"""Calls of user functions that are not inlined: which they are, and what a program says of the functions called.

Such a call has one form, `y = f(a, b)`: one positional argument for each parameter, in order, an atom each; defaults
are filled in, what is variadic is one tuple or dict. Where the function has no such parameters, or an argument is a
function (which the callee is specialised on), a stand-in takes its place that calls it in its own way.
"""

from __future__ import annotations

import functools
import inspect
import sys
import types
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import gast

from s2s import core, rules
from s2s import kinds as K
from s2s.kinds import Kind

# Python functions of these packages, and of the standard library, are known by their rules or not at all.
OPAQUE = sys.stdlib_module_names - {"__main__", "statistics"} | {"numpy", "scipy", "s2s"}


@dataclass(frozen=True)
class Callee:
    """A user function that is called in the form above.

    fixed: parameters whose arguments are known by identity, and are not passed.
    params: those that are passed, in order.
    itself: the first of them, where the function itself is passed, from which its cells are read (`anew.py`).
    gives_back: those into which the function writes. It works on copies of these, and returns `(result, *copies)`.
    derivative: what is called is a derivative of the function.
    recorded: whether the call is recorded by itself, as the function cannot be compiled; then `params` are those that
        are given, the last of them by their `keywords`.
    """

    function: types.FunctionType
    fixed: tuple[tuple[str, K.Static], ...]
    params: tuple[str, ...]
    itself: str | None = None
    gives_back: tuple[str, ...] = ()
    recorded: bool = False
    keywords: tuple[str, ...] = ()
    derivative: Any = None

    @property
    def name(self) -> str:
        name = self.function.__name__ if self.function.__name__.isidentifier() else "lambda_"
        return name if self.derivative is None else f"{name}_grad"


stand_ins: weakref.WeakValueDictionary[tuple[Any, ...], types.FunctionType] = weakref.WeakValueDictionary()
callees: weakref.WeakKeyDictionary[types.FunctionType, Callee] = weakref.WeakKeyDictionary()


def callee_of(function: Any) -> Callee | None:
    """What a function is called as, if it is a user's and all its parameters are positional."""
    if not isinstance(function, types.FunctionType):
        return None
    made = callees.get(function)
    if made is not None:
        return made
    if not is_users(function) or not _is_plain(function):
        return None
    return Callee(function, (), parameters(function))


def user_callee(function: Any, call: Any) -> Callee | None:
    """What a call calls, if it is in the form of this module."""
    callee = callee_of(function) if isinstance(call, gast.Call) and not call.keywords else None
    if callee is None or any(isinstance(a, gast.Starred) for a in call.args):
        return None
    return callee if len(call.args) == len(callee.params) else None


def uncached(function: Any) -> Any:
    """The function behind `functools.lru_cache`, whose results are of one kind with those that are kept."""
    return function.__wrapped__ if isinstance(function, functools._lru_cache_wrapper) else function


def is_users(function: types.FunctionType) -> bool:
    """Whether a function is one that we look into: written in Python, by somebody else, and without a rule."""
    return not is_opaque(function) and rules.find(function) is None


def is_opaque(function: Any) -> bool:
    """Whether a function is of a package that is not looked into; the bodies of rules are, as any derivative code."""
    module = getattr(function, "__module__", None) or ""
    return module.partition(".")[0] in OPAQUE and not module.startswith("s2s.rules.")


def parameters(function: types.FunctionType) -> tuple[str, ...]:
    """The parameters of a function, in the order of the signature; variadic ones count."""
    code = function.__code__
    count, only = code.co_argcount, code.co_kwonlyargcount
    names = code.co_varnames
    has_args, has_keywords = bool(code.co_flags & inspect.CO_VARARGS), bool(code.co_flags & inspect.CO_VARKEYWORDS)
    variadic = names[count + only : count + only + has_args + has_keywords]
    return (*names[:count], *variadic[:has_args], *names[count : count + only], *variadic[int(has_args) :])


def _is_plain(function: types.FunctionType) -> bool:
    code = function.__code__
    return not code.co_kwonlyargcount and not code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)


def in_form(
    function: types.FunctionType, fixed: Sequence[tuple[str, Any]], passes_itself: bool = False
) -> types.FunctionType:
    """The function itself if it can be called in the form, else its stand-in.

    passes_itself: whether the first argument is the function, which may be another one of the same code.
    """
    if not fixed and not passes_itself and _is_plain(function):
        return function
    held = tuple((name, K.Static(value)) for name, value in fixed)
    key = (function, held, passes_itself)
    stand_in = stand_ins.get(key)
    if stand_in is None:
        params = tuple(p for p in parameters(function) if p not in dict(fixed))
        code = function.__code__
        taken = {*_names(code), *code.co_varnames, *code.co_cellvars}
        itself = core.unique("itself", taken.__contains__) if passes_itself else None
        if itself is not None:
            params = (itself, *params)
        stand_in = stand_ins[key] = _stand_in(function, dict(fixed), params, itself)
        callees[stand_in] = Callee(function, held, params, itself)
    return stand_in


def by_derivative(derivative: Any, fixed: Sequence[tuple[str, Any]]) -> types.FunctionType:
    """The stand-in for a derivative, which takes the arguments of its primal."""
    function = derivative.function
    held = tuple((name, K.Static(value)) for name, value in fixed)
    key = (derivative, held)
    stand_in = stand_ins.get(key)
    if stand_in is None:
        params = tuple(p for p in parameters(function) if p not in dict(fixed))
        stand_in = stand_ins[key] = _stand_in(function, dict(fixed), params, None, derivative.called)
        stand_in.__name__ = stand_in.__qualname__ = f"{function.__name__}_grad"
        callees[stand_in] = Callee(function, held, params, derivative=derivative)
    return stand_in


def _stand_in(
    function: types.FunctionType, fixed: dict[str, Any], params: tuple[str, ...], itself: str | None, other: Any = None
) -> types.FunctionType:
    """A function in the form that calls another one: `other`, or the one whose parameters it has."""
    code = function.__code__
    names = parameters(function)
    positional = code.co_varnames[: code.co_argcount]
    args = names[code.co_argcount] if code.co_flags & inspect.CO_VARARGS else None
    keywords = names[-1] if code.co_flags & inspect.CO_VARKEYWORDS else None
    only = [n for n in names if n not in positional and n not in (args, keywords)]

    def call(*values: Any) -> Any:
        given = {**fixed, **dict(zip(params, values))}
        by_position = [given[n] for n in positional]
        by_position += given[args] if args else ()
        called = (function if other is None else other) if itself is None else given[itself]
        return called(*by_position, **{n: given[n] for n in only}, **(given[keywords] if keywords else {}))

    call.__name__ = call.__qualname__ = function.__name__
    assert isinstance(call, types.FunctionType)
    return call


def by_record(
    function: types.FunctionType, count: int, keywords: Sequence[str], passes_itself: bool
) -> types.FunctionType:
    """The stand-in for a function that is not compiled, in a call with some positional and keyword arguments."""
    key = (function, (count, *keywords), passes_itself)
    stand_in = stand_ins.get(key)
    if stand_in is None:
        named = parameters(function)[: min(count, function.__code__.co_argcount)]
        given = (*named, *(f"argument{i}" for i in range(len(named), count)), *keywords)
        itself = core.unique("itself", given.__contains__) if passes_itself else None

        def call(*values: Any) -> Any:
            called = values[0] if passes_itself else function
            rest = values[passes_itself:]
            return called(*rest[:count], **dict(zip(keywords, rest[count:])))

        call.__name__ = call.__qualname__ = function.__name__
        assert isinstance(call, types.FunctionType)
        stand_in = stand_ins[key] = call
        params = (itself, *given) if itself is not None else given
        callees[stand_in] = Callee(function, (), params, itself, recorded=True, keywords=tuple(keywords))
    return stand_in


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    yield from code.co_freevars
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


# --- kinds ------------------------------------------------------------------------------------------------------


def widened(kind: Kind) -> Kind:
    """The kind without values, and with lists of any length: what a function that calls itself is compiled for."""
    if isinstance(kind, (K.Int, K.Bool, K.Str)):
        return type(kind)()
    if isinstance(kind, K.List):
        items = tuple(map(widened, kind.items))
        return K.Sequence(items[0]) if items and all(i == items[0] for i in items) else K.List(items)
    return with_items(kind, widened)


def generalised(kind: Kind) -> Kind:
    """The same, and tuples of like items have any length."""
    kind = with_items(widened(kind), generalised)
    if isinstance(kind, K.Tuple) and kind.cls is tuple and kind.items:
        if all(i == kind.items[0] for i in kind.items):
            return K.Sequence(kind.items[0], tuple)
    return kind


def with_items(kind: Kind, change: Callable[[Kind], Kind]) -> Kind:
    """A container's kind with the kinds of its items changed."""
    if isinstance(kind, K.Tuple):
        return K.Tuple(tuple(map(change, kind.items)), kind.cls)
    if isinstance(kind, K.List):
        return K.List(tuple(map(change, kind.items)))
    if isinstance(kind, K.Sequence):
        return K.Sequence(change(kind.item), kind.cls)
    if isinstance(kind, K.Dict):
        return K.Dict(tuple((key, change(item)) for key, item in kind.items))
    if isinstance(kind, K.Record):
        return K.Record(kind.cls, tuple((name, change(item)) for name, item in kind.fields))
    return kind
