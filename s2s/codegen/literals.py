"""Constants as text: every value that the syntax can hold, spelled so that it is read back bit for bit.

The hard cases are strings inside the fields of an f-string: before Python 3.12 they may hold no backslash and none of
the quotes around them. `plain` spells such a string, or raises `Unquotable`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable
from typing import Any

QUOTES = ("'", '"', "'''", '"""')

# The first power of ten that overflows: the only literal for infinity.
INFINITY = "1e309"

# Python refuses decimal integers of more digits than a limit that may be set down to 640; hexadecimal ones are free.
_DECIMAL_BITS = 2000


class Unquotable(Exception):
    """A string cannot be spelled with the quotes that are left at this place."""


def spelling(value: Any) -> str:
    """The text of a constant. It may start with a sign or hold one (see `is_signed`, `is_sum`)."""
    write = _SPELLINGS.get(type(value))
    if write is None:
        raise TypeError(f"a constant of type {type(value).__name__} has no literal: {value!r:.80}")
    return write(value)


def is_sum(value: Any) -> bool:
    """Whether a constant is spelled as a sum of two literals."""
    if type(value) is complex:
        return not _is_imaginary_literal(value)
    return type(value) is float and math.isnan(value)


def is_signed(value: Any) -> bool:
    """Whether a constant is spelled with a leading minus, which binds less tightly than a literal."""
    if type(value) is float:
        return math.copysign(1, value) < 0
    return type(value) is int and value < 0


def escaped(text: str, quote: str) -> str:
    """The inside of a string literal between these quotes."""
    # With a double quote inside, repr delimits by single quotes and escapes those.
    inside = repr('"' + text)[2:-1]
    return inside if quote[0] == "'" else inside.replace("\\'", "'").replace('"', '\\"')


def plain(text: str, quote: str) -> str:
    """The inside of a string literal between these quotes, without any backslash."""
    # From Python 3.12 on an escape is allowed, and reads better than a string over several lines.
    shown = text.replace("\n", "") if len(quote) == 3 and sys.version_info < (3, 12) else text
    if not shown.isprintable() or "\\" in text or quote in text or text.endswith(quote[0]):
        raise Unquotable(text)
    return text


def plain_literal(value: str | bytes, quotes: Iterable[str]) -> str:
    """A string literal without any backslash, delimited by one of these quotes."""
    prefix, text = ("b", value.decode("latin-1")) if isinstance(value, bytes) else ("", value)
    if prefix and not text.isascii():
        raise Unquotable(text)
    for quote in quotes:
        try:
            return prefix + quote + plain(text, quote) + quote
        except Unquotable:
            continue
    raise Unquotable(text)


def docstring(text: str) -> str:
    """A string in triple quotes, its lines as they are."""
    lines = (escaped(line, "'").replace("\\'", "'") for line in text.split("\n"))
    inside = "\n".join(lines)
    if '"""' in inside or inside.endswith('"'):
        inside = inside.replace('"', '\\"')
    return f'"""{inside}"""'


def _integer(value: int) -> str:
    return hex(value) if value.bit_length() > _DECIMAL_BITS else repr(value)


def _float(value: float) -> str:
    if math.isnan(value):
        return f"{INFINITY} - {INFINITY}"
    return repr(value).replace("inf", INFINITY)


def _is_imaginary_literal(value: complex) -> bool:
    return repr(value.real) == "0.0" and math.copysign(1, value.imag) > 0 and not math.isnan(value.imag)


def _complex(value: complex) -> str:
    if _is_imaginary_literal(value):
        return repr(value).replace("inf", INFINITY)
    # Signs of zeros get lost in some sums: what is read back is computed here, and refused where it differs.
    real, size = value.real, complex(0, abs(value.imag))
    sign, read = ("+", real + size) if value.imag > 0 else ("-", real - size)
    if repr(read) != repr(value) or math.isnan(real) or math.isnan(value.imag):
        raise ValueError(f"this complex number has no literal: {value!r}")
    return f"{_float(real)} {sign} {_complex(size)}"


def _tuple(value: tuple[Any, ...]) -> str:
    inside = ", ".join(map(spelling, value))
    return f"({inside},)" if len(value) == 1 else f"({inside})"


_SPELLINGS: dict[type, Callable[[Any], str]] = {
    int: _integer,
    float: _float,
    complex: _complex,
    tuple: _tuple,
    bool: repr,
    str: repr,
    bytes: repr,
    type(None): repr,
    type(...): lambda value: "...",
}
