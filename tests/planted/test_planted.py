"""Every planted bug is found, by the check and comparison that its entry names; without a bug these find nothing."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.planted.bugs import BUGS
from tests.planted.plant import Bug, Misplanted, plant
from tests.programs.verify import apart

ROOT = Path(__file__).parents[2]


class Bench:
    """The process of bench.py."""

    def __init__(self):
        self.process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "tests.planted.bench"],
            cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def ask(self, bug, check):
        """What has found the bug; None if nothing did."""
        self.process.stdin.write(json.dumps({"bug": bug, "check": check}) + "\n")
        self.process.stdin.flush()
        said = json.loads(self.process.stdout.readline())
        assert "failed" not in said, said
        return said["found"]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


@pytest.fixture(scope="module")
def bench():
    bench = Bench()
    yield bench
    bench.close()


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name.replace(" ", "_"))
def test_planted_bug_is_found(bench, bug):
    assert bench.ask(bug.name, bug.check) == bug.found_by


@pytest.mark.parametrize("check", sorted({bug.check for bug in BUGS}), ids=lambda check: check.replace(" ", "_"))
def test_check_finds_nothing_without_a_bug(bench, check):
    assert bench.ask(None, check) is None


def test_there_are_forty_bugs_and_more():
    assert len({bug.name for bug in BUGS}) == len(BUGS) >= 60
    assert len({(bug.where, bug.text, bug.becomes) for bug in BUGS}) == len(BUGS)
    # Most of them give wrong numbers, silently.
    assert sum(bug.found_by.endswith("Error") for bug in BUGS) <= len(BUGS) // 5


@pytest.mark.parametrize("text", ["no such text", "self"])
def test_a_bug_whose_text_does_not_stand_there_once_is_an_error(text):
    bug = Bug("misplanted", "s2s.transforms.reverse.stores:Stores.write_back", text, "x", "", "")
    with pytest.raises(Misplanted):
        plant(bug)


def test_arrays_that_share_memory_are_told_from_those_that_do_not():
    x, y = np.zeros(4), np.zeros(4)
    apart([x, {"y": y}], [np.ones(4)])
    for results, args in [([x, x[1:]], []), ([x], [y, {"x": x[::2]}]), ((x, [y, y]), [])]:
        with pytest.raises(AssertionError, match="shares"):
            apart(results, args)
