"""Writes into memory, compiled: gradients, values, tangents and second derivatives against differences."""

import numpy as np
import pytest

import s2s
from s2s.errors import FallbackWarning, UnsupportedSyntaxError
from s2s.runtime import stores


def items(x, n):
    c = np.zeros(n)
    for i in range(n):
        c[i] = x[i] * c[i - 1] + np.sin(x[0])
    return np.sum(c * c)


def stepping(x, n):
    u = np.zeros(n + 1)
    u[0] = x[0]
    for t in range(n):
        u[t + 1] = u[t] + 0.1 * (x[1] * u[t] * (1.0 - u[t] / 3.0))
    return u[-1] * u[1]


def overlapping(x, n):
    c = x * 1.0
    for _ in range(n):
        c[:-1] += c[1:] * c[0]
        c[1:] = c[:-1]
    return np.sum(np.tanh(c))


def whole(x, n):
    c = np.sin(x)
    d = c * x
    for _ in range(n):
        c *= d
        c -= 0.3 * c[::-1]
        c /= 2.0 + x
    return np.sum(c * d)


def another_name(x, n):
    c = x * 1.0
    y = c
    y += x
    return np.sum(c * c) + np.sum(y)


def view_of_a_view(x, n):
    c = x * x
    v = c[1:]
    w = v[::-1]
    w[0] *= x[0]
    v[1] = w[0] * c[0]
    c *= 0.5
    return np.sum(c * x) + np.sum(w) * v[0]


def transposed(x, n):
    a = np.outer(x, np.cos(x))
    t = a.T
    t[0] = x * 2.0
    a[1] *= t[1]
    return np.sum(a * a) + np.sum(t[2])


def rows(x, n):
    a = np.outer(x, x) + 4.0 * np.eye(len(x))
    b = x * 1.0
    for k in range(len(x)):
        for i in range(k + 1, len(x)):
            m = a[i, k] / a[k, k]
            row = a[i]
            row -= m * a[k]
            b[i] -= m * b[k]
    return np.sum(b) + np.sum(a)


def swapped(x, n):
    a, b = x * 1.0, np.zeros(len(x))
    for _ in range(n):
        b[1:] = np.sin(a[:-1]) * a[1:]
        b[0] = a[-1]
        a, b = b, a
    return np.sum(a * a) + np.sum(b)


def scratch(x, n):
    total = 0.0
    buf = np.empty(len(x))
    for i in range(n):
        buf[:] = x * (i + 1)
        buf *= buf
        total = total + np.sum(buf) * np.sum(x)
    return total


def masked(x, n):
    r = np.copy(x)
    r[x > 0.2] = np.log(1.0 + np.exp(x[x > 0.2]))
    r[x <= 0.2] *= 0.1
    return np.sum(r * r)


def repeated(x, n):
    c = np.ones(2)
    c[[0, 0, 1]] = x[:3]
    c[[1, 1, 0]] += x[1:4]
    np.add.at(c, [0, 0, 1], x[:3] * x[0])
    np.subtract.at(c, [1, 1, 0], x[:3])
    return np.sum(c * c)


def functions(x, n):
    c = np.empty_like(x)
    np.copyto(c, x * 2.0)
    np.multiply(c, x, out=c)
    d = np.add(c, x, out=np.empty_like(x))
    np.tanh(d, d)
    np.subtract(x, d, d[:])
    d.put([0, 2], x[:2] * c[0])
    e = np.zeros(len(x))
    e.fill(x[0])
    d.sort()
    return np.sum(d * np.arange(1.0, len(x) + 1)) + np.sum(c * e)


def left_early(x, n):
    c = np.zeros(len(x))
    for i in range(len(x)):
        c[i] = np.sin(x[i])
        if c[i] > 0.9:
            break
        c *= x[0]
    return np.sum(c * c)


def in_branches(x, n):
    c = x * 1.0
    if x[0] > 0.0:
        c[0] = x[1] * x[2]
    else:
        c[1:] *= c[0]
        c *= c
    return np.sum(c * x)


def arguments(x, n):
    x[0] = x[1] * 2.0
    x *= x
    return np.sum(x)


def scale(v, k):
    v *= k
    return v[1:]


def helpers(x, n):
    c = x * x
    tail = scale(c, x[0])
    tail += 1.0
    return np.sum(c * c)


def listed(x, n):
    xs = []
    for i in range(n):
        x = x + np.sin(x) * 0.3
        xs.append(x * x)
    return np.sum(np.stack(xs) ** 2)


def stacked(x, n):
    waiting = []
    for i in range(n + 2):
        waiting.append(x * (i + 1.0))
    r = 0.5
    while len(waiting) > 1:
        u = waiting.pop()
        r = r + np.sum(np.sin(u) * u) * r * 0.1
        if len(waiting) > 2:
            waiting.pop()
    return r + np.sum(waiting[0])


def keyed(x, n):
    d = {"a": x, "b": 0.5}
    for _ in range(n):
        d["b"] = d["b"] + np.sum(d["a"]) * d["b"] * 0.1 + 1.0
        d["a"] = d["a"] * np.cos(d["a"])
    d["c"] = d["a"][0] * d["b"]
    return d["b"] * d["c"]


def comprehended(x, n):
    out = [v * v for v in x if v > 0.2]
    t = 0.0
    for i, o in enumerate(out):
        t += o * (i + 1)
    return t


def items_of_a_list(x, n):
    c = [0.5] * 4
    for i in range(n):
        c[i] = x[i] * c[i - 1] + x[0]
        c[i] += x[1]
    return c[0] * c[1] + c[2]


def flat(x, n):
    m = np.outer(x, x)
    m.flat[3] = x[0] * 2.0
    m.flat[1:4] = np.sin(x[:3])
    m.flat[[0, 5, 0]] = x[1:4]
    m.flat[7] *= m.flat[3] + x[1]
    m.flat[2 : 2 + len(x)] += x
    return np.sum(np.tanh(m) * np.arange(m.size).reshape(m.shape))


def put_and_filled(x, n):
    m = np.outer(x, np.cos(x))
    np.fill_diagonal(m, x * 2.0)
    np.fill_diagonal(m, x[1])
    np.put(m, [1, 1, 3], x[:3])
    np.put(m, [2, 4, 6, 7, 8], x[:2] * x[0])
    np.copyto(m, x * 3.0, where=m > 0.3)
    np.putmask(m, m < -0.5, x[2])
    np.place(m, m > 2.0, x[0])
    return np.sum(np.tanh(m) * np.arange(m.size).reshape(m.shape))


def put_of_its_own_memory(x, n):
    c = x * x
    np.put(c, [1, 1, 3], c[:0:-1])
    c.put([0, 2], c[1:3])
    np.add.at(c, [0, 0, 2], c[:3])
    v = c[::-1]
    np.subtract.at(v, [1, 0], c[1:3])
    for i in range(n):
        np.add.at(c, [i, 0], v[:2])
    return np.sum(np.sin(c) * x)


def without_dimensions(x, n):
    z = np.array(x[0])
    z *= x[1]
    z[()] += x[2]
    z[...] = z * z
    z += x[0]
    return np.sum(x * z) + z * 2.0


def without_dimensions_seen_whole(x, n):
    z = np.array(sum([x[0], x[1], x[0] * x[1]]))
    old = z[...]
    z[...] *= x[2]
    y = np.asarray(x[0] + x[1])
    y[...] = y[...] * old + np.atleast_1d(x[0] * 2.0)[0]
    m = x * x
    part = m[..., 1]
    part *= x[0]
    return z * y + np.sum(m)


def without_dimensions_in_a_loop(x, n):
    z = np.array(x[0] * 1.0)
    s = 0.0
    for i in range(n):
        z[()] = np.sin(z) * x[i]
        s = s + z * x[0]
        z -= 0.3 * s
    return s + z


def flat_in_a_loop(x, n):
    m = np.zeros((2, 6))
    f = m.flat
    for i in range(n):
        m[0, i] = x[i]
        f[i + 2] = f[i] * x[0] + 1.0
    return np.sum(m * m)


PROGRAMS = [
    items, stepping, overlapping, whole, another_name, view_of_a_view, transposed, rows, swapped, scratch, masked,
    repeated, functions, left_early, in_branches, arguments, helpers, listed, stacked, keyed,
    comprehended, items_of_a_list, flat, put_and_filled, put_of_its_own_memory,
    without_dimensions, without_dimensions_seen_whole, without_dimensions_in_a_loop, flat_in_a_loop,
]  # fmt: skip


def gradient_by_differences(f, x, h=1e-6):
    steps = h * np.eye(len(x))
    return np.array([(f(x + e) - f(x - e)) / (2 * h) for e in steps])


@pytest.mark.parametrize("size", [4, 7])
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradients_of_programs_that_write(f, size):
    rng = np.random.default_rng(size)
    df = s2s.value_and_grad(f, strict=True)
    for n in (1, 3):
        x = rng.uniform(-1.5, 1.5, size)
        kept = x.copy()
        value, gradient = df(x, n)
        assert value == f(x.copy(), n) and np.array_equal(x, kept)
        expected = gradient_by_differences(lambda x: f(x.copy(), n), x)
        np.testing.assert_allclose(gradient, expected, rtol=2e-5, atol=1e-7)
        direction = rng.normal(size=size)
        _, tangent = s2s.jvp(f, (x, n), (direction, None), strict=True)
        np.testing.assert_allclose(tangent, gradient @ direction, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("f", [items, stepping, overlapping, rows, listed, stacked, keyed], ids=lambda f: f.__name__)
def test_second_derivatives_of_programs_that_write(f):
    x = np.random.default_rng(1).uniform(0.3, 1.2, 4)
    direction = np.array([0.3, -0.2, 0.5, 0.1])

    def slope(t):
        return f(x + t * direction, 3)

    first = s2s.grad(slope)
    second = s2s.grad(first)(0.1)
    np.testing.assert_allclose(second, (first(0.1 + 1e-5) - first(0.1 - 1e-5)) / 2e-5, rtol=1e-5)


def test_a_second_derivative_through_tapes_is_compiled():
    def f(x):
        s = x
        for _ in range(4):
            s = s + s * np.sin(s)
        return s

    first = s2s.grad(f, strict=True)
    np.testing.assert_allclose(
        s2s.grad(first, strict=True)(0.3), (first(0.3 + 1e-6) - first(0.3 - 1e-6)) / 2e-6, rtol=1e-7
    )


def test_pullback_of_a_program_that_undoes_writes_can_be_called_again():
    def f(x):
        y = x.copy()
        v = y[::-1]
        for _ in range(3):
            y[1:] *= np.sin(y[:-1])
            v[0] += y[0] * y[1]
        return y

    rng = np.random.default_rng(2)
    x, g = rng.normal(size=5), rng.normal(size=5)
    out, pullback = s2s.vjp(f, x, strict=True)
    first, second = pullback(g)[0], pullback(2 * g)[0]
    np.testing.assert_array_equal(2 * first, second)
    np.testing.assert_array_equal(out, f(x))
    np.testing.assert_allclose(first, gradient_by_differences(lambda x: f(x) @ g, x), rtol=1e-6, atol=1e-8)


def test_arguments_that_share_memory_are_not_compiled():
    def f(a, b):
        a[0] = 5.0 * b[1]
        return np.sum(a * b)

    x = np.arange(1.0, 5.0)
    df = s2s.grad(f, argnums=(0, 1), strict=True)
    np.testing.assert_array_equal(df(x.copy(), x.copy())[0], [0.0, 2.0, 3.0, 4.0])
    with pytest.raises(UnsupportedSyntaxError, match="shares memory"):
        df(x[:3], x[1:])


def chosen(x, c):
    a, b = x * 2.0, x * 3.0
    y = a if c else b
    y[0] = x[1]
    y *= x
    return np.sum(a * a) + np.sum(b * x) + np.sum(y)


def in_a_list(x, c):
    L = [x * 1.0, x * 2.0]
    L[0] *= x
    y = L[1]
    y[1:] += x[:-1]
    L[c][0] = x[2]
    return np.sum(L[0] * L[1]) + np.sum(y)


def in_a_dict(x, c):
    D = {"p": x * 1.0, "q": x.copy()}
    D["p"] += D["q"]
    D["p"][0] *= 3.0
    q = D["q"]
    for i in range(3):
        q[i] = D["p"][i] * q[i - 1]
    return np.sum(D["p"] * D["q"])


def in_turn(x, c):
    y, z = x * 1.0, x * 2.0
    for item in [y, z, y]:
        item *= x
        item[0] += 1.0
    return np.sum(y * z)


def swapped_or_new(x, c):
    p = q = x * 1.0
    for i in range(3):
        if x[i] > 0.2:
            q = x * 2.0
        p[1:] += 0.5 * q[:-1]
        p, q = q, p
    return np.sum(p * q)


def appended_and_written(x, c):
    L = [x * 1.0]
    for i in range(3):
        L.append(L[-1] if i == c else np.sin(x) * i)
        L[-1][i] = L[0][1] * 2.0
    return np.sum(np.stack(L) ** 2)


def nested_lists(x, c):
    rows = [[x * 1.0, x * 2.0], [x * 3.0]]
    rows[0].append(x * x)
    rows[c][0] *= x
    rows[0][2][1] = x[0]
    return np.sum(rows[0][0] * rows[0][2]) + np.sum(rows[1][0])


def now_and_then(x, c):
    r = 0.0
    first = x.copy()
    for i in range(3):
        t = first if i == c else first * 1.0
        t[i] = t[i] * t[i] + x[0]
        r = r + np.sum(np.sin(t))
    return r + np.sum(first)


def twice_in_a_list(x, c):
    a = x * 1.0
    L = [a, a, x * 2.0]
    L[0] += x
    a[0] = L[2][1]
    return np.sum(L[0] * L[1] * L[2])


def parts_chosen(x, c):
    a, b = x * 2.0, x * 3.0
    y = a[1:] if c else b[:-1]
    y[0] = x[1]
    y *= x[: len(y)]
    return np.sum(a * a) + np.sum(b * x) + np.sum(y)


def reshaped(x, c):
    m = np.outer(x, x)
    r = m.reshape(-1)
    r[5] *= x[0]
    d = np.diagonal(m)
    m[0] *= 2.0
    s = np.sum(d * x)
    v = m.T.ravel()
    m[1, 1] = x[2]
    for p in np.split(m, 2):
        p[0, c] *= x[c]
    return s + np.sum(r * r) + np.sum(v) + np.sum(np.sin(m))


def overlapping_in_a_list(x, c):
    a = x * 1.0
    L = [a[:2], a[1:], a]
    L[0] *= x[:2]
    L[c][0] += L[2][2]
    a[1] = L[1][0] * 2.0
    return np.sum(L[0]) + np.sum(L[1] * x[1:]) + np.sum(L[2] ** 2)


def broadcast_and_strided(x, c):
    a = np.zeros((3, len(x)))
    w = a[:, ::2]
    b = np.broadcast_to(a[0], (2, len(x)))
    for i in range(3):
        w[i, c] = x[i] * x[0]
        a[0] += x
    return np.sum(b * b) + np.sum(w * w)


def in_a_tuple(x, c):
    y = x * 1.0
    pair = (y, (y[1:], x * 2.0))
    for item in pair[:1]:
        item **= 2
    pair[1][c][0] *= x[1]
    return np.sum(y * x) + np.sum(pair[1][0] * pair[1][1][1:])


ALIASED = [
    in_a_tuple,
    chosen, in_a_list, in_a_dict, in_turn, swapped_or_new, appended_and_written, nested_lists, now_and_then,
    twice_in_a_list, parts_chosen, reshaped, overlapping_in_a_list, broadcast_and_strided,
]  # fmt: skip


@pytest.mark.parametrize("c", [0, 1])
@pytest.mark.parametrize("f", ALIASED, ids=lambda f: f.__name__)
def test_aliases_decided_at_run_time(f, c):
    rng = np.random.default_rng(c)
    df = s2s.value_and_grad(f, strict=True)
    for size in (4, 6):
        x = rng.uniform(-1.5, 1.5, size)
        value, gradient = df(x, c)
        assert value == f(x, c)
        np.testing.assert_allclose(gradient, gradient_by_differences(lambda x: f(x, c), x), rtol=2e-5, atol=1e-6)
        direction = rng.normal(size=size)
        _, tangent = s2s.jvp(f, (x, c), (direction, None), strict=True)
        np.testing.assert_allclose(tangent, gradient @ direction, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("c", [0, 1])
def test_a_list_that_stands_in_others_is_written_into_for_all_of_them(c):
    def grown_while_looped_over(x):
        a, s, n = [x[0], x[1]], 0.0, 0
        d = [a, [x[1]]]
        for v in a:
            n += 1
            if n < 4:
                d[c].append(v * v)
            s += v
        return s

    def read_by_another_name(x):
        a, s = [x[0], x[1]], 0.0
        d = [a, [x[1]]]
        for i in range(3):
            d[c].append(x[i] * a[0])
            s += d[1][0] * d[c][i]
        return s + a[-1]

    x = np.array([1.2, 0.7, -0.4])
    for f in (grown_while_looped_over, read_by_another_name):
        with pytest.raises(UnsupportedSyntaxError):
            s2s.grad(f, strict=True)(x)
        with pytest.warns(FallbackWarning):
            gradient = s2s.grad(f)(x)
        np.testing.assert_allclose(gradient, gradient_by_differences(f, x), rtol=1e-6, atol=1e-9)


def test_containers_among_the_arguments_are_left_as_they_were():
    def f(p, x):
        p["w"][0] *= x[1]
        p["b"] += np.sum(p["w"]) * x[0]
        p["rows"].append(x * p["b"])
        p["rows"][0][1] = 2.0
        return np.sum(p["rows"][0] * p["rows"][-1]) + p["b"]

    rng = np.random.default_rng(5)
    p = {"w": rng.normal(size=3), "b": 0.3, "rows": [rng.normal(size=4)]}
    x = rng.normal(size=4)
    kept = stores.copied(p)
    by_p, by_x = s2s.grad(f, argnums=(0, 1), strict=True)(p, x)
    np.testing.assert_equal(p, kept)
    np.testing.assert_allclose(by_x, gradient_by_differences(lambda x: f(stores.copied(p), x), x), rtol=1e-6)
    expected = gradient_by_differences(lambda w: f({**stores.copied(p), "w": w.copy()}, x), p["w"])
    np.testing.assert_allclose(by_p["w"], expected, rtol=1e-6, atol=1e-9)
    expected = gradient_by_differences(lambda r: f({**stores.copied(p), "rows": [r.copy()]}, x), p["rows"][0])
    np.testing.assert_allclose(by_p["rows"][0], expected, rtol=1e-6, atol=1e-9)
    assert len(by_p["rows"]) == 1 and np.isfinite(by_p["b"])


def test_buffers_that_a_loop_swaps_are_known_to_be_two():
    assert "private" not in s2s.grad(swapped, strict=True).source(np.ones(4), 3)


def test_what_is_linear_saves_nothing():
    def heat(u0, k, steps):
        u = u0.copy()
        for _ in range(steps):
            u[1:-1] += k * (u[2:] - 2 * u[1:-1] + u[:-2])
        return np.sum(u**2)

    source = s2s.grad(heat, strict=True).source(np.ones(7), 0.1, 3)
    assert "u_tape" not in source and ".copy()" in source


def test_copies_keep_layout_and_sharing():
    rng = np.random.default_rng(3)
    x = np.asfortranarray(rng.normal(size=(4, 5)))
    part = x[1::2, ::-2]
    whole, (view, inner) = stores.copied([x, (part, {"t": x.T})])
    np.testing.assert_array_equal(view, part)
    assert view.strides == part.strides and stores.private(part).strides == part.strides
    whole[1, 4] = 99.0
    assert view[0, 0] == 99.0 and inner["t"][4, 1] == 99.0 and part[0, 0] != 99.0


@pytest.mark.parametrize("index", [[0, 0, 1], [2, 1, 2, 2], np.array([[0, 1], [1, 0]])], ids=str)
def test_the_last_write_to_an_element_counts(index):
    x = np.zeros(3)
    values = np.random.default_rng(4).normal(size=np.shape(index))
    x[index] = values
    kept = np.where(stores.last_writes((3,), index), values, 0.0)
    total = np.zeros(3)
    np.add.at(total, index, kept)
    np.testing.assert_array_equal(total, x)


HELD = np.arange(1.0, 5.0)


@pytest.mark.parametrize("part", [slice(None), slice(1, None)], ids=["whole", "part"])
def test_an_argument_that_a_global_holds_too_is_not_written_into_apart_from_it(part):
    def f(x):
        x[0] = 5.0
        return np.sum(x * HELD[part])

    df = s2s.grad(f, strict=True)
    np.testing.assert_array_equal(df(HELD[part].copy()), np.where(np.arange(HELD[part].size) > 0, HELD[part], 0.0))
    with pytest.raises(UnsupportedSyntaxError, match="shares memory"):
        df(HELD[part])
    with pytest.warns(FallbackWarning), pytest.raises(s2s.InplaceModificationError, match="share its memory"):
        s2s.grad(f)(HELD[part])
    np.testing.assert_array_equal(HELD, [1.0, 2.0, 3.0, 4.0])


def test_a_name_that_a_loop_carries_is_not_what_the_round_makes():
    def f(x):
        found = []
        for i, v in enumerate(x):
            if i == 0:
                before = v
                later = False
            else:
                later = True
            if later:
                old = before
                before = v
                found.append((v - old) ** 2)
        return sum(found)

    x = np.random.default_rng(7).normal(size=5)
    value, gradient = s2s.value_and_grad(f, strict=True)(x)
    assert value == f(x)
    np.testing.assert_allclose(gradient, 2 * (np.diff(x, prepend=x[0]) - np.diff(x, append=x[-1])))
