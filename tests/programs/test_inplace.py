"""Traps of code that writes in place. Each function is one; the derivative is told by a complex step, which rounds not.

Functions take an array of one or two dimensions; what they allocate has its dtype, so that they can be run on complex
numbers. Where a branch looks at values, it looks at their real parts.
"""

import warnings

import numpy as np
import pytest

import s2s
from tests.programs.verify import verify

VECTORS = [(3,), (4,), (7,)]
ANY = [(3,), (6,), (4, 3)]
TABLES = [(3, 4), (4, 3), (5, 5)]
MATRICES = [(3, 3), (4, 4)]
TRAPS = []


def trap(*shapes):
    """Registers a function for arguments of these shapes."""

    def register(f):
        TRAPS.extend(pytest.param(f, shape, id=f"{f.__name__}-{'x'.join(map(str, shape))}") for shape in shapes)
        return f

    return register


def complex_step(f, x, h=1e-30):
    """The gradient of a function that is analytic, to rounding."""
    slopes = np.zeros(x.shape)
    for index in np.ndindex(x.shape):
        moved = x.astype(complex)
        moved[index] += 1j * h
        slopes[index] = f(moved).imag / h
    return slopes


# --- overlapping regions ---


@trap(*ANY)
def left_neighbours_added(x):
    c = x * x
    c[:-1] += c[1:]
    return np.sum(c**3)


@trap(*ANY)
def right_neighbours_added(x):
    c = x * x
    c[1:] += c[:-1]
    return np.sum(c**3)


@trap(*ANY)
def shifted(x):
    c = x * x
    c[1:] = c[:-1]
    return np.sum(c**2 * x)


@trap(*ANY)
def reversed_onto_itself(x):
    c = x * x
    c[::-1] += c
    return np.sum(c**2 * x)


@trap(*ANY)
def reversed_into_itself(x):
    c = np.sin(x)
    c[:] = c[::-1]
    return np.sum(c * x)


@trap(*ANY)
def multiplied_by_its_neighbours(x):
    c = np.sin(x) + 2.0
    for _ in range(3):
        c[1:] *= c[:-1] * 0.5
    return np.sum(c)


@trap(*MATRICES)
def transposed_onto_itself(x):
    c = x * x
    c += c.T
    c *= c.T
    return np.sum(np.sin(c))


# --- what loops and branches need is overwritten ---


@trap(*VECTORS)
def loop_bound_rebound_in_the_body(x):
    n = 3
    c = x * 1.0
    for i in range(n):
        n = n - 1
        c[i % 2] *= np.sin(c[n])
    return np.sum(c) * n


@trap(*VECTORS)
def rounds_decided_by_what_is_written(x):
    c = x * 1.0
    k = 0
    while k < 5 and np.sum(c.real) < 6.0:
        c[k % 2] += 0.7 + c[1] * c[1]
        k += 1
    return np.sum(c * c)


@trap(*VECTORS)
def branch_on_what_is_overwritten(x):
    c = np.sin(x)
    for i in range(len(x)):
        if c[0].real > 0.4:
            c[0] = c[0] * c[i] * 0.5
        else:
            c[0] = c[0] + x[i] * x[i]
        c[i] *= 1.1
    return np.sum(c * c)


@trap(*ANY)
def tape_of_a_buffer_mutated_later(x):
    c = x * x
    s = 0.0
    for i in range(3):
        t = np.sin(c)
        s = s + np.sum(t * c)
        c *= 0.5
        c += x
        t[:] = 0.0
    return s + np.sum(t)


@trap(*VECTORS)
def read_after_the_write_of_its_round(x):
    c = x * 1.0
    s = 0.0
    for i in range(3):
        c[i % 2] = 0.5 * c[1] + x[0]
        s = s + np.sum(c * c)
    return s


@trap(*VECTORS)
def item_read_after_the_write_of_its_round(x):
    c = x * 1.0
    s = 0.0
    for i in range(3):
        c += x
        s = s + c[0] * c[1]
    return s


@trap(*VECTORS)
def saved_operand_overwritten_in_a_loop(x):
    c = np.sin(x)
    y = x * 0.0
    for i in range(4):
        y = y + c * x
        c[i % 2] = y[1]
    return np.sum(y * c)


@trap(*VECTORS)
def name_first_bound_in_the_loop(x):
    for i in range(3):
        if i == 0:
            c = x * x
        c[i % 2] *= c[1]
        t = c[0] * x[1]
    c[0] += t
    return np.sum(c * c)


@trap(*VECTORS)
def buffer_made_anew_in_each_round(x):
    s = 0.0
    last = x
    for i in range(3):
        c = np.zeros_like(x)
        c[0] = last[0] * last[1]
        c[1:] = np.sin(last[1:])
        s = s + np.sum(c * last)
        last = c
    return s


@trap(*VECTORS)
def reduction_of_a_strided_array_decides(x):
    c = x * 1.0
    for i in range(3):
        if np.sum(c[::2].real) > np.sum(c[::-1][1::2].real) * 0.9973:
            c[::2] *= 0.7
        else:
            c[1::2] = np.sin(c[1::2]) * c[0]
    return np.sum(c * c)


@trap(*VECTORS)
def index_that_is_written(x):
    order = np.arange(len(x))
    c = x * 1.0
    for i in range(3):
        order[0] = (order[0] + i) % len(x)
        c[order[0]] *= c[order[-1]]
        order[:] = order[::-1]
    return np.sum(c)


@trap(*VECTORS)
def left_by_break(x):
    c = x * 1.0
    for i in range(len(x)):
        c[i] = c[i] * c[i] + c[i - 1]
        if np.sum(c.real) > 2.7:
            c[0] *= 3.0
            break
        c[i] *= 0.5
    else:
        c[1] *= c[1]
    return np.sum(c * x)


@trap(*VECTORS)
def left_by_return(x):
    c = x * 1.0
    for i in range(len(x)):
        c[i] = np.sin(c[i]) * c[i - 1]
        if c[i].real > 0.33:
            c[:] *= c[i]
            return np.sum(c)
    return np.sum(c * c)


@trap(*VECTORS)
def skipped_by_continue(x):
    c = x * x
    for i in range(len(x)):
        if c[i].real > 0.51:
            c[i] *= c[i]
            continue
        c[i] = c[i - 1] + np.sin(c[i])
    return np.sum(c)


# --- updates of values that their own derivative needs ---


@trap(*ANY)
def squared_in_place(x):
    c = np.sin(x)
    c *= c
    c *= c
    return np.sum(c * x)


@trap(*VECTORS)
def item_by_its_own_sine(x):
    c = x * 1.0
    for i in range(len(x)):
        c[i] = np.sin(c[i])
        c[i] *= c[i]
    return np.sum(c * x)


@trap(*ANY)
def powers_and_quotients_in_place(x):
    c = x + 2.0
    c **= 3
    c[1:] /= c[:-1]
    c /= c + 1.0
    c -= c * c
    return np.sum(c)


@trap(*VECTORS)
def saved_result_overwritten(x):
    y = np.exp(x)
    z = np.tanh(y)
    y += 1.0
    z[0] = y[1]
    return np.sum(y * y * z)


@trap(*ANY)
def saved_input_overwritten(x):
    c = np.sin(x)
    y = c * x
    c[:] = 0.0
    return np.sum(y) + np.sum(c)


@trap(*ANY)
def argument_written_into(x):
    x[1:] *= x[:-1]
    x += 1.0
    return np.sum(x * x)


@trap(*ANY)
def argument_written_after_it_was_read(x):
    y = np.sin(x) * x
    x[0] = 3.0
    return np.sum(y) + np.sum(x * x)


# --- aliases and views ---


@trap(*ANY)
def second_name(x):
    c = x * 1.0
    y = c
    y += x
    return np.sum(c * c)


@trap(*VECTORS)
def second_name_of_a_number(x):
    s = np.sum(x) * 1.0
    t = s
    t += 1.0
    s *= t
    return s * t


@trap(*ANY)
def name_rebound_beside_its_alias(x):
    c = x * 2.0
    y = c
    c = c * x
    y *= x
    return np.sum(c) + np.sum(y * y)


@trap(*VECTORS)
def view_written(x):
    c = x * x
    v = c[1:]
    v *= x[0]
    return np.sum(c)


@trap(*ANY)
def view_read_after_its_base_was_written(x):
    c = x * x
    v = c[1:]
    c *= x
    c[-1] = x[0]
    return np.sum(v * v)


@trap(*VECTORS)
def view_of_a_view(x):
    c = x * x
    v = c[1:][::-1]
    w = v[:2]
    w *= w
    v[-1] = w[0]
    return np.sum(c * x)


@trap(*TABLES)
def reshaped_view(x):
    c = x * x
    r = c.reshape(-1)
    r[1:4] *= r[0]
    c[0] += r[3]
    return np.sum(c * c)


@trap(*TABLES)
def reshaped_copy(x):
    c = (x * x).T
    r = c.reshape(-1)
    r[1:4] = 0.0
    c[0] += r[4]
    return np.sum(c * c) + np.sum(r * r)


@trap(*TABLES)
def transposed_view(x):
    c = x * x
    c.T[1] = np.sin(x[0, 0])
    c.T[0][1:] *= c[0, 1:2]
    return np.sum(c * c)


@trap(*TABLES)
def flat_items(x):
    c = x * x
    for i in range(4):
        c.flat[i] = c.flat[i + 1] * x[0, 0]
    c.T.flat[1] *= 2.0
    c.flat[3:5][:] = 0.0
    return np.sum(c * c)


@trap(*TABLES)
def row_by_row(x):
    c = x * x
    for row in c:
        row *= row[0]
        row[1] = c[0, 0]
    return np.sum(c * x)


@trap(*ANY)
def buffers_swapped(x):
    a, b = x * 1.0, np.zeros_like(x)
    for _ in range(5):
        b[1:] = a[:-1] * a[1:]
        b[0] = np.sin(a[-1])
        a, b = b, a
    return np.sum(a) + np.sum(b * b)


@trap(*VECTORS)
def buffers_swapped_three_ways(x):
    a, b, c = x * 1.0, x * x, np.sin(x)
    for i in range(4):
        c[i % 2] = a[0] * b[1]
        a *= 0.9
        if i != 2:
            a, b, c = b, c, a
    return np.sum(a + 2 * b + 3 * c)


@trap(*VECTORS)
def alias_decided_at_run_time(x):
    a, b = x * x, np.sin(x)
    y = a if np.sum(x.real) > 0.1 else b
    y[1] = x[0] * x[1]
    y *= a
    return np.sum(a + 2 * b)


@trap(*VECTORS)
def alias_through_two_rounds(x):
    a, b, c = x * 1.0, x * x, np.sin(x)
    for i in range(3):
        c[0] = c[1] * x[0]
        c = b
        b = a
    return np.sum(a * a * x)


@trap(*VECTORS)
def alias_decided_in_each_round(x):
    a, b = x * x, np.sin(x)
    for i in range(4):
        y = a if a[i % 2].real > b[i % 2].real else b
        y[i % 2] = y[0] * b[1] * 0.5
        b = y[::-1]
    return np.sum(a * a + b)


@trap(*ANY)
def overwritten_alias_left_alone(x):
    c = x * x
    y = c.copy()
    z = np.array(c)
    c[:] = 0.0
    return np.sum(y * z + c)


# --- indices and masks ---


@trap(*VECTORS)
def repeated_places_last_wins(x):
    c = x * x
    c[[0, 0, 1]] = np.sin(x[:3])
    c[[1, 0, 0]] *= x[:3]
    return np.sum(c * c)


@trap(*VECTORS)
def repeated_places_augmented(x):
    c = np.zeros_like(x)
    c[[0, 0, 1]] += x[:3]
    return np.sum(c * c + c)


@trap(*VECTORS)
def repeated_places_added_up(x):
    c = x * x
    np.add.at(c, [0, 0, 1], np.sin(x[:3]))
    np.add.at(c, np.array([1, 1]), 0.5 * c[:2])
    return np.sum(c * c)


@trap(*VECTORS)
def mask_written(x):
    c = x * x - x
    c[x.real < 0.2] *= c[0]
    c[x.real > 0.6] = np.sin(x[x.real > 0.6])
    return np.sum(c * c)


@trap(*VECTORS)
def softplus_by_parts(x):
    big = x.real >= 0.9
    small = x.real <= -0.8
    mid = np.logical_not(np.logical_or(big, small))
    r = np.copy(x)
    r[small] = 0.0
    r[mid] = np.log(1 + np.exp(x[mid]))
    return np.sum(r * r)


@trap(*TABLES)
def ellipsis_and_new_axes(x):
    c = x * x
    c[..., 0] *= 2.0
    c[None][..., 1] = c[..., 0]
    c[...] += x
    return np.sum(c * c)


@trap(*TABLES)
def rows_and_columns_by_arrays(x):
    c = x * x
    c[[0, 1], [1, 0]] = c[[1, 2], 1]
    c[:, [0, 0]] += 1.0
    c[np.ix_([0, 2], [1, 0])] *= x[0, 0]
    return np.sum(c * c)


# --- functions that write ---


@trap(*ANY)
def out_chain(x):
    y = np.multiply(x, x)
    np.sin(y, out=y)
    np.add(y, x, out=y)
    np.multiply(y, y, out=y)
    np.exp(-y, y)
    return np.sum(y)


@trap(*VECTORS)
def out_into_a_view(x):
    c = x * x
    np.multiply(c[:-1], c[1:], out=c[1:])
    np.add(c[0], x, out=c)
    return np.sum(c * c)


@trap(*VECTORS)
def copied_put_filled(x):
    c = x * x
    np.copyto(c, np.sin(x), where=x.real > 0.1)
    np.put(c, [1, 1], [c[0] * x[0], x[1]])
    d = c * 2.0
    d.fill(x[0])
    d[1:] *= c[:-1]
    np.copyto(c, d * d)
    return np.sum(c * d)


@trap(*ANY)
def filled_buffers(x):
    c = np.empty_like(x)
    c.fill(0.5)
    d = np.ones_like(x)
    d[:] = x
    e = np.empty_like(x)
    e[...] = c * d
    e[0] = 1.0
    return np.sum(e * e + d)


# --- containers ---


@trap(*VECTORS)
def arrays_in_a_list(x):
    rows = [x * x, np.sin(x), x * 1.0]
    for k in range(3):
        rows[k][0] = rows[k - 1][1] * x[0]
        rows[k] *= 0.5
    rows[0], rows[2] = rows[2], rows[0]
    rows[0][1] *= 3.0
    return np.sum(rows[0] * rows[1] + rows[2])


@trap(*VECTORS)
def one_array_twice_in_a_list(x):
    c = x * x
    rows = [c, c, c[::-1]]
    for row in rows:
        row[0] *= 1.0 + row[1]
    return np.sum(rows[2] * x)


@trap(*VECTORS)
def list_grown_and_shrunk(x):
    c = x * 1.0
    stack = []
    for i in range(4):
        stack.append(c[i % 2] * x[0])
        c[1] *= stack[-1]
        stack.append(c)
    s = 0.0
    while stack:
        top = stack.pop()
        s = s + np.sum(top * top)
        if len(stack) == 2:
            stack[0] = s * 0.1
    return s


@trap(*VECTORS)
def list_of_numbers_written(x):
    t = [x[0] * x[1], x[1]]
    t[0] *= t[1]
    t.extend([t[0], x[0]])
    t += [x[1] * t[2]]
    t[-2] = t[0] + t[-1]
    del t[1]
    return sum(t) * t[0]


@trap(*VECTORS)
def dict_of_arrays(x):
    d = {"a": x * x, "s": x[0]}
    d["b"] = d["a"]
    d["b"][1] = np.sin(x[0])
    d["s"] *= x[1]
    d["a"] = d["a"] * 2.0
    d["b"] *= d["s"]
    return np.sum(d["a"] * d["b"])


@trap(*VECTORS)
def list_shared_by_two_names(x):
    t = [x[0]]
    u = t
    u.append(x[1] * x[0])
    t[0] = u[1] * u[0]
    return t[0] * u[-1] + len(u) * t[1]


# --- calls ---


def scale(values, k):
    values *= k


def rest(values):
    return values[1:]


def push(values, v):
    values[1:] = values[:-1]
    values[0] = v
    return values


def chosen(p, q):
    if p[0].real > q[0].real:
        return p
    return q


def mix(p, q):
    p[1:] += q[:-1]
    q *= p[0]
    return p


def bump(p):
    p += 1.0
    return p


@trap(*VECTORS)
def helper_writes(x):
    c = x * x
    scale(c, x[0])
    scale(c[1:], c[0])
    return np.sum(c * c)


@trap(*VECTORS)
def helper_returns_a_view(x):
    c = x * x
    rest(c)[0] = x[0]
    v = rest(rest(c))
    v *= c[1]
    return np.sum(c * c)


@trap(*VECTORS)
def helper_returns_what_it_wrote(x):
    c = x * x
    d = push(c, x[1])
    d[1] *= 2.0
    push(push(c, c[1]), x[0] * c[1])
    return np.sum(c * d)


@trap(*VECTORS)
def helper_returns_one_of_two(x):
    a, b = x * x, np.sin(x)
    for _ in range(3):
        y = chosen(a, b)
        y[0] *= 0.5
        y[1] = a[0] * b[0]
    return np.sum(a + b * b)


@trap(*VECTORS)
def arguments_of_a_helper_share_memory(x):
    a = x * x
    mix(a, a[::-1])
    mix(a[1:], a[:-1])
    mix(a, a)
    return np.sum(a * x)


@trap(*VECTORS)
def number_or_array(x):
    c = x * x
    s = np.sum(x)
    d, t = bump(c), bump(s)
    return np.sum(c * d) * t + s


@trap(*VECTORS)
def number_or_array_by_a_branch(x):
    c = x * x
    s = np.sum(x)
    for i in range(2):
        y = c if i == 0 else s
        y += x[0]
        y *= 2.0
        c[1] = np.sum(y)
    return np.sum(c) * s


@trap(*VECTORS)
def array_without_dimensions(x):
    z = np.array(x[0])
    y = z
    y += x[1]
    w = x[0] * 1.0
    v = w
    v += x[1]
    z[()] *= w
    return z * y + v * w


# --- the kinds of ../cases/mutation.py, in any shape ---


@trap(*VECTORS)
def filled_by_items(x):
    c = np.zeros(2, x.dtype)
    c[0] = x[0] * x[0]
    c[1] = x[1] * x[0] + x[-1]
    return c[0] * c[1]


@trap(*TABLES)
def filled_by_blocks(x):
    b = np.zeros((x.shape[0] + 1, x.shape[1] + 1), x.dtype)
    b[:-1, 1:] = x
    b[1:, 0] = x[:, 1] * b[0, 1]
    return np.sum(b * b)


@trap(*ANY)
def scratch_buffer(x):
    buf = np.zeros_like(x)
    total = 0.0
    for i in range(3):
        buf[:] = x * (i + 1)
        buf *= buf
        total = total + np.sum(buf) * np.sum(x)
    return total


@trap(*VECTORS)
def time_steps_in_one_array(x):
    u = np.zeros(6, x.dtype)
    u[0] = 1.0
    for t in range(5):
        u[t + 1] = u[t] + 0.1 * (x[0] * u[t] * (1.0 - u[t] / (3.0 + x[1] * x[1])))
    return u[-1]


@trap(*VECTORS)
def added_in_a_branch(x):
    n = len(x)
    s = np.zeros((n, n), x.dtype)
    for i in range(n):
        s[i, 1] = 1.0
        if i == 1:
            s[i, i] += x[i]
    return np.sum(s**2)


@trap(*MATRICES)
def elimination(x):
    n = len(x)
    a = x + 4.0 * np.eye(n)
    b = x[:, 0] * 1.0
    for k in range(n):
        for i in range(k + 1, n):
            m = a[i, k] / a[k, k]
            a[i, k:] -= m * a[k, k:]
            b[i] -= m * b[k]
    y = np.zeros(n, x.dtype)
    for i in range(n - 1, -1, -1):
        y[i] = (b[i] - np.dot(a[i, i + 1 :], y[i + 1 :])) / a[i, i]
    return np.sum(y * y)


def drawn(shape, seed):
    return np.random.default_rng(seed).normal(size=shape)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(("f", "shape"), TRAPS)
def test_trap(f, shape, seed):
    x = drawn(shape, seed)
    outcome = verify(f, (x,), each_stage=seed == 1, second=seed == 0)
    assert outcome.finite and not outcome.kink
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", s2s.FallbackWarning)
        value, gradient = s2s.value_and_grad(f)(x)
    np.testing.assert_array_equal(x, drawn(shape, seed))
    assert value == f(x.copy())
    np.testing.assert_allclose(gradient, complex_step(f, x), rtol=1e-11, atol=1e-12)


# --- arguments that share memory ---


def shifted_from_the_second(a, b):
    b[:] = a[:-1] * a[1:]
    return np.sum(np.sin(a))


def written_through_both(a, b):
    b *= a[0]
    a[1] = np.sin(a[2])
    return np.sum(a * a)


@pytest.mark.parametrize("n", [3, 6])
@pytest.mark.parametrize("f", [shifted_from_the_second, written_through_both])
def test_arguments_that_share_memory_are_right_or_refused(f, n):
    """All that these read of their arguments comes through the first: its gradient is that by the memory."""
    x = drawn((n,), 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", s2s.FallbackWarning)
        try:
            value, gradient = s2s.value_and_grad(f)(x, x[1:])
        except s2s.InplaceModificationError as refusal:
            assert "shares its memory" in str(refusal)
            gradient = None
    np.testing.assert_array_equal(x, drawn((n,), 0))
    if gradient is not None:
        y = x.copy()
        assert value == f(y, y[1:])
        np.testing.assert_allclose(gradient, complex_step(lambda a: f(a, a[1:]), x), rtol=1e-11)


def read_and_written(a, b):
    a[0] = b[0] * b[1]
    return np.sum(a * b)


def test_arguments_that_are_one_array_are_right_or_refused():
    x = drawn((4,), 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", s2s.FallbackWarning)
        try:
            value, both = s2s.value_and_grad(read_and_written, (0, 1))(x, x)
        except s2s.InplaceModificationError:
            both = None
    np.testing.assert_array_equal(x, drawn((4,), 0))
    if both is not None:
        y = x.copy()
        assert value == read_and_written(y, y)
        assert not np.shares_memory(*both)


# --- arguments in containers, and what stays as it was ---


def containers_written(p):
    p["w"][0] *= p["k"]
    p["k"] = p["k"] * 2.0
    p["rows"].append(p["w"][0])
    p["rows"][0] = np.sum(p["w"])
    return p["rows"][0] * p["rows"][-1] + p["k"] * p["rows"][1]


def test_containers_among_the_arguments_are_left_as_they_were():
    def given():
        return {"w": drawn((3,), 1), "k": 0.7, "rows": [0.3, 0.4]}

    p = given()
    assert verify(containers_written, (p,), second=True).second
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", s2s.FallbackWarning)
        gradient = s2s.grad(containers_written)(p)
    np.testing.assert_equal(p, given())
    assert gradient["rows"][0] == 0.0 and len(gradient["rows"]) == 2
    assert gradient["rows"][1] == 2 * 0.7


def test_a_global_buffer_is_left_as_the_function_leaves_it():
    buffer = np.zeros(3)

    def f(x):
        buffer[:] = x * x
        buffer[1] *= x[0]
        return np.sum(buffer * x)

    x = drawn((3,), 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", s2s.FallbackWarning)
        try:
            gradient = s2s.grad(f)(x)
        except (s2s.S2SError, TypeError):
            return  # refused, in words
    left = buffer.copy()
    f(x)
    np.testing.assert_array_equal(left, buffer)
    expected = 3 * x * x
    expected[1] = 3 * x[1] ** 2 * x[0]
    expected[0] += x[1] ** 3
    np.testing.assert_allclose(gradient, expected, rtol=1e-12)


def bound_under_a_condition(x, n):
    if n > 1:
        c = x * x
    s = 0.0
    for _ in range(3):
        if n > 1:
            c[0] *= x[1]
            s += np.sum(c)
    return s + np.sum(x)


@pytest.mark.parametrize("n", [0, 2])
def test_a_buffer_that_is_bound_under_a_condition(n):
    assert not verify(bound_under_a_condition, (drawn((3,), 0), n), second=True).raised
