"""What the texts of s2s name is there: hints, messages and docstrings send nobody to a function that does not exist."""

import ast
import importlib
import pathlib
import re

import pytest

import s2s

PACKAGE = pathlib.Path(s2s.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))

# Functions of other libraries of the kind, which a hint is apt to name as if they were ours.
ELSEWHERE = ("vjp", "jacobian", "hessian", "linearize", "stop_gradient")


def texts(path):
    """The string literals of a module, each with its line."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def hints(path):
    """The texts of the hints of a module's errors, each with its line."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.keyword) and node.arg == "hint":
            for part in ast.walk(node.value):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield part.lineno, part.value


def resolve(dotted):
    """What a dotted name means: attributes, and modules that are not imported yet."""
    value, path = s2s, "s2s"
    for part in dotted.split(".")[1:]:
        path += f".{part}"
        try:
            value = getattr(value, part)
        except AttributeError:
            value = importlib.import_module(path)
    return value


def ident(path):
    return str(path.relative_to(PACKAGE))


@pytest.mark.parametrize("path", MODULES, ids=ident)
def test_dotted_names_in_texts_resolve(path):
    for line, text in texts(path):
        for dotted in re.findall(r"(?<![\w.])s2s(?:\.[A-Za-z_]\w*)+", text):
            try:
                resolve(dotted)
            except ImportError:
                pytest.fail(f"{path}:{line}: there is no {dotted}")


@pytest.mark.parametrize("path", MODULES, ids=ident)
def test_hints_name_no_function_that_is_not_ours(path):
    missing = [name for name in ELSEWHERE if not hasattr(s2s, name)]
    for line, text in hints(path):
        named = [name for name in missing if re.search(rf"(?<![\w.]){name}\b", text)]
        assert not named, f"{path}:{line}: {named}"


def test_a_name_that_is_not_there_is_found():
    with pytest.raises(ImportError):
        resolve("s2s.no_such_name")
    assert resolve("s2s.rules.vjp") is s2s.rules.vjp
