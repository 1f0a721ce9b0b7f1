"""Users' functions on the tape: the same value as the plain call, exact gradients, and nothing left behind."""

import abc
import dataclasses
import functools
import importlib.util
import json
import math
import pathlib
import pickle
from collections import namedtuple
from math import sin as sine
from types import SimpleNamespace

import numpy
import numpy as np
import numpy as num
import pytest
from numpy import exp as e_to_the

import s2s
from s2s import rules
from s2s.autograd.dispatch import call_unknown
from s2s.autograd.proxies import has_value
from s2s.autograd.record import contains_variable, record, tape_gradient, tape_value_and_grad
from s2s.autograd.traced import Traced
from s2s.errors import ArgumentError, InplaceModificationError, MissingRuleError, UnsupportedSyntaxError

_SPEC = importlib.util.spec_from_file_location(
    "helpers_of_record", pathlib.Path(__file__).with_name("helpers_of_record.py")
)
helpers = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(helpers)

X3 = np.array([2.0, 3.0, 5.0])
COUNT = 0
HISTORY = []
OFFSETS = np.array([1.0, 2.0, 3.0])
Point = namedtuple("Point", "x y")


def gradient(f, *args, wrt=None):
    """The gradients by all parameters (or by `wrt`), after comparing the value with the plain call's."""
    names = f.__code__.co_varnames[: f.__code__.co_argcount] if wrt is None else wrt
    value, _, gradients = tape_value_and_grad(f, names, args)
    plain = f(*args)
    assert type(value) is type(plain)
    assert np.array_equal(value, plain, equal_nan=True)
    return gradients[names[0]] if len(names) == 1 else tuple(gradients[n] for n in names)


def differences(f, x, h=1e-6):
    x = np.asarray(x, float)
    g = np.zeros_like(x)
    for i in range(x.size):
        up, down = x.copy(), x.copy()
        up.flat[i] += h
        down.flat[i] -= h
        g.flat[i] = (f(up if x.ndim else float(up)) - f(down if x.ndim else float(down))) / (2 * h)
    return g


# --- math, numpy and builtins under any name ------------------------------------------------------------------


def with_math(x):
    return math.sin(x) * math.sqrt(x) + math.exp(-x) ** 2 + math.pi * x + math.pow(x, 3) + sine(x) + helpers.bell(x)


def with_numpy(x):
    return numpy.sum(num.tanh(x)) + np.sum(e_to_the(-x) * np.hypot(x, 1.0)) + helpers.weighted(x)


def with_builtins(x):
    a, b = float(x[0]), x[1].item()
    total = sum([a, b, x[2]]) + abs(-a) + pow(b, 2) + max(a, b) * min(x[1], x[2])
    return total * round(2.4) + int(a) * b if isinstance(a, float) and type(a) is float else None


def with_types(x):
    if not isinstance(x, np.ndarray) or x.dtype != np.float64:
        return 0.0
    y = x[0]
    if isinstance(y, (float, np.floating)) and type(y) is np.float64:
        return y * float(y) + np.float64(x[1]) * x[2] + complex(y).real
    return -1.0


def with_local_import(x):
    import math as m

    from numpy import cosh

    return m.log(x) * cosh(x)


def with_class_body(x):
    class Local:
        factor = math.pi * len(OFFSETS)

        @staticmethod
        def scale(v):
            return math.atan(v) * Local.factor

    return Local.scale(x)


@pytest.mark.parametrize("f", [with_math, with_local_import, with_class_body])
def test_functions_of_a_number(f):
    np.testing.assert_allclose(gradient(f, 1.7), differences(f, 1.7), rtol=1e-7)
    assert type(gradient(f, 1.7)) is float


@pytest.mark.parametrize("f", [with_numpy, with_builtins, with_types])
def test_functions_of_an_array(f):
    x = X3 + 0.3
    np.testing.assert_allclose(gradient(f, x), differences(f, x), rtol=1e-6)


def test_created_arrays_can_be_filled():
    def f(x):
        c = np.zeros(3)
        d = np.ones_like(c)
        for i in range(3):
            c[i] = x[i] * x[0]
        d[1:] = c[:-1]
        a = np.array([[x[0], 1.0], [x[0] * x[1], x[1]]], dtype=np.float64)
        b = np.asarray([x[2]] * 2)
        return np.sum(c * d) + np.sum(a @ a) + np.sum(b * b)

    np.testing.assert_allclose(gradient(f, X3), differences(f, X3), rtol=1e-7)


def test_lists_of_values_become_arrays():
    def f(x):
        rows = [x * (i + 1) for i in range(3)]
        a = np.stack(rows)
        return np.sum(a * a) + sum(rows)[0] + np.array(rows)[1, 1] + np.mean([x[0], x[1]])

    np.testing.assert_allclose(gradient(f, X3), 28 * X3 + [6.5, 2.5, 0])


def test_arrays_found_by_name_can_be_read_and_kept():
    before = OFFSETS.copy()

    def f(x):
        y = x * OFFSETS
        return np.sum(y * y)

    np.testing.assert_allclose(gradient(f, X3), 2 * X3 * before**2)
    np.testing.assert_array_equal(OFFSETS, before)


# --- writes -----------------------------------------------------------------------------------------------------


def test_saved_values_are_copied_before_writes():
    def f(x):
        c = np.sin(x)
        y = c * x
        e = np.exp(x)
        e += 1.0
        c[:] = 0.0
        buffer = np.zeros(3)
        total = 0.0
        for i in range(3):
            buffer[:] = x * (i + 1)
            buffer *= buffer
            total = total + np.sum(buffer) * np.sum(x)
        return np.sum(y) + np.sum(c) + np.sum(e * e) + total

    x = X3 / 5
    np.testing.assert_allclose(gradient(f, x), differences(f, x), rtol=1e-6)


@pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
@pytest.mark.parametrize("index", [(), ..., (...,)], ids=repr)
def test_saved_values_are_copied_before_a_write_of_the_whole(shape, index):
    def f(x):
        z = np.array(x[0])
        z *= x[1]
        z[index] = np.sin(z) * x[0]
        z[index] = z * z
        return np.sum(z * x[1])

    x = np.random.default_rng(3).uniform(0.5, 1.5, (2, *shape))
    np.testing.assert_allclose(gradient(f, x), differences(f, x), rtol=1e-6)


@pytest.mark.parametrize("index", [0, -1, (0, 1), (0, 1, ...), (..., 1), (None, 0, 1), slice(1, None)], ids=repr)
def test_saved_values_are_copied_before_a_write_of_a_part(index):
    def f(x):
        z = x * 1.0
        y = np.sin(z)
        z[index] = np.exp(z[index]) * z[0, 0]
        y[index] *= z[index]
        return np.sum(z * y)

    x = np.random.default_rng(4).uniform(0.5, 1.5, (2, 3))
    np.testing.assert_allclose(gradient(f, x), differences(f, x), rtol=1e-6)


def test_arguments_may_be_written_and_are_not_changed():
    def f(x, w):
        x *= 2.0
        x[0] = w[1]
        w[1] = 7.0
        return np.sum(x * x * w)

    x, w = X3.copy(), np.array([1.0, 4.0, 2.0])
    value, _, g = tape_value_and_grad(f, ["x", "w"], (x, w))
    np.testing.assert_array_equal(x, X3)
    np.testing.assert_array_equal(w, [1.0, 4.0, 2.0])
    assert value == 1 * 16 + 7 * 36 + 2 * 100
    np.testing.assert_allclose(g["x"], [0.0, 8 * 3 * 7.0, 8 * 5 * 2.0])
    np.testing.assert_allclose(g["w"], [16.0, 8.0, 100.0])


def test_numbers_are_rebound_and_arrays_written_by_augmented_assignment():
    def f(x):
        s = x[0]
        t = s
        s += x[1]
        c = x * 1.0
        d = c
        d += x
        return s * t + np.sum(c * c)

    np.testing.assert_allclose(gradient(f, X3), 8 * X3 + [2 * 2 + 3.0, 2.0, 0.0])


def test_arguments_that_share_memory_may_be_read_but_not_written():
    def read(x, y):
        return np.sum(x * y)

    def write(x, y):
        x[0] = 1.0
        return np.sum(x * y)

    x = X3.copy()
    g = gradient(read, x, x)
    np.testing.assert_allclose(g[0], X3)
    np.testing.assert_allclose(g[1], X3)
    with pytest.raises(InplaceModificationError, match="shares its memory"):
        tape_value_and_grad(write, ["x"], (x, x))
    with pytest.raises(InplaceModificationError, match="shares its memory"):
        tape_value_and_grad(write, ["x"], (x, x[:]))
    np.testing.assert_array_equal(x, X3)


def test_write_through_iteration_and_flat():
    def f(x):
        a = np.outer(x, x)
        for i, row in enumerate(a):
            row *= x[i]
        a.flat[2] = x[0]
        return np.sum(a)

    np.testing.assert_allclose(gradient(f, X3), differences(f, X3), rtol=1e-7)


# --- closures, globals, objects -----------------------------------------------------------------------------


def test_closures_defaults_recursion_and_partial():
    def make(k):
        def inner(v, scale=k):
            return k * math.exp(v / 10) + scale

        return inner

    two, five = make(2.0), make(5.0)

    def power(v, n):
        return 1.0 if n == 0 else v * power(v, n - 1)

    cubed = functools.partial(power, n=3)

    def f(x):
        return two(x) + 10 * five(x) * cubed(x) + (lambda v: math.log(v))(x)

    np.testing.assert_allclose(gradient(f, 1.3), differences(f, 1.3), rtol=1e-7)


def test_nonlocal_and_global_are_written_back_as_plain_numbers():
    total = 0.0

    def f(x):
        global COUNT
        nonlocal total
        COUNT += 1
        total = total + x
        HISTORY.append(x * 2)
        return total * x

    HISTORY.clear()
    before = COUNT
    value, _, g = tape_value_and_grad(f, ["x"], (3.0,))
    assert (value, g["x"]) == (9.0, 6.0)
    assert COUNT == before + 1
    assert type(total) is float and total == 3.0
    assert HISTORY == [6.0] and type(HISTORY[0]) is float


def test_global_is_read_at_the_call():
    rates = {"fast": 2.0}

    def f(x):
        return helpers.RATE * x * x * rates["fast"]

    assert gradient(f, 1.0) == 8.0
    helpers.RATE, rates["fast"] = 3.0, 10.0
    try:
        assert gradient(f, 1.0) == 60.0
    finally:
        helpers.RATE = 2.0


class Model:
    def __init__(self, w):
        self.w = w
        self.seen = []

    def energy(self, x):
        self.seen.append(x[0])
        self.last = x * 2.0
        return np.sum(self.w * x * x) + math.sin(x[0]) + self.bias(x[1])

    @staticmethod
    def bias(v):
        return 3.0 * v

    def __call__(self, x):
        return math.cos(x)


def test_methods_and_callable_objects():
    model = Model(np.array([1.0, 2.0, 3.0]))
    _, _, g = tape_value_and_grad(model.energy, ["x"], (X3,))
    np.testing.assert_allclose(g["x"], 2 * model.w * X3 + [math.cos(2.0), 3.0, 0.0])
    assert model.seen == [2.0] and type(model.seen[0]) is np.float64
    assert type(model.last) is np.ndarray
    assert tape_gradient(model, ["x"], (0.5,))["x"] == -math.sin(0.5)


def test_cached_functions_do_not_mix_records():
    @functools.lru_cache
    def cached(v):
        return math.exp(v)

    def f(x):
        return cached(x) + cached(2.0)

    assert gradient(f, 1.0) == gradient(f, 1.0) == math.exp(1.0)


def test_values_print_and_format_as_themselves(capsys):
    def f(x):
        print(x[0], f"{x[1]:.2f}", x.shape, len(x), str(x))
        return x[0] * x[1]

    f(X3)
    plain = capsys.readouterr().out
    tape_value_and_grad(f, ["x"], (X3,))
    assert capsys.readouterr().out == plain


def test_random_draws_happen_once():
    rng = np.random.default_rng(0)

    def f(x):
        return np.sum(x * rng.random(3))

    _, _, g = tape_value_and_grad(f, ["x"], (X3,))
    again = np.random.default_rng(0)
    np.testing.assert_array_equal(g["x"], again.random(3))
    assert rng.random() == again.random()


# --- arguments and results -----------------------------------------------------------------------------------


@dataclasses.dataclass
class Params:
    w: np.ndarray
    rate: float
    name: str = "net"


def test_gradients_have_the_structure_and_dtypes_of_arguments():
    def f(p):
        return np.sum(p["a"][0] ** 2) * p["c"].rate + p["d"].x * p["e"].k

    p = {
        "a": [X3.copy(), np.ones(2, np.float32)],
        "b": {"name": "net", "none": None, "n": 3},
        "c": Params(np.ones(1), 2.0),
        "d": Point(1.5, np.float32(2.0)),
        "e": SimpleNamespace(k=4.0),
    }
    g = gradient(f, p)
    np.testing.assert_allclose(g["a"][0], 4 * X3)
    assert g["a"][1].dtype == np.float32 and not g["a"][1].any()
    assert g["b"] == {"name": "net", "none": None, "n": 3}
    assert g["c"].rate == 38.0 and g["c"].name == "net"
    assert g["d"] == Point(4.0, 0.0) and type(g["d"].y) is np.float32
    assert g["e"].k == 1.5


def test_variadic_parameters():
    def f(first, *rest, **options):
        return first * rest[0] * rest[1] + options["k"] ** 2

    _, _, g = tape_value_and_grad(f, ["first", "rest", "options"], (2.0, 3.0, 5.0), {"k": 7.0})
    assert g == {"first": 15.0, "rest": (10.0, 6.0), "options": {"k": 14.0}}


def test_auxiliary_results_are_plain():
    def f(x):
        return np.sum(x * x), {"twice": x * 2, "first": x[0], "n": 3}

    value, aux, g = tape_value_and_grad(f, ["x"], (X3,), has_aux=True)
    assert type(value) is np.float64 and not has_value(aux)
    np.testing.assert_array_equal(aux["twice"], 2 * X3)
    with pytest.raises(ArgumentError, match="aux"):
        tape_value_and_grad(lambda x: x, ["x"], (2.0,), has_aux=True)


def test_seed_scales_the_gradient():
    assert tape_value_and_grad(lambda x: x * x, ["x"], (3.0,), seed=0.5)[2]["x"] == 3.0


def test_gradients_share_no_memory():
    g = gradient(lambda x, y: np.sum(x + y), X3, X3.copy())
    assert not np.shares_memory(g[0], g[1]) and g[0].flags.writeable


def test_float32_stays_float32():
    def f(x):
        return np.sum(x * np.array([1.0, 2.0, 4.0])) + np.mean(x) * np.float64(3.0)

    assert gradient(f, X3.astype(np.float32)).dtype == np.float32


def test_complex_convention_is_that_of_the_rules():
    def f(z):
        return np.sum(np.abs(z) ** 2)

    z = np.array([1.0 + 2.0j])
    np.testing.assert_allclose(gradient(f, z), 2 * np.conj(z))


# --- what is refused, and how ------------------------------------------------------------------------------------


@pytest.mark.parametrize("x", [2, np.array([1, 2]), True, [1, 2]])
def test_integer_arguments_are_refused(x):
    with pytest.raises(ArgumentError, match="float"):
        tape_value_and_grad(lambda x: 1.0, ["x"], (x,))


def test_unknown_parameters_are_refused_and_empty_ones_have_empty_gradients():
    with pytest.raises(ArgumentError, match="no parameter 'y'"):
        tape_value_and_grad(lambda x: x, ["y"], (2.0,))
    assert tape_gradient(lambda x, *rest: x, ["x", "rest"], (2.0,)) == {"x": 1.0, "rest": ()}


def test_results_that_are_no_scalars_are_refused():
    with pytest.raises(ArgumentError, match="scalar"):
        tape_value_and_grad(lambda x: x * 2, ["x"], (X3,))
    with pytest.raises(ArgumentError, match="None"):
        tape_value_and_grad(lambda x: None, ["x"], (2.0,))
    with pytest.raises(ArgumentError, match="str"):
        tape_value_and_grad(lambda x: "text", ["x"], (2.0,))


def test_a_result_without_dependence_has_zero_gradient():
    assert gradient(lambda x: 3.0, 2.0) == 0.0


def test_unknown_functions_are_named():
    def f(x):
        return float(json.dumps(x)) * x

    with pytest.raises(MissingRuleError, match="dumps"):
        tape_value_and_grad(f, ["x"], (2.0,))


def test_methods_that_cannot_be_rebuilt_fail_loudly():
    model = Model(2.0)

    def f(x):
        return model(x)

    with pytest.raises(UnsupportedSyntaxError, match="gradient"):
        tape_value_and_grad(f, ["x"], (2.0,))


class Shelf:
    def __init__(self):
        self.array = np.zeros((2, 3))


SHELF, SHELVES, DRAWERS = Shelf(), [np.zeros((2, 3))], {"a": np.zeros((2, 3))}


def written(write):
    def f(x):
        write(x)
        return np.sum(SHELF.array) + np.sum(SHELVES[0]) + np.sum(DRAWERS["a"])

    return f


@pytest.mark.parametrize("x", [2.0, np.float32(2.0), np.array([1.0, 2.0, 3.0])], ids=["number", "float32", "array"])
@pytest.mark.parametrize(
    "write",
    [
        lambda x: SHELF.array.__setitem__(0, x),
        lambda x: SHELF.array.__setitem__((..., 0), np.sum(x)),
        lambda x: SHELVES[0].__setitem__((slice(None), 1), np.sum(x)),
        lambda x: DRAWERS["a"].__setitem__((1, 1), np.sum(x) * 2.0),
        lambda x: SHELF.array.__setitem__(SHELF.array == 0, np.sum(x)),
        lambda x: SHELF.array.fill(np.sum(x)),
        lambda x: SHELF.array.flat.__setitem__(0, np.sum(x)),
    ],
)
def test_active_values_in_arrays_that_objects_hold_are_refused_at_the_line(write, x):
    with pytest.raises(UnsupportedSyntaxError, match="array that an object or a container holds") as caught:
        tape_value_and_grad(written(write), ["x"], (x,))
    assert caught.value.origin.file == __file__
    assert not SHELF.array.any() and not SHELVES[0].any() and not DRAWERS["a"].any()
    assert tape_value_and_grad(lambda x: np.sum(x * x), ["x"], (x,))[0] == np.sum(x * x)


def test_a_refusal_that_is_caught_is_raised_in_the_end():
    def f(x):
        try:
            SHELF.array[0, 0] = x
        except Exception:
            pass
        return x * x

    with pytest.raises(UnsupportedSyntaxError, match="gradient"):
        tape_value_and_grad(f, ["x"], (2.0,))


@pytest.mark.parametrize(
    "leak",
    [
        lambda x: np.vectorize(lambda v: (v, v))(x),
        lambda x: np.vectorize(lambda v: v, otypes=[int])(x),
        lambda x: np.fromiter(x, int),
        lambda x: np.r_["0,2", x],
        lambda x: np.r_[x[0] : 3.0 : 4j],
        lambda x: np.broadcast(x, x),
        lambda x: np.random.default_rng(0).standard_t(x),
        lambda x: np.random.standard_t(x),
        lambda x: np.nditer(x),
        lambda x: np.setxor1d(x, x),
        lambda x: np.ma.array(x),
        lambda x: x.data,
        lambda x: x.base,
        lambda x: x.view(int),
        lambda x: x.tobytes(),
        lambda x: x[0].as_integer_ratio(),
        lambda x: x[0].hex(),
        lambda x: "%.3f" % x[0],
        lambda x: math.fsum(np.array([1.0]) + x).hex(),
        lambda x: pickle.dumps(x),
        lambda x: memoryview(x),
        lambda x: Model.bias.__call__(json.loads("[1]")) * hash(x[0]),
    ],
)
def test_no_way_around_the_record_goes_unnoticed(leak):
    def f(x):
        leak(x)
        return np.sum(x)

    with pytest.raises((TypeError, AttributeError, MissingRuleError, ValueError, UnsupportedSyntaxError)):
        tape_value_and_grad(f, ["x"], (X3,))


def test_values_have_the_attributes_of_plain_values_only():
    def f(x):
        assert not hasattr(x, "detach") and not hasattr(x, "grad") and hasattr(x, "strides")
        assert not hasattr(x[0].item(), "shape") and x[0].item().is_integer()
        return np.sum(x)

    np.testing.assert_array_equal(gradient(f, X3), np.ones(3))


def test_values_as_keys_are_refused():
    with pytest.raises(TypeError, match="key"):
        tape_value_and_grad(lambda x: {2.0: 1.0}[x], ["x"], (2.0,))


def test_unknown_functions_cannot_write_constants():
    constant = s2s.Variable(np.ones(3))
    with pytest.raises(ValueError, match="read-only"):
        call_unknown(lambda array: array.fill(2.0), [constant], {})
    np.testing.assert_array_equal(constant.data, np.ones(3))


@pytest.mark.parametrize("draw", ["legacy", "generator"])
@pytest.mark.parametrize("shape", [(5,), (4, 3)])
def test_shuffled_arrays_and_permutations_are_recorded(draw, shape):
    def f(x, v):
        rng = np.random.RandomState(7) if draw == "legacy" else np.random.default_rng(7)
        c = rng.uniform(0.5, 1.5, shape)
        y = c * x  # keeps what c was
        rng.shuffle(c)
        z = x * v
        rng.shuffle(z)
        rows = rng.permutation(z * z)
        if draw == "generator" and z.ndim > 1:
            rng.shuffle(z, axis=1)
            rows = rows + rng.permutation(z, axis=1)
        return np.sum(y * c * z) + np.sum(rows[1:] * c[:-1]) + rng.uniform()

    rng = np.random.default_rng(0)
    args = rng.uniform(0.5, 1.5, shape), rng.uniform(0.5, 1.5, shape)
    value, _, by_name = tape_value_and_grad(f, ["x", "v"], args)
    assert value == f(*args)
    for name, index in (("x", 0), ("v", 1)):
        for place in np.ndindex(shape):
            moved = [[a.copy() for a in args] for _ in range(2)]
            moved[0][index][place] += 1e-6
            moved[1][index][place] -= 1e-6
            assert by_name[name][place] == pytest.approx((f(*moved[0]) - f(*moved[1])) / 2e-6, rel=1e-6)


def test_users_exception_passes_and_the_next_call_works():
    class Diverged(ArithmeticError):
        pass

    def f(x):
        assert x > 0, "x must be positive"
        for i in range(10):
            x = x * x
            if x > 1e6:
                raise Diverged("at step %d" % i, x)
        return x

    with pytest.raises(Diverged, match="at step 2") as error:
        tape_value_and_grad(f, ["x"], (10.0,))
    assert type(error.value.args[1]) is float
    with pytest.raises(AssertionError, match="x must be positive"):
        tape_value_and_grad(f, ["x"], (-1.0,))
    assert gradient(lambda x: x * x, 3.0) == 6.0


# --- gradients within gradients ------------------------------------------------------------------------------------


def derivative(f):
    """What an API on top does: within a record, its gradients are recorded too."""

    def df(x):
        return tape_gradient(f, f.__code__.co_varnames[:1], (x,), create_graph=contains_variable((f, x)))[
            f.__code__.co_varnames[0]
        ]

    df.__module__ = "s2s.api"
    return df


def test_perturbations_are_not_confused():
    def sums(x):
        def inner(y):
            return x + y

        return x * derivative(inner)(1.0)

    def products(x):
        def inner(y):
            return x * y

        return x * derivative(inner)(1.0)

    assert derivative(sums)(1.0) == 1.0
    assert derivative(products)(4.0) == 8.0


def test_inner_argument_that_depends_on_the_outer_one():
    def f(x):
        def inner(y):
            return x * math.sin(y * x)

        return derivative(inner)(x * x)

    # the inner gradient is x^2 cos(y x) at y = x^2
    x = 0.7
    expected = 2 * x * math.cos(x**3) - x**2 * math.sin(x**3) * 3 * x**2
    np.testing.assert_allclose(derivative(f)(x), expected)


def test_gradient_penalty():
    def energy(x):
        return np.sum(x**3)

    def f(x):
        g = derivative(energy)(x)
        return np.sum(g**2) + energy(x)

    x = X3 / 5
    np.testing.assert_allclose(gradient(f, x), 36 * x**3 + 3 * x**2)


def test_inner_record_keeps_values_of_the_outer_one():
    kept = []

    def f(x):
        kept.append(x * 3.0)
        slope = derivative(lambda y: y * kept[0])(1.0)
        return slope * kept[0]

    assert derivative(f)(2.0) == 36.0
    assert type(kept[0]) is float


def test_third_derivative_of_a_function_of_math():
    f = derivative(derivative(derivative(lambda x: math.exp(2 * x) * math.sin(x))))
    x = 0.4
    e, s, c = math.exp(2 * x), math.sin(x), math.cos(x)
    np.testing.assert_allclose(f(x), e * (2 * s + 11 * c))


def test_contains_variable():
    v = Traced.make(1.0)

    def closure():
        return v

    assert contains_variable({"a": [1.0, (v,)]}) and contains_variable(closure)
    assert contains_variable(functools.partial(max, v)) and not contains_variable([1.0, max, "text"])


def test_record_gives_output_and_leaves():
    run = record(lambda x, k: [x * k, k], (2.0, 3.0), {}, ["x"])
    assert isinstance(run.output[0], Traced) and run.output[1] == 3.0
    assert [leaf.given for leaf in run.leaves["x"][1]] == [2.0]


def test_what_is_called_is_differentiated_not_what_is_wrapped():
    def twice(f):
        @functools.wraps(f)
        def inner(*args):
            return 2.0 * f(*args)

        return inner

    @twice
    def f(x):
        return x**3

    assert tape_value_and_grad(f, ["args"], (2.0,))[2]["args"] == (24.0,)


def test_gradients_at_eager_variables_are_variables_of_the_same_graph():
    from s2s.autograd import Variable, backward

    x = Variable(X3, requires_grad=True)
    w = Variable(2.0, requires_grad=True)
    value, _, g = tape_value_and_grad(lambda x: np.sum(x**3) * w, ["x"], (x,), create_graph=True)
    assert type(value) is Variable and type(g["x"]) is Variable
    backward(np.sum(g["x"] * g["x"]) + value)
    np.testing.assert_allclose(x.grad.numpy(), 4 * 36 * X3**3 + 6 * X3**2)
    np.testing.assert_allclose(w.grad.numpy(), np.sum(9 * X3**4) * 2 * 2 + np.sum(X3**3))


def test_inner_function_may_write_into_its_copy_of_an_outer_value():
    def f(x):
        c = x * 1.0

        def inner(y, z):
            z[0] = y
            return np.sum(z * z) * y

        slope = tape_gradient(inner, ["y"], (x[0], c), create_graph=contains_variable(x))["y"]
        return slope + np.sum(c)

    # the inner gradient is 3 y^2 + z1^2 + z2^2
    np.testing.assert_allclose(gradient(f, X3), [6 * 2.0 + 1, 2 * 3.0 + 1, 2 * 5.0 + 1])


def test_globals_as_a_dict():
    def f(x):
        names = globals()
        names["COUNT"] = 5
        return x * names["COUNT"] + names.get("OFFSETS")[1] * x * ("sine" in names)

    before = COUNT
    try:
        assert tape_value_and_grad(f, ["x"], (3.0,))[2]["x"] == 7.0
        assert COUNT == 5
    finally:
        globals()["COUNT"] = before


def test_threads_record_at_once():
    import threading

    def f(x):
        total = x * 0.0
        for i in range(50):
            total = total + math.sin(x * i) * helpers.bell(x)
        return total

    expected = tape_gradient(f, ["x"], (0.3,))["x"]
    found = []
    threads = [threading.Thread(target=lambda: found.append(tape_gradient(f, ["x"], (0.3,))["x"])) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 8


PAIR, KEYED = (1.0, 2.0), ({"a": 5.0}, "a")


def test_pairs_that_a_function_finds_by_name_are_left_alone():
    def f(x, more=(3.0, 4.0)):
        items = list(more)
        items[0] = x
        return sum(items) * PAIR[1] + KEYED[0][KEYED[1]] * x

    assert tape_value_and_grad(f, ["x"], (2.0,))[::2] == (22.0, {"x": 7.0})
    assert PAIR == (1.0, 2.0) and KEYED == ({"a": 5.0}, "a")
    leaking = [0.0], "name"

    def g(x):
        leaking[0][0] = x
        return x * x

    assert tape_gradient(g, ["x"], (2.0,)) == {"x": 4.0}
    assert type(leaking[0][0]) is float


def sorted_by_class(v):
    match v:
        case int(n):
            return n * 2.0
        case float() as number if number > 1.0:
            return number * number
        case float(number):
            return number * 3.0
        case np.ndarray():
            return np.sum(v * v)
        case Point(x=float(a), y=b):
            return a * a * b
        case [a, float(b)]:
            return a * b
        case complex(real=a):
            return a
    return 0.0 * v


@pytest.mark.parametrize("x", [1.7, 0.3, np.float64(2.5), np.array([1.5, 0.2])])
def test_class_patterns_over_types_of_numbers(x):
    assert np.allclose(gradient(sorted_by_class, x), differences(sorted_by_class, x))


def test_class_patterns_within_sequences_and_named_tuples():
    def f(x, n):
        return sorted_by_class([x, x * 2.0]) + sorted_by_class(Point(x, 3.0)) + sorted_by_class(n) * x

    assert gradient(f, 1.3, 2, wrt=["x"]) == pytest.approx(4 * 1.3 + 6 * 1.3 + 4)


def test_a_class_over_a_type_of_numbers():
    def f(x):
        class Length(float, metaclass=abc.ABCMeta):
            __slots__ = ()
            unit = "m"

            def doubled(self):
                return 2.0 * self

        class Plain(metaclass=type):
            pass

        assert type(Plain) is type
        return x * Length(3.0).doubled() if issubclass(Length, float) and Length.unit == "m" else x

    assert gradient(f, 1.5) == 6.0


def test_results_that_hide_values_are_refused():
    def hides(x):
        return [{"x": x}, x]

    rules.linear(hides, wrt="x")(lambda g, ans, x: g[1])
    with pytest.raises(TypeError, match="returned a dict"):
        gradient(lambda x: np.sum(hides(x)[0]["x"]), X3)


def steep(x):
    return x * x


def test_users_functions_keep_their_own_rules_on_the_tape():
    def nested(x):
        return x * x

    for function in (steep, nested):
        rules.elementwise(function)(lambda ans, x: 100.0)
    for f in (lambda x: np.sum(steep(x)), lambda x: np.sum(nested(x))):
        np.testing.assert_array_equal(gradient(f, X3), [100.0] * 3)


def test_methods_with_rules_are_refused_where_their_calls_are_not_seen():
    class Model:
        def run(self, x):
            return x * x

    rules.elementwise(Model.run, wrt="x")(lambda ans, self, x: 100.0)
    model = Model()
    with pytest.raises(UnsupportedSyntaxError, match="Model.run has a rule of its own"):
        gradient(lambda x: np.sum(model.run(x)), X3)
    compiled = s2s.grad(lambda x: np.sum(model.run(x)), strict=True)
    np.testing.assert_array_equal(compiled(X3), [100.0] * 3)  # the compiler sees them
    run = Model.run
    np.testing.assert_array_equal(gradient(lambda x: np.sum(run(model, x)), X3), [100.0] * 3)


LISTS = {
    "matmul": lambda x: x @ [[1.0, 2.0], [3.0, 4.0], [0.5, 0.2]],
    "from the left": lambda x: [[1.0, 2.0, 0.5]] @ x,
    "dot": lambda x: np.dot([1.0, 2.0, 0.5], x),
    "divide": lambda x: np.divide([1.0, 2.0, 0.5], x) + x / [1, 2, 4],
    "power": lambda x: np.power([1.0, 2.0, 0.5], x) + np.power(x, [1, 2, 3]),
    "arctan2": lambda x: np.arctan2(x, [1.0, 2.0, 0.5]) + np.arctan2([1, 2, 3], x),
    "solve": lambda x: np.linalg.solve([[3.0, 1.0, 0.2], [0.3, 2.0, 0.1], [0.0, 0.5, 4.0]], x),
    "inner": lambda x: np.inner(x, [1.0, 2.0, 0.5]) * x,
    "choose": lambda x: np.choose([0, 1, 0], [x, x**2]),
    "where": lambda x: np.where([True, False, True], x, x**2),
    "quantile": lambda x: np.quantile(x, [0.2, 0.7]),
    "polyfit": lambda x: np.polyfit([0.0, 1.0, 3.0], x, 1),
    "interp": lambda x: np.interp(x, [0.0, 3.0, 6.0], [1.0, 0.5, 2.0]),
    "average": lambda x: np.average(x, weights=[1.0, 2.0, 0.5]) * x,
}


@pytest.mark.parametrize("name", LISTS)
def test_lists_of_plain_numbers_stand_for_arrays(name):
    def f(x):
        made = LISTS[name](x)
        return np.sum(made * np.cos(made))

    x = np.random.default_rng(5).uniform(0.5, 5.0, 3)
    np.testing.assert_allclose(gradient(f, x), differences(f, x), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("function", [min, max, sum, np.prod, np.max, np.stack, np.mean])
def test_namedtuples_are_tuples_to_functions_that_have_a_rule(function):
    def f(x):
        p = Point(x[0], x[1] * x[2])
        pairs = [p, Point(x[1], x[0])]
        return np.sum(function(p) * x[0]) + np.sum(np.array(pairs) ** 2)

    assert gradient(f, X3) == pytest.approx(differences(f, X3))


def memory_twice(x):
    a = np.arange(3.0)
    s = np.sum(x * a)
    a.view()[0] = 4.0
    a.view(np.float64)[1] = 2.0
    return s + np.sum(x * a)


def test_another_view_of_all_of_an_array_is_that_array():
    _, _, by_name = tape_value_and_grad(memory_twice, ["x"], (X3,))
    np.testing.assert_allclose(by_name["x"], [4.0, 3.0, 4.0])


def by_memoryview(a, x):
    memoryview(a)[0] = 5.0


def by_data(a, x):
    return np.sum(x * np.frombuffer(a.data))


def by_nditer(a, x):
    for v in np.nditer(a, op_flags=["readwrite"]):
        v[...] = v * 2.0


def by_other_dtype(a, x):
    a.view(np.int64)[0] = 1


@pytest.mark.parametrize("way", [by_memoryview, by_data, by_nditer, by_other_dtype], ids=lambda f: f.__name__)
def test_memory_that_no_record_sees_is_refused(way):
    def f(x):
        a = np.arange(3.0)
        s = np.sum(x * a)
        way(a, x)
        return s + np.sum(x * a)

    with pytest.raises((s2s.UnsupportedSyntaxError, TypeError, ValueError), match="memory|read-only"):
        tape_value_and_grad(f, ["x"], (X3,))


def test_an_iterator_over_memory_reads_it():
    def f(x):
        a = np.arange(3.0)
        return sum(float(v) for v in np.nditer(a)) * np.sum(x * a)

    _, _, by_name = tape_value_and_grad(f, ["x"], (X3,))
    np.testing.assert_allclose(by_name["x"], 3.0 * np.arange(3.0))


def test_items_of_an_array_are_set_to_others_of_it_by_an_array_of_indices():
    def f(x, w):
        v = x * 1.0
        v[[1, 3]] = v[::2]
        v[np.array([0, 2])] = v[[3, 1]] * 2.0
        return np.sum(v * w)

    rng = np.random.default_rng(0)
    x, w = rng.normal(size=4), rng.normal(size=4)
    value, _, by_name = tape_value_and_grad(f, ["x"], (x, w))
    assert value == f(x, w)
    # v is 2 x2, x0, 2 x0, x2 in the end
    np.testing.assert_allclose(by_name["x"], [w[1] + 2 * w[2], 0.0, 2 * w[0] + w[3], 0.0])
