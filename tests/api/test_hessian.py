"""Second derivatives: Hessians, their products with directions, and pushforwards that are kept."""

import warnings

import numpy as np
import pytest

import s2s

X = np.array([0.5, 0.7, -0.3])


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def rosenbrock_hessian(x):
    n = x.size
    h = np.zeros((n, n))
    for i in range(n - 1):
        h[i, i] += 1200 * x[i] ** 2 - 400 * x[i + 1] + 2
        h[i, i + 1] = h[i + 1, i] = -400 * x[i]
        h[i + 1, i + 1] += 200
    return h


def loop(x):
    s = 1.0
    for v in x:
        if v > 0:
            s = s * np.sin(v)
        else:
            s = s + v**3
    return s


def writes(x):
    c = np.zeros(3)
    for i in range(3):
        c[i] = x[i] ** 2
    c *= x
    c[1:] += c[:-1]
    return np.sum(c * c)


def weighed(w, x):
    return np.sum(np.tanh(x @ w) ** 2)


def by_differences(f, x):
    gradient = s2s.grad(f)
    step = 1e-6
    rows = [(gradient(x + step * e) - gradient(x - step * e)) / (2 * step) for e in np.eye(x.size)]
    return np.array(rows)


# --- hessian ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 3, 7])
def test_hessian_of_rosenbrock(n, rng):
    x = rng.normal(size=n)
    np.testing.assert_allclose(s2s.hessian(rosenbrock, strict=True)(x), rosenbrock_hessian(x))


@pytest.mark.parametrize("f", [loop, writes, rosenbrock])
def test_hessian_agrees_with_differences_and_is_symmetric(f):
    found = s2s.hessian(f, strict=True)(X)
    np.testing.assert_allclose(found, by_differences(f, X), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(found, found.T, atol=1e-12)


def test_hessian_agrees_with_jax(rng):
    jax = pytest.importorskip("jax")
    import jax.numpy as jnp

    def made(np):
        def f(p, s):
            return np.sum(np.tanh(p["w"] @ p["w"].T) * s) + np.exp(p["b"]) * s

        return f

    p, s = {"w": rng.normal(size=(2, 3)), "b": 0.3}, 1.5
    with jax.enable_x64(True):
        want = jax.hessian(made(jnp), argnums=(0, 1))(p, s)
    found = s2s.hessian(made(np), argnums=(0, 1), strict=True)(p, s)
    assert jax.tree.structure(want) == jax.tree.structure(found)
    for a, b in zip(jax.tree.leaves(want), jax.tree.leaves(found)):
        assert a.shape == np.shape(b)
        np.testing.assert_allclose(b, a, rtol=1e-10, atol=1e-12)


def test_hessian_by_several_parameters(rng):
    w, x = rng.normal(size=2), rng.normal(size=(3, 2))
    (ww, wx), (xw, xx) = s2s.hessian(weighed, ("w", 1), strict=True)(w, x)
    assert (ww.shape, wx.shape, xw.shape, xx.shape) == ((2, 2), (2, 3, 2), (3, 2, 2), (3, 2, 3, 2))
    np.testing.assert_allclose(wx, np.moveaxis(xw, -1, 0), atol=1e-14)
    np.testing.assert_allclose(ww, by_differences(lambda w: weighed(w, x), w), atol=1e-8)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(np.rot90(x) * 2.0),
        lambda x: np.sum(np.take(x, [0, 1])),
        lambda x: np.sum(np.tensordot(x, np.ones((2, 2)))),
        lambda x: np.trace(np.diag(x[0])),
    ],
)  # fmt: skip
def test_derivatives_of_what_does_not_move_are_zeros_in_its_shape(f, rng):
    x = rng.normal(size=(2, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", s2s.FallbackWarning)
        np.testing.assert_array_equal(s2s.jvp(s2s.grad(f), (x,), (x,))[1], np.zeros((2, 2)))
        np.testing.assert_array_equal(s2s.linearize(s2s.grad(f), x)[1](x), np.zeros((2, 2)))
        np.testing.assert_array_equal(s2s.hessian(f)(x), np.zeros((2, 2, 2, 2)))


def test_hessian_of_numbers_one_element_values_and_empty_arrays():
    assert s2s.hessian(lambda x: x**3, strict=True)(2.0) == 12.0
    np.testing.assert_array_equal(s2s.hessian(lambda x: x[:1] ** 2, strict=True)(np.ones(2)), [[2, 0], [0, 0]])
    assert s2s.hessian(lambda x: np.sum(x**2), strict=True)(np.zeros((0, 2))).shape == (0, 2, 0, 2)
    assert s2s.hessian(lambda x: np.sum(x**2), strict=True)(np.ones(2, "f4")).dtype == np.float32


def test_hessian_with_an_auxiliary_result():
    found, aux = s2s.hessian(lambda x: (np.sum(x**2), "aux"), has_aux=True)(X)
    np.testing.assert_allclose(found, 2 * np.eye(3))
    assert aux == "aux"


class Model:
    w = 2.0

    @s2s.hessian
    def energy(self, x):
        return self.w * np.sum(x**3)

    @s2s.hessian(argnums=1)
    def mixed(self, y, x):
        return y * np.sum(x**2)


def test_hessian_as_a_decorator_of_methods():
    np.testing.assert_allclose(Model().energy(X), np.diag(12 * X))
    np.testing.assert_allclose(Model().mixed(3.0, X), 6 * np.eye(3))


def test_hessian_refuses_before_work():
    with pytest.raises(s2s.ArgumentError, match="no parameter"):
        s2s.hessian(rosenbrock, "z")
    with pytest.raises(s2s.ArgumentError, match="dtype int64"):
        s2s.hessian(rosenbrock)(np.arange(3))
    with pytest.raises(s2s.ArgumentError, match="by real numbers"):
        s2s.hessian(lambda x: np.sum(np.abs(x) ** 2))(X + 1j)
    with pytest.raises(s2s.ArgumentError, match="needs a scalar"):
        s2s.hessian(lambda x: x**2)(X)


def test_hessian_of_one_run_where_random_numbers_are_drawn():
    def noisy(x, rng):
        return np.sum(x**2) * rng.normal()

    factor = np.random.default_rng(1).normal()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", s2s.FallbackWarning)
        found = s2s.hessian(noisy)(X, np.random.default_rng(1))
    np.testing.assert_allclose(found, 2 * factor * np.eye(3))


def test_hessian_on_the_tape():
    def f(x):
        parts = []
        parts.insert(0, x * x)
        return np.sum(parts[0] * x)

    with pytest.warns(s2s.FallbackWarning, match="f could not be compiled"):
        np.testing.assert_allclose(s2s.hessian(f)(X), np.diag(6 * X))
    with pytest.raises(s2s.UnsupportedSyntaxError):
        s2s.hessian(f, strict=True)(X)


# --- products with directions -------------------------------------------------------------------------------------


@pytest.mark.parametrize("f", [loop, writes, rosenbrock])
def test_hvp_is_the_product(f, rng):
    v = rng.normal(size=3)
    found = s2s.hvp(f, (X,), (v,), strict=True)
    np.testing.assert_allclose(found, s2s.hessian(f)(X) @ v, rtol=1e-12, atol=1e-12)


def test_hvp_of_several_primals(rng):
    w, x = rng.normal(size=2), rng.normal(size=(3, 2))
    w_dot, x_dot = rng.normal(size=2), rng.normal(size=(3, 2))
    (ww, wx), (xw, xx) = s2s.hessian(weighed, (0, 1))(w, x)
    by_w, by_x = s2s.hvp(weighed, (w, x), (w_dot, x_dot), strict=True)
    np.testing.assert_allclose(by_w, ww @ w_dot + np.tensordot(wx, x_dot, 2), atol=1e-12)
    np.testing.assert_allclose(by_x, xw @ w_dot + np.tensordot(xx, x_dot, 2), atol=1e-12)
    by_w, still = s2s.hvp(weighed, (w, x), (w_dot, None), strict=True)
    np.testing.assert_allclose(by_w, ww @ w_dot, atol=1e-12)
    assert still is None


def test_hvp_of_a_container():
    found = s2s.hvp(lambda p: p["a"] ** 2 * p["b"], ({"a": 2.0, "b": 3.0},), ({"a": 1.0, "b": 10.0},), strict=True)
    assert found == {"a": 6.0 + 40.0, "b": 4.0}


def test_hvp_refuses_before_work():
    for primals, tangents, message in [
        ((X,), (X, X), "one tangent for each primal"),
        ((X,), (None,), "no tangent"),
        ((np.arange(3),), (X,), "dtype int64"),
        ((X,), (np.ones(2),), "shape"),
    ]:
        with pytest.raises(s2s.ArgumentError, match=message):
            s2s.hvp(rosenbrock, primals, tangents)


# --- pushforwards -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 2)])
def test_pushforward_is_that_of_jvp(shape, rng):
    def f(x, y):
        return np.sin(x) * y, np.sum(x)

    x, x_dot, y_dot = rng.normal(size=(3, *shape))
    out, pushforward = s2s.linearize(f, x, 2.0, strict=True)
    np.testing.assert_array_equal(out[0], np.sin(x) * 2)
    for x_t, y_t in [(x_dot, None), (None, 3.0), (y_dot, 1.0), (None, None)]:
        given = [np.zeros(shape) if x_t is None else x_t, 0.0 if y_t is None else y_t]
        want = s2s.jvp(f, (x, 2.0), given)[1]
        for a, b in zip(pushforward(x_t, y_t), want):
            np.testing.assert_array_equal(a, b)


def test_pushforward_keeps_to_the_arguments_as_they_were():
    x = X.copy()
    out, pushforward = s2s.linearize(lambda x: x**2, x, strict=True)
    x[:] = 100.0
    out[:] = 50.0
    np.testing.assert_allclose(pushforward(np.ones(3)), 2 * X)


def test_linearized_function_with_effects_runs_once(capsys):
    def f(x, rng):
        print("once")
        return x * rng.normal()

    factor = np.random.default_rng(0).normal()
    with pytest.warns(s2s.FallbackWarning, match="may have effects"):
        out, pushforward = s2s.linearize(f, X, np.random.default_rng(0))
    for v in (np.ones(3), X):
        np.testing.assert_allclose(pushforward(v, None), factor * v)
    assert capsys.readouterr().out == "once\n"
    with pytest.raises(s2s.UnsupportedSyntaxError, match="may have effects"):
        s2s.linearize(f, X, np.random.default_rng(0), strict=True)


def test_bad_tangents_of_a_pushforward_are_refused():
    _, pushforward = s2s.linearize(lambda x, n: x * n, X, 2)
    with pytest.raises(s2s.ArgumentError, match="one tangent for each primal"):
        pushforward(X)
    with pytest.raises(s2s.ArgumentError, match="shape"):
        pushforward(np.ones(2), None)
    with pytest.raises(s2s.ArgumentError, match="no float"):
        s2s.linearize(lambda n: n, 2)


def test_zero_tangents_win_at_infinite_arguments():
    x = np.array([np.inf, 2.0])
    np.testing.assert_array_equal(s2s.jacobian(lambda x: x * 3.0)(x), 3 * np.eye(2))
    _, pushforward = s2s.linearize(lambda x, y: x + y, x, x)
    np.testing.assert_array_equal(pushforward(None, np.ones(2)), [1, 1])


# --- nested -----------------------------------------------------------------------------------------------------


@pytest.fixture
def recorded():
    """Derivatives within functions are recorded on the tape."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", s2s.FallbackWarning)
        yield


def cubes(x):
    return np.sum(x**3)


def test_derivatives_of_second_derivatives(recorded):
    ones = np.ones(3)
    assert s2s.jacobian(s2s.hessian(cubes))(X)[1, 1, 1] == pytest.approx(6)
    np.testing.assert_allclose(s2s.grad(lambda x: np.sum(s2s.hessian(cubes)(x) ** 2))(X), 72 * X)
    np.testing.assert_allclose(s2s.grad(lambda x: np.sum(s2s.hvp(cubes, (x,), (ones,))))(X), 6 * ones)
    np.testing.assert_allclose(s2s.grad(lambda v: np.sum(s2s.hvp(cubes, (X,), (v,))))(ones), 6 * X)
    np.testing.assert_allclose(s2s.grad(lambda x: np.sum(s2s.linearize(cubes, x)[1](ones)))(X), 6 * X)
    np.testing.assert_allclose(s2s.grad(lambda v: np.sum(s2s.linearize(cubes, X)[1](v)))(ones), 3 * X**2)


def test_no_perturbation_confusion(recorded):
    assert s2s.grad(lambda x: x * s2s.hvp(lambda y: x * y * y, (1.0,), (1.0,)))(4.0) == 16.0
    assert s2s.hessian(lambda x: x * s2s.hessian(lambda y: x * y**3)(1.0))(2.0) == 12.0
    assert s2s.jvp(lambda x: s2s.linearize(lambda y: x * y, 1.0)[1](x), (3.0,), (1.0,)) == (9.0, 6.0)


def test_closures_are_read_when_called():
    scale = 2.0

    def f(x):
        return scale * np.sum(x**2)

    hessian = s2s.hessian(f, strict=True)
    np.testing.assert_allclose(hessian(X), 4 * np.eye(3))
    scale = 3.0
    np.testing.assert_allclose(hessian(X), 6 * np.eye(3))
