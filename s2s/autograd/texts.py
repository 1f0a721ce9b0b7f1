"""Text that recorded values were written as in a record, and what is made of it.

A recorded value prints as the plain one, so a function may write it as text and read a number back, which is refused.
The record keeps what was written: where a recorded function makes a number of text with some of these digits in it, it
is of that text. Code that runs as it is, methods of objects, calls Python's own `float`. To that the text itself says
no: it is a str that gives itself out as a number, as far as it is not made a part of other text.
"""

from __future__ import annotations

import functools
import re
import threading
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?j?(?![A-Za-z_])")
_DIGITS = re.compile(r"\d+")


class _Written(threading.local):
    """The texts of the records that run in this thread."""

    def __init__(self) -> None:
        self.texts: set[str] = set()


written = _Written()


def refuse() -> None:
    """Raises where a number is asked of text; the module of recorded values, above this one, sets this function."""


class Text(str):
    """What a recorded value was written as. Methods of str give the like."""

    __slots__ = ()

    def __float__(self) -> float:
        return float(self._given())

    def __int__(self) -> int:
        return int(self._given())

    def _given(self) -> str:
        if written.texts:
            refuse()
        return plain_text(self)

    def __radd__(self, other: str) -> Text:
        return Text(str.__add__(other, self))

    def __str__(self) -> str:
        return self


def written_as(text: str) -> Text:
    """Take note of a text that a recorded value was written as."""
    written.texts.add(text)
    return Text(text)


def plain_text(text: Text) -> str:
    """The text as a str of Python's own."""
    return str.__str__(text)


def _text_of(out: Any) -> Any:
    if isinstance(out, str):
        return Text(out)
    return type(out)(map(_text_of, out)) if isinstance(out, (list, tuple)) else out


def _method(name: str) -> Any:
    original = getattr(str, name)

    @functools.wraps(original)
    def method(self: Text, *args: Any, **kwargs: Any) -> Any:
        return _text_of(original(self, *args, **kwargs))

    return method


for _name in (
    "__add__", "__format__", "__getitem__", "__mod__", "__mul__", "__repr__", "__rmul__", "capitalize", "casefold",
    "center", "expandtabs", "format", "format_map", "join", "ljust", "lower", "lstrip", "partition", "removeprefix",
    "removesuffix", "replace", "rjust", "rpartition", "rsplit", "rstrip", "split", "splitlines", "strip", "swapcase",
    "title", "translate", "upper", "zfill",
):  # fmt: skip
    setattr(Text, _name, _method(_name))


def made_of_text(arguments: Iterable[Any]) -> bool:
    """Whether what is given to a function has numbers in it that recorded values were written as."""
    texts = written.texts
    if not texts:
        return False
    digits = [
        run for text in _texts_in(arguments) for number in _NUMBER.findall(text) for run in _DIGITS.findall(number)
    ]
    return any(run in text for run in digits for text in texts)


def _texts_in(values: Iterable[Any]) -> Iterator[str]:
    """The text in arguments: in containers, arrays and files in memory, too, and of numbers that are made of text."""
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, (bytes, bytearray)):
            yield bytes(value).decode("latin-1")
        elif isinstance(value, np.ndarray):
            if value.dtype.kind in "USO":
                yield from _texts_in(value.ravel().tolist())
        elif isinstance(value, (list, tuple, set)):
            yield from _texts_in(value)
        elif isinstance(value, dict):
            yield from _texts_in(value.values())
        elif type(value).__module__ in ("decimal", "_decimal", "fractions"):
            yield repr(float(value))
        elif hasattr(value, "getvalue"):
            yield from _texts_in([value.getvalue()])


def holds_numbers(out: Any) -> bool:
    """Whether a result has numbers in it, or may give some."""
    if isinstance(out, (list, tuple, set)):
        return any(map(holds_numbers, out))
    if isinstance(out, dict):
        return any(map(holds_numbers, out.values()))
    return not isinstance(out, (str, bytes, bool, type(None)))
