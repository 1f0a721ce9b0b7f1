"""Core programs from text, and what they compute: for the tests of the last passes."""

import ast
import copy
import math
import textwrap

import gast
import numpy as np

from s2s.codegen.writer import write_function
from s2s.core import Facts, Function, Origin, Scope
from s2s.transforms.task import Task

# The last passes ask nothing about other functions.
TASK = Task("grad", program=None)


def core_function(text, *, kinds=None, shapes=None, scope=None):
    """A Core function; statements after a line `# reverse` belong to the reverse sweep.

    A comment `# from: ...` at the end of a line is the text that the statement came from; equal texts are one place.
    """
    text = textwrap.dedent(text).strip("\n")
    lines = text.splitlines()
    reverse = next((i for i, line in enumerate(lines, 1) if line.strip() == "# reverse"), len(lines) + 1)
    places = {}
    (definition,) = gast.parse(text).body
    for node in gast.walk(definition):
        if isinstance(node, gast.stmt) and node is not definition:
            line = lines[node.lineno - 1]
            quoted = line.split("# from: ")[1] if "# from: " in line else line.strip()
            place = places.setdefault(quoted, node.lineno)
            node.origin = Origin("<test>", place, 0, place, 0, quoted, definition.name)
            if node.lineno > reverse and not isinstance(node, gast.Return):
                node.sweep = "reverse"
    names = {"np": np, "math": math, **(scope or {})}
    origin = Origin("<test>", 1, 0, 1, 0, "", definition.name)
    facts = Facts(kinds=kinds or {}, shapes=shapes or {})
    return Function(definition.name, definition.args, tuple(definition.body), Scope(names), origin, None, facts)


def text_of(fn):
    """The body of a function as text, comments included."""
    return "\n".join(line[4:] for line in write_function(fn).rstrip("\n").split("\n")[1:])


def body(text):
    """Expected text, written with the indentation of the test."""
    return textwrap.dedent(text).strip("\n")


def run(fn, *args, **keywords):
    """The result of a function on copies of its arguments."""
    tree = gast.Module([gast.FunctionDef(fn.name, fn.params, list(fn.body), [], None, None, [])], [])
    code = compile(ast.fix_missing_locations(gast.gast_to_ast(tree)), "<test>", "exec")
    space = {**fn.scope.globals, **fn.scope.names}
    exec(code, space)
    return space[fn.name](*copy.deepcopy(args), **keywords)
