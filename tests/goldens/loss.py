"""The mean squared error of one layer: matrix product, elementwise function, reduction."""

import numpy as np

from tests.goldens.helpers import unbroadcast


def loss(w, x, y):
    pred = np.tanh(x @ w)
    return np.mean((pred - y) ** 2)


def loss_grad(w, x, y, *, out_bar=1.0):
    # forward
    pred = np.tanh(x @ w)
    r = pred - y

    # reverse
    # return np.mean((pred - y) ** 2)
    r_bar = out_bar / r.size * 2 * r
    pred_bar = unbroadcast(r_bar, pred.shape)
    # pred = np.tanh(x @ w)
    w_bar = x.T @ (pred_bar * (1 - pred**2))
    return w_bar


def args(rng):
    return rng.normal(size=3), rng.normal(size=(5, 3)), rng.normal(size=5)
