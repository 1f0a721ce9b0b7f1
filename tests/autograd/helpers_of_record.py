"""A module with functions and globals that recorded functions reach from another module."""

import math

import numpy as np

RATE = 2.0
WEIGHTS = np.array([1.0, 2.0, 3.0])
CALLS = []


def bell(x):
    CALLS.append(x)
    return math.exp(-x * x)


def weighted(x):
    return np.dot(WEIGHTS, x) * RATE
