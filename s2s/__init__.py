"""s2s: source-to-source automatic differentiation for NumPy code.

The names below are imported when they are first used, so that `import s2s` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from s2s import autograd, errors, rules
    from s2s.api import (
        GradientFunction,
        JacobianFunction,
        Pullback,
        elementwise_grad,
        grad,
        hessian,
        hvp,
        jacfwd,
        jacobian,
        jacrev,
        jvp,
        linearize,
        value_and_grad,
        vjp,
    )
    from s2s.autograd import Variable, backward
    from s2s.errors import (
        ArgumentError,
        BackendError,
        FallbackWarning,
        GraphFreedError,
        InplaceModificationError,
        MissingRuleError,
        S2SError,
        SourceUnavailableError,
        UnsupportedSyntaxError,
    )
    from s2s.runtime.pytree import stop_gradient
    from s2s.tools.check import check
    from s2s.tools.explain import explain

__version__ = "0.1.0.dev0"

_HOMES = {
    "s2s.api": (
        "GradientFunction", "JacobianFunction", "Pullback", "elementwise_grad", "grad", "hessian", "hvp", "jacfwd",
        "jacobian", "jacrev", "jvp", "linearize", "value_and_grad", "vjp",
    ),
    "s2s.autograd": ("Variable", "backward"),
    "s2s.errors": (
        "ArgumentError", "BackendError", "FallbackWarning", "GraphFreedError", "InplaceModificationError",
        "MissingRuleError", "S2SError", "SourceUnavailableError", "UnsupportedSyntaxError",
    ),
    "s2s.runtime.pytree": ("stop_gradient",),
    "s2s.tools.check": ("check",),
    "s2s.tools.explain": ("explain",),
}  # fmt: skip
_HOME = {name: home for home, names in _HOMES.items() for name in names}
_MODULES = ("autograd", "errors", "rules")

__all__ = [
    "ArgumentError",
    "BackendError",
    "FallbackWarning",
    "GradientFunction",
    "GraphFreedError",
    "InplaceModificationError",
    "JacobianFunction",
    "MissingRuleError",
    "Pullback",
    "S2SError",
    "SourceUnavailableError",
    "UnsupportedSyntaxError",
    "Variable",
    "autograd",
    "backward",
    "check",
    "elementwise_grad",
    "errors",
    "explain",
    "grad",
    "hessian",
    "hvp",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jvp",
    "linearize",
    "rules",
    "stop_gradient",
    "value_and_grad",
    "vjp",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"s2s.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 's2s' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
