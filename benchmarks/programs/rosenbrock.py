"""The Rosenbrock function with slices, in a hundred thousand unknowns."""

import numpy as np

bound = "arrays"
jax = True


def primal(x):
    d = x[1:] - x[:-1] ** 2
    return np.sum(100.0 * d**2 + (1.0 - x[:-1]) ** 2)


def by_hand(x, *, out_bar=1.0):
    head = x[:-1]
    d = x[1:] - head**2
    r = 1.0 - head

    d_bar = out_bar * 100.0 * 2 * d
    x_bar = np.zeros_like(x)
    x_bar[:-1] -= out_bar * 2 * r
    x_bar[1:] += d_bar
    x_bar[:-1] -= d_bar * 2 * head
    return x_bar


def args():
    return (np.random.default_rng(0).normal(size=100_000),)
