"""The checks that look for planted bugs: programs and tests that the test suite runs anyhow.

trap shifted            a function of tests/programs/test_inplace.py or test_sharing.py, as `test_trap` runs it
inplace 17              the program that InplaceWriter writes for a seed, verified as test_random.py does
plain 17                that of Writer
stages 17               that of InplaceWriter, run after each pass, too
tests.api.test_vjp:f    a test function, for all that it is parametrized by
"""

from __future__ import annotations

import importlib
import inspect
import itertools
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from tests.programs import test_inplace, test_sharing, verify
from tests.programs.generator import Writer, arguments, define
from tests.programs.hunt import SECOND
from tests.programs.inplace import InplaceWriter

WRITERS = {"inplace": InplaceWriter, "stages": InplaceWriter, "plain": Writer}
# The seeds of the programs that `make test` runs.
SEEDS = {"inplace": range(400), "plain": range(100), "stages": range(2000, 2060)}

# What a comparison of `verify` is called; the last of these on the way to an error has found it.
COMPARISONS = {
    "fits": "memory, shapes and dtypes of gradients",
    "apart": "memory that is shared",
    "run": "arguments that are left alone",
    "agrees_with_differences": "differences",
    "agrees_with_tape": "the tape",
    "agrees_with_forward_mode": "forward mode",
    "second_derivative_agrees": "second derivatives",
    "check_stages": "stages",
}


def run(check: str) -> str | None:
    """Run a check: None if it passes, else what found the fault."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for call in calls(check):
                call()
    except (Exception, pytest.fail.Exception) as error:
        return finder(error, is_test=":" in check)
    return None


def finder(error: BaseException, is_test: bool) -> str:
    """What has found a fault: a comparison, or the test itself; an error that a program raises is told by its name."""
    frames = traceback.extract_tb(error.__traceback__)
    of_verify = [f for f in frames if f.filename == verify.__file__]
    if isinstance(error, AssertionError) and of_verify:
        named = [COMPARISONS[f.name] for f in of_verify if f.name in COMPARISONS]
        return named[-1] if named else "the value"
    return "the test" if is_test or isinstance(error, AssertionError) else type(error).__name__


def calls(check: str) -> Iterator[Callable[[], Any]]:
    """What a check calls."""
    kind, _, rest = check.partition(" ")
    if kind == "trap":
        yield lambda: trap(rest)
    elif kind in WRITERS:
        seed = int(rest)
        assert seed in SEEDS[kind], f"`make test` does not run the program of seed {seed}"
        program = WRITERS[kind](seed, 2 if kind == "stages" else 3).program()
        yield lambda: verify.verify(
            define(program), arguments(seed), each_stage=kind == "stages", second=seed % SECOND == 0
        )
    else:
        yield from test_calls(check)


def trap(name: str) -> None:
    """The function of this name on the first of its shapes, by both ways of running it."""
    for module, cases, test in (
        (test_inplace, test_inplace.TRAPS, test_inplace.test_trap),
        (test_sharing, test_sharing.SHARING, test_sharing.test_sharing),
    ):
        for f, shape in [case.values for case in cases if case.values[0].__name__ == name][:1]:
            for seed in range(2):
                test(f, shape, seed)
            return
    raise LookupError(f"no trap is called {name}")


def test_calls(check: str) -> Iterator[Callable[[], Any]]:
    """A test function with each choice of its parameters."""
    module, _, name = check.partition(":")
    test: Any = getattr(importlib.import_module(module), name)
    marks = [mark for mark in getattr(test, "pytestmark", []) if mark.name == "parametrize"]
    choices = [[named(mark.args[0], row) for row in mark.args[1]] for mark in marks]
    known = set(inspect.signature(test).parameters)
    for chosen in itertools.product(*choices):
        given = {k: v for part in chosen for k, v in part.items()}
        if "rng" in known:
            given["rng"] = np.random.default_rng(0)
        assert given.keys() == known, f"{check} takes fixtures: {known - given.keys()}"
        yield lambda given=given: test(**given)


def named(names: str | Sequence[str], row: Any) -> dict[str, Any]:
    """One choice of parameters, by name."""
    names = names.replace(" ", "").split(",") if isinstance(names, str) else list(names)
    values = row.values if hasattr(row, "marks") else row if len(names) > 1 else (row,)
    return dict(zip(names, values, strict=True))
