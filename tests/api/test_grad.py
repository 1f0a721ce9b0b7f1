"""`grad` and `value_and_grad`: what they take, and what the functions they return are like."""

import functools
import inspect
import math
import pickle

import numpy as np
import pytest

import s2s

W = np.array([0.3, -0.2])
X = np.array([[1.0, 2.0], [0.5, -1.0], [2.0, 0.1]])
Y = np.array([0.1, 0.2, -0.3])


def loss(w, x, y, scale=1.0):
    """How far tanh(x @ w) is from y."""
    return np.mean((np.tanh(x @ w) - y) ** 2) * scale


def loss_by_hand(w, x, y, scale=1.0):
    t = np.tanh(x @ w)
    return x.T @ (2 * (t - y) / t.size * (1 - t**2)) * scale


@s2s.grad
def slope(x):
    """The slope of a cube."""
    return x**3


@s2s.grad(argnums=("b", 0))
def products(a, b, c):
    return a * b * c


class Model:
    def __init__(self, k):
        self.k = k

    def plain(self, w):
        return w * w

    @s2s.grad
    def decorated(self, w):
        return w * w

    @s2s.grad(argnums=("c", 0))
    def two(self, a, b, c):
        return a * b * c

    @s2s.grad
    @classmethod
    def of_class(cls, w):
        return 5.0 * w

    @classmethod
    @s2s.grad
    def of_class_too(cls, w):
        return 5.0 * w

    @staticmethod
    @s2s.grad
    def static(w):
        return 7.0 * w

    def __call__(self, x):
        return x * x * x


# --- forms ---------------------------------------------------------------------------------------------------------


def test_gradient_by_position_and_by_name():
    want = loss_by_hand(W, X, Y)
    np.testing.assert_allclose(s2s.grad(loss)(W, X, Y), want)
    np.testing.assert_allclose(s2s.grad(loss, "w")(W, X, Y), want)
    np.testing.assert_allclose(s2s.grad(loss, -4)(W, X, Y), want)
    by_w, by_scale = s2s.grad(loss, ("w", 3))(W, X, Y, scale=2.0)
    np.testing.assert_allclose(by_w, 2 * want)
    np.testing.assert_allclose(by_scale, loss(W, X, Y))


def test_a_sequence_of_one_gives_a_tuple_of_one():
    assert s2s.grad(lambda x: x * x, (0,))(3.0) == (6.0,)
    assert s2s.grad(lambda x: x * x, [0])(3.0) == (6.0,)


def test_decorator_with_and_without_arguments():
    assert slope(2.0) == 12.0
    assert products(2.0, 3.0, 5.0) == (10.0, 15.0)


def test_value_and_grad_gives_the_value_bit_for_bit():
    value, gradient = s2s.value_and_grad(loss)(W, X, Y)
    assert value == loss(W, X, Y)
    np.testing.assert_allclose(gradient, loss_by_hand(W, X, Y))


def test_auxiliary_results_pass_through():
    def f(x):
        return x * x, {"twice": 2 * x, "name": "f"}

    assert s2s.grad(f, has_aux=True)(3.0) == (6.0, {"twice": 6.0, "name": "f"})
    assert s2s.value_and_grad(f, has_aux=True)(3.0) == ((9.0, {"twice": 6.0, "name": "f"}), 6.0)


def test_defaults_and_keywords_bind_as_in_the_function():
    df = s2s.grad(loss, strict=True)
    np.testing.assert_allclose(df(y=Y, w=W, x=X, scale=3.0), 3 * loss_by_hand(W, X, Y))
    with pytest.raises(TypeError, match=r"loss\(\) missing 2 required positional arguments: 'x' and 'y'"):
        df(W)
    with pytest.raises(TypeError, match="unexpected keyword argument 'q'"):
        df(W, X, Y, q=1)


def test_variadic_parameters():
    def f(a, *rest, k=1.0, **more):
        return a * rest[0] * rest[1] * k * more["z"]

    args, keywords = (2.0, 3.0, 5.0), {"k": 7.0, "z": 11.0}
    assert s2s.grad(f, (0, 2))(*args, **keywords) == (1155.0, 462.0)
    assert s2s.grad(f, ("k", "z"))(*args, **keywords) == (330.0, 210.0)
    assert s2s.grad(f, "rest")(*args, **keywords) == (770.0, 462.0)


def test_positional_only_and_keyword_only_parameters():
    def f(a, /, b, *, c=2.0):
        return a * b * c

    assert s2s.grad(f, (0, "b", "c"))(3.0, b=5.0) == (10.0, 6.0, 15.0)


def test_lambdas_nested_functions_and_partials():
    def scaled(k):
        def f(x):
            return k * x * x

        return s2s.grad(f)

    assert [scaled(k)(1.0) for k in (1.0, 2.0, 3.0)] == [2.0, 4.0, 6.0]
    assert s2s.grad(lambda x: math.sin(x))(0.5) == math.cos(0.5)
    np.testing.assert_allclose(s2s.grad(functools.partial(loss, scale=2.0))(W, X, Y), 2 * loss_by_hand(W, X, Y))
    by_x = s2s.grad(functools.partial(loss, W), argnums="x")(X, Y)
    np.testing.assert_allclose(by_x, s2s.grad(loss, 1)(W, X, Y))


def test_methods_count_after_self():
    model = Model(3.0)
    assert s2s.grad(model.plain)(2.0) == 4.0
    assert model.decorated(2.0) == 4.0
    assert Model.decorated(model, 2.0) == 4.0
    assert model.two(2.0, 3.0, 5.0) == (6.0, 15.0)
    assert Model.of_class(1.0) == model.of_class(1.0) == 5.0
    assert Model.of_class_too(1.0) == model.of_class_too(1.0) == 5.0
    assert Model.static(1.0) == model.static(1.0) == 7.0
    assert s2s.grad(model)(2.0) == 12.0


def test_gradients_kept_in_a_class_bind_as_functions_do():
    def cube(x):
        return x * x * x

    class Kept:
        plain = s2s.grad(cube)
        bound = s2s.grad(Model(1.0).plain)

    assert Kept.plain(2.0) == 12.0
    assert Kept.bound(2.0) == Kept().bound(2.0) == 4.0


def test_functions_that_have_a_rule_but_no_source():
    assert s2s.grad(math.sin)(0.5) == math.cos(0.5)
    np.testing.assert_allclose(s2s.grad(np.exp)(0.5), math.exp(0.5))
    np.testing.assert_allclose(s2s.grad(np.dot, (0, 1))(W, W + 1)[1], W)
    np.testing.assert_array_equal(s2s.grad(np.sum)(W), np.ones(2))


def test_gradients_of_gradients():
    def f(x):
        return x * x * x

    assert s2s.grad(s2s.grad(f))(2.0) == 12.0
    assert s2s.value_and_grad(s2s.grad(f))(2.0) == (12.0, 12.0)


def test_containers_keep_their_structure():
    def f(p):
        return np.sum(p["layers"][0] ** 2) * p["c"]

    p = {"layers": [np.array([1.0, 2.0]), "name"], "c": 2.0, "n": 3, "none": None}
    got = s2s.grad(f)(p)
    np.testing.assert_array_equal(got["layers"][0], [4.0, 8.0])
    assert got["layers"][1:] == ["name"]
    assert (got["c"], got["n"], got["none"]) == (5.0, 3, None)


@pytest.mark.parametrize("x", [np.float32(2.0), np.array([1.0, 2.0], np.float32), 2.0, np.array(2.0, np.float32)])
def test_gradient_has_the_dtype_of_its_argument(x):
    got = s2s.grad(lambda x: np.sum(x * x))(x)
    assert np.asarray(got).dtype == np.asarray(x).dtype


# --- the object ----------------------------------------------------------------------------------------------------


def test_it_looks_like_the_function():
    df = s2s.grad(loss)
    assert df.__wrapped__ is loss
    assert df.__name__ == "loss"
    assert df.__doc__ == loss.__doc__
    assert inspect.signature(df) == inspect.signature(loss)
    assert callable(df)
    assert "loss" in repr(df)


def test_pickled_by_name():
    assert pickle.loads(pickle.dumps(slope)) is slope
    again = pickle.loads(pickle.dumps(s2s.grad(loss, ("w", "scale"))))
    np.testing.assert_allclose(again(W, X, Y)[0], loss_by_hand(W, X, Y))
    assert pickle.loads(pickle.dumps(Model(1.0).decorated))(3.0) == 6.0


def test_source_of_the_latest_call_and_of_examples():
    df = s2s.grad(loss)
    df(W, X, Y)
    assert "w_bar = x.T @" in df.source()
    assert df.source() == df.source(W, X, Y)
    assert "def loss_grad(w, x, y, scale=1.0, *, out_bar=1.0):" in df.source(W, X, Y, 2.0)


def test_source_from_annotations_and_defaults():
    def f(x: float, n: int, k=2.0):
        return x**n * k

    assert "x_bar" in s2s.grad(f).source()


def test_stages_are_named_and_readable():
    stages = s2s.grad(loss).stages(W, X, Y)
    assert next(iter(stages)) == "lower"
    assert {"infer", "reverse", "fold"} <= stages.keys()
    assert all(text.startswith("def ") for text in stages.values())


def test_a_method_shows_its_source():
    assert "def decorated_grad(self, w" in Model(1.0).decorated.source(2.0)


# --- the seed ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [3.0, 3, np.float32(3.0), np.array([3.0]), np.array(3)])
def test_seed_scales_the_gradient(seed):
    np.testing.assert_allclose(s2s.grad(loss)(W, X, Y, out_bar=seed), 3 * loss_by_hand(W, X, Y))


def test_seed_gets_another_name_where_the_function_could_take_it():
    def taken(x, out_bar):
        return x * out_bar

    assert s2s.grad(taken)(3.0, 5.0) == 5.0
    assert s2s.grad(taken)(3.0, out_bar=5.0, out_bar2=2.0) == 10.0


def test_seed_gets_another_name_beside_any_keywords():
    def f(x, **keywords):
        return x * keywords["out_bar"]

    assert s2s.grad(f)(3.0, out_bar=5.0) == 5.0
    assert s2s.grad(f)(3.0, out_bar=5.0, out_bar2=2.0) == 10.0


# --- eager ---------------------------------------------------------------------------------------------------------


def test_grad_of_variables_is_the_eager_one():
    v = s2s.Variable(np.array([1.0, 2.0]), requires_grad=True)
    (got,) = s2s.grad(np.sum(v * v), v)
    np.testing.assert_array_equal(got.numpy(), [2.0, 4.0])
    (got,) = s2s.grad([np.sum(v * v)], [v])
    np.testing.assert_array_equal(got.numpy(), [2.0, 4.0])
    (got,) = s2s.grad(outputs=np.sum(v * v), inputs=v)
    np.testing.assert_array_equal(got.numpy(), [2.0, 4.0])


def test_a_call_with_a_variable_can_be_differentiated_again():
    v = s2s.Variable(2.0, requires_grad=True)
    first = s2s.grad(lambda x: x**3)(v)
    assert float(s2s.grad(first, v)[0].numpy()) == 12.0


def test_a_variable_in_a_closure_is_recorded():
    k = s2s.Variable(3.0, requires_grad=True)

    def f(x):
        return k * x * x

    slope_at_two = s2s.grad(f)(2.0)
    (by_k,) = s2s.grad(slope_at_two, k)
    assert float(by_k.numpy()) == 4.0


TABLE = (1, 2)


def test_source_says_where_its_helpers_come_from():
    def f(x, y, table=TABLE):
        return np.sum(np.sqrt(x) * np.arctan2(x, y) * y) * len(table)

    source = s2s.grad(f).source(np.ones(3), np.ones((2, 1)))
    head = source[: source.index("def ")].splitlines()
    assert "from s2s.runtime.numeric import guarded_divide, guarded_multiply, unbroadcast" in head
    assert "# table_default is (1, 2)" in head
    assert not s2s.grad(lambda x: x * x).source(2.0).startswith(("from", "#"))


def test_source_of_a_function_on_the_tape_says_why_there_is_none():
    def f(x):
        return locals()["x"] * x

    df = s2s.grad(f)
    for ask in (df.source, df.stages):
        with pytest.raises(s2s.UnsupportedSyntaxError) as caught:
            ask(2.0)
        assert str(caught.value).startswith("f is recorded on the tape, so there is no generated source: a ")
        assert "a call of locals" in str(caught.value) and "strict" not in str(caught.value)


@pytest.mark.parametrize("index", [(..., None), None, ()])
def test_item_of_a_number_without_dimensions(index):
    def f(x):
        return np.sum(np.sin(x)[index] * np.array([1.0, 2.0]))

    assert s2s.grad(f, strict=True)(np.array(0.5)) == pytest.approx(3 * np.cos(0.5))
