"""Forecast errors of exponential smoothing: an array read item by item, differentiated by all its items."""

import numpy as np

bound = "overhead"
argnums = (0, 1)


def primal(alpha, x):
    s = x[0]
    error = 0.0
    for t in range(1, len(x)):
        d = x[t] - s
        error = error + d * d
        s = s + alpha * d
    return error / (len(x) - 1)


def by_hand(alpha, x, *, out_bar=1.0):
    s = x[0]
    d_tape = []
    for t in range(1, len(x)):
        d = x[t] - s
        d_tape.append(d)
        s = s + alpha * d

    error_bar = out_bar / (len(x) - 1)
    s_bar = 0.0
    alpha_bar = 0.0
    x_bar = np.zeros_like(x)
    for t in reversed(range(1, len(x))):
        d = d_tape.pop()
        alpha_bar += s_bar * d
        d_bar = s_bar * alpha + error_bar * 2 * d
        x_bar[t] += d_bar
        s_bar -= d_bar
    x_bar[0] += s_bar
    return alpha_bar, x_bar


def args():
    return 0.3, np.random.default_rng(0).normal(size=1000)
