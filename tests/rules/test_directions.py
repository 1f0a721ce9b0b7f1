"""Tangents equal differences, and cotangents are their transposes: over calls that the catalog's samples leave out."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

from tests.rules.checking import check

rng = np.random.default_rng(3)
START = rng.bit_generator.state


@pytest.fixture(autouse=True)
def same_numbers_in_every_order() -> None:
    rng.bit_generator.state = START


def real(*shape: int) -> Any:
    return rng.normal(size=shape)


def cplx(*shape: int) -> Any:
    return rng.normal(size=shape) + 1j * rng.normal(size=shape)


def regular(*shape: int) -> Any:
    return real(*shape) + 4 * np.eye(shape[-1])


def symmetric(*shape: int) -> Any:
    a = real(*shape)
    return a @ np.swapaxes(a, -1, -2) + np.diag(np.arange(1.0, shape[-1] + 1))


def hermitian(*shape: int) -> Any:
    a = cplx(*shape)
    return a @ np.conj(np.swapaxes(a, -1, -2)) + np.diag(np.arange(1.0, shape[-1] + 1))


SHAPES = [
    ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 3), (3, 4)), ((5, 2, 3), (3,)), ((5, 2, 3), (3, 4)),
    ((3,), (5, 3, 4)), ((2, 3), (5, 3, 4)), ((5, 2, 3), (5, 3, 4)), ((1, 2, 3), (5, 3, 4)), ((6, 1, 2, 3), (5, 3, 4)),
]  # fmt: skip


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@pytest.mark.parametrize("make", [real, cplx])
def test_matmul_of_all_ranks(shapes: Any, make: Any) -> None:
    check(operator.matmul, make(*shapes[0]), make(*shapes[1]), wrt=("x", "y"))


DOTS = [
    ((), (3,)), ((2, 3), ()), ((), ()), ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 3), (3, 4)),
    ((5, 2, 3), (3,)), ((5, 2, 3), (3, 4)), ((3,), (5, 3, 4)), ((2, 3), (5, 3, 4)), ((5, 2, 3), (6, 3, 4)),
]  # fmt: skip


@pytest.mark.parametrize("shapes", DOTS, ids=str)
def test_dot_of_all_ranks(shapes: Any) -> None:
    check(np.dot, real(*shapes[0]), cplx(*shapes[1]), wrt="b")
    check(np.dot, cplx(*shapes[0]), real(*shapes[1]), wrt="a")


INNERS = [((), (3,)), ((2, 3), ()), ((3,), (3,)), ((2, 3), (3,)), ((3,), (4, 3)), ((2, 3), (4, 3)), ((5, 2, 3), (4, 3))]


@pytest.mark.parametrize("shapes", INNERS, ids=str)
def test_inner_of_all_ranks(shapes: Any) -> None:
    check(np.inner, real(*shapes[0]), real(*shapes[1]), wrt=("a", "b"))


@pytest.mark.parametrize("axes", [0, 1, 2, ([0], [2]), ((1, 0), (0, 1)), ([2, 0], [1, 2]), ([-1], [-3])], ids=str)
def test_tensordot_over_all_kinds_of_axes(axes: Any) -> None:
    a, b = real(3, 3, 3), real(3, 3, 3)
    check(np.tensordot, a, b, axes, wrt=("a", "b"))


@pytest.mark.parametrize(
    "call",
    [
        ("ij,jk", (2, 3), (3, 4)), ("ij,jk->ki", (2, 3), (3, 4)), ("i,j->", (2,), (3,)), ("ii,i->i", (3, 3), (3,)),
        ("iij,j->i", (2, 2, 3), (3,)), ("...i,...i->...", (4, 3), (4, 3)), ("...i,i", (4, 3), (3,)),
        ("b...ij,jk", (2, 5, 3, 4), (4, 2)), ("ij,ij->ij", (1, 3), (4, 3)),
        ("iii,i->", (3, 3, 3), (3,)),
    ],
    ids=str,
)  # fmt: skip
def test_einsum(call: Any) -> None:
    subscripts, a, b = call
    check(np.einsum, subscripts, cplx(*a), cplx(*b), wrt=("a1", "a2"))


REDUCTIONS = [
    {}, {"axis": 0}, {"axis": -1}, {"axis": (0, 2)}, {"axis": (-1, 0)}, {"axis": ()}, {"keepdims": True},
    {"axis": 1, "keepdims": True}, {"axis": (0, 1), "keepdims": True},
]  # fmt: skip


@pytest.mark.parametrize("kwargs", REDUCTIONS, ids=str)
@pytest.mark.parametrize("function", [np.sum, np.mean, np.prod, np.var, np.std, np.max, np.min])
def test_reductions_over_all_kinds_of_axes(function: Any, kwargs: Any) -> None:
    if kwargs.get("axis") == () and function in (np.std, np.var, np.max, np.min):
        pytest.skip("no reduction at all")
    check(function, rng.permutation(36).reshape(3, 3, 4) / 9.0, wrt="a", **kwargs)


@pytest.mark.parametrize("kwargs", REDUCTIONS[:3] + REDUCTIONS[6:8], ids=str)
@pytest.mark.parametrize("function", [np.sum, np.mean, np.prod, np.var, np.std])
def test_masked_reductions(function: Any, kwargs: Any) -> None:
    a = real(4, 3, 4)
    where = np.ones((4, 3, 4), bool)
    where[0, 1, 2] = where[1, 0, 0] = where[3, 0, :2] = False
    check(function, a, wrt="a", where=where, **kwargs)


def test_complex_moments() -> None:
    check(np.var, cplx(3, 4), 0, wrt="a")
    check(np.std, cplx(3, 4), 1, wrt="a", ddof=1, keepdims=True)


def test_starting_values() -> None:
    check(np.sum, real(3, 4), 0, wrt=("a", "initial"), initial=1.5)
    check(np.prod, real(3, 4), 1, wrt=("a", "initial"), initial=1.5)


def test_given_means() -> None:
    a = real(3, 4)
    check(np.var, a, 1, wrt=("a", "mean"), mean=real(3, 1))
    check(np.std, a, 0, wrt=("a", "mean"), mean=real(1, 4), ddof=1)


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_running_sums_and_products(axis: Any) -> None:
    check(np.cumsum, real(3, 4), axis, wrt="a")
    check(np.cumprod, real(3, 4), axis, wrt="a")
    zeros = real(3, 4)
    zeros[1] = zeros[2, 2] = 0
    check(np.cumprod, zeros, axis, wrt="a")
    check(np.prod, zeros, axis, wrt="a")


@pytest.mark.parametrize("order", ["C", "F", "A", "K"])
@pytest.mark.parametrize("a", [real(2, 3, 4), real(2, 3, 4).T, np.asfortranarray(real(2, 3, 4)), real(4, 6)[::2, ::-1]])
def test_flattening_in_all_orders(order: str, a: Any) -> None:
    check(np.ravel, a, order, wrt="a")
    check(np.ndarray.flatten, a, order, wrt="a")
    if order != "K":
        check(np.reshape, a, (a.size // 2, 2), order, wrt="a")


def test_methods_that_take_sizes_and_axes_one_by_one() -> None:
    a = real(2, 3, 4)
    for sizes in [(6, 4), ((6, 4),), (-1,), (4, -1)]:
        check(np.ndarray.reshape, a, *sizes, wrt="a")
    for axes in [(), (2, 0, 1), ((2, 0, 1),), (-1, 0, 1), (None,)]:
        check(np.ndarray.transpose, a, *axes, wrt="a")
    for where in [(5,), (1, 2, 3), ((1, 2, 3),)]:
        check(np.ndarray.item, a, *where, wrt="a")
    check(np.ndarray.item, real(1, 1), wrt="a")
    check(np.ndarray.tolist, a, wrt="a")


def test_axes_moved_about() -> None:
    a = real(2, 3, 4)
    for axis, start in [(2, 0), (0, 3), (1, 2), (-1, 1), (0, -1)]:
        check(np.rollaxis, a, axis, start, wrt="a")
    check(np.rot90, a, 3, (2, 0), wrt="m")
    check(np.moveaxis, a, (0, -1), (1, 0), wrt="a")
    check(np.roll, a, (1, -2), (0, 2), wrt="a")
    check(np.flip, a, (0, 2), wrt="m")


@pytest.mark.parametrize("offset", [-2, -1, 0, 1, 3])
def test_diagonals(offset: int) -> None:
    check(np.diag, real(3, 4), offset, wrt="v")
    check(np.diag, real(3), offset, wrt="v")
    check(np.diagonal, real(2, 3, 4), offset, 2, 0, wrt="a")
    check(np.trace, real(2, 3, 4), offset, 1, 2, wrt="a")


INDICES = [
    0, -1, slice(1, None), (slice(None), 2), (Ellipsis, 1), (None, 1), (0, slice(None, None, -1)), np.int64(1), True,
    [0, 0, 1], np.array([[0, 1], [1, 1]]), (slice(None), [2, 2, 0]), ([0, 1, 0], [2, 2, 2]), (1, [0, 0]),
    ([1, 1], slice(1, 3)), ([0, 1], slice(None), [1, 1]), (np.array(1),), ([0, 0], None, 1), np.array([], dtype=int),
]  # fmt: skip


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_indices_of_all_kinds(index: Any) -> None:
    check(operator.getitem, real(2, 3, 4), index, wrt="a")
    check(operator.getitem, cplx(2, 3, 4), index, wrt="a")


def test_masks() -> None:
    a = real(3, 4)
    check(operator.getitem, a, a > 0, wrt="a")
    check(operator.getitem, a, (slice(None), np.array([True, False, True, True])), wrt="a")
    check(operator.getitem, a, (np.array([True, False, True]), [1, 1]), wrt="a")


def test_gathering_functions() -> None:
    a = real(3, 4)
    for mode in ("raise", "clip", "wrap"):
        check(np.take, a, [2, 0, 2], 0, None, mode, wrt="a")
    for mode in ("clip", "wrap"):
        check(np.take, a, [-5, 7, 1], 1, None, mode, wrt="a")
        check(np.take, a, [[-20, 5], [5, 30]], None, None, mode, wrt="a")
    check(np.take_along_axis, a, np.array([[0, 3, 3], [1, 1, 1], [2, 0, 2]]), 1, wrt="arr")
    check(np.take_along_axis, a, np.array([[2, 2, 0, 0]]), 0, wrt="arr")
    check(np.take_along_axis, a, np.array([2, 2, 7]), None, wrt="arr")
    check(np.repeat, a, 2, wrt="a")
    check(np.repeat, a, [0, 3, 1], 0, wrt="a")
    check(np.repeat, a, 3, -1, wrt="a")
    for reps in (2, (2, 1), (3, 1, 2), (1,), (0, 2)):
        check(np.tile, a, reps, wrt="A")


def test_joining_and_splitting() -> None:
    parts = [real(2, 3), real(1, 3), real(4, 3)]
    check(np.concatenate, parts, wrt="arrays")
    check(np.concatenate, tuple(parts), None, wrt="arrays")
    check(np.concatenate, real(2, 3, 4), 1, wrt="arrays")
    check(np.stack, [real(2, 3), cplx(2, 3)], -1, wrt="arrays")
    check(np.stack, real(2, 3, 4), 2, wrt="arrays")
    check(np.vstack, [real(3), real(2, 3)], wrt="tup")
    check(np.hstack, [real(3), real(2)], wrt="tup")
    check(np.hstack, [real(3, 2), real(3, 1)], wrt="tup")
    check(np.dstack, [real(3), real(1, 3), real(1, 3, 2)], wrt="tup")
    check(np.column_stack, [real(3), real(3, 2)], wrt="tup")
    check(np.split, real(4, 6), [1, 3], 1, wrt="ary")
    check(np.array_split, real(7, 2), 3, wrt="ary")


def test_arrays_of_nested_sequences() -> None:
    check(np.array, [1.5, 2.5, 3], wrt="object")
    check(np.array, [[1.5, 2.5], (3.5, 4.0)], wrt="object")
    check(np.array, [real(2, 3), real(2, 3)], wrt="object")
    check(np.array, 1.5, wrt="object", ndmin=2)
    check(np.asarray, [[1.5, 2.5], [3.5, 4.5]], wrt="a")


def test_ranges() -> None:
    check(np.linspace, real(2), real(3, 1), 5, wrt=("start", "stop"))
    check(np.linspace, 0.5, 2.5, 4, False, True, wrt=("start", "stop"))
    check(np.linspace, real(2), real(2), 5, axis=-1, wrt=("start", "stop"))
    check(np.linspace, 0.5, 2.5, 1, wrt=("start", "stop"))
    check(np.arange, 0.5, 3.25, 0.7, wrt=("start", "step"))
    check(np.full, (2, 3), real(3), wrt="fill_value")
    check(np.full_like, real(2, 3), 1.5, wrt="fill_value")


def test_differences() -> None:
    a = real(3, 4, 2)
    for n in range(4):
        check(np.diff, a, n, 1, wrt="a")
    check(np.diff, a, 2, 1, real(3, 2, 2), 0.5, wrt=("a", "prepend", "append"))
    check(np.diff, a, axis=0, append=1.5, wrt=("a", "append"))


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "symmetric", "wrap", "mean", "maximum", "minimum"])
def test_padding(mode: str) -> None:
    a = rng.permutation(12).reshape(3, 4) / 5.0
    for width in (1, (2, 0), ((1, 2), (0, 3)), {1: 2}):
        check(np.pad, a, width, mode, wrt="array")


def test_padding_by_options() -> None:
    a = rng.permutation(12).reshape(3, 4) / 5.0
    check(np.pad, a, 2, "linear_ramp", wrt="array")
    check(np.pad, a, 2, "reflect", wrt="array", reflect_type="odd")
    check(np.pad, a, ((1, 2), (3, 1)), "maximum", wrt="array", stat_length=((2, 1), (1, 3)))
    check(np.pad, a, 2, "mean", wrt="array", stat_length=2)
    check(np.pad, a, 1, wrt=("array", "constant_values"), constant_values=1.5)
    check(np.pad, a, ((1, 2), (3, 1)), wrt="constant_values", constant_values=real(2, 2))


def test_choices() -> None:
    a, b = real(3, 4), real(4)
    check(np.where, a > 0, a, b, wrt=("x", "y"))
    check(np.where, b > 0, 1.5, a, wrt=("x", "y"))
    check(np.select, [a > 1, a > 0], [a, b], 0.5, wrt=("choicelist", "default"))
    check(np.clip, a, -0.5, b, wrt=("a", "a_max"))
    check(np.clip, a, wrt=("a", "min"), min=-0.3)
    check(np.ndarray.clip, a, None, b, wrt=("a", "max"))
    check(max, 1.5, 2.5, wrt=("a", "b"))
    check(min, 1.5, 2.5, 0.5, wrt=("a", "b", "c"))
    check(max, [1.5, 2.5, 0.5], wrt="a", key=lambda v: -v)
    check(max, 1.5, -2.5, wrt=("a", "b"), key=abs)
    check(min, real(5), wrt="a")
    check(sum, [real(3), real(2, 3), 1.5], wrt="iterable")
    check(sum, real(3, 2), real(2), wrt=("iterable", "start"))


def test_systems() -> None:
    check(np.linalg.inv, regular(2, 3, 3), wrt="a", tolerance=1e-6)
    for a, b in [((3, 3), (3,)), ((3, 3), (3, 2)), ((2, 3, 3), (3,)), ((2, 3, 3), (3, 2)), ((3, 3), (2, 3, 2))]:
        check(np.linalg.solve, regular(*a), real(*b), wrt=("a", "b"))
    check(np.linalg.solve, regular(2, 3, 3) + 1j * real(2, 3, 3), cplx(2, 3, 1), wrt=("a", "b"))
    check(np.linalg.det, regular(2, 3, 3) + 1j * real(2, 3, 3), wrt="a", tolerance=1e-6)
    check(np.linalg.slogdet, regular(2, 3, 3), wrt="a")
    check(np.linalg.slogdet, regular(2, 3, 3) + 1j * real(2, 3, 3), wrt="a")


def test_determinants_of_singular_matrices() -> None:
    for rank in (0, 1, 2):
        a = real(3, rank) @ real(rank, 3)
        check(np.linalg.det, a, wrt="a")
        check(np.linalg.det, np.stack([a, regular(3, 3)]), wrt="a", tolerance=1e-6)
    check(np.linalg.det, cplx(3, 1) @ cplx(1, 3), wrt="a")


NORMS = [
    {}, {"axis": 0}, {"axis": 1, "keepdims": True}, {"keepdims": True}, {"ord": 1, "axis": 0}, {"ord": 3, "axis": 0},
    {"ord": 2, "axis": 1}, {"ord": 0.5, "axis": 1}, {"ord": np.inf, "axis": 0}, {"ord": -np.inf, "axis": 1},
    {"ord": 1}, {"ord": -1}, {"ord": np.inf}, {"ord": -np.inf}, {"ord": 2}, {"ord": -2}, {"ord": "fro"}, {"ord": "nuc"},
    {"ord": "fro", "axis": (1, 0), "keepdims": True}, {"ord": 1, "axis": (1, 0)},
]  # fmt: skip


@pytest.mark.parametrize("kwargs", NORMS, ids=str)
def test_norms(kwargs: Any) -> None:
    check(np.linalg.norm, real(3, 4), wrt="x", **kwargs)
    check(np.linalg.norm, cplx(3, 4), wrt="x", **kwargs)


def test_norms_of_stacks() -> None:
    for ord in ("fro", "nuc", 1, np.inf, 2, None):
        check(np.linalg.norm, real(2, 3, 4), wrt="x", ord=ord, axis=(2, 0))
