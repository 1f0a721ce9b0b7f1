"""Traced: the Variable that runs through a user's function in place of a plain value.

It behaves as the value in every way that the function can ask for: `isinstance` answers as the value's type, it prints
and hashes as the value, numbers are rebound by `+=` and arrays are written, and writing what the backward pass needs
copies that first instead of failing later.
"""

from __future__ import annotations

from typing import Any

from s2s.autograd.value import ndarray
from s2s.autograd.variable import Variable


class Traced(Variable):
    """A value that is recorded within a function of the user's."""

    __slots__ = ()

    copies = True

    @property
    def __class__(self) -> type:  # type: ignore[override]
        return type(self._data)

    def __hash__(self) -> int:
        return hash(self._data)

    def __repr__(self) -> str:
        return repr(self._data)

    def __str__(self) -> str:
        return str(self._data)

    def __format__(self, spec: str) -> str:
        return format(self._data, spec)

    def __getattr__(self, name: str) -> Any:
        # what the value lacks, this lacks in the value's own words; what it has and we do not know is no number's
        attribute = getattr(self._data, name)
        if callable(attribute) and self.parent() is not None:
            raise AttributeError(f"method {name!r} of a value that carries a gradient is not supported")
        return attribute

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> ndarray:
        array = super().__array__(dtype, copy)
        array.flags.writeable = False
        return array
