"""gradcheck and gradgradcheck: gradients compared with central differences."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2s.autograd.calls import grad
from s2s.autograd.nodes import plain
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
    *,
    check_grad_dtypes: bool = False,
    fast_mode: bool = False,
) -> bool:
    """Whether the gradients of `function` by those inputs that require grad agree with central differences.

    eps: the step of the differences.
    atol, rtol: each element of a Jacobian must be within `atol + rtol * |difference|`.
    raise_exception: raise GradcheckError if they do not agree; else return False.
    nondet_tol: by how much the same gradient may differ when it is computed twice.
    check_grad_dtypes: whether gradients must have the dtypes of their inputs.
    fast_mode: compare the Jacobian in one random direction only.

    Inputs should be float64 or complex128; others are warned of. Raises ValueError if none requires grad.

    >>> gradcheck(lambda x: x * np.sin(x), Variable([1.0, 2.0], requires_grad=True))
    True
    """
    inputs = (inputs,) if isinstance(inputs, Value) else tuple(inputs)
    try:
        _Check(function, inputs, eps, atol, rtol, nondet_tol, check_grad_dtypes, fast_mode).run()
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
    *,
    gen_non_contig_grad_outputs: bool = False,
    check_grad_dtypes: bool = False,
    fast_mode: bool = False,
) -> bool:
    """The same for the gradients of `function`: by its inputs, and by the gradients of its results.

    grad_outputs: those gradients; by default random ones.
    gen_non_contig_grad_outputs: whether the random ones are views that are not contiguous.
    """
    inputs = (inputs,) if isinstance(inputs, Value) else tuple(inputs)
    outputs = list(filter(_carries, _outputs(function, inputs)))
    if grad_outputs is None:
        rng = np.random.default_rng(0)
        seeds = [_random(rng, o._data) for o in outputs]
        if gen_non_contig_grad_outputs:
            seeds = [np.stack([s, s], axis=-1)[..., 0] for s in seeds]
        grad_outputs = [Variable(s, requires_grad=True) for s in seeds]
    else:
        grad_outputs = [grad_outputs] if isinstance(grad_outputs, Value) else list(grad_outputs)
    n = len(inputs)

    def gradients(*args: Any) -> Any:
        by = [v for v in args[:n] if isinstance(v, Value) and v.parent() is not None]
        results = list(filter(_carries, _outputs(function, args[:n])))
        return grad(results, by, list(args[n:]), create_graph=True, materialize_grads=True)

    options: dict[str, Any] = {"check_grad_dtypes": check_grad_dtypes, "fast_mode": fast_mode}
    return gradcheck(gradients, (*inputs, *grad_outputs), eps, atol, rtol, raise_exception, nondet_tol, **options)


@dataclass(frozen=True)
class _Check:
    """One comparison of gradients with differences; the fields are the arguments of `gradcheck`."""

    function: Callable[..., Any]
    inputs: tuple[Any, ...]
    eps: float
    atol: float
    rtol: float
    nondet_tol: float
    check_grad_dtypes: bool
    fast_mode: bool

    def run(self) -> None:
        """Raise GradcheckError if they do not agree."""
        checked = [v for v in self.inputs if isinstance(v, Value) and v.parent() is not None]
        if not checked:
            raise ValueError("gradcheck needs at least one input that requires grad")
        if any(dtype_of(v._data) not in (np.float64, np.complex128) for v in checked):
            warnings.warn("gradcheck of inputs that are not float64 is dominated by rounding", stacklevel=3)
        for k, output in enumerate(_outputs(self.function, self.inputs)):
            if dtype_of(plain(output)).kind in "fc":
                for i, v in enumerate(checked):
                    self._compare(k, output, i, v)

    def _compare(self, k: int, output: Any, i: int, v: Any) -> None:
        if not np.size(v._data) or not np.size(plain(output)):
            return
        rows = self._directions(v._data, seed=2 * i)
        numeric = _by_differences(self.function, self.inputs, v, k, self.eps, rows)
        if not _carries(output):
            if not np.allclose(numeric, 0.0, atol=self.atol):
                raise GradcheckError(
                    f"result {k} carries no gradient, but differs where input {i} does:\ndifferences:\n{numeric}"
                )
            return
        analytic, again = (self._by_backward(v, k, rows) for _ in range(2))
        if self.fast_mode:
            weights = self._directions(output._data, seed=2 * k + 1)[0]
            numeric = numeric @ _as_real(np.asarray(weights))
        if not np.allclose(analytic, again, rtol=0.0, atol=self.nondet_tol, equal_nan=True):
            raise GradcheckError(f"the gradient of result {k} by input {i} is not the same twice")
        if not np.allclose(analytic, numeric, rtol=self.rtol, atol=self.atol, equal_nan=True):
            raise GradcheckError(
                f"the Jacobian of result {k} (shape {np.shape(output)}) by input {i} differs from differences:\n"
                f"differences:\n{numeric}\nbackward:\n{analytic}"
            )

    def _directions(self, data: Any, seed: int) -> list[np.ndarray]:
        """In what directions a value varies: each element of it, complex ones in two; or one random direction."""
        if self.fast_mode:
            return [_random(np.random.default_rng(seed), data)]
        units = np.eye(int(np.size(data))).reshape((int(np.size(data)), *np.shape(data)))
        return [unit * d for unit in units for d in ([1.0, 1j] if dtype_of(data).kind == "c" else [1.0])]

    def _by_backward(self, v: Any, k: int, rows: list[np.ndarray]) -> np.ndarray:
        """The same as `_by_differences` gives; in fast mode the derivative along the one direction."""
        output = _outputs(self.function, self.inputs)[k]
        columns = []
        for direction in self._directions(output._data, seed=2 * k + 1):
            seed = Variable.make(np.asarray(direction, dtype_of(output._data)))
            (g,) = grad(output, v, seed, retain_graph=True, materialize_grads=True)
            assert g is not None
            if self.check_grad_dtypes and g.dtype != dtype_of(v._data):
                raise GradcheckError(f"the gradient of dtype {g.dtype} is for an input of {dtype_of(v._data)}")
            columns.append(_as_real(np.asarray(g._data)))
        jacobian = np.array(columns).T
        return (_as_real(rows[0]) @ jacobian) if self.fast_mode else jacobian


def _outputs(function: Callable[..., Any], inputs: Sequence[Any]) -> Sequence[Any]:
    out = function(*inputs)
    return out if isinstance(out, (tuple, list)) else (out,)


def _carries(output: Any) -> bool:
    """Whether a result carries a gradient."""
    return isinstance(output, Value) and output.parent() is not None


def _by_differences(
    function: Callable[..., Any], inputs: tuple[Any, ...], v: Any, k: int, eps: float, rows: list[np.ndarray]
) -> np.ndarray:
    """The derivatives of a result, as real numbers, along each of the directions."""
    original = v._data
    found = []
    for direction in rows:
        sides = []
        for step in (eps, -eps):
            v._data = np.asarray(original + step * direction, dtype_of(original))
            try:
                moved = _outputs(function, inputs)[k]
                sides.append(_as_real(np.array(plain(moved))))
            finally:
                v._data = original
        found.append((sides[0] - sides[1]) / (2 * eps))
    return np.array(found)


def _as_real(a: np.ndarray) -> np.ndarray:
    a = np.ascontiguousarray(a).ravel()
    return np.stack([a.real, a.imag], axis=-1).ravel() if a.dtype.kind == "c" else a


def _random(rng: np.random.Generator, like: Any) -> np.ndarray:
    real = np.asarray(rng.standard_normal(np.shape(like)))
    return real + 1j * np.asarray(rng.standard_normal(np.shape(like))) if dtype_of(like).kind == "c" else real
