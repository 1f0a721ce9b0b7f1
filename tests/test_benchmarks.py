"""The programs that are timed are right: the gradients by hand agree with differences, and s2s with those by hand."""

import importlib.util
import pathlib
import sys

import numpy as np
import pytest

FOLDER = pathlib.Path(__file__).parents[1] / "benchmarks"


def load_contest():
    spec = importlib.util.spec_from_file_location("contest", FOLDER / "contest.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["contest"] = module
    spec.loader.exec_module(module)
    return module


contest = load_contest()


def moved(tree, step, rng):
    """The tree with all its floats moved along a random direction, and that direction."""
    if isinstance(tree, dict):
        pairs = {k: moved(v, step, rng) for k, v in tree.items()}
        return {k: v for k, (v, _) in pairs.items()}, {k: d for k, (_, d) in pairs.items()}
    direction = rng.normal(size=np.shape(tree))
    if isinstance(tree, float):
        return tree + step * float(direction), float(direction)
    return tree + step * direction, direction


def slope(program, args, h=1e-7):
    """The derivative of the primal along a random direction by differences, and the directions of the arguments."""
    positions = contest.argnums(program)
    positions = positions if isinstance(positions, tuple) else (positions,)
    ends = []
    for step in (h, -h):
        rng = np.random.default_rng(1)
        changed, directions = list(args), []
        for i in positions:
            changed[i], direction = moved(args[i], step, rng)
            directions.append(direction)
        ends.append(program.primal(*changed))
    return (ends[0] - ends[1]) / (2 * h), directions


@pytest.mark.parametrize("name", contest.NAMES)
def test_gradient_by_hand_agrees_with_differences(name):
    program = contest.load(name)
    args = program.args()
    want, directions = slope(program, args)
    gradient = contest.leaves(program.by_hand(*args))
    got = sum(np.vdot(g, d) for g, d in zip(gradient, contest.leaves(directions), strict=True))
    assert got == pytest.approx(want, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("name", contest.NAMES)
def test_s2s_agrees_with_gradient_by_hand(name):
    program = contest.load(name)
    contest.verify({"by hand": program.by_hand, "s2s": contest.with_s2s(program)}, program.args())
