"""The backward pass: cotangents flow from outputs to leaves, each node once, after all its users.

Nodes carry numbers that grow as they are made, and an operation is made after its operands; taking the reached node
with the greatest number is therefore a topological order. A heap holds the reached nodes: no recursion, and no pass
over the graph beforehand. Cotangents are added into new arrays, and in place only into such sums.

Rules follow the convention d = sum(real(g * dx)); PyTorch's gradients are the conjugates. Seeds, `.grad`, results,
hooks and `Function.backward` are conjugated at this border, and nothing else is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from typing import Any

import numpy as np

from s2s.autograd import modes, nodes
from s2s.autograd import variable as variables_module
from s2s.autograd.border import fit, private, public, run_hooks
from s2s.autograd.nodes import at, put
from s2s.autograd.operation import Operation
from s2s.autograd.rebuild import over_proxies
from s2s.autograd.traced import Traced
from s2s.autograd.value import Identity, Node, Part, Value, dtype_of, ndarray
from s2s.autograd.variable import Variable
from s2s.errors import ArgumentError

Parent = Node | Value


def key(target: Parent) -> int:
    """Positive for nodes, in their order; negative for leaves."""
    return target.order or -id(target)


def sweep(
    seeds: Sequence[tuple[Parent, Any]],
    *,
    keep: bool = False,
    recording: bool = False,
    targets: Sequence[Parent] | None = None,
) -> list[tuple[Any, Any]]:
    """Run the backward pass, and return leaves (or, if given, the targets reached) with their cotangents.

    seeds: nodes and leaves with their cotangents.
    keep: whether nodes keep what they have saved.
    recording: whether the pass itself is recorded.
    targets: what cotangents are wanted of; nodes that do not lead there are left out.
    """
    wanted = None if targets is None else {key(t) for t in targets}
    needed = None if wanted is None else _leading_to(wanted, [target for target, _ in seeds])
    # what is on its way, by key: [target, cotangent so far, whether the sum is ours to add to]
    pending: dict[int, list[Any]] = {}
    heap: list[int] = []
    found: list[tuple[Any, Any]] = []
    cls = Traced if recording else None

    def send(target: Any, g: Any) -> None:
        order = target.order
        where = order or -id(target)
        if needed is not None and where not in needed:
            return
        dtype = target.dtype if order else dtype_of(target._data)
        entry = pending.get(where)
        if dtype is None:
            _gather(entry[1] if entry else pending.setdefault(where, [target, {}, False])[1], g)
        else:
            if g.__class__ is not ndarray or g.dtype is not dtype:
                g = fit(g, dtype)
            if entry is None:
                pending[where] = [target, g, False]
            elif entry[2]:
                entry[1] += g
            else:
                entry[1] = total = entry[1] + g
                entry[2] = type(total) is ndarray
        if entry is None and order:
            heappush(heap, -order)

    with np.errstate(all="ignore"), modes.set_grad_enabled(recording):
        for target, g in seeds:
            send(target, g)
        while heap:
            order = -heappop(heap)
            node, g, _ = pending.pop(order)
            if node.hooks is not None:
                g = run_hooks(node.hooks, g, recording)
            if wanted is not None:
                if order in wanted:
                    found.append((node, g))
                if not any((p.order or -id(p)) in needed for p in node.parents):  # type: ignore[operator]
                    continue
            for parent, cotangent in zip(node.parents, node.cotangents(g, cls)):
                if cotangent is None:
                    continue
                where = parent.order
                if needed is None and where and where not in pending:
                    # the common case of `send`, without a call
                    dtype = parent.dtype
                    if dtype is not None:
                        if type(cotangent) is not ndarray or cotangent.dtype is not dtype:
                            cotangent = fit(cotangent, dtype)
                        pending[where] = [parent, cotangent, False]
                        heappush(heap, -where)
                        continue
                send(parent, cotangent)
            if not keep:
                node.release()
        for leaf, g, _ in pending.values():
            if np.shape(g) != np.shape(leaf._data):
                raise AssertionError(
                    f"a rule returned a cotangent of shape {np.shape(g)} for an argument of {np.shape(leaf._data)}"
                )
            hooks = getattr(leaf, "_hooks", None)
            found.append((leaf, run_hooks(hooks, g, recording) if hooks else g))
    return found


def _gather(gs: dict[int, Any], part: Part) -> None:
    """Add the cotangent of one result to those of a node of several results."""
    have = gs.get(part.index)
    gs[part.index] = part.g if have is None else have + part.g


def _leading_to(wanted: set[int], roots: Iterable[Parent]) -> set[int]:
    """The keys of what is wanted, and of all nodes from which it is reached."""
    reached: dict[int, Any] = {}
    stack = list(roots)
    while stack:
        target = stack.pop()
        where = key(target)
        if where not in reached:
            reached[where] = target
            if isinstance(target, Node):
                stack.extend(target.parents)
    needed = set(wanted)
    for where in sorted(reached):
        if where > 0 and any(key(parent) in needed for parent in reached[where].parents):
            needed.add(where)
    return needed


# --- the public calls -------------------------------------------------------------------------------------------


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Add the gradients of the sum of `tensors` to the `.grad` of the leaves.

    tensors: a Variable or a sequence of them.
    grad_tensors: a gradient for each of them, of its shape; None (the default) means 1 for tensors of one element.
    retain_graph: whether the graph can be used again; by default, as `create_graph`.
    create_graph: whether the gradients can be differentiated in turn.
    inputs: the Variables whose `.grad` is added to, others are left alone; by default all leaves.

    Raises GraphFreedError in a second pass through a graph that was not retained.

    >>> x = Variable([2.0, 3.0], requires_grad=True)
    >>> backward(np.sum(x * x))
    >>> x.grad.numpy()
    array([4., 6.])
    """
    seeds = _seeds(tensors, grad_tensors, "grad_tensors", create_graph)
    keep = create_graph if retain_graph is None else bool(retain_graph)
    if inputs is None:
        for leaf, g in sweep(seeds, keep=keep, recording=create_graph):
            _deposit(leaf, g)
        return
    variables = _as_tuple(inputs, "inputs")
    parents = [_wanted(v) for v in variables]
    found = {key(target): g for target, g in sweep(seeds, keep=keep, recording=create_graph, targets=parents)}
    for variable, parent in zip(variables, parents, strict=True):
        if key(parent) in found:
            _deposit(variable, found[key(parent)])


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

    allow_unused: give None for an input that the outputs do not depend on, in place of an error.
    materialize_grads: give zeros for it.

    >>> x = Variable(3.0, requires_grad=True)
    >>> grad(x**2, x)
    (Variable(6.),)
    """
    seeds = _seeds(outputs, grad_outputs, "grad_outputs", create_graph)
    variables = _as_tuple(inputs, "inputs")
    parents = [_wanted(v) for v in variables]
    keep = create_graph if retain_graph is None else bool(retain_graph)
    found = {key(target): g for target, g in sweep(seeds, keep=keep, recording=create_graph, targets=parents)}
    result: list[Variable | None] = []
    for i, (variable, parent) in enumerate(zip(variables, parents, strict=True)):
        g = found.get(key(parent))
        if g is not None:
            result.append(_owned(g))
        elif materialize_grads:
            result.append(Variable.make(np.zeros_like(variable._data)))
        elif allow_unused:
            result.append(None)
        else:
            raise ArgumentError(
                f"input {i} appears not to have been used: no output depends on it",
                hint="pass allow_unused=True to get None for it, or materialize_grads=True to get zeros",
            )
    return tuple(result)


def _as_tuple(variables: Any, what: str) -> tuple[Any, ...]:
    result = tuple(variables) if isinstance(variables, (tuple, list)) else (variables,)
    for v in result:
        if not isinstance(v, Value):
            raise ArgumentError(f"{what} must be Variables, not {type(v).__name__}")
    return result


def _wanted(variable: Value) -> Parent:
    parent = variable.parent()
    if parent is None:
        raise ArgumentError("one of the inputs does not require grad", hint="make it with requires_grad=True")
    return parent


def _seeds(outputs: Any, given: Any, what: str, recording: bool) -> list[tuple[Parent, Any]]:
    roots = _as_tuple(outputs, "tensors")
    if given is None or isinstance(given, (Value, ndarray, float, int, complex)):
        given = (given,) * len(roots) if given is None else (given,)
    given = tuple(given)
    if len(given) != len(roots):
        raise ArgumentError(f"{len(roots)} tensors, but {len(given)} {what}")
    seeds = []
    for root, g in zip(roots, given, strict=True):
        parent = root.parent()
        if parent is None:
            if g is None:
                raise ArgumentError(
                    "the value to differentiate does not require grad and has no grad_fn: it depends on no leaf that "
                    "requires grad",
                    hint="make the leaf with requires_grad=True, and compute the value outside no_grad()",
                )
            continue
        seeds.append((parent, _seed(root, g, what, recording)))
    return seeds


def _seed(root: Value, g: Any, what: str, recording: bool) -> Any:
    data = root._data
    if g is None:
        if np.size(data) != 1:
            raise ArgumentError(
                f"a gradient can be made for scalar outputs only, and this one has shape {np.shape(data)}",
                hint=f"take the sum or mean, or give {what}",
            )
        if dtype_of(data).kind == "c":
            raise ArgumentError(
                "a gradient can be made for real outputs only", hint=f"take the real part, or give {what}"
            )
        g = np.ones_like(data)[()]
    if np.shape(g) != np.shape(data):
        raise ArgumentError(f"{what} of shape {np.shape(g)} for an output of shape {np.shape(data)}")
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
    elif gradient._node is None and before.parent() is None:
        leaf._grad = Variable.make(np.add(before._data, gradient._data, out=gradient._data))
    else:
        leaf._grad = before + gradient


# --- decompositions ---------------------------------------------------------------------------------------------


def pull_through(
    op: Operation, values: Sequence[Any], places: Sequence[tuple[int, tuple[int, ...]]], g: Any, recording: Any
) -> Sequence[Any]:
    """The cotangents of the parameters at `places`: the decomposition is run again, on values of their own."""
    values = list(values)
    local = []
    with modes.enable_grad():
        for i, path in places:
            original = at(values[i], path)
            if recording is None:
                value = Traced.make(original)
                value._wants = True
            else:
                # named anew, so that what one argument owes to another is not counted twice
                value = Traced.linked(original._data, Identity((original.parent(),), dtype_of(original._data)))
            local.append(value)
            values[i] = put(values[i], path, value)
        args, kwargs = op.rule.spread(dict(zip(op.names, values, strict=True)))
        out = over_proxies(op.decomposition)(*args, **kwargs)
    parents: list[Any] = [v.parent() for v in local]
    outs, gs = ([out], [g]) if isinstance(out, Value) else (list(out), [g[i] for i in range(len(out))])
    ends: list[tuple[Any, Any]] = [(v.parent(), c) for v, c in zip(outs, gs) if isinstance(v, Value)]
    seeds = [(parent, c) for parent, c in ends if parent is not None]
    found = {
        key(target): c
        for target, c in sweep(seeds, recording=recording is not None, targets=parents, keep=recording is not None)
    }
    return [found.get(key(parent)) for parent in parents]


nodes.pull_through = pull_through
variables_module.run_backward = backward
