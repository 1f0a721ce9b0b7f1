"""Variable: an array or number that remembers how it was computed.

A Variable takes part in operators, array methods and NumPy's functions as its data would; each operation ends in
`dispatch.apply`, which runs it on the data and records it. What would lose the gradient without a word (`float(v)`,
`np.asarray(v)`, `math.sin(v)`, storing v into a plain array) is refused with an error that says what to do.

- Data is not copied. Python's numbers, lists and tuples become arrays; `Variable(2.0).data` is an array without
  dimensions, which a step of descent can change in place.
- Results hold what NumPy returns: `np.sum(v).data` is a NumPy number. Numbers have no memory to write; `s += 1` gives
  the Variable s a new number, so that other names of the same Variable see it, as in PyTorch. `v[0]` of a
  vector is a number and no view, as in NumPy.
- Comparisons give plain booleans.
- A plain array among the operands is not copied either: wrap it in a Variable to have writes to it noticed.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from s2s.autograd import modes, ufuncs
from s2s.autograd.conversion import Convertible
from s2s.autograd.dispatch import apply, replay
from s2s.autograd.flat import Flat
from s2s.autograd.inplace import assign
from s2s.autograd.membership import Member
from s2s.autograd.nodes import plain
from s2s.autograd.operators import attribute, install
from s2s.autograd.value import INFERENCE, VOLATILE, Node, Value, View
from s2s.errors import EagerError


class Variable(Member, Convertible):
    """An array or number with a gradient.

    data: an array (not copied), a number, or nested lists of numbers.
    requires_grad: whether gradients by this Variable are wanted; then it must hold floats or complex numbers.
    volatile: whether to record nothing that depends on it, whatever else requires grad.

    >>> x = Variable([1.0, 2.0], requires_grad=True)
    >>> y = np.sum(x**2)
    >>> y.backward()
    >>> x.grad
    Variable([2., 4.])
    """

    __slots__ = ()
    __array_priority__ = 1000.0

    def __init__(self, data: Any, requires_grad: bool = False, volatile: bool = False) -> None:
        if isinstance(data, Value):
            self._data = data._data
            self._storage = data.storage()  # the same memory: writes to either are noticed
        else:
            self._data = np.asarray(data)
            self._storage = None
        self._node = self._saved = self._view = None
        self._wants = INFERENCE if modes.state.inference else False
        if self._data.dtype.hasobject:
            raise EagerError(f"a Variable holds numbers, not {type(data).__name__} objects (dtype {self._data.dtype})")
        if volatile:
            self._wants = VOLATILE
        if requires_grad:
            self.requires_grad_()

    def clone(self) -> Self:
        """A copy, which passes gradients on."""
        if modes.state.enabled and self._wants is not VOLATILE:
            return apply(np.copy, (self,))  # type: ignore[no-any-return]
        result = type(self).make(np.copy(self._data))
        result._wants = VOLATILE if self._wants is VOLATILE else INFERENCE if modes.state.inference else False
        return result

    def _replay(self, view: View) -> Node | None:
        with modes.enable_grad():
            return replay(view, view.base)._node  # type: ignore[no-any-return]

    # --- what the data says ---------------------------------------------------------------------------------------

    shape = property(lambda self: self._data.shape, doc="As of the data.")
    dtype = property(lambda self: self._data.dtype, doc="As of the data.")
    ndim = property(lambda self: self._data.ndim, doc="As of the data.")
    size = property(lambda self: self._data.size, doc="As of the data.")
    nbytes = property(lambda self: self._data.nbytes, doc="As of the data.")
    itemsize = property(lambda self: self._data.itemsize, doc="As of the data.")
    strides = property(lambda self: self._data.strides, doc="As of the data.")

    # --- operations -----------------------------------------------------------------------------------------------

    T = attribute("T")
    mT = attribute("mT")
    real = attribute("real")
    imag = attribute("imag")

    @property
    def flat(self) -> Any:
        """The elements in a row: reading copies, and writing reaches this."""
        return Flat(self)

    @flat.setter
    def flat(self, value: Any) -> None:
        Flat(self)[:] = value

    def __getitem__(self, index: Any) -> Any:
        return apply(operator.getitem, (self, plain(index)))

    def __setitem__(self, index: Any, value: Any) -> None:
        assign(self, index, value)

    def fill(self, value: Any) -> None:
        """Set all elements."""
        assign(self, ..., value, "fill")

    def put(self, indices: Any, values: Any, mode: str = "raise") -> None:
        """Set the elements at these places of the flattened array."""
        ufuncs.call_function(np.put, (self, indices, values, mode), {})

    def sort(self, axis: int = -1) -> None:
        """Sort in place."""
        assign(self, ..., apply(np.sort, (self, axis)), "sort")

    def partition(self, kth: Any, axis: int = -1) -> None:
        """Bring the elements at some positions of the sorted array to their places, smaller ones before them."""
        assign(self, ..., apply(np.partition, (self, kth, axis)), "partition")

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if kwargs or method != "__call__" or ufunc in ufuncs.COMPARISONS:
            return ufuncs.call(ufunc, method, inputs, kwargs)
        return apply(ufunc, inputs)

    def __array_function__(self, function: Any, types: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        return ufuncs.call_function(function, args, kwargs)

    def __s2s_function__(self, function: Any, types: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        return apply(function, args, kwargs)


install(Variable)


def from_dlpack(source: Any) -> Variable:
    """A Variable over the memory of another library's array, which supports DLPack."""
    return Variable(np.from_dlpack(source))
