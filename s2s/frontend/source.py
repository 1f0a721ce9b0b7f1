"""The source of a function: what is called -> the syntax tree of the code that runs, proven to be that code's text.

A method, partial or callable object is first unwrapped to the plain function that a call of it runs, and the
arguments that are bound on the way. `__wrapped__` is never followed: what is called is what is differentiated. The text
is then looked up by file and line, and held against the code object (`matching.py`), so that neither two lambdas on one
line nor a file edited since its import give the derivative of something else.
"""

from __future__ import annotations

import ast
import copy
import functools
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import CodeType, FunctionType, MethodType
from typing import Any

import gast

from s2s.core import Origin
from s2s.errors import SourceUnavailableError, UnsupportedSyntaxError
from s2s.frontend import definitions
from s2s.frontend.definitions import Definition, FunctionNode, SourceFile
from s2s.frontend.matching import Match, match
from s2s.frontend.origins import origin, segment

# From Python 3.14 on, a partial may leave out arguments that are not the last ones.
_PLACEHOLDER = getattr(functools, "Placeholder", object())


@dataclass(frozen=True)
class Unwrapped:
    """What a call of something runs: a plain function, after leading and keyword arguments that are bound already."""

    function: FunctionType
    bound: tuple[Any, ...] = ()
    keywords: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Source:
    """A function and the tree of its text.

    name: the function's name; `lambda_` for a lambda.
    tree: the syntax tree of the function, as Python has it.
    file: the file, as its code object names it.
    lines: the lines of the file, to which the positions in `node` refer.
    text: the function's own text.
    function, bound, keywords: see `Unwrapped`.
    class_name: the innermost class around the text, which mangles private names.
    defaults, kwdefaults: the default objects by parameter name (a private one mangled), positional and keyword-only.
    """

    name: str
    tree: FunctionNode
    file: str
    lines: tuple[str, ...]
    text: str
    function: FunctionType
    bound: tuple[Any, ...]
    keywords: Mapping[str, Any]
    class_name: str | None
    defaults: Mapping[str, Any]
    kwdefaults: Mapping[str, Any]

    @functools.cached_property
    def node(self) -> Any:
        """The `def` without its decorators; of a lambda, a `def` whose body is `return` of its expression."""
        return _as_gast(self.tree)

    def origin(self, node: Any) -> Origin:
        """The place of a node; see `origins.origin`."""
        return origin(node, self.file, self.lines, self.function.__code__.co_name)


def find(function: Any) -> Source:
    """The source of a callable.

    Raises SourceUnavailableError where there is no text, or none that the code was compiled from, and
    UnsupportedSyntaxError for a generator or coroutine function.
    """
    source = find_any(function)
    _refuse_suspending(source)
    return source


def find_any(function: Any) -> Source:
    """As `find`, also for generator and coroutine functions."""
    unwrapped = unwrap(function)
    plain = unwrapped.function
    code = plain.__code__
    file = _read(plain)
    definition = _locate(file, code)
    if definition is None and code.co_filename == "<string>":
        # what `exec` compiles; since Python 3.13 also the name of the text of `python -c`
        raise _no_source(code)
    if definition is None:
        raise SourceUnavailableError(
            f"the text of {code.co_name} in {code.co_filename!r} is not what its code was compiled from",
            hint="was the file edited after its import, or its code changed by a tool? Import it again.",
        )
    node = definition.node
    _check_defaults(plain, node)
    return Source(
        name="lambda_" if isinstance(node, ast.Lambda) else node.name,
        tree=node,
        file=code.co_filename,
        lines=file.lines,
        text=segment(file.lines, node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0),
        function=plain,
        bound=unwrapped.bound,
        keywords=unwrapped.keywords,
        class_name=definition.class_name,
        defaults=_defaults(plain),
        kwdefaults=dict(plain.__kwdefaults__ or {}),
    )


# --- what a call runs ---------------------------------------------------------------------------------------------


def unwrap(function: Any) -> Unwrapped:
    """The plain function that a call runs, and what is bound. Raises SourceUnavailableError where there is none."""
    if isinstance(function, FunctionType):
        return Unwrapped(function)
    if isinstance(function, MethodType):
        inner = unwrap(function.__func__)
        return replace(inner, bound=(*inner.bound, function.__self__))
    if type(function) is functools.partial and not any(arg is _PLACEHOLDER for arg in function.args):
        inner = unwrap(function.func)
        bound, keywords = (*inner.bound, *function.args), {**inner.keywords, **function.keywords}
        return replace(inner, bound=bound, keywords=keywords)
    if isinstance(function, staticmethod):
        return unwrap(function.__func__)
    if isinstance(function, type):
        raise SourceUnavailableError(
            f"{function.__qualname__} is a class", hint="pass a function that makes and uses its instances."
        )
    return unwrap(_call_method(function))


def _call_method(instance: Any) -> Any:
    """What a call of an instance runs: `__call__` of its class, bound."""
    cls = type(instance)
    call = next((vars(c)["__call__"] for c in cls.__mro__ if "__call__" in vars(c)), None)
    if call is None:
        raise SourceUnavailableError(f"{instance!r} cannot be called", hint="pass a function.")
    if isinstance(call, (FunctionType, staticmethod, classmethod, functools.partialmethod)):
        return call.__get__(instance, cls)
    name = getattr(instance, "__qualname__", getattr(instance, "__name__", cls.__qualname__))
    raise SourceUnavailableError(f"{name} is not written in Python", hint="give it a derivative rule.")


# --- its text ---------------------------------------------------------------------------------------------------


def _read(function: FunctionType) -> SourceFile:
    code = function.__code__
    try:
        file = definitions.read(code.co_filename, function.__globals__)
    except (SyntaxError, ValueError) as error:
        raise SourceUnavailableError(
            f"the file of {code.co_name}, {code.co_filename!r}, is no valid Python any more ({error})",
            hint="it was edited after its import: mend it and import it again.",
        ) from error
    if file is None:
        raise _no_source(code)
    return file


def _no_source(code: CodeType) -> SourceUnavailableError:
    return SourceUnavailableError(
        f"{code.co_name} has no source: {code.co_filename!r} cannot be read",
        hint="define it in a file or a notebook cell; code made by exec, or typed at a prompt, keeps no text.",
    )


def _locate(file: SourceFile, code: CodeType) -> Definition | None:
    """The function of a file that is a code object's text; None if there is none.

    In a file that was edited elsewhere the text has moved; it is still found, but it comes after one in its place.
    """
    moved = None
    for definition in file.candidates(code.co_name, code.co_firstlineno):
        found = match(definition, code, file.imported)
        if found is Match.PLACE:
            return definition
        if found is Match.CODE and moved is None:
            moved = definition
    return moved


def _check_defaults(function: FunctionType, node: FunctionNode) -> None:
    """The values of defaults are those of the function; which parameters have one, the text must tell as well."""
    in_text = len(node.args.defaults), sum(default is not None for default in node.args.kw_defaults)
    if in_text != (len(function.__defaults__ or ()), len(function.__kwdefaults__ or {})):
        raise SourceUnavailableError(
            f"parameters of {function.__name__} were given defaults, or lost them, after its definition",
            hint="write the defaults in the `def`.",
        )


def _refuse_suspending(source: Source) -> None:
    flags = source.function.__code__.co_flags
    if flags & inspect.CO_GENERATOR:
        kind, where = "a generator function", next(_own_yields(source.node))
    elif flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        kind, where = "an async function", source.node
    else:
        return
    raise UnsupportedSyntaxError(
        f"{source.name} is {kind}, which has no derivative",
        origin=source.origin(where),
        hint="differentiate a plain function that returns a number.",
    )


def _own_yields(node: Any) -> Any:
    """The yields of a function, not those of functions inside."""
    for child in gast.iter_child_nodes(node):
        if isinstance(child, (gast.Yield, gast.YieldFrom)):
            yield child
        elif not isinstance(child, (gast.FunctionDef, gast.AsyncFunctionDef, gast.Lambda)):
            yield from _own_yields(child)


def _as_gast(node: FunctionNode) -> Any:
    """The function's tree alone, converted; its decorators belong to the code around it."""
    if not isinstance(node, ast.Lambda):
        bare = copy.copy(node)
        bare.decorator_list = []
        return gast.ast_to_gast(bare)
    converted = gast.ast_to_gast(node)
    returned = gast.copy_location(gast.Return(converted.body), converted.body)
    made = gast.FunctionDef("lambda_", converted.args, [returned], [], None, None, [])
    return gast.copy_location(made, converted)


def _defaults(function: FunctionType) -> dict[str, Any]:
    values = function.__defaults__ or ()
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    return dict(zip(names[len(names) - len(values) :], values))
