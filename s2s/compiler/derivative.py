"""The object that `grad(f)` returns: a function like `f` that gives its gradient."""

from __future__ import annotations

import functools
import importlib
import inspect
import types
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from s2s import core
from s2s import kinds as K
from s2s.codegen.build import listing
from s2s.compiler.argnums import Argnums, select
from s2s.compiler.driver import Driver, Request, Variant, source_of
from s2s.compiler.fallback import Fallback
from s2s.compiler.layout import HANDED_ON, Layout, layout_of
from s2s.compiler.nested import CalledGradient, Nestable
from s2s.compiler.program import PROGRAM
from s2s.compiler.target import target_of
from s2s.errors import UnsupportedSyntaxError
from s2s.frontend.source import Unwrapped
from s2s.kinds import Kind

Mode = Literal["grad", "value_and_grad", "elementwise_grad"]


class GradientFunction(Nestable):
    """The gradient of a function, or its value and gradient; called with the function's own arguments.

    The keyword `out_bar` (another name, if the function could take it for its own) gives the seed: the cotangent of
    the result, 1.0 if it is not given.

    primal: the plain function that is differentiated in the end; bound, keywords: the arguments bound to it.
    strict: whether what cannot be compiled raises, where it would be recorded on the tape.
    fallbacks: what was recorded on the tape so far, where and why.
    """

    # A call is a slot that holds the generated dispatch function: no frame of ours stands between.
    __slots__ = ("__call__", "__dict__", "__weakref__")

    __call__: Callable[..., Any]
    __name__: str
    __qualname__: str

    def __init__(
        self,
        f: Callable[..., Any],
        mode: Mode,
        argnums: Argnums = 0,
        has_aux: bool = False,
        strict: bool = False,
        skip: int = 0,
        backend: str | None = None,
    ) -> None:
        """skip: how many leading parameters `argnums` does not count (`self`)."""
        inner = f if isinstance(f, GradientFunction) else None
        if inner is not None:
            target = Unwrapped(inner.primal, inner.bound, inner.keywords)
        else:
            target = target_of(f.__func__ if isinstance(f, classmethod) else f, argnums)
        self.primal: types.FunctionType = target.function
        self.bound: tuple[Any, ...] = target.bound
        self.keywords: dict[str, Any] = dict(target.keywords)
        layout = layout_of(self.primal)
        self._in_class = not self.bound and not isinstance(f, staticmethod) and _defined_in_class(self.primal)
        if self._in_class and layout.positional[:1] == ("cls",):
            # Below @classmethod: from Python 3.13 on it calls us without asking for a method first.
            skip = 1
        self._arguments = (f, mode, argnums, has_aux, strict, skip, backend)
        before = len(self.bound) + skip
        selection = select(layout, argnums, before, getattr(f, "__name__", self.primal.__name__))
        summed = mode == "elementwise_grad"
        request = Request("grad" if mode == "elementwise_grad" else mode, selection, has_aux, strict, summed, backend)
        self.driver: Driver = Driver(self.primal, request, inner.driver if inner else None)
        if target.bound or target.keywords:
            self._call_by(_with_bound(self.driver, self.bound, self.keywords))
        else:
            self.driver.publish = self._call_by
            self._call_by(self.driver.call)
        functools.update_wrapper(self, f if hasattr(f, "__name__") else self.primal, updated=())
        self.__wrapped__: Any = f

    def _call_by(self, call: Callable[..., Any]) -> None:
        """Take calls by a new dispatch function."""
        self.__call__ = call

    def __repr__(self) -> str:
        _, mode, argnums, *_ = self._arguments
        return f"<{mode} of {self.__qualname__} by {argnums!r}>"

    @property
    def strict(self) -> bool:
        """Whether the tape is refused."""
        return self.driver.request.strict

    @property
    def fallbacks(self) -> list[Fallback]:
        """What was recorded on the tape so far, where and why."""
        return list(self.driver.fallbacks.records)

    @property
    def derived(self) -> CalledGradient:
        """What the compiler asks of it where another program calls it."""
        return CalledGradient(self.primal, (self.driver.identity(), self.driver.request), self)

    # --- methods ---

    @functools.cached_property
    def _method(self) -> GradientFunction:
        """The same as a method: `argnums` counts after `self`."""
        f, mode, argnums, has_aux, strict, skip, backend = self._arguments
        return self if skip else GradientFunction(f, mode, argnums, has_aux, strict, 1, backend)

    def __set_name__(self, owner: type, name: str) -> None:
        if self._in_class:
            # In a class body the positions mean something else: what is out of range is refused there and then.
            self._method  # noqa: B018

    def __get__(self, instance: Any, owner: type | None = None) -> GradientFunction:
        f = self.__wrapped__
        if self.bound or not isinstance(f, (types.FunctionType, classmethod, GradientFunction)):
            return self
        if isinstance(f, classmethod):
            instance = owner if owner is not None else type(instance)
        if instance is None:
            return self._method if self._in_class else self
        method = self._method
        bound = object.__new__(GradientFunction)
        bound.__dict__.update(method.__dict__)
        bound.bound = (instance,)
        bound._call_by(_with_bound(method.driver, bound.bound, bound.keywords))
        bound.__wrapped__ = f.__get__(instance, owner)
        return bound

    def __reduce__(self) -> Any:
        """By qualified name, where that leads here; else by what it was made from."""
        skip = self._arguments[5]
        if skip and len(self.bound) == 1:
            return getattr, (self.bound[0], self.__name__)
        if named(self.__module__, self.__qualname__) is self:
            return self.__qualname__
        return GradientFunction, self._arguments

    # --- what was generated ---

    def source(self, *example_args: Any, **example_keywords: Any) -> str:
        """The generated source for arguments like these; without arguments, that of the latest call's variant.

        Above the function stand the imports of what it calls besides the names of the user's own function, below it the
        sweeps of the functions that it calls.

        Before any call, the kinds of the arguments are taken from annotations and defaults, and what these leave open
        is a number or array of any shape. Raises UnsupportedSyntaxError if there is no source, as the function is
        recorded on the tape.
        """
        built = source_of(self._variant(example_args, example_keywords), self.primal.__name__)
        return listing(PROGRAM.callees.with_callees(built))

    def stages(self, *example_args: Any, **example_keywords: Any) -> dict[str, str]:
        """The source after each pass of the compiler, by the name of the pass (`infer2` when it runs again).

        The arguments are those of `source`.
        """
        from s2s.codegen.writer import write_function
        from s2s.transforms.pipeline import stages

        variant = self._variant(example_args, example_keywords)
        source_of(variant, self.primal.__name__)
        task = replace(self.driver.task(variant.kinds), recorded=variant.recorded)
        found: dict[str, str] = {}
        for name, function in stages(self.driver.lowered(variant.kinds, None), task):
            found[core.unique(name, found.__contains__)] = write_function(function)
        return found

    def _variant(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Variant:
        driver = self.driver
        if not args and not keywords and driver.latest is not None:
            return driver.latest
        if args or keywords or not driver.layout.names:
            return driver.variant(self._values(args, keywords))
        try:
            return driver.variant_of_kinds(self._guessed())
        except UnsupportedSyntaxError as error:
            error.hint = "pass example arguments: what they are decides what is generated."
            raise

    def _values(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> dict[str, Any]:
        return self.driver.bind((*self.bound, *args), {**self.keywords, **keywords})

    def _guessed(self) -> dict[str, Kind]:
        bound = dict(zip(self.driver.layout.names, self.bound)) | self.keywords
        found = guessed_kinds(self.primal, self.driver.layout)
        for name in self.driver.request.selection.params:
            if isinstance(found[name], (K.Int, K.Bool)):
                found[name] = K.FLOAT
        return found | {name: K.of(value) for name, value in bound.items() if name in found}


def _defined_in_class(function: types.FunctionType) -> bool:
    outer = function.__qualname__.rpartition(".")[0]
    return bool(outer) and not outer.endswith("<locals>")


def _with_bound(driver: Driver, bound: tuple[Any, ...], keywords: dict[str, Any]) -> Callable[..., Any]:
    """A call with some arguments given before."""

    def call(*args: Any, **more: Any) -> Any:
        return driver.call(*bound, *args, **{**keywords, **more})

    return call


_BY_ANNOTATION: dict[Any, Kind] = {float: K.FLOAT, complex: K.COMPLEX, int: K.Int(), bool: K.Bool(), str: K.Str()}


def guessed_kinds(function: Any, layout: Layout) -> dict[str, Kind]:
    """The kinds of parameters before any call: by annotation, by default, else numeric."""
    numeric = K.Numeric(np.dtype(float))
    try:
        annotations = inspect.get_annotations(function, eval_str=True)
    except Exception:  # an annotation that names what does not exist
        annotations = {}
    positional = layout.positional
    values = function.__defaults__ or ()
    defaults = dict(zip(positional[len(positional) - len(values) :], values)) | (function.__kwdefaults__ or {})
    found: dict[str, Kind] = {}
    for name in layout.names:
        annotation = annotations.get(name)
        if annotation in _BY_ANNOTATION:
            found[name] = _BY_ANNOTATION[annotation]
        elif annotation is None and name in defaults:
            found[name] = K.of(defaults[name])
        else:
            found[name] = numeric
    handed_on = layout.kwarg == HANDED_ON  # nothing is given to a function of a library but what it needs
    if layout.vararg:
        found[layout.vararg] = K.Tuple(()) if handed_on else K.Sequence(numeric, tuple)
    if layout.kwarg:
        found[layout.kwarg] = K.Dict(()) if handed_on else K.UNKNOWN
    return found


def named(module: str, qualname: str) -> Any:
    try:
        found: Any = importlib.import_module(module)
        for part in qualname.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError):
        return None
    return found
