"""Logistic regression with weight decay on a small table."""

import numpy as np

bound = "overhead"
jax = True


def primal(w, x, y, decay):
    margins = y * (x @ w)
    loss = np.mean(np.log1p(np.exp(-margins)))
    return loss + 0.5 * decay * np.sum(w**2)


def by_hand(w, x, y, decay, *, out_bar=1.0):
    margins = y * (x @ w)
    e = np.exp(-margins)

    w_bar = out_bar * 0.5 * decay * 2 * w
    margins_bar = -(out_bar / e.size / (1 + e) * e)
    w_bar += x.T @ (margins_bar * y)
    return w_bar


def args():
    rng = np.random.default_rng(0)
    return rng.normal(size=12), rng.normal(size=(100, 12)), rng.choice([-1.0, 1.0], size=100), 0.1
