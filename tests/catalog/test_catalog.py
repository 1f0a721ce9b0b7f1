"""The catalog's samples as a user meets them: compiled backward and forward, and on the tape, against differences."""

from __future__ import annotations

import functools
import re
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import s2s
from s2s.autograd.record import tape_value_and_grad
from s2s.errors import MissingRuleError, UnsupportedSyntaxError
from tests.catalog import catalog, weighing

Sample = dict[str, Any]

SAMPLES = weighing.samples((1,))
KINKS = weighing.samples((1,), "kinks")
OTHERS = [*weighing.samples((2, 3)), *weighing.samples((1, 2, 3), modules=weighing.FURTHER)]
# Of these modules nothing is missing.
WHOLE = [
    sample
    for sample in weighing.samples(
        (1, 2, 3),
        modules=(
            "numpy.fft", "numpy.linalg", "numpy.lib.stride_tricks", "numpy.polynomial", "numpy.ufunc", "numpy.random",
            "cmath", "math", "operator",
        ),
    )
    if sample["id"] != "numpy.polynomial.Polynomial#1"  # objects of a class of NumPy's
]  # fmt: skip
# These are recorded.
RECORDED = {"numpy.ufunc.at#4", "numpy.ufunc.out#3", "numpy.ufunc.where#0", "numpy.ufunc.where#2", "operator.imatmul#0"}
# The eigenvalues of a real matrix may be complex, which its kind does not tell.
OF_UNKNOWN_KIND = ("numpy.linalg.eig#0", "numpy.linalg.eigvals#0", "numpy.linalg.eigvals#1")

# Forward mode makes the tangents of all parts of a result; of these, some vectors have none.
NO_TANGENT = {"numpy.linalg.svd#0", "numpy.linalg.qr#6"}


def label(sample: Sample) -> str:
    return str(sample["id"])


class Case:
    """A sample at its arguments, with cotangents, directions, and what differences say."""

    def __init__(self, sample: Sample) -> None:
        self.sample = sample
        self.args = catalog.arguments(sample)
        self.f = catalog.function(sample)
        self.cotangents = catalog.cotangents(self.f, self.args)
        self.loss = weighing.loss(sample, self.args, self.cotangents)
        self.tolerance = sample.get("tol", 1e-6)

    @functools.cached_property
    def gradient(self) -> list[Any]:
        return catalog.gradient(self.f, self.args, self.cotangents)

    @functools.cached_property
    def directions(self) -> list[Any]:
        rng = np.random.default_rng(1)
        made = [
            catalog.MAKERS["complex" if np.iscomplexobj(arg) else "normal"](rng, np.shape(arg)) for arg in self.args
        ]
        return [d if isinstance(arg, np.ndarray) else type(arg)(d) for arg, d in zip(self.args, made, strict=True)]

    def assert_gradient(self, found: Sequence[Any]) -> None:
        for gradient, arg in zip(found, self.args, strict=True):
            assert np.asarray(gradient).dtype == np.asarray(arg).dtype
        assert catalog.agree(found, self.gradient, self.tolerance), f"{found}, by differences {self.gradient}"


case = functools.lru_cache(maxsize=None)(lambda sample_id: Case(BY_ID[sample_id]))
BY_ID = {sample["id"]: sample for sample in [*SAMPLES, *OTHERS]}


@pytest.fixture(autouse=True)
def quiet():
    """Samples go to the edges of domains, where NumPy warns."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        yield


def compiled_gradient(about: Case) -> Any:
    gradient = s2s.grad(about.loss, argnums=tuple(range(len(about.args))), strict=True)
    found = gradient(*about.args)
    assert not re.search(r"^# \w+ is ", gradient.source(), re.MULTILINE), "the source needs what cannot be imported"
    return found


def tape_gradient(about: Case) -> list[Any]:
    names = tuple(about.sample["args"])
    _, _, found = tape_value_and_grad(about.loss, names, tuple(about.args), {}, False, 1.0)
    return [found[name] for name in names]


def assert_tangent(about: Case) -> None:
    out, tangent = s2s.jvp(about.f, about.args, about.directions, strict=True)
    assert catalog.agree(catalog.leaves(out), catalog.leaves(about.f(*about.args)), 0.0)
    expected = catalog.derivative(about.f, about.args, about.directions)
    assert catalog.agree(catalog.leaves(tangent), expected, about.tolerance), f"{tangent}, by differences {expected}"


@pytest.mark.parametrize("sample", SAMPLES, ids=label)
def test_compiled_gradient(sample: Sample) -> None:
    about = case(sample["id"])
    about.assert_gradient(compiled_gradient(about))


@pytest.mark.parametrize("sample", SAMPLES, ids=label)
def test_compiled_tangent(sample: Sample) -> None:
    about = case(sample["id"])
    if sample["id"] in NO_TANGENT:
        with pytest.raises(MissingRuleError):
            assert_tangent(about)
    else:
        assert_tangent(about)


@pytest.mark.parametrize("sample", SAMPLES, ids=label)
def test_tape_gradient(sample: Sample) -> None:
    about = case(sample["id"])
    about.assert_gradient(tape_gradient(about))


@pytest.mark.parametrize("sample", KINKS, ids=label)
def test_compiled_gradient_takes_the_agreed_slope_at_kinks(sample: Sample) -> None:
    args = catalog.arguments(sample)
    f = catalog.function(sample)
    loss = weighing.loss(sample, args, [np.ones_like(leaf) for leaf in catalog.leaves(f(*args))])
    found = s2s.grad(loss, argnums=tuple(range(len(args))), strict=True)(*args)
    for slope, expected in zip(found, sample["grad"], strict=True):
        np.testing.assert_allclose(slope, np.asarray(expected, dtype=float))


@pytest.mark.full
@pytest.mark.parametrize("sample", WHOLE, ids=label)
def test_whole_modules_are_differentiated_in_every_mode(sample: Sample) -> None:
    about = case(sample["id"])
    about.assert_gradient(tape_gradient(about))
    if sample["id"] not in RECORDED and sample["id"] not in OF_UNKNOWN_KIND:
        about.assert_gradient(compiled_gradient(about))
        if sample["id"] not in NO_TANGENT:
            assert_tangent(about)


@pytest.mark.full
@pytest.mark.parametrize("sample", OTHERS, ids=label)
def test_the_rest_of_the_catalog_is_right_or_refused(sample: Sample) -> None:
    """A wrong number is the one thing that must not be; what has no rule yet raises, on the tape in NumPy's words."""
    about = case(sample["id"])
    refused = (MissingRuleError, UnsupportedSyntaxError, TypeError, AttributeError)
    for differentiate in (compiled_gradient, tape_gradient):
        try:
            found = differentiate(about)
        except (*refused, ValueError):
            continue
        about.assert_gradient(found)
    try:
        assert_tangent(about)
    except refused:
        pass
