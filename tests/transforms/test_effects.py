"""What an operation may do besides giving a value."""

import math

import gast
import numpy as np
import pytest

from s2s import kinds as K
from s2s.core import Scope
from s2s.runtime import pytree
from s2s.transforms.effects import Effects, Knowledge, is_total
from tests.transforms.programs import core_function

VECTOR = K.Array(np.dtype(float), 1)
KINDS = {
    "x": K.FLOAT, "z": K.COMPLEX, "n": K.Int(), "v": VECTOR, "w": VECTOR, "m": K.Array(np.dtype(float), 2),
    "k": K.Array(np.dtype(int), 1), "s": K.Scalar(np.dtype(float)), "f": K.Static(print), "t": K.Tuple((K.FLOAT,)),
    "it": K.Iterator(K.FLOAT), "a": K.Numeric(np.dtype(float)), "u": K.UNKNOWN,
}  # fmt: skip
SCOPE = Scope({"np": np, "math": math})


def total(text):
    return is_total(gast.parse(text).body[0].value, KINDS, SCOPE)


@pytest.mark.parametrize(
    "text",
    ["x * x", "x + n", "v * 2.0", "v ** 2", "s / x", "v * v", "v @ v", "np.tanh(v)", "np.mean(v)", "len(v)", "-m",
     "v.T", "math.tanh(x)", "range(n)", "x < 0.5", "(x, v)", "[x]", "t is None", "np.zeros_like(v)", "v.sum()",
     "{'a': x}"],
)  # fmt: skip
def test_arithmetic_on_known_numbers_does_nothing(text):
    assert total(text)


@pytest.mark.parametrize(
    "text",
    ["x / x", "x ** x", "x // n", "math.log(x)", "math.exp(x)", "v[0]", "t[0]", "v + w", "v @ w", "m @ v", "a + v",
     "f(x)", "u + x", "u.field", "np.random.rand()", "np.max(v)", "np.linalg.solve(m, v)", "k ** -1",
     "np.add(v, x, out=v)", "list(it)", "range(x)", "z < z", "f'{x}'"],
)  # fmt: skip
def test_what_may_raise_or_write_is_kept(text):
    assert not total(text)


def test_the_reverse_sweep_may_drop_what_the_user_may_not():
    known = Knowledge(core_function("def f(x, v, w):\n    return x", kinds=KINDS))
    division, sum_ = (gast.parse(t).body[0].value for t in ("x / x", "v + w"))
    assert known.effects(division).raises and not known.effects(division, ours=True).raises
    assert known.effects(sum_, ours=True) == Effects(reads=True)


def test_what_accumulates_in_place_writes_in_the_reverse_sweep_too():
    scope = {"add_shadows": pytree.add, "unshadow": pytree.unshadow}
    known = Knowledge(core_function("def f(x, v, w):\n    return x", kinds=KINDS, scope=scope))
    add, unshadow = (gast.parse(t).body[0].value for t in ("add_shadows(v, w)", "unshadow(v, w)"))
    assert known.effects(add, ours=True).writes and not known.effects(unshadow, ours=True).writes


def test_only_lists_that_are_pushed_and_popped_are_tapes():
    text = """
def f(x):
    a_tape = []
    b_tape = []
    c_tape = []
    a_tape.append(x)
    b_tape.append(x)
    c_tape.extend(x)
    y = a_tape.pop()
    z = b_tape
    return z
"""
    assert Knowledge(core_function(text.strip())).tapes == {"a_tape"}
