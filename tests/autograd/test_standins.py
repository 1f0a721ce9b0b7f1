"""NumPy's joiners, `vectorize` and iterators take recorded values, with values and gradients as they should be."""

import numpy as np
import pytest

import s2s
from s2s.autograd.record import tape_value_and_grad

X = np.array([0.5, 2.0, 3.0])
M = np.arange(6.0).reshape(2, 3) + 0.5
CALLS = []


def cube(v):
    CALLS.append(isinstance(v, np.floating))
    return v * v * v


@np.vectorize
def vectorized_cube(v):
    return cube(v)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.r_[x, 2 * x],
        lambda x: np.r_[x[0], 1, x[1:], 0:3, [x[2], 4.0], -1:1:5j],
        lambda x: np.r_[x],
        lambda x: np.c_[x, x * x],
        lambda x: np.c_[x, np.ones((3, 2)), [1, 2, 3]],
        lambda x: np.c_[x[0], x[1]],
        lambda x: np.vectorize(cube)(x),
        lambda x: np.vectorize(lambda v, w: v * w if v > 1 else w)(x, 2.0),
        lambda x: np.vectorize(lambda v, w: v * w)(x, x[:, None]),
        lambda x: np.vectorize(cube, otypes=[np.float32])(x),
        lambda x: np.vectorize(cube, cache=True)(x),
        lambda x: np.vectorize(otypes="d")(cube)(x),
        lambda x: np.vectorize(cube)(x[1]),
        lambda x: np.vectorize(lambda v: 1.0)(x),
        lambda x: np.vectorize(cube)([x[0], x[1]]),
        lambda x: vectorized_cube(x),
        lambda x: np.fromiter((v * v for v in x), float),
        lambda x: np.fromiter(x, np.float32, 2),
        lambda x: np.array([i[0] * v for i, v in np.ndenumerate(x)]),
        lambda x: np.array([i * v for i, v in enumerate(x.flat)]),
    ],
)
def test_values_and_gradients(f):
    def loss(x):
        return np.sum(np.sin(f(x)))

    CALLS.clear()
    want = loss(X)
    calls = list(CALLS)
    CALLS.clear()
    kept = []

    def recorded(x):
        kept.append(f(x))
        return np.sum(np.sin(kept[0]))

    value, _, gradient = tape_value_and_grad(recorded, ["x"], (X,))
    assert calls == CALLS  # as often as NumPy calls it, with such numbers
    assert value == want and type(value) is type(want)
    assert type(kept[0]) is np.ndarray and kept[0].dtype == f(X).dtype and kept[0].shape == f(X).shape
    assert s2s.check(loss, lambda x: gradient["x"], X, rtol=1e-5)


def test_matrices():
    def loss(x):
        return np.sum(np.r_[x, x[:1]] * np.c_[x, x[:, 0]][0, 0]) + np.sum(np.vectorize(lambda v: v * v)(x))

    value, _, gradient = tape_value_and_grad(loss, ["x"], (M,))
    assert value == loss(M)
    assert s2s.check(loss, lambda x: gradient["x"], M)


def test_what_cannot_be_recorded_says_what_to_do():
    with pytest.raises(TypeError, match=r"np\.ndindex\(x\.shape\)"):
        tape_value_and_grad(lambda x: sum(v * v for v in np.nditer(x)), ["x"], (X,))
    with pytest.raises(TypeError, match=r"np\.linspace"):
        tape_value_and_grad(lambda x: np.sum(np.r_[x[0] : x[1] : 3j]), ["x"], (X,))
    with pytest.raises(s2s.errors.MissingRuleError, match="vectorize"):
        tape_value_and_grad(lambda x: np.sum(np.vectorize(np.sum, signature="(n)->()")(x)), ["x"], (X,))


def test_plain_values_take_numpys_own_way():
    def f(x):
        n = np.array([1, 2])
        total = np.r_[n, 3].sum() + np.c_[n, n].size + np.vectorize(lambda v: v + 1)(n).sum()
        total += sum(int(v) for v in np.nditer(n)) + sum(v for _, v in np.ndenumerate(n)) + np.fromiter(n, int)[0]
        return x * total

    assert tape_value_and_grad(f, ["x"], (2.0,))[2]["x"] == f(1.0)
