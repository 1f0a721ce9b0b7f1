"""What is not compiled is recorded on the tape: one warning for each place that calls, a record, the right number."""

import contextlib
import linecache
import math
import threading
import warnings

import numpy as np
import pytest
import scipy.linalg

import s2s


def records(x):
    def inner():
        return [x * x]

    return inner()[0]


def opaque(x):
    total = 0.0
    for part in map(float, range(3)):
        total = total + part * x
    return sorted([total, -1e9])[-1]


def no_source():
    namespace = {"np": np}
    exec("def f(x):\n    return np.sin(x) * x\n", namespace)
    return namespace["f"]


def test_warning_names_the_function_the_reason_and_the_line_of_the_call():
    df = s2s.grad(no_source())
    with pytest.warns(s2s.FallbackWarning, match=r"f could not be compiled.*source") as caught:
        got = df(0.5)
    np.testing.assert_allclose(got, np.cos(0.5) * 0.5 + np.sin(0.5))
    assert len(caught) == 1
    assert caught[0].filename == __file__


CALLS = {
    "grad": lambda f: s2s.grad(f)(0.5),
    "value_and_grad": lambda f: s2s.value_and_grad(f)(0.5),
    "elementwise_grad": lambda f: s2s.elementwise_grad(f)(0.5),
    "jvp": lambda f: s2s.jvp(f, (0.5,), (1.0,)),
    "vjp": lambda f: s2s.vjp(f, 0.5),
    "linearize": lambda f: s2s.linearize(f, 0.5)[1](1.0),
    "jacobian": lambda f: s2s.jacobian(f)(0.5),
    "jacfwd": lambda f: s2s.jacfwd(f)(0.5),
    "hessian": lambda f: s2s.hessian(f)(0.5),
    "hvp": lambda f: s2s.hvp(f, (0.5,), (1.0,)),
}


@pytest.mark.parametrize("name", CALLS)
def test_every_call_warns_at_the_users_line(name):
    for _ in range(2):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            CALLS[name](no_source())
        assert caught
        assert {w.filename for w in caught} == {__file__}


# --- derivatives of what is on the tape ---------------------------------------------------------------------------


def elementary(x):
    """Scalar functions of `math`, in a function that the compiler does not take."""
    return sorted([math.sin(x) * x, 1e9])[0]


@pytest.mark.filterwarnings("ignore::s2s.FallbackWarning")
@pytest.mark.parametrize("make", [s2s.grad, s2s.elementwise_grad])
def test_derivatives_of_a_recorded_gradient_stay_right_however_often_it_was_called(make):
    def second(x):
        return 2 * math.cos(x) - x * math.sin(x)

    df = make(elementary)
    for x in (0.3, 0.5, 0.8, 1.1):
        assert math.isclose(s2s.grad(df)(x), second(x), rel_tol=1e-12)
        assert math.isclose(s2s.jvp(df, (x,), (2.0,))[1], 2 * second(x), rel_tol=1e-12)
        assert math.isclose(s2s.vjp(df, x)[1](3.0)[0], 3 * second(x), rel_tol=1e-12)
        assert math.isclose(s2s.jacobian(df)(x), second(x), rel_tol=1e-12)
        assert math.isclose(s2s.linearize(df, x)[1](1.0), second(x), rel_tol=1e-12)
        assert math.isclose(s2s.value_and_grad(df)(x)[1], second(x), rel_tol=1e-12)
        assert math.isclose(df(x), math.sin(x) + x * math.cos(x), rel_tol=1e-12)


NESTED = {
    "array": lambda q: np.array([[q[0], 1.0], [q[1] * q[2], q[3]]]),
    "asarray": lambda q: np.asarray(((q[0], q[1]), (0.5, q[3] * q[3]))),
    "three levels": lambda q: np.array([[[q[0]], [q[1]]], [[q[2] ** 2], [q[3]]]])[..., 0],
    "arrays in lists": lambda q: np.array([[q[:2], q[2:]], [q[1:3], q[:2] * q[2:]]]).reshape(4, 2)[1:3],
    "dot": lambda q: np.dot([[q[0], q[1]], [q[2], q[3]]], q[:2].reshape(2, 1) * np.ones((2, 2))),
    "sine": lambda q: np.sin([[q[0], q[1]], [q[2], q[3] * q[0]]]),
}


@pytest.mark.filterwarnings("ignore::s2s.FallbackWarning")
@pytest.mark.parametrize("name", NESTED)
def test_nested_lists_carry_tangents_and_second_derivatives_on_the_tape(name):
    make = NESTED[name]

    def f(q):
        a = make(q)
        return sorted([np.sum(np.cos(a) * a[::-1]), 1e9])[0]

    rng = np.random.default_rng(8)
    q, direction = rng.normal(size=4), rng.normal(size=4)
    df = s2s.grad(f)
    h = 1e-6
    slope = (f(q + h * direction) - f(q - h * direction)) / (2 * h)
    curve = (df(q + h * direction) - df(q - h * direction)) / (2 * h)
    np.testing.assert_allclose(s2s.jvp(f, (q,), (direction,))[1], slope, rtol=1e-6)
    np.testing.assert_allclose(df(q) @ direction, slope, rtol=1e-6)
    np.testing.assert_allclose(s2s.hvp(f, (q,), (direction,)), curve, rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(s2s.hessian(f)(q) @ direction, curve, rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(s2s.grad(lambda v: df(v) @ direction)(q), curve, rtol=1e-5, atol=1e-8)


def test_one_warning_for_each_place_that_calls():
    df = s2s.grad(no_source())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            df(0.5)
        df(0.5)
    assert len(caught) == 2
    assert len(df.fallbacks) == 1


def test_fallbacks_are_recorded_with_place_and_reason():
    df = s2s.grad(no_source())
    assert df.fallbacks == []
    with pytest.warns(s2s.FallbackWarning):
        df(0.5)
    (record,) = df.fallbacks
    assert record.function == "f"
    assert record.file == "<string>"
    assert record.line == 1
    assert "source" in record.reason
    assert "recorded on the tape" in str(record)


def test_strict_refuses_the_tape():
    with pytest.raises(s2s.SourceUnavailableError, match="source"):
        s2s.grad(no_source(), strict=True)(0.5)
    with pytest.raises(s2s.S2SError, match="source"):
        s2s.grad(no_source()).source(0.5)
    assert s2s.grad(no_source(), strict=True).strict


def test_all_forms_work_on_the_tape():
    f = no_source()
    x, want = 0.5, np.cos(0.5) * 0.5 + np.sin(0.5)
    with pytest.warns(s2s.FallbackWarning):
        value, gradient = s2s.value_and_grad(f)(x)
    assert value == f(x)
    np.testing.assert_allclose(gradient, want)
    with pytest.warns(s2s.FallbackWarning):
        out, out_dot = s2s.jvp(f, (x,), (2.0,))
    assert out == f(x)
    np.testing.assert_allclose(out_dot, 2 * want)
    with pytest.warns(s2s.FallbackWarning):
        np.testing.assert_allclose(s2s.grad(f)(x, out_bar=3.0), 3 * want)
    with pytest.warns(s2s.FallbackWarning):
        second = s2s.grad(s2s.grad(f))(x)
    np.testing.assert_allclose(second, 2 * np.cos(x) - x * np.sin(x))


def test_a_gradient_called_inside_a_recorded_function_is_differentiated():
    df = s2s.grad(no_source())
    with pytest.warns(s2s.FallbackWarning):
        got = s2s.grad(lambda x: df(x) * x)(0.5)
    x = 0.5
    np.testing.assert_allclose(got, (2 * np.cos(x) - x * np.sin(x)) * x + np.cos(x) * x + np.sin(x))


def test_a_jvp_inside_a_recorded_function_is_differentiated():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", s2s.FallbackWarning)
        got = s2s.grad(lambda x: s2s.jvp(lambda y: y**3, (x,), (1.0,))[1])(2.0)
    assert got == 12.0


def test_a_warning_made_an_error_leaves_the_next_call_fine():
    df = s2s.grad(no_source())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(s2s.FallbackWarning):
            df(0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_allclose(df(0.5), np.cos(0.5) * 0.5 + np.sin(0.5))


@pytest.mark.parametrize(
    "f, reason",
    [
        (lambda x: ([x] * [x])[0], "`*` of a list and a list"),
        (lambda x: sum((x,) * int(3)), "`*` of a tuple and an int"),
    ],
)
def test_reasons_name_what_was_met(f, reason):
    df = s2s.grad(f)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", s2s.FallbackWarning)
        try:
            df(2.0)
        except TypeError as error:
            assert "sequence" in str(error)  # Python's own
    assert [r.reason.partition(",")[0] for r in df.fallbacks] == ([reason] if reason else [])


# --- what the function leaves behind ------------------------------------------------------------------------------

LOG = []


@pytest.mark.filterwarnings("ignore::s2s.FallbackWarning")
@pytest.mark.parametrize(
    "note",
    [
        lambda v: LOG.append(float(v)),
        lambda v: LOG.append(v),
        lambda v: LOG.append(v.item()),
        lambda v: LOG.extend([v]),
    ],
    ids=["float", "number", "item", "extend"],
)
def test_values_may_be_noted_in_a_list_outside(note):
    def loss(x):
        v = np.sum(x**2)
        note(v)
        return v

    LOG.clear()
    x = np.random.default_rng(9).normal(size=3)
    np.testing.assert_allclose(s2s.grad(loss)(x), 2 * x)
    assert LOG == [np.sum(x**2)]
    assert type(LOG[0]) in (float, np.float64)


def test_notes_in_a_list_outside_are_refused_under_strict():
    def loss(x):
        v = np.sum(x**2)
        LOG.append(float(v))
        return v

    with pytest.raises(s2s.UnsupportedSyntaxError, match=r"`list.append` puts an active value into a container"):
        s2s.grad(loss, strict=True)(np.ones(2))


@pytest.mark.parametrize("terms", [250, 500])
def test_an_expression_of_hundreds_of_terms_is_said_to_be_nested_too_deeply(terms):
    text = "def f(x):\n    return " + " + ".join(f"x * {i}.0" for i in range(terms)) + "\n"
    file = f"<sum of {terms} terms>"
    linecache.cache[file] = len(text), None, text.splitlines(True), file
    namespace = {}
    exec(compile(text, file, "exec"), namespace)
    with pytest.warns(s2s.FallbackWarning, match="nested too deeply"):
        assert s2s.grad(namespace["f"])(1.0) == sum(range(terms))


# --- refusals that the function catches ---


def caught_rule(x):
    try:
        factor, _ = scipy.linalg.cho_factor(np.outer(x, x) + np.eye(3))
    except Exception:
        return 1e3 * np.sum(x)
    return np.sum(factor)


def caught_key(x):
    seen = {}
    try:
        seen[x[0]] = x[1]
    except TypeError:
        return 1e3 * np.sum(x)
    return seen[x[0]] * x[1]


def caught_write(x):
    counts = np.zeros(3, int)
    try:
        np.exp(x, out=counts, casting="unsafe")
    except TypeError:
        return 1e3 * np.sum(x)
    return np.sum(x * counts)


def caught_suppressed(x):
    y = x * 2.0
    with contextlib.suppress(Exception):
        y = np.asarray(memoryview(y)) * 3.0
    return np.sum(y)


def lost_in_a_thread(x):
    out = [1e3 * np.sum(x)]

    def work():
        out[0] = scipy.linalg.norm(x, 3)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return out[0] + np.sum(x)


def caught_method(x):
    y = x * 2.0
    try:
        y.setfield(0.5, np.float64)
    except AttributeError:
        return 1e3 * np.sum(x)
    return np.sum(y * x)


CAUGHT = [caught_rule, caught_key, caught_write, caught_suppressed, caught_method, lost_in_a_thread]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("f", CAUGHT)
def test_a_refusal_that_the_function_catches_is_raised_all_the_same(f):
    """Else the function would go on in a way that it does not go with plain numbers."""
    x = np.array([0.3, 0.7, 0.5])
    f(x)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", s2s.FallbackWarning)
        for derivative in (
            s2s.grad(f),
            s2s.value_and_grad(f),
            lambda x: s2s.vjp(f, x),
            lambda x: s2s.jvp(f, (x,), (x,)),
        ):
            with pytest.raises((s2s.S2SError, TypeError, AttributeError)):
                derivative(x)
        np.testing.assert_allclose(s2s.grad(lambda x: np.sum(x * x))(x), 2 * x)
