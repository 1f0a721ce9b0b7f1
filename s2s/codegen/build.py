"""A Core function as a function that runs.

The text is compiled inside a factory, so that the names that we bind (runtime helpers, rules, defaults) and the cells
of the user's closure are free variables of the function, and everything else is a global of the user's module. The
factory is never called: its inner code object is taken out and given the user's own globals and cells, so that both
are shared live. The factory exists only as a tree around the parsed text; hence line and column numbers of the code
are those of the text, which is registered in `linecache`: tracebacks, pdb and `inspect.getsource` show it.

`annotate` adds to an exception that left generated code a note that names the user's own line. The caller's `except`
costs nothing while nothing is raised:

    try:
        return built.function(*args, **kwargs)
    except BaseException as error:
        annotate(error)
        raise
"""

from __future__ import annotations

import ast
import contextlib
import itertools
import linecache
import sys
import types
import weakref
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2s.codegen.writer import function_text, write
from s2s.core import MISSING, Function, Origin, Scope
from s2s.errors import pointer

# No identifier, so that it hides none: a function may call a global of its own name.
_PLACEHOLDER = "<function>"

_numbers = itertools.count(1)

_LONGEST = 100
_SMALL = 32


@dataclass(frozen=True, slots=True)
class Built:
    """A generated function.

    source: its text, without a newline at its end.
    filename: the name under which tracebacks show the text.
    lines: the origin of each line of the text, counted from 1.
    helpers: what the names mean that we bound around the function.
    """

    function: types.FunctionType
    source: str
    filename: str
    lines: Mapping[int, Origin]
    helpers: Mapping[str, Any]


class _Lines(list[str]):
    """The lines of a generated text as `linecache` holds them, and their origins: no second registry is needed."""

    origins: Mapping[int, Origin]


def build(fn: Function, *, filename_hint: str | None = None) -> Built:
    """Compile a Core function.

    filename_hint: what the text is, for the name of its file: "grad of loss" gives `<s2s grad of loss #1>`.
    """
    source, origins = function_text(fn)
    filename = f"<s2s {filename_hint or fn.name} #{next(_numbers)}>"
    code = _renamed(_compile(source, fn.scope, filename), fn.name)
    function = types.FunctionType(code, fn.scope.globals, fn.name, _defaults(fn), _closure(code, fn.scope))  # type: ignore[arg-type]
    function.__kwdefaults__ = _keyword_defaults(fn)
    _register(code, filename, source, origins)
    defaults = [d.id for d in (*fn.params.defaults, *fn.params.kw_defaults) if type(d).__name__ == "Name"]
    helpers = {name: fn.scope.names[name] for name in (*code.co_freevars, *defaults) if name in fn.scope.names}
    return Built(function, source, filename, origins, helpers)


def listing(functions: Iterable[Built]) -> str:
    """The texts of functions below the imports of what they call besides the user's own names.

    Where a name means another thing in one of them, that one has imports of its own.
    """
    helpers: dict[str, Any] = {}
    texts = []
    for built in functions:
        clash = any(name in helpers and helpers[name] is not value for name, value in built.helpers.items())
        helpers.update({} if clash else built.helpers)
        texts.append("\n".join([*imports(built.helpers), "", "", built.source]) if clash else built.source)
    return "\n\n\n".join(["\n".join(imports(helpers)), *texts] if helpers else texts)


def imports(helpers: Mapping[str, Any]) -> list[str]:
    """The imports, and assignments of defaults, that give names their values; a comment for what neither can give.

    >>> import math
    >>> imports({"m": math, "sine": math.sin, "cos": math.cos, "default": -0.5, "seen": object})
    ['import math as m', 'from builtins import object as seen', 'from math import cos, sin as sine', 'default = -0.5']
    """
    modules, parts, comments, values = [], dict[str, list[str]](), [], []
    for name, value in sorted(helpers.items()):
        module, own = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
        if isinstance(value, types.ModuleType):
            modules.append("import " + _renaming(value.__name__, name))
        elif module and own and getattr(sys.modules.get(module), own, None) is value:
            parts.setdefault(module, []).append(_renaming(own, name))
        elif (literal := _literal(value)) is not None:
            values.append(f"{name} = {literal}")
        else:
            text = " ".join(f"{own} of {module}".split() if module and own else repr(value).split())
            comments.append(f"# {name} is {text if len(text) <= _LONGEST else text[: _LONGEST - 3] + '...'}")
    if any("numpy.array(" in line for line in values) and "import numpy" not in modules:
        modules.append("import numpy")
    given = [f"from {module} import {', '.join(parts[module])}" for module in sorted(parts)]
    return [*comments, *modules, *given, *values]


def _literal(value: Any) -> str | None:
    """An expression for a number, a text or a small array, exact to the last bit; None for other values."""
    if type(value) in (bool, int, str, float) and value == value and value not in (float("inf"), -float("inf")):
        return repr(value)
    if type(value) is np.ndarray and value.dtype.kind in "biuf" and value.size <= _SMALL and np.isfinite(value).all():
        return f"numpy.array({value.tolist()!r}, {value.dtype.name!r})"
    return None


def _renaming(own: str, name: str) -> str:
    return own if own == name else f"{own} as {name}"


def annotate(error: BaseException) -> None:
    """Add to an exception the user's line from which the innermost generated line on its way came, once.

    Exceptions that refuse notes stay as they are.
    """
    origin = _innermost(error.__traceback__)
    if origin is None:
        return
    note = f"This generated line came from\n{pointer(origin)}"
    with contextlib.suppress(Exception):
        if note not in getattr(error, "__notes__", ()):
            error.add_note(note)


def _innermost(traceback: types.TracebackType | None) -> Origin | None:
    found = None
    while traceback is not None:
        entry = linecache.cache.get(traceback.tb_frame.f_code.co_filename, ())
        if len(entry) == 4 and isinstance(entry[2], _Lines):
            found = entry[2].origins.get(traceback.tb_lineno, found)
        traceback = traceback.tb_next
    return found


def _compile(source: str, scope: Scope, filename: str) -> types.CodeType:
    """The code object of the function, its free names those that the scope binds."""
    (definition,) = ast.parse(source, filename).body
    assert isinstance(definition, ast.FunctionDef)
    definition.name = _PLACEHOLDER
    _strip(definition.args)
    factory = ast.parse("def factory(): pass").body[0]
    assert isinstance(factory, ast.FunctionDef)
    factory.args.args = [ast.arg(name, lineno=1, col_offset=0) for name in {**scope.cells, **scope.names}]
    factory.body = [definition]
    module = compile(ast.Module([factory], []), filename, "exec", dont_inherit=True)
    return _inner(_inner(module, "factory"), _PLACEHOLDER)


def _strip(arguments: ast.arguments) -> None:
    """Take out what a `def` evaluates: annotations are for the reader, defaults are found by `_value`."""
    arguments.defaults = []
    arguments.kw_defaults = [None] * len(arguments.kwonlyargs)
    for parameter in ast.walk(arguments):
        if isinstance(parameter, ast.arg):
            parameter.annotation = None


def _inner(code: types.CodeType, name: str) -> types.CodeType:
    return next(c for c in code.co_consts if isinstance(c, types.CodeType) and c.co_name == name)


def _renamed(code: types.CodeType, name: str) -> types.CodeType:
    """The code under its own name, as if no factory stood around it; so do the closures in it."""
    head = f"factory.<locals>.{_PLACEHOLDER}"

    def rename(code: types.CodeType) -> types.CodeType:
        constants = tuple(rename(c) if isinstance(c, types.CodeType) else c for c in code.co_consts)
        return code.replace(co_qualname=code.co_qualname.replace(head, name, 1), co_consts=constants)

    return rename(code).replace(co_name=name)


def _closure(code: types.CodeType, scope: Scope) -> tuple[types.CellType, ...]:
    cells = {**scope.cells, **{name: types.CellType(value) for name, value in scope.names.items()}}
    return tuple(cells[name] for name in code.co_freevars)


def _defaults(fn: Function) -> tuple[Any, ...] | None:
    return tuple(_value(node, fn.scope) for node in fn.params.defaults) or None


def _keyword_defaults(fn: Function) -> dict[str, Any] | None:
    pairs = zip(fn.params.kwonlyargs, fn.params.kw_defaults)
    return {parameter.id: _value(node, fn.scope) for parameter, node in pairs if node is not None} or None


def _value(node: Any, scope: Scope) -> Any:
    """The value of a default: a constant, or an expression on what the scope knows."""
    if type(node).__name__ == "Constant":
        return node.value
    if type(node).__name__ == "Name":
        value = scope.lookup(node.id)
        if value is not MISSING:
            return value
    return eval(write(node), dict(scope.globals), dict(scope.names))


def _register(code: types.CodeType, filename: str, source: str, origins: Mapping[int, Origin]) -> None:
    """Show the text to `linecache` for as long as the code lives: tracebacks hold code, not functions."""
    lines = _Lines(source.splitlines(keepends=True))
    lines.origins = origins
    # Without a modification time an entry is never checked against a file.
    linecache.cache[filename] = (len(source), None, lines, filename)
    weakref.finalize(code, linecache.cache.pop, filename, None).atexit = False
