"""Gradients side by side in one run: by hand, by s2s, and by the peers that are installed.

    python benchmarks/run.py [PROGRAM ...] [--rounds N] [--json FILE] [--check]

All gradients are compared before any is timed. Ratios are medians over rounds in which all contestants run.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import traceback
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")

import contest

COLUMNS = ["primal", "by hand", "s2s", "s2s numba", "autograd", "jax jit"]
RATIOS = ["s2s/hand", "s2s/autograd", "hand/primal", "memory/hand"]
LIMITS = {"overhead": 1.15, "arrays": 1.05}
MEMORY = 1.1  # times the peak of the gradient by hand
UNHELD = {"mlp"}  # whose memory is above that still


def measure(name: str, rounds: int) -> dict[str, Any]:
    """The row of one program."""
    program = contest.load(name)
    args = program.args()
    runners = contest.contestants(program)
    contest.verify({k: f for k, f in runners.items() if k != "primal"}, args)
    times = contest.race(runners, args, rounds)
    return {
        "program": name,
        "bound": program.bound,
        "seconds": {runner: statistics.median(seconds) for runner, seconds in times.items()},
        "s2s/hand": contest.ratio(times, "s2s", "by hand"),
        "s2s/autograd": contest.ratio(times, "s2s", "autograd"),
        "hand/primal": contest.ratio(times, "by hand", "primal"),
        "memory/hand": contest.peak(runners["s2s"], args) / contest.peak(runners["by hand"], args),
    }


def meets(row: dict[str, Any]) -> bool:
    """Whether s2s costs what the gradient by hand costs, in memory too, and, where Python costs, a fifth of a tape."""
    peer = row["s2s/autograd"]
    slow = row["bound"] == "overhead" and peer is not None and peer > 0.2
    large = row["memory/hand"] > MEMORY and row["program"] not in UNHELD
    return row["s2s/hand"] <= LIMITS[row["bound"]] and not slow and not large


def show(row: dict[str, Any]) -> str:
    times = "".join(f"{1e6 * row['seconds'][c]:11.1f}" if c in row["seconds"] else f"{'-':>11}" for c in COLUMNS)
    ratios = "".join(f"{row[c]:14.3f}" if row[c] is not None else f"{'-':>14}" for c in RATIOS)
    return f"{row['program']:12} {row['bound']:9}{times}{ratios}  {'' if meets(row) else 'over'}"


def main() -> int:
    parse = argparse.ArgumentParser(description="Gradients side by side in one run; times in microseconds a call.")
    parse.add_argument("programs", nargs="*", default=contest.NAMES, metavar="PROGRAM", help="; ".join(contest.NAMES))
    parse.add_argument("--rounds", type=int, default=15)
    parse.add_argument("--json", metavar="FILE", help="write the rows to a file, too")
    parse.add_argument("--check", action="store_true", help="exit with 1 if a row is over its limit or fails")
    options = parse.parse_args()

    heads = "".join(f"{c:>11}" for c in COLUMNS) + "".join(f"{c:>14}" for c in RATIOS)
    print(f"{'program':12} {'bound by':9}{heads}  microseconds a call", flush=True)
    rows, failed = [], []
    for name in options.programs:
        try:
            rows.append(measure(name, options.rounds))
            print(show(rows[-1]), flush=True)
        except Exception:  # one program that fails must not hide the others
            failed.append(name)
            print(f"{name:12} failed\n{traceback.format_exc()}", flush=True)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(rows, file, indent=1)
    over = [row["program"] for row in rows if not meets(row)]
    if over or failed:
        print("over the limit:", ", ".join(over) or "none", "- failed:", ", ".join(failed) or "none")
    return 1 if options.check and (over or failed) else 0


if __name__ == "__main__":
    sys.exit(main())
