"""Functions of libraries are differentiated as they are: with what the caller gives, and no defaults of ours."""

import math
import random
import warnings

import numpy as np
import pytest

import s2s
from s2s.errors import ArgumentError
from s2s.rules import supported
from s2s.runtime import pytree
from tests.rules.modes import written

RNG = np.random.default_rng(21)
MATRIX = RNG.normal(size=(3, 3)) + 4 * np.eye(3)
OPERANDS = {
    "number": 0.3,
    "number above one": 1.7,
    "vector": RNG.uniform(0.2, 0.9, 4),
    "matrix": MATRIX @ MATRIX.T,
    "wide matrix": RNG.uniform(1.2, 2.0, (2, 3)),
    "list": [0.4, 0.7, 0.5],
}


def outcome(call):
    """What a call gives or raises, to be compared."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            leaves = pytree.leaves(call())
    except Exception as error:
        return type(error).__name__
    return repr([np.asarray(leaf).tolist() for leaf in leaves])


def takes(f, x):
    """Whether a function takes an operand, and gives numbers that move with it."""
    copied = list(x) if isinstance(x, list) else np.copy(x) if isinstance(x, np.ndarray) else x
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            found = f(copied)
    except Exception:
        return False
    is_real = isinstance(found, (float, np.floating, np.ndarray)) and np.asarray(found).dtype.kind == "f"
    return is_real and bool(np.all(np.isfinite(found)))


def ways(f, x):
    """The derivatives of a function in all ways."""
    direction = pytree.map(lambda leaf: 0.5 * leaf, x)
    yield "jvp", lambda: s2s.jvp(f, (x,), (direction,))
    yield "vjp", lambda: (lambda out, pull: pull(np.ones_like(out) if np.ndim(out) else 1.0))(*s2s.vjp(f, x))
    yield "grad", lambda: s2s.grad(f)(x)
    yield "value_and_grad", lambda: s2s.value_and_grad(f)(x)
    yield "elementwise_grad", lambda: s2s.elementwise_grad(f)(x)


def swept(f):
    """Whether a function is one of Python's or NumPy's; methods of generators end the process without one."""
    module = getattr(f, "__module__", None) or "numpy"
    return module.partition(".")[0] in ("numpy", "math", "cmath", "builtins") and "random" not in module


FUNCTIONS = sorted(
    filter(swept, {*supported()} - {np.empty, np.empty_like}), key=lambda f: getattr(f, "__qualname__", str(f))
)
SWEPT = [(f, name) for f in FUNCTIONS if callable(f) for name in OPERANDS if takes(f, OPERANDS[name])]


def same_as_around(f, x):
    around = written("function(x)", ["x"], function=f)
    differing = {}
    for (way, direct), (_, indirect) in zip(ways(f, x), ways(around, x)):
        if (got := outcome(direct)) != (expected := outcome(indirect)):
            differing[way] = got, expected
    return differing


SHARES = 8


@pytest.mark.parametrize("share", range(SHARES))
def test_a_function_is_what_a_lambda_around_it_is(share, request):
    every = SWEPT[share::SHARES]
    picked = every if request.config.getoption("--full", False) else random.Random(share).sample(every, 6)
    found = {(str(f), name): same_as_around(f, OPERANDS[name]) for f, name in picked}
    assert not {key: value for key, value in found.items() if value}


X = np.array([3.0, 1.0, 2.5])


@pytest.mark.parametrize(
    "f", [np.std, np.var, np.nanstd, np.nanvar, np.sort, np.diff, np.corrcoef, np.floor, np.ceil, np.sum, np.cumsum]
)
def test_defaults_are_the_functions_own(f):
    assert not same_as_around(f, X)
    assert not same_as_around(f, OPERANDS["matrix"])


@pytest.mark.parametrize("keywords", [{}, {"ddof": 1}, {"axis": 0}, {"keepdims": True, "ddof": 1}, {"where": X > 2}])
def test_what_is_given_is_handed_on(keywords):
    def around(x, **given):
        return np.sum(np.std(x, **given))

    got = s2s.elementwise_grad(np.std, strict=True)(X, **keywords)
    np.testing.assert_array_equal(got, s2s.grad(around, strict=True)(X, **keywords))
    np.testing.assert_array_equal(
        s2s.grad(np.std)(X, None, None, None, 1, out_bar=2.0), 2 * s2s.grad(np.std)(X, ddof=1)
    )
    assert "np.std(a)" in s2s.grad(np.std).source()


def test_optional_parameters_are_differentiated_by():
    assert s2s.grad(math.log, strict=True)(2.0) == 0.5
    expected = 0.5 / math.log(3), -math.log(2) / 3 / math.log(3) ** 2
    assert s2s.grad(math.log, (0, 1), strict=True)(2.0, 3.0) == pytest.approx(expected)
    assert s2s.grad(math.log, "base", strict=True)(2.0, 3.0) == pytest.approx(expected[1])
    assert s2s.grad(max, (0, 1), strict=True)(1.0, 2.0) == (0.0, 1.0)
    assert s2s.grad(max, strict=True)([1.0, 2.0]) == [0.0, 1.0]
    by_all = s2s.jacobian(np.clip, (0, 1, 2), strict=True)(X, 1.5, 2.6)
    np.testing.assert_array_equal(by_all[2], [1.0, 0.0, 0.0])
    np.testing.assert_array_equal(s2s.jacobian(np.clip, "a_max", strict=True)(X, 1.5, 2.6), [1.0, 0.0, 0.0])
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'base'"):
        s2s.grad(math.log, (0, 1))(2.0)
    with pytest.raises(ArgumentError, match="'nosuch' is no parameter"):
        s2s.grad(math.log, "nosuch")


def test_check_takes_them():
    assert s2s.check(np.std, X)
    assert s2s.check(np.mean, X)
    assert s2s.check(math.log, 2.0, 3.0, argnums=(0, 1))
