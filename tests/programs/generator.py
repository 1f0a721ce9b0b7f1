"""Random programs in the language that is compiled: text of a function of numbers and arrays, and arguments for it.

The programs are total (denominators and roots are kept away from zero, loops are bounded) and smooth but for branches whose
conditions compare with constants that arguments do not come near by chance. They use names over and over, so that
versions, joins, loops that carry names round, early exits and calls all occur, in any nesting.
"""

from __future__ import annotations

import linecache
import math
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import strategies as st

SCALARS = ["a", "b", "c"]
ARRAYS = ["u", "v"]
SIZE = 4

UNARY = ["math.sin({})", "math.cos({})", "math.tanh({})", "math.exp(-{} * {})", "math.sqrt(1.0 + {} * {})", "-{}", "abs({})"]
ELEMENTWISE = ["np.sin({})", "np.tanh({})", "np.exp(-{} * {})", "np.sqrt(1.0 + {} ** 2)", "-{}", "{} ** 2", "np.abs({})"]
BINARY = ["{} + {}", "{} - {}", "{} * {}", "{} / (2.0 + {} * {})", "0.5 * {} + 0.25 * {}"]
REDUCE = ["np.sum({})", "np.mean({})", "{}.sum()", "{}[1]", "{}[-1]", "np.dot({}, {})", "np.max({})", "{} @ {}"]

HELPERS = '''
def blend(p, q, weight=0.5):
    return weight * p + (1.0 - weight) * q


def bump(p):
    if p > 0.3:
        return p * 0.5
    return math.sin(p) + 0.1


def total(values, scale):
    s = 0.0
    for value in values:
        s = s + math.tanh(value * scale)
    return s
'''


@dataclass
class Program:
    """A generated program: its text, the function, and what it is made of."""

    text: str
    constructs: Counter[str] = field(default_factory=Counter)
    function: Any = None


class Writer:
    """Writes one program by drawing from Hypothesis."""

    def __init__(self, draw: Any) -> None:
        self.draw = draw
        self.lines: list[str] = []
        self.constructs: Counter[str] = Counter()
        self.loops = 0

    def choose(self, options: list[str]) -> str:
        return self.draw(st.sampled_from(options))

    def add(self, depth: int, line: str, construct: str) -> None:
        self.lines.append("    " * depth + line)
        self.constructs[construct] += 1

    def scalar(self) -> str:
        kind = self.draw(st.integers(0, 9))
        names = [self.choose(SCALARS) for _ in range(3)]
        if kind < 4:
            return self.choose(BINARY).format(*_fill(names))
        if kind < 7:
            return self.choose(UNARY).format(*[names[0]] * 2)
        if kind < 9:
            return self.choose(REDUCE).format(self.choose(ARRAYS), self.choose(ARRAYS))
        return f"{self.draw(st.integers(-9, 9)) / 7 + 0.05!r}"

    def array(self) -> str:
        kind = self.draw(st.integers(0, 9))
        first, second = self.choose(ARRAYS), self.choose(ARRAYS)
        if kind < 4:
            left = self.choose([first, self.choose(SCALARS)])
            return self.choose(BINARY).format(*_fill([second, left, left]))
        if kind < 8:
            return self.choose(ELEMENTWISE).format(first, first)
        return self.choose(
            [f"np.where({first} > 0.2, {first}, {second})", f"np.maximum({first}, {second})", f"{first}[::-1] * {second}",
             f"np.cumsum({first}) * 0.3", f"np.full({SIZE}, {self.choose(SCALARS)}) + {first}", f"{first}[[0, 0, 2, 1]]"]
        )  # fmt: skip

    def condition(self) -> str:
        name = self.choose(SCALARS)
        bound = self.draw(st.integers(-12, 12)) / 11 + 0.0137
        test = f"{name} {self.choose(['>', '<', '<=', '>='])} {bound!r}"
        if self.draw(st.integers(0, 5)) == 0:
            self.constructs["and/or"] += 1
            other = f"{self.choose(SCALARS)} > {self.draw(st.integers(-5, 5)) / 9 + 0.0071!r}"
            test = f"{test} {self.choose(['and', 'or'])} {other}"
        return test

    def statement(self, depth: int, room: int, loop: bool) -> None:
        options = ["scalar"] * 5 + ["array"] * 3 + ["augmented", "unpack", "call", "conditional", "alias", "list"]
        if room > 0:
            options += ["if"] * 3 + ["for"] * 3 + ["while", "rows", "for else"]
        if loop:
            options += ["break", "continue", "return"]
        getattr(self, "write_" + self.choose(options).replace(" ", "_"))(depth, room, loop)

    def block(self, depth: int, room: int, loop: bool, least: int = 1) -> None:
        for _ in range(self.draw(st.integers(least, 3))):
            self.statement(depth, room, loop)

    def write_scalar(self, depth: int, room: int, loop: bool) -> None:
        self.add(depth, f"{self.choose(SCALARS)} = {self.scalar()}", "assign")

    def write_array(self, depth: int, room: int, loop: bool) -> None:
        self.add(depth, f"{self.choose(ARRAYS)} = {self.array()}", "array")

    def write_augmented(self, depth: int, room: int, loop: bool) -> None:
        self.add(depth, f"{self.choose(SCALARS)} {self.choose(['+=', '-=', '*='])} {self.scalar()}", "augmented")

    def write_unpack(self, depth: int, room: int, loop: bool) -> None:
        first, second = self.draw(st.permutations(SCALARS))[:2]
        self.add(depth, f"{first}, {second} = {self.scalar()}, {self.scalar()}", "unpack")

    def write_alias(self, depth: int, room: int, loop: bool) -> None:
        names = self.choose([SCALARS, ARRAYS])  # type: ignore[type-var]
        self.add(depth, f"{self.choose(names)} = {self.choose(names)}", "alias")  # type: ignore[arg-type]

    def write_call(self, depth: int, room: int, loop: bool) -> None:
        one, other = self.choose(SCALARS), self.choose(SCALARS)
        call = self.choose(
            [f"blend({one}, {other})", f"blend({one}, q={other}, weight=0.3)", f"bump({one})", f"total({self.choose(ARRAYS)}, {one})"]
        )
        self.add(depth, f"{self.choose(SCALARS)} = {call}", "call")

    def write_conditional(self, depth: int, room: int, loop: bool) -> None:
        self.add(depth, f"{self.choose(SCALARS)} = {self.scalar()} if {self.condition()} else {self.scalar()}", "conditional")

    def write_list(self, depth: int, room: int, loop: bool) -> None:
        items = ", ".join(self.choose(SCALARS) for _ in range(3))
        self.add(depth, f"items = [{items}]", "list")
        self.add(depth, f"{self.choose(SCALARS)} = items[0] * 0.5 + items[2]", "list")

    def write_if(self, depth: int, room: int, loop: bool) -> None:
        self.add(depth, f"if {self.condition()}:", "if")
        self.block(depth + 1, room - 1, loop)
        if self.draw(st.booleans()):
            self.add(depth, "else:", "else")
            self.block(depth + 1, room - 1, loop)

    def write_for(self, depth: int, room: int, loop: bool) -> None:
        self.loops += 1
        index = f"i{self.loops}"
        self.add(depth, f"for {index} in range({self.draw(st.integers(0, 4))}):", "for")
        if self.draw(st.booleans()):
            self.add(depth + 1, f"{self.choose(SCALARS)} = {self.choose(SCALARS)} * 0.7 + {self.choose(ARRAYS)}[{index}]", "index")
        self.block(depth + 1, room - 1, True)

    def write_for_else(self, depth: int, room: int, loop: bool) -> None:
        self.write_for(depth, room, loop)
        self.add(depth, "else:", "for else")
        self.block(depth + 1, room - 1, loop)

    def write_rows(self, depth: int, room: int, loop: bool) -> None:
        self.loops += 1
        item = f"x{self.loops}"
        first, second = self.choose(ARRAYS), self.choose(ARRAYS)
        head = self.choose(
            [f"for {item} in {first}:", f"for k{self.loops}, {item} in enumerate({first}):",
             f"for {item}, y{self.loops} in zip({first}, {second}):", f"for {item} in reversed({first}):"]
        )  # fmt: skip
        self.add(depth, head, "rows")
        self.add(depth + 1, f"{self.choose(SCALARS)} = {self.choose(SCALARS)} * 0.5 + {item}", "rows")
        self.block(depth + 1, room - 1, True)

    def write_while(self, depth: int, room: int, loop: bool) -> None:
        self.loops += 1
        count = f"n{self.loops}"
        self.add(depth, f"{count} = 0", "while")
        extra = f" and {self.condition()}" if self.draw(st.booleans()) else ""
        self.add(depth, f"while {count} < {self.draw(st.integers(0, 4))}{extra}:", "while")
        self.add(depth + 1, f"{count} += 1", "while")
        self.block(depth + 1, room - 1, True)

    def leave(self, depth: int, statement: str) -> None:
        self.add(depth, f"if {self.condition()}:", "if")
        self.add(depth + 1, f"{self.choose(SCALARS)} = {self.scalar()}", "assign")
        self.add(depth + 1, statement, statement.split()[0])

    def write_break(self, depth: int, room: int, loop: bool) -> None:
        self.leave(depth, "break")

    def write_continue(self, depth: int, room: int, loop: bool) -> None:
        self.leave(depth, "continue")

    def write_return(self, depth: int, room: int, loop: bool) -> None:
        self.leave(depth, f"return {self.choose(SCALARS)} + np.sum({self.choose(ARRAYS)}) * 0.1")


def _fill(names: list[str]) -> list[str]:
    return [names[0], names[1], names[1]]


@st.composite
def programs(draw: Any, nesting: int = 3) -> Program:
    """Programs `f(a, b, u)`: a and b are numbers, u is an array of four."""
    writer = Writer(draw)
    writer.lines += ["def f(a, b, u):", "    c = a * b", "    v = u * 0.5 + b"]
    for _ in range(draw(st.integers(2, 6))):
        writer.statement(1, nesting, False)
    result = draw(st.sampled_from(["a + b * c", "c + np.sum(u * v)", "a * b + np.mean(v)", "b + math.tanh(a) * np.sum(u)"]))
    writer.lines.append(f"    return {result}")
    return Program("\n".join(writer.lines) + "\n", writer.constructs)


_count = 0


def define(program: Program) -> Any:
    """The function of a program, with a source that inspect finds."""
    global _count
    _count += 1
    text = f"import math\nimport numpy as np\n{HELPERS}\n\n{program.text}"
    name = f"<program {_count}>"
    linecache.cache[name] = len(text), None, text.splitlines(True), name
    namespace: dict[str, Any] = {"__name__": "programs", "math": math, "np": np}
    exec(compile(text, name, "exec"), namespace)
    program.function = namespace["f"]
    return program.function


def arguments(seed: int) -> tuple[float, float, Any]:
    """Arguments at which the branches of programs are not decided by a hair."""
    rng = np.random.default_rng(seed)
    return float(rng.normal()), float(rng.normal()), rng.normal(size=SIZE)
