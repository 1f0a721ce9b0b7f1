"""Random programs: what is compiled of them is right, and nearly all are compiled."""

from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.programs.expressions import ARRAY, MATRIX, SCALAR
from tests.programs.generator import NOT_COMPILED, arguments, define, programs
from tests.programs.verify import verify

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]

# What a statement of the generator is counted as, besides the kinds of its expressions.
STATEMENTS = """assign augmented unpack star alias conditional list dict tuple effect assert errstate if elif else for
index rows while forever break continue return walrus""".split()
STATEMENTS += ["nested unpack", "f-string", "loop else", "chained comparison", "and/or"]


def explored(count, nesting=3):
    """Verify `count` random programs; what was found out about them, summed."""
    seen = Counter()

    @settings(max_examples=count, suppress_health_check=SLOW)
    @given(programs(nesting), st.integers(0, 999))
    def hold(program, seed):
        outcome = verify(define(program), arguments(seed))
        seen.update(programs=1, kink=outcome.kink, finite=outcome.finite, raised=outcome.raised)
        if program.compiles:
            seen.update(eligible=1, compiled=outcome.compiled)

    hold()
    return seen


def right_and_compiled(seen):
    assert seen["compiled"] >= 0.95 * seen["eligible"], seen
    assert seen["eligible"] >= 0.7 * seen["programs"], seen
    # Only so many may escape the comparison with differences.
    assert seen["finite"] - seen["kink"] >= 0.9 * seen["programs"], seen


def test_gradients_of_random_programs_are_right_at_every_stage():
    right_and_compiled(explored(60, nesting=2))


@pytest.mark.full
def test_gradients_of_many_random_programs_are_right_at_every_stage():
    right_and_compiled(explored(2000))


def test_the_generator_reaches_every_construct():
    seen, sizes = Counter(), []

    @settings(max_examples=400, suppress_health_check=SLOW)
    @given(programs())
    def look(program):
        seen.update(program.constructs.keys())
        sizes.append(sum(program.constructs.values()))

    look()
    expected = {*STATEMENTS, *SCALAR, *ARRAY, *MATRIX, *NOT_COMPILED}
    assert expected - set(seen) == set()
    assert sum(sizes) / len(sizes) > 15, "programs hold too few constructs"
