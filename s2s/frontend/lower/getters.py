"""`getattr(x, "T")` -> `x.T`: a name that is written down is an attribute as any other."""

from __future__ import annotations

from typing import Any

import gast

from s2s.frontend.lower.lowering import Lowering


def attribute(low: Lowering, function: Any, node: Any) -> Any:
    """The attribute that such a call reads; None for other calls. Python changes no name that is a string."""
    if function is not getattr or len(node.args) != 2 or node.keywords:
        return None
    owner, name = node.args
    written = isinstance(name, gast.Constant) and isinstance(name.value, str) and name.value.isidentifier()
    if isinstance(owner, gast.Starred) or not written or name.value.startswith("__"):
        return None
    return low.value(gast.copy_location(gast.Attribute(owner, name.value, gast.Load()), node))
