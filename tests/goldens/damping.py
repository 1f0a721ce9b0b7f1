"""Negative items scaled in place, through a mask."""

import numpy as np

argnums = (0, 1)


def damping(x, a):
    y = x * x - x
    y[y < 0] *= a
    return np.sum(y**2)


def damping_grad(x, a, *, out_bar=1.0):
    # forward
    y = x * x - x
    mask = y < 0
    y_saved = y[mask]
    y[mask] *= a

    # reverse
    # return np.sum(y**2)
    y_bar = out_bar * 2 * y
    # y[y < 0] *= a
    t_bar = y_bar[mask]
    y_bar[mask] = t_bar * a
    a_bar = np.sum(t_bar * y_saved)
    # y = x * x - x
    x_bar = y_bar * 2 * x - y_bar
    return x_bar, a_bar


def args(rng):
    return rng.normal(size=8), float(rng.uniform(0.1, 0.9))
