"""Calls of user functions replaced by their bodies: the program computes the same, and reads the same variables."""

import functools
import importlib
import linecache
import math
import sys
import types

import gast
import numpy as np
import pytest

from s2s import core
from s2s.codegen.build import build
from s2s.compiler.program import PROGRAM
from s2s.errors import NotCompiled
from s2s.frontend.lower import lower, lower_function
from s2s.frontend.source import unwrap
from s2s.transforms.bound import may_be_unbound, may_read_deleted
from s2s.transforms.inline import inline_calls
from s2s.transforms.structure import statements
from s2s.transforms.task import Task
from s2s.transforms.versions import versions

RATE = 2.0
TABLE = {"fast": 3.0}
SETTINGS = types.SimpleNamespace(rate=5.0, deep=types.SimpleNamespace(rate=7.0))


def resolve(call, scope):
    """Every plain function, method or partial that a path leads to."""
    names = gast.unparse(call.func).strip().split(".")
    value = functools.reduce(getattr, names[1:], scope.lookup(names[0]))
    return unwrap(value) if isinstance(value, (types.FunctionType, types.MethodType, functools.partial)) else None


def inlined(function):
    return core.check(inline_calls(lower_function(function), resolve, PROGRAM))


def callees(fn):
    """The names of the functions that a function still calls."""
    calls = [n for s in fn.body for n in gast.walk(s) if isinstance(n, gast.Call)]
    return [c.func.attr if isinstance(c.func, gast.Attribute) else c.func.id for c in calls]


def assert_same(function, *args, left=()):
    """The inlined function gives the same, and calls nothing but `left`."""
    fn = inlined(function)
    assert sorted(set(callees(fn))) == sorted(left)
    made = build(fn).function
    assert made(*args) == function(*args)
    return made


# --- the helpers ---


def square(v):
    return v * v


def scaled(v, scale=2.0, *, shift=0.0, power=1):
    return scale * v**power + shift


def many(first, /, *rest, start=1.0, **options):
    total = start
    for value in rest:
        total += first * value
    return total + options.get("bonus", 0.0)


def swap(a, b):
    a, b = b, a
    return a, b


def early(x, n):
    for i in range(n):
        if x > 10.0:
            return x
        x = x * x + i
    return -x


def with_rate(v):
    return RATE * v


def twice_squared(v):
    return square(v) + square(square(v))


def late(n):
    for i in range(n):
        y = i
    return y


class Model:
    def __init__(self, rate):
        self.rate = rate

    def energy(self, x, power=2):
        return self.rate * self.power(x, power)

    @staticmethod
    def power(x, n):
        return x**n


MODEL = Model(3.0)


# --- arguments ---


def test_arguments_by_position_keyword_and_default():
    def fun(x):
        return scaled(x) + scaled(shift=x * x, v=x, scale=x) + scaled(x, power=3)

    assert_same(fun, 2.0)


def test_variadic_parameters():
    def fun(x):
        return many(x) + many(x, x, 2.0, start=3.0, bonus=x) + many(x, first=1.0)

    assert_same(fun, 2.0)


def test_defaults_that_are_no_literals_are_the_objects():
    start = [1.0]

    def helper(x, start=start, scale=np.float32(2.0)):
        return start[0] * x * scale

    def fun(x):
        return helper(x)

    made = assert_same(fun, 2.0)
    start[0] = 10.0
    assert made(2.0) == fun(2.0) == 40.0


@pytest.mark.parametrize(
    "fun",
    [
        lambda x: square(),
        lambda x: square(x, x),
        lambda x: square(x, v=x),
        lambda x: square(w=x),
        lambda x: many(start=x),
        lambda x: scaled(x, 1.0, 2.0),
    ],
    ids=["missing", "too many", "twice", "unknown", "positional only", "keyword only"],
)
def test_wrong_calls_are_left_to_python(fun):
    with pytest.raises(TypeError) as expected:
        fun(1.0)
    with pytest.raises(TypeError) as caught:
        build(inlined(fun)).function(1.0)
    assert str(caught.value) == str(expected.value)


def test_star_arguments_of_displays_are_spread():
    def fun(x):
        values = [x]
        return square(*values)

    def named(x):
        values = {"v": x}
        return square(**values)

    for function in (fun, named):
        assert_same(function, 3.0)


def test_star_arguments_that_may_have_changed_are_refused():
    def grown(x):
        values = []
        values.append(x)
        return square(*values)

    def renamed(x, v):
        values = {v: x}
        other = values
        other["v"] = 2.0 * x
        return square(**values)

    def reassigned(x):
        values = [x]
        x = 2.0 * x
        return square(*values)

    def in_loop(x):
        values, total = (x,), 0.0
        for _ in range(3):
            total += square(*values)
            x = 2.0 * x
            values = (x,)
        return total

    for function in (grown, renamed, reassigned, in_loop):
        with pytest.raises(NotCompiled, match=r"a call of square with `\*` or `\*\*`"):
            inlined(function)


def test_dicts_that_have_changed_are_spread_out():
    def renamed(x):
        values = {"v": x}
        other = values
        other["v"] = 2.0 * x
        return square(**values)

    assert_same(renamed, 3.0)


def test_argument_is_what_it_was_at_the_call():
    def rebinding(v):
        v = v * 2.0
        return v

    def fun(x):
        y = rebinding(x)
        return x, y

    assert_same(fun, 3.0)


def test_arrays_are_passed_by_reference():
    def fill(a, value):
        a[0] = value
        a += 1.0

    def fun(x):
        a = [0.0, 0.0]
        b = np.zeros(2)
        fill(b, x)
        a[0] = b[0] + b[1]
        return a

    assert_same(fun, 3.0, left=["zeros"])


# --- names ---


def test_locals_of_the_same_name_stay_apart():
    def fun(v, scale):
        total = square(v)
        b, a = swap(v, scale)
        return total + a * scaled(scale, v) - b

    assert_same(fun, 3.0, 5.0)


def test_names_keep_their_stems():
    def fun(x):
        return scaled(x)

    stems = {core.stem(n) for n in inlined(fun).local_names()}
    assert {"x", "v", "scale", "shift", "power"} <= stems


def test_calls_in_branches_and_loops():
    def fun(x, n):
        total = 0.0
        for i in range(n):
            if x > 1.0:
                total += early(x, i)
            else:
                total -= early(x, i)
            x = square(x) - 1.0
        while square(x) < 100.0:
            x = scaled(x, 3.0, shift=1.0)
        return total, x

    for x in (0.3, 1.5, -2.0):
        assert_same(fun, x, 4, left=["range"])


def test_calls_in_calls():
    def fun(x):
        return twice_squared(twice_squared(x))

    assert_same(fun, 1.5)


def test_call_for_its_effect():
    seen = []

    def note(x):
        seen.append(x)

    def nothing():
        pass

    def fun(x):
        note(x)
        if x > 0:
            nothing()
        return x

    assert_same(fun, 2.0, left=["append"])
    assert seen == [2.0, 2.0]


def test_result_is_unpacked():
    def fun(x):
        a, b = swap(x, 2.0)
        return a - b

    assert_same(fun, 3.0)


def test_origins_are_those_of_the_callee():
    def fun(x):
        return twice_squared(x)

    functions = {core.origin_of(s).function for s in statements(inlined(fun).body)}
    assert functions == {"fun", "twice_squared", "square"}


# --- what free names mean ---


def test_global_of_the_same_module_is_kept_and_live(monkeypatch):
    def fun(x):
        return with_rate(x) * RATE

    made = assert_same(fun, 3.0)
    monkeypatch.setitem(globals(), "RATE", 10.0)
    assert made(3.0) == 300.0


def test_global_that_a_local_of_the_caller_hides(monkeypatch):
    def fun(x):
        RATE = x
        return with_rate(x) + RATE

    made = assert_same(fun, 3.0)
    monkeypatch.setitem(globals(), "RATE", 10.0)
    assert made(3.0) == 33.0


OTHER = """
import math as m
import types

RATE = 0.5
LIMIT = 3.0
TABLE = {"slow": 0.25}
SETTINGS = types.SimpleNamespace(rate=4.0, deep=types.SimpleNamespace(rate=6.0))

def helper(x):
    return x + 1.0

def rate(x):
    return RATE * helper(x)

def table(x):
    return TABLE["slow"] * x + SETTINGS.rate * SETTINGS.deep.rate

def store(x):
    TABLE["seen"] = x
    SETTINGS.seen = x
    TABLE["seen"] += RATE

def grow(x):
    while x < LIMIT:
        x = x * 2.0 + RATE
        if x == RATE:
            break
    return abs(m.sqrt(x))

def bare():
    return RATE

def size(x):
    return abs(x)

def undefined(x):
    return x * not_defined_yet

def back(x, function):
    return function(x) * RATE
"""


@pytest.fixture
def other(tmp_path, monkeypatch):
    """A module with globals of its own, some of the same names as here."""
    (tmp_path / "other_module.py").write_text(OTHER)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "other_module", raising=False)
    importlib.invalidate_caches()
    return importlib.import_module("other_module")


def test_globals_of_another_module(other):
    def fun(x):
        return other.rate(x) * RATE + other.table(x)

    made = assert_same(fun, 3.0)
    other.RATE, other.TABLE, other.SETTINGS.deep.rate = 8.0, {"slow": 1.0}, 0.0
    assert made(3.0) == fun(3.0) == 8.0 * 4.0 * RATE + 3.0


def test_numbers_of_another_module_are_read_where_they_are_used(other):
    def fun(x):
        return other.grow(x) + other.bare()

    made = assert_same(fun, 0.25, left=["abs", "sqrt"])
    other.LIMIT, other.RATE = 100.0, 0.125
    assert made(0.25) == fun(0.25)


def test_writes_into_objects_of_another_module(other):
    def fun(x):
        other.store(x)
        return other.TABLE["seen"] + other.SETTINGS.seen

    assert_same(fun, 3.0)


def test_number_that_changes_in_a_loop_of_the_callee(other):
    def tick():
        other.LIMIT = other.LIMIT - 1.0

    def fun(x):
        for i in range(3):
            other.store(other.LIMIT)
            tick()
            x = other.grow(x)
        return x, other.TABLE["seen"]

    other.LIMIT = 50.0
    expected = fun(0.25)
    other.LIMIT = 50.0
    assert build(inlined(fun)).function(0.25) == expected


def test_name_that_is_not_defined_yet(other):
    def fun(x):
        return other.undefined(x)

    made = build(inlined(fun)).function
    with pytest.raises(NameError, match="not_defined_yet"):
        made(1.0)
    other.not_defined_yet = 4.0
    assert made(2.0) == 8.0


def test_builtin_that_another_module_replaces(other):
    other.abs = lambda x: 0.0

    def fun(x):
        return other.size(x) + abs(x)

    assert build(inlined(fun)).function(-4.0) == fun(-4.0) == 4.0


def test_module_that_cannot_be_named(other, monkeypatch):
    monkeypatch.delitem(sys.modules, "other_module")

    def fun(x):
        return other.rate(x)

    assert_same(fun, 3.0, left=["rate"])


def test_module_whose_name_is_no_identifier(other, monkeypatch):
    monkeypatch.setitem(sys.modules, "other-module", other)
    other.__name__ = "other-module"

    def fun(x):
        return other.rate(x)

    assert_same(fun, 3.0)


def test_variables_of_closures():
    def make(k):
        def scale(x):
            return k * x

        def change(value):
            nonlocal k
            k = value

        return scale, change

    f2, change = make(2.0)
    f5, _ = make(5.0)

    def fun(x):
        k = x
        return f2(x) + 10.0 * f5(k)

    made = assert_same(fun, 1.0)
    change(3.0)
    assert made(1.0) == fun(1.0) == 53.0


def test_closure_variable_that_both_read():
    factor = 4.0

    def helper(x):
        return factor * x

    def fun(x):
        return helper(x) + factor

    made = assert_same(fun, 2.0)
    factor = 5.0
    assert made(2.0) == 15.0


# --- methods and partials ---


def test_bound_method():
    def fun(x):
        return MODEL.energy(x) + MODEL.energy(power=3, x=x)

    made = assert_same(fun, 2.0)
    MODEL.rate = 1.0
    try:
        assert made(2.0) == 12.0
    finally:
        MODEL.rate = 3.0


def test_partials():
    cubed = functools.partial(scaled, power=3, scale=np.float64(4.0))
    shifted = functools.partial(functools.partial(cubed, shift=1), 5.0)

    def fun(x):
        return cubed(x) + cubed(x, power=2) * shifted()

    assert_same(fun, 2.0)


# --- what cannot be inlined ---


def test_nested_functions_are_inlined():
    def nested(x, k):
        y = 2.0 * x

        def scaled(v, /, by=k, *rest, shift=0.0, **more):
            """A text."""
            if v > 100.0:
                return v
            return v * by + y + shift + sum(rest) + more.get("a", 0.0)

        k = y = y + 1.0
        return scaled(x) + scaled(x, x, 1.0, shift=x) + scaled(1000.0, a=2.0)

    def lambdas(x):
        sq = lambda u, p=x: p * u * u  # noqa: E731
        x = 100.0
        return sq(2.0) + sq(u=2.0, p=1.0) + (lambda: x)()

    for function in (nested, lambdas):
        args = (3.0, 5.0)[: function.__code__.co_argcount]
        fn = inlined(function)
        assert not any(isinstance(s, gast.FunctionDef) for s in statements(fn.body))
        assert build(fn).function(*args) == function(*args)


def made(k):
    return lambda u: k * u


def test_functions_that_are_returned_keep_their_variables_apart():
    def fun(x):
        double, triple = made(2.0), made(3.0)
        other = double
        double = triple
        return double(x) + 10.0 * other(x)

    def rebound(x):
        total = 0.0
        for i in range(3):
            f = made(i + x)
            total += f(x)
        return total

    fn = inlined(rebound)
    assert not any(isinstance(s, gast.FunctionDef) for s in statements(fn.body))
    assert build(fn).function(2.0) == rebound(2.0)
    assert build(inlined(fun)).function(2.0) == fun(2.0)


def test_a_default_is_that_of_the_definition_that_ran():
    def fun(x):
        total = 0.0
        g = None
        for i in range(3):

            def f(v, k=i):
                return v * k

            if i == 1:
                g = f
            total += f(x)
        return total + g(x)

    def through(x):
        def f(v, k=x):
            return v * k

        h = f
        x = 100.0

        def f(v, k=x):  # noqa: F811
            return v * k

        return h(1.0) + f(1.0)

    for function in (fun, through):
        assert build(inlined(function)).function(2.0) == function(2.0)


@pytest.mark.parametrize("text", [
    "g = lambda: (yield)",
    "def g():\n        global n\n        n = 2.0",
    "@abs\n    def g(): pass",
    "async def g(): pass",
])  # fmt: skip
def test_nested_functions_that_do_more_than_read_are_refused(text):
    text = f"def f(x):\n    {text}\n    return x"
    with pytest.raises(NotCompiled):
        lower(gast.parse(text).body[0], scope=core.Scope({}), file="user.py", text_lines=text)


def test_a_nested_function_that_calls_itself_is_called_as_one_of_its_own():
    def fun(x):
        def again(n):
            return x if n == 0 else x * again(n - 1)

        return again(3)

    fn = inlined(fun)
    assert not any(isinstance(s, gast.FunctionDef) for s in statements(fn.body))
    assert build(fn).function(3.0) == 81.0


def test_recursion_of_nested_functions_through_another_is_refused():
    def fun(x):
        def again(n):
            return x if n == 0 else x * other(n)

        def other(n):
            return again(n - 1)

        return again(3)

    with pytest.raises(NotCompiled, match="recursive call of the nested function again"):
        inlined(fun)


def test_nested_function_that_is_used_otherwise_stays():
    def fun(x):
        functions = []
        functions.append(lambda: x)
        return functions[0]() + (lambda: 2.0)()

    fn = inlined(fun)
    assert sum(isinstance(s, gast.FunctionDef) for s in statements(fn.body)) == 1
    assert build(fn).function(3.0) == 5.0


def factorial(n, x):
    return x if n == 0 else n * factorial(n - 1, x)


def even(x):
    return x if x < 1 else odd(x - 1)


def odd(x):
    return -x if x < 1 else even(x - 1)


def test_recursion_stays_a_call():
    assert callees(inlined(factorial)) == ["factorial"]
    assert callees(inlined(even)) == ["odd"]

    def fun(x):
        return square(factorial(n=3, x=x)) + factorial(2, x)

    assert_same(fun, 2.0, left=["factorial"])


def counted(n, *rest, start=1.0, **options):
    return start + sum(rest) + options.get("bonus", 0.0) if n == 0 else counted(n - 1, *rest, start=start, **options)


def test_recursive_calls_have_one_argument_for_each_parameter():
    def fun(x):
        return counted(2, x, 2.0, bonus=x) + counted(0)

    fn = inlined(fun)
    calls = [n for s in fn.body for n in gast.walk(s) if isinstance(n, gast.Call)]
    assert all(len(c.args) == 4 and not c.keywords for c in calls)
    assert build(fn).function(3.0) == fun(3.0)


def applied(f, x):
    return f(x) + f(2.0 * x)


def repeated(f, x, n):
    return x if n == 0 else repeated(f, f(x), n - 1)


def test_functions_as_arguments_are_inlined():
    def fun(x):
        g = square
        return applied(square, x) + applied(g, x) + applied(math.sin, x)

    fn = inlined(fun)
    assert len(callees(fn)) == 2  # of the sine
    assert build(fn).function(3.0) == fun(3.0)


def test_a_name_that_may_hold_another_function_stays():
    def fun(x, flag):
        g = square
        if flag:
            g = math.sin
        return g(x)

    made = build(inlined(fun)).function
    for flag in (True, False):
        assert made(0.5, flag) == fun(0.5, flag)


def test_recursive_function_is_called_for_the_function_that_it_is_given():
    def fun(x):
        return repeated(square, x, 2) + repeated(math.cos, x, n=1)

    fn = inlined(fun)
    calls = [n for s in fn.body for n in gast.walk(s) if isinstance(n, gast.Call)]
    assert len(calls) >= 2 and build(fn).function(1.1) == fun(1.1)


def test_local_that_may_be_unbound_is_so_in_each_round_of_a_loop():
    def once(n):
        return late(n)

    def looped(n):
        total = 0
        for i in range(n):
            total += late(n - i)
        return total

    def empty_in_the_last_round(n):
        total = 0
        for i in range(n):
            total += late(n - 1 - i)
        return total

    assert_same(once, 3, left=["range"])
    assert_same(looped, 3, left=["range"])
    for f in (once, empty_in_the_last_round):
        with pytest.raises(UnboundLocalError):
            f(0 if f is once else 2)
    with pytest.raises(UnboundLocalError):
        build(inlined(once)).function(0)
    with pytest.raises(UnboundLocalError, match="'y'"):
        build(versions(inlined(empty_in_the_last_round), Task("grad", program=None))).function(2)


def test_local_that_is_deleted_stays_a_call_in_loops():
    def gone(x):
        y = x
        if x > 5:
            del y
        return y

    def looped(n):
        total = 0
        for i in range(n):
            total += gone(i)
        return total

    assert "gone" in callees(inlined(looped))


def test_which_functions_may_read_a_local_unbound():
    def guarded(x):
        if x > 0:
            y = x
        else:
            raise ValueError("negative")
        return y

    def half(x):
        if x > 0:
            y = x
        return y

    def deleted(x):
        y = x
        del y
        return y  # noqa: F821

    def trips(x):
        for i in range(3):
            y = i
            x = x + y
        return x

    verdicts = {f.__name__: may_be_unbound(lower_function(f)) for f in (guarded, half, trips, late, early)}
    assert verdicts == dict(guarded=set(), half={"y"}, trips=set(), late={"y"}, early=set())
    assert may_read_deleted(lower_function(deleted)) and not may_read_deleted(lower_function(half))


def test_exponential_growth_ends_in_calls():
    space = {}
    chain = "\n".join(f"def f{i}(x):\n    return f{i - 1}(x) + f{i - 1}(x)" for i in range(1, 20))
    text = f"def f0(x):\n    return x\n{chain}\n"
    linecache.cache["<chain>"] = (len(text), None, text.splitlines(keepends=True), "<chain>")
    exec(compile(text, "<chain>", "exec"), space)
    fn = inlined(space["f19"])
    assert len(statements(fn.body)) < 1000
    assert len(set(callees(fn))) == 1


def test_local_functions_and_unknown_names_stay():
    def fun(x, square):
        return square(x) + math.sin(x)

    assert_same(fun, 2.0, lambda v: v + 1.0, left=["sin", "square"])


def test_methods_of_locals_stay():
    def fun(model, x):
        return model.energy(x)

    assert_same(fun, MODEL, 2.0, left=["energy"])
