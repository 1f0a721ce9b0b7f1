"""Real sources, parsed, written and parsed again, give the same tree: the standard library's and NumPy's."""

import ast
import hashlib
import pathlib
import sysconfig
import tokenize
import warnings

import gast
import numpy as np
import pytest

from s2s.codegen.writer import write

PARTS = 16

# CPython's tests of its own parser: the rarest syntax stands there.
HARD = [
    "test_fstring",
    "test_grammar",
    "test_patma",
    "test_unparse",
    "test_except_star",
    "test_type_params",
    "test_ast",
]


def sources():
    """The files, in an order that spreads the directories evenly and is the same everywhere."""
    library = pathlib.Path(sysconfig.get_path("stdlib"))
    files = [(p, p.relative_to(library)) for p in library.rglob("*.py") if "site-packages" not in p.parts]
    package = pathlib.Path(np.__file__).parent
    files += [(p, p.relative_to(package)) for p in package.rglob("*.py")]
    return [path for path, name in sorted(files, key=lambda f: hashlib.md5(f[1].as_posix().encode()).digest())]


SOURCES = sources()


def parse(path):
    """The tree of a file, or None: some files of the tests of Python hold wrong syntax, on purpose."""
    try:
        with tokenize.open(path) as file:
            text = file.read()
        return ast.parse(text)
    except (SyntaxError, UnicodeDecodeError, ValueError):
        return None


def check(paths):
    """Round trips of ast and of gast; returns how many files had a tree."""
    checked = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for path in paths:
            tree = parse(path)
            if tree is None:
                continue
            text = write(tree)
            assert ast.dump(ast.parse(text)) == ast.dump(tree), path
            assert write(gast.ast_to_gast(tree)) == text, path
            checked += 1
    return checked


def test_sample_of_real_sources_keeps_its_trees():
    sample = [p for p in SOURCES[::PARTS] if p.stat().st_size < 50_000]
    assert check(sample) > 50


def test_hardest_syntax_keeps_its_trees():
    hard = [p for p in SOURCES if p.stem in HARD]
    if not hard:
        pytest.skip("this Python comes without its own tests")
    assert check(hard) > 0


@pytest.mark.full
@pytest.mark.parametrize("part", range(PARTS))
def test_all_real_sources_keep_their_trees(part):
    assert check(SOURCES[part::PARTS]) > 50


def test_tree_of_gast_equals_what_was_written():
    tree = gast.parse(pathlib.Path(ast.__file__).read_text(encoding="utf-8"))
    assert gast.dump(gast.parse(write(tree))) == gast.dump(tree)
