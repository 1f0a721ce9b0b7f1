"""CuPy, on CUDA devices. Its arrays are told from NumPy's, so that none gets mixed in; gradients use NumPy alone."""

from __future__ import annotations

from s2s.runtime.backends.base import Backend


def cupy_backend() -> Backend:
    """The backend. Asked for only where an array of CuPy's was met, so this import costs nothing."""
    import cupy

    return Backend("cupy", cupy.ndarray)
