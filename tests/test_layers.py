"""Imports run downward through the rooms, in the order in which a function flows through them, and form no circle."""

import ast
import importlib
import pathlib
import subprocess
import sys

import pytest

import s2s
from s2s.rules.registry import LATER

PACKAGE = pathlib.Path(s2s.__file__).parent

# From the top down. Rooms on one line stand side by side: they may not import each other.
FLOORS = [
    ["__init__"],
    ["tools"],
    ["api"],
    ["compiler"],
    ["autograd"],
    ["frontend"],
    ["transforms"],
    ["codegen"],
    ["rules"],
    ["core"],
    ["kinds"],
    ["runtime"],
    ["errors"],
]
FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
MODULES = sorted(PACKAGE.rglob("*.py"))


def dotted(path):
    """The module's name below the package: `frontend.lower.loops`, `__init__`."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


def only_for_types(node):
    """Whether a statement is `if TYPE_CHECKING:`, which does not run."""
    return isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def statements(node):
    """All statements that may run, those in functions too."""
    for child in ast.iter_child_nodes(node):
        if not only_for_types(child):
            yield child
            yield from statements(child)


def imports(path):
    """The modules of s2s that a module imports, each with its line."""
    package = ("s2s." + dotted(path)).removesuffix(".__init__").split(".")
    if path.name != "__init__.py":
        package = package[:-1]
    for node in statements(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*start, *([node.module] if node.module else [])])
            # `from s2s.rules import registry` names a module, `from s2s.core import Origin` what is in one.
            names = [f"{base}.{alias.name}" if is_module(f"{base}.{alias.name}") else base for alias in node.names]
        else:
            continue
        for name in names:
            if name == "s2s" or name.startswith("s2s."):
                yield name.partition(".")[2] or "__init__", node.lineno


def is_module(name):
    path = PACKAGE.parent.joinpath(*name.split("."))
    return path.is_dir() or path.with_suffix(".py").is_file()


def room(module):
    return module.split(".")[0]


def test_every_module_stands_in_a_known_room():
    assert {room(dotted(path)) for path in MODULES} == FLOOR.keys()


@pytest.mark.parametrize("package", ["compiler", "transforms"])
def test_maps_name_every_module(package):
    """The docstring of a package has a line for each of its modules, those of packages in it too."""
    text = ast.get_docstring(ast.parse((PACKAGE / package / "__init__.py").read_text(encoding="utf-8")))
    named = {line.split()[0].rstrip("/") for line in text.splitlines() if line.split()}
    there = {path.stem for path in (PACKAGE / package).rglob("*.py") if path.stem != "__init__"}
    assert there - named == set()


@pytest.mark.parametrize("path", MODULES, ids=dotted)
def test_imports_run_downward(path):
    here = room(dotted(path))
    for target, line in imports(path):
        there = room(target)
        assert there == here or FLOOR[there] > FLOOR[here], f"{path}:{line}: {here} imports {target}"


def test_no_circle_among_modules():
    graph = {dotted(path): {target for target, _ in imports(path)} for path in MODULES}
    done = set()

    def visit(module, trail):
        assert module not in trail, " -> ".join([*trail[trail.index(module) :], module])
        if module not in done:
            for target in graph.get(module, ()):
                if target != module:
                    visit(target, [*trail, module])
            done.add(module)

    for module in graph:
        visit(module, [])


@pytest.mark.parametrize("path", MODULES, ids=dotted)
def test_every_module_can_be_imported_alone(path):
    importlib.import_module(("s2s." + dotted(path)).removesuffix(".__init__"))


def test_rules_of_a_library_are_imported_once_it_has_been():
    program = """
import sys, numpy, s2s
from s2s import rules
assert rules.find(numpy.vectorize) is None and "scipy" not in sys.modules
from scipy import special
assert rules.find(special.erf) is not None
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_no_optional_package_is_imported_at_the_top():
    optional = {"cupy", "numba", "scipy", "dask", "jax", "torch"}
    later = {module for modules in LATER.values() for module in modules}
    later.add("s2s.runtime.backends.jitted")  # imported where backend="numba" is asked for
    for path in MODULES:
        if "s2s." + dotted(path) in later:
            continue  # imported once its library has been
        for node in ast.parse(path.read_text()).body:
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not optional & {name.split(".")[0] for name in names}, path


def test_numba_is_imported_only_where_it_is_asked_for():
    program = """
import sys, s2s
assert s2s.grad(lambda x: x * x)(3.0) == 6.0 and "numba" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)
