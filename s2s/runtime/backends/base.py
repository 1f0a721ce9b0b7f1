"""What the rest of s2s asks of an array library."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Backend:
    """An array library: its name, as in `backend="numpy"`, and the class of its arrays."""

    name: str
    array_type: type
