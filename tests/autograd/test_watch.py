"""Anomaly detection and hooks on what is saved; volatile values; the older names of calls."""

import copy
import pickle
import threading
import weakref

import numpy as np
import pytest

from s2s.autograd import (
    Function,
    Variable,
    backward,
    detect_anomaly,
    from_dlpack,
    grad,
    inference_mode,
    is_anomaly_enabled,
    is_grad_enabled,
    no_grad,
    saved_tensors_hooks,
    set_detect_anomaly,
)
from s2s.errors import BackendError, EagerError, GradientLossError, InplaceModificationError

DATA = np.array([2.0, 3.0, 5.0])


def leaf(data=DATA):
    return Variable(np.array(data), requires_grad=True)


# --- anomaly detection ---


def broken(x):
    y = x * 2.0
    return y * np.nan  # the line that is to blame


@pytest.mark.filterwarnings("ignore:anomaly")
def test_the_error_names_the_forward_line_and_where_it_was_called():
    with detect_anomaly(), pytest.raises(EagerError) as caught:
        np.sum(broken(leaf()) + 1.0).backward()
    assert "the line that is to blame" in str(caught.value) and "nan" in str(caught.value)
    assert "in test_the_error_names_the_forward_line" in caught.value.__notes__[0]


@pytest.mark.filterwarnings("ignore:anomaly")
def test_a_forward_pass_outside_says_how_to_see_the_line():
    y = np.sum(broken(leaf()))
    with detect_anomaly(), pytest.raises(EagerError, match="forward pass under"):
        y.backward()


@pytest.mark.filterwarnings("ignore:anomaly")
def test_check_nan_can_be_left_out_and_the_mode_comes_back():
    x = leaf()
    with detect_anomaly(check_nan=False):
        assert is_anomaly_enabled()
        np.sum(broken(x)).backward()
    assert np.isnan(x.grad.numpy()).all() and not is_anomaly_enabled()
    set_detect_anomaly(True)
    assert is_anomaly_enabled()
    set_detect_anomaly(False)
    with set_detect_anomaly(True), no_grad():
        assert is_anomaly_enabled() and not is_grad_enabled()
    assert not is_anomaly_enabled() and is_grad_enabled()


def test_anomaly_detection_warns_that_it_is_slow():
    with pytest.warns(UserWarning, match="slows down"):
        detect_anomaly()


@pytest.mark.filterwarnings("ignore:anomaly")
def test_anomalies_of_the_second_order():
    x = leaf()
    with detect_anomaly(), pytest.raises(EagerError, match="nan"):
        (g,) = grad(np.sum(x**3), x, create_graph=True)
        grad(np.sum(g * np.nan), x)


# --- what is saved ---


class OnDisk:
    """Counts what is packed and unpacked."""

    def __init__(self):
        self.stored, self.read = [], 0

    def pack(self, v):
        assert type(v) is Variable and not v.requires_grad
        self.stored.append(v.numpy().copy())
        return len(self.stored) - 1

    def unpack(self, index):
        self.read += 1
        return Variable(self.stored[index])


PROGRAMS = {
    "products": lambda x: x * x * np.exp(x),
    "matrices": lambda x: np.outer(x, x) @ x,
    "keywords": lambda x: np.sum(x * x, axis=0, keepdims=True) ** 2,
    "joined": lambda x: np.concatenate([x * x, np.sin(x)]),
    "decomposed": lambda x: np.var(x) * x,
    "written": lambda x: written(x),
    "several": lambda x: np.linalg.eigh(np.outer(x, x) + np.diag([1.0, 2.0, 4.0]))[0],
}


def written(x):
    y = x * 1.0
    y[1:] *= x[:2]
    y **= 2
    return y


@pytest.mark.parametrize("name", PROGRAMS)
def test_packed_values_give_the_same_gradients_to_any_order(name):
    f = PROGRAMS[name]

    def derivatives(x):
        (g,) = grad(np.sum(f(x)), x, create_graph=True)
        (h,) = grad(np.sum(g * g), x)
        return g.detach().numpy(), h.detach().numpy()

    expected = derivatives(leaf())
    disk = OnDisk()
    with saved_tensors_hooks(disk.pack, disk.unpack):
        found = derivatives(leaf())
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert disk.stored and disk.read


def test_what_is_packed_is_not_kept_alive():
    disk = OnDisk()
    with saved_tensors_hooks(disk.pack, disk.unpack):
        x = leaf()
        h = x * 2.0
        y = np.sum(h * h)
        array = weakref.ref(h.data)
        del h
    assert array() is None
    y.backward()
    np.testing.assert_allclose(x.grad.numpy(), 8 * DATA)


def test_a_value_that_comes_back_as_it_was_is_held_to_its_version():
    x = leaf()
    with saved_tensors_hooks(lambda v: v, lambda v: v):
        h = x * 2.0
        y = np.sum(h * h)
    h += 1.0
    with pytest.raises(InplaceModificationError):
        y.backward()


def test_a_pack_hook_that_writes_is_an_error():
    def pack(v):
        v += 1.0
        return v

    with saved_tensors_hooks(pack, lambda v: v), pytest.raises(InplaceModificationError, match="pack"):
        leaf() ** 3


def test_an_unpack_hook_that_gives_no_array_is_an_error():
    with saved_tensors_hooks(lambda v: 1, lambda n: "text"):
        y = np.sum(leaf() ** 3)
    with pytest.raises(EagerError, match="unpack"):
        y.backward()


# --- volatile values ---


def test_what_depends_on_a_volatile_value_is_not_recorded_and_volatile():
    x, v = leaf(), Variable(DATA, volatile=True)
    for y in (x * v, v * x, np.sum(x * v), np.concatenate([x, v]), np.var(x + v), (x * v)[1:], v.clone(), v.detach()):
        assert y.volatile and not y.requires_grad and y.is_leaf
    with pytest.raises(EagerError, match="volatile"):
        np.sum(x * v).backward()
    assert "volatile=True" in repr(v)


def test_volatile_and_requiring_grad_exclude_each_other():
    with pytest.raises(EagerError, match="volatile"):
        Variable(DATA, requires_grad=True, volatile=True)
    v = Variable(DATA, volatile=True)
    with pytest.raises(EagerError, match="volatile"):
        v.requires_grad_()
    v.volatile = False
    assert (v.requires_grad_() * 1.0).requires_grad
    with pytest.raises(EagerError):
        (leaf() * 2.0).volatile = True


def test_writes_and_volatile_values():
    v, x, c = Variable(DATA.copy(), volatile=True), leaf(), Variable(DATA.copy())
    v *= x
    v[0] = x[0]
    assert v.volatile and not v.requires_grad
    c += v
    assert c.volatile
    h = x * 1.0
    with pytest.raises(EagerError, match="volatile"):
        h += v


def test_functions_of_volatile_values():
    class Double(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2.0

        @staticmethod
        def backward(ctx, g):
            return g * 2.0

    class Old(Function):
        def forward(self, x, v):
            return x * v

    assert Double.apply(Variable(DATA, volatile=True)).volatile
    assert Old()(leaf(), Variable(DATA, volatile=True)).volatile


# --- older names ---


def test_the_older_names_of_backward():
    x = leaf()
    y = x * x
    backward([y], [np.ones(3)], True)
    backward(variables=[y], grad_variables=[np.ones(3)], retain_variables=True)
    y.backward(np.ones(3), retain_variables=True)
    y.backward(gradient=np.ones(3))
    np.testing.assert_allclose(x.grad.numpy(), 8 * DATA)
    with pytest.raises(EagerError, match="older name"):
        backward(y, grad_tensors=np.ones(3), grad_variables=np.ones(3))
    assert y.creator is y.grad_fn and x.creator is None


# --- copies, pickles, other libraries ---


def test_pickles_and_copies_keep_flags_and_gradients():
    x = leaf()
    np.sum(x * x).backward()
    for made in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x), copy.deepcopy([x, x])[1]):
        assert made.requires_grad and made.is_leaf and made is not x
        np.testing.assert_array_equal(made.grad.numpy(), 2 * DATA)
        assert not np.shares_memory(made.data, x.data)
    assert pickle.loads(pickle.dumps(Variable(DATA, volatile=True))).volatile
    first, second = copy.deepcopy([x, x])
    assert first is second
    with pytest.raises(EagerError, match="leaves"):
        pickle.dumps(x * 2.0)
    with pytest.raises(EagerError, match="leaves"):
        copy.deepcopy(x * 2.0)


def test_a_shallow_copy_shares_memory_and_gradient():
    x = leaf()
    twin = copy.copy(x)
    assert twin.is_leaf and twin.requires_grad and np.shares_memory(twin.data, x.data)
    h = x * 2.0
    view = copy.copy(h)
    view *= 3.0
    np.sum(h).backward()
    np.testing.assert_allclose(x.grad.numpy(), 6.0)


def test_dlpack_both_ways():
    x = leaf()
    with pytest.raises(GradientLossError, match="detach"):
        np.from_dlpack(x)
    a = np.from_dlpack(x.detach())
    np.testing.assert_array_equal(a, DATA)
    v = from_dlpack(DATA)
    assert type(v) is Variable and np.shares_memory(v.data, DATA)


def test_the_array_namespace_is_numpy():
    x = leaf()
    xp = x.__array_namespace__()
    assert xp is np
    xp.sum(xp.sin(x)).backward()
    np.testing.assert_allclose(x.grad.numpy(), np.cos(DATA))


def test_devices_and_dtypes():
    x = leaf()
    assert x.cpu() is x and x.to("cpu") is x and x.device == "cpu" and x.to(np.float64) is x
    y = x.to(np.float32)
    assert y.dtype == np.float32
    np.sum(y).backward()
    assert x.grad.dtype == np.float64
    with pytest.raises(BackendError, match="NumPy"):
        x.to("cupy")


def test_detach_in_place_leaves_views_in_the_graph():
    x = leaf()
    h = x * 2.0
    v = h[1:]
    h.detach_()
    assert h.is_leaf and not h.requires_grad and v.requires_grad
    np.sum(v).backward()
    np.testing.assert_allclose(x.grad.numpy(), [0.0, 2.0, 2.0])
    assert leaf().detach_().requires_grad is False


def test_a_variable_of_a_variable_shares_its_memory_and_count():
    x = leaf()
    h = x * 1.0
    y = np.sum(h * h)
    Variable(h)[0] = 9.0
    with pytest.raises(InplaceModificationError):
        y.backward()


def test_inference_mode_in_threads_and_views_of_earlier_values():
    x = leaf()
    found = []
    with inference_mode():
        thread = threading.Thread(target=lambda: found.append((x * 2.0).requires_grad))
        thread.start()
        thread.join()
        made, view = x * 2.0, x[1:]
        assert made.is_inference() and made[1:].is_inference() and not view.is_inference()
    assert found == [True]
    assert np.sum(view * x[1:]).requires_grad
