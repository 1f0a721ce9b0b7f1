"""Classes and functions that programs of the whole language use."""

import collections
import functools
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

Point = collections.namedtuple("Point", "a b")


class Pair(NamedTuple):
    a: object
    b: object = 0.8


@dataclass
class Record:
    a: object
    b: object = 0.7


@dataclass(frozen=True)
class Frozen:
    a: object
    b: object = 0.7

    def total(self):
        return np.sum(self.a * self.b)


class Base:
    gain = 0.5

    def __init__(self, w, b):
        self.w = w
        self.b = b
        self.calls = 0
        self.last = 0.0

    def affine(self, x):
        return self.w * x + self.b

    def forward(self, x):
        return self.affine(x)

    def __call__(self, x):
        return self.forward(x)

    def __getitem__(self, i):
        return self.w[i]

    def __len__(self):
        return len(self.w)

    @property
    def norm(self):
        return np.sqrt(np.sum(self.w**2))

    @staticmethod
    def square(x):
        return x * x

    @classmethod
    def scaled(cls, x):
        return cls.gain * x


class Model(Base):
    gain = 0.3

    def forward(self, x):
        return np.tanh(super().forward(x))


class Vector:
    def __init__(self, a, b):
        self.a = a
        self.b = b

    def __add__(self, other):
        return Vector(self.a + other.a, self.b + other.b)

    def __mul__(self, k):
        return Vector(self.a * k, self.b * k)

    def dot(self, other):
        return self.a * other.a + self.b * other.b


class State:
    def __init__(self, h):
        self.h = h

    def step(self, x):
        self.h = np.tanh(self.h + x)


def helper(x, scale=0.5, *, shift=0.1):
    return x * scale + shift


def placed(x, k, /, n=2):
    return x * k / n


def many(*parts, **named):
    return sum(parts) * named.get("scale", 0.4)


def fact(x, n):
    return 1.0 if n == 0 else x * fact(x, n - 1)


def even(x, n):
    return x if n == 0 else odd(x * 0.9, n - 1)


def odd(x, n):
    return np.sin(x) if n == 0 else even(x + 0.2, n - 1)


def within_limits(x, bound):
    for k in range(9):
        if x * k > bound:
            return x * k * 0.1
    return -x


def doubled(f):
    @functools.wraps(f)
    def wrapper(*args):
        return 2.0 * f(*args)

    return wrapper


@doubled
def decorated(x):
    return np.mean(x * x)


@functools.lru_cache
def cached(n):
    return n * 0.1


def energy(y, k):
    return np.mean(k * np.sin(y) * y)
