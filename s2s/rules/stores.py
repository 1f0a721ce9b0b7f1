"""Writes into memory, as functions of what is written into: the value after the write of that before it.

Sweeps write these derivatives in place (`transforms/reverse/stores.py`); the rules here make new arrays, and say what
the passes ask: the kind of the result, and that it is the first argument's memory.
"""

from dataclasses import replace

import numpy as np

from s2s import kinds as K
from s2s.rules.registry import jvp, linear, vjp, zero_derivative
from s2s.runtime.numeric import scatter, shape_of, unbroadcast
from s2s.runtime.pytree import add, shadow, zero_tangent
from s2s.runtime.stores import (
    add_at,
    add_item,
    append,
    drop_last,
    last_writes,
    private,
    put_back,
    put_in_place,
    require_in_step,
    seen,
    seen_item,
    set_flat,
    set_item,
    sub_at,
    sub_item,
    taken,
)

# A list whose length is known to be more than this is taken for one of any length.
LONGEST = 64


def stored_kind(x, index, value):
    """The kind of a container after `x[index] = value`; an array stays what it is."""
    if isinstance(x, K.Dict) and getattr(index, "value", None) is not None:
        return K.Dict(tuple({**dict(x.items), index.value: value}.items()))
    if isinstance(x, K.List) and isinstance(index, K.Int):
        return K.List(tuple(_stored(i, len(x.items), index.value, kind, value) for i, kind in enumerate(x.items)))
    if isinstance(x, K.Sequence):
        return K.Sequence(K.join(x.item, value), x.cls)
    return x if isinstance(x, K.Array) else K.UNKNOWN


def _stored(position, length, index, kind, value):
    """The kind of the item at a position, after the one at an index, which may not be known, was assigned."""
    if index is None:
        return K.join(kind, value)
    return value if position == index % length else kind


def appended_kind(x, value):
    if isinstance(x, K.List):
        return K.List((*x.items, value)) if len(x.items) < LONGEST else K.Sequence(K.joined((*x.items, value)), list)
    return K.Sequence(K.join(x.item, value), list) if isinstance(x, K.Sequence) else K.UNKNOWN


def shortened_kind(x, last):
    return K.List(x.items[:-1]) if isinstance(x, K.List) and x.items else x


def seen_kind(x, part, value):
    """The kind of a container one of whose items may have changed."""
    inner = K.children(x)
    if inner is None or x == part:
        return x if inner is None else value
    changed = [K.join(kind, value) if kind == part else seen_kind(kind, part, value) for kind in inner]
    if isinstance(x, K.Sequence):
        return K.Sequence(changed[0], x.cls)
    if isinstance(x, K.Dict):
        return K.Dict(tuple((key, kind) for (key, _), kind in zip(x.items, changed, strict=True)))
    return replace(x, items=tuple(changed)) if isinstance(x, (K.List, K.Tuple)) else x


def same(x, *others):
    """The kind of the first argument."""
    return x


@vjp(set_item, seen_item, wrt="x", view="x", mutates="x", kind=stored_kind)
def set_item_vjp_x(g, ans, x, index, value):
    kept = np.ones(np.shape(g), bool)
    kept[index] = False
    return np.where(kept, g, 0)


@vjp(set_item, seen_item, wrt="value")
def set_item_vjp_value(g, ans, x, index, value):
    return unbroadcast(np.where(last_writes(np.shape(g), index), g[index], 0), shape_of(value))


@jvp(set_item, seen_item, wrt="x")
def set_item_jvp_x(x_dot, ans, x, index, value):
    return set_item_vjp_x(x_dot, ans, x, index, value)


@jvp(set_item, seen_item, wrt="value")
def set_item_jvp_value(value_dot, ans, x, index, value):
    where = last_writes(np.shape(ans), index)
    return scatter(np.where(where, np.broadcast_to(value_dot, np.shape(where)), 0), index, np.shape(ans))


@vjp(add_item, sub_item, add_at, sub_at, wrt="x", view="x", mutates="x", kind=same)
def add_item_vjp_x(g, ans, x, index, value):
    return np.array(g)


@jvp(add_item, sub_item, add_at, sub_at, wrt="x")
def add_item_jvp_x(x_dot, ans, x, index, value):
    return np.array(x_dot)


@vjp(add_item, add_at, wrt="value")
def add_item_vjp_value(g, ans, x, index, value):
    return unbroadcast(g[index], shape_of(value))


@jvp(add_item, add_at, wrt="value")
def add_item_jvp_value(value_dot, ans, x, index, value):
    return scatter(np.broadcast_to(value_dot, np.shape(ans[index])), index, np.shape(ans))


@vjp(sub_item, sub_at, wrt="value")
def sub_item_vjp_value(g, ans, x, index, value):
    return -add_item_vjp_value(g, ans, x, index, value)


@jvp(sub_item, sub_at, wrt="value")
def sub_item_jvp_value(value_dot, ans, x, index, value):
    return -add_item_jvp_value(value_dot, ans, x, index, value)


@vjp(set_flat, wrt="x", view="x", mutates="x", kind=same)
def set_flat_vjp_x(g, ans, x, index, value):
    return np.reshape(set_item_vjp_x(np.ravel(g), ans, x, index, value), np.shape(g))


@vjp(set_flat, wrt="value")
def set_flat_vjp_value(g, ans, x, index, value):
    part = np.ravel(g)[index]
    return put_back(np.where(last_writes((np.size(g),), index), part, 0), shape_of(value))


@jvp(set_flat, wrt="x")
def set_flat_jvp_x(x_dot, ans, x, index, value):
    return set_flat_vjp_x(x_dot, ans, x, index, value)


@jvp(set_flat, wrt="value")
def set_flat_jvp_value(value_dot, ans, x, index, value):
    return set_flat(np.zeros_like(ans), index, value_dot)


zero_derivative(last_writes, require_in_step)


@linear(put_back, wrt="g")
def put_back_vjp(g_bar, ans, g, shape):
    return np.reshape(np.resize(np.ravel(g_bar), np.size(g)), np.shape(g))


@linear(private, wrt="x", kind=same)
def private_vjp(g, ans, x):
    return g


# --- lists and dicts --------------------------------------------------------------------------------------------


@vjp(append, wrt="x", view="x", mutates="x", kind=appended_kind)
def append_vjp_x(g, ans, x, value):
    return g[:-1]


@vjp(append, wrt="value")
def append_vjp_value(g, ans, x, value):
    return g[-1]


@jvp(append, wrt="x")
def append_jvp_x(x_dot, ans, x, value):
    return [*x_dot, zero_tangent(value)]


@jvp(append, wrt="value")
def append_jvp_value(value_dot, ans, x, value):
    return [*map(zero_tangent, x), value_dot]


@vjp(drop_last, wrt="x", view="x", mutates="x", kind=shortened_kind)
def drop_last_vjp(g, ans, x, last):
    return [*g, shadow(last)]


@jvp(drop_last, wrt="x", zeros="last")
def drop_last_jvp(x_dot, ans, x, last):
    return x_dot[:-1]


# --- what may be seen through another name ----------------------------------------------------------------------


@vjp(seen, wrt="x", view="x", mutates="x", kind=seen_kind)
def seen_vjp_x(g, ans, x, part, value):
    bar = add(shadow(g), g)
    taken(bar, x, part)
    return bar


@vjp(seen, wrt="value", zeros="part")
def seen_vjp_value(g, ans, x, part, value):
    return taken(add(shadow(g), g), x, part)


@jvp(seen, wrt="x")
def seen_jvp_x(x_dot, ans, x, part, value):
    return put_in_place(add(shadow(x_dot), x_dot), x, part, shadow(value))


@jvp(seen, wrt="value")
def seen_jvp_value(value_dot, ans, x, part, value):
    return put_in_place(zero_tangent(x), x, part, value_dot)


STORES = frozenset({seen, set_flat, append, drop_last, set_item, add_item, sub_item, add_at, sub_at, seen_item})
