"""Array libraries: what differs between them, one class each, found by the type of an array.

No library is imported to find out: an array of CuPy's exists only where CuPy has been imported by the user.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from s2s.errors import BackendError
from s2s.runtime import pytree
from s2s.runtime.backends.base import Backend
from s2s.runtime.backends.numpy import NUMPY

__all__ = ["NUMPY", "Backend", "backend_of", "by_name", "check_one_device"]


def backend_of(value: Any) -> Backend | None:
    """The backend of an array, by its type; None for what is no array (numbers go with every backend)."""
    if isinstance(value, NUMPY.array_type):
        return NUMPY
    if type(value).__module__.partition(".")[0] == "cupy":
        cupy = _cupy()
        return cupy if isinstance(value, cupy.array_type) else None
    return None


def by_name(name: str) -> Backend:
    """The backend that a user names; BackendError, with what to install, if it is not there."""
    if name == "numpy":
        return NUMPY
    if name == "cupy":
        return _cupy()
    raise BackendError(f"there is no backend {name!r}", hint='backends are "numpy" and "cupy".')


def check_one_device(trees: Iterable[Any]) -> Backend:
    """The backend of all arrays in some trees; BackendError if there are several."""
    found: dict[str, Backend] = {}
    for leaf in pytree.leaves(list(trees)):
        backend = backend_of(leaf)
        if backend is not None:
            found[backend.name] = backend
    if len(found) > 1:
        raise BackendError(
            f"arrays of different devices meet in one call: {' and '.join(sorted(found))}",
            hint="move them to one device first (cupy.asarray(x), or x.get()): s2s copies nothing between devices.",
        )
    return next(iter(found.values()), NUMPY)


def _cupy() -> Backend:
    from s2s.runtime.backends.cupy import cupy_backend

    return cupy_backend()
