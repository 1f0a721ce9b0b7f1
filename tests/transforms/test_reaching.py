"""Guards against zero times infinity are left out only where the result is not finite whenever a value is not."""

import numpy as np
import pytest

import s2s
from s2s.autograd.record import tape_value_and_grad


def recurrence(x, n):
    y = np.zeros(len(x))
    y[0] = x[0] / x[1]
    for t in range(1, len(x)):
        y[t] = (x[t] - 0.3 * y[t - 1]) / x[1]
    return np.sum(y**2)


def swept_twice(x, n):
    b, d = x + 2.0, x * 1.0
    for t in range(1, len(x)):
        w = x[t] / b[t - 1]
        b[t] -= w * x[t - 1]
        d[t] -= w * d[t - 1]
    d[len(x) - 1] /= b[len(x) - 1]
    for t in reversed(range(len(x) - 1)):
        d[t] = (d[t] - x[t] * d[t + 1]) / b[t]
    return np.sum(d**2)


def summed(x, n):
    total = 0.0
    for t in range(len(x)):
        q = 1.0 / x[t]
        total = total + q * q
    return total


def by_decomposition(x, n):
    with np.errstate(all="ignore"):
        y = np.var(x / x[1])
    return y + np.sum(x[2:])


def dropped_beside_a_logarithm(x, n):
    d = x[1]
    q = x[0] / d
    return np.exp(-q * q) + np.log(d) * x[2]


def dropped_beside_a_quotient(x, n):
    d = x[1]
    q, r = x[0] / d, x[2] / d
    return np.tanh(q) * x[3] + r


def log_of_pivots(x, n):
    a = np.outer(x, x) + 4.0 * np.eye(4)
    for k in range(n):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return np.sum(np.log(np.diagonal(a)))


UNGUARDED = [
    by_decomposition, recurrence, swept_twice, summed, dropped_beside_a_logarithm, dropped_beside_a_quotient,
    log_of_pivots,
]  # fmt: skip


# --- the rest is finite, though a value in it is not: x[1] is zero ---


def overwritten(x, n):
    y = np.ones(len(x))
    for t in range(len(x)):
        y[t] = x[0] / x[t]
    y[1] = 2.0
    return np.sum(y * y)


def overwritten_in_the_round(x, n):
    y = np.ones(len(x))
    for t in range(len(x)):
        y[t] = x[0] / x[t]
        y[t] = x[0] * t
    return np.sum(y * y)


def overwritten_by_another_item(x, n):
    y = np.ones(len(x))
    for t in range(len(x)):
        y[t] = x[0] / x[t]
    y[1] = y[0] * y[2]
    return np.sum(y * y)


def overwritten_by_a_quotient(x, n):
    y = np.ones(len(x))
    for t in range(len(x)):
        y[t] = x[0] / x[t]
        y[t] = x[2] / y[t]
    return np.sum(y * y)


def overwritten_as_a_whole(x, n):
    y = x[0] / x
    y[...] = np.exp(-y) * x
    return np.sum(y * y)


def on_some_rounds(x, n):
    total = 0.0
    for t in range(len(x)):
        q = x[0] / x[t]
        if t != 1:
            total = total + q * q
    return total


def on_one_branch(x, n):
    q = x[0] / x[1]
    if n > 100:
        r = q * q
    else:
        r = x[2] * x[0]
    return r


def in_no_round(x, n):
    q = x[0] / x[1]
    total = x[2]
    for _ in range(n - n):
        total = total + q
    return total


def last_of_a_loop(x, n):
    q = x[0]
    for t in range(len(x)):
        q = x[0] / x[t]
    return q * q


def taken_round_and_dropped(x, n):
    q, total = x[0], x[0]
    for t in range(len(x)):
        total = total + np.exp(-q * q)
        q = x[0] / x[t]
    return total + q


def item_of(x, n):
    y = x[0] / x
    return y[0] * y[2]


def part_of(x, n):
    y = x[0] / x
    return np.sum(y[2:] * y[2:])


def in_a_denominator(x, n):
    q = x[0] / x[1]
    return x[2] / q


def saturated(x, n):
    q = x[0] / x[1]
    return np.exp(-q * q) + np.tanh(q)


def to_the_power_zero(x, n):
    q = x[0] / x[1]
    return q**0 * x[2]


def of_negative_power(x, n):
    q = x[0] / x[1]
    return q**-2 * x[2]


def into_an_empty_part(x, n):
    y = x * 2.0
    q = x[0] / x[1]
    y[len(x) :] = q
    return np.sum(y * y)


def times_an_empty_array(x, n):
    q = x[0] / x[1]
    return np.sum(q * x[len(x) :]) + x[2]


def places_in_turn(x, n):
    y = x * 2.0
    places = np.array([1, 0, 2])
    y[places * 0] = x[0] / x[places]
    return np.sum(y * y)


def read_on_a_branch_and_overwritten(x, n):
    y, r = np.ones(len(x)), x[2]
    for t in range(len(x)):
        y[t] = x[0] / x[t]
    if n > 100:
        r = y[1] * x[0]
    y[1] = 2.0
    return np.sum(y * y) + r


def last_returned(x, n):
    q = x[0]
    for t in range(len(x)):
        q = x[0] / x[t]
    return q


def masked(x, n):
    y = x * 2.0
    y[x > 0] = (x[0] / x)[x > 0]
    return np.sum(y * y)


def the_least(x, n):
    q = x[0] / x
    return np.min(q * q)


def factor_of_a_dropped_product(x, n):
    y = np.ones(len(x)) * x[0]
    for t in range(len(x)):
        w = x[0] / x[t]
        y[t] = w * x[2]
    y[1] = 1.0
    return np.sum(y * y)


def by_another_view(x, n):
    y = np.ones(len(x)) * x[0]
    v = y[1:]
    y[1] = x[0] / x[1]
    v[0] = x[2]
    return np.sum(y * y)


def beside_a_logarithm_of_something_else(x, n):
    q = x[0] / x[1]
    return np.exp(-q * q) + np.log(x[2])


def beside_a_logarithm_on_a_branch(x, n):
    d, r = x[1], x[2]
    q = x[0] / d
    if n > 100:
        r = np.log(d)
    return np.tanh(q) + r


def beside_a_logarithm_that_is_dropped(x, n):
    d = x[1]
    q = x[0] / d
    return np.tanh(q) + np.exp(-(np.log(d) ** 2)) * x[2]


def beside_the_logarithm_of_the_last(x, n):
    total, t = x[2], x[0]
    for i in range(len(x)):
        t = x[i] * 1.0
        total = total + np.tanh(x[0] / t)
    return total + np.log(t)


def dropped_by_places(x, rows, column, last):
    """Items that are divided by and lie outside the diagonal, of which the logarithm is taken."""
    a = np.outer(x, x) + 4.0 * np.eye(len(x))
    total = x[2]
    for k in range(rows):
        a[k, k + column] = x[k]
        total = total + np.tanh(x[0] / a[k, k + column])
        a[k, k + column] = a[k, k + column] + last
    return total + np.sum(np.log(np.diagonal(a)))


def beside_the_diagonal(x, n):
    return dropped_by_places(x, n, 1, 0.0)


def overwritten_on_the_diagonal(x, n):
    return dropped_by_places(x, n, 0, 2.0)


def diagonal_before_the_write(x, n):
    a = np.outer(x, x) + 4.0 * np.eye(4)
    total = np.sum(np.log(np.diagonal(a)))
    for k in range(n):
        a[k, k] = x[k]
        total = total + np.tanh(x[0] / a[k, k])
    return total + np.sum(a)


def another_diagonal(x, n):
    a = np.outer(x, x) + 4.0 + 0 * np.eye(4)
    total = x[0]
    for k in range(n):
        a[k, k] = x[k]
        total = total + np.tanh(x[0] / a[k, k])
    return total + np.sum(np.log(np.diagonal(a, 1)))


def counted_from_the_end(x, n):
    a = np.outer(x, x)[:, :3] + 4.0
    total = x[0]
    for k in range(-2, 0):
        a[k, k] = x[k + 3]
        total = total + np.tanh(x[0] / a[k, k])
    return total + np.sum(np.log(np.diagonal(a)))


def diagonal_of_the_other(x, n):
    a, b = np.outer(x, x) + 4.0, np.outer(x, x) + 5.0
    total = x[0]
    for k in range(n - 1):
        a[k, k] = x[k + 1]
        total = total + np.tanh(x[0] / a[k, k])
        a, b = b, a
    return total + np.sum(np.log(np.diagonal(a)))


def to_minus_one(x, n):
    return np.sum(np.expm1(np.log(x)) * x[0])


def to_zero(x, n):
    return np.sum(np.exp2(np.log(x)) * x[0])


def to_an_angle(x, n):
    return np.sum(np.arctan2(np.log(x), 2.0))


def to_the_other_operand(x, n):
    return np.sum(np.logaddexp2(np.log(x), x[2]))


def inverted(x, n):
    return np.sum(np.linalg.inv(np.reshape(x[0] / x[1], (1, 1)))) + x[2]


def left_out(x, n):
    return np.sum(np.delete(x[0] / x, 1)) + np.sum(np.repeat(x[0] / x, [1, 0, 2, 1]))


GUARDED = [
    diagonal_of_the_other, to_minus_one, to_zero, to_an_angle, to_the_other_operand, inverted, left_out,
    beside_a_logarithm_of_something_else, beside_a_logarithm_on_a_branch, beside_a_logarithm_that_is_dropped,
    beside_the_logarithm_of_the_last, beside_the_diagonal, overwritten_on_the_diagonal, diagonal_before_the_write,
    another_diagonal, counted_from_the_end, read_on_a_branch_and_overwritten, last_returned, overwritten,
    overwritten_in_the_round,
    overwritten_by_another_item, overwritten_by_a_quotient, overwritten_as_a_whole, on_some_rounds, on_one_branch,
    in_no_round, last_of_a_loop, taken_round_and_dropped, item_of, part_of, in_a_denominator, saturated,
    to_the_power_zero, of_negative_power, into_an_empty_part, times_an_empty_array, places_in_turn, masked,
    the_least, factor_of_a_dropped_product, by_another_view,
]  # fmt: skip


@pytest.mark.parametrize("f", UNGUARDED, ids=lambda f: f.__name__)
def test_what_reaches_the_result_is_not_guarded(f, rng):
    x = rng.uniform(1.0, 2.0, 4)
    gradient = s2s.grad(f, strict=True)
    assert "guarded" not in gradient.source(x, 2)
    want = [(f(x + h, 2) - f(x - h, 2)) / 2e-6 for h in 1e-6 * np.eye(4)]
    np.testing.assert_allclose(gradient(x, 2), want, rtol=1e-6)


@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
@pytest.mark.parametrize("f", GUARDED, ids=lambda f: f.__name__)
def test_what_is_dropped_is_guarded(f):
    x = np.array([1.5, 0.0, 2.5, 3.0])
    assert np.isfinite(f(x, 2))
    got = s2s.grad(f, strict=True)(x, 2)
    _, _, taped = tape_value_and_grad(f, ["x"], (x, 2))
    assert np.all(np.isfinite(got))
    np.testing.assert_allclose(got, taped["x"], rtol=1e-12)
