"""The functional interface: functions of functions, with the names and shapes of JAX and torch.func."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, overload

import s2s.compiler.onenode  # noqa: F401 - calls of gradients on Variables, which it registers
from s2s.compiler.argnums import Argnums
from s2s.compiler.derivative import GradientFunction, Mode
from s2s.compiler.forward import check_directions, linearized, push_forward
from s2s.compiler.jacobian import HessianFunction, JacobianFunction, Order
from s2s.compiler.nested import OPERATORS
from s2s.compiler.pullback import Pullback, pull_back
from s2s.errors import ArgumentError, BackendError

__all__ = [
    "GradientFunction",
    "JacobianFunction",
    "Pullback",
    "elementwise_grad",
    "grad",
    "hessian",
    "hvp",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jvp",
    "linearize",
    "value_and_grad",
    "vjp",
]

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
    backend: "numpy", or None for that of the arguments; "numba" has Numba compile the generated code, a probe: loops
        over numbers and arrays, without the tape. Raises BackendError for what Numba does not compile.
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
    return _derivative("grad", args, keywords)


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
    return _derivative("value_and_grad", args, keywords)


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
    The function runs once, and the pullback may be called any number of times. It has the numbers and arrays that the
    function has read, whatever globals, closures and objects hold by then; but arrays that they held are not copied,
    and must not be written into in between. Raises ArgumentError for a cotangent of another shape, dtype or structure.

    >>> import numpy as np
    >>> import s2s
    >>> out, pullback = s2s.vjp(lambda x, y: x * y, np.array([1.0, 2.0]), 3.0)
    >>> pullback(np.array([1.0, 10.0]))
    (array([ 3., 30.]), 21.0)
    """
    return pull_back(f, primals, has_aux, strict)


def linearize(f: Callable[..., Any], *primals: Any, strict: bool = False) -> tuple[Any, Callable[..., Any]]:
    """The value of a function, and its pushforward: from tangents of the arguments to the tangent of the value.

    f: a function as `jvp` takes it. It must not change what it reads from globals or objects; one that prints, draws
        random numbers or changes something is recorded on the tape, so that it runs once.
    primals: the arguments.
    strict: raise UnsupportedSyntaxError where the function would be recorded on the tape.

    Returns `(out, pushforward)`. `pushforward(*tangents)` takes one tangent for each primal and like it, None for one
    that stays as it is, and gives the tangent of the value: `jvp(f, primals, tangents)[1]`. It may be called any number
    of times, and keeps to the arguments as they were when it was made. It reads globals, closures and objects again:
    where these hold something else by then it raises ArgumentError; arrays that they hold must not be written into.

    >>> import numpy as np
    >>> import s2s
    >>> out, pushforward = s2s.linearize(lambda x, y: x * y, np.array([1.0, 2.0]), 3.0)
    >>> pushforward(np.array([1.0, 10.0]), None)
    array([ 3., 30.])
    """
    return linearized(f, primals, strict)


def jacobian(
    f: Callable[..., Any] | None = None,
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    *,
    strict: bool = False,
) -> Any:
    """All derivatives of a function whose value is an array: a function of the same arguments.

    f: a function as `vjp` takes it; without it, a decorator is returned.
    argnums: the position or name of the parameter to differentiate by, or a sequence of them.
    has_aux: `f` returns `(value, aux)`; the Jacobian function returns `(jacobian, aux)`.
    holomorphic: `f` is a holomorphic function of complex arguments, and its complex derivative is wanted.
    strict: raise UnsupportedSyntaxError where the function would be recorded on the tape.

    For a value of shape `s` and an argument of shape `t` the Jacobian has the shape `s + t`, and entry `[i, j]` is the
    derivative of `value[i]` by `x[j]`. It has the dtype of the argument, a complex one where the value is complex. Of a
    value that is a tuple, list or dict it has the structure, and in each place that of the argument (for a sequence
    `argnums` a tuple); what carries no derivative has None. By a complex argument the entries for a real value are its
    gradients as `grad` gives them.

    It is made in as few runs as possible: a reverse sweep for each entry of the value, or a tangent program for each
    entry of the arguments, whichever are fewer. `jacrev` and `jacfwd` say which. Raises ArgumentError for arguments
    without a derivative, before any work is done.

    >>> import numpy as np
    >>> import s2s
    >>> s2s.jacobian(lambda x: x[:2] * x[2])(np.array([1.0, 2.0, 3.0]))
    array([[3., 0., 1.],
           [0., 3., 2.]])
    """
    return _jacobian("jacobian", f, argnums, has_aux, holomorphic, strict)


def jacrev(
    f: Callable[..., Any] | None = None,
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    *,
    strict: bool = False,
) -> Any:
    """`jacobian`, row by row: one run of `f`, then a reverse sweep for each entry of its value.

    >>> import numpy as np
    >>> import s2s
    >>> s2s.jacrev(lambda x: np.sum(x**2))(np.array([1.0, 2.0]))
    array([2., 4.])
    """
    return _jacobian("jacrev", f, argnums, has_aux, holomorphic, strict)


def jacfwd(
    f: Callable[..., Any] | None = None,
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    *,
    strict: bool = False,
) -> Any:
    """`jacobian`, column by column: a run of the tangent program for each entry of the arguments.

    A function that prints, draws random numbers or changes something is run once, and its Jacobian made by rows.

    >>> import numpy as np
    >>> import s2s
    >>> s2s.jacfwd(lambda t: np.array([1.0, t, t**2]))(3.0)
    array([0., 1., 6.])
    """
    return _jacobian("jacfwd", f, argnums, has_aux, holomorphic, strict)


def hessian(
    f: Callable[..., Any] | None = None, argnums: Argnums = 0, has_aux: bool = False, *, strict: bool = False
) -> Any:
    """The second derivatives of a function of real arguments whose value is a number: a function of the same arguments.

    f, argnums, has_aux, strict: as for `jacobian`.

    For arguments of shapes `s` and `t`, the derivatives by both have the shape `s + t`. With a sequence `argnums`,
    entry `[i][j]` is the derivative of the gradient by parameter i by parameter j; of containers likewise. It is the
    Jacobian of `grad(f)`, in forward mode over reverse mode: the tangent of the gradient for each entry of the
    arguments.

    >>> import numpy as np
    >>> import s2s
    >>> s2s.hessian(lambda x: x[0] ** 2 * x[1])(np.array([1.0, 2.0]))
    array([[4., 2.],
           [2., 0.]])
    """
    if f is None:
        return functools.partial(hessian, argnums=argnums, has_aux=has_aux, strict=strict)
    gradient = grad(f, argnums, has_aux, strict=strict)
    return HessianFunction(gradient, "jacfwd", argnums, has_aux, strict=strict)


def hvp(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], *, strict: bool = False) -> Any:
    """The product of the Hessian of a function and a direction, without the Hessian: the tangent of the gradient.

    f: a function whose value is a number.
    primals: the arguments, a tuple.
    tangents: the direction, one for each primal and like it; None for an argument that stays as it is.
    strict: raise UnsupportedSyntaxError where the function would be recorded on the tape.

    Returns, for a single primal, the product, of its shape; for several a tuple with one entry for each, which is None
    where the tangent is None: what stays as it is takes no part in the Hessian.

    >>> import numpy as np
    >>> import s2s
    >>> s2s.hvp(lambda x: np.sum(x**3), (np.array([1.0, 2.0]),), (np.array([1.0, 10.0]),))
    array([  6., 120.])
    """
    check_directions("hvp", primals, tangents)
    moving = [i for i, tangent in enumerate(tangents) if tangent is not None]
    gradient = grad(f, moving, strict=strict) if moving else grad(f, strict=strict)
    _, products = push_forward(gradient, primals, tangents, strict)
    if len(primals) == 1:
        return products[0]
    found = dict(zip(moving, products))
    return tuple(found.get(i) for i in range(len(primals)))


def elementwise_grad(f: Callable[..., Any] | None = None, argnums: Argnums = 0, *, strict: bool = False) -> Any:
    """The derivative of an elementwise function at each entry of its arguments: a function of the same arguments.

    f: a function whose value at each place depends on the entries of the arguments at that place alone, as `np.tanh`;
        without it, a decorator is returned.
    argnums: the position or name of the parameter to differentiate by, or a sequence of them.
    strict: raise UnsupportedSyntaxError where the function would be recorded on the tape.

    Each derivative has the shape and dtype of its argument; where that was stretched to the shape of the value, it is
    the sum over the entries that it was stretched to. It is the gradient of the sum of the value: of a function that is
    not elementwise it has, by each entry of an argument, the sum of the derivatives of all entries of the value.

    >>> import numpy as np
    >>> import s2s
    >>> s2s.elementwise_grad(s2s.elementwise_grad(lambda x: x**3))(np.array([1.0, 2.0]))
    array([ 6., 12.])
    """
    return _derivative("elementwise_grad", (f, argnums), {"strict": strict})


# What a program makes with these of a function that is known is found when it is compiled.
OPERATORS.update((grad, value_and_grad, elementwise_grad))


def _jacobian(
    order: Order, f: Callable[..., Any] | None, argnums: Argnums, has_aux: bool, holomorphic: bool, strict: bool
) -> Any:
    if f is None:
        return functools.partial(
            JacobianFunction, order=order, argnums=argnums, has_aux=has_aux, holomorphic=holomorphic, strict=strict
        )
    return JacobianFunction(f, order, argnums, has_aux, holomorphic, strict)


def _derivative(mode: Mode, args: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    """What `grad` and its like give for these arguments; a call that does not fit is refused in the name of `mode`."""
    try:
        bound = _PARAMETERS.bind(*args, **keywords)
    except TypeError as error:
        unknown = [name for name in keywords if name not in _PARAMETERS.parameters]
        raise ArgumentError(f"{mode}: {error}", hint=_meant(unknown)) from None
    return _made(mode, *bound.args, **bound.kwargs)


def _meant(unknown: Sequence[str]) -> str:
    """What to write for keywords that are none of ours."""
    near = [get_close_matches(name, _PARAMETERS.parameters, 1) for name in unknown]
    known = f"it takes {', '.join(_PARAMETERS.parameters)}"
    return "; ".join([*(f"write {n[0]} for {name}" for n, name in zip(near, unknown) if n), known]) + "."


def _made(
    mode: Mode,
    f: Callable[..., Any] | None = None,
    argnums: Argnums = 0,
    has_aux: bool = False,
    *,
    backend: str | None = None,
    strict: bool = False,
) -> Any:
    if backend not in (None, "numpy", "numba"):
        raise BackendError(f"gradients are not generated for the backend {backend!r} yet", hint="leave `backend` out.")
    if f is None:
        return functools.partial(_made, mode, argnums=argnums, has_aux=has_aux, backend=backend, strict=strict)
    return GradientFunction(f, mode, argnums, has_aux, strict, backend=backend)


_parameters = inspect.signature(_made)
_PARAMETERS = _parameters.replace(parameters=list(_parameters.parameters.values())[1:])


def _is_eager(args: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
    """Whether a call of `grad` is about recorded values."""
    outputs = args[0] if args else keywords.get("outputs")
    if outputs is None or callable(outputs):
        return False
    from s2s.autograd import Variable

    items = outputs if isinstance(outputs, (list, tuple)) else [outputs]
    return bool(items) and all(isinstance(item, Variable) for item in items)
