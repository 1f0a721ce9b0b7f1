"""An argument that is written into, whose memory somebody else holds: another argument, an object, a global."""

import types
import warnings

import numpy as np
import pytest

import s2s
from s2s.compiler.shared import is_shared
from s2s.errors import UnsupportedSyntaxError

RNG = np.random.default_rng(7)


class Box:
    """An object whose attributes are set."""

    def __init__(self, **attributes):
        vars(self).update(attributes)


class Slotted:
    __slots__ = ("v",)


class Model:
    def __init__(self, weights):
        self.weights = weights
        self._hidden = weights

    @property
    def seen(self):
        return self._hidden

    def run(self, x):
        x[1] = 8.0
        return np.sum(x * self.weights)

    def run_by_property(self, x):
        x *= 2.0
        return np.sum(x * self.seen)


def by_attribute(x, o):
    x[0] = 4.0
    return np.sum(o.v * x)


def by_getattr(x, o):
    x[0] = 4.0
    return np.sum(getattr(o, "v") * x)  # noqa: B009


def by_inner_attribute(x, o):
    x += 1.0
    return np.sum(o.inner.v * x)


def by_property_of_argument(x, o):
    x[0] = 4.0
    return np.sum(o.seen * x)


def by_call(x, g):
    x[0] = 5.0
    return np.sum(g() * x)


def appends(x, a, b):
    a.append(2.0)
    return np.sum(x) * len(b)


def sets(x, a, b):
    a["q"] = 3.0
    return np.sum(x) * b["q"]


def sets_within(x, a, b):
    a[0][1] = 7.0
    return np.sum(x) * b[1]


OF_MODULE = [1.0]
ARRAYS = {"a": np.ones(3), "l": [np.ones(3)]}
HELD = types.SimpleNamespace(a=ARRAYS)


class Class:
    held = np.ones(3)


def of_module(x, a):
    a[0] = 5.0
    return np.sum(x) * OF_MODULE[0]


def of_global_dict(x):
    x[0] = 5.0
    return np.sum(x * ARRAYS["a"])


def of_list_in_dict(x):
    x[0] = 5.0
    return np.sum(x * ARRAYS["l"][0])


def of_namespace(x):
    x[0] = 5.0
    return np.sum(x * HELD.a["a"])


def of_class(x):
    x[0] = 5.0
    return np.sum(x * Class.held)


def vector():
    return RNG.normal(size=3)


def with_box():
    y = vector()
    return by_attribute, (y, Box(v=y))


def with_a_view_in_a_box():
    y = vector()
    return by_attribute, (y, Box(v=y[::-1]))


def with_a_slot():
    y, o = vector(), Slotted()
    o.v = y
    return by_attribute, (y, o)


def with_getattr():
    y = vector()
    return by_getattr, (y, Box(v=y))


def with_a_box_in_a_box():
    y = vector()
    return by_inner_attribute, (y, Box(inner=Box(v=y)))


def with_a_bound_method():
    model = Model(vector())
    return model.run, (model.weights,)


def with_a_property():
    model = Model(vector())
    return model.run_by_property, (model.weights,)


def with_a_property_of_an_argument():
    model = Model(vector())
    return by_property_of_argument, (model.weights, model)


def with_a_function_argument():
    y = vector()
    return by_call, (y, lambda: y)


def with_a_default():
    y = vector()
    return by_call, (y, lambda y=y: y)


def with_a_list_twice():
    held = [1.0]
    return appends, (vector(), held, held)


def with_a_dict_twice():
    held = {"q": 1.0}
    return sets, (vector(), held, held)


def with_a_list_in_a_list():
    held = [1.0, 2.0]
    return sets_within, (vector(), [held], held)


def with_a_global_list():
    return of_module, (vector(), OF_MODULE)


def with_a_global_dict():
    return of_global_dict, (ARRAYS["a"],)


def with_a_list_in_a_global_dict():
    return of_list_in_dict, (ARRAYS["l"][0][:],)


def with_a_global_object():
    return of_namespace, (ARRAYS["a"],)


def with_a_class():
    return of_class, (Class.held,)


SHARED = [
    with_box, with_a_view_in_a_box, with_a_slot, with_getattr, with_a_box_in_a_box, with_a_bound_method,
    with_a_property, with_a_property_of_an_argument, with_a_function_argument, with_a_default, with_a_list_twice,
    with_a_dict_twice, with_a_list_in_a_list, with_a_global_list, with_a_global_dict, with_a_list_in_a_global_dict,
    with_a_global_object, with_a_class,
]  # fmt: skip


@pytest.fixture(autouse=True)
def globals_as_they_were():
    yield
    OF_MODULE[:] = [1.0]
    for held in (ARRAYS["a"], ARRAYS["l"][0], Class.held):
        held[:] = 1.0


def ways(f, args, **options):
    """The values that all ways of differentiating a call give, each made when it is asked for."""
    dots = tuple(np.ones_like(a) if isinstance(a, np.ndarray) else None for a in args)
    yield lambda: s2s.value_and_grad(f, **options)(*args)[0]
    yield lambda: s2s.vjp(f, *args, **options)[0]
    yield lambda: s2s.jvp(f, args, dots, **options)[0]
    yield lambda: s2s.linearize(f, *args, **options)[0]


@pytest.mark.parametrize("made", SHARED)
def test_what_somebody_else_holds_is_not_compiled(made):
    f, args = made()
    for way in ways(f, args, strict=True):
        with pytest.raises(UnsupportedSyntaxError):
            way()


@pytest.mark.parametrize("made", [made for made in SHARED if made not in (with_a_slot, with_getattr)])
def test_later_calls_are_asked_as_well(made):
    """A variant that was compiled for arguments of their own serves none that are shared."""
    f, args = made()
    if f in (of_global_dict, of_list_in_dict, of_namespace, of_class, of_module):
        apart = (vector(), *([2.0] for _ in args[1:]))
    elif hasattr(f, "__self__"):
        apart = (vector(),)
    else:
        apart, other = made()[1], made()[1]
        apart = (*apart[:-1], other[-1])
    derivative = s2s.grad(f, strict=True)
    for _ in range(3):
        derivative(*apart)
    with pytest.raises(UnsupportedSyntaxError):
        derivative(*args)


def test_attributes_that_nobody_reads_do_not_count():
    def f(x, o):
        x[0] = 3.0
        return np.sum(x * x) * o.scale

    y = vector()
    value, gradient = s2s.value_and_grad(f, strict=True)(y, Box(scale=2.0, v=y))
    assert value == f(y.copy(), Box(scale=2.0))
    np.testing.assert_allclose(gradient, 4.0 * y * [0.0, 1.0, 1.0])


def test_what_is_reached_through_functions_and_objects():
    a = np.zeros(3)

    def free(x):
        return a

    held = {"x": a[:2], "y": lambda: a, "z": 1.0}
    assert is_shared(vector, held, ["x"])
    assert is_shared(free, {"x": a}, ["x"])
    assert not is_shared(free, {"x": a}, [])
    assert is_shared(vector, {"x": [a, a[1:]]}, ["x"])
    assert not is_shared(vector, {"x": [a[:1], a[1:]], "y": [np.zeros(3)]}, ["x"])
    loop = [a]
    loop.append(loop)
    assert is_shared(vector, {"x": a[1:2], "y": loop}, ["x"])


# --- copies keep the layout in memory ---


def reshaped(m):
    v = m.ravel()
    v[0] = 9.0
    return np.sum(m**2) + v.sum()


def doubled(m):
    v = m.reshape(-1)
    v *= 2
    return np.sum(m**3)


def transposed(m):
    v = m.T.reshape(-1)
    v[1:] = v[1:] * v[0]
    return np.sum(m * m)


def in_a_dict(d):
    return reshaped(d["m"])


LAYOUTS = {
    "contiguous": lambda: RNG.normal(size=(3, 3)),
    "columns": lambda: RNG.normal(size=(3, 6))[:, ::2],
    "reversed": lambda: RNG.normal(size=(3, 3))[:, ::-1],
    "rows backwards": lambda: RNG.normal(size=(6, 3))[::-2],
    "fortran": lambda: np.asfortranarray(RNG.normal(size=(3, 3))),
    "part": lambda: RNG.normal(size=(5, 7))[1:4, 2:5],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("f", [reshaped, doubled, transposed])
def test_what_is_a_copy_for_the_user_is_one_in_every_mode(f, layout):
    m = LAYOUTS[layout]()
    before, strides = m.copy(), m.strides
    base = m.base if m.base is not None else m

    def again():
        fresh = np.zeros(base.shape, order="F" if base.flags.f_contiguous and base.ndim == 2 else "C")
        view = np.ndarray(m.shape, m.dtype, fresh, _offset(m, base), strides)
        view[...] = before
        return view

    want = f(again())
    slope = np.zeros(m.shape)
    for i in np.ndindex(m.shape):
        high, low = again(), again()
        high[i] += 1e-6
        low[i] -= 1e-6
        slope[i] = (f(high) - f(low)) / 2e-6
    for value in ways(f, (m,), strict=True):
        assert value() == want
    np.testing.assert_allclose(s2s.grad(f, strict=True)(m), slope, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(s2s.vjp(f, m, strict=True)[1](1.0)[0], slope, rtol=1e-6, atol=1e-7)
    dot = RNG.normal(size=m.shape)
    pushed = s2s.linearize(f, m, strict=True)[1](dot)
    np.testing.assert_allclose(pushed, np.sum(slope * dot), rtol=1e-5, atol=1e-6)
    held = {"m": m}
    assert s2s.vjp(in_a_dict, held, strict=True)[0] == in_a_dict({"m": again()})
    np.testing.assert_array_equal(m, before)


def _offset(view, base):
    return view.__array_interface__["data"][0] - base.__array_interface__["data"][0]


def test_an_array_that_overlaps_itself_in_every_mode():
    def f(m):
        m += m[::-1]
        return np.sum(m**2)

    def overlapping():
        return np.lib.stride_tricks.as_strided(np.arange(1.0, 5.0), (2, 3), (8, 8))

    want = f(overlapping())
    for value in ways(f, (overlapping(),)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert value() == want


def test_arguments_may_be_written_into_between_a_linearization_and_its_use():
    def f(x, d):
        return np.sum(np.sin(x) * d["w"])

    x, w = vector(), vector()
    _, push = s2s.linearize(f, x, {"w": w}, strict=True)
    want = np.sum(np.cos(x) * w)
    x[:] = w[:] = 0.0
    assert push(np.ones(3), None) == pytest.approx(want)


# --- on the tape ---


@pytest.mark.parametrize("made", SHARED)
def test_what_somebody_else_holds_is_refused_on_the_tape(made):
    f, args = made()
    for way in ways(f, args):
        with warnings.catch_warnings(), pytest.raises(s2s.InplaceModificationError):
            warnings.simplefilter("ignore")
            way()


class Layer:
    """Of which a method writes into what it holds."""

    def __init__(self):
        self.h = vector()
        self.items = [2.0]

    def step(self, x):
        self.h[0] = 7.0
        return np.sum(self.h * x)

    def read(self, x):
        return np.sum(self.h * x * x) + len({*self.items})


def recorded(f):
    """The function with a statement that is not compiled."""

    def on_the_tape(*args):
        exec("")  # noqa: S102
        return f(*args)

    return on_the_tape


def lists_with_active_values(p, q):
    p.append(q[0])
    q[0] = q[0] * 3
    return np.sum(p[-1] * p[0] * q[0])


def integers(x, a, b):
    a[0] = 5
    return np.sum(x) * b[0]


def attributes(x, o, p):
    o.n = 5.0
    return np.sum(x) * p.n


def integers_of_a_list(x, a, held):
    a[0] = 5
    return np.sum(x) * held[0][0]


def written_by_a_helper_object(x):
    y = np.sum(KNOWN * x**2)
    WRITER.write()
    return y + np.sum(KNOWN * x)


KNOWN = np.ones(3)


class Writer:
    def __getattr__(self, name):
        raise AttributeError(name)

    def write(self):
        KNOWN[:] = 4.0


WRITER = Writer()


def tape_cases():
    layer = Layer()
    held = [vector()]
    numbers = np.array([1, 2])
    box = types.SimpleNamespace(n=1.0)
    yield layer.step, (layer.h,)
    yield recorded(lists_with_active_values), (held, held)
    yield recorded(integers), (vector(), numbers, numbers)
    yield recorded(integers), (vector(), numbers[:1], numbers)
    yield recorded(integers_of_a_list), (vector(), numbers, [numbers])
    yield recorded(attributes), (vector(), box, box)
    yield recorded(of_module), (vector(), OF_MODULE)
    yield written_by_a_helper_object, (vector(),)


@pytest.mark.parametrize("number", range(8))
def test_the_tape_refuses_writes_into_what_is_reached_in_two_ways(number):
    f, args = [*tape_cases()][number]
    with warnings.catch_warnings(), pytest.raises(s2s.InplaceModificationError):
        warnings.simplefilter("ignore")
        s2s.grad(f)(*args)
    KNOWN[:] = 1.0


def test_the_tape_reads_what_is_reached_in_two_ways():
    layer, held, numbers = Layer(), [vector()], np.array([1, 2])
    x = layer.h.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_allclose(s2s.grad(layer.read)(layer.h), 2 * x * x)
        both = s2s.grad(recorded(lambda p, q: np.sum(p[0] * q[0])), (0, 1))(held, held)
        gradient = s2s.grad(recorded(lambda x, a, b: np.sum(x) * (a[0] + b[0])))(x, numbers, numbers)
    for (part,) in both:
        np.testing.assert_allclose(part, held[0])
    np.testing.assert_allclose(gradient, np.full(3, 2.0))


def test_the_tape_writes_into_arguments_of_their_own():
    def f(x, held):
        held.append(2.0)
        x[0] = 3.0
        return np.sum(x * x) * held[-1]

    x = vector()
    with pytest.warns(s2s.FallbackWarning):
        gradient = s2s.grad(recorded(f))(x, [1.0])
    np.testing.assert_allclose(gradient, 4 * x * [0.0, 1.0, 1.0])


# --- each of these by itself, as planted bugs are found by them ---


def test_a_reversed_array_is_a_copy_when_it_is_flattened():
    m = np.arange(6.0).reshape(2, 3)[:, ::-1]
    assert s2s.vjp(reshaped, m, strict=True)[0] == reshaped(np.arange(6.0).reshape(2, 3)[:, ::-1])


def test_an_attribute_that_shares_memory():
    y = np.array([1.0, 2.0, 3.0])
    with pytest.raises(UnsupportedSyntaxError, match="shares memory"):
        s2s.grad(by_attribute, strict=True)(y, Box(v=y))


def test_a_list_that_is_passed_twice_on_the_tape():
    held = [1.0]
    with warnings.catch_warnings(), pytest.raises(s2s.InplaceModificationError):
        warnings.simplefilter("ignore")
        s2s.grad(appends)(np.ones(3), held, held)


# --- what is read later ---


class Affine:
    def __init__(self):
        self.w = np.eye(3)
        self.scale = 2.0

    def forward(self, x):
        return self.w @ x**2 * self.scale


SCALE, OFFSETS = 2.0, {"a": np.ones(3), "s": [3.0]}


def of_globals(x):
    s = x * OFFSETS["a"]
    for _ in range(3):
        s = s * x * SCALE
    return s * OFFSETS["s"][0]


def changes_to_globals():
    def rebound():
        global SCALE
        SCALE = 5.0

    def in_a_dict():
        OFFSETS["a"] = np.zeros(3)

    def in_a_list():
        OFFSETS["s"][0] = 0.0

    return rebound, in_a_dict, in_a_list


@pytest.mark.parametrize("number", range(3))
def test_globals_that_change_between_the_sweeps(number):
    global SCALE
    x, bar = vector(), vector()
    want = bar * 4 * x**3 * 24.0
    _, pull = s2s.vjp(of_globals, x, strict=True)
    out, push = s2s.linearize(of_globals, x, strict=True)
    np.testing.assert_allclose(push(bar), want)
    try:
        changes_to_globals()[number]()
        np.testing.assert_allclose(pull(bar)[0], want)
        with pytest.raises(s2s.S2SError, match="has changed since"):
            push(bar)
    finally:
        SCALE = 2.0
        OFFSETS.update(a=np.ones(3), s=[3.0])


def test_attributes_and_cells_that_change_between_the_sweeps():
    model, x, bar, factor = Affine(), vector(), vector(), 3.0

    def f(x, m):
        return m.forward(x) * factor

    for g, others, times in ((model.forward, (), 1.0), (f, (model,), 3.0)):
        model.w, model.scale, factor = np.eye(3), 2.0, 3.0
        still = (None,) * len(others)
        _, pull = s2s.vjp(g, x, *others, strict=True)
        _, push = s2s.linearize(g, x, *others, strict=True)
        np.testing.assert_allclose(push(bar, *still), 4 * x * bar * times)
        model.unread = 1.0
        np.testing.assert_allclose(push(bar, *still), 4 * x * bar * times)
        model.w, model.scale, factor = np.zeros((3, 3)), 0.0, 0.0
        np.testing.assert_allclose(pull(bar)[0], 4 * x * bar * times)
        with pytest.raises(s2s.S2SError, match="has changed since"):
            push(bar, *still)
