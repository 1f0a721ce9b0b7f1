"""Forward substitution of a bidiagonal system: a recurrence from item to item that overwrites nothing that is read."""

import numpy as np

argnums = (0, 1, 2)


def gauss_seidel(b, a, d):
    x = np.zeros_like(b)
    x[0] = b[0] / d
    for i in range(1, len(b)):
        x[i] = (b[i] - a * x[i - 1]) / d
    return np.sum(x**2)


def gauss_seidel_grad(b, a, d, *, out_bar=1.0):
    # forward
    x = np.zeros_like(b)
    x[0] = b[0] / d
    for i in range(1, len(b)):
        x[i] = (b[i] - a * x[i - 1]) / d

    # reverse
    x_bar = out_bar * 2 * x
    a_bar = 0.0
    d_bar = 0.0
    b_bar = np.zeros_like(b)
    for i in reversed(range(1, len(b))):
        # x[i] = (b[i] - a * x[i - 1]) / d
        t_bar = x_bar[i] / d
        d_bar -= t_bar * x[i]
        b_bar[i] = t_bar
        a_bar -= t_bar * x[i - 1]
        x_bar[i - 1] -= t_bar * a
    # x[0] = b[0] / d
    b_bar[0] = x_bar[0] / d
    d_bar -= b_bar[0] * x[0]
    return b_bar, a_bar, d_bar


def args(rng):
    return rng.normal(size=6), float(rng.uniform(0.2, 0.9)), float(rng.uniform(1.0, 2.0))
