"""A failing program, made smaller for as long as it fails in the same way.

Statements are left out, blocks take the place of their `if` or loop, and parts that of their expression, the largest
first. What is asked again after each step is given by the caller.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from typing import Any


def shrunk(text: str, fails: Callable[[str], bool], attempts: int = 600) -> str:
    """The smallest program found that fails, by at most so many attempts."""
    tried = {text}
    position, found = 0, True
    while found:
        found = False
        for start in (position, 0):
            for at, smaller in enumerate(reductions(text)):
                if at < start or smaller in tried:
                    continue
                if len(tried) > attempts:
                    return text
                tried.add(smaller)
                if fails(smaller):
                    text, position, found = smaller, at, True
                    break
            if found:
                break
    return text


def reductions(text: str) -> Iterator[str]:
    """Smaller programs, by one step each."""
    tree = ast.parse(text)
    blocks = [b for node in ast.walk(tree) for f in ("body", "orelse", "handlers") for b in [getattr(node, f, None)]]
    for number, block in enumerate(blocks):
        if isinstance(block, list) and block and not isinstance(block[0], ast.FunctionDef):
            for i in range(len(block)):
                yield from replaced(tree, number, i)
    for number, node in enumerate(ast.walk(tree)):
        if isinstance(node, ast.expr):
            for part in range(len(parts(node))):
                yield with_part(tree, number, part)


def replaced(tree: ast.Module, number: int, i: int) -> Iterator[str]:
    """Without the statement at this place, and with each of its blocks in its place."""

    def with_statements(new: Callable[[ast.stmt], list[Any]]) -> str:
        made = copy.deepcopy(tree)
        blocks = [b for n in ast.walk(made) for f in ("body", "orelse", "handlers") for b in [getattr(n, f, None)]]
        block = blocks[number]
        block[i : i + 1] = new(block[i])
        for node in ast.walk(made):
            if isinstance(getattr(node, "body", None), list) and not node.body and not isinstance(node, ast.Module):
                node.body.append(ast.Pass())
        return ast.unparse(ast.fix_missing_locations(made))

    blocks = [b for n in ast.walk(tree) for f in ("body", "orelse", "handlers") for b in [getattr(n, f, None)]]
    stmt = blocks[number][i]
    if not isinstance(stmt, ast.Pass) or len(blocks[number]) > 1:
        yield with_statements(lambda stmt: [])
    if isinstance(stmt, (ast.If, ast.For, ast.While, ast.With, ast.Try)):
        yield with_statements(lambda stmt: stmt.body)
        if getattr(stmt, "orelse", None):
            yield with_statements(lambda stmt: stmt.orelse)


def parts(node: ast.expr) -> list[ast.expr]:
    """What may stand in the place of an expression."""
    if not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
        return []
    if isinstance(node, ast.Call):
        return [a for a in node.args if not isinstance(a, ast.Starred)]
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.UnaryOp):
        return [node.operand]
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, ast.BoolOp):
        return node.values
    if isinstance(node, ast.Subscript):
        return [node.value]
    return []


def with_part(tree: ast.Module, number: int, part: int) -> str:
    made = copy.deepcopy(tree)
    target = list(ast.walk(made))[number]
    assert isinstance(target, ast.expr)
    new = parts(target)[part]

    class Replace(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            return new if node is target else self.generic_visit(node)

    return ast.unparse(ast.fix_missing_locations(Replace().visit(made)))
