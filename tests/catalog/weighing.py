"""Samples of the catalog as functions that s2s can be asked about: their outputs weighed into one number."""

from __future__ import annotations

import linecache
import textwrap
from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.catalog import catalog

MODULES = ("numpy", "numpy.linalg", "numpy.ndarray", "math", "operator", "builtins")
FURTHER = ("numpy.fft", "numpy.emath", "numpy.lib.stride_tricks", "numpy.polynomial", "numpy.ufunc", "numpy.random",
           "cmath", "scipy.special")  # fmt: skip


def samples(tiers: tuple[int, ...], key: str = "samples", modules: tuple[str, ...] = MODULES) -> list[dict[str, Any]]:
    """The samples (or the `kinks`) of the functions of these tiers, in the modules in question."""
    return [
        sample
        for entry in catalog.load()
        if entry["module"] in modules and entry["tier"] in tiers
        for sample in entry.get(key, ())
    ]


def places(out: Any, path: str = "out") -> Iterator[tuple[str, Any]]:
    """The leaves of a nested output that carry derivatives, in order, each with the text that reads it."""
    if isinstance(out, dict):
        for key, part in out.items():
            yield from places(part, f"{path}[{key!r}]")
    elif isinstance(out, (tuple, list)):
        for position, part in enumerate(out):
            yield from places(part, f"{path}[{position}]")
    else:
        leaf = np.asarray(out)
        if leaf.dtype.kind in "fc":
            yield path, leaf


def loss(sample: dict[str, Any], args: list[Any], cotangents: list[Any]) -> Any:
    """A function of the sample's arguments: the sum over its outputs of `sum(real(ct * out))`."""
    f = catalog.function(sample)
    found = list(places(f(*args)))
    terms = []
    scope = f.__globals__
    for number, ((path, leaf), cotangent) in enumerate(zip(found, cotangents, strict=True)):
        product = f"ct{number} * {path}"
        terms.append(f"np.sum(np.real({product}))" if leaf.dtype.kind == "c" else f"np.sum({product})")
        scope[f"ct{number}"] = cotangent
    params = ", ".join(sample["args"])
    body = f"out = f({params})\nreturn {' + '.join(terms)}"
    text, where = f"def loss({params}):\n{textwrap.indent(body, '    ')}\n", f"<loss of {sample['id']}>"
    linecache.cache[where] = len(text), None, text.splitlines(True), where
    exec(compile(text, where, "exec"), scope)
    return scope["loss"]
