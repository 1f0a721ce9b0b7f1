"""Where the text comes from, in what layout, and what happens when it is not the text of the code any more."""

import ast
import doctest
import importlib
import importlib.util
import inspect
import linecache
import os
import py_compile
import subprocess
import sys
import textwrap
import types
import zipfile

import gast
import pytest

from s2s.errors import SourceUnavailableError
from s2s.frontend.source import find

SQUARE = "import math\n\n\ndef fun(x):\n    return math.sqrt(x) ** 2\n"


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A function that writes a text (or bytes) to a file and imports it."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def make(text, name="written_module"):
        path = tmp_path / f"{name}.py"
        path.write_bytes(text if isinstance(text, bytes) else textwrap.dedent(text).encode())
        monkeypatch.delitem(sys.modules, name, raising=False)
        importlib.invalidate_caches()
        return importlib.import_module(name)

    return make


def body_of(function):
    return gast.unparse(find(function).node.body[-1]).strip()


def rewrite(module, text):
    """Change a file after its import, so that its time stamp changes as well."""
    with open(module.__file__, "w") as file:
        file.write(text)
    stamp = os.stat(module.__file__).st_mtime + 5
    os.utime(module.__file__, (stamp, stamp))


# --- edited after import ---


def test_edited_function_is_noticed(module):
    made = module(SQUARE)
    assert body_of(made.fun) == "return math.sqrt(x) ** 2"
    rewrite(made, SQUARE.replace("** 2", "** 3"))
    with pytest.raises(SourceUnavailableError, match="not what its code was compiled from") as caught:
        find(made.fun)
    assert "edited" in caught.value.hint


def test_constant_edited_to_another_type_is_noticed(module):
    made = module(SQUARE)
    rewrite(made, SQUARE.replace("** 2", "** 2.0"))
    with pytest.raises(SourceUnavailableError):
        find(made.fun)


def test_function_that_was_moved_by_an_edit_is_found(module):
    made = module(SQUARE)
    rewrite(made, "import math\n\nRATE = 2\n\n\n@property\ndef fun(x):\n    return x\n" + SQUARE)
    assert body_of(made.fun) == "return math.sqrt(x) ** 2"
    assert find(made.fun).node.lineno == 12


def test_removed_function_is_noticed(module):
    made = module(SQUARE)
    rewrite(made, "import math\n")
    with pytest.raises(SourceUnavailableError, match="not what its code"):
        find(made.fun)


def test_file_that_is_no_python_any_more(module):
    made = module(SQUARE)
    rewrite(made, "def fun(x:\n")
    with pytest.raises(SourceUnavailableError, match="no valid Python any more"):
        find(made.fun)


def test_removed_file(module):
    made = module(SQUARE)
    os.remove(made.__file__)
    with pytest.raises(SourceUnavailableError, match="cannot be read"):
        find(made.fun)


def test_reloaded_after_an_edit(module):
    made = module(SQUARE)
    find(made.fun)
    rewrite(made, SQUARE.replace("** 2", "** 3"))
    assert body_of(importlib.reload(made).fun) == "return math.sqrt(x) ** 3"


def test_stale_bytecode_is_noticed(tmp_path):
    path = tmp_path / "stale.py"
    path.write_text(SQUARE)
    compiled = py_compile.compile(str(path), str(tmp_path / "stale.pyc"))
    path.write_text(SQUARE.replace("** 2", "** 4"))
    spec = importlib.util.spec_from_file_location("stale", compiled)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    with pytest.raises(SourceUnavailableError, match="not what its code"):
        find(made.fun)


# --- notebooks, doctests, scripts, archives, prompts ---


def test_notebook_cell():
    """Notebooks keep the cell in linecache, and compile it statement by statement."""
    name = "/tmp/ipykernel_1/2468.py"
    text = SQUARE
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    space = {}
    for statement in ast.parse(text).body:
        exec(compile(ast.Module([statement], []), name, "exec"), space)
    assert body_of(space["fun"]) == "return math.sqrt(x) ** 2"


def test_doctest_example():
    """Examples of a doctest are files of their own while it runs."""
    text = '''
    >>> import math
    >>> def fun(x):
    ...     """
    ...     Text.
    ...     """
    ...     return math.sin(x)
    >>> (body_of(fun), body_of(lambda x: x + 1))
    ('return math.sin(x)', 'return x + 1')
    '''
    test = doctest.DocTestParser().get_doctest(text, {"body_of": body_of}, "example", None, 0)
    result = doctest.DocTestRunner(verbose=False).run(test)
    assert (result.failed, result.attempted) == (0, 3)


def run_python(*arguments, **options):
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


SCRIPT = """
from s2s.frontend.source import find

def fun(x):
    return x * 2

{body}
"""


def script(body):
    return SCRIPT.format(body=textwrap.dedent(body))


def test_script_from_another_folder(tmp_path):
    (tmp_path / "main.py").write_text(script("import os\nos.chdir('/')\nprint(find(fun).text)"))
    environment = {**os.environ, "PYTHONPATH": os.getcwd()}
    assert run_python("main.py", cwd=tmp_path, env=environment) == "def fun(x):\n    return x * 2"


def test_optimised_interpreter(tmp_path):
    body = "def checked(x):\n    'Doc.'\n    assert x\n    return x\nprint(find(checked).name)"
    (tmp_path / "main.py").write_text(script(body))
    environment = {**os.environ, "PYTHONPATH": os.getcwd()}
    assert run_python("-OO", str(tmp_path / "main.py"), env=environment) == "checked"


def test_standard_input_is_refused():
    body = """
        try:
            find(fun)
        except OSError as error:
            print(type(error).__name__)
        """
    assert (
        run_python("-", input=script(body), env={**os.environ, "PYTHONPATH": os.getcwd()}) == "SourceUnavailableError"
    )


def test_exec_is_refused():
    space = {}
    exec("def fun(x):\n    return x\n", space)
    with pytest.raises(SourceUnavailableError, match="fun has no source: '<string>' cannot be read") as caught:
        find(space["fun"])
    assert "exec" in caught.value.hint


def test_exec_under_the_name_of_another_file_is_refused():
    space = {}
    exec(compile("def run_python(x):\n    return x\n", __file__, "exec"), space)
    with pytest.raises(SourceUnavailableError, match="not what its code was compiled from"):
        find(space["run_python"])


def test_replaced_code_is_refused():
    def fun(x):
        return x

    fun.__code__ = fun.__code__.replace(co_consts=(*fun.__code__.co_consts, "more"))
    with pytest.raises(SourceUnavailableError, match="not what its code was compiled from"):
        find(fun)


def test_module_in_a_zip_file(tmp_path, monkeypatch):
    archive = tmp_path / "archive.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("zipped_module.py", SQUARE)
    monkeypatch.syspath_prepend(str(archive))
    made = importlib.import_module("zipped_module")
    assert body_of(made.fun) == "return math.sqrt(x) ** 2"


def test_every_function_of_some_modules_of_python():
    modules = [ast, doctest, textwrap, zipfile, importlib.util]
    functions = [f for m in modules for f in vars(m).values() if isinstance(f, types.FunctionType)]
    classes = [c for m in modules for c in vars(m).values() if isinstance(c, type)]
    functions += [f for c in classes for f in vars(c).values() if isinstance(f, types.FunctionType)]
    suspending = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
    found = [f for f in functions if "<" not in f.__code__.co_filename and not f.__code__.co_flags & suspending]
    assert len(found) > 200
    for function in found:
        assert find(function).node.lineno >= function.__code__.co_firstlineno


# --- layout ---


def test_text_left_of_the_indent(module):
    made = module(
        b'def make():\n    if True:\n        def fun(x):\n            note = """first\nat the margin\n"""\n'
        b"# a comment at the margin\n            y = x * \\\nx\n"
        b"            return y * len(note) \\\n                + x\n    return fun\n"
    )
    assert body_of(made.make()) == "return y * len(note) + x"


@pytest.mark.parametrize(
    "text",
    [
        SQUARE.replace("\n", "\r\n").encode(),
        b"\xef\xbb\xbf" + SQUARE.encode(),
        b"# -*- coding: latin-1 -*-\n# \xe9\n" + SQUARE.encode(),
        SQUARE.replace("    ", "\t").encode(),
        ("\x0c\n# \u2028 \x0b\n" + SQUARE).encode(),
        SQUARE.rstrip("\n").encode(),
    ],
    ids=["crlf", "bom", "latin-1", "tabs", "form-feed", "no-newline"],
)
def test_encodings_and_line_ends(module, text):
    source = find(module(text).fun)
    assert source.text.split() == ["def", "fun(x):", "return", "math.sqrt(x)", "**", "2"]
    assert "return" in source.lines[source.node.body[0].lineno - 1]


def test_letters_of_several_bytes(module):
    made = module("pair = ['äöü', lambda θ: θ * 2], (lambda θ: θ * 3)\n")
    assert find(made.pair[1]).text == "lambda θ: θ * 3"
    assert find(made.pair[0][1]).text == "lambda θ: θ * 2"


def test_future_annotations(module):
    made = module(
        """
        from __future__ import annotations

        def fun(x: Missing) -> Missing:
            def inner(y: Missing = 1) -> Missing:
                z: Missing = y
                return z
            return inner(x)
        """
    )
    assert body_of(made.fun) == "return inner(x)"


@pytest.mark.skipif(sys.version_info < (3, 12), reason="type parameters came with Python 3.12")
def test_type_parameters(module):
    made = module(
        """
        def fun[T](x: T, y: T = 2.0) -> T:
            return x * T.__name__

        class Box[T]:
            def get(self, x: T) -> T:
                return self.__x * x
        """
    )
    assert body_of(made.fun) == "return x * T.__name__"
    assert body_of(made.Box.get) == "return self.__x * x"


def test_imports_below_a_condition_and_in_a_function(module):
    made = module(
        """
        try:
            import os.path as path
        except ImportError:
            import posixpath as path
        if True:
            import math, sys

        def fun(x):
            import cmath
            return path.join(cmath.sqrt(x), math.sqrt(x), sys.getrecursionlimit())
        """
    )
    assert body_of(made.fun).startswith("return path.join(cmath.sqrt(x)")
