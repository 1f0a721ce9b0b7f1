"""Objects from outside whose attributes the function sets: set as by the function, and differentiated through."""

import copy
import warnings

import numpy as np
import pytest

import s2s

X = np.array([0.7, 0.3, 1.1])


class Simulation:
    def __init__(self, rate):
        self.rate = rate
        self.u = None
        self.log = 0.5
        self.steps = 0
        self.other = None

    def step(self):
        self.u = self.u + self.rate * np.sin(self.u)
        self.steps += 1
        if self.steps % 2:
            self.log = self.log + np.sum(self.u)

    def run(self, u0):
        self.u = u0 * 2.0
        for _ in range(3):
            self.step()
        self.previous = self.u
        self.u = self.u + self.rate
        return np.sum(self.u**2) * self.log + np.sum(self.previous)

    def cached(self, x):
        y = self.log * x[0]
        self.log = x[1] * x[0]
        y = y * self.log
        if x[0] > 0.5:
            self.log = x[0] * y
        return y * self.log

    def augmented(self, x):
        for v in x:
            self.log *= v
            self.log += self.rate
        return self.log * x[0]

    def first_in_a_loop(self, x):
        for v in x:
            if v > 0.6:
                self.fresh = v * v
        return self.fresh * x[1] if x[0] > 0.6 else x[1]

    def in_place(self, x):
        self.u = x * 1.0
        self.u[0] = x[1] * x[2]
        self.u *= x
        return np.sum(self.u**2)

    def argument_kept(self, x):
        self.u = x
        self.u[0] = x[1] * x[2]
        return np.sum(self.u**2)

    def read_by_another_name(self, x):
        self.other.log = x[0] * x[1]
        self.log = self.log * x[1]
        return self.log * self.other.log

    def read_in_a_call(self, x, other):
        self.log = x[0] * x[1]
        return other.log * x[2]

    def read_by_getattr(self, x):
        self.log = x[0] * x[1]
        return getattr(self, "log") * x[2]  # noqa: B009

    def read_in_a_list(self, x):
        self.log = x[0] * x[1]
        return [self][0].log * x[2]

    def read_by_a_recursion(self, x):
        self.log = x[0] * x[1]
        return recursive(self, 3, x[2])

    def set_in_a_call_that_stays(self, x):
        y = x[0]
        for v in x:
            y = y + sets(self, v * y)
        return y * self.log

    def read_later(self, x):
        self.log = x[0]
        read = lambda: self.log * x[1]  # noqa: E731
        self.log = self.log * x[2]
        return read()


def recursive(simulation, n, v):
    return v * simulation.log if n == 0 else recursive(simulation, n - 1, v * v)


def sets(simulation, v):
    """Not inlined in loops, where `late` might be that of an earlier round."""
    if v > 100.0:
        late = v
    simulation.log = v * 2.0
    return late if v > 100.0 else v


def compare(name, x, make, strict):
    """Value, gradient and what is left behind, call after call."""
    ours, theirs = make(), make()
    df = s2s.value_and_grad(getattr(ours, name), strict=strict)
    d, h = np.cos(np.arange(x.size)), 1e-6
    for _ in range(3):
        state = copy.deepcopy(theirs)
        value, gradient = df(x.copy())
        assert value == getattr(theirs, name)(x.copy())
        assert vars(ours).keys() == vars(theirs).keys()
        for attr, held in vars(theirs).items():
            if not isinstance(held, Simulation):
                np.testing.assert_array_equal(getattr(ours, attr), held)
        up, down = (getattr(copy.deepcopy(state), name)(x + e * h * d) for e in (1, -1))
        np.testing.assert_allclose(gradient @ d, (up - down) / (2 * h), rtol=1e-6, atol=1e-7)
        method = getattr(copy.deepcopy(state), name)
        tangent = s2s.jvp(method, (x.copy(),), (d,), strict=strict)[1]
        np.testing.assert_allclose(tangent, gradient @ d, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["run", "cached", "augmented", "read_later"])
@pytest.mark.parametrize("shift", [0.0, -0.25])
def test_attributes_of_self_are_set_and_differentiated_through(name, shift):
    compare(name, X + shift, lambda: Simulation(0.1), strict=True)


def pair():
    made = Simulation(0.2)
    made.other = Simulation(0.4)
    return made


def twice_the_same():
    made = Simulation(0.2)
    made.other = made
    return made


@pytest.mark.parametrize("make", [pair, twice_the_same])
@pytest.mark.parametrize(
    "name",
    [
        "in_place",
        "set_in_a_call_that_stays",
        "first_in_a_loop",
        "read_by_another_name",
        "read_by_getattr",
        "read_in_a_list",
        "read_by_a_recursion",
    ],
)
def test_attributes_that_are_read_in_another_way_are_never_taken_for_constants(name, make):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", s2s.FallbackWarning)
        compare(name, X, make, strict=False)


def test_two_arguments_may_be_one_object():
    made = Simulation(0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", s2s.FallbackWarning)
        gradient = s2s.grad(Simulation.read_in_a_call, argnums=1)(made, X, made)
    np.testing.assert_allclose(gradient, [X[1] * X[2], X[0] * X[2], X[0] * X[1]])
    assert made.log == X[0] * X[1]


def test_pullbacks_and_second_derivatives_of_functions_that_set_attributes():
    def f(m, x):
        m.log = np.sin(x) * m.rate
        return m.log * m.log

    m = Simulation(0.3)
    out, pullback = s2s.vjp(lambda x: f(m, x), 0.7)
    (slope,) = pullback(1.0)
    assert out == f(m, 0.7)
    np.testing.assert_allclose(slope, 0.09 * np.sin(1.4))
    second = s2s.grad(s2s.grad(f, argnums=1), argnums=1)
    np.testing.assert_allclose(second(m, 0.7), 0.18 * np.cos(1.4))


def test_classes_of_objects_that_are_made_may_be_redefined():
    class Base:
        gain = 2.0

        def energy(self, x):
            return self.gain * x

    class Model(Base):
        def __init__(self, w):
            self.w = w

        def energy(self, x):
            return self.w * super().energy(x)

    def helper(m, x):
        return m.energy(x)

    def f(x):
        return helper(Model(3.0), x)

    df = s2s.grad(f, strict=True)

    def holds(expected):
        for _ in range(3):
            assert df(1.0) == expected

    holds(6.0)
    Base.gain = 4.0
    holds(12.0)
    Base.energy = lambda self, x: x
    holds(3.0)
    Model.energy = lambda self, x: 7.0 * x * self.w
    holds(21.0)
    Model.__init__ = lambda self, w: setattr(self, "w", 2.0 * w)
    holds(42.0)
    Model.energy = lambda self, x, k=3.0: k * x
    holds(3.0)
    Model.energy.__defaults__ = (5.0,)
    holds(5.0)
    Base.energy = lambda self, x: 0.0
    holds(5.0)
    Model.__mul__ = lambda self, k: k
    holds(5.0)
    del Model.energy
    Base.energy = lambda self, x: x * x
    holds(2.0)
