"""Numbers, arrays without dimensions and other shapes where arrays are usual: a gradient has its argument's shape."""

import numpy as np
import pytest

import s2s
from tests.rules.modes import written

RNG = np.random.default_rng(13)
OPERANDS = {
    "float": 0.37,
    "scalar": np.float64(0.37),
    "0-d": np.array(0.37),
    "single": RNG.uniform(0.2, 0.9, 1),
    "vector": RNG.uniform(0.2, 0.9, 3),
    "matrix": RNG.uniform(0.2, 0.9, (2, 3)),
    "stack": RNG.uniform(0.2, 0.9, (2, 3, 3)),
    "empty": np.zeros(0),
}
REDUCED = ["sum", "prod", "max", "min", "amax", "amin", "ptp", "nansum", "nanprod"]
RUNNING = ["cumsum", "cumprod", "nancumsum", "nancumprod", "cumulative_sum", "cumulative_prod"]
NAMES = [name for name in REDUCED + RUNNING if hasattr(np, name)]
TEXTS = [
    *(f"np.{name}(x, axis={axis})" for name in NAMES for axis in (0, -1)),
    *(f"np.{name}(x)" for name in ("cumulative_sum", "tril", "triu") if hasattr(np, name)),
    "np.polyadd(x, x)", "np.polyadd(x, 1)", "np.polysub(2, x)", "np.polymul(x, x)", "np.convolve(x, 2.0)",
    "np.convolve(0.5, x)", "np.convolve(x, x)", "np.max(x, axis=0, keepdims=True)", "np.sum(x, (-1,))",
    "np.array(x).T * 2.0", "np.asarray(x * 1.5).T", "np.asarray(x).T.T * x",
]  # fmt: skip


def accepted(text, x):
    try:
        return bool(np.all(np.isfinite(written(text, ["x"])(x))))
    except Exception:
        return False


@pytest.mark.parametrize("text", TEXTS)
def test_gradients_have_the_shape_of_the_argument(text):
    taken = {name: x for name, x in OPERANDS.items() if accepted(text, x)}
    if "polymul" in text:
        del taken["empty"]  # refused, as np.convolve takes none
    assert taken
    for name, x in taken.items():
        weights = RNG.normal(size=np.shape(written(text, ["x"])(x)))
        f = written(f"np.sum({text} * weights)", ["x"], weights=weights)
        direction = type(x)(1.0) if isinstance(x, float) else RNG.normal(size=np.shape(x))
        slope = (f(x + 1e-6 * direction) - f(x - 1e-6 * direction)) / 2e-6
        for got in (s2s.grad(f)(x), s2s.vjp(f, x)[1](1.0)[0]):
            assert np.shape(got) == np.shape(x), name
            assert np.sum(got * direction) == pytest.approx(slope, abs=1e-7), name
        assert s2s.jvp(f, (x,), (direction,))[1] == pytest.approx(slope, abs=1e-7), name


def test_a_scalar_is_its_own_transpose():
    x = np.float64(2.0)
    assert s2s.grad(lambda x: x.T * x, strict=True)(x) == 4.0
    assert s2s.jvp(lambda x: x.T * x, (x,), (np.float64(1.0),))[1] == 4.0
    assert s2s.vjp(lambda x: x.T * x, x)[1](1.0) == (4.0,)
