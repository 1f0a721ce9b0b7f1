"""Stand-ins for what a recorded function finds under its global names: modules, C functions and types of numbers.

C functions know nothing of Variables, so a recorded function gets stand-ins: those that have a rule record the call,
those without one raise MissingRuleError if an argument carries a gradient, and NumPy's functions that make arrays
return values that can join the graph when they are written. `float(x)` keeps the gradient of x, `type(x)` answers
as the value's type.
"""

from __future__ import annotations

import builtins
import collections
import functools
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from s2s.autograd import operation
from s2s.autograd.dispatch import apply, call_unknown, missing
from s2s.autograd.nodes import plain
from s2s.autograd.refusals import noted
from s2s.autograd.shuffling import shuffled
from s2s.autograd.texts import holds_numbers, written
from s2s.autograd.traced import Traced, gives_memory, refuse_made_of_text
from s2s.autograd.value import Value, ndarray
from s2s.core import MISSING
from s2s.kinds import is_random_generator

# Modules whose functions move values about without looking into them, or only print them.
_STRUCTURAL = frozenset(
    {"_functools", "_operator", "collections", "contextlib", "copy", "dataclasses", "functools", "itertools",
     "logging", "operator", "time", "typing", "warnings", "_warnings", "weakref", "_collections", "_thread",
     "threading"}
)  # fmt: skip
_NUMERIC = frozenset({"numpy", "scipy"})
_SEQUENCES = (list, tuple, dict)


def values_within(tree: Any) -> Iterator[Value]:
    """The Values in nested lists, tuples and dicts."""
    if isinstance(tree, Value):
        yield tree
    elif isinstance(tree, (list, tuple)):
        for item in tree:
            if isinstance(item, Value) or isinstance(item, _SEQUENCES):
                yield from values_within(item)
    elif isinstance(tree, dict):
        yield from values_within(list(tree.values()))


def has_value(args: Any) -> bool:
    """Whether there is a Value in nested lists, tuples and dicts."""
    return next(values_within(args), None) is not None


def package(function: Any) -> str:
    """The top-level package of a function or module, by its name."""
    name = getattr(function, "__module__", None) or getattr(function, "__name__", "")
    return str(name).partition(".")[0]


def is_library(function: Any) -> bool:
    """Whether a function belongs to Python or to a numeric library: such are called as a whole."""
    name = package(function)
    return name in _NUMERIC or (name in sys.stdlib_module_names and name != "__main__")


class FunctionProxy:
    """A function of a library. Everything but the call is the function's own."""

    __slots__ = ("_function", "_numpy", "_protocol", "_structural")

    def __init__(self, function: Any) -> None:
        self._function = function
        owner = getattr(function, "__self__", None)
        self._structural = package(function) in _STRUCTURAL or isinstance(owner, (list, dict, set, collections.deque))
        self._protocol = isinstance(function, (np.ufunc, type(np.sum)))
        self._numpy = self._protocol or package(function) == "numpy"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        function = self._function
        if self._structural:
            return function(*args, **kwargs)
        if has_value(args) or (kwargs and has_value(kwargs)):
            return self._on_values(function, args, kwargs)
        out = function(*args, **kwargs)
        if written.texts and holds_numbers(out):
            refuse_made_of_text(*args, kwargs)
        return _joining(out) if self._numpy else out

    def _on_values(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if self._protocol and any(isinstance(a, Value) for a in (*args, *kwargs.values())):
            return function(*args, **kwargs)  # NumPy hands the call to the Value
        if operation.find(function) is not None:
            return apply(function, args, kwargs)
        given = shuffled(function, args, kwargs)
        if given is not MISSING:
            return given
        if any(v.parent() is not None for v in values_within((args, kwargs))):
            raise missing(function, args, kwargs)
        out = call_unknown(function, args, kwargs)
        return _joining(out) if self._numpy else out

    def __getattr__(self, name: str) -> Any:
        return getattr(self._function, name)

    def __eq__(self, other: object) -> bool:
        return other is self or other is self._function

    def __hash__(self) -> int:
        return hash(self._function)

    def __repr__(self) -> str:
        return repr(self._function)


def _joining(out: Any) -> Any:
    """Arrays of floats as values that can join the graph, anything else as it is."""
    if type(out) is ndarray:
        return Traced.make(out) if out.dtype.kind in "fc" else out
    if type(out) in (list, tuple):
        return type(out)([_joining(v) for v in out])
    return drawing(out) if is_random_generator(type(out)) else out


def drawing(generator: Any) -> Any:
    """The stand-in of a generator of random numbers; its module, above this one, sets this function."""
    raise NotImplementedError


# --- types ------------------------------------------------------------------------------------------------------


class TypeProxy(type):
    """A type of numbers, or of bytes: calls on Values keep the gradient, or are refused; all else is the type's own.

    It is a type itself, as class patterns ask for one.
    """

    _type: type
    _convert: Callable[..., Any]
    dtype: Any

    def __new__(mcs, cls: Any, convert: Callable[..., Any]) -> TypeProxy:
        # A subclass of these stands for the whole value in a pattern, as they do.
        base = next((whole for whole in (int, float) if issubclass(cls, whole)), object)
        dtype = np.dtype(cls) if issubclass(cls, (int, float, complex, np.generic)) else None
        names = {"_type": cls, "_convert": staticmethod(convert), "dtype": dtype, "__doc__": cls.__doc__}
        return super().__new__(mcs, cls.__name__, (base,), {"__module__": cls.__module__, **names})

    def __init__(cls, *_: Any, **__: Any) -> None:
        pass

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if has_value(args):
            return self._convert(self._type, *args, **kwargs)
        if written.texts:
            refuse_made_of_text(*args)
        return self._type(*args, **kwargs)

    def __instancecheck__(self, instance: Any) -> bool:
        return isinstance(instance, self._type)

    def __subclasscheck__(self, cls: Any) -> bool:
        return issubclass(getattr(cls, "_type", cls), self._type)

    def __or__(self, other: Any) -> Any:
        return self._type | getattr(other, "_type", other)

    __ror__ = __or__

    def __getattr__(self, name: str) -> Any:
        return getattr(self._type, name)

    def __eq__(self, other: object) -> bool:
        return other is self or other is self._type

    def __hash__(self) -> int:
        return hash(self._type)

    def __repr__(self) -> str:
        return repr(self._type)


def _to_number(cls: type, v: Any, *rest: Any) -> Any:
    if rest:
        return _to_complex(cls, v, *rest)
    number = cls(v._data)
    if isinstance(number, ndarray) and number.ndim:
        return apply(np.ndarray.astype, (v, cls))
    parent = v.parent()
    if parent is None:
        return Traced.make(number)
    if np.ndim(v._data):
        parent = apply(np.reshape, (v, ())).parent()
    return Traced.linked(number, parent)


def _to_complex(cls: type, re: Any, im: Any) -> Any:
    complex(plain(re), plain(im))  # raises what the call raises
    return re + im * 1j


def _to_int(cls: type, v: Any, *rest: Any) -> Any:
    # constant almost everywhere
    return cls(plain(v), *rest)


def _to_bytes(cls: type, *args: Any) -> Any:
    if cls is memoryview:
        raise noted(TypeError(gives_memory("memoryview")))
    if any(v.parent() is not None for v in values_within(args)):
        raise missing(cls, args)
    return cls(*plain(list(args)))


def _type_of(cls: type, *args: Any) -> Any:
    return TYPES.get(type(args[0]._data), type(args[0]._data)) if len(args) == 1 else type(*args)


class _TypeOf(TypeProxy):
    """`type`: answers with the stand-ins that the function sees, so that `type(x) is float` holds."""

    __slots__ = ()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if len(args) != 1:
            return type(*args, **kwargs)
        found = type(plain(args[0]))
        return TYPES.get(found, found)


TYPES: dict[Any, TypeProxy] = {
    cls: TypeProxy(cls, _to_number)
    for cls in (float, complex, np.float16, np.float32, np.float64, np.longdouble, np.complex64, np.complex128)
}
TYPES[int] = TypeProxy(int, _to_int)
BYTES = (bytes, bytearray, memoryview)  # what reads the memory of arrays
TYPES |= {cls: TypeProxy(cls, _to_bytes) for cls in BYTES}
TYPES[type] = _TypeOf(type, _type_of)

# --- modules and builtins ---------------------------------------------------------------------------------------


class ModuleProxy:
    """A module whose attributes are stand-ins."""

    def __init__(self, module: types.ModuleType, counterpart: Callable[[Any], Any]) -> None:
        self.__dict__.update(_module=module, _counterpart=counterpart)

    def __getattr__(self, name: str) -> Any:
        return self._counterpart(getattr(self._module, name))

    def __setattr__(self, name: str, value: Any) -> None:
        if any(v.parent() is not None for v in values_within(value)):
            message = f"a value that carries a gradient is stored into module {self._module.__name__} as {name!r}"
            raise noted(TypeError(message))
        setattr(self._module, name, plain(value))

    def __dir__(self) -> list[str]:
        return dir(self._module)

    def __repr__(self) -> str:
        return repr(self._module)


def proxied_builtins(counterpart: Callable[[Any], Any]) -> dict[str, Any]:
    """The builtins of a recorded function."""

    def import_(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        outer = getattr(globals, "source", globals)
        return counterpart(builtins.__import__(name, outer, locals, fromlist, level))

    def sum_(iterable: Any, /, start: Any = 0) -> Any:
        if isinstance(start, (list, tuple)):
            return sum(iterable, start)  # joins them
        items = iterable if isinstance(iterable, Value) else list(iterable)
        return _by_rule(sum, (items, start))

    def extremum(function: Any) -> Any:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            if kwargs or (len(args) == 1 and isinstance(args[0], types.GeneratorType)):
                return function(*args, **kwargs)
            return _by_rule(function, args)

        return call

    def run(function: Any) -> Any:
        @functools.wraps(function)
        def call(source: Any, globals: Any = None, locals: Any = None, **options: Any) -> Any:
            refuse_made_of_text(source)
            frame = sys._getframe(1)
            locals = locals if locals is not None else globals if globals is not None else frame.f_locals
            return function(source, frame.f_globals if globals is None else globals, locals, **options)

        return call

    def ord_(character: Any, /) -> int:
        refuse_made_of_text(character)
        return ord(character)

    def build_class(body: Any, name: str, *bases: Any, **options: Any) -> Any:
        """A class over the types, not over their stand-ins."""

        def itself(value: Any) -> Any:
            return value._type if isinstance(value, TypeProxy) else value

        return builtins.__build_class__(body, name, *map(itself, bases), **{k: itself(v) for k, v in options.items()})

    return {
        **vars(builtins),
        "__build_class__": build_class,
        **{cls.__name__: proxied for cls, proxied in TYPES.items() if cls in (int, float, complex, type, *BYTES)},
        "__import__": import_,
        "sum": sum_,
        "eval": run(eval),
        "exec": run(exec),
        "ord": ord_,
        "max": extremum(max),
        "min": extremum(min),
    }


def _by_rule(function: Any, args: tuple[Any, ...]) -> Any:
    # by the rule, in the builtin's own arithmetic (sum compensates) and with its slope at ties
    if has_value(args) and operation.find(function) is not None:
        return apply(function, args)
    return function(*args)
