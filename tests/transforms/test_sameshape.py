"""What is known of shapes leaves text out, and never a sum: shapes may broadcast in every call anew."""

import itertools

import numpy as np
import pytest

import s2s
from s2s.transforms.sameshape import Broadcasts


def chain(x, y):
    a = np.sin(x) * y
    b = np.exp(-a * a)
    c = np.tanh(b + x)
    return np.sum(c * y)


def softmax(x, y):
    z = x + y
    shifted = z - np.max(z, axis=1, keepdims=True)
    p = np.exp(shifted)
    return np.sum(p / np.sum(p, axis=1, keepdims=True) * y)


def log_sum_exp(x, y):
    z = x * y
    top = np.max(z, axis=1)
    return np.sum(top + np.log(np.sum(np.exp(z - top[:, None]), axis=1)))


def rows_and_columns(x, y):
    z = x * y
    rows, columns = np.sum(z, axis=1), np.mean(z, axis=0, keepdims=True)
    return np.sum((z - columns) * np.expand_dims(rows, 1) + rows[:, None] * columns)


def other_axis(x, y):
    z = x * y
    rows = np.sum(z, axis=0)
    return np.sum(z * rows + rows[None] ** 2) + np.sum(z.sum(axis=-1)[:, None] * z)


def square_mixed_up(x, y):
    rows = np.sum(x * y, axis=1)
    return np.sum(x * rows[None, :1] + y * rows[:1, None])


def carried(x, y):
    h = x
    t = x
    for _ in range(2):
        t = np.sin(h) * y
        h = t + h * np.sum(h, axis=0, keepdims=True)
    return np.sum(t * h + x)


def shrinking(x, y):
    h = x
    for _ in range(2):
        t = np.sin(h * y)
        h = t[:1] + np.sum(t, axis=1, keepdims=True)[:1]
    return np.sum(t * h * y)


def branches(x, y):
    if np.sum(x) > 0.0:
        a = x * y
        b = a + y
    else:
        a = x + 1.0
        b = x * x
    return np.sum(a * b * y) + np.sum(x * y)


def in_halves(x, y):
    a = x * y
    b = x + y
    c = a[:1] * b[:1]
    return np.sum(c * b + a * y)


FUNCTIONS = [
    chain, softmax, log_sum_exp, rows_and_columns, other_axis, square_mixed_up, carried, shrinking, branches, in_halves,
]  # fmt: skip
SHAPES = [(1, 1), (1, 4), (3, 1), (3, 4), (4, 4)]
PAIRS = [
    (a, b) for a, b in itertools.product(SHAPES, repeat=2) if all(m == n or 1 in (m, n) for m, n in zip(a, b))
]  # fmt: skip


def on_the_tape(f, *args):
    variables = [s2s.Variable(a, requires_grad=True) for a in args]
    s2s.backward(f(*variables))
    return [v.grad.numpy() for v in variables]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_one_variant_serves_all_shapes(f, rng):
    gradient = s2s.grad(f, ("x", "y"), strict=True)
    order = [PAIRS[i] for i in rng.permutation(len(PAIRS))]
    for shapes in order:
        x, y = (rng.normal(size=shape) for shape in shapes)
        for got, expected in zip(gradient(x, y), on_the_tape(f, x, y)):
            assert got.shape == expected.shape
            np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_forward_mode_too(f, rng):
    for shapes in PAIRS:
        x, y, x_dot, y_dot = (rng.normal(size=shape) for shape in shapes * 2)
        x_bar, y_bar = on_the_tape(f, x, y)
        _, out_dot = s2s.jvp(f, (x, y), (x_dot, y_dot), strict=True)
        np.testing.assert_allclose(out_dot, np.sum(x_bar * x_dot) + np.sum(y_bar * y_dot), rtol=1e-10)


@pytest.mark.parametrize(
    "shapes", [((3,), (3,)), ((1,), (3,)), ((3,), (1,)), ((2, 3), (3,)), ((3,), (2, 1)), ((2, 3), ())]
)
def test_operands_of_other_dimensions(shapes, rng):
    for f in (chain, lambda x, y: np.sum((x * y + x) * y), lambda x, y: np.sum(np.exp(x) * (y - x) * y + x)):
        x, y = (rng.normal(size=shape) for shape in shapes)
        for got, expected in zip(s2s.grad(f, ("x", "y"), strict=True)(x, y), on_the_tape(f, x, y)):
            assert np.shape(got) == np.shape(expected)
            np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("f", [chain, softmax, log_sum_exp, in_halves], ids=lambda f: f.__name__)
def test_shapes_that_do_not_fit_raise_as_the_function_does(f, rng):
    gradient = s2s.grad(f, ("x", "y"), strict=True)
    gradient(rng.normal(size=(3, 4)), rng.normal(size=(3, 4)))
    for shapes in (((3, 4), (4, 4)), ((2, 3), (3, 2))):
        x, y = (rng.normal(size=shape) for shape in shapes)
        with pytest.raises(ValueError, match="could not be broadcast"):
            f(x, y)
        with pytest.raises(ValueError, match="could not be broadcast"):
            gradient(x, y)


def test_what_only_shows_that_shapes_fit_is_computed_once():
    def f(x, y):
        a = x * y
        b = x + y
        return np.sum(x)

    x, y = np.ones(3), np.ones(4)
    with pytest.raises(ValueError, match="could not be broadcast"):
        s2s.grad(f, strict=True)(x, y)
    text = s2s.grad(f, strict=True).source(x, x)
    assert "a = x * y" in text and "x + y" not in text  # the first one raises for both


def test_only_what_may_have_been_broadcast_is_summed():
    x = np.ones((2, 3))
    text = s2s.grad(chain, strict=True).source(x, x)
    assert text.count("unbroadcast(") == 2 and "t2 = c * y" not in text
    text = s2s.grad(softmax, strict=True).source(x, x)
    assert text.count("unbroadcast(") == 4  # of y, which may be smaller; of two reductions; of x
    text = s2s.grad(log_sum_exp, strict=True).source(x, x)
    assert "broadcast_to" not in text


def test_the_order_of_shapes():
    order = Broadcasts({"a": frozenset({"x", "y"}), "b": frozenset({"a", "z"})}, {"r": "a", "q": "r"})
    assert order.holds("a", "x") and order.holds("b", "x") and order.holds("b", "q") and order.holds("a", "a")
    assert not order.holds("x", "a") and not order.holds("a", "z") and not order.holds("r", "x")
    assert order.widest({"x", "a", "q"}) == "a"
    assert order.widest({"x", "y"}) is None
    assert order.together({"r", "a", "z"}) == {"x", "y", "z"} or order.together({"a", "z"}) == {"x", "y", "z"}
