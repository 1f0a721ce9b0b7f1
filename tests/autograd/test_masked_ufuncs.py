"""Functions with a mask, at places, and in place, on the tape."""

import numpy as np
import pytest

from s2s.autograd.record import tape_value_and_grad
from tests.catalog import catalog
from tests.rules.modes import written

RNG = np.random.default_rng(9)
M, V = RNG.uniform(0.5, 2.0, (3, 4)) * RNG.choice([-1, 1], (3, 4)), RNG.uniform(0.5, 2.0, 5)
CALLS = [
    ("np.multiply(a, b, out=np.ones((3, 4)), where=a > 0)", M, M[0]),
    ("np.log(a, out=b * 1.0, where=a > 0)", M, M * 2),
    ("np.divide(b, a, out=np.zeros((3, 4)), where=a > 0.3)", M, M + 1),
    ("z = a.copy()\nnp.negative.at(z, [0, 2, 2, 3])\nreturn z * a", V),
    ("z = a.copy()\nnp.multiply.at(z, [0, 2, 2, -2], b)\nreturn z", V, V[:4]),
    ("z = a.copy()\nnp.maximum.at(z, [[0, 1], [1, 4]], 1.1)\nreturn z", V),
    ("z = a.copy()\nz.partition(2)\nreturn z[2] * a", V),
]  # fmt: skip


@pytest.mark.parametrize("call", CALLS, ids=lambda c: c[0].splitlines()[-2 if "at(" in c[0] else 0])
def test_gradients_on_the_tape(call):
    text, *args = call
    names = "ab"[: len(args)]
    lines = text.splitlines()
    lines[-1] = f"return np.sum(np.sin({lines[-1].removeprefix('return ')}))"
    f = written("\n".join(lines), names)
    with np.errstate(all="raise"):
        value, _, found = tape_value_and_grad(f, tuple(names), tuple(args))
    assert value == f(*args)
    assert catalog.agree([found[n] for n in names], catalog.gradient(f, args, [np.ones(())]))


def test_a_mask_without_out_is_refused():
    with pytest.raises(TypeError, match="np.where"):
        tape_value_and_grad(lambda x: np.sum(np.log(x, where=x > 0)), ("x",), (M,))
