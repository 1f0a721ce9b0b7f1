"""Sampling within a graph: gradients of an expected reward, by the score function.

The sample s of a distribution with parameters p is a place in the graph that sends back, whatever comes to it, the
gradient of -reward * log(probability of s): a step of descent makes rewarded samples more likely. Averaged over
samples, it is minus the gradient of the expected reward (R. J. Williams, Machine Learning 8, 1992).

    probabilities = ...                      # a Variable that requires grad
    action = multinomial(probabilities)
    action.reinforce(reward_of(action.data))
    backward(action)                         # or of anything computed from it
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s.autograd.function import Function
from s2s.autograd.instances import InstanceNode
from s2s.autograd.value import Value
from s2s.autograd.variable import Variable
from s2s.errors import EagerError


class StochasticNode(InstanceNode):
    """A sample's place: its gradient is that of the reward."""

    __slots__ = ()

    seedless = True

    def cotangents(self, g: Any, recording: type[Value] | None) -> Any:
        if self.context.to_save:
            self.context._held()  # raises, if they are freed
        if self.context.reward is None:
            raise EagerError(
                f"the backward pass meets a sample of {self.name} that has no reward",
                hint="give it one: sample.reinforce(reward)",
            )
        reward = Variable.make(np.asarray(self.context.reward)[()])
        return self.checked(self.run_backward([reward], recording is not None), recording is not None)

    def reinforce(self, reward: Any) -> None:
        """Note the reward."""
        self.context.reinforce(reward)

    def release(self) -> None:
        super().release()
        self.context.reward = None


class StochasticFunction(Function):
    """Base of functions that draw samples: methods `forward(self, ...)`, which returns one sample, and `backward(self,
    reward)`, which returns the gradients of -reward * log(probability) by the arguments.
    """

    _node_type = StochasticNode
    keeps_silent_results = True
    reward: Any = None
    _shape: tuple[int, ...] | None = None

    def reinforce(self, reward: Any) -> None:
        """Note the reward: a number, or one for each element of the sample."""
        value = reward._data if isinstance(reward, Value) else reward
        if np.ndim(value) and np.shape(value) != self._shape:
            raise EagerError(f"a reward of shape {np.shape(value)} for a sample of shape {self._shape}")
        if self.reward is not None:
            raise EagerError("a sample can be reinforced once only")
        self.reward = value

    def _flat_forward(self, args: Any) -> Any:
        out = super()._flat_forward(args)
        if isinstance(out, (tuple, list)):
            raise EagerError("a stochastic function gives one sample")
        self._shape = np.shape(out)
        return out


class Bernoulli(StochasticFunction):
    """Ones with the given probabilities, else zeros."""

    def __init__(self, rng: Any = None) -> None:
        self._rng = rng or np.random

    def forward(self, probs: Any) -> Any:  # type: ignore[override]
        """Draw."""
        if not np.all((probs >= 0) & (probs <= 1)):
            raise EagerError("probabilities must lie between 0 and 1")
        sample = np.asarray(self._rng.random(np.shape(probs)) < probs, probs.dtype)[()]
        self.save_for_backward(probs, sample)
        return sample

    def backward(self, reward: Any) -> Any:  # type: ignore[override]
        """d log(p if s else 1 - p) = (s - p) / (p (1 - p)) dp."""
        probs, sample = self.saved_tensors
        return -reward / np.where(sample != 0, probs, probs - 1)


class Multinomial(StochasticFunction):
    """Indices drawn with the given probabilities, along the last axis."""

    def __init__(self, num_samples: int = 1, with_replacement: bool = False, rng: Any = None) -> None:
        self._count = num_samples
        self._again = with_replacement
        self._rng = rng or np.random

    def forward(self, probs: Any) -> Any:  # type: ignore[override]
        """Draw."""
        if np.ndim(probs) not in (1, 2) or not np.all(probs >= 0):
            raise EagerError("probabilities must be a vector or the rows of a matrix, and not negative")
        rows = [self._draw(row) for row in np.atleast_2d(probs)]
        sample = np.array(rows if np.ndim(probs) == 2 else rows[0])
        self.save_for_backward(probs, sample)
        return sample

    def _draw(self, probs: Any) -> Any:
        if np.count_nonzero(probs) < (1 if self._again else self._count):
            raise EagerError(f"{self._count} samples cannot be drawn of {np.count_nonzero(probs)} possible values")
        if self._again:
            total = np.cumsum(probs)
            return np.searchsorted(total, self._rng.random(self._count) * total[-1], side="right")
        # whoever waits for exponential times of rates p goes in the order of draws without replacement
        with np.errstate(divide="ignore"):
            times = self._rng.standard_exponential(np.shape(probs)) / probs
        return np.argsort(times)[: self._count]

    def backward(self, reward: Any) -> Any:  # type: ignore[override]
        """d log p[s] = dp[s] / p[s]; without replacement, p is divided by what was left.

        The sum of p counts as constant, as in PyTorch: exact for all changes of p that keep it.
        """
        probs, sample = self.saved_tensors
        gradient = np.zeros(np.shape(probs), probs.dtype)
        rewards = np.broadcast_to(reward, np.shape(sample))
        for g, p, s, r in zip(*map(np.atleast_2d, (gradient, probs, sample, rewards))):
            np.add.at(g, s, -r / p[s])
            if not self._again:
                left = np.sum(p) - np.concatenate([[0.0], np.cumsum(p[s])[:-1]])
                # the draws after one of them have lost its probability
                later = np.cumsum((r / left)[::-1])[::-1]
                g[s[:-1]] -= later[1:]
        return gradient


class Normal(StochasticFunction):
    """Normal numbers of the given means, and deviations: one for all, or the second argument."""

    def __init__(self, stddev: Any = None, rng: Any = None) -> None:
        self.stddev = stddev
        self._rng = rng or np.random

    def forward(self, means: Any, stddevs: Any = None) -> Any:  # type: ignore[override]
        """Draw."""
        deviation = stddevs if self.stddev is None else self.stddev
        if deviation is None:
            raise EagerError("normal numbers need a deviation")
        sample = np.asarray(means + deviation * self._rng.standard_normal(np.shape(means)), means.dtype)[()]
        self.save_for_backward(sample, means, stddevs)
        return sample

    def backward(self, reward: Any) -> Any:  # type: ignore[override]
        """log p = -(s - m)^2 / (2 d^2) - log(d) + constant."""
        sample, means, stddevs = self.saved_tensors
        if stddevs is None:
            return -reward * (sample - means) / self.stddev**2
        off = (sample - means) / stddevs
        return -reward * off / stddevs, -reward * (off**2 - 1) / stddevs


def bernoulli(probs: Any, rng: Any = None) -> Any:
    """Ones with the given probabilities, else zeros; `.reinforce` takes the reward.

    rng: a NumPy Generator; NumPy's global one by default.
    """
    return Bernoulli(rng)(_variable(probs))


def multinomial(probs: Any, num_samples: int = 1, with_replacement: bool = False, rng: Any = None) -> Any:
    """Indices drawn with the given probabilities (a vector, or rows of a matrix), which need not sum to one."""
    return Multinomial(num_samples, with_replacement, rng)(_variable(probs))


def normal(means: Any, stddevs: Any = 1.0, rng: Any = None) -> Any:
    """Normal numbers of the given means; deviations may be a number, or a Variable of the same shape."""
    if isinstance(stddevs, Value):
        return Normal(None, rng)(_variable(means), stddevs)
    return Normal(stddevs, rng)(_variable(means))


def _variable(value: Any) -> Any:
    return value if isinstance(value, Value) else Variable(value)
