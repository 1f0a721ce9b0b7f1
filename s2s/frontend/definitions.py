"""The functions of a source file: its text parsed once, and every `def` and `lambda` in it by line.

The whole file is parsed, so that nothing has to be cut out or dedented: comments and strings at the margin, a lambda
in the middle of a call, or two of them on one line need no care.
"""

from __future__ import annotations

import ast
import functools
import io
import linecache
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

# linecache reads and drops entries without a lock of its own.
_LOCK = threading.Lock()


@dataclass(frozen=True, slots=True)
class Definition:
    """A function in a file: its node, and the innermost class around it, which mangles private names."""

    node: FunctionNode
    class_name: str | None

    @property
    def name(self) -> str:
        """The name that the code object has."""
        return "<lambda>" if isinstance(self.node, ast.Lambda) else self.node.name

    @property
    def first_line(self) -> int:
        """The first line by the code object's count: that of the first decorator, if there is one."""
        decorators = [] if isinstance(self.node, ast.Lambda) else self.node.decorator_list
        return decorators[0].lineno if decorators else self.node.lineno


@dataclass(frozen=True)
class SourceFile:
    """A parsed file.

    lines: its lines, each with its line end.
    tree: its syntax tree.
    imported: the names that imports bind in the module.
    """

    lines: tuple[str, ...]
    tree: ast.Module
    imported: tuple[str, ...]

    def candidates(self, name: str, first_line: int) -> list[Definition]:
        """The functions of a name, those nearest to a line first."""
        named = self._lambdas if name == "<lambda>" else self._named.get(name, ())
        return sorted(named, key=lambda d: abs(d.first_line - first_line))

    @functools.cached_property
    def _named(self) -> Mapping[str, list[Definition]]:
        by_name: dict[str, list[Definition]] = {}
        for definition in _ordered(_definitions(self.tree, _BLOCKS)):
            by_name.setdefault(definition.name, []).append(definition)
        return by_name

    @functools.cached_property
    def _lambdas(self) -> list[Definition]:
        return [d for d in _ordered(_definitions(self.tree, ast.AST)) if isinstance(d.node, ast.Lambda)]


# What holds the `def`s of a file; a lambda may be in any expression.
_BLOCKS = (ast.stmt, ast.excepthandler, ast.match_case)


def read(file: str, namespace: dict[str, Any]) -> SourceFile | None:
    """The parsed file, None where there is no text. Raises SyntaxError or ValueError for what is no Python.

    file: the name that code objects give, which may be a notebook cell or an example of a doctest.
    namespace: the globals of a function in it, through which the loader of a zip file is found.
    """
    with _LOCK:
        linecache.checkcache(file)
        lines = linecache.getlines(file, namespace)
        return _parse("".join(lines)) if lines else None


@functools.lru_cache(maxsize=256)
def _parse(text: str) -> SourceFile:
    tree = ast.parse(text)
    # Lines as the parser counts them: `str.splitlines` would split at form feeds too.
    lines = tuple(io.StringIO(text, newline=None))
    return SourceFile(lines, tree, tuple(sorted(set(_imported(tree.body)))))


def _ordered(definitions: Iterable[Definition]) -> list[Definition]:
    return sorted(definitions, key=lambda d: (d.node.lineno, d.node.col_offset))


def _definitions(tree: ast.Module, within: type | tuple[type, ...]) -> Iterator[Definition]:
    """The functions of a tree, as far as they are found within nodes of certain types."""
    pending: list[tuple[ast.AST, str | None]] = [(tree, None)]
    while pending:
        node, class_name = pending.pop()
        if isinstance(node, FunctionNode):
            yield Definition(node, class_name)
        if isinstance(node, ast.ClassDef):
            # Only the body is compiled inside the class: bases and decorators are mangled by the class around it.
            pending.extend((child, node.name) for child in node.body)
            around = (*node.bases, *node.keywords, *node.decorator_list)
            pending.extend((child, class_name) for child in around if isinstance(child, within))
        else:
            pending.extend((child, class_name) for child in ast.iter_child_nodes(node) if isinstance(child, within))


def _imported(body: list[Any]) -> Iterator[str]:
    for statement in body:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            yield from (alias.asname or alias.name.split(".")[0] for alias in statement.names if alias.name != "*")
        elif not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            for block in ("body", "orelse", "handlers", "finalbody", "cases"):
                yield from _imported(getattr(statement, block, []))
