"""The families of `numpy.polynomial`, each operation in all modes."""

import numpy as np
import pytest

import s2s
from s2s.rules.series import FAMILIES
from tests.rules.modes import assert_all_modes

# By operation: the call, of `mod` and the prefix `{}`, and the shapes of its arguments a, b, ...
CALLS = {
    "mulx": ("mod.{}mulx(a)", (4,)),
    "shorter": ("mod.{}add(a, b)", (2,), (4,)),
    "sub": ("mod.{}sub(a, b)", (4,), (2,)),
    "mul": ("mod.{}mul(a, b)", (3,), (4,)),
    "div": ("mod.{}div(a, b)", (5,), (3,)),
    "div by more": ("mod.{}div(a, b)", (2,), (3,)),
    "div by a number": ("mod.{}div(a, b)", (3,), (1,)),
    "pow": ("mod.{}pow(a, 3)", (3,)),
    "der": ("mod.{}der(a, 2, b, 0)", (5, 2), ()),
    "der along": ("mod.{}der(a, axis=1)", (2, 4)),
    "der to nothing": ("mod.{}der(a, 3)", (3,)),
    "int": ("mod.{}int(a, 2, b, c, d)", (4,), (2,), (), ()),
    "int along": ("mod.{}int(a, axis=1)", (2, 4)),
    "vander": ("mod.{}vander(a, 4)", (2, 3)),
    "vander2d": ("mod.{}vander2d(a, b, [2, 3])", (3,), (3,)),
    "vander3d": ("mod.{}vander3d(a, b, c, [1, 2, 1])", (2,), (2,), (2,)),
    "val of several": ("mod.{}val(a, b)", (3,), (4, 2)),
    "val at a matrix": ("mod.{}val(a, b)", (2, 3), (4,)),
    "val pairwise": ("mod.{}val(a, b, False)", (2,), (4, 2)),
    "val at a number": ("mod.{}val(a, b)", (), (4,)),
    "val2d": ("mod.{}val2d(a, b, c)", (3,), (3,), (4, 2)),
    "val3d": ("mod.{}val3d(a, b, c, d)", (3,), (3,), (3,), (2, 2, 2)),
    "grid2d": ("mod.{}grid2d(a, b, c)", (3,), (2,), (4, 2)),
    "grid3d": ("mod.{}grid3d(a, b, c, d)", (2,), (2,), (2,), (2, 2, 2)),
    "fit": ("mod.{}fit(a, b, 2)", (8,), (8,)),
    "fit by weights": ("mod.{}fit(a, b, 2, w=c)", (8,), (8,), (8,)),
    "fit of some degrees": ("mod.{}fit(a, b, [0, 2])", (8,), (8, 2)),
    "fromroots": ("mod.{}fromroots(a)", (3,)),
    "companion": ("mod.{}companion(a)", (4,)),
    "roots": ("mod.{}roots(a)", (4,)),
}


def arguments(shapes, seed=4):
    rng = np.random.default_rng(seed)
    made = [rng.uniform(0.2, 1.0, shape) * rng.choice([-1, 1], shape) for shape in shapes]
    return [a if a.shape else float(a) for a in made]


@pytest.mark.full
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("operation", CALLS)
def test_every_operation_of_every_family(family, operation):
    text, *shapes = CALLS[operation]
    compiled = operation != "roots"  # which may be real or complex
    assert_all_modes(text.format(family), *arguments(shapes), mod=FAMILIES[family], compiled=compiled)


@pytest.mark.parametrize("operation", ["mul", "int", "val2d", "fit", "roots"])
def test_operations_of_chebyshev_series(operation):
    test_every_operation_of_every_family("cheb", operation)


@pytest.mark.parametrize("family", ["cheb", "leg", "lag", "herm", "herme"])
def test_conversions_and_weights(family):
    assert_all_modes(f"mod.{family}2poly(a)", *arguments([(5,)]), mod=FAMILIES[family])
    assert_all_modes(f"mod.poly2{family}(a)", *arguments([(5,)]), mod=FAMILIES[family])
    if family != "leg":  # whose weight is one
        assert_all_modes(f"mod.{family}weight(0.5 * a)", *arguments([(2, 3)]), mod=FAMILIES[family])


def test_values_by_roots():
    assert_all_modes("mod.polyvalfromroots(a, b)", *arguments([(3,), (2,)]), mod=FAMILIES["poly"])
    assert_all_modes("mod.polyvalfromroots(a, b, tensor=False)", *arguments([(3,), (2, 3)]), mod=FAMILIES["poly"])


def test_coefficients_that_are_dropped_have_no_slope():
    cheb = FAMILIES["cheb"]
    x, zeros = np.array([1.0, 2.0, 3.0, 0.0]), np.zeros(2)
    product, total = (
        s2s.grad(lambda x, y: np.sum(cheb.chebmul(x, y) ** 2), strict=True),
        s2s.grad(lambda x, y: np.sum(cheb.chebsub(x, y) ** 2), argnums=(0, 1), strict=True),
    )
    np.testing.assert_array_equal(product(x, zeros), 0 * x)
    y = np.array([0.5, 2.0, 3.0])
    np.testing.assert_array_equal(total(x, y)[0], [1.0, 0, 0, 0])
    np.testing.assert_array_equal(total(x, y)[1], [-1.0, 0, 0])


def test_single_precision_stays_and_complex_series_have_gradients():
    cheb = FAMILIES["cheb"]
    x, c = np.array([0.1, 0.7], np.float32), np.array([0.5, 1.5, 0.25], np.float32)
    found = s2s.grad(lambda x, c: np.sum(cheb.chebval(x, c)), argnums=(0, 1), strict=True)(x, c)
    assert [a.dtype for a in found] == [np.float32, np.float32]
    np.testing.assert_allclose(found[0], 1.5 + 0.25 * 4 * x, rtol=1e-6)
    assert_all_modes("mod.chebval(a, b)", np.array([0.1, 0.7]), np.array([0.5 + 1j, 1.5, 0.25j]), mod=cheb)


def test_constants_of_integration_have_slopes():
    assert_all_modes("np.polyint(a, 2, b)", *arguments([(3,), (2,)]))
    assert_all_modes("np.polyint(a, 2, b)", *arguments([(3,), ()]))
