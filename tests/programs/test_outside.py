"""Programs that read what is not their own, globals, cells and what these hold, and have it changed as they run."""

import sys
import types
import warnings

import numpy as np
import pytest

import s2s

HERE = sys.modules[__name__]
RATE, COUNT, POWER = 2.0, 0, 1
WEIGHTS = np.array([1.0, -2.0, 0.5])
TABLE = {"a": np.array([1.0, 2.0, 3.0]), "s": 2.0}
ROWS = [np.array([0.5, 1.0, 2.0])]


class Held:
    array = np.array([3.0, 1.0, 2.0])
    count = 1.0


class Thing:
    pass


THING = Thing()


def start():
    """All as it is before a call."""
    global RATE, COUNT, POWER, WEIGHTS
    RATE, COUNT, POWER = 2.0, 0, 1
    WEIGHTS = np.array([1.0, -2.0, 0.5])
    TABLE.update(a=np.array([1.0, 2.0, 3.0]), s=2.0)
    ROWS[:] = [np.array([0.5, 1.0, 2.0])]
    Held.array, Held.count = np.array([3.0, 1.0, 2.0]), 1.0
    THING.v, THING.n = np.array([2.0, 0.0, 1.0]), 1.5


@pytest.fixture(autouse=True)
def as_before():
    start()
    yield
    start()


X = np.array([0.7, -1.2, 0.4])


def derivatives(make, **options):
    """Each way to the gradient at X of the function that `make` gives, which is made and called in a fresh state."""

    def fresh():
        start()
        return make()

    yield "grad", lambda: s2s.grad(fresh(), **options)(X)
    yield "vjp", lambda: s2s.vjp(fresh(), X, **options)[1](1.0)[0]
    yield "jvp", lambda: np.array([s2s.jvp(fresh(), (X,), (e,), **options)[1] for e in np.eye(3)])

    def again():
        derivative = s2s.grad(fresh(), **options)
        derivative(X)
        derivative(X)
        start()
        return derivative(X)

    if make.__name__ == "<lambda>":
        yield "a later call", again


def slope(make):
    found = np.zeros(3)
    for i in range(3):
        values = []
        for step in (1e-6, -1e-6):
            start()
            moved = X.copy()
            moved[i] += step
            values.append(make()(moved))
        found[i] = (values[0] - values[1]) / 2e-6
    start()
    return found


def agrees(make, **options):
    want = slope(make)
    for name, way in derivatives(make, **options):
        np.testing.assert_allclose(way(), want, rtol=1e-6, atol=1e-8, err_msg=name)


# --- numbers that are assigned ---


def assigned(x):
    global RATE
    y = RATE * np.sum(x**2)
    RATE = 11.0
    return y * RATE


def counted(x):
    global COUNT
    s = 0.0
    for v in x:
        COUNT += 1
        s = s + COUNT * v * v
    return s


def counted_while(x):
    global COUNT
    s = 0.0
    while COUNT < 3:
        s = s + (COUNT + 1) * np.sin(x[COUNT])
        COUNT = COUNT + 1
    return s * COUNT


def assigned_in_a_branch(x):
    global RATE
    y = RATE * x[0] ** 2
    if x[0] > 0.0:
        RATE = RATE * 3.0
        y = y + RATE * x[1] * x[2]
    return y * RATE


def asked_for_in_a_condition(x):
    global COUNT
    s = 0.0
    for v in x:
        if COUNT > 0:
            s = s + v * v
        else:
            s = s + 5.0 * v
        COUNT += 1
    return s


def to_a_power(x):
    global POWER
    s = 0.0
    for v in x:
        s = s + v**POWER
        POWER = POWER + 1
    return s


def raise_the_rate():
    global RATE
    RATE = 9.0


def by_a_helper(x):
    y = RATE * np.sum(x**2)
    raise_the_rate()
    return y * RATE


def double(n):
    global RATE
    RATE = RATE * 2
    if n > 0:
        double(n - 1)


def by_recursion(x):
    y = RATE * np.sum(x**2)
    double(2)
    return y * RATE


def through(n):
    double(n)
    return through(n - 1) if n > 0 else None


def by_recursion_of_a_helper(x):
    y = RATE * np.sum(np.sin(x))
    through(1)
    return y * RATE


def scaled(x, n):
    global RATE
    y = RATE * x
    RATE = RATE + 1.0
    return scaled(y, n - 1) if n > 0 else np.sum(y * RATE)


def by_a_pair(x):
    return scaled(x * RATE, 2) * RATE


def of_a_module(x):
    y = HERE.RATE * np.sum(x**2)
    raise_the_rate()
    return y * HERE.RATE


def of_a_class(x):
    y = Held.count * np.sum(x**2)
    Held.count = 4.0
    return y * Held.count


def not_at_all(x):
    return RATE * np.sum(x**2) * TABLE["s"]


NUMBERS = [
    assigned, counted, counted_while, assigned_in_a_branch, asked_for_in_a_condition, to_a_power, by_a_helper,
    by_recursion, by_recursion_of_a_helper, by_a_pair, of_a_module, of_a_class, not_at_all,
]  # fmt: skip


@pytest.mark.parametrize("f", NUMBERS)
def test_a_number_is_what_it_was_when_it_was_read(f):
    agrees(lambda: f, strict=True)


@pytest.mark.parametrize("f", [assigned, counted, by_recursion, to_a_power])
def test_second_derivatives_of_numbers_that_are_assigned(f):
    want = np.array([slope(lambda i=i: lambda x: _after_start(f, x)[i]) for i in range(3)])
    start()
    np.testing.assert_allclose(s2s.hessian(f)(X), want, rtol=1e-5, atol=1e-5)


def _after_start(f, x):
    start()
    return s2s.grad(f)(x)


def test_the_source_reads_a_number_once_where_it_changes():
    text = s2s.grad(assigned).source(X)
    assert text.count("= RATE\n") == 1
    assert "= RATE\n" not in s2s.grad(not_at_all).source(X)


def test_a_pullback_has_the_numbers_that_were_read():
    out, pull = s2s.vjp(assigned, X, strict=True)
    start()
    np.testing.assert_allclose(pull(1.0)[0], 44.0 * X)


class Odd:
    """Of its methods nothing is known."""

    def __getattr__(self, name):
        raise AttributeError(name)

    def step(self):
        global RATE
        RATE = 11.0
        WEIGHTS[:] = 5.0


ODD = Odd()


def by_an_unknown_call(x):
    y = RATE * np.sum(x**2)
    ODD.step()
    return y * RATE


def test_a_number_that_an_unknown_call_assigns():
    agrees(lambda: by_an_unknown_call)


# --- arrays that are written into ---


def of_a_dict(x):
    y = np.sum(TABLE["a"] * x**2)
    TABLE["a"][:] = 5.0
    return y + np.sum(TABLE["a"] * x)


def of_a_dict_by_name(x):
    y = np.sum(TABLE["a"] * x**2)
    w = TABLE["a"]
    w *= 5.0
    return y + np.sum(TABLE["a"] * x)


def of_a_dict_by_a_view(x):
    y = np.sum(TABLE["a"] * x**2)
    w = TABLE["a"][1:]
    w[0] = 7.0
    return y + np.sum(TABLE["a"] * x)


def of_a_list(x):
    y = np.sum(ROWS[0] * x**2)
    ROWS[0][:] = 5.0
    return y + np.sum(ROWS[0] * x)


def of_a_list_in_a_loop(x):
    y = np.sum(ROWS[0] * x**2)
    for row in ROWS:
        row *= 2.0
    return y + np.sum(ROWS[0] * x)


def of_a_class_attribute(x):
    y = np.sum(Held.array * x**2)
    Held.array[:] = 5.0
    return y + np.sum(Held.array * x)


def of_an_object(x):
    y = np.sum(THING.v * x**2)
    THING.v[:] = 5.0
    return y + np.sum(THING.v * x)


def of_a_global(x):
    y = np.sum(WEIGHTS * x**2)
    WEIGHTS[:] = 5.0
    return y + np.sum(WEIGHTS * x)


def of_a_part_of_a_global(x):
    y = np.sum(WEIGHTS * x**2)
    part = WEIGHTS[::2]
    part += 1.0
    return y + np.sum(WEIGHTS * x)


def fill():
    TABLE["a"][1:] = 4.0


def in_a_helper(x):
    y = np.sum(TABLE["a"] * x**2)
    fill()
    return y + np.sum(TABLE["a"] * x)


def fill_over(n):
    WEIGHTS[:] = WEIGHTS + 1.0
    if n > 0:
        fill_over(n - 1)


def in_recursion(x):
    y = np.sum(WEIGHTS * x**2)
    fill_over(2)
    return y + np.sum(WEIGHTS * x)


def given(a, n):
    return given(a, n - 1) if n > 0 else WEIGHTS


def of_a_result(x):
    y = np.sum(WEIGHTS * x**2)
    w = given(x, 1)
    w[0] = 6.0
    return y + np.sum(WEIGHTS * x)


ARRAYS = [
    of_a_dict, of_a_dict_by_name, of_a_dict_by_a_view, of_a_list, of_a_list_in_a_loop, of_a_class_attribute,
    of_an_object, of_a_global, of_a_part_of_a_global, in_a_helper, in_recursion, of_a_result,
]  # fmt: skip


@pytest.mark.parametrize("f", ARRAYS)
def test_an_array_is_what_it_was_when_it_was_read(f):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        agrees(lambda: f)


@pytest.mark.parametrize("f", ARRAYS)
def test_writes_into_what_is_not_the_functions_own_are_not_compiled(f):
    with pytest.raises(s2s.UnsupportedSyntaxError):
        s2s.grad(f, strict=True)(X)


def test_an_array_that_a_function_argument_holds():
    def f(x, g):
        y = np.sum(g() * x**2)
        a = g()
        a[:] = 5.0
        return y + np.sum(g() * x)

    def held():
        a = np.array([1.0, 2.0, 3.0])
        return lambda: a

    want = 2 * X * [1.0, 2.0, 3.0] + 5.0
    for _ in range(3):
        with pytest.warns(s2s.FallbackWarning, match="may be written into"):
            np.testing.assert_allclose(s2s.grad(f)(X, held()), want)


def test_a_variable_of_a_closure_that_a_helper_assigns():
    def make():
        n = 2.0

        def bump(k):
            nonlocal n
            n = n * 3
            if k > 0:
                bump(k - 1)

        def f(x):
            y = n * np.sum(x**2)
            bump(1)
            return y * n

        return f

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        agrees(make)
        derivative = s2s.grad(make())
        derivative(X)
        np.testing.assert_allclose(derivative(X) / X, np.full(3, 2 * 18.0 * 162.0))


def test_unknown_calls_beside_arrays_that_nobody_writes():
    def f(x):
        return np.sum(x * x) * RATE + ODD.step()

    with pytest.raises(s2s.UnsupportedSyntaxError), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        s2s.grad(lambda x: f(x) + np.sum(WEIGHTS * x), strict=True)(X)


def test_modules_of_the_users():
    module = types.ModuleType("settings")
    module.rate = 2.0

    def f(x):
        y = module.rate * np.sum(x**2)
        module.rate = 5.0
        return y * module.rate

    for _ in range(2):
        module.rate = 2.0
        np.testing.assert_allclose(s2s.grad(f)(X), 20 * X)


def test_a_list_that_is_only_appended_to_is_a_log():
    log = []

    def f(x, n):
        log.append(n)
        return np.sum(x * x) if n == 0 else f(x * 2.0, n - 1)

    value, gradient = s2s.value_and_grad(lambda x: f(x, 2), strict=True)(X)
    assert log == [2, 1, 0]
    np.testing.assert_allclose(gradient, 32 * X)


def test_a_list_that_is_appended_to_and_read():
    def make():
        log = [1.0]

        def f(x):
            s = 0.0
            for v in x:
                s = s + v * v * log[-1]
                log.append(log[-1] * 2.0)
            return s

        return f

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        agrees(make)


LOG = [1.0]


def lengths(x):
    s = 0.0
    for v in x:
        s = s + v * v * len(LOG)
        LOG.append(2.0)
    return s


def last_of_a_list_in_a_dict(x):
    s = 0.0
    for v in x:
        held = LOGS["a"]
        s = s + v * v * held[-1]
        held.append(held[-1] * 3.0)
    return s


LOGS = {"a": [1.0]}


@pytest.mark.parametrize("f", [lengths, last_of_a_list_in_a_dict])
def test_a_global_list_that_grows_in_a_loop(f):
    def make():
        LOG[:], LOGS["a"][:] = [1.0], [1.0]
        return f

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        agrees(make)


# --- each of these by itself, as planted bugs are found by them ---


def test_a_number_that_is_assigned_after_it_was_read():
    start()
    np.testing.assert_allclose(s2s.grad(assigned)(X), 44 * X)


def test_an_array_of_a_dict_that_is_written_after_it_was_read():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start()
        np.testing.assert_allclose(s2s.grad(of_a_dict)(X), 2 * np.array([1.0, 2.0, 3.0]) * X + 5.0)
