"""Gradients that are compiled, and right in every mode: for the tests of reverse mode."""

import re

import numpy as np

import s2s
from tests.programs.verify import verify

X, U = 0.7, np.array([0.3, -0.8, 1.2, 0.5])


def holds(f, *args, **keywords):
    """The gradient of f is compiled, and right at every stage, in forward mode and on the tape."""
    outcome = verify(f, args, **keywords)
    assert outcome.compiled, outcome.reason
    assert outcome.finite and not outcome.kink and not outcome.raised, outcome
    return s2s.grad(f, keywords.get("argnums", 0), strict=True).source(*args)


def tapes(source):
    """The names of the tapes of a generated function."""
    return re.findall(r"^    (\w+) = \[\]$", source, re.MULTILINE)
