"""NumPy's two protocols, `__array_ufunc__` and `__array_function__`, as calls of `dispatch.apply`."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Mapping
from typing import Any

import numpy as np

from s2s.autograd import operation
from s2s.autograd.dispatch import apply, missing
from s2s.autograd.inplace import assign, scatter, scatter_add
from s2s.autograd.nodes import plain, values_in
from s2s.autograd.refusals import noted
from s2s.autograd.texts import written_as
from s2s.autograd.value import Value, ndarray
from s2s.runtime.stores import overlapping, require_in_step

COMPARISONS = frozenset(
    {np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal, np.logical_and, np.logical_or,
     np.logical_not, np.logical_xor, np.isfinite, np.isinf, np.isnan, np.signbit}
)  # fmt: skip
# Functions that look at shapes and types alone, or give text or truth; they need no rule.
_LOOKING = frozenset(
    {np.shape, np.ndim, np.size, np.iscomplexobj, np.isrealobj, np.iscomplex, np.isreal, np.result_type, np.can_cast,
     np.min_scalar_type, np.common_type, np.may_share_memory, np.shares_memory, np.array_equal, np.array_equiv,
     np.allclose, np.isclose, np.array2string, np.array_repr, np.array_str}
)  # fmt: skip
# Functions that write into their first argument, and which of the others holds the values.
_WRITING = {np.put: "v", np.place: "vals", np.putmask: "values", np.put_along_axis: "values", np.fill_diagonal: "val"}


def call(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A ufunc, or a method of one, with a Value among its arguments."""
    out = kwargs.pop("out", None)
    if kwargs.get("where", True) is True:
        kwargs.pop("where", None)
    elif method == "__call__" and (_active(inputs) or _active(out)):
        return _masked(ufunc, inputs, kwargs, out)
    elif method == "__call__" and out is not None:
        return _filled(ufunc, inputs, kwargs, out)
    if method == "at":
        return _at(ufunc, *inputs)
    result = _plainly(ufunc, inputs, kwargs) if method == "__call__" else _by_method(ufunc, method, inputs, kwargs)
    if out is None:
        return result
    if isinstance(result, tuple) and len(out) == len(result):
        return tuple(map(lambda r, o: r if o is None else store(r, o, ufunc.__name__), result, out))
    return store(result, out[0], ufunc.__name__)


def _masked(ufunc: np.ufunc, inputs: tuple[Any, ...], kwargs: dict[str, Any], out: Any) -> Any:
    """`where=`: elsewhere the result is what `out` holds, and of what the function is there nothing is to be heard."""
    if out is None or len(out) != 1 or ufunc.nout != 1:
        message = f"where= of {ufunc.__name__} without out= leaves elements as they come: use np.where"
        raise noted(TypeError(message))
    mask = plain(kwargs.pop("where"))
    with np.errstate(all="ignore"):
        result = _plainly(ufunc, inputs, kwargs)
    return store(apply(np.where, (mask, result, apply(np.copy, out))), out[0], ufunc.__name__)


def _filled(ufunc: np.ufunc, inputs: tuple[Any, ...], kwargs: dict[str, Any], out: tuple[Any, ...]) -> Any:
    """The same of constants: NumPy writes into copies, whose entries elsewhere are those of `out`."""
    made = tuple(None if o is None else np.array(plain(o)) for o in out)
    results = ufunc(*plain(list(inputs)), out=made, **plain(kwargs))
    results = results if isinstance(results, tuple) else (results,)
    stored = tuple(r if o is None else store(r, o, ufunc.__name__) for r, o in zip(results, out, strict=True))
    return stored if len(stored) > 1 else stored[0]


def _plainly(ufunc: np.ufunc, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if ufunc in COMPARISONS:
        return ufunc(*plain(list(inputs)), **plain(kwargs))
    return apply(ufunc, inputs, kwargs)


def _by_method(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    function = getattr(ufunc, method)
    if ufunc in COMPARISONS:
        return function(*plain(list(inputs)), **plain(kwargs))
    return apply(function, inputs, kwargs)


def _at(ufunc: np.ufunc, target: Any, index: Any, *values: Any) -> None:
    if ufunc in (np.add, np.subtract) and isinstance(target, Value):
        (value,) = (v if isinstance(v, Value) or not _active(v) else apply(np.array, (v,)) for v in values)
        scatter_add(target, index, value if ufunc is np.add else np.negative(value))
        return
    if _active((target, *values)):
        return _in_rounds(ufunc, target, plain(index), values)
    if isinstance(target, Value):
        changed = np.array(target._data)
        ufunc.at(changed, plain(index), *plain(list(values)))
        assign(target, ..., changed, f"{ufunc.__name__}.at")
        return
    ufunc.at(target, plain(index), *plain(list(values)))


def _in_rounds(ufunc: np.ufunc, target: Any, index: Any, values: tuple[Any, ...]) -> None:
    """`ufunc.at` by places of a row: each round takes every place once that is named so often at least."""
    places: Any = np.asarray(index)
    if not isinstance(target, Value) or np.ndim(plain(target)) != 1 or places.dtype.kind not in "iu":
        raise missing(getattr(ufunc, "at"))  # noqa: B009 - a method of a ufunc, by name
    places = places.ravel() % len(plain(target))
    order = np.argsort(places, kind="stable")
    first = np.searchsorted(places[order], places[order])
    earlier = np.empty_like(order)
    earlier[order] = np.arange(len(order)) - first
    spread = [v if np.ndim(plain(v)) == 0 else apply(np.broadcast_to, (v, np.shape(index))) for v in values]
    rows = [v if np.ndim(plain(v)) == 0 else apply(np.reshape, (v, -1)) for v in spread]
    for turn in range(int(np.max(earlier, initial=-1)) + 1):
        chosen = np.flatnonzero(earlier == turn)
        operands = [v if np.ndim(plain(v)) == 0 else apply(operator.getitem, (v, chosen)) for v in rows]
        made = _plainly(ufunc, (apply(operator.getitem, (target, places[chosen])), *operands), {})
        assign(target, places[chosen], made, f"{ufunc.__name__}.at")


def store(result: Any, target: Any, name: str) -> Any:
    """The end of `out=`: write a result into its target, which is returned."""
    if isinstance(target, tuple) and len(target) == 1:
        target = target[0]
    if isinstance(target, Value):
        if not np.can_cast(plain(result).dtype, target._data.dtype, "same_kind"):
            message = f"{name}: a result of {plain(result).dtype} cannot be cast into out= of {target._data.dtype}"
            raise noted(TypeError(message))
        assign(target, ..., result, name)
    elif _active(result):
        message = f"{name}: out= is a plain array, which would lose the gradient: give a Variable, or leave it out"
        raise noted(TypeError(message))
    else:
        np.copyto(target, plain(result), casting="same_kind")
    return target


def _active(tree: Any) -> bool:
    return any(value.parent() is not None for _, value in values_in(tree))


def call_function(function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """One of NumPy's functions, with a Value among its arguments."""
    if function in _LOOKING:
        out = function(*plain(list(args)), **plain(dict(kwargs)))
        return written_as(out) if isinstance(out, str) and _recorded(args) else out
    if function is np.copyto:
        return _copyto(*args, **kwargs)
    if function in _WRITING:
        return _write(function, *args, **kwargs)
    target = kwargs.get("out")
    if target is None:
        return apply(function, args, kwargs)
    rest = {k: v for k, v in kwargs.items() if k != "out"}
    if function in _WRITING_AT_ONCE and any(np.may_share_memory(plain(target), plain(a)) for a in args[0]):
        raise noted(overlapping(function.__name__))
    return store(apply(function, args, rest), target, function.__name__)


# What writes parts into `out` before it has read all: a copy is not made of what they share.
_WRITING_AT_ONCE = (np.concatenate, np.stack)


def _copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    target, source = dst, src
    if not isinstance(target, Value):
        if _active(source):
            message = "copyto: the target is a plain array, which would lose the gradient: copy into a Variable"
            raise noted(TypeError(message))
        np.copyto(target, plain(source), casting=casting, where=plain(where))  # type: ignore[arg-type]
        return
    if where is not True:
        require_in_step(target._data, plain(source))
        source = apply(np.where, (plain(where), source, apply(np.copy, (target,))))
    assign(target, ..., source, "copyto")


def _write(function: Any, target: Any, *args: Any, **kwargs: Any) -> None:
    bound = inspect.signature(function).bind(target, *args, **kwargs)
    name = _WRITING[function]
    values = bound.arguments[name]
    where = [v for k, v in bound.arguments.items() if k != name][1:]
    if _active(where) or (_active(values) and not isinstance(target, Value)):
        raise missing(function)
    if not isinstance(target, Value):
        function(*plain(list(bound.args)), **plain(bound.kwargs))
        return

    def write(written: ndarray, values: Any) -> None:
        bound.arguments[name] = values
        function(written, *plain(list(bound.args[1:])), **plain(bound.kwargs))

    scatter(target, values, write, function.__name__)


def has_rule(function: Any) -> bool:
    """Whether the tape knows the derivative of a function."""
    return operation.find(function) is not None


def _recorded(args: Any) -> bool:
    """Whether there is a value among some arguments that a record follows."""
    return any(type(value).copies and value.parent() is not None for _, value in values_in(list(args)))
