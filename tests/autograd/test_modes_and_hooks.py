"""Grad modes, hooks and retained gradients."""

import threading

import numpy as np
import pytest

from s2s.autograd import Variable, enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from s2s.errors import ArgumentError

DATA = np.array([2.0, 3.0, 5.0])


def leaf():
    return Variable(DATA.copy(), requires_grad=True)


def test_modes_nest_and_come_back_after_errors():
    x = leaf()
    with pytest.raises(KeyError), no_grad():
        inside = x * x
        with enable_grad():
            enabled = x * x
        raise KeyError
    assert [v.requires_grad for v in (inside, enabled, x * x)] == [False, True, True]


def test_modes_as_decorators():
    @no_grad()
    def quiet(x):
        return x * 2.0, is_grad_enabled()

    y, enabled = quiet(leaf())
    assert not y.requires_grad and not enabled and is_grad_enabled()


def test_set_grad_enabled_acts_at_once_and_as_context():
    set_grad_enabled(False)
    try:
        assert not is_grad_enabled()
    finally:
        set_grad_enabled(True)
    with set_grad_enabled(False):
        assert not is_grad_enabled()
    assert is_grad_enabled()


def test_one_mode_object_can_be_entered_twice():
    mode = no_grad()
    with mode, mode:
        pass
    assert is_grad_enabled()


def test_each_thread_has_its_mode():
    seen = []
    with no_grad():
        thread = threading.Thread(target=lambda: seen.append(is_grad_enabled()))
        thread.start()
        thread.join()
    assert seen == [True]


def test_hook_sees_the_whole_gradient_once_and_may_change_it():
    seen = []
    x = leaf()
    h = x * x

    def scale(g):
        seen.append(g.numpy().copy())
        return g * 10.0

    h.register_hook(scale)
    (np.sum(h) + np.sum(h * 2.0)).backward()
    assert len(seen) == 1
    np.testing.assert_array_equal(seen[0], [3.0, 3.0, 3.0])
    np.testing.assert_array_equal(x.grad.numpy(), 60 * DATA)


def test_hook_on_a_leaf_and_its_removal():
    x = leaf()
    handle = x.register_hook(lambda g: g * 2.0)
    np.sum(x).backward()
    np.testing.assert_array_equal(x.grad.numpy(), [2.0, 2.0, 2.0])
    handle.remove()
    handle.remove()
    np.sum(x).backward()
    np.testing.assert_array_equal(x.grad.numpy(), [3.0, 3.0, 3.0])


def test_hook_that_changes_the_shape_is_refused():
    x = leaf()
    x.register_hook(lambda g: np.ones(4))
    with pytest.raises(ArgumentError, match="hook"):
        np.sum(x).backward()


def test_constants_have_no_hooks():
    with pytest.raises(ArgumentError, match="require"):
        Variable(1.0).register_hook(print)


def test_inner_values_have_no_grad_unless_retained():
    x = leaf()
    h = x * x
    k = h * 2.0
    k.retain_grad()
    np.sum(k * k).backward()
    assert h.grad is None
    np.testing.assert_array_equal(k.grad.numpy(), 4 * DATA**2)
    np.testing.assert_array_equal(x.grad.numpy(), 16 * DATA**3)


def test_retained_gradient_follows_a_write():
    x = leaf()
    k = x * 1.0
    k.retain_grad()
    k *= 2.0
    np.sum(k * np.array([1.0, 2.0, 3.0])).backward()
    np.testing.assert_array_equal(k.grad.numpy(), [1.0, 2.0, 3.0])


def test_detach_and_requires_grad():
    x = leaf()
    y = (x * 2.0).detach()
    assert y.is_leaf and not y.requires_grad
    assert y.requires_grad_() is y and y.requires_grad
    with pytest.raises(ArgumentError, match="detach"):
        (x * 2.0).requires_grad = False
