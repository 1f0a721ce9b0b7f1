"""What is told of every node while it is asked for: anomaly detection, and hooks on what is saved.

Recording costs nothing for these as long as neither is on: `modes.state.enabled` is then just True.
"""

from __future__ import annotations

import pathlib
import sys
import traceback
import types
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from s2s.autograd.modes import Mode, no_grad, state
from s2s.autograd.value import Node, Packed, Saved, Value
from s2s.autograd.variable import Variable
from s2s.core import Origin
from s2s.errors import EagerError, InplaceModificationError

_PACKAGE = str(pathlib.Path(__file__).parent.parent)


class Watch:
    """anomaly: whether the lines that make nodes are noted. check_nan: whether a NaN in the backward pass is an error.
    hooks: pack and unpack, None without.
    """

    def __init__(self, anomaly: bool, check_nan: bool, hooks: tuple[Any, Any] | None) -> None:
        self.anomaly = anomaly
        self.check_nan = check_nan
        self.hooks = hooks

    def note(self, node: Node) -> None:
        """A node was made."""
        if self.anomaly:
            node.made_at = _lines()
        if self.hooks is not None:
            node.pack(self)

    def packed(self, held: Any) -> Any:
        """What a node holds from now on in the place of a saved value."""
        if type(held) is Saved:
            given = Variable.make(held.array)
            given._storage = held.storage
        elif isinstance(held, (np.floating, np.complexfloating)):
            given = Variable.make(held)
        else:
            return held
        assert self.hooks is not None
        pack, unpack = self.hooks
        version = _version(given)
        with no_grad():
            packed = pack(given)
        if _version(given) != version:
            raise InplaceModificationError("the pack hook of saved_tensors_hooks wrote into what it was given")
        if packed is given and type(held) is Saved:
            return Packed(packed, _Checked(unpack, held, weakref.ref(given)))
        return Packed(packed, unpack)

    def check(self, node: Node, cotangents: Any) -> None:
        """Raise if a cotangent that a node gives is no number."""
        if not (self.anomaly and self.check_nan):
            return
        for i, c in enumerate(cotangents):
            data = c._data if isinstance(c, Value) else c
            if isinstance(data, (np.ndarray, np.generic, float, complex)) and np.isnan(data).any():
                lines = getattr(node, "made_at", None)
                origin = _origin(lines[-1]) if lines else None
                error = EagerError(
                    f"the backward pass of {node.name!r} returned nan values in its gradient {i}",
                    origin=origin,
                    hint=None if lines else "run the forward pass under detect_anomaly() to see its line.",
                )
                if lines:
                    error.add_note("The operation was recorded here:\n" + "".join(traceback.format_list(lines)))
                raise error


def _version(variable: Variable) -> int:
    return 0 if variable._storage is None else variable._storage.version


class _Checked:
    """Unpacks; what comes back as it was given is held to its version."""

    def __init__(self, unpack: Callable[[Any], Any], cell: Saved, given: weakref.ref[Variable]) -> None:
        self._unpack, self._cell, self._given = unpack, cell, given

    def __call__(self, packed: Any) -> Any:
        unpacked = self._unpack(packed)
        if unpacked is self._given():
            self._cell.read("a packed value")
        return unpacked


def _lines() -> traceback.StackSummary:
    """The lines of the caller's that lead here, the innermost last."""
    frames = []
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        if not frame.f_code.co_filename.startswith(_PACKAGE):
            frames.append((frame, frame.f_lineno))
        frame = frame.f_back
    return traceback.StackSummary.extract(reversed(frames), lookup_lines=False)


def _origin(line: traceback.FrameSummary) -> Origin:
    number = line.lineno or 0
    return Origin(line.filename, number, 0, number, 0, line.line or "", line.name)


class _Observing(Mode):
    """Sets a watch on entry."""

    def make(self, before: Watch | None) -> Watch | None:
        """The watch from now on."""
        raise NotImplementedError

    def enter(self) -> Any:
        before = state.watch
        state.observe(self.make(before))
        return before

    def leave(self, before: Any) -> None:
        state.observe(before)


class detect_anomaly(_Observing):
    """Within it, a NaN in the backward pass is an error that names the line of the forward pass which made it.

    Both passes must run within it (in this thread), and take longer. check_nan: False notes the lines alone.

    >>> x = Variable([1.0, 2.0], requires_grad=True)
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     with detect_anomaly():
    ...         np.sum(x * np.nan).backward()
    Traceback (most recent call last):
    s2s.errors.EagerError: the backward pass of 'mul' returned nan values in its gradient 0...
    """

    def __init__(self, check_nan: bool = True) -> None:
        super().__init__()
        self._check_nan = check_nan
        warnings.warn("anomaly detection slows down every operation; it is meant for debugging", stacklevel=2)

    def make(self, before: Watch | None) -> Watch:
        return Watch(True, self._check_nan, None if before is None else before.hooks)

    def anew(self) -> Mode:
        return _Again(self)


class set_detect_anomaly(_Observing):
    """Switches anomaly detection on or off at once; as a context, restores it at the end."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        super().__init__()
        self._mode, self._check_nan = bool(mode), check_nan
        self._initial = self.enter()

    def make(self, before: Watch | None) -> Watch | None:
        hooks = None if before is None else before.hooks
        return Watch(self._mode, self._check_nan, hooks) if self._mode or hooks else None

    def __enter__(self) -> Any:
        self._before.append(self._initial)
        state.observe(self.make(state.watch))
        return self

    def anew(self) -> Mode:
        return _Again(self)


class saved_tensors_hooks(_Observing):
    """Within it, what operations save for the backward pass is packed by one function, and unpacked by another.

    pack_hook: is given each saved value as a Variable, and returns anything.
    unpack_hook: is given that, in the backward pass, and returns a Variable or array of the same shape.

    Pairs nest; the innermost is called.

    >>> x = Variable([2.0, 3.0], requires_grad=True)
    >>> with saved_tensors_hooks(lambda v: v.numpy().astype(np.float32), lambda a: a.astype(float)):
    ...     y = np.sum(x**3)
    >>> y.backward()
    >>> x.grad
    Variable([12., 27.])
    """

    def __init__(self, pack_hook: Callable[[Variable], Any], unpack_hook: Callable[[Any], Any]) -> None:
        super().__init__()
        self._hooks = pack_hook, unpack_hook

    def make(self, before: Watch | None) -> Watch:
        return Watch(bool(before and before.anomaly), bool(before and before.check_nan), self._hooks)

    def anew(self) -> Mode:
        return _Again(self)


class _Again(_Observing):
    """One call of a function that a watching mode decorates."""

    def __init__(self, mode: _Observing) -> None:
        super().__init__()
        self.make = mode.make  # type: ignore[method-assign]


def is_anomaly_enabled() -> bool:
    """Whether anomaly detection is on in this thread."""
    return bool(state.watch and state.watch.anomaly)
