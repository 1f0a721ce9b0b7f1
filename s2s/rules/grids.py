"""Differences on grids."""

import numpy as np

from s2s import kinds as K
from s2s.rules.kinds_of import as_array, count
from s2s.rules.registry import decompose


def gradient_kind(f, spacings, axis, edge_order):
    """An array for each axis; alone, if there is one."""
    slope = as_array(f)
    axes = K.ndim_of(slope) if axis == K.NONE else count(axis)
    if axes is None:
        return K.UNKNOWN
    return slope if axes == 1 else K.Tuple((slope,) * axes)


@decompose(np.gradient, kind=gradient_kind)
def gradient(f, *varargs, axis=None, edge_order=1):
    """Central differences inside, one-sided ones at the ends, on even and uneven grids (Fornberg 1988, table 2)."""
    axes = axes_of(axis, np.ndim(f))
    slopes = []
    for i, along in enumerate(axes):
        y = np.moveaxis(f, along, -1)
        dx = 1.0 if len(varargs) == 0 else varargs[0] if len(varargs) == 1 else varargs[i]
        steps = np.broadcast_to(dx, (np.shape(y)[-1] - 1,)) if np.ndim(dx) == 0 else np.diff(dx)
        slope = np.diff(y) / steps
        before, after = steps[:-1], steps[1:]
        inner = (slope[..., :-1] * after + slope[..., 1:] * before) / (before + after)
        first, last = slope[..., :1], slope[..., -1:]
        if edge_order == 2:
            first = first - (slope[..., 1:2] - first) * steps[:1] / (steps[:1] + steps[1:2])
            last = last + (last - slope[..., -2:-1]) * steps[-1:] / (steps[-1:] + steps[-2:-1])
        slopes.append(np.moveaxis(np.concatenate([first, inner, last], axis=-1), -1, along))
    if len(axes) == 1:
        return slopes[0]
    return tuple(slopes)


def axes_of(axis, ndim):
    """The axes of an argument that names one, several, or all by None, counted from the front."""
    axes = range(ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    return tuple(i % ndim for i in axes)
