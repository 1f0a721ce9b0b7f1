"""Generated gradients read as lean as gradients that were written by hand, before the compiler was.

Each module here holds a function, its hand-written adjoint (`<name>_grad`) and `args`, which draws arguments; `argnums`
where it is not 0.
"""

import ast
import importlib
import pathlib

import numpy as np
import pytest

import s2s
from s2s.autograd.record import tape_value_and_grad

NAMES = sorted(
    p.stem for p in pathlib.Path(__file__).parent.glob("*.py") if not p.stem.startswith("test_") and p.stem != "helpers"
)


class Golden:
    """One module: the primal, the hand-written gradient, and what to differentiate by."""

    def __init__(self, name):
        module = importlib.import_module(f"tests.goldens.{name}")
        self.name = name
        self.primal = getattr(module, name)
        self.by_hand = getattr(module, f"{name}_grad")
        self.argnums = getattr(module, "argnums", 0)
        self.args = module.args
        self.path = module.__file__

    def leaves(self, gradient):
        return gradient if isinstance(self.argnums, tuple) else (gradient,)

    def positions(self):
        return self.argnums if isinstance(self.argnums, tuple) else (self.argnums,)


@pytest.fixture(params=NAMES)
def golden(request):
    return Golden(request.param)


def central_differences(f, args, position, h=1e-6):
    """The gradient of f by one argument, a float or an array."""
    x = np.asarray(args[position])
    out = np.empty(x.shape)
    for i in np.ndindex(x.shape):
        step = np.zeros(x.shape)
        step[i] = h
        ends = [x + step, x - step] if x.ndim else [float(x) + h, float(x) - h]
        up, down = (f(*args[:position], end, *args[position + 1 :]) for end in ends)
        out[i] = (up - down) / (2 * h)
    return out


def statements(text, name=None):
    """The number of statements of a function: the one of that name, or the only one."""
    functions = [n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef) and name in (None, n.name)]
    assert len(functions) == 1
    count = sum(isinstance(n, ast.stmt) for n in ast.walk(functions[0]))
    return count - (ast.get_docstring(functions[0]) is not None)


@pytest.mark.parametrize("seed", range(3))
def test_hand_written_gradient_agrees_with_differences(golden, seed):
    args = golden.args(np.random.default_rng(seed))
    for position, got in zip(golden.positions(), golden.leaves(golden.by_hand(*args))):
        want = central_differences(golden.primal, args, position)
        assert np.shape(got) == want.shape
        np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-8)


def test_hand_written_gradient_scales_with_the_seed(golden):
    args = golden.args(np.random.default_rng(0))
    for one, three in zip(golden.leaves(golden.by_hand(*args)), golden.leaves(golden.by_hand(*args, out_bar=3.0))):
        np.testing.assert_allclose(three, 3.0 * np.asarray(one), rtol=1e-13)


@pytest.mark.parametrize("seed", range(3))
def test_tape_agrees_with_hand_written(golden, seed):
    args = golden.args(np.random.default_rng(seed))
    names = golden.primal.__code__.co_varnames
    wrt = [names[i] for i in golden.positions()]
    _, _, by_name = tape_value_and_grad(golden.primal, wrt, args)
    for got, want in zip((by_name[name] for name in wrt), golden.leaves(golden.by_hand(*args)), strict=True):
        assert np.shape(got) == np.shape(want)
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("seed", range(3))
def test_generated_gradient_agrees_with_hand_written(golden, seed):
    args = golden.args(np.random.default_rng(seed))
    df = s2s.grad(golden.primal, golden.argnums, strict=True)
    for got, want in zip(golden.leaves(df(*args)), golden.leaves(golden.by_hand(*args)), strict=True):
        assert np.shape(got) == np.shape(want)
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-14)


def test_generated_source_runs_where_it_is_pasted_beside_the_function(golden):
    args = golden.args(np.random.default_rng(0))
    df = s2s.grad(golden.primal, golden.argnums, strict=True)
    namespace = dict(golden.primal.__globals__)
    exec(df.source(*args), namespace)
    pasted = namespace[f"{golden.name}_grad"]
    for got, want in zip(golden.leaves(pasted(*args)), golden.leaves(df(*args)), strict=True):
        np.testing.assert_array_equal(got, want)


def leanness(golden):
    """The statements of the generated gradient, relative to those of the hand-written one; and its text."""
    df = s2s.grad(golden.primal, golden.argnums)
    text = df.source(*golden.args(np.random.default_rng(0)))
    assert df.fallbacks == []
    return statements(text) / statements(pathlib.Path(golden.path).read_text(), golden.by_hand.__name__), text


def test_generated_gradient_is_as_lean_as_hand_written(golden):
    ratio, text = leanness(golden)
    assert ratio <= 1.2, f"{ratio:.2f} times the statements by hand:\n{text}"
