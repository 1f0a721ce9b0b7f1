"""Random programs of loops over the items of few arrays, whose indices tell where these are read and written.

What is told apart here is which items are surely not the same. So the indices count from both ends, by constants, by
lengths, up and down, by names that are bound again; loops run over parts of arrays and over parts of the rounds of
others; values are read, stored, updated and handed on, and buffers change places. A program runs on arrays of several
lengths, on some of which it raises.

    f(x, w, m, z, k)

x and w are arrays of one length n, m is a matrix of n rows and columns, z an array of n indices; k is 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from tests.programs.generator import Program, Writer

# Of loops: the range, the least index, and how far the greatest is from n - 1.
RANGES = [
    ("range(n)", 0, 0), ("range(len(x))", 0, 0), ("range(1, n)", 1, 0), ("range(n - 1)", 0, 1),
    ("range(1, n - 1)", 1, 1),
    ("range(2, n)", 2, 0), ("range(n - 2)", 0, 2), ("range(n - 1, -1, -1)", 0, 0), ("range(n - 2, -1, -1)", 0, 1),
    ("range(n - 1, 0, -1)", 1, 0), ("reversed(range(n))", 0, 0), ("reversed(range(1, n))", 1, 0),
    ("reversed(range(n - 1))", 0, 1), ("range(1, n, 2)", 1, 0), ("range(n - 1, -1, -2)", 0, 0), ("range(n // 2)", 0, 0),
    ("range(k)", 0, 0), ("range(-n, 0)", 0, 0), ("range(n, 0, -1)", 1, -1), ("range(n)[::-1]", 0, 0),
    ("range(k - 1, n)", 1, 0), ("range(-1, n - 1)", -1, 1),
]  # fmt: skip
INNER = [
    ("range({i})", 0, 0), ("range({i} + 1, n)", 1, 0), ("range({i}, n)", 0, 0), ("range(n - {i})", 0, 0),
    ("range({i}, -1, -1)", 0, 0), ("range(n - 1, {i}, -1)", 1, 0), ("range({i} - 1)", 0, 2), ("range(1, {i})", 1, 1),
]  # fmt: skip
PLACES = "0 0 -1 -1 n-1 1 -2 n-2 k-1 -k n-k len(x)-1 j j j-1 z[0] n//2".split()
MOVING = [
    "-{i} - 1", "n - 1 - {i}", "n - {i}", "n - 2 - {i}", "{i} // 2", "2 * {i}", "({i} + 1) % n", "{i} - n", "z[{i}]",
    "{i} - k", "{i} + 2", "{i} - 2",
]  # fmt: skip
PARTS = [
    "1:",
    ":-1",
    "::2",
    "::-1",
    "1::2",
    "-2:",
    ":k",
    "n - k:",
    ":",
    "...",
    "-1:",
    ":n - 1",
    "2:",
    ":-2",
    "j:",
    ":j",
]
MOVING_PARTS = [
    "{i}:", ":{i}", "{i} + 1:", ":{i} + 1", "{i}:{i} + 2", "{i}:{i} + 1", ":-{i}", "-{i}:", "{i}::-1", "{i} - 1:",
    ":{i} - 1", "{i}::2", "n - {i}:",
]  # fmt: skip
VALUES = [
    "{s} * {s}", "np.sin({p})", "{p} * {s}", "{s} * w[{I}]", "0.5 * {s} ** 2", "{s} / (1.5 + np.cos({p}))", "{s}",
    "{p} / (2.0 + {s} ** 2)", "x[{I}]", "{p} * {p}", "{p}", "{s} * {s} + {p}", "0.3", "x[{I}] * 0.5 + {p}",
]  # fmt: skip
BUFFERS = [
    "np.zeros(n)", "np.zeros_like(x)", "x * 1.0", "x.copy()", "np.ones(len(x))", "w * x", "np.zeros(n, x.dtype)",
    "np.array(w)", "np.empty_like(x)", "m[0] * 1.0",
]  # fmt: skip
WHOLE = [
    "{v}[:] = {v}", "{v}[...] = {v} * {S}", "{v} *= {v}", "{v} += {v}", "{v} *= {s}", "{v} = {v} * {S}",
    "{v} = {v}.copy()",
    "{v}[:] = 0.0", "{v}[...] = {v} * {v}", "{v} = np.zeros(n)", "{v}[:] = {S}", "{v} = {v} + {v} * {s}",
    "{v} /= 2.0 + {v} * {v}",
]  # fmt: skip
IN_PARTS = [
    "{v}[{P0}] = {S}", "{v}[{P0}] *= {S}", "{v}[{P0}] += {v}[{P0}] * {s}", "{v}[{P0}] = np.sin({v}[{P0}]) * {s}",
    "{v}[1:] = {v}[:-1] * {s}", "{v}[:-1] += {v}[1:]", "{v}[1:] *= {v}[:-1]", "{s} = np.sum({v}[{P}])",
    "{s} += {v}[{P0}] @ {v}[{P0}]", "{v}[{P0}] -= {s} * {v}[{P0}]", "{v}[z] = {v} * {s}", "{v}[z] += {v}",
    "{v}[{v} > {B}] *= {s}", "{v}[::2] = {v}[::2] * {v}[::2]",
]  # fmt: skip
MATRIX = [
    "A[{I}] = {v} * {s}", "A[{I}, {I}] = {S}", "A[{I}, {I}] += {S}", "A[:, {I}] = {v}", "{s} = A[{I}, {I}]",
    "{s} = A[{I}, {I}]", "A[{I}, {P0}] -= {s} * A[{I}, {P0}]", "A[{I}] = A[{I}] * {S}", "{v}[:] = A[{I}]",
    "{s} = A[{I}] @ {v}", "A[{P0}, {I}] *= {s}", "A[{I}] *= A[{I}]", "{v} = A[{I}]", "A[{P}, {P}] *= {s}",
    "A.T[{I}] += {v}", "{v} = A[:, {I}] * 1.0",
]  # fmt: skip
CELLS = [
    "{s0} = {p}; s += {s0} * {s0} * {s0}; {p} = {S}", "{s0} = {p}; {p} = {S}; s += {s0} * {s0} * {s0}",
    "{s0} = {p}; {p} = {s0} * {s0} + {p}", "{s0} = {S}; {p} = {s0}; s += {s0} * {s0}", "{s0} = {p}; {p} *= {s0} * {s0}",
    "{s0} = {S}; s += {s0} * {s0}; {p} = {s0}", "{s0} = {p}; {p} = {s0}; {p} = {s0} * {s0}", "{p} = {p} * {p} * {s}",
    "{s0} = {p}; {s} = {s0} * {p}; {p} = {s0}", "{s0} = {p}; {p} = 0.0; {p} += {s0} * {s}; {p} += np.sin({s0})",
    "{p} = 0.0; {p} += {S}; {p} += {S}", "{s0} = {p} * {p}; {p} -= {s0}; {p} = {s0} * {s}",
    "{s0} = {p}; s += {s0} * {s0} * {s0}; {v}[{P}] = {S}", "{s0} = {p}; s += {s0} * {s0} * {s0}; {v}[{P0}] *= {s}",
    "y = {v}[{P}]; s += np.sum(y * y * y); {p} = {S}", "y = {v}[{P}]; {p} = {S}; s += np.sum(y * y * y)",
    "y = {v}[{P}]; {v}[{P0}] *= {s}; s += np.sum(y * y * y)", "y = np.sin({v}[{P}]); {v}[{P0}] = y; s += np.sum(y * y)",
    "{v}[{P}] = 0.0; {p} += {S}; s += {p}", "{v}[{P0}] = 0.0; {v}[{P0}] += {S} * w[{P0}]",
]  # fmt: skip
COUNTS = [
    "j = {I}", "j = {I}", "j = 0", "j = (j + 1) % n", "j = j - 1", "j = n - 1", "n = len(w)", "j = len({v}[{P}]) - 1",
]  # fmt: skip
CONDITIONS = [
    "{s} > {B}", "{p} < {B}", "{i} > 0", "{i} % 2 == 0", "k > 1", "{i} < n - 1", "j == {i}", "{s} * {s} < {B}",
]  # fmt: skip
# What all constructs are counted as.
INDICES = """cell read write update part whole matrix sum swap count loop again counted if else break continue
second_name""".split()

T = TypeVar("T")


class Loop(NamedTuple):
    """A loop around: its index, the least value of that, and how far the greatest is from n - 1."""

    index: str
    low: int
    high: int


class IndexWriter(Writer):
    """Writes programs of indices, each of few arrays, loops and indices, so that these meet.

    palette: what is chosen from, by what it is.
    """

    length = 1, 2

    def __init__(self, seed: int, nesting: int = 2) -> None:
        super().__init__(seed, nesting)
        self.names = {"s": ["s", "t", "u"], "v": ["p", "q", "r"][: self.choose([1, 1, 2, 2, 3])]}
        self.loops: list[Loop] = []
        self.has_matrix = self.often(4)
        self.palette = {
            "places": self.some(PLACES, 3), "moving": self.some(MOVING, 2), "parts": self.some(PARTS, 2),
            "moving parts": self.some(MOVING_PARTS, 2), "ranges": self.some(RANGES, 2), "inner": self.some(INNER, 2),
            "values": self.some(VALUES, 4), "cells": self.some(CELLS, 3), "whole": self.some(WHOLE, 2),
            "in parts": self.some(IN_PARTS, 2), "matrix": self.some(MATRIX, 4), "steps": self.some([-1, 0, 0, 0, 1], 3),
        }  # fmt: skip
        kinds = ["cell"] * 4 + ["read", "write", "write", "update", "update", "part", "whole", "sum", "swap", "count"]
        self.kinds = ["cell", "sum", *self.some(kinds, 3), *["matrix"] * 3 * self.has_matrix]
        self.kinds += ["second_name"] * self.often(8)

    def some(self, options: Sequence[T], count: int) -> list[T]:
        return self.random.sample(options, count)

    @staticmethod
    def arguments(seed: int) -> tuple[Any, ...]:
        return arguments_of(4, seed)

    @staticmethod
    def further_arguments(seed: int) -> list[tuple[Any, ...]]:
        return [arguments_of(1 + seed % 3, seed), arguments_of(5 + seed % 2, seed)]

    def program(self) -> Program:
        self.lines += ["def f(x, w, m, z, k):", "    n = len(x)", "    j = 0"]
        for name in self.names["v"]:
            self.lines.append(f"    {name} = {self.choose(BUFFERS)}")
            if "empty" in self.lines[-1]:
                self.lines.append(f"    {name}[:] = {self.choose(['0.0', 'w', '1.0'])}")
        if self.has_matrix:
            self.lines.append(f"    A = {self.choose(['m * 1.0', 'm.copy()', 'np.zeros((n, n))', 'np.outer(x, w)'])}")
        self.lines += ["    s, t, u = x[0] * 1.0, 0.5, 0.0"]
        if self.often(3):
            for _ in range(self.random.randint(*self.length)):
                self.statement(1, self.nesting, False)
        else:
            self.write_kernel()
        held = [*self.names["v"], *(["A"] * self.has_matrix)]
        self.lines.append(f"    return s + t * u + {' + '.join(self.result_of(name) for name in held)}")
        return Program("\n".join(self.lines) + "\n", self.constructs)

    def write_kernel(self) -> None:
        """A loop, or two, over few cells: what is read in a round is used, and overwritten then or later."""
        depth = 1
        if self.often(4):
            self.add(depth, "for _ in range(2):", "again")
            depth += 1
        for _ in range(1 + self.often(3)):
            self.open_loop(depth)
            depth += 1
        for _ in range(self.choose([1, 2, 2, 3])):
            self.write_cell(depth, 0, True) if self.often(2) else self.statement(depth, 0, True)

    def open_loop(self, depth: int) -> None:
        index = self.choose(["i", self.fresh("i")]) if not self.loops else self.fresh("i")
        head, low, high = self.choose([*self.palette["ranges"], *(self.palette["inner"] * 2 if self.loops else [])])
        if self.loops:
            head = head.replace("{i}", self.choose(self.loops).index)
        self.add(depth, f"for {index} in {head}:", "loop")
        self.loops.append(Loop(index, low, high))

    def result_of(self, name: str) -> str:
        return self.choose([f"np.sum({name} * {name})", f"np.sum(np.sin({name}))", f"np.sum({name} ** 3)"])

    def statement(self, depth: int, room: int, loop: bool) -> None:
        options = list(self.kinds)
        if room > 0:
            options += ["if", *["loop"] * (3 if loop else 20), *["again"] * (1 if loop else 2)]
            options += ["counted"] * self.often(3)
        if loop:
            options += ["break", "continue"] * self.often(3)
        getattr(self, "write_" + self.choose(options))(depth, room, loop)

    def block(self, depth: int, room: int, loop: bool) -> None:
        for _ in range(self.choose([1, 1, 2, 2, 3])):
            self.statement(depth, room, loop)

    # --- places of templates ---

    def place(self, key: str) -> str:
        if key[0] == "S":
            return self.filled(self.choose(self.palette["values"]))
        if key[0] == "I":
            return self.at()
        if key[0] == "P":
            return self.part()
        if key[0] == "p":
            return f"{self.name('v')}[{self.at()}]"
        if key[0] == "i":
            return self.choose(self.loops).index if self.loops else "j"
        if key[0] == "B":
            return self.bound()
        return super().place(key)

    def at(self) -> str:
        if not self.loops or self.often(3):
            return self.choose(self.palette["places"])
        index, low, high = self.choose([*self.loops, self.loops[-1]])
        if self.often(4):
            return self.choose(self.palette["moving"]).replace("{i}", index)
        step = self.choose(self.palette["steps"])
        if step < -low - 1 or step > high:
            step = self.choose([-low, high, 0, 0])
        return index if step == 0 else f"{index} {'+-'[step < 0]} {abs(step)}"

    def part(self) -> str:
        if not self.loops or self.often(3):
            return self.choose(self.palette["parts"])
        return self.choose(self.palette["moving parts"]).replace("{i}", self.choose(self.loops).index)

    # --- statements ---

    def simple(self, depth: int, templates: Sequence[str], construct: str) -> None:
        self.add(depth, self.filled(self.choose(templates)), construct)

    def write_cell(self, depth: int, room: int, loop: bool) -> None:
        """A number that is read or computed, used, and stored perhaps, or overwritten where it was read."""
        for line in self.filled(self.choose(self.palette["cells"])).split("; "):
            self.add(depth, f"if {self.filled(self.choose(CONDITIONS))}:", "if") if (apart := self.often(7)) else None
            self.add(depth + apart, line, "cell")

    def write_read(self, depth: int, room: int, loop: bool) -> None:
        self.simple(depth, ["{s} = {p}", "{s} = {p}", "{s} = {S}", "{s} = {p} * {p}", "{s}, {s} = {p}, {p}"], "read")

    def write_write(self, depth: int, room: int, loop: bool) -> None:
        self.simple(depth, ["{p} = {S}"], "write")

    def write_update(self, depth: int, room: int, loop: bool) -> None:
        changes = ["{p} += {S}", "{p} -= {S}", "{p} *= {S}", "{p} /= 1.5 + np.cos({p})", "{p} *= {p}", "{p} **= 2"]
        self.simple(depth, changes, "update")

    def write_part(self, depth: int, room: int, loop: bool) -> None:
        self.simple(depth, self.palette["in parts"], "part")

    def write_whole(self, depth: int, room: int, loop: bool) -> None:
        self.simple(depth, self.palette["whole"], "whole")

    def write_matrix(self, depth: int, room: int, loop: bool) -> None:
        self.simple(depth, self.palette["matrix"], "matrix")

    def write_sum(self, depth: int, room: int, loop: bool) -> None:
        self.simple(depth, ["s += {S}", "s = s * 0.5 + {S}", "u += {p} * {p} * {p}", "s += np.sum({v} * {v})"], "sum")

    def write_swap(self, depth: int, room: int, loop: bool) -> None:
        names = self.shuffled(self.names["v"])
        self.add(depth, f"{', '.join(self.names['v'])} = {', '.join(names)}", "swap")

    def write_second_name(self, depth: int, room: int, loop: bool) -> None:
        self.simple(depth, ["{v} = {v}", "{v} = {v}[::-1]", "x = {v}", "{v} = {v}[:]"], "second_name")

    def write_count(self, depth: int, room: int, loop: bool) -> None:
        self.simple(depth, COUNTS, "count")

    def write_if(self, depth: int, room: int, loop: bool) -> None:
        self.add(depth, f"if {self.filled(self.choose(CONDITIONS))}:", "if")
        self.block(depth + 1, room - 1, loop)
        if self.often(3):
            self.add(depth, "else:", "else")
            self.block(depth + 1, room - 1, loop)

    def write_loop(self, depth: int, room: int, loop: bool) -> None:
        self.open_loop(depth)
        self.block(depth + 1, room - 1, True)
        self.loops.pop()

    def write_again(self, depth: int, room: int, loop: bool) -> None:
        """Rounds without an index."""
        self.add(depth, f"for _ in range({self.choose(['2', '3', 'k', 'n'])}):", "again")
        self.block(depth + 1, room - 1, True)

    def write_counted(self, depth: int, room: int, loop: bool) -> None:
        index = self.fresh("c")
        self.add(depth, f"{index} = 0", "counted")
        self.add(depth, f"while {index} < n:", "counted")
        self.loops.append(Loop(index, 0, 0))
        self.block(depth + 1, room - 1, False)
        self.loops.pop()
        self.add(depth + 1, f"{index} += {self.choose('112')}", "counted")

    def leave(self, depth: int, statement: str) -> None:
        self.add(depth, f"if {self.filled(self.choose(CONDITIONS))}:", "if")
        if self.often(2):
            self.simple(depth + 1, ["{p} = {S}", "{s} = {p}"], "write")
        self.add(depth + 1, statement, statement)


def arguments_of(n: int, seed: int) -> tuple[Any, ...]:
    """Arguments of a length; the seed chooses the precision, too."""
    rng = np.random.default_rng(seed)
    dtype = np.float32 if seed % 11 == 0 else float
    x, w, m = (rng.normal(size=shape).astype(dtype) * 0.7 for shape in (n, n, (n, n)))
    return x, w, m, rng.integers(0, n, size=n), 2
