"""Objects that a function makes are taken apart: exact in every mode and at every stage, or left to the tape."""

import dataclasses
import types
import warnings
from collections import namedtuple
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pytest

import s2s
from tests.transforms.gradients import holds

X = np.array([0.3, 0.8, 1.2])
Point = namedtuple("Point", "a b")


class Pair(NamedTuple):
    a: object
    b: object = 2.0

    def product(self):
        return self.a * self.b


class State:
    def __init__(self, h, rate=0.5):
        self.h = h
        self.rate = rate

    def step(self, x):
        self.h = np.tanh(self.h * self.rate + x)
        return self

    @property
    def energy(self):
        return self.h * self.h

    @energy.setter
    def energy(self, value):
        self.h = np.sqrt(value)


class Vector:
    """Arithmetic by dispatch on the type of the operand."""

    scale = 1.5

    def __init__(self, a, b):
        self.a = a
        self.b = b

    def __add__(self, other):
        if not isinstance(other, Vector):
            return NotImplemented
        return Vector(self.a + other.a, self.b + other.b)

    def __mul__(self, k):
        if isinstance(k, Vector):
            return self.a * k.a + self.b * k.b
        return Vector(self.a * k, self.b * k)

    __rmul__ = __mul__

    def __iadd__(self, other):
        self.a = self.a + other.a
        self.b += other.b
        return self

    def __neg__(self):
        return Vector(-self.a, -self.b)

    def __getitem__(self, i):
        return self.b if i else self.a

    def __setitem__(self, i, value):
        if i:
            self.b = value
        else:
            self.a = value

    def __len__(self):
        return 2

    def __call__(self, t):
        return self.a + t * self.b

    def __contains__(self, value):
        return True

    def __abs__(self):
        return np.sqrt(self.a * self.a + self.b * self.b)

    def __lt__(self, other):
        return self.a < other.a

    @classmethod
    def unit(cls, t):
        return cls(np.cos(t), np.sin(t))

    @staticmethod
    def twice(v):
        return 2.0 * v


class Scaled(Vector):
    scale = 2.5

    def __init__(self, a, b, k):
        super().__init__(a * k, b)
        self.k = k

    def __call__(self, t):
        return super().__call__(t) * self.k * self.scale


@dataclass
class Particle:
    x: object
    v: object = 0.5
    trail: list = field(default_factory=list)
    mass: float = field(default=2.0, kw_only=True)
    total: object = field(init=False)

    def __post_init__(self):
        self.total = self.x * self.v * self.mass

    def move(self, dt):
        self.x = self.x + dt * self.v
        self.trail.append(self.x)


@dataclass(frozen=True)
class Frozen:
    a: object
    b: object = 2.0

    def total(self):
        return np.sum(self.a * self.b)


@dataclass(slots=True)
class Slotted:
    a: object
    b: object = 3.0


@dataclass
class Derived(Particle):
    extra: object = 1.0


class Layer:
    def __init__(self, w):
        self.w = w

    def __call__(self, x):
        return np.tanh(self.w * x)


class Net:
    def __init__(self, a, b):
        self.first = Layer(a)
        self.second = Layer(b)

    def __call__(self, x):
        return self.second(self.first(x))


class Body:
    def __init__(self, pos, vel):
        self.pos = pos
        self.vel = vel

    def step(self, dt):
        self.pos = self.pos + self.vel * dt
        self.vel = self.vel + -self.pos * dt


def attributes(x):
    state = State(x[0] * 1.0)
    for v in x:
        state.h = np.tanh(state.h * state.rate + v)
    return state.h * 2.0


def methods_in_turn(x):
    state = State(x[0])
    return state.step(x[1]).step(x[2]).h * state.h


def augmented_attributes(x):
    state = State(x * 2.0)
    state.h += x
    state.h[0] *= x[1]
    state.rate *= x[2]
    return np.sum(state.h) * state.rate


def setter_of_a_property(x):
    state = State(x[0])
    state.energy = x[1] * x[2]
    state.energy += x[0]
    return state.h * state.energy


def two_names(x):
    a = State(x[0])
    b = a
    b.h = a.h * x[1]
    a.rate = b.h
    return a.h * b.rate if a is b else 0.0


def operators(x):
    v = Vector(x[0], x[1])
    w = -(v + v * x[2]) * 2.0 + 3.0 * v
    return w * v + v(x[1]) * len(w) + abs(v)


def items(x):
    v = Vector(x[0], x[1])
    v[0] = v[1] * x[2]
    v[1] *= v[0]
    return v[0] + v[1] if 1.0 in v else 0.0


def added_in_place(x):
    v = w = Vector(x[0], x[1])
    v += Vector(x[1], x[2])
    return v.a * w.b


def comparisons(x):
    v, w = Vector(x[0], x[1]), Vector(x[1], x[2])
    return v.a * w.b if v < w else v.b


def met_after_a_branch(x):
    v = Vector(x[0], x[1])
    if x[2] > 0.5:
        v = v * x[2]
    else:
        v = Vector(x[1], 1.0)
    return v.a * v.b


def carried_by_a_loop(x):
    total = Vector(0.0, 1.0)
    for i in range(3):
        total = total + Vector(x[i], x[i] * x[i]) * 0.5
        if x[i] > 0.5:
            total = total * x[0]
    return total * total


def swapped_in_a_loop(x):
    a, b = Vector(x[0], x[1]), Vector(x[1], x[2])
    for _ in range(4):
        a, b = b, a + b
    return a.a * b.b + a.b


def previous_and_current(x):
    previous = current = Vector(x[0], x[1])
    for i in range(3):
        previous = current
        current = current + previous * x[i]
    return previous * current


def left_early(x):
    v = Vector(x[0], x[1])
    for i in range(10):
        v = v + v * x[2]
        if v.a > 3.0:
            break
    return v.a * v.b


def nested_loops(x):
    v = Vector(x[0], x[1])
    for i in range(2):
        w = v
        for j in range(2):
            w = w * x[j] + v
        v = w
    return v.a * v.b


def while_loop(x):
    state = State(x[0])
    while state.h < 3.0:
        state.h = state.h * (1.0 + x[1])
    return state.h * x[2]


def objects_in_objects(x):
    net = Net(x[0], x[1])
    net.first.w = net.first.w * x[2]
    return net(x[1]) * net.second.w


def vectors_of_bodies(x):
    body = Body(Vector(x[0], x[1]), Vector(0.0, x[2]))
    for _ in range(3):
        body.step(0.1)
    return body.pos * body.vel + body.pos.a


def inherited(x):
    v = Scaled(x[0], x[1], x[2])
    return v(x[0]) + Vector.twice(v.a) * v.twice(v.k)


def class_methods(x):
    u = Vector.unit(x[0])
    return u.a * x[1] + Scaled.scale * u.b * u.scale


def namedtuples(x):
    p = Point(x[0], 3.0 * x[1])
    q = Pair(a=p.a)._replace(b=x[2])
    a, b = q
    return p.a * p[1] + a * b + q.product() + len(p) + q[-1]


def namedtuple_as_a_tuple(x):
    p = Point(x[0], x[1])
    total = sum(p) * 2.0
    for v in p:
        total += v * v
    return total * p.a


def dataclasses_with_all_kinds_of_fields(x):
    p = Particle(x[0], mass=x[1])
    p.move(x[2])
    p.move(x[2])
    return p.total * p.x + p.trail[0] * len(p.trail) + Derived(x[1], extra=x[2]).extra


def frozen_and_replaced(x):
    r = Frozen(x, 1.5)
    s = dataclasses.replace(r, b=x[0])
    return r.total() * s.total()


def slots(x):
    r = Slotted(x[0])
    r.b *= x[1]
    return r.a * r.b


def namespaces(x):
    r = types.SimpleNamespace(a=x[0], b=2.0)
    r.c = r.a * r.b
    r.c += x[1]
    return r.a * r.c


def returned_by_helpers(x):
    v, w = both(x[0], x[1])
    if isinstance(v, Vector) and not isinstance(w, Scaled):
        v = doubled(v)
    return v * w


def both(a, b):
    return Vector(a, b), Vector(b, a)


def doubled(v):
    if v.a > 100.0:
        return v
    return Vector(v.a * 2.0, v.b)


def closures_over_objects(x):
    state = State(x[0])

    def go(v):
        state.h = state.h * v
        return state.h

    return go(x[1]) + go(x[2]) * state.h


def named_attributes(x):
    state = State(x[0])
    setattr(state, "extra", x[1])  # noqa: B010
    return getattr(state, "h") * state.extra if hasattr(state, "extra") else 0.0  # noqa: B009


def tuples_of_objects(x):
    pair = (Vector(x[0], x[1]), Vector(x[1], x[2]))
    v, w = pair
    return pair[0] * w + pair[-1].a * v.b * len(pair)


class Mass:
    def __init__(self, x, v, m=1.0):
        self.x = x
        self.v = v
        self.m = m

    def force(self, other):
        return (other.x - self.x) * other.m

    def move(self, dt):
        self.x += dt * self.v

    @property
    def energy(self):
        return 0.5 * self.m * self.v**2


def objects_in_a_list(x):
    states = [State(v) for v in x]
    for s in states:
        s.step(x[0])
    return sum(s.h * s.h for s in states)


def bodies_in_a_list(x):
    bodies = [Mass(x[i], 0.1 * i) for i in range(3)]
    for _ in range(2):
        for p in bodies:
            force = 0.0
            for q in bodies:
                if q is not p:
                    force = force + p.force(q)
            p.v = p.v + 0.1 * force
        for p in bodies:
            p.move(0.1)
    return sum(p.energy for p in bodies) + bodies[-1].x


def bodies_in_a_display(x):
    bodies = [Mass(x[0], 0.1), Mass(x[1], x[2]), Mass(x[2], 0.3)]
    for i in range(len(bodies)):
        for j in range(len(bodies)):
            if i != j:
                bodies[i].v += 0.1 * bodies[i].force(bodies[j])
    return energy_of(bodies) * bodies[0].v


def energy_of(bodies):
    total = 0.0
    for p in bodies:
        total = total + p.energy
    return total


def put_in_and_changed(x):
    bodies = []
    for v in x:
        p = Mass(v, v * x[0])
        bodies.append(p)
        p.x = p.x * x[2]
        bodies[0].v = bodies[0].v + p.x
    last = bodies[-1]
    last.v *= 2.0
    return bodies[0].v * bodies[2].v + bodies[1].x * (1.0 if last is bodies[2] else 0.0)


COMPILED = [
    attributes, methods_in_turn, augmented_attributes, setter_of_a_property, two_names, operators, items,
    added_in_place, comparisons, met_after_a_branch, carried_by_a_loop, swapped_in_a_loop, previous_and_current,
    left_early, nested_loops, while_loop, objects_in_objects, vectors_of_bodies, inherited, class_methods,
    namedtuples, namedtuple_as_a_tuple, dataclasses_with_all_kinds_of_fields, frozen_and_replaced, slots, namespaces,
    returned_by_helpers, closures_over_objects, named_attributes, tuples_of_objects,
    objects_in_a_list, bodies_in_a_list, bodies_in_a_display, put_in_and_changed,
]  # fmt: skip


@pytest.mark.parametrize("f", COMPILED, ids=lambda f: f.__name__)
@pytest.mark.parametrize("seed", [0, 1])
def test_objects_are_compiled(f, seed):
    holds(f, np.random.default_rng(seed).uniform(0.2, 1.4, 3))


# --- right, compiled or not ---


def right(f, x):
    """The value is the function's own, the gradient and the tangent agree with differences, whatever way is taken."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", s2s.FallbackWarning)
        value, gradient = s2s.value_and_grad(f)(x)
        d = np.cos(np.arange(x.size))
        tangent = s2s.jvp(f, (x,), (d,))[1]
    assert value == f(x)
    h = 1e-6
    np.testing.assert_allclose(gradient @ d, (f(x + h * d) - f(x - h * d)) / (2 * h), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(tangent, gradient @ d, rtol=1e-9, atol=1e-12)


def one_of_two_is_written(x):
    a, b = State(x[0]), State(x[1])
    c = a if x[2] > 0.5 else b
    c.h = c.h * x[2]
    return a.h + 3.0 * b.h + 5.0 * c.h


def first_and_last_are_one(x):
    first = last = State(x[0])
    for v in x:
        last.h = last.h * v
        if v > 0.7:
            last = State(v)
    return first.h + 2.0 * last.h


def attribute_on_some_paths(x):
    s = State(x[0])
    if x[1] > 0.5:
        s.extra = x[1]
    return s.h * (s.extra if hasattr(s, "extra") else 2.0)


def object_or_number(x):
    best = None
    for v in x:
        if best is None or v > best.h:
            best = State(v)
    return best.h * x[0]


def shared_parts(x):
    inner = Vector(x[0], x[1])
    one, two = Body(inner, inner), Body(Vector(x[1], x[2]), inner)
    one.pos.a = one.pos.a * x[2]
    two.vel += one.pos
    return inner.a * one.vel.a + two.vel.b


def loop_that_changes_parts(x):
    body = Body(Vector(x[0], x[1]), Vector(x[2], 1.0))
    kept = body.pos
    for v in x:
        body.pos = body.vel * v
        body.vel, kept = kept, body.pos
    return body.pos * kept + body.vel.a


def cyclic(x):
    s = State(x[0])
    s.itself = s
    for v in x:
        s.itself.itself.h = s.h * v
    return s.h


def list_that_is_emptied(x):
    states = [State(v) for v in x]
    last = states.pop()
    last.h = last.h * x[0]
    return last.h + sum(s.h for s in states)


def list_that_holds_one_object_twice(x):
    s = State(x[0])
    states = [s, s, State(x[1])]
    for t in states:
        t.h = t.h * x[2]
    return sum(t.h for t in states) + s.h


def list_of_one_of_two(x):
    a, b = State(x[0]), State(x[1])
    c = a if x[2] > 0.7 else b
    states = [c]
    for t in states:
        t.h = t.h * x[2]
    return a.h + 2.0 * b.h + c.h


def list_that_grows_in_a_loop_over_it(x):
    states = [State(x[0])]
    for s in states:
        s.h = s.h * x[1]
        if len(states) < 3:
            states.append(State(s.h * x[2]))
    return sum(s.h for s in states)


def lists_that_change_places(x):
    one, two = [State(v) for v in x], [State(v * v) for v in x]
    first = one[0]
    for v in x:
        one, two = two, one
        one[0].h = one[0].h * v
        first.h = first.h + v
    return one[0].h + 2.0 * two[0].h


def list_of_two_classes(x):
    things = [State(x[0])]
    things.append(Slotted(x[1]))
    return things[0].h * things[1].a


def empty_list_is_false(x):
    states = []
    for v in x:
        if v > 0.9:
            states.append(State(v))
    return states[0].h if states else x[1]


def objects_in_a_dict(x):
    d = {"a": State(x[0]), "b": State(x[1])}
    d["a"].h = d["b"].h * x[2]
    return d["a"].h


def printed(x):
    s = State(x[0])
    return s.h * x[1] * len(type(s).__name__)


def class_attribute_hidden_later(x):
    v = Vector(x[0], x[1])
    y = v.a * v.scale
    v.scale = x[2]
    return y * v.scale


class Counted:
    made = 0

    def __init__(self, v):
        Counted.made += 1
        self.v = v

    def __eq__(self, other):
        return True

    def __bool__(self):
        return False


def counted(x):
    c, d = Counted(x[0]), Counted(x[1])
    return c.v if c == d and not c else d.v * x[2]


class Lazy:
    def __getattr__(self, name):
        return 3.0


def computed_attributes(x):
    lazy = Lazy()
    lazy.v = x[0]
    return lazy.v * x[1] * lazy.anything


class Checked:
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value * 2.0)


def checked_attributes(x):
    c = Checked()
    c.v = x[0]
    return c.v * x[1]


class Odd:
    def __init__(self, v):
        self.v = v

    def __add__(self, other):
        return self.v + other if other > 0.5 else NotImplemented

    def __radd__(self, other):
        return self.v * other


def operator_that_gives_up(x):
    return (Odd(x[0]) + (x[1] + 0.5)) * (x[2] + Odd(x[1]))


class Recursive:
    def __init__(self, v, depth):
        self.v = v
        self.inner = Recursive(v * v, depth - 1) if depth else None

    def total(self):
        return self.v + (self.inner.total() if self.inner is not None else 0.0)


def recursive(x):
    return Recursive(x[0], 3).total() * x[1]


def raised_and_caught(x):
    s = State(x[0])
    try:
        s.h = s.h * x[1]
        s.rate = [x[2]][5]
    except IndexError:
        s.h = s.h * 2.0
    return s.h * s.rate


def arrays_of_objects(x):
    s, t = State(x * 1.0), State(x)
    t.h = s.h
    t.h[0] = x[1] * x[2]
    s.h[1:] += t.h[:1]
    return np.sum(s.h * t.h)


RIGHT = [
    one_of_two_is_written, first_and_last_are_one, attribute_on_some_paths, object_or_number, shared_parts,
    loop_that_changes_parts, cyclic, objects_in_a_dict, printed, class_attribute_hidden_later,
    counted, computed_attributes, checked_attributes, operator_that_gives_up, recursive, raised_and_caught,
    arrays_of_objects, list_that_is_emptied, list_that_holds_one_object_twice, list_of_one_of_two,
    list_that_grows_in_a_loop_over_it, lists_that_change_places, list_of_two_classes, empty_list_is_false,
]  # fmt: skip


@pytest.mark.parametrize("f", RIGHT, ids=lambda f: f.__name__)
@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_objects_are_exact(f, seed):
    right(f, np.random.default_rng(seed).uniform(0.2, 1.4, 3))


def test_loops_give_the_variables_that_a_person_would_name():
    text = holds(carried_by_a_loop, X)
    assert "total_a" in text and "total_b" in text and "Vector" not in text.replace("# ", "#").split("#")[0]


def test_an_index_that_is_out_of_range_raises_though_nothing_is_read():
    def f(x, i):
        states = [State(v) for v in x]
        last = states[i] if i < 9 else states[3]
        return states[0].h * x[1]

    assert s2s.grad(f, strict=True)(X, -3)[0] == X[1]
    for i in (3, -4, 9):
        with pytest.raises(IndexError):
            s2s.grad(f)(X, i)
