"""Explicit steps of the heat equation, in place: linear, so that nothing is saved."""

import numpy as np


def heat(u0, k, steps):
    u = u0.copy()
    for _ in range(steps):
        u[1:-1] += k * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u**2)


def heat_grad(u0, k, steps, *, out_bar=1.0):
    # forward
    u = u0.copy()
    for _ in range(steps):
        u[1:-1] += k * (u[2:] - 2 * u[1:-1] + u[:-2])

    # reverse
    u_bar = out_bar * 2 * u
    for _ in reversed(range(steps)):
        # u[1:-1] += k * (u[2:] - 2 * u[1:-1] + u[:-2])
        t_bar = k * u_bar[1:-1]
        u_bar[2:] += t_bar
        u_bar[1:-1] -= 2 * t_bar
        u_bar[:-2] += t_bar
    return u_bar


def args(rng):
    return rng.normal(size=7), 0.2, 5
