"""The writer: text that reads as a person would write it, and means exactly the tree that it came from."""

import ast
import math
import sys
import textwrap

import gast
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s import core
from s2s.codegen import literals
from s2s.codegen.writer import function_text, write, write_function
from tests.codegen.helpers import core_function

# Texts in the form that the writer gives, so every parenthesis that they hold is needed.
EXPRESSIONS = [
    "a + b + c",
    "a - (b - c)",
    "a - b * c / d",
    "(a + b) * c",
    "a @ (b @ c)",
    "a // b % c",
    "2 ** -1",
    "-x ** 2",
    "(-x) ** 2",
    "x ** y ** z",
    "(x ** y) ** z",
    "-(a + b)",
    "not a == b",
    "(not a) == b",
    "a < b <= c",
    "(a < b) <= c",
    "a in b is not c not in d",
    "a and b or c and not d",
    "a and (b or c)",
    "(a or b) or c",
    "a | b ^ c & d << e",
    "~a & -b",
    "x if c else y if d else z",
    "(x if c else y) if d else z",
    "x if (a if b else c) else z",
    "f(x if c else y, *a, k=lambda: 0, **kw)",
    "lambda: lambda x: x",
    "(lambda x: x)(1)",
    "lambda a, /, b=1, *c, d, e=2, **f: 0",
    "lambda *, a: a",
    "lambda: (yield)",
    "await x ** 2 if 0 else await f(x)",
    "(await x).y",
    "f(x for x in y)",
    "f((x for x in y), 1)",
    "sum([x for x in y if a if b], start=0)",
    "[x for x in (a if b else c)]",
    "[x for x, in y async for a, *b in z]",
    "{k: v for k, v in x.items()}",
    "{**a, 'b': 1, **(c or d)}",
    "{*a, *(b or c)}",
    "()",
    "a,",
    "[(), (a, b)]",
    "x[1:2, ::3, ..., None]",
    "x[()]",
    "x[a,]",
    "x[a, b][:, -1]",
    "x[(a, b), c]",
    "x[lambda: 0:1]",
    "(1).real + 1.0.real + (-1).real",
    "'a'.join(b'c')",
    "(x := 1) + f((y := 2))",
    "...",
    "f'{x}'",
    "f'{x!r:>{width}.2f} {{}} {y:%H}'",
    'f"it\'s {x}"',
    'f\'{d["k"]} and {f("a")}\'',
    "f'{ {1: 2}[1]} {(lambda: 0)()} {(a if b else c)} {(x := 1)}'",
    "f'{a != b} {a == b} {x[1:2]}'",
    "f''",
    "u'old'",
]

STATEMENTS = [
    "a, b = b, a",
    "a, = *b, c",
    "x = y = yield",
    "x = yield a, *b",
    "x += yield from y",
    "(x): int = 1",
    "x: tuple[int, ...] = 1, 2",
    "x.y: int",
    "return",
    "return a, *b",
    "return (yield)",
    "yield",
    "raise",
    "raise E(1) from None",
    "assert (a, b), 'never'",
    "del a, b[0], (c, d)",
    "global a, b",
    "nonlocal a",
    "import a.b as c, d",
    "from . import x",
    "from ..a.b import c as d, e",
    "for a, (b, *c) in *d, e:\n    pass\nelse:\n    pass",
    "while x := f():\n    break",
    "if a:\n    pass\nelif (b, c):\n    pass\nelse:\n    continue",
    "with a as b, c(d) as (e, f), g:\n    pass",
    "with ((a, b)):\n    pass",
    "with (yield):\n    pass",
    "try:\n    pass\nexcept (A, B) as e:\n    pass\nexcept:\n    pass\nelse:\n    pass\nfinally:\n    pass",
    "try:\n    pass\nexcept* A as e:\n    pass",
    "async def f():\n    async with a as b:\n        pass\n    async for x in y:\n        await x",
    "@a.b(c)\n@d\ndef f(a: int, /, b: str = 'x', *c: float, d, e=1, **f: dict) -> list[int]:\n    pass",
    "def f(*args: *Ts):\n    pass",
    'class A(B, metaclass=C):\n    """Doc."""\n    x = 1\n\n    def f(self):\n        pass\n\n    y = 2',
    "class A:\n    pass",
    "match a, *b:\n    case [1, -2.5, 1 + 2j, *_]:\n        pass\n    case {'k': None, **rest} if rest:\n        pass",
    "match (yield):\n    case A(1, x=b.c) | {'k': _} | (x as y):\n        pass\n    case A() | B() as z:\n        pass",
    "match x := 1:\n    case _:\n        pass",
    "match x[0]:\n    case _:\n        pass",
]

STATEMENTS_3_12 = [
    "type X[T: int, *Ts, **P] = T | list[T]",
    "def f[T](x: T) -> T:\n    pass",
    "class A[T: (int, str)](B):\n    pass",
]

STATEMENTS_3_13 = ["def f[T: int = str, *Ts = *tuple[int], **P = [int]]():\n    pass"]


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_expression_gets_no_parentheses_but_needed_ones(text):
    assert write(gast.parse(text)) == text
    assert write(ast.parse(text)) == text


@pytest.mark.parametrize("text", STATEMENTS)
def test_statement_is_written_as_a_person_would(text):
    assert write(gast.parse(text)) == text
    assert write(ast.parse(text)) == text


@pytest.mark.skipif(sys.version_info < (3, 12), reason="syntax of Python 3.12")
@pytest.mark.parametrize("text", STATEMENTS_3_12)
def test_type_parameters_are_written(text):
    assert write(gast.parse(text)) == text
    assert write(ast.parse(text)) == text


@pytest.mark.skipif(sys.version_info < (3, 13), reason="syntax of Python 3.13")
@pytest.mark.parametrize("text", STATEMENTS_3_13)
def test_defaults_of_type_parameters_are_written(text):
    assert write(gast.parse(text)) == text
    assert write(ast.parse(text)) == text


# Every place for an expression, marked HOLE, and an expression of every strength.
PLACES = [
    *("HOLE + b", "a + HOLE", "HOLE * b", "a * HOLE", "HOLE ** b", "a ** HOLE", "HOLE | b", "a << HOLE", "HOLE & b"),
    *("-HOLE", "not HOLE", "~HOLE", "await HOLE", "HOLE < b", "a < HOLE", "a < HOLE < c", "HOLE is b", "a not in HOLE"),
    *("HOLE and b", "a and HOLE", "HOLE or b", "a or HOLE", "HOLE if b else c", "a if HOLE else c", "a if b else HOLE"),
    *("HOLE.a", "HOLE[0]", "HOLE()", "a[HOLE]", "a[HOLE:]", "a[:HOLE, b]", "a[b, HOLE]", "f(HOLE)", "f(HOLE, b)"),
    *("f(k=HOLE)", "f(**HOLE)", "f(*HOLE)", "[HOLE]", "{HOLE}", "(HOLE,)", "{HOLE: 1}", "{1: HOLE}", "{**HOLE}"),
    *("[HOLE for a in b]", "[a for a in HOLE]", "[a for a in b if HOLE]", "{HOLE: 1 for a in b}", "(a := HOLE)"),
    *("lambda: HOLE", "lambda a=HOLE: 0", "lambda *, a=HOLE: 0", "(yield HOLE)", "(yield from HOLE)", "[*HOLE]"),
    *("f'{HOLE}'", "f'{HOLE!r:>{HOLE}}'", "x = HOLE", "x += HOLE", "x: int = HOLE", "x: HOLE", "a[HOLE] = 1"),
    *("HOLE.a = 1", "return HOLE", "raise HOLE", "raise E from HOLE", "assert HOLE", "assert a, HOLE", "del a[HOLE]"),
    *("if HOLE: pass", "while HOLE: pass", "for a in HOLE: pass", "with HOLE: pass", "with HOLE as a: pass"),
    *(
        "with HOLE, b: pass",
        "with a, HOLE as c: pass",
        "def f(a=HOLE, *, b=HOLE): pass",
        "def f(a: HOLE) -> HOLE: pass",
    ),
    *("def f(a: HOLE) -> HOLE: pass", "class A(HOLE, k=HOLE): pass", "class A(*HOLE): pass", "@HOLE\nclass A: pass"),
    *("try: pass\nexcept HOLE: pass", "match HOLE:\n case _: pass", "match a:\n case _ if HOLE: pass", "HOLE"),
]
FILLINGS = [
    *("a", "1", "1.5", "1e309", "1j", "'s'", "b'b'", "...", "None", "f'{a}'", "a.b", "a[b]", "a[b:c, d]", "a(b)", "()"),
    *("(a,)", "(a, *b)", "[a, *b]", "{a}", "{a: b}", "{}", "[a for a in b]", "(a for a in b)", "{a: b for a in c}"),
    *("a ** b", "-a", "-1", "+a", "~a", "not a", "await a", "a * b", "a @ b", "a + b", "a - b", "a >> b", "a & b"),
    *("a ^ b", "a | b", "a < b", "a < b in c", "a and b", "a or b", "a if b else c", "lambda: a", "lambda a, *b: c"),
    *("(a := b)", "(yield)", "(yield a)", "(yield a, b)", "(yield from a)"),
]


@pytest.mark.parametrize("place", PLACES)
def test_every_expression_in_every_place_keeps_its_tree(place):
    for filling in FILLINGS:
        tree = core.substitute(gast.parse(place), {"HOLE": gast.parse(filling, mode="eval").body})
        assert gast.dump(gast.parse(write(tree))) == gast.dump(tree), filling


CONSTANTS = [
    *(0, -1, -(2**70), True, None, Ellipsis, 0.0, -0.0, -1.5, 1e309, -1e309, 1e-320, math.nan),
    *(1j, -1j, 0j, 2 + 3j, 2 - 3j, complex(-2.5, 1e309), complex(-0.0, -2), complex(1e309, 1)),
    *("", "'", "'\"", "\\\r\n\0\x7f", "\ud800", "é變\u2028", b"", b"\xff'\"", (), (1,), (-1, (2.5, "a"))),
]


@pytest.mark.parametrize("value", CONSTANTS, ids=repr)
@pytest.mark.parametrize("place", ["HOLE", "HOLE ** 2", "2 ** HOLE", "HOLE + 1", "1 - HOLE", "-HOLE", "HOLE.__doc__"])
def test_constant_is_read_back_bit_for_bit(value, place):
    tree = gast.parse(place, mode="eval")

    def outcome(hole):
        try:
            return repr(eval(write(core.substitute(tree, {"HOLE": hole})), {"hole": value}))
        except (TypeError, ArithmeticError) as error:
            return type(error)

    assert outcome(core.constant(value)) == outcome(core.name("hole"))


@pytest.mark.parametrize("value", [7**6000, -(7**6000)], ids=["positive", "negative"])
def test_integer_beyond_the_limit_on_digits_is_read_back(value):
    assert eval(write(core.constant(value))) == value
    assert eval(write(core.binary(core.constant(value), gast.Pow, 2))) == value**2


@pytest.mark.parametrize("value", [complex(-0.0, 1), complex(1, -0.0), complex(math.nan, 1), complex(0, math.nan)])
def test_complex_number_without_literal_is_refused(value):
    with pytest.raises(ValueError, match="has no literal"):
        write(core.constant(value))


@pytest.mark.parametrize("value", [object(), {1}, frozenset({1}), np.float64(1.5)], ids=lambda v: type(v).__name__)
def test_constant_of_another_type_is_refused(value):
    with pytest.raises(TypeError, match="has no literal"):
        write(core.constant(value))


@pytest.mark.parametrize("node", [gast.AST(), gast.Load(), gast.Print(None, [], True), gast.Exec(None, None, None)])
def test_unknown_node_is_refused(node):
    with pytest.raises(TypeError, match="cannot write"):
        write(node)


@given(st.text())
def test_any_docstring_is_written_as_one(text):
    tree = gast.Module([gast.Expr(core.constant(text))], [])
    assert write(tree).startswith('"""')
    assert gast.dump(gast.parse(write(tree))) == gast.dump(tree)


@given(st.text("ab'\"{}\\\n\r\t é"), st.text("ab'\"{}\\\n é"), st.sampled_from([-1, ord("s"), ord("r")]))
def test_any_text_in_an_f_string_means_the_same(fixed, value, conversion):
    field = gast.FormattedValue(core.constant(value), conversion, None)
    node = gast.JoinedStr([core.constant(fixed), field, core.constant(fixed)])
    assert eval(write(node)) == fixed + (repr(value) if conversion == ord("r") else value) + fixed


@given(st.text("ab'\"{}\\\n é"), st.sampled_from(literals.QUOTES))
def test_escaped_text_is_read_back(text, quote):
    assert eval(quote + literals.escaped(text, quote) + quote) == text


class Echo:
    def __format__(self, specification):
        return specification


def test_braces_in_a_format_specification_are_literal():
    parts = [core.constant("{"), gast.FormattedValue(core.name("w"), -1, None), core.constant("}'")]
    node = gast.JoinedStr([gast.FormattedValue(core.name("x"), -1, gast.JoinedStr(parts))])
    assert eval(write(node), {"x": Echo(), "w": 5}) == "{5}'"


def test_nested_f_strings_keep_their_quotes_apart():
    text = """f'''{f"{f'{x}' + y}" + z['a"b']}'''"""
    assert gast.dump(gast.parse(write(gast.parse(text)))) == gast.dump(gast.parse(text))


def test_backslash_within_a_field_keeps_meaning_on_every_python():
    width = gast.JoinedStr([core.constant(">"), gast.FormattedValue(core.name("w"), -1, None)])
    backslash = gast.FormattedValue(core.constant("\\"), ord("r"), width)
    node = gast.JoinedStr([core.constant("{'\""), backslash, gast.FormattedValue(core.name("x"), -1, None)])
    assert eval(write(node), {"x": 1, "w": 6}) == "{'\"" + f"{chr(92)!r:>6}" + "1"


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="any f-string can be written since Python 3.12")
def test_f_string_without_spelling_is_refused():
    brace = gast.JoinedStr([core.constant("{")])
    with pytest.raises(ValueError, match="no spelling"):
        write(gast.JoinedStr([gast.FormattedValue(core.constant("\\"), -1, brace)]))


def test_lines_are_counted_over_strings_of_several_lines():
    field = gast.FormattedValue(core.constant("a\nb"), -1, None)
    stmts = [core.assign("x", gast.JoinedStr([field]), None), core.assign("y", 1, None)]
    fn = core_function("def f(x):\n    return x")
    text, origins = function_text(fn.with_body([*stmts, *fn.body]))
    assert [text.splitlines()[line - 1] for line in origins] == ["    return x"]


def test_empty_set_is_a_set():
    assert eval(write(gast.Set([]))) == set()


def test_tuple_alone_stands_in_parentheses():
    assert write(gast.parse("a, b").body[0].value) == "(a, b)"


def test_comments_stand_above_their_statements():
    loop, last = gast.parse("for i in x:\n    y += i\nreturn y").body
    core.place(loop, None, ["forward"])
    core.place(loop.body[0], None, ["s += x * x", "", "second\nthird"])
    core.place(last, None, ["reverse"])
    assert write([loop, last]) == textwrap.dedent("""\
        # forward
        for i in x:
            # s += x * x
            #
            # second
            # third
            y += i
        # reverse
        return y""")


def test_commented_branch_is_no_elif():
    (stmt,) = gast.parse("if a:\n    pass\nelif b:\n    pass").body
    core.place(stmt.orelse[0], None, ["why"])
    assert write(stmt) == "if a:\n    pass\nelse:\n    # why\n    if b:\n        pass"


def test_commented_text_is_no_docstring():
    (stmt,) = gast.parse("'text'").body
    assert write(gast.Module([core.place(stmt, None, ["why"])], [])) == "# why\n'text'"


def test_function_is_written_with_its_parameters_and_docstring():
    fn = core_function("def f(x·2, /, y: int, *args, k=1, **kw):\n    return x·2", doc="One line.")
    assert write_function(fn) == textwrap.dedent('''\
        def f(x·2, /, y: int, *args, k=1, **kw):
            """One line."""
            return x·2''')


def test_long_docstring_is_laid_out_again():
    fn = core_function("def f(x):\n    return x", doc="\n        First.\n\n            Indented.\n        ")
    assert write_function(fn) == textwrap.dedent('''\
        def f(x):
            """First.

                Indented.
            """
            return x''')


def test_every_line_knows_its_origin():
    fn = core_function("""\
def f(x):
    for i in x:
        y = i
    if y:
        z = 1
    elif x:
        z = 2
    return z""")
    core.place(fn.body[0].body[0], core.origin_of(fn.body[0].body[0]), ["a comment"])
    text, origins = function_text(fn)
    assert text.splitlines()[2:4] == ["        # a comment", "        y = i"]
    assert {line: origin.line for line, origin in origins.items()} == {2: 2, 3: 3, 4: 3, 5: 4, 6: 5, 7: 6, 8: 7, 9: 8}
