"""A backend is found by the type of an array; no library is imported to find out."""

import sys
import types

import numpy as np
import pytest

from s2s.errors import BackendError
from s2s.runtime import backends


@pytest.fixture
def cupy(monkeypatch):
    """A library that behaves as CuPy as far as backends ask."""
    module = types.ModuleType("cupy")

    class FakeArray:
        def __init__(self, host):
            self.host = host

    FakeArray.__module__ = "cupy"
    module.ndarray = FakeArray
    module.asarray = lambda host: FakeArray(np.array(host))
    module.asnumpy = lambda array: array.host
    module.add = types.SimpleNamespace(at=lambda into, index, values: np.add.at(into.host, index, values))
    waited = []
    stream = types.SimpleNamespace(synchronize=lambda: waited.append(True))
    module.cuda = types.SimpleNamespace(get_current_stream=lambda: stream)
    module.waited = waited
    monkeypatch.setitem(sys.modules, "cupy", module)
    from s2s.runtime.backends import cupy as home

    home.cupy_backend.cache_clear()
    yield module
    home.cupy_backend.cache_clear()


def test_numbers_and_objects_have_no_backend():
    assert backends.backend_of(2.0) is None
    assert backends.backend_of("text") is None
    assert backends.backend_of(np.ones(2)) is backends.NUMPY


def test_scatter_add_adds_all_of_repeated_places():
    into = np.zeros(3)
    backends.NUMPY.scatter_add(into, np.array([0, 0, 2]), np.array([1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(into, [3.0, 0.0, 3.0])


def test_numpy_converts_nothing():
    x = np.ones(2)
    assert backends.NUMPY.to_host(x) is x
    assert backends.NUMPY.from_host(x) is x
    backends.NUMPY.synchronise()
    assert backends.NUMPY.namespace is np


def test_cupy_is_found_by_its_array(cupy):
    x = cupy.asarray([1.0, 2.0])
    backend = backends.backend_of(x)
    assert backend is backends.by_name("cupy")
    backend.scatter_add(x, np.array([0, 0]), 1.0)
    np.testing.assert_array_equal(backend.to_host(x), [3.0, 2.0])
    assert isinstance(backend.from_host(np.ones(2)), cupy.ndarray)
    backend.synchronise()
    assert cupy.waited == [True]


def test_one_device_for_all_arrays(cupy):
    host, device = np.ones(2), cupy.asarray([1.0])
    assert backends.check_one_device([host, {"a": [host, 2.0]}]) is backends.NUMPY
    assert backends.check_one_device([device, 1.0]).name == "cupy"
    with pytest.raises(BackendError, match="cupy and numpy") as caught:
        backends.check_one_device([host, [device]])
    assert "cupy.asarray" in str(caught.value)


def test_a_missing_library_says_what_to_install(monkeypatch):
    from s2s.runtime.backends import cupy as home

    home.cupy_backend.cache_clear()
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(BackendError, match="pip install"):
        backends.by_name("cupy")
    with pytest.raises(BackendError, match="abacus"):
        backends.by_name("abacus")
