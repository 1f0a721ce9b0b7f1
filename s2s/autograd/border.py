"""Between cotangents as rules have them and gradients as users see them: conjugation, dtypes, hooks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from s2s.autograd.dispatch import apply
from s2s.autograd.hooks import Retain
from s2s.autograd.traced import Traced
from s2s.autograd.value import Value, dtype_of
from s2s.autograd.variable import Variable
from s2s.errors import EagerError


def fit(g: Any, dtype: np.dtype[Any] | None) -> Any:
    """A cotangent in the dtype of what it belongs to; the real part where that is real."""
    try:
        have = g.dtype
    except AttributeError:
        g = np.asarray(g)[()]
        have = g.dtype
    if have is dtype or dtype is None or have == dtype:
        return g
    if have.kind == "c" and dtype.kind != "c":
        g = g.real
    return g.astype(dtype)


def conjugate(g: Any) -> Any:
    """Across the border between the rules' convention and PyTorch's."""
    if dtype_of(g).kind != "c":
        return g
    return apply(np.conj, (g,)) if isinstance(g, Value) else np.conj(g)


def public(g: Any) -> Variable:
    """A cotangent as a user's gradient, of its own memory: cotangents are shared along the graph."""
    g = conjugate(g)
    if not isinstance(g, Value):
        return Variable.make(np.array(g))
    parent = g.parent()
    return Variable.make(g._data) if parent is None else Variable.linked(g._data, parent)


def private(g: Any, recording: bool) -> Any:
    """A user's gradient as a cotangent."""
    if not recording:
        return conjugate(np.asarray(g._data if isinstance(g, Value) else g)[()])
    parent = g.parent() if isinstance(g, Value) else None
    if parent is None:
        return conjugate(Traced.make(np.asarray(g._data if isinstance(g, Value) else g)[()]))
    return conjugate(Traced.linked(g._data, parent))


def run_hooks(hooks: Mapping[int, Any], g: Any, recording: bool) -> Any:
    """Call hooks in turn; what one returns takes the cotangent's place."""
    for hook in hooks.values():
        if isinstance(hook, Retain):
            continue
        changed = hook(public(g))
        if changed is not None:
            if np.shape(changed) != np.shape(g):
                raise EagerError(f"a hook returned a gradient of shape {np.shape(changed)} in place of {np.shape(g)}")
            g = fit(private(changed, recording), dtype_of(g))
    for hook in hooks.values():
        if isinstance(hook, Retain):
            hook.keep(public(g))
    return g
