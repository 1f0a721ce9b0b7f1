"""The table of semantic cases, on this library."""

import pathlib

import pytest

from tests.autograd.semantics.every import CASES
from tests.autograd.semantics.libraries import S2S
from tests.autograd.semantics.table import check

ROWS = pathlib.Path(__file__).parents[3] / "docs" / "eager.md"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.filterwarnings("ignore")
def test_semantics(case):
    check(case, S2S(), case.expect)


def test_the_table_has_at_least_150_cases():
    assert len(CASES) >= 150


def test_every_difference_on_purpose_has_its_row():
    text = ROWS.read_text()
    for case in CASES:
        assert not case.differs or f"| {case.differs} |" in text, case.name
    assert any(case.differs for case in CASES)
