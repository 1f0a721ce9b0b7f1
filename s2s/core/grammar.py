"""The grammar of Core Python, checked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import gast

from s2s.core.function import Function
from s2s.core.nodes import own_names
from s2s.errors import S2SError


class CoreError(S2SError):
    """A function is not in Core Python: a fault of ours, found by `check`."""


def is_atom(node: Any) -> bool:
    return type(node) is gast.Name or type(node) is gast.Constant


def is_path(node: Any, local: set[str]) -> bool:
    while type(node) is gast.Attribute:
        node = node.value
    return type(node) is gast.Name and node.id not in local


class _Checker:
    def __init__(self, function: Function) -> None:
        self.local = function.local_names()
        self.function = function
        self.seen: set[int] = set()

    def fail(self, what: str, node: Any) -> None:
        raise CoreError(f"not Core Python: {what}: {gast.dump(node)[:300]}", origin=self.function.origin)

    def need(self, condition: bool, what: str, node: Any) -> None:
        if not condition:
            self.fail(what, node)

    def atoms(self, nodes: Iterable[Any], owner: Any) -> None:
        for node in nodes:
            inner = node.value if isinstance(node, gast.Starred) else node
            self.need(is_atom(inner), "operand is no atom", owner)

    def expression(self, node: Any) -> None:
        if is_atom(node) or is_path(node, self.local):
            return
        method = getattr(self, f"expression_{type(node).__name__}", None)
        if method is None:
            self.fail("unknown expression", node)
        else:
            method(node)

    def expression_Call(self, node: Any) -> None:
        callee = node.func
        fine = is_atom(callee) or is_path(callee, self.local)
        fine = fine or (isinstance(callee, gast.Attribute) and is_atom(callee.value))
        self.need(fine, "callee", node)
        indices = [a for a in node.args if isinstance(a, (gast.Slice, gast.Tuple))]
        self.atoms((a for a in node.args if a not in indices), node)
        for index in indices:
            self.index(index)
        self.atoms((k.value for k in node.keywords), node)

    def expression_BinOp(self, node: Any) -> None:
        self.atoms([node.left, node.right], node)

    def expression_UnaryOp(self, node: Any) -> None:
        self.atoms([node.operand], node)

    def expression_Compare(self, node: Any) -> None:
        self.need(len(node.ops) == 1, "chained comparison", node)
        self.atoms([node.left, *node.comparators], node)

    def expression_Attribute(self, node: Any) -> None:
        self.atoms([node.value], node)

    def expression_Subscript(self, node: Any) -> None:
        self.atoms([node.value], node)
        self.index(node.slice)

    def index(self, node: Any) -> None:
        if isinstance(node, gast.Tuple):
            for element in node.elts:
                self.need(not isinstance(element, gast.Tuple), "nested tuple as index", node)
                self.index(element)
        elif isinstance(node, gast.Slice):
            self.atoms([part for part in (node.lower, node.upper, node.step) if part is not None], node)
        else:
            self.atoms([node], node)

    def _display(self, node: Any) -> None:
        self.atoms(node.elts, node)

    expression_Tuple = expression_List = expression_Set = _display

    def expression_Dict(self, node: Any) -> None:
        self.atoms([k for k in node.keys if k is not None], node)
        self.atoms(node.values, node)

    def expression_JoinedStr(self, node: Any) -> None:
        for part in node.values:
            if isinstance(part, gast.FormattedValue):
                self.atoms([part.value], node)
                if part.format_spec is not None:
                    self.expression(part.format_spec)
            else:
                self.need(isinstance(part, gast.Constant), "part of an f-string", node)

    def target(self, node: Any) -> None:
        if isinstance(node, gast.Name):
            return
        if isinstance(node, (gast.Subscript, gast.Attribute)):
            self.atoms([node.value], node)
            if isinstance(node, gast.Subscript):
                self.index(node.slice)
        else:
            self.fail("target", node)

    def block(self, body: Sequence[Any], *, loop: bool = False) -> None:
        self.need(len(body) > 0, "empty block", self.function.params)
        for position, stmt in enumerate(body):
            last = position == len(body) - 1
            if loop and last and is_exit(stmt):
                self.atoms([stmt.test], stmt)
                continue
            self.statement(stmt)

    def statement(self, stmt: Any) -> None:
        self.need(hasattr(stmt, "origin"), "no origin", stmt)
        self.need(id(stmt) not in self.seen, "a statement in two places", stmt)
        self.seen.add(id(stmt))
        method = getattr(self, f"statement_{type(stmt).__name__}", None)
        if method is None:
            self.fail("unknown statement", stmt)
        else:
            method(stmt)

    def statement_Assign(self, stmt: Any) -> None:
        self.need(len(stmt.targets) == 1, "several targets", stmt)
        (target,) = stmt.targets
        if isinstance(target, gast.Tuple):
            for element in target.elts:
                inner = element.value if isinstance(element, gast.Starred) else element
                self.need(isinstance(inner, gast.Name), "nested target", stmt)
        else:
            self.target(target)
            if not isinstance(target, gast.Name):
                self.atoms([stmt.value], stmt)
        self.expression(stmt.value)

    def statement_AugAssign(self, stmt: Any) -> None:
        self.target(stmt.target)
        self.atoms([stmt.value], stmt)

    def statement_If(self, stmt: Any) -> None:
        negated = isinstance(stmt.test, gast.UnaryOp) and isinstance(stmt.test.op, gast.Not)
        self.atoms([stmt.test.operand if negated else stmt.test], stmt)
        self.block(stmt.body)
        if stmt.orelse:
            self.block(stmt.orelse)

    def statement_For(self, stmt: Any) -> None:
        self.need(isinstance(stmt.target, gast.Name), "loop target", stmt)
        self.atoms([stmt.iter], stmt)
        self.need(not stmt.orelse, "else on a loop", stmt)
        self.block(stmt.body, loop=True)

    def statement_While(self, stmt: Any) -> None:
        self.expression(stmt.test)
        self.need(not stmt.orelse, "else on a loop", stmt)
        self.block(stmt.body, loop=True)

    def statement_With(self, stmt: Any) -> None:
        for item in stmt.items:
            self.atoms([item.context_expr], stmt)
            if item.optional_vars is not None:
                self.need(isinstance(item.optional_vars, gast.Name), "target of with", stmt)
        self.block(stmt.body)

    def statement_Try(self, stmt: Any) -> None:
        self.block(stmt.body)
        for handler in stmt.handlers:
            kinds = handler.type.elts if isinstance(handler.type, gast.Tuple) else [handler.type]
            if handler.type is not None:
                self.need(all(is_atom(k) or is_path(k, self.local) for k in kinds), "exception type", stmt)
            self.block(handler.body)
        for body in (stmt.orelse, stmt.finalbody):
            if body:
                self.block(body)

    def statement_Delete(self, stmt: Any) -> None:
        self.need(len(stmt.targets) == 1, "several targets", stmt)
        self.target(stmt.targets[0])

    def statement_Assert(self, stmt: Any) -> None:
        self.atoms([n for n in (stmt.test, stmt.msg) if n is not None], stmt)

    def statement_Raise(self, stmt: Any) -> None:
        self.atoms([n for n in (stmt.exc, stmt.cause) if n is not None], stmt)

    def statement_Expr(self, stmt: Any) -> None:
        self.expression(stmt.value)

    def statement_Pass(self, stmt: Any) -> None:
        pass

    def statement_FunctionDef(self, stmt: Any) -> None:
        *body, last = [s for s in stmt.body if not isinstance(s, gast.Nonlocal)]
        self.need(isinstance(last, gast.Return), "closure without a final return", stmt)
        inner = _Checker.__new__(_Checker)
        inner.function = self.function
        inner.local = own_names(stmt)
        inner.seen = self.seen
        if body:
            inner.block(body)
        inner.atoms([last.value], last)


def is_exit(stmt: Any) -> bool:
    """Whether a statement is `if done: break`."""
    return type(stmt) is gast.If and len(stmt.body) == 1 and isinstance(stmt.body[0], gast.Break) and not stmt.orelse


def check(function: Function) -> Function:
    """Verify the grammar; returns the function. Raises CoreError, naming what is wrong."""
    checker = _Checker(function)
    *body, last = function.body
    checker.need(isinstance(last, gast.Return) and last.value is not None, "no final return", last)
    if body:
        checker.block(body)
    if isinstance(last.value, gast.Tuple):
        checker.atoms(last.value.elts, last)
    else:
        checker.atoms([last.value], last)
    return function
