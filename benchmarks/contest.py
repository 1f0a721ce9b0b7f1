"""One program and those who differentiate it: by hand, s2s, and the peers that are installed.

A module of `programs/` holds `primal`, `by_hand` (the adjoint of the primal's own text, statement by statement),
`args()`, `bound` ("overhead": the time goes to Python, "arrays": it goes to NumPy), and, where they are not the usual
ones, `argnums`, `jax = True` if JAX can trace it, and `inplace = True` if it writes into arrays, which HIPS autograd
cannot differentiate.
"""

from __future__ import annotations

import gc
import importlib
import importlib.util
import pathlib
import re
import statistics
import time
import tracemalloc
import types
from collections.abc import Callable
from typing import Any

import numpy as np

FOLDER = pathlib.Path(__file__).parent / "programs"
NAMES = sorted(p.stem for p in FOLDER.glob("*.py"))


def load(name: str, numpy: str = "numpy") -> types.ModuleType:
    """The program's module; with another library's name its `np` and `math` are that library."""
    text = (FOLDER / f"{name}.py").read_text()
    if numpy == "numpy":
        spec = importlib.util.spec_from_file_location(f"programs_{name}", FOLDER / f"{name}.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    text = re.sub(r"^import numpy as np$", f"import {numpy} as np", text, flags=re.M)
    text = re.sub(r"^import math$", f"import {numpy} as math", text, flags=re.M)
    module = types.ModuleType(f"{name} on {numpy}")
    exec(compile(text, module.__name__, "exec"), module.__dict__)
    return module


def with_s2s(program: types.ModuleType) -> Callable[..., Any]:
    import s2s

    return s2s.grad(program.primal, argnums(program), strict=True)


def with_numba(program: types.ModuleType) -> Callable[..., Any] | None:
    """The same gradient, compiled by Numba where it can be: the compilation is not counted."""
    import s2s

    gradient = s2s.grad(program.primal, argnums(program), backend="numba")
    try:
        gradient(*program.args())
    except s2s.errors.BackendError:
        return None
    return gradient


def with_autograd(program: types.ModuleType) -> Callable[..., Any] | None:
    if getattr(program, "inplace", False):
        return None
    import autograd

    return autograd.grad(load(_stem(program), "autograd.numpy").primal, argnums(program))


def with_jax(program: types.ModuleType) -> Callable[..., Any] | None:
    """JAX's gradient, compiled by XLA: the compilation is not counted."""
    if not getattr(program, "jax", False):
        return None
    import jax

    jax.config.update("jax_enable_x64", True)
    compiled = jax.jit(jax.grad(load(_stem(program), "jax.numpy").primal, argnums(program)))
    return lambda *args: jax.block_until_ready(compiled(*args))


PEERS = {"s2s numba": with_numba, "autograd": with_autograd, "jax jit": with_jax}


def contestants(program: types.ModuleType) -> dict[str, Callable[..., Any]]:
    """Who runs: the primal first, then the gradients."""
    found: dict[str, Callable[..., Any]] = {
        "primal": program.primal,
        "by hand": program.by_hand,
        "s2s": with_s2s(program),
    }
    for name, make in PEERS.items():
        try:
            gradient = make(program)
        except ImportError:
            continue
        if gradient is not None:
            found[name] = gradient
    return found


def argnums(program: types.ModuleType) -> Any:
    return getattr(program, "argnums", 0)


def _stem(program: types.ModuleType) -> str:
    return program.__name__.removeprefix("programs_")


def leaves(tree: Any) -> list[np.ndarray]:
    """The arrays of a gradient, in a fixed order."""
    if isinstance(tree, dict):
        return [leaf for key in sorted(tree) for leaf in leaves(tree[key])]
    if isinstance(tree, (tuple, list)):
        return [leaf for item in tree for leaf in leaves(item)]
    return [np.asarray(tree)]


def verify(gradients: dict[str, Callable[..., Any]], args: tuple[Any, ...]) -> None:
    """All gradients agree with the one by hand, or an error says which does not."""
    want = leaves(gradients["by hand"](*args))
    for name, gradient in gradients.items():
        got = leaves(gradient(*args))
        if len(got) != len(want):
            raise AssertionError(f"{name}: {len(got)} arrays in place of {len(want)}")
        for g, w in zip(got, want):
            np.testing.assert_allclose(g, w, rtol=1e-8, atol=1e-10 * np.max(np.abs(w)), err_msg=name)


def calls_per_sample(f: Callable[..., Any], args: tuple[Any, ...], seconds: float) -> int:
    """How many calls take about this long."""
    number = 1
    while True:
        began = time.perf_counter()
        for _ in range(number):
            f(*args)
        took = time.perf_counter() - began
        if took > seconds / 2:
            return max(1, round(number * seconds / took))
        number *= 2


def sample(f: Callable[..., Any], args: tuple[Any, ...], number: int) -> float:
    """Seconds for one call, as the mean of a few."""
    began = time.perf_counter()
    for _ in range(number):
        f(*args)
    return (time.perf_counter() - began) / number


def race(
    runners: dict[str, Callable[..., Any]], args: tuple[Any, ...], rounds: int, seconds: float = 0.02
) -> dict[str, list[float]]:
    """Seconds for one call in each round. All run in every round, in another order each time, so that drift cancels."""
    numbers = {name: calls_per_sample(f, args, seconds) for name, f in runners.items()}
    times: dict[str, list[float]] = {name: [] for name in runners}
    order = list(runners)
    gc.collect()
    gc.disable()
    try:
        for _ in range(rounds):
            for name in order:
                times[name].append(sample(runners[name], args, numbers[name]))
            order = order[1:] + order[:1]
    finally:
        gc.enable()
    return times


def peak(f: Callable[..., Any], args: tuple[Any, ...]) -> int:
    """The most memory, in bytes, that a call holds at any time beyond what there was."""
    f(*args)
    gc.collect()
    tracemalloc.start()
    try:
        f(*args)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def ratio(times: dict[str, list[float]], one: str, other: str) -> float | None:
    """The median over the rounds of how much longer one took than the other."""
    if one not in times or other not in times:
        return None
    return statistics.median(a / b for a, b in zip(times[one], times[other]))
