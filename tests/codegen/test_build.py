"""Generated functions run in the user's own globals and cells, and are as easy to follow as written ones."""

import gc
import inspect
import io
import linecache
import pdb
import re
import threading
import traceback
from types import CellType

import pytest

from s2s import core
from s2s.codegen.build import annotate, build
from tests.codegen.helpers import core_function


def test_globals_are_the_users_own_and_read_live():
    globals = {"rate": 2, "__name__": "user"}
    function = build(core_function("def f(x):\n    return rate * x", globals=globals)).function
    assert function(3) == 6
    globals["rate"] = 10
    assert function(3) == 30
    assert function.__globals__ is globals
    assert function.__module__ == "user"


def test_cells_are_shared_both_ways():
    cell = CellType(1)
    text = "def f(x):\n    nonlocal count\n    count += x\n    return count"
    function = build(core_function(text, cells={"count": cell, "unused": CellType()})).function
    assert function(2) == 3
    assert cell.cell_contents == 3
    cell.cell_contents = 10
    assert function(1) == 11


def test_empty_cell_raises_as_in_python_until_it_is_filled():
    cell = CellType()
    function = build(core_function("def f():\n    return later", cells={"later": cell})).function
    with pytest.raises(NameError):
        function()
    cell.cell_contents = 5
    assert function() == 5


def test_super_finds_its_class_cell():
    class Base:
        def area(self):
            return 2

    class Square(Base):
        pass

    text = "def area(self):\n    return super().area() + 1"
    Square.area = build(core_function(text, cells={"__class__": CellType(Square)})).function
    assert Square().area() == 3


def test_our_names_are_bound_and_leave_the_users_globals_alone():
    globals = {"helper": "the user's"}
    function = build(core_function("def f(x·2):\n    return helper·2(x·2)", globals=globals, names={"helper·2": abs}))
    assert function.function(-4) == 4
    assert globals == {"helper": "the user's"}


def test_name_of_ours_wins_over_a_global():
    fn = core_function("def f():\n    return np", globals={"np": "shadowed"}, names={"np": "ours"})
    assert build(fn).function() == "ours"


def test_function_may_call_a_global_of_its_own_name():
    globals = {"f": lambda x: x + 1}
    assert build(core_function("def f(x):\n    return f(x)", globals=globals)).function(1) == 2


def test_parameters_of_every_kind_and_their_defaults():
    default = object()
    text = "def f(a, /, b=2, *rest, c, d=default, e=-1.5, g=limit, **kw):\n    return a, b, rest, c, d, e, g, kw"
    function = build(core_function(text, names={"default": default}, cells={"limit": CellType(9)})).function
    assert function(1, c=3) == (1, 2, (), 3, default, -1.5, 9, {})
    assert function(1, 5, 6, c=3, d=4, z=7) == (1, 5, (6,), 3, 4, -1.5, 9, {"z": 7})
    assert (
        str(inspect.signature(function)).replace(repr(default), "D") == "(a, /, b=2, *rest, c, d=D, e=-1.5, g=9, **kw)"
    )


def test_unknown_name_in_a_default_raises_at_once():
    with pytest.raises(NameError, match="nowhere"):
        build(core_function("def f(x=nowhere):\n    return x"))


def test_annotations_are_shown_and_never_evaluated():
    built = build(core_function("def f(x: Missing['y'], *args: Missing):\n    return x"))
    assert "x: Missing['y']" in built.source
    assert built.function(1) == 1


def test_closures_in_generated_code_are_named_after_it():
    function = build(core_function("def f(x):\n    def inner():\n        return x\n    return inner")).function
    assert function.__qualname__ == function.__name__ == function.__code__.co_name == "f"
    assert function(1).__qualname__ == "f.<locals>.inner"
    assert function(1)() == 1


def test_source_is_what_inspect_and_linecache_show():
    built = build(core_function("def f(x):\n    return x", doc="Text."), filename_hint="grad of f")
    assert built.filename.startswith("<s2s grad of f #")
    assert inspect.getsource(built.function) == built.source == "".join(linecache.getlines(built.filename))
    assert built.function.__doc__ == "Text."
    linecache.checkcache()
    assert linecache.getline(built.filename, 1) == "def f(x):\n"


def test_each_function_has_a_file_of_its_own():
    fn = core_function("def f(x):\n    return x")
    assert build(fn).filename != build(fn).filename


def test_source_is_freed_with_the_function():
    built = build(core_function("def f(x):\n    return x"))
    filename, function = built.filename, built.function
    del built
    gc.collect()
    assert filename in linecache.cache
    del function
    gc.collect()
    assert filename not in linecache.cache


def test_many_threads_build_at_once():
    built = []
    fn = core_function("def f(x):\n    return x + 1")
    threads = [threading.Thread(target=lambda: built.extend(build(fn) for _ in range(20))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({b.filename for b in built}) == 160
    assert all(b.function(1) == 2 and linecache.getlines(b.filename) for b in built)


def raised(function, *args):
    """The exception that a call leaves, as a caller that annotates lets it pass."""
    try:
        function(*args)
    except BaseException as error:
        annotate(error)
        return error
    raise AssertionError("nothing was raised")


DIVIDE = "def f(x):\n    # a comment\n    y = 1\n    return y / x"


def test_traceback_shows_the_generated_line_and_the_place_in_it():
    text = "".join(traceback.format_exception(raised(build(core_function(DIVIDE)).function, 0)))
    assert "line 3, in f\n    return y / x\n" in text
    assert "           ~~^~~\n" in text


def test_note_names_the_users_line():
    error = raised(build(core_function(DIVIDE, file="model.py", offset=40)).function, 0)
    assert error.__notes__ == [
        'This generated line came from\n  File "model.py", line 44, in f\n    return y / x\n    ^',
    ]


def test_note_is_added_once_however_many_callers_annotate():
    inner = build(core_function(DIVIDE, file="inner.py"))
    outer = build(core_function("def g(x):\n    return call(x)", file="outer.py", names={"call": inner.function}))
    error = raised(outer.function, 0)
    annotate(error)
    assert len(error.__notes__) == 1
    assert 'File "inner.py", line 4' in error.__notes__[0]


def test_error_of_a_users_helper_names_the_line_that_calls_it():
    def helper(x):
        raise KeyError(x)

    error = raised(build(core_function("def f(x):\n    return helper(x)", names={"helper": helper})).function, 1)
    assert 'File "user.py", line 2, in f\n    return helper(x)' in error.__notes__[0]


def test_exception_from_elsewhere_gets_no_note():
    assert not hasattr(raised(int, "x"), "__notes__")


def test_exception_that_refuses_notes_passes_unchanged():
    class Frozen(Exception):
        def __setattr__(self, name, value):
            raise AttributeError(name)

    error = Frozen()

    def fail():
        raise error

    assert raised(build(core_function("def f():\n    return fail()", names={"fail": fail})).function) is error


def test_lines_give_the_origin_of_each_generated_line():
    text = "def f(x):\n    if x:\n        y = 1\n    else:\n        y = 2\n    return y"
    built = build(core_function(text, offset=10))
    assert {line: origin.line for line, origin in built.lines.items()} == {2: 12, 3: 13, 4: 12, 5: 15, 6: 16}


def test_debugger_steps_through_the_generated_text():
    built = build(core_function("def f(x):\n    y = x + 1\n    return y * 2"))
    commands, screen = io.StringIO("next\nprint('y is', y)\ncontinue\n"), io.StringIO()
    debugger = pdb.Pdb(stdin=commands, stdout=screen, nosigint=True, readrc=False)
    assert debugger.runcall(built.function, 20) == 42
    assert re.findall(r"-> .*|y is \d+", screen.getvalue()) == ["-> y = x + 1", "-> return y * 2", "y is 21"]


def test_core_functions_with_unprintable_parts_are_refused():
    fn = core_function("def f(x):\n    return x").with_body([core.assign("y", core.constant(object()), None)])
    with pytest.raises(TypeError, match="has no literal"):
        build(fn)
