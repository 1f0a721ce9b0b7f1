"""Our names become plain ones that nobody else uses."""

import pytest

from s2s import kinds as K
from s2s.transforms.rename import rename
from tests.transforms.programs import TASK, core_function, text_of


@pytest.mark.parametrize(
    "lines, want",
    [
        (["x·2 = p", "return x·2"], ["x = p", "return x"]),
        (["x·2 = p", "x = 1", "y = x + x·2", "return y"], ["x2 = p", "x = 1", "y = x + x2", "return y"]),
        (["cond··3 = p", "cond··4 = cond··3", "return cond··4"], ["cond = p", "cond2 = cond", "return cond2"]),
        (["t··1 = t", "return t··1"], ["t2 = t", "return t2"]),  # a global that is read
        (["range··1 = range(p)", "return range··1"], ["range2 = range(p)", "return range2"]),
        (["x_bar··1 = p", "return x_bar··1"], ["x_bar = p", "return x_bar"]),
    ],
)
def test_names_are_plain_and_unique(lines, want):
    text = "def f(p):\n" + "".join(f"    {line}\n" for line in lines)
    assert text_of(rename(core_function(text), TASK)).split("\n") == want


def test_names_of_closures_are_not_taken():
    text = """
    def f(p):
        x·2 = p
        def g(x):
            return x
        y = g(x·2)
        return y
    """
    assert "x2 = p" in text_of(rename(core_function(text), TASK))


def test_facts_follow_the_names():
    fn = rename(core_function("def f(p):\n    x·2 = p\n    return x·2", kinds={"x·2": K.FLOAT, "p": K.FLOAT}), TASK)
    assert fn.facts.kinds == {"x": K.FLOAT, "p": K.FLOAT}
