"""A layer with a leaky rectifier that works in place."""

import numpy as np


def leaky(w, x):
    y = w @ x
    y[y < 0] *= 0.1
    return y @ y


def leaky_grad(w, x, *, out_bar=1.0):
    # forward
    y = w @ x
    mask = y < 0
    y[mask] *= 0.1

    # reverse
    # return y @ y
    y_bar = out_bar * 2 * y
    # y[y < 0] *= 0.1
    y_bar[mask] *= 0.1
    # y = w @ x
    w_bar = np.outer(y_bar, x)
    return w_bar


def args(rng):
    return rng.normal(size=(5, 3)), rng.normal(size=3)
