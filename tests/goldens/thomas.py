"""A tridiagonal system solved in place: the right side is overwritten twice, and its first values are read again."""

import numpy as np

argnums = (0, 1, 2, 3)


def thomas(a, b, c, d):
    b = b.copy()
    d = d.copy()
    n = len(d)
    for i in range(1, n):
        w = a[i - 1] / b[i - 1]
        b[i] -= w * c[i - 1]
        d[i] -= w * d[i - 1]
    d[n - 1] /= b[n - 1]
    for i in reversed(range(n - 1)):
        d[i] = (d[i] - c[i] * d[i + 1]) / b[i]
    return np.sum(d**2)


def thomas_grad(a, b, c, d, *, out_bar=1.0):
    # forward
    b = b.copy()
    d = d.copy()
    n = len(d)
    for i in range(1, n):
        w = a[i - 1] / b[i - 1]
        b[i] -= w * c[i - 1]
        d[i] -= w * d[i - 1]
    d_saved = d.copy()
    d[n - 1] /= b[n - 1]
    for i in reversed(range(n - 1)):
        d[i] = (d[i] - c[i] * d[i + 1]) / b[i]

    # reverse
    d_bar = out_bar * 2 * d
    a_bar = np.zeros_like(a)
    b_bar = np.zeros_like(b)
    c_bar = np.zeros_like(c)
    for i in range(n - 1):
        # d[i] = (d[i] - c[i] * d[i + 1]) / b[i]
        d_bar[i] /= b[i]
        b_bar[i] -= d_bar[i] * d[i]
        c_bar[i] -= d_bar[i] * d[i + 1]
        d_bar[i + 1] -= d_bar[i] * c[i]
    # d[n - 1] /= b[n - 1]
    d_bar[n - 1] /= b[n - 1]
    b_bar[n - 1] -= d_bar[n - 1] * d[n - 1]
    for i in reversed(range(1, n)):
        w = a[i - 1] / b[i - 1]
        # d[i] -= w * d[i - 1]
        w_bar = -d_bar[i] * d_saved[i - 1]
        d_bar[i - 1] -= d_bar[i] * w
        # b[i] -= w * c[i - 1]
        w_bar -= b_bar[i] * c[i - 1]
        c_bar[i - 1] -= b_bar[i] * w
        # w = a[i - 1] / b[i - 1]
        a_bar[i - 1] = w_bar / b[i - 1]
        b_bar[i - 1] -= a_bar[i - 1] * w
    return a_bar, b_bar, c_bar, d_bar


def args(rng):
    return rng.normal(size=4), rng.uniform(3.0, 4.0, size=5), rng.normal(size=4), rng.normal(size=5)
