"""A number that is made of text that was made of an active value is refused at its line; text itself is not."""

import ast
import contextlib
import fractions
import io
import json
import pickle
import struct
from decimal import Decimal

import numpy as np
import pytest

import s2s
from s2s.autograd.record import tape_gradient


class Parser:
    """Methods run as they are in a record."""

    def read(self, text):
        return float(text.strip())

    def through_text(self, x):
        return float(f"{x}") * x

    def in_parts(self, x):
        return self.read(repr(x) + " ") * x

    def squared(self, x, n):
        if int(n) < 0:
            raise ValueError(f"{n} is negative at {x}")
        return x**2


PARSERS = [Parser()]


def labelled(x, n, label):
    return x**2 if n == 0 else labelled(2 * x, n - 1, f"{label}{x}")


def rounded_deep(x, n):
    return float(f"{x:.3f}") if n == 0 else rounded_deep(2 * x, n - 1)


def joined(x):
    text = ""
    for character in str(x):
        text += character
    return float(text) * x


def through_exception(x):
    try:
        raise ValueError(x)
    except ValueError as error:
        return float(str(error)) * x


def through_file(x):
    file = io.StringIO()
    file.write(f"{x}\n")
    file.seek(0)
    return float(np.loadtxt(file)) * x


REFUSED = [
    lambda x: float(str(x)) * x,
    lambda x: float(f"{x}") * x,
    lambda x: float(f"{x:.3f}") * x,
    lambda x: float(repr(x)) + x,
    lambda x: float(x.__repr__()) + x,
    lambda x: float(format(x, ".4f")) + x,
    lambda x: float("%r" % x) + x,
    lambda x: float("{}".format(x)) + x,
    lambda x: complex(str(x)).real + x,
    lambda x: np.float64(str(x)) + x,
    lambda x: np.float64(np.str_(x)) + x,
    lambda x: eval(repr(x)) + x,
    lambda x: ast.literal_eval(repr(x)) + x,
    lambda x: float(Decimal(str(x))) + x,
    lambda x: float(fractions.Fraction(str(x))) + x,
    lambda x: float(str(x).encode()) + x,
    lambda x: json.loads(str(x)) + x,
    lambda x: sum(map(float, [str(x)])) + x,
    lambda x: sum(int(digit) for digit in str(x) if digit.isdigit()) * x,
    lambda x: float(str(x).strip().split(",")[0]) + x,
    lambda x: float({"x": str(x)}["x"]) + x,
    lambda x: float("".join(character for character in str(x))) + x,
    lambda x: np.asarray(str(x), dtype=float) + x,
    lambda x: np.array([str(x)]).astype(float)[0] + x,
    lambda x: np.array([str(x)], dtype=object).astype(float)[0] + x,
    lambda x: np.array([x]).astype(str).astype(float)[0] + x,
    lambda x: float(np.array2string(np.array(x))) + x,
    lambda x: np.fromstring(str(x), sep=" ")[0] + x,
    lambda x: np.loadtxt(io.StringIO(str(x))) + x,
    lambda x: struct.unpack("d", struct.pack("d", x))[0] + x,
    lambda x: np.frombuffer(np.array([x]).tobytes())[0] + x,
    lambda x: pickle.loads(pickle.dumps(x)) + x,
    lambda x: json.loads(json.dumps(x)) + x,
    lambda x: float.fromhex(x.hex()) + x,
    lambda x: PARSERS[0].through_text(x),
    lambda x: PARSERS[0].in_parts(x),
    lambda x: rounded_deep(x, 2) + x,
    joined,
    through_exception,
    through_file,
]  # fmt: skip


def said(x):
    print(f"{x:.3f}", "{:.2f}".format(x), np.array2string(np.array([x])), str(x), [x])
    return x**2


def said_in_a_loop(x):
    lines = []
    for k in range(3):
        x = x * x
        lines.append(f"{k}: {x:.2f}")
    print(", ".join(lines), "at 3.5")
    return x * len(lines)


def decided(x):
    return x**2 if "nan" not in str(x) and len(f"{x:.2f}") < 9 else x


def held(x):
    message = f"x is {x}"
    try:
        raise ValueError(message)
    except ValueError as error:
        return x**2 if "is" in str(error) else x


def stopped(x):
    return x * float(f"{s2s.stop_gradient(x)}")


def dtypes(x):
    print(f"{x}")
    return np.sum(np.ones(3, dtype="float64") * np.einsum("i,i", np.ones(2), np.ones(2))) * x


def by_label(x):
    counts = {}
    counts[f"{x:.1f}"] = 2.0
    return x * sum(counts.values())


ALLOWED = [said, said_in_a_loop, decided, held, stopped, dtypes, by_label, lambda x: labelled(x, 2, "x"),
           lambda x: PARSERS[0].squared(x, "3")]  # fmt: skip


def compiled(f, x):
    return s2s.grad(f)(x)


def recorded(f, x):
    return tape_gradient(f, ("x",), (x,))["x"]


def forward(f, x):
    return s2s.jvp(f, (x,), (1.0,))[1]


def second(f, x):
    return s2s.grad(s2s.grad(f))(x)


@pytest.mark.filterwarnings("ignore::s2s.FallbackWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("way", [compiled, recorded, forward, second])
@pytest.mark.parametrize("f", REFUSED)
def test_number_of_text_is_refused_at_its_line(f, way):
    x = np.random.default_rng(0).uniform(1.1, 1.9)
    f(x)
    with pytest.raises((s2s.UnsupportedSyntaxError, s2s.MissingRuleError)):
        way(f, x)


@pytest.mark.parametrize("way", [compiled, recorded, forward])
def test_error_names_the_line(way):
    def f(x):
        y = x * x
        return float(f"{y}") * x

    with pytest.raises(s2s.UnsupportedSyntaxError, match="made of text") as error:
        way(f, 1.5)
    assert "float(f" in str(error.value)
    assert error.value.origin.line == f.__code__.co_firstlineno + 2


@pytest.mark.filterwarnings("ignore::s2s.FallbackWarning")
@pytest.mark.parametrize("way", [compiled, recorded, forward])
@pytest.mark.parametrize("f", ALLOWED)
def test_text_of_active_values_is_text(f, way):
    x, h = np.random.default_rng(1).uniform(1.11, 1.14), 1e-6
    with contextlib.redirect_stdout(io.StringIO()):
        slope = f(x) / x if f is stopped or f is by_label else (f(x + h) - f(x - h)) / (2 * h)
        np.testing.assert_allclose(way(f, x), slope, rtol=1e-6)


def test_numbers_that_do_not_reach_the_result_are_as_they_are():
    def f(x):
        rounded = float(f"{x:.2f}")
        print(rounded)
        return x**2 if rounded > 1 else x

    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert s2s.grad(f, strict=True)(1.25) == 2.5
    assert out.getvalue() == "1.25\n"


def test_text_that_is_left_behind_is_text():
    log = []

    def f(x):
        log.append(f"{x}")
        return x**2

    recorded(f, 1.25)
    assert type(log[0]) is str and float(log[0]) == 1.25


@pytest.mark.parametrize("way", [compiled, recorded])
@pytest.mark.parametrize("dtype", [int, np.int32, bool])
def test_integers_of_floats_are_constants(way, dtype):
    programs = [
        lambda x: np.sum(x.astype(dtype) * 1.0 * x),
        lambda x: np.sum(np.asarray(x, dtype=dtype) * 1.0 * x),
        lambda x: np.sum(np.array(x, dtype=dtype).astype(float) * x),
        lambda x: np.sum(np.full(3, x[0], dtype=dtype) * 1.0 * x),
    ]
    x = np.random.default_rng(2).uniform(1, 5, 3)
    for f in programs:
        expected = np.full(3, x[0]).astype(dtype) if f is programs[-1] else x.astype(dtype)
        np.testing.assert_array_equal(way(f, x), expected)
