"""Iterators of the library as generator expressions: `map(f, xs)` is `(f(x) for x in xs)`.

What is left of a call are the operands, evaluated in order where it stands, under names that nothing assigns again.
Only for where the items are taken at once (`taking`, `loops`): a generator that is kept gives its items when somebody
asks for them, and sees the variables as they are then.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gast

from s2s import core
from s2s.frontend.lower.generator_functions import is_call
from s2s.frontend.lower.lowering import Lowering

# --- iterators of the library, as generators ----------------------------------------------------------------------


def generator_of(low: Lowering, node: Any) -> Any:
    """An expression as a generator expression, whose first iterable is evaluated now; None if it is none."""
    if isinstance(node, gast.GeneratorExp):
        first, *others = node.generators
        if first.is_async:
            raise low.refuse("an asynchronous generator expression", node)
        (iterable,) = evaluated(low, first.iter)
        return gast.GeneratorExp(node.elt, [gast.comprehension(first.target, iterable, first.ifs, 0), *others])
    if isinstance(node, gast.Name):
        return _taken(low, node)
    if not isinstance(node, gast.Call) or any(isinstance(a, gast.Starred) for a in node.args):
        return None
    if is_call(low, node):
        return genexp(core.name("item·"), clause(core.name("item·", gast.Store), node))
    function = low.resolve(node.func)
    make = next((make for known, make in _MAKERS.items() if known is function), None)
    return None if make is None else make(low, node)


@dataclass(frozen=True)
class Kept:
    """A generator under a name, and where it was made: the block, the loops, and the variables of comprehensions."""

    generator: Any
    block: Any
    loops: list[Any]
    renamed: dict[str, str]


def keep(low: Lowering, target: Any, value: Any) -> bool:
    """Take note of a generator expression that a name holds, which is read in one place; False for anything else."""
    name = low.names.mangle(target.id)
    if not isinstance(value, gast.GeneratorExp) or name not in low.names.once:
        return False
    low.kept[name] = Kept(generator_of(low, value), low.block, list(low.loops), low.renamed)
    return True


def _taken(low: Lowering, node: Any) -> Any:
    """The generator that a name holds, whose items are taken now: in the block that made it, or in one within, once."""
    kept = low.kept.pop(low.names.mangle(node.id), None)
    if kept is None:
        return None
    same = low.renamed is kept.renamed and low.loops == kept.loops
    if not same or not any(block is kept.block for block in low.blocks):
        raise low.refuse("a generator expression that is kept", node)
    return kept.generator


def evaluated(low: Lowering, *nodes: Any) -> list[Any]:
    """Operands, evaluated now: names that are not assigned again, or generators."""
    found = []
    for node in nodes:
        made = node if isinstance(node, Parts) or is_call(low, node) else generator_of(low, node)
        if made is None:
            name = low.temporary("t")
            low.store(name, node)
            made = core.name(name)
        found.append(made)
    return found


def callee(low: Lowering, node: Any) -> Any:
    """A function that is called for each item, evaluated now; one of a module stays as it is written."""
    return node if low.is_path(node) else evaluated(low, node)[0]


def call(function: Any, args: list[Any]) -> Any:
    return gast.Call(function, args, [])


def genexp(elt: Any, *generators: Any) -> Any:
    return gast.GeneratorExp(elt, list(generators))


def clause(target: Any, iterable: Any, *tests: Any) -> Any:
    return gast.comprehension(target, iterable, list(tests), 0)


def named(*hints: str) -> Any:
    """The target of one name or several, and the same to be read."""
    if len(hints) == 1:
        return core.name(hints[0], gast.Store), core.name(hints[0])
    targets, values = zip(*map(named, hints))
    return gast.Tuple(list(targets), gast.Store()), gast.Tuple(list(values), gast.Load())


def _mapped(low: Lowering, node: Any) -> Any:
    """`map(f, a, b)` is `(f(u, v) for u, v in zip(a, b))`."""
    if node.keywords or len(node.args) < 2 or any(isinstance(a, gast.Starred) for a in node.args):
        return None
    function, iterables = callee(low, node.args[0]), evaluated(low, *node.args[1:])
    if len(iterables) == 1:
        target, item = named("item·")
        return genexp(call(function, [item]), clause(target, iterables[0]))
    if not all(isinstance(i, gast.Name) for i in iterables):
        raise low.refuse("a generator among others in `map`", node)
    zipped = builtin(low, node, zip)
    target, items = named(*(f"item{i}·" for i in range(len(iterables))))
    return genexp(call(function, items.elts), clause(target, call(zipped, iterables)))


def _filtered(low: Lowering, node: Any) -> Any:
    """`filter(f, xs)` is `(x for x in xs if f(x))`."""
    if node.keywords or len(node.args) != 2:
        return None
    chosen, iterable = node.args
    target, item = named("item·")
    if isinstance(chosen, gast.Constant) and chosen.value is None:
        return genexp(item, clause(target, *evaluated(low, iterable), item))
    function, (iterable,) = callee(low, node.args[0]), evaluated(low, node.args[1])
    return genexp(item, clause(target, iterable, call(function, [item])))


def _spread(low: Lowering, node: Any) -> Any:
    """`starmap(f, pairs)` is `(f(*p) for p in pairs)`; over `zip(a, b)`, it is `map(f, a, b)`."""
    if node.keywords or len(node.args) != 2:
        return None
    pairs = node.args[1]
    if isinstance(pairs, gast.Call) and low.resolve(pairs.func) is zip and not pairs.keywords:
        return _mapped(low, call(node.func, [node.args[0], *pairs.args]))
    function, (iterable,) = callee(low, node.args[0]), evaluated(low, node.args[1])
    target, item = named("item·")
    return genexp(call(function, [gast.Starred(item, gast.Load())]), clause(target, iterable))


class Parts(gast.expr):  # type: ignore[misc]
    """Iterables that are gone through one after the other."""

    _fields = ("elts",)

    def __init__(self, elts: list[Any]) -> None:
        super().__init__()
        self.elts = elts


def _chained(low: Lowering, node: Any) -> Any:
    """`chain(a, b)` is `(x for x in a)` and then `(x for x in b)`."""
    if node.keywords or not node.args:
        return None
    target, item = named("item·")
    return genexp(item, clause(target, Parts(evaluated(low, *node.args))))


def _product(low: Lowering, node: Any) -> Any:
    """`product(a, b)` is `((u, v) for u in tuple(a) for v in tuple(b))`: all are read at the start."""
    times = node.keywords[0].value if node.keywords else core.constant(1)
    known = isinstance(times, gast.Constant) and type(times.value) is int and 0 < times.value <= 6
    if len(node.keywords) > 1 or (node.keywords and node.keywords[0].arg != "repeat") or not known or not node.args:
        return None
    taken = builtin(low, node, tuple)
    pools = evaluated(low, *(call(taken, [a]) for a in node.args)) * times.value
    pairs = [named(f"item{i}·") for i in range(len(pools))]
    items = gast.Tuple([item for _, item in pairs], gast.Load())
    return genexp(items, *(clause(target, pool) for (target, _), pool in zip(pairs, pools)))


def _repeated(low: Lowering, node: Any) -> Any:
    """`repeat(v, n)` is `(v for _ in range(n))`."""
    if len(node.args) != 2 or node.keywords:
        return None
    value, times = evaluated(low, *node.args)
    return genexp(value, clause(named("i·")[0], call(builtin(low, node, range), [times])))


def _sliced(low: Lowering, node: Any) -> Any:
    """`islice(xs, 1, 9, 2)` is `(x for i, x in zip(range(9), xs) if i >= 1 if (i - 1) % 2 == 0)`, for known numbers."""
    iterable, *bounds = node.args if len(node.args) > 1 else [None, None]
    numbers: list[Any] = [getattr(b, "value", ...) if isinstance(b, gast.Constant) else ... for b in bounds]
    if node.keywords or len(numbers) > 3 or not all(n is None or (type(n) is int and n >= 0) for n in numbers):
        return None
    start, stop, step = (0, numbers[0], 1) if len(numbers) == 1 else (*numbers, 1)[:3]
    start, step = start or 0, 1 if step is None else step
    if step == 0:
        return None
    (held,) = evaluated(low, iterable)
    if not isinstance(held, gast.Name):
        raise low.refuse("a generator in `islice`", node)
    target, _ = named("i·", "item·")
    index, item = core.name("i·"), core.name("item·")
    tests = []
    if start:
        tests.append(gast.Compare(index, [gast.GtE()], [core.constant(start)]))
    if step > 1:
        offset = gast.BinOp(index, gast.Sub(), core.constant(start))
        rest = gast.BinOp(offset, gast.Mod(), core.constant(step))
        tests.append(gast.Compare(rest, [gast.Eq()], [core.constant(0)]))
    if stop is None:
        return genexp(item, clause(target, call(builtin(low, node, enumerate), [held]), *tests))
    rounds = call(builtin(low, node, range), [core.constant(stop)])
    return genexp(item, clause(target, call(builtin(low, node, zip), [rounds, held]), *tests))


def _accumulated(low: Lowering, node: Any) -> Any:
    """`accumulate(xs, f)` is `((acc := x if i == 0 else f(acc, x)) for i, x in enumerate(xs))`."""
    if node.keywords or len(node.args) > 2 or not node.args:
        return None
    (held,) = evaluated(low, node.args[0])
    if not isinstance(held, gast.Name):
        raise low.refuse("a generator in `accumulate`", node)
    carried = low.temporary("acc")
    target, _ = named("i·", "item·")
    item, before = core.name("item·"), core.name(carried)
    joined = gast.BinOp(before, gast.Add(), item)
    if len(node.args) == 2 and getattr(node.args[1], "value", ...) is not None:
        joined = call(callee(low, node.args[1]), [before, item])
    first = gast.Compare(core.name("i·"), [gast.Eq()], [core.constant(0)])
    step = gast.NamedExpr(core.name(carried, gast.Store), gast.IfExp(first, item, joined))
    return genexp(step, clause(target, call(builtin(low, node, enumerate), [held])))


def _numbered(low: Lowering, node: Any) -> Any:
    """`enumerate(f(x) for x in xs)` is `((i, f(x)) for i, x in enumerate(xs))`; a number counts items else."""
    if not node.args or len(node.args) > 2 or any(k.arg != "start" for k in node.keywords):
        return None
    inner = generator_of(low, node.args[0])
    if inner is None:
        return None
    start = [*node.args[1:], *(k.value for k in node.keywords)]
    first, *others = inner.generators
    if isinstance(first.iter, gast.Name) and not others and not first.ifs:
        target, index = named("i·")
        iterable = gast.Call(node.func, [first.iter, *node.args[1:]], node.keywords)
        over = clause(gast.Tuple([target, first.target], gast.Store()), iterable)
        return genexp(gast.Tuple([index, inner.elt], gast.Load()), over)
    number = low.temporary("number")
    low.store(number, gast.BinOp(start[0] if start else core.constant(0), gast.Sub(), core.constant(1)))
    following = gast.BinOp(core.name(number), gast.Add(), core.constant(1))
    counted = gast.NamedExpr(core.name(number, gast.Store), following)
    return genexp(gast.Tuple([counted, inner.elt], gast.Load()), *inner.generators)


_MAKERS: dict[Any, Callable[[Lowering, Any], Any]] = {
    map: _mapped, filter: _filtered, enumerate: _numbered, itertools.accumulate: _accumulated,
    itertools.chain: _chained, itertools.islice: _sliced, itertools.product: _product,
    itertools.repeat: _repeated, itertools.starmap: _spread,
}  # fmt: skip


def makes(*functions: Any) -> Callable[[Any], Any]:
    """Register what makes a generator of a call of some functions; it gives None for calls that it leaves."""

    def register(make: Any) -> Any:
        _MAKERS.update(dict.fromkeys(functions, make))
        return make

    return register


def builtin(low: Lowering, node: Any, function: Any) -> Any:
    """The name of a builtin function, which must mean it here."""
    name = function.__name__
    if low.names.is_local(name) or low.names.scope.lookup(name) is not function:
        raise low.refuse(f"`{node.func.attr if isinstance(node.func, gast.Attribute) else node.func.id}` where "
                         f"`{name}` has another meaning", node)  # fmt: skip
    return core.name(name)
