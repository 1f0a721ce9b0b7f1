"""Seeds and tangents are checked inside of differentiated functions as they are outside."""

import numpy as np
import pytest

import s2s
from s2s.errors import ArgumentError

X = np.array([1.0, 2.0, 3.0])
# What is like neither X nor a number, with and without a derivative of its own.
SEEDS = {
    "broader": lambda x: np.ones((2, 3)),
    "one": lambda x: np.ones(1),
    "row": lambda x: np.ones((1, 3)),
    "number": lambda x: 1.0,
    "complex": lambda x: np.ones(3) * 1j,
    "active row": lambda x: x[None, :],
    "active number": lambda x: x[0],
    "active complex": lambda x: x * 1j,
}


def pulled(x, seed):
    return np.sum(s2s.vjp(lambda y: y * y, x)[1](seed)[0])


def pushed(x, direction):
    return np.sum(s2s.jvp(lambda y: y * y, (x,), (direction,))[1])


def linearized(x, direction):
    return np.sum(s2s.linearize(lambda y: y * y, x)[1](direction))


def multiplied(x, direction):
    return np.sum(s2s.hvp(lambda y: np.sum(y**3), (x,), (direction,)))


WAYS = [pulled, pushed, linearized, multiplied]


@pytest.mark.filterwarnings("ignore::s2s.errors.FallbackWarning")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", SEEDS)
def test_what_is_of_another_shape_or_dtype_is_refused(way, name):
    make = SEEDS[name]
    for around in (lambda x: way(x, make(x)), s2s.grad(lambda x: way(x, make(x)))):
        with pytest.raises(ArgumentError, match=r"shape|dtype"):
            around(X)


@pytest.mark.filterwarnings("ignore::s2s.errors.FallbackWarning")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("make", [np.ones_like, lambda x: np.ones(3), lambda x: x, lambda x: np.array([1, 2, 3])])
def test_what_fits_is_taken(way, make):
    scale = 6 if way is multiplied else 2
    expected = scale * (make(X) + (X if make(X) is X else 0))
    np.testing.assert_allclose(s2s.grad(lambda x: way(x, make(x)))(X), expected)


@pytest.mark.filterwarnings("ignore::s2s.errors.FallbackWarning")
def test_numbers_and_structures_inside():
    with pytest.raises(ArgumentError, match="shape"):
        s2s.grad(lambda x: s2s.jvp(lambda y: y**2, (x,), (np.ones(2),))[1][0])(2.0)
    with pytest.raises(ArgumentError, match="shape"):
        s2s.grad(lambda x: np.sum(s2s.vjp(lambda y: [y, y[0]], x)[1]([x, x])[0]))(X)
    assert s2s.grad(lambda x: s2s.jvp(lambda y: y**3, (x,), (1,))[1])(2.0) == 12.0
