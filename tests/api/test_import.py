"""`import s2s` is cheap, and offers what it says."""

import subprocess
import sys

import pytest

import s2s


def test_every_public_name_is_there():
    for name in s2s.__all__:
        assert getattr(s2s, name) is not None
    assert set(s2s.__all__) <= set(dir(s2s))
    with pytest.raises(AttributeError, match="no_such_name"):
        s2s.no_such_name  # noqa: B018


def test_import_loads_no_compiler_and_no_optional_library():
    code = "import sys, numpy, s2s; print(*sorted(m for m in sys.modules if m.startswith('s2s') or m in known))"
    known = "known = {'gast', 'astunparse', 'optree', 'cupy', 'numba', 'scipy', 'jax'}; "
    out = subprocess.run([sys.executable, "-c", known + code], capture_output=True, text=True, check=True).stdout
    assert out.split() == ["s2s"]


def test_gradients_load_no_optional_library():
    code = (
        "import sys, s2s; s2s.grad(lambda x: x * x); "
        "print(*sorted({'cupy', 'numba', 'scipy', 'jax', 'torch'} & set(sys.modules)))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
    assert out.strip() == ""
