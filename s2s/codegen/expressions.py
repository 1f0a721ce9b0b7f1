"""Expressions as text, with the fewest parentheses that keep the tree.

Every kind of expression has a strength (the table of operator precedence in the language reference, section 6.17), and
every place asks for a least strength; what is weaker is put in parentheses. `astunparse` puts them around everything,
and has no idea of gast's nodes, so the methods that differ are written anew here; the rest is inherited.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import Any

import astunparse
import gast

from s2s.codegen import literals

# Strengths, from the weakest.
YIELD, NAMED, TUPLE, TEST, OR, AND, NOT, COMPARE, BIT_OR, BIT_XOR, BIT_AND, SHIFT = range(12)
ARITHMETIC, TERM, FACTOR, POWER, AWAIT, ATOM = range(12, 18)

_STRENGTHS = {
    "Yield": YIELD,
    "YieldFrom": YIELD,
    "NamedExpr": NAMED,
    "Lambda": TEST,
    "IfExp": TEST,
    "Compare": COMPARE,
    "Await": AWAIT,
}

_OPERATORS = {
    "Or": OR,
    "And": AND,
    "Not": NOT,
    "BitOr": BIT_OR,
    "BitXor": BIT_XOR,
    "BitAnd": BIT_AND,
    "LShift": SHIFT,
    "RShift": SHIFT,
    "Add": ARITHMETIC,
    "Sub": ARITHMETIC,
    "Mult": TERM,
    "MatMult": TERM,
    "Div": TERM,
    "FloorDiv": TERM,
    "Mod": TERM,
    "Invert": FACTOR,
    "UAdd": FACTOR,
    "USub": FACTOR,
    "Pow": POWER,
}


def kind(node: Any) -> str:
    """The class name of a node, the same for `gast` and `ast`."""
    return type(node).__name__


def strength(node: Any) -> int:
    """How tightly the outermost operator of an expression binds."""
    name = type(node).__name__
    if name in ("BinOp", "UnaryOp", "BoolOp"):
        return _OPERATORS[kind(node.op)]
    if name == "Constant":
        if literals.is_sum(node.value):
            return ARITHMETIC
        return FACTOR if literals.is_signed(node.value) else ATOM
    if name == "Tuple":
        return TUPLE if node.elts else ATOM
    return _STRENGTHS.get(name, ATOM)


class ExpressionWriter(astunparse.Unparser):  # type: ignore[misc]
    """Writes expressions but f-strings, one method for each class of nodes."""

    f: io.StringIO

    # Nodes of Python 2, which gast still has.
    _Print = _Exec = _Repr = None

    def dispatch(self, tree: Any) -> None:
        if isinstance(tree, (list, tuple)):
            for item in tree:
                self.dispatch(item)
            return
        method = getattr(self, "_" + type(tree).__name__, None)
        if method is None:
            raise TypeError(f"cannot write a {kind(tree)} node")
        method(tree)

    def write(self, text: str) -> None:
        self.f.write(text)

    def at(self, least: int, node: Any) -> None:
        """Write an expression where one of at least this strength may stand."""
        if strength(node) < least:
            self.write("(")
            self.dispatch(node)
            self.write(")")
        else:
            self.dispatch(node)

    def right_hand(self, node: Any) -> None:
        """Write the value of an assignment, where a tuple or a yield stands bare."""
        self.at(YIELD if strength(node) == YIELD else TUPLE, node)

    def condition(self, node: Any) -> None:
        """Write a condition, where a walrus stands bare."""
        self.at(NAMED if strength(node) == NAMED else TEST, node)

    def series(self, nodes: Sequence[Any], write_one: Callable[[Any], None] | None = None) -> None:
        """Write nodes with commas between them."""
        for position, node in enumerate(nodes):
            if position:
                self.write(", ")
            if write_one is None:
                self.at(TEST, node)
            else:
                write_one(node)

    # operators

    def _BinOp(self, t: Any) -> None:
        own = _OPERATORS[kind(t.op)]
        # The power operator groups from the right and takes a sign on its right, but none on its left.
        left, right = (AWAIT, FACTOR) if own == POWER else (own, own + 1)
        self.at(left, t.left)
        self.write(f" {self.binop[kind(t.op)]} ")
        self.at(right, t.right)

    def _UnaryOp(self, t: Any) -> None:
        sign = self.unop[kind(t.op)]
        self.write("not " if sign == "not" else sign)
        self.at(_OPERATORS[kind(t.op)], t.operand)

    def _BoolOp(self, t: Any) -> None:
        word = " or " if kind(t.op) == "Or" else " and "
        for position, value in enumerate(t.values):
            if position:
                self.write(word)
            self.at(_OPERATORS[kind(t.op)] + 1, value)

    def _Compare(self, t: Any) -> None:
        self.at(BIT_OR, t.left)
        for operator, right in zip(t.ops, t.comparators):
            self.write(f" {self.cmpops[kind(operator)]} ")
            self.at(BIT_OR, right)

    def _IfExp(self, t: Any) -> None:
        self.at(OR, t.body)
        self.write(" if ")
        self.at(OR, t.test)
        self.write(" else ")
        self.at(TEST, t.orelse)

    def _NamedExpr(self, t: Any) -> None:
        self.dispatch(t.target)
        self.write(" := ")
        self.at(TEST, t.value)

    def _Await(self, t: Any) -> None:
        self.write("await ")
        self.at(ATOM, t.value)

    def _Yield(self, t: Any) -> None:
        self.write("yield")
        if t.value is not None:
            self.write(" ")
            self.at(TUPLE, t.value)

    def _YieldFrom(self, t: Any) -> None:
        self.write("yield from ")
        self.at(TEST, t.value)

    def _Starred(self, t: Any) -> None:
        self.write("*")
        self.at(BIT_OR, t.value)

    # displays and comprehensions

    def _Tuple(self, t: Any) -> None:
        if not t.elts:
            self.write("()")
        self.series(t.elts)
        if len(t.elts) == 1:
            self.write(",")

    def _List(self, t: Any) -> None:
        self.write("[")
        self.series(t.elts)
        self.write("]")

    def _Set(self, t: Any) -> None:
        # There is no display of the empty set.
        self.write("{")
        self.series(t.elts) if t.elts else self.write("*()")
        self.write("}")

    def _Dict(self, t: Any) -> None:
        self.write("{")
        self.series(list(zip(t.keys, t.values)), self._item)
        self.write("}")

    def _item(self, item: tuple[Any, Any]) -> None:
        key, value = item
        if key is None:
            self.write("**")
            self.at(BIT_OR, value)
        else:
            self.at(TEST, key)
            self.write(": ")
            self.at(TEST, value)

    def _comprehended(self, brackets: str, element: Any, generators: Sequence[Any]) -> None:
        self.write(brackets[0])
        self._item(element) if isinstance(element, tuple) else self.at(TEST, element)
        self.dispatch(generators)
        self.write(brackets[1])

    def _ListComp(self, t: Any) -> None:
        self._comprehended("[]", t.elt, t.generators)

    def _SetComp(self, t: Any) -> None:
        self._comprehended("{}", t.elt, t.generators)

    def _GeneratorExp(self, t: Any) -> None:
        self._comprehended("()", t.elt, t.generators)

    def _DictComp(self, t: Any) -> None:
        self._comprehended("{}", (t.key, t.value), t.generators)

    def _comprehension(self, t: Any) -> None:
        self.write(" async for " if t.is_async else " for ")
        self.at(TUPLE, t.target)
        self.write(" in ")
        self.at(OR, t.iter)
        for test in t.ifs:
            self.write(" if ")
            self.at(OR, test)

    # primaries

    def _Attribute(self, t: Any) -> None:
        # The dot of `1.real` would belong to the number.
        whole = kind(t.value) == "Constant" and type(t.value.value) is int
        if whole and strength(t.value) == ATOM:
            self.write("(")
            self.dispatch(t.value)
            self.write(")")
        else:
            self.at(ATOM, t.value)
        self.write("." + t.attr)

    def _Subscript(self, t: Any) -> None:
        self.at(ATOM, t.value)
        self.write("[")
        self.at(TUPLE, t.slice)
        self.write("]")

    def _Slice(self, t: Any) -> None:
        if t.lower is not None:
            self.at(TEST, t.lower)
        self.write(":")
        if t.upper is not None:
            self.at(TEST, t.upper)
        if t.step is not None:
            self.write(":")
            self.at(TEST, t.step)

    def _Call(self, t: Any) -> None:
        self.at(ATOM, t.func)
        if len(t.args) == 1 and not t.keywords and kind(t.args[0]) == "GeneratorExp":
            self.dispatch(t.args[0])  # its own parentheses serve as those of the call
            return
        self.write("(")
        self.series([*map(_as_argument, t.args), *t.keywords])
        self.write(")")

    def _keyword(self, t: Any) -> None:
        self.write("**" if t.arg is None else t.arg + "=")
        self.at(TEST, t.value)

    # parameters

    def _Lambda(self, t: Any) -> None:
        self.write("lambda")
        if any((t.args.posonlyargs, t.args.args, t.args.vararg, t.args.kwonlyargs, t.args.kwarg)):
            self.write(" ")
        self.dispatch(t.args)
        self.write(": ")
        self.at(TEST, t.body)

    def _arguments(self, t: Any) -> None:
        positional = [*t.posonlyargs, *t.args]
        defaults = [None] * (len(positional) - len(t.defaults)) + list(t.defaults)
        parts: list[tuple[str, Any, Any]] = [("", p, d) for p, d in zip(positional, defaults)]
        if t.posonlyargs:
            parts.insert(len(t.posonlyargs), ("/", None, None))
        if t.vararg or t.kwonlyargs:
            parts.append(("*", t.vararg, None))
        parts += [("", p, d) for p, d in zip(t.kwonlyargs, t.kw_defaults)]
        if t.kwarg:
            parts.append(("**", t.kwarg, None))
        self.series(parts, self._parameter)

    def _parameter(self, part: tuple[str, Any, Any]) -> None:
        mark, parameter, default = part
        self.write(mark)
        if parameter is None:
            return
        # gast holds parameters as names, ast as `arg` nodes.
        self.write(parameter.id if kind(parameter) == "Name" else parameter.arg)
        if parameter.annotation is not None:
            self.write(": ")
            self.at(TEST, parameter.annotation)
        if default is not None:
            self.write(" = " if parameter.annotation is not None else "=")
            self.at(TEST, default)

    def _Constant(self, t: Any) -> None:
        self.write("u" if t.kind == "u" else "")
        self.write(literals.spelling(t.value))


def _as_argument(index: Any) -> Any:
    """An index as the argument of a call: `slice(a, b, c)` for `a:b:c`."""
    if kind(index) == "Tuple" and any(kind(e) == "Slice" for e in index.elts):
        return gast.Tuple([_as_argument(e) for e in index.elts], gast.Load())
    if kind(index) != "Slice":
        return index
    none = gast.Constant(None, None)
    bounds = [none if bound is None else bound for bound in (index.lower, index.upper, index.step)]
    return gast.Call(gast.Name("slice", gast.Load(), None, None), bounds, [])
