"""Values that are no floats, met on the way: arrays of objects, truth values."""

import numpy as np
import pytest

import s2s

OBJECTS = np.array([1.0, 2.0], dtype=object)


def times_objects(x):
    return np.sum(x * OBJECTS)


def made_of_objects(x):
    return np.sum(np.array([x[0], 2], dtype=object) * x[1])


def cast_to_objects(x):
    return np.sum(x.astype(object) ** 2)


def filled_objects(x):
    o = np.empty(2, dtype=object)
    o[0] = x[0]
    o[1] = x
    return o[0] * np.sum(o[1])


def matrix_of_objects(x):
    return x @ np.array([[1, 2], [3, 4]], dtype=object) @ x


def chosen_from_objects(x):
    return np.sum(np.where([True, False], x, OBJECTS))


@pytest.mark.parametrize(
    "f", [times_objects, made_of_objects, cast_to_objects, filled_objects, matrix_of_objects, chosen_from_objects]
)
def test_arrays_of_objects_are_recorded(f, rng):
    """NumPy leaves the work to the objects, which the tape sees and the compiler does not."""
    x = rng.normal(size=2)
    with pytest.warns(s2s.FallbackWarning, match="array of objects"):
        gradient = s2s.grad(f)(x)
    expected = [(f(x + d) - f(x - d)) / 2e-6 for d in np.eye(2) * 1e-6]
    np.testing.assert_allclose(np.asarray(gradient, dtype=float), np.asarray(expected, dtype=float), rtol=1e-7)
    with pytest.raises(s2s.UnsupportedSyntaxError, match="array of objects"):
        s2s.grad(f, strict=True)(x)


@pytest.mark.parametrize("strict", [False, True])
def test_a_truth_value_has_no_gradient(strict):
    with pytest.raises(s2s.ArgumentError, match="bool"):
        s2s.grad(lambda x: x[0] > 1, strict=strict)(np.array([1.0, 2.0]))
    with pytest.raises(s2s.ArgumentError, match="bool"):
        s2s.grad(lambda x: np.all(x > 1), strict=strict)(np.array([1.0, 2.0]))
