"""The backward pass: cotangents flow from outputs to leaves, each node once, after all its users.

Nodes carry numbers that grow as they are made, and an operation is made after its operands; taking the reached node
with the greatest number is therefore a topological order. A heap holds the reached nodes: no recursion, and no pass
over the graph beforehand. Cotangents are added into new arrays, and in place only into such sums.

What nodes have saved is dropped at the end, so that a pass which is interrupted, or in which a hook raises, leaves the
graph as it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from typing import Any

import numpy as np

from s2s.autograd import modes, nodes
from s2s.autograd.border import fit, run_hooks
from s2s.autograd.nodes import at, put
from s2s.autograd.operation import Operation
from s2s.autograd.rebuild import over_proxies
from s2s.autograd.traced import Traced
from s2s.autograd.value import Identity, Node, Part, Value, dtype_of, ndarray

Parent = Node | Value
float64 = np.float64


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
    # what is on its way, by key: [target, cotangent so far, whether the sum is ours to add to, dtype]
    pending: dict[int, list[Any]] = {}
    heap: list[int] = []
    found: list[tuple[Any, Any]] = []
    cls = Traced if recording else None
    watch = modes.state.watch
    done: list[Node] = []

    def send(target: Any, g: Any) -> None:
        order = target.order
        where = order or -id(target)
        if needed is not None and where not in needed:
            return
        entry = pending.get(where)
        if entry is None:
            dtype = target.dtype if order else dtype_of(target._data)
            if dtype is None:
                entry = pending[where] = [target, {}, False, None]
                _gather(entry[1], g)
            else:
                pending[where] = [target, fit(g, dtype), False, dtype]
            if order:
                heappush(heap, -order)
        elif entry[3] is None:
            _gather(entry[1], g)
        elif entry[2]:
            entry[1] += fit(g, entry[3])
        else:
            entry[1] = total = entry[1] + fit(g, entry[3])
            entry[2] = type(total) is ndarray

    with np.errstate(all="ignore"), modes.set_grad_enabled(recording):
        for target, g in seeds:
            send(target, g)
        while heap:
            order = -heappop(heap)
            node, g, _, _ = pending.pop(order)
            if node.hooks is not None:
                g = run_hooks(node.hooks, g, recording)
            if wanted is not None:
                if order in wanted:
                    found.append((node, g))
                if not any((p.order or -id(p)) in needed for p in node.parents):  # type: ignore[operator]
                    continue
            cotangents = node.cotangents(g, cls)
            if watch is not None:
                watch.check(node, cotangents)
            for parent, cotangent in zip(node.parents, cotangents):
                if cotangent is None:
                    continue
                # what is common, as `send` does it
                kind = type(cotangent)
                if needed is None and (kind is ndarray or kind is float64):
                    where = parent.order
                    entry = pending.get(where or -id(parent))
                    if entry is None:
                        if where and cotangent.dtype is parent.dtype:
                            pending[where] = [parent, cotangent, False, parent.dtype]
                            heappush(heap, -where)
                            continue
                    elif cotangent.dtype is entry[3]:
                        if entry[2]:
                            entry[1] += cotangent
                        else:
                            entry[1] = entry[1] + cotangent
                            entry[2] = kind is ndarray
                        continue
                send(parent, cotangent)
            if not keep:
                done.append(node)
        for leaf, g, _, _ in pending.values():
            if np.shape(g) != np.shape(leaf._data):
                raise AssertionError(
                    f"a rule returned a cotangent of shape {np.shape(g)} for an argument of {np.shape(leaf._data)}"
                )
            hooks = getattr(leaf, "_hooks", None)
            found.append((leaf, run_hooks(hooks, g, recording) if hooks else g))
    _release(done)
    return found


def _release(nodes: list[Node]) -> None:
    """Drop what all nodes have saved, even if this is interrupted."""
    try:
        for node in nodes:
            node.release()
    except BaseException:
        _release(nodes)
        raise


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
