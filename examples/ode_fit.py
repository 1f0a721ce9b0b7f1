"""The parameters of an ordinary differential equation, fitted to noisy data.

Hares and lynxes after Lotka and Volterra. The solver is a loop of Runge-Kutta steps in plain Python, the gradient that
of the whole loop; `s2s.value_and_grad` is what `scipy.optimize.minimize(..., jac=True)` expects.
"""

import sys
import time

import numpy as np
from scipy.optimize import minimize

import s2s

TRUE = np.array([1.1, 0.4, 0.4, 0.1])
NAMES = ("birth", "predation", "death", "growth")
START = (10.0, 5.0)
STEP, STEPS, EVERY, NOISE = 0.05, 300, 10, 0.2


def rates(hares, lynxes, params):
    """How fast both populations change."""
    return (
        params[0] * hares - params[1] * hares * lynxes,
        params[3] * hares * lynxes - params[2] * lynxes,
    )


def step(hares, lynxes, params, h):
    """One step of the classical Runge-Kutta method."""
    a1, b1 = rates(hares, lynxes, params)
    a2, b2 = rates(hares + 0.5 * h * a1, lynxes + 0.5 * h * b1, params)
    a3, b3 = rates(hares + 0.5 * h * a2, lynxes + 0.5 * h * b2, params)
    a4, b4 = rates(hares + h * a3, lynxes + h * b3, params)
    return (
        hares + h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4),
        lynxes + h / 6.0 * (b1 + 2.0 * b2 + 2.0 * b3 + b4),
    )


def misfit(params, data):
    """Half the sum of squares between the solution and the data, which hold every tenth step."""
    hares, lynxes = START
    total = 0.0
    for i in range(STEPS):
        hares, lynxes = step(hares, lynxes, params, STEP)
        if (i + 1) % EVERY == 0:
            row = (i + 1) // EVERY - 1
            total += (hares - data[row, 0]) ** 2 + (lynxes - data[row, 1]) ** 2
    return 0.5 * total


def measure(params, rng):
    """Synthetic data: the solution for these parameters, with noise."""
    hares, lynxes = START
    rows = []
    for i in range(STEPS):
        hares, lynxes = step(hares, lynxes, params, STEP)
        if (i + 1) % EVERY == 0:
            rows.append((hares, lynxes))
    return np.array(rows) + NOISE * rng.normal(size=(len(rows), 2))


def main():
    data = measure(TRUE, np.random.default_rng(0))
    objective = s2s.value_and_grad(misfit)
    began = time.perf_counter()
    found = minimize(objective, x0=TRUE * [0.9, 1.1, 1.1, 0.9], args=(data,), jac=True, method="BFGS")
    seconds = time.perf_counter() - began

    print(objective.source(TRUE, data))
    print("on the tape:", objective.fallbacks or "nothing")
    print(f"{found.nfev} gradients of {STEPS} steps in {seconds:.2f} s")
    print(f"{'':10} {'true':>8} {'found':>8}")
    for name, true, got in zip(NAMES, TRUE, found.x):
        print(f"{name:10} {true:8.4f} {got:8.4f}")
    return 0 if np.allclose(found.x, TRUE, rtol=0.05) else 1


if __name__ == "__main__":
    sys.exit(main())
