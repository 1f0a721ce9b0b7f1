"""Products of vectors, matrices and tensors. All are linear in each factor: only transposes are written.

The cotangent of one factor is a product of the result's cotangent with the other factor over the axes that the other
factor brought into the result. (`@` and `np.matmul` are among the operators.)
"""

import numpy as np

from s2s.rules.registry import linear

# --- dot --------------------------------------------------------------------------------------------------------


@linear(np.dot, np.ndarray.dot, wrt="a")
def dot_vjp_a(g, ans, a, b, out=None):
    if np.ndim(b) == 0:
        return g * b
    if np.ndim(a) == 0:
        return np.sum(g * b)
    if b.ndim == 1:
        if a.ndim == 1:
            return g * b
        if a.ndim == 2:
            return g[:, None] * b
        return np.expand_dims(g, -1) * b
    if b.ndim == 2:
        return np.dot(g, b.T)
    brought = [*range(b.ndim - 2), b.ndim - 1]
    return np.tensordot(g, b, axes=(list(range(a.ndim - 1, g.ndim)), brought))


@linear(np.dot, np.ndarray.dot, wrt="b")
def dot_vjp_b(g, ans, a, b, out=None):
    if np.ndim(a) == 0:
        return a * g
    if np.ndim(b) == 0:
        return np.sum(a * g)
    if a.ndim == 1:
        if b.ndim == 1:
            return g * a
        if b.ndim == 2:
            return a[:, None] * g
    if a.ndim == 2:
        if b.ndim <= 2:
            return np.dot(a.T, g)
    brought = list(range(a.ndim - 1))
    b_bar = np.tensordot(a, g, axes=(brought, brought))
    if b.ndim == 1:
        return b_bar
    return np.moveaxis(b_bar, 0, -2)


# --- inner, outer, vdot -----------------------------------------------------------------------------------------


@linear(np.inner, wrt="a")
def inner_vjp_a(g, ans, a, b):
    if np.ndim(a) == 0:
        return np.sum(g * b)
    if np.ndim(b) == 0:
        return g * b
    if b.ndim == 1:
        return np.expand_dims(g, -1) * b
    return np.tensordot(g, b, axes=b.ndim - 1)


@linear(np.inner, wrt="b")
def inner_vjp_b(g, ans, a, b):
    if np.ndim(b) == 0:
        return np.sum(g * a)
    if np.ndim(a) == 0:
        return g * a
    brought = list(range(a.ndim - 1))
    return np.tensordot(g, a, axes=(brought, brought))


@linear(np.outer, wrt="a")
def outer_vjp_a(g, ans, a, b, out=None):
    if np.ndim(a) == 1 and np.ndim(b) == 1:
        return np.dot(g, b)
    return np.reshape(np.dot(g, np.ravel(b)), np.shape(a))


@linear(np.outer, wrt="b")
def outer_vjp_b(g, ans, a, b, out=None):
    if np.ndim(a) == 1 and np.ndim(b) == 1:
        return np.dot(a, g)
    return np.reshape(np.dot(np.ravel(a), g), np.shape(b))


@linear(np.vdot, wrt="a")
def vdot_vjp_a(g, ans, a, b):
    return np.reshape(np.conj(g * np.ravel(b)), np.shape(a))


@linear(np.vdot, wrt="b")
def vdot_vjp_b(g, ans, a, b):
    return np.reshape(g * np.conj(np.ravel(a)), np.shape(b))


# --- tensordot --------------------------------------------------------------------------------------------------


@linear(np.tensordot, wrt="a")
def tensordot_vjp_a(g, ans, a, b, axes=2):
    summed_a, summed_b = contracted(axes, np.ndim(a), np.ndim(b))
    brought = [i for i in range(np.ndim(b)) if i not in summed_b]
    kept = [i for i in range(np.ndim(a)) if i not in summed_a]
    a_bar = np.tensordot(g, b, axes=(list(range(len(kept), np.ndim(g))), brought))
    order = sorted(range(len(summed_b)), key=lambda i: summed_b[i])
    return np.moveaxis(a_bar, list(range(np.ndim(a))), kept + [summed_a[i] for i in order])


@linear(np.tensordot, wrt="b")
def tensordot_vjp_b(g, ans, a, b, axes=2):
    summed_a, summed_b = contracted(axes, np.ndim(a), np.ndim(b))
    brought = [i for i in range(np.ndim(a)) if i not in summed_a]
    kept = [i for i in range(np.ndim(b)) if i not in summed_b]
    b_bar = np.tensordot(a, g, axes=(brought, list(range(len(brought)))))
    order = sorted(range(len(summed_a)), key=lambda i: summed_a[i])
    return np.moveaxis(b_bar, list(range(np.ndim(b))), [summed_b[i] for i in order] + kept)


def contracted(axes, ndim_a, ndim_b):
    """The axes of both factors that `tensordot` sums over, counted from the front."""
    if isinstance(axes, (int, np.integer)):
        return list(range(ndim_a - axes, ndim_a)), list(range(axes))
    sides = [[side] if isinstance(side, (int, np.integer)) else list(side) for side in axes]
    return [i % ndim_a for i in sides[0]], [i % ndim_b for i in sides[1]]
