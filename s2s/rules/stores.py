"""Writes into memory, as functions of what is written into: the value after the write of that before it.

Sweeps write these derivatives in place (`transforms/reverse/stores.py`); the rules here make new arrays, and say what
the passes ask: the kind of the result, and that it is the first argument's memory.
"""

import numpy as np

from s2s.rules.registry import jvp, linear, vjp
from s2s.runtime.numeric import scatter, shape_of, unbroadcast
from s2s.runtime.stores import add_at, add_item, last_writes, private, seen_item, set_item, sub_at, sub_item


def same(x, *others):
    """The kind of the first argument."""
    return x


@vjp(set_item, seen_item, wrt="x", view="x", mutates="x", kind=same)
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


@linear(private, wrt="x", kind=same)
def private_vjp(g, ans, x):
    return g


STORES = frozenset({set_item, add_item, sub_item, add_at, sub_at, seen_item})
