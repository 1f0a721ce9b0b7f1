"""What the free names of a function mean: its globals and closure cells, live."""

from __future__ import annotations

from types import FunctionType

from s2s.core import Scope


def scope_of(function: FunctionType) -> Scope:
    """The scope of a plain function.

    Cells are kept as they are, also the cell `__class__` of a method that calls `super`, and empty ones: a function
    that is decorated before a later function of its scope is defined finds it there when it is called.
    """
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    return Scope(globals=function.__globals__, cells=cells)
