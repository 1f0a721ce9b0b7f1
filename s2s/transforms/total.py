"""A program -> the program that sums its value; the gradient of that is the derivative of an elementwise function."""

from __future__ import annotations

from dataclasses import replace

import gast
import numpy as np

from s2s import core
from s2s.core import Function
from s2s.transforms.structure import next_number


def summed(fn: Function) -> Function:
    """`return y` becomes `return np.sum(y)`."""
    *body, last = fn.body
    names = fn.local_names()
    scope, numpy = fn.scope.bind("np", np, names)
    total = core.temporary("total", next_number(names))
    origin = core.origin_of(last)
    made = core.assign(total, core.call(f"{numpy}.sum", last.value), origin)
    result = core.place(gast.Return(core.name(total)), origin)
    return replace(fn, body=(*body, made, result), scope=scope)
