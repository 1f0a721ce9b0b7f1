"""CuPy, on CUDA devices. This module imports CuPy: it is itself imported only when an array of CuPy's was met."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from s2s.errors import BackendError
from s2s.runtime.backends.base import Backend


class _CuPy(Backend):
    name = "cupy"

    def __init__(self, cupy: Any) -> None:
        self.namespace = cupy
        self.array_type = cupy.ndarray

    def scatter_add(self, into: Any, index: Any, values: Any) -> None:
        self.namespace.add.at(into, index, values)

    def from_host(self, array: np.ndarray[Any, Any]) -> Any:
        return self.namespace.asarray(array)

    def to_host(self, array: Any) -> np.ndarray[Any, Any]:
        host: np.ndarray[Any, Any] = self.namespace.asnumpy(array)
        return host

    def synchronise(self) -> None:
        self.namespace.cuda.get_current_stream().synchronize()


@functools.cache
def cupy_backend() -> Backend:
    """The backend; BackendError if CuPy is not installed."""
    try:
        import cupy
    except ImportError as error:
        raise BackendError(
            "the backend 'cupy' needs CuPy, which cannot be imported", hint='pip install "s2s-autodiff[cupy]"'
        ) from error
    return _CuPy(cupy)
