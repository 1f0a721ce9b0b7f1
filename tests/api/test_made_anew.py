"""Functions made anew for each call are compiled once for their code, and read what each of them holds."""

import itertools
import math

import numpy as np
import pytest

import s2s
from tests.api.slopes import slope


@pytest.fixture
def compiles(monkeypatch):
    """The names of the functions that are compiled from here on."""
    from s2s.compiler import callees, store

    names = []
    original = store.compile_function

    def counting(lower, task, name):
        names.append(name)
        return original(lower, task, name)

    monkeypatch.setattr(store, "compile_function", counting)
    monkeypatch.setattr(callees, "compile_function", counting)
    return names


def march(rhs, y, n):
    for i in range(n):
        y = y + 0.1 * rhs(y) * (i + 1)
    return np.sum(y)


def marched(rhs, y, n):
    return np.sum(y) if n == 0 else marched(rhs, y + 0.1 * rhs(y), n - 1)


def quadrature(f, a, b, tol):
    m = 0.5 * (a + b)
    h = b - a
    whole = h * (f(a) + 4.0 * f(m) + f(b)) / 6.0
    halves = h * (f(a) + 4.0 * f(0.5 * (a + m)) + 2.0 * f(m) + 4.0 * f(0.5 * (m + b)) + f(b)) / 12.0
    if abs(whole - halves) < tol:
        return halves
    return quadrature(f, a, m, 0.5 * tol) + quadrature(f, m, b, 0.5 * tol)


def scaled(k):
    return lambda t: k * t * t


def shifted(k, shift):
    def f(t, a=k, *, b=shift):
        return np.sin(a * t) + b

    return f


def composed(g, h):
    return lambda t: g(h(t))


def powers(c):
    def power(t, n):
        return t if n == 0 else power(t * c, n - 1)

    return power


def applied(f, y, n):
    return f(y, n) * y


# --- compiled once, and right ---


@pytest.mark.parametrize("solve", [march, marched])
def test_a_thousand_lambdas_of_one_code_are_compiled_once(compiles, solve):
    df = s2s.grad(solve, argnums=1, strict=True)
    found = [df(lambda t: t * k, 0.7, 2) for k in np.linspace(-1.0, 1.0, 1000).tolist()]  # noqa: B023
    factors = (1, 2) if solve is march else (1, 1)
    expected = [math.prod(1 + 0.1 * k * i for i in factors) for k in np.linspace(-1.0, 1.0, 1000).tolist()]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert len(compiles) == (1 if solve is march else 2)
    assert len(df.driver._variants) == 1


@pytest.mark.parametrize("solve", [march, marched])
@pytest.mark.parametrize(
    "made",
    [
        lambda k, rng: scaled(k),
        lambda k, rng: shifted(k, 2.0 * k),
        lambda k, rng: composed(scaled(k), shifted(2.0 * k, k)),
        lambda k, rng: composed(composed(scaled(k), np.sin), lambda t: t + k),
        lambda k, rng: (lambda table: lambda t: table["k"] * t + table["all"][1])({"k": k, "all": [1.0, 2.0 * k]}),
    ],
    ids=["cell", "defaults", "functions", "functions of functions", "containers"],
)
def test_closures_over_numbers_functions_and_containers(compiles, solve, made):
    rng = np.random.default_rng(5)
    df = s2s.value_and_grad(solve, argnums=1, strict=True)
    for y in (0.3, rng.normal(size=3), rng.normal(size=(2, 3))):
        del compiles[:]
        for k in rng.normal(size=6).tolist():
            f = made(k, rng)
            value, gradient = df(f, y, 3)
            assert value == solve(f, y, 3)
            np.testing.assert_allclose(gradient, slope(lambda y: solve(f, y, 3), y), rtol=1e-6, atol=1e-8)  # noqa: B023
        # A recursion over arrays is compiled once more, when it is known to be one.
        assert len(compiles) == (1 if solve is march else 2 + isinstance(y, np.ndarray))


@pytest.mark.parametrize("solve", [march, marched])
def test_closures_over_arrays_of_one_kind(compiles, solve):
    rng = np.random.default_rng(6)
    df = s2s.grad(solve, argnums=1, strict=True)
    y = rng.normal(size=3)
    for _ in range(4):
        w = rng.normal(size=(3, 3))
        np.testing.assert_allclose(
            df(lambda t: np.tanh(w @ t), y, 3), slope(lambda y: solve(lambda t: np.tanh(w @ t), y, 3), y), rtol=1e-6
        )  # noqa: B023, E501
    assert len(compiles) == (1 if solve is march else 3)


def test_recursive_closures_made_anew(compiles):
    df = s2s.grad(applied, argnums=1, strict=True)
    for c in (0.5, 1.5, -2.0):
        for _ in range(2):
            assert df(powers(c), 0.7, 3) == pytest.approx(2 * 0.7 * c**3)
    assert len(compiles) == 2


def test_adaptive_recursion_over_lambdas(compiles):
    df = s2s.grad(quadrature, argnums=2, strict=True)
    for k in (1.0, 2.0, 3.0):
        f = lambda t: math.exp(-k * t * t)  # noqa: B023, E731
        # the recursion takes the same branches for nearby ends, so the derivative is that of the rule
        assert df(f, 0.0, 1.3, 1e-3) == pytest.approx(slope(lambda b: quadrature(f, 0.0, b, 1e-3), 1.3), rel=1e-6)  # noqa: B023, E501
    assert len(compiles) == 3  # the gradient, and calls by one end and by both


def test_other_modes(compiles):
    y = np.array([0.3, -0.7])
    for k in (0.5, 1.5, 2.5):
        f = scaled(k)
        gradient = slope(lambda y: march(f, y, 3), y)  # noqa: B023
        _, pullback = s2s.vjp(march, f, y, 3, strict=True)
        np.testing.assert_allclose(pullback(1.0)[1], gradient, rtol=1e-6)
        _, out_dot = s2s.jvp(march, (f, y, 3), (None, np.array([1.0, 2.0]), None), strict=True)
        np.testing.assert_allclose(out_dot, gradient @ [1.0, 2.0], rtol=1e-6)
        np.testing.assert_allclose(s2s.jacobian(lambda y: f(y) * y)(y), np.diag(3 * k * y * y))  # noqa: B023
    hess = s2s.hessian(lambda f, y: np.sum(f(y) * y), argnums=1)
    for k in (0.5, 1.5):
        np.testing.assert_allclose(hess(scaled(k), y), np.diag(6 * k * y))


# --- names that are bound again to functions of the same code ---

RHS = scaled(1.0)


def through_global(y):
    return RHS(y) * y


def test_a_global_bound_again_to_a_closure_of_the_same_code(monkeypatch, compiles):
    df = s2s.grad(through_global, strict=True)
    for k in (1.0, 2.0, 3.0, 4.0):
        monkeypatch.setitem(globals(), "RHS", scaled(k))
        for _ in range(2):
            assert df(0.7) == pytest.approx(3 * k * 0.7**2)
    assert len(compiles) == 1
    monkeypatch.setitem(globals(), "RHS", scaled(np.array(2.0)))
    assert df(0.7) == pytest.approx(6.0 * 0.7**2)
    monkeypatch.setitem(globals(), "RHS", shifted(2.0, 1.0))
    assert df(0.7) == pytest.approx(np.sin(1.4) + 1.0 + 0.7 * 2.0 * np.cos(1.4))


def test_a_cell_bound_again_to_a_closure_of_the_same_code(compiles):
    rhs = scaled(1.0)

    def f(y):
        return rhs(y) * y

    df = s2s.grad(f, strict=True)
    for k in (1.0, 2.0, 3.0):
        rhs = scaled(k)
        for _ in range(2):
            assert df(0.7) == pytest.approx(3 * k * 0.7**2)
    assert len(compiles) == 1


def test_gradients_made_anew_of_functions_with_closures_in_cells(compiles):
    def loss(f, w):
        return s2s.grad(lambda y: f(y) * w * y, strict=True)(0.7)

    for k, w in ((1.0, 2.0), (3.0, 4.0), (0.5, 0.25)):
        assert loss(scaled(k), w) == pytest.approx(3 * k * w * 0.7**2)
    assert len(compiles) == 1


# --- kinds are noticed ---


def test_what_cells_and_defaults_hold_is_guarded_by_kind():
    df = s2s.grad(lambda f, y: np.sum(f(y)), argnums="y", strict=True)
    y = np.array([0.3, 0.7])
    held = [2.0, np.array([1.0, 2.0]), np.float32(3.0), 2, np.array([[1.0], [2.0]]), 1.5]
    for _ in range(3):
        for k in held:
            expected = np.sum(np.broadcast_to(2 * k * y, np.broadcast_shapes(np.shape(k), (2,))).reshape(-1, 2), axis=0)
            np.testing.assert_allclose(df(scaled(k), y), expected, rtol=1e-6)
            b = shifted(k, 1.0)
            np.testing.assert_allclose(df(b, y), slope(lambda y: np.sum(b(y)), y), rtol=1e-6)  # noqa: B023


def test_a_function_in_a_cell_is_guarded_by_its_code():
    df = s2s.grad(march, argnums=1, strict=True)
    inner = [scaled(2.0), np.sin, math.tanh, scaled(3.0), lambda t: t, scaled(np.ones(()))]
    for _ in range(2):
        for g in inner:
            f = composed(g, scaled(0.5))
            assert df(f, 0.7, 3) == pytest.approx(slope(lambda y: march(f, y, 3), 0.7), rel=1e-6)  # noqa: B023


def weigh(y):
    return 2.0 * y


def test_what_a_lambda_calls_may_be_redefined(monkeypatch):
    df = s2s.grad(march, argnums=1, strict=True)
    for _ in range(3):
        assert df(lambda t: weigh(t), 0.7, 1) == pytest.approx(1.2)
    monkeypatch.setitem(globals(), "weigh", lambda y: 3.0 * y)
    for _ in range(3):
        assert df(lambda t: weigh(t), 0.7, 1) == pytest.approx(1.3)


def test_a_rule_registered_for_one_of_them(compiles):
    df = s2s.grad(march, argnums=1, strict=True)
    plain, ruled = scaled(2.0), scaled(2.0)
    assert df(plain, 0.7, 1) == df(ruled, 0.7, 1) == pytest.approx(1 + 0.1 * 4.0 * 0.7)

    @s2s.rules.elementwise(ruled)
    def slope_of_ruled(ans, t):
        return 100.0 + 0.0 * t

    for _ in range(3):
        assert df(plain, 0.7, 1) == pytest.approx(1 + 0.1 * 4.0 * 0.7)
        assert df(ruled, 0.7, 1) == pytest.approx(1 + 10.0)
        assert df(scaled(3.0), 0.7, 1) == pytest.approx(1 + 0.1 * 6.0 * 0.7)


# --- identity ---


def test_functions_are_told_apart_where_the_program_asks():
    def chosen(f, g, y):
        return f(y) if f is g else g(y) * 3.0

    df = s2s.grad(chosen, argnums="y", strict=True)
    for _ in range(3):
        f, g = scaled(1.0), scaled(2.0)
        assert df(f, f, 0.5) == pytest.approx(1.0)
        assert df(f, g, 0.5) == pytest.approx(6.0)
        assert df(g, f, 0.5) == pytest.approx(3.0)
        assert df(g, g, 0.5) == pytest.approx(2.0)


@pytest.mark.parametrize("start", [0, 1])
def test_a_variable_that_a_helper_shares_and_one_that_it_does_not(start):
    def outer(k, helper=None):
        def own(x):
            return k * x

        helper = helper or own

        def f(x):
            return helper(x) * k * x

        return f, own

    _, first = outer(2.0)
    made = [(outer(3.0)[0], 3.0, 3.0), (outer(5.0, first)[0], 5.0, 2.0), (outer(7.0)[0], 7.0, 7.0)]
    for f, k, inner in made[start:] + made[:start]:
        assert s2s.grad(f, strict=True)(0.5) == pytest.approx(2 * k * inner * 0.5)


@pytest.mark.parametrize("solve", [march, marched])
def test_an_argument_that_shares_a_variable_with_the_function(solve):
    def outer(k, other=None):
        def rhs(t):
            return k * t

        def f(g, y):
            return solve(g, y, 2) * k

        return f, (rhs if other is None else other)

    _, lent = outer(4.0)
    for k, g in ((2.0, None), (3.0, lent), (5.0, None)):
        f, rhs = outer(k, g)
        factor = 4.0 if g is lent else k
        grown = (1 + 0.1 * factor) * (1 + (0.2 if solve is march else 0.1) * factor)
        assert s2s.grad(f, argnums=1, strict=True)(rhs, 0.5) == pytest.approx(k * grown)


def test_the_same_function_twice_and_two_of_the_same_code():
    df = s2s.grad(lambda f, g, y: f(y) * g(y), argnums="y", strict=True)
    for a, b in itertools.product((1.0, 2.0), repeat=2):
        f, g = scaled(a), scaled(b)
        assert df(f, g, 0.5) == pytest.approx(4 * a * b * 0.5**3)
        assert df(f, f, 0.5) == pytest.approx(4 * a * a * 0.5**3)


def test_one_of_two_functions_of_the_same_code_that_the_program_chooses():
    def chosen(f, g, y):
        h = f if np.sum(y) > 0.0 else g
        return np.sum(h(y))

    df = s2s.grad(chosen, argnums="y")
    f, g = scaled(2.0), scaled(np.array([1.0, 3.0]))
    with pytest.warns(s2s.errors.FallbackWarning):
        np.testing.assert_allclose(df(f, g, np.array([1.0, 2.0])), [4.0, 8.0])
        np.testing.assert_allclose(df(f, g, np.array([-1.0, -2.0])), [-2.0, -12.0])


# --- variables that change, or hold nothing yet ---


def test_a_variable_is_read_when_it_is_used():
    def outer(y):
        k = 1.0

        def f(t):
            return k * t

        def bump(t):
            nonlocal k
            k = k + t
            return 0.0

        return f, bump

    def run(f, bump, y):
        first = f(y)
        bump(2.0)
        return first + f(y)

    for _ in range(3):
        f, bump = outer(0.0)
        with pytest.warns(s2s.errors.FallbackWarning):
            assert s2s.grad(run, argnums="y")(f, bump, 0.5) == pytest.approx(1.0 + 3.0)
        assert f(1.0) == 3.0


def test_a_cell_that_is_filled_later():
    def outer():
        def f(t):
            return later(t) * t

        df = s2s.grad(lambda g, y: g(y), argnums="y")
        with pytest.raises(NameError), pytest.warns(s2s.errors.FallbackWarning):
            df(f, 0.5)
        later = scaled(2.0)
        return df, f

    df, f = outer()
    for _ in range(3):
        assert df(f, 0.5) == pytest.approx(6 * 0.25)


def test_more_than_eight_codes_are_served():
    df = s2s.grad(lambda f, y: f(y) * y, argnums="y", strict=True)
    fs = [
        lambda t: t, lambda t: 2 * t, lambda t: 3 * t, lambda t: 4 * t, lambda t: 5 * t, lambda t: 6 * t,
        lambda t: 7 * t, lambda t: 8 * t, lambda t: 9 * t, lambda t: 10 * t,
    ]  # fmt: skip
    for _ in range(3):
        for i, f in enumerate(fs):
            assert df(f, 0.5) == pytest.approx(i + 1.0)


def test_variables_are_read_where_they_are_used_and_not_saved():
    def damped(k):
        return lambda t: -k * t * t

    source = s2s.grad(march, argnums=1).source(damped(2.0), 0.7, 3)
    assert source.count("rhs.__closure__[0].cell_contents") == 2
    assert "k_tape" not in source
