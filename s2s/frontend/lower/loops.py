"""Loops: a header in a name of its own, targets that are names, no `else`, and one exit at the end of the body.

for a, b in zip(x, y):              iter = zip(x, y)
    if a > b:                       done = False
        break             ->        for item in iter:
    s += a                              (a, b) = item
                                        if a > b:
                                            done = True
                                        else:
                                            s += a
                                        if done:
                                            break
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import gast

from s2s import core
from s2s.frontend.lower.blocks import block
from s2s.frontend.lower.comprehensions import iterate, opened
from s2s.frontend.lower.lowering import Loop, Lowering, lowers


@lowers(gast.For)
def for_loop(low: Lowering, node: Any) -> None:
    if isinstance(node.iter, gast.Call) and low.resolve(node.iter.func) is itertools.count:
        counting(low, node)
        return
    source = opened(low, node.iter)
    with _open(low, node):
        iterate(low, node.target, source, lambda: block(low, node.body), low.loops[-1].exit)


def counting(low: Lowering, node: Any) -> None:
    """`for i in count(start, step)` is a `while True` with a number that is carried."""
    given = node.iter.args
    if node.iter.keywords or len(given) > 2 or any(isinstance(a, gast.Starred) for a in given):
        raise low.refuse("`count` with keywords", node)
    start = given[0] if given else core.constant(0)
    step = given[1] if len(given) == 2 else core.constant(1)
    number, by = low.temporary("number"), low.temporary("step")
    low.store(number, start)
    low.store(by, step)
    item = gast.Assign([node.target], core.name(number), None)
    renewed = gast.BinOp(core.name(number), gast.Add(), core.name(by))
    following = gast.Assign([core.name(number, gast.Store)], renewed, None)
    body = [core.place(item, low.origin), core.place(following, low.origin), *node.body]
    loop = core.place(gast.While(core.constant(True), body, []), low.origin)
    if getattr(node, "exit", None) is not None:
        loop.exit = node.exit
    while_loop(low, loop)


@lowers(gast.While)
def while_loop(low: Lowering, node: Any) -> None:
    """A test of several statements is evaluated before the loop and again at the end of its body."""
    test, renew = _test(low, node)
    flow = low.flow.block(node.body)
    with _open(low, node), low.nested() as body:
        block(low, node.body)
        if renew is not None and (flow.falls or gast.Continue in flow.jumps):
            leaving = low.loops[-1].exit
            if leaving is None:
                renew()
            else:
                low.branch(low.negated(core.name(leaving)), renew)
        _exit(low)
    low.emit(gast.While(test, body.body(), []))


def _test(low: Lowering, node: Any) -> tuple[Any, Callable[[], None] | None]:
    """The test of a loop, and what evaluates it again where that takes statements."""
    if not low.is_branching(node.test):
        before = len(low.block.statements)
        test = low.value(node.test)
        if len(low.block.statements) == before:
            return test, None
        cond = low.temporary("cond")
        low.assign(cond, test)
    else:
        cond = low.temporary("cond")
        low.store(cond, node.test)
    return core.name(cond), lambda: low.store(cond, node.test)


@contextmanager
def _open(low: Lowering, node: Any) -> Iterator[None]:
    """The inside of a loop: its flag is False before, and set by what leaves it."""
    jumps = low.flow.block(node.body).jumps
    leaving = None
    if gast.Break in jumps:
        leaving = getattr(node, "exit", None) or low.temporary("done")
    elif gast.Return in jumps:
        leaving = low.returned_flag()
    with ExitStack() as stack:
        if leaving is not None:
            stack.enter_context(low.watching(leaving))
        low.loops.append(Loop(leaving))
        stack.callback(low.loops.pop)
        yield


def _exit(low: Lowering) -> None:
    leaving = low.loops[-1].exit
    if leaving is not None:
        low.emit(gast.If(core.name(leaving), [core.place(gast.Break(), low.origin)], []))
