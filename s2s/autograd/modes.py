"""Grad mode: whether operations on Variables are recorded. Each thread has its own.

The classes work as contexts and as decorators (of generators, too, whose callers keep their own mode), and give the
mode back after an error too:

>>> with no_grad():
...     is_grad_enabled()
False
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Generator
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


class _State(threading.local):
    """The modes of a thread.

    enabled: whether operations are recorded: False, True, or the `watch`, which is told of every node.
    watch: what `detect_anomaly` and `saved_tensors_hooks` have asked for, if anything.
    inference: whether `inference_mode` is on.
    pushing: whether a pass is recorded to be differentiated by its seed alone, for tangents.
    """

    enabled: Any = True
    watch: Any = None
    inference = False
    pushing = False

    def enable(self, enabled: bool) -> None:
        """Switch recording on or off."""
        self.enabled = (self.watch or True) if enabled and not self.inference else False

    def observe(self, watch: Any) -> None:
        """Set what is told of every node."""
        self.watch = watch
        self.enable(bool(self.enabled))


state = _State()


def is_grad_enabled() -> bool:
    """Whether operations on Variables are recorded in this thread."""
    return bool(state.enabled)


def is_inference_mode_enabled() -> bool:
    """Whether `inference_mode` is on in this thread."""
    return state.inference


class Mode:
    """A context that is a decorator as well: `enter` sets something and returns what `leave` needs. Entries nest."""

    def __init__(self) -> None:
        self._before: list[Any] = []

    def enter(self) -> Any:
        """Set the mode."""
        raise NotImplementedError

    def leave(self, before: Any) -> None:
        """Restore it."""
        raise NotImplementedError

    def anew(self) -> Mode:
        """The mode for one call of a decorated function, which may be called in several threads."""
        raise NotImplementedError

    def __enter__(self) -> Any:
        self._before.append(self.enter())
        return self

    def __exit__(self, *error: object) -> None:
        self.leave(self._before.pop())

    def __call__(self, function: F) -> F:
        if inspect.isgeneratorfunction(function):
            return _generator(self, function)  # type: ignore[return-value]

        @functools.wraps(function)
        def inner(*args: Any, **kwargs: Any) -> Any:
            with self.anew():
                return function(*args, **kwargs)

        return inner  # type: ignore[return-value]


def _generator(mode: Mode, function: Callable[..., Any]) -> Callable[..., Generator[Any, Any, Any]]:
    """A generator function whose body runs in a mode, and whose callers do not."""

    @functools.wraps(function)
    def inner(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        with mode.anew():
            generator = function(*args, **kwargs)
            step: Any = generator.send
            given: Any = None
        try:
            while True:
                try:
                    with mode.anew():
                        item = step(given)
                except StopIteration as stop:
                    return stop.value
                try:
                    step, given = generator.send, (yield item)
                except GeneratorExit:
                    raise
                except BaseException as error:
                    step, given = generator.throw, error
        finally:
            with mode.anew():
                generator.close()

    return inner


class _Switch(Mode):
    """Sets grad mode on entry."""

    def __init__(self, enabled: bool) -> None:
        super().__init__()
        self._enabled = enabled

    def enter(self) -> Any:
        before = bool(state.enabled)
        state.enable(self._enabled)
        return before

    def leave(self, before: Any) -> None:
        state.enable(before)

    def anew(self) -> Mode:
        return _Switch(self._enabled)


class no_grad(_Switch):
    """Nothing is recorded: results do not require grad. Also `@no_grad`, without brackets."""

    def __new__(cls, function: Any = None) -> Any:
        return super().__new__(cls) if function is None else cls()(function)

    def __init__(self) -> None:
        super().__init__(False)


class enable_grad(_Switch):
    """Operations are recorded again within `no_grad`. Also `@enable_grad`, without brackets."""

    def __new__(cls, function: Any = None) -> Any:
        return super().__new__(cls) if function is None else cls()(function)

    def __init__(self) -> None:
        super().__init__(True)


class set_grad_enabled(_Switch):
    """Sets the mode at once; as a context, restores it at the end."""

    def __init__(self, mode: bool) -> None:
        super().__init__(bool(mode))
        self._initial = bool(state.enabled)
        state.enable(self._enabled)

    def enter(self) -> Any:
        state.enable(self._enabled)
        return self._initial

    def __call__(self, function: F) -> F:
        state.enable(self._initial)
        return super().__call__(function)


class pushing(Mode):
    """Backward passes within are recorded to be differentiated by their seeds alone."""

    def enter(self) -> Any:
        before, state.pushing = state.pushing, True
        return before

    def leave(self, before: Any) -> None:
        state.pushing = before

    def anew(self) -> Mode:
        return pushing()


class inference_mode(Mode):
    """Nothing is recorded, not even under `enable_grad`, and what is made cannot enter a record later.

    mode: False switches recording on again.
    """

    def __new__(cls, mode: Any = True) -> Any:
        return super().__new__(cls) if isinstance(mode, bool) else cls()(mode)

    def __init__(self, mode: bool = True) -> None:
        super().__init__()
        self._mode = mode

    def enter(self) -> Any:
        before = state.inference, bool(state.enabled)
        state.inference = self._mode
        state.enable(not self._mode)
        return before

    def leave(self, before: Any) -> None:
        state.inference, enabled = before
        state.enable(enabled)

    def anew(self) -> Mode:
        return inference_mode(self._mode)
