"""Writes: leaves, saved values, views, and constants that join the graph."""

import numpy as np
import pytest

from s2s.autograd import Variable, backward, grad, gradcheck, no_grad
from s2s.errors import InplaceModificationError

DATA = np.array([2.0, 3.0, 5.0])


def leaf(data=DATA):
    return Variable(np.array(data), requires_grad=True)


def same(variable, expected):
    np.testing.assert_allclose(variable.data, expected, rtol=1e-12)


def test_leaf_that_requires_grad_is_not_written():
    x = leaf()
    with pytest.raises(InplaceModificationError, match="leaf"):
        x += 1.0
    with pytest.raises(InplaceModificationError, match="leaf"):
        x[0] = 1.0
    with pytest.raises(InplaceModificationError, match="leaf"):
        v = x[1:]
        v *= 2.0
    same(x, DATA)


def test_step_of_descent_keeps_the_leaf():
    x = leaf()
    np.sum(x * x).backward()
    with no_grad():
        x -= x.grad * 0.5
    assert x.is_leaf and x.requires_grad
    x.grad = None
    np.sum((x + 1.0) ** 2).backward()
    same(x.grad, [2.0, 2.0, 2.0])


def test_step_of_descent_on_a_number():
    w = Variable(3.0, requires_grad=True)
    (w * w).backward()
    with no_grad():
        w -= 0.25 * w.grad
    assert w.is_leaf and w.requires_grad and w.item() == 1.5


def test_overwritten_result_that_its_rule_reads():
    x = leaf()
    y = np.exp(x)
    y += 1.0
    with pytest.raises(InplaceModificationError, match=r"exp.*\+="):
        np.sum(y).backward()


def test_overwritten_operand_that_a_rule_reads():
    x, w = leaf(), Variable([1.0, 2.0, 3.0])
    y = np.sum(x * w)
    w[1:] *= 5.0
    with pytest.raises(InplaceModificationError, match="mul"):
        y.backward()


def test_views_share_the_version_of_their_base():
    x, w = leaf(), Variable([1.0, 2.0, 3.0])
    v = w[1:]
    y = np.sum(x[1:] * v)
    w.fill(0.0)
    with pytest.raises(InplaceModificationError):
        y.backward()


def test_what_no_rule_reads_may_be_overwritten():
    x = leaf()
    y = x + 1.0
    y *= 2.0
    y += x
    np.sum(y).backward()
    same(x.grad, [3.0, 3.0, 3.0])


def test_old_value_is_kept_where_the_operation_itself_reads_it():
    x, w = leaf(), leaf([1.0, 2.0, 4.0])
    y = x + 0.0
    y *= w
    y /= x
    np.sum(y * np.array([1.0, 10.0, 100.0])).backward()
    same(x.grad, np.zeros(3))
    same(w.grad, [1.0, 10.0, 100.0])


def test_constant_joins_the_graph():
    x = leaf(3.0)
    c = Variable([1.0, 1.0, 1.0])
    c[1] = x * x
    c += x
    np.sum(c * np.array([1.0, 10.0, 100.0])).backward()
    same(x.grad, 60 + 111.0)
    assert c.requires_grad


def test_view_of_a_constant_joins_with_it():
    x = leaf(3.0)
    c = Variable(np.ones(3))
    v = c[1:]
    c[1] = x
    assert v.requires_grad
    (v[0] * 2.0).backward()
    same(x.grad, 2.0)


def test_write_through_a_view_reaches_the_base():
    x, w = leaf(), leaf(2.0)
    c = x * 1.0
    v = c[1:]
    v *= w
    same(c, [2.0, 6.0, 10.0])
    np.sum(c).backward()
    same(x.grad, [1.0, 2.0, 2.0])
    same(w.grad, 8.0)


def test_write_to_the_base_reaches_older_views():
    x = leaf()
    c = x * 1.0
    v, w = c[1:], c[:2]
    c[1] = 10.0 * x[0]
    v *= 3.0
    np.sum(w).backward()
    # w is (x0, 30 x0)
    same(x.grad, [31.0, 0.0, 0.0])


def test_views_of_views_and_reshaped_views():
    x = leaf(np.arange(12.0).reshape(3, 4))
    c = x * 1.0
    v = c.T[1:][1:]
    v[0] *= x[:, 0]
    row = c[1]
    row += row.clone() * row.clone()
    expected = Variable(x.data, requires_grad=True)

    def functional(x):
        a = x[:, 2] * x[:, 0]
        b = np.stack([x[:, 0], x[:, 1], a, x[:, 3]], axis=1)
        return np.stack([b[0], b[1] + b[1] * b[1], b[2]])

    weights = np.arange(1.0, 13.0).reshape(3, 4)
    want = functional(expected)
    same(c, want.data)
    np.sum(c * weights).backward()
    np.sum(want * weights).backward()
    same(x.grad, expected.grad.data)


def test_write_through_a_reshaped_view_of_a_transposed_array():
    x = leaf(np.arange(6.0).reshape(2, 3))
    c = (x * 1.0).T.copy()
    flat = c.reshape(-1)
    flat[1:4] *= 2.0
    np.sum(c * np.arange(6.0).reshape(3, 2)).backward()
    scale = np.array([[1.0, 2.0], [2.0, 2.0], [1.0, 1.0]]) * np.arange(6.0).reshape(3, 2)
    same(x.grad, scale.T)


@pytest.mark.parametrize("index", [[0, 0, 1], np.array([2, 1, 2]), ([0, 0, 2],)])
def test_assignment_at_repeated_indices_is_last_wins(index):
    base = np.zeros(3)
    numbers = np.arange(3)
    base[index] = numbers
    winners = np.isin(numbers, base[np.unique(np.concatenate([np.atleast_1d(i) for i in np.atleast_1d(index)]))])
    x = leaf()
    c = Variable(np.ones(3))
    c[index] = x
    np.sum(c * np.array([1.0, 10.0, 100.0])).backward()
    weights = np.array([1.0, 10.0, 100.0])[index]
    same(x.grad, np.where(winners, weights, 0.0))


def test_augmented_assignment_at_repeated_indices():
    x = leaf()
    c = Variable(np.ones(2))
    c[[0, 0, 1]] += x
    np.sum(c * c).backward()
    same(x.grad, [0.0, 8.0, 12.0])


def test_adding_at_repeated_indices_accumulates():
    x = leaf()
    c = Variable(np.ones(2))
    np.add.at(c, [0, 0, 1], x)
    same(c, [6.0, 6.0])
    np.sum(c * c).backward()
    same(x.grad, [12.0, 12.0, 12.0])


def test_adding_a_list_of_values_at_indices():
    x = leaf()
    c = Variable(np.ones(3))
    np.add.at(c, [0, 0, 1], [x[0], 2.0, x[1]])
    np.subtract.at(c, [2, 2], 0.5)
    np.subtract.at(c, [2, 0], [x[2], x[2]])
    same(c, [0.0, 4.0, -5.0])
    np.sum(c * c).backward()
    same(x.grad, [0.0, 8.0, 10.0])


def test_masked_assignment():
    x = leaf()
    c = x * 2.0
    c[x.data > 2.5] = 7.0
    np.sum(c).backward()
    same(x.grad, [2.0, 0.0, 0.0])


def test_assigned_values_are_broadcast():
    def f(v, row):
        c = v * 1.0
        c[:, 1:] = row
        c[0] = row[0, 0]
        return c * c

    rng = np.random.default_rng(1)
    assert gradcheck(f, [Variable(rng.normal(size=s), requires_grad=True) for s in [(2, 3), (1, 2)]])


def test_second_derivatives_through_writes():
    x = leaf([0.4, 0.6, 1.0])
    c = Variable(np.zeros(3))
    for i in range(3):
        c[i] = x[i] ** 2
    c *= x
    c[1:] += c[:-1] + 0.0
    (g,) = grad(np.sum(c * c), x, create_graph=True)
    h = np.stack([grad(g[i], x, retain_graph=True)[0].data for i in range(3)])
    a, d, dd = x.data**3, 3 * x.data**2, 6 * x.data
    slope = np.array([2 * (2 * a[0] + a[1]), 2 * (a[0] + 2 * a[1] + a[2]), 2 * (a[1] + a[2])])
    outer = np.array([[4.0, 2.0, 0.0], [2.0, 4.0, 2.0], [0.0, 2.0, 2.0]]) * np.outer(d, d)
    np.testing.assert_allclose(g.data, slope * d)
    np.testing.assert_allclose(h, outer + np.diag(slope * dd))


def test_second_derivatives_through_a_written_view():
    x = leaf()
    c = x * x
    v = c[1:]
    v *= x[0]
    (g,) = grad(np.sum(c * c), x, create_graph=True)
    backward(np.sum(g))
    x0, x1, x2 = DATA
    # the function is x0^4 + x0^2 (x1^4 + x2^4)
    expected = [
        12 * x0**2 + 2 * (x1**4 + x2**4) + 8 * x0 * (x1**3 + x2**3),
        8 * x0 * x1**3 + 12 * x0**2 * x1**2,
        8 * x0 * x2**3 + 12 * x0**2 * x2**2,
    ]
    same(x.grad, expected)


def test_detached_value_counts_writes_too():
    x = leaf()
    y = np.exp(x)
    y.detach()[0] = 1.0
    with pytest.raises(InplaceModificationError):
        np.sum(y).backward()


def test_numbers_are_changed_through_the_variable():
    x = leaf(3.0)
    y = x * x
    z = y
    z += x
    assert z is y
    y.backward()
    same(x.grad, 7.0)


def test_writing_functions_of_numpy():
    x = leaf()
    c = x * 1.0
    np.put(c, [0], [9.0])
    np.copyto(c, x * 2.0, where=np.array([False, True, False]))
    same(c, [9.0, 6.0, 5.0])
    np.sum(c).backward()
    same(x.grad, [0.0, 2.0, 1.0])


@pytest.mark.parametrize(
    "write",
    [
        lambda c, v: np.put(c, [1, 1, 7], v),
        lambda c, v: np.put(c, [-1, 4, 12], v[:2], mode="wrap"),
        lambda c, v: c.put([2, 5], v[0]),
        lambda c, v: np.putmask(c, c > 0.4, v),
        lambda c, v: np.place(c, np.arange(9.0).reshape(3, 3) % 2 > 0, v),
        lambda c, v: np.fill_diagonal(c, v),
        lambda c, v: np.fill_diagonal(c[1:, :2], v[2]),
        lambda c, v: np.fill_diagonal(c, np.sum(v)),
        lambda c, v: np.put(c, [0, 5], [v[0], 2.0]),
        lambda c, v: np.put_along_axis(c, np.array([[2, 0, 2]]), v[None], axis=0),
        lambda c, v: np.put(c.T, [0, 1, 5], v),
    ],
)
def test_functions_that_write_values_with_gradients(write):
    def f(a, v):
        c = a * v
        write(c, v * v)
        return c * c

    rng = np.random.default_rng(2)
    given = [Variable(rng.normal(size=s), requires_grad=True) for s in [(3, 3), (3,)]]
    plain = f(*(v.data for v in given))
    same(f(*given), plain)
    assert gradcheck(f, given)


@pytest.mark.parametrize(
    "write",
    [
        lambda c, v: c.flat.__setitem__(4, v[1]),
        lambda c, v: c.flat.__setitem__(slice(1, 4), v),
        lambda c, v: c.flat.__setitem__([0, 0, 5, 3], v[:2]),
        lambda c, v: c.T.flat.__setitem__(slice(None, None, 2), v),
        lambda c, v: setattr(c.T, "flat", v),
        lambda c, v: c[:, ::-1].flat.__setitem__(-1, 2.0),
        lambda c, v: c.flat[2:5].__imul__(v),
        lambda c, v: c.__iadd__(np.sum(c.flat) + sum(c.T.flat) * np.sin(v)),
    ],
)
def test_flat_is_read_by_copies_and_written_through(write):
    def f(a, v):
        c = a * v
        write(c, v * v)
        return c * c

    rng = np.random.default_rng(2)
    given = [Variable(rng.normal(size=s), requires_grad=True) for s in [(3, 3), (3,)]]
    same(f(*given), f(*(v.data for v in given)))
    assert gradcheck(f, given)


def test_flat_shows_later_writes():
    x = leaf()
    c = np.zeros((2, 2)) + x[0]
    row = c.T.flat
    assert next(row) is not None
    c[0, 1] = x[1] * x[1]
    backward(row[2] * 3.0)
    same(x.grad, [0.0, 18.0, 0.0])


def test_a_write_through_a_view_keeps_the_cotangent_that_a_leaf_gives():
    x, g, d = (np.random.default_rng(i).normal(size=4) for i in range(3))
    v, seed = Variable(x, requires_grad=True), Variable(g, requires_grad=True)
    y = v.clone()
    y[:2] *= 3.0
    (by_v,) = grad(y, v, seed, create_graph=True)
    (by_seed,) = grad(by_v, seed, Variable(d))
    np.testing.assert_allclose(by_v.detach().numpy(), g * [3, 3, 1, 1])
    np.testing.assert_allclose(by_seed.numpy(), d * [3, 3, 1, 1])


WINDOWS = np.lib.stride_tricks
SEEN = {
    "sliding_window_view": lambda c: WINDOWS.sliding_window_view(c, 2),
    "broadcast_to": lambda c: np.broadcast_to(c, (2, 4)),
    "einsum": lambda c: np.einsum("ij->ji", c.reshape(2, 2)),
    "rot90": lambda c: np.rot90(c.reshape(2, 2)),
    "diagonal": lambda c: np.diagonal(c.reshape(2, 2)),
    "atleast_3d": lambda c: np.atleast_3d(c),
}


@pytest.mark.parametrize("name", SEEN)
def test_views_see_what_is_written_into_their_base(name):
    def f(x):
        c = x * 1.0
        view = SEEN[name](c)
        c[1] = x[0] * x[2]
        return np.sum(view**3)

    x = np.random.default_rng(2).normal(size=4)
    v = Variable(x, requires_grad=True)
    (g,) = grad(f(v), v)
    h = 1e-6
    expected = [(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(4)]
    np.testing.assert_allclose(g.numpy(), expected, rtol=1e-6, atol=1e-8)


def test_views_that_may_hold_an_element_twice_are_not_written_into():
    c = Variable(np.random.default_rng(3).normal(size=4), requires_grad=True).clone()
    window = WINDOWS.sliding_window_view(c, 2, writeable=True)
    with pytest.raises(InplaceModificationError, match="an element may stand several times"):
        window[0, 0] = 5.0
