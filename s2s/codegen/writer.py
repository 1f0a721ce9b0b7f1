"""Core Python (or any other Python tree) as text.

`write` takes nodes of gast, with the origins and comments that hang on them, and nodes of ast. Comments are printed
above their statements, docstrings as docstrings, and the line of every statement is kept with its origin, so that a
traceback can name the user's line. A node of an unknown class raises: a tree is never printed in part.
"""

from __future__ import annotations

import inspect
import io
import textwrap
from collections.abc import Sequence
from typing import Any

import gast

from s2s.codegen import literals
from s2s.codegen.expressions import NAMED, OR, TEST, TUPLE, kind
from s2s.codegen.fstrings import FStringWriter
from s2s.core import Function, Origin


def write(node: Any) -> str:
    """The text of a module, a statement, an expression, or a list of statements; without a newline at its end."""
    return Writer(gast.Expression(node) if isinstance(node, gast.expr) else node).text


def write_function(fn: Function) -> str:
    """The text of a Core function: its `def` with parameters, docstring and body."""
    return function_text(fn)[0]


def function_text(fn: Function) -> tuple[str, dict[int, Origin]]:
    """The text of a Core function, and the origin of each of its lines (counted from 1)."""
    doc = [] if fn.doc is None else [gast.Expr(gast.Constant(_indented(fn.doc), None))]
    definition = gast.FunctionDef(fn.name, fn.params, [*doc, *fn.body], [], None, None, [])
    writer = Writer(definition)
    return writer.text, writer.origins


def _indented(doc: str) -> str:
    """A docstring laid out below a `def` at the margin."""
    doc = inspect.cleandoc(doc)
    return textwrap.indent(doc + "\n", "    ").lstrip() + "    " if "\n" in doc else doc


class Writer(FStringWriter):
    """Writes statements, one method for each class of nodes.

    text: what was written.
    origins: the origin of each line, where its statement (or one around it) has one.
    """

    def __init__(self, tree: Any) -> None:
        self.origins: dict[int, Origin] = {}
        file = io.StringIO()
        super().__init__(tree, file)
        self.text = file.getvalue().strip("\n")

    def fill(self, text: str = "") -> None:
        self.line += 1
        self.f.write("\n" + "    " * self._indent + text)

    def dispatch(self, tree: Any) -> None:
        if isinstance(tree, gast.stmt):
            self._traced(tree)
        else:
            super().dispatch(tree)

    def _traced(self, statement: Any) -> None:
        """Write a statement below its comment, and note its lines."""
        start = self.line + 1
        for line in _comment(statement):
            for piece in line.splitlines() or [""]:
                self.fill(f"# {piece}".rstrip())
        super().dispatch(statement)
        self._note(start, statement)

    def _note(self, start: int, statement: Any) -> None:
        origin = getattr(statement, "origin", None)
        if origin is not None:
            for line in range(start, self.line + 1):
                self.origins.setdefault(line, origin)  # statements within have noted theirs

    def _block(self, body: Sequence[Any], doc: bool = False) -> None:
        """Write `:` and an indented block, which may start with a docstring."""
        self.enter()
        if doc and body and _is_docstring(body[0]):
            self._docstring(body[0].value.value)
            body = body[1:]
        self._statements(body)
        self.leave()

    def _statements(self, body: Sequence[Any]) -> None:
        for position, statement in enumerate(body):
            if position and (_is_definition(statement) or _is_definition(body[position - 1])):
                self.line += 1
                self.f.write("\n")
            self.dispatch(statement)

    def _docstring(self, text: str) -> None:
        literal = literals.docstring(text)
        self.fill(literal)
        self.line += literal.count("\n")

    def _Module(self, t: Any) -> None:
        body = t.body
        if body and _is_docstring(body[0]):
            self._docstring(body[0].value.value)
            body = body[1:]
        self._statements(body)

    def _Expression(self, t: Any) -> None:
        self.at(TEST, t.body)

    # simple statements

    def _Expr(self, t: Any) -> None:
        self.fill()
        self.right_hand(t.value)

    def _Assign(self, t: Any) -> None:
        self.fill()
        for target in t.targets:
            self.at(TUPLE, target)
            self.write(" = ")
        self.right_hand(t.value)

    def _AugAssign(self, t: Any) -> None:
        self.fill()
        self.at(TEST, t.target)
        self.write(f" {self.binop[kind(t.op)]}= ")
        self.right_hand(t.value)

    def _AnnAssign(self, t: Any) -> None:
        self.fill()
        enclosed = not t.simple and kind(t.target) == "Name"
        self.write("(" if enclosed else "")
        self.dispatch(t.target)
        self.write("): " if enclosed else ": ")
        self.at(TEST, t.annotation)
        if t.value is not None:
            self.write(" = ")
            self.right_hand(t.value)

    def _Return(self, t: Any) -> None:
        self.fill("return")
        if t.value is not None:
            self.write(" ")
            self.at(TUPLE, t.value)

    def _Delete(self, t: Any) -> None:
        self.fill("del ")
        self.series(t.targets)

    def _Assert(self, t: Any) -> None:
        self.fill("assert ")
        self.at(TEST, t.test)
        if t.msg is not None:
            self.write(", ")
            self.at(TEST, t.msg)

    def _Raise(self, t: Any) -> None:
        self.fill("raise")
        for word, node in ((" ", t.exc), (" from ", t.cause)):
            if node is not None:
                self.write(word)
                self.at(TEST, node)

    def _ImportFrom(self, t: Any) -> None:
        self.fill(f"from {'.' * (t.level or 0)}{t.module or ''} import ")
        self.series(t.names)

    def _TypeAlias(self, t: Any) -> None:
        self.fill("type ")
        self.dispatch(t.name)
        self._type_parameters(t)
        self.write(" = ")
        self.at(TEST, t.value)

    # compound statements

    def _If(self, t: Any) -> None:
        self.fill("if ")
        self.condition(t.test)
        self._block(t.body)
        while len(t.orelse) == 1 and kind(t.orelse[0]) == "If" and not _comment(t.orelse[0]):
            (t,) = t.orelse
            start = self.line + 1
            self.fill("elif ")
            self.condition(t.test)
            self._block(t.body)
            self._note(start, t)
        self._else("else", t.orelse)

    def _else(self, word: str, body: Sequence[Any]) -> None:
        if body:
            self.fill(word)
            self._block(body)

    def _For(self, t: Any, word: str = "for ") -> None:
        self.fill(word)
        self.at(TUPLE, t.target)
        self.write(" in ")
        self.at(TUPLE, t.iter)
        self._block(t.body)
        self._else("else", t.orelse)

    def _AsyncFor(self, t: Any) -> None:
        self._For(t, "async for ")

    def _While(self, t: Any) -> None:
        self.fill("while ")
        self.condition(t.test)
        self._block(t.body)
        self._else("else", t.orelse)

    def _With(self, t: Any, word: str = "with ") -> None:
        self.fill(word)
        # `with (a, b):` holds two contexts; one that is a tuple needs parentheses twice.
        alone = len(t.items) == 1 and kind(t.items[0].context_expr) == "Tuple" and t.items[0].optional_vars is None
        self.write("(" if alone else "")
        self.series(t.items, self.dispatch)
        self.write(")" if alone else "")
        self._block(t.body)

    def _AsyncWith(self, t: Any) -> None:
        self._With(t, "async with ")

    def _withitem(self, t: Any) -> None:
        self.at(TEST, t.context_expr)
        if t.optional_vars is not None:
            self.write(" as ")
            self.at(TEST, t.optional_vars)

    def _Try(self, t: Any, word: str = "except") -> None:
        self.fill("try")
        self._block(t.body)
        for handler in t.handlers:
            self._handler(handler, word)
        self._else("else", t.orelse)
        self._else("finally", t.finalbody)

    def _TryStar(self, t: Any) -> None:
        self._Try(t, "except*")

    def _handler(self, t: Any, word: str) -> None:
        self.fill(word)
        if t.type is not None:
            self.write(" ")
            self.at(TEST, t.type)
        if t.name is not None:
            # gast holds the name as a node, ast as a string.
            self.write(f" as {t.name if isinstance(t.name, str) else t.name.id}")
        self._block(t.body)

    def _FunctionDef(self, t: Any, word: str = "def ") -> None:
        self._decorators(t)
        self.fill(word + t.name)
        self._type_parameters(t)
        self.write("(")
        self.dispatch(t.args)
        self.write(")")
        if t.returns is not None:
            self.write(" -> ")
            self.at(TEST, t.returns)
        self._block(t.body, doc=True)

    def _AsyncFunctionDef(self, t: Any) -> None:
        self._FunctionDef(t, "async def ")

    def _ClassDef(self, t: Any) -> None:
        self._decorators(t)
        self.fill("class " + t.name)
        self._type_parameters(t)
        if t.bases or t.keywords:
            self.write("(")
            self.series([*t.bases, *t.keywords])
            self.write(")")
        self._block(t.body, doc=True)

    def _decorators(self, t: Any) -> None:
        for decorator in t.decorator_list:
            self.fill("@")
            self.condition(decorator)

    # type parameters

    def _type_parameters(self, t: Any) -> None:
        parameters = getattr(t, "type_params", None)  # plain ast has them since Python 3.12
        if parameters:
            self.write("[")
            self.series(parameters, self.dispatch)
            self.write("]")

    def _TypeVar(self, t: Any, mark: str = "") -> None:
        self.write(mark + t.name)
        if getattr(t, "bound", None) is not None:
            self.write(": ")
            self.at(TEST, t.bound)
        if getattr(t, "default_value", None) is not None:
            self.write(" = ")
            self.at(TEST, t.default_value)

    def _TypeVarTuple(self, t: Any) -> None:
        self._TypeVar(t, "*")

    def _ParamSpec(self, t: Any) -> None:
        self._TypeVar(t, "**")

    # match

    def _Match(self, t: Any) -> None:
        self.fill("match ")
        self.at(NAMED, t.subject)
        self.enter()
        self.dispatch(t.cases)
        self.leave()

    def _match_case(self, t: Any) -> None:
        self.fill("case ")
        self.dispatch(t.pattern)
        if t.guard is not None:
            self.write(" if ")
            self.condition(t.guard)
        self._block(t.body)

    def _MatchValue(self, t: Any) -> None:
        self.at(OR, t.value)

    def _MatchSingleton(self, t: Any) -> None:
        self.write(literals.spelling(t.value))

    def _MatchSequence(self, t: Any) -> None:
        self.write("[")
        self.series(t.patterns, self.dispatch)
        self.write("]")

    def _MatchStar(self, t: Any) -> None:
        self.write("*" + (t.name or "_"))

    def _MatchMapping(self, t: Any) -> None:
        self.write("{")
        self.series([*zip(t.keys, t.patterns), *([(None, t.rest)] if t.rest else [])], self._pattern_item)
        self.write("}")

    def _pattern_item(self, item: tuple[Any, Any]) -> None:
        key, pattern = item
        if key is None:
            self.write("**" + pattern)
        else:
            self.at(TEST, key)
            self.write(": ")
            self.dispatch(pattern)

    def _MatchClass(self, t: Any) -> None:
        self.at(TEST, t.cls)
        self.write("(")
        keywords = list(zip(t.kwd_attrs, t.kwd_patterns))
        self.series([*((None, p) for p in t.patterns), *keywords], self._pattern_argument)
        self.write(")")

    def _pattern_argument(self, item: tuple[str | None, Any]) -> None:
        name, pattern = item
        self.write("" if name is None else name + "=")
        self.dispatch(pattern)

    def _MatchAs(self, t: Any) -> None:
        if t.pattern is not None:
            self._enclosed(t.pattern, {"MatchAs"})
            self.write(" as ")
        self.write(t.name or "_")

    def _MatchOr(self, t: Any) -> None:
        for position, pattern in enumerate(t.patterns):
            self.write(" | " if position else "")
            self._enclosed(pattern, {"MatchAs", "MatchOr"})

    def _enclosed(self, pattern: Any, kinds: set[str]) -> None:
        """Write a pattern, in parentheses if it is compound and of one of these kinds."""
        compound = kind(pattern) in kinds and (kind(pattern) != "MatchAs" or pattern.pattern is not None)
        self.write("(" if compound else "")
        self.dispatch(pattern)
        self.write(")" if compound else "")


def _comment(statement: Any) -> Sequence[str]:
    return getattr(statement, "comment", None) or ()


def _is_docstring(statement: Any) -> bool:
    if kind(statement) != "Expr" or _comment(statement):
        return False
    value = statement.value
    return kind(value) == "Constant" and type(value.value) is str and value.kind is None


def _is_definition(statement: Any) -> bool:
    return kind(statement) in ("FunctionDef", "AsyncFunctionDef", "ClassDef")
