"""Weights added up by bins: places that repeat."""

import numpy as np


def histogram(weights, bins, n):
    h = np.zeros(n)
    np.add.at(h, bins, weights * weights)
    return np.sum(h**2) / n


def histogram_grad(weights, bins, n, *, out_bar=1.0):
    # forward
    h = np.zeros(n)
    np.add.at(h, bins, weights * weights)

    # reverse
    # return np.sum(h**2) / n
    h_bar = out_bar / n * 2 * h
    # np.add.at(h, bins, weights * weights)
    weights_bar = h_bar[bins] * 2 * weights
    return weights_bar


def args(rng):
    return rng.normal(size=9), rng.integers(0, 4, size=9), 4
