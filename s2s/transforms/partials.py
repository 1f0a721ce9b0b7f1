"""Partial derivatives of one operation, written for this call, and products with them: what both modes are made of.

A rule's body is put in place where it is short, else called. Products are written as a person would: without a factor
of one, with a sign moved out, a quotient as a division.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from functools import cached_property
from typing import Any

import gast

from s2s import core
from s2s.core import Function
from s2s.runtime import numeric
from s2s.transforms.operations import Operation, Operations
from s2s.transforms.rulebody import Bodies, Namer
from s2s.transforms.selecting import may_be_nonfinite, may_move_steeply
from s2s.transforms.task import Program


class Partials:
    """Writes partial derivatives for the operations of one function."""

    def __init__(
        self,
        fn: Function,
        namer: Namer,
        program: Program,
        mark: Callable[[Any], Any],
        given: Set[str] = frozenset(),
    ) -> None:
        """
        mark: says of a new statement which sweep it is part of.
        given: the parameters whose values and tangents may be infinite, as other compiled code gives them.
        """
        self.given = given
        self.fn = fn
        self.namer = namer
        self.mark = mark
        self.operations = Operations(fn)
        self.kind = self.operations.kind
        self.bodies = Bodies(program, namer, self.kind, fn.facts.shapes)

    @cached_property
    def nonfinite(self) -> set[str]:
        """The names that may be infinite or no numbers."""
        return may_be_nonfinite(self.operations, self.given)

    @cached_property
    def moving_steeply(self) -> set[str]:
        """The names whose tangents may be infinite."""
        return may_move_steeply(self.operations, self.nonfinite, self.given)

    def emit(self, stmts: list[Any], hint: str, value: Any, origin: Any) -> Any:
        """Hold a value in a temporary; an atom stays as it is."""
        if core.is_atom(value):
            return value
        name = self.namer.temporary(hint)
        stmts.append(self.mark(core.assign(name, value, origin)))
        return core.name(name)

    def active_parameters(self, found: Operation) -> list[tuple[str, Any]]:
        return [
            (p, v)
            for p, v in found.nodes().items()
            if isinstance(v, gast.Name) and v.id in self.fn.facts.active and p in found.rule.differentiable
        ]

    def operand(self, value: Any, stmts: list[Any], origin: Any) -> Any:
        """An operand of an emitted call: a node, the atom for a default, or the nodes of a variadic parameter."""
        if isinstance(value, tuple) and (not value or any(isinstance(v, gast.AST) for v in value)):
            return tuple(self.operand(v, stmts, origin) for v in value)
        if isinstance(value, gast.AST):
            return value
        if value is None or isinstance(value, (bool, int, float, str)):
            return core.constant(value)
        return core.name(self.namer.bind("default", value))

    def partial(self, found: Operation, parameter: str, y: str, origin: Any) -> tuple[list[Any], Any]:
        """The partial derivative by a parameter: statements and an expression."""
        rule = found.rule
        body, item = rule.bodies[parameter], rule.partial_index[parameter]
        (ans,) = leading(body, 1)
        args = {ans: core.name(y), **found.bound}
        made = self.bodies.instance(body, args, item, origin, {ans: self.kind(core.name(y))})
        if made is not None:
            return [self.mark(s) for s in made[0]], made[1]
        function, stmts = rule.partials[parameter], []  # type: ignore[var-annotated]
        positional, keywords = rule.spread({p: self.operand(v, stmts, origin) for p, v in found.bound.items()})
        if item is None:
            called = self.namer.bind(f"{rule.name}_partial_{parameter}", function)
            return stmts, core.call(called, core.name(y), *positional, **keywords)
        called = self.namer.bind(f"{rule.name}_partials", body)  # which can be imported; an item of its result cannot
        held = self.namer.temporary("partials")
        stmts.append(self.mark(core.assign(held, core.call(called, core.name(y), *positional, **keywords), origin)))
        return stmts, core.subscript(held, core.constant(item))

    def nonfinite_factor(self, partial: Any, stmts: list[Any], but: Set[str] = frozenset()) -> bool:
        """Whether a partial derivative holds a factor that may be infinite or no number, some apart."""
        factors = core.reads([partial, *(s.value for s in stmts)]) - but
        return bool(factors) and not self.nonfinite.isdisjoint(factors)

    def multiplied(
        self, g: Any, partial: Any, guarded: bool, stmts: list[Any], origin: Any, finite: bool = False
    ) -> tuple[Any, bool]:
        """`g * partial`, and whether its sign is to be turned. `finite`: guard only the divisor of a quotient."""
        if isinstance(partial, gast.UnaryOp) and isinstance(partial.op, gast.USub):
            value, negative = self.multiplied(g, partial.operand, guarded, stmts, origin, finite)
            return value, not negative
        if isinstance(partial, gast.Constant):
            if partial.value in (1, -1):
                return g, partial.value == -1
            return core.binary(g, gast.Mult, partial), False
        if isinstance(partial, gast.BinOp) and isinstance(partial.op, gast.Div):
            return self.quotient(g, partial, guarded, stmts, origin, finite)
        if guarded:
            slope = self.emit(stmts, "slope", partial, origin)
            return core.call(self.namer.bind("guarded_multiply", numeric.guarded_multiply), g, slope), False
        if isinstance(partial, gast.BinOp) and isinstance(partial.op, gast.Mult):
            inner, negative = self.multiplied(g, partial.left, False, stmts, origin)
            return core.binary(self.emit(stmts, "t", inner, origin), gast.Mult, partial.right), negative
        return core.binary(g, gast.Mult, self.emit(stmts, "slope", partial, origin)), False

    def quotient(
        self, g: Any, partial: Any, guarded: bool, stmts: list[Any], origin: Any, finite: bool
    ) -> tuple[Any, bool]:
        """`g * (a / b)` as `g * a / b`; a too may be infinite where the primal is."""
        top, sign = g, False
        left = self.definition(partial.left, stmts)
        if not (isinstance(left, gast.Constant) and left.value == 1):
            top, sign = self.multiplied(g, left, guarded and not finite, stmts, origin)
            top = self.emit(stmts, "t", top, origin)
        if guarded:
            name = self.namer.bind("guarded_divide", numeric.guarded_divide)
            return core.call(name, top, partial.right), sign
        return core.binary(top, gast.Div, partial.right), sign

    def definition(self, atom: Any, stmts: list[Any]) -> Any:
        """What a temporary of this fragment holds, if that is a negation: the sign can move out. Else the atom."""
        if isinstance(atom, gast.Name):
            for stmt in stmts:
                value = stmt.value
                if (
                    core.writes(stmt) == [atom.id]
                    and isinstance(value, gast.UnaryOp)
                    and isinstance(value.op, gast.USub)
                ):
                    return value
        return atom

    def chosen(self, partial: Any, g: Any, stmts: list[Any], origin: Any) -> Any:
        """The share of `g` that is the operand's, zero where it was not chosen, even if `g` is infinite."""
        weight = self.emit(stmts, "weight", partial, origin)
        return core.call(self.namer.bind("guarded_multiply", numeric.guarded_multiply), weight, g)


def leading(function: Any, count: int) -> tuple[str, ...]:
    """The names of a function's first parameters."""
    return function.__code__.co_varnames[:count]  # type: ignore[no-any-return]
