"""Calls that stay, of functions that write into their arguments: recursion over buffers, long helpers."""

import numpy as np
import pytest

import s2s
from s2s.autograd.record import tape_value_and_grad
from s2s.errors import FallbackWarning
from s2s.transforms import inline as inlining
from tests.api.slopes import slope


def agrees(f, x, strict=True, rtol=1e-6):
    """The value and gradient of f against differences and forward mode; x is left as it was."""
    before = x.copy()
    value, gradient = s2s.value_and_grad(f, strict=strict)(x)
    np.testing.assert_array_equal(value, f(x.copy()))
    np.testing.assert_allclose(gradient, slope(lambda x: f(x.copy()), before), rtol=rtol, atol=1e-7)
    np.testing.assert_array_equal(x, before)
    dot = np.cos(np.arange(x.size)).reshape(x.shape)
    out, out_dot = s2s.jvp(f, (x,), (dot,), strict=strict)
    np.testing.assert_array_equal(out, value)
    np.testing.assert_allclose(out_dot, np.sum(gradient * dot), rtol=1e-9, atol=1e-12)
    _, pullback = s2s.vjp(f, x, strict=strict)
    for _ in range(2):
        np.testing.assert_allclose(pullback(2.0)[0], 2 * gradient, rtol=1e-12)
    np.testing.assert_array_equal(x, before)


def on_the_tape(f, x, reason):
    with pytest.raises(s2s.S2SError, match=reason):
        s2s.grad(f, strict=True)(x)
    with pytest.warns(FallbackWarning):
        gradient = s2s.grad(f)(x)
    np.testing.assert_allclose(gradient, slope(lambda x: f(x.copy()), x), rtol=1e-6, atol=1e-7)


# --- functions that write into their arguments ---


def fill(a, i, v):
    if i < len(a):
        a[i] = v * a[i - 1]
        fill(a, i + 1, np.sin(v))


def halve(a, lo, hi):
    """Sums of pairs, in place, over a tree of ranges."""
    if hi - lo > 1:
        mid = (lo + hi) // 2
        halve(a, lo, mid)
        halve(a, mid, hi)
        a[lo:mid] *= a[mid:hi][: mid - lo].sum()
        a[mid:hi] += a[lo]


def bump(a, n):
    a *= 1.1
    a[0] = a[1] * n
    return np.sum(a * a) if n == 0 else bump(a, n - 1) * 2


def swap_sums(a, b, n):
    a += b
    b[0] = a[-1] * b[0]
    if n > 0:
        swap_sums(b, a, n - 1)


def counts(k, x, n):
    k[n] += 1
    return x * k[0] if n == 0 else counts(k, x * k[n], n - 1) * k[0]


def even(a, n):
    if n > 0:
        a[n % len(a)] *= a[0]
        odd(a, n - 1)


def odd(a, n):
    if n > 0:
        a[n % len(a)] += np.cos(a[-1])
        even(a, n - 1)


def grow(a, n):
    a = a * 2.0 if n == 2 else a
    a[0] = a[-1] ** 2
    return np.sum(a) if n == 0 else grow(a, n - 1)


X = np.array([0.7, -0.3, 1.2, 0.4])


@pytest.mark.parametrize("x", [X, X[:3] * 0.5, np.linspace(0.2, 0.9, 7)[::2]])
@pytest.mark.parametrize("helper", [fill, halve, bump, even, grow])
def test_recursion_over_a_buffer(helper, x):
    calls = {
        fill: lambda y: fill(y, 0, 0.5), halve: lambda y: halve(y, 0, len(y)), bump: lambda y: bump(y, 2),
        even: lambda y: even(y, 5), grow: lambda y: grow(y, 3),
    }  # fmt: skip
    call = calls[helper]

    def f(x):
        y = x * x
        s = call(y)
        return np.sum(np.sin(y)) if s is None else s * np.sum(y * x)

    agrees(f, x)


def test_the_argument_of_the_differentiated_function_is_written():
    def f(x):
        fill(x, 1, 0.5)
        return np.sum(x**2)

    agrees(f, X)


def test_views_are_seen_to():
    def f(x):
        y = x * 1.0
        v, w = y[1:], y[::-1]
        s = bump(v, 2)
        fill(w, 1, 0.9)
        return s * np.sum(y * y) + np.sum(v**3) + w[0] * y[0]

    agrees(f, X)


def test_two_arguments_that_are_written():
    def f(x):
        a, b = x * 1.0, np.cos(x)
        swap_sums(a, b, 3)
        return np.sum(a * b)

    agrees(f, X)


def test_matrices_and_rows():
    def f(x):
        m = x * 1.0
        for i in range(m.shape[0]):
            fill(m[i], 1, m[0, 0])
        halve(m.T[0], 0, m.shape[0])
        return np.sum(m**2)

    agrees(f, np.arange(12.0).reshape(3, 4) / 7)


def test_calls_in_loops_and_branches():
    def f(x):
        y = x * 1.0
        s = 0.0
        for i in range(3):
            if y[0] > 0.1:
                s = s + bump(y, i)
            else:
                fill(y, 1, x[i])
            y = y * x
            if s > 1e3:
                break
        return s + np.sum(y)

    agrees(f, X)
    agrees(f, -X)


def test_what_was_read_before_the_call_is_there_again():
    def f(x):
        y = np.exp(x)
        before = y * y
        total = np.sum(y**3)
        fill(y, 0, 0.3)
        return total * np.sum(before) + np.sum(y * before)

    agrees(f, X)


def test_integers_that_are_written():
    def f(x):
        k = np.array([1, 2, 3])
        y = counts(k, x, 2)
        return np.sum(y) * np.sum(k) * k[1]

    agrees(f, X)


def test_other_precisions_and_complex_numbers():
    def f(x):
        y = x * x
        fill(y, 1, x[0])
        return np.sum(y * y)

    got = s2s.grad(f, strict=True)(X.astype(np.float32))
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, s2s.grad(f, strict=True)(X), rtol=1e-4)

    def g(x):
        z = x * (1.0 + 2.0j)
        fill(z, 1, 0.3)
        return np.sum(np.abs(z) ** 2)

    agrees(g, X)


def test_second_derivatives():
    def f(x):
        y = x * x
        fill(y, 1, 0.8)
        return np.sum(np.sin(y))

    hess = np.array([slope(lambda x: s2s.grad(f)(x)[i], X, 1e-5) for i in range(4)])  # noqa: B023
    np.testing.assert_allclose(s2s.jacobian(s2s.grad(f))(X), hess, rtol=1e-5, atol=1e-6)


def test_long_helpers(monkeypatch):
    def smooth(a, k):
        a[1:-1] += k * (a[2:] - 2 * a[1:-1] + a[:-2])
        a[0] = a[1] * a[2]
        a[-1] *= k

    def f(x):
        y = x * 1.0
        k = 0.25
        for _ in range(3):
            smooth(y, k)
            k = k * y[0]
        return np.sum(y * y)

    inlined = s2s.value_and_grad(f, strict=True)(X)
    monkeypatch.setattr(inlining, "LONG", 1)

    def again(x):
        y = x * 1.0
        k = 0.25
        for _ in range(3):
            smooth(y, k)
            k = k * y[0]
        return np.sum(y * y)

    assert "smooth_fwd" in s2s.grad(again, strict=True).source(X)
    agrees(again, X)
    value, gradient = s2s.value_and_grad(again, strict=True)(X)
    assert value == inlined[0]
    np.testing.assert_allclose(gradient, inlined[1], rtol=1e-13)


# --- what copies could not tell is left to the tape ---


def returned(a, n):
    a[0] = a[1] * 2.0
    return a if n == 0 else returned(a, n - 1)


def reading(a, v, n):
    a[0] = v[0] * 2.0
    return v[0] * a[1] if n == 0 else reading(a, v, n - 1)


def appending(items, n):
    items.append(items[-1] * 0.5)
    if n > 0:
        appending(items, n - 1)


def test_a_result_that_may_share_memory_with_what_was_written():
    def f(x):
        y = x * 1.0
        z = returned(y, 2)
        z[1] = 3.0 * x[0]
        return np.sum(y * y)

    on_the_tape(f, X, "returns what may share memory")


def test_arguments_that_share_memory_with_what_is_written():
    def same(x):
        y = x * 1.0
        return reading(y, y, 2)

    def view(x):
        y = x * 1.0
        return reading(y, y[0:2], 2)

    def chosen(x):
        y = x * 1.0
        v = y if x[0] > 0.0 else x * 2.0
        return reading(y, v, 2)

    def apart(x):
        y = x * 1.0
        return reading(y, x * 2.0, 2)

    for f in (same, view, chosen):
        on_the_tape(f, X, "whose memory `v` may share")
    agrees(apart, X)


def test_lists_that_are_written():
    def f(x):
        items = [x * 2.0]
        appending(items, 2)
        return np.sum(items[0] * items[-1])

    on_the_tape(f, X, "writes into its argument `items`")


def test_effects_happen_once():
    seen = []

    def noted(a, n):
        a[n] = a[n] * 2.0
        seen.append(n)
        if n > 0:
            noted(a, n - 1)

    def f(x):
        y = x * 1.0
        noted(y, 2)
        return np.sum(y * y)

    np.testing.assert_allclose(s2s.grad(f, strict=True)(X), 2 * X * np.array([4.0, 4.0, 4.0, 1.0]))
    assert seen == [2, 1, 0]


def test_an_exception_passes():
    def raising(a, n):
        a[0] = a[1] * n
        if n == 0:
            raise KeyError("the user's own")
        raising(a, n - 1)

    def f(x):
        y = x * 1.0
        raising(y, 2)
        return np.sum(y)

    with pytest.raises(KeyError, match="the user's own"):
        s2s.grad(f, strict=True)(X)


# --- what may not be written into, and defaults ---


def sets_first(x):
    x[0] = 1.0
    return np.sum(x * x)


def doubles(x):
    x *= 2.0
    return np.sum(x * x)


def sets_item(x):
    table = {"w": x}
    table["w"][1] = 3.0
    return np.sum(table["w"] ** 2)


def read_only(x):
    x = x.copy()
    x.flags.writeable = False
    return x


@pytest.mark.parametrize("f", [sets_first, doubles, sets_item])
@pytest.mark.parametrize("make", [read_only, lambda x: np.broadcast_to(x[:1], x.shape), lambda x: read_only(x)[::-1]])
def test_what_may_not_be_written_into_raises_as_it_does_without_a_gradient(f, make, rng):
    x = make(rng.normal(size=4))
    with pytest.raises(ValueError, match="read-only"):
        f(x)
    taped = lambda x: tape_value_and_grad(f, ["x"], (x,))  # noqa: E731
    for derivative in (s2s.grad(f), s2s.value_and_grad(f), taped, lambda x: s2s.vjp(f, x)):
        with pytest.raises(ValueError, match="read-only"):
            derivative(x)


def test_defaults_that_are_written_into_stay_as_they_are(rng):
    def scaled(x, w=np.ones(3)):  # noqa: B008
        w *= 2
        return np.sum(w * x * x)

    def collected(x, found=[]):  # noqa: B006
        found.append(x * x)
        return np.sum(found[0] * x) * len(found)

    x = rng.normal(size=3)
    for f, want in ((scaled, 4 * x), (collected, 3 * x * x)):
        gradient = s2s.grad(f, strict=True)
        for _ in range(2):
            np.testing.assert_allclose(gradient(x), want, rtol=1e-12)
    np.testing.assert_array_equal(scaled.__defaults__[0], np.ones(3))
    assert collected.__defaults__ == ([],)
