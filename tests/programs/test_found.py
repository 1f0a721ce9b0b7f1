"""Programs that were wrong once: each stands for a kind of fault. Value, gradient and its shape and dtype are held."""

import warnings

import numpy as np
import pytest

import s2s
from tests.programs.verify import verify

X = np.array([0.31, -0.42, 0.77])
C = np.array([0.6, 0.2, -0.5])
SIGNS = np.array([-1.0, 0.5, 2.0])
SINGLE = np.array([0.1, 0.2, 0.3], np.float32)


def carried_name_is_returned(x):
    for _ in range(3):
        x = x * x
    return x


def carried_sum_is_returned(c):
    s = 0.0
    for v in c:
        s = s * 0.5 + v * s + v
    return s


def swapped_in_a_loop(x):
    a, b = x, 1.0
    for _ in range(3):
        a, b = b, a * b
    return b


def chebyshev(x):
    before, last = 1.0, x
    for _ in range(3):
        before, last = last, 2 * x * last - before
    return last * 1.0


def legendre(x):
    p, q = 1.0, x
    for n in range(2, 5):
        p, q = q, ((2 * n - 1) * x * q - (n - 1) * p) / n
    return q * 1.0


def swapped_through_a_third(x):
    a, b = x, 1.0
    for _ in range(3):
        c = a * np.sin(b)
        a = b
        b = c
    return b + 0.0


def fibonacci_from_integers(x):
    a, b = 0, 1
    for _ in range(5):
        a, b = b, a + b * x
    return b


def variable_called_like_the_seed(x):
    out_bar = np.sum(x * x)
    return out_bar * out_bar


def double_beside_single(w, single):
    return np.sum(single * w) * 1e20 * 1e20 / single[0]


def array_overwritten_by_a_number(x):
    for _ in range(2):
        x = 0.5
    return np.sum(x) * 1.0


def array_that_may_become_a_number(c, x):
    for i in range(0):
        x = c
        c = np.sin(i)
    return np.sum(x) * 1.0 + np.sum(c)


def masked_root_as_a_factor(x):
    return np.sum(np.where(x > 0, np.sqrt(x) * x, 0.0))


def masked_square_of_a_logarithm(x):
    return np.sum(np.where(x > 0, np.log(x) ** 2, 0.0))


def sum_where(x):
    return np.sum(x * np.log(x), where=x > 0)


def masked_fractional_power(x):
    return np.sum(np.where(x > 0, np.power(x, 1.5), 0.0))


def masked_inverse_as_a_factor(x):
    return np.sum(np.where(x > 0, np.arccosh(x + 1) * x, 0.0))


def shape_known_in_the_other_branch(x, c):
    if np.sum(x) > 5:
        return np.sum((x - c) * c)
    return np.sum((c - x) * 1.0)


def shape_known_in_a_loop_without_rounds(x, c):
    a = x * 0.5
    b = 2
    k = 0
    while k < 2 and b < 0.451:
        a = a - c
        k += 1
    b = c * a
    return np.sum(np.tanh(b * c) ** 2) * 1.0


def item_of_an_array_without_dimensions(x):
    return np.sin(x[()]) * x


def sum_of_a_number(x):
    return np.sum(x * x)


def carried_array_read_through_a_sum(x, y):
    for _ in range(1):
        x = np.sum(x) * y
    return x @ y


def sum_of_a_carried_array_is_returned(x, y):
    for _ in range(2):
        s = np.sum(x)
        x = s * y
    return s


def carried_array_grows_by_broadcasting(x, y):
    for _ in range(2):
        x = x + y
    return np.sum(x)


def old_value_of_a_growing_array(x, y):
    for _ in range(1):
        t = x * 2.0
        x = x + y
    return np.sum(t * x)


def carried_names_of_changing_shapes(x, y):
    for _ in range(2):
        t = x * x
        x = np.sum(t) * y
    return np.sum(t) + np.sum(x)


def alias_of_a_growing_array(x, y):
    for _ in range(2):
        z = x
        x = x + y
    return np.sum(z * x)


def saturated_sigmoid(x):
    return np.sum(1 / (1 + np.exp(-1000 * x)))


def root_of_a_rectified_value(x):
    return np.sum(np.sqrt(np.maximum(x, 0)) + np.clip(x, 0.0, 9.0) ** 0.3)


def cotangent_shared_by_both_operands(x, c):
    a = x * x
    z = x + c
    return np.sum(a) + np.sum(z * z)


def cotangent_shared_in_one_branch(x, c):
    a = x * x
    if x[0] > 0:
        z = x + c
    else:
        z = x * x
    return np.sum(a) + np.sum(z * z)


def cotangent_passed_through_a_sum_with_a_number(x, c):
    d = c * c
    s = np.sin(x)
    a = x + 1.0
    z = a + d
    return np.sum(z * z) + np.sum(s)


def one_precision_or_the_other(x, c):
    s = np.float32(0.7)
    if c[0] > 0.5:
        s = x[0] * x[1]
    t = s * x[2]
    return t * t


def one_dimension_or_two(x, c):
    y = x
    if c[0] > 0.5:
        y = np.outer(x, c)
    z = y * c
    return np.sum(z * x)


def itself(x, n):
    return x if n == 0 else itself(x, n - 1)


def _squares(u, c):
    return np.sum((u + c) ** 2)


def cotangents_of_a_call_that_are_one_array(x, c):
    u = x * 2.0
    w = u * c
    g = s2s.grad(_squares)(u, c)
    return np.sum(g * w)


def cotangent_passed_through_a_call(x, c):
    d = c * c
    s = np.sin(x)
    a = itself(x, 2)
    z = a + d
    return np.sum(z * z) + np.sum(s)


def number_stretched_over_an_array(x, c):
    s = x[0] * x[1]
    return np.sum(c + s) + 2.0 * np.sum(s - c * x)


def sums_of_one_array_of_opposite_signs(x, c):
    s = np.sum(2.0 - x)
    return s * np.sum(x) - 3.0 * np.sum(x) * np.sum(c - 1.0)


def last_ones_after_a_star(x, c):
    *rest, a, b = x
    first, *_, last = c
    return a * b + first * last * 3.0 + rest[0] ** 2


def real_numbers_through_complex_ones(x, c):
    z = (x + 0.5) * (1 + 2j) + 1j * c * x
    return np.sum(np.abs(z) ** 2) + np.sum((z * z).real)


def sums_of_opposite_signs(x, c):
    return np.sum(c - x) * np.sum(x) - np.sum(c - 3.0 * x)


FOUND = [
    (root_of_a_rectified_value, SIGNS),
    (carried_array_read_through_a_sum, X, C),
    (sum_of_a_carried_array_is_returned, X, C),
    (carried_array_grows_by_broadcasting, X[:1], C),
    (carried_array_grows_by_broadcasting, X, C),
    (old_value_of_a_growing_array, X[:1], C),
    (carried_names_of_changing_shapes, X[:1], C),
    (alias_of_a_growing_array, X[:1], C),
    (saturated_sigmoid, X),
    (carried_name_is_returned, 0.7),
    (carried_sum_is_returned, X),
    (swapped_in_a_loop, 0.7),
    (chebyshev, 0.7),
    (legendre, 0.7),
    (swapped_through_a_third, 0.7),
    (fibonacci_from_integers, 0.7),
    (variable_called_like_the_seed, X),
    (double_beside_single, np.ones(3), SINGLE),
    (array_overwritten_by_a_number, X),
    (array_that_may_become_a_number, X, C),
    (masked_root_as_a_factor, SIGNS),
    (masked_square_of_a_logarithm, SIGNS),
    (sum_where, SIGNS),
    (masked_fractional_power, SIGNS),
    (masked_inverse_as_a_factor, SIGNS),
    (shape_known_in_the_other_branch, X, C),
    (shape_known_in_a_loop_without_rounds, X, C),
    (item_of_an_array_without_dimensions, np.array(0.7)),
    (sum_of_a_number, 2.0),
]


def differences(f, x, *rest, h=1e-6):
    """The gradient by central differences, of the shape of x."""
    if isinstance(x, float):
        return (f(x + h, *rest) - f(x - h, *rest)) / (2 * h)
    slopes = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[index] = h
        slopes[index] = (f(x + step, *rest) - f(x - step, *rest)) / (2 * h)
    return slopes


@pytest.mark.parametrize(
    ("f", "x", "rest"), [(f, x, rest) for f, x, *rest in FOUND], ids=lambda v: getattr(v, "__name__", "")
)
def test_once_wrong(f, x, rest):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("error", s2s.FallbackWarning)
        value, gradient = s2s.value_and_grad(f)(x, *rest)
        assert value == f(x, *rest)
        assert isinstance(gradient, type(x))
        assert np.shape(gradient) == np.shape(x) and np.asarray(gradient).dtype == np.asarray(x).dtype
        expected = differences(f, x, *rest)
        np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-7)
        if np.all(np.isfinite(expected)):
            _, slope = s2s.jvp(
                f, (x, *rest), (np.ones_like(x) if isinstance(x, np.ndarray) else 1.0, *map(np.zeros_like, rest))
            )
            np.testing.assert_allclose(slope, np.sum(expected), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(
    "f",
    [
        cotangent_shared_by_both_operands,
        cotangent_shared_in_one_branch,
        sums_of_opposite_signs,
        cotangent_passed_through_a_sum_with_a_number,
        cotangent_passed_through_a_call,
        cotangents_of_a_call_that_are_one_array,
        number_stretched_over_an_array,
        sums_of_one_array_of_opposite_signs,
        last_ones_after_a_star,
        real_numbers_through_complex_ones,
        one_precision_or_the_other,
        one_dimension_or_two,
    ],  # fmt: skip
)
@pytest.mark.parametrize("x", [X, -X], ids=["positive", "negative"])
def test_by_all_arguments(f, x):
    assert verify(f, (x, C), each_stage=False).compiled


def test_value_and_auxiliary_result_of_a_loop():
    def f(x):
        for _ in range(3):
            x = x * x
        return x, x

    (value, aux), gradient = s2s.value_and_grad(f, has_aux=True, strict=True)(0.7)
    assert value == aux == ((0.7**2) ** 2) ** 2
    assert np.isclose(gradient, 8 * 0.7**7)


def test_integers_in_a_container_come_back_whether_they_are_read_or_not():
    def f(p):
        return p["n"] * np.sum(p["w"])

    gradient = s2s.grad(f, strict=True)({"n": 3, "w": X})
    assert gradient["n"] == 3 and type(gradient["n"]) is int
    np.testing.assert_array_equal(gradient["w"], np.full(3, 3.0))


def test_a_container_bound_anew_is_not_the_argument():
    def tripled(items):
        for _ in range(2):
            items = [items[0] * 3.0]
        return items[0]

    def chosen(p, q):
        if q["a"] > 0:
            p = q
        return p["a"] * 2.0

    def swapped(p, q):
        for _ in range(3):
            p, q = q, p
        return p["a"] * 2.0 + q["a"] * 3.0

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", s2s.FallbackWarning)
        assert s2s.value_and_grad(tripled)([1.0]) == (9.0, [9.0])
        both = {"a": 1.0}, {"a": 5.0}
        assert s2s.value_and_grad(chosen, argnums=(0, 1))(*both) == (10.0, ({"a": 0.0}, {"a": 2.0}))
        assert s2s.value_and_grad(swapped, argnums=(0, 1))(*both) == (13.0, ({"a": 3.0}, {"a": 2.0}))
