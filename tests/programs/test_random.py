"""Random programs: what is compiled of them is right, and nearly all are compiled."""

import pytest

from tests.programs.containers import CONTAINERS, ContainerWriter
from tests.programs.dimensionless import DIMENSIONLESS, DimensionlessWriter
from tests.programs.expressions import ARRAY, MATRIX, SCALAR
from tests.programs.generator import EXITS, RARE, Writer
from tests.programs.hunt import explore
from tests.programs.indices import INDICES, IndexWriter
from tests.programs.inplace import INPLACE, InplaceWriter
from tests.programs.lists import ListWriter
from tests.programs.shrink import shrunk
from tests.programs.tries import TRIES, TryWriter

# What a statement of the generator is counted as, besides the kinds of its expressions.
STATEMENTS = """assign augmented unpack star alias conditional list dict tuple effect assert errstate if elif else for
index rows while forever break continue return walrus""".split()
STATEMENTS += ["nested unpack", "f-string", "loop else", "chained comparison", "and/or"]

# The share of programs that must be compiled, of each fifty. Of all that write in place together it is more than 0.95.
COMPILED = {Writer: 0.95, InplaceWriter: 0.9}
WRITERS = pytest.mark.parametrize("writer", [Writer, InplaceWriter])


def unfailed(found):
    """The counts of a hunt, which has found nothing wrong."""
    assert not found.failures, f"{found}\n\n" + "\n".join(map(str, found.failures))
    return found.counts


def right_and_compiled(found, writer):
    counts = unfailed(found)
    assert counts["compiled"] >= COMPILED[writer] * counts["programs"], found
    # Only so many may escape the comparison with differences.
    assert counts["finite"] - counts["kink"] >= 0.9 * counts["programs"], found


# By writer and depth of blocks, the seeds: seven hundred programs, with those of the other writers.
RUNS = [
    (Writer, 3, range(25)), (Writer, 2, range(50, 125)), (Writer, 1, range(125, 225)), (InplaceWriter, 3, range(50)),
    *((InplaceWriter, 1, range(start, start + 50)) for start in range(100, 250, 50)),
]  # fmt: skip


@pytest.mark.parametrize(("writer", "nesting", "seeds"), RUNS)
def test_random_programs_are_right(writer, nesting, seeds):
    right_and_compiled(explore(seeds, writer, nesting), writer)


@WRITERS
def test_random_programs_are_right_at_every_stage(writer):
    right_and_compiled(explore(range(2000, 2015), writer, nesting=2, each_stage=True), writer)


@pytest.mark.full
@WRITERS
@pytest.mark.parametrize("start", range(10_000, 20_000, 500))
def test_many_random_programs_are_right(writer, start):
    right_and_compiled(explore(range(start, start + 500), writer), writer)


@pytest.mark.full
@WRITERS
@pytest.mark.parametrize("start", range(20_000, 22_000, 500))
def test_many_random_programs_are_right_at_every_stage(writer, start):
    right_and_compiled(explore(range(start, start + 500), writer, each_stage=True), writer)


def right(found):
    """Programs of lists are right, and three in ten at least are compiled and compared."""
    counts = unfailed(found)
    assert counts["compiled"] - counts["raised"] >= 0.3 * counts["programs"], found
    assert counts["finite"] - counts["kink"] >= 0.7 * counts["programs"], found


@pytest.mark.parametrize("start", [0, 80])
def test_random_programs_of_lists_are_right(start):
    right(explore(range(start, start + 50), ListWriter, nesting=2 - start // 80, each_stage=start > 0))


@pytest.mark.full
@pytest.mark.parametrize("start", range(10_000, 12_000, 500))
def test_many_random_programs_of_lists_are_right(start):
    right(explore(range(start, start + 500), ListWriter))


def right_containers(found):
    """Programs of dicts and lists are right, and half of them are compiled and compared."""
    counts = unfailed(found)
    assert counts["compiled"] - counts["raised"] >= 0.4 * counts["programs"], found
    assert counts["finite"] - counts["kink"] >= 0.7 * counts["programs"], found


@pytest.mark.parametrize("start", [0, 80])
def test_random_programs_of_containers_are_right(start):
    right_containers(explore(range(start, start + 30), ContainerWriter, nesting=2 - start // 80, each_stage=start > 0))


@pytest.mark.full
@pytest.mark.parametrize("start", range(10_000, 12_000, 500))
def test_many_random_programs_of_containers_are_right(start):
    right_containers(explore(range(start, start + 500), ContainerWriter))


def test_programs_of_containers_use_them_in_many_ways():
    programs = [ContainerWriter(seed).program() for seed in range(1000)]
    kinds = [sum(kind in program.constructs for kind in CONTAINERS) for program in programs]
    assert sum(kinds) / len(kinds) > 4
    assert min(sum(kind in program.constructs for program in programs) for kind in CONTAINERS) > 100


def right_indices(found):
    """Programs of indices are right, and nearly all are compiled and compared."""
    counts = unfailed(found)
    assert counts["compiled"] >= 0.9 * counts["programs"], found
    assert counts["finite"] - counts["kink"] - counts["raised"] >= 0.6 * counts["programs"], found


@pytest.mark.parametrize(("start", "count"), [(0, 25), (60, 5)])
def test_random_programs_of_indices_are_right(start, count):
    right_indices(explore(range(start, start + count), IndexWriter, nesting=2, each_stage=start > 0))


@pytest.mark.full
@pytest.mark.parametrize("start", range(10_000, 14_000, 500))
def test_many_random_programs_of_indices_are_right(start):
    right_indices(explore(range(start, start + 500), IndexWriter, nesting=2))


def test_programs_of_indices_reach_every_construct():
    seen = set().union(*(IndexWriter(seed).program().constructs for seed in range(600)))
    assert set(INDICES) - seen == set()


def right_dimensionless(found):
    """Programs of arrays without dimensions are right, and most are compiled and compared."""
    counts = unfailed(found)
    assert counts["compiled"] - counts["raised"] >= 0.7 * counts["programs"], found
    assert counts["finite"] - counts["kink"] >= 0.9 * counts["programs"], found


@pytest.mark.parametrize(("start", "count"), [(0, 50), (1130, 10)])
def test_random_programs_of_arrays_without_dimensions_are_right(start, count):
    right_dimensionless(explore(range(start, start + count), DimensionlessWriter, nesting=1, each_stage=start > 0))


@pytest.mark.full
@pytest.mark.parametrize("start", range(10_000, 14_000, 500))
def test_many_random_programs_of_arrays_without_dimensions_are_right(start):
    right_dimensionless(explore(range(start, start + 500), DimensionlessWriter, nesting=1))


def test_programs_of_arrays_without_dimensions_reach_every_construct():
    seen = set().union(*(DimensionlessWriter(seed).program().constructs for seed in range(200)))
    assert set(DIMENSIONLESS) - seen == set()


def right_or_raised(found):
    """Programs of exceptions are right, and three in ten at least are compiled and compared."""
    counts = unfailed(found)
    assert counts["compiled"] >= 0.3 * counts["programs"], found
    assert counts["raised"] <= 0.4 * counts["programs"], found


@pytest.mark.parametrize("start", [0, 40])
def test_random_programs_of_exceptions_are_right(start):
    right_or_raised(explore(range(start, start + 25), TryWriter, nesting=2 - start // 40, each_stage=start > 0))


@pytest.mark.full
@pytest.mark.parametrize("start", range(10_000, 12_000, 500))
def test_many_random_programs_of_exceptions_are_right(start):
    right_or_raised(explore(range(start, start + 500), TryWriter))


def test_programs_of_exceptions_reach_every_construct():
    seen = set().union(*(TryWriter(seed).program().constructs for seed in range(600)))
    assert {*TRIES, *EXITS} - seen == set()


@WRITERS
def test_the_generator_reaches_every_construct(writer):
    programs = [writer(seed).program() for seed in range(1000)]
    seen = set().union(*(program.constructs for program in programs))
    expected = {*STATEMENTS, *SCALAR, *ARRAY, *MATRIX, *RARE, *(INPLACE if writer is InplaceWriter else [])}
    assert expected - seen == set()
    sizes = [sum(program.constructs.values()) for program in programs]
    assert sum(sizes) / len(sizes) > 15, "programs hold too few constructs"
    assert sum(program.mixed for program in programs) > 0.2 * len(programs)


def test_programs_write_in_place_in_many_ways():
    programs = [InplaceWriter(seed).program() for seed in range(1000)]
    kinds = [sum(kind in program.constructs for kind in INPLACE) for program in programs]
    assert sum(kinds) / len(kinds) > 5
    assert min(sum(kind in program.constructs for program in programs) for kind in INPLACE) > 50


def test_a_failing_program_is_made_small():
    def fails(text):
        return "while" in text and "u[1:]" in text

    text = next(
        text for seed in range(1000) if fails(text := InplaceWriter(seed).program().text) and text.count("\n") > 25
    )
    small = shrunk(text, fails)
    assert fails(small)
    assert small.count("\n") <= 6, small
