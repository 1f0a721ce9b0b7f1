"""Python's builtin functions (`abs`, `pow` and `divmod` are among the operators)."""

import builtins

import numpy as np

from s2s.kinds import COMPLEX, FLOAT
from s2s.rules.registry import elementwise, jvp, vjp, zero_derivative
from s2s.runtime.numeric import scatter, shape_of, unbroadcast

# --- conversions ------------------------------------------------------------------------------------------------


@vjp(builtins.float, wrt="x", kind=lambda x: FLOAT)
def float_vjp(g, ans, x=0.0):
    if isinstance(x, float):
        return g
    return unbroadcast(g, shape_of(x))


@jvp(builtins.float, wrt="x")
def float_jvp(x_dot, ans, x=0.0):
    return float(x_dot)


@elementwise(builtins.complex, wrt=("real", "imag"), kind=lambda real, imag: COMPLEX)
def complex_number(ans, real=0.0, imag=0.0):
    return 1, 1j


zero_derivative(builtins.int, builtins.bool, builtins.round, builtins.len, builtins.range)
zero_derivative(builtins.any, builtins.all, builtins.isinstance, builtins.type, builtins.str, builtins.repr)

# --- sum --------------------------------------------------------------------------------------------------------
# Broadcasting in a sum over a list leaves each item to sum over what its own shape lacks.


@vjp(builtins.sum, wrt="iterable", containers="iterable")
def sum_vjp(g, ans, iterable, start=0):
    if isinstance(iterable, (list, tuple)):
        return [unbroadcast(g, shape_of(item)) for item in iterable]
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
# One of the values is taken as it is, the first of those that tie.


@vjp(builtins.max, wrt="args", containers="args")
def max_vjp(g, ans, *args, key=None, default=None):
    return taken_cotangent(g, args, taken(max, args, key))


@jvp(builtins.max, wrt="args")
def max_jvp(args_dot, ans, *args, key=None, default=None):
    return choices_of(args_dot)[taken(max, args, key)]


@vjp(builtins.min, wrt="args", containers="args")
def min_vjp(g, ans, *args, key=None, default=None):
    return taken_cotangent(g, args, taken(min, args, key))


@jvp(builtins.min, wrt="args")
def min_jvp(args_dot, ans, *args, key=None, default=None):
    return choices_of(args_dot)[taken(min, args, key)]


def choices_of(args):
    """The values that `min` and `max` choose from."""
    return args[0] if len(args) == 1 else args


def taken(choose, args, key):
    """The position of the value that `min` or `max` takes."""
    choices = choices_of(args)
    ranks = choices if key is None else [key(c) for c in choices]
    return choose(range(len(ranks)), key=lambda i: ranks[i])


def taken_cotangent(g, args, position):
    """The cotangent of all choices: that of the one taken."""
    choices = choices_of(args)
    if not isinstance(choices, (list, tuple)):
        return (scatter(g, position, choices.shape),)
    cotangents = [g if i == position else np.zeros_like(c, dtype=np.result_type(g)) for i, c in enumerate(choices)]
    return (cotangents,) if len(args) == 1 else tuple(cotangents)
