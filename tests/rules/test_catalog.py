"""Each rule alone against finite differences, over the catalog's samples that are one call of one function."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.catalog import catalog
from tests.rules import single_call as single

SAMPLES = single.supported_samples((1, 2, 3))
KINKS = single.supported_samples((1, 2, 3), "kinks")


def label(case: tuple[str, dict[str, Any]]) -> str:
    return str(case[1]["id"])


def test_most_of_the_catalog_is_covered() -> None:
    names = {name for name, _ in SAMPLES}
    print(f"{len(SAMPLES)} samples of {len(names)} functions, {len(KINKS)} kinks")
    assert len(SAMPLES) > 500


@pytest.mark.parametrize("case", SAMPLES, ids=label)
def test_rule_agrees_with_differences(case: tuple[str, dict[str, Any]]) -> None:
    _, sample = case
    f, args = catalog.function(sample), catalog.arguments(sample)
    values = dict(zip(sample["args"], args, strict=True))
    call = single.single_call(sample, values)
    if call.rule.decomposition is not None:
        pytest.skip("follows from its decomposition")
    tolerance = sample.get("tol", 1e-6)
    cotangents = catalog.cotangents(f, args)
    got = single.gradient(call, single.restructured(call.ans, cotangents), values)
    assert catalog.agree(got, catalog.gradient(f, args, cotangents), tolerance)

    directions = single.directions_of(values)
    expected = catalog.derivative(f, args, list(directions.values()))
    assert catalog.agree(single.tangent(call, directions), expected, tolerance)


@pytest.mark.parametrize("case", KINKS, ids=label)
def test_rule_takes_the_agreed_slope_at_kinks(case: tuple[str, dict[str, Any]]) -> None:
    _, sample = case
    values = dict(zip(sample["args"], catalog.arguments(sample), strict=True))
    with np.errstate(all="ignore"):
        call = single.single_call(sample, values)
        if call.rule.decomposition is not None:
            pytest.skip("follows from its decomposition")
        ones = [np.ones_like(leaf) for leaf in catalog.leaves(call.ans)]
        got = single.gradient(call, single.restructured(call.ans, ones), values)
        zeros = [np.zeros_like(leaf) for leaf in ones]
        nothing = single.gradient(call, single.restructured(call.ans, zeros), values)
    for slope, expected in zip(got, sample["grad"], strict=True):
        np.testing.assert_allclose(slope, np.asarray(expected, dtype=float))
    for slope in nothing:
        np.testing.assert_array_equal(slope, np.zeros_like(slope))
