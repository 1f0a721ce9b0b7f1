"""Every code block of the README is run: `python` blocks print the `text` block after them, `make` commands exist.

python tests/test_readme.py       # write the `text` blocks anew; read the difference as prose
"""

import contextlib
import io
import pathlib
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass

import pytest

ROOT = pathlib.Path(__file__).parents[1]
README = ROOT / "README.md"


@dataclass
class Block:
    """A fenced block: its language, the number of its first line, its text."""

    language: str
    line: int
    text: str


def blocks():
    """The fenced blocks of the README, in order."""
    text = README.read_text()
    found = re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S)
    return [Block(m[1], text.count("\n", 0, m.start(2)) + 1, m[2]) for m in found]


def as_module(python):
    """All blocks as one Python file, each line where it stands in the README."""
    lines = [""] * (len(README.read_text().splitlines()) + 1)
    for block in python:
        for offset, line in enumerate(block.text.splitlines()):
            lines[block.line - 1 + offset] = line
    return "\n".join(lines) + "\n"


def run(block, path, namespace):
    """What a block prints."""
    code = compile("\n" * (block.line - 1) + block.text, str(path), "exec")
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(code, namespace)
    return out.getvalue()


def tidy(text):
    return [line.rstrip() for line in text.strip().splitlines()]


def printed_and_wanted(folder):
    """Of each `python` block: the block, what it prints, the `text` block that follows it or None."""
    found = blocks()
    path = folder / "readme.py"
    path.write_text(as_module([b for b in found if b.language == "python"]))
    namespace = {"__name__": "readme", "__file__": str(path)}
    for block, after in zip(found, [*found[1:], Block("", 0, "")]):
        if block.language == "python":
            yield block, run(block, path, namespace), after if after.language == "text" else None


def test_python_blocks_print_what_the_readme_says(tmp_path):
    for block, printed, wanted in printed_and_wanted(tmp_path):
        assert tidy(printed) == tidy(wanted.text if wanted else ""), f"README.md, line {block.line}"


def test_every_block_is_of_a_kind_that_is_run():
    assert {b.language for b in blocks()} <= {"python", "text", "sh"}


COMMANDS = [line for b in blocks() if b.language == "sh" for line in b.text.splitlines()]


@pytest.mark.skipif(shutil.which("make") is None, reason="no make")
@pytest.mark.parametrize("command", COMMANDS)
def test_commands_are_targets_of_the_makefile(command):
    words = command.split("#")[0].split()
    assert words[0] == "make"
    subprocess.run(["make", "--dry-run", *words[1:]], cwd=ROOT, check=True, capture_output=True)


def rewrite():
    """Put what the blocks print into the README."""
    lines = README.read_text().splitlines()
    with tempfile.TemporaryDirectory() as folder:
        pairs = [(wanted, printed) for _, printed, wanted in printed_and_wanted(pathlib.Path(folder)) if wanted]
    for wanted, printed in reversed(pairs):
        start = wanted.line - 1
        lines[start : start + len(wanted.text.splitlines())] = tidy(printed)
    README.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    rewrite()
