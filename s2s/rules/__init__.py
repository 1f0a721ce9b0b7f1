"""The derivative of each known function, written once; see `registry` for the forms in which it is written.

    from s2s import rules

    @rules.elementwise(library.softplus)
    def softplus(ans, x):
        return 1 - np.exp(-ans)
"""

from s2s.rules import (  # noqa: F401  (each registers its rules)
    arithmetic,
    builtins,
    creation,
    einsum,
    helpers,
    indexing,
    joining,
    linalg,
    products,
    reductions,
    scalars,
    shapes,
    spectra,
    ufuncs,
)
from s2s.rules.registry import (
    Rule,
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

__all__ = ["Rule", "decompose", "elementwise", "find", "jvp", "linear", "registry", "supported", "vjp", "zero_derivative"]
