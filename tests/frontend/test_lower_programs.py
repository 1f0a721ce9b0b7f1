"""Random programs, lowered: they return, raise and trace the same as the program itself."""

import random

import gast
from hypothesis import given, settings
from hypothesis import strategies as st

from s2s import core
from s2s.codegen.build import build
from s2s.frontend.lower import lower
from tests.frontend.lowered import outcome, t

NAMES = "abcd"


class Endless(Exception):
    pass


class Fuel:
    """Stops programs that loop too long, after the same number of steps each time."""

    left = 0

    @classmethod
    def tick(cls):
        cls.left -= 1
        if cls.left < 0:
            raise Endless


def bounded(value):
    """Keeps numbers small enough to compute with, whatever a program does to them."""
    return value if not isinstance(value, (int, float)) or abs(value) < 1e6 else 7


class Program:
    """Makes the text of a function of `a` and `b`; `c` and `d` may be unbound when they are read."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.traces = 0

    def pick(self, *options):
        return self.random.choice(options)

    def expression(self, depth):
        kind = self.pick("name", "name", "const") if depth == 0 else self.pick(*EXPRESSIONS)
        if kind == "name":
            return self.pick(*NAMES[:3])
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
        return EXPRESSIONS[kind].format(x=x, y=y, z=z)

    def block(self, depth, in_loop):
        lines = []
        for _ in range(self.pick(1, 2, 3)):
            lines += self.statement(depth, in_loop)
        return ["    " + line for line in lines]

    def statement(self, depth, in_loop):
        simple = ["assign", "assign", "augment", "unpack", "return", "trace", *["break", "continue"] * in_loop]
        kind = self.pick(*simple, *["if", "ifelse", "for", "while"] * (2 if depth else 0))
        name, other, value = self.pick(*NAMES), self.pick(*NAMES), self.expression(2)
        if kind in ("break", "continue"):
            return [kind]
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
        declared = "    if a is None: c = d = a"
        return "\n".join(["def f(a, b):", declared, *self.block(3, False), ""])


EXPRESSIONS = {
    "name": "", "const": "", "trace": "", "walrus": "",
    "binary": "({x} + {y})", "product": "bounded({x} * {y})", "quotient": "{x} // ({y})", "negated": "-({x})",
    "compare": "({x} < {y})", "chain": "({x} <= {y} < {z})", "and": "({x} and {y})", "or": "({x} or {y} or {z})",
    "not": "(not {x})", "conditional": "({x} if {y} else {z})", "call": "max({x}, *[{y}], {z})",
    "item": "[{x}, {y}][bounded({z})]", "text": 'len(f"{{{x}}}{{{y}!r}}")',
}  # fmt: skip
SIMPLE = {
    "assign": "{name} = {value}",
    "augment": "{name} += {value}",
    "unpack": "{name}, {other} = {value}, {expression}",
    "return": "return {value}, {expression}",
    "trace": "t('s', {value})",
}


@given(st.integers(0, 2**32))
@settings(max_examples=200)
def test_random_programs(seed):
    text = Program(seed).text()
    scope = {"t": t, "tick": Fuel.tick, "bounded": bounded}
    exec(compile(text, "program.py", "exec"), scope)
    node = gast.parse(text).body[0]
    fn = core.check(lower(node, scope=core.Scope(scope), file="program.py", text_lines=text))
    function = build(fn).function
    for args in [(1, 2), (0, -1.5)]:
        found = []
        for candidate in (scope["f"], function):
            Fuel.left = 60
            found.append(outcome(candidate, args, {}))
        assert found[0] == found[1], text
