"""A small neural network in plain NumPy, trained on scikit-learn's handwritten digits.

Only the decorator on `loss` is ours. Run it with `make demo`; the exit status is 0 if the test accuracy reaches 0.96.
"""

import sys
import time

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from tqdm import tqdm

import s2s

HIDDEN, EPOCHS, BATCH, RATE, MOMENTUM, DECAY = 64, 40, 32, 0.1, 0.9, 1e-3


@s2s.value_and_grad
def loss(params, x, y):
    """The cross-entropy of a batch, with weight decay."""
    hidden = np.tanh(x @ params["w1"] + params["b1"])
    logits = hidden @ params["w2"] + params["b2"]
    logits = logits - np.max(logits, axis=1, keepdims=True)
    logp = logits - np.log(np.sum(np.exp(logits), axis=1, keepdims=True))
    decay = 0.5 * DECAY * (np.sum(params["w1"] ** 2) + np.sum(params["w2"] ** 2))
    return decay - np.mean(logp[np.arange(len(y)), y])


def predict(params, x):
    hidden = np.tanh(x @ params["w1"] + params["b1"])
    return np.argmax(hidden @ params["w2"] + params["b2"], axis=1)


def initial(rng, inputs, classes):
    return {
        "w1": rng.normal(size=(inputs, HIDDEN)) / np.sqrt(inputs),
        "b1": np.zeros(HIDDEN),
        "w2": rng.normal(size=(HIDDEN, classes)) / np.sqrt(HIDDEN),
        "b2": np.zeros(classes),
    }


def train(params, x, y, rng):
    """Stochastic gradient descent with momentum; returns the seconds spent in the gradient, and the number of steps."""
    velocity = {name: np.zeros_like(value) for name, value in params.items()}
    seconds, steps = 0.0, 0
    with tqdm(range(EPOCHS), unit="epoch") as progress:
        for _ in progress:
            order = rng.permutation(len(x))
            for start in range(0, len(x), BATCH):
                batch = order[start : start + BATCH]
                began = time.perf_counter()
                value, gradient = loss(params, x[batch], y[batch])
                seconds, steps = seconds + time.perf_counter() - began, steps + 1
                for name in params:
                    velocity[name] = MOMENTUM * velocity[name] - RATE * gradient[name]
                    params[name] = params[name] + velocity[name]
            progress.set_postfix(loss=f"{value:.4f}")
    return seconds, steps


def main():
    digits = load_digits()
    x_train, x_test, y_train, y_test = train_test_split(
        digits.data / 16.0, digits.target, test_size=0.25, random_state=0, stratify=digits.target
    )
    rng = np.random.default_rng(0)
    params = initial(rng, x_train.shape[1], len(digits.target_names))

    print(loss.source(params, x_train[:BATCH], y_train[:BATCH]))
    print("on the tape:", loss.fallbacks or "nothing")
    loss(params, x_train[:BATCH], y_train[:BATCH])
    seconds, steps = train(params, x_train, y_train, rng)
    accuracy = np.mean(predict(params, x_test) == y_test)
    print(f"{1e6 * seconds / steps:.0f} microseconds for the loss and its gradient, {steps} steps")
    print(f"test accuracy {accuracy:.4f}")
    return 0 if accuracy >= 0.96 else 1


if __name__ == "__main__":
    sys.exit(main())
