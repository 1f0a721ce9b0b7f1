"""A scalar loop with a branch on the value that it changes."""

import math

bound = "overhead"


def primal(x, n):
    s = 0.0
    for i in range(n):
        if x > 0.5:
            x = x * 0.9
        else:
            x = x + math.sin(x)
        s += x * x
    return s


def by_hand(x, n, *, out_bar=1.0):
    x_tape = []
    for i in range(n):
        x_tape.append(x)
        if x > 0.5:
            x = x * 0.9
        else:
            x = x + math.sin(x)

    s_bar = out_bar
    x_bar = 0.0
    for i in reversed(range(n)):
        x_bar += s_bar * 2 * x
        x = x_tape.pop()
        if x > 0.5:
            x_bar = x_bar * 0.9
        else:
            x_bar += x_bar * math.cos(x)
    return x_bar


def args():
    return 0.3, 1000
