"""An update in place that is not linear: each old item is saved, and restored where it stood."""

import math

import numpy as np


def ripple(x0, steps):
    x = x0.copy()
    for _ in range(steps):
        for i in range(1, len(x)):
            x[i] = math.sin(x[i]) * x[i - 1]
    return np.sum(x)


def ripple_grad(x0, steps, *, out_bar=1.0):
    # forward
    x = x0.copy()
    x_tape = []
    for _ in range(steps):
        for i in range(1, len(x)):
            x_tape.append(x[i])
            x[i] = math.sin(x[i]) * x[i - 1]

    # reverse
    x_bar = np.full(x.shape, out_bar)
    for _ in reversed(range(steps)):
        for i in reversed(range(1, len(x))):
            # x[i] = math.sin(x[i]) * x[i - 1]
            x[i] = x_tape.pop()
            t_bar = x_bar[i]
            x_bar[i] = t_bar * x[i - 1] * math.cos(x[i])
            x_bar[i - 1] += t_bar * math.sin(x[i])
    return x_bar


def args(rng):
    return rng.uniform(0.5, 1.5, size=5), 3
