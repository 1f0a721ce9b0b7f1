"""Slopes of special functions against mpmath, also far out, where formulas overflow or cancel."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf
from scipy import special as sp

from s2s import rules

ALL_OVER = (-30.3, -3.2, -0.7, -1e-9, 1e-9, 0.3, 1.7, 8.0, 30.5)
POSITIVE = (1e-5, 0.3, 2.0, 30.0)
OF_GAMMA = (0.1, 3.0, 50.0, -1.3)

# The function by mpmath, and where its slope is compared.
REFERENCES: dict[str, tuple[Any, tuple[float, ...]]] = {
    "erf": (mp.erf, ALL_OVER),
    "erfc": (mp.erfc, ALL_OVER),
    "erfi": (mp.erfi, (-3.0, 1e-9, 2.0)),
    "erfcx": (lambda x: mp.exp(x * x) * mp.erfc(x), (-3.2, -1e-9, 0.3, 8.0, 30.5)),
    "dawsn": (lambda x: mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x), (-3.0, 1e-9, 0.3, 2.0)),
    "ndtr": (mp.ncdf, (-30.3, -3.2, -1e-9, 0.3, 8.0)),
    "log_ndtr": (lambda x: mp.log(mp.ncdf(x)), (-1e3, -30.0, -3.0, 0.0, 3.0, 20.0)),
    "erfinv": (mp.erfinv, (-0.99999, 1e-9, 0.5, 0.999999)),
    "expit": (lambda x: 1 / (1 + mp.exp(-x)), ALL_OVER),
    "log_expit": (lambda x: -mp.log(1 + mp.exp(-x)), ALL_OVER),
    "logit": (lambda x: mp.log(x / (1 - x)), (1e-9, 0.3, 0.9999)),
    "gamma": (mp.gamma, OF_GAMMA),
    "gammaln": (lambda x: mp.log(abs(mp.gamma(x))), OF_GAMMA),
    "psi": (mp.digamma, OF_GAMMA),
    "rgamma": (mp.rgamma, (0.1, 3.0, -1.3, -2.0, 0.0)),
    "j0": (lambda x: mp.besselj(0, x), ALL_OVER),
    "j1": (lambda x: mp.besselj(1, x), ALL_OVER),
    "i0": (lambda x: mp.besseli(0, x), (-30.0, 1e-9, 0.3, 3.0, 300.0)),
    "i1": (lambda x: mp.besseli(1, x), (-30.0, 1e-9, 0.3, 3.0, 300.0)),
    "i0e": (lambda x: mp.besseli(0, x) * mp.exp(-abs(x)), ALL_OVER),
    "i1e": (lambda x: mp.besseli(1, x) * mp.exp(-abs(x)), ALL_OVER),
    "y0": (lambda x: mp.bessely(0, x), POSITIVE),
    "y1": (lambda x: mp.bessely(1, x), POSITIVE),
    "k0": (lambda x: mp.besselk(0, x), POSITIVE),
    "k1": (lambda x: mp.besselk(1, x), POSITIVE),
    "k0e": (lambda x: mp.besselk(0, x) * mp.exp(x), POSITIVE),
    "k1e": (lambda x: mp.besselk(1, x) * mp.exp(x), POSITIVE),
    "exp1": (mp.e1, POSITIVE),
    "expi": (mp.ei, (-3.0, 0.1, 3.0)),
    "exprel": (lambda x: (mp.exp(x) - 1) / x, ALL_OVER),
    "ellipk": (mp.ellipk, (-20.0, -1e-9, 1e-9, 0.3, 0.9, 0.999, 1 - 1e-9)),
    "ellipe": (mp.ellipe, (-20.0, -1e-9, 1e-9, 0.3, 0.9, 0.999, 1 - 1e-9)),
    "spence": (lambda x: mp.polylog(2, 1 - x), (1e-5, 0.3, 0.999999, 1.000001, 4.0, 50.0)),
    "wrightomega": (lambda x: mp.lambertw(mp.exp(x)), ALL_OVER),
}


@pytest.mark.parametrize("name", REFERENCES)
def test_slope(name: str) -> None:
    reference, points = REFERENCES[name]
    function = getattr(sp, name)
    rule = rules.find(function)
    assert rule is not None
    (partial,) = rule.partials.values()
    with mp.workdps(60), np.errstate(all="ignore"):
        for x in points:
            expected = float(mp.re(mp.diff(reference, mpf(x), h=mpf(10) ** -20)))
            np.testing.assert_allclose(np.real(partial(function(x), np.float64(x))), expected, rtol=1e-10, atol=1e-290)
