"""Jacobians: by rows and by columns, of values and by arguments of any structure."""

import pickle
import warnings
from dataclasses import dataclass

import numpy as np
import pytest

import s2s

WAYS = [s2s.jacobian, s2s.jacrev, s2s.jacfwd]
X = np.array([1.0, 2.0, 3.0])


def outer(x, y):
    return np.outer(np.sin(x), y) + x[0]


def loop(x):
    c = np.zeros(x.size + 1)
    for i in range(x.size):
        c[i + 1] = c[i] * x[i] + x[i] ** 2
    return c


def branches(x):
    if x[0] > 0:
        return np.cumsum(x) * x[-1]
    return x / 2


def products(a):
    return a @ a.T + a[0, 0]


def by_differences(f, x):
    """The Jacobian by central differences."""
    columns = []
    for i in range(x.size):
        e = np.zeros(x.shape)
        e.flat[i] = 1e-6
        columns.append((f(x + e) - f(x - e)) / 2e-6)
    return np.stack(columns, axis=-1).reshape(np.shape(columns[0]) + x.shape)


# --- values -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("f", "shape"),
    [
        (loop, (4,)), (loop, (1,)), (branches, (3,)), (products, (2, 3)), (products, (1, 1)), (np.tanh, (2, 2)),
        (lambda x: np.sum(x**2), (5,)), (lambda x: x[::2] * x[0], (5,)), (lambda x: np.sort(x, axis=0), (3, 2)),
    ],
)  # fmt: skip
def test_jacobian_agrees_with_differences(way, f, shape, rng):
    x = rng.normal(size=shape)
    found = way(f, strict=True)(x)
    assert found.shape == np.shape(f(x)) + shape
    np.testing.assert_allclose(found, by_differences(f, x), rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("way", ["jacrev", "jacfwd"])
def test_jacobian_agrees_with_jax(way, rng):
    jax = pytest.importorskip("jax")
    import jax.numpy as jnp

    with jax.enable_x64(True):
        for shape in [(3,), (), (1, 0, 2)]:
            x, y = rng.normal(size=shape), rng.normal(size=2)

            def made(np):
                def f(x, y):
                    return {"a": np.sin(x)[..., None] * y, "b": (np.exp(x) * y[0], np.sum(x * y[1]))}

                return f

            want = getattr(jax, way)(made(jnp), argnums=(0, 1))(x, y)
            found = getattr(s2s, way)(made(np), argnums=(0, 1), strict=True)(x, y)
            assert jax.tree.structure(want) == jax.tree.structure(found)
            for a, b in zip(jax.tree.leaves(want), jax.tree.leaves(found)):
                assert a.shape == np.shape(b)
                np.testing.assert_allclose(b, a, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_jacobian_has_the_dtype_of_the_argument(way, dtype):
    weights = np.array([1.0, 2.0, 3.0])
    found = way(lambda x: x * weights, strict=True)(X.astype(dtype))
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, np.diag(weights))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("x", "cls"), [(2.0, float), (np.float32(2), np.float32), (np.array(2.0), np.ndarray)])
def test_number_by_a_number(way, x, cls):
    found = way(lambda x: x**3, strict=True)(x)
    assert type(found) is cls
    assert found == 12.0


@pytest.mark.parametrize("way", WAYS)
def test_empty_arguments_and_values(way):
    assert way(lambda x: x * 2, strict=True)(np.zeros((0, 2))).shape == (0, 2, 0, 2)
    assert way(lambda x: np.sum(x), strict=True)(np.zeros(0)).shape == (0,)
    assert way(lambda x: x[:0] * 2, strict=True)(X).shape == (0, 3)


@pytest.mark.parametrize("way", WAYS)
def test_value_that_does_not_depend_on_the_argument(way):
    np.testing.assert_array_equal(way(lambda x: np.ones(2), strict=True)(X), np.zeros((2, 3)))


# --- arguments and structures -----------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
def test_argnums_by_position_and_name(way):
    y = np.array([0.5, -1.0])
    by_x, by_y = way(outer, (0, "y"), strict=True)(X, y)
    np.testing.assert_allclose(by_x, by_differences(lambda x: outer(x, y), X), atol=1e-8)
    np.testing.assert_allclose(by_y, by_differences(lambda y: outer(X, y), y), atol=1e-8)
    np.testing.assert_array_equal(way(outer, argnums="y")(X, y=y), by_y)
    np.testing.assert_array_equal(way(argnums=1)(outer)(X, y), by_y)


@pytest.mark.parametrize("way", WAYS)
def test_structures_of_values_and_arguments(way):
    def f(p):
        return {"s": p["a"] * p["b"][0], "n": 3, "t": (p["a"],)}

    found = way(f, strict=True)({"a": X, "b": [2.0, "k", 4]})
    np.testing.assert_array_equal(found["s"]["a"], 2 * np.eye(3))
    np.testing.assert_array_equal(found["s"]["b"][0], X)
    np.testing.assert_array_equal(found["t"][0]["a"], np.eye(3))
    assert found["s"]["b"][1:] == [None, None]
    assert found["n"] is None


@dataclass
class Point:
    x: float
    y: float


def test_dataclass_argument():
    found = s2s.jacobian(lambda p: np.array([p.x * p.y, p.y]), strict=True)(Point(2.0, 3.0))
    assert isinstance(found, Point)
    assert (found.x.tolist(), found.y.tolist()) == ([3.0, 0.0], [2.0, 1.0])


@pytest.mark.parametrize("way", WAYS)
def test_variadic_parameters(way):
    by_x, by_u = way(lambda *xs, **k: xs[0] * xs[1] * k["u"], (1, "u"))(2.0, X, u=3.0)
    np.testing.assert_array_equal(by_x, 6 * np.eye(3))
    np.testing.assert_array_equal(by_u, 2 * X)


@pytest.mark.parametrize("way", WAYS)
def test_auxiliary_result(way):
    found, aux = way(lambda x: (x * 2, {"name": "n", "x": x}), has_aux=True)(X)
    np.testing.assert_array_equal(found, 2 * np.eye(3))
    assert aux["name"] == "n"
    np.testing.assert_array_equal(aux["x"], X)


class Model:
    w = 3.0

    @s2s.jacobian
    def scaled(self, x):
        return x * self.w

    @s2s.jacfwd(argnums=1)
    def product(self, x, y):
        return x * y


def test_methods_count_after_self():
    np.testing.assert_array_equal(Model().scaled(X), 3 * np.eye(3))
    np.testing.assert_array_equal(Model().product(2.0, X), 2 * np.eye(3))


@s2s.jacobian
def decorated(x):
    return x * x


def test_pickled_by_name_and_by_parts():
    assert pickle.loads(pickle.dumps(decorated)) is decorated
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(s2s.jacrev(loop)))(X), s2s.jacrev(loop)(X))


def test_source_is_that_of_the_way_that_is_taken():
    assert "def loop_jvp" in s2s.jacfwd(loop).source(X)
    assert "def loop_bwd" in s2s.jacrev(loop).source(X)
    assert s2s.jacobian(loop).__name__ == "loop"


# --- complex numbers --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
def test_complex_value_by_real_argument(way):
    found = way(lambda x: np.exp(1j * x), strict=True)(X)
    assert found.dtype == complex
    np.testing.assert_allclose(found, np.diag(1j * np.exp(1j * X)))
    assert way(lambda x: np.exp(1j * x), strict=True)(X.astype("f4")).dtype == np.complex64
    assert isinstance(way(lambda x: x * (1 + 2j))(2.0), complex)


@pytest.mark.parametrize("way", WAYS)
def test_real_value_by_complex_argument_gives_gradients(way):
    z = X + 1j * X[::-1]

    def f(z):
        return np.abs(z) ** 2 * np.array([1.0, 2.0, 3.0])

    found = way(f, strict=True)(z)
    for i in range(3):
        np.testing.assert_allclose(found[i], s2s.grad(lambda z, i=i: f(z)[i])(z))


@pytest.mark.parametrize("way", WAYS)
def test_holomorphic_functions(way):
    z = X + 1j
    np.testing.assert_allclose(way(lambda z: z**3, holomorphic=True, strict=True)(z), np.diag(3 * z**2))
    with pytest.raises(s2s.ArgumentError, match="holomorphic=True if it is one"):
        way(lambda z: z**3)(z)
    with pytest.raises(s2s.ArgumentError, match="holds real ones"):
        way(lambda z: z**3, holomorphic=True)(X)
    with pytest.raises(s2s.ArgumentError, match="this one is real"):
        way(lambda z: np.abs(z), holomorphic=True)(z)


# --- what is refused, what is recorded ---------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
def test_bad_arguments_are_refused_before_work(way):
    def f(x, y):
        raise AssertionError("it ran")

    with pytest.raises(s2s.ArgumentError, match="out of range"):
        way(f, 2)
    with pytest.raises(s2s.ArgumentError, match="no parameter"):
        way(f, "z")
    with pytest.raises(s2s.ArgumentError, match=r"pass x\.astype\(float\)"):
        way(f)(np.arange(3), 1.0)
    with pytest.raises(s2s.ArgumentError, match=r"pass the float 2\.0"):
        way(f, (0, 1))(1.0, 2)
    with pytest.raises(TypeError, match="missing"):
        way(f)(1.0)


@pytest.mark.parametrize("way", WAYS)
def test_value_without_a_float_is_refused(way):
    with pytest.raises(s2s.ArgumentError, match="no float that could have a derivative"):
        way(lambda x: np.arange(3))(X)


@pytest.mark.parametrize("way", WAYS)
def test_tape_serves_what_is_not_compiled_and_warns_once(way):
    def f(x):
        out = [None, x * x]
        out.remove(None)
        return out[0] * x

    jacobian = way(f)
    with pytest.warns(s2s.FallbackWarning, match="f could not be compiled") as caught:
        np.testing.assert_allclose(jacobian(X), np.diag(3 * X**2))
    assert len(caught) == 1
    assert jacobian.fallbacks[0].function == "f"
    with pytest.raises(s2s.UnsupportedSyntaxError):
        way(f, strict=True)(X)


@pytest.mark.parametrize("way", WAYS)
def test_function_with_effects_runs_once(way, capsys):
    def prints(x):
        print("once")
        return x * 2

    np.testing.assert_array_equal(way(prints, strict=True)(X), 2 * np.eye(3))
    assert capsys.readouterr().out == "once\n"

    def draws(x, rng):
        return x * rng.normal()

    factor = np.random.default_rng(0).normal()
    np.testing.assert_array_equal(way(draws)(X, np.random.default_rng(0)), factor * np.eye(3))


@pytest.mark.parametrize("way", WAYS)
def test_written_arguments_stay_as_they_are(way):
    def f(x):
        x[0] = x[1] ** 2
        return x * 2

    x = X.copy()
    np.testing.assert_array_equal(way(f, strict=True)(x), [[0, 8, 0], [0, 2, 0], [0, 0, 2]])
    np.testing.assert_array_equal(x, X)


# --- nested -----------------------------------------------------------------------------------------------------


@pytest.fixture
def recorded():
    """Derivatives within functions are recorded on the tape."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", s2s.FallbackWarning)
        yield


@pytest.mark.parametrize("way", WAYS)
def test_jacobian_of_a_gradient_is_compiled(way):
    def f(x):
        return np.sum(x[1:] ** 2 * x[:-1])

    want = np.array([[0, 4, 0], [4, 2, 6], [0, 6, 4.0]])
    np.testing.assert_allclose(way(s2s.grad(f), strict=True)(X), want)


@pytest.mark.parametrize("outer_way", WAYS)
@pytest.mark.parametrize("inner_way", WAYS)
def test_jacobian_of_a_jacobian(outer_way, inner_way, recorded):
    want = np.zeros((3, 3, 3))
    want[range(3), range(3), range(3)] = 6 * X
    np.testing.assert_allclose(outer_way(inner_way(lambda x: x**3))(X), want)
    assert s2s.grad(inner_way(lambda a, b: a**3 * b), "b")(2.0, b=3.0) == 12.0


@pytest.mark.parametrize("way", WAYS)
def test_gradient_through_a_jacobian(way, recorded):
    def penalty(x):
        return np.sum(way(lambda y: np.sin(y) * y[0])(x) ** 2)

    np.testing.assert_allclose(s2s.grad(penalty)(X), by_differences(penalty, X), atol=1e-7)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("within", WAYS)
def test_no_perturbation_confusion(way, within, recorded):
    assert way(lambda x: x * within(lambda y: x + y)(1.0))(1.0) == 1.0
    assert way(lambda x: x * within(lambda y: x * y)(1.0))(4.0) == 8.0
    assert way(lambda x: within(lambda y: within(lambda z: x * y * z)(1.0) * y)(3.0) * x)(2.0) == 24.0


def test_directions_agree_with_differences(rng):
    x, x_dot = rng.normal(size=(2, 3)), rng.normal(size=(2, 3))
    found = np.tensordot(s2s.jacobian(products)(x), x_dot, axes=2)
    step = 1e-6
    np.testing.assert_allclose(found, (products(x + step * x_dot) - products(x - step * x_dot)) / (2 * step), atol=1e-7)


def test_a_jacobian_of_a_jacobian_of_what_writes_into_slices():
    def f(x):
        y = x * x
        y[1:] += x[:-1] * x[1:]
        return y

    for n in (3, 5):
        x = np.random.default_rng(n).normal(size=n)
        expected = np.zeros((n, n, n))
        for i in range(n):
            expected[i, i, i] = 2.0
            if i:
                expected[i, i, i - 1] = expected[i, i - 1, i] = 1.0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", s2s.FallbackWarning)
            np.testing.assert_allclose(s2s.jacobian(s2s.jacobian(f))(x), expected)
            total = s2s.grad(lambda x: np.sum(s2s.jacobian(f)(x)))(x)
        np.testing.assert_allclose(total, expected.sum((0, 1)))
