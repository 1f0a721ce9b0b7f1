"""A logistic map whose history is an array, written item by item: what the reverse sweep reads stands there."""

import numpy as np

bound = "overhead"
inplace = True
argnums = (0, 1)


def primal(r, x0, n):
    x = np.zeros(n + 1)
    x[0] = x0
    for t in range(n):
        x[t + 1] = r * x[t] * (1 - x[t])
    return np.mean(x)


def by_hand(r, x0, n, *, out_bar=1.0):
    x = np.zeros(n + 1)
    x[0] = x0
    for t in range(n):
        x[t + 1] = r * x[t] * (1 - x[t])

    x_bar = np.full(x.shape, out_bar / x.size)
    r_bar = 0.0
    for t in reversed(range(n)):
        g = x_bar[t + 1]
        now = x[t]
        r_bar += g * now * (1 - now)
        x_bar[t] += g * r * (1 - 2 * now)
    return r_bar, x_bar[0]


def args():
    return 2.7, 0.3, 1000
