"""The gradient program in two: the forward sweep and the reverse sweep, each as a function of its own.

    def f_fwd(x, y):                        def f_bwd(residuals, out_bar):
        t = np.sin(x)                           t, x, y = residuals
        return t * y, (t, x, y)                 ...
                                                return x_bar, y_bar

The *residuals* are what the reverse sweep reads of the forward sweep: a plain tuple of one layout for each function,
chosen when the program is simplified, so that nothing is kept that is dead. Of an array whose shape alone is asked for,
the shape is kept. A residual that a path through the function does not assign is None there.

Naumann, "The Art of Differentiating Computer Programs" (2012), calls this split reversal, and the whole program joint.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import gast

from s2s import core
from s2s import kinds as K
from s2s.core import Function
from s2s.transforms.bound import unbound_reads
from s2s.transforms.copies import assignments
from s2s.transforms.effects import tapes
from s2s.transforms.liveness import Liveness
from s2s.transforms.operations import Operations
from s2s.transforms.structure import all_uses, defs, is_reverse, next_number, statements, uses, with_blocks
from s2s.transforms.task import Pair, Task

_SIZES = ("shape", "size", "ndim")


@dataclass(frozen=True)
class Halves:
    """The two functions, and what is known of what passes between them.

    tapes: the positions of those residuals that are tapes, which the reverse sweep empties.
    inner: the pairs whose residuals are among them, or on their tapes, by position.
    fresh: of each cotangent that is returned, whether it is an array of its own.
    undoes: whether the reverse sweep writes back what the forward sweep has overwritten.
    """

    forward: Function
    backward: Function
    tapes: tuple[int, ...]
    inner: dict[int, Pair]
    fresh: tuple[bool, ...]
    undoes: bool

    def changed(self, change: Callable[[Function], Function]) -> Halves:
        return replace(self, forward=change(self.forward), backward=change(self.backward))


def cut(fn: Function, task: Task) -> Halves:
    """Cut the program that returns the results of the forward sweep and the cotangents.

    All parameters become positional: defaults and variadic arguments are the caller's business.
    """
    return _Cut(fn, task).halves()


def _with_free_values(fn: Function) -> Function:
    """A program whose reverse sweep reads no variables of modules and closures: they may change until it runs.

    What they hold is taken at the start.
    """
    *body, last = fn.body
    start = next(i for i, s in enumerate(body) if any(map(is_reverse, statements([s]))))
    operations = Operations(fn)
    free = sorted(core.reads(body[start:]) - fn.local_names() - fn.scope.names.keys())
    kinds = {name: operations.kind(core.name(name)) for name in free}
    numbers = itertools.count(next_number(fn.local_names()))
    held = {n: core.temporary(n, next(numbers)) for n, k in kinds.items() if not isinstance(k, (K.Static, K.Unknown))}
    if not held:
        return fn
    taken = [core.assign(new, core.name(name), None) for name, new in held.items()]
    reverse = [core.substitute(s, {n: core.name(new) for n, new in held.items()}) for s in body[start:]]
    new_kinds = {new: kinds[name] for name, new in held.items()}
    return fn.with_body((*taken, *body[:start], *reverse, last)).with_facts(kinds={**fn.facts.kinds, **new_kinds})


class _Cut:
    def __init__(self, fn: Function, task: Task) -> None:
        self.fn = fn = _with_free_values(fn)
        self.count = 2 if task.has_aux else 1
        self.task = task
        *body, last = fn.body
        start = next(i for i, s in enumerate(body) if any(map(is_reverse, statements([s]))))
        self.results = self.display(body, last.value)
        reverse = [s for s in body[start:] if defs(s) != [last.value.id]]
        late = self.late(body[:start], reverse)
        self.forward, self.reverse = [*body[:start], *late], [s for s in reverse if s not in late]
        self.number = next_number(fn.local_names())
        self.operations = Operations(fn)

    def display(self, body: Sequence[Any], atom: Any) -> list[Any]:
        """What the program returns."""
        (made,) = (s for s in body if defs(s) == [atom.id])
        return list(made.value.elts)

    def late(self, forward: Sequence[Any], reverse: Sequence[Any]) -> list[Any]:
        """What the results of the forward sweep are made of where they are returned: `len(x)`, say, read again."""
        there = {n for s in statements(forward) for n in defs(s)}
        wanted, found = core.reads(self.results[: self.count]) - there, list[Any]()
        for stmt in reversed(reverse):
            if wanted.intersection(defs(stmt)):
                wanted |= set(uses(stmt)) - there
                found.insert(0, stmt)
        return found

    def halves(self) -> Halves:
        *params, seed = self.fn.param_names
        results, bars = self.results[: self.count], self.results[self.count :]
        self.compute_again(self.needed(bars), params)
        residuals = self.residuals(bars, params)
        held = core.unique("residuals", {core.stem(n) for n in self.fn.local_names()}.__contains__)
        kinds = {**self.fn.facts.kinds, held: K.Tuple(tuple(self.fn.facts.kinds.get(n, K.UNKNOWN) for n in residuals))}
        stacks, pushed = tapes(self.fn), self.fn.facts.tapes
        of_pairs = {call.residuals: call.pair for call in self.fn.facts.calls.values()}
        return Halves(
            self.half("fwd", params, self.forward_body(results, residuals, held), kinds),
            self.half("bwd", [held, seed], self.reverse_body(bars, residuals, held), kinds),
            tuple(i for i, name in enumerate(residuals) if name in stacks),
            {i: of_pairs[pushed.get(n, n)] for i, n in enumerate(residuals) if pushed.get(n, n) in of_pairs},
            tuple(name in self.fn.facts.fresh for name in self.task.wrt),
            bool(self.fn.facts.saved),
        )

    def half(self, suffix: str, params: list[str], body: list[Any], kinds: dict[str, Any]) -> Function:
        made = replace(self.fn, name=f"{self.fn.name}_{suffix}", params=core.positional(params), body=tuple(body))
        return made.with_facts(kinds=kinds, shapes=_shapes(made))

    # --- residuals ---

    def residuals(self, bars: list[Any], params: list[str]) -> list[str]:
        """The names that the reverse sweep takes from the forward sweep; shapes in the place of arrays."""
        needed = self.needed(bars)
        order = dict.fromkeys([*params, *(n for s in statements(self.forward) for n in defs(s))])
        return [kept for name in order if needed(name) for kept in self.kept(name, bars)]

    def needed(self, bars: list[Any]) -> Callable[[str], bool]:
        """Tells whether the reverse sweep reads a name of the forward sweep."""
        lives = Liveness(self.fn)
        needed = lives.block_before([*self.reverse, core.place(gast.Return(gast.Tuple(bars, gast.Load())), None)], 0)
        return lambda name: bool(lives.bit(name) & needed)

    def compute_again(self, needed: Callable[[str], bool], params: list[str]) -> None:
        """Have the reverse sweep compute integers and conditions again from what it is given anyway."""
        times = assignments(self.fn)
        made = {defs(s)[0]: s for s in _outside_loops(self.forward) if len(defs(s)) == 1 and times[defs(s)[0]] == 1}
        there = {name for name in params if needed(name) and times[name] == 1 and self.is_read_whole(name)}
        again = _Again(self.operations, made, lambda name: name in there)
        wanted: set[str] = set()
        for name in reversed(made):  # which come before those that they are computed from
            if (needed(name) or name in wanted) and again.is_exact(name):
                self.reverse = again.placed(self.reverse, name)
                wanted |= core.reads(made[name].value)

    def is_read_whole(self, name: str) -> bool:
        """Whether the reverse sweep reads more of an array than its sizes."""
        reading = _Sizes(name)
        for stmt in self.reverse:
            reading.visit(stmt)
        return reading.count < Counter(n for s in statements(self.reverse) for n in uses(s))[name]

    def kept(self, name: str, bars: list[Any]) -> list[str]:
        """A residual, or the sizes of it if nothing else is read."""
        if not isinstance(self.fn.facts.kinds.get(name), K.Array) or assignments(self.fn)[name] != 1:
            return [name]
        reading = _Sizes(name)
        reverse = [reading.visit(s) for s in self.reverse]
        reads = Counter(n for s in statements(self.reverse) for n in uses(s))[name]
        if reading.count != reads or name in core.reads(bars):
            return [name]
        kept = {attr: core.temporary(attr, self.number + i) for i, attr in enumerate(reading.found)}
        self.number += len(kept)
        made = [core.assign(held, core.attribute(name, attr), None) for attr, held in kept.items()]
        self.forward = made + self.forward if name in self.fn.param_names else _after(self.forward, name, made)
        self.reverse = [_Sizes(name, kept).visit(s) for s in reverse]
        return list(kept.values())

    # --- the bodies ---

    def forward_body(self, results: list[Any], residuals: list[str], held: str) -> list[Any]:
        kept = core.assign(held, gast.Tuple([core.name(n) for n in residuals], gast.Load()), None)
        whole = core.temporary("result", self.number)
        returned = [core.assign(whole, gast.Tuple([*results, core.name(held)], gast.Load()), None)]
        returned.append(core.place(gast.Return(core.name(whole)), None))
        params = core.positional(self.fn.param_names[:-1])
        made = replace(self.fn, params=params, body=(*self.forward, kept, *returned))
        unsure = {name for stmt, name in unbound_reads(made) if stmt is kept}
        fillers = [core.assign(name, core.constant(None), None) for name in residuals if name in unsure]
        return [*fillers, *self.forward, kept, *returned]

    def reverse_body(self, bars: list[Any], residuals: list[str], held: str) -> list[Any]:
        taken: list[Any] = []
        if residuals:
            target = gast.Tuple([core.name(n, gast.Store) for n in residuals], gast.Store())
            taken = [_reverse(core.assign(target, core.name(held), None))]
        whole = core.temporary("result", self.number)
        value = bars[0] if len(bars) == 1 else gast.Tuple(bars, gast.Load())
        returned = [_reverse(core.assign(whole, value, None)), core.place(gast.Return(core.name(whole)), None)]
        return [*taken, *self.reverse, *returned]


class _Again:
    """Integers and conditions that may be computed again: from lengths of arrays that are at hand, and constants."""

    def __init__(self, operations: Operations, made: Mapping[str, Any], at_hand: Callable[[str], bool]) -> None:
        """made: the statements that assign names, once and outside loops."""
        self.operations = operations
        self.made = made
        self.at_hand = at_hand

    def is_exact(self, name: str) -> bool:
        value = getattr(self.made.get(name), "value", None)
        if not isinstance(self.operations.kind(core.name(name)), (K.Int, K.Bool)):
            return False
        if isinstance(value, gast.Call):
            name = getattr(value.args[0], "id", "") if self.operations.function(value) is len else ""
            return isinstance(self.operations.kind(core.name(name)), K.Array) and self.at_hand(name)
        operands = [value.left, value.right] if isinstance(value, gast.BinOp) else []
        if isinstance(value, gast.Compare):
            operands = [value.left, *value.comparators]
        return bool(operands) and _is_total(value) and all(map(self.is_operand, operands))

    def is_operand(self, atom: Any) -> bool:
        return type(atom.value) is int if isinstance(atom, gast.Constant) else self.is_exact(atom.id)

    def placed(self, block: Sequence[Any], name: str) -> list[Any]:
        """The block with a name computed where it is needed first."""
        new, at = list(block), next((i for i, stmt in enumerate(block) if name in all_uses(stmt)), None)
        if at is None:
            return new
        stmt, later = new[at], new[at + 1 :]
        if isinstance(stmt, gast.If) and name not in uses(stmt) and not any(name in all_uses(s) for s in later):
            new[at] = with_blocks(stmt, lambda _, inner: self.placed(inner, name))
            return new
        new.insert(at, _reverse(core.rebuilt(self.made[name])))
        return new


def _is_total(value: Any) -> bool:
    """Whether an operation on integers gives a value, and the same one again."""
    if isinstance(value, gast.Compare):
        return len(value.ops) == 1 and isinstance(value.ops[0], _ORDERS)
    if isinstance(value.op, (gast.FloorDiv, gast.Mod)):
        return isinstance(value.right, gast.Constant) and value.right.value != 0
    return isinstance(value.op, (gast.Add, gast.Sub, gast.Mult))


_ORDERS = (gast.Eq, gast.NotEq, gast.Lt, gast.LtE, gast.Gt, gast.GtE)


def _outside_loops(block: Sequence[Any]) -> Iterator[Any]:
    """The assignments of names in a block, and in branches in it."""
    for stmt in block:
        if isinstance(stmt, gast.Assign):
            yield stmt
        elif isinstance(stmt, gast.If):
            for _, inner in core.blocks(stmt):
                yield from _outside_loops(inner)


class _Sizes(core.Substitution):
    """Finds the reads `x.shape`, `x.size` and `x.ndim` of a name, and replaces them by names."""

    def __init__(self, name: str, names: dict[str, str] | None = None) -> None:
        super().__init__({})
        self.name = name
        self.names = names or {}
        self.count = 0
        self.found: dict[str, None] = {}

    def visit_Attribute(self, node: Any) -> Any:
        if isinstance(node.value, gast.Name) and node.value.id == self.name and node.attr in _SIZES:
            self.count += 1
            self.found[node.attr] = None
            return core.name(self.names[node.attr]) if node.attr in self.names else node
        return self.generic_visit(node)


def _after(block: Sequence[Any], name: str, more: list[Any]) -> list[Any]:
    """The block with more statements after the one that defines a name."""
    new: list[Any] = []
    for stmt in block:
        new.append(with_blocks(stmt, lambda _, inner: _after(inner, name, more)))
        new.extend(more if name in defs(stmt) else [])
    return new


def _reverse(stmt: Any) -> Any:
    stmt.sweep = "reverse"
    return stmt


def _shapes(half: Function) -> dict[str, str]:
    """The shapes of the names of one half; the name that stands for one is of this half too."""
    local = half.local_names()
    leaders: dict[str, str] = {}
    return {n: leaders.setdefault(shape, n) for n, shape in half.facts.shapes.items() if n in local}
