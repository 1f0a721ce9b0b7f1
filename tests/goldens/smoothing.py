"""One-step forecast errors of exponential smoothing: a recurrence that reads an array item by item."""

import numpy as np

argnums = (0, 1)


def smoothing(alpha, x):
    s = x[0]
    error = 0.0
    for t in range(1, len(x)):
        d = x[t] - s
        error = error + d * d
        s = s + alpha * d
    return error / (len(x) - 1)


def smoothing_grad(alpha, x, *, out_bar=1.0):
    # forward
    s = x[0]
    d_tape = []
    for t in range(1, len(x)):
        d = x[t] - s
        d_tape.append(d)
        s = s + alpha * d

    # reverse
    # return error / (len(x) - 1)
    error_bar = out_bar / (len(x) - 1)
    s_bar = 0.0
    alpha_bar = 0.0
    x_bar = np.zeros_like(x)
    for t in reversed(range(1, len(x))):
        # s = s + alpha * d
        d = d_tape.pop()
        alpha_bar += s_bar * d
        d_bar = s_bar * alpha
        # error = error + d * d
        d_bar += error_bar * 2 * d
        # d = x[t] - s
        x_bar[t] += d_bar
        s_bar -= d_bar
    # s = x[0]
    x_bar[0] += s_bar
    return alpha_bar, x_bar


def args(rng):
    return float(rng.uniform(0.1, 0.9)), rng.normal(size=8)
