"""Random programs by split pairs: pullbacks, and calls that are not inlined, agree with the joint gradient."""

import copy
import linecache
import warnings

import numpy as np
import pytest

import s2s
from s2s.transforms import inline
from tests.programs.generator import Writer, arguments
from tests.programs.generator import define as defined
from tests.programs.inplace import InplaceWriter
from tests.programs.verify import is_float, leaves


def floats(tree):
    return [np.asarray(leaf, float) for leaf in leaves(tree) if is_float(leaf)]


def agree(got, want):
    for a, b in zip(floats(got), floats(want), strict=True):
        if np.isfinite(b).all():
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4 * max(1.0, np.abs(b).max(initial=0.0)))


def caller_of(f):
    """A function that calls another one twice, with a source that can be found."""
    names = ", ".join(f.__code__.co_varnames[: f.__code__.co_argcount])
    text = f"def caller({names}):\n    return callee({names}) * 1.5 + callee({names})\n"
    file = f"<caller of {id(f)}>"
    linecache.cache[file] = len(text), None, text.splitlines(True), file
    namespace = {"callee": f}
    exec(compile(text, file, "exec"), namespace)
    return namespace["caller"]


@pytest.mark.parametrize(("writer", "least"), [(Writer, 6), (InplaceWriter, 3)])
def test_pullbacks_and_calls_agree_with_the_gradient(monkeypatch, writer, least):
    compiled = called = 0
    for seed in range(40_000, 40_012):
        f, args = defined(writer(seed, 2).program()), arguments(seed)
        argnums = tuple(i for i, a in enumerate(args) if floats(a))
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                f(*copy.deepcopy(args))
            except Exception:
                continue
            try:
                value, gradients = s2s.value_and_grad(f, argnums=argnums, strict=True)(*copy.deepcopy(args))
            except s2s.UnsupportedSyntaxError:
                continue
            compiled += 1
            out, pullback = s2s.vjp(f, *copy.deepcopy(args), strict=True)
            np.testing.assert_array_equal(out, value)
            for _ in range(2):
                bars = pullback(np.ones_like(out) if isinstance(out, np.ndarray) else type(out)(1.0))
                for i, gradient in zip(argnums, gradients):
                    agree(bars[i], gradient)
            # the second call sees what the first one has written into the arguments
            whole = s2s.grad(caller_of(f), argnums=argnums)(*copy.deepcopy(args))
            with monkeypatch.context() as patched:
                patched.setattr(inline, "LONG", -1)
                try:
                    split = s2s.grad(caller_of(f), argnums=argnums, strict=True)(*copy.deepcopy(args))
                except s2s.UnsupportedSyntaxError:
                    continue
                called += 1
                agree(split, whole)
    assert compiled >= least and called >= least // 3
