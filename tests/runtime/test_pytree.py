"""Containers come apart and together again, and cotangents gather in their shadows."""

import collections
import dataclasses
import threading
from types import SimpleNamespace

import numpy as np
import pytest

from s2s.runtime import pytree

Point = collections.namedtuple("Point", "x y")


@dataclasses.dataclass
class Layer:
    w: np.ndarray
    name: str
    scale: float = 1.0


@dataclasses.dataclass(frozen=True)
class Checked:
    x: float

    def __post_init__(self):
        if self.x <= 0:
            raise ValueError("x must be positive")


def test_leaves_come_in_order_and_none_is_one_of_them():
    tree = {"b": [1.0, None], "a": Point(2.0, "s")}
    assert sorted(map(repr, pytree.leaves(tree))) == ["'s'", "1.0", "2.0", "None"]
    leaves, structure = pytree.flatten(tree)
    again = pytree.unflatten(structure, leaves)
    assert again == tree
    assert list(again) == ["b", "a"]


def test_records_are_registered_at_first_sight():
    tree = [Layer(np.ones(2), "first"), SimpleNamespace(k=3.0)]
    doubled = pytree.map(lambda leaf: leaf if isinstance(leaf, str) else leaf * 2, tree)
    assert isinstance(doubled[0], Layer)
    assert doubled[0].name == "first"
    assert doubled[1].k == 6.0
    np.testing.assert_array_equal(doubled[0].w, [2.0, 2.0])


def test_threads_that_meet_a_record_together_register_it_once():
    @dataclasses.dataclass
    class New:
        x: float

    errors = []

    def meet():
        try:
            assert pytree.leaves([New(1.0)]) == [1.0]
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=meet) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_paths_are_written_as_in_source():
    tree = {"layers": [Layer(1.0, "a")], "p": Point(2.0, 3.0)}
    places = [place for place, _ in pytree.paths(tree)]
    assert places == ["['layers'][0].w", "['layers'][0].name", "['layers'][0].scale", "['p'].x", "['p'].y"]


def test_shadow_mirrors_with_lists_and_dicts():
    tree = ({"w": np.ones((2, 3), np.float32), "n": 3}, Layer(np.ones(2), "a"), Point(1.0, None))
    mirror = pytree.shadow(tree)
    assert mirror[0]["w"].dtype == np.float32
    assert mirror[0]["n"] == 0.0 and isinstance(mirror[0]["n"], float)
    assert mirror[1]["name"] is None
    assert mirror[1]["scale"] == 0.0
    assert mirror[2] == [0.0, None]


def test_gradient_has_the_structure_and_the_dtypes_of_the_argument():
    tree = ({"w": np.ones(2, np.float32), "n": 3, "flag": True}, Layer(np.ones(2), "a"), Point(np.float32(1.0), None))
    bar = pytree.shadow(tree)
    pytree.accumulate(bar[0], "w", np.array([1.0, 2.0]))
    pytree.accumulate(bar[1], "scale", 4.0)
    pytree.accumulate(bar[2], 0, 5.0)
    pytree.accumulate(bar[2], 1, 5.0)
    got = pytree.unshadow(tree, bar)
    assert isinstance(got[1], Layer)
    assert isinstance(got[2], Point)
    assert got[0]["w"].dtype == np.float32
    np.testing.assert_array_equal(got[0]["w"], [1.0, 2.0])
    assert (got[0]["n"], got[0]["flag"]) == (3, True)
    np.testing.assert_array_equal(got[1].w, [0.0, 0.0])
    assert (got[1].scale, got[1].name) == (4.0, "a")
    assert type(got[2].x) is np.float32
    assert got[2] == Point(5.0, None)


def test_gradient_of_a_record_that_checks_itself_is_built_without_its_init():
    got = pytree.unshadow(Checked(2.0), {"x": -3.0})
    assert got.x == -3.0


def test_slices_of_a_shadow_take_a_list():
    mirror = pytree.shadow([1.0, 2.0, 3.0])
    pytree.accumulate(mirror, slice(1, None), [5.0, 6.0])
    assert mirror == [0.0, 5.0, 6.0]


def test_nested_cotangents_add_leaf_by_leaf():
    mirror = pytree.shadow({"a": [1.0, np.ones(2)], "b": None})
    pytree.add(mirror, {"a": [2.0, np.array([1.0, 2.0])], "b": None})
    assert mirror["a"][0] == 2.0
    np.testing.assert_array_equal(mirror["a"][1], [1.0, 2.0])


def test_results_share_memory_with_nothing():
    x, frozen = np.ones(2), np.broadcast_to(1.0, (2,))
    both = np.array([1.0, 2.0])
    got = pytree.unshadow([x, x, x, x], [both, both, x, frozen])
    for i, one in enumerate(got):
        assert one.flags.writeable
        assert not np.shares_memory(one, x)
        assert not any(np.shares_memory(one, other) for other in got[i + 1 :])


def test_real_arguments_get_real_gradients():
    got = pytree.unshadow([np.ones(2), 1.0], [np.array([1 + 2j, 3 - 1j]), 2 + 5j])
    np.testing.assert_array_equal(got[0], [1.0, 3.0])
    assert got[0].dtype == np.float64
    assert got[1] == 2.0


def test_trees_of_different_structure_do_not_map():
    with pytest.raises(ValueError, match="structure"):
        pytree.map(lambda a, b: a + b, [1.0], (1.0,))
