"""Random programs of arrays without dimensions, numbers, and arrays of one element.

Operations turn the first into the second here and there, and views make either of the third: whether `a += b` writes
into memory, which others may share, or binds a name anew, is told by kinds alone, of values, tangents and adjoints.

    f(x, y, w)

x is a float, y an array without dimensions, w an array of one element.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.programs.generator import Program, Writer

KEEPING = [
    "np.array({a})", "np.asarray({a})", "np.asarray({a})[...]", "np.transpose({a})", "np.require({a})",
    "np.positive({a})", "np.copy({a})", "np.full((), {a})", "np.reshape({a}, ())", "np.squeeze({v})", "{v}[..., 0]",
    "{v}[0, ...]", "np.broadcast_to({a}, ())", "np.block({a})", "np.where({a} > {C}, {a}, {a})",
    "np.zeros(()) + {a}", "np.select([np.asarray({a}) > {C}], [{a}], {a})", "np.asarray({a}).view()",
    "np.asarray({a}).T", "{v}.reshape(())", "np.zeros(())", "np.real({a})", "np.nan_to_num({a})",
    "np.permute_dims(np.asarray({a}), ())", "np.asarray({a}).real", "np.zeros_like({a})",
    "np.einsum('...->...', {a})", "np.broadcast_to({v}, (1,))[..., 0]", "np.diagonal([{v}])[..., 0]",
]  # fmt: skip
COMPUTING = [
    "{a} * 1.0", "{a} + 0.5", "{a} - {a}", "-{a}", "np.sin({a})", "{v}[0]", "np.sum({v})", "float({a})",
    "np.float64({a})", "np.interp({a}, [-9.0, 9.0], [-3.0, 6.0])", "np.clip({a}, -9.0, 9.0)", "np.max({v})",
    "np.mean({v}, axis=0)", "np.stack([{a}, {a}])[1]", "np.append({a}, {a}).sum()", "np.ravel({a})[0]",
    "np.dot({a}, {a})", "{v} @ {v}", "{v}.item()", "np.asarray({a})[()]", "np.cumsum({a})[0]", "x", "y", "{a}",
    "0.5", "{a} / (2.0 + {a} * {a})", "np.sum({a})", "np.prod({v})", "np.squeeze({v}) * {a}",
]  # fmt: skip
ONE = [
    "np.atleast_1d({a})", "np.reshape({a}, 1)", "np.ravel({a})", "np.expand_dims({a}, 0)", "np.asarray({a})[None]",
    "{v} * {a}", "np.full(1, {a})", "np.broadcast_to({a}, (1,))", "np.array([{a}])", "np.append({a}, {a})[:1]",
    "np.concatenate([{v}, {v}])[1:]", "{v}[:]", "{v}.view()", "{v}", "np.asarray({a}).reshape(-1)", "{v} + {v}",
    "np.atleast_1d({v})", "w", "np.asarray({v})", "{v}[::-1]", "np.asarray({a}).ravel()",
    "np.asarray({a}).reshape(1, 1)[0]",
]  # fmt: skip
UPDATES = [
    "{a} += {b}", "{a} += {a}", "{a} -= {b} * {a}", "{a} *= {b}", "{a} /= 2.0 + {b} * {b}", "{a} **= 2",
    "{a} += {v}[0]", "{v} += {a}", "{v} *= {v}", "{v} -= {a} * {v}", "{v}[0] = {a}", "{v}[0] += {a}",
    "{v}[...] = {a} * {v}", "{v}[0] *= {a}", "{a} -= {b}",
]  # fmt: skip
INTO = [
    "{z}[...] = {b}", "{z}[()] *= {b}", "{z}[...] += {b} * {b}", "np.add({z}, {b}, out={z})", "{z} *= {b}",
    "{z} += {b}",
]  # fmt: skip
CONTAINERS = [
    "held = [{a}, {b}]", "held[0] += {a}", "held[1] *= {b}", "{a} = held[0]", "held.append({a})", "{a} = held[-1]",
    "box['p'] += {a}", "box['p'] *= box['q']", "box['q'] = {a}", "{a} = box['p']", "box = {'p': {a}, 'q': {b}}",
    "held = [{a} for _ in held]", "{a} += sum(held)", "for z in held: z *= {a}", "{a}, {a} = held[:2]",
    "held[0] = {b}",
]  # fmt: skip
DIMENSIONLESS = "keeping computing one update into container alias if for".split()


class DimensionlessWriter(Writer):
    """Writes programs of arrays without dimensions."""

    length = 4, 8

    def __init__(self, seed: int, nesting: int = 1) -> None:
        super().__init__(seed, nesting)
        self.names = {"a": ["a", "b", "c"], "v": ["u", "v"]}

    @staticmethod
    def arguments(seed: int) -> tuple[Any, ...]:
        rng = np.random.default_rng(seed)
        x, y, w = rng.uniform(0.3, 0.9, 3)
        return float(x), np.array(y), np.array([w])

    def place(self, key: str) -> str:
        return self.bound() if key == "C" else self.name("a" if key == "b" else key)

    def program(self) -> Program:
        self.lines += ["def f(x, y, w):", f"    a, b, c = {self.choose(['x, y', 'y, x', 'x, x', 'y, y'])}, x * y"]
        self.lines += [
            f"    v = {self.choose(['w', 'w * 1.0'])}",
            f"    u = {self.choose(['v', 'v * x', 'np.ravel(y)'])}",
        ]
        self.lines += ["    held = [a, c]", "    box = {'p': b, 'q': a}"]
        for _ in range(self.random.randint(*self.length)):
            self.statement(1, self.nesting, False)
        self.lines.append("    return np.sum(np.sin(a * b) + c * u + v * held[0] * y + box['p'] * x)")
        return Program("\n".join(self.lines) + "\n", self.constructs)

    def options(self, room: int, loop: bool) -> list[str]:
        options = (
            ["keeping"] * 4 + ["computing"] * 3 + ["one"] * 3 + ["update"] * 6 + ["container"] * 2 + ["into", "alias"]
        )
        return options + ["if", "for"] * (room > 0)

    def statement(self, depth: int, room: int, loop: bool) -> None:
        getattr(self, "write_" + self.choose(self.options(room, loop)))(depth, room, loop)

    def write_keeping(self, depth: int, room: int, loop: bool) -> None:
        self.add(depth, f"{self.name('a')} = {self.filled(self.choose(KEEPING))}", "keeping")

    def write_computing(self, depth: int, room: int, loop: bool) -> None:
        self.add(depth, f"{self.name('a')} = {self.filled(self.choose(COMPUTING))}", "computing")

    def write_one(self, depth: int, room: int, loop: bool) -> None:
        self.add(depth, f"{self.name('v')} = {self.filled(self.choose(ONE))}", "one")

    def write_update(self, depth: int, room: int, loop: bool) -> None:
        self.add(depth, self.filled(self.choose(UPDATES)), "update")

    def write_into(self, depth: int, room: int, loop: bool) -> None:
        """An array that surely has no dimensions is written into, while others share its memory."""
        name = self.name("a")
        self.add(
            depth, f"{name} = {self.filled(self.choose(['np.array({a})', '{v}[..., 0]', 'np.asarray({a})']))}", "into"
        )
        if self.often(2):
            self.add(depth, f"{self.name('v')} = {self.choose(['np.atleast_1d', 'np.ravel'])}({name})", "into")
        self.add(depth, self.filled(self.choose(INTO).replace("{z}", name)), "into")

    def write_container(self, depth: int, room: int, loop: bool) -> None:
        line = self.choose(CONTAINERS)
        self.add(depth, self.filled(line), "container")

    def write_for(self, depth: int, room: int, loop: bool) -> None:
        self.add(depth, f"for _ in range({self.choose('0122')}):", "for")
        self.block(depth + 1, room - 1, True)

    def write_if(self, depth: int, room: int, loop: bool) -> None:
        self.add(depth, f"if {self.name('a')} > {self.bound()}:", "if")
        self.block(depth + 1, room - 1, loop)
        if self.often(2):
            self.add(depth, "else:", "if")
            self.block(depth + 1, room - 1, loop)
