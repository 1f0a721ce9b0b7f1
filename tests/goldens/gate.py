"""A smooth gate computed in one buffer by `out=`."""

import numpy as np


def gate(x):
    y = np.multiply(x, 0.8)
    np.tanh(y, out=y)
    np.add(y, 1.0, out=y)
    np.multiply(y, x, out=y)
    return np.sum(y)


def gate_grad(x, *, out_bar=1.0):
    # forward
    y = np.multiply(x, 0.8)
    np.tanh(y, out=y)
    tanh = y.copy()
    np.add(y, 1.0, out=y)

    # reverse
    # np.multiply(y, x, out=y)
    x_bar = out_bar * y
    y_bar = out_bar * x
    # np.tanh(y, out=y)
    y_bar *= 1 - tanh**2
    # y = np.multiply(x, 0.8)
    x_bar += y_bar * 0.8
    return x_bar


def args(rng):
    return (rng.normal(size=6),)
