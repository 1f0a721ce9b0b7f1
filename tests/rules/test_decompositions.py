"""Decompositions of any form: what they compute in lists, loops and buffers of their own is differentiated too."""

import numpy as np
import pytest

import s2s
from s2s.autograd.record import tape_value_and_grad

RNG = np.random.default_rng(7)
X = np.sort(RNG.uniform(size=6))
Y = RNG.normal(size=6)
Z = RNG.normal(size=(5, 6))


def collected(x, n=3):
    return sum(np.sin(x) * (i + 1) for i in range(n))


def filled(x):
    return np.concatenate([x[1:] ** 2, x[:1]])


def written(x):
    return x * 2.0


@pytest.fixture(scope="module", autouse=True)
def registered():
    @s2s.rules.decompose(collected)
    def parts(x, n=3):
        items = []
        for i in range(n):
            items.append(np.sin(x) * (i + 1))
        return sum(items)

    @s2s.rules.decompose(filled)
    def buffer(x):
        y = np.zeros_like(x)
        y[:-1] = x[1:] ** 2
        y[-1] = x[0]
        return y

    @s2s.rules.decompose(written)
    def in_place(x):
        x *= 2.0
        return x


def by_list(x):
    return np.sum(np.cos(collected(x, 4)) * x)


def by_buffer(x):
    return np.sum(filled(filled(x) * x) * x)


def even(y):
    return np.sum(np.sin(np.gradient(y)))


def with_step(y, dx):
    return np.sum(np.sin(np.gradient(y, dx, edge_order=2)) * y)


def uneven(y, x):
    return np.sum(np.sin(np.gradient(y, x, edge_order=2)))


def both_axes(z, dx):
    u, v = np.gradient(z, dx, 2 * dx)
    return np.sum(np.sin(u) * v)


def one_axis(z, x):
    return np.sum(np.gradient(z, x, axis=-1) ** 2)


CASES = [(by_list, (Y,)), (by_list, (Z,)), (by_buffer, (Y,)), (even, (Y,)), (with_step, (Y, 0.3)), (uneven, (Y, X)),
         (both_axes, (Z, 0.3)), (one_axis, (Z, X))]  # fmt: skip


@pytest.mark.parametrize("f, args", CASES, ids=lambda v: getattr(v, "__name__", ""))
def test_compiled_tape_tangent_and_differences_agree(f, args):
    names = f.__code__.co_varnames[: len(args)]
    value, gradient = s2s.value_and_grad(f, names, strict=True)(*args)
    assert value == f(*args)
    assert s2s.check(f, *args)
    recorded = tape_value_and_grad(f, names, args)[2]
    for name, found in zip(names, gradient, strict=True):
        np.testing.assert_allclose(found, recorded[name], rtol=1e-9)
    directions = [RNG.normal(size=np.shape(arg))[()] for arg in args]
    slope = sum(np.sum(g * d) for g, d in zip(gradient, directions, strict=True))
    np.testing.assert_allclose(s2s.jvp(f, args, directions, strict=True)[1], slope, rtol=1e-8)


@pytest.mark.filterwarnings("ignore::s2s.FallbackWarning")
@pytest.mark.parametrize("f, args", CASES, ids=lambda v: getattr(v, "__name__", ""))
def test_second_derivatives_agree_with_differences(f, args):
    x, rest = args[0], args[1:]
    direction = RNG.normal(size=np.shape(x))
    df = s2s.grad(f)
    second = s2s.hvp((lambda v: f(v, rest[0])) if rest else f, (x,), (direction,))
    h = 1e-5
    expected = (df(x + h * direction, *rest) - df(x - h * direction, *rest)) / (2 * h)
    np.testing.assert_allclose(second, expected, rtol=1e-4, atol=1e-5)


def test_a_decomposition_that_writes_into_its_argument_is_refused():
    with pytest.raises(s2s.UnsupportedSyntaxError, match="decomposition of `in_place` writes into an argument"):
        s2s.grad(lambda x: np.sum(written(x) * x), strict=True)(Y)
    with pytest.warns(s2s.FallbackWarning), pytest.raises(s2s.InplaceModificationError):
        s2s.grad(lambda x: np.sum(written(x) * x))(Y)
