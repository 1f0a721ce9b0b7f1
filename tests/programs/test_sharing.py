"""Programs whose names share memory in ways that were once missed. Each function stands for a kind of fault.

Functions take an array and are analytic, so that a complex step tells the derivative; where they are not, `verify`
alone compares them with differences.
"""

import itertools
import warnings

import numpy as np
import pytest

import s2s
from s2s.runtime.stores import require_in_step
from tests.programs.generator import define
from tests.programs.test_inplace import complex_step, drawn
from tests.programs.verify import leaves, verify

VECTORS = [(4,), (6,)]
TABLES = [(4, 4)]
SHARING, OF_COMPLEX = [], []


def shares(*shapes, found=SHARING):
    def register(f):
        found.extend(pytest.param(f, shape, id=f"{f.__name__}-{'x'.join(map(str, shape))}") for shape in shapes)
        return f

    return register


# --- views that come several at once ---


@shares(*VECTORS)
def halves_of_a_split(x):
    a = x * x
    p, q = np.split(a, 2)
    p *= q
    q[0] = p[1]
    return np.sum(a * a * x)


@shares(*TABLES)
def columns_of_a_split(x):
    a = x * x
    p, q = np.hsplit(a, 2)
    p *= q
    q[0] = p[1]
    a[3] *= 2.0
    return np.sum(a * a)


@shares(*VECTORS)
def parts_of_a_split_kept_in_their_list(x):
    a = x * 1.0
    parts = np.array_split(a, 3)
    a *= x[::-1]
    parts[0] *= parts[2][0]
    for part in parts:
        part *= a[0]
    return np.sum(parts[0]) * np.sum(a * parts[1][0])


@shares(*TABLES)
def rows_unpacked(x):
    a = x * x
    first, second, third, fourth = a
    first *= second
    third[1] = fourth[0]
    return np.sum(a * a)


@shares(*TABLES)
def rows_unpacked_by_a_star(x):
    a = x * x
    first, *others = a
    first *= others[0]
    others[1][0] = a[0, 1]
    return np.sum(a * a)


@shares(*TABLES)
def rows_unpacked_twice(x):
    a = x * x
    (p, q), (r, s) = a.reshape(2, 2, 4)
    p *= s
    r[1] = q[0]
    return np.sum(a * a)


@shares(*VECTORS)
def items_of_a_list_unpacked(x):
    a = x * x
    parts = [a[:2], a[2:4]]
    p, q = parts
    p *= q
    parts[0] = q
    parts[0][0] = p[1]
    return np.sum(a * a) + np.sum(parts[0])


# --- arrays of which nobody but their views is read ---


@shares(*TABLES)
def rows_of_one_table_written_in_turn(x):
    m = x * x
    y = x[0] * 1.0
    first, second = m[0], m[1]
    for i in range(3, 1, -1):
        first[i] = first[2] * 1.1
        for one in [y, second]:
            one *= x[1, 2]
            for other in [first, y]:
                other += one
    return np.sum(y)


@shares(*VECTORS)
def halves_of_a_buffer_that_is_read_no_more(x):
    base = x * x
    left, right, y = base[:2], base[1:3], np.sin(x[:2])
    for i in range(3):
        left[0] = right[1] * 0.7
        chosen = left if left[1].real > 0.3 else y
        chosen *= right
        if i == 1:
            continue
        right[i // 2] += chosen[0]
    return np.sum(left * y) + np.sum(right)


# --- views that are not of the first argument, or known when the program runs only ---


@shares(*TABLES)
def diagonal_by_einsum(x):
    a = x * x
    d = np.einsum("ii->i", a)
    d *= x[0]
    a[1] = d
    return np.sum(a * a)


@shares(*VECTORS)
def array_that_is_one_already(x):
    a = x * 1.0
    b = np.asarray(a)
    b *= 2.0
    c = np.ascontiguousarray(a[::-1])
    c[0] = 5.0
    d = np.asanyarray(b)
    d[1] = c[0] * d[0]
    return np.sum(a * a * c)


@shares(*TABLES)
def row_order_of_a_column_order(x):
    a = np.asfortranarray(x * x)
    r = a.ravel()
    r[1] = 0.0
    q = a.ravel(order="F")
    q[2] *= x[0, 0]
    return np.sum(a * a) + np.sum(r * r)


@shares(*VECTORS)
def other_array_in_the_second_round(x):
    c = np.ones_like(x)
    u = x * x
    for i in range(1, 4):
        u[3] = u[0] * c[1]
        u = np.asarray(c)
    return np.sum(c * x)


# --- arrays without dimensions ---


@shares(*VECTORS)
def ellipsis_of_an_array_without_dimensions(x):
    z = np.array(x[0] * x[1])
    w = z
    w[...] *= x[2]
    v = z[...]
    v *= x[0]
    z[...] = z * w
    return z * v * x[1]


@shares(*VECTORS)
def ellipsis_that_leaves_no_dimension(x):
    y = x * 1.0
    q = y[1, ...]
    q *= 2.0
    y[1] += q
    q[...] = y[0] * y[1]
    s = y[2]
    s *= 3.0
    return np.sum(y * y) * q * s


@shares(*VECTORS)
def array_without_dimensions_in_a_loop(x):
    z = np.array(x[0])
    for i in range(3):
        w = z[...]
        w *= x[i]
        z[()] = np.sin(w) + z
        if z.real > 4.7:
            break
    return z * w


# --- lists hold what was put into them ---


@shares(*VECTORS)
def operand_read_from_a_list_that_holds_what_is_written(x):
    u = x * 1.0
    v = u * 0.5
    held = [v]
    d = {"p": u}
    held.append(u)
    d["p"] += v * held[-1]
    return np.sum(d["p"] * x)


@shares(*VECTORS)
def operand_read_from_an_item_that_was_stored(x):
    u = x * 1.0
    held = [x * 2.0, x * x]
    held[0] = u
    t = np.sin(held[0]) * u
    u *= x
    return np.sum(t * held[0])


@shares(*VECTORS)
def list_of_two_names_that_is_appended_to(x):
    held = [x * 1.0]
    other = held
    c = x * x
    held.append(c)
    c *= x[0]
    t = other[-1] * x
    c[1] = t[0]
    return np.sum(other[-1] * t)


@shares(*VECTORS)
def part_of_a_list_that_is_written_into(x):
    a = x * x
    held = [a, a[1:]]
    others = held[:]
    others[0] = others[1]
    others[0][0] = a[3]
    held[1] *= 2.0
    return np.sum(held[0] * x) + np.sum(others[0] * held[1])


# --- what is chosen when the program runs ---


@shares(*VECTORS)
def reversed_view_that_is_chosen(x):
    a, b = x * x, np.sin(x)
    y = a[::-1] if np.sum(x.real) > -9.0 else b
    y *= x
    y[0] = x[1] * y[1]
    return np.sum(a * a * x + b)


@shares(*TABLES)
def transposed_view_that_is_chosen(x):
    a, b = x * x, np.sin(x)
    y = a.T if np.sum(x.real) > -99.0 else b
    y *= x
    a[0] = y[1]
    y[2] = a[:, 3] * x[0]
    return np.sum(y * a * x + b)


# --- the order of evaluation ---


def tripled(values):
    values *= 3.0
    return values


@shares(*VECTORS)
def item_read_before_a_call_that_writes(x):
    c = x * x
    v = c[1:]
    s = c[0] * np.sum(tripled(c)) + c[1]
    s = v[0] * np.sum(tripled(c)) - v[1] * tripled(c[2:])[0]
    c[2] = c[0] - tripled(c[1:])[0] * c[1]
    return s * c[0] + c[2]


@pytest.mark.parametrize(("f", "shape"), SHARING)
@pytest.mark.parametrize("seed", range(2))
def test_sharing(f, shape, seed):
    x = drawn(shape, seed)
    outcome = verify(f, (x,), each_stage=seed == 1, second=seed == 0)
    assert outcome.finite and not outcome.kink and not outcome.raised
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", s2s.FallbackWarning)
        np.testing.assert_allclose(s2s.grad(f)(x), complex_step(f, x), rtol=1e-11, atol=1e-12)


# --- real and imaginary parts ---


@shares(*VECTORS, found=OF_COMPLEX)
def real_part_written(x):
    a = x * (1 + 2j)
    r = a.real
    r *= x
    return np.sum(np.abs(a) ** 2 * x)


@shares(*VECTORS, found=OF_COMPLEX)
def imaginary_part_written(x):
    a = x * (1 + 2j)
    i = a.imag
    i[0] = x[1] * x[2]
    i *= x
    return np.sum(np.abs(a + 1j) ** 2 * x)


@shares(*VECTORS, found=OF_COMPLEX)
def both_parts_written(x):
    a = x * (1 + 2j)
    r, i = a.real, a.imag
    r *= x
    i[1:] = r[:-1]
    a *= 1j
    a[1] = 2j * x[0]
    return np.sum(np.abs(a) ** 2 * x) + np.sum(r * i)


@shares(*VECTORS, found=OF_COMPLEX)
def part_of_a_part_written(x):
    a = x * (1 + 2j)
    i = np.imag(a[1:])[::-1]
    r = np.real(a)
    i *= r[1:]
    a.real = x * x
    a.imag[1:] = x[0] * r[0]
    return np.sum(np.abs(a) ** 3)


@pytest.mark.parametrize(("f", "shape"), OF_COMPLEX)
def test_parts_of_complex_arrays(f, shape):
    outcome = verify(f, (drawn(shape, 0),), second=True)
    assert outcome.second and not outcome.kink


# --- writes that read what they have written ---


def overlapping(n):
    """Writes of a part of y into another one, all of n places in an array of twelve."""
    slices = [slice(a, a + n * s, s) for s in (1, 2, 3) for a in (0, 1, 2, 5) if a + (n - 1) * s < 12]
    slices += [slice(11, 11 - n, -1), slice(9, 9 - n, -1)]
    for to, source in itertools.product(slices, slices):
        yield f"y[{to.start}:{to.stop}:{to.step}] = y[{source.start}:{source.stop}:{source.step}]"


OTHERS = """
y[np.arange(12) % 3 == 0] = y[:4]; y[np.arange(12) % 3 != 0] = y[4:]; y.flat[2:9] = y[::-1][1:8]; y.flat[::-1] = y
y[2:8] = y[::2]; y.reshape(3, 4)[1] = y.reshape(3, 4)[:, 2:].T.reshape(-1)[:4]
y.reshape(3, 4)[1:, 2] = y.reshape(3, 4)[1, 1:3]; y.reshape(3, 4).T[0] = y.reshape(3, 4)[1, :3]; y[:] = y[3:4]
np.copyto(y[1:5], y[::2][1:5]); np.copyto(y[4:10], y[::2], where=y[:6] > -9.0); np.put(y, [0, 1, 2, 5], y[3:7])
np.place(y, np.arange(12) % 3 != 0, y[1:5]); np.putmask(y, y > 0.1, y[::-1]); np.add.at(y, [0, 0, 1], y[1:4])
np.concatenate([y[2:4], y[:2]], out=y[1:5]); np.stack([y[2:4], y[:2]], out=y[3:7].reshape(2, 2)); y[[3, 1]] = y[1:3]
np.cumsum(y[:6], out=y[4:10]); np.add(y[:6:2], y[1:4], out=y[2:5]); np.fill_diagonal(y.reshape(3, 4), y[1:4])
"""
WRITES = [*overlapping(4), *(line.strip() for line in OTHERS.replace("\n", ";").split(";") if line.strip())]


def as_if_copied(write):
    """The write on a copy of what it reads, as numbers of elements."""
    y, copy = np.arange(12), np.arange(12)
    left, right = write.split(" = ") if " = " in write else ("", "")
    exec(write, {"y": y, "np": np})
    exec(f"{left} = ({right}).copy()", {"y": copy, "np": np})
    return np.array_equal(y, copy)


@pytest.mark.parametrize("seed", range(4))
def test_writes_that_overlap_are_right_or_refused(seed):
    x, refused = drawn((12,), seed), 0
    for write in WRITES[seed::4]:
        f = define(f"def f(x):\n    y = x * x\n    {write}\n    return np.sum(y * y * x)\n")
        for strict in (True, False):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", s2s.FallbackWarning)
                try:
                    gradient = s2s.grad(f, strict=strict)(x)
                except s2s.UnsupportedSyntaxError:
                    continue
                except s2s.InplaceModificationError as refusal:
                    refused += 1
                    assert "a copy of what is read" in str(refusal)
                    continue
            np.testing.assert_allclose(gradient, central(f, x), rtol=1e-5, atol=1e-7, err_msg=write)
    assert refused


@pytest.mark.parametrize("write", [w for w in overlapping(4) if as_if_copied(w)][::5])
def test_writes_that_numpy_does_in_a_safe_order_are_compiled(write):
    f = define(f"def f(x):\n    y = x * x\n    {write}\n    return np.sum(y * y * x)\n")
    x = drawn((12,), 0)
    np.testing.assert_allclose(s2s.grad(f, strict=True)(x), central(f, x), rtol=1e-5, atol=1e-7)


def central(f, x, h=1e-5):
    steps = h * np.eye(x.size)
    return np.array([(f(x + step) - f(x - step)) / (2 * h) for step in steps])


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128])
def test_order_of_an_assignment_is_found_for_every_precision(dtype):
    y = np.zeros(12, dtype)
    require_in_step(y[1:9:2], y[4:8])
    require_in_step(y[2:6], y[2:10:2])
    require_in_step(y[1:9:2], np.zeros(4))
    require_in_step(y[4:0:-1], y[0:8:2])
    for region, value in [(y[0:8:2], y[1:5]), (y[2:8], y[::2])]:
        with pytest.raises(s2s.InplaceModificationError, match="still reads"):
            require_in_step(region, value)


def test_goldens_hold_no_check_of_the_order():
    def f(c):
        u = c * c
        u[1:] = u[:-1]
        u[::2] = u[1::2]
        u[:] = u[::-1]
        return np.sum(u * c)

    x = drawn((6,), 0)
    assert verify(f, (x,)).compiled
    assert "require_in_step" not in s2s.grad(f).source(x)


# --- auxiliary results ---


def buffer_beside_the_value(x):
    y = x * 2.0
    y[0] *= y[1]
    s = np.sum(y * y * x)
    y[1:] *= y[0]
    return s + np.sum(y * y), (y, [y[1:]], s)


def buffer_written_in_a_loop_that_is_left(x):
    y = x * 1.0
    for i in range(len(x)):
        y[i] = np.sin(y[i - 1]) * y[i]
        if y[i] > 0.61:
            break
    return np.sum(y * y), y


@pytest.mark.parametrize("f", [buffer_beside_the_value, buffer_written_in_a_loop_that_is_left])
def test_auxiliary_results_are_what_the_function_returns(f):
    x = drawn((4,), 1)
    (value, aux), gradient = s2s.value_and_grad(f, has_aux=True, strict=True)(x)
    expected, others = f(x.copy())
    assert value == expected
    for got, want in zip(leaves(aux), leaves(others), strict=True):
        np.testing.assert_array_equal(got, want)
    np.testing.assert_allclose(gradient, central(lambda x: f(x)[0], x), rtol=1e-6, atol=1e-8)


# --- no places at all ---


def nowhere(x):
    a = x * x
    a[[]] = 1.0
    a[np.array([], int)] *= 2.0
    e = a[len(x) :]
    e *= 2.0
    e += a[:0]
    a[len(x) :] = 3.0
    e[:] = a[len(x) :]
    return np.sum(a * a) + np.sum(e)


@pytest.mark.parametrize("n", [0, 1, 4])
def test_writes_to_no_places(n):
    x = drawn((n,), 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", s2s.FallbackWarning)
        np.testing.assert_allclose(s2s.grad(nowhere)(x), 4 * x**3, rtol=1e-12)


def test_out_of_constants():
    def f(x):
        y = x * 2.0
        np.sin(0.35, out=y)
        y[1:] *= x[0]
        return np.sum(y)

    assert not verify(f, (drawn((4,), 0),), second=True).raised


# --- items that are replaced by others that carry no derivative ---


def number_replaced_by_an_integer(x):
    d = {"w": x, "s": x[0] * 2.0}
    t = d["s"] * x
    d["s"] = 1
    return np.sum(d["w"] * t) * d["s"] + x[1]


def numbers_of_a_list_replaced(x):
    held = [x[0], x[1] * 3.0, x]
    s = held[0] * held[1]
    held[1] = 2
    held[0] = held[2][1]
    return s * held[1] + held[0] * np.sum(held[2])


def array_replaced_by_an_integer(x):
    d = {"w": x * x, "s": x}
    t = np.sum(d["w"] * x)
    d["w"] = 3
    return t * d["w"] + np.sum(d["s"])


@pytest.mark.parametrize("f", [number_replaced_by_an_integer, numbers_of_a_list_replaced, array_replaced_by_an_integer])
def test_items_replaced_by_integers(f):
    x = drawn((4,), 2)
    assert verify(f, (x,), second=True).finite
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", s2s.FallbackWarning)
        np.testing.assert_allclose(s2s.grad(f)(x), central(f, x), rtol=1e-6, atol=1e-8)


def item_of_a_list_that_grows_later(m, held, n):
    y = m
    for _ in range(n):
        y = held[1]
    held.append(1.0)
    return np.sum(y * y)


@pytest.mark.parametrize("n", [0, 2])
def test_shadow_of_a_list_is_made_when_the_list_is_as_it_was(n):
    outcome = verify(item_of_a_list_that_grows_later, (drawn((3, 3), 0), [0.5, drawn((3,), 1)], n), second=True)
    assert outcome.compiled and outcome.finite
