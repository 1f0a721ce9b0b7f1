"""Core programs from text, and what they compute: for the tests of the last passes."""

import ast
import copy

import gast
import numpy as np

from s2s import core
from s2s.core import Facts, Function, Origin, Scope
from s2s.transforms.task import Task

# The last passes ask nothing about other functions.
TASK = Task("grad", program=None)


def core_function(text, *, kinds=None, shapes=None, scope=None):
    """A Core function; statements after a line `# reverse` belong to the reverse sweep.

    A comment `# from: ...` at the end of a line is the text that the statement came from.
    """
    lines = text.splitlines()
    reverse = next((i for i, line in enumerate(lines, 1) if line.strip() == "# reverse"), len(lines) + 1)
    (definition,) = gast.parse(text).body
    for node in gast.walk(definition):
        if isinstance(node, gast.stmt) and node is not definition:
            line = lines[node.lineno - 1]
            quoted = line.split("# from: ")[1] if "# from: " in line else line.strip()
            node.origin = Origin("<test>", node.lineno, node.col_offset, node.lineno, 0, quoted, definition.name)
            if node.lineno > reverse and not isinstance(node, gast.Return):
                node.sweep = "reverse"
    names = {"np": np, "math": __import__("math"), **(scope or {})}
    origin = Origin("<test>", 1, 0, 1, 0, "", definition.name)
    facts = Facts(kinds=kinds or {}, shapes=shapes or {})
    return Function(definition.name, definition.args, tuple(definition.body), Scope(names), origin, None, facts)


def text_of(fn):
    """The body of a function as text, comments included."""
    tree = gast.Module([gast.FunctionDef(fn.name, fn.params, _commented(fn.body), [], None, None, [])], [])
    body = ast.unparse(ast.fix_missing_locations(gast.gast_to_ast(tree))).split("\n")[1:]
    return "\n".join(line[4:].replace("'#", "#").rstrip("'") if "'#" in line else line[4:] for line in body)


def _commented(block):
    new = []
    for stmt in block:
        for line in getattr(stmt, "comment", ()):
            new.append(gast.Expr(gast.Constant(f"# {line}", None)))
        changes = {f: _commented(b) for f, b in core.blocks(stmt) if not f.startswith("handlers")}
        new.append(core.rebuilt(stmt, **changes))
    return new


def run(fn, *args, **keywords):
    """The result of a function on copies of its arguments."""
    tree = gast.Module([gast.FunctionDef(fn.name, fn.params, list(fn.body), [], None, None, [])], [])
    code = compile(ast.fix_missing_locations(gast.gast_to_ast(tree)), "<test>", "exec")
    space = {**fn.scope.globals, **fn.scope.names}
    exec(code, space)
    return space[fn.name](*copy.deepcopy(args), **keywords)
