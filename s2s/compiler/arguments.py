"""The arguments of a call, looked at before any work is done.

What is refused here would otherwise fail deep inside NumPy, or give numbers that mean nothing: integers to
differentiate by, objects in arrays, arrays whose arithmetic is not NumPy's. Almost all of it follows from the kinds of
the arguments, so a call that finds its variant compiled pays for none of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from s2s.compiler.argnums import Selection, Wanted
from s2s.errors import ArgumentError
from s2s.runtime import backends, pytree

_NUMPY = {
    "pandas": "pass {}.to_numpy()",
    "xarray": "pass {}.to_numpy()",
    "polars": "pass {}.to_numpy()",
    "torch": "pass {}.detach().cpu().numpy()",
    "jax": "pass numpy.asarray({})",
    "jaxlib": "pass numpy.asarray({})",
    "tensorflow": "pass {}.numpy()",
}


def check_arguments(values: Mapping[str, Any], selection: Selection) -> None:
    """Refuse what cannot be differentiated, or through which nothing can be differentiated right.

    values: all parameters, by name.
    """
    for wanted in selection.wanted:
        place, value = _wanted(wanted, values)
        _check_active(place, value)
    for name, value in values.items():
        for place, leaf in pytree.paths(value):
            _check_array(f"{name}{place}", leaf)
    backends.check_one_device(list(values.values()))


def _wanted(wanted: Wanted, values: Mapping[str, Any]) -> tuple[str, Any]:
    """The value to differentiate by, and what a message calls it."""
    value = values[wanted.param]
    if wanted.key is None:
        return wanted.param, value
    place = f"{wanted.param}[{wanted.key!r}]"
    try:
        return place, value[wanted.key]
    except (IndexError, KeyError):
        raise ArgumentError(f"argnums names {place}, which this call does not pass") from None


def _check_active(place: str, value: Any) -> None:
    if pytree.is_leaf(value):
        _check_array(place, value)
        _check_alone(place, value)
        return
    found, empty = False, True
    for rest, leaf in pytree.paths(value):
        _check_array(place + rest, leaf)
        _check_inside(place + rest, leaf)
        found = found or pytree.carries_derivative(leaf)
        empty = empty and not isinstance(leaf, (int, np.integer, np.ndarray))
    if not found and not empty:
        raise ArgumentError(
            f"{place} holds no float to differentiate by, only integers",
            hint="make the numbers in it floats: 2.0 in place of 2, x.astype(float) for an array.",
        )


def _check_alone(place: str, value: Any) -> None:
    """A number or array by which the gradient is wanted."""
    if pytree.carries_derivative(value):
        return
    if isinstance(value, (bool, np.bool_)):
        what, fix = f"the bool {value!r}", "pass a float, or leave it out of argnums."
    elif isinstance(value, (int, np.integer)):
        what, fix = f"the int {value!r}", f"pass the float {int(value)}.0, or leave it out of argnums."
    elif isinstance(value, np.ndarray):
        what, fix = f"an array of dtype {value.dtype}", f"pass {place}.astype(float), or leave it out of argnums."
    elif value is None or isinstance(value, str):
        what, fix = repr(value), "leave it out of argnums."
    else:
        what = f"of type {_type_name(value)}"
        fix = "pass a float, a NumPy array, or a list, tuple, dict or dataclass of these."
    raise ArgumentError(f"cannot differentiate by {place}, which is {what}: derivatives need real numbers", hint=fix)


def _check_inside(place: str, leaf: Any) -> None:
    """A leaf of a container: what is no number passes through, but must be of a kind that says so."""
    if leaf is None or isinstance(leaf, (str, bool, int, np.integer, np.bool_, np.ndarray)):
        return
    if not pytree.carries_derivative(leaf):
        raise ArgumentError(
            f"cannot differentiate by {place}, which is of type {_type_name(leaf)}",
            hint="a container to differentiate by holds numbers, arrays, str, bool and None; register its class with "
            "s2s.runtime.pytree.register if it is a container itself.",
        )


def _check_array(place: str, value: Any) -> None:
    """Refuse arrays whose arithmetic is not that of ndarray, whether or not they are to be differentiated by."""
    if type(value) is np.ndarray:
        if value.dtype == object:
            raise ArgumentError(
                f"{place} is an array of objects, which has no derivative", hint=f"convert it: {place}.astype(float)."
            )
        return
    if isinstance(value, (float, complex)) and type(value) not in (float, complex):
        if isinstance(value, np.generic):
            return
        fix = f"pass {'float' if isinstance(value, float) else 'complex'}({place})."
        raise ArgumentError(
            f"{place} is of type {_type_name(value)}, a number whose arithmetic may be its own", hint=fix
        )
    # `numpy.ma` takes long to import: only what may be one of its arrays is asked.
    if isinstance(value, np.ndarray) and isinstance(value, np.ma.MaskedArray):
        fix = f"pass {place}.filled(0.0), or {place}.data and its mask apart."
    elif isinstance(value, np.ndarray) and not isinstance(value, np.memmap):
        fix = f"pass numpy.asarray({place})."
    else:
        package = type(value).__module__.partition(".")[0]
        if package not in _NUMPY or not hasattr(value, "shape"):
            return
        fix = _NUMPY[package].format(place) + "."
    raise ArgumentError(f"{place} is of type {_type_name(value)}, whose arithmetic is not that of ndarray", hint=fix)


def check_seed(seed: Any, name: str) -> float:
    """The seed as a number: what has one element counts as a scalar."""
    if type(seed) is float:
        return seed
    if isinstance(seed, (np.ndarray, np.generic, int, float, complex)) and not isinstance(seed, bool):
        array = np.asarray(seed)
        if array.size != 1:
            raise ArgumentError(
                f"the seed {name} has shape {array.shape}, but the result of the function is a scalar",
                hint="pass one number.",
            )
        if array.dtype.kind in "iuf":
            return float(array.item())
    raise ArgumentError(
        f"the seed {name} must be a real number, as the result is, not {_described(seed)}", hint="pass a float."
    )


def _type_name(value: Any) -> str:
    cls = type(value)
    return cls.__qualname__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__qualname__}"


def _described(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of dtype {value.dtype}"
    return f"{value!r} of type {_type_name(value)}"
