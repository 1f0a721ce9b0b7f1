"""Traced: the Variable that runs through a user's function in place of a plain value.

It behaves as the value in every way that the function can ask for: `isinstance` answers as the value's type, it prints
as the value, numbers are rebound by `+=` and arrays are written, and writing what the backward pass needs
copies that first instead of failing later.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s.autograd import texts
from s2s.autograd.dispatch import missing
from s2s.autograd.nodes import plain
from s2s.autograd.refusals import noted
from s2s.autograd.texts import made_of_text, written_as
from s2s.autograd.value import ndarray
from s2s.autograd.variable import Variable
from s2s.errors import UnsupportedSyntaxError
from s2s.runtime.written import HINT, MADE_OF_TEXT


class Traced(Variable):
    """A value that is recorded within a function of the user's."""

    __slots__ = ()

    copies = True

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return type(self._data)

    def __hash__(self) -> int:
        if self.parent() is not None:
            raise noted(
                TypeError(
                    "a value that carries a gradient is used as a key: what is found by it would lose the gradient"
                )
            )
        return hash(self._data)

    def __repr__(self) -> str:
        return self._written(repr(self._data))

    def __str__(self) -> str:
        return self._written(str(self._data))

    def __format__(self, spec: str) -> str:
        return self._written(format(self._data, spec))

    def _written(self, text: str) -> str:
        return text if self.parent() is None else written_as(text)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            # NumPy asks for __array_interface__ and the like, and would read the data past the record
            raise AttributeError(f"{type(self._data).__name__!r} object has no attribute {name!r} that can be recorded")
        attribute = getattr(self._data, name)  # what the value lacks, this lacks in the value's own words
        if name in _WRITING:
            raise noted(AttributeError(f"the method {name!r}, which writes an array in place, cannot be recorded"))
        if name in _MEMORY and type(self._data) is ndarray:
            raise noted(
                UnsupportedSyntaxError(gives_memory(name), hint="copy it by x.tolist(), x.tobytes() or np.copy(x)")
            )
        if self.parent() is None:
            return attribute
        if not callable(attribute):
            if isinstance(attribute, _WITHOUT_DERIVATIVE):
                return attribute
            raise noted(AttributeError(f"the attribute {name!r} of a value that carries a gradient cannot be recorded"))

        def method(*args: Any, **kwargs: Any) -> Any:
            out = attribute(*plain(list(args)), **plain(kwargs))
            if isinstance(out, (bool, np.bool_)):
                return out
            raise missing(attribute)

        return method

    def _refuse(self, what: str) -> None:
        if self.parent() is not None:
            refusal = UnsupportedSyntaxError(
                f"{what} of a value that carries a gradient is asked for where that cannot be recorded: by C code, by "
                "a method of an object, or by a write into an array that an object or a container holds",
                hint="do it in a plain function, and write into arrays that this makes or takes as arguments.",
            )
            raise noted(refusal)

    def __reduce_ex__(self, protocol: Any) -> Any:
        if self.parent() is not None:
            raise noted(TypeError("a value that carries a gradient cannot be pickled"))
        return self._data.__reduce_ex__(protocol)

    def item(self, *args: Any) -> Any:
        """The element as a Python number, which is recorded too."""
        one = self
        if len(args) == 1:
            one = self[args[0]] if isinstance(args[0], tuple) else self.reshape(-1)[args[0]]
        elif args:
            one = self[args]
        number = one._data.item() if isinstance(one, Traced) else one.item()
        if isinstance(one, Traced) and np.ndim(one._data):
            one = one.reshape(())
        parent = one.parent() if isinstance(one, Traced) else None
        return number if parent is None else Traced.linked(number, parent)

    def view(self, *args: Any, **kwargs: Any) -> Any:
        """The array itself, by another name."""
        asked = [*args, *kwargs.values()]
        if type(self._data) is ndarray and all(a is ndarray or a in (self._data.dtype, None) for a in asked):
            return self[...]
        message = "the memory of an array under another dtype or class cannot be recorded"
        raise noted(UnsupportedSyntaxError(message, hint="use astype, or a function of your own"))

    def tolist(self) -> Any:
        """The elements as Python numbers in nested lists, each of them recorded."""
        return [v.tolist() for v in self] if np.ndim(self._data) else self.item()

    def __deepcopy__(self, memo: Any) -> Any:
        return self.copy() if type(self._data) is ndarray else self

    def __copy__(self) -> Any:
        return self.__deepcopy__(None)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> ndarray:
        # who reads it outside the record may not write it
        view = super().__array__(dtype, copy).view()
        view.flags.writeable = False
        return view


def gives_memory(name: str) -> str:
    """What is said of a way to the memory of an array."""
    return f"`{name}` of an array gives its memory, where nothing that is written or read can be recorded"


def refuse_made_of_text(*arguments: Any) -> None:
    """Raise where a number is about to be made of text that a recorded value was written as."""
    if made_of_text(arguments):
        _refuse_text()


def _refuse_text() -> None:
    raise noted(UnsupportedSyntaxError(MADE_OF_TEXT, hint=HINT))


texts.refuse = _refuse_text


def _hidden(name: str) -> Any:
    """A name of Variable's that arrays do not have: who asks for it gets the answer of the value."""

    def refuse(self: Traced) -> Any:
        raise AttributeError(f"{type(self._data).__name__!r} object has no attribute {name!r}", name=name, obj=self)

    return property(refuse)


for _name in (
    "backward", "clone", "cpu", "creator", "data", "detach", "detach_", "grad", "grad_fn", "is_inference", "is_leaf",
    "numpy", "register_hook", "register_post_accumulate_grad_hook", "reinforce", "requires_grad", "requires_grad_",
    "retain_grad", "retains_grad", "to", "volatile",
):  # fmt: skip
    setattr(Traced, _name, _hidden(_name))

_WITHOUT_DERIVATIVE = (int, bool, str, tuple, np.dtype, type(np.zeros(0).flags))
_MEMORY = frozenset({"ctypes", "data", "getfield"})
_WRITING = frozenset({"byteswap", "itemset", "partition", "put", "resize", "setfield", "setflags"})
