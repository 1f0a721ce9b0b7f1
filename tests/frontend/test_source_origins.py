"""The places of statements, as comments and errors show them."""

import ast

import gast

from s2s.errors import UnsupportedSyntaxError
from s2s.frontend.origins import one_line, origin
from s2s.frontend.source import find


def fun(x, rates=(1, 2)):
    y = x * 2  # not a part of the statement
    if (
        x > 1  # a comment: with a colon
        and y < 3
    ):  # another: one
        z = (
            x  # first
            + len("#  kept")
        )
    else:
        z = [
            1,
            2,
        ]
    for i, rate in enumerate(rates): y += rate; z += {k: v for k, v in [(i, 1)]}  # fmt: skip # noqa: E701, E702
    return """a
    b""" + str(z)


def origins():
    source = find(fun)
    statements = [n for n in gast.walk(source.node) if isinstance(n, gast.stmt)]
    return {o.line - source.node.lineno: o for o in map(source.origin, statements)}


def test_texts_are_on_one_line():
    found = {line: o.text for line, o in origins().items()}
    assert found[0] == "def fun(x, rates=(1, 2)):"
    assert found[1] == "y = x * 2"
    assert found[2] == "if (x > 1 and y < 3):"
    assert found[6] == 'z = (x + len("#  kept"))'
    assert found[11] == "z = [1, 2,]"
    assert found[16] == 'return """a\\n    b""" + str(z)'


def test_header_ends_at_its_colon():
    lines = ["for i in {1: 2}: y = i\n"]
    place = origin(gast.parse(lines[0]).body[0], "f.py", lines, "fun")
    assert (place.text, place.end_line, place.end_column) == ("for i in {1: 2}:", 1, 16)


def test_headers_of_all_compound_statements():
    text = """\
while x: pass
with a as b, \\
     c as d: pass
try: pass
except (A, B) as e: pass
class C(B, m=1): pass
def f(a: {1: 2}, *, b=lambda: 3) -> {1: 2}: pass
def g(): pass
async def h(): pass
match (x):
    case {1: y}: pass
"""
    lines = text.splitlines(keepends=True)
    tree = gast.parse(text)
    found = [origin(n, "f.py", lines, "fun").text for n in tree.body]
    assert found == [
        "while x:",
        "with a as b, c as d:",
        "try:",
        "class C(B, m=1):",
        "def f(a: {1: 2}, *, b=lambda: 3) -> {1: 2}:",
        "def g():",
        "async def h():",
        "match (x):",
    ]
    handler = tree.body[2].handlers[0]
    assert origin(handler, "f.py", lines, "fun").text == "except (A, B) as e:"


def test_columns_count_bytes():
    lines = ["é = lambda é: é * 2\n"]
    node = gast.parse(lines[0]).body[0].value
    place = origin(node, "f.py", lines, "fun")
    assert (place.column, place.text) == (5, "lambda é: é * 2")


def test_one_line_keeps_what_runs():
    text = "f(\n    a,  # note\n    'x  # y',\n    **{\n        'b': 2,\n    }\n)"
    assert one_line(text) == "f(a, 'x  # y', **{'b': 2,})"
    assert ast.dump(ast.parse(one_line(text))) == ast.dump(ast.parse(text))


def test_errors_point_at_the_place():
    source = find(fun)
    error = UnsupportedSyntaxError("no", origin=source.origin(source.node.body[0]))
    assert f'File "{__file__}", line {source.node.lineno + 1}, in fun\n    y = x * 2' in str(error)
