"""A table of what the eager API means: small programs, each with its right value written down.

A case is a function of a library (see `libraries.py`), marked by `@case(says, expect)`. What it returns must equal
`expect`: numbers and arrays within rounding, anything else exactly; `Raises(text)` expects an error. Where this
library differs from PyTorch on purpose, `torch` holds what PyTorch gives, and `differs` names the row of docs/eager.md
that says why. `python -m tests.autograd.semantics.validate` runs the table with PyTorch, where that is installed.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

X = np.array([2.0, 3.0, 5.0])


@dataclass(frozen=True)
class Raises:
    """An error whose text matches, in any case of letters; `kind` is what it must be an instance of."""

    text: str
    kind: type[BaseException] = Exception


@dataclass(frozen=True)
class Case:
    """`run` gives `expect` here, and `torch` in PyTorch."""

    name: str
    says: str
    run: Callable[[Any], Any]
    expect: Any
    torch: Any
    differs: str


CASES: list[Case] = []
_SAME = object()


def case(says: str, expect: Any, *, torch: Any = _SAME, differs: str = "") -> Callable[[Any], Any]:
    """Mark a case."""

    def mark(run: Callable[[Any], Any]) -> Callable[[Any], Any]:
        name = f"{run.__module__.rpartition('.')[2]}.{run.__name__}"
        assert all(other.name != name for other in CASES), name
        CASES.append(Case(name, says, run, expect, expect if torch is _SAME else torch, differs))
        return run

    return mark


def check(case: Case, library: Any, expect: Any) -> None:
    """Run a case; AssertionError if the outcome is not the expected one."""
    if isinstance(expect, Raises):
        try:
            got = case.run(library)
        except expect.kind as error:
            assert re.search(expect.text, str(error), re.IGNORECASE), f"the error says: {error}"
            return
        raise AssertionError(f"no error, but {got!r}")
    compare(case.run(library), expect)


def compare(got: Any, expect: Any) -> None:
    """AssertionError unless both are the same."""
    if isinstance(expect, (list, tuple)):
        assert isinstance(got, (list, tuple)) and len(got) == len(expect), f"{got!r} for {expect!r}"
        for g, e in zip(got, expect):
            compare(g, e)
    elif isinstance(expect, (bool, str, type(None))):
        assert type(got) is type(expect) and got == expect, f"{got!r} for {expect!r}"
    else:
        assert got is not None and not isinstance(got, (bool, str)), f"{got!r} for {expect!r}"
        assert np.shape(got) == np.shape(expect), f"{got!r} for {expect!r}"
        np.testing.assert_allclose(got, expect, rtol=1e-9, atol=1e-12)
