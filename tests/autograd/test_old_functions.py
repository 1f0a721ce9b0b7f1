"""Functions of the older generation: instances, nested arguments and results, samples with rewards."""

import numpy as np
import pytest

from s2s.autograd import (
    Function,
    NestedIOFunction,
    StochasticFunction,
    Variable,
    backward,
    bernoulli,
    grad,
    gradcheck,
    multinomial,
    no_grad,
    normal,
)
from s2s.errors import EagerError, GraphFreedError, InplaceModificationError

DATA = np.array([2.0, 3.0, 5.0])


def leaf(data=DATA):
    return Variable(np.array(data), requires_grad=True)


class Power(Function):
    def __init__(self, n):
        self.n = n

    def forward(self, x):
        assert type(x) is np.ndarray
        self.save_for_backward(x)
        return x**self.n

    def backward(self, g):
        (x,) = self.saved_tensors
        assert type(x) is np.ndarray and type(g) is np.ndarray
        return g * self.n * x ** (self.n - 1)


def test_an_instance_is_a_call_on_plain_arrays():
    x = leaf()
    f = Power(3)
    y = f(x)
    np.sum(y).backward()
    np.testing.assert_allclose(x.grad.numpy(), 3 * DATA**2)
    assert y.creator is f and f.needs_input_grad == (True,)


def test_gradients_of_instances_pass_gradcheck():
    assert gradcheck(lambda x: Power(3)(x), leaf())


def test_a_second_call_of_an_instance_is_refused_as_it_would_lose_what_the_first_saved():
    f = Power(2)
    y = f(leaf())
    with pytest.raises(EagerError, match="instance for each call"):
        f(leaf())
    assert y.requires_grad


def test_instances_that_record_nothing_can_be_called_again():
    f = Power(2)
    with no_grad():
        assert not f(leaf()).requires_grad
    assert not f(Variable(DATA)).requires_grad
    assert f(leaf()).requires_grad


def test_the_second_derivative_of_an_instance_is_refused():
    x = leaf()
    (g,) = grad(np.sum(Power(3)(x)), x, create_graph=True)
    np.testing.assert_allclose(g.detach().numpy(), 3 * DATA**2)
    with pytest.raises(EagerError, match="once_differentiable"):
        grad(np.sum(g), x)


def test_a_second_pass_through_an_instance_names_retain_graph():
    y = np.sum(Power(3)(leaf()))
    y.backward()
    with pytest.raises(GraphFreedError, match="retain_graph"):
        y.backward()


def test_writes_to_what_an_instance_saved_are_noticed():
    x = leaf()
    h = x * 1.0
    y = Power(2)(h)
    h += 1.0
    with pytest.raises(InplaceModificationError):
        np.sum(y).backward()


def test_an_instance_may_write_an_argument_that_it_returns():
    class Double(Function):
        def forward(self, x):
            x *= 2.0
            self.mark_dirty(x)
            return x

        def backward(self, g):
            return g * 2.0

    x = leaf()
    h = x * x
    y = Double()(h)
    assert y is h
    np.sum(y).backward()
    np.testing.assert_allclose(x.grad.numpy(), 4 * DATA)


def test_several_results_of_an_instance_of_which_one_is_used():
    class Both(Function):
        def forward(self, x, w):
            self.save_for_backward(x, w)
            return x * w, x + w

        def backward(self, a, b):
            x, w = self.saved_tensors
            return a * w + b, a * x + b

    x, w = leaf(), leaf(DATA[::-1])
    _, total = Both()(x, w)
    np.sum(total * 3.0).backward()
    np.testing.assert_allclose(x.grad.numpy(), 3.0)
    assert gradcheck(lambda x, w: Both()(x, w), (x, w))


def test_the_two_forms_are_told_apart():
    with pytest.raises(EagerError, match="static"):
        Power.apply(leaf())

    class New(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1.0

    with pytest.raises(EagerError, match="apply"):
        New()(leaf())


# --- nested ---


class Combine(NestedIOFunction):
    """A product of what dicts and lists hold."""

    def forward_extended(self, tree, scale):
        self.scale = scale
        (a, [b]), c = tree["pair"], tree["c"]
        self.save_for_backward([a, (b, c)])
        return {"product": a * b * c * scale, "sums": [a + b, b + c]}

    def backward_extended(self, gradients):
        [a, (b, c)] = self.saved_tensors[0]
        g, (ab, bc) = gradients["product"] * self.scale, gradients["sums"]
        return {"pair": (g * b * c + ab, [g * a * c + ab + bc]), "c": g * a * b + bc}, None


def test_nested_arguments_and_results():
    a, b, c = leaf(), leaf(DATA[::-1]), leaf(DATA**2)
    out = Combine()({"pair": (a, [b]), "c": c}, 2.0)
    assert set(out) == {"product", "sums"} and type(out["sums"]) is list
    np.testing.assert_allclose(out["product"].detach().numpy(), 2.0 * DATA * DATA[::-1] * DATA**2)

    def f(a, b, c):
        out = Combine()({"pair": (a, [b]), "c": c}, 2.0)
        return out["product"], out["sums"][0], out["sums"][1]

    assert gradcheck(f, (a, b, c))


def test_parts_of_nested_gradients_may_be_none():
    class First(NestedIOFunction):
        def forward_extended(self, pair):
            return pair[0] * 2.0

        def backward_extended(self, g):
            return [g * 2.0, None]

    x, w = leaf(), leaf()
    np.sum(First()([x, w])).backward()
    np.testing.assert_allclose(x.grad.numpy(), 2.0)
    assert w.grad is None


def test_nested_gradients_of_another_nesting_are_refused():
    class Wrong(NestedIOFunction):
        def forward_extended(self, pair):
            return pair[0] * pair[1]

        def backward_extended(self, g):
            return [g]

    with pytest.raises(EagerError, match="backward_extended"):
        np.sum(Wrong()([leaf(), leaf()])).backward()


# --- samples ---


def mean_gradients(draw, parameters, reward_of, count=20000):
    """The mean over samples, one from each row, of the gradients of parameters."""
    leaves = [leaf(np.tile(p, (count, 1))) for p in parameters]
    sample = draw(*leaves)
    sample.reinforce(reward_of(sample.data))
    backward(sample)
    return [p.grad.numpy().mean(axis=0) for p in leaves]


def test_bernoulli_gradients_are_those_of_the_expected_reward():
    rng = np.random.default_rng(3)
    (mean,) = mean_gradients(lambda p: bernoulli(p, rng=rng), [[0.3, 0.8]], lambda s: 5.0 * s + 1.0)
    np.testing.assert_allclose(mean, [-5.0, -5.0], atol=0.25)  # E = 5 p + 1


def test_multinomial_gradients_are_those_of_the_expected_reward():
    rng = np.random.default_rng(4)
    rewards = np.array([1.0, 4.0, -2.0])
    p = np.array([0.2, 0.5, 0.3])
    (mean,) = mean_gradients(lambda p: multinomial(p, rng=rng), [p], lambda s: rewards[s])
    np.testing.assert_allclose(mean, -rewards, atol=0.15)


def test_multinomial_without_replacement_is_exact_along_changes_that_keep_the_sum():
    rng = np.random.default_rng(5)
    rewards = np.array([1.0, 4.0, -2.0])
    p, direction = np.array([0.2, 0.5, 0.3]), np.array([0.3, -0.2, -0.1])

    def expected(p):
        pairs = [(i, j) for i in range(3) for j in range(3) if i != j]
        return sum(p[i] * p[j] / (1 - p[i]) * (rewards[i] + 3 * rewards[j]) for i, j in pairs)

    def reward(s):
        total = rewards[s[:, :1]] + 3 * rewards[s[:, 1:]]
        return np.concatenate([total, total], axis=1)

    (mean,) = mean_gradients(lambda p: multinomial(p, 2, rng=rng), [p], reward)
    slope = (expected(p + 1e-6 * direction) - expected(p - 1e-6 * direction)) / 2e-6
    np.testing.assert_allclose(-mean @ direction, slope, atol=0.15)


def test_normal_gradients_are_those_of_the_expected_reward():
    rng = np.random.default_rng(6)
    means, deviations = [0.5, -1.0], [0.7, 0.4]
    by_mean, by_deviation = mean_gradients(lambda m, d: normal(m, d, rng=rng), [means, deviations], lambda s: s**2)
    np.testing.assert_allclose(by_mean, -2 * np.array(means), atol=0.1)  # E s^2 = m^2 + d^2
    np.testing.assert_allclose(by_deviation, -2 * np.array(deviations), atol=0.1)
    (common,) = mean_gradients(lambda m: normal(m, 0.5, rng=rng), [means], lambda s: s)
    np.testing.assert_allclose(common, [-1.0, -1.0], atol=0.1)


def test_samples_are_drawn_with_their_probabilities():
    rng = np.random.default_rng(7)
    rows = multinomial(Variable([[1.0, 3.0], [2.0, 0.0]]), 4000, with_replacement=True, rng=rng).data
    assert rows.shape == (2, 4000) and not rows[1].any()
    np.testing.assert_allclose(rows[0].mean(), 0.75, atol=0.03)
    assert sorted(multinomial(Variable([0.1, 0.2, 0.7]), 3, rng=rng).data) == [0, 1, 2]
    with pytest.raises(EagerError, match="samples"):
        multinomial(Variable([0.5, 0.5, 0.0]), 3, rng=rng)


def test_a_sample_without_reward_is_an_error_wherever_the_pass_meets_it():
    p = leaf([0.5])
    sample = bernoulli(p)
    with pytest.raises(EagerError, match="reward"):
        backward(sample)
    with pytest.raises(EagerError, match="reward"):
        np.sum(sample * 2.0).backward()
    sample.reinforce(2.0)
    np.sum(sample * 2.0).backward()
    np.testing.assert_allclose(p.grad.numpy(), -2.0 / (0.5 if sample.data[0] else -0.5))


def test_rewards_are_given_once_to_samples_alone():
    sample = normal(leaf(), 1.0)
    sample.reinforce(np.ones(3))
    with pytest.raises(EagerError, match="once"):
        sample.reinforce(1.0)
    with pytest.raises(EagerError, match="shape"):
        normal(leaf(), 1.0).reinforce(np.ones(2))
    with pytest.raises(EagerError, match="stochastic"):
        leaf().reinforce(1.0)


def test_a_policy_learns():
    rng = np.random.default_rng(8)
    logits = leaf([0.0, 0.0, 0.0])
    for _ in range(300):
        e = np.exp(logits)
        action = multinomial(e / np.sum(e), rng=rng)
        action.reinforce(float(action.data[0] == 2))
        backward([action], [None])
        with no_grad():
            logits -= 0.3 * logits.grad
        logits.grad = None
    assert np.argmax(logits.data) == 2


def test_a_stochastic_function_of_the_users_own():
    class Coin(StochasticFunction):
        def forward(self, p):
            self.save_for_backward(p)
            return np.ones(p.shape)

        def backward(self, reward):
            (p,) = self.saved_tensors
            return -reward / p

    p = leaf([0.25])
    coin = Coin()(p)
    coin.reinforce(3.0)
    (coin * 1.0).backward()
    np.testing.assert_allclose(p.grad.numpy(), [-12.0])
