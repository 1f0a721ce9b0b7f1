"""backward() and grad(), as users call them.

Rules follow the convention d = sum(real(g * dx)); PyTorch's gradients are the conjugates. Seeds, `.grad`, results,
hooks and `Function.backward` are conjugated at this border, and nothing else is.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from s2s.autograd import membership, modes
from s2s.autograd.border import fit, private, public
from s2s.autograd.engine import Parent, key, sweep
from s2s.autograd.value import VOLATILE, Value, dtype_of, ndarray
from s2s.autograd.variable import Variable
from s2s.errors import EagerError

F = TypeVar("F", bound=Callable[..., Any])
_storing = threading.RLock()  # backward passes of several threads add to the same leaves


def _older_names(**names: str) -> Callable[[F], F]:
    """A function that also takes the keywords that it had once."""

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            for old, new in names.items():
                if old in kwargs:
                    if new in kwargs:
                        raise EagerError(f"{function.__name__}() got both {new} and its older name {old}")
                    kwargs[new] = kwargs.pop(old)
            return function(*args, **kwargs)

        return call  # type: ignore[return-value]

    return decorate


@_older_names(variables="tensors", grad_variables="grad_tensors", retain_variables="retain_graph")
def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Add the gradients of the sum of `tensors` to the `.grad` of the leaves.

    tensors: a Variable or a sequence of them.
    grad_tensors: a gradient for each of them, of its shape; None (the default) means 1 for tensors of one element, and
        nothing for tensors that require no grad.
    retain_graph: whether the graph can be used again; by default, as `create_graph`.
    create_graph: whether the gradients can be differentiated in turn.
    inputs: the Variables whose `.grad` is added to, others are left alone; by default all leaves.

    The older names `variables`, `grad_variables` and `retain_variables` are taken as well. Raises GraphFreedError in a
    second pass through a graph that was not retained. Where anything raises, no `.grad` has changed, and nothing of the
    graph is lost.

    >>> x = Variable([2.0, 3.0], requires_grad=True)
    >>> backward(np.sum(x * x))
    >>> x.grad.numpy()
    array([4., 6.])
    """
    seeds = _seeds(tensors, grad_tensors, "grad_tensors", create_graph)
    keep = create_graph if retain_graph is None else bool(retain_graph)
    if inputs is None:
        found = sweep(seeds, keep=keep, recording=create_graph)
    else:
        variables = _inputs(inputs, "backward")
        parents = [_wanted(v) for v in variables]
        swept = sweep(seeds, keep=keep, recording=create_graph, targets=parents)
        by_key = {key(target): g for target, g in swept}
        found = [(v, by_key[key(p)]) for v, p in zip(variables, parents, strict=True) if key(p) in by_key]
    with _storing:
        for leaf, g in found:
            _deposit(leaf, g)
    for leaf, _ in found:
        for hook in tuple((getattr(leaf, "_after", None) or {}).values()):
            hook(leaf)


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool = False,
    materialize_grads: bool = False,
) -> tuple[Variable | None, ...]:
    """The gradients of the sum of `outputs` by `inputs`, which need not be leaves; no `.grad` is changed.

    outputs, grad_outputs, retain_graph, create_graph: as `tensors`, `grad_tensors`, ... of `backward`.
    allow_unused: give None for an input that the outputs do not depend on, in place of an error.
    materialize_grads: give zeros for it.

    >>> x = Variable(3.0, requires_grad=True)
    >>> grad(x**2, x)
    (Variable(6.),)
    """
    seeds = _seeds(outputs, grad_outputs, "grad_outputs", create_graph)
    variables = _inputs(inputs, "grad")
    parents = [_wanted(v) for v in variables]
    keep = create_graph if retain_graph is None else bool(retain_graph)
    found = {key(target): g for target, g in sweep(seeds, keep=keep, recording=create_graph, targets=parents)}
    result: list[Variable | None] = []
    for i, (variable, parent) in enumerate(zip(variables, parents, strict=True)):
        g = found.get(key(parent))
        if g is not None:
            result.append(_owned(g))
        elif materialize_grads:
            zeros = Variable.make(np.zeros_like(variable._data))
            zeros._wants = bool(create_graph)
            result.append(zeros)
        elif allow_unused:
            result.append(None)
        else:
            raise EagerError(
                f"input {i} appears not to have been used: no output depends on it",
                hint="pass allow_unused=True to get None for it, or materialize_grads=True to get zeros",
            )
    return tuple(result)


def jvp(outputs: Any, inputs: Any, tangents: Any = None, create_graph: bool = False) -> tuple[Variable, ...]:
    """The tangents of `outputs` along tangents of `inputs`: forward mode, through what has been recorded.

    outputs, inputs: Variables, or sequences of them.
    tangents: one for each input, of its shape; None (the default) means 1 for inputs of one element.
    create_graph: whether the tangents can be differentiated in turn.

    The cotangents of the inputs are linear in a seed u of an output; the derivative of their product with the tangents
    by u is the tangent of the output. A Function with a `jvp` is asked for that, unless `create_graph` is set. The
    graph is kept.

    >>> x = Variable([1.0, 2.0], requires_grad=True)
    >>> jvp(x**2, x, np.array([1.0, 10.0]))
    (Variable([ 2., 40.]),)
    """
    results, variables = _as_tuple(outputs, "outputs"), _inputs(inputs, "jvp")
    if tangents is None or isinstance(tangents, (Value, ndarray, float, int, complex, np.generic)):
        tangents = (tangents,) if len(variables) == 1 else (None,) * len(variables)
    if len(tangents) != len(variables):
        raise EagerError(f"{len(variables)} inputs, but {len(tangents)} tangents")
    dots = [_tangent(v, dot) for v, dot in zip(variables, tangents, strict=True)]
    return tuple(_pushed(out, variables, dots, create_graph) for out in results)


def _tangent(variable: Value, dot: Any) -> Any:
    _wanted(variable)
    if dot is None:
        if np.size(variable._data) != 1:
            raise EagerError("a tangent can be made for inputs of one element only", hint="give tangents")
        dot = np.ones_like(variable._data)[()]
    if np.shape(dot) != np.shape(variable._data):
        raise EagerError(f"a tangent of shape {np.shape(dot)} for an input of shape {np.shape(variable._data)}")
    return dot


def _pushed(out: Value, variables: Sequence[Any], dots: Sequence[Any], create_graph: bool) -> Variable:
    if out.parent() is None:
        return Variable.make(np.zeros_like(out._data))
    u = Variable(np.ones_like(out._data), requires_grad=True)
    with contextlib.nullcontext() if create_graph else modes.pushing(), modes.enable_grad():
        found = grad(out, variables, u, create_graph=True, allow_unused=True)
        terms = [np.sum(np.real(np.conj(g) * dot)) for g, dot in zip(found, dots) if g is not None]
        terms = [term for term in terms if isinstance(term, Value) and term.parent() is not None]
        if not terms:
            return Variable.make(np.zeros_like(out._data))
        (tangent,) = grad(sum(terms), u, retain_graph=True, create_graph=create_graph, materialize_grads=True)
    assert tangent is not None
    return tangent


def _as_tuple(variables: Any, what: str) -> tuple[Any, ...]:
    result = tuple(variables) if isinstance(variables, (tuple, list)) else (variables,)
    for v in result:
        if not isinstance(v, Value):
            raise EagerError(f"{what} must be Variables, not {type(v).__name__}")
    return result


def _inputs(inputs: Any, function: str) -> tuple[Any, ...]:
    variables = _as_tuple(inputs, "inputs")
    if not variables:
        raise EagerError(f"the inputs of {function}() cannot be empty")
    return variables


def _wanted(variable: Value) -> Parent:
    parent = variable.parent()
    if parent is None:
        raise EagerError("one of the inputs does not require grad", hint="make it with requires_grad=True")
    return parent


def _seeds(outputs: Any, given: Any, what: str, recording: bool) -> list[tuple[Parent, Any]]:
    """Where the pass starts, with cotangents. Outputs that require no grad are left out, unless all are such."""
    roots = _as_tuple(outputs, "tensors")
    if given is None:
        given = (None,) * len(roots)
    elif isinstance(given, (Value, ndarray, float, int, complex, np.generic)):
        given = (given,)
    given = tuple(given)
    if len(given) != len(roots):
        raise EagerError(f"{len(roots)} tensors, but {len(given)} {what}")
    parents = [root.parent() for root in roots]
    if not any(parent is not None for parent in parents):
        if any(root._wants == VOLATILE for root in roots):
            raise EagerError("the value to differentiate is volatile, or depends on a value that is")
        raise EagerError(
            "the value to differentiate does not require grad and has no grad_fn: it depends on no leaf that requires "
            "grad",
            hint="make the leaf with requires_grad=True, and compute the value outside no_grad()",
        )
    return [
        (parent, _seed(root, g, what, recording, parent.seedless))
        for root, g, parent in zip(roots, given, parents, strict=True)
        if parent is not None
    ]


def _seed(root: Value, g: Any, what: str, recording: bool, seedless: bool) -> Any:
    data = root._data
    if g is None:
        if seedless:
            return private(np.zeros(np.shape(data)), recording)
        if np.size(data) != 1:
            raise EagerError(
                f"a gradient can be made for scalar outputs only, and this one has shape {np.shape(data)}",
                hint=f"take the sum or mean, or give {what}",
            )
        if dtype_of(data).kind == "c":
            raise EagerError("a gradient can be made for real outputs only", hint=f"take the real part, or give {what}")
        g = np.ones_like(data)[()]
    if np.shape(g) != np.shape(data):
        raise EagerError(f"{what} of shape {np.shape(g)} for an output of shape {np.shape(data)}")
    return private(g, recording)


def _owned(g: Any) -> Variable:
    """A result of its own memory, which can be written."""
    result = public(g)
    if isinstance(g, Value):
        # a recorded gradient may be a part of the record too
        result._data = np.array(result._data)
    return result


def _deposit(leaf: Any, g: Any) -> None:
    gradient = _owned(fit(g, dtype_of(leaf._data)))
    before = getattr(leaf, "_grad", None)
    if before is None:
        leaf._grad = gradient
    elif gradient._node is not None or before.parent() is not None:
        leaf._grad = before + gradient
    elif type(before._data) is ndarray and before._data.flags.writeable and before._data.dtype == gradient._data.dtype:
        before._data += gradient._data  # as in PyTorch: who holds it sees the sum
        before.storage().written("backward")
    else:
        leaf._grad = Variable.make(np.add(before._data, gradient._data, out=gradient._data))


membership.run_backward = backward
