"""A scalar loop whose body is calls of small functions, which are inlined."""

import math

bound = "overhead"


def slope(x, v, k):
    return -k * math.sin(x) - 0.1 * v


def step(x, v, k, dt):
    half = v + 0.5 * dt * slope(x, v, k)
    return x + dt * half, half + 0.5 * dt * slope(x, half, k)


def primal(k, x, n):
    v = 0.0
    total = 0.0
    for _ in range(n):
        x, v = step(x, v, k, 0.01)
        total = total + x * x
    return total


def by_hand(k, x, n, *, out_bar=1.0):
    v = 0.0
    x_tape = []
    for _ in range(n):
        x_tape.append(x)
        half = v + 0.5 * 0.01 * (-k * math.sin(x) - 0.1 * v)
        last = x
        x = x + 0.01 * half
        v = half + 0.5 * 0.01 * (-k * math.sin(last) - 0.1 * half)

    x_bar = v_bar = k_bar = 0.0
    for _ in reversed(range(n)):
        x_bar += out_bar * 2 * x
        x = x_tape.pop()
        sin = math.sin(x)
        half_bar = v_bar + x_bar * 0.01 - v_bar * 0.5 * 0.01 * 0.1
        slope_bar = v_bar * 0.5 * 0.01 + half_bar * 0.5 * 0.01
        k_bar -= slope_bar * sin
        x_bar -= slope_bar * k * math.cos(x)
        v_bar = half_bar - half_bar * 0.5 * 0.01 * 0.1
    return k_bar


def args():
    return 1.3, 0.7, 1000
