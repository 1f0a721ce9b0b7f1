"""Every case from the field, twice: with the tape allowed, and compiled alone.

`known.txt` lists what does not pass yet, a line each: the mode, the case, and how it ends. A case on the list must end
that way, so that the list shrinks with every improvement. A wrong value may never stand on it. Under `strict`, an error
in place of a value is what was asked for where the compiler does not know a construct: LOUD, and listed.
"""

import contextlib
import io
import pathlib
import sys
import warnings

import numpy as np
import pytest

if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).parent))

import run

LIST = pathlib.Path(__file__).with_name("known.txt")
MODES = ("default", "strict")
CASES = [(topic, name) for topic in run.TOPICS for name in run.names(topic)]


def known():
    """The listed cases: (mode, topic.name) -> the status."""
    lines = LIST.read_text().splitlines() if LIST.exists() else []
    rows = (line.split() for line in lines if line and not line.startswith("#"))
    return {(mode, case): status for mode, case, status in rows}


def outcome(mode, topic, name):
    """How a case ends, and a text that says why."""
    tool = run.S2S()
    tool.strict = mode == "strict"
    module = tool.load(topic)
    judge = run.run_eager if topic == "eager_semantics" else run.run_numeric
    silence = contextlib.redirect_stdout(io.StringIO())
    with warnings.catch_warnings(), np.errstate(all="ignore"), run.limit(run.LIMIT), silence:
        warnings.simplefilter("ignore")
        try:
            return judge(tool, topic, name, module)
        except TimeoutError as error:
            return "LOUD", str(error)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("topic, name", CASES, ids=[f"{t}.{n}" for t, n in CASES])
def test_case(topic, name, mode):
    if topic == "eager_semantics" and mode == "strict":
        pytest.skip("the eager API has one mode")
    status, text = outcome(mode, topic, name)
    expected = known().get((mode, f"{topic}.{name}"), "pass")
    assert status in (expected, "skip"), f"{status}, not {expected}: {text}"


def test_no_wrong_value_is_accepted():
    assert "WRONG" not in known().values()


def test_list_names_cases_that_exist():
    assert {case for _, case in known()} <= {f"{topic}.{name}" for topic, name in CASES}


def rewrite():
    """Write the list of what does not pass, without what is wrong, and say how many do."""
    lines = ["# mode, case, how it ends: what does not pass yet"]
    for mode in MODES:
        cases = [c for c in CASES if mode == "default" or c[0] != "eager_semantics"]
        ends = [(case, *outcome(mode, *case)) for case in cases]
        for (topic, name), status, text in ends:
            if status not in ("pass", "skip"):
                print(mode, f"{topic}.{name}", status, text)
                if status != "WRONG":
                    lines.append(f"{mode} {topic}.{name} {status}")
        print(f"{mode}: {sum(status == 'pass' for _, status, _ in ends)} of {len(ends)} pass")
    LIST.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    rewrite()
