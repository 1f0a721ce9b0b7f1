"""Random programs of views, writes and arithmetic, whose plain runs tell the gradient by differences.

A program is a list of instructions on a pool of arrays. The recorded run copies what later writes would destroy, so
every program must come out right; the eager run may refuse one, but if it does not, its gradient must be right too.
"""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import s2s
from s2s.autograd import Variable, grad
from s2s.autograd.record import tape_value_and_grad
from s2s.errors import InplaceModificationError

N = 4
VIEWS = [
    lambda a: a[1:], lambda a: a[::-1], lambda a: a[..., ::2], lambda a: a.T, lambda a: a.reshape(-1),
    lambda a: a[None], lambda a: a.ravel(), lambda a: np.transpose(a), lambda a: np.expand_dims(a, 0),
]  # fmt: skip
MAPS = [
    np.sin,
    lambda a: a * a,
    lambda a: 0.5 * a + 1.0,
    np.tanh,
    lambda a: a.copy(),
    lambda a: a[a.shape[0] // 2 :] * 2,
]
PAIRS = [np.add, np.multiply, np.subtract, lambda a, b: a / (2.0 + b * b), np.outer, np.maximum]


def fits(a, b):
    try:
        return np.broadcast_shapes(a.shape, b.shape) == a.shape
    except ValueError:
        return False


def run(program, x, constant=np.asarray):
    """Run a program; whatever does not fit by shape is left out."""
    pool = [x * 1.0, constant(np.zeros(N) + 0.3)]
    for kind, which, i, j, k in program:
        a, b = pool[i % len(pool)], pool[j % len(pool)]
        if kind == "view" and a.ndim < 4:
            pool.append(VIEWS[which % len(VIEWS)](a))
        elif kind == "map":
            pool.append(MAPS[which % len(MAPS)](a))
        elif kind == "pair" and a.size * b.size <= 64 and (fits(a, b) or which % len(PAIRS) == 4):
            pool.append(PAIRS[which % len(PAIRS)](a, b))
        elif kind == "write" and a.size and fits(a, b):
            write(a, b, which)
        elif kind == "item" and a.size:
            spot = tuple(k % n for n in a.shape)
            a[spot] = b.sum() * 0.1 if which % 2 else 0.25
        elif kind == "index" and a.ndim == 1 and a.size and b.size:
            index = [k % a.size, 0, k % a.size]
            if which % 2:
                a[index] += np.sin(b).ravel()[0]
            else:
                a[index] = np.stack([b.ravel()[0], b.ravel()[-1] * 2.0, b.sum()])
        if pool[-1].size == 0:
            pool.pop()
    return sum(np.sum(np.sin(a * (i + 1))) for i, a in enumerate(pool))


def write(a, b, which):
    if which % 5 == 0:
        a += b
    elif which % 5 == 1:
        a *= b
    elif which % 5 == 2:
        a[...] = b
    elif which % 5 == 3:
        a -= 0.5 * b
    else:
        a[: a.shape[0] // 2 + 1] = b[:1] if b.ndim == a.ndim else 0.5


INSTRUCTION = st.tuples(
    st.sampled_from(["view", "view", "map", "pair", "write", "write", "item", "index"]),
    st.integers(0, 20), st.integers(0, 9), st.integers(0, 9), st.integers(0, 9),
)  # fmt: skip


def differences(program, x, h=1e-6):
    steps = np.eye(x.size) * h
    return np.array([(run(program, x + s) - run(program, x - s)) / (2 * h) for s in steps])


def smooth(program, x):
    """Whether the differences can be trusted: two steps agree."""
    a, b = differences(program, x), differences(program, x, 3e-6)
    return np.all(np.isfinite(a)) and np.allclose(a, b, rtol=1e-4, atol=1e-4) and np.max(np.abs(a)) < 1e5


@settings(max_examples=60)
@given(st.lists(INSTRUCTION, min_size=2, max_size=9), st.integers(0, 1000))
def test_gradients_of_random_programs(program, seed):
    x = np.random.default_rng(seed).uniform(0.2, 1.0, N)
    with np.errstate(all="ignore"):
        if not smooth(program, x):
            return
        expected = differences(program, x)
        value, _, recorded = tape_value_and_grad(run, ["x"], (program, x))
        assert value == run(program, x)
    np.testing.assert_allclose(recorded["x"], expected, rtol=2e-4, atol=2e-4)
    v = Variable(x, requires_grad=True)
    try:
        (g,) = grad(run(program, v, Variable), v)
    except InplaceModificationError:
        return
    np.testing.assert_allclose(g.numpy(), expected, rtol=2e-4, atol=2e-4)


@pytest.mark.filterwarnings("ignore::s2s.FallbackWarning")
@settings(max_examples=40)
@given(st.lists(INSTRUCTION, min_size=2, max_size=7), st.integers(0, 1000))
def test_tangents_and_second_derivatives_of_random_programs(program, seed):
    rng = np.random.default_rng(seed)
    x, direction = rng.uniform(0.2, 1.0, N), rng.normal(size=N)

    def f(x):
        return run(program, x)

    def slope(x):
        return tape_value_and_grad(run, ["x"], (program, x))[2]["x"]

    def second(h):
        return (slope(x + h * direction) - slope(x - h * direction)) / (2 * h)

    with np.errstate(all="ignore"):
        if not smooth(program, x):
            return
        expected = second(1e-5)
        if not np.allclose(expected, second(3e-5), rtol=1e-4, atol=1e-4) or np.max(np.abs(expected)) > 1e5:
            return
        value, tangent = s2s.jvp(f, (x,), (direction,))
        assert value == run(program, x)
        np.testing.assert_allclose(tangent, slope(x) @ direction, rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(s2s.hvp(f, (x,), (direction,)), expected, rtol=1e-3, atol=1e-3)
        df = s2s.grad(f)
        for _ in range(3):
            np.testing.assert_array_equal(df(x), slope(x))
            np.testing.assert_allclose(s2s.jvp(df, (x,), (direction,))[1], expected, rtol=1e-3, atol=1e-3)
            np.testing.assert_allclose(s2s.vjp(df, x)[1](direction)[0], expected, rtol=1e-3, atol=1e-3)
