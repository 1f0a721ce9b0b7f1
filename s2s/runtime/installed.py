"""What belongs to Python itself or to an installed package, and not to the user's own program."""

from __future__ import annotations

import functools
import os
import site
import sys
import sysconfig
import types


@functools.cache
def _roots() -> tuple[str, ...]:
    found = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    # This package counts wherever it lies: what it keeps of programs is no part of the next one.
    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
    return tuple(root for root in (*found, *site.getsitepackages(), own) if root)


def is_installed(function: types.FunctionType) -> bool:
    """Whether a function belongs to an installed library, which users do not edit while it runs."""
    return function.__code__.co_filename.startswith(_roots())


def is_installed_class(cls: type) -> bool:
    """Whether a class does, by the file of its module."""
    module = sys.modules.get(cls.__module__)
    return (getattr(module, "__file__", None) or "").startswith(_roots())


def is_installed_module(module: types.ModuleType) -> bool:
    """Whether a module does; one without a file is Python's own, unless it is the program."""
    file = vars(module).get("__file__")
    return file.startswith(_roots()) if isinstance(file, str) else module.__name__ != "__main__"
