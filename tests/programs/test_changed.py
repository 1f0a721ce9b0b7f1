"""Programs that ask a list or an array something, and then change it. Each function stands for a kind of fault.

What was asked must stay what it was when the reverse sweep comes by. Functions take an array and are analytic, so that
a complex step tells the derivative.
"""

import warnings

import numpy as np
import pytest

import s2s
from tests.programs.test_inplace import complex_step, drawn
from tests.programs.verify import verify

VECTORS = [(4,), (7,)]
CHANGING = []


def changes(f):
    CHANGING.extend(pytest.param(f, shape, id=f"{f.__name__}-{shape[0]}") for shape in VECTORS)
    return f


# --- the truth of what is changed ---


@changes
def list_emptied_where_it_holds_something(x):
    todo, s = [1], x[0]
    if todo:
        todo.pop()
        s = s * x[1]
    if not todo:
        todo.append(2)
        s = s * s
    return s * x[2]


@changes
def item_taken_if_there_is_one(x):
    values, s = [x[0]], x[1]
    for i in range(3):
        y = values.pop() if values else x[i] * s
        s = s * y + x[1]
        if i == 1:
            values.append(s)
    return s


@changes
def list_cleared(x):
    values = [x[0], x[1]]
    if values:
        values.clear()
        s = x[2] * x[0]
    else:
        s = x[2] ** 3
    return s


@changes
def one_condition_of_two(x):
    values, s = [x[0] * x[1]], x[2]
    for i in range(4):
        if i != 2 and values:
            s = s * values.pop()
        elif values or i == 3:
            values.append(s * x[0])
        else:
            values.extend([x[1], s])
    return s * len(values)


@changes
def array_without_dimensions_set_to_zero(x):
    c, s = np.array(1.0), x[0]
    for i in range(3):
        if c:
            c[...] = 0.0
            s = s * x[i]
        else:
            c[...] = 2.0
            s = s**2
    return s


@changes
def part_of_one_element_overwritten(x):
    c, s = np.ones(2), x[0] * x[1]
    part = c[:1]
    if part:
        c[0] = 0.0
        s = s * x[2]
    if c[1:]:
        s = s * s
        c[:] = 0.0
    return s


@changes
def dict_filled_where_it_is_empty(x):
    found, s = {}, x[0]
    if not found:
        found["a"] = s * x[1]
    if found:
        s = s * found["a"]
        found["a"] = x[2]
    return s * found["a"]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(("f", "shape"), CHANGING)
def test_changed(f, shape, seed):
    x = drawn(shape, seed)
    outcome = verify(f, (x,), each_stage=seed == 1, second=seed == 0)
    assert outcome.finite and not outcome.kink
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", s2s.FallbackWarning)
        value, gradient = s2s.value_and_grad(f)(x)
    assert value == f(x.copy())
    np.testing.assert_allclose(gradient, complex_step(f, x), rtol=1e-11, atol=1e-12)
