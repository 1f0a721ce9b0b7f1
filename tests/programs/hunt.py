"""Hunts for random programs of which s2s makes something wrong, and prints each, made small:

python -m tests.programs.hunt --seed 7 --count 1000 --inplace
"""

from __future__ import annotations

import argparse
import re
import signal
import sys
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.programs.containers import ContainerWriter
from tests.programs.dimensionless import DimensionlessWriter
from tests.programs.generator import Writer, define
from tests.programs.indices import IndexWriter
from tests.programs.inplace import InplaceWriter
from tests.programs.language import LanguageWriter
from tests.programs.lists import ListWriter
from tests.programs.shrink import shrunk
from tests.programs.tries import TryWriter
from tests.programs.verify import Outcome, run, verify

WRITERS: dict[str, tuple[type[Writer], str]] = {
    "inplace": (InplaceWriter, "programs that write in place"),
    "lists": (ListWriter, "programs of lists that change"),
    "containers": (ContainerWriter, "programs of dicts and lists"),
    "language": (LanguageWriter, "programs of the whole language"),
    "tries": (TryWriter, "programs of exceptions"),
    "dimensionless": (DimensionlessWriter, "programs of arrays without dimensions"),
    "indices": (IndexWriter, "programs of loops over items of arrays"),
}
SECOND = 5  # one in so many programs is differentiated twice


@dataclass(frozen=True)
class Failure:
    seed: int
    text: str
    error: BaseException

    def __str__(self) -> str:
        where = traceback.format_exception(self.error)
        return f"seed {self.seed}:\n{self.text}\n{''.join(where[-4:])}"


@dataclass
class Findings:
    """What a hunt has met: failures, and how many programs compiled, were compared, and why not.

    counts: `mixed` programs alias, loop and leave early.
    """

    failures: list[Failure] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    constructs: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        lines = [f"{len(self.failures)} failed of {self.counts['programs']}", ", ".join(
            f"{what} {count}" for what, count in self.counts.most_common())]  # fmt: skip
        return "\n".join([*lines, *(f"{count:6} {reason}" for reason, count in self.refusals.most_common())])


def explore(
    seeds: Iterable[int], writer: type[Writer], nesting: int = 3, each_stage: bool = False, small: bool = True
) -> Findings:
    """Verify the programs of these seeds; `small`: make those that fail small."""
    found = Findings()
    for seed in seeds:
        program = writer(seed, nesting).program()
        found.counts["programs"] += 1
        found.counts["mixed"] += program.mixed
        found.constructs.update(program.constructs.keys())
        try:
            with limited(60):
                outcome = verified(program.text, seed, writer, each_stage)
        except (Exception, TimeUp) as error:
            failure = Failure(seed, program.text, error)
            found.failures.append(smaller(failure, writer, each_stage) if small else failure)
            continue
        for what in ("compiled", "raised", "refused", "finite", "kink", "second"):
            found.counts[what] += getattr(outcome, what)
        if not outcome.compiled:
            found.refusals[re.sub(r"`.*?`", "`...`", outcome.reason)] += 1
    return found


def verified(text: str, seed: int, writer: type[Writer], each_stage: bool) -> Outcome:
    """What verifying a program tells for the arguments of its seed; for further ones it must be right, or raise."""
    f, second = define(text), seed % SECOND == 0
    outcome = verify(f, writer.arguments(seed), each_stage=each_stage, second=second)
    for args in writer.further_arguments(seed):
        if not isinstance(run(f, args), Exception):
            verify(f, args, each_stage=False)
    return outcome


def smaller(failure: Failure, writer: type[Writer], each_stage: bool) -> Failure:
    """The failure of a small program that fails as this one does."""
    seed, failures = failure.seed, {failure.text: failure.error}

    def fails(candidate: str) -> bool:
        try:
            with limited(10):
                verified(candidate, seed, writer, each_stage)
        except TimeUp:
            return False
        except Exception as other:
            failures[candidate] = other
            return likeness(other) == likeness(failure.error)
        return False

    text = shrunk(failure.text, fails)
    return Failure(seed, text, failures[text])


class TimeUp(BaseException):
    """A program runs for too long: without the statement that counts its rounds, a loop does not end."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TimeUp

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def likeness(error: BaseException) -> tuple[type, str]:
    """Failures that are alike in this are of one kind."""
    return type(error), re.sub(r"[^a-z ].*", "", str(error), flags=re.DOTALL)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0, help="the first of the seeds")
    parser.add_argument("--count", type=int, default=1000, help="how many programs")
    parser.add_argument("--nesting", type=int, default=3, help="how deep blocks lie in one another")
    for name, (_, what) in WRITERS.items():
        parser.add_argument(f"--{name}", action="store_true", help=what)
    parser.add_argument("--stages", action="store_true", help="run the program after each pass too")
    parser.add_argument("--first", action="store_true", help="stop at the first that fails, and print it as it is")
    parser.add_argument("--show", action="store_true", help="print the programs and do no more")
    given = parser.parse_args(arguments)
    writer = next((w for name, (w, _) in WRITERS.items() if getattr(given, name)), Writer)
    total = Findings()
    for seed in range(given.seed, given.seed + given.count):
        if given.show:
            print(f"# seed {seed}\n{writer(seed, given.nesting).program().text}")
            continue
        found = explore([seed], writer, given.nesting, given.stages, not given.first)
        for failure in found.failures:
            print(failure, flush=True)
        total.failures += found.failures
        for name in ("counts", "constructs", "refusals"):
            getattr(total, name).update(getattr(found, name))
        if given.first and total.failures:
            break
    print(total)
    return min(len(total.failures), 1)


if __name__ == "__main__":
    sys.exit(main())
