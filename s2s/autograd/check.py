"""gradcheck and gradgradcheck: gradients compared with central differences."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from s2s.autograd.calls import grad
from s2s.autograd.value import Value, dtype_of
from s2s.autograd.variable import Variable
from s2s.errors import S2SError


class GradcheckError(S2SError, RuntimeError):
    """A gradient differs from what differences say."""

    __str__ = S2SError.__str__


def gradcheck(
    function: Callable[..., Any],
    inputs: Any,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
) -> bool:
    """Whether the gradients of `function` by those inputs that require grad agree with central differences.

    The step is `eps`. Each gradient of each result must be within `atol + rtol * |difference|`. Inputs should be
    float64. If they do not agree, raises GradcheckError, or returns False with `raise_exception=False`.
    """
    inputs = (inputs,) if isinstance(inputs, Value) else tuple(inputs)
    try:
        _check(function, inputs, eps, atol, rtol, nondet_tol)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    function: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
) -> bool:
    """The same for the gradients of `function`: by its inputs, and by the gradients of its results.

    grad_outputs: those gradients; by default random ones.
    """
    inputs = (inputs,) if isinstance(inputs, Value) else tuple(inputs)
    outputs = list(filter(_carries, _outputs(function, inputs)))
    if grad_outputs is None:
        rng = np.random.default_rng(0)
        grad_outputs = [Variable(_random(rng, o._data), requires_grad=True) for o in outputs]
    else:
        grad_outputs = [grad_outputs] if isinstance(grad_outputs, Value) else list(grad_outputs)
    n = len(inputs)

    def gradients(*args: Any) -> Any:
        by = [v for v in args[:n] if isinstance(v, Value) and v.parent() is not None]
        results = list(filter(_carries, _outputs(function, args[:n])))
        return grad(results, by, list(args[n:]), create_graph=True, materialize_grads=True)

    return gradcheck(gradients, (*inputs, *grad_outputs), eps, atol, rtol, raise_exception, nondet_tol)


def _check(
    function: Callable[..., Any], inputs: tuple[Any, ...], eps: float, atol: float, rtol: float, nondet_tol: float
) -> None:
    checked = [v for v in inputs if isinstance(v, Value) and v.parent() is not None]
    if not checked:
        raise ValueError("gradcheck needs at least one input that requires grad")
    if any(dtype_of(v._data) not in (np.float64, np.complex128) for v in checked):
        warnings.warn("gradcheck of inputs that are not float64 is dominated by rounding", stacklevel=3)
    for k, output in enumerate(_outputs(function, inputs)):
        if not _carries(output):
            continue
        for i, v in enumerate(checked):
            numeric = _by_differences(function, inputs, v, k, eps)
            analytic = _by_backward(function, inputs, v, k)
            again = _by_backward(function, inputs, v, k)
            if not np.allclose(analytic, again, rtol=0.0, atol=nondet_tol, equal_nan=True):
                raise GradcheckError(f"the gradient of result {k} by input {i} is not the same twice")
            if not np.allclose(analytic, numeric, rtol=rtol, atol=atol, equal_nan=True):
                raise GradcheckError(
                    f"the Jacobian of result {k} (shape {np.shape(output)}) by input {i} differs from differences:\n"
                    f"differences:\n{numeric}\nbackward:\n{analytic}"
                )


def _outputs(function: Callable[..., Any], inputs: Sequence[Any]) -> Sequence[Any]:
    out = function(*inputs)
    return out if isinstance(out, (tuple, list)) else (out,)


def _carries(output: Any) -> bool:
    """Whether a result carries a gradient."""
    return isinstance(output, Value) and output.parent() is not None


def _directions(data: Any) -> list[complex]:
    """A real number varies in one direction, a complex one in two."""
    return [1.0, 1j] if dtype_of(data).kind == "c" else [1.0]


def _by_differences(function: Callable[..., Any], inputs: tuple[Any, ...], v: Any, k: int, eps: float) -> np.ndarray:
    """Rows: the elements of v (times directions); columns: those of the result as real numbers."""
    original = v._data
    rows = []
    for i in range(np.size(original)):
        for direction in _directions(original):
            sides = []
            for step in (eps, -eps):
                moved = np.array(original)
                moved.flat[i] += step * direction
                v._data = moved
                try:
                    sides.append(_as_real(np.array(_outputs(function, inputs)[k]._data)))
                finally:
                    v._data = original
            rows.append((sides[0] - sides[1]) / (2 * eps))
    return np.array(rows)


def _by_backward(function: Callable[..., Any], inputs: tuple[Any, ...], v: Any, k: int) -> np.ndarray:
    output = _outputs(function, inputs)[k]
    columns = []
    for i in range(np.size(output._data)):
        for direction in _directions(output._data):
            seed = np.zeros(np.shape(output._data), dtype_of(output._data))
            seed.flat[i] = direction
            (g,) = grad(output, v, Variable.make(seed), retain_graph=True, materialize_grads=True)
            assert g is not None
            columns.append(_as_real(np.asarray(g._data)))
    return np.array(columns).T


def _as_real(a: np.ndarray) -> np.ndarray:
    a = np.ascontiguousarray(a).ravel()
    return np.stack([a.real, a.imag], axis=-1).ravel() if a.dtype.kind == "c" else a


def _random(rng: np.random.Generator, like: Any) -> np.ndarray:
    real = np.asarray(rng.standard_normal(np.shape(like)))
    return real + 1j * np.asarray(rng.standard_normal(np.shape(like))) if dtype_of(like).kind == "c" else real
