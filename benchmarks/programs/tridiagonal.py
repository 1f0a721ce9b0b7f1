"""A tridiagonal system solved in place, item by item."""

import numpy as np

bound = "overhead"
inplace = True
argnums = (0, 1, 2, 3)


def primal(a, b, c, d):
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


def by_hand(a, b, c, d, *, out_bar=1.0):
    b = b.copy()
    d = d.copy()
    n = len(d)
    for i in range(1, n):
        w = a[i - 1] / b[i - 1]
        b[i] -= w * c[i - 1]
        d[i] -= w * d[i - 1]
    saved = d.copy()
    d[n - 1] /= b[n - 1]
    for i in reversed(range(n - 1)):
        d[i] = (d[i] - c[i] * d[i + 1]) / b[i]

    d_bar = out_bar * 2 * d
    a_bar, b_bar, c_bar = np.zeros_like(a), np.zeros_like(b), np.zeros_like(c)
    for i in range(n - 1):
        t_bar = d_bar[i] / b[i]
        d_bar[i] = t_bar
        b_bar[i] -= t_bar * d[i]
        c_bar[i] -= t_bar * d[i + 1]
        d_bar[i + 1] -= t_bar * c[i]
    d_bar[n - 1] /= b[n - 1]
    b_bar[n - 1] -= d_bar[n - 1] * d[n - 1]
    for i in reversed(range(1, n)):
        w = a[i - 1] / b[i - 1]
        w_bar = -d_bar[i] * saved[i - 1]
        d_bar[i - 1] -= d_bar[i] * w
        w_bar -= b_bar[i] * c[i - 1]
        c_bar[i - 1] -= b_bar[i] * w
        t_bar = w_bar / b[i - 1]
        a_bar[i - 1] = t_bar
        b_bar[i - 1] -= t_bar * w
    return a_bar, b_bar, c_bar, d_bar


def args():
    rng = np.random.default_rng(0)
    return rng.normal(size=299), rng.uniform(3.0, 4.0, size=300), rng.normal(size=299), rng.normal(size=300)
