"""Threads that make, compile and call gradients at once get what one thread gets."""

import math
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import s2s

THREADS = 8


@pytest.fixture(autouse=True)
def switching_often():
    """Let threads take turns as often as may be."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def together(work, count=THREADS):
    """Run `work(i)` in so many threads that start at once; the results in order."""
    barrier = threading.Barrier(count)

    def run(i):
        barrier.wait(timeout=30)
        return work(i)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))


def settle(x, n):
    s = 0.0
    for i in range(n):
        if x > 0.5:
            x = x * 0.9
        else:
            x = x + math.sin(x)
        s += x * x
    return s


def test_one_gradient_is_compiled_and_called_at_once():
    gradient, alone = s2s.grad(settle, strict=True), s2s.grad(settle, strict=True)
    found = together(lambda i: [gradient(0.1 + 0.05 * i, n) for n in range(5)])
    assert found == [[alone(0.1 + 0.05 * i, n) for n in range(5)] for i in range(THREADS)]


def test_variants_of_one_gradient_are_compiled_at_once():
    def f(x):
        return np.sum(np.sin(x) * x)

    def argument(i):
        return [0.3, np.float32(0.3), np.ones(3), np.ones((2, 2), np.float32), np.array(0.3)][i % 5] * (i + 1)

    gradient = s2s.grad(f, strict=True)
    found = together(lambda i: [gradient(argument(i + k)) for k in range(6)])
    for i, results in enumerate(found):
        for k, result in enumerate(results):
            x = argument(i + k)
            np.testing.assert_allclose(result, np.cos(x) * x + np.sin(x), rtol=1e-5)
            assert np.shape(result) == np.shape(x)


def test_each_thread_makes_its_own_gradient_of_one_function():
    found = together(lambda i: s2s.value_and_grad(settle, strict=True)(0.4, 6))
    assert len(set(found)) == 1


def test_closures_of_one_code_keep_apart():
    def make(scale):
        return lambda x: math.sin(x * scale) * scale

    def work(i):
        gradient = s2s.grad(make(float(i)), strict=True)
        return [gradient(0.1 * k) for k in range(20)]

    for i, results in enumerate(together(work)):
        for k, result in enumerate(results):
            assert math.isclose(result, math.cos(0.1 * k * i) * i * i, abs_tol=1e-12)


@pytest.mark.filterwarnings("ignore::s2s.FallbackWarning")
def test_tape_and_forward_mode_run_at_once():
    def stored(x):
        y = np.array([x, x * x])
        y[0] = y[1] * x
        return y[0] * 1.0

    def work(i):
        x = 0.2 + 0.1 * i
        if i % 2:
            return s2s.jvp(settle, (x, 4), (1.0, None))[1]
        return s2s.grad(stored)(x)

    for i, result in enumerate(together(work)):
        x = 0.2 + 0.1 * i
        expected = s2s.grad(settle, strict=True)(x, 4) if i % 2 else 3 * x * x
        assert math.isclose(result, expected, rel_tol=1e-9)


def test_exceptions_stay_in_their_thread():
    def f(x):
        assert x > 0.0, f"{x}"
        return x * x

    gradient = s2s.grad(f, strict=True)

    def work(i):
        try:
            return gradient(float(i - 4))
        except AssertionError as error:
            return str(error)

    assert together(work) == [f"{float(i - 4)}" if i <= 4 else 2.0 * (i - 4) for i in range(THREADS)]


def test_a_helper_is_redefined_while_others_call(monkeypatch):
    gradient = s2s.grad(uses_helper, strict=True)
    gradient(1.0)
    stop = threading.Event()

    def work(i):
        if i == 0:
            for k in range(30):
                monkeypatch.setitem(globals(), "helper", twice if k % 2 else thrice)
            stop.set()
            return {2.0, 3.0}
        found = set()
        while not stop.is_set():
            found.add(gradient(1.0))
        return found

    assert all(found <= {2.0, 3.0} for found in together(work, 3))


def twice(x):
    return 2.0 * x


def thrice(x):
    return 3.0 * x


helper = twice


def uses_helper(x):
    return helper(x)
