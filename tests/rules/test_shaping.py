"""Functions that bring arrays to a shape, take them apart, or count what is in them, in all modes."""

import math

import mpmath
import numpy as np
import pytest

import s2s
from s2s.runtime.special import i0_derivative
from tests.rules.modes import assert_all_modes, written

RNG = np.random.default_rng(8)
V, Y, Z, M = RNG.normal(size=4), RNG.normal(size=3), RNG.normal(size=2), RNG.normal(size=(2, 4))
X, W = RNG.normal(size=9), RNG.uniform(0.5, 2, 9)
MASK = np.array([0, 0, 1, 0, 1, 1, 1, 1, 0])
GRIDS = [
    ("np.meshgrid(a, b)", V, Y), ("np.meshgrid(a, b, indexing='ij')", V, Y), ("np.meshgrid(a, b, c)", V, Y, Z),
    ("np.meshgrid(a, b, sparse=True)", V, Y), ("np.meshgrid(a)", V), ("np.meshgrid(a, 0.3, b)", V, Y),
    ("np.meshgrid(a, b)", 0.3, Y), ("np.broadcast_arrays(a, b)", M, V), ("np.broadcast_arrays(a, b)[1] * a", M, V),
    ("np.broadcast_arrays(a, b)", V, 0.5),
]  # fmt: skip
AT_LEAST = [
    ("np.atleast_1d(a)", 0.5), ("np.atleast_1d(a, b)", 0.5, V), ("np.atleast_1d(a)", M), ("np.atleast_2d(a)", 0.4),
    ("np.atleast_2d(a)", V), ("np.atleast_2d(a, b)", V, M), ("np.atleast_3d(a)", 0.5), ("np.atleast_3d(a)", V),
    ("np.atleast_3d(a)", M),
]  # fmt: skip
HISTOGRAMS = [
    ("np.histogram(a, 4)", X), ("np.histogram(a, 4, weights=b)", X, W),
    ("np.histogram(a, 4, weights=b, density=True)", X, W), ("np.histogram(x, [-1, 0, 0.5, 1], weights=a)[0]", W),
    ("np.histogram(x, a, weights=b, density=True)", np.array([-1, 0, 0.5, 1.0]), W),
    ("np.histogram(x, 5, range=(-1.0, 1.0), weights=a)[0]", W), ("np.histogram(x, 3, weights=a)[0]", W + 1j * X),
    ("np.histogram_bin_edges(a, bins=4)", X), ("np.histogram_bin_edges(a, bins='auto')", X),
    ("np.histogram_bin_edges(x, 4, range=(a, b))", -1.0, 2.0), ("np.histogram2d(x, y, bins=2, weights=a)[0]", W),
    ("np.histogram2d(x, y, bins=2, weights=a, density=True)[0]", W),
    ("np.histogramdd(np.stack([x, y], 1), bins=2, weights=a)[0]", W),
    ("np.histogramdd([x, y], bins=2, weights=a, density=True)[0]", W),
]  # fmt: skip
OTHERS = [
    ("np.trim_zeros(a * mask)", X), ("np.trim_zeros(a * mask, 'b')", X),
    ("np.polydiv(a, b)", X[:5], W[:3]), ("np.polydiv(a, b)", X[:5], W[:1]), ("np.polydiv(a, b)", X[:2], W[:3]),
    ("np.i0(a)", 3 * X), ("np.i0(a)", 0.3), ("math.dist(a, b)", X[:3], W[:3]),
    ("math.hypot(*[a, b, c, d, e])", *map(float, X[:5])), ("math.hypot(a, 0.2, 0.3, b, 0.5)", 0.7, -0.4),
    ("a.flatten('A')", M), ("a.flatten('A')", np.asfortranarray(M)),
]  # fmt: skip
# Where a list is expected and an array is given, the cotangent is an array, which two uses add up.
ARRAYS_FOR_LISTS = [
    (f"{call} + {call.replace('(a', '(a * a')}", V)
    for call in (
        "math.fsum(a)", "math.prod(a)", "math.dist(a, a[::-1] - 1.0)", "sum(a)", "max(a)", "min(a)", "sorted(a)[1]",
        "np.array(list(a))", "np.asarray(a)", "np.ascontiguousarray(a)",
    )
] + [
    (f"{call} * {call.replace('(a', '(a * a')}", M)
    for call in (
        "np.concatenate(a)", "np.stack(a)", "np.vstack(a)", "np.hstack(a)", "np.dstack(a)", "np.column_stack(a)",
        "np.block(a)",
    )
]  # fmt: skip
SINCE = [("np.unstack(a)", M), ("np.unstack(a, axis=1)", M), ("np.unique_values(np.concatenate([a, a]))", X)]
SINCE = [call for call in SINCE if hasattr(np, call[0].split("(")[0].removeprefix("np."))]


@pytest.mark.parametrize(
    "call", [*GRIDS, *AT_LEAST, *HISTOGRAMS, *OTHERS, *ARRAYS_FOR_LISTS, *SINCE], ids=lambda c: c[0]
)
def test_in_all_modes(call):
    assert_all_modes(*call, x=X, y=W, mask=MASK)


def test_points_of_a_joint_histogram_are_refused_and_not_forgotten():
    with pytest.raises(s2s.MissingRuleError, match="x"):
        s2s.grad(lambda x: np.sum(np.histogram2d(x, x)[1]))(X)


def test_a_list_that_views_of_an_argument_are_put_into_needs_no_copy_of_it():
    def halves(x):
        parts = [x[:2]]
        parts.append(x[2:] * 2)
        return np.sum(parts[0] * parts[1])

    source = s2s.grad(halves, strict=True).source(V)
    assert "private" not in source and "copy" not in source
    np.testing.assert_allclose(s2s.grad(halves, strict=True)(V), [*(2 * V[2:]), *(2 * V[:2])])


@pytest.mark.parametrize("order", range(5))
def test_derivatives_of_the_bessel_function_at_thirty_digits(order):
    mpmath.mp.dps = 30
    for x in (1e-8, 1e-3, 0.5, 3.0, 20.0, 100.0, 600.0, 705.0, -4.0):
        terms = [mpmath.binomial(order, j) * mpmath.besseli(2 * j - order, mpmath.mpf(x)) for j in range(order + 1)]
        expected = float(mpmath.fsum(terms) / 2**order)
        np.testing.assert_allclose(i0_derivative(np.array(x), order), expected, rtol=1e-13)


@pytest.mark.filterwarnings("ignore::s2s.FallbackWarning")
def test_the_deviation_of_one_element_under_a_mask_has_no_slope_of_any_order():
    mask = np.array([True, False, False])
    df = s2s.grad(lambda x: np.std(x, where=mask), strict=True)
    np.testing.assert_array_equal(df(Y), np.zeros(3))
    np.testing.assert_array_equal(s2s.jvp(df, (Y,), (Y,))[1], np.zeros(3))


@pytest.mark.parametrize("call", ["np.power(a, b)", "np.float_power(a, b)", "a ** b"])
def test_second_derivatives_keep_the_shape_of_an_exponent_that_is_one_number(call):
    assert_all_modes(call, W, np.asarray(1.3))
    df = s2s.grad(lambda x, y: np.sum(x**y), argnums=1)
    _, curved = s2s.jvp(df, (W, 1.3), (W, 0.5))
    assert np.shape(curved) == ()


@pytest.mark.parametrize("k", [-1, 0, 1])
@pytest.mark.parametrize("shape", [(0,), (1,), (3,), (2, 3), (2, 2, 3), (0, 3)])
@pytest.mark.parametrize("name", ["tril", "triu"])
def test_triangles_of_vectors_and_stacks(name, shape, k):
    x = np.linspace(0.5, 1.5, math.prod(shape)).reshape(shape)
    assert s2s.grad(written(f"np.sum(np.{name}(x, {k}))", ["x"]), strict=True)(x).shape == shape
    if x.size:
        assert_all_modes(f"np.{name}(a, {k}) * 2.0", x)
