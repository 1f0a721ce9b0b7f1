"""A Variable as something else: numbers, arrays, text, pickles, copies, other libraries and devices.

What would lose the gradient without a word is refused.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any, Self

import numpy as np

from s2s.autograd.dispatch import apply
from s2s.autograd.nodes import plain
from s2s.autograd.value import VOLATILE, Node, Value, ndarray
from s2s.errors import BackendError, EagerError, GradientLossError


class Convertible(Value):
    """The conversions of a Variable."""

    __slots__ = ()

    def numpy(self) -> Any:
        """The plain data; refused if it requires grad."""
        self._refuse("numpy()")
        return self._data

    def item(self, *args: Any) -> Any:
        """The one element as a plain Python number."""
        return np.asarray(self._data).item(*plain(args))

    def tolist(self) -> Any:
        """The elements as plain Python numbers in nested lists."""
        return np.asarray(self._data).tolist()

    def _refuse(self, what: str) -> None:
        if self.parent() is not None:
            raise GradientLossError(
                f"{what} of a Variable that requires grad would lose its gradient: use v.detach() (or v.item()) for "
                "the plain value, or operators and NumPy functions, which record; store it into a Variable, not into a "
                "plain array"
            )

    def __float__(self) -> float:
        self._refuse("float()")
        return float(self._data)

    def __int__(self) -> int:
        self._refuse("int()")
        return int(self._data)

    def __complex__(self) -> complex:
        self._refuse("complex()")
        return complex(self._data)

    def __index__(self) -> int:
        return operator.index(self._data)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> ndarray:
        self._refuse("np.asarray()")
        return np.array(self._data, dtype=dtype, copy=copy)

    def __array_namespace__(self, *, api_version: Any = None) -> Any:
        return np.asarray(self._data).__array_namespace__(api_version=api_version)

    def __bool__(self) -> bool:
        return bool(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __iter__(self) -> Iterator[Any]:
        if type(self._data) is not ndarray or not self._data.ndim:
            iter(self._data)  # raises
        return (self[i] for i in range(len(self._data)))  # type: ignore[index]

    def __contains__(self, item: Any) -> bool:
        return plain(item) in self._data

    def __repr__(self) -> str:
        text = np.array2string(np.asarray(self._data), separator=", ", prefix="Variable(")
        self.parent()
        node = self._node
        mark = f", grad_fn={node!r}" if node is not None else ", requires_grad=True" if self._wants is True else ""
        return f"Variable({text}{mark}{', volatile=True' if self._wants is VOLATILE else ''})"

    def __format__(self, spec: str) -> str:
        return format(self._data, spec) if spec else repr(self)

    def __round__(self, digits: int | None = None) -> Any:
        return round(self._data, digits) if digits is not None else round(self._data)

    # --- copies -----------------------------------------------------------------------------------------------------

    def __reduce_ex__(self, protocol: Any) -> Any:
        if isinstance(self.parent(), Node):
            raise EagerError("only leaves can be pickled: the graph cannot", hint="pickle v.detach()")
        return _restored, (type(self), self._data, self._wants, getattr(self, "_grad", None))

    def __deepcopy__(self, memo: Any) -> Any:
        if isinstance(self.parent(), Node):
            raise EagerError("only leaves can be deep-copied: a copy of the graph is not made", hint="use clone()")
        grad = getattr(self, "_grad", None)
        if grad is not None:
            grad = grad.__deepcopy__(memo)
        copy = np.array(self._data) if type(self._data) is ndarray else self._data
        memo[id(self)] = result = _restored(type(self), copy, self._wants, grad)
        return result

    def __copy__(self) -> Self:
        """Another Variable of the same memory; of a leaf, another leaf, of a result, a view of it."""
        if isinstance(self.parent(), Node):
            return apply(operator.getitem, (self, ...))  # type: ignore[no-any-return]
        result = type(self).make(self._data)
        result._wants = self._wants
        result._storage = self.storage()
        return result

    # --- other libraries and devices ----------------------------------------------------------------------------------

    def __dlpack__(self, **options: Any) -> Any:
        self._refuse("DLPack export")
        return np.asarray(self._data).__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return np.asarray(self._data).__dlpack_device__()

    @property
    def device(self) -> str:
        """Where the data is: "cpu"."""
        return str(np.asarray(self._data).device)

    def cpu(self) -> Self:
        """This Variable, whose data is in the memory of the host already."""
        return self

    def to(self, target: Any) -> Any:
        """On another device ("cpu", "numpy", "cupy"), or in another dtype, which is recorded."""
        if isinstance(target, Value):
            target = target._data.dtype
        if isinstance(target, str) and target in ("cpu", "numpy"):
            return self
        if isinstance(target, str) and target.partition(":")[0] in ("cupy", "cuda"):
            raise BackendError(
                "Variables hold arrays of NumPy only", hint="gradients on a device: s2s.grad(f)(cupy_array)"
            )
        return self if np.dtype(target) == self._data.dtype else apply(np.ndarray.astype, (self, target))


def _restored(cls: type[Value], data: Any, wants: int, grad: Any) -> Any:
    """A leaf, from what a pickle holds."""
    result: Any = cls.make(data)
    result._wants = wants
    if grad is not None:
        result._grad = grad
    return result
