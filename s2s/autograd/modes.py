"""Grad mode: whether operations on Variables are recorded. Each thread has its own.

The three classes work as contexts and as decorators, and give the mode back after an error too:

>>> with no_grad():
...     is_grad_enabled()
False
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


class _State(threading.local):
    enabled = True


state = _State()


def is_grad_enabled() -> bool:
    """Whether operations on Variables are recorded in this thread."""
    return state.enabled


class _Mode:
    """Sets the mode on entry, and restores it on exit. Entries nest, also of one object."""

    def __init__(self, enabled: bool) -> None:
        self._enabled = enabled
        self._before: list[bool] = []

    def __enter__(self) -> None:
        self._before.append(state.enabled)
        state.enabled = self._enabled

    def __exit__(self, *error: object) -> None:
        state.enabled = self._before.pop()

    def __call__(self, function: F) -> F:
        enabled = self._enabled

        @functools.wraps(function)
        def inner(*args: Any, **kwargs: Any) -> Any:
            with _Mode(enabled):
                return function(*args, **kwargs)

        return inner  # type: ignore[return-value]


class no_grad(_Mode):
    """Nothing is recorded: results do not require grad."""

    def __init__(self) -> None:
        super().__init__(False)


class enable_grad(_Mode):
    """Operations are recorded again within `no_grad`."""

    def __init__(self) -> None:
        super().__init__(True)


class set_grad_enabled(_Mode):
    """Sets the mode at once; as a context, restores it at the end."""

    def __init__(self, mode: bool) -> None:
        super().__init__(bool(mode))
        self._initial = state.enabled
        state.enabled = self._enabled

    def __enter__(self) -> None:
        self._before.append(self._initial)
        state.enabled = self._enabled

    def __call__(self, function: F) -> F:
        state.enabled = self._initial
        return super().__call__(function)
