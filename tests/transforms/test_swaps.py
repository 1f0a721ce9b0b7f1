"""Names that change places do so in one assignment; other copies stay as they are."""

import numpy as np
import pytest

import s2s
from s2s import kinds as K
from s2s.transforms.swaps import swaps
from tests.transforms.programs import TASK, core_function, run, text_of

KINDS = dict.fromkeys("a b c d t u x y".split(), K.FLOAT) | {"n": K.Int()}


def changed(text):
    """The text after the pass, which computes the same."""
    fn = core_function(text, kinds=KINDS)
    new = swaps(fn, TASK)
    args = {"x": 1.5, "y": 2.5, "n": 3}
    assert run(fn, *(args[p] for p in fn.param_names)) == run(new, *(args[p] for p in fn.param_names))
    return text_of(new)


def test_swap_is_one_assignment():
    got = changed("""
        def f(x, y):
            t = x
            x = y
            y = t
            return x, y
        """)
    assert got == "x, y = y, x\nreturn x, y"


def test_circle_of_three_in_a_loop():
    got = changed("""
        def f(x, y, n):
            c = 3.0
            for i in range(n):
                x = x + 1.0
                t = x
                x = y
                y = c
                c = t
            return x, y, c
        """)
    assert "x, y, c = y, c, x" in got and "t" not in got.replace("return", "")


def test_names_that_change_places_around_a_copy_of_a_name_to_itself():
    got = changed("""
        def f(x, y):
            t = x
            x = y
            u = x + 1.0
            u = u
            y = t
            return x, y, u
        """)
    assert got == "y, x = x, y\nu = x + 1.0\nreturn x, y, u"


def test_value_that_is_kept_stays_outside_the_circle():
    got = changed("""
        def f(x, y):
            t = x
            u = y
            x = y
            y = t
            return x, y, u
        """)
    assert "u = y" in got and "x, y = y, x" in got and got.index("u = y") < got.index("x, y =")


@pytest.mark.parametrize(
    "text",
    [
        "t = x\n    x = y\n    y = 1.0\n    return x, y, t",  # no circle: the name is read later
        "x = y\n    y = x\n    return x, y",  # not what it looks like
        "t = x\n    x = 2.0\n    y = t\n    return x, y",
    ],
)
def test_other_copies_stay(text):
    before = core_function(f"def f(x, y):\n    {text}\n", kinds=KINDS)
    assert text_of(swaps(before, TASK)) == text_of(before)


def test_first_value_that_is_read_later_is_kept():
    got = changed("""
        def f(x, y):
            t = x
            x = y
            y = t
            return x, y, t
        """)
    assert got == "t = x\nx, y = y, x\nreturn x, y, t"


def test_two_circles_and_what_hangs_on_them():
    got = changed("""
        def f(x, y, n):
            a, b = 3.0, 4.0
            for i in range(n):
                t = x
                u = a
                x = y
                d = u
                a = b
                y = t
                b = u
                c = d
            return x, y, a, b, c, d
        """)
    assert "x, y = y, x" in got and "a, b = b, a" in got


@pytest.mark.parametrize(
    ("between", "circle"), [("c = t + 1.0", True), ("c = y + 1.0", True), ("c = x + 1.0", True), ("c = d + d", False)]
)
def test_name_that_is_taken_back_later_serves_in_place_of_another(between, circle):
    got = changed(
        f"""
        def f(x, y, n):
            d = 4.0
            a = 0.0
            for i in range(n):
                t = x
                x = y
                y = d
                {between}
                d = t
                a = a + c
            return x, y, d, a
        """
    )
    assert ("d = t" not in got) == circle


def alternating(x, n):
    a, b, c = x * 1.0, x * 2.0, x * 3.0
    for i in range(n):
        a[1:] += np.sin(b[:-1]) * c[1:]
        a, b, c = b, c, a
    return np.sum(a * b) + np.sum(c)


@pytest.mark.parametrize("n", range(5))
def test_buffers_that_change_places(n, rng):
    x = rng.uniform(0.5, 1.5, 4)
    gradient = s2s.grad(alternating, strict=True)
    want = [np.imag(alternating(x + 1e-30j * e, n)) / 1e-30 for e in np.eye(4)]
    np.testing.assert_allclose(gradient(x, n), want, rtol=1e-12)
    assert "a, b, c = b, c, a" in gradient.source(x, n)


def test_numbers_that_change_places(rng):
    def swapped(x, y, n):
        for _ in range(n):
            x, y = y, x * y
        return x, y

    def f(x, y, n):
        a, b = swapped(x, y, n)
        a, b = b, a
        return a * np.sin(b)

    for n in range(4):
        got = s2s.grad(f, argnums=(0, 1), strict=True)(1.5, 0.7, n)
        want = [np.imag(f(1.5 + h, 0.7 + k, n)) / 1e-30 for h, k in ((1e-30j, 0), (0, 1e-30j))]
        np.testing.assert_allclose(got, want, rtol=1e-12)
