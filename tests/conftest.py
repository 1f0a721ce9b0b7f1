"""What all tests share: the options and the markers, repeatable random numbers."""

import os

import hypothesis
import numpy as np
import pytest

hypothesis.settings.register_profile("default", deadline=None, derandomize=True)
hypothesis.settings.register_profile("full", deadline=None, max_examples=1000)


def pytest_addoption(parser):
    parser.addoption("--full", action="store_true", help="run also the tests marked `full`")


def pytest_configure(config):
    hypothesis.settings.load_profile("full" if config.getoption("--full") else "default")


def has_gpu():
    try:
        import cupy

        return cupy.cuda.runtime.getDeviceCount() > 0
    except Exception:  # CuPy reports a missing driver by errors of its own
        return False


def pytest_collection_modifyitems(config, items):
    skips = {}
    if not config.getoption("--full"):
        skips["full"] = pytest.mark.skip(reason="runs under --full")
    if any("gpu" in item.keywords for item in items) and not has_gpu():
        skips["gpu"] = pytest.mark.skip(reason="no CUDA device, or no CuPy")
    for item in items:
        for name, skip in skips.items():
            if item.get_closest_marker(name):
                item.add_marker(skip)


@pytest.fixture
def rng():
    """A generator of random numbers, the same in every run; S2S_SEED chooses another."""
    return np.random.default_rng(int(os.environ.get("S2S_SEED", "0")))
