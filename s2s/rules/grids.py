"""Differences on grids."""

import numpy as np

from s2s import kinds as K
from s2s.rules.kinds_of import as_array, count
from s2s.rules.registry import decompose, zero_derivative


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


# --- arrays that are brought to certain shapes ------------------------------------------------------------------


def grid_kind(xi, copy, sparse, indexing):
    """An array for each of those given, with as many dimensions as there are arrays."""
    dtypes = [K.dtype_of(as_array(x)) for x in xi.items]
    return together([None if dtype is None else K.Array(dtype, len(dtypes)) for dtype in dtypes])


def together(kinds, cls=tuple):
    """The kind of several arrays, if all are known."""
    return K.UNKNOWN if None in kinds else K.Tuple(tuple(kinds), cls)


@decompose(np.meshgrid, kind=grid_kind)
def meshgrid(*xi, copy=True, sparse=False, indexing="xy"):
    shapes, whole = grid_shapes([np.size(x) for x in xi], indexing)
    grids = []
    for x, shape in zip(xi, shapes):
        along = np.reshape(x, shape)
        grids.append(along if sparse else np.broadcast_to(along, whole))
    return tuple(grids)


def grid_shapes(sizes, indexing):
    """The shape of each coordinate along its own axis, and of the grid."""
    axes = list(range(len(sizes)))
    if indexing == "xy":
        axes[:2] = axes[:2][::-1]
    shapes = [tuple(size if axis == own else 1 for axis in range(len(sizes))) for own, size in zip(axes, sizes)]
    return shapes, tuple(sizes[axis] for axis in axes)


def shapes_kind(sizes, indexing):
    """As many sizes as there are coordinates."""
    shape = (
        K.Tuple((K.Int(),) * len(sizes.items)) if isinstance(sizes, (K.List, K.Tuple)) else K.Sequence(K.Int(), tuple)
    )
    return K.Tuple((K.Sequence(shape), shape))


zero_derivative(grid_shapes, kind=shapes_kind)


@decompose(np.broadcast_arrays, kind=lambda args, subok: broadcast_kind([as_array(a) for a in args.items]))
def broadcast_arrays(*args, subok=False):
    shape = common_shape([np.shape(a) for a in args])
    return tuple([np.broadcast_to(a, shape) for a in args])


def common_shape(shapes):
    """The shape to which arrays of some shapes broadcast."""
    return np.broadcast_shapes(*shapes)


zero_derivative(common_shape, kind=lambda shapes: K.Sequence(K.Int(), tuple))


def broadcast_kind(arrays):
    """Arrays of as many dimensions as the one that has most."""
    if not all(isinstance(a, K.Array) for a in arrays):
        return K.UNKNOWN
    return together([K.Array(a.dtype, max(b.ndim for b in arrays)) for a in arrays])


def at_least(ndim):
    """The kind of `atleast_1d` and its like: one array, or a tuple of them."""

    def kind(arys):
        found = [as_array(a) for a in arys.items]
        if not all(isinstance(a, K.Array) for a in found):
            return K.UNKNOWN
        made = [K.Array(a.dtype, max(a.ndim, ndim)) for a in found]
        return made[0] if len(made) == 1 else together(made)

    return kind


# How the shapes of smaller arrays are filled.
FILLED = {
    1: lambda shape: (1,),
    2: lambda shape: (1, 1, *shape)[-2:],
    3: lambda shape: (*(1,) * (len(shape) < 2), *shape, 1, 1)[:3],
}


def register_at_least(function, ndim):
    """The rule of one of the three."""

    def filled_shape(shape):
        return shape if len(shape) >= ndim else FILLED[ndim](shape)

    def shape_kind(shape):
        if not isinstance(shape, K.Tuple):
            return K.Sequence(K.Int(), tuple)
        return K.Tuple((K.Int(),) * max(len(shape.items), ndim))

    zero_derivative(filled_shape, kind=shape_kind)

    @decompose(function, kind=at_least(ndim))
    def filled(*arys):
        if len(arys) == 1:
            return np.reshape(arys[0], filled_shape(np.shape(arys[0])))
        return tuple([np.reshape(a, filled_shape(np.shape(a))) for a in arys])


for _ndim, _function in enumerate((np.atleast_1d, np.atleast_2d, np.atleast_3d), 1):
    register_at_least(_function, _ndim)
