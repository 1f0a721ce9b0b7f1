"""All cases of the table."""

from tests.autograd.semantics import (
    accumulation,
    gradients,
    higher,
    hooks,
    inplace,
    modes,
    operations,
    user_functions,
    variables,
    views,
)
from tests.autograd.semantics.table import CASES

__all__ = ["CASES"]
_MODULES = (accumulation, gradients, higher, hooks, inplace, modes, operations, user_functions, variables, views)
