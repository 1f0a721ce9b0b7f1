"""An operation of the program, bound to the rule of its function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import gast

from s2s import kinds as K
from s2s import rules
from s2s.core import MISSING, Function
from s2s.kinds import Kind
from s2s.transforms.callee import callee, operation
from s2s.transforms.classes import kind_of_attribute
from s2s.transforms.conduct import Conduct, conduct
from s2s.transforms.dims import Sizes
from s2s.transforms.ranges import Ranges


@dataclass(frozen=True)
class Operation:
    """A Core expression as a call of a function with a rule.

    bound: the function's parameters in order; a value is a node of the program, a tuple of nodes (of a variadic
    parameter), or the parameter's default as a Python object.
    """

    function: Any
    rule: Any
    bound: dict[str, Any]

    def nodes(self) -> dict[str, Any]:
        """The parameters that are bound to nodes of the program."""
        return {p: v for p, v in self.bound.items() if isinstance(v, gast.AST)}


class Operations:
    """Finds operations in the expressions of one function, by its facts."""

    def __init__(self, fn: Function) -> None:
        self.fn = fn
        self.local = fn.local_names()
        self.kinds = fn.facts.kinds
        self._free: dict[str, Kind] = {}
        self._functions: dict[Any, Any] = {}

    @cached_property
    def ranges(self) -> Ranges:
        """What is known of the values of the function's names."""
        return Ranges(self)

    @cached_property
    def sizes(self) -> Sizes:
        """What is known of the sizes of the function's arrays."""
        facts = self.fn.facts
        return Sizes(facts.ints, facts.lengths, self.kind, lambda call: callee(call, self.kind, self.local))

    def kind(self, node: Any) -> Kind:
        """The kind of an operand: an atom, a path or an index."""
        kind: Any = type(node)
        if kind is gast.Name:
            known = self.kinds.get(node.id)
            if known is not None or node.id in self.local:
                return known or K.UNKNOWN
            return self._free_kind(node.id)
        if kind is gast.Constant:
            return K.of_literal(node.value)
        if kind is gast.Attribute:
            return kind_of_attribute(node, self.kind(node.value), self.fn.scope, self.local)
        if isinstance(node, gast.Slice):
            return K.Slice()
        if isinstance(node, gast.Tuple):
            return K.Tuple(tuple(map(self.kind, node.elts)))
        return K.UNKNOWN

    def _free_kind(self, name: str) -> Kind:
        found = self._free.get(name)
        if found is None:
            value = self.fn.scope.lookup(name)
            found = self._free[name] = K.UNKNOWN if value is MISSING else K.of(value)
        return found

    def function(self, node: Any) -> Any:
        """The function behind an expression, None where it is not known."""
        known = self._functions
        if node not in known:
            known[node] = operation(node, self.kind, self.local)[0]
        return known[node]

    def conduct(self, node: Any) -> Conduct | None:
        """What an operation does with its operands; None where it may do anything."""
        return conduct_of(node, self.kind, self.local)

    def find(self, node: Any) -> Operation | None:
        """The operation, where its function has a rule and its arguments bind."""
        function, operands, keywords = operation(node, self.kind, self.local)
        rule = None if function is None else rules.find(function)
        if rule is None or None in keywords or gast.Starred in map(type, operands):
            return None
        try:
            return Operation(function, rule, rule.bind(operands, keywords))
        except TypeError:
            return None


def conduct_of(node: Any, kind: Callable[[Any], Kind], local: set[str]) -> Conduct | None:
    """What an operation does with its operands; None where it may do anything."""
    function, operands, keywords = operation(node, kind, local)
    if function is None or None in keywords or gast.Starred in map(type, operands):
        return None
    return conduct(function, operands, keywords, kind)


def basic_index(node: Any, kind: Any) -> bool:
    """Whether an index selects each entry at most once by slices and integers (a view, in NumPy)."""
    if isinstance(node, gast.Tuple):
        return all(basic_index(e, kind) for e in node.elts)
    known = kind(node)
    if isinstance(known, K.Tuple):
        return all(isinstance(k, (K.Int, K.Slice, K.NoneKind)) for k in known.items)
    if isinstance(known, K.Static):
        return known.value is Ellipsis
    return isinstance(known, (K.Int, K.Slice, K.NoneKind)) or (isinstance(known, K.Scalar) and known.dtype.kind in "iu")


def boolean_index(node: Any, kind: Any) -> bool:
    """Whether an index is one boolean mask, which selects each entry at most once too."""
    known = kind(node)
    return isinstance(known, (K.Array, K.Scalar, K.Bool)) and (K.dtype_of(known) or K.FLOAT.dtype).kind == "b"


def may_pick_inactive(kind: Kind, index: Any) -> bool:
    """Whether an index into a container, known when running only, may pick an item that carries no derivative."""
    return not isinstance(index, gast.Constant) and not all(map(K.differentiable, K.children(kind) or ()))
