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
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np

from s2s.autograd import modes, ufuncs
from s2s.autograd.dispatch import apply, replay
from s2s.autograd.flat import Flat
from s2s.autograd.inplace import assign
from s2s.autograd.nodes import plain
from s2s.autograd.operators import attribute, install
from s2s.autograd.value import Node, Value, View, dtype_of, ndarray
from s2s.errors import ArgumentError


def run_backward(*args: Any) -> None:
    """Stands for `engine.backward` until the engine, which works on Variables, puts itself here."""
    raise RuntimeError("the engine is not loaded")


class Variable(Value):
    """An array or number with a gradient.

    data: an array (not copied), a number, or nested lists of numbers.
    requires_grad: whether gradients by this Variable are wanted; then it must hold floats or complex numbers.

    >>> x = Variable([1.0, 2.0], requires_grad=True)
    >>> y = np.sum(x**2)
    >>> y.backward()
    >>> x.grad
    Variable([2., 4.])
    """

    __slots__ = ()
    __array_priority__ = 1000.0

    def __init__(self, data: Any, requires_grad: bool = False) -> None:
        if isinstance(data, Value):
            data = data._data
        self._data = np.asarray(data)
        self._node = self._storage = self._saved = self._view = None
        self._wants = False
        if self._data.dtype.hasobject:
            raise ArgumentError(
                f"a Variable holds numbers, not {type(data).__name__} objects (dtype {self._data.dtype})"
            )
        if requires_grad:
            self.requires_grad_()

    # --- the graph ----------------------------------------------------------------------------------------------

    @property
    def data(self) -> Any:
        """The plain data. Writes to it are not noticed; assigning it counts as a write."""
        return self._data

    @data.setter
    def data(self, data: Any) -> None:
        self._data = plain(data)
        self.storage().written("assignment of .data")

    @property
    def grad(self) -> Variable | None:
        """The gradient that `backward` has added up, None before."""
        return getattr(self, "_grad", None)

    @grad.setter
    def grad(self, grad: Any) -> None:
        if grad is not None:
            grad = grad if isinstance(grad, Variable) else Variable(grad)
            if np.shape(grad._data) != np.shape(self._data):
                raise ArgumentError(f"a gradient of shape {np.shape(grad._data)} for data of {np.shape(self._data)}")
        self._grad = grad

    @property
    def grad_fn(self) -> Node | None:
        """The node that made this Variable, None for leaves."""
        self.parent()
        return self._node

    @property
    def is_leaf(self) -> bool:
        """Whether this Variable was not computed from others that require grad."""
        return self.grad_fn is None

    @property
    def requires_grad(self) -> bool:
        """Whether gradients flow to this Variable."""
        return self.parent() is not None

    @requires_grad.setter
    def requires_grad(self, flag: bool) -> None:
        self.requires_grad_(flag)

    def requires_grad_(self, flag: bool = True) -> Self:
        """Set whether gradients by this leaf are wanted; returns the Variable."""
        if self.grad_fn is not None:
            if flag:
                return self
            raise ArgumentError("requires_grad can be taken from leaves only", hint="use detach()")
        if flag and dtype_of(self._data).kind not in "fc":
            raise ArgumentError(
                f"only Variables of floats or complex numbers can require gradients, not of dtype {self.dtype}",
                hint="convert the data: x.astype(float)",
            )
        self._wants = bool(flag)
        return self

    def retain_grad(self) -> None:
        """Have `backward` fill `.grad` of this Variable, though it is no leaf."""
        node = self._hookable()
        if node is not self and not self.retains_grad:
            node.hooks = [*(node.hooks or ()), _Retain(self)]  # type: ignore[union-attr]

    @property
    def retains_grad(self) -> bool:
        """Whether `retain_grad` has been called."""
        node = self.grad_fn
        hooks = node.hooks if node is not None else None
        return any(isinstance(h, _Retain) and h.owner() is self for h in hooks or ())

    def register_hook(self, hook: Callable[[Variable], Any]) -> Handle:
        """Call `hook` with each gradient by this Variable; what it returns, if not None, takes the gradient's place."""
        node: Any = self._hookable()
        if node is self:
            self._hooks = [*getattr(self, "_hooks", ()), hook]
        else:
            node.hooks = [*(node.hooks or ()), hook]
        return Handle(node, hook)

    def _hookable(self) -> Node | Value:
        parent = self.parent()
        if parent is None:
            raise ArgumentError("this Variable does not require grad, so it has no gradient to look at")
        return parent

    def backward(
        self, gradient: Any = None, retain_graph: bool | None = None, create_graph: bool = False, inputs: Any = None
    ) -> None:
        """Add the gradients of this Variable to the `.grad` of leaves; see `s2s.autograd.backward`."""
        run_backward(self, gradient, retain_graph, create_graph, inputs)

    def detach(self) -> Self:
        """The same data (and memory) without the graph."""
        result = type(self).make(self._data)
        result._storage = self.storage()
        return result

    def clone(self) -> Self:
        """A copy, which passes gradients on."""
        return apply(np.copy, (self,)) if modes.state.enabled else type(self).make(np.copy(self._data))

    def _replay(self, view: View) -> Node | None:
        with modes.enable_grad():
            return replay(view, view.base)._node  # type: ignore[no-any-return]

    # --- out of the graph ---------------------------------------------------------------------------------------

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
            raise TypeError(
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

    def __bool__(self) -> bool:
        return bool(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __iter__(self) -> Iterator[Any]:
        if type(self._data) is not ndarray or not self._data.ndim:
            iter(self._data)  # raises
        return (self[i] for i in range(len(self._data)))

    def __contains__(self, item: Any) -> bool:
        return plain(item) in self._data

    def __repr__(self) -> str:
        text = np.array2string(np.asarray(self._data), separator=", ", prefix="Variable(")
        node = self.grad_fn
        mark = f", grad_fn={node!r}" if node is not None else ", requires_grad=True" if self._wants else ""
        return f"Variable({text}{mark})"

    def __format__(self, spec: str) -> str:
        return format(self._data, spec) if spec else repr(self)

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

    def __round__(self, digits: int | None = None) -> Any:
        return round(self._data, digits) if digits is not None else round(self._data)

    def __deepcopy__(self, memo: Any) -> Any:
        if not self.is_leaf:
            raise ArgumentError("only leaves can be deep-copied: a copy of the graph is not made", hint="use clone()")
        return type(self)(np.array(self._data), self._wants)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if kwargs or method != "__call__" or ufunc in ufuncs.COMPARISONS:
            return ufuncs.call(ufunc, method, inputs, kwargs)
        return apply(ufunc, inputs)

    def __array_function__(self, function: Any, types: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        return ufuncs.call_function(function, args, kwargs)

    def __s2s_function__(self, function: Any, types: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        return apply(function, args, kwargs)


class _Retain:
    """The hook of `retain_grad`: it takes the cotangent as it is, and its Variable is not kept alive by it."""

    inside = True

    def __init__(self, variable: Variable) -> None:
        self.owner = weakref.ref(variable)

    def keep(self, gradient: Variable) -> None:
        """Add a gradient to the Variable's `.grad`."""
        variable = self.owner()
        if variable is not None:
            variable._grad = gradient if variable.grad is None else Variable.make(variable.grad._data + gradient._data)


class Handle:
    """A registered hook; `remove()` takes it away again. Also a context."""

    def __init__(self, owner: Node | Value, hook: Any) -> None:
        self._owner = weakref.ref(owner)
        self._hook = hook

    def remove(self) -> None:
        """Take the hook away; nothing happens the second time."""
        owner: Any = self._owner()
        name = "hooks" if isinstance(owner, Node) else "_hooks"
        hooks: Sequence[Any] = getattr(owner, name, None) or ()
        if self._hook in hooks:
            setattr(owner, name, [h for h in hooks if h is not self._hook] or None)

    def __enter__(self) -> Handle:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()


install(Variable)
