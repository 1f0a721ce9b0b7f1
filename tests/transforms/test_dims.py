"""Sizes in terms of others are the sizes that arrays have, statement by statement, whatever the program does."""

import ast

import gast
import numpy as np
import pytest

import s2s
from s2s import core
from s2s.errors import NotCompiled
from s2s.runtime.absent import absent
from s2s.transforms.dims import Sizes, Term, root
from s2s.transforms.structure import copied
from tests.programs.generator import arguments, define
from tests.programs.inplace import InplaceWriter
from tests.programs.verify import stages_of
from tests.transforms import test_sameshape, test_stores


def number(term, names):
    """What a term stands for, by the values of names."""
    return term.constant + sum(factor * _root(of, names) for of, factor in term.roots)


def _root(of, names):
    kind, *parts = of
    if kind == "value":
        return names[parts[0]]
    if kind == "length":
        return names[parts[0]].shape[parts[1]]
    if kind == "count":
        return np.count_nonzero(names[parts[0]])
    parts = [number(p, names) if isinstance(p, Term) else p for p in parts]
    if kind == "positive":
        return max(0, parts[0])
    if kind == "slice":
        return len(range(parts[0])[slice(*parts[1:])])
    if kind in ("common", "least"):
        lengths = [number(t, names) for t in parts[0]]
        return min(lengths) if kind == "least" else next((n for n in lengths if n != 1), 1)
    return {"Mult": lambda a, b: a * b, "FloorDiv": lambda a, b: a // b, "Mod": lambda a, b: a % b}[kind](*parts)


def watched(stmts):
    """The statements, with calls that look at the names that they read (but for copies) before, and bind after."""
    new = []
    for stmt in stmts:
        blocks = {field: watched(block) for field, block in core.blocks(stmt)}
        if core.is_exit(stmt):
            new.append(stmt)
            continue
        simple = isinstance(stmt, gast.Assign)
        new.extend(
            look(name, stmt) for name in (sorted(core.reads(stmt.value)) if simple and copied(stmt) is None else [])
        )
        new.append(core.rebuilt(stmt, **blocks) if blocks else stmt)
        new.extend(look(name, stmt) for name in (core.writes(stmt) if simple else []))
    return new


def look(name, stmt):
    return core.place(gast.Expr(core.call("look·", core.constant(name), core.call("locals"))), core.origin_of(stmt))


def check(f, args):
    """Run the analysed program and compare what is said of sizes with what they are; gives how often it was."""
    stages = stages_of(s2s.value_and_grad(f, strict=True), args)
    program = next(program for name, program in stages if name == "activity")
    lengths, ints = program.facts.lengths, program.facts.ints
    seen = []

    def compare(name, names):
        if names.get(name) is absent:
            return  # nothing is said of what is not assigned yet
        if name in lengths:
            want = names[name].shape
            assert tuple(number(t, names) for t in lengths[name]) == want, f"{name}: {lengths[name]}, not {want}"
            seen.append(any(t != root("length", name, i) for i, t in enumerate(lengths[name])))
        elif name in ints:
            said = ints[name]
            got = number(said, names) if isinstance(said, Term) else tuple(number(t, names) for t in said)
            assert got == names[name], f"{name}: {said}, not {names[name]}"

    space = {**program.scope.globals, **program.scope.names, "look·": compare}
    space.update({name: cell.cell_contents for name, cell in program.scope.cells.items()})
    body = [*watched(program.body[:-1]), program.body[-1]]
    tree = gast.Module([gast.FunctionDef(program.name, program.params, body, [], None, None, [])], [])
    exec(compile(ast.fix_missing_locations(gast.gast_to_ast(tree)), "<test>", "exec"), space)
    space[program.name](*args)
    return sum(seen)


def slices(x, n):
    a = x[1:]
    b = x[:-1]
    c = x[n:]
    d = x[n : n + 2]
    e = x[::-1]
    f = x[-n::2]
    g = x[1:-1][:-1]
    h = x[:n]
    return np.sum(a * b) + np.sum(c) + np.sum(d) + np.sum(e * x) + np.sum(f) + np.sum(g) + np.sum(h)


def shrinking(x, n):
    y = x
    total = 0.0
    while len(y) > n:
        z = y[1:]
        total = total + np.sum(z * y[:-1])
        y = z
    return total + np.sum(y)


def growing_windows(x, n):
    total = 0.0
    last = x[:1]
    for i in range(1, len(x)):
        window = x[:i]
        total = total + np.sum(window * x[len(x) - i :]) + np.sum(last)
        last = window[i // 2 :]
        if i > n:
            break
    return total + np.sum(last)


def read_a_round_later(x, n):
    total = 0.0
    for i in range(n):
        if i > 0:
            total = total + np.sum(late[:1] * x[i - 1 :]) + np.sum(late)  # noqa: F821 (bound in the round before)
        late = x[i:]
    return total + np.sum(x)


def two_at_once(x, n):
    a, b = x, x[1:]
    for i in range(n):
        c = a[1:] if i > 0 else a
        a, b = c, c[: len(c) - i]
    return np.sum(a * a) + np.sum(b)


def tables(x, n):
    t = np.zeros((len(x), n + 1))
    for j in range(n + 1):
        t[:, j] = x * j
    u = t.T[1:] @ t
    v = np.outer(t[0], x)
    w = t[x > 0.0]
    k = t[[0, 0, 1]]
    r, c = t.shape
    z = np.zeros(c - 1)
    z[:] = u[0, :-1][: c - 1]
    return np.sum(u) + np.sum(v * t.T) + np.sum(w * w) + np.sum(k) + np.sum(np.diagonal(t)) + np.sum(z) * r


def overlapping(x, n):
    y = x.copy()
    for _ in range(n):
        y[:-1] += y[1:] * 0.5
        y[::-1][1:] *= 0.9
    return np.sum(y**2)


FUNCTIONS = [slices, shrinking, growing_windows, two_at_once, tables, overlapping]


@pytest.mark.parametrize("f", [*FUNCTIONS, read_a_round_later], ids=lambda f: f.__name__)
def test_sizes_are_what_is_said_of_them(f, rng):
    assert sum(check(f, (rng.normal(size=size), n)) for size in (2, 3, 4, 7) for n in (1, 2, 3))


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_gradients_where_sizes_are_known(f, rng):
    gradient = s2s.grad(f, strict=True)
    for size in (2, 3, 4, 7):
        for n in (1, 2, 3):
            x = rng.normal(size=size)
            steps = 1e-6 * np.eye(size)
            want = [(f(x + h, n) - f(x - h, n)) / 2e-6 for h in steps]
            np.testing.assert_allclose(gradient(x, n), want, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("f", test_sameshape.FUNCTIONS, ids=lambda f: f.__name__)
def test_sizes_of_what_broadcasts(f, rng):
    for a, b in test_sameshape.PAIRS:
        check(f, (rng.normal(size=a), rng.normal(size=b)))


@pytest.mark.parametrize("f", test_stores.PROGRAMS, ids=lambda f: f.__name__)
def test_sizes_in_programs_that_write(f, rng):
    check(f, (rng.normal(size=5), 3))


def test_sizes_in_random_programs():
    compared = 0
    for seed in range(60):
        program = InplaceWriter(seed, 3).program()
        try:
            compared += check(define(program), arguments(seed))
        except (NotCompiled, ArithmeticError, ValueError):
            continue
    assert compared > 200


def sizes(**shapes):
    """What is known where arrays have lengths with these names, and names of one letter are integers."""
    ints = {name: root("value", name) for name in "nmk"}
    kinds = {name: s2s.kinds.Array(np.dtype(float), len(shape)) for name, shape in shapes.items()}
    known = {name: tuple(ints[axis] for axis in shape) for name, shape in shapes.items()}

    def kind(node):
        if isinstance(node, gast.Constant):
            return s2s.kinds.of_literal(node.value)
        return kinds.get(getattr(node, "id", ""), s2s.kinds.Int())

    return Sizes(ints, known, kind, lambda call: (None, []))


def same(one, other, **shapes):
    known = sizes(**shapes)
    found = [known.shape(gast.parse(text, mode="eval").body) for text in (one, other)]
    return found[0] is not None and found[0] == found[1]


def test_slices_of_one_length():
    assert same("x[2:]", "x[1:-1]", x="n") and same("x[2:]", "x[:-2]", x="n")
    assert same("x[k:, 0]", "x[0, k:]", x="nn") and not same("x[k:, 0]", "x[0, k:]", x="nm")
    assert same("x[:]", "x[0:]", x="n") and same("x[::2]", "x[::2]", x="n")


def test_slices_that_may_differ():
    assert not same("x[1:]", "x[:1]", x="n")  # of three, two and one
    assert not same("x[-1:]", "x[:-1]", x="n")
    assert not same("x[k:]", "x[:-k]", x="n")  # of k = 0
    assert not same("x[k:]", "x[: n - k]", x="n")  # of a negative k
    assert not same("x[k + 1:]", "x[1:][k:]", x="n")
    assert not same("x[::-1]", "x[::2]", x="n")


@pytest.mark.parametrize("shape", [(1,), (3,)])
def test_a_shape_that_a_loop_rebinds_is_not_that_of_its_later_rounds(shape):
    def filled(x, shape):
        total = 0.0
        for _ in range(2):
            y = np.zeros(shape) + x[0]
            total = total + np.sum(y * x)
            shape = x.shape
        return total

    check(filled, (np.array([0.3, 0.7, -0.4]), shape))


def test_a_shape_that_branches_choose_is_that_of_neither():
    def chosen(x, y, n):
        shape = x.shape
        for i in range(n):
            total = np.sum(np.ones(shape) * x[0])
            shape = y.shape if i % 2 == 0 else x.shape
        return total + np.sum(x)

    check(chosen, (np.array([0.3, 0.7]), np.array([0.1, 0.2, 0.3]), 3))
