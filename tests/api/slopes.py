"""What the gradients of the tests of this folder are compared with."""

import numpy as np


def slope(f, x, step=1e-6):
    """The gradient by central differences."""
    if isinstance(x, float):
        return (f(x + step) - f(x - step)) / (2 * step)
    found = np.zeros_like(x, dtype=np.result_type(x, float))
    for i in np.ndindex(x.shape):
        d = np.zeros_like(found)
        d[i] = step
        found[i] = (f(x + d) - f(x - d)) / (2 * step)
    return found
