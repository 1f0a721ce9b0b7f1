"""Plants a bug in the compiler that runs: one piece of the text of one function is replaced, in memory.

The code of the function is taken out and that of the changed text put in, so all who have imported it get it, too. The
files stay as they are. A bug whose text does not stand where it is said to, once, is an error: what it was planted in
has changed, and it has to be written anew.
"""

from __future__ import annotations

import importlib
import inspect
import linecache
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Any


@dataclass(frozen=True)
class Bug:
    """A piece of text of a function, and what it becomes.

    name: what goes wrong.
    where: `package.module:Class.function`.
    check: one that finds it; see `checks`.
    found_by: the comparison in it that tells.
    """

    name: str
    where: str
    text: str
    becomes: str
    check: str
    found_by: str


class Misplanted(Exception):
    """The text of a bug is not found once in its function."""


def plant(bug: Bug) -> None:
    """Put a bug into this process; it stays."""
    module_name, _, path = bug.where.partition(":")
    module: Any = importlib.import_module(module_name)
    function = module
    for part in path.split("."):
        function = vars(function)[part]
    function = inspect.unwrap(getattr(function, "func", function))  # of a cached property or function
    text = changed_text(module, function, bug)
    file = f"<{bug.name}>"
    linecache.cache[file] = len(text), None, text.splitlines(True), file
    (code,) = (c for c in codes(compile(text, file, "exec", dont_inherit=True)) if c.co_qualname == path)
    function.__code__ = code


def changed_text(module: Any, function: Any, bug: Bug) -> str:
    """The text of a module with the bug in it."""
    lines = Path(module.__file__).read_text().splitlines(True)
    body, first = inspect.getsourcelines(function)
    own = "".join(body)
    if own.count(bug.text) != 1:
        raise Misplanted(f"{bug.name}: {bug.where} holds {own.count(bug.text)} times\n{bug.text}")
    lines[first - 1 : first - 1 + len(body)] = [own.replace(bug.text, bug.becomes)]
    return "".join(lines)


def codes(code: CodeType) -> Iterator[CodeType]:
    """All code objects in one."""
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield inner
            yield from codes(inner)
