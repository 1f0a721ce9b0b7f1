"""The side-by-side view: every generated line, and on its left the user's statement that it came from."""

import numpy as np
import pytest

import s2s
from s2s import core, explain
from s2s.codegen.build import build
from s2s.tools.explain import side_by_side
from tests.codegen.helpers import core_function


def wave(z):
    return np.sin(z) * 2


def settle(x, n):
    total = 0.0
    for i in range(n):
        if x > 0.5:
            x = x * 0.9
        total += x * x
    return total


def columns(text):
    """The two columns of each line, without the indentation of the whole."""
    return [tuple(part.rstrip() for part in line.split(" | ", 1)) for line in text.splitlines() if " | " in line]


def line_of(function, statement):
    code = function.__code__
    with open(code.co_filename, encoding="utf-8") as file:
        lines = file.read().splitlines()
    return next(n for n in range(code.co_firstlineno, len(lines)) if lines[n - 1].strip() == statement)


def test_right_column_is_the_source_without_its_quotes():
    df = s2s.grad(settle)
    statements = {"x = x * 0.9", "total += x * x"}
    source = [line for line in df.source(2.0, 3).splitlines() if line.strip().removeprefix("# ") not in statements]
    shown = [right for _, right in columns(explain(df, 2.0, 3)) if right.strip() not in statements]
    assert shown == source


def test_left_column_names_the_users_lines_beside_what_came_from_them():
    number = line_of(settle, "x = x * 0.9")
    lefts = {left for left, right in columns(explain(s2s.grad(settle), 2.0, 3)) if right.endswith("* 0.9")}
    assert lefts == {f"{number}          x = x * 0.9"}


def test_lines_without_a_statement_of_their_own_have_an_empty_left():
    text = "def f(x):\n    if x:\n        y = 1\n    else:\n        y = 2\n    return y"
    fn = core_function(text, offset=96)
    core.place(fn.body[-1], core.origin_of(fn.body[-1]), ["reverse", "return y"])
    assert side_by_side(build(fn), "f").splitlines() == [
        "               | def f(x):",
        " 98  if x:     |     if x:",
        " 99      y = 1 |         y = 1",
        "               |     else:",
        "101      y = 2 |         y = 2",
        "               |     # reverse",
        "102  return y  |     return y",
    ]


def test_statement_is_shown_once_for_the_lines_that_follow_each_other():
    lefts = [left for left, _ in columns(explain(s2s.grad(settle), 2.0, 3)) if left]
    assert all(left != following for left, following in zip(lefts, lefts[1:]))


def test_inlined_statement_carries_the_name_of_its_function():
    def user(x):
        y = wave(x)
        return y * y

    text = explain(s2s.grad(user), 1.5)
    assert f"wave:{line_of(wave, 'return np.sin(z) * 2')}  return np.sin(z) * 2" in text


def test_latest_variant_is_explained_without_arguments():
    df = s2s.grad(settle)
    df(2.0, 3)
    assert explain(df) == explain(df, 2.0, 3)


def test_function_on_the_tape_is_explained_by_the_reason():
    def opaque(x):
        return eval("1.0") * x

    df = s2s.grad(opaque)
    with pytest.warns(s2s.FallbackWarning):
        df(2.0)
    text = explain(df, 2.0)
    assert 'return eval("1.0") * x' in text
    assert str(df.fallbacks[0]) in text


def test_another_function_is_refused():
    with pytest.raises(s2s.ArgumentError, match="what s2s.grad returns"):
        explain(settle, 2.0, 3)
