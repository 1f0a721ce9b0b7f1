"""What one operation contributes to the adjoints of its operands: the rule's formula, written for this call.

A contribution is a few statements of the reverse sweep and the value to add to the operand's adjoint. Kinds decide what
may be left out: no `unbroadcast` between equal shapes, no cast between equal dtypes.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import gast
import numpy as np

from s2s import core
from s2s import kinds as K
from s2s.core import Function
from s2s.rules.arithmetic import POWERS
from s2s.runtime import numeric
from s2s.transforms.operations import Operation
from s2s.transforms.partials import leading
from s2s.transforms.poles import safe_quotients
from s2s.transforms.reaching import reaching
from s2s.transforms.reverse.emitted import as_reverse
from s2s.transforms.reverse.fitting import Fitting
from s2s.transforms.rulebody import Namer
from s2s.transforms.selecting import may_be_nonfinite, may_be_steep
from s2s.transforms.task import Program

if TYPE_CHECKING:
    from s2s.transforms.reverse.restore import Restorer


@dataclass(frozen=True)
class Contribution:
    """`value` is to be added to the adjoint of `target`, or subtracted from it, after `stmts` have run.

    fresh: the value is a new array, which nobody else holds.
    handed: the value is an adjoint that was owned, and is nobody else's from now on.
    spread: the value is smaller than the target and stands for its broadcast to the target's shape; SCALAR: a number.
    """

    target: str
    value: Any
    stmts: list[Any] = field(default_factory=list)
    negative: bool = False
    fresh: bool = True
    spread: str | None = None
    handed: bool = False


SCALAR, SMALLER = "scalar", "smaller"


class Fragments(Fitting):
    """Writes contributions for the operations of one function."""

    def __init__(
        self,
        fn: Function,
        namer: Namer,
        program: Program,
        restorer: Restorer,
        any_seed: bool = False,
        given: Set[str] = frozenset(),
    ) -> None:
        """
        any_seed: whether the cotangent of the result may hold anything, zeros and infinite entries too.
        """
        super().__init__(fn, namer, program, restorer, given)
        self.any_seed = any_seed

    @cached_property
    def droppable(self) -> Set[str]:
        """The names of which entries may be dropped, whatever becomes of the rest."""
        return self.fn.facts.active - self.reaching

    @cached_property
    def reaching(self) -> Set[str]:
        """The names whose values reach the result whole; none, where the cotangent of the result may hold zeros."""
        return frozenset() if self.any_seed else reaching(self.operations, self.restorer.is_first)

    @cached_property
    def safe(self) -> Set[str]:
        """The quotients whose divisors are not zero where the result is finite."""
        if self.any_seed:
            return frozenset()
        return safe_quotients(self.operations, self.reaching, lambda: self.restorer.regions)

    @cached_property
    def nonfinite(self) -> set[str]:
        """The names that may be infinite or no numbers where the result is finite."""
        return may_be_nonfinite(self.operations, self.given, self.safe)

    @cached_property
    def steep(self) -> Set[str]:
        """The names whose adjoints may be infinite; asked for where an operation chooses between its operands."""
        return self.fn.facts.active if self.any_seed else may_be_steep(self.operations)

    # --- operations ---

    def of(self, found: Operation, y: str, g: Any, spread: str | None, origin: Any) -> Iterator[Contribution]:
        """The contributions of `y = f(...)`, whose adjoint is the atom `g`, to its active operands.

        spread: how `g` stands for the adjoint, where it is smaller than y; see `Contribution`.
        """
        active = self.active_parameters(found)
        by_partial = [(p, atom) for p, atom in active if p in found.rule.bodies]
        yield from self.elementwise(found, y, g, spread, by_partial, origin)
        made = [
            self.through_vjp(found, parameter, atom, y, g, spread, origin)
            for parameter, atom in active
            if parameter not in found.rule.bodies
        ]
        if (
            len(made) == 2
            and made[0].target == made[1].target
            and not made[0].stmts
            and _equal(*(m.value for m in made))
        ):
            made = [self.twice(made[0], origin)]
        yield from made

    def twice(self, made: Contribution, origin: Any) -> Contribution:
        """Both operands are one name and contribute alike: `w @ w`."""
        value, stmts = made.value, []  # type: ignore[var-annotated]
        if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Mult):
            left = self.emit(stmts, "t", core.binary(value.left, gast.Mult, 2), origin)
            return replace(made, value=core.rebuilt(value, left=left), stmts=stmts)
        held = self.emit(stmts, "t", value, origin)
        return replace(made, value=core.binary(held, gast.Mult, 2), stmts=stmts, fresh=True)

    def whole(self, g: Any, spread: str | None, y: str, stmts: list[Any], origin: Any) -> Any:
        """The adjoint of y in y's shape."""
        if spread is None:
            return g
        shape = self.shape(y, stmts, origin)
        return self.emit(stmts, "t", core.call(self.namer.numpy("broadcast_to"), g, shape), origin)

    def through_vjp(
        self, found: Operation, parameter: str, atom: Any, y: str, g: Any, spread: str | None, origin: Any
    ) -> Contribution:
        """The rule's vjp, inlined or called."""
        stmts: list[Any] = []
        function = found.rule.vjps[parameter]
        first, second = leading(function, 2)
        kinds = {first: self.kind(core.name(y)), second: self.kind(core.name(y))}

        def instance(g: Any) -> Any:
            args = {first: g, second: core.name(y), **found.bound}
            return self.bodies.instance(function, args, None, origin, kinds)

        made = instance(g)
        if spread is not None and (made is None or not self.spreads(made[0], made[1], g, y)):
            g = self.whole(g, spread, y, stmts, origin)
            made = instance(g)
        if made is None:
            positional, keywords = found.rule.spread(
                {p: self.operand(v, stmts, origin) for p, v in found.bound.items()}
            )
            called = self.namer.bind(function.__name__, function)
            value = core.call(called, g, core.name(y), *positional, **keywords)
            value = self.mended(value, found, y, atom, g, stmts, origin)
        else:
            body, value = made
            stmts.extend(as_reverse(s) for s in body)
            value = self.number(value, y, atom)
            smaller = self.smaller(value, y, atom)
            if smaller is not None:
                return Contribution(atom.id, value.args[0], stmts, fresh=False, spread=smaller)
            value = self.mended(value, found, y, atom, g, stmts, origin)
        fresh = _computes(value)
        value = self.cast(value, y, atom, stmts, origin)
        return Contribution(atom.id, value, stmts, fresh=fresh)

    def mended(self, value: Any, found: Operation, y: str, atom: Any, g: Any, stmts: list[Any], origin: Any) -> Any:
        """The cotangent through a power, zero where `g` is and the slope is not finite."""
        shapes = self.fn.facts.shapes
        alike = K.ndim_of(self.kind(atom)) == 0 or (shapes.get(y) is not None and shapes.get(y) == shapes.get(atom.id))
        if found.function not in POWERS or not alike or not self.may_be_dropped(y):
            return value
        used = core.reads([value, *(s.value for s in stmts)]) | {atom.id, y}
        if self.nonfinite.isdisjoint(used - self.reaching):
            return value
        held = self.emit(stmts, "t", value, origin)
        return core.call(self.namer.bind("zero_with", numeric.zero_with), held, g)

    def spreads(self, stmts: list[Any], value: Any, g: Any, y: str) -> bool:
        """Whether a body is arithmetic of g with something of y's shape, so that a smaller g gives the same."""
        values = [*(s.value for s in stmts), value]
        plain = all(
            core.is_atom(v)
            or isinstance(v, gast.UnaryOp)
            or (isinstance(v, gast.BinOp) and not isinstance(v.op, gast.MatMult))
            for v in values
        )
        return plain and self.size_of(value, stmts, y, frozenset({getattr(g, "id", "")})) == y

    def number(self, value: Any, y: str, atom: Any) -> Any:
        """Reductions of numbers: their cotangent is a number, not an array without dimensions."""
        broadcast = isinstance(value, gast.Call) and self.operations.function(value) is np.broadcast_to
        if broadcast and isinstance(self.kind(atom), K.Scalar) and isinstance(self.kind(core.name(y)), K.Scalar):
            return value.args[0]
        return value

    def smaller(self, value: Any, y: str, atom: Any) -> str | None:
        """Whether a value is the broadcast of a smaller one, and of what."""
        if not isinstance(value, gast.Call) or not isinstance(self.kind(atom), K.Array):
            return None
        if self.operations.function(value) is not np.broadcast_to or len(value.args) != 2:
            return None
        if K.dtype_of(self.kind(core.name(y))) != K.dtype_of(self.kind(atom)):
            return None
        return SCALAR if K.ndim_of(self.kind(core.name(y))) == 0 else SMALLER

    def elementwise(
        self, found: Operation, y: str, g: Any, spread: str | None, active: list[tuple[str, Any]], origin: Any
    ) -> Iterator[Contribution]:
        """Products of the adjoint with partial derivatives. Operands that are one name share one contribution."""
        partials: dict[str, list[tuple[list[Any], Any]]] = {}
        for parameter, atom in active:
            partials.setdefault(atom.id, []).append(self.partial(found, parameter, y, origin))
        if spread is None and self.are_quotients(partials):
            yield from self.quotients(found, partials, y, g, origin)
            return
        for target, parts in partials.items():
            if len(parts) == 2 and _equal(parts[0][1], parts[1][1]) and core.is_atom(parts[0][1]):
                stmts, value = parts[0]
                parts = [(stmts, core.binary(2, gast.Mult, value))]
            for stmts, partial in parts:
                yield self.product(found, target, list(stmts), partial, y, g, spread, origin)

    def are_quotients(self, partials: dict[str, list[tuple[list[Any], Any]]]) -> bool:
        """Whether there are two partials, `1 / v` and one more by the same divisor."""
        parts = [part for of_target in partials.values() for part in of_target]
        if len(partials) != 2 or len(parts) != 2:
            return False
        one, other = (partial for _, partial in parts)
        divide = all(isinstance(p, gast.BinOp) and isinstance(p.op, gast.Div) for p in (one, other))
        return divide and getattr(one.left, "value", None) == 1 and _equal(one.right, other.right)

    def quotients(
        self, found: Operation, partials: dict[str, list[tuple[list[Any], Any]]], y: str, g: Any, origin: Any
    ) -> Iterator[Contribution]:
        """Of `y = x / v` the cotangents `t = g / v` and `-t * y`: the second needs no division of its own."""
        (one, [(first, slope)]), (other, [(second, factor)]) = partials.items()
        stmts = list(first)
        value, _ = self.multiplied(g, slope, self.is_guarded(found, slope, stmts, y), stmts, origin)
        divided = self.emit(stmts, "t", value, origin)
        yield replace(self.product(found, one, stmts, core.constant(1), y, divided, None, origin), fresh=True)
        left = self.definition(factor.left, second)
        yield self.product(found, other, list(second), left, y, divided, None, origin)

    def is_guarded(self, found: Operation, partial: Any, stmts: list[Any], y: str) -> bool:
        """Whether a partial may be infinite where the cotangent of y is zero."""
        if found.rule.guarded and y not in self.operations.ranges.steady:
            return True
        return self.may_be_dropped(y) and (
            self.nonfinite_factor(partial, stmts, self.reaching)
            or (found.rule.singular and y not in self.safe and y not in self.operations.ranges.steady)
        )

    def product(
        self,
        found: Operation,
        target: str,
        stmts: list[Any],
        partial: Any,
        y: str,
        g: Any,
        spread: str | None,
        origin: Any,
    ) -> Contribution:
        """`g * partial`, written as a person would, and brought to the shape and dtype of the operand."""
        guarded = self.is_guarded(found, partial, stmts, y)
        smaller = spread is not None
        if spread is not None:
            size = self.size_of(partial, stmts, y)
            if size is None and not self.covers(partial, stmts, found, target, y):
                g = self.whole(g, spread, y, stmts, origin)
            smaller = size != y
            if size != SCALAR:
                spread = None
        if found.rule.choosing and y in self.steep:
            value, negative = self.chosen(partial, g, stmts, origin), False
        else:
            value, negative = self.multiplied(g, partial, guarded, stmts, origin, finite=found.rule.guarded)
        if spread is not None:
            return self.spread_product(target, value, negative, y, spread, stmts, origin)
        fresh = not smaller and (self.reduces(y, target) or not core.is_atom(value))
        value = self.unbroadcast(value, y, target, stmts, origin, smaller)
        value = self.cast(value, y, core.name(target), stmts, origin)
        return Contribution(target, value, stmts, negative, fresh)

    def size_of(self, partial: Any, stmts: list[Any], y: str, but: frozenset[str] = frozenset()) -> str | None:
        """SCALAR for a partial that is a number, the name y for one of y's shape, None where it is not known."""
        shape, names = self.fn.facts.shapes.get(y), set(core.reads(partial) - but)
        local = {core.writes(s)[0]: s.value for s in stmts}
        size: str | None = SCALAR
        while names:
            name = names.pop()
            if name in local:
                names |= core.reads(local.pop(name)) - but
                continue
            kind = self.kind(core.name(name))
            if isinstance(kind, K.Array) and shape is not None and self.fn.facts.shapes.get(name) == shape:
                return y
            if K.ndim_of(kind) != 0 and not isinstance(kind, K.Static):
                size = None
        return size

    def covers(self, partial: Any, stmts: list[Any], found: Operation, target: str, y: str) -> bool:
        """Whether a partial holds all that broadcasts the operand, so that a smaller adjoint times it can be summed.

        `unbroadcast` then sums over just the axes along which the operand was stretched, and spreads the others.
        """
        names = core.reads([*(s.value for s in stmts), partial])
        others = {v.id for v in found.nodes().values() if isinstance(v, gast.Name) and v.id != target}
        return y in names or {n for n in others if K.ndim_of(self.kind(core.name(n))) != 0} <= names

    def spread_product(
        self, target: str, value: Any, negative: bool, y: str, spread: str, stmts: list[Any], origin: Any
    ) -> Contribution:
        """A product that is still smaller than y: handed on to an operand of y's shape, summed up for a number."""
        shapes = self.fn.facts.shapes
        same_dtype = K.dtype_of(self.kind(core.name(y))) == K.dtype_of(self.kind(core.name(target)))
        if same_dtype and shapes.get(target) is not None and shapes.get(target) == shapes.get(y):
            return Contribution(target, value, stmts, negative, fresh=False, spread=spread)
        if same_dtype and spread == SCALAR and K.ndim_of(self.kind(core.name(target))) == 0:
            held = self.emit(stmts, "t", value, origin)
            size = self.emit(stmts, "size", core.attribute(shapes.get(y, y), "size"), origin)
            return Contribution(target, core.binary(held, gast.Mult, size), stmts, negative)
        whole = self.whole(self.emit(stmts, "t", value, origin), spread, y, stmts, origin)
        fresh = self.reduces(y, target)
        value = self.cast(self.unbroadcast(whole, y, target, stmts, origin), y, core.name(target), stmts, origin)
        return Contribution(target, value, stmts, negative, fresh)

    def may_be_dropped(self, y: str) -> bool:
        """Whether y may be dropped later, and may be infinite: Python's numbers raise instead."""
        return y in self.droppable and not K.is_python_number(self.kind(core.name(y)))


def _equal(a: Any, b: Any) -> bool:
    return bool(gast.dump(a) == gast.dump(b))


def _computes(value: Any) -> bool:
    """Whether an expression surely makes a new array (arithmetic does; a call may give a view)."""
    return isinstance(value, (gast.BinOp, gast.UnaryOp, gast.Compare))
