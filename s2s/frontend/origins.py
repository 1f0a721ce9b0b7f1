"""Where a node stands in the user's text, and that text on one line, as comments and errors show it."""

from __future__ import annotations

import io
import linecache
import re
import tokenize
from collections.abc import Sequence
from typing import Any

import gast

from s2s.core import Origin

_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
_TO_COLON = re.compile(r"(?:[^:#]|#.*)*:")


def origin(node: Any, file: str, lines: Sequence[str], function: str) -> Origin:
    """The place of a node. Of a compound statement it is the header.

    lines: the lines of the file, to which the node's positions refer.
    function: the name of the function around it.

    A nested function that was made one of its own has a text of ours: its places are those in the text that it is from.
    """
    if file.startswith("<s2s nested "):
        origins: dict[int, Origin] = getattr(linecache.getlines(file), "origins", {})
        if node.lineno in origins:
            return origins[node.lineno]
    end_line, end_column = _header_end(node, lines) if _is_compound(node) else (node.end_lineno, node.end_col_offset)
    text = segment(lines, node.lineno, node.col_offset, end_line, end_column)
    return Origin(file, node.lineno, node.col_offset, end_line, end_column, one_line(text), function)


def segment(lines: Sequence[str], line: int, column: int, end_line: int, end_column: int) -> str:
    """The text between two places. Columns count bytes in UTF-8, as those of the parser do."""
    first, *rest = (text.encode() for text in lines[line - 1 : end_line])
    if not rest:
        return first[column:end_column].decode()
    return b"".join([first[column:], *rest[:-1], rest[-1][:end_column]]).decode()


def one_line(text: str) -> str:
    """The text of a statement with its line breaks, and the comments before them, replaced by single spaces."""
    if "\n" not in text:
        return text
    joined, row, column = "", 1, 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.ENDMARKER):
            continue
        if token.start[0] != row:
            tight = joined.endswith(("(", "[", "{")) or token.string in (")", "]", "}")
            joined += "" if tight else " "
        else:
            joined += " " * (token.start[1] - column)
        joined += token.string.replace("\n", "\\n")
        row, column = token.end
    return joined


def _is_compound(node: Any) -> bool:
    return isinstance(node, (gast.stmt, gast.ExceptHandler)) and any(hasattr(node, block) for block in _BLOCKS)


def _header_end(node: Any, lines: Sequence[str]) -> tuple[int, int]:
    """Just after the colon of a compound statement: the first one behind all expressions of its header."""
    line, column = node.lineno, node.col_offset
    for field in node._fields:
        value = getattr(node, field, None)
        for child in value if isinstance(value, list) else [value]:
            if field not in _BLOCKS and isinstance(child, gast.AST):
                line, column = max([(line, column), *_ends(child)])
    text = segment(lines, line, column, node.end_lineno, node.end_col_offset)
    found = _TO_COLON.match(text)
    assert found, text
    *passed, last = found.group().encode().split(b"\n")
    return line + len(passed), len(last) + (0 if passed else column)


def _ends(node: gast.AST) -> list[tuple[int, int]]:
    return [
        (n.end_lineno, n.end_col_offset)
        for n in gast.walk(node)
        if getattr(n, "end_lineno", None) is not None and n.end_col_offset is not None
    ]
