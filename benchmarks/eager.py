"""What recording costs: time per operation, forward and reverse, on arrays of 10 numbers, beside installed peers.

    python benchmarks/eager.py

A chain of sines, products and sums runs forward and backward in each library, in turns, and the least time of each
counts; the plain program's own time is taken off. The limits: a third of HIPS autograd's, half of MyGrad's, and
PyTorch's.
"""

from __future__ import annotations

import gc
import importlib.util
import time
from collections.abc import Callable
from typing import Any

import numpy as np

OPERATIONS = 300
X = np.linspace(0.1, 1.0, 10)
LIMITS = {"autograd": 1 / 3, "mygrad": 1 / 2, "torch": 1.0}


def program(sin: Any, x: Any, w: Any) -> Any:
    """A chain of operations."""
    for _ in range(OPERATIONS // 3):
        x = sin(x)
        x = x * w
        x = x + w
    return x


def by_s2s() -> Callable[[], Any]:
    from s2s.autograd import Variable

    def run() -> Any:
        x, w = Variable(X, requires_grad=True), Variable(X, requires_grad=True)
        program(np.sin, x, w).backward(np.ones(10))
        return x.grad.numpy()

    return run


def by_autograd() -> Callable[[], Any]:
    import autograd
    import autograd.numpy as anp

    gradient = autograd.grad(lambda x, w: anp.sum(program(anp.sin, x, w)), (0, 1))
    return lambda: gradient(X, X)[0]


def by_mygrad() -> Callable[[], Any]:
    import mygrad

    def run() -> Any:
        x, w = mygrad.tensor(X), mygrad.tensor(X)
        program(mygrad.sin, x, w).sum().backward()
        return x.grad

    return run


def by_torch() -> Callable[[], Any]:
    import torch

    torch.set_num_threads(1)
    one = torch.ones(10, dtype=torch.float64)

    def run() -> Any:
        x, w = torch.tensor(X, requires_grad=True), torch.tensor(X, requires_grad=True)
        program(torch.sin, x, w).backward(one)
        return x.grad.numpy()

    return run


def main() -> None:
    """Print a line for each library."""
    runs: dict[str, Callable[[], Any]] = {"plain": lambda: program(np.sin, X, X)}
    for name, make in (("s2s", by_s2s), ("autograd", by_autograd), ("mygrad", by_mygrad), ("torch", by_torch)):
        if name == "s2s" or importlib.util.find_spec(name):
            runs[name] = make()
    expected = runs["s2s"]()
    best = dict.fromkeys(runs, float("inf"))
    for name, run in runs.items():
        if name != "plain":
            np.testing.assert_allclose(run(), expected, rtol=1e-9)
    for _ in range(60):
        for name, run in runs.items():
            gc.collect()
            start = time.perf_counter()
            run()
            best[name] = min(best[name], time.perf_counter() - start)
    cost = {name: (t - best["plain"]) / OPERATIONS * 1e6 for name, t in best.items() if name != "plain"}
    for name, each in cost.items():
        limit = LIMITS.get(name)
        ratio = cost["s2s"] / each
        verdict = "" if limit is None else f"  s2s takes {ratio:.2f} of it, {limit:.2f} allowed"
        print(f"{name:10} {each:7.2f} us an operation{verdict}{'' if limit is None or ratio <= limit else '  ABOVE'}")


if __name__ == "__main__":
    main()
