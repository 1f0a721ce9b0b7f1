"""Forward mode: from a Core function to the function that computes its value and tangent."""

from __future__ import annotations

from s2s.core import Function
from s2s.errors import NotCompiled
from s2s.transforms.task import Task


def forward(fn: Function, task: Task) -> Function:
    """The function that computes `(out, out_dot)`."""
    raise NotCompiled("forward mode", origin=fn.origin)
