"""A recursion over the halves of an array: each call is a forward and a reverse sweep of its own."""

import numpy as np

bound = "overhead"


def energy(x, k):
    n = len(x)
    if n <= 8:
        return np.sum(np.tanh(k * x) ** 2)
    left, right = x[: n // 2], x[n // 2 :]
    bond = left[-1] * right[0]
    return energy(left, k) + energy(right, k) + k * bond


def primal(x, k):
    return energy(x, k)


def forward(x, k):
    n = len(x)
    if n <= 8:
        t = np.tanh(k * x)
        return np.sum(t**2), (x, k, t)
    left, right = x[: n // 2], x[n // 2 :]
    bond = left[-1] * right[0]
    a, saved_a = forward(left, k)
    b, saved_b = forward(right, k)
    return a + b + k * bond, (x, k, left, right, bond, saved_a, saved_b)


def backward(saved, out_bar):
    if len(saved) == 3:
        x, k, t = saved
        t_bar = out_bar * 2 * t * (1 - t**2)
        return t_bar * k, np.sum(t_bar * x)
    x, k, left, right, bond, saved_a, saved_b = saved
    bond_bar = out_bar * k
    right_bar, by_right = backward(saved_b, out_bar)
    left_bar, by_left = backward(saved_a, out_bar)
    left_bar[-1] += bond_bar * right[0]
    right_bar[0] += bond_bar * left[-1]
    n = len(x)
    x_bar = np.zeros_like(x)
    x_bar[: n // 2] = left_bar
    x_bar[n // 2 :] = right_bar
    return x_bar, out_bar * bond + by_right + by_left


def by_hand(x, k, *, out_bar=1.0):
    _, saved = forward(x, k)
    x_bar, _ = backward(saved, out_bar)
    return x_bar


def args():
    return np.random.default_rng(0).normal(size=512), 0.7
