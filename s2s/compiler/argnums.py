"""What to differentiate by: positions and names as the user gives them -> parameters."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2s.compiler.layout import Layout
from s2s.errors import ArgumentError

Argnums = int | str | Sequence[int | str]


@dataclass(frozen=True)
class Wanted:
    """One thing to differentiate by: a parameter, or one item of a variadic one (`key`, a position or a keyword)."""

    param: str
    key: int | str | None = None

    def of(self, gradient: Any) -> Any:
        """The part that is wanted of the gradient by the parameter."""
        return gradient if self.key is None else gradient[self.key]

    def __str__(self) -> str:
        return repr(self.param) if self.key is None else f"{self.key!r} of {self.param!r}"


@dataclass(frozen=True)
class Selection:
    """All that is wanted, in the order in which gradients are returned; `single` if it was not given as a sequence."""

    wanted: tuple[Wanted, ...]
    single: bool

    @property
    def params(self) -> tuple[str, ...]:
        """The parameters to differentiate by, each once."""
        return tuple(dict.fromkeys(w.param for w in self.wanted))

    @property
    def whole(self) -> bool:
        """Whether the gradients by the parameters are what is wanted, as they are."""
        return all(w.key is None for w in self.wanted)

    def pick(self, gradients: Sequence[Any]) -> Any:
        """What is wanted of the gradients by `params`."""
        by_name = dict(zip(self.params, gradients))
        picked = tuple(w.of(by_name[w.param]) for w in self.wanted)
        return picked[0] if self.single else picked


def select(layout: Layout, argnums: Argnums, bound: int = 0, name: str = "the function") -> Selection:
    """The parameters that `argnums` means.

    bound: how many leading parameters are bound already (`self`): positions count after them.
    Raises ArgumentError, which lists the parameters, for what is no parameter, and for one that is given twice.
    """
    if isinstance(argnums, (int, np.integer, str)):
        return Selection((_one(layout, argnums, bound, name),), single=True)
    if not isinstance(argnums, (list, tuple, range)):
        raise _refusal(layout, bound, f"argnums must be positions or names of parameters, not {argnums!r}", name)
    wanted = tuple(_one(layout, item, bound, name) for item in argnums)
    if not wanted:
        raise _refusal(layout, bound, "argnums is empty: there is nothing to differentiate by", name)
    if len(set(wanted)) < len(wanted):
        twice = next(w for w in wanted if wanted.count(w) > 1)
        raise _refusal(layout, bound, f"argnums {argnums!r} names the parameter {twice} twice", name)
    return Selection(wanted, single=False)


def _one(layout: Layout, item: Any, bound: int, name: str) -> Wanted:
    if isinstance(item, str):
        return _named(layout, item, bound, name)
    if isinstance(item, bool) or not isinstance(item, (int, np.integer)):
        raise _refusal(layout, bound, f"argnums takes positions and names of parameters, not {item!r}", name)
    position = operator.index(item)
    visible = layout.positional[bound:]
    if position < 0 and layout.vararg is None:
        position += len(visible)
    if 0 <= position < len(visible):
        return Wanted(visible[position])
    if position >= 0 and layout.vararg is not None:
        return Wanted(layout.vararg, position + bound - len(layout.positional))
    raise _refusal(layout, bound, f"argnums {item} is out of range", name)


def _named(layout: Layout, item: str, bound: int, name: str) -> Wanted:
    if item in layout.names:
        return Wanted(item)
    if layout.kwarg is not None:
        return Wanted(layout.kwarg, item)
    raise _refusal(layout, bound, f"argnums {item!r} is no parameter", name)


def _refusal(layout: Layout, bound: int, message: str, name: str) -> ArgumentError:
    listed = ", ".join(
        f"{i}: {p}" if i is not None else p
        for i, p in [*enumerate(layout.positional[bound:]), *((None, _starred(layout, p)) for p in _others(layout))]
    )
    return ArgumentError(f"{message}; the parameters of {name} are ({listed})")


def _others(layout: Layout) -> tuple[str, ...]:
    return layout.names[len(layout.positional) :]


def _starred(layout: Layout, param: str) -> str:
    return {layout.vararg: "*", layout.kwarg: "**"}.get(param, "") + param
