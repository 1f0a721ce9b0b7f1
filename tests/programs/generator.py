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
import random
import re
import sys
import types
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from tests.programs.expressions import ARRAY, HELPERS, MATRIX, SCALAR, SIZE

SCALARS = ["a", "b", "c"]
ARRAYS = ["u", "v"]
MATRICES = ["m", "q"]
SIGNATURE = "a, b, u, m, pair, knobs, rows, weights, picks, n"

# What programs hold now and then.
RARE = ["store", "append", "try", "object", "number class"]

ALIASING = ["alias", "choice", "view", "swap", "in_turn"]
LOOPS = ["for", "rows", "while", "forever", "cells", "in_turn", "late"]
EXITS = ["break", "continue", "return", "forever"]


@dataclass
class Program:
    """A generated program: its text, and what it is made of."""

    text: str
    constructs: Counter[str] = field(default_factory=Counter)

    @property
    def mixed(self) -> bool:
        """Whether it gives values second names, loops, and leaves early."""
        return all(set(kinds) & set(self.constructs) for kinds in (ALIASING, LOOPS, EXITS))


T = TypeVar("T")


class Writer:
    """Writes one program by random choices.

    names: what a template's `{s}`, `{a}` and `{m}` may stand for.
    indices: names of the surrounding loops that count within 0 to 3.
    """

    signature = SIGNATURE
    length = 2, 5  # the statements of a program that are in no block, at least and at most

    def __init__(self, seed: int, nesting: int = 3) -> None:
        self.random = random.Random(seed)
        self.nesting = nesting
        self.names = {"s": SCALARS, "a": ARRAYS, "m": MATRICES}
        self.indices: list[str] = []
        self.lines: list[str] = []
        self.constructs: Counter[str] = Counter()
        self.made = 0

    def program(self) -> Program:
        self.lines.append(f"def f({self.signature}):")
        self.write_start()
        for _ in range(self.random.randint(*self.length)):
            self.statement(1, self.nesting, False)
        self.lines.append(f"    return {self.result()}")
        return Program("\n".join(self.lines) + "\n", self.constructs)

    def write_start(self) -> None:
        self.lines += ["    c = a * b", "    v = u * 0.5 + b", "    q = m * 0.3"]

    def result(self) -> str:
        return self.choose([
            "a + b * c", "c + np.sum(u * v)", "a * b + np.mean(v) + np.sum(q)", "b + math.tanh(a) * np.sum(u)",
            "c * (m @ v)[1]",
        ])  # fmt: skip

    @staticmethod
    def arguments(seed: int) -> tuple[Any, ...]:
        """Arguments for the program of a seed."""
        return arguments(seed)

    @staticmethod
    def further_arguments(seed: int) -> list[tuple[Any, ...]]:
        """Others, of other sizes, for the same program."""
        return []

    # --- expressions ---

    def choose(self, options: Sequence[T]) -> T:
        return self.random.choice(options)

    def often(self, one_in: int) -> bool:
        return self.random.randrange(one_in) == 0

    def shuffled(self, options: Sequence[T]) -> list[T]:
        return self.random.sample(options, len(options))

    def fresh(self, stem: str) -> str:
        self.made += 1
        return f"{stem}{self.made}"

    def add(self, depth: int, line: str, construct: str) -> None:
        self.lines.append("    " * depth + line)
        self.constructs[construct] += 1

    def expression(self, templates: Mapping[str, Sequence[str]]) -> str:
        kind = self.choose(list(templates))
        self.constructs[kind] += 1
        return self.filled(self.choose(templates[kind]))

    def filled(self, template: str) -> str:
        """A template with its places taken by names."""
        same: dict[str, str] = {}

        def place(match: re.Match[str]) -> str:
            drawn = self.place(match[1])
            return same.setdefault(match[1], drawn) if match[1][1:] == "0" else drawn

        return re.sub(r"\{(\w+)\}", place, template)

    def name(self, kind: str) -> str:
        return self.choose(self.names[kind])

    def place(self, key: str) -> str:
        return self.name(key[0])

    def scalar(self) -> str:
        return self.expression(SCALAR)

    def condition(self) -> str:
        kind = self.random.randrange(10)
        if kind == 0:
            self.constructs["chained comparison"] += 1
            return f"-0.9123 < {self.name('s')} <= {self.bound()}"
        if kind == 1:
            self.constructs["walrus"] += 1
            name = self.name("s")
            return f"({name} := {self.scalar()}) {self.choose(['>', '<'])} {self.bound()}"
        test = f"{self.name('s')} {self.choose(['>', '<', '<=', '>='])} {self.bound()}"
        if kind == 2:
            self.constructs["and/or"] += 1
            name, bound = self.name("s"), self.bound()
            other = self.choose([f"{name} > {bound}", "n > 1", f"not {name} < {bound}"])
            return f"{test} {self.choose(['and', 'or'])} {other}"
        return test

    def bound(self) -> str:
        return repr(round(self.random.randint(-12, 12) / 11 + 0.0137, 4))

    # --- statements ---

    def statement(self, depth: int, room: int, loop: bool) -> None:
        options = RARE if self.often(40) else self.options(room, loop)
        getattr(self, "write_" + self.choose(options).replace(" ", "_"))(depth, room, loop)

    def options(self, room: int, loop: bool) -> list[str]:
        options = ["scalar"] * 5 + ["array"] * 3 + ["augmented"] * 2 + ["matrix", "unpack", "star", "nested unpack"]
        options += ["conditional", "alias", "list", "dict", "tuple", "text", "assert", "effect"]
        if room > 0:
            options += ["if"] * 4 + ["for"] * 3 + ["rows"] * 2
            options += ["while", "for_else", "while_else", "errstate", "forever"]
        if loop:
            options += ["break", "continue", "return"] * 2
        return options

    def block(self, depth: int, room: int, loop: bool) -> None:
        for _ in range(self.random.randint(1, 3)):
            self.statement(depth, room, loop)

    def write_scalar(self, depth: int, room: int, loop: bool) -> None:
        self.add(depth, f"{self.name('s')} = {self.scalar()}", "assign")

    def write_array(self, depth: int, room: int, loop: bool) -> None:
        self.add(depth, f"{self.name('a')} = {self.expression(ARRAY)}", "assign")

    def write_matrix(self, depth: int, room: int, loop: bool) -> None:
        self.add(depth, f"{self.name('m')} = {self.expression(MATRIX)}", "assign")

    def write_augmented(self, depth: int, room: int, loop: bool) -> None:
        self.add(depth, f"{self.name('s')} {self.choose(['+=', '-=', '*='])} {self.scalar()}", "augmented")

    def write_unpack(self, depth: int, room: int, loop: bool) -> None:
        first, second = self.shuffled(SCALARS)[:2]
        both, part = f"{self.scalar()}, {self.scalar()}", f"{self.name('a')}[:2]"
        value = self.choose([both, f"{second}, {first}", "rows[0]", part])
        self.add(depth, f"{first}, {second} = {value}", "unpack")

    def write_star(self, depth: int, room: int, loop: bool) -> None:
        rest = self.fresh("rest")
        value = self.choose(["a, b, c, 0.5", f"[{self.scalar()}, b, c]", "(c, a, b)"])
        self.add(depth, f"{self.name('s')}, *{rest} = {value}", "star")
        self.add(depth, f"{self.name('s')} = {rest}[1] + len({rest}) * 0.1", "star")

    def write_nested_unpack(self, depth: int, room: int, loop: bool) -> None:
        first, second, third = self.shuffled(SCALARS)
        self.add(depth, f"({first}, {second}), {third} = ({self.scalar()}, {third}), {first}", "nested unpack")

    def write_alias(self, depth: int, room: int, loop: bool) -> None:
        names = self.choose(list(self.names.values()))
        self.add(depth, f"{self.choose(names)} = {self.choose(names)}", "alias")

    def write_conditional(self, depth: int, room: int, loop: bool) -> None:
        value = f"{self.scalar()} if {self.condition()} else {self.scalar()}"
        if self.often(3):
            value = f"{self.name('a')} if {self.condition()} else {self.expression(ARRAY)}"
            self.add(depth, f"{self.name('a')} = {value}", "conditional")
        else:
            self.add(depth, f"{self.name('s')} = {value}", "conditional")

    def write_list(self, depth: int, room: int, loop: bool) -> None:
        items = self.fresh("items")
        self.add(depth, f"{items} = [{self.scalar()}, {self.name('s')}, {self.name('s')}]", "list")
        self.add(depth, f"{self.name('s')} = {items}[0] * 0.5 + {items}[{self.choose(['2', '-1', 'n'])}]", "list")

    def write_dict(self, depth: int, room: int, loop: bool) -> None:
        box = self.fresh("box")
        self.add(depth, f"{box} = {{'p': {self.scalar()}, 'w': {self.name('a')}}}", "dict")
        self.add(depth, f"{self.name('s')} = {box}['p'] * {box}['w'][0]", "dict")

    def write_tuple(self, depth: int, room: int, loop: bool) -> None:
        pair = self.fresh("both")
        self.add(depth, f"{pair} = ({self.scalar()}, {self.expression(ARRAY)})", "tuple")
        uses = [f"b, v = {pair}", f"c = weigh({pair}, {self.name('s')})", f"u = {pair}[1]"]
        self.add(depth, self.choose(uses), "tuple")

    def write_text(self, depth: int, room: int, loop: bool) -> None:
        label, number = self.fresh("label"), self.name("s")
        self.add(depth, f'{label} = f"{{{number}:.2f}} of {{n}}"', "f-string")
        self.add(depth, f"{self.name('s')} *= 0.5 + len({label}) * 0.01", "f-string")

    def write_assert(self, depth: int, room: int, loop: bool) -> None:
        number = self.name("s")
        self.add(depth, f'assert n >= 0 or {number} > 0, f"n is {{n}}"', "assert")

    def write_effect(self, depth: int, room: int, loop: bool) -> None:
        effects = ["pass", f"bump({self.name('s')})", f"{self.name('a')}.sum()", '"a text"']
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
            value = f"{self.name('s')} * 0.7 + {self.name('a')}[{index}]"
            self.add(depth + 1, f"{self.name('s')} = {value}", "index")
        self.indices.append(index)
        self.block(depth + 1, room - 1, True)
        self.indices.pop()

    def write_for_else(self, depth: int, room: int, loop: bool) -> None:
        self.choose_loop(depth, room, loop)
        self.add(depth, "else:", "loop else")
        self.block(depth + 1, room - 1, loop)

    def choose_loop(self, depth: int, room: int, loop: bool) -> None:
        (self.write_for if self.often(2) else self.write_rows)(depth, room, loop)

    def write_rows(self, depth: int, room: int, loop: bool) -> None:
        x, y = self.fresh("x"), self.fresh("y")
        first, second = self.name("a"), self.name("a")
        matrix = self.name("m")
        head, item = self.choose([
            (f"{x} in {first}", x), (f"{x} in reversed({first})", x), (f"{x} in {first}[::-1]", x),
            (f"{y}, {x} in enumerate({first})", f"{x} * {y}"), (f"{x}, {y} in zip({first}, {second})", f"{x} * {y}"),
            (f"{x}, {y} in rows", f"{x} * {y}"), (f"{x}, {y} in enumerate(rows, 1)", f"{y}[0] * {x}"),
            (f"{x}, ({y}, _) in zip({first}, rows)", f"{x} - {y}"), (f"{x} in (a, b, c)", x),
            (f"{x} in [b, {first}[1]]", x), (f"{y}, {x} in rates.items()", f"{x} + len({y})"),
            (f"{x} in {matrix}", f"{x}.sum()"), (f"{x} in picks", f"{first}[{x}]"),
        ])  # fmt: skip
        self.add(depth, f"for {head}:", "rows")
        self.add(depth + 1, f"{self.name('s')} = {self.name('s')} * 0.5 + {item}", "rows")
        self.block(depth + 1, room - 1, True)

    def write_while(self, depth: int, room: int, loop: bool) -> None:
        count = self.fresh("k")
        self.add(depth, f"{count} = 0", "while")
        extra = f" and ({self.condition()})" if self.often(2) else ""  # a condition may hold an `or`
        self.add(depth, f"while {count} < {self.random.randint(0, 4)}{extra}:", "while")
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
            self.add(depth + 1, f"{self.name('s')} = {self.scalar()}", "assign")
        self.add(depth + 1, statement, statement.split()[0])

    def write_break(self, depth: int, room: int, loop: bool) -> None:
        self.leave(depth, "break")

    def write_continue(self, depth: int, room: int, loop: bool) -> None:
        self.leave(depth, "continue")

    def write_return(self, depth: int, room: int, loop: bool) -> None:
        self.leave(depth, f"return {self.name('s')} + np.sum({self.name('a')}) * 0.1")

    # --- what goes to the tape ---

    def write_store(self, depth: int, room: int, loop: bool) -> None:
        name = self.name("a")
        self.add(depth, f"{name} = {self.name('a')} * 1.0", "store")
        writes = [f"{name}[1] = {self.scalar()}", f"{name}[:2] *= {self.name('s')}", f"{name} += 0.1"]
        self.add(depth, self.choose(writes), "store")

    def write_append(self, depth: int, room: int, loop: bool) -> None:
        stack = self.fresh("stack")
        self.add(depth, f"{stack} = [{self.scalar()}]", "append")
        self.add(depth, f"{stack}.append({self.scalar()})", "append")
        self.add(depth, f"{self.name('s')} = {stack}.pop() + {stack}[0]", "append")

    def write_try(self, depth: int, room: int, loop: bool) -> None:
        self.add(depth, "try:", "try")
        self.add(depth + 1, f"{self.name('s')} = {self.scalar()}", "try")
        self.add(depth, "except ZeroDivisionError:", "try")
        self.add(depth + 1, f"{self.name('s')} = 0.3", "try")

    def write_object(self, depth: int, room: int, loop: bool) -> None:
        self.add(depth, f"{self.name('s')} = line.at({self.name('s')})", "object")

    def write_number_class(self, depth: int, room: int, loop: bool) -> None:
        self.add(depth, f"{self.name('s')} = np.float64({self.name('s')}) * 0.7", "number class")

    def write_closure(self, depth: int, room: int, loop: bool) -> None:
        inner = self.fresh("inner")
        self.add(depth, f"{inner} = lambda x: x * {self.name('s')}", "closure")
        self.add(depth, f"{self.name('s')} = {inner}({self.name('s')})", "closure")


IMPORTS = """import bisect, contextlib, copy, dataclasses, functools, itertools, math, operator, types
from collections import deque

import numpy as np

import s2s
from tests.programs.classes import *

SCALE, RATES, WEIGHTS, COUNT = 0.6, [0.5, 0.25], np.array([0.4, -0.3, 0.2, 0.1]), 0


@contextlib.contextmanager
def noted(k):
    yield k * 0.7


def running(values):
    total = 0.0
    for v in values:
        total = total * 0.5 + v
        yield total


model = Model(np.array([0.4, -0.3, 0.2, 0.7]), 0.2)
"""
_count = 0


def define(program: Program | str) -> Any:
    """The function of a program, with a source that inspect finds."""
    global _count
    _count += 1
    body = program if isinstance(program, str) else program.text
    text = f"{IMPORTS}\n{HELPERS}\n\n{body}"
    name = f"<program {_count}>"
    linecache.cache[name] = len(text), None, text.splitlines(True), name
    module = sys.modules["programs"] = types.ModuleType("programs")
    exec(compile(text, name, "exec"), vars(module))
    return vars(module)["f"]


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
        return rng.normal(size=shape).astype(dtype, order="CF"[seed % 3 == 0])

    return (
        of_a(number()), of_b(number()), array(SIZE), array(SIZE, SIZE), (number(), array(SIZE)),
        {"rate": number(), "bias": array(SIZE)}, [(number(), number()) for _ in range(2)], [number(), array(SIZE)],
        rng.integers(0, SIZE, size=SIZE), int(rng.integers(0, 3)),
    )  # fmt: skip
