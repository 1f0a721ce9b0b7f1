"""Variables that may not be assigned yet where the gradient needs them are bound to `absent`, and asked for by name."""

import numpy as np
import pytest

import s2s
from tests.programs.verify import verify


def bound_in_the_first_round(x, n):
    for i in range(n):
        if i == 0:
            late = x * 2.0
        late[i] *= x[0]
        late = np.sin(late) * x
    return np.sum(late * late)


def a_view_bound_in_some_round(x, n):
    c = x * x
    s = 0.0
    for i in range(n):
        if i == 1:
            part = c[1:]
        c[0] += x[i] * c[1]
        if i >= 1:
            part *= np.cos(c[0])
            s = s + part[0]
    return s * np.sum(c)


def one_of_two_buffers(x, n):
    a, b = x * 1.0, x * 2.0
    for i in range(n + 1):
        if x[i] > 0.0:
            last = a if i < 2 else b
        elif i == 0:
            last = b
        a[i] *= x[1]
        last[0] = last[0] * x[i] + a[1]
        b[1:] += last[:-1]
    return np.sum(a * b) + last[1]


def a_list_bound_late(x, n):
    s = 1.0
    for i in range(n):
        if i == 0:
            held = [x * 1.0]
        held.append(held[-1] * x[i])
        held[0][i] = s * x[1]
        s = s + np.sum(held[-1] * held[0])
    return s + np.sum(held[1])


def a_number_bound_late(x, n):
    s, i = x[0], 0
    while i < n:
        if i == 0:
            scale = np.sin(x[1])
        elif s > 0.4:
            scale = scale * s
        s = s + scale * x[i] * s
        i += 1
    return s * scale


def never_read_unbound(x, n):
    found = False
    y = x * x
    for i in range(4):
        y[i] *= x[0]
        if i == n:
            at, found = y * x[i], True
        if found:
            at[i] += y[i]
    return np.sum(at * y) if found else np.sum(y)


def a_view_whose_shape_is_read(x, n):
    c, s = x * 1.0, x * 0.5
    for i in range(n):
        c[n] *= 1.5
        if i == 1:
            part = c[:i]
        c[i] = x[0]
        if i > 0:
            s = s + part
    return np.sum(s * c * s)


def last_of(items, k):
    for item in items:
        item *= k
    return item[0] * item[1]


def called_in_a_loop(x, n):
    s, y = 0.0, x * 1.0
    for i in range(n):
        s = s + last_of([y, x * s + 1.0][: i + 1], x[i])
    return s + y[0]


PROGRAMS = [
    bound_in_the_first_round, a_view_bound_in_some_round, one_of_two_buffers, a_list_bound_late, a_number_bound_late,
    never_read_unbound, called_in_a_loop, a_view_whose_shape_is_read,
]  # fmt: skip


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_variables_that_are_bound_late(f, n):
    rng = np.random.default_rng(n)
    for seed in range(2):
        x = np.concatenate([[0.9], rng.uniform(-1.2, 1.2, 4)])
        outcome = verify(f, (x, n), second=True, seed=seed)
        assert outcome.compiled, outcome.reason
        assert outcome.finite and outcome.second and not outcome.raised and not outcome.kink, outcome


def sometimes_unbound(x, n):
    for i in range(n):
        if x[i] > 0.5:
            last = x * x
        last[i] *= 2.0
    return np.sum(last)


@pytest.mark.parametrize("f", [sometimes_unbound, bound_in_the_first_round, called_in_a_loop], ids=lambda f: f.__name__)
def test_what_is_read_unbound_raises_as_in_python(f):
    x = np.array([0.2, 0.9, -0.3])
    df = s2s.grad(f, strict=True)
    for n in (0, 1, 2):
        if f is called_in_a_loop:
            x, n = np.zeros((0,)), 1
        try:
            f(x.copy(), n)
        except (UnboundLocalError, IndexError) as error:
            with pytest.raises(type(error)) as caught:
                df(x, n)
            assert str(caught.value) == str(error)
            with pytest.raises(type(error)):
                s2s.jvp(f, (x, n), (x, None), strict=True)


def test_an_unbound_read_in_an_inlined_function_is_not_the_variable_of_an_earlier_call():
    def last(items):
        for item in items:
            item *= 2.0
        return np.sum(item)

    def f(x, n):
        y, s = x * 1.0, 0.0
        for i in range(n):
            s = s + last([y, y * x][i:])
        return s

    x = np.array([0.3, 0.7])
    assert verify(f, (x, 2), second=True).compiled
    with pytest.raises(UnboundLocalError, match="'item'"):
        s2s.grad(f, strict=True)(x, 3)


def test_variables_that_the_gradient_does_not_need_stay_as_they_are():
    def f(x, n):
        for i in range(n):
            y = x * i
        return np.sum(x * x) + y[0]

    assert "absent" not in s2s.grad(f, strict=True).source(np.ones(3), 2)


def test_no_shape_goes_by_a_variable_that_is_unbound_on_some_way():
    def f(x):
        if np.any(x > 9.0):
            y = x
            x[1:3] *= y[1:3]
        x[2:] *= x.mean()
        if x[3] > 0.1:
            x[1:3] *= np.sum(x)
            x = np.cumsum(x)[::-1]
        return np.sum(x * x)

    rng = np.random.default_rng(0)
    for x in (rng.uniform(0.2, 1.0, 4), rng.uniform(8.0, 10.0, 5), -rng.uniform(0.2, 1.0, 4)):
        gradient = s2s.grad(f)
        moved = [(gradient(x + 1e-6 * e) - gradient(x - 1e-6 * e)) / 2e-6 for e in np.eye(len(x))]
        np.testing.assert_allclose(s2s.hessian(f)(x), moved, rtol=1e-5, atol=1e-6 * np.max(np.abs(moved)))
