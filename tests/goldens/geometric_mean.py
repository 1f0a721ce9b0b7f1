"""A weighted geometric mean: straight-line code with a reduction in its middle."""

import numpy as np

from tests.goldens.helpers import unbroadcast


def geometric_mean(x, weights):
    total = np.sum(weights)
    log_mean = np.sum(weights * np.log(x)) / total
    return np.exp(log_mean)


def geometric_mean_grad(x, weights, *, out_bar=1.0):
    # forward
    total = np.sum(weights)
    log_mean = np.sum(weights * np.log(x)) / total

    # reverse
    # return np.exp(log_mean)
    log_mean_bar = out_bar * np.exp(log_mean)
    # log_mean = np.sum(weights * np.log(x)) / total
    x_bar = unbroadcast(log_mean_bar / total * weights, x.shape) / x
    return x_bar


def args(rng):
    return rng.uniform(0.5, 3.0, size=6), rng.uniform(0.1, 1.0, size=6)
