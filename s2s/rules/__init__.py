"""The derivative of each known function, written once; see `registry` for the forms in which it is written.

A rule for a function that s2s has never heard of works in all modes, like those that come with it:

>>> import numpy as np
>>> from s2s import rules
>>> def softplus(x):
...     return np.log1p(np.exp(x))
>>> @rules.elementwise(softplus)
... def softplus_slope(ans, x):
...     return 1 - np.exp(-ans)
>>> rules.find(softplus).vjps["x"](2.0, softplus(0.0), 0.0).item()
1.0
"""

from s2s.rules import (  # noqa: F401  (each registers its rules)
    arithmetic,
    builtins,
    complexes,
    composites,
    creation,
    eigen,
    einsum,
    fourier,
    grids,
    helpers,
    histograms,
    indexing,
    joining,
    leastsquares,
    linalg,
    linalg_names,
    padding,
    polynomials,
    products,
    quantiles,
    rearranging,
    reductions,
    scalars,
    series,
    shapes,
    signals,
    spectra,
    stores,
    ufunc_methods,
    ufuncs,
)
from s2s.rules.registry import (
    decompose,
    elementwise,
    find,
    jvp,
    linear,
    registry,
    supported,
    vjp,
    zero_derivative,
)
from s2s.rules.rule import Rule

__all__ = [
    "Rule",
    "decompose",
    "elementwise",
    "find",
    "jvp",
    "linear",
    "registry",
    "supported",
    "vjp",
    "zero_derivative",
]
