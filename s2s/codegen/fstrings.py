"""f-strings as text, such as every supported Python reads.

Before Python 3.12 a field of an f-string may hold no backslash, no comment, and none of the quotes around it. So the
writer looks for quotes that keep apart, which also reads best. Where there are none, Python 3.12 may nest quotes as it
likes; before, the string is written as a call of `str.format`.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from typing import Any

from s2s.codegen import literals
from s2s.codegen.expressions import OR, TEST, ExpressionWriter, kind
from s2s.codegen.literals import QUOTES, Unquotable


class FStringWriter(ExpressionWriter):
    """Writes f-strings.

    quotes: within a field, the quotes that a string may still use; None where it may use all, and backslashes.
    line: how many lines were written.
    """

    quotes: tuple[str, ...] | None = None
    line = 0

    def _Constant(self, t: Any) -> None:
        if self.quotes is None or not isinstance(t.value, (str, bytes)):
            super()._Constant(t)
        else:
            self.write("u" if t.kind == "u" else "")
            self.write(literals.plain_literal(t.value, self.quotes))

    def _FormattedValue(self, t: Any) -> None:
        self._f_string([t])

    def _JoinedStr(self, t: Any) -> None:
        self._f_string(t.values)

    def _f_string(self, parts: Sequence[Any]) -> None:
        text = self._apart(parts)
        if text is None and self.quotes is not None:
            raise Unquotable
        if text is None:
            text = self._quoted(parts, "'", None) if sys.version_info >= (3, 12) else self._format_call(parts)
        self.write(text)
        self.line += text.count("\n")

    def _apart(self, parts: Sequence[Any]) -> str | None:
        """An f-string whose quotes differ from all those in its fields, if there is one."""
        fixed = "".join(part.value for part in parts if kind(part) == "Constant")
        quotes = self.quotes or QUOTES
        for quote in sorted(quotes, key=lambda q: q in fixed):  # those that need no escape come first
            try:
                return self._quoted(parts, quote, tuple(q for q in quotes if quote not in q))
            except Unquotable:
                continue
        return None

    def _quoted(self, parts: Sequence[Any], quote: str, within: tuple[str, ...] | None) -> str:
        """An f-string in these quotes; strings in its fields use those of `within`, or any if it is None."""
        texts = []
        for part in parts:
            if kind(part) == "Constant":
                texts.append(self._fixed(part, quote).replace("{", "{{").replace("}", "}}"))
            else:
                text = self._field(part, quote, within)
                if within is not None and (quote in text or ("\n" in text and len(quote) == 1)):
                    raise Unquotable(text)
                texts.append(text)
        return f"f{quote}{''.join(texts)}{quote}"

    def _fixed(self, part: Any, quote: str) -> str:
        """The text between the fields; within another f-string it may hold no backslash."""
        return literals.escaped(part.value, quote) if self.quotes is None else literals.plain(part.value, quote)

    def _field(self, t: Any, quote: str, within: tuple[str, ...] | None) -> str:
        # The colon of a lambda or of a walrus would end the expression.
        text = self._captured(OR, t.value, within)
        space = " " if text.startswith("{") else ""
        return "{" + space + text + self._conversion(t) + self._specification(t, quote, within) + "}"

    def _captured(self, least: int, node: Any, quotes: tuple[str, ...] | None) -> str:
        """The text of an expression, strings written in these quotes."""
        outer = self.f, self.quotes, self.line
        self.f, self.quotes = io.StringIO(), quotes
        try:
            self.at(least, node)
            return self.f.getvalue()
        finally:
            self.f, self.quotes, self.line = outer

    def _conversion(self, t: Any) -> str:
        return "" if t.conversion in (-1, None) else "!" + chr(t.conversion)

    def _specification(self, t: Any, quote: str, within: tuple[str, ...] | None) -> str:
        if t.format_spec is None:
            return ""
        texts = []
        for part in t.format_spec.values:
            if kind(part) == "Constant":
                text = self._fixed(part, quote)
                if self.quotes is not None and ("{" in text or "}" in text):
                    raise Unquotable(text)
                # Doubled braces mean nothing here.
                texts.append(text.replace("{", "\\x7b").replace("}", "\\x7d"))
            else:
                texts.append(self._field(part, quote, within))
        return ":" + "".join(texts)

    def _format_call(self, parts: Sequence[Any]) -> str:
        """`"{}".format(x)` in place of an f-string."""
        template = "".join(self._template(part) for part in parts)
        fields = [field for part in parts if kind(part) != "Constant" for field in _fields(part)]
        return f"{template!r}.format({', '.join(self._captured(TEST, field.value, None) for field in fields)})"

    def _template(self, part: Any) -> str:
        """A part of an f-string as `str.format` reads it."""
        if kind(part) == "Constant":
            return str(part.value.replace("{", "{{").replace("}", "}}"))
        inner = part.format_spec.values if part.format_spec is not None else []
        if any(kind(p) == "Constant" and set(p.value) & set("{}") for p in inner):
            raise ValueError("this f-string has no spelling before Python 3.12")
        specification = ":" + "".join(map(self._template, inner)) if inner else ""
        return "{" + self._conversion(part) + specification + "}"


def _fields(part: Any) -> list[Any]:
    """A field and those of its format specification, in the order in which `str.format` numbers them."""
    inner = part.format_spec.values if part.format_spec is not None else []
    return [part, *(field for p in inner if kind(p) != "Constant" for field in _fields(p))]
