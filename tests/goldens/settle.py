"""A scalar that is damped above one half and pushed below: a branch in a loop, on a reassigned parameter."""

import math


def settle(x, n):
    s = 0.0
    for i in range(n):
        if x > 0.5:
            x = x * 0.9
        else:
            x = x + math.sin(x)
        s += x * x
    return s


def settle_grad(x, n, *, out_bar=1.0):
    # forward
    x_tape = []
    for i in range(n):
        x_tape.append(x)
        if x > 0.5:
            x = x * 0.9
        else:
            x = x + math.sin(x)

    # reverse
    s_bar = out_bar
    x_bar = 0.0
    for i in reversed(range(n)):
        # s += x * x
        x_bar += s_bar * 2 * x
        x = x_tape.pop()
        if x > 0.5:
            # x = x * 0.9
            x_bar = x_bar * 0.9
        else:
            # x = x + math.sin(x)
            x_bar += x_bar * math.cos(x)
    return x_bar


def args(rng):
    return float(rng.uniform(0.1, 0.9)), 7
