"""Whole programs, lowered: random ones return, raise and trace the same; those of libraries are Core that compiles."""

import importlib
import random
import types

import gast
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from s2s import core, errors
from s2s.codegen.build import build
from s2s.frontend.lower import lower, lower_function
from tests.frontend.lowered import outcome, t, traced

NAMES = "abcd"


class Endless(Exception):
    pass


class World:
    """What a program finds around itself, and can change by calls: a global `G`, a list `L`, fuel."""

    def __init__(self):
        self.globals = {"t": t, "bounded": bounded, "traced": traced, "rebind": self.rebind, "push": self.push}
        self.globals["tick"] = self.tick
        self.reset()

    def reset(self):
        self.fuel = 60
        self.globals.update(G=2, L=[1, 2.5])

    def tick(self):
        """Stops a program that loops too long, after the same number of steps each time."""
        self.fuel -= 1
        if self.fuel < 0:
            raise Endless

    def rebind(self, value):
        self.globals["G"] = value
        return t("rebind", value)

    def push(self, value):
        self.globals["L"].insert(0, value)
        return t("push", value)


def bounded(value):
    """Keeps numbers small enough to compute with, whatever a program does to them."""
    return value if not isinstance(value, (int, float)) or abs(value) < 1e6 else 7


class Program:
    """Makes the text of a function of `a` and `b`; `d` may be unbound when it is read."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.traces = 0

    def pick(self, *options):
        return self.random.choice(options)

    def expression(self, depth):
        kind = self.pick("name", "name", "const") if depth == 0 else self.pick(*EXPRESSIONS)
        if kind == "name":
            return self.pick(*NAMES[:3] * 5, "G", "G", "L[0]", "L[G > 1]") if self.pick(*range(200)) else "d"
        if kind == "const":
            return self.pick("0", "1", "-2", "0.5", "3")
        x, y, z = (self.expression(depth - 1) for _ in range(3))
        if kind == "text":
            x = y = self.pick(*NAMES)
        if kind == "trace":
            self.traces += 1
            return f"t({self.traces}, bounded({x}))"
        if kind == "walrus":
            return f"({self.pick(*NAMES)} := {x})"
        return EXPRESSIONS[kind].format(x=x, y=y, z=z, name=self.pick(*NAMES))

    def block(self, depth, in_loop):
        lines = []
        for _ in range(self.pick(1, 2, 3)):
            lines += self.statement(depth, in_loop)
        return ["    " + line for line in lines]

    def statement(self, depth, in_loop):
        jumps = ["break", "continue", "return"] if in_loop else ["return"] * (depth < 3)
        kind = self.pick(*SIMPLE, *jumps, *["if", "ifelse", "for", "while", "with"] * (2 if depth else 0))
        name, other, value = self.pick(*NAMES), self.pick(*NAMES), self.expression(2)
        if kind in ("break", "continue"):
            return [kind]
        if kind == "return":
            return [f"return {value}, {other}"]
        if kind == "with":
            return [f"with traced('w', {value}) as {name}:", *self.block(depth - 1, in_loop)]
        if kind == "if" or kind == "ifelse":
            otherwise = ["else:", *self.block(depth - 1, in_loop)] if kind == "ifelse" else []
            return [f"if {value}:", *self.block(depth - 1, in_loop), *otherwise]
        if kind in ("for", "while"):
            targets = [f"for {name} in range(3):", f"for {name}, ({other}, *_) in [(1, (2, 3)), ({value}, (5,))]:"]
            head = self.pick(*targets) if kind == "for" else f"while {value}:"
            otherwise = ["else:", *self.block(depth - 1, in_loop)] if self.pick(True, False) else []
            return [head, "    tick()", *self.block(depth - 1, True), *otherwise]
        return [SIMPLE[kind].format(name=name, other=other, value=value, expression=self.expression(1))]

    def text(self):
        body = [line for _ in range(2) for line in self.block(3, False)]
        return "\n".join(["def f(a, b):", "    c = 1.5", "    if a is c: d = a", *body, "    return a, b, c"])


EXPRESSIONS = {
    "name": "", "const": "", "trace": "", "walrus": "",
    "sum": "bounded({x} + {y})", "product": "bounded({x} * {y})", "quotient": "{x} // ({y})", "negated": "-({x})",
    "compare": "({x} < {y})", "chain": "({x} <= {y} < {z})", "and": "({x} and {y})", "or": "({x} or {y} or {z})",
    "not": "(not {x})", "conditional": "({x} if {y} else {z})", "call": "max({x}, *[{y}], {z})",
    "item": "[{x}, {y}][bool({z})]", "text": 'len(f"{{{x}}}{{{y}!r}}")', "star": "max(*L, {x}, *L)",
    "rebind": "rebind({x})", "push": "push({x})", "comprehension": "sum([{x} for {name} in [{y}, {z}] if {name}])",
    "dict": "sum({{**{{0: {x}}}, 1: {y}, **{{2: {z}}}}}.values())", "method": "L.count({x})",
}  # fmt: skip
SIMPLE = {
    "assign": "{name} = {value}",
    "place": "L[{expression} > 1] = {value}",
    "augment": "{name} += {value}",
    "augmented place": "L[{expression} > 1] += {value}",
    "unpack": "{name}, {other} = {value}, {expression}",
    "places": "{name}, (L[0], {other}), *_ = {value}, ({expression}, {value}), 1",
    "chained": "{name} = L[{expression} > 1] = {other} = {value}",
    "trace": "t('s', {value})",
    "assert": "assert {value} or {expression}, t('message', {expression})",
}


@given(st.integers(0, 2**32))
@settings(max_examples=200)
def test_random_programs(seed):
    text = Program(seed).text()
    world = World()
    try:
        exec(compile(text, "program.py", "exec"), world.globals)
    except SyntaxError:  # a comprehension takes no assignment expression everywhere
        reject()
    node = gast.parse(text).body[0]
    fn = core.check(lower(node, scope=core.Scope(world.globals), file="program.py", text_lines=text))
    function = build(fn).function
    for args in [(1, 2), (0, -1.5)]:
        found = []
        for candidate in (world.globals["f"], function):
            world.reset()
            result, *seen = outcome(candidate, args, {})
            if result[1] in ("NameError", "UnboundLocalError"):
                # Until Python 3.12, a local that is unbound in a comprehension counts as a free variable there.
                result = result[0], "unbound"
            found.append((result, seen, world.globals["G"], world.globals["L"]))
        assert found[0] == found[1], text


@pytest.mark.parametrize("module", ["calendar", "fractions", "heapq", "random", "statistics", "numpy.linalg._linalg"])
def test_functions_of_libraries_lower_to_core_that_compiles(module):
    lowered = refused = 0
    for function in functions_of(importlib.import_module(module)):
        try:
            build(core.check(lower_function(function)))
            lowered += 1
        except (errors.NotCompiled, errors.UnsupportedSyntaxError, errors.SourceUnavailableError):
            refused += 1
    assert lowered > refused


def functions_of(module):
    classes = [value for value in vars(module).values() if isinstance(value, type)]
    for owner in [module, *(c for c in classes if c.__module__ == module.__name__)]:
        for value in vars(owner).values():
            if isinstance(value, types.FunctionType) and value.__module__ == module.__name__:
                yield value
