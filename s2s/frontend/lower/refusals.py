"""What is not lowered: each construct is named, with its place, so that the function can go to the tape."""

from __future__ import annotations

from typing import Any

import gast

from s2s.frontend.lower.lowering import Lowering, lowers

CONSTRUCTS: dict[str, str] = {
    "AsyncFunctionDef": "an async function",
    "ClassDef": "a class definition",
    "GeneratorExp": "a generator expression",
    "TryStar": "try with except*",
    "AsyncFor": "async for",
    "AsyncWith": "async with",
    "Await": "await",
    "Yield": "yield",
    "YieldFrom": "yield from",
    "TypeAlias": "a type alias",
}


@lowers(*(getattr(gast, name) for name in CONSTRUCTS if hasattr(gast, name)))
def refused(low: Lowering, node: Any) -> Any:
    raise low.refuse(CONSTRUCTS[type(node).__name__], node)
