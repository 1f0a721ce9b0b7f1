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


# --- items of lists that get longer and shorter ---


@changes
def item_read_before_others_are_added(x):
    pairs = [(x[0], x[1]), (x[2], x[3])]
    first, last = pairs[-2], pairs[-1]
    pairs.append((x[2], x[2] * x[0]))
    pairs.insert(0, (x[1], x[3]))
    return first[0] * first[1] ** 2 + last[0] * last[1] * pairs[-1][1] * pairs[0][0]


@changes
def items_taken_and_put_back(x):
    pairs = [(x[0], x[1])]
    for i in range(3):
        a, b = pairs.pop()
        pairs.append((a * b, b + x[i]))
    return pairs[0][0] * pairs[-1][1]


@changes
def each_item_of_those_before(x):
    pairs = [(x[0], x[1])]
    for i in range(3):
        t = pairs[-1]
        pairs.append((t[0] * x[i], t[1] * t[0]))
        pairs.append((t[0], pairs[-1][0]))
    return pairs[-1][0] * pairs[3][1] * pairs.pop()[1]


@changes
def stack_of_pairs(x):
    todo, s = [(x[0], 0)], 0.0
    while todo:
        v, depth = todo.pop()
        s = s + v * v
        if depth < 2:
            todo.append((v * x[1], depth + 1))
            todo.append((v * x[2], depth + 1))
    return s


@changes
def pairs_of_pairs(x):
    nested = [((x[0], x[1]), x[2])]
    t = nested[-1]
    u = t[0]
    nested.append(((x[3], x[0]), x[1]))
    return u[0] * u[1] ** 2 * nested[-1][0][0] + t[1] * nested.pop()[1]


@changes
def items_exchanged(x):
    pairs = [(v, v * x[1]) for v in x]
    t = pairs[0]
    pairs[0] = pairs[1]
    pairs[1] = t
    if len(x) > 4:
        pairs[1] = (t[1], t[0] * x[4])
    return t[0] * pairs[0][1] ** 2 * pairs[1][0]


@changes
def tuples_unpacked(x):
    (a, *_), b, *_ = [(v, v * x[0]) for v in x]
    pairs = [(v * v, v) for v in x[:2]]
    c, d = pairs
    return a * b[1] * c[0] * d[1]


@changes
def tuples_in_a_dict(x):
    found = {"a": (x[0], x[1])}
    t = found["a"]
    found["a"] = (x[2], x[3] * t[0])
    found["b"] = (x[0], x[0])
    return t[0] * t[1] ** 2 * found["a"][1] * found["b"][0]


@changes
def arrays_in_pairs(x):
    pairs = [(x * 1.0, x * x)]
    for _ in range(2):
        t = pairs[-1]
        pairs.append((t[0] * x, t[1] * t[0]))
    return np.sum(pairs[-1][0] * pairs[0][1] * pairs.pop()[1])


# --- lists in lists that are written into ---


@changes
def inner_list_grown(x):
    lists = [[v * x[1]] for v in x]
    inner = lists[0]
    inner.append(x[1])
    return inner[1] * inner[0] ** 2 * lists[0][1]


@changes
def inner_list_written_in_a_loop(x):
    lists = [[v, v * x[0]] for v in x]
    inner, s = lists[1], 0.0
    for _ in range(2):
        inner[0] = inner[0] * x[2] + inner[1]
        s = s + inner[0] * lists[1][0]
    return s * inner[0] + inner[1]


@changes
def inner_list_written_on_some_rounds(x):
    lists = [[v, v * x[0]] for v in x]
    inner = lists[1]
    s = inner[1]
    for i in range(3):
        if i != 1:
            inner[0] = inner[0] * x[2] + inner[1]
        s = s + inner[0] * lists[1][0]
    return s * inner[0] + inner[1] * lists[1][0]


@changes
def inner_list_grown_in_a_loop(x):
    lists = [[v, v * x[0]] for v in x]
    inner = lists[0]
    t = inner[1]
    for i in range(2):
        inner.append(inner[-1] * x[i])
        t = t * inner[-1] + lists[0][i]
    inner.append(t)
    inner.append(t * inner[-1])
    inner.pop(0)
    return inner[-1] * lists[0][-2] * len(inner)


@changes
def table_of_lists(x):
    table = [[0.0] * 3 for _ in range(3)]
    for i in range(3):
        table[i][0] = x[i]
        table[0][i] = x[i] * x[0]
    for i in range(1, 3):
        for j in range(1, 3):
            table[i][j] = table[i - 1][j] * x[0] + table[i][j - 1] * table[i - 1][j - 1]
    return table[-1][-1]


@changes
def lists_in_a_dict(x):
    found = {"a": [x[0]], "b": [x[1]]}
    for k in range(3):
        found["a"].append(found["b"][-1] * x[k])
        found["b"][0] = found["a"][-1] * found["b"][0]
        if k == 1:
            found["a"].pop()
    return found["a"][-1] * found["b"][0] * found["a"][1]


# --- integers where floats stand later, or in other rounds ---


@changes
def counts_beside_values(x):
    lists = [[0, x[0]], [0, x[1]]]
    for i in range(3):
        row = lists[i % 2]
        row[0] += 1
        row[1] = row[1] * x[i]
        row.append(row[1] * row[0])
    return lists[0][-1] * lists[1][1] * lists[0][0]


@changes
def integer_replaced(x):
    values = [0, 1]
    for v in x:
        values.append(v)
    values[0] = values[-1] * values[1]
    return values[0] * values[1] * values[2]


@changes
def recurrence_that_starts_with_integers(x):
    values = [2, 3]
    for i in range(2):
        values[i] = values[i - 1] * x[i]
    return values[1] * values[0]


@changes
def pairs_of_integers_first(x):
    pairs = [(2, 3)]
    for v in x:
        pairs.append((v, v * v) if len(pairs) % 2 else (v, 1))
    a, b = pairs[0]
    c, d = pairs.pop()
    return a * b * x[0] + c * d + pairs[1][0] * pairs[0][1]


@changes
def integers_in_turn(x):
    pairs, s = [], 1.0
    for v in x:
        pairs.append((1, v) if len(pairs) % 2 else (v, 1))
    while pairs:
        a, b = pairs.pop()
        s = s * a * b + a
    return s


# --- a number without a derivative takes the place of one with it, in a list within another one ---


@changes
def count_for_a_number_in_a_row(x):
    rows = [[x[0]], [x[1], x[0]]]
    row = rows[0]
    row[0] = len(x)
    return rows[0][0] * x[0] + rows[1][0] * rows[1][1]


@changes
def count_for_a_number_of_a_table(x):
    table = [[x[0], x[1]], [x[2], x[0] * x[1]]]
    table[1][0] = 3
    table[1][1] = 2
    return table[1][0] * x[0] + table[1][1] * table[0][0] * table[0][1]


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
