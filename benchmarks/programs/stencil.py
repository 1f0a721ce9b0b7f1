"""Explicit steps of the heat equation in one buffer: linear, so that nothing is saved."""

import numpy as np

bound = "overhead"
inplace = True


def primal(u0, k, steps):
    u = u0.copy()
    for _ in range(steps):
        u[1:-1] += k * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u**2)


def by_hand(u0, k, steps, *, out_bar=1.0):
    u = u0.copy()
    for _ in range(steps):
        u[1:-1] += k * (u[2:] - 2 * u[1:-1] + u[:-2])

    u_bar = out_bar * 2 * u
    for _ in reversed(range(steps)):
        t_bar = k * u_bar[1:-1]
        u_bar[2:] += t_bar
        u_bar[1:-1] -= 2 * t_bar
        u_bar[:-2] += t_bar
    return u_bar


def args():
    return np.random.default_rng(0).normal(size=200), 0.2, 100
