"""What `match` asks of its subject."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def is_sequence(value: Any) -> bool:
    """Whether a sequence pattern may fit. Texts are no sequences to it; arrays are, from NumPy 2.5 on.

    >>> is_sequence((1, 2)), is_sequence("ab")
    (True, False)
    """
    match value:
        case [*_]:
            return True
    return False


def is_mapping(value: Any) -> bool:
    """Whether a mapping pattern may fit."""
    return isinstance(value, Mapping)
