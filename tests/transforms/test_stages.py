"""Every stage can be shown, read and executed."""

import ast
import math
from dataclasses import replace

import numpy as np
import pytest

import s2s
from s2s import core
from s2s import kinds as K
from s2s.transforms.pipeline import BEHIND, check_order, passes
from s2s.transforms.task import Task
from tests.goldens.test_goldens import NAMES, Golden
from tests.programs.verify import check_stages, stages_of, verify


def smooth(x, u):
    s = x
    for v in u:
        s = s * 0.5 + math.tanh(v * s)
        if s > 2.0:
            break
    return s


ARGS = 0.7, np.array([0.3, -0.8, 1.2])


def test_stages_are_the_passes_by_name():
    shown = s2s.value_and_grad(smooth, (0, 1)).stages(*ARGS)
    steps = passes(Task("value_and_grad", program=None))
    assert next(iter(shown)) == "lower"
    assert len(shown) == len(steps) + 1
    assert {step.__name__ for step in steps} <= set(shown)


@pytest.mark.parametrize("mode", ["grad", "vjp", "jvp"])
def test_no_pass_runs_before_what_it_needs(mode):
    """Not all orders that are wrong give errors: without `stores`, writes into memory have no derivative."""
    steps = passes(Task(mode, program=None))
    check_order(steps)
    for step, needed in BEHIND.items():
        for first in needed if step in steps else ():
            before = tuple(other for other in steps if other is not first)
            with pytest.raises(AssertionError, match=f"runs before .*{first.__name__}"):
                check_order(before)
            with pytest.raises(AssertionError, match=f"runs before .*{first.__name__}"):
                check_order((*before, first))


def test_stages_are_python():
    for name, text in s2s.grad(smooth).stages(*ARGS).items():
        compile(text, name, "exec")


def test_last_stage_is_the_source():
    gradient = s2s.grad(smooth, strict=True)
    last = list(gradient.stages(*ARGS).values())[-1]
    assert ast.dump(ast.parse(last)) == ast.dump(ast.parse(gradient.source(*ARGS)))


def test_names_of_ours_are_gone_in_the_end():
    shown = s2s.grad(smooth).stages(*ARGS)
    assert "·" in shown["reverse"] and "·" not in shown["comment"]


def test_stages_of_what_is_not_compiled_say_why():
    def f(x):
        return locals()["x"] * x

    with pytest.raises(s2s.UnsupportedSyntaxError, match="a call of locals"):
        s2s.grad(f).stages(0.3)


@pytest.mark.parametrize("mode", ["grad", "jvp"])
def test_a_pass_leaves_its_input_as_it_was(mode):
    driver = s2s.value_and_grad(smooth, (0, 1), strict=True).driver
    kinds = {name: K.of(value) for name, value in zip(driver.layout.names, ARGS)}
    task = replace(driver.task(kinds), mode=mode)
    stages = [driver.lowered(kinds, None)]
    texts = [_text(stages[0])]
    for step in passes(task):
        stages.append(step(stages[-1], task))
        assert texts == [_text(program) for program in stages[:-1]], f"{step.__name__} has changed a stage before it"
        texts.append(_text(stages[-1]))


def _text(program):
    from s2s.codegen.writer import write_function

    return write_function(program)


@pytest.mark.parametrize("name", NAMES)
def test_goldens_are_right_at_every_stage(name, rng):
    golden = Golden(name)
    args = golden.args(rng)
    outcome = verify(golden.primal, args, list(golden.positions()))
    assert outcome.compiled, outcome.reason


def test_check_of_stages_finds_a_wrong_gradient():
    gradient = s2s.value_and_grad(smooth, (0, 1), strict=True)
    value, (by_x, by_u) = gradient(*ARGS)
    check_stages(gradient, ARGS, value, (by_x, by_u), 1e-9)
    with pytest.raises(AssertionError):
        check_stages(gradient, ARGS, value, (by_x * 1.001, by_u), 1e-9)
    with pytest.raises(AssertionError):
        check_stages(gradient, ARGS, value + 1e-16 + abs(value) * 1e-15, (by_x, by_u), 1e-9)


def test_core_check_refuses_what_is_no_core():
    (*_, (_, folded)) = stages_of(s2s.grad(smooth, strict=True), ARGS)
    with pytest.raises(core.CoreError):
        core.check(folded)
