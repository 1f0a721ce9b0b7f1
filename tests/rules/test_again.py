"""Decompositions, and second derivatives: rules run on the tape, where their bodies are differentiated in turn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2s.autograd import Variable, grad
from tests.catalog import catalog
from tests.rules import single_call as single

# Called directly, as here, these cannot record: they give plain numbers or arrays of whatever they get.
MAKE_PLAIN_VALUES = (
    "math.", "cmath.", "builtins.", "numpy.array", "numpy.as", "numpy.full", "numpy.ndarray.__", "numpy.polynomial.",
    "scipy.special.polygamma", "scipy.special.multigammaln", "scipy.special.logsumexp", "scipy.special.softmax",
    "scipy.special.log_softmax",
)  # fmt: skip


def real_samples(decomposed: bool) -> list[dict[str, Any]]:
    """Samples of real functions with one result: of decomposed functions all, of others the first two of each."""
    found: dict[str, list[dict[str, Any]]] = {}
    for name, sample in single.supported_samples((1, 2)):
        args = catalog.arguments(sample)
        call = single.single_call(sample, dict(zip(sample["args"], args, strict=True)))
        real = not isinstance(call.ans, (tuple, list)) and not any(np.iscomplexobj(v) for v in (*args, call.ans))
        eager = not name.startswith(MAKE_PLAIN_VALUES)
        if real and eager and not call.rule.zero and (call.rule.decomposition is not None) is decomposed:
            found.setdefault(name, []).append(sample)
    return [s for samples in found.values() for s in (samples if decomposed else samples[:2])]


def gradients(f: Any, args: Any, g: Any, **options: Any) -> tuple[list[Any], list[Any]]:
    variables = [Variable(np.array(a), requires_grad=True) for a in args]
    found = grad([f(*variables)], variables, [Variable(np.asarray(g))], allow_unused=True, **options)
    return variables, [Variable(np.zeros(np.shape(a))) if c is None else c for a, c in zip(args, found, strict=True)]


@pytest.mark.parametrize("sample", real_samples(True), ids=lambda s: s["id"])
def test_decomposition_has_the_derivative_of_the_function(sample: dict[str, Any]) -> None:
    f, args = catalog.function(sample), catalog.arguments(sample)
    values = dict(zip(sample["args"], args, strict=True))
    call = single.single_call(sample, values)
    positional, keywords = call.rule.spread(call.bound)
    np.testing.assert_allclose(call.rule.decomposition(*positional, **keywords), call.ans, atol=1e-12)
    (g,) = catalog.cotangents(f, args)
    _, got = gradients(f, args, g)
    assert catalog.agree([c.data for c in got], catalog.gradient(f, args, [g]), sample.get("tol", 1e-6))


@pytest.mark.parametrize("sample", real_samples(False), ids=lambda s: s["id"])
def test_rule_is_differentiated_again(sample: dict[str, Any]) -> None:
    f, args = catalog.function(sample), catalog.arguments(sample)
    (g,) = catalog.cotangents(f, args)
    rng = np.random.default_rng(2)
    weights, direction = ([rng.normal(size=np.shape(a)) for a in args] for _ in range(2))
    variables, first = gradients(f, args, g, create_graph=True)
    total = sum(np.sum(c * w) for c, w in zip(first, weights, strict=True))
    second = grad([total], variables, allow_unused=True) if total.requires_grad else [None] * len(args)
    got = sum(np.sum(c.data * d) for c, d in zip(second, direction, strict=True) if c is not None)

    def along(step: float) -> float:
        moved = [a + step * d for a, d in zip(args, direction, strict=True)]
        return float(sum(np.sum(c.data * w) for c, w in zip(gradients(f, moved, g)[1], weights, strict=True)))

    expected = (8 * (along(1e-4) - along(-1e-4)) - (along(2e-4) - along(-2e-4))) / 12e-4
    assert abs(got - expected) <= 1e-6 * (1 + abs(expected))
