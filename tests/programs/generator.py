"""Random programs in the language that is compiled: text of a function of numbers, arrays, containers, and arguments.

The programs are total (denominators and roots are kept away from zero, loops are bounded) and smooth but for branches
whose conditions compare with constants that arguments do not come near by chance. They use names over and over, so that
versions, joins, loops that carry names round, early exits and calls all occur, in any nesting.

    f(a, b, u, m, pair, knobs, rows, weights, picks, n)

a and b are numbers, u is an array of four, m a matrix; `pair` is a tuple of a number and an array, `knobs` a dict of
them, `weights` a list of both, `rows` a list of pairs of numbers; `picks` is an array of indices, n a small int.
"""

from __future__ import annotations

import linecache
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.programs.expressions import ARRAY, HELPERS, MATRIX, SCALAR, SIZE

SCALARS = ["a", "b", "c"]
ARRAYS = ["u", "v"]
MATRICES = ["m", "q"]
NAMES = {"s": SCALARS, "a": ARRAYS, "m": MATRICES}
SIGNATURE = "a, b, u, m, pair, knobs, rows, weights, picks, n"

# What programs hold now and then although it goes to the tape: it must come out right there.
NOT_COMPILED = ["store", "append", "try", "object", "number class"]


@dataclass
class Program:
    """A generated program: its text, and what it is made of."""

    text: str
    constructs: Counter[str] = field(default_factory=Counter)

    @property
    def compiles(self) -> bool:
        """Whether it holds nothing that is known to go to the tape."""
        return not set(NOT_COMPILED) & set(self.constructs)


class Writer:
    """Writes one program by drawing from Hypothesis."""

    def __init__(self, draw: Any) -> None:
        self.draw = draw
        self.lines: list[str] = []
        self.constructs: Counter[str] = Counter()
        self.made = 0

    # --- expressions ---

    def choose(self, options: Sequence[str]) -> str:
        return self.draw(st.sampled_from(options))  # type: ignore[no-any-return]

    def often(self, one_in: int) -> bool:
        return self.draw(st.integers(0, one_in - 1)) == one_in // 2  # type: ignore[no-any-return]

    def fresh(self, stem: str) -> str:
        self.made += 1
        return f"{stem}{self.made}"

    def add(self, depth: int, line: str, construct: str) -> None:
        self.lines.append("    " * depth + line)
        self.constructs[construct] += 1

    def expression(self, templates: Mapping[str, Sequence[str]]) -> str:
        kind = self.choose(list(templates))
        self.constructs[kind] += 1
        same: dict[str, str] = {}

        def name(match: re.Match[str]) -> str:
            drawn = self.choose(NAMES[match[1][0]])
            return same.setdefault(match[1], drawn) if len(match[1]) == 2 else drawn

        return re.sub(r"\{(\w+)\}", name, self.choose(templates[kind]))

    def scalar(self) -> str:
        return self.expression(SCALAR)

    def condition(self) -> str:
        kind = self.draw(st.integers(0, 9))
        if kind == 0:
            self.constructs["chained comparison"] += 1
            return f"-0.9123 < {self.choose(SCALARS)} <= {self.bound()}"
        if kind == 1:
            self.constructs["walrus"] += 1
            name = self.choose(SCALARS)
            return f"({name} := {self.scalar()}) {self.choose(['>', '<'])} {self.bound()}"
        test = f"{self.choose(SCALARS)} {self.choose(['>', '<', '<=', '>='])} {self.bound()}"
        if kind == 2:
            self.constructs["and/or"] += 1
            name, bound = self.choose(SCALARS), self.bound()
            other = self.choose([f"{name} > {bound}", "n > 1", f"not {name} < {bound}"])
            return f"{test} {self.choose(['and', 'or'])} {other}"
        return test

    def bound(self) -> str:
        return repr(round(self.draw(st.integers(-12, 12)) / 11 + 0.0137, 4))

    # --- statements ---

    def statement(self, depth: int, room: int, loop: bool) -> None:
        options = ["scalar"] * 5 + ["array"] * 3 + ["augmented"] * 2 + ["matrix", "unpack", "star", "nested unpack"]
        options += ["conditional", "alias", "list", "dict", "tuple", "text", "assert", "effect"]
        if room > 0:
            options += ["if"] * 4 + ["for"] * 3 + ["rows"] * 2
            options += ["while", "for_else", "while_else", "errstate", "forever"]
        if loop:
            options += ["break", "continue", "return"] * 2
        if self.often(40):
            options = NOT_COMPILED
        getattr(self, "write_" + self.choose(options).replace(" ", "_"))(depth, room, loop)

    def block(self, depth: int, room: int, loop: bool) -> None:
        for _ in range(self.draw(st.integers(1, 3))):
            self.statement(depth, room, loop)

    def write_scalar(self, depth: int, room: int, loop: bool) -> None:
        self.add(depth, f"{self.choose(SCALARS)} = {self.scalar()}", "assign")

    def write_array(self, depth: int, room: int, loop: bool) -> None:
        self.add(depth, f"{self.choose(ARRAYS)} = {self.expression(ARRAY)}", "assign")

    def write_matrix(self, depth: int, room: int, loop: bool) -> None:
        self.add(depth, f"{self.choose(MATRICES)} = {self.expression(MATRIX)}", "assign")

    def write_augmented(self, depth: int, room: int, loop: bool) -> None:
        self.add(depth, f"{self.choose(SCALARS)} {self.choose(['+=', '-=', '*='])} {self.scalar()}", "augmented")

    def write_unpack(self, depth: int, room: int, loop: bool) -> None:
        first, second = self.draw(st.permutations(SCALARS))[:2]
        both, part = f"{self.scalar()}, {self.scalar()}", f"{self.choose(ARRAYS)}[:2]"
        value = self.choose([both, f"{second}, {first}", "rows[0]", part])
        self.add(depth, f"{first}, {second} = {value}", "unpack")

    def write_star(self, depth: int, room: int, loop: bool) -> None:
        rest = self.fresh("rest")
        value = self.choose(["a, b, c, 0.5", f"[{self.scalar()}, b, c]", "(c, a, b)"])
        self.add(depth, f"{self.choose(SCALARS)}, *{rest} = {value}", "star")
        self.add(depth, f"{self.choose(SCALARS)} = {rest}[1] + len({rest}) * 0.1", "star")

    def write_nested_unpack(self, depth: int, room: int, loop: bool) -> None:
        first, second, third = self.draw(st.permutations(SCALARS))
        self.add(depth, f"({first}, {second}), {third} = ({self.scalar()}, {third}), {first}", "nested unpack")

    def write_alias(self, depth: int, room: int, loop: bool) -> None:
        names = NAMES[self.choose(list(NAMES))]
        self.add(depth, f"{self.choose(names)} = {self.choose(names)}", "alias")

    def write_conditional(self, depth: int, room: int, loop: bool) -> None:
        value = f"{self.scalar()} if {self.condition()} else {self.scalar()}"
        if self.often(3):
            value = f"{self.choose(ARRAYS)} if {self.condition()} else {self.expression(ARRAY)}"
            self.add(depth, f"{self.choose(ARRAYS)} = {value}", "conditional")
        else:
            self.add(depth, f"{self.choose(SCALARS)} = {value}", "conditional")

    def write_list(self, depth: int, room: int, loop: bool) -> None:
        items = self.fresh("items")
        self.add(depth, f"{items} = [{self.scalar()}, {self.choose(SCALARS)}, {self.choose(SCALARS)}]", "list")
        self.add(depth, f"{self.choose(SCALARS)} = {items}[0] * 0.5 + {items}[{self.choose(['2', '-1', 'n'])}]", "list")

    def write_dict(self, depth: int, room: int, loop: bool) -> None:
        box = self.fresh("box")
        self.add(depth, f"{box} = {{'p': {self.scalar()}, 'w': {self.choose(ARRAYS)}}}", "dict")
        self.add(depth, f"{self.choose(SCALARS)} = {box}['p'] * {box}['w'][0]", "dict")

    def write_tuple(self, depth: int, room: int, loop: bool) -> None:
        pair = self.fresh("both")
        self.add(depth, f"{pair} = ({self.scalar()}, {self.expression(ARRAY)})", "tuple")
        uses = [f"b, v = {pair}", f"c = weigh({pair}, {self.choose(SCALARS)})", f"u = {pair}[1]"]
        self.add(depth, self.choose(uses), "tuple")

    def write_text(self, depth: int, room: int, loop: bool) -> None:
        label = self.fresh("label")
        self.add(depth, f'{label} = f"{{{self.choose(SCALARS)}:.2f}} of {{n}}"', "f-string")
        self.add(depth, f"{self.choose(SCALARS)} *= 0.5 + len({label}) * 0.01", "f-string")

    def write_assert(self, depth: int, room: int, loop: bool) -> None:
        self.add(depth, f'assert n >= 0 or {self.choose(SCALARS)} > 0, f"n is {{n}}"', "assert")

    def write_effect(self, depth: int, room: int, loop: bool) -> None:
        effects = ["pass", f"bump({self.choose(SCALARS)})", f"{self.choose(ARRAYS)}.sum()", '"a text"']
        self.add(depth, self.choose(effects), "effect")

    def write_errstate(self, depth: int, room: int, loop: bool) -> None:
        self.add(depth, "with np.errstate(all='ignore'):", "errstate")
        self.block(depth + 1, room - 1, loop)

    # --- control flow ---

    def write_if(self, depth: int, room: int, loop: bool) -> None:
        self.add(depth, f"if {self.condition()}:", "if")
        self.block(depth + 1, room - 1, loop)
        if self.often(4):
            self.add(depth, f"elif {self.condition()}:", "elif")
            self.block(depth + 1, room - 1, loop)
        if self.often(2):
            self.add(depth, "else:", "else")
            self.block(depth + 1, room - 1, loop)

    def write_for(self, depth: int, room: int, loop: bool) -> None:
        index = self.fresh("i")
        rounds = self.choose(["0", "1", "2", "3", "4", "n", "1, n + 2", "3, 0, -1", "len(rows)"])
        self.add(depth, f"for {index} in range({rounds}):", "for")
        if self.often(2):
            value = f"{self.choose(SCALARS)} * 0.7 + {self.choose(ARRAYS)}[{index}]"
            self.add(depth + 1, f"{self.choose(SCALARS)} = {value}", "index")
        self.block(depth + 1, room - 1, True)

    def write_for_else(self, depth: int, room: int, loop: bool) -> None:
        self.choose_loop(depth, room, loop)
        self.add(depth, "else:", "loop else")
        self.block(depth + 1, room - 1, loop)

    def choose_loop(self, depth: int, room: int, loop: bool) -> None:
        (self.write_for if self.often(2) else self.write_rows)(depth, room, loop)

    def write_rows(self, depth: int, room: int, loop: bool) -> None:
        x, y = self.fresh("x"), self.fresh("y")
        first, second = self.choose(ARRAYS), self.choose(ARRAYS)
        matrix = self.choose(MATRICES)
        head, item = self.draw(st.sampled_from([
            (f"{x} in {first}", x), (f"{x} in reversed({first})", x), (f"{x} in {first}[::-1]", x),
            (f"{y}, {x} in enumerate({first})", f"{x} * {y}"), (f"{x}, {y} in zip({first}, {second})", f"{x} * {y}"),
            (f"{x}, {y} in rows", f"{x} * {y}"), (f"{x}, {y} in enumerate(rows, 1)", f"{y}[0] * {x}"),
            (f"{x}, ({y}, _) in zip({first}, rows)", f"{x} - {y}"), (f"{x} in (a, b, c)", x),
            (f"{x} in [b, {first}[1]]", x), (f"{y}, {x} in rates.items()", f"{x} + len({y})"),
            (f"{x} in {matrix}", f"{x}.sum()"), (f"{x} in picks", f"{first}[{x}]"),
        ]))  # fmt: skip
        self.add(depth, f"for {head}:", "rows")
        self.add(depth + 1, f"{self.choose(SCALARS)} = {self.choose(SCALARS)} * 0.5 + {item}", "rows")
        self.block(depth + 1, room - 1, True)

    def write_while(self, depth: int, room: int, loop: bool) -> None:
        count = self.fresh("k")
        self.add(depth, f"{count} = 0", "while")
        extra = f" and ({self.condition()})" if self.often(2) else ""  # a condition may hold an `or`
        self.add(depth, f"while {count} < {self.draw(st.integers(0, 4))}{extra}:", "while")
        self.add(depth + 1, f"{count} += 1", "while")
        self.block(depth + 1, room - 1, True)

    def write_while_else(self, depth: int, room: int, loop: bool) -> None:
        self.write_while(depth, room, loop)
        self.add(depth, "else:", "loop else")
        self.block(depth + 1, room - 1, loop)

    def write_forever(self, depth: int, room: int, loop: bool) -> None:
        count = self.fresh("k")
        self.add(depth, f"{count} = n", "while")
        self.add(depth, "while True:", "forever")
        self.add(depth + 1, f"{count} -= 1", "forever")
        self.add(depth + 1, f"if {count} < 0 or {self.condition()}:", "forever")
        self.add(depth + 2, self.choose(["break", "break", f"return {self.scalar()} * 1.0"]), "forever")
        self.block(depth + 1, room - 1, True)

    def leave(self, depth: int, statement: str) -> None:
        self.add(depth, f"if {self.condition()}:", "if")
        if self.often(2):
            self.add(depth + 1, f"{self.choose(SCALARS)} = {self.scalar()}", "assign")
        self.add(depth + 1, statement, statement.split()[0])

    def write_break(self, depth: int, room: int, loop: bool) -> None:
        self.leave(depth, "break")

    def write_continue(self, depth: int, room: int, loop: bool) -> None:
        self.leave(depth, "continue")

    def write_return(self, depth: int, room: int, loop: bool) -> None:
        self.leave(depth, f"return {self.choose(SCALARS)} + np.sum({self.choose(ARRAYS)}) * 0.1")

    # --- what goes to the tape ---

    def write_store(self, depth: int, room: int, loop: bool) -> None:
        name = self.choose(ARRAYS)
        self.add(depth, f"{name} = {self.choose(ARRAYS)} * 1.0", "store")
        writes = [f"{name}[1] = {self.scalar()}", f"{name}[:2] *= {self.choose(SCALARS)}", f"{name} += 0.1"]
        self.add(depth, self.choose(writes), "store")

    def write_append(self, depth: int, room: int, loop: bool) -> None:
        stack = self.fresh("stack")
        self.add(depth, f"{stack} = [{self.scalar()}]", "append")
        self.add(depth, f"{stack}.append({self.scalar()})", "append")
        self.add(depth, f"{self.choose(SCALARS)} = {stack}.pop() + {stack}[0]", "append")

    def write_try(self, depth: int, room: int, loop: bool) -> None:
        self.add(depth, "try:", "try")
        self.add(depth + 1, f"{self.choose(SCALARS)} = {self.scalar()}", "try")
        self.add(depth, "except ZeroDivisionError:", "try")
        self.add(depth + 1, f"{self.choose(SCALARS)} = 0.3", "try")

    def write_object(self, depth: int, room: int, loop: bool) -> None:
        self.add(depth, f"{self.choose(SCALARS)} = line.at({self.choose(SCALARS)})", "object")

    def write_number_class(self, depth: int, room: int, loop: bool) -> None:
        self.add(depth, f"{self.choose(SCALARS)} = np.float64({self.choose(SCALARS)}) * 0.7", "number class")

    def write_closure(self, depth: int, room: int, loop: bool) -> None:
        inner = self.fresh("inner")
        self.add(depth, f"{inner} = lambda x: x * {self.choose(SCALARS)}", "closure")
        self.add(depth, f"{self.choose(SCALARS)} = {inner}({self.choose(SCALARS)})", "closure")


@st.composite
def programs(draw: Any, nesting: int = 3) -> Program:
    """Programs `f(a, b, u, m, pair, knobs, rows, weights, picks, n)`."""
    writer = Writer(draw)
    writer.lines += [f"def f({SIGNATURE}):", "    c = a * b", "    v = u * 0.5 + b", "    q = m * 0.3"]
    for _ in range(draw(st.integers(2, 5))):
        writer.statement(1, nesting, False)
    results = ["a + b * c", "c + np.sum(u * v)", "a * b + np.mean(v) + np.sum(q)", "b + math.tanh(a) * np.sum(u)"]
    results += ["c * (m @ v)[1]"]
    writer.lines.append(f"    return {draw(st.sampled_from(results))}")
    return Program("\n".join(writer.lines) + "\n", writer.constructs)


_count = 0


def define(program: Program | str) -> Any:
    """The function of a program, with a source that inspect finds."""
    global _count
    _count += 1
    body = program if isinstance(program, str) else program.text
    text = f"import math\nimport numpy as np\n{HELPERS}\n\n{body}"
    name = f"<program {_count}>"
    linecache.cache[name] = len(text), None, text.splitlines(True), name
    namespace: dict[str, Any] = {"__name__": "programs", "math": math, "np": np}
    exec(compile(text, name, "exec"), namespace)
    return namespace["f"]


# The precisions of a, b, and all arrays.
PRECISIONS = [(float, float, float)] * 5 + [(float, np.float64, float), (np.float64, np.float64, float)]
PRECISIONS += [(float, float, np.float32), (np.float32, np.float32, np.float32), (np.float32, float, float)]


def arguments(seed: int) -> tuple[Any, ...]:
    """Arguments at which the branches of programs are not decided by a hair; the seed chooses precisions too."""
    rng = np.random.default_rng(seed)
    of_a, of_b, dtype = PRECISIONS[seed % len(PRECISIONS)]

    def number() -> float:
        return float(rng.normal())

    def array(*shape: int) -> Any:
        return rng.normal(size=shape).astype(dtype)

    return (
        of_a(number()), of_b(number()), array(SIZE), array(SIZE, SIZE), (number(), array(SIZE)),
        {"rate": number(), "bias": array(SIZE)}, [(number(), number()) for _ in range(2)], [number(), array(SIZE)],
        rng.integers(0, SIZE, size=SIZE), int(rng.integers(0, 3)),
    )  # fmt: skip
