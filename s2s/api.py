"""The functional interface: functions of functions, with the names and shapes of JAX and torch.func."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, overload

from s2s.compiler.argnums import Argnums
from s2s.compiler.derivative import GradientFunction, Mode
from s2s.compiler.forward import push_forward
from s2s.compiler.pullback import Pullback, pull_back
from s2s.errors import BackendError

__all__ = ["GradientFunction", "Pullback", "grad", "jvp", "value_and_grad", "vjp"]

Decorator = Callable[[Callable[..., Any]], GradientFunction]


@overload
def grad(
    f: Callable[..., Any],
    argnums: Argnums = ...,
    has_aux: bool = ...,
    *,
    backend: str | None = ...,
    strict: bool = ...,
) -> GradientFunction: ...
@overload
def grad(
    *, argnums: Argnums = ..., has_aux: bool = ..., backend: str | None = ..., strict: bool = ...
) -> Decorator: ...
@overload
def grad(outputs: Any, inputs: Any, *args: Any, **keywords: Any) -> tuple[Any, ...]: ...
def grad(*args: Any, **keywords: Any) -> Any:
    """The gradient of a function that returns a scalar: a function of the same arguments.

    f: a function, method, lambda, partial, callable object, or a function with a derivative rule; without it, a
        decorator is returned.
    argnums: the position or name of the parameter to differentiate by, or a sequence of them; a method's positions
        count after `self`. Of a container (list, tuple, dict, namedtuple, dataclass) the gradient has its structure.
    has_aux: `f` returns `(value, aux)`; the gradient function returns `(gradient, aux)`.
    backend: "numpy", or None for that of the arguments.
    strict: raise UnsupportedSyntaxError where the function would be recorded on the tape, with a warning.

    The result is called with the arguments of `f`, and the keyword `out_bar` for another seed than 1.0. It gives the
    gradient by one parameter, or a tuple of gradients for a sequence; each has the shape and dtype of its argument.
    Raises ArgumentError for argnums that are no parameters, and in the call for arguments that have no derivative.

    Of a Variable, or a sequence of Variables, this is `s2s.autograd.grad(outputs, inputs, ...)`.

    >>> import s2s
    >>> @s2s.grad
    ... def slope(x):
    ...     return x**3
    >>> slope(2.0)
    12.0
    """
    if _is_eager(args, keywords):
        from s2s.autograd import grad as eager_grad

        return eager_grad(*args, **keywords)
    return _derivative("grad", *args, **keywords)


@overload
def value_and_grad(
    f: Callable[..., Any],
    argnums: Argnums = ...,
    has_aux: bool = ...,
    *,
    backend: str | None = ...,
    strict: bool = ...,
) -> GradientFunction: ...
@overload
def value_and_grad(
    *, argnums: Argnums = ..., has_aux: bool = ..., backend: str | None = ..., strict: bool = ...
) -> Decorator: ...
def value_and_grad(*args: Any, **keywords: Any) -> Any:
    """The value of a function and its gradient, as `(value, gradient)`; parameters as for `grad`.

    With `has_aux` it is `((value, aux), gradient)`. It fits `scipy.optimize.minimize(..., jac=True)` as it is.

    >>> import numpy as np
    >>> import s2s
    >>> value, gradient = s2s.value_and_grad(lambda x: np.sum(x**2))(np.array([1.0, 2.0]))
    >>> gradient
    array([2., 4.])
    """
    return _derivative("value_and_grad", *args, **keywords)


def jvp(
    f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], *, strict: bool = False
) -> tuple[Any, Any]:
    """The value of a function and the tangent of its value: `(out, out_dot)`, in forward mode.

    primals: the arguments, a tuple.
    tangents: the direction, one for each primal and like it; None for an argument that stays as it is.
    strict: raise UnsupportedSyntaxError where the function would be recorded on the tape.

    >>> import s2s
    >>> s2s.jvp(lambda x, y: x * y, (2.0, 3.0), (1.0, None))
    (6.0, 3.0)
    """
    return push_forward(f, primals, tangents, strict)  # type: ignore[no-any-return]


def vjp(f: Callable[..., Any], *primals: Any, has_aux: bool = False, strict: bool = False) -> tuple[Any, ...]:
    """The value of a function, and its pullback: from a cotangent of the value to cotangents of the arguments.

    f: a function as `grad` takes it, but its value may be an array of any shape, or a list, tuple or dict of arrays and
        numbers.
    primals: the arguments.
    has_aux: `f` returns `(value, aux)`, and `(out, pullback, aux)` is returned.
    strict: raise UnsupportedSyntaxError where the function would be recorded on the tape.

    Returns `(out, pullback)`. `pullback(out_bar)` takes a cotangent like `out`, and gives a tuple with one cotangent
    for each primal, of its shape, dtype and structure; None for a primal that has no derivative, an integer for one.
    The function runs once, and the pullback may be called any number of times; arrays that the function reads from
    globals or objects must not change in between. Raises ArgumentError for a cotangent of another shape, dtype or
    structure.

    >>> import numpy as np
    >>> import s2s
    >>> out, pullback = s2s.vjp(lambda x, y: x * y, np.array([1.0, 2.0]), 3.0)
    >>> pullback(np.array([1.0, 10.0]))
    (array([ 3., 30.]), 21.0)
    """
    return pull_back(f, primals, has_aux, strict)


def _derivative(
    mode: Mode,
    f: Callable[..., Any] | None = None,
    argnums: Argnums = 0,
    has_aux: bool = False,
    *,
    backend: str | None = None,
    strict: bool = False,
) -> Any:
    if backend not in (None, "numpy"):
        raise BackendError(f"gradients are not generated for the backend {backend!r} yet", hint="leave `backend` out.")
    if f is None:
        return functools.partial(_derivative, mode, argnums=argnums, has_aux=has_aux, backend=backend, strict=strict)
    return GradientFunction(f, mode, argnums, has_aux, strict)


def _is_eager(args: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
    """Whether a call of `grad` is about recorded values."""
    outputs = args[0] if args else keywords.get("outputs")
    if outputs is None or callable(outputs):
        return False
    from s2s.autograd import Variable

    items = outputs if isinstance(outputs, (list, tuple)) else [outputs]
    return bool(items) and all(isinstance(item, Variable) for item in items)
