"""What the table says of functions is what Python and NumPy do, seen on samples."""

import copy
import inspect
import operator
import warnings

import numpy as np
import pytest

from s2s import kinds as K
from s2s.transforms import known
from s2s.transforms.conduct import conduct, in_numpy, row_of, table


def square():
    return np.arange(1.0, 10).reshape(3, 3) + np.eye(3)


def row():
    return np.array([3.0, 1, 2])


def samples():
    """Arguments that many of NumPy's functions take; each call of this makes new ones."""
    mask = np.array([True, False, True])
    return [
        (square(),), (row(),), (np.arange(6),), (np.array(2.5),), (square() + 1j,), (square()[None],), (mask,),
        (square()[:, :1].copy(),), (np.array([0, 0, 1.0, 2, 0]),), (np.array([1.0, np.nan]),), (3,), (True,),
        (square(), square()), (row(), row()), (square(), 0), (square(), 1), (square(), -1), (square(), 0, 1),
        (square(), 0, 1, 2), (row(), 0), (row(), 1, 0.5), (square(), float), (square()[None], 0), (square(), 0.5),
        (square(), (3, 3)), (square(), (9,)), (row(), (1, 3)), (square(), (0, 1)), (square(), ()),
        (square(), [0, 2]), (square(), np.array([0, 2])), (square(), np.array([[0, 1, 2]]), square()[:1], 0),
        (square(), square() > 3, np.array([1.0])), (mask, square(), 0), (mask, row(), row()), (1, square()),
        (square(), np.array([[0, 1, 2]]), 0),
        (square(), square(), square()), (square(), 1, square()), (square(), square()[0].copy(), 1),
        (row(), row(), row()),
        (square(), 0, row()), (square(), 0, None, row()), (square(), 0, None, square()), (row(), [2, 0, 1], 0, row()),
        (row(), 1, row()), (row(), 0, 2, row()), (square(), 50, 0, row()), (square(), 0.5, 0, row()),
        (square(), np.array([[0, 1, 2]]).T, 1, np.zeros((3, 1))), (square(), 0, 0, 1, None, np.zeros(())),
        (square(), 0, 1, None, np.zeros(())), (square() > 3, 0, np.zeros(3, bool)),
        ([square(), square()],), ([square()],), ([[1, 2], [3, 4]],), ([square() > 3], [square()]),
        ("ii->i", square()), ("ij->ji", square()), ("ij,jk->ik", square(), square()), (square(), "ij->ji"),
        (mask, [square()[0].copy()] * 2, row()), (lambda v: v, 0, square()), (lambda v, axis: v, square(), (0, 1)),
        (square(), [square() > 3], [lambda v: v + 1]), (row(), None, row()),
    ]  # fmt: skip


KEYWORDS = [
    {}, {"copy": True}, {"copy": False}, {"copy": None}, {"axis": ()}, {"axes": ()}, {"axis": 0}, {"inplace": True},
    {"overwrite_input": True}, {"overwrite_input": True, "axis": 0}, {"overwrite_input": True, "method": "lower"},
    {"keepdims": True}, {"order": "F"}, {"k": 0}, {"n": 0}, {"m": 0}, {"sparse": True, "copy": False},
    {"optimize": True}, {"dtype": float}, {"mode": "clip"}, {"shift": 0, "axis": ()}, {"write": False},
    {"a_min": 2.0}, {"min": 2.0}, {"bins": [0.0, 5.0, 10.0]}, {"subok": True}, {"refcheck": False},
]  # fmt: skip


def kind(value):
    """The kind of an argument, as the compiler knows it."""
    if type(value) is tuple:
        return K.Tuple(tuple(map(kind, value)))
    return K.of_literal(value) if isinstance(value, (bool, str, int)) else K.of(value)


ITERATORS = (zip, map, filter, enumerate, type({}.items()), type({}.values()))


def arrays(value):
    """The arrays in a value; what steps an iterator of the result spoils nothing."""
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, (memoryview, np.flatiter)):
        return [value.base if isinstance(value, np.flatiter) else np.asarray(value)]
    if isinstance(value, np.ndenumerate):
        return [value.iter.base]
    if isinstance(value, (np.nditer, np.broadcast)):
        return list(value.operands) if isinstance(value, np.nditer) else [i.base for i in value.iters]
    if isinstance(value, dict):
        return arrays(list(value.values()))
    if isinstance(value, (list, tuple, *ITERATORS)):
        return [a for item in value for a in arrays(item)]
    return []


def share(one, other):
    return any(np.shares_memory(a, b) for a in arrays(one) for b in arrays(other))


def same(one, other):
    """Whether an argument is as it was before a call."""
    if isinstance(one, np.ndarray):
        like = one.shape == other.shape and one.dtype == other.dtype and one.flags.writeable == other.flags.writeable
        return like and one.tobytes() == other.tobytes()
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    return repr(one) == repr(other) or callable(one)


class Seen:
    """What the calls of one function showed, and what the table says of these calls."""

    def __init__(self):
        self.calls = 0
        self.writes, self.claims_writes, self.shares, self.claims_shares = False, False, False, False

    def call(self, function, args, keywords):
        """Call a function and hold what it does against the table; nothing if the arguments do not suit it."""
        given = [*args, *keywords.values()]
        before = copy.deepcopy(given)
        held = [[share(a, b) for b in given] for a in given]
        found = conduct(function, list(args), keywords, kind)
        assert found is not None, "not in the table"
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                result = function(*args, **keywords)
        except Exception:
            return
        self.calls += 1
        says = {
            name: [any(v is g for v in getattr(found, name)) for g in given] for name in ("writes", "shares", "keeps")
        }
        shown = f"{function.__name__}({before}) -> {result!r}"
        changed = [not same(*pair) for pair in zip(before, given)]
        shared = [share(result, g) for g in given]
        for i, value in enumerate(given):
            assert says["writes"][i] or not changed[i], f"writes into argument {i}: {shown}"
            assert says["shares"][i] or not shared[i], f"shares memory with argument {i}: {shown}"
            for j, owner in enumerate(given):
                if i != j and changed[j] and not held[i][j] and share(owner, value):
                    assert says["writes"][j] and says["keeps"][i], f"{j} keeps {i}: {shown}"
            if value is not None and value is found.view and any(a.size for a in arrays(result)):
                assert shared[i], f"no view of argument {i}: {shown}"
        out = [w and s for w, s in zip(says["writes"], says["shares"])]
        self.writes |= any(changed)
        self.claims_writes |= any(says["writes"])
        self.shares |= any(s and not o for s, o in zip(shared, out))
        self.claims_shares |= any(s and not o for s, o in zip(says["shares"], out))

    def suits(self, leaves_out=False):
        """Each fact has been seen: nothing is said of a function that it does not do."""
        assert self.calls, "no sample suits the function"
        assert self.writes == self.claims_writes or leaves_out, "is said to write, and was not seen to"
        assert self.shares == self.claims_shares, "is said to share memory, and was not seen to"


NUMPY = {
    f: f"{module.__name__}.{name}"
    for module in (np, np.linalg, np.fft, np.lib.stride_tricks, np.ndarray)
    for name, f in vars(module).items()
    if not name.startswith("_") and in_numpy(f) and callable(f) and f not in known.OUTER
}
DAYS = np.array(["2020-01-01", "2020-02-01"], "M8[D]")
# Samples for functions that take what others do not.
OWN = {
    np.datetime_as_string: lambda: [(DAYS.copy(),)],
    np.is_busday: lambda: [(DAYS.copy(),), (DAYS.copy(), "1111100", None, None, np.zeros(2, bool))],
    np.busday_count: lambda: [(DAYS.copy(), DAYS + 9)],
    np.busday_offset: lambda: [(DAYS.copy(), 3, "forward")],
    np.ravel_multi_index: lambda: [((np.array([0, 1]), np.array([1, 2])), (3, 3))],
    np.unravel_index: lambda: [(np.array([1, 2]), (3, 3))],
    np.packbits: lambda: [(np.array([1, 0], np.uint8),)],
    np.unpackbits: lambda: [(np.array([1, 2], np.uint8),)],
    np.dsplit: lambda: [(np.ones((2, 2, 2)), 2)],
    np.polyder: lambda: [(row(), 0), (row(), 1)],
    np.polyint: lambda: [(row(), 0), (row(), 1)],
    np.digitize: lambda: [(row(), np.arange(4.0))],
    np.histogramdd: lambda: [(square(), [np.arange(4.0), np.arange(4.0), np.arange(4.0)])],
    np.histogram2d: lambda: [(row(), row(), np.arange(4.0))],
    np.put_along_axis: lambda: [(square(), np.array([[0, 1, 2]]), 9.0, 0)],
    np.fft.hfft: lambda: [(row() + 1j,)],
    np.linalg.cholesky: lambda: [(np.eye(3),)],
    np.linalg.tensorsolve: lambda: [(np.eye(3), row())],
    np.linalg.tensorinv: lambda: [(np.eye(4).reshape(2, 2, 2, 2),)],
    np.ndarray.setfield: lambda: [(row(), 9.0, float)],
    np.ndarray.getfield: lambda: [(row(), float)],
    np.ndarray.resize: lambda: [(row(), 2)],
    np.ndarray.conj: lambda: [(row(),), (row() + 1j, row() + 2j)],
    np.ndarray.conjugate: lambda: [(row(),), (row() + 1j, row() + 2j)],
    np.ndarray.to_device: lambda: [(row(), "cpu")],
}

# Functions that take `out` and do not fill it, in some releases of NumPy.
LEAVE_OUT = {np.fft.hfft, np.fft.ifft2, np.fft.irfft2, np.piecewise}


def takes(function, keywords):
    """Whether a function may take these keywords: one of C that does not say it may take any."""
    try:
        parameters = inspect.signature(function).parameters
    except ValueError:
        return True
    return all(k in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values()) for k in keywords)


def hold(function, samples):
    """Hold the table against a function of NumPy's."""
    seen = Seen()
    for keywords in KEYWORDS:
        if takes(function, keywords):
            for args in samples():
                seen.call(function, args, keywords)
    for number, args in enumerate(samples() if "out" in row_of(function).named else ()):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                result = function(*args)
        except Exception:
            continue
        if isinstance(result, (np.ndarray, np.generic)):
            for filled in (0, 1):
                seen.call(function, samples()[number], {"out": np.full_like(result, filled)})
    return seen


@pytest.mark.parametrize("function", NUMPY, ids=NUMPY.get)
def test_numpy_does_what_the_table_says(function):
    assert function in table(), "not in the table"
    hold(function, OWN.get(function, samples)).suits(function in LEAVE_OUT)


@pytest.mark.parametrize(
    "function",
    [np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray, np.require, np.asarray_chkfinite,
     np.asmatrix, np.from_dlpack, np.frombuffer, np.nditer, np.ndenumerate, np.broadcast,
     np.lib.stride_tricks.as_strided],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_functions_of_one_array(function):
    hold(function, lambda: [(square(),), (row(),), (row(), row()), (square(), square())]).suits()


@pytest.mark.parametrize(
    "name", ["T", "mT", "real", "imag", "flat", "data", "base", "shape", "strides", "dtype", "size"]
)
def test_attributes_of_arrays(name):
    views = [square(), square() + 1j, square()[::2]]
    if name == "base":
        views = [square()[:2]]
    descriptor, seen = vars(np.ndarray)[name], Seen()

    def read(array):
        return getattr(array, name)

    for view in views:
        found = conduct(descriptor, [view], {}, kind)
        shared = share(read(view), view)
        assert found.only_reads and (found.shares or not shared)
        assert found.view is None or shared
        seen.shares |= shared
        seen.claims_shares |= bool(found.shares)
    assert seen.shares == seen.claims_shares


INDICES = [
    0, np.int64(1), slice(None), slice(0, 2), None, Ellipsis, (0, 1), (slice(None), 0), (Ellipsis, 0), (0, Ellipsis, 1),
    (None, 0), [0, 2], ([0, 2],), np.array([0, 2]), np.array(1), (0, np.array([1])), (slice(None), [0, 1]), True, False,
    np.array([True, False, True]), (np.bool_(True), 0), (), (Ellipsis,), (0, 1, None), (slice(1), None, np.array([0])),
]  # fmt: skip


@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_items_of_arrays(index):
    x = square()
    found = conduct(operator.getitem, [x, index], {}, kind)
    shared = share(x[index], x)
    assert found.only_reads
    assert found.shares or not shared
    assert (found.view is x) == shared or (index is Ellipsis or isinstance(index, np.ndarray))
    assert shared or found.view is None


def test_ufuncs():
    for ufunc in (f for f in vars(np).values() if isinstance(f, np.ufunc)):
        seen = Seen()
        for args in [(row(),) * ufunc.nin, tuple(row() + 1 for _ in range(ufunc.nargs)), (square(),) * ufunc.nin]:
            seen.call(ufunc, args, {})
        for args in [(row(),) * ufunc.nin, (row().astype(int),) * ufunc.nin]:
            if ufunc.nout == 1 and ufunc.signature is None and seen.calls:
                seen.call(ufunc, args, {"out": row() + 7})
        assert not seen.shares


@pytest.mark.parametrize(
    ("method", "args"),
    [
        (np.add.at, lambda: (row(), [0, 0], 1.0)), (np.negative.at, lambda: (row(), [0])),
        (np.add.reduce, lambda: (square(), 0)), (np.add.reduce, lambda: (square(), 0, None, row())),
        (np.add.reduce, lambda: (square(), ())), (np.maximum.reduce, lambda: (square(), ())),
        (np.add.accumulate, lambda: (square(), 0, None, np.zeros((3, 3)))), (np.add.accumulate, lambda: (square(),)),
        (np.add.reduceat, lambda: (row(), [0, 1], 0, None, np.zeros(2))), (np.add.outer, lambda: (row(), row())),
    ],
)  # fmt: skip
def test_methods_of_ufuncs(method, args):
    seen = Seen()
    seen.call(method, args(), {})
    assert seen.calls == 1 and seen.writes == seen.claims_writes and seen.shares == seen.claims_shares


def held():
    return [square(), row()]


def named():
    return {"a": row(), "b": square()}


PYTHON = [
    (list.append, lambda: (held(), row())), (list.extend, lambda: (held(), held())), (list.clear, lambda: (held(),)),
    (list.insert, lambda: (held(), 0, row())), (list.reverse, lambda: (held(),)), (list.pop, lambda: (held(),)),
    (list.copy, lambda: (held(),)), (list.sort, lambda: ([2, 1],)), (list.remove, lambda: ([2, 1], 2)),
    (list.count, lambda: ([2, 1], 2)), (list.index, lambda: ([2, 1], 2)), (tuple.index, lambda: ((2, 1), 2)),
    (tuple.count, lambda: ((2, 1), 2)), (list.__getitem__, lambda: (held(), 0)),
    (list.__delitem__, lambda: (held(), 0)),
    (list.__setitem__, lambda: (held(), 0, row())), (list.__iadd__, lambda: (held(), held())),
    (list.__imul__, lambda: (held(), 2)), (tuple.__getitem__, lambda: ((row(), 1), 0)),
    (dict.clear, lambda: (named(),)), (dict.pop, lambda: (named(), "a")), (dict.pop, lambda: ({"a": 1}, "b", row())),
    (dict.pop, lambda: (named(), "c", row())), (dict.popitem, lambda: (named(),)), (dict.copy, lambda: (named(),)),
    (dict.setdefault, lambda: (named(), "c", row())), (dict.setdefault, lambda: (named(), "a", row())),
    (dict.update, lambda: (named(), {"c": row()})), (dict.get, lambda: (named(), "a")), (dict.keys, lambda: (named(),)),
    (dict.get, lambda: (named(), "c", row())), (dict.items, lambda: (named(),)), (dict.values, lambda: (named(),)),
    (dict.__setitem__, lambda: (named(), "a", row())), (dict.__getitem__, lambda: (named(), "a")),
    (dict.__delitem__, lambda: (named(), "a")), (set.add, lambda: ({1}, 2)), (set.update, lambda: ({1}, {2})),
    (set.discard, lambda: ({1}, 1)), (set.remove, lambda: ({1}, 1)), (set.clear, lambda: ({1},)),
    (set.pop, lambda: ({1},)), (set.union, lambda: ({1}, {2})), (set.difference_update, lambda: ({1}, {1})),
    (set.intersection_update, lambda: ({1}, {2})), (set.symmetric_difference_update, lambda: ({1}, {2})),
    (set.copy, lambda: ({1},)), (set.issubset, lambda: ({1}, {2})),
    (list, lambda: (held(),)), (set, lambda: ([2, 1],)), (tuple, lambda: (held(),)), (dict, lambda: (named(),)),
    (zip, lambda: (held(), held())),
    (enumerate, lambda: (held(),)), (reversed, lambda: (held(),)), (sorted, lambda: ([row()],)),
    (len, lambda: (held(),)),
    (map, lambda: (abs, held())), (filter, lambda: (None, [np.ones(1)])), (iter, lambda: (held(),)),
    (max, lambda: ([row()],)),
    (min, lambda: ([row()],)), (sum, lambda: ([], row())), (sum, lambda: ([[row()]], [])), (abs, lambda: (row(),)),
    (next, lambda: (iter(held()),)), (divmod, lambda: (row(), row())), (pow, lambda: (row(), 1)),
    (operator.add, lambda: (held(), held())), (operator.add, lambda: (row(), row())),
    (operator.mul, lambda: (held(), 2)),
    (operator.mul, lambda: (2, held())), (operator.mul, lambda: (row(), 1)),
    (operator.concat, lambda: (held(), held())),
    (operator.iadd, lambda: (row(), row())), (operator.iadd, lambda: (held(), held())),
    (operator.iadd, lambda: (1, row())),
    (operator.iadd, lambda: (row(), 1.0)), (operator.iadd, lambda: ((row(),), (row(),))),
    (operator.imul, lambda: (held(), 2)),
    (operator.imatmul, lambda: (square(), square())), (operator.iconcat, lambda: (held(), held())),
    (operator.setitem, lambda: (square(), 0, row())), (operator.setitem, lambda: (held(), 0, row())),
    (operator.setitem, lambda: (named(), "a", row())), (operator.delitem, lambda: (held(), 0)),
    (operator.getitem, lambda: (held(), 0)), (operator.getitem, lambda: (held(), slice(0, 1))),
    (operator.pos, lambda: (row(),)), (operator.truediv, lambda: (row(), 1)), (operator.pow, lambda: (row(), 1)),
    (np.ndarray.__setitem__, lambda: (row(), 0, 9.0)),
]  # fmt: skip


@pytest.mark.parametrize(("function", "args"), PYTHON)
def test_python_does_what_the_table_says(function, args):
    seen = Seen()
    seen.call(function, args(), {})
    assert seen.calls == 1


def test_each_method_of_containers_is_seen():
    seen = {f for f, _ in PYTHON}
    for f in table():
        if getattr(f, "__objclass__", None) in (list, dict) or getattr(f, "__module__", "") == "builtins":
            assert f in seen or row_of(f).positional == () or not any(row_of(f).positional), f


@pytest.mark.parametrize("name", ["shuffle", "permutation", "normal", "random", "choice", "standard_normal"])
@pytest.mark.parametrize("make", [lambda: np.random.RandomState(0), lambda: np.random.default_rng(0)])
def test_random_draws(name, make):
    bound, x = getattr(make(), name), row()
    for function, args in ((bound, [x]), (getattr(type(make()), name), [make(), x])):
        found = conduct(function, args, {}, kind)
        assert found.outer
        assert [v is x for v in found.writes] == [True] * (name == "shuffle")


def test_what_generators_fill():
    rng, filled = np.random.default_rng(0), np.zeros(3)
    given = {"random": (3, float), "standard_normal": (3, float), "standard_exponential": (3, float, "zig")}
    for name, args in {**given, "standard_gamma": (1.0, 3, float)}.items():
        assert conduct(getattr(rng, name), [*args, filled], {}, kind).writes[0] is filled
        getattr(rng, name)(*args, filled)
        assert filled.all()
        filled[:] = 0


def test_names_of_the_table_exist():
    for _, owner, names in known.ROWS:
        assert all(hasattr(owner, name) for name in names.split())


def test_nothing_is_known_of_a_function_of_the_user():
    assert conduct(lambda x: x, [row()], {}, kind) is None
    assert conduct(np.frompyfunc(abs, 1, 1), [row()], {}, kind) is None
    assert conduct(np.vectorize(abs), [row()], {}, kind) is None
