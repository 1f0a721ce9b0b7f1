"""What s2s costs beside the gradient itself: to import, to compile a function, and on each call.

python benchmarks/compile_time.py [--check]

Fresh processes find the bytecode of s2s on disk, as it is after an installation.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import s2s

# A function of thirty lines: straight-line code, a loop, branches, calls of NumPy and of a function of the user's own.
FUNCTION = '''\
def helper{k}(v, rate):
    return v * np.exp(-rate * v)


def model{k}(params, x, y, n):
    """A model of no meaning, with what models are made of."""
    w = params["w"]
    b = params["b"]
    hidden = np.tanh(x @ w + b)
    scale = np.sqrt(np.mean(hidden**2) + 1e-6)
    hidden = hidden / scale
    rate = 0.1
    total = 0.0
    for i in range(n):
        if i % 2 == 0:
            hidden = hidden + helper{k}(hidden, rate)
        else:
            hidden = hidden - 0.5 * np.sin(hidden)
        rate = rate * 0.9
        total += np.sum(hidden) * 1e-3
    top = np.max(hidden)
    shifted = hidden - top
    e = np.exp(shifted)
    p = e / np.sum(e)
    entropy = -np.sum(p * np.log(p + 1e-12))
    residual = hidden - y
    loss = 0.5 * np.mean(residual**2)
    penalty = np.sum(w**2) + np.sum(b**2)
    if n > 3:
        loss = loss + 0.1 * entropy
    else:
        loss = loss - 0.1 * entropy
    loss = loss + 1e-3 * penalty
    return loss + total


'''
LINES = 1000

# What long functions are made of: straight lines, and lines in loops and branches.
STRAIGHT = """\
    x = x * 0.99 + a
    y = np.tanh(y * b) + u
    x = np.sin(x) + b * x
    y = y / (1.0 + y**2)
"""
NESTED = """\
        x = x * 0.99 + a
        if x > 0.3:
            y = y * b
        else:
            y = np.tanh(y) + u
        for j in range(2):
            x = x * 0.9 + b
            y = y * x
"""

Row = tuple[str, float, str, float]


def write_module(folder: str) -> pathlib.Path:
    """A file of about a thousand lines, which holds as many copies of the function as go in."""
    copies = LINES // FUNCTION.count("\n")
    path = pathlib.Path(folder) / "models.py"
    path.write_text("import numpy as np\n\n\n" + "".join(FUNCTION.replace("{k}", str(k)) for k in range(copies)))
    return path


def compile_seconds() -> tuple[float, float]:
    """Seconds from `s2s.grad(f)` to the source: of the first function of a file, and of its later ones (median)."""
    with tempfile.TemporaryDirectory() as folder:
        times = [seconds_of(f, arguments()) for f in models(folder)]
    return times[0], statistics.median(times[1:])


def models(folder: str) -> list[Callable[..., Any]]:
    """The copies of the function, of one file."""
    module = imported(write_module(folder))
    return [f for name, f in vars(module).items() if name.startswith("model")]


def arguments() -> tuple[Any, ...]:
    """What the function is compiled for."""
    rng = np.random.default_rng(0)
    return {"w": rng.normal(size=(4, 3)), "b": np.zeros(3)}, rng.normal(size=(5, 4)), rng.normal(size=(5, 3)), 4


def imported(path: pathlib.Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def seconds_of(function: Any, args: tuple[Any, ...]) -> float:
    """Seconds from `s2s.grad(f)` to the source."""
    began = time.perf_counter()
    s2s.grad(function, strict=True).source(*args)
    return time.perf_counter() - began


def long_seconds(head: str, block: str, lines: int) -> float:
    """Seconds a line to compile a function of so many lines: a block over and over, after the lines of `head`."""
    text = "import numpy as np\n\n\ndef long(a, b, u):\n    x = a * b\n    y = u * a\n" + head
    text += block * (lines // block.count("\n")) + "    return x + np.sum(y)\n"
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "long.py"
        path.write_text(text)
        return seconds_of(imported(path).long, (0.5, 0.25, np.ones(3))) / lines


def first_seconds() -> float:
    """Seconds from the first `s2s.grad(f)` of a process to the source, modules imported on the way (median)."""
    code = f"import sys; sys.path.insert(0, {str(pathlib.Path(__file__).parent)!r}); "
    return in_fresh_processes(code + "import compile_time; print(compile_time.compile_seconds()[0])", 5)


def in_fresh_processes(code: str, times: int) -> float:
    """What some code prints, as a median."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", code]
    runs = [
        subprocess.run(command, capture_output=True, text=True, check=True, env=environment) for _ in range(times + 1)
    ]
    return statistics.median(float(run.stdout) for run in runs[1:])


def small(a: Any, b: Any, c: Any, d: Any) -> Any:
    return a[0] * b[0] * c[0] * d[0]


def generated(df: Any, args: tuple[Any, ...]) -> Callable[..., Any]:
    """The function that a call of `df` ends in, caught as it runs."""
    found: list[Any] = []

    def watch(frame: Any, event: str, _: Any) -> None:
        if event == "call":
            found.append(frame.f_code)

    sys.setprofile(watch)
    try:
        df(*args)
    finally:
        sys.setprofile(None)
    wanted = next(code for code in found if "a_bar" in code.co_varnames)
    return next(f for f in gc.get_referrers(wanted) if callable(f) and getattr(f, "__code__", None) is wanted)


def call_seconds() -> float:
    """Seconds that a cached call adds to the generated function, for four array arguments."""
    args = tuple(np.ones(3) for _ in range(4))
    df = s2s.grad(small, strict=True)
    df(*args)
    bare = generated(df, args)
    differences = []
    for _ in range(31):
        began = time.perf_counter()
        for _ in range(2000):
            df(*args)
        middle = time.perf_counter()
        for _ in range(2000):
            bare(*args)
        differences.append(((middle - began) - (time.perf_counter() - middle)) / 2000)
    return statistics.median(differences)


def import_seconds() -> float:
    """Seconds that `import s2s` adds to `import numpy`, in fresh processes (median)."""
    code = "import numpy, time; began = time.perf_counter(); import s2s; print(time.perf_counter() - began)"
    return in_fresh_processes(code, 9)


def measure() -> list[Row]:
    """What is measured, the value, its unit, and the most that it should be."""
    _, later = compile_seconds()
    rows: list[Row] = []
    for what, head, block in (
        ("straight lines", "", STRAIGHT),
        ("lines in a loop", "    for i in range(3):\n", NESTED),
    ):
        for lines in (300, 1000, 3000):
            rows.append((f"{lines:,} {what}, each", 1e3 * long_seconds(head, block, lines), "ms", float("inf")))
        rows.append((f"{what}, 3,000 against 300", rows[-1][1] / rows[-3][1], "times", 1.5))
    return [
        ("first function of a 1,000-line file", 1e3 * first_seconds(), "ms", float("inf")),
        ("30-line function, cold", 1e3 * later, "ms", 50.0),
        ("cached call, four arrays, added", 1e6 * call_seconds(), "us", 1.0),
        ("import s2s, added to import numpy", 1e3 * import_seconds(), "ms", 50.0),
        *rows,
    ]


def main() -> int:
    parse = argparse.ArgumentParser(description="What s2s costs beside the gradient itself.")
    parse.add_argument("--check", action="store_true", help="exit with 1 if a value is over its limit")
    options = parse.parse_args()
    rows = measure()
    for what, value, unit, limit in rows:
        print(f"{what:40} {value:8.2f} {unit}" + (f"   limit {limit:g}" if limit < float("inf") else ""))
    return 1 if options.check and any(value > limit for _, value, _, limit in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
