"""The log-likelihood of a mixture of normal distributions: broadcasting between points and components."""

import math

import numpy as np

bound = "arrays"
argnums = (0, 1, 2)
jax = True


def primal(weights, means, log_sigmas, x):
    z = (x[:, None] - means) * np.exp(-log_sigmas)
    log_weights = weights - np.log(np.sum(np.exp(weights)))
    terms = log_weights - log_sigmas - 0.5 * z**2 - 0.5 * math.log(2 * math.pi)
    top = np.max(terms, axis=1)
    return np.sum(top + np.log(np.sum(np.exp(terms - top[:, None]), axis=1)))


def by_hand(weights, means, log_sigmas, x, *, out_bar=1.0):
    d = x[:, None] - means
    s = np.exp(-log_sigmas)
    z = d * s
    e_weights = np.exp(weights)
    total = np.sum(e_weights)
    log_weights = weights - np.log(total)
    terms = log_weights - log_sigmas - 0.5 * z**2 - 0.5 * math.log(2 * math.pi)
    top = np.max(terms, axis=1)
    e = np.exp(terms - top[:, None])
    sums = np.sum(e, axis=1)

    sums_bar = out_bar / sums
    shifted_bar = sums_bar[:, None] * e
    top_bar = out_bar - np.sum(shifted_bar, axis=1)
    ties = terms == top[:, None]
    terms_bar = shifted_bar + (top_bar / np.sum(ties, axis=1))[:, None] * ties
    z_bar = -terms_bar * 0.5 * 2 * z
    log_weights_bar = np.sum(terms_bar, axis=0)
    log_sigmas_bar = -log_weights_bar
    weights_bar = log_weights_bar.copy()
    weights_bar -= np.sum(log_weights_bar) / total * e_weights
    means_bar = -np.sum(z_bar * s, axis=0)
    log_sigmas_bar -= np.sum(z_bar * d, axis=0) * s
    return weights_bar, means_bar, log_sigmas_bar


def args():
    rng = np.random.default_rng(0)
    return rng.normal(size=6), rng.normal(size=6), 0.3 * rng.normal(size=6), rng.normal(size=20_000)
