"""Work grows with the length of a function, not with its square: steps are counted, not seconds."""

import cProfile
import gc
import importlib.util
import linecache
import pathlib

import numpy as np
import pytest

import s2s
from s2s.transforms.coalesce import coalesce
from s2s.transforms.pipeline import passes, run

SHORT, LONG = 60, 240

# Steps for the thirty lines of the benchmark, with a margin of a tenth. Where a change needs more, it is too dear.
BENCHMARK = 276_000

# The start of a function f(a, b, u), and lines that are repeated after it.
PROGRAMS = {
    "straight lines": ["    x = x * 0.99 + a", "    y = np.tanh(y * b) + u", "    x = np.sin(x) + b * x"],
    "values that all stay alive": ["    x = x * a + b * {n}.5"],
    "new names": ["    v{n} = x * {n}.0", "    x = np.sin(v{n}) + a"],
    "branches": ["    if x > 0.3:", "        x = x * a", "    else:", "        y = y * b + x"],
    "loops": ["    for i{n} in range(2):", "        x = x * 0.9 + b", "        y = y * x"],
    "one loop": ["        x = x * x + a", "        y = np.tanh(y * b) + u", "        y = y / (1.0 + y**2)"],
    "branches in a loop": [
        "        if x > 0.3:",
        "            x = x * a",
        "        else:",
        "            y = y * b + x",
    ],
    "counts in a loop": ["        k = k + i", "        x = x * k + b"],
    "one quotient, passed on": ["    y = y * b"],
    "versions that stay alive by turns": ["    x = x * 0.99 + a", "    x = np.sin(x) + b * x"],
}
STARTS = {
    "one loop": ["    for i in range(3):"],
    "branches in a loop": ["    for i in range(3):"],
    "counts in a loop": ["    k = 1", "    for i in range(3):"],
    "one quotient, passed on": ["    y = 1.0 / y"],
}


def define(name, length):
    """A function of so many lines."""
    repeated = PROGRAMS[name]
    lines = ["import numpy as np", "def f(a, b, u):", "    x = a * b", "    y = u * a", *STARTS.get(name, [])]
    for n in range(length // len(repeated)):
        lines += [line.replace("{n}", str(n)) for line in repeated]
    text = "\n".join([*lines, "    return x + np.sum(y)", ""])
    file = f"<{length} lines of {name}>"
    linecache.cache[file] = len(text), None, text.splitlines(True), file
    namespace = {}
    exec(compile(text, file, "exec"), namespace)
    return namespace["f"]


def steps(f, args=(0.5, 0.25, np.ones(3))):
    """The calls that it takes to compile a gradient."""
    return calls(lambda: s2s.grad(f, strict=True).source(*args))


def calls(work):
    """The calls, of functions in Python and in C, that some work takes."""
    profile = cProfile.Profile()
    gc.collect()  # what earlier tests have left: finalizers are calls, too
    gc.disable()
    try:
        profile.runcall(work)
    finally:
        gc.enable()
    return sum(entry.callcount for entry in profile.getstats())


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_long_function_takes_no_more_steps_a_line(name):
    steps(define(name, 20))  # rules are read, modules imported
    short, long = (steps(define(name, length)) / length for length in (SHORT, LONG))
    assert long <= short


def merging(length):
    """The calls a line that it takes to merge versions, of which every other one stays alive for the reverse sweep."""
    df = s2s.grad(define("versions that stay alive by turns", length))
    variant = df._variant((0.5, 0.25, np.ones(3)), {})
    task = df.driver.task(variant.kinds)
    before = passes(task)[: passes(task).index(coalesce)]
    fn = run(df.driver.lowered(variant.kinds, None), task, before)
    return calls(lambda: coalesce(fn, task)) / length


def test_many_versions_are_merged_in_no_more_steps_a_line():
    assert merging(LONG) <= 1.1 * merging(SHORT)


def test_the_function_of_the_benchmark_takes_few_steps(tmp_path):
    """What it takes in seconds differs from machine to machine; so its limit of 50 ms is held by this, too."""
    path = pathlib.Path(__file__).parents[2] / "benchmarks" / "compile_time.py"
    spec = importlib.util.spec_from_file_location("compile_time_of_tests", path)
    benchmark = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(benchmark)
    first, second, *_ = benchmark.models(tmp_path)
    steps(first, benchmark.arguments())  # the file is parsed, rules are read, modules imported
    assert steps(second, benchmark.arguments()) < BENCHMARK
