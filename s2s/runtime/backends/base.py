"""What the rest of s2s may ask of an array library."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import ModuleType
from typing import Any

import numpy as np


class Backend(ABC):
    """An array library.

    name: as in `backend="cupy"`.
    array_type: the class of its arrays.
    namespace: the module with NumPy's function names.
    """

    name: str
    array_type: type
    namespace: ModuleType

    @abstractmethod
    def scatter_add(self, into: Any, index: Any, values: Any) -> None:
        """Add values at the places of an index, in place; places that occur several times take all of theirs."""

    @abstractmethod
    def from_host(self, array: np.ndarray[Any, Any]) -> Any:
        """An array of this library from one of NumPy's."""

    @abstractmethod
    def to_host(self, array: Any) -> np.ndarray[Any, Any]:
        """An array of NumPy's from one of this library."""

    @abstractmethod
    def synchronise(self) -> None:
        """Wait until all that was launched has been computed."""
