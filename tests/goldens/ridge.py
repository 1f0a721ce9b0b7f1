"""Ridge regression written with inner products of vectors."""

from tests.goldens.helpers import unbroadcast


def ridge(w, a, b, decay):
    fitted = a @ w
    r = fitted - b
    return 0.5 * (r @ r) + 0.5 * decay * (w @ w)


def ridge_grad(w, a, b, decay, *, out_bar=1.0):
    # forward
    fitted = a @ w
    r = fitted - b

    # reverse
    # return 0.5 * (r @ r) + 0.5 * decay * (w @ w)
    w_bar = out_bar * (0.5 * decay) * 2 * w
    r_bar = out_bar * 0.5 * 2 * r
    # r = fitted - b
    fitted_bar = unbroadcast(r_bar, fitted.shape)
    # fitted = a @ w
    w_bar += a.T @ fitted_bar
    return w_bar


def args(rng):
    return rng.normal(size=4), rng.normal(size=(6, 4)), rng.normal(size=6), 0.3
