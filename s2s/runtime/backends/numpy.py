"""NumPy, on the host."""

from __future__ import annotations

import numpy as np

from s2s.runtime.backends.base import Backend

NUMPY = Backend("numpy", np.ndarray)
