"""Python's builtin functions (`abs`, `pow` and `divmod` are among the operators)."""

import builtins

import numpy as np

from s2s.kinds import COMPLEX, FLOAT, Int
from s2s.rules.registry import elementwise, jvp, linear, vjp, zero_derivative
from s2s.runtime.numeric import fitted, scatter, shape_of, unbroadcast
from s2s.runtime.ordering import position
from s2s.runtime.patterns import is_mapping, is_sequence
from s2s.runtime.pytree import stop_gradient

# --- conversions ------------------------------------------------------------------------------------------------


@vjp(builtins.float, np.ndarray.__float__, wrt="x", kind=lambda x: FLOAT)
def float_vjp(g, ans, x=0.0):
    if isinstance(x, float):
        return g
    return unbroadcast(g, shape_of(x))


@jvp(builtins.float, np.ndarray.__float__, wrt="x")
def float_jvp(x_dot, ans, x=0.0):
    return float(x_dot)


@elementwise(builtins.complex, wrt=("real", "imag"), kind=lambda real, imag: COMPLEX)
def complex_number(ans, real=0.0, imag=0.0):
    return 1, 1j


@elementwise(np.float64, np.float32, np.complex128, np.complex64, wrt="x")
def number(ans, x=0.0):
    return 1


zero_derivative(np.int64, np.int32, np.bool_)
zero_derivative(builtins.int, builtins.bool, builtins.round, builtins.len, builtins.range)
zero_derivative(builtins.any, builtins.all, builtins.isinstance, builtins.type, builtins.str, builtins.repr)
zero_derivative(builtins.hasattr, builtins.callable, is_mapping, is_sequence)
zero_derivative(list.index, list.count, tuple.index, tuple.count, position, kind=lambda *args: Int())

# --- lists ------------------------------------------------------------------------------------------------------


@linear(builtins.list, builtins.tuple, wrt="iterable", containers="iterable")
def listed(g, ans, iterable=()):
    if isinstance(iterable, (list, tuple)):
        return list(g)
    return np.reshape(np.array(g), iterable.shape)


# --- sum --------------------------------------------------------------------------------------------------------
# Broadcasting in a sum over a list leaves each item to sum over what its own shape lacks.


@vjp(builtins.sum, wrt="iterable", containers="iterable")
def sum_vjp(g, ans, iterable, start=0):
    if isinstance(iterable, (list, tuple)):
        return [fitted(unbroadcast(g, shape_of(item)), item) for item in iterable]
    return np.broadcast_to(g, iterable.shape)


@vjp(builtins.sum, wrt="start")
def sum_vjp_start(g, ans, iterable, start=0):
    return unbroadcast(g, shape_of(start))


@jvp(builtins.sum, wrt="iterable")
def sum_jvp(iterable_dot, ans, iterable, start=0):
    return np.broadcast_to(sum(iterable_dot), shape_of(ans))[()]


@jvp(builtins.sum, wrt="start")
def sum_jvp_start(start_dot, ans, iterable, start=0):
    return np.broadcast_to(start_dot, shape_of(ans))[()]


# --- min and max ------------------------------------------------------------------------------------------------
# One of the values is taken as it is, the first of those that tie. They are the items of one sequence, or up to four
# arguments.


def iterable_cotangent(choose, g, iterable, key):
    """The cotangent of a sequence of which one item is taken."""
    position = taken(choose, iterable, key) if len(iterable) else None
    if position is None:
        return [] if isinstance(iterable, (list, tuple)) else np.zeros(iterable.shape)
    if not isinstance(iterable, (list, tuple)):
        return scatter(g, position, iterable.shape)
    return [fitted(g, item) if i == position else np.zeros(shape_of(item)) for i, item in enumerate(iterable)]


def iterable_tangent(choose, iterable_dot, ans, iterable, key):
    """The tangent of the item of a sequence that is taken; of an empty one it is the default that counts."""
    return iterable_dot[taken(choose, iterable, key)] if len(iterable) else np.zeros(shape_of(ans))[()]


def taken(choose, values, key):
    """The position of the value that `min` or `max` takes."""
    ranks = [v if key is None else key(v) for v in values if v is not None]
    return choose(range(len(ranks)), key=lambda i: ranks[i])


@vjp(builtins.max, wrt="a", containers="a")
def max_vjp_a(g, ans, a, b=None, c=None, d=None, *, key=None, default=None):
    if b is None:
        return iterable_cotangent(max, g, a, key)
    if c is None:
        if key is None:
            return g * (not b > a)
    return g * (taken(max, (a, b, c, d), key) == 0)


@jvp(builtins.max, wrt="a")
def max_jvp_a(a_dot, ans, a, b=None, c=None, d=None, *, key=None, default=None):
    if b is None:
        return iterable_tangent(max, a_dot, ans, a, key)
    return a_dot * (taken(max, (a, b, c, d), key) == 0)


@elementwise(builtins.max, wrt="b")
def max_by_b(ans, a, b=None, c=None, d=None, *, key=None, default=None):
    if c is None:
        if key is None:
            return b > a
    return taken(max, (a, b, c, d), key) == 1


@elementwise(builtins.max, wrt="c")
def max_by_c(ans, a, b=None, c=None, d=None, *, key=None, default=None):
    return taken(max, (a, b, c, d), key) == 2


@elementwise(builtins.max, wrt="d")
def max_by_d(ans, a, b=None, c=None, d=None, *, key=None, default=None):
    return taken(max, (a, b, c, d), key) == 3


@elementwise(builtins.max, builtins.min, wrt="default")
def chosen_by_default(ans, a, b=None, c=None, d=None, *, key=None, default=None):
    return len(a) == 0


@vjp(builtins.min, wrt="a", containers="a")
def min_vjp_a(g, ans, a, b=None, c=None, d=None, *, key=None, default=None):
    if b is None:
        return iterable_cotangent(min, g, a, key)
    if c is None:
        if key is None:
            return g * (not b < a)
    return g * (taken(min, (a, b, c, d), key) == 0)


@jvp(builtins.min, wrt="a")
def min_jvp_a(a_dot, ans, a, b=None, c=None, d=None, *, key=None, default=None):
    if b is None:
        return iterable_tangent(min, a_dot, ans, a, key)
    return a_dot * (taken(min, (a, b, c, d), key) == 0)


@elementwise(builtins.min, wrt="b")
def min_by_b(ans, a, b=None, c=None, d=None, *, key=None, default=None):
    if c is None:
        if key is None:
            return b < a
    return taken(min, (a, b, c, d), key) == 1


@elementwise(builtins.min, wrt="c")
def min_by_c(ans, a, b=None, c=None, d=None, *, key=None, default=None):
    return taken(min, (a, b, c, d), key) == 2


@elementwise(builtins.min, wrt="d")
def min_by_d(ans, a, b=None, c=None, d=None, *, key=None, default=None):
    return taken(min, (a, b, c, d), key) == 3


# --- what derivatives do not pass -------------------------------------------------------------------------------

zero_derivative(stop_gradient, kind=lambda x: x)
