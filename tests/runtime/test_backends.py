"""A backend is found by the type of an array; no library is imported to find out."""

import sys
import types

import numpy as np
import pytest

from s2s.errors import BackendError
from s2s.runtime import backends


@pytest.fixture
def cupy(monkeypatch):
    """A library whose arrays look like CuPy's."""
    module = types.ModuleType("cupy")
    module.ndarray = type("ndarray", (), {"__module__": "cupy"})
    module.Stream = type("Stream", (), {"__module__": "cupy"})
    monkeypatch.setitem(sys.modules, "cupy", module)
    return module


def test_numbers_and_objects_have_no_backend(cupy):
    assert backends.backend_of(2.0) is None
    assert backends.backend_of("text") is None
    assert backends.backend_of(cupy.Stream()) is None


def test_arrays_are_found_by_their_type(cupy):
    assert backends.backend_of(np.ones(2)) is backends.NUMPY
    assert backends.backend_of(cupy.ndarray()).name == "cupy"


def test_devices_do_not_mix(cupy):
    host, device = np.ones(2), cupy.ndarray()
    backends.check_one_device([host, {"a": [host, 2.0]}])
    backends.check_one_device([device, 1.0])
    with pytest.raises(BackendError, match="cupy and numpy"):
        backends.check_one_device([host, [device]])
