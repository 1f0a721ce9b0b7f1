"""What is not lowered is refused: the error names the construct and its line."""

import gast
import pytest

from s2s import core, errors
from s2s.frontend.lower import lower, lower_function
from s2s.frontend.lower.lowering import branches, lowers

REFUSED = {
    "a nested function that rebinds names outside of itself": "def g():\n        global x\n        x = 1",
    "a class definition": "class G: pass",
    "a generator expression": "x = (i for i in x)",
    "try with except*": "try: x = 1\n    except* E: pass",
    "yield": "x = yield x",
    "yield from": "yield from x",
    "an assignment to the global or enclosing name 'n'": "n = 2",
    "a call of locals": "x = locals()",
    "a call of globals": "x = globals()['a']",
    "a call of eval": "x = eval('x')",
    "a call of exec": "exec('x = 1')",
    "a call of vars": "x = vars()",
    "a call of dir": "x = dir()",
}


def lower_text(text):
    return lower(gast.parse(text).body[0], scope=core.Scope({}), file="user.py", text_lines=text)


@pytest.mark.parametrize("construct", REFUSED)
def test_refusal_names_construct_and_line(construct):
    with pytest.raises(errors.NotCompiled) as caught:
        lower_text(f"def f(x):\n    global n\n    {REFUSED[construct]}\n    return x\n")
    assert caught.value.message == f"{construct} cannot be compiled yet"
    assert caught.value.origin.line == 3
    assert caught.value.origin.file == "user.py"


@pytest.mark.parametrize("text", ["async def f(x): return x", "async def f(x):\n    await x"])
def test_coroutines_are_refused(text):
    with pytest.raises(errors.NotCompiled):
        lower_text(text)


def test_a_generator_is_refused_though_its_yield_is_never_reached():
    with pytest.raises(errors.NotCompiled, match="yield"):
        lower_text("def f(x):\n    return x\n    yield")


def test_a_handler_of_unknown_exceptions_is_refused_at_its_line():
    with pytest.raises(errors.NotCompiled, match="a handler of exceptions that are not known") as caught:
        lower_text("def f(x):\n    try:\n        x = 1\n    except (ValueError, x):\n        pass\n    return x")
    assert caught.value.origin.line == 4


def test_a_jump_out_of_finally_is_refused():
    with pytest.raises(errors.NotCompiled, match="a jump out of `finally`"):
        lower_text("def f(x):\n    try:\n        x = 1\n    finally:\n        return x")


def test_augmented_assignment_to_a_global_is_refused():
    with pytest.raises(errors.NotCompiled, match="'n'"):
        lower_text("def f(x):\n    global n\n    n += 1\n    return x")


def test_a_local_that_is_never_assigned_is_refused():
    with pytest.raises(errors.NotCompiled, match="'y' is read, but no assignment to it can be reached") as caught:
        lower_text("def f(x):\n    return y\n    y = 1")
    assert caught.value.origin.line == 2


def test_locals_of_the_user_is_an_ordinary_name():
    def f(x, locals, vars):
        return locals(), vars(), x

    assert core.check(lower_function(f))


def test_vars_of_an_object_is_an_ordinary_call():
    def f(x):
        return vars(x)

    assert core.check(lower_function(f))


def test_blocks_nested_too_deeply_are_refused():
    branches = "".join(f"    elif x == {i}: y = {i}\n" for i in range(120))
    with pytest.raises(errors.NotCompiled, match="nested"):
        lower_text(f"def f(x):\n    if x < 0: y = 0\n{branches}    return y")


def test_an_unknown_default_is_refused():
    text = "def f(x, y=[]): return x"
    with pytest.raises(errors.NotCompiled, match="default of 'y'"):
        lower_text(text)


@pytest.mark.parametrize(("register", "taken"), [(lowers, gast.Lambda), (branches, gast.IfExp)])
def test_a_node_has_one_rewriting(register, taken):
    with pytest.raises(ValueError, match=f"{taken.__name__} is rewritten by s2s.frontend.lower"):
        register(taken)(lambda low, node: None)
