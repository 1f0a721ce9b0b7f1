"""Calls of functions that cannot be compiled, recorded by themselves among compiled code, and what they must not do."""

import warnings
from contextlib import nullcontext

import numpy as np
import pytest

import s2s
from s2s.errors import DynamicCallError, FallbackWarning
from tests.api.slopes import slope

X = np.array([0.3, 0.7, -0.4])


def is_by_call(df):
    return df.driver.latest is not None and df.driver.latest.compiled.built is not None


def by_call(f, x, *others, times=4):
    """Right from the first call on, and compiled from the second on: `others` are arguments for later calls."""
    df = s2s.value_and_grad(f)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        for number in range(times):
            value, gradient = df(x)
            np.testing.assert_array_equal(value, f(x))
            np.testing.assert_allclose(gradient, slope(f, x), rtol=1e-6, atol=1e-8)
            assert is_by_call(df) or number == 0
        for other in others:
            value, gradient = df(other)
            np.testing.assert_array_equal(value, f(other))
            np.testing.assert_allclose(gradient, slope(f, other), rtol=1e-6, atol=1e-8)
    with pytest.raises(s2s.S2SError):
        s2s.grad(f, strict=True)(x)
    return df


def whole(f, x):
    """Right in every call, and recorded as a whole: what is called cannot be recorded by itself."""
    df = s2s.grad(f)
    for _ in range(4):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FallbackWarning)
            np.testing.assert_allclose(df(x), slope(f, x), rtol=1e-6, atol=1e-8)
        assert not is_by_call(df)


def refused_once(f, x, match):
    """Recorded by itself for n = 1; for n = 2 refused, before anything is returned, and whole from then on."""
    df = s2s.grad(f)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        for _ in range(3):
            np.testing.assert_allclose(df(x, 1), slope(lambda x: f(x, 1), x), rtol=1e-6, atol=1e-8)
        assert is_by_call(df)
        before = x.copy()
        with pytest.raises(DynamicCallError, match=match):
            df(x, 2)
        np.testing.assert_array_equal(x, before)
        for n in (2, 1, 2):
            np.testing.assert_allclose(df(x, n), slope(lambda x: f(x, n), x), rtol=1e-6, atol=1e-8)  # noqa: B023
            assert not is_by_call(df)


# --- functions that are not compiled ---


def sine(x, n=2):
    with nullcontext():
        return np.sin(x) * n


def pair(x, y):
    with nullcontext():
        s = x * y
    return np.tanh(s), np.sum(s)


def positive(v):
    with nullcontext():
        return v**0.5 if v > 0 else 0


def kept(items):
    with nullcontext():
        return items["w"] * items["b"][0]


def applied(h, v):
    with nullcontext():
        return h(v)


# --- what works ---


def test_in_loops_and_branches_among_compiled_code():
    def f(x):
        y = x * 2.0
        s = 0.0
        for i in range(3):
            if y[0] > 0.1:
                y = sine(y, i + 1) + x
            else:
                y = y * y + sine(y, n=i)
            s = s + np.sum(y * y)
        return s

    df = by_call(f, X, -X, X * 3.0)
    assert "sine_bwd" in df.source(X)


def test_results_that_are_tuples():
    def f(x):
        a, s = pair(x, x * x)
        b, t = pair(a, x)
        return np.sum(a * b) * s + t

    by_call(f, X)


def test_numbers_and_results_of_several_kinds():
    def f(x):
        return positive(x) * 3.0 + positive(x * x) + x

    by_call(f, 0.7, 0.9)
    df = s2s.grad(f)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        for x in (0.7, 0.7, -0.7, 0.5, -0.2):
            assert df(x) == pytest.approx(slope(f, x), rel=1e-6)


def test_float32_stays_float32():
    df = s2s.grad(lambda x: np.sum(sine(x) * x))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        for _ in range(3):
            got = df(X.astype(np.float32))
            assert got.dtype == np.float32
            np.testing.assert_allclose(got, 2 * (np.cos(X) * X + np.sin(X)), rtol=1e-5)
    assert is_by_call(df)


def test_inactive_calls():
    def f(x):
        n = sine(2.0, 3)
        y = x * n
        return np.sum(y * sine(np.array([1.0, 2.0, 3.0])))

    df = s2s.grad(f)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        for _ in range(3):
            np.testing.assert_allclose(df(X), slope(f, X), rtol=1e-6)


def test_containers_of_inactive_values_and_functions_as_arguments():
    def f(x):
        scale = kept({"w": 2.0, "b": [3.0, 4.0]})
        return np.sum(applied(np.sin, x)) * scale + np.sum(applied(sine, x * x))

    df = s2s.grad(f)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        for _ in range(3):
            np.testing.assert_allclose(df(X), slope(f, X), rtol=1e-6)


def test_functions_made_anew():
    def made(k):
        def g(v):
            with nullcontext():
                return k * v * v

        return g

    df = s2s.grad(lambda g, x: np.sum(g(x) * x), argnums="x")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        for k in (1.0, 2.0, 3.0, -1.0):
            np.testing.assert_allclose(df(made(k), X), 3 * k * X * X)
    assert is_by_call(df)


def test_functions_made_anew_over_values_of_other_kinds():
    def made(k):
        def g(v):
            with nullcontext():
                return k * v

        return g

    df = s2s.grad(lambda g, x: np.sum(g(x)), argnums="x")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        for k in (2.0, 3.0, np.array([[1.0], [2.0]]), 4.0, np.array([[3.0], [2.0]]), np.array([[1.0], [1.0]])):
            np.testing.assert_allclose(df(made(k), X), np.sum(k) * np.ones(3))
    assert is_by_call(df)


def test_a_float_that_is_an_integer_at_times():
    def f(x, n):
        v = 0
        for _ in range(n):
            v = v + x
        return positive(v) * x + v * 2.0

    df = s2s.grad(f)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        for n in (2, 2, 2, 0, 0, 1):
            try:
                got = df(0.7, n)
            except DynamicCallError:  # an integer was returned
                assert n == 0
                continue
            assert got == pytest.approx(slope(lambda x: f(x, n), 0.7), rel=1e-6)  # noqa: B023


def test_what_is_active_does_not_pass_by_lists_that_compiled_code_writes():
    def f(x):
        LEFT.clear()
        LEFT.append(x * x)
        return np.sum(takes(x))

    whole(f, X)


def test_complex_numbers_inside():
    def turned(z):
        with nullcontext():
            return z * (1.0 + 2.0j)

    by_call(lambda x: np.sum(np.abs(turned(x * 1.0j) + x) ** 2), X)


def test_recursion_through_a_cell():
    def outer(v):
        def rec(n):
            with nullcontext():
                return v if n == 0 else rec(n - 1) * v

        return rec(3)

    def f(x):
        return np.sum(outer(x) * x)

    by_call(f, X)


def test_a_helper_in_the_middle_is_inlined():
    def middle(y):
        return sine(y) * y

    by_call(lambda x: np.sum(middle(x) + middle(x * x)), X)


def test_second_derivatives_go_to_the_tape():
    def f(x):
        return np.sum(sine(x) * x)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        df = s2s.grad(f)
        for _ in range(3):
            df(X)
            hess = s2s.jacobian(df)(X)
            np.testing.assert_allclose(hess, np.diag(2 * (2 * np.cos(X) - X * np.sin(X))), atol=1e-12)
        s2s.grad(lambda x: np.sum(s2s.grad(f)(x) * x))(X)


# --- effects, exceptions, and what the function sees ---


def test_effects_and_random_draws_happen_once():
    seen = []
    rng = np.random.default_rng(3)

    def noisy(x):
        with nullcontext():
            seen.append(len(seen))
            y = x * rng.normal()
            seen.append("left")
            return y

    def f(x):
        return np.sum(noisy(x) * x)

    df = s2s.value_and_grad(f)
    reference = np.random.default_rng(3)
    for number in range(3):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FallbackWarning)
            value, gradient = df(X)
        k = reference.normal()
        assert len(seen) == 2 * (number + 1)
        np.testing.assert_allclose(gradient, 2 * k * X)
        np.testing.assert_allclose(value, np.sum(k * X * X))
    assert is_by_call(df)


def test_exceptions_pass():
    def fragile(v, n):
        with nullcontext():
            v = v * v
        if n > 2:
            raise KeyError("the user's own")
        return v

    df = s2s.grad(lambda x, n: np.sum(fragile(x, n)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        for _ in range(3):
            np.testing.assert_allclose(df(X, 1), 2 * X)
            with pytest.raises(KeyError, match="the user's own"):
                df(X, 3)
        np.testing.assert_allclose(df(X, 1), 2 * X)
    assert is_by_call(df)


def test_tests_of_types_see_plain_values():
    def typed(v, s):
        with nullcontext():
            assert isinstance(v, np.ndarray) and isinstance(s, float) and v.dtype == float
            return v * 2.0 if isinstance(s, float) else v * 100.0

    by_call(lambda x: np.sum(typed(x, 2.0) * typed(x * x, 0.5)), X)


# --- values that pass by another way than the result ---

LEFT = []
STATE = {"last": 0.0}


class Holder:
    last = None


HOLDER = Holder()


def leaves_in_a_list(v):
    with nullcontext():
        LEFT.append(v * 2.0)
    return v * v


def leaves_in_a_dict(v):
    with nullcontext():
        STATE["last"] = np.sum(v)
    return v * v


def leaves_in_an_object(v):
    with nullcontext():
        HOLDER.last = v
    return v * v


def takes(v):
    with nullcontext():
        return v * (LEFT.pop() if LEFT else 1.0)


def takes_from_the_object(v):
    with nullcontext():
        return v * HOLDER.last


def test_values_left_in_lists():
    def f(x):
        LEFT.clear()
        y = leaves_in_a_list(x)
        return np.sum(takes(y))

    whole(f, X)


def test_values_left_on_objects():
    def f(x):
        y = leaves_in_an_object(x)
        return np.sum(takes_from_the_object(y))

    whole(f, X)


def test_values_left_in_dicts():
    whole(lambda x: np.sum(leaves_in_a_dict(x)), X)


def test_values_left_in_a_closure():
    def maker():
        held = 0.0

        def keep(v):
            nonlocal held
            with nullcontext():
                held = v * 3.0
            return v * v

        def take(v):
            with nullcontext():
                return v * held

        return keep, take

    keep, take = maker()

    def f(x):
        return np.sum(take(keep(x)))

    whole(f, X)


def test_closures_over_active_locals():
    def f(x):
        y = x * x

        def inner(v):
            with nullcontext():
                return v * y

        return np.sum(inner(x))

    whole(f, X)


def test_arguments_that_are_written():
    def writing(v):
        with nullcontext():
            v[0] = v[1] * 2.0
        return np.sum(v * v)

    def f(x):
        y = x * 1.0
        s = writing(y)
        return s + np.sum(y**3)

    whole(f, X)


def test_integers_that_are_written():
    def counting(k, v):
        with nullcontext():
            k[0] += 1
        return v * k[0]

    def f(x):
        k = np.array([1, 2, 3])
        return np.sum(counting(k, x)) * k[0]

    whole(f, X)


def test_containers_that_are_written():
    def noting(items, v):
        with nullcontext():
            items.append(3.0)
        return v * items[0]

    def f(x):
        items = [2.0]
        y = noting(items, x)
        return np.sum(y * len(items) * items[-1])

    whole(f, X)


@pytest.mark.parametrize("part", [lambda v: v, lambda v: v[1:], lambda v: v[::-1], lambda v: (v[:2], 1.0)])
def test_views_that_are_returned(part):
    def viewing(v):
        with nullcontext():
            return part(v)

    def f(x):
        y = x * 1.0
        z = viewing(y)
        z = z[0] if isinstance(z, tuple) else z
        y[1] = 5.0 * x[0]
        return np.sum(z * z) + np.sum(y)

    whole(f, X)


def test_arrays_found_by_name_that_are_written_or_returned():
    table = np.ones(3)

    def writing(v):
        with nullcontext():
            table[0] = v[1]
        return np.sum(v * table)

    def returning(v):
        with nullcontext():
            return table

    whole(lambda x: writing(x) * 1.0, X)
    table[0] = 1.0
    whole(lambda x: np.sum(returning(x) * x), X)


def test_generators_that_are_returned():
    def generating(v):
        with nullcontext():
            return (v * i for i in range(3))

    def f(x):
        return np.sum(sum(generating(x)) * x)

    whole(f, X)


def test_methods_and_state_of_objects():
    class Model:
        def __init__(self):
            self.w = 2.0

        def layer(self, v):
            with nullcontext():
                self.last = v * self.w
            return self.last * v

    model = Model()

    def f(x):
        y = model.layer(x)
        return np.sum(y * model.last)

    whole(f, X)


def test_what_is_done_in_some_calls_only_is_refused():
    box = []

    def leaving(v, n):
        with nullcontext():
            if n > 1:
                box.append(v * v)
        return v * 2.0

    def writing(v, n):
        with nullcontext():
            if n > 1:
                v[0] = v[1]
        return v * 2.0

    def noting(items, v, n):
        with nullcontext():
            if n > 1:
                items.append(3.0)
        return v * items[-1]

    def viewing(v, n):
        with nullcontext():
            return v[:2] if n > 1 else v[:2] * 1.0

    refused_once(lambda x, n: np.sum(leaving(x, n)) * 1.0, X, "left a value that carries a derivative behind")
    refused_once(lambda x, n: np.sum(writing(x * 1.0, n)), X, "`writing`.* wrote into its argument `v`")
    refused_once(lambda x, n: np.sum(noting([2.0], x, n)), X, "`noting`.* changed its argument `items`")
    refused_once(lambda x, n: np.sum(viewing(x, n) * x[:2]), X, "`viewing`.* returned memory")


# --- kinds that change ---


def test_a_result_of_another_kind_is_refused_before_anything_is_returned():
    seen = []

    def shaped(v, n):
        with nullcontext():
            seen.append(n)
            return np.sum(v) if n > 1 else v * v

    def f(x, n):
        return np.sum(shaped(x, n) * x)

    df = s2s.grad(f)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        for _ in range(3):
            np.testing.assert_allclose(df(X, 1), 3 * X * X)
        del seen[:]
        with pytest.raises(DynamicCallError, match="`shaped`.*something else before"):
            df(X, 2)
        assert seen == [2]
        for n in (2, 1, 2, 1):
            np.testing.assert_allclose(df(X, n), slope(lambda x: f(x, n), X), rtol=1e-6)  # noqa: B023


def test_a_function_that_is_called_only_later():
    def f(x, n):
        y = x * x
        if n > 1:
            y = sine(y, n)
        return np.sum(y * x)

    df = s2s.grad(f)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        for n in (1, 1, 2, 2, 3, 1):
            np.testing.assert_allclose(df(X, n), slope(lambda x: f(x, n), X), rtol=1e-6)  # noqa: B023
    assert is_by_call(df)


# --- what users are told ---


def cosine(x):
    with nullcontext():
        return np.cos(x)


def test_fallbacks_name_the_function_and_the_line():
    def f(x):
        return np.sum(cosine(x) * x)

    df = s2s.grad(f)
    with pytest.warns(FallbackWarning, match="f could not be compiled"):
        df(X)
    with pytest.warns(FallbackWarning, match="cosine could not be compiled"):
        df(X)
    whole, call = df.fallbacks
    assert (whole.function, call.function) == ("f", "cosine")
    assert call.file == __file__
    assert call.line == cosine.__code__.co_firstlineno + 1
    with pytest.raises(s2s.S2SError, match="with"):
        s2s.grad(f, strict=True)(X)
