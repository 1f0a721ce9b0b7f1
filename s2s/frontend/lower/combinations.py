"""More iterators of the library as generator expressions: `pairwise`, `combinations`, `zip` with `count`, and others.

combinations(xs, 2)     ->      pool = tuple(xs)
                                ((pool[i], pool[j]) for i in range(len(pool)) for j in range(i + 1, len(pool)))
"""

from __future__ import annotations

import itertools
from typing import Any

import gast

from s2s import core
from s2s.frontend.lower.generators import call, clause, evaluated, genexp, makes, named
from s2s.frontend.lower.lowering import Lowering
from s2s.runtime.ordering import is_indexed, require_equal_lengths

# So many items at a time.
_MOST = 5


@makes(itertools.pairwise)
def _pairwise(low: Lowering, node: Any) -> Any:
    """`pairwise(xs)`: the item before is carried, and the first item has none."""
    if len(node.args) != 1 or node.keywords:
        return None
    (iterable,) = evaluated(low, node.args[0])
    if not isinstance(iterable, gast.Name):
        raise low.refuse("a generator in `pairwise`", node)
    before = low.temporary("before")
    target, _ = named("i·", "item·")
    carried = gast.NamedExpr(core.name(before, gast.Store), core.name("item·"))
    first = gast.Compare(core.name("i·"), [gast.Eq()], [core.constant(0)])
    skipped = gast.Compare(carried, [gast.Is()], [core.constant(...)])
    pair = gast.Tuple([core.name(before), carried], gast.Load())
    numbered = call(low.bind("enumerate", enumerate), [iterable])
    return genexp(pair, clause(target, numbered, gast.IfExp(first, skipped, core.constant(True))))


@makes(itertools.combinations, itertools.combinations_with_replacement, itertools.permutations)
def _chosen(low: Lowering, node: Any) -> Any:
    """The items at increasing positions, or at any that differ, in the order of the positions."""
    size = node.args[1] if len(node.args) == 2 and not node.keywords else None
    if not isinstance(size, gast.Constant) or type(size.value) is not int or not 1 <= size.value <= _MOST:
        return None
    function = low.resolve(node.func)
    (pool,) = evaluated(low, call(low.bind("tuple", tuple), [node.args[0]]))
    count = low.temporary("count")
    low.store(count, call(low.bind("len", len), [pool]))
    positions = [f"i{k}·" for k in range(size.value)]
    clauses = []
    for k, position in enumerate(positions):
        bounds: list[Any] = [core.name(count)]
        tests = []
        if function is itertools.permutations:
            tests = [gast.Compare(core.name(position), [gast.NotEq()], [core.name(p)]) for p in positions[:k]]
        elif k:
            shift = core.constant(int(function is itertools.combinations))
            bounds = [gast.BinOp(core.name(positions[k - 1]), gast.Add(), shift), core.name(count)]
        clauses.append(clause(core.name(position, gast.Store), call(low.bind("range", range), bounds), *tests))
    items = [core.subscript(pool, core.name(position)) for position in positions]
    return genexp(gast.Tuple(items, gast.Load()), *clauses)


@makes(itertools.zip_longest)
def _longest(low: Lowering, node: Any) -> Any:
    """The items at each position, or what fills up."""
    if not node.args or [k.arg for k in node.keywords] not in ([], ["fillvalue"]):
        return None
    iterables = [indexed(low, a, "zip_longest") for a in node.args]
    filling = low.temporary("filling")
    low.store(filling, node.keywords[0].value if node.keywords else core.constant(None))
    sizes = [call(low.bind("len", len), [i]) for i in iterables]
    longest = sizes[0] if len(sizes) == 1 else call(low.bind("max", max), sizes)
    index = core.name("i·")
    items = []
    for iterable, size in zip(iterables, sizes):
        there = gast.Compare(index, [gast.Lt()], [size])
        items.append(gast.IfExp(there, core.subscript(iterable, index), core.name(filling)))
    rounds = call(low.bind("range", range), [longest])
    return genexp(gast.Tuple(items, gast.Load()), clause(core.name("i·", gast.Store), rounds))


@makes(zip)
def _zipped(low: Lowering, node: Any) -> Any:
    """`zip` with `strict=True`, or with `count`, `repeat` or `islice` among its operands; any other stays as it is."""
    endless = (itertools.count, itertools.repeat)
    special = [any(_is_call(low, a, f) for f in (*endless, itertools.islice)) for a in node.args]
    strict = [k.arg for k in node.keywords] == ["strict"] and isinstance(node.keywords[0].value, gast.Constant)
    if not node.args or not (any(special) or strict) or (node.keywords and not strict):
        return None
    counted = {i: _counted(a) for i, a in enumerate(node.args) if _is_call(low, a, itertools.count)}
    repeated = {i for i, a in enumerate(node.args) if _is_call(low, a, itertools.repeat)}
    if None in counted.values() or len(counted) + len(repeated) == len(node.args):
        return None
    operands = {i: _part(low, a) for i, a in enumerate(node.args) if i not in counted}
    held = [operand for i, operand in operands.items() if i not in repeated]
    if strict and node.keywords[0].value.value and len(node.args) > 1:
        if counted or repeated:
            raise low.refuse("`count` or `repeat` in a strict `zip`", node)
        low.emit(gast.Expr(call(low.bind("require_equal_lengths", require_equal_lengths), held)))
    hints = [f"item{k}·" for k in range(len(held))]
    target, items = named(*hints)
    source = held[0] if len(held) == 1 else call(low.bind("zip", zip), held)
    values = iter(items.elts if len(held) > 1 else [items])
    number: Any = None
    if counted:
        index, number = named("i·")
        source = call(low.bind("enumerate", enumerate), [source])
        target = gast.Tuple([index, target], gast.Store())
    parts = [
        _number(number, counted[i]) if i in counted else operands[i] if i in repeated else next(values)
        for i in range(len(node.args))
    ]
    return genexp(gast.Tuple(parts, gast.Load()), clause(target, source))


def _is_call(low: Lowering, node: Any, function: Any) -> bool:
    return isinstance(node, gast.Call) and low.resolve(node.func) is function


def _counted(node: Any) -> tuple[int, int] | None:
    """Start and step of a call of `count`, which are known ints."""
    values: list[Any] = [a.value if isinstance(a, gast.Constant) else None for a in node.args]
    if node.keywords or len(values) > 2 or not all(type(v) is int for v in values):
        return None
    return (values[0] if values else 0), (values[1] if len(values) == 2 else 1)


def _number(index: Any, counted: Any) -> Any:
    start, step = counted
    scaled = index if step == 1 else gast.BinOp(index, gast.Mult(), core.constant(step))
    return scaled if start == 0 else gast.BinOp(scaled, gast.Add(), core.constant(start))


def _part(low: Lowering, node: Any) -> Any:
    """An operand, evaluated now: a part of a sequence by `islice` is a slice of it; of `repeat`, what it repeats."""
    if _is_call(low, node, itertools.repeat):
        if len(node.args) != 1 or node.keywords:
            raise low.refuse("`repeat` of so many times in `zip`", node)
        return low.atom(node.args[0], "same")
    if not _is_call(low, node, itertools.islice):
        (iterable,) = evaluated(low, node)
        if not isinstance(iterable, gast.Name):
            raise low.refuse("a generator in `zip`", node)
        return iterable
    bounds = [b.value if isinstance(b, gast.Constant) else ... for b in node.args[1:]]
    fine = all(b is None or (type(b) is int and b >= 0) for b in bounds) and bounds[2:] != [0]
    if node.keywords or not 1 <= len(bounds) <= 3 or not fine:
        raise low.refuse("`islice` with bounds that are not known", node)
    whole = indexed(low, node.args[0], "islice")
    first, stop, step = (None, bounds[0], None) if len(bounds) == 1 else [*bounds, None][:3]
    parts = [None if b is None else core.constant(b) for b in (first, stop, step)]
    (part,) = evaluated(low, core.subscript(whole, gast.Slice(*parts)))
    return part


def indexed(low: Lowering, node: Any, what: str) -> Any:
    """A value whose items a loop gives by position: itself, or a list of them. Kinds decide which."""
    (held,) = evaluated(low, node)
    if not isinstance(held, gast.Name):
        raise low.refuse(f"a generator in `{what}`", node)
    name = low.temporary("items")
    cond = low.atom(call(low.bind("is_indexed", is_indexed), [held]), "cond")
    low.branch(
        cond,
        lambda: low.assign(name, held),
        lambda: low.assign(name, call(low.bind("list", list), [held])),
    )
    return core.name(name)
