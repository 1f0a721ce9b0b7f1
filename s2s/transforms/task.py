"""What is asked of the compiler: which derivative, by which parameters, for arguments of which kinds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from s2s.kinds import Kind

Mode = Literal["grad", "value_and_grad", "jvp", "primal"]


@dataclass(frozen=True)
class Task:
    """What a pass may ask about the job.

    mode: which program is wanted; "primal" is the function itself, lowered and written out again.
    wrt: the parameters by which to differentiate, in the order in which gradients are returned.
    kinds: the kinds of all parameters (variadic ones: a Tuple or Dict).
    single: whether the gradient is returned bare, not as a tuple.
    has_aux: whether the function returns `(value, aux)`.
    """

    mode: Mode
    wrt: tuple[str, ...] = ()
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    single: bool = True
    has_aux: bool = False
