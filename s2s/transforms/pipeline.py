"""The compiler in one place: its passes, in order.

A pass takes a Core function and the task, and gives a Core function. Reading `passes` is reading the compiler;
`stages` gives the program after each pass, and each can be executed.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace

from s2s.core import Function
from s2s.transforms.activity import activity
from s2s.transforms.apart import apart
from s2s.transforms.bound import Unbound
from s2s.transforms.buffers import buffers
from s2s.transforms.callpairs import callpairs
from s2s.transforms.calls import inline
from s2s.transforms.coalesce import coalesce
from s2s.transforms.comment import comment
from s2s.transforms.copies import copies
from s2s.transforms.expand import expand
from s2s.transforms.fold import fold
from s2s.transforms.forward import forward
from s2s.transforms.infer import infer
from s2s.transforms.inplace import inplace
from s2s.transforms.leaves import leaves
from s2s.transforms.loops import loops
from s2s.transforms.mutation import mutation
from s2s.transforms.opposites import opposites
from s2s.transforms.outside import outside
from s2s.transforms.pairs import pairs
from s2s.transforms.prune import prune
from s2s.transforms.rename import rename
from s2s.transforms.repeats import repeats
from s2s.transforms.reverse import reverse
from s2s.transforms.scalarise import scalarise
from s2s.transforms.sequences import sequences
from s2s.transforms.simplify import simplify
from s2s.transforms.split import Halves, cut
from s2s.transforms.stores import stores
from s2s.transforms.swaps import swaps
from s2s.transforms.task import Task
from s2s.transforms.tries import tries
from s2s.transforms.updates import updates
from s2s.transforms.valued import valued
from s2s.transforms.versions import versions

Pass = Callable[[Function, Task], Function]

ANALYSE: tuple[Pass, ...] = (
    valued, inline, tries, pairs, versions, copies, infer, prune, apart, opposites, mutation, loops,
    scalarise, leaves, copies, infer, sequences, outside, stores, prune, activity,
)  # fmt: skip
POLISH: tuple[Pass, ...] = (simplify, coalesce, buffers, simplify, swaps, updates, fold, rename, comment)

# What a pass takes for granted: that these have run before it. Without `stores` a write is none to `activity`, without
# `activity` nothing carries a derivative: that gives wrong numbers, not errors. So the order is checked.
BEHIND: dict[Pass, tuple[Pass, ...]] = {
    tries: (inline,), versions: (tries, pairs), infer: (versions,), mutation: (infer, prune), loops: (infer, mutation),
    sequences: (infer, loops), outside: (versions, inline), stores: (mutation, loops, outside),
    activity: (stores, sequences), expand: (activity,), forward: (activity, expand),
    callpairs: (activity, expand), reverse: (activity, expand, callpairs), inplace: (stores,), updates: (inplace,),
}  # fmt: skip


def passes(task: Task) -> tuple[Pass, ...]:
    """The passes for a task."""
    if task.mode == "jvp":
        return (*ANALYSE, repeats, expand, forward, inplace, *POLISH)
    return (*ANALYSE, expand, callpairs, reverse, inplace, *POLISH)


def compile_halves(fn: Function, task: Task) -> Halves:
    """The two sweeps of a lowered function, each as a function of its own: cut after the first `simplify`."""
    halves = cut(run(fn, task, (*passes(task)[: -len(POLISH)], simplify)), task)
    for step in POLISH:
        halves = halves.changed(lambda half, step=step: step(half, task))  # type: ignore[misc]
    return halves


def stages(fn: Function, task: Task) -> list[tuple[str, Function]]:
    """The program after each pass, with the pass's name; first the lowered program itself."""
    found = [("lower", fn)]
    run(fn, task, passes(task), found)
    return found


def compile_core(fn: Function, task: Task) -> Function:
    """The derivative program of a lowered function."""
    return run(fn, task, passes(task))


def run(fn: Function, task: Task, steps: Sequence[Pass], noted: list[tuple[str, Function]] | None = None) -> Function:
    """What passes make of a function; `noted` takes what comes out of each.

    Where a pass needs a variable that may not be assigned yet, all begins anew with that variable bound to `absent`.
    """
    check_order(tuple(steps))
    new, made = fn, list[tuple[str, Function]]()
    try:
        for step in steps:
            new = step(new, task)
            made.append((step.__name__, new))
    except Unbound as refusal:
        if refusal.variable in task.absent:
            raise
        return run(fn, replace(task, absent=task.absent | {refusal.variable}), steps, noted)
    if noted is not None:
        noted += made
    return new


@functools.cache
def check_order(steps: tuple[Pass, ...]) -> None:
    """Raise AssertionError if a pass stands before one that it needs."""
    for at, step in enumerate(steps):
        missing = [needed.__name__ for needed in BEHIND.get(step, ()) if needed not in steps[:at]]
        if missing:
            raise AssertionError(f"the pass `{step.__name__}` runs before {', '.join(missing)}")
