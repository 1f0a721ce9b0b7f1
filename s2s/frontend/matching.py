"""Whether a function in a file is the text that a code object was compiled from.

The candidate alone is compiled again, in a shell that gives it what its surroundings gave it: the class that mangles
its private names and holds `__class__`, the free variables of the code, and the imports of the module. Then the two
codes are compared, but for what says where code is and not what it does: line tables and file names.
"""

from __future__ import annotations
import __future__

import ast
import copy
import enum
import inspect
import sys
from collections.abc import Sequence
from types import CodeType
from typing import Any

from s2s.frontend.definitions import Definition

_FUTURE = 0
for _feature in __future__.all_feature_names:
    _FUTURE |= getattr(__future__, _feature).compiler_flag

# The flags that belong to a function's own text; others depend on what surrounds it.
_OWN_FLAGS = (
    inspect.CO_VARARGS
    | inspect.CO_VARKEYWORDS
    | inspect.CO_GENERATOR
    | inspect.CO_COROUTINE
    | inspect.CO_ASYNC_GENERATOR
)


class Match(enum.IntEnum):
    """How well a text fits a code object: the same code at another place of the file is the same function."""

    NONE = 0
    CODE = 1
    PLACE = 2


def match(definition: Definition, code: CodeType, imported: Sequence[str] = ()) -> Match:
    """Compare a function of a file with a code object.

    imported: the names that imports bind in the module. Python compiles `os.getcwd()` otherwise where it sees in the
    same module that `os` is imported; notebooks compile a cell statement by statement, so that it does not.
    """
    node = _bare(definition.node)
    for names in dict.fromkeys([tuple(imported), ()]):
        found = _compare(_shell(node, definition, code.co_freevars, names), definition, code)
        if found is not Match.NONE:
            return found
    if any(isinstance(n, ast.Assert) for n in ast.walk(node)):
        return _compare(_rewrite_assertions(_shell(node, definition, code.co_freevars, imported)), definition, code)
    return Match.NONE


def _compare(shell: ast.Module, definition: Definition, code: CodeType) -> Match:
    try:
        compiled = compile(shell, code.co_filename, "exec", flags=code.co_flags & _FUTURE, dont_inherit=True)
    except (SyntaxError, ValueError):
        return Match.NONE
    for _ in range(2 if definition.class_name is None else 3):
        compiled = next(c for c in compiled.co_consts if isinstance(c, CodeType))
    if _fingerprint(compiled) != _fingerprint(code):
        return Match.NONE
    return Match.PLACE if list(compiled.co_positions()) == list(code.co_positions()) else Match.CODE


def _shell(node: Any, definition: Definition, free: Sequence[str], imported: Sequence[str]) -> ast.Module:
    """A module that holds the function alone: in its class, if any, within a function with its free variables."""
    statement: ast.stmt = ast.Expr(node, **_START) if isinstance(node, ast.expr) else node
    if definition.class_name is not None:
        statement = ast.ClassDef(
            definition.class_name, bases=[], keywords=[], body=[statement], decorator_list=[], **_START
        )
    body = [statement]
    name = getattr(statement, "name", None)
    if name is not None and name not in free:
        body = [ast.Global([name], **_START), statement]
    outer = ast.FunctionDef("shell", _arguments(args=[ast.arg(n, **_START) for n in free]), body, [], **_START)
    names = [ast.alias(n, **_START) for n in imported]
    imports = [ast.ImportFrom("module", names, 0, **_START)] if imported else []
    return ast.Module([*imports, outer], [])


# Where nodes stand that are not the function's own. Those that are have their places from the file.
_START: dict[str, Any] = {"lineno": 1, "col_offset": 0, "end_lineno": 1, "end_col_offset": 0}


def _bare(node: Any) -> Any:
    """The function without what is evaluated where it is defined: defaults, annotations, decorators."""
    args, here = node.args, {field: getattr(node, field) for field in _START}
    bare_args = _arguments(
        posonlyargs=[ast.arg(a.arg, **here) for a in args.posonlyargs],
        args=[ast.arg(a.arg, **here) for a in args.args],
        vararg=args.vararg and ast.arg(args.vararg.arg, **here),
        kwonlyargs=[ast.arg(a.arg, **here) for a in args.kwonlyargs],
        kw_defaults=[None] * len(args.kwonlyargs),
        kwarg=args.kwarg and ast.arg(args.kwarg.arg, **here),
    )
    if isinstance(node, ast.Lambda):
        return ast.copy_location(ast.Lambda(bare_args, node.body), node)
    # A decorator of no effect, where the first one was, keeps the line at which the code begins.
    decorators = [ast.copy_location(ast.Constant(None), d) for d in node.decorator_list[:1]]
    return ast.copy_location(type(node)(node.name, bare_args, node.body, decorators), node)


def _arguments(**fields: Any) -> ast.arguments:
    empty: dict[str, Any] = {"posonlyargs": [], "args": [], "kwonlyargs": [], "kw_defaults": [], "defaults": []}
    return ast.arguments(**{**empty, **fields})


def _rewrite_assertions(module: ast.Module) -> ast.Module:
    """The module as pytest's import hook compiles it; as it is, where pytest is not at work."""
    rewrite = getattr(sys.modules.get("_pytest.assertion.rewrite"), "rewrite_asserts", None)
    if rewrite is not None:
        module = copy.deepcopy(module)
        rewrite(module, b"")
    return module


def _fingerprint(code: CodeType) -> tuple[Any, ...]:
    return (
        code.co_name,
        code.co_argcount,
        code.co_posonlyargcount,
        code.co_kwonlyargcount,
        code.co_flags & _OWN_FLAGS,
        code.co_code,
        code.co_exceptiontable,
        code.co_names,
        code.co_varnames,
        code.co_cellvars,
        code.co_freevars,
        tuple(_constant(c) for c in _constants(code)),
    )


def _constants(code: CodeType) -> list[Any]:
    """The constants, but for the qualified name that the body of a class stores: it tells of what is around."""
    is_class = not code.co_flags & inspect.CO_OPTIMIZED
    return [None if is_class and c == code.co_qualname else c for c in code.co_consts]


def _constant(value: Any) -> Any:
    """A constant in a form in which only the same constants are equal: 1 is not 1.0, 0.0 is not -0.0."""
    if isinstance(value, CodeType):
        return _fingerprint(value)
    if isinstance(value, (tuple, frozenset)):
        return type(value), type(value)(map(_constant, value))
    return type(value), repr(value)
