"""Arrays without dimensions, which operations turn into numbers: what a program updates in place may be either."""

import numpy as np
import pytest

import s2s
from tests.programs.verify import verify

FOUND = []


def found(*args):
    def register(f):
        FOUND.append(pytest.param(f, args, id=f.__name__))
        return f

    return register


# --- numbers whose tangents are arrays ---


@found(0.7)
def interpolated_value(x):
    u = np.interp(x, [0.0, 1.0], [0.0, 2.0])
    s = u + 1.0
    s += u * x
    return s * u


@found(np.array([0.7, 0.3]))
def ellipsis_of_one_element(x):
    u = x[..., 0]
    s = u - 1.0
    s += u
    return s * u


@found(0.7)
def array_of_zeros_that_is_added_to(x):
    u = np.zeros(())
    u += x
    s = u - 1.0
    s += u
    return s * u


@found(np.array(1.5))
def argument_added_to_itself(x):
    z = x * 1.0
    z += x
    return z + x


@found(0.7)
def product_with_an_integer(x):
    y = np.array(x)
    z = y * 1
    z += y
    return z * y


@found(0.7)
def transposed_number(x):
    y = np.transpose(x)
    z = y + 0.5
    z -= y * x
    return z * y * x


@found(0.7)
def number_of_a_block(x):
    y = np.block(x)
    z = -y
    z += y * y
    return z * y


@found(np.array(0.7))
def number_made_a_python_one(x):
    y = float(x)
    z = y + 2.0
    z += y * y
    return z * y


@found(np.array(0.7))
def number_in_a_loop(x):
    s = 0.0
    for _ in range(3):
        t = x + s
        t += x
        s += t * x
    return s * x


@found(np.array(0.7))
def items_of_a_list(x):
    held = [x, x * 2.0]
    s = held[0] * 1.0
    s += held[1]
    s += held[0]
    return s * held[0]


# --- views of arrays that have no dimensions ---


@found(0.7)
def one_dimension_more(x):
    y = np.array(x)
    v = np.atleast_1d(y)
    v *= 3.0
    return y * y


@found(np.array(0.7))
def reshaped_and_added_to(x):
    z = x.reshape(1)
    z += x
    return z[0] * x


@found(np.array(0.7))
def reshaped_to_two_dimensions(x):
    z = x.reshape(1, 1)
    z += x
    return z[0, 0] * x


@found(np.array(0.7))
def expanded_and_multiplied(x):
    z = np.expand_dims(x, 0)
    z *= x
    return z[0] * x


@found(np.array(0.7))
def flattened_view(x):
    z = x.ravel()
    z[0] = z[0] * x
    z += x
    return z[0] * x


@found(np.array(0.7))
def view_of_the_same_shape(x):
    z = x.view()
    z += x
    z *= x
    return z * x


# --- numbers that NumPy's functions leave numbers ---


@found(np.array(0.7))
def transpose_of_a_product(x):
    y = np.transpose(x * x)
    z = y
    z **= 2
    z += y
    return z * y


@found(0.7)
def reshaped_sum(x):
    y = np.reshape(np.sum(np.array([x, x])), ())
    z = y
    z *= x
    return z * y


@found(0.7)
def flipped_number(x):
    y = np.flip(np.array(x))
    z = y
    z *= x
    return z * y


@found(0.7)
def chosen_array(x):
    y = np.choose(0, [np.array(x), np.array(x)])
    z = y
    z *= x
    return z * y


# --- lists that hold them ---


@found(np.array(0.7))
def item_updated_before_a_number_takes_its_place(x):
    held = [x, 0.5]
    held[0] += x
    held[0] = 0.5
    return x * x


@found(np.array(0.7))
def item_of_a_dict_that_is_an_array_later(x):
    held = {"p": x * 1.0}
    y = held["p"]
    held["p"] += x
    held["p"] = x
    held["p"] *= 3.0
    return x * x * y


@found(np.array(0.7))
def sum_of_a_list(x):
    held = [x, 0.5]
    x += x
    x += sum(held)
    return x * x


@found(np.array(0.7))
def list_added_to_a_number(x):
    held = [x, x * 0.5]
    x += x
    return np.sum(x * 1.0 + np.asarray(held))


# --- cotangents that may not be written into ---


@found(0.7)
def appended_to_itself(x):
    return np.append(x, x).sum()


@found(np.array(0.7))
def array_appended_to_itself(x):
    return (np.append(x, x) * x).sum()


@pytest.mark.parametrize(("f", "args"), FOUND)
def test_dimensionless(f, args):
    outcome = verify(f, args, second=True)
    assert outcome.finite and not outcome.kink


def test_tangent_of_the_caller_stays():
    tangent = np.array(1.0)
    s2s.jvp(argument_added_to_itself, (np.array(1.5),), (tangent,))
    assert tangent == 1.0


def test_seed_of_a_pullback_stays():
    seeds = np.array(3.0), np.array(3.0)
    _, pullback = s2s.vjp(lambda x: (np.transpose(x), np.transpose(x)), 0.7)
    assert pullback(seeds) == (6.0,) == pullback(seeds)
    assert seeds == (3.0, 3.0)


def test_numbers_are_updated_in_place():
    def f(x, w):
        s = 0.0
        for i in range(len(w)):
            s += w[i] * x
        return s

    assert "x_bar += " in s2s.grad(f).source(0.5, np.ones(3))
    assert "s_dot += " in s2s.jacfwd(f).source(0.5, np.ones(3))
