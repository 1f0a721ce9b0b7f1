"""Random programs of the whole language: every row of `docs/language.md` that is compiled occurs, and is right."""

import contextlib
import io
import pathlib
from collections import Counter

import pytest

from tests.programs.hunt import define, explore
from tests.programs.language import ROWS, WRITTEN, LanguageWriter
from tests.programs.verify import verify

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "language.md"


def compiled_rows():
    lines = [line.split(" | ") for line in PAGE.read_text(encoding="utf-8").splitlines()]
    return {line[0].removeprefix("| ") for line in lines if line[1:] == ["compiled |"]}


def test_every_compiled_row_has_a_construct():
    assert compiled_rows() == ROWS.keys() | WRITTEN.keys()
    assert not ROWS.keys() & WRITTEN.keys()


def test_every_row_occurs_in_random_programs():
    """So often that 20,000 programs hold each row two hundred times."""
    programs = [LanguageWriter(seed).program() for seed in range(1000)]
    held = Counter(construct for program in programs for construct in program.constructs)
    rare = {row: held[row] for row in ROWS if held[row] < 10}
    rare |= {row: held[name] for row, names in WRITTEN.items() for name in names if held[name] < 10}
    assert rare == {}


def right(found):
    """Programs of the whole language are right, and nineteen of twenty compiled."""
    assert not found.failures, f"{found}\n\n" + "\n".join(map(str, found.failures))
    assert found.counts["compiled"] >= 0.9 * found.counts["programs"], found


def test_random_programs_of_the_language_are_right():
    with contextlib.redirect_stdout(io.StringIO()):
        right(explore(range(12), LanguageWriter, nesting=2))


@pytest.mark.full
@pytest.mark.parametrize("start", range(10_000, 20_000, 500))
def test_many_random_programs_of_the_language_are_right(start):
    with contextlib.redirect_stdout(io.StringIO()):
        right(explore(range(start, start + 500), LanguageWriter))


FOUND = """\
def f(a, b, u, m, pair, knobs, rows, weights, picks, n, settings, model=model):
    c = a
    q = m
    if c >= 0.741:
        v = model(u)
    else:
        v = q[0]
    x7 = (v for v in v)
    a = sum(x7)
    return a
"""


def test_a_loop_over_active_values_of_unknown_kind_is_not_compiled():
    verify(define(FOUND), LanguageWriter.arguments(3137), seed=3137)
