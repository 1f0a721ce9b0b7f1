"""What is not compiled is recorded on the tape: one warning for each place that calls, a record, the right number."""

import warnings

import numpy as np
import pytest

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
