"""Nested functions and lambdas: compiled where they are called, on the tape where they escape.

The second half holds what a function may do that calls helpers which are not compiled: the value is the plain call's,
effects happen once, and the gradient is exact, on the tape with a warning, or refused.
"""

import types
import warnings

import numpy as np
import pytest

import s2s
from s2s.errors import FallbackWarning
from tests.api.slopes import slope


def exact(f, x, strict=True):
    value, gradient = s2s.value_and_grad(f, strict=strict)(x)
    np.testing.assert_array_equal(value, f(x))
    np.testing.assert_allclose(gradient, slope(f, x), rtol=1e-6, atol=1e-8)
    if strict:
        dot = 1.0 if isinstance(x, float) else np.cos(np.arange(x.size)).reshape(x.shape)
        out, out_dot = s2s.jvp(f, (x,), (dot,), strict=True)
        np.testing.assert_array_equal(out, f(x))
        np.testing.assert_allclose(out_dot, np.sum(gradient * dot), rtol=1e-9, atol=1e-12)


def on_the_tape(f, x):
    with pytest.raises(s2s.S2SError):
        s2s.grad(f, strict=True)(x)
    with pytest.warns(FallbackWarning):
        s2s.grad(f)(x)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        exact(f, x, strict=False)


# --- compiled ---


def made(k, power=2):
    def f(u, shift=0.5):
        return k * u**power + shift

    return f


def march(rhs, y, steps=3):
    for _ in range(steps):
        y = y + 0.1 * rhs(y)
    return y


def test_closures_over_active_locals():
    def f(x):
        y = x * x

        def g():
            return y

        def h(z):
            def inner():
                return z * g()

            return inner() * x

        return h(5.0)

    exact(f, 2.0)


def test_a_closure_sees_what_its_variables_hold_when_it_is_called():
    def f(x):
        y = x

        def g(v):
            return y * v

        first = g(x)
        y = np.sin(x)
        for _ in range(3):
            y = y * 1.1
            first = first + g(y)
        return first

    exact(f, 0.7)


def test_closures_in_loops_branches_and_early_returns():
    def f(x):
        total = 0.0
        for i in range(4):

            def term(n, k=i):
                if n > 2.0:
                    return n * x
                for _ in range(k):
                    n = n * 0.9 + x
                return n

            if x > 0.5:
                total = total + term(x * i)
            else:
                total = total - term(total)
        return total

    exact(f, 0.7)
    exact(f, 0.3)
    exact(f, 1.7)


def test_functions_that_make_functions():
    def f(x):
        double, cubed = made(2.0), made(x, power=3)
        return double(x) + cubed(x, shift=x) * double(0.1)

    exact(f, 0.7)


def test_lambdas_as_arguments():
    def f(x):
        c = 2.0 * x
        return march(lambda y: -c * y, x) + march(lambda y: march(lambda z: y * z, y, 2), 0.1 * x, steps=2)

    exact(f, 0.7)
    exact(lambda x: np.sum(march(lambda y: np.tanh(y) * x, x)), np.array([0.3, -0.7]))


def test_arrays_and_containers_in_closures():
    def f(w):
        layers = {"a": w[0] * w, "b": [w, 2.0 * w]}

        def layer(name, x):
            return np.tanh(layers[name] * x)

        def both(x):
            return layer("a", x) + layers["b"][1] * x

        return np.sum(both(w) * both(np.ones(3)))

    exact(f, np.array([0.3, -0.7, 0.2]))


def test_closure_over_a_name_of_the_module_that_is_hidden():
    def f(x):
        march = 3.0 * x

        def g(slope):
            return slope * march

        return g(x)

    exact(f, 0.7)


def test_second_derivative_through_closures():
    def f(x):
        y = x * x
        return (lambda v: v * y)(x)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        assert s2s.grad(s2s.grad(f))(2.0) == pytest.approx(12.0)


def test_unbound_variable_of_a_closure_raises():
    def f(x, flag):
        if flag:
            y = x
        return (lambda: y * x)()

    df = s2s.grad(f)
    assert df(3.0, True) == 6.0
    with pytest.raises(NameError):
        df(3.0, False)


# --- what goes to the tape, or is refused ---


def test_closures_that_escape():
    def in_a_list(x):
        parts = [lambda v, k=k: v * k * x for k in (1.0, 2.0)]
        return parts[0](x) + parts[1](x)

    def recursive(x):
        def again(n):
            return x if n == 0 else x * again(n - 1)

        return again(3)

    def rebinding(x):
        total = 0.0

        def add(v):
            nonlocal total
            total = total + v * x

        add(x)
        add(2.0)
        return total

    assert s2s.grad(rebinding, strict=True)(3.0) == 8.0
    assert s2s.grad(recursive, strict=True)(2.0) == 32.0
    on_the_tape(in_a_list, 0.7)


def test_values_stored_on_objects():
    def f(x):
        box = types.SimpleNamespace(v=x * x)
        box.v = box.v * x
        return box.v

    exact(f, 0.7)


def test_views_returned_by_helpers_and_written():
    def first(a):
        return a[:2]

    def f(x):
        y = x * 2.0
        v = first(y)
        v *= x[1]
        return np.sum(y * y)

    exact(f, np.array([0.3, -0.7, 0.2]), strict=False)


def test_containers_written_by_helpers():
    def note(seen, v):
        seen.append(v * v)

    def f(x):
        seen = [x]
        note(seen, x)
        note(seen, seen[1])
        return seen[2] * seen[0]

    exact(f, 0.7, strict=False)


def test_arrays_written_by_recursive_helpers():
    def fill(a, i, v):
        if i < len(a):
            a[i] = v
            fill(a, i + 1, v * v)

    def f(x):
        a = np.zeros(3)
        fill(a, 0, x)
        return np.sum(a)

    exact(f, 0.7, strict=False)


def test_generators():
    def parts(x):
        yield x
        yield x * x

    def f(x):
        total = 0.0
        for p in parts(x):
            total = total + p * x
        return total

    exact(f, 0.7)


def test_exceptions_that_are_caught():
    def checked(x):
        if x > 1.0:
            raise ValueError("large")
        return x * x

    def f(x):
        try:
            return checked(x)
        except ValueError:
            return 3.0 * x

    for x, right in ((0.7, 1.4), (1.7, 3.0)):
        assert s2s.grad(f, strict=True)(x) == right


def test_type_and_identity_tests_see_the_values():
    def helper(x, other):
        assert isinstance(x, float)
        return x * 2.0 if x is not other else x

    def nested(x, n):
        if not isinstance(x, float):
            return -1.0
        return helper(x, None) if n == 0 else nested(x * x, n - 1)

    exact(lambda x: nested(x, 2), 0.7)


def test_effects_and_draws_happen_once_on_the_tape_too():
    seen = []
    rng = np.random.default_rng(3)

    def helper(x):
        try:
            seen.append(1)
            return x * rng.normal()
        finally:
            pass

    def f(x):
        return helper(x) * x

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        value, gradient = s2s.value_and_grad(f)(0.7)
    assert seen == [1]
    draw = np.random.default_rng(3).normal()
    assert value == 0.7 * draw * 0.7 and gradient == pytest.approx(2 * 0.7 * draw)


def test_active_values_in_globals_and_attributes_of_callees():
    class Model:
        def __init__(self):
            self.w = 1.0

        def set(self, w):
            self.w = w

        def value(self, n):
            return self.w if n == 0 else self.w * self.value(n - 1)

    def f(x):
        model = Model()
        model.set(x)
        return model.value(2)

    on_the_tape(f, 0.7)
