"""The log-likelihood of normal data in its two parameters: scalars that meet an array."""

import math

import numpy as np

argnums = (0, 1)


def gaussian(mu, log_sigma, x):
    sigma = math.exp(log_sigma)
    r = (x - mu) / sigma
    return -0.5 * np.sum(r**2) - x.size * (log_sigma + 0.5 * math.log(2.0 * math.pi))


def gaussian_grad(mu, log_sigma, x, *, out_bar=1.0):
    # forward
    sigma = math.exp(log_sigma)
    d = x - mu
    r = d / sigma

    # reverse
    # return -0.5 * np.sum(r**2) - x.size * (log_sigma + 0.5 * math.log(2.0 * math.pi))
    r_bar = out_bar * -0.5 * 2 * r
    log_sigma_bar = -out_bar * x.size
    # r = (x - mu) / sigma
    mu_bar = -np.sum(r_bar / sigma)
    sigma_bar = -np.sum(r_bar * d / sigma**2)
    # sigma = math.exp(log_sigma)
    log_sigma_bar += sigma_bar * sigma
    return mu_bar, log_sigma_bar


def args(rng):
    return float(rng.normal()), float(rng.normal(scale=0.5)), rng.normal(size=8)
