"""The logarithm of a determinant by elimination in place."""

import numpy as np

bound = "overhead"
inplace = True


def primal(a):
    lu = a.copy()
    n = len(lu)
    for k in range(n - 1):
        lu[k + 1 :, k] /= lu[k, k]
        lu[k + 1 :, k + 1 :] -= np.outer(lu[k + 1 :, k], lu[k, k + 1 :])
    return np.sum(np.log(np.diagonal(lu)))


def by_hand(a, *, out_bar=1.0):
    lu = a.copy()
    n = len(lu)
    for k in range(n - 1):
        lu[k + 1 :, k] /= lu[k, k]
        lu[k + 1 :, k + 1 :] -= np.outer(lu[k + 1 :, k], lu[k, k + 1 :])

    lu_bar = np.diag(out_bar / np.diagonal(lu))
    for k in reversed(range(n - 1)):
        lu_bar[k + 1 :, k] -= lu_bar[k + 1 :, k + 1 :] @ lu[k, k + 1 :]
        lu_bar[k, k + 1 :] -= lu[k + 1 :, k] @ lu_bar[k + 1 :, k + 1 :]
        lu_bar[k + 1 :, k] /= lu[k, k]
        lu_bar[k, k] -= lu_bar[k + 1 :, k] @ lu[k + 1 :, k]
    return lu_bar


def args():
    return (np.random.default_rng(0).normal(size=(60, 60)) + 30.0 * np.eye(60),)
