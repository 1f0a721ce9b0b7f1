"""What a variable holds that is not assigned yet, where a gradient needs the variable all the same.

A loop may assign a variable in its first round, and read it in the others. The reverse sweep then keeps the variable's
values of all rounds, and it must be able to do so where there is none. Where the program reads the variable,
`require_assigned` does what Python would.
"""

from __future__ import annotations

from typing import Any


class absent:
    """No value: what a variable is bound to that is not assigned yet."""


def require_assigned(value: Any, name: str) -> None:
    """Raise as Python does where a local variable is read that is not assigned.

    >>> require_assigned(absent, "x")
    Traceback (most recent call last):
    ...
    UnboundLocalError: cannot access local variable 'x' where it is not associated with a value
    """
    if value is absent:
        raise UnboundLocalError(f"cannot access local variable '{name}' where it is not associated with a value")
