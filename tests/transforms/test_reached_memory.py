"""Memory that is written into through what the compiler knows nothing of: kept methods, items got from dicts."""

import functools
import operator
import warnings

import numpy as np
import pytest

import s2s
from tests.programs.verify import verify


def kept_append(x):
    items, s = [], 0.0
    add = items.append
    for i in range(3):
        s += x[i] * len(items)
        add(i)
    return s


def kept_append_read_last(x):
    items = [1.0]
    add = items.append
    add(3.0)
    return items[-1] * x[0]


def kept_setitem(x):
    items = [1.0]
    put = items.__setitem__
    put(0, 3.0)
    return items[0] * x[0]


def kept_fill(x):
    w = np.ones(3)
    fill = w.fill
    s = np.sum(w * x)
    fill(3.0)
    return np.sum(w * x) * s


def kept_sort_of_a_view(x):
    w = np.array([3.0, 1.0, 2.0])
    sort = w[::-1].sort
    s = np.sum(w * x)
    sort()
    return np.sum(w * x) * s


def method_by_text(x):
    w = np.array([3.0, 1.0, 2.0])
    s = np.sum(w * x)
    getattr(w, "fill")(4.0)  # noqa: B009
    return np.sum(w * x) * s


def partial_method(x):
    items, s = [1.0], 0.0
    add = functools.partial(items.append, 3)
    for i in range(3):
        s += x[i] * len(items)
        add()
    return s * items[-1]


def called(f, *args):
    return f(*args)


def passed_method(x):
    items, s = [1.0], 0.0
    for i in range(3):
        s += x[i] * len(items)
        called(items.append, i)
    return s * items[-1]


def methods_in_a_list(x):
    w = np.array([3.0, 1.0, 2.0])
    acts = [w.fill, w.sort]
    s = np.sum(w * x)
    acts[0](7.0)
    return np.sum(w * x) * s


def methods_in_a_dict(x):
    items = [1.0]
    acts = {"add": items.append}
    s = x[0] * len(items)
    acts["add"](3.0)
    return s * items[-1] * x[1] * len(items)


def chosen_method(x):
    items = [1.0]
    s = x[0] * len(items)
    for v in [2.0, 3.0]:
        (items.append if v > 1 else items.remove)(v)
    return s * items[-1] * x[1] * len(items)


def got_from_a_dict(x):
    groups = {0: []}
    group, s = groups.get(0), 0.0
    for i in range(3):
        s += x[i] * len(groups[0])
        group.append(1)
    return s


def got_in_place(x):
    groups, s = {"a": [1]}, 0.0
    for i in range(3):
        s += x[i] * len(groups["a"])
        groups.get("a").append(1)
    return s


def listed_values(x):
    groups, s = {"a": [1.0]}, 0.0
    values = list(groups.values())
    for i in range(3):
        s += x[i] * len(groups["a"]) * groups["a"][-1]
        values[0].append(i)
    return s


def got_array(x):
    held = {"a": np.ones(3)}
    array = held.get("a")
    s = np.sum(x * held["a"])
    array[0] = 5.0
    return s * np.sum(x * held["a"])


def functions_for_methods(x):
    items = [1.0, 2.0]
    s = x[0] * len(items)
    operator.setitem(items, 0, 5.0)
    list.append(items, 3.0)
    items = operator.iadd(items, [4.0])
    return s * sum(items)


def mapped_method(x):
    items = [1.0]
    s = x[0] * len(items)
    list(map(items.append, [1.0, 2.0]))
    return s * items[-1] * x[1] * len(items)


def drawn_into(x):
    a, b = np.zeros(3), np.zeros(3)
    rng = np.random.default_rng(0)
    rng.random(out=a)
    rng.standard_normal(out=b)
    return np.sum(x * a) * np.sum(x * b)


def filled_where(x):
    a, b, c = np.array([-1.0, 2.0, 0.5]), np.ones(3), np.zeros(3)
    np.negative(a, out=a, where=a > 0)
    np.add(b, 1.0, out=b, where=np.array([True, False, True]))
    np.divide(1.0, np.array([1.0, 0.0, 2.0]), out=c, where=[True, False, True])
    np.copyto(dst=b, src=a * 2.0)
    return np.sum(x * a) * np.sum(x * b) + np.sum(x * c)


def shuffled_lists(x):
    items, places = [3, 1, 2], [0, 1, 2]
    s = x[0] * items[0]
    np.random.default_rng(0).shuffle(items)
    np.random.RandomState(3).shuffle(places)
    return s + x[1] * items[0] * items[1] * x[places[0]] + 2.0 * x[places[1]]


class Holder:
    def __init__(self):
        self.seen = {0}

    def add(self, item):
        self.seen.add(item)


def put(seen, item):
    seen.add(item)


def sets_in_objects_and_helpers(x):
    holder, seen, s = Holder(), {0}, 0.0
    for i in range(3):
        s += x[i] * len(holder.seen) * len(seen)
        holder.add(i)
        put(seen, i)
    return s


PROGRAMS = [
    kept_append, kept_append_read_last, kept_setitem, kept_fill, kept_sort_of_a_view, method_by_text, partial_method,
    passed_method, methods_in_a_list, methods_in_a_dict, chosen_method, got_from_a_dict, got_in_place, listed_values,
    got_array, functions_for_methods, mapped_method, drawn_into, filled_where, shuffled_lists,
    sets_in_objects_and_helpers,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_writes_by_other_ways_are_seen(f):
    rng = np.random.default_rng(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", s2s.FallbackWarning)
        outcome = verify(f, (rng.uniform(0.3, 1.5, 3),))
    assert outcome.finite and not outcome.raised, outcome


def test_methods_of_what_is_not_known_alone_stay_compiled():
    """A set, a logger, or the like may do as it likes with itself."""

    def f(x):
        seen = set()
        add = seen.add
        s = 0.0
        for i in range(3):
            add(i)
            s += x[i] * len(seen)
        return s

    outcome = verify(f, (np.random.default_rng(0).uniform(0.3, 1.5, 3),))
    assert outcome.compiled, outcome.reason
