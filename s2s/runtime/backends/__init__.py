"""Array libraries, found by the type of an array. Only NumPy is connected: gradients are generated for no other yet.

No library is imported to find out: an array of CuPy's exists only where CuPy has been imported by the user.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from s2s.errors import BackendError
from s2s.runtime import pytree
from s2s.runtime.backends.base import Backend
from s2s.runtime.backends.numpy import NUMPY

__all__ = ["NUMPY", "Backend", "backend_of", "check_one_device"]


def backend_of(value: Any) -> Backend | None:
    """The backend of an array, by its type; None for what is no array (numbers go with every backend)."""
    if isinstance(value, NUMPY.array_type):
        return NUMPY
    if type(value).__module__.partition(".")[0] == "cupy":
        from s2s.runtime.backends.cupy import cupy_backend

        cupy = cupy_backend()
        return cupy if isinstance(value, cupy.array_type) else None
    return None


def check_one_device(trees: Iterable[Any]) -> None:
    """BackendError if the arrays in some trees belong to several backends."""
    found = {backend.name for leaf in pytree.leaves(list(trees)) if (backend := backend_of(leaf)) is not None}
    if len(found) > 1:
        raise BackendError(
            f"arrays of different devices meet in one call: {' and '.join(sorted(found))}",
            hint="move them to one device first (cupy.asarray(x), or x.get()): s2s copies nothing between devices.",
        )
