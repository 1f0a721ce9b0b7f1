"""The wave equation in two dimensions: three buffers that change places after each step."""

import numpy as np


def wave(p0, c, steps):
    before = p0.copy()
    now = p0.copy()
    after = np.zeros_like(p0)
    for _ in range(steps):
        mid = now[1:-1, 1:-1]
        around = now[2:, 1:-1] + now[:-2, 1:-1] + now[1:-1, 2:] + now[1:-1, :-2]
        after[1:-1, 1:-1] = 2 * mid - before[1:-1, 1:-1] + c * (around - 4 * mid)
        before, now, after = now, after, before
    return np.sum(now**2)


def wave_grad(p0, c, steps, *, out_bar=1.0):
    # forward
    before = p0.copy()
    now = p0.copy()
    after = np.zeros_like(p0)
    for _ in range(steps):
        mid = now[1:-1, 1:-1]
        around = now[2:, 1:-1] + now[:-2, 1:-1] + now[1:-1, 2:] + now[1:-1, :-2]
        after[1:-1, 1:-1] = 2 * mid - before[1:-1, 1:-1] + c * (around - 4 * mid)
        before, now, after = now, after, before

    # reverse
    # return np.sum(now**2)
    now_bar = out_bar * 2 * now
    before_bar = np.zeros_like(now)
    after_bar = np.zeros_like(now)
    for _ in reversed(range(steps)):
        # before, now, after = now, after, before
        now_bar, after_bar, before_bar = before_bar, now_bar, after_bar
        # after[1:-1, 1:-1] = 2 * mid - before[1:-1, 1:-1] + c * (around - 4 * mid)
        t_bar = after_bar[1:-1, 1:-1].copy()
        after_bar[1:-1, 1:-1] = 0.0
        before_bar[1:-1, 1:-1] -= t_bar
        around_bar = c * t_bar
        # mid = now[1:-1, 1:-1]
        now_bar[1:-1, 1:-1] += 2 * t_bar - 4 * around_bar
        # around = now[2:, 1:-1] + now[:-2, 1:-1] + now[1:-1, 2:] + now[1:-1, :-2]
        now_bar[2:, 1:-1] += around_bar
        now_bar[:-2, 1:-1] += around_bar
        now_bar[1:-1, 2:] += around_bar
        now_bar[1:-1, :-2] += around_bar
    return before_bar + now_bar


def args(rng):
    return rng.normal(size=(5, 6)), 0.1, 4
