"""What cannot be differentiated is refused before any work is done, with the fix; the next call works."""

import dataclasses
import sys
import types
from contextlib import nullcontext

import numpy as np
import pytest

import s2s

pytestmark = pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")

X = np.array([1.0, 2.0])


def matrix(values):
    """A np.matrix, whose own warning is not under test."""
    return np.array(values).view(np.matrix)


def f(x, y=1.0):
    return np.sum(x * x) * y


def two(a, b):
    return a * b


# --- argnums -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argnums", "message"),
    [
        (2, "argnums 2 is out of range"),
        (-3, "argnums -3 is out of range"),
        ("q", "argnums 'q' is no parameter"),
        ((0, 0), "twice"),
        (("a", 0), "twice"),
        ((), "empty"),
        (True, "not True"),
        (1.0, "not 1.0"),
        (None, "not None"),
        ({}, "not {}"),
        ({0}, "not {0}"),
        (([0],), r"not \[0\]"),
    ],
)
def test_argnums_that_are_no_parameters_are_refused_at_decoration(argnums, message):
    with pytest.raises(s2s.ArgumentError, match=message) as caught:
        s2s.grad(two, argnums)
    assert "the parameters of two are (0: a, 1: b)" in str(caught.value)


def test_argnums_of_a_method_are_checked_in_the_class_body():
    with pytest.raises((s2s.ArgumentError, RuntimeError)) as caught:

        class Model:
            @s2s.grad(argnums=1)
            def loss(self, w):
                return w * w

    error = caught.value if isinstance(caught.value, s2s.ArgumentError) else caught.value.__cause__
    assert "out of range" in str(error)
    assert "(0: w)" in str(error)


def test_an_item_of_a_variadic_parameter_that_is_not_passed():
    with pytest.raises(s2s.ArgumentError, match=r"rest\[1\], which this call does not pass"):
        s2s.grad(lambda *rest: rest[0] * 2.0, 1)(3.0)


@pytest.mark.parametrize("what", [3, "name", [f], object()])
def test_what_is_no_function_is_refused(what):
    with pytest.raises(s2s.ArgumentError, match="no function"):
        s2s.grad(what)


def test_a_c_function_without_a_rule_is_refused():
    with pytest.raises(s2s.MissingRuleError, match=r"hash.*rule"):
        s2s.grad(hash)


def test_a_function_that_reaches_its_own_gradient_is_refused():
    @s2s.grad
    def power(x, n):
        return x * power(x, n - 1) if n else 1.0

    with pytest.raises(s2s.ArgumentError, match="dpower = grad"):
        power(2.0, 3)


def test_unknown_backends_are_refused():
    with pytest.raises(s2s.BackendError, match="abacus"):
        s2s.grad(f, backend="abacus")


# --- arguments -----------------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Opaque:
    inner: object


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (2, r"the int 2[^\n]*real numbers\nHint: pass the float 2.0"),
        (np.int32(2), r"int[^\n]*real numbers\nHint: pass the float 2.0"),
        (True, r"the bool True[^\n]*real"),
        (np.array([1, 2]), r"dtype int64[^\n]*\n.*x.astype\(float\)"),
        (np.array([True]), "dtype bool"),
        (np.array(["a"]), "dtype <U1"),
        ("text", "'text'"),
        (None, "None"),
        (np.array([1.0, None]), r"array of objects[^\n]*\n.*astype"),
        (np.ma.array([1.0, 2.0]), r"MaskedArray[^\n]*\n.*filled"),
        (matrix([[1.0, 2.0]]), r"matrix[^\n]*\n.*asarray"),
        (np.rec.array([1.0]), r"recarray[^\n]*\n.*asarray"),
        ([1, 2], "holds no float"),
        ({"w": X, "f": print}, r"x\['w'\]|x\['f'\], which is of type"),
        (Opaque(object()), r"x.inner, which is of type object"),
        ([X, np.ma.array([1.0])], r"x\[1\] is of type numpy.ma.MaskedArray[^\n]*\n.*pass x\[1\]\.filled"),
        (print, "of type builtin_function"),
    ],
)
def test_arguments_without_a_derivative_are_refused_with_the_fix(x, message):
    df = s2s.grad(f)
    with pytest.raises(s2s.ArgumentError, match=message):
        df(x)
    np.testing.assert_array_equal(df(X), 2 * X)


@pytest.mark.parametrize("y", [np.ma.array(2.0), matrix([[2.0]]), np.array(2.0, object)])
def test_arrays_with_another_arithmetic_are_refused_anywhere(y):
    with pytest.raises(s2s.ArgumentError, match="^y is "):
        s2s.grad(f)(X, y)


@pytest.mark.parametrize("package", ["pandas", "xarray"])
def test_labelled_arrays_are_known_by_their_module(package):
    labelled = type("Frame", (), {"__module__": f"{package}.core", "shape": (2,)})
    for args in [(labelled(), 1.0), (X, labelled())]:
        with pytest.raises(s2s.ArgumentError, match=rf"{package}.core.Frame[^\n]*\n.*to_numpy"):
            s2s.grad(f)(*args)


def test_nested_too_deeply():
    endless = [1.0]
    endless.append(endless)
    with pytest.raises(s2s.ArgumentError, match="contains itself"):
        s2s.grad(f)(endless)


def test_memory_maps_are_arrays(tmp_path):
    mapped = np.memmap(tmp_path / "x", dtype=float, shape=(2,), mode="w+")
    mapped[:] = X
    got = s2s.grad(f)(mapped)
    np.testing.assert_array_equal(got, 2 * X)


def test_mixed_devices_are_refused(monkeypatch):
    cupy = types.ModuleType("cupy")
    cupy.ndarray = type("ndarray", (), {"__module__": "cupy", "shape": (2,)})
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    with pytest.raises(s2s.BackendError, match=r"cupy and numpy.*"):
        s2s.grad(f)(X, cupy.ndarray())


def test_passive_integers_and_strings_are_fine():
    def g(x, n, mode):
        return x**n if mode == "power" else x

    assert s2s.grad(g)(2.0, 3, "power") == 12.0


@pytest.mark.parametrize("seed", ["a", None, True, 1j, np.ones(2), np.array("a"), [1.0]])
def test_seeds_that_are_no_real_number_are_refused(seed):
    df = s2s.grad(f)
    with pytest.raises(s2s.ArgumentError, match="the seed out_bar"):
        df(X, out_bar=seed)
    np.testing.assert_array_equal(df(X, out_bar=2.0), 4 * X)


# --- results -------------------------------------------------------------------------------------------------------


def test_a_result_of_several_elements_is_refused():
    df = s2s.grad(lambda x: x * 2.0)
    with pytest.raises(s2s.ArgumentError, match="scalar") as caught:
        df(X)
    assert "Hint: sum the result, or weigh it" in str(caught.value)


def test_a_result_of_one_element_counts_as_a_scalar():
    def g(x):
        return x * 2.0

    np.testing.assert_array_equal(s2s.grad(g)(np.array([3.0])), [2.0])
    np.testing.assert_array_equal(s2s.grad(g)(np.array([[3.0]])), [[2.0]])


def test_a_missing_return_is_named():
    def never(x):
        x * x

    def sometimes(x):
        if x > 0:
            return x * x

    with pytest.raises(s2s.ArgumentError, match=r"returns None.*\n(.*\n)*.*return statement is missing"):
        s2s.grad(never)(1.0)
    for derivative in (s2s.grad(sometimes, strict=True), s2s.value_and_grad(sometimes), s2s.hessian(sometimes)):
        with pytest.raises(s2s.ArgumentError, match=r"sometimes\(\) returned None"):
            derivative(-1.0)
    with pytest.raises(s2s.ArgumentError, match="None"):
        s2s.jvp(sometimes, (-1.0,), (1.0,))
    with pytest.raises(s2s.ArgumentError, match="None"):
        s2s.vjp(sometimes, -1.0)
    assert s2s.grad(sometimes, strict=True)(3.0) == 6.0


def test_complex_results_are_refused():
    with pytest.raises(s2s.ArgumentError, match="complex"):
        s2s.grad(lambda z: z * z)(1 + 2j)


def test_errors_of_the_function_arrive_unchanged_and_name_its_line():
    class Diverged(ArithmeticError):
        pass

    def g(x):
        if x > 10.0:
            raise Diverged("at %s" % x)
        return x * x

    df = s2s.grad(g)
    with pytest.raises(Diverged, match="at 11.0") as caught:
        df(11.0)
    assert 'raise Diverged("at %s" % x)' in "".join(caught.value.__notes__)
    assert df(3.0) == 6.0


def test_arguments_are_never_changed():
    p = {"w": X.copy(), "list": [np.ones(2)]}

    def g(p):
        return np.sum(p["w"] ** 2) + np.sum(p["list"][0])

    got = s2s.grad(g)(p)
    np.testing.assert_array_equal(p["w"], X)
    assert not np.shares_memory(got["w"], p["w"])
    got["list"][0][0] = 7.0
    assert p["list"][0][0] == 1.0


def test_a_number_with_arithmetic_of_its_own_is_refused():
    class Loud(float):
        def __mul__(self, other):
            return 100.0 * float(self) * float(other)

    for argnums in (0, 1):
        with pytest.raises(s2s.errors.ArgumentError, match=r"Loud.*arithmetic[\s\S]*float\(x\)"):
            s2s.grad(lambda x, y: x * x * y, argnums=argnums)(Loud(2.0), 3.0)
    assert s2s.grad(lambda x, y: x * x * y)(np.float64(2.0), 3.0) == 12.0


@pytest.mark.parametrize("call", [s2s.jvp, s2s.hvp])
@pytest.mark.parametrize("primals, tangents", [(0.5, 1.0), (X, X), ((X,), X), (X, (X,))])
def test_primals_and_tangents_are_tuples(call, primals, tangents):
    with pytest.raises(s2s.ArgumentError, match=r"are a tuple(.*\n)*.*write \(x,\)"):
        call(lambda *x: np.sum(x[0] ** 2), primals, tangents)


def test_argnums_are_no_arrays():
    with pytest.raises(s2s.ArgumentError, match="argnums must be positions or names of parameters, not array"):
        s2s.grad(f, np.ones(3))
    assert s2s.grad(lambda x, y: x * y, np.int64(1))(2.0, 3.0) == 2.0


@pytest.mark.parametrize("inputs", [3.0, [3.0], np.ones(2)])
def test_eager_calls_take_variables(inputs):
    with pytest.raises(s2s.ArgumentError, match="must be Variables, not"):
        s2s.backward(inputs)


def test_above_a_static_method():
    class Model:
        @s2s.grad
        @staticmethod
        def cube(x):
            return x**3

    assert Model.cube(2.0) == Model().cube(2.0) == 12.0


def test_a_missing_rule_of_a_method_of_a_ufunc_names_the_ufunc():
    with pytest.raises(s2s.MissingRuleError, match=r"numpy.nextafter.reduce`(.*\n)*.*s2s.stop_gradient"):
        s2s.grad(lambda x: np.nextafter.reduce(x))(X)


def doubled_in_place(a, b):
    kept = a * 1.0
    a *= 2.0
    return np.sum(a * b * kept)


def by_a_period(x):
    class Nothing:
        pass

    return np.sum(np.unwrap(x, period=x[0]))


def with_flags(x):
    class Nothing:
        pass

    y = x * 2.0
    y.setflags(write=False)
    return np.sum(y)


@pytest.mark.parametrize(
    ("f", "shares", "words", "line"),
    [
        (doubled_in_place, True, "'*=' writes an array, but it shares its memory", "a *= 2.0"),
        (by_a_period, False, "`numpy.unwrap` has no derivative by `period`", "np.unwrap(x, period=x[0])"),
        (with_flags, False, "the method 'setflags'", "y.setflags(write=False)"),
    ],
)
def test_errors_of_a_record_name_the_line(f, shares, words, line):
    x = np.array([0.5, 1.5])
    with pytest.raises(Exception) as error, pytest.warns(s2s.FallbackWarning) if not shares else nullcontext():
        s2s.grad(f, (0, 1) if shares else 0)(*([x, x] if shares else [x]))
    text = str(error.value) + "".join(getattr(error.value, "__notes__", ()))
    assert words in text and line in text and "test_arguments.py" in text, text
