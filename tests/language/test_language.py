"""What becomes of each construct of Python: `docs/language.md` says it, and this shows that it is so.

python tests/language/test_language.py      # write the table anew; read the difference as prose

Compiled or recorded, the value of a sample is the function's own, bit for bit, its gradient agrees with differences,
and so do its tangent and its second derivative. What is not compiled is refused under `strict`, with the reason that
the table gives.
"""

import contextlib
import importlib.util
import inspect
import io
import pathlib
import sys
import warnings

import numpy as np
import pytest

import s2s

HERE = pathlib.Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "language.md"
_SPEC = importlib.util.spec_from_file_location("language_samples", HERE / "samples.py")
samples = sys.modules["language_samples"] = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(samples)

FUNCTIONS = [f for group in samples.SECTIONS.values() for f in group]

HEAD = """# What becomes of your Python

Of each construct: whether the compiler takes it, or, if not, what it says. What the compiler does not take is recorded
on the tape as the function runs: the gradient is as exact, and a warning names the line and the reason given here;
under `strict=True` the reason is an error. `tests/language/samples.py` holds a function for each row.
"""


def first(f):
    """The name of the parameter to differentiate by."""
    return next(iter(inspect.signature(f).parameters))


def arguments(f, seed=0):
    """Random arguments for a sample, by the names of its parameters."""
    rng = np.random.default_rng(seed)
    given = {
        "x": rng.uniform(0.3, 1.5, 3),
        "w": rng.uniform(0.3, 1.5, 3),
        "s": rng.uniform(0.8, 1.6),
        "n": 3,
        "p": {"w": rng.uniform(0.3, 1.5, 3), "b": rng.uniform(0.3, 1.5)},
        "m": samples.Model(rng.normal(size=3), 0.4),
    }
    if first(f) == "m":
        given["m"] = samples.Record(rng.normal(size=3), rng.normal())
    return [given[name] for name in inspect.signature(f).parameters]


def reason(f):
    """Why a sample is not compiled; None if it is."""
    try:
        s2s.grad(f, strict=True)(*arguments(f))
    except s2s.UnsupportedSyntaxError as refusal:
        return refusal.message
    return None


def table():
    """The page that documents all samples."""
    lines = [HEAD]
    for title, functions in samples.SECTIONS.items():
        lines += [f"## {title}", "", "| construct | what becomes of it |", "| --- | --- |"]
        for f in functions:
            why = reason(f)
            lines.append(f"| {f.__doc__} | {'compiled' if why is None else f'tape: {why}'} |")
        lines.append("")
    return "\n".join(lines)


def quietly(function, *args):
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore", s2s.FallbackWarning)
        return function(*args)


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("seed", [1, 2])
def test_sample_is_exact(f, seed):
    args = arguments(f, seed)
    value, gradient = quietly(s2s.value_and_grad(f), *args)
    assert value == f(*arguments(f, seed))
    quietly(s2s.check, f, *args)
    leaves = s2s.runtime.pytree.leaves(gradient)
    assert all(np.all(np.isfinite(leaf)) for leaf in leaves)


@pytest.mark.parametrize("f", [f for f in FUNCTIONS if first(f) in "xs"], ids=lambda f: f.__name__)
def test_tangents_and_second_derivatives_agree(f):
    x, *rest = arguments(f, 3)
    direction = np.random.default_rng(4).normal(size=np.shape(x))[()]
    df = s2s.grad(f)
    slope = quietly(lambda: s2s.jvp(lambda v: f(v, *rest), (x,), (direction,))[1])
    np.testing.assert_allclose(slope, np.sum(quietly(df, x, *rest) * direction), rtol=1e-9)
    h = 1e-6
    up, down = (quietly(df, x + e * direction, *rest) for e in (h, -h))
    second = quietly(s2s.grad(lambda v: np.sum(df(v, *rest) * direction)), x)
    np.testing.assert_allclose(second, (up - down) / (2 * h), rtol=1e-4, atol=1e-6)


def test_table_is_up_to_date():
    assert PAGE.read_text() == quietly(table), "run python tests/language/test_language.py, and read the difference"


if __name__ == "__main__":
    PAGE.write_text(quietly(table))
