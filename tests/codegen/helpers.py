"""Core functions from text, for tests of code generation alone."""

import gast

from s2s import core


def core_function(text, *, file="user.py", offset=0, globals=None, cells=None, names=None, doc=None):
    """The one function that a text defines; the origin of each statement is its own line, moved by `offset`."""
    (definition,) = gast.parse(text).body
    lines = text.splitlines()
    for node in gast.walk(definition):
        if isinstance(node, gast.stmt):
            line = lines[node.lineno - 1].strip()
            where = (node.lineno + offset, node.col_offset, node.end_lineno + offset, node.end_col_offset)
            core.place(node, core.Origin(file, *where, line, definition.name))
    scope = core.Scope({} if globals is None else globals, cells or {}, names or {})
    origin = core.origin_of(definition)
    return core.Function(definition.name, definition.args, tuple(definition.body), scope, origin, doc)
