"""Functions in tuples, lists and dicts: compiled, with the values and gradients of the program."""

import numpy as np
import pytest

import s2s
from tests.transforms.test_tries import holds

RNG = np.random.default_rng(0)
X = RNG.uniform(0.3, 1.5, 3)


def cube(v):
    return v * v * v


def test_loops_over_functions():
    def f(x, s):
        k = s
        total = 0.0
        for g in [np.sin, cube, lambda v: v * k]:
            total = total + np.sum(g(x)) * k
            k = k + 1.0
        return total * np.sum(g(x))

    holds(f, (X, 0.7))


def test_loops_over_functions_beside_numbers():
    def f(x, s):
        total = 0.0
        square = lambda v: v * v  # noqa: E731
        for g, w in ((square, 1.0), (np.cos, s), (cube, x[0])):
            total = total + w * np.sum(g(x))
        for i, g in enumerate([square, cube]):
            total = total + i * np.sum(g(x))
        for g, w in zip((cube, square), [2.0, s]):
            total = total + np.sum(g(x * w))
        return total

    holds(f, (X, 0.7))


def test_leaving_a_loop_over_functions():
    def f(s, limit):
        for g in (np.sin, lambda v: v * v, cube):
            s = g(s) + 1.0
            if s > limit:
                break
            if s < 0.0:
                continue
            s = s * 0.5
        else:
            s = s * 3.0
        return s

    holds(f, *((1.3, limit) for limit in (0.1, 1.5, 1.9, 9.0)))


def test_items_that_are_called():
    def f(x, key, i):
        def double(v):
            return v * s

        s = 3.0
        table = {"double": double, "cube": cube, "sin": np.sin}
        row = [np.cos, double, lambda v: v + s]
        y = table[key](x) * row[i](x)
        s = 2.0
        return np.sum(y) + np.sum(row[1](x)) + np.sum(table["double"](x))

    holds(f, *((X, key, i) for key, i in (("double", 0), ("cube", -2), ("sin", 2), ("cube", -3))))
    df = s2s.grad(f, strict=True)
    with pytest.raises(KeyError, match="'other'"):
        df(X, "other", 0)
    with pytest.raises(IndexError, match="list index out of range"):
        df(X, "sin", 3)


def test_items_chosen_in_a_loop():
    def f(s, keys):
        table = {"a": lambda v: v * v, "b": lambda v: np.sin(v) * s}
        for key in keys:
            s = table[key](s) + 0.1
        return s

    holds(f, (0.8, ["a", "b", "a"]), (0.8, ["b"]))


def test_comprehensions_and_dict_views_of_functions():
    def f(x, s):
        table = {"sin": np.sin, "own": lambda v: v * s}
        values = [np.sum(g(x)) for g in table.values()]
        named = sum([np.sum(g(x)) * len(name) for name, g in table.items()])
        return values[0] * values[1] + named + sum(np.sum(g(x)) for g in (cube, lambda v: v))

    holds(f, (X, 0.7))


def test_a_list_of_functions_that_is_written_into():
    def f(x, s):
        row = [lambda v: v * s]
        row.append(np.sin)
        row[0] = np.cos
        return np.sum(row[0](x) + row[1](x))

    with pytest.raises(s2s.UnsupportedSyntaxError):
        s2s.grad(f, strict=True)(X, 0.7)
    with pytest.warns(s2s.FallbackWarning):
        np.testing.assert_allclose(s2s.grad(f)(X, 0.7), np.cos(X) - np.sin(X))


def test_a_list_of_functions_under_two_names():
    def f(x, s):
        row = [lambda v: v * s, np.sin]
        other = row
        other[0] = np.cos
        return np.sum(row[0](x))

    with pytest.warns(s2s.FallbackWarning):
        np.testing.assert_allclose(s2s.grad(f)(X, 0.7), -np.sin(X))


def test_a_name_in_a_display_that_is_bound_again_in_the_loop():
    def f(x, s):
        g = lambda v: v * s  # noqa: E731
        total = 0.0
        for h in (np.sin, g):
            total = total + np.sum(h(x))
            g = np.cos
        return total + np.sum(g(x))

    with pytest.warns(s2s.FallbackWarning):
        np.testing.assert_allclose(s2s.grad(f)(X, 0.7), np.cos(X) + 0.7 - np.sin(X))
