"""What `match` asks of its subject."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def is_sequence(value: Any) -> bool:
    """Whether a sequence pattern may fit: texts and arrays are no sequences to it.

    >>> is_sequence((1, 2)), is_sequence("ab")
    (True, False)
    """
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray))


def is_mapping(value: Any) -> bool:
    """Whether a mapping pattern may fit."""
    return isinstance(value, Mapping)
