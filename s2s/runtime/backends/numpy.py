"""NumPy, on the host."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s.runtime.backends.base import Backend


class _NumPy(Backend):
    name = "numpy"
    array_type = np.ndarray
    namespace = np

    def scatter_add(self, into: Any, index: Any, values: Any) -> None:
        np.add.at(into, index, values)

    def from_host(self, array: np.ndarray[Any, Any]) -> Any:
        return array

    def to_host(self, array: Any) -> np.ndarray[Any, Any]:
        return np.asarray(array)

    def synchronise(self) -> None:
        """Nothing runs behind our back."""


NUMPY = _NumPy()
