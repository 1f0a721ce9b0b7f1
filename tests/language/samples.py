"""A sample of every construct of Python that a numeric function may hold, in the order of the table.

Parameters by name: `x` and `w` are arrays of three floats, `s` and `t` floats, `n` is the int 3, `p` a dict of an array
and a number, `m` a model object. Each function is differentiated by its first parameter. Docstrings name the rows.
"""

import bisect
import collections
import contextlib
import copy
import dataclasses
import functools
import itertools
import math
import operator
import types
from collections import namedtuple
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

import s2s

SECTIONS = {}


def section(title):
    """What follows belongs to this part of the table."""

    def note(function):
        SECTIONS.setdefault(title, []).append(function)
        return function

    return note


# --- functions ------------------------------------------------------------------------------------------------------

function = section("Functions")

SCALE = 1.5
RATES = [0.5, 0.25]
Point = namedtuple("Point", "a b")


class Pair(NamedTuple):
    a: object
    b: object = 2.0


@dataclass
class Record:
    a: object
    b: object = 2.0


@dataclass(frozen=True)
class Frozen:
    a: object
    b: object = 2.0

    def total(self):
        return np.sum(self.a * self.b)


def helper(x, scale=2.0, *, shift=0.5):
    return x * scale + shift


def many(*parts, **named):
    return sum(parts) * named.get("scale", 1.0)


def fact(x, n):
    return 1.0 if n == 0 else x * fact(x, n - 1)


def even(x, n):
    return x if n == 0 else odd(x * 2.0, n - 1)


def odd(x, n):
    return np.sin(x) if n == 0 else even(x + 1.0, n - 1)


def fill(buffer, values):
    buffer[:] = values * 2.0


def window(buffer, i):
    return buffer[i : i + 2]


def doubled(f):
    @functools.wraps(f)
    def wrapper(*args):
        return 2.0 * f(*args)

    return wrapper


@doubled
def decorated(x):
    return np.sum(x * x)


@functools.lru_cache
def cached(n):
    return n * 0.5


@function
def call_of_a_helper(x):
    """call of a function of the module"""
    return np.sum(helper(x) * x)


@function
def keyword_and_default(x, s):
    """keyword arguments, defaults, keyword-only parameters"""
    return np.sum(helper(x, shift=s) * helper(shift=1.0, x=x, scale=s))


@function
def positional_only(x, s, /, n=3):
    """positional-only parameters"""
    return np.sum(x * s) * n


@function
def variadic(x, s):
    """`*args`, `**kwargs` of a helper, and in a call"""
    parts = (x, x * x)
    return np.sum(many(*parts, s, scale=3.0))


@function
def recursion(s, n):
    """a function that calls itself"""
    return fact(s, n)


@function
def mutual_recursion(s, n):
    """functions that call each other"""
    return even(s, n)


@function
def nested_def(x, s):
    """nested `def`, called"""

    def inner(v):
        return np.sin(v) * s

    return np.sum(inner(x) + inner(x * x))


@function
def nested_lambda(x, s):
    """`lambda`, called"""
    f = lambda v: v * s
    return np.sum(f(f(x)))


@function
def passed_function(x, s):
    """functions passed to the user's functions"""

    def apply(f, v):
        return f(v) * s

    return np.sum(apply(np.sin, x) + apply(lambda v: v * v, x))


@function
def returned_function(x, s):
    """a nested function that is returned to its caller"""

    def scaled(k):
        def inner(v):
            return k * v

        return inner

    return np.sum(scaled(s)(x) * scaled(2.0)(x))


@function
def functions_in_a_list(x):
    """functions in a list or tuple"""
    total = 0.0
    for f in (np.sin, np.cos, lambda v: v * v):
        total = total + np.sum(f(x))
    return total


@function
def functions_in_a_dict(x, n):
    """functions in a dict"""
    table = {"square": lambda v: v * v, "sine": np.sin}
    return np.sum(table["square" if n > 2 else "sine"](x))


@function
def closure_over_active(x):
    """closures over active variables, read when called"""
    k = x[0]

    def inner(v):
        return v * k

    first = inner(x)
    k = x[1]
    return np.sum(first * inner(x))


@function
def nonlocal_number(x):
    """`nonlocal`"""
    total = 0.0

    def add(v):
        nonlocal total
        total = total + v

    add(x[0])
    add(x[1] * x[2])
    return total * total


@function
def evaluated_default(x):
    """a default of a nested function, evaluated once"""
    k = x[0]

    def inner(v, scale=k):
        return v * scale

    k = x[1]
    return np.sum(inner(x)) + k


@function
def nested_recursion(s, n):
    """a nested function that calls itself"""

    def power(v, k):
        return 1.0 if k == 0 else v * power(v, k - 1)

    return power(s, n)


def _energy(y, k):
    return np.sum(k * np.sin(y) * y**2)


@function
def derivative_of_function(x, s):
    """`grad(f)(x)`, `value_and_grad(f)(x)` of a function of the module"""
    value, slope = s2s.value_and_grad(_energy)(x, s)
    return np.sum(slope**2) + value


@function
def derivative_of_closure(x, s):
    """`grad` of a nested function or lambda"""

    def inner(y):
        return np.sum(y**3 * x) * s

    return np.sum(s2s.grad(inner)(x * 2) * s2s.grad(lambda y: np.sum(y * y * s))(x))


@function
def with_map(x, s):
    """`map`, `filter`"""
    return sum(map(lambda v: v * s, filter(lambda v: v > 0.5, x)))


@function
def with_reduce(x):
    """`functools.reduce`"""
    return functools.reduce(lambda a, b: a * b + a, x)


@function
def with_operator_reduce(x):
    """`functools.reduce` of a function of `operator`, with a start"""
    return functools.reduce(operator.mul, x, 2.0)


@function
def with_partial(x, s):
    """`functools.partial`"""
    f = functools.partial(helper, scale=s)
    return np.sum(f(x) * f(x, shift=1.0))


@function
def sorted_values(x):
    """`sorted` of active values"""
    a, b, c = sorted(x)
    return a * 1.0 + b * 2.0 + c * c


@function
def sorted_by_key(x):
    """`sorted(key=)`"""
    pairs = sorted([(x[0], 1.0), (x[1], 2.0), (x[2], 3.0)], key=lambda pair: -pair[0])
    return sum(a * a * b for a, b in pairs)


@function
def max_by_key(x):
    """`max(key=)`, `min(key=)`"""
    return max(x, key=lambda v: -(v * v)) * min(x, key=abs)


@function
def sum_of_generator(x):
    """`sum`, `max`, `any`, ... of a generator"""
    return sum(v * v for v in x if v > 0.2) + max(np.sin(v) for v in x)


@function
def with_accumulate(x):
    """`itertools.accumulate`"""
    return sum(v * v for v in itertools.accumulate(x))


@function
def with_product(x):
    """`itertools.product`, `combinations`"""
    total = 0.0
    for a, b in itertools.product(x, x):
        total += a * np.sin(b)
    for a, b in itertools.combinations(x, 2):
        total += a * b
    return total


@function
def with_chain(x, w):
    """`itertools.chain`"""
    return sum(v * v for v in itertools.chain(x, w, [x[0]]))


@function
def with_pairwise(x):
    """`itertools.pairwise`"""
    return sum((b - a) ** 2 for a, b in itertools.pairwise(x))


@function
def with_islice(x):
    """`itertools.islice`, `repeat`, `count`"""
    total = 0.0
    for v, k in zip(itertools.islice(x, 1, None), itertools.count(1)):
        total += v * k
    return total


@function
def zipped_strictly(x, w):
    """`zip(strict=True)`"""
    return sum(a * a * b for a, b in zip(x, w, strict=True))


@function
def zipped_to_the_longest(x, s):
    """`itertools.zip_longest`"""
    return sum(a * a * b for a, b in itertools.zip_longest(x, [s, s], fillvalue=2.0))


@function
def wrapped(x):
    """a function under a decorator that uses `functools.wraps`"""
    return decorated(x) * x[0]


@function
def with_cache(x, n):
    """a helper under `functools.lru_cache`, of static arguments"""
    return np.sum(x * x) * cached(n)


@function
def global_number(x):
    """numbers, lists and arrays of the module, read when called"""
    return np.sum(x * x) * SCALE * RATES[0]


# --- containers -----------------------------------------------------------------------------------------------------

container = section("Containers")


@container
def list_display(x, s):
    """list and tuple displays, items, slices, unpacking"""
    items = [x[0], s * x[1], (x[2], s)]
    a, b, (c, d) = items
    return a * b + c * d + items[-1][0] * items[:2][1]


@container
def starred(x):
    """starred unpacking, `[*a, b]`"""
    first, *rest = [*x, x[0] * x[1]]
    return first * sum(rest)


@container
def dict_display(x, s):
    """dict displays, items, `get`, `in`, `**`"""
    d = {"a": x, "b": s}
    e = {**d, "c": x * x}
    return np.sum(e["a"] * e.get("b") + e["c"]) + (1.0 if "z" in e else x[0])


@container
def dict_views(x, s):
    """`items`, `keys`, `values` of dicts, in loops"""
    d = {"a": x[0], "b": s * x[1]}
    total = 0.0
    for key, value in d.items():
        total += value * value * (2.0 if key == "a" else 3.0)
    for key in d:
        total += d[key]
    return total + sum(d.values())


@container
def static_set(x):
    """sets of static values"""
    wanted = {0, 2}
    total = 0.0
    for i in range(3):
        if i in wanted:
            total += x[i] ** 2
    return total


@container
def with_namedtuple(x, s):
    """`namedtuple`, `NamedTuple`: made, read, unpacked, `_replace`"""
    p = Point(x[0], s * x[1])
    q = Pair(a=p.a)._replace(b=x[2])
    a, b = q
    return p.a * p.b + a * b


@container
def with_dataclass(x, s):
    """dataclasses: made, read"""
    r = Record(x[0] * s)
    return r.a * r.b + Record(b=x[1], a=x[2]).b


@container
def with_frozen_dataclass(x, s):
    """frozen dataclasses, their methods, `dataclasses.replace`"""
    r = Frozen(x, s)
    return r.total() + dataclasses.replace(r, b=3.0).total()


@container
def with_namespace(x, s):
    """`types.SimpleNamespace`"""
    r = types.SimpleNamespace(a=x[0], b=s)
    return r.a * r.a * r.b


@container
def list_comprehension(x, s):
    """list comprehensions, nested, with conditions"""
    table = [[a * b for b in x] for a in x if a > 0.1]
    return sum(sum(row) for row in table) * s


@container
def dict_comprehension(x):
    """dict comprehensions over known keys"""
    d = {key: x[i] ** 2 for i, key in enumerate(("a", "b", "c"))}
    return d["a"] * d["b"] + d["c"]


@container
def dict_of_computed_keys(x, n):
    """dict comprehensions over computed keys"""
    d = {i: x[i] ** 2 for i in range(n)}
    return sum(d[i] * (i + 1) for i in range(n))


@container
def dict_filled_in_a_loop(x, n):
    """dicts that are filled under computed keys"""
    d = {}
    for i in range(n):
        d[i * i] = x[i] * x[i]
    return d[0] + d[4] * d[1]


@container
def set_comprehension(x, n):
    """set comprehensions of static values"""
    wanted = {i % 2 for i in range(n)}
    return x[0] ** 2 * len(wanted)


@container
def list_append(x, n):
    """`append`, `pop`, in loops"""
    stack = []
    for i in range(n):
        stack.append(x[i] * (i + 1))
    last = stack.pop()
    return last * sum(stack)


@container
def list_extend(x):
    """`extend`, `insert`, `clear`, `copy`, `+=` of lists"""
    items = [x[0]]
    items.extend([x[1], x[2]])
    items.insert(1, x[0] * x[1])
    other = items.copy()
    items += [x[2]]
    return sum(v * v for v in items) + other[1]


@container
def list_remove(x, n):
    """`remove`, `index`, `count` of lists of static values"""
    order = [2, 0, 1]
    order.remove(0)
    return x[order[0]] ** 2 + x[order[1]] * order.index(1)


@container
def list_sort(x):
    """`sort`, `reverse` of lists"""
    items = [x[0], x[1], x[2]]
    items.sort()
    items.reverse()
    return items[0] * 2.0 + items[2] * items[1]


@container
def list_item_deleted(x):
    """`del items[i]`, `del items[a:b]`"""
    items = [x[0], x[1], x[2], x[0] * x[1]]
    del items[1]
    del items[:1]
    return items[0] * items[1]


@container
def list_arithmetic(x):
    """`+` and `*` of lists, `len`, `in`"""
    items = [x[0], x[1]] + [x[2]] * 2
    return sum(v * v for v in items) * len(items)


@container
def list_slice_assigned(x):
    """assignment to items and slices of lists"""
    items = [x[0], x[1], x[2]]
    items[0] = items[1] * items[2]
    items[1:] = [x[0], x[0], x[1]]
    return items[0] + items[3] * items[2]


@container
def dict_written(x):
    """`d[k] = v`, `update`"""
    d = {"a": x[0], "b": x[1]}
    d["a"] = d["a"] * d["b"]
    d.update(b=x[2], c=x[0])
    d.update({"c": d["a"] * 2.0})
    return d["a"] * d["b"] + d["c"]


@container
def dict_setdefault(x):
    """`setdefault`, `pop`, `del d[k]`, `popitem`"""
    d = {"a": x[0]}
    b = d.setdefault("b", x[1] * x[1])
    a = d.pop("a")
    d["c"] = x[2]
    del d["b"]
    return a * b + sum(d.values())


@container
def with_defaultdict(x, n):
    """`collections.defaultdict`, `deque`, `OrderedDict`, `Counter`"""
    groups = collections.defaultdict(list)
    for i in range(n):
        groups[i % 2].append(x[i])
    return sum(groups[0]) * sum(groups[1])


@container
def with_deque(x):
    """`collections.deque`"""
    queue = collections.deque([x[0]])
    queue.append(x[1])
    queue.appendleft(x[2])
    return queue.popleft() * queue[0] + queue[1]


@container
def nested_containers(x, s):
    """containers in containers, written into"""
    state = {"layers": [{"w": x, "b": s}, {"w": x * x, "b": 2.0}], "steps": (1, 2)}
    state["layers"][0]["w"] = state["layers"][1]["w"] * s
    out = 0.0
    for layer in state["layers"]:
        out += np.sum(layer["w"]) * layer["b"]
    return out


@container
def lists_given_to_numpy(x):
    """lists of active values given to NumPy"""
    return np.sum(np.array([x, x**2])) + np.mean([x[0], x[1]]) + np.sum(np.stack([x, np.sin(x)], axis=1)[:, 1])


@container
def pytree_argument(p):
    """gradients in the structure of the argument"""
    return np.sum(p["w"] ** 2) * p["b"]


@container
def copied(x):
    """`copy.copy`, `copy.deepcopy`, `list(...)`, `dict(...)`, `tuple(...)`"""
    items = [x[0], x[1]]
    other = list(items)
    other[0] = x[2]
    third = copy.copy(items)
    d = dict(a=x[0], b=tuple(items))
    return items[0] * other[0] + third[1] * d["b"][1]


# --- objects --------------------------------------------------------------------------------------------------------

objects = section("Objects")


class Base:
    gain = 2.0

    def __init__(self, w, b):
        self.w = w
        self.b = b
        self.calls = 0

    def affine(self, x):
        return self.w * x + self.b

    def forward(self, x):
        return self.affine(x)

    def __call__(self, x):
        return self.forward(x)

    def __getitem__(self, i):
        return self.w[i]

    def __len__(self):
        return len(self.w)

    @property
    def norm(self):
        return np.sqrt(np.sum(self.w**2))

    @staticmethod
    def square(x):
        return x * x

    @classmethod
    def scaled(cls, x):
        return cls.gain * x

    def remember(self, n):
        self.calls = n
        return self.calls


class Model(Base):
    gain = 3.0

    def forward(self, x):
        return np.tanh(super().forward(x))


class Vector:
    """Plain objects with arithmetic of their own."""

    def __init__(self, a, b):
        self.a = a
        self.b = b

    def __add__(self, other):
        return Vector(self.a + other.a, self.b + other.b)

    def __mul__(self, k):
        return Vector(self.a * k, self.b * k)

    def dot(self, other):
        return self.a * other.a + self.b * other.b


class State:
    def __init__(self, h):
        self.h = h

    def step(self, x):
        self.h = np.tanh(self.h + x)


@objects
def method(x, m):
    """methods, attributes, class attributes"""
    return np.sum(m.affine(x) * x) * m.gain


@objects
def inherited(x, m):
    """inheritance, `super()`, `__call__`"""
    return np.sum(m(x))


@objects
def property_of_an_object(x, m):
    """properties"""
    return np.sum(x * x) * m.norm


@objects
def static_and_class_methods(x, m):
    """static and class methods"""
    return np.sum(m.square(x) + m.scaled(x) + Model.square(x))


@objects
def subscripted_object(x, m):
    """`__getitem__`, `__len__` of a class"""
    return x[0] * x[0] * m[1] * len(m)


@objects
def attribute_counter(x, m):
    """an attribute of an object that is set to an int"""
    m.calls = m.calls + 1
    return np.sum(x * x) * 2.0


@objects
def attribute_active(x):
    """attributes of an object made in the function, set to active values"""
    state = State(x[0] * 1.0)
    for v in x:
        state.h = np.tanh(state.h + v)
    return state.h * 2.0


@objects
def method_that_writes(x):
    """methods that set attributes of an object made in the function"""
    state = State(x[0] * 1.0)
    for v in x:
        state.step(v)
    return state.h * 2.0


@objects
def attribute_of_an_argument(x, m):
    """attributes of an object from outside, set to active values"""
    m.last = x * m.gain
    m.last = m.last * m.affine(x)
    return np.sum(m.last)


@objects
def chosen_object(x):
    """objects that a branch or loop chooses"""
    best = Vector(x[0], x[1])
    for v in x:
        if v > best.a:
            best = Vector(v, best.a)
        best = best + Vector(v, 1.0) * 0.5
    return best.dot(best)


@objects
def objects_of_objects(x):
    """objects in attributes of objects"""
    pair = State(Vector(x[0], x[1]))
    pair.h.a = pair.h.a * x[2]
    pair.h = pair.h + pair.h * x[0]
    return pair.h.dot(pair.h)


@objects
def written_through_two_names(x):
    """attributes set of what may be one object or another"""
    a, b = State(x[0]), State(x[1])
    c = a if x[2] > 0.7 else b
    c.h = c.h * x[2]
    return a.h + 2.0 * b.h + c.h * c.h


@objects
def listed_objects(x):
    """objects in lists"""
    states = [State(v) for v in x]
    for state in states:
        state.step(x[0])
    return sum(state.h for state in states) * states[0].h


@objects
def operators_of_a_class(x):
    """operators of the user's classes"""
    a = Vector(x[0], x[1])
    b = a * x[2] + a
    return b.dot(a)


@objects
def class_defined_inside(x):
    """a class defined in the function"""

    class Holder:
        def __init__(self, v):
            self.v = v

    return np.sum(Holder(x).v ** 2)


@objects
def differentiated_object(m):
    """a dataclass as the argument to differentiate by"""
    return np.sum(m.a * m.a) * m.b


# --- control --------------------------------------------------------------------------------------------------------

control = section("Control")


@control
def branches(x, s):
    """`if`, `elif`, `else`, conditional expressions"""
    if s > 5.0:
        y = x
    elif x[0] > 100.0:
        y = x * 3.0
    else:
        y = np.sin(x)
    return np.sum(y) * (s if s > 0 else 1.0)


@control
def booleans(x, s):
    """`and`, `or`, `not`, chained comparisons, `is`, `in`"""
    if 0.0 < s < 10.0 and not (x[0] > 50.0 or s is None):
        return np.sum(x * x)
    return x[0]


@control
def early_returns(x, n):
    """early `return`, from inside nested loops"""
    total = 0.0
    for i in range(n):
        for j in range(n):
            total = total + x[i] * x[j]
            if i + j > 2:
                return total * total
    return total


@control
def returned_on_some_paths(s):
    """`return` on some paths only"""
    for k in range(30):
        if s * k > 3.0:
            return s * s * k


@control
def loop_over_range(s, n):
    """`for` over `range`"""
    for i in range(n, 0, -1):
        s = s * i + np.sin(s)
    return s


@control
def loop_over_array(x):
    """`for` over arrays, `enumerate`, `zip`, `reversed`"""
    total = 0.0
    for i, (a, b) in enumerate(zip(x, reversed(x))):
        total += a * a * b * (i + 1)
    return total


@control
def loop_with_else(x, n):
    """`break`, `continue`, `for ... else`"""
    total = 0.0
    for i in range(n):
        if i == 1:
            continue
        total += x[i] ** 2
        if total > 1e6:
            break
    else:
        total = total * 2.0
    return total


@control
def while_loop(s):
    """`while`, `while ... else`"""
    k = 0
    while s > 0.1:
        s = s * 0.5
        k += 1
    else:
        s = s + k * s
    return s


@control
def while_true(s):
    """`while True` with `break`"""
    while True:
        s = s - (s * s - 2.0) / (2.0 * s) * 0.5
        if abs(s * s - 2.0) < 1e-1:
            break
    return s * s


@control
def always_left(x):
    """loops that are always left: `for v in x: return v`"""
    for v in x:
        for w in x[1:]:
            v = v * w
            break
        return v * v


@control
def walrus(x, s):
    """walrus"""
    if (y := s * s) > 0.0:
        return np.sum(x) * y
    return y


@control
def augmented(x, s):
    """augmented assignment of numbers and arrays"""
    y = x * 1.0
    y += s
    y *= x
    y **= 2
    s -= y[0]
    return np.sum(y) * s


@control
def items_written(x, s):
    """assignment to items, slices and masks of arrays"""
    y = np.zeros(3)
    y[0] = x[1] * s
    y[1:] = x[:-1] ** 2
    y[y > 1.0] = s
    return np.sum(y * y)


@control
def asserted(x):
    """`assert`, `raise`"""
    assert x.ndim == 1, f"not {x.ndim}"
    if x.size == 0:
        raise ValueError("empty")
    return np.sum(x * x)


@control
def caught(x, s):
    """`try ... except`, nothing raised"""
    try:
        y = np.sum(x * x) * s
    except ZeroDivisionError:
        y = 0.0
    return y


@control
def caught_in_a_helper(s):
    """`try ... except`, with an exception"""
    try:
        y = math.log(-s)
    except ValueError:
        y = math.log(s)
    return y * y


@control
def caught_midway(x, s):
    """`try ... except` after some of the statements have run"""
    y = x[0]
    try:
        y = y * s
        z = [y][int(x.size)]
        y = z * 2.0
    except IndexError as error:
        y = y * 3.0 * len(error.args)
    return y * y


@control
def tried_with_else(x):
    """`try ... else`, `finally`"""
    y = x[0] * 1.0
    try:
        y = y * x[1]
    except ValueError:
        y = x[2]
    else:
        y = y * 2.0
    finally:
        y = y + x[0]
    return y * y


@control
def with_errstate(x):
    """`with np.errstate(...)`"""
    with np.errstate(divide="ignore"):
        y = 1.0 / x
    return np.sum(y)


@contextlib.contextmanager
def noted():
    yield 2.0


@control
def with_user_context(x):
    """`with` of the user's context managers"""
    with noted() as k:
        y = x * k
    return np.sum(y * x)


@control
def matched_value(x, n):
    """`match` on values"""
    match n:
        case 0 | 1:
            y = x
        case 3:
            y = np.sin(x)
        case _:
            y = x * x
    return np.sum(y)


@control
def matched_sequence(x, s):
    """`match` on sequences"""
    match [x[0], s]:
        case [a]:
            y = a
        case [a, b] if b > 0:
            y = a * b * b
        case [a, *rest]:
            y = a * len(rest)
        case _:
            y = s
    return y * x[1]


@control
def matched_mapping(x, s):
    """`match` on mappings"""
    match {"kind": "square", "value": x}:
        case {"kind": "sine", "value": v}:
            y = np.sin(v)
        case {"kind": "square", "value": v, **rest}:
            y = v * v
    return np.sum(y) * s


@control
def matched_class(x, s):
    """`match` on classes"""
    match Record(x[0], s):
        case Record(a=a, b=b):
            y = a * a * b
        case _:
            y = x[1]
    return y


@control
def generator_function(x):
    """a generator function consumed in the function"""

    def squares(values):
        for v in values:
            yield v * v

    return sum(squares(x))


@control
def generator_of_the_module(x):
    """a generator function of the module, consumed in a `for`"""
    total = 0.0
    for v in running(x):
        total += v * v
    return total


def running(values):
    total = 0.0
    for v in values:
        total = total + v
        yield total


@control
def generator_kept(x):
    """a generator expression that is kept, and consumed later"""
    squares = (v * v for v in x)
    return sum(squares)


@control
def iterator_stepped(x):
    """`iter` and `next`"""
    it = iter(x)
    first = next(it)
    return first * sum(v for v in it)


@control
def global_written(x):
    """`global` numbers that are written"""
    global COUNT
    COUNT = COUNT + 1
    return np.sum(x * x)


COUNT = 0


@control
def deleted_name(x):
    """`del` of names"""
    y = x * x
    z = y + x
    del y
    return np.sum(z)


@control
def formatted(x, s):
    """f-strings, `str.format`, `print`"""
    label = f"{s:.2f} {x.shape!r}"
    return np.sum(x * x) * len(label)


@control
def imported(x):
    """`import` in the function"""
    import math as m

    return m.sin(x[0]) * m.pi


@control
def by_position(x):
    """slices, `...`, `None`, negative steps, tuples as indices"""
    y = x[::-1][..., None] * x[None, :2]
    return np.sum(y[1:, 0] * y[0, -1])


@control
def matrix_operators(x):
    """`@`, `**`, `//`, `%`, `divmod`, unary operators"""
    return x @ x + np.sum(-(x**3) % 5.0) + divmod(x[0], 0.3)[1]


@control
def bisected(x, s):
    """functions of the standard library that take static values"""
    i = bisect.bisect([0.0, 0.5, 1.0], 0.7)
    return x[i] ** 2 * s
