"""Logistic regression with weight decay: labels are -1 and 1."""

import numpy as np

from tests.goldens.helpers import unbroadcast


def logistic(w, x, y, decay):
    scores = x @ w
    margins = y * scores
    loss = np.mean(np.log1p(np.exp(-margins)))
    return loss + 0.5 * decay * np.sum(w**2)


def logistic_grad(w, x, y, decay, *, out_bar=1.0):
    # forward
    scores = x @ w
    margins = y * scores
    e = np.exp(-margins)

    # reverse
    # return loss + 0.5 * decay * np.sum(w**2)
    w_bar = out_bar * (0.5 * decay) * 2 * w
    # loss = np.mean(np.log1p(np.exp(-margins)))
    margins_bar = -(out_bar / e.size / (1 + e) * e)
    # margins = y * scores
    scores_bar = unbroadcast(margins_bar * y, scores.shape)
    # scores = x @ w
    w_bar += x.T @ scores_bar
    return w_bar


def args(rng):
    return rng.normal(size=3), rng.normal(size=(6, 3)), rng.choice([-1.0, 1.0], size=6), 0.1
