"""What stands in memory still is read again; what may be overwritten is saved, whatever the loops and indices are."""

import numpy as np
import pytest

import s2s
from s2s.autograd.record import tape_value_and_grad


def population(x, n):
    y = np.zeros(n + 2)
    y[0] = x[0]
    for t in range(n):
        y[t + 1] = x[1] * y[t] * (1 - y[t])
    return np.sum(y * y)


def two_back(x, n):
    y = np.zeros(n + 4)
    y[0], y[1] = x[0], x[1]
    for t in range(2, n + 2):
        y[t] = y[t - 1] * y[t - 2] * 0.5
    return np.sum(y * y)


def table(x, n):
    t = np.ones((n + 2, len(x)))
    t[0] = x
    for i in range(n):
        for j in range(1, len(x)):
            t[i + 1, j] = t[i, j - 1] * t[i + 1, j - 1] * x[j]
    return np.sum(t * t)


def eliminated(x, n):
    m = np.outer(x, x) + 3.0 * np.eye(len(x))
    for k in range(len(x) - 1):
        m[k + 1 :, k] /= m[k, k]
        m[k + 1 :, k + 1 :] -= np.outer(m[k + 1 :, k], m[k, k + 1 :])
    return np.sum(np.log(np.diagonal(m)))


def rows(x, n):
    m = np.zeros((n + 1, len(x)))
    m[0] = x
    for i in range(n):
        m[i + 1] = m[i] * x
    return np.sum(m * m)


def doubled_indices(x, n):
    y = np.ones(2 * n + 3)
    y[0] = x[0]
    for t in range(n):
        y[2 * t + 2] = y[2 * t] * y[2 * t + 1] * x[1]
    return np.sum(y * y)


def downwards_from_the_end(x, n):
    y = np.zeros(len(x) + 1)
    y[len(x)] = x[0]
    for t in reversed(range(len(x))):
        y[t] = y[t + 1] * x[t]
    return np.sum(y * y)


def by_steps_down(x, n):
    y = np.zeros(len(x) + 3)
    y[:] = x[0]
    for t in range(len(x), 0, -2):
        y[t] = y[t + 2] * y[t + 1] * x[1]
    return np.sum(y * y)


def up_again(x, n):
    y = np.ones(2 * n + 2)
    for t in reversed(range(2 * n, 0, -1)):
        y[t] = y[t - 1] * x[1] * x[0]
    return np.sum(y * y)


KEPT = [downwards_from_the_end, by_steps_down, up_again, population, two_back, table, eliminated, rows, doubled_indices]


# --- these overwrite what the reverse sweep reads, each in another way ---


def from_the_end(x, n):
    y = x * 1.0
    for t in range(len(x)):
        y[t] = y[t - 1] * y[t] + x[t]  # y[-1] first, which is written last
    return np.sum(y * y)


def each_twice(x, n):
    y = x * 1.0
    for _ in range(n):
        for t in range(1, len(x)):
            y[t] = y[t - 1] * y[t]
    return np.sum(y * y)


def downwards(x, n):
    y = x * 1.0
    for t in range(1, len(x)):
        y[t - 1] = y[t] * y[t - 1]
        y[t] = y[t] * y[t] * 0.5
    return np.sum(y * y)


def against_the_loop(x, n):
    y = x * 1.0
    for t in range(len(x) - 2, -1, -1):
        y[t] = y[t + 1] * y[t]
        y[t + 1] = y[t] * y[t] * 0.5
    return np.sum(y * y)


def step_of_minus_one(x, n):
    y = np.ones(len(x) + 1)
    for t in range(len(x) - 1, -1, -1):
        y[t + 1] = y[t] * x[t] + y[t + 1]
    return np.sum(y * y)


def folded(x, n):
    y = x * 1.0
    for t in range(len(x)):
        y[t // 2] = y[t] * y[t // 2]
    return np.sum(y * y)


def opposite(x, n):
    y = x * 1.0
    last = len(x) - 1
    for t in range(len(x)):
        y[last - t] = y[t] * x[t]
    return np.sum(y * y)


def picked(x, n):
    y, places = x * 1.0, [0, 2, 1, 2]
    for t in range(len(places) - 1):
        y[places[t + 1]] = y[places[t]] * x[t]
    return np.sum(y * y)


def slices_that_overlap(x, n):
    y = x * 1.0
    for t in range(1, len(x) - 1):
        y[t:] = y[t:] * y[t - 1]
        y[: t + 1] = y[: t + 1] * 0.5 * y[t]
    return np.sum(y * y)


def negative_bounds(x, n):
    y = x * 1.0
    for t in range(1, len(x) - 1):
        y[-t:] = y[-t:] * y[t - 1]
    return np.sum(y * y)


def steps_back(x, n):
    y = x * 1.0
    for t in range(1, len(x) - 1):
        y[::-t] = y[::-t] * y[t - 1]
    return np.sum(y * y)


def counter(x, n):
    y = np.ones(len(x) + 2)
    t = 0
    while t < len(x):
        y[t + 1] = y[t] * x[t]
        t = t + 1 if y[t + 1] > -50.0 else t
    return np.sum(y * y)


def index_set_back(x, n):
    y = np.ones(len(x) + 2)
    for i in range(2 * len(x) - 2):
        t = i if i < len(x) else i - len(x) + 1
        y[t + 1] = y[t] * x[t % len(x)] * 0.9 + y[t + 1]
    return np.sum(y * y)


def left_early(x, n):
    y = np.ones(len(x) + 2)
    for t in range(len(x)):
        y[t + 1] = y[t] * x[t]
        if t == n:
            break
    for t in range(len(x)):
        y[t] = y[t + 1] * y[t]
    return np.sum(y * y)


def no_rounds(x, n):
    y = np.ones(len(x) + 2)
    for t in range(n - n):
        y[t + 1] = y[t] * x[t]
    for t in range(len(x)):
        y[t + 1] = y[t] * x[t] + y[t + 1]
    return np.sum(y * y)


def through_a_view(x, n):
    y = x * 1.0
    v = y[1:]
    for t in range(len(x) - 1):
        v[t] = y[t] * y[t] * x[t]
    return np.sum(y * y)


def another_name(x, n):
    y = x * 1.0
    z = y
    for t in range(len(x) - 1):
        y[t + 1] = y[t] * x[t]
        z[t] = z[t] * z[t + 1]
    return np.sum(y * y)


def in_turns(x, n):
    a, b = np.ones(len(x) + 1), np.ones(len(x) + 1)
    for t in range(len(x)):
        a[t + 1] = a[t] * x[t] + b[t]
        b[t] = a[t + 1] * b[t]
        a, b = b, a
    return np.sum(a * b)


def the_same_round_later(x, n):
    y = x * 1.0
    for t in range(len(x) - 1):
        old = y[t + 1]
        y[t + 1] = y[t] * old
        y[t + 1] = np.sin(old) * y[t + 1]
    return np.sum(y * y)


def scalars_in_slices(x, n):
    y = np.ones((n + 2, len(x)))
    for t in range(n):
        s = np.sum(y[t]) * x[0]
        y[t + 1, 1:] = s
        y[t + 1, 0] = s * s
    return np.sum(y * y)


def rows_of_less(x, n):
    y = np.ones((n + 2, len(x)), dtype=np.float32)
    for t in range(n):
        s = np.sin(y[t, 0] * x)
        y[t + 1] = s
        y[t + 1, 0] = s[1] * s[0]
    return np.sum(y * y) * x[1]


def stored_and_overwritten(x, n):
    y = np.ones(len(x) + 1)
    for t in range(len(x)):
        s = y[t] * x[t]
        y[t + 1] = s
        r = s * s * x[t]
        y[t + 1] = r * 0.5
    return np.sum(y * y)


def stored_on_a_branch(x, n):
    y, total = np.zeros(len(x)), 0.0
    for t in range(len(x)):
        s = np.sin(2.0 * x[t])
        if s > 0.9:
            y[t] = s
        total = total + s * s
    return total + np.sum(y * y)


def stored_in_rounds_that_may_be_none(x, n):
    y, total = np.zeros((len(x), len(x))), 0.0
    for t in range(len(x)):
        s = np.sin(x[t])
        for i in range(t):
            y[t, i] = s
        total = total + s * s
    return total + np.sum(y * y)


def stored_values_written(x, n):
    y = np.ones((n + 1, len(x)))
    for t in range(n):
        s = y[t] * x
        y[t + 1] = s
        s *= np.sin(s)
        y[t + 1, 0] = np.sum(s)
    return np.sum(y * y)


def constant_range_down(x, n):
    y = np.ones(6)
    y[: len(x)] = x
    for t in range(4, 0, -1):
        y[t] = y[t - 1] * y[t] * x[1]
    return np.sum(y * y)


def slices_down(x, n):
    y = x * 1.0
    for t in range(1, len(x)):
        v = y[t - 1]
        y[t::-1] = y[t::-1] * v
    return np.sum(y * y)


def window(x, n):
    y = np.ones(2 * len(x))
    y[: len(x)] = x
    for t in range(1, len(x)):
        v = y[2 * t - 1]
        y[t : t + 1] = v * v * x[t]
    return np.sum(y * y)


def closing_in(x, n):
    y = np.ones(3 * len(x) + 2)
    y[: len(x)] = x
    for t in range(len(x)):
        v = y[2 * t + 1]
        y[t + 2] = v * v * x[t]
    return np.sum(y * y)


def read_through_another_array(x, n):
    y, z = x * 1.0, x * 2.0
    w = y if n > 1 else z
    for t in range(len(x) - 1):
        v = w[t]
        y[t + 1] = v * v
        z[t] = z[t] * v
        y[t] = z[t] * v
    return np.sum(y * z * w)


def read_after_the_loop(x, n):
    y = x * 1.0
    for t in range(len(x) - 1):
        v = y[t:]
        y[t + 1] = y[t + 1] * 0.5 * x[t]
    s = np.sum(v * v)
    for t in range(1, len(x)):
        y[t] = y[t] * s
    return np.sum(y * y)


def half_way(x, n):
    y = np.ones(2 * len(x))
    y[: len(x)] = x
    for t in range(1, len(x)):
        v = y[t // 2]
        y[t // 2 + 1] = v * v * x[t]
    return np.sum(y * y)


def slices_down_again(x, n):
    y, total = x * 1.0, 0.0
    for t in range(1, len(x)):
        v = y[t - 1]
        total = total + v * v * v
        y[t::-1] = x[: t + 1] * 2.0
    return total + np.sum(y * y)


def rounds_left(x, n):
    y, total = np.ones(len(x) + 3) * x[0], 0.0
    for t in range(len(x)):
        m = len(x[t:])
        v = y[m]
        total = total + v * v * v
        y[m + 1] = x[t]
    return total + np.sum(y * y)


def ahead(x, n):
    y, total = np.ones(len(x) + 3), 0.0
    y[: len(x)] = x
    for t in range(len(x)):
        v = y[t + 2]
        total = total + v * v * v
        y[t] = x[t] * 2.0
    return total + np.sum(y * y)


def by_a_view(x, n):
    y, total = x * 1.0, 0.0
    w = y[1:]
    for t in range(1, len(x)):
        v = y[1]
        total = total + v * v * v * x[t]
    w[0] = x[0] * 2.0
    return total + np.sum(w * w)


def of_less_precision(x, n):
    y, total = np.ones((n + 2, len(x)), dtype=np.float32), 0.0
    for t in range(n):
        s = np.sin(x * (t + 1.0))
        total = total + np.sum(s * s * s)
        y[t] = s
    return total + np.sum(y) * 0.0


# --- these write some places again, or over what carries a derivative ---


def first_place_again(x, n):
    y = np.zeros(n + 2)
    y[0] = x[0]
    for t in range(n):
        y[t] = y[0] * x[1] + x[2]
        y[t + 1] = y[t] * x[1]
    return np.sum(y * y)


def from_one_of_two(x, n):
    y = np.zeros(n + 2)
    y[1] = x[0]
    for t in range(n):
        y[t + 1] = y[1] * x[1] + x[2] * t
    return np.sum(y * y)


def over_the_input(x, n):
    y = x * 2.0
    for t in range(1, len(x)):
        y[t] = y[t - 1] * 0.5 + x[t]
    return np.sum(y * y)


def over_another_buffer(x, n):
    a, b = np.zeros(n + 2), np.zeros(n + 2)
    for t in range(n):
        a[t + 1] = b[t] * x[0] + x[1]
        a, b = b, a
    return np.sum(a * a) + np.sum(b * b)


def scaled_as_a_whole(x, n):
    y = np.zeros(n + 2)
    for t in range(n):
        y[t + 1] = y[t] * x[0] + x[1]
        y *= x[2]
    return np.sum(y * y)


def over_a_view(x, n):
    y = np.zeros(n + 3)
    v = y[1:]
    for t in range(n):
        v[t + 1] = x[0] * t + v[t]
        y[t + 2] = x[1] * t + y[t + 1]
    return np.sum(y * y)


def behind_a_view(x, n):
    y = np.zeros(3)
    v = y[1:]
    y[2] = x[0]
    v[1] = v[1] * x[1] + x[2]
    return np.sum(v * v)


def last_of_four(x, n):
    y = np.zeros(4)
    y[-1] = x[0]
    y[3] = y[3] ** 2 * x[1]
    return np.sum(y * y)


def last_but_one(x, n):
    y = x * 0.0
    y[-2] = x[0]
    y[len(x) - 2] = y[-2] ** 2 * x[1]
    y[n - 1] = y[n - 1] ** 2
    return np.sum(y * y)


def before_the_start(x, n):
    y = np.zeros(len(x) - 2)
    y[0] = x[0]
    y[len(y) - 2] = y[0] ** 2 * x[1]  # y[-1] where there is one item
    return np.sum(y * y)


def from_both_ends(x, n):
    y = np.zeros(len(x))
    for t in range(len(x)):
        y[-t - 1] = y[-t - 1] + x[t] * x[0]
        y[t] = y[t] ** 2 * x[1] + x[t]
    return np.sum(y * y)


# --- loops that go backwards ---


def downwards_over_what_is_ahead(x, n):
    y = x * 1.0
    for t in reversed(range(1, len(x))):
        y[t] = y[t - 1] * y[t]
    return np.sum(y * y)


def backwards_left_early(x, n):
    y = x * 1.0
    for t in reversed(range(len(x) - 1)):
        y[t] = y[t + 1] * y[t] * y[t]
        if t < n:
            break
    return np.sum(y * y)


def backwards_in_turns(x, n):
    y = x * 1.0
    for _ in range(n):
        for t in reversed(range(len(x) - 1)):
            y[t] = np.sin(y[t + 1]) * y[t]
        for t in range(1, len(x))[::-1]:
            y[t] = y[t - 1] * y[t] * t
    return np.sum(y * y)


def up_over_what_is_ahead(x, n):
    y = np.ones(8) * x[0]
    for t in reversed(range(6, 0, -1)):
        y[t + 1] = y[t + 1] * x[1]
        y[t] = y[t + 1] * y[t] * x[0]
    return np.sum(y * y)


def by_steps_over_each_other(x, n):
    y = np.ones(8) * x[0]
    for t in range(6, 0, -2):
        y[t - 1] = y[t - 1] * y[t + 1] * x[1]
        y[t + 1] = y[t - 1] * x[0]
    return np.sum(y * y)


def every_other(x, n):
    y = x * 1.0
    for t in range(1, len(x))[::2]:
        y[t] = y[t - 1] * y[t]
    for t in range(len(x))[1:][::-1]:
        y[t] = y[t - 1] * y[t]
    return np.sum(y * y)


def no_rounds_backwards(x, n):
    y = x * 1.0
    for t in reversed(range(n - n)):
        y[t] = y[t + 1] * y[t]
    for t in reversed(range(n, len(x))):
        y[t] = y[t - 1] * y[t]
    return np.sum(y * y)


# --- these are undone, so that what was read before is read again ---


def all_items_in_turn(x, n):
    y = x * 1.0
    for _ in range(n):
        for t in range(1, len(x)):
            y[t] = y[t] * y[t - 1] * 0.9
    return np.sum(y)


def condition_after_the_write(x, n):
    y, total = x * 1.0, 0.0
    for _ in range(n):
        for t in range(1, len(x)):
            v, w = y[t], y[t - 1]
            large = v > 1.0
            y[t] = v * w * 0.7
            if large:
                total = total + y[t] * x[t]
            else:
                total = total - x[t]
    return total + np.sum(y)


def product_after_the_write(x, n):
    y, total = x * 1.0, 0.0
    for _ in range(n):
        for t in range(1, len(x)):
            v, w = y[t], y[t - 1]
            p = v * w
            y[t] = v * w * 0.7
            total = total + p * p * x[t]
    return total + np.sum(y)


def write_on_a_branch(x, n):
    y, total = x * 1.0, 0.0
    for _ in range(n):
        for t in range(1, len(x)):
            v, w = y[t], y[t - 1]
            if v > 0.9:
                y[t] = v * w * 0.7
            total = total + v * w * x[t]
    return total + np.sum(y)


def carried_round(x, n):
    y, last, total = x * 1.0, x[0], 0.0
    for _ in range(n):
        for t in range(1, len(x)):
            v, w = y[t], y[t - 1]
            total = total + last * last * v
            y[t] = v * w * last
            last = w
    return total + np.sum(y)


def write_in_a_loop_that_reads(x, n):
    y = x * 1.0
    for t in range(1, len(x)):
        v, w = y[t], y[t - 1]
        for j in range(1, len(x)):
            y[j] = v * w * y[j] * 0.6
    return np.sum(y * x)


def write_on_a_branch_that_reads(x, n):
    y = x * 1.0
    for _ in range(n):
        for t in range(1, len(x)):
            v, w = y[t], y[t - 1]
            if x[t] > 0.3:
                y[t] = v * w * 0.7
                y[t - 1] = v * w * 0.4 * y[t]
    return np.sum(y * x)


def write_before_the_read(x, n):
    y, total = x * 1.0, 0.0
    for _ in range(n):
        for t in range(1, len(x)):
            y[t] = y[t] * y[t - 1] * 0.8
            v = y[t]
            total = total + v * v * v
            y[t - 1] = v * y[t - 1] * 0.6
    return total + np.sum(y)


OVERWRITTEN = [
    all_items_in_turn, condition_after_the_write, product_after_the_write, write_on_a_branch, carried_round,
    write_in_a_loop_that_reads, write_on_a_branch_that_reads, write_before_the_read, downwards_over_what_is_ahead,
    backwards_left_early, backwards_in_turns, up_over_what_is_ahead, by_steps_over_each_other, every_other,
    no_rounds_backwards, behind_a_view, first_place_again, from_one_of_two, over_the_input, over_another_buffer,
    scaled_as_a_whole, over_a_view, slices_down_again, rounds_left, ahead, by_a_view, of_less_precision,
    constant_range_down, slices_down, window, closing_in, read_through_another_array, read_after_the_loop, half_way,
    from_the_end, each_twice, downwards, against_the_loop, step_of_minus_one, folded, opposite, picked,
    slices_that_overlap, negative_bounds, steps_back, counter, index_set_back, left_early, no_rounds,
    through_a_view, another_name, in_turns, the_same_round_later, scalars_in_slices, rows_of_less,
    stored_and_overwritten, stored_on_a_branch, stored_in_rounds_that_may_be_none, stored_values_written,
    last_of_four, last_but_one, before_the_start, from_both_ends,
]  # fmt: skip
LESS_PRECISE = [rows_of_less, of_less_precision]


@pytest.mark.parametrize("f", [*KEPT, *OVERWRITTEN], ids=lambda f: f.__name__)
def test_gradients(f, rng):
    gradient = s2s.grad(f, strict=True)
    for size, n in ((3, 1), (4, 3), (5, 2)):
        x = rng.uniform(0.5, 1.4, size)
        got = gradient(x, n)
        _, _, taped = tape_value_and_grad(f, ["x"], (x, n))
        np.testing.assert_allclose(got, taped["x"], rtol=1e-6 if f is rows_of_less else 1e-10, atol=1e-12)
        if f not in LESS_PRECISE:
            want = [(f(x + h, n) - f(x - h, n)) / 2e-6 for h in 1e-6 * np.eye(size)]
            np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-7)


def test_what_is_undone_is_saved_once():
    text = s2s.grad(all_items_in_turn, strict=True).source(np.ones(3), 2)
    assert text.count("_tape = []") == 1


@pytest.mark.parametrize("f", [population, two_back, rows, doubled_indices], ids=lambda f: f.__name__)
def test_what_is_written_once_is_not_set_to_zero(f):
    assert "= 0.0" not in s2s.grad(f, strict=True).source(np.ones(3), 2)


@pytest.mark.parametrize("f", KEPT, ids=lambda f: f.__name__)
def test_what_stands_still_is_not_saved(f):
    forward, _ = s2s.grad(f, strict=True).source(np.ones(3), 2).split("# reverse")
    assert "_tape" not in forward and "copy()" not in forward
