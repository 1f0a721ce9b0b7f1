"""The mean squared error of one small layer: a handful of NumPy calls on small arrays."""

import numpy as np

bound = "overhead"
jax = True


def primal(w, x, y):
    pred = np.tanh(x @ w)
    return np.mean((pred - y) ** 2)


def by_hand(w, x, y, *, out_bar=1.0):
    pred = np.tanh(x @ w)
    r = pred - y

    pred_bar = out_bar / r.size * 2 * r
    return x.T @ (pred_bar * (1 - pred**2))


def args():
    rng = np.random.default_rng(0)
    return rng.normal(size=10), rng.normal(size=(50, 10)), rng.normal(size=50)
