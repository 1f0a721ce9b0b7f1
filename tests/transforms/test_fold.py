"""Temporaries go back into expressions, and Python's order of evaluation stays."""

import operator

import numpy as np
import pytest

from s2s import kinds as K
from s2s.transforms.fold import fold
from tests.transforms.programs import TASK, core_function, text_of

FLOATS = {n: K.FLOAT for n in ("x", "y", "s", "t··1", "t··2", "t··3", "x_bar")}
VECTOR = K.Array(np.dtype(float), 1)


def folded(*lines, kinds=FLOATS, scope=None, params="x, y, s, v, g, h, n, log, x_bar"):
    text = f"def f({params}):\n" + "".join(f"    {line}\n" for line in lines)
    return text_of(fold(core_function(text, kinds=kinds, scope=scope), TASK)).split("\n")


@pytest.mark.parametrize(
    "lines, want",
    [
        (["t··1 = x + y", "t··2 = t··1 * x", "return t··2"], ["return (x + y) * x"]),
        (["t··1 = (x, y)", "return t··1"], ["return x, y"]),
        (["t··1 = (y, x)", "(x, y) = t··1", "return x"], ["x, y = y, x", "return x"]),
        (["t··1 = v.shape", "t··2 = np.zeros(t··1)", "return t··2"], ["return np.zeros(v.shape)"]),
        (["t··1 = n + 1", "v[t··1] = x", "return v"], ["v[n + 1] = x", "return v"]),
        (["t··1 = x < y", "assert t··1", "return x"], ["assert x < y", "return x"]),
        (["t··1 = g(x)", "t··2 = h(y)", "t··3 = t··1 + t··2", "return t··3"], ["return g(x) + h(y)"]),
        (["t··1 = x * 2.0", "z = t··1 + t··1", "return z"], ["t··1 = x * 2.0", "z = t··1 + t··1", "return z"]),
        (["y = x * 2.0", "return y"], ["y = x * 2.0", "return y"]),
    ],
)
def test_single_use_temporaries_are_folded(lines, want):
    assert folded(*lines) == want


def test_conditions_and_iterables_go_into_headers():
    got = folded(
        "cond··1 = x < y", "if cond··1:", "    x = y",
        "range··2 = range(n)", "t··3 = reversed(range··2)", "for i in t··3:", "    x = x * y", "return x",
    )  # fmt: skip
    assert got == ["if x < y:", "    x = y", "for i in reversed(range(n)):", "    x = x * y", "return x"]


def test_the_test_of_a_loop_goes_into_its_header():
    got = folded(
        "t··1 = g(x)", "cond··2 = t··1 > y",
        "while cond··2:", "    x = x * y", "    t··1 = g(x)", "    cond··2 = t··1 > y",
        "return x",
    )  # fmt: skip
    assert got == ["while g(x) > y:", "    x = x * y", "return x"]


@pytest.mark.parametrize(
    "lines",
    [
        ["t··1 = g(x)", "log(y)", "z = t··1 + y", "return z"],  # two effects keep their order
        ["t··1 = v[0]", "v[0] = y", "z = t··1 + y", "return z"],  # what is read is written
        ["t··1 = x * y", "x = 2.0", "z = t··1 + x", "return z"],  # an operand is assigned again
        ["t··1 = x * y", "for i in v:", "    x = t··1 + i", "return x"],  # computed once, not once a trip
        ["t··1 = x / y", "if s:", "    x = t··1", "return x"],  # the division may raise
        ["t··1 = g(x)", "v[0] += t··1", "return v"],  # v[0] is read before g is called
    ],
)
def test_what_may_not_move_stays(lines):
    assert folded(*lines) == lines


def test_of_two_calls_the_one_that_may_is_folded():
    got = folded("t··1 = g(x)", "t··2 = h(y)", "z = t··2 + t··1", "return z")
    assert got == ["t··1 = g(x)", "z = h(y) + t··1", "return z"]


def test_what_is_written_out_for_one_name_may_take_another_along():
    got = folded("t··1 = g(x)", "t··2 = h(y)", "z = t··1 + t··2", "return z, t··2")
    assert got == ["t··1 = g(x)", "t··2 = h(y)", "z = t··1 + t··2", "return z, t··2"]


def test_lines_stay_short():
    lines = [f"t··{i + 1} = {'x_with_a_long_name' if i == 0 else f't··{i}'} * another_long_name" for i in range(12)]
    got = folded(*lines, "return t··12", params="x_with_a_long_name, another_long_name", kinds={})
    assert len(got) > 1 and max(map(len, got)) <= 100


@pytest.mark.parametrize(
    "line, quoted, want",
    [
        ("s = s + x", "s += x", "s += x"),
        ("s = s - x", "s -= x", "s -= x"),
        ("s = s + x", "s = s + x", "s = s + x"),
        ("s = s * x", "s = s * x", "s = s * x"),
        ("v = v + x", "v = v + x", "v = v + x"),
    ],
)
def test_sums_are_written_as_the_user_wrote_them(line, quoted, want):
    assert folded(f"{line}  # from: {quoted}", "return s")[0] == want


def test_adjoints_of_numbers_accumulate_in_place():
    lines = [
        "n = 1",
        "# reverse",
        "x_bar = 0.0",
        "t··1 = x * y",
        "x_bar = x_bar + t··1",
        "v = v + x",
        "return x_bar, v",
    ]
    in_place = ["n = 1", "x_bar = 0.0", "x_bar += x * y", "v = v + x", "return x_bar, v"]
    assert folded(*lines, params="x, y, s, v, g, h, n, log") == in_place
    # What is given may be an array without dimensions.
    assert "x_bar = x_bar + x * y" in folded(*lines)


def test_inplace_calls_become_statements():
    scope = {"iadd": operator.iadd}
    assert folded("v = iadd(v, x)", "return v", scope=scope)[0] == "v += x"
    assert folded("s = iadd(x, y)", "return s", scope=scope)[0] == "s = x + y"
    assert folded("w = iadd(v, x)", "return w", scope=scope)[0] == "w = iadd(v, x)"


def test_a_sign_goes_in_front_of_a_product():
    got = folded("n = 1", "# reverse", "t··1 = x * y", "t··2 = t··1 / s", "x_bar = -t··2", "return x_bar")
    assert got[1] == "x_bar = -x * y / s"


def test_an_empty_branch_turns_the_condition():
    got = folded("cond··1 = x < y", "if cond··1:", "    pass", "else:", "    x = y", "return x")
    assert got == ["if not x < y:", "    x = y", "return x"]


def test_nothing_is_held_back_past_an_exit():
    got = folded(
        "for i in v:", "    t··1 = i * x", "    cond··2 = i < y", "    if cond··2:", "        break",
        "z = t··1 + x", "return z",
    )  # fmt: skip
    assert got == ["for i in v:", "    t··1 = i * x", "    if i < y:", "        break", "z = t··1 + x", "return z"]


def test_nothing_is_held_back_where_an_exception_may_be_caught():
    text = """
    def f(x, g):
        t··1 = 0.0
        try:
            t··1 = x * 2.0
            g(x)
            y = t··1 + x
        except ZeroDivisionError:
            y = t··1
        return y
    """
    fn = core_function(text, kinds=FLOATS)
    assert text_of(fold(fn, TASK)) == text_of(fn)
