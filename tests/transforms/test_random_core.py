"""Random Core programs mean the same before and after each of the last passes."""

import math
import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2s import core
from s2s import kinds as K
from s2s.transforms.coalesce import coalesce
from s2s.transforms.comment import comment
from s2s.transforms.fold import fold
from s2s.transforms.rename import rename
from s2s.transforms.simplify import simplify
from tests.transforms.programs import TASK, core_function, run

PASSES = (simplify, coalesce, simplify, fold, rename, comment)
NAMES = ["a", "a·2", "a·3", "b", "b·2", "b·3", "a_bar", "a_bar·2", "t··1", "t··2", "t··3", "cond··4", "t_bar··5"]
ARRAYS = ["v", "v·2", "v·3", "w", "t··6", "t··7", "v_bar"]


class Programs:
    """Draws programs on numbers and arrays.

    A name is read only where it surely has a value. Names are assigned over and over, in branches and loops,
    temporaries too: more freely than any pass of ours does.
    """

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []
        self.budget = self.random.randint(3, 60)
        self.marker = 0
        self.bound = ["x", "y"]
        self.arrays = ["u"]

    def pick(self, *options):
        return self.random.choice(options)

    def number(self):
        """A number to read: more often one that was assigned lately."""
        return self.pick(*self.bound, *self.bound[-4:], *self.bound[-2:], "0.5", "1.0")

    def array(self):
        return self.pick(*self.arrays, *self.arrays[-2:])

    def bind(self, name):
        known = self.arrays if name in ARRAYS else self.bound
        if name in known:
            known.remove(name)
        known.append(name)
        return name

    def emit(self, depth, text):
        self.lines.append("    " * depth + text)

    def assign(self, depth, names, value):
        self.emit(depth, f"{self.bind(self.pick(*names))} = {value}")

    def block(self, depth):
        for _ in range(self.random.randint(1, 7)):
            self.statement(depth)

    def inner(self, depth):
        """A block that may not run: what it binds first is not read after it."""
        before = list(self.bound), list(self.arrays)
        self.block(depth)
        after = self.bound, self.arrays
        self.bound, self.arrays = before
        return after

    def statement(self, depth):
        self.budget -= 1
        compound = ["if"] * 2 + ["for", "for", "while", "flag"] if depth < 4 and self.budget > 0 else []
        simple = (
            ["number"] * 6 + ["copy"] * 5 + ["array"] * 4 + ["array copy"] * 2 + ["store", "inplace", "push", "log"]
        )
        simple += ["unpack", "reduce", "add"]
        getattr(self, "make_" + self.pick(*simple, *compound).replace(" ", "_"))(depth)

    def make_number(self, depth):
        op = self.pick("+", "-", "*")
        value = self.pick(f"{self.number()} {op} {self.number()}", f"-{self.number()}", f"math.tanh({self.number()})")
        self.assign(depth, NAMES, value)

    def make_add(self, depth):
        name = self.pick(*self.bound)
        if name in ("x", "y"):
            self.make_copy(depth)
        else:
            self.emit(depth, f"{name} = {name} {self.pick('+', '-')} {self.number()}")

    def make_copy(self, depth):
        self.assign(depth, NAMES, self.number())

    def make_array(self, depth):
        op = self.pick("+", "-", "*")
        other = self.pick(self.array(), self.number())
        value = self.pick(f"{self.array()} {op} {other}", f"-{self.array()}", f"np.tanh({self.array()})")
        self.assign(depth, ARRAYS, value)

    def make_array_copy(self, depth):
        self.assign(depth, ARRAYS, self.array())

    def make_store(self, depth):
        self.emit(depth, f"{self.array()}[{self.pick('0', '1')}] = {self.number()}")

    def make_inplace(self, depth):
        name = self.array()
        if name == "u":
            self.make_array(depth)
        else:
            self.emit(depth, f"{name} {self.pick('+=', '-=')} {self.pick(self.array(), self.number())}")

    def make_reduce(self, depth):
        self.assign(depth, NAMES, self.pick(f"np.sum({self.array()})", f"{self.array()}[0]"))

    def make_push(self, depth):
        self.emit(depth, f"a_tape.append({self.number()})")
        if depth < 3 and self.budget > 0:
            self.block(depth)
        self.assign(depth, NAMES, "a_tape.pop()")

    def make_log(self, depth):
        if self.pick(True, False):
            self.emit(depth, f"log({self.number()})")
        else:
            self.assign(depth, NAMES, f"log({self.number()})")

    def make_unpack(self, depth):
        one, other = self.random.sample(NAMES, 2)
        self.emit(depth, f"t··8 = ({self.number()}, {self.number()})")
        self.emit(depth, f"({self.bind(one)}, {self.bind(other)}) = t··8")

    def make_if(self, depth):
        self.emit(depth, f"cond··9 = {self.number()} < {self.number()}")
        self.emit(depth, "if cond··9:")
        then = self.inner(depth + 1)
        if self.pick(True, False):
            self.emit(depth, "else:")
            other = self.inner(depth + 1)
            self.bound = [n for n in then[0] if n in other[0]]
            self.arrays = [n for n in then[1] if n in other[1]]

    def make_for(self, depth):
        self.emit(depth, f"iter··10 = range({self.pick('n', '2', '0')})")
        self.emit(depth, f"for {self.pick('i', 'i·2')} in iter··10:")
        self.inner(depth + 1)
        if self.pick(True, False, False):
            self.emit(depth + 1, f"cond··9 = {self.number()} < {self.number()}")
            self.emit(depth + 1, "if cond··9:")
            self.emit(depth + 2, "break")

    def make_while(self, depth):
        count, cond = f"count··{20 + self.marker}", f"test··{20 + self.marker}"
        self.marker += 1
        self.emit(depth, f"{count} = {self.pick('0', '2')}")
        held = self.pick(True, False)
        if held:
            self.emit(depth, f"{cond} = {count} < 2")
        self.emit(depth, f"while {cond}:" if held else f"while {count} < 2:")
        self.emit(depth + 1, f"{count} = {count} + 1")
        self.inner(depth + 1)
        self.emit(depth + 1, f"{cond} = {count} < 2")

    def make_flag(self, depth):
        """A loop that is left by a flag, set where a condition holds."""
        done = f"done··{20 + self.marker}"
        self.marker += 1
        self.emit(depth, f"{done} = False")
        self.emit(depth, f"iter··10 = range({self.pick('n', '2')})")
        self.emit(depth, "for i in iter··10:")
        before = list(self.bound), list(self.arrays)
        self.block(depth + 1)
        self.emit(depth + 1, f"cond··9 = {self.number()} < {self.number()}")
        self.emit(depth + 1, "if cond··9:")
        self.inner(depth + 2)
        self.emit(depth + 2, f"{done} = True")
        if self.pick(True, False):
            self.emit(depth + 1, "else:")
            self.inner(depth + 2)
        if self.pick(True, False):
            self.block(depth + 1)
        self.bound, self.arrays = before
        self.emit(depth + 1, f"if {done}:")
        self.emit(depth + 2, "break")


def program(seed):
    made = Programs(seed)
    made.emit(0, "def f(x, y, u, n):")
    made.emit(1, "a_tape = []")
    for _ in range(2):
        made.block(1)
    made.emit(1, "# reverse")
    for _ in range(3):
        made.block(1)
    returned = [made.number(), made.number(), made.number(), made.array(), made.array()]
    made.emit(1, f"return ({', '.join(returned)})")
    return "\n".join(made.lines)


def kinds_of(known):
    if not known:
        return {}
    numbers = {n: K.FLOAT for n in [*NAMES, "x", "y"]} | {"n": K.Int(), "i": K.Int(), "i·2": K.Int()}
    numbers |= {"cond··9": K.Bool(), "iter··10": K.Range()}
    for i in range(20, 90):
        numbers |= {f"count··{i}": K.Int(), f"test··{i}": K.Bool(), f"done··{i}": K.Bool()}
    return numbers | {n: K.Array(np.dtype(float), 1) for n in [*ARRAYS, "u"]}


def outcome(fn):
    """What a run returns, what it leaves in its argument, and what it logged."""
    seen = []

    def log(value):
        seen.append(value)
        return value * 0.5

    fn = replace(fn, scope=type(fn.scope)({**fn.scope.globals, "log": log}))
    with np.errstate(all="ignore"):
        result = run(fn, 0.375, -1.25, np.array([0.5, -0.75]), 3)
    return [*result, *seen], len(seen)


@pytest.mark.parametrize("known", [True, False], ids=["kinds known", "kinds unknown"])
@given(seed=st.integers(0, 1 << 32))
@settings(max_examples=150)
def test_passes_preserve_the_meaning_of_random_programs(known, seed):
    text = program(seed)
    fn = core_function(text, kinds=kinds_of(known), scope={"log": None})
    want, logged = outcome(fn)
    for step in PASSES:
        fn = step(fn, TASK)
        if step in (simplify, coalesce):
            core.check(fn)
        got, count = outcome(fn)
        assert count == logged, step.__name__
        for a, b in zip(got, want):
            # Products of the reverse sweep may be taken in another order.
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9, err_msg=f"{step.__name__}\n{text}")


def test_forward_statements_keep_their_value_to_the_last_bit():
    text = """
def f(x, y):
    t··1 = 2.0 * y
    a = x * t··1
    t··2 = 1.0 / y
    b = a * t··2
    return b
"""
    fn = core_function(text.strip(), kinds={n: K.FLOAT for n in ("x", "y", "a", "b", "t··1", "t··2")})
    before = run(fn, math.pi, 0.1)
    for step in PASSES:
        fn = step(fn, TASK)
        assert run(fn, math.pi, 0.1) == before
