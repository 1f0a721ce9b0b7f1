"""A small network on a batch of digits: a dict of parameters, a stable softmax, labels picked by index."""

import numpy as np

bound = "overhead"
jax = True


def primal(params, x, y):
    hidden = np.tanh(x @ params["w1"] + params["b1"])
    logits = hidden @ params["w2"] + params["b2"]
    logits = logits - np.max(logits, axis=1, keepdims=True)
    logp = logits - np.log(np.sum(np.exp(logits), axis=1, keepdims=True))
    return -np.mean(logp[np.arange(len(y)), y])


def by_hand(params, x, y, *, out_bar=1.0):
    w1, b1, w2, b2 = params["w1"], params["b1"], params["w2"], params["b2"]
    hidden = np.tanh(x @ w1 + b1)
    logits = hidden @ w2 + b2
    top = np.max(logits, axis=1, keepdims=True)
    shifted = logits - top
    e = np.exp(shifted)
    total = np.sum(e, axis=1, keepdims=True)
    rows = np.arange(len(y))

    logp_bar = np.zeros_like(shifted)
    np.add.at(logp_bar, (rows, y), -out_bar / len(y))
    total_bar = -np.sum(logp_bar, axis=1, keepdims=True) / total
    shifted_bar = logp_bar + total_bar * e
    top_bar = -np.sum(shifted_bar, axis=1, keepdims=True)
    ties = logits == top
    logits_bar = shifted_bar + top_bar * ties / np.sum(ties, axis=1, keepdims=True)
    w2_bar = hidden.T @ logits_bar
    b2_bar = np.sum(logits_bar, axis=0)
    z_bar = (logits_bar @ w2.T) * (1 - hidden**2)
    w1_bar = x.T @ z_bar
    b1_bar = np.sum(z_bar, axis=0)
    return {"w1": w1_bar, "b1": b1_bar, "w2": w2_bar, "b2": b2_bar}


def args():
    rng = np.random.default_rng(0)
    params = {
        "w1": rng.normal(size=(64, 64)) / 8,
        "b1": np.zeros(64),
        "w2": rng.normal(size=(64, 10)) / 8,
        "b2": np.zeros(10),
    }
    return params, rng.uniform(size=(32, 64)), rng.integers(0, 10, size=32)
