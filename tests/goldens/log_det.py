"""The logarithm of a determinant by LU in place: the factors stand in the buffer, and nothing else is saved."""

import numpy as np


def log_det(a):
    lu = a.copy()
    n = len(lu)
    for k in range(n - 1):
        lu[k + 1 :, k] /= lu[k, k]
        lu[k + 1 :, k + 1 :] -= np.outer(lu[k + 1 :, k], lu[k, k + 1 :])
    return np.sum(np.log(np.diagonal(lu)))


def log_det_grad(a, *, out_bar=1.0):
    # forward
    lu = a.copy()
    n = len(lu)
    for k in range(n - 1):
        lu[k + 1 :, k] /= lu[k, k]
        lu[k + 1 :, k + 1 :] -= np.outer(lu[k + 1 :, k], lu[k, k + 1 :])

    # reverse
    # return np.sum(np.log(np.diagonal(lu)))
    lu_bar = np.diag(out_bar / np.diagonal(lu))
    for k in reversed(range(n - 1)):
        # lu[k + 1 :, k + 1 :] -= np.outer(lu[k + 1 :, k], lu[k, k + 1 :])
        lu_bar[k + 1 :, k] -= lu_bar[k + 1 :, k + 1 :] @ lu[k, k + 1 :]
        lu_bar[k, k + 1 :] -= lu[k + 1 :, k] @ lu_bar[k + 1 :, k + 1 :]
        # lu[k + 1 :, k] /= lu[k, k]
        lu_bar[k + 1 :, k] /= lu[k, k]
        lu_bar[k, k] -= lu_bar[k + 1 :, k] @ lu[k + 1 :, k]
    return lu_bar


def args(rng):
    return (rng.normal(size=(4, 4)) + 8.0 * np.eye(4),)
