"""Decorated functions behave as the functions that they were: bound, pickled, mangled, defined in any order."""

import copy
import functools
import inspect
import pickle

import numpy as np
import pytest

import s2s


@s2s.grad
def slope(x, scale=2.0):
    """The slope of a cube."""
    return scale * x**3


@s2s.value_and_grad(argnums=("a", "b"))
def product(a, b):
    return a * np.sin(b)


class Base:
    def __init__(self, k):
        self.k = k
        self.__secret = 2.0 * k

    def energy(self, x):
        return self.k * x * x

    def hidden(self, x):
        return self.__secret * x * x

    @s2s.grad
    def force(self, x):
        return self.energy(x) * x

    @s2s.grad(argnums="x")
    def hidden_force(self, x):
        return self.hidden(x) + self.__secret * x

    @staticmethod
    @s2s.grad
    def static_force(x):
        return x**4

    @classmethod
    @s2s.value_and_grad
    def class_force(cls, x):
        return cls.weight * x**2

    weight = 3.0

    class Inner:
        @s2s.grad
        def deep(self, x):
            return x**5


class Child(Base):
    weight = 5.0

    def energy(self, x):
        return super().energy(x) + x**3

    @s2s.grad
    def force(self, x):
        return super().energy(x) * 2.0 + self.energy(x)


class WithSlots(Base):
    __slots__ = ("extra",)

    @s2s.grad
    def slotted(self, x):
        return self.extra * x * x


# --- methods ---


def test_methods_of_bases_and_children():
    base, child = Base(2.0), Child(3.0)
    for _ in range(3):
        assert base.force(0.5) == pytest.approx(3 * 2.0 * 0.25)
        assert child.force(0.5) == pytest.approx(2 * 3.0 * 2 * 0.5 + 3.0 * 2 * 0.5 + 3 * 0.25)
        assert Base.force(child, 0.5) == pytest.approx(3 * 3.0 * 0.25 + 4 * 0.125)


def test_super_in_a_decorated_method_that_is_inherited_further():
    class Grandchild(Child):
        def energy(self, x):
            return 10.0 * x

    assert Grandchild(3.0).force(0.5) == pytest.approx(2 * 3.0 * 2 * 0.5 + 10.0)
    assert Child(3.0).force(0.5) == pytest.approx(2 * 3.0 * 2 * 0.5 + 3.0 * 2 * 0.5 + 3 * 0.25)


def test_private_names_are_those_of_the_class():
    base = Base(2.0)
    for x in (0.5, 1.5):
        assert base.hidden_force(x) == pytest.approx(2 * 4.0 * x + 4.0)
    outside = s2s.grad(lambda b, x: b.hidden(x) * b._Base__secret, "x")
    assert outside(base, 0.5) == pytest.approx(2 * 16.0 * 0.5)


def test_static_and_class_methods_below_and_above():
    for owner in (Base, Base(1.0), Child, Child(1.0)):
        assert owner.static_force(0.5) == 4 * 0.125
        value, gradient = owner.class_force(0.5)
        assert (value, gradient) == (owner.weight * 0.25, owner.weight)


def test_get_binds_as_a_function_does():
    base = Base(2.0)
    bound = Base.__dict__["force"].__get__(base, Base)
    assert bound(0.5) == base.force(0.5)
    assert Base.__dict__["force"].__get__(None, Base)(base, 0.5) == base.force(0.5)
    assert list(inspect.signature(base.force).parameters) == ["x"]
    assert list(inspect.signature(Base.force).parameters) == ["self", "x"]


def test_attributes_set_on_the_class_later_become_methods():
    class Later:
        k = 3.0

    def energy(self, x):
        return self.k * x * x

    Later.force = s2s.grad(energy, argnums=1)
    assert Later.force(Later(), 0.5) == 3.0


def test_slots():
    thing = WithSlots(1.0)
    thing.extra = 4.0
    assert thing.slotted(0.5) == pytest.approx(4.0)
    thing.extra = 6.0
    assert thing.slotted(0.5) == pytest.approx(6.0)


# --- pickling and copying ---


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickled_functions_and_methods_come_back(protocol):
    def through(value):
        return pickle.loads(pickle.dumps(value, protocol))

    assert through(slope) is slope
    assert through(product) is product
    assert through(Base.force) is Base.force or through(Base.force)(Base(2.0), 0.5) == Base(2.0).force(0.5)
    assert through(Base(2.0).force)(0.5) == Base(2.0).force(0.5)
    assert through(Child(2.0).force)(0.5) == Child(2.0).force(0.5)
    assert through(Base.Inner().deep)(0.5) == pytest.approx(5 * 0.5**4)
    assert through(Base.static_force)(0.5) == 0.5
    assert through(Child.class_force)(0.5) == (5.0 * 0.25, 5.0)
    again = through(s2s.value_and_grad(Base.energy, argnums=1))
    assert again(Base(2.0), 0.5) == (0.5, 2.0)
    assert through(s2s.grad(s2s.grad(cube)))(0.5) == 3.0
    assert through(s2s.grad(functools.partial(cube_of, k=2.0)))(0.5) == 1.5


def cube(x):
    return x**3


def cube_of(x, k):
    return k * x**3


def test_copies_are_the_function_itself_or_work():
    assert copy.copy(slope) is slope
    assert copy.deepcopy(slope) is slope
    assert copy.deepcopy({"df": slope})["df"] is slope


def test_a_lambda_cannot_be_pickled_as_python_says():
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(s2s.grad(lambda x: x * x))


# --- what the decorated function looks like ---


def test_name_docstring_and_signature():
    assert slope.__name__ == "slope" and slope.__doc__ == "The slope of a cube." and slope.__module__ == __name__
    assert str(inspect.signature(slope, follow_wrapped=True)) == "(x, scale=2.0)"
    assert slope.__wrapped__(2.0) == 16.0


# --- decorator order, and names that mean something only later ---


def doubling(f):
    @functools.wraps(f)
    def doubled(*args, **keywords):
        return 2.0 * f(*args, **keywords)

    return doubled


@doubling
@s2s.grad
def doubled_slope(x):
    return x * x


@s2s.grad
@doubling
def slope_of_doubled(x):
    return x * x


@s2s.grad
@doubling
@doubling
def slope_of_quadrupled(x, k=1.0):
    return k * x * x


def test_decorators_above_and_below():
    for x in (0.5, 1.5):
        assert doubled_slope(x) == 4 * x
        assert slope_of_doubled(x) == 4 * x
        assert slope_of_quadrupled(x) == 8 * x
        assert slope_of_quadrupled(x, k=3.0) == 24 * x


def test_cached_functions():
    cached = functools.lru_cache(s2s.grad(cube))
    assert cached(0.5) == cached(0.5) == 0.75
    of_cached = s2s.grad(lambda x: coefficient(2) * x * x)
    assert of_cached(0.5) == 4.0


@functools.lru_cache
def coefficient(n):
    return 2.0 * n


def test_a_variable_that_is_assigned_after_the_decoration():
    @s2s.grad
    def f(x):
        return later(x) * factor * x  # noqa: F821

    with pytest.raises(NameError):
        f(0.5)

    def later(x):
        return x * x

    factor = 4.0
    for _ in range(3):
        assert f(0.5) == pytest.approx(3 * 4.0 * 0.25)
    factor = 8.0
    assert f(0.5) == pytest.approx(3 * 8.0 * 0.25)
    del factor
    with pytest.raises(NameError):
        f(0.5)


def test_a_global_that_is_assigned_after_the_decoration(monkeypatch):
    df = s2s.grad(uses_a_late_global)
    with pytest.raises(NameError):
        df(0.5)
    monkeypatch.setitem(globals(), "late_global", lambda x: 3.0 * x)
    assert df(0.5) == 3.0
    monkeypatch.setitem(globals(), "late_global", lambda x: 3.0 * x * x)
    assert df(0.5) == 3.0
    monkeypatch.delitem(globals(), "late_global")
    with pytest.raises(NameError):
        df(0.5)


def uses_a_late_global(x):
    return late_global(x)  # noqa: F821
