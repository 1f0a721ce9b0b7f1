"""Variables in operators, methods and NumPy's functions: gradients against differences, and what is refused."""

import copy
import math
import operator
import pickle

import numpy as np
import pytest

from s2s.autograd import Variable, grad, gradcheck, gradgradcheck
from s2s.errors import ArgumentError, GradientLossError, MissingRuleError

RNG = np.random.default_rng(5)
SHAPES = [(), (3,), (2, 3)]


def leaf(shape=(3,), low=0.5, high=2.0):
    return Variable(RNG.uniform(low, high, shape), requires_grad=True)


UNARY = [
    operator.neg, operator.pos, abs, np.exp, np.log, np.sqrt, np.sin, np.tanh, np.square, np.arctan,
    lambda x: x**3, lambda x: 2.0**x, lambda x: 1.5 - x, lambda x: 3.0 / x, lambda x: 2 * x + 1,
    lambda x: np.sum(x), lambda x: np.mean(x) * x, lambda x: np.add.reduce(x) if x.ndim else x,
    lambda x: np.multiply.outer(x, x), lambda x: x.astype(np.float64), lambda x: x % 0.7,
]  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("f", UNARY)
def test_functions_of_one_variable(f, shape):
    assert gradcheck(f, leaf(shape))


BINARY = [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, np.maximum, np.hypot, np.arctan2,
    np.logaddexp,
]  # fmt: skip


@pytest.mark.parametrize("shapes", [((3,), (3,)), ((2, 3), (3,)), ((), (2,)), ((2, 1), (1, 3))], ids=str)
@pytest.mark.parametrize("f", BINARY)
def test_functions_of_two_variables(f, shapes):
    assert gradcheck(f, [leaf(shape) for shape in shapes])


METHODS = [
    lambda x: x.sum(axis=0), lambda x: x.mean(1, keepdims=True), lambda x: x.T, lambda x: x.reshape(3, 2),
    lambda x: x.reshape((6,)), lambda x: x.ravel(), lambda x: x.max(axis=1), lambda x: x.std(), lambda x: x.dot(x.T),
    lambda x: x @ x.T, lambda x: x.clip(0.8, 1.2), lambda x: x.transpose(1, 0), lambda x: x.cumsum(axis=1),
    lambda x: x[1], lambda x: x[:, ::-2], lambda x: x[[0, 0, 1]], lambda x: x[x > 1.0], lambda x: x[..., None],
    lambda x: x.prod(), lambda x: x.flat[2:4], lambda x: x.copy(), lambda x: x.take([1, 1, 4]),
]  # fmt: skip


@pytest.mark.parametrize("f", METHODS)
def test_methods_and_indices(f):
    assert gradcheck(f, leaf((2, 3)))


@pytest.mark.parametrize("f", [np.tanh, lambda x: x * x * x, lambda x: np.exp(x) / x, lambda x: x[1:] * x[:-1]])
def test_second_derivatives(f):
    assert gradgradcheck(f, leaf())


def test_second_derivative_through_math():
    # the rule of math.sin calls math.cos, which takes no Variable by itself
    from s2s.autograd.dispatch import apply

    x = Variable(0.3, requires_grad=True)
    y = apply(math.sin, (x,))
    (g,) = grad(y, x, create_graph=True)
    (h,) = grad(g, x)
    np.testing.assert_allclose([g.item(), h.item()], [np.cos(0.3), -np.sin(0.3)])


def test_decomposed_rules_differentiate_twice():
    assert gradcheck(lambda x: np.var(x, axis=0), leaf((3, 2)))
    assert gradgradcheck(lambda x: np.var(x), leaf((3,)))


@pytest.mark.parametrize(
    "lose",
    [float, int, complex, math.sin, np.asarray, lambda v: np.array([v, 1.0]), lambda v: v.numpy()],
)
def test_losing_the_gradient_is_refused_with_advice(lose):
    with pytest.raises(TypeError, match="detach"):
        lose(leaf(()))


def test_storing_into_a_plain_array_is_refused():
    plain = np.zeros(3)
    with pytest.raises((TypeError, ValueError)) as error:
        plain[0] = leaf(())
    # NumPy puts an error of its own on top for what has items
    assert "detach" in str(error.value) or "detach" in str(error.value.__cause__)
    with pytest.raises(TypeError, match="detach"):
        plain[:] = leaf((3,))
    with pytest.raises(TypeError, match="plain array"):
        plain += leaf((3,))
    with pytest.raises(TypeError, match="plain array"):
        np.copyto(plain, leaf((3,)))
    np.testing.assert_array_equal(plain, np.zeros(3))


def test_what_needs_no_gradient_is_plain():
    v = Variable([1.0, 2.0])
    assert float(Variable(2.0)) == 2.0
    np.testing.assert_array_equal(np.asarray(v), [1.0, 2.0])
    assert [10, 20, 30][Variable(1)] == 20


def test_comparisons_are_plain_and_truth_works():
    x = Variable([1.0, 2.0], requires_grad=True)
    assert type(x > 1.5) is np.ndarray
    np.testing.assert_array_equal(x == [1.0, 3.0], [True, False])
    assert Variable(2.0, requires_grad=True) > 1
    assert not Variable(0.0, requires_grad=True)
    assert x in {x: None}


def test_functions_without_rule_are_refused_by_name():
    with pytest.raises(MissingRuleError, match="setxor1d"):
        np.setxor1d(leaf(), [1.0])
    assert isinstance(np.setxor1d(Variable([1.0, 2.0]), [1.0]), Variable)


def test_where_of_a_ufunc_is_refused_and_out_takes_variables():
    x = leaf()
    with pytest.raises(TypeError, match="np.where"):
        np.exp(x, where=np.array([True, False, True]))
    with pytest.raises(TypeError, match="plain array"):
        np.exp(x, out=np.zeros(3))
    target = Variable(np.zeros(3))
    assert np.exp(x, out=target) is target
    np.sum(target).backward()
    np.testing.assert_allclose(x.grad.numpy(), np.exp(x.data))


def test_unknown_operands_get_their_turn():
    class Scale:
        def __rmul__(self, other):
            return "mine"

    assert leaf() * Scale() == "mine"
    with pytest.raises(TypeError):
        leaf() + "text"


def test_plain_operand_on_the_left_is_recorded():
    x = leaf()
    for y in (np.ones(3) * x, np.float64(2.0) * x, [1.0, 2.0, 3.0] * x, 2 * x):
        assert isinstance(y, Variable) and y.requires_grad


def test_objects_are_refused_as_data():
    with pytest.raises(ArgumentError, match="numbers"):
        Variable(np.array([None]))


def test_data_is_shared_and_numbers_become_arrays():
    data = np.ones(2)
    assert Variable(data).data is data
    assert type(Variable(2.0).data) is np.ndarray


def test_copies():
    x = leaf()
    same = copy.deepcopy(x)
    assert same.is_leaf and same.requires_grad and same.data is not x.data
    with pytest.raises(ArgumentError, match="clone"):
        copy.deepcopy(x * 2)
    clone = x.clone()
    np.sum(clone * 2).backward()
    np.testing.assert_array_equal(x.grad.numpy(), [2.0, 2.0, 2.0])
    restored = pickle.loads(pickle.dumps(same))
    assert restored.requires_grad
    np.testing.assert_array_equal(restored.data, x.data)


def test_repr_says_where_it_comes_from():
    x = Variable([1.0, 2.0], requires_grad=True)
    assert repr(x) == "Variable([1., 2.], requires_grad=True)"
    assert repr(x * 2) == "Variable([2., 4.], grad_fn=<mul>)"
    assert f"{Variable(2.0):.2f}" == "2.00"


def test_users_rule_is_used_at_once_and_its_replacement_too():
    from s2s import rules

    def cube(x):
        return x**3

    from s2s.autograd.dispatch import apply

    x = Variable(2.0, requires_grad=True)
    with pytest.raises(MissingRuleError, match="cube"):
        apply(cube, (x,))

    @rules.elementwise(cube)
    def wrong(ans, x):
        return 1.0

    assert grad(apply(cube, (x,)), x)[0].item() == 1.0

    @rules.elementwise(cube)
    def right(ans, x):
        return 3 * x**2

    assert grad(apply(cube, (x,)), x)[0].item() == 12.0


def test_a_conversion_that_loses_the_gradient_is_no_error_of_the_number():
    """`except ValueError` around a function of `math` is about the numbers that it takes."""

    def f(x):
        total = 0.0
        for v in x:
            try:
                total = total + math.sqrt(v)
            except (ValueError, OverflowError, ZeroDivisionError, ArithmeticError):
                total = total + v**2
        return total

    x = np.array([1.0, 4.0])
    with pytest.raises(GradientLossError, match=r"float\(\) of a Variable"):
        f(Variable(x, requires_grad=True))
    with pytest.raises(TypeError):
        f(Variable(x, requires_grad=True))
    assert f(Variable(x)) == f(x)
