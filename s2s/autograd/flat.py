"""`x.flat` of a Value: what is read of it is a copy, what is written reaches x, whatever its layout."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from s2s.autograd.dispatch import apply
from s2s.autograd.inplace import scatter
from s2s.autograd.nodes import plain
from s2s.autograd.value import Value, ndarray


class Flat:
    """The elements of a Value in a row, as NumPy's `flatiter` shows them."""

    def __init__(self, base: Value) -> None:
        self.base = base
        self.index = 0

    def __len__(self) -> int:
        return int(np.size(self.base._data))

    def __getitem__(self, index: Any) -> Any:
        taken = apply(operator.getitem, (apply(np.reshape, (self.base, -1)), plain(index)))
        return apply(np.copy, (taken,)) if np.ndim(plain(taken)) else taken

    def __setitem__(self, index: Any, value: Any) -> None:
        def write(written: ndarray, values: Any) -> None:
            written.flat[plain(index)] = values

        scatter(self.base, value, write, "flat")

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if self.index >= len(self):
            raise StopIteration
        self.index += 1
        return self[self.index - 1]

    def copy(self) -> Any:
        return self[:]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self[:].__array__(dtype, copy)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return getattr(ufunc, method)(*map(_row, inputs), **kwargs)

    def __array_function__(self, function: Any, types: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        return function(*map(_row, args), **{name: _row(value) for name, value in kwargs.items()})


def _row(operand: Any) -> Any:
    if isinstance(operand, (list, tuple)):
        return type(operand)(map(_row, operand))
    return operand[:] if isinstance(operand, Flat) else operand
