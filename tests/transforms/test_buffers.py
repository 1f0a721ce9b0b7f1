"""Copies and zeros of adjoints go where nothing needs them, and only there."""

import numpy as np
import pytest

import s2s
from s2s import kinds as K
from s2s.transforms.buffers import buffers
from tests.transforms.programs import TASK, body, core_function, run, text_of

ROW, MASK, INTS = (K.Array(np.dtype(t), 1) for t in (float, bool, int))
KINDS = {name: ROW for name in "a b c d g h p q u x y z r s t".split()} | {
    "m": MASK,
    "j": INTS,
    "n": K.Int(),
    "k": K.Int(),
}


def changed(text, **kinds):
    """The text after the pass, which computes the same."""
    fn = core_function(text, kinds={**KINDS, **kinds})
    new = buffers(fn, TASK)
    args = {
        "x": np.arange(5.0),
        "y": np.arange(5.0) * 3 - 2,
        "n": 3,
        "k": 1,
        "m": np.arange(5) > 2,
        "j": np.array([1, 1]),
    }
    np.testing.assert_equal(run(fn, *(args[p] for p in fn.param_names)), run(new, *(args[p] for p in fn.param_names)))
    return text_of(new)


def stays(text, **kinds):
    lines = [line[4:] for line in body(text).splitlines()[1:] if "# reverse" not in line]
    assert changed(text, **kinds) == "\n".join(lines)


# --- zeros --------------------------------------------------------------------------------------------------------


def test_zero_that_is_added_to_is_an_assignment():
    got = changed(
        """
        def f(x, y, n):
            # reverse
            a = x * 2.0
            g = a[n]
            a[n] = 0.0
            h = y * g
            a[n] += g
            return a
        """,
        g=K.FLOAT,
    )
    assert "a[n] = 0.0" not in got and got.endswith("a[n] = g\nreturn a")


@pytest.mark.parametrize(
    "between",
    [
        "h = a[k]",
        "h = a * 2.0",
        "b = a[1:]\n            b[2] = 5.0",
        "n = n + 1",
        "a[k] += 1.0",
        "a = y * 1.0",
        "h = np.flip(a)",
    ],
)
def test_zero_stays_where_something_has_to_do_with_it(between):
    got = changed(
        f"""
        def f(x, y, n, k):
            # reverse
            h = y
            a = x * 2.0
            a[n] = 0.0
            {between}
            a[n] += 3.0
            return a, h
        """,
        h=K.UNKNOWN,
    )
    assert "a[n] = 0.0" in got


@pytest.mark.parametrize("added", ["a[k] += 3.0", "a[n] -= 3.0", "a[n] *= 3.0"])
def test_zero_stays_where_something_else_is_done(added):
    assert "a[n] = 0.0" in changed(f"""
        def f(x, n, k):
            # reverse
            a = x * 2.0
            a[n] = 0.0
            {added}
            return a
        """)


def test_zero_stays_where_what_is_added_is_a_part_of_it():
    assert "a[1:3] = 0.0" in changed("""
        def f(x, n):
            # reverse
            a = x * 2.0
            g = a[1:3]
            a[1:3] = 0.0
            a[1:3] += g
            return a
        """)


def test_places_of_equal_indices_are_one_place():
    got = changed(
        """
        def f(x, n, k):
            # reverse
            a = x * 2.0
            i = n - 1
            a[i] = 0.0
            h = n - 1
            a[h] += 3.0
            return a
        """,
        i=K.Int(),
        h=K.Int(),
    )
    assert "a[i] = 0.0" not in got


@pytest.mark.parametrize("between", ["h = k + 1", "h = n + 1", "h = n - k"])
def test_places_of_other_indices_are_two(between):
    assert "a[i] = 0.0" in changed(
        f"""
        def f(x, n, k):
            # reverse
            a = x * 2.0
            i = n - 1
            a[i] = 0.0
            {between}
            a[h] += 3.0
            return a
        """,
        i=K.Int(),
        h=K.Int(),
    )


def test_places_are_two_where_what_they_are_counted_from_changes():
    assert "a[i] = 0.0" in changed(
        """
        def f(x, n, k):
            # reverse
            a = x * 2.0
            i = n - 1
            a[i] = 0.0
            n = k + 1
            h = n - 1
            a[h] += 3.0
            return a
        """,
        i=K.Int(),
        h=K.Int(),
    )


def test_zero_of_the_users_stays():
    stays("""
        def f(x, n):
            a = x * 2.0
            a[n] = 0.0
            a[n] += 1.0
            return a
        """)


# --- writes that are undone ---------------------------------------------------------------------------------------


UNDONE = """
    def f(x, y, n):
        a = x * 2.0
        b = y + x
        p = a[...]
        s = p.copy()
        a[...] = b
        {between}
        # reverse
        a[...] = s
        c = a * y
        return c, b, q
    """


def undone(between, text=UNDONE, **shapes):
    fn = core_function(text.replace("{between}", between), kinds={**KINDS, "q": K.UNKNOWN}, shapes={"a": "x", **shapes})
    new = buffers(fn, TASK)
    x, y = np.arange(5.0), np.arange(5.0) * 3 - 2
    np.testing.assert_equal(run(fn, x, y, 3), run(new, x, y, 3))
    return text_of(new)


def test_write_that_is_undone_before_it_is_read_goes():
    assert "a[...]" not in undone("q = b * 2.0", b="x")


@pytest.mark.parametrize(
    "between",
    ["q = a * 2.0", "q = p", "q = s", "a[1] = 7.0\n        q = 1.0", "p[1] = 7.0\n        q = 1.0", "q = [a]"],
)
def test_write_stays_where_something_has_to_do_with_the_array(between):
    assert "a[...] = b" in undone(between, b="x")


def test_write_stays_where_something_else_is_written_back():
    assert "a[...] = b" in undone("q = 1.0", UNDONE.replace("p = a[...]", "p = y[...]"), b="x")
    assert "a[...] = b" in undone("q = 1.0", UNDONE.replace("a[...] = s", "a[...] = y; c = s"), b="x")
    assert "a[...] = b" in undone("q = 1.0", UNDONE.replace("s = p.copy()", "s = p.copy(); s[1] = 4.0"), b="x")


def test_write_stays_where_it_may_raise():
    assert "a[...] = b" in undone("q = 1.0", b="b")


# --- copies of parts ----------------------------------------------------------------------------------------------


def test_part_that_is_only_read_is_not_copied():
    got = changed("""
        def f(x, n):
            # reverse
            a = x * 2.0
            p = a[1:3]
            g = p.copy()
            h = g * 2.0
            a[1:3] = h
            return a
        """)
    assert "copy" not in got


@pytest.mark.parametrize(
    "rest",
    [
        "a[0:2] = 7.0\n            h = g * 2.0",
        "b = a\n            b[1] = 7.0\n            h = g * 2.0",
        "h = g",
        "a[0:2] += g\n            h = y",
        "p[1] = 4.0\n            h = g * 2.0",
        "g += 1.0\n            h = y",
        "a *= 2.0\n            h = g * 2.0",
        "h = (g, y)",
        "np.add(y[:2], y[:2], out=p)\n            h = g * 2.0",
        "for k in range(3):\n                h = g * 2.0\n                a[1] = 3.0",
        "np.copyto(a, y)\n            h = -g",
        "g = g * 2.0\n            a[1] = 3.0\n            h = g * 2.0",
    ],
)
def test_part_is_copied_where_it_may_be_written_into_or_kept(rest):
    text = f"""
        def f(x, y, n):
            # reverse
            a = x * 2.0
            h = y
            p = a[1:3]
            g = p.copy()
            {rest}
            a[1] = 9.0
            return a, h
        """
    assert "p.copy()" in changed(text, h=K.UNKNOWN)


def test_part_is_not_copied_where_the_write_is_to_other_items():
    got = changed("""
        def f(x, y, n):
            # reverse
            a = x * 2.0
            p = a[1:3]
            g = p.copy()
            a[0] = 4.0
            h = g * 2.0
            return a, h
        """)
    assert "copy" not in got


def test_part_is_copied_where_it_is_read_after_a_write_only():
    stays("""
        def f(x, y, n):
            # reverse
            a = x * 2.0
            p = a[1:3]
            g = p.copy()
            a[2] = 4.0
            h = g * 2.0
            return a, h
        """)


# --- copies of buffers --------------------------------------------------------------------------------------------


def test_buffers_that_change_places_are_not_copied():
    got = changed("""
        def f(x, y, n):
            # reverse
            a = x * 2.0
            b = y * 2.0
            for k in range(n):
                c = a
                a = b
                b = np.array(c)
                b[1] = 0.5
            return a, b
        """)
    assert "array" not in got


@pytest.mark.parametrize(
    "before, after",
    [
        ("c = x", "r = x * c"),
        ("c = x[1:]", "r = x * 1.0"),
        ("c = y * 2.0", "r = c * 1.0"),
        ("c = x * 2.0; d = c", "r = d * 1.0"),
        ("c = x * 2.0; d = c[1:]", "r = d * 1.0"),
        ("c = np.broadcast_to(x, (5,))", "r = x * 1.0"),
        ("c = x * 2.0; d = [c]", "r = d[0] * 1.0"),
        ("c = np.real(x)", "r = x * 1.0"),
        ("d = [x * 1.0]; c = d.pop()", "r = x * 1.0"),
    ],
)
def test_buffer_is_copied_that_somebody_else_holds(before, after):
    lines = before.replace("; ", "\n            ")
    text = f"""
        def f(x, y, n):
            # reverse
            {lines}
            a = np.array(c)
            a[1] = 7.0
            {after}
            return a, r
        """
    unknown = {"d": K.UNKNOWN} if "[c]" in before or "pop" in before else {}
    assert "np.array(c)" in changed(text, **unknown)


def test_copy_of_the_users_stays():
    stays("""
        def f(x, y, n):
            c = x * 2.0
            a = np.array(c)
            a[1] = 7.0
            return a
        """)


def test_buffers_that_a_branch_may_share_are_copied():
    got = changed("""
        def f(x, y, n):
            # reverse
            a = x * 2.0
            b = y * 2.0
            if n > 1:
                b = a
            c = np.array(a)
            c[1] = 0.5
            return c, b
        """)
    assert "np.array(a)" in got


# --- programs -----------------------------------------------------------------------------------------------------


def whole(x):
    y = x * 0.5
    z = y * 2.0
    y[...] = np.sin(y) * z
    y[:] = y * x
    return np.sum(y * z)


def whole_of_another_shape(x):
    y = np.ones((3, len(x)))
    y[...] = x * 2.0
    y[:] = np.sum(y, axis=0)
    return np.sum(y**2)


def whole_on_some_rounds(x):
    y = x * 0.5
    total = 0.0
    for i in range(3):
        if i == 1:
            y[:] = x * x
        else:
            y[:] = 1.0
        total = total + np.sum(y * x * i)
        y[1:] *= y[:-1]
    return total + np.sum(y)


def whole_through_a_view(x):
    y = x * 0.5
    v = y[1:]
    v[...] = v * x[1:]
    y[...] = y * x
    return np.sum(y * y) + np.sum(v)


def two_with_one_value(x):
    v = x * x
    a, b = np.zeros_like(x), np.zeros_like(x)
    a[...] = v
    b[...] = v
    a *= x
    b[1:] += a[:-1]
    return np.sum(a * b + v)


def buffers_in_turn(x):
    a, b, c = x * 1.0, x * 2.0, np.zeros_like(x)
    for i in range(4):
        c[1:-1] = a[1:-1] * b[2:] - b[:-2]
        if i == 2:
            c[0] = 0.3
        a, b, c = b, c, a
    return np.sum(a * b) + np.sum(c)


def one_buffer_or_two(x):
    a, b = x * 1.0, x * 2.0
    for i in range(4):
        a[1:] += b[:-1] * 0.5
        if i == 1:
            b = a
        a, b = b, a
    return np.sum(a * b)


@pytest.mark.parametrize(
    "f",
    [
        whole,
        whole_of_another_shape,
        whole_on_some_rounds,
        whole_through_a_view,
        two_with_one_value,
        buffers_in_turn,
        one_buffer_or_two,
    ],
    ids=lambda f: f.__name__,
)
def test_gradients_of_programs(f, rng):
    for size in (2, 5):
        x = rng.uniform(0.5, 1.5, size)
        steps = 1e-6 * np.eye(size)
        want = [(f(x + h) - f(x - h)) / 2e-6 for h in steps]
        np.testing.assert_allclose(s2s.grad(f, strict=True)(x), want, rtol=1e-6, atol=1e-8)


def test_whole_write_hands_its_adjoint_on():
    text = s2s.grad(whole).source(np.ones(3))
    assert "= 0.0" not in text and ".copy()" not in text.split("# reverse")[1]


# --- other items of one array ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("loop", "index", "other", "goes"),
    [
        ("range(1, n)", "i", "i - 1", True),
        ("range(n)", "i", "i + 1", True),
        ("range(n)", "i + 1", "i", True),
        ("range(n)", "i", "i - 1", False),  # the last one, in the first round
        ("range(-1, n)", "i", "i + 1", False),
        ("range(n)", "i", "k", False),
        ("range(n)", "i + 1:", "i", True),
        ("range(n)", ":i", "i", True),
        ("range(n)", ":i + 1", "i", False),
        ("range(n)", "i::-1", "i + 1", False),
        ("range(3, -1, -1)", "i", "i + 1", True),
        ("range(3, -2, -1)", "i", "i + 1", False),
    ],
)
def test_zero_is_an_assignment_past_other_items_only(loop, index, other, goes):
    got = changed(
        f"""
        def f(x, y, n, k):
            # reverse
            a = x * 2.0
            for i in {loop}:
                a[{index}] = 0.0
                a[{other}] += 1.0
                a[{index}] += 3.0
            return a
        """,
        i=K.Int(),
    )
    assert ("] = 0.0" not in got) == goes


def test_zero_stays_where_the_index_is_assigned_elsewhere_too():
    got = changed(
        """
        def f(x, y, n, k):
            # reverse
            a = x * 2.0
            i = -k
            a[i] = 0.0
            i2 = i + 1
            a[i2] += 1.0
            a[i] += 3.0
            for i in range(n):
                a[i] += 1.0
            return a
        """,
        i=K.Int(),
        i2=K.Int(),
    )
    assert "a[i] = 0.0" in got


def test_what_is_added_is_computed_where_it_is_added():
    got = changed(
        """
        def f(x, y, n):
            # reverse
            a = x * 2.0
            b = y * 1.0
            g = y + 1.0
            t··1 = g * x
            t··2 = t··1 * 3.0
            b[1:] -= 2.0
            b[:] += g
            a[:] += t··2
            return a, b
        """,
        t··1=ROW,
        t··2=ROW,
    )
    assert got.endswith("b[:] += g\nt··1 = g * x\nt··2 = t··1 * 3.0\na[:] += t··2\nreturn a, b")


@pytest.mark.parametrize(
    "between",
    ["b[1] += 5.0", "g = y * 3.0", "v[0] = 1.0", "b[n] = 4.0", "b[k:] = 4.0", "b += 1.0", "np.add.at(b, j, 1.0)"],
)
def test_what_is_added_stays_where_its_operands_change(between):
    text = f"""
        def f(x, y, n, k, j):
            # reverse
            a = x * 2.0
            b = y * 1.0
            v = b[1:]
            g = y + 1.0
            t··1 = b[1:3]
            t··2 = t··1 * n
            {between}
            a[n] = 7.0
            a[1:3] += t··2
            return a, b, g, v
        """
    got = changed(text, t··1=ROW, t··2=ROW, v=ROW)
    if between.startswith("g ="):
        assert got.index("t··2 =") > got.index("a[n] = 7.0")
    else:
        assert got.index("t··2 =") < got.index("a[n] = 7.0")


def test_parts_of_one_array_are_told_apart():
    got = changed(
        """
        def f(x, y, n):
            # reverse
            a = x * 2.0
            for i in range(n):
                t··1 = i + 1
                t··2 = a[t··1:]
                t··3 = t··2 * 2.0
                a[i] -= 1.0
                a[t··1:] += t··3
            return a
        """,
        t··1=K.Int(),
        t··2=ROW,
        t··3=ROW,
        i=K.Int(),
    )
    assert got.index("t··3 =") > got.index("a[i] -=")


def ripples(x, n):
    y = x * 1.0
    for i in range(n):
        y[i] = np.sin(y[i]) * y[i - 1]
    return np.sum(y * x)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_items_that_are_one_only_for_some_sizes(size, rng):
    x = rng.uniform(0.5, 1.5, size)
    want = [np.imag(ripples(x + 1e-30j * e, size)) / 1e-30 for e in np.eye(size)]
    np.testing.assert_allclose(s2s.grad(ripples, strict=True)(x, size), want, rtol=1e-12)
