"""Rules of users for what s2s has never heard of: five lines, in every form, for functions and methods."""

import _statistics
import functools
import statistics
import types

import numpy as np
import pytest

import s2s
from s2s.errors import ArgumentError
from tests.rules.modes import assert_all_modes, written

RNG = np.random.default_rng(12)
X = RNG.normal(size=(2, 3))

# A library that comes without its source.
numlib = types.ModuleType("numlib")
exec(
    """
import numpy as np
def softplus(x, scale=1.0):
    return np.log1p(np.exp(scale * x)) / scale
def blurred(x, width=1):
    return (x + np.roll(x, width, -1)) / 2
def energy(x, k):
    return np.sum(k * x**2)
def contrast(x, axis=None):
    return np.max(x, axis) - np.min(x, axis)
def level(x):
    return np.floor(x)
""",
    numlib.__dict__,
)


@pytest.fixture(scope="module", autouse=True)
def rules_of_the_library():
    @s2s.rules.elementwise(numlib.softplus, wrt=("x", "scale"))
    def softplus(ans, x, scale=1.0):
        share = 1 - np.exp(-scale * ans)
        return share, (share * x - ans) / scale

    @s2s.rules.linear(numlib.blurred, wrt="x")
    def blurred(g, ans, x, width=1):
        return (g + np.roll(g, -width, -1)) / 2

    @s2s.rules.vjp(numlib.energy, wrt="x")
    def energy_vjp(g, ans, x, k):
        return g * 2 * k * x

    @s2s.rules.jvp(numlib.energy, wrt="x")
    def energy_jvp(x_dot, ans, x, k):
        return np.sum(2 * k * x * x_dot)

    @s2s.rules.decompose(numlib.contrast)
    def contrast(x, axis=None):
        return np.max(x, axis) - np.min(x, axis)

    s2s.rules.zero_derivative(numlib.level)


@pytest.mark.parametrize(
    "call",
    ["softplus(a)", "softplus(a, 2.0)", "blurred(a)", "blurred(a, width=2)", "energy(a, 3.0)", "contrast(a, 0)",
     "contrast(a)", "softplus(numlib.blurred(a)) * numlib.level(10 * a)"],
)  # fmt: skip
def test_a_rule_in_each_form_serves_every_mode(call):
    assert_all_modes(f"numlib.{call}", X, numlib=numlib)


def test_several_parameters_share_one_body():
    assert_all_modes("numlib.softplus(a, b)", X, 1.7, numlib=numlib)


def test_a_rule_is_noticed_by_what_is_compiled_already():
    def scaled(x):
        return 3.0 * x

    s2s.rules.elementwise(scaled)(lambda ans, x: 3.0)
    df = s2s.grad(lambda x: np.sum(scaled(x)), strict=True)
    pull = s2s.vjp(lambda x: np.sum(scaled(x)), X)[1]
    np.testing.assert_array_equal(df(X), np.full((2, 3), 3.0))
    s2s.rules.elementwise(scaled)(lambda ans, x: 5.0)
    np.testing.assert_array_equal(df(X), np.full((2, 3), 5.0))
    np.testing.assert_array_equal(pull(1.0)[0], np.full((2, 3), 3.0))  # which ran before


class Amplifier:
    def __init__(self, gain):
        self.gain = gain

    def amplified(self, x):
        return np.asarray(x) * int(self.gain) ** 2  # int() would lose a gradient, the rule does not


amplifier = Amplifier(3.0)


@pytest.fixture
def rule_of_a_method():
    @s2s.rules.elementwise(Amplifier.amplified, wrt="x")
    def amplified(ans, self, x):
        return self.gain**2


@pytest.mark.usefixtures("rule_of_a_method")
def test_methods_of_arguments_and_of_objects_of_the_module_have_rules():
    def by_argument(model, x):
        return np.sum(model.amplified(x) ** 2)

    def by_name(x):
        return np.sum(amplifier.amplified(x) ** 2)

    def by_class(x):
        return np.sum(Amplifier.amplified(amplifier, x) ** 2)

    expected = 2 * 81 * X
    np.testing.assert_allclose(s2s.grad(by_argument, argnums=1, strict=True)(amplifier, X), expected)
    for f in (by_name, by_class):
        np.testing.assert_allclose(s2s.grad(f, strict=True)(X), expected)
        np.testing.assert_allclose(s2s.jvp(f, (X,), (X,), strict=True)[1], np.sum(expected * X))
        np.testing.assert_allclose(s2s.hvp(f, (X,), (X,)), expected)


def test_the_error_of_a_missing_rule_gives_the_lines_that_add_it():
    bell = statistics.NormalDist()
    normal = lambda p: _statistics._normal_dist_inv_cdf(p, 0.0, 1.0)  # noqa: E731
    with pytest.raises(s2s.MissingRuleError, match=r"_normal_dist_inv_cdf` has no derivative by `p`") as missing:
        s2s.grad(normal, strict=True)(0.3)
    _, *lines = str(missing.value).partition("Hint: ")[2].splitlines()
    assert len(lines) == 5
    text = "\n".join(lines)
    for what in ("g", "p_dot"):
        text = text.replace("...", f"{what} / bell.pdf(ans)", 1)
    exec(text, {"bell": bell})
    with pytest.warns(s2s.FallbackWarning, match="what kind of value"):  # no sample of it lies between 0 and 1
        slope = s2s.grad(normal)(0.3)
    assert slope == 1 / bell.pdf(bell.inv_cdf(0.3))


@pytest.mark.parametrize("call", ["np.setxor1d(x, x)", "np.setxor1d(x, [0.0])", "np.setxor1d([0.0], ar2=x)"])
def test_the_error_names_function_and_argument_in_both_worlds(call):
    by = "ar2" if "ar2" in call else "ar1"
    f = eval(f"lambda x: np.sum({call})", {"np": np})
    with pytest.raises(s2s.MissingRuleError, match=rf"`numpy.setxor1d` has no derivative by `{by}`"):
        f(s2s.Variable(X.ravel(), requires_grad=True))
    with pytest.raises(s2s.MissingRuleError, match=rf"`numpy.setxor1d` has no derivative by `{by}`"):
        s2s.grad(written(f"np.sum({call})", ["x"]), strict=True)(X.ravel())


def test_a_function_that_takes_no_infinite_operands():
    def checked(x):
        assert np.all(np.isfinite(x))
        return x * x

    @s2s.rules.elementwise(checked)
    def checked_slope(ans, x):
        return 2 * x

    gradient = s2s.grad(lambda x: np.log(checked(x[0])) + np.sqrt(checked(x[1])), strict=True)
    assert gradient(np.ones(3)).tolist() == [2.0, 1.0, 0.0]


def library_function(x, k=2.0):
    return k * x


@pytest.mark.parametrize(
    "register",
    [
        lambda: s2s.rules.vjp(library_function, wrt="x")(lambda g: g),
        lambda: s2s.rules.vjp(library_function, wrt="nosuch")(lambda g, ans, x, k: g),
        lambda: s2s.rules.vjp(library_function, wrt="ans")(lambda g, ans, x, k: g),
        lambda: s2s.rules.jvp(library_function, wrt="nosuch")(lambda x_dot, ans, x, k: x_dot),
        lambda: s2s.rules.linear(library_function, wrt="nosuch")(lambda g, ans, x, k: g),
        lambda: s2s.rules.elementwise(library_function)(lambda: 1.0),
        lambda: s2s.rules.elementwise(library_function)(lambda ans: 1.0),
        lambda: s2s.rules.elementwise(library_function, wrt=("x", "nosuch"))(lambda ans, x, k: (k, x)),
        lambda: s2s.rules.elementwise(3)(lambda ans, x: 1.0),
        lambda: s2s.rules.elementwise()(lambda ans, x: 1.0),
        lambda: s2s.rules.vjp("sin", wrt="x")(lambda g, ans, x: g),
        lambda: s2s.rules.decompose(None)(lambda x: x),
        lambda: s2s.rules.vjp(library_function, wrt="x")(3),
        lambda: s2s.rules.zero_derivative(3),
    ],
)
def test_rules_that_cannot_be_right_are_refused(register):
    with pytest.raises(ArgumentError):
        register()
    assert s2s.rules.find(library_function) is None


def test_bodies_that_are_wrapped_or_bound_are_taken():
    class Slopes:
        def of_sum(self, g, ans, x, k=2.0):
            return g * k

    def scaled(x, k=2.0):
        return np.floor(x) * 0 + k * x

    @functools.wraps(lambda g, ans, x, k=2.0: g)
    def wrapped(*args, **keywords):
        return args[0] * 2.0

    s2s.rules.vjp(library_function, wrt="x")(wrapped)
    s2s.rules.vjp(scaled, wrt="x")(Slopes().of_sum)
    assert s2s.rules.find(scaled).differentiable == s2s.rules.find(library_function).differentiable == ("x",)
