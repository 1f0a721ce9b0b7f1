"""Derivatives within differentiated code: `grad(energy)(x)` in a loss is compiled, its variables told apart."""

import numpy as np
import pytest

import s2s
from s2s import grad, value_and_grad


def energy(x, k=1.5):
    return k * np.sum(np.sin(x) * x**2)


denergy = grad(energy)
by_both = grad(energy, argnums=(0, "k"))


def spring(x, *, stiffness, rest=0.5):
    total = 0.0
    for i in range(x.size - 1):
        total = total + 0.5 * stiffness * (x[i + 1] - x[i] - rest) ** 2
    return total


def penalty_of_global(x):
    g = denergy(x)
    return np.sum(g**2) + energy(x)


def penalty(x):
    g = grad(energy)(x, 0.7)
    return np.sum(g**2) + energy(x)


def module_path(x):
    h = s2s.value_and_grad(energy)
    value, g = h(x, k=2.0)
    return np.sum(g**3) * value


def several(x):
    x_bar, k_bar = by_both(x, 0.3)
    return np.sum(x_bar * x) + k_bar**2


def leapfrog(x):
    q, p = x, np.cos(x)
    for _ in range(4):
        p = p - 0.05 * grad(spring)(q, stiffness=2.0)
        q = q + 0.1 * p
    return np.sum(q * p)


def closure(x):
    def inner(y):
        return np.sum(np.sin(x * y) * y)

    return np.sum(grad(inner)(x**2) * x)


def anonymous(x):
    total = 0.0
    for i in range(3):
        total = total + np.sum(grad(lambda y, n=i: np.sum(y**n * x))(np.exp(x)))
    return total


def chosen(x):
    slope = grad(energy) if x[0] > 100 else grad(lambda y: np.sum(y**3))
    return np.sum(slope(x) * x)


def nested_twice(x):
    def outer(y):
        def inner(z):
            return np.sum(x * y * z**3)

        return np.sum(grad(inner)(y) * x)

    return np.sum(grad(outer)(x) ** 2)


def newton(slope, x):
    for _ in range(3):
        x = x - 0.1 * slope(x)
    return x


def passed(x):
    return np.sum(newton(grad(energy), x) ** 2)


def passed_closure(x):
    return np.sum(newton(grad(lambda y: np.sum((y - x) ** 2 * y)), x * 0.5) ** 2)


def helped(x):
    def scaled(v):
        return v * x

    def inner(y):
        return np.sum(scaled(y) ** 2)

    return np.sum(grad(inner)(np.tanh(x)))


def with_aux(x):
    def inner(y):
        return np.sum(y**2 * x), y * 3

    g, extra = grad(inner, has_aux=True)(x + 1)
    return np.sum(g * extra)


def loop_in_it(x):
    def inner(y):
        t = y
        for i in range(3):
            t = t * np.sin(y + i) + x
        return np.sum(t)

    return np.sum(grad(inner)(x) * x)


def value_only(x):
    g = grad(energy)(np.array([0.3, 0.4]))
    return np.sum(x**2) * np.sum(g)


PROGRAMS = [
    penalty_of_global, penalty, module_path, several, leapfrog, closure, anonymous, nested_twice, passed,
    passed_closure, helped, with_aux, loop_in_it, value_only,
]  # fmt: skip


def differences(f, x, h=1e-6):
    out = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = h
        out[i] = (f(x + step) - f(x - step)) / (2 * h)
    return out


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("shape", [(3,), (2, 2), (1,)])
def test_compiled(f, shape, rng):
    if f in (leapfrog,) and shape == (2, 2):
        shape = (4,)
    x = rng.uniform(0.2, 1.2, size=shape)
    df = value_and_grad(f, strict=True)
    for _ in range(2):
        value, gradient = df(x)
        assert value == f(x)
        np.testing.assert_allclose(gradient, differences(f, x), rtol=2e-5, atol=1e-7)
    assert df.fallbacks == []


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_forward_and_second(f, rng):
    x = rng.uniform(0.2, 1.2, size=3)
    v = rng.normal(size=3)
    gradient = grad(f, strict=True)(x)
    _, tangent = s2s.jvp(f, (x,), (v,))
    np.testing.assert_allclose(tangent, gradient @ v, rtol=1e-9)
    second = grad(lambda x: np.sum(grad(f)(x) * v))(x)
    np.testing.assert_allclose(second, differences(lambda x: grad(f)(x) @ v, x), rtol=1e-4, atol=1e-6)


def test_perturbations_are_told_apart():
    """The classic traps: the derivative of x * (d/dy of x + y at y = 1) is 1, of x * (d/dy of x * y) is 2 x."""

    def sum_(x):
        def inner(y):
            return x + y

        return x * grad(inner)(1.0)

    def product(x):
        return x * grad(lambda y: x * y)(1.0)

    assert grad(sum_, strict=True)(1.0) == 1.0
    assert grad(product, strict=True)(4.0) == 8.0


def test_a_redefined_energy_is_noticed(rng):
    x = rng.uniform(0.2, 1.2, size=3)

    def first(y):
        return np.sum(y**2)

    def second(y):
        return np.sum(y**3)

    def loss(x):
        return np.sum(grad(held)(x) ** 2)

    global held
    held = first
    df = grad(loss, strict=True)
    for _ in range(3):
        np.testing.assert_allclose(df(x), 8 * x)
    held = second
    np.testing.assert_allclose(df(x), 36 * x**3)


def test_what_cannot_be_compiled_is_recorded(rng):
    x = rng.uniform(0.2, 1.2, size=3)
    with pytest.warns(s2s.FallbackWarning):
        np.testing.assert_allclose(grad(chosen)(x), differences(chosen, x), rtol=1e-5)


def test_functions_made_anew_each_have_their_own_variables(rng):
    """One text serves all functions of a factory: what their derivatives hold is read from each."""
    x = rng.uniform(0.2, 1.2, size=3)

    def make(k):
        def loss(x):
            return np.sum(grad(lambda y: np.sum(k * y**3 * x))(x) * x)

        return loss

    for k in (1.0, 2.5, -0.5):
        for _ in range(2):
            np.testing.assert_allclose(grad(make(k), strict=True)(x), 12 * k * x**3)


def test_a_closure_is_differentiated_as_it_is_now(rng):
    """A function of a factory may be another one in the next call, with other variables in it."""
    x = rng.uniform(0.2, 1.2, size=3)

    def power(n):
        def energy(y):
            return np.sum(y**n)

        return energy

    def make(energy):
        def loss(x):
            return np.sum(grad(energy)(x) ** 2)

        return loss

    for n in (2, 3, 2):
        with pytest.warns(s2s.FallbackWarning):
            gradient = grad(make(power(n)))(x)
        np.testing.assert_allclose(gradient, 2 * n**2 * (n - 1) * x ** (2 * n - 3))


def test_a_derivative_of_a_closure_is_taken_at_its_variables(rng):
    """`slope` is one object as long as `make` is not called again."""
    x = rng.uniform(0.2, 1.2, size=3)

    def make(k):
        slope = grad(lambda y: np.sum(k * y**3))

        def loss(x):
            return np.sum(slope(x))

        return loss

    for k in (1.0, 2.5, -0.5):
        np.testing.assert_allclose(grad(make(k), strict=True)(x), 6 * k * x)


def test_variables_are_read_when_the_derivative_is_called(rng):
    def late(x):
        scale = x[0]
        slope = grad(lambda y: np.sum(y**2 * scale))
        scale = x[1]
        before = slope(x)
        scale = 2 * x[1]
        return np.sum(before) + np.sum(slope(x))

    x = rng.uniform(0.2, 1.2, size=3)
    s2s.check(late, x)
    np.testing.assert_allclose(grad(late, strict=True)(x), differences(late, x), rtol=1e-6)


def test_a_derivative_that_is_handed_on_stays_right(rng):
    def kept(x):
        slopes = [grad(lambda y: np.sum(y**2 * x))]
        return np.sum(slopes[0](x))

    x = rng.uniform(0.2, 1.2, size=3)
    with pytest.warns(s2s.FallbackWarning):
        np.testing.assert_allclose(grad(kept)(x), 4 * x, rtol=1e-12)


def test_wrong_calls_raise_what_python_raises():
    def wrong(x):
        return np.sum(grad(energy)(x, 1.0, 2.0))

    with pytest.warns(s2s.FallbackWarning), pytest.raises(TypeError, match="positional argument"):
        grad(wrong)(np.ones(3))


def test_writes_into_what_a_derivative_takes(rng):
    """The argument stays as it is, and what is written before and after counts."""

    def inner(y):
        y = y * 1.0
        y[0] = y[0] ** 2
        return np.sum(y * y)

    def outer(x):
        buffer = x * 2.0
        buffer[1] = x[0] * x[1]
        g = grad(inner)(buffer)
        buffer[2] = 0.0
        return np.sum(g * buffer)

    x = rng.uniform(0.2, 1.2, size=3)
    np.testing.assert_allclose(grad(outer, strict=True)(x), differences(outer, x), rtol=1e-6)
