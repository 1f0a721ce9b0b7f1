"""A logistic map whose history is an array: what the reverse sweep reads stands there already."""

import numpy as np

argnums = (0, 1)


def population(r, x0, n):
    x = np.zeros(n + 1)
    x[0] = x0
    for t in range(n):
        x[t + 1] = r * x[t] * (1 - x[t])
    return np.mean(x)


def population_grad(r, x0, n, *, out_bar=1.0):
    # forward
    x = np.zeros(n + 1)
    x[0] = x0
    for t in range(n):
        x[t + 1] = r * x[t] * (1 - x[t])

    # reverse
    x_bar = np.full(x.shape, out_bar / x.size)
    r_bar = 0.0
    for t in reversed(range(n)):
        # x[t + 1] = r * x[t] * (1 - x[t])
        t_bar = x_bar[t + 1]
        r_bar += t_bar * x[t] * (1 - x[t])
        x_bar[t] += t_bar * r * (1 - 2 * x[t])
    # x[0] = x0
    x0_bar = x_bar[0]
    return r_bar, x0_bar


def args(rng):
    return float(rng.uniform(1.5, 3.0)), float(rng.uniform(0.2, 0.8)), 6
