"""The nodes of operations that have a rule, and what they hold for the backward pass.

A `RuleNode` is a call whose parameters came by position, the common case, which is made and run with little ado. A
`BoundNode` is any other call: with keywords, with Values in lists, of several results, or of a decomposition.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from s2s.autograd.operation import LAYOUT, WHOLE, Operation, Plan
from s2s.autograd.value import Node, Output, Packed, Saved, Value, dtype_of, ndarray, orders
from s2s.errors import GraphFreedError
from s2s.runtime.numeric import unbroadcast

LISTS = (list, tuple)
_ZEROS: dict[np.dtype[Any], np.ndarray] = {}
_SMALL = 256


class RuleNode(Node):
    """A call of a function with a rule.

    values: the parameters as far as the formulas read them; None once they are released.
    shapes: for each parent the shape to sum to, None where it is the result's.
    """

    __slots__ = ("ans", "operation", "plan", "shapes", "values")

    ans: Any
    values: Any
    shapes: Any

    def __init__(self, parents: Sequence[Any], dtype: np.dtype[Any] | None, op: Operation, plan: Plan) -> None:
        # written out: a call of super() takes as long as all the rest
        self.parents = parents
        self.dtype = dtype
        self.order = next(orders)
        self.hooks = None
        self.operation = op
        self.plan = plan
        self.ans = self.shapes = None
        self.values = op.blanks

    @property
    def name(self) -> str:
        return self.operation.name

    def cotangents(self, g: Any, recording: type[Value] | None) -> Sequence[Any]:
        plan = self.plan
        if recording is None:
            # `_read` without a call, for what is common
            values = self.values
            if values is None:
                raise freed(self.name)
            if plan.reads is not None:
                values = [
                    v if v is None else v.array if type(v) is Saved and v.storage is None else read(v, self.name)
                    for v in values
                ]
            ans = self.ans
            if ans is not None:
                ans = ans.array if type(ans) is Saved and ans.storage is None else read(ans, self.name)
            pulls: Sequence[Any] = plan.pulls
        else:
            ans, values = self._read(recording)
            pulls = plan.recorded_pulls()
        result = [pull(g, ans, *values) for pull in pulls]
        if plan.mends_any:
            for i, mends in enumerate(plan.mends):
                if mends and not is_finite(result[i]):
                    result[i] = zero_with(result[i], g)
        if self.shapes is not None:
            for i, shape in enumerate(self.shapes):
                if shape is not None:
                    result[i] = unbroadcast(result[i], shape)
        return result

    def _read(self, recording: type[Value] | None) -> tuple[Any, list[Any]]:
        """The result and the parameters; those that are active as Values that continue the graph, when recording."""
        values = self.values
        if values is None:
            raise freed(self.name)
        name = self.operation.name
        if values is not self.operation.blanks:
            # what is common without a call
            values = [v.array if type(v) is Saved and v.storage is None else read(v, name) for v in values]
        ans = self.ans
        if ans is not None:
            ans = read(ans, name)
        if recording is not None:
            for i, parent in zip(self.plan.active, self.parents, strict=True):
                if self.plan.reads is not None and self.plan.reads[i] == WHOLE:
                    values[i] = recording.linked(values[i], parent)
            if self.plan.reads_ans == WHOLE:
                ans = recording.linked(ans, self)
        return ans, values

    def release(self) -> None:
        if self.plan.saves:
            self.ans = self.values = None

    def pack(self, watch: Any) -> None:
        if self.values is not self.operation.blanks:
            self.values = [_packed(v, watch) for v in self.values]
        self.ans = _packed(self.ans, watch)


class BoundNode(RuleNode):
    """A call with keywords, sequences of values or several results: bound by the rule.

    places: for each parent the position of its parameter and the path within it.
    results: of several results, which may be nested: how they are nested, and their shapes and dtypes in order.
    """

    __slots__ = ("places", "results")

    places: list[tuple[int, tuple[int, ...]]]
    results: Any

    def cotangents(self, g: Any, recording: type[Value] | None) -> Sequence[Any]:
        ans, values = self._read(recording)
        if self.results is not None:
            g = self._whole(g, recording)
        if self.operation.decomposition is not None:
            return pull_through(self.operation, values, self.places, g, recording)
        args, kwargs = self.operation.rule.spread(dict(zip(self.operation.names, values, strict=True)))
        pulls = self.plan.pulls if recording is None else self.plan.recorded_pulls()
        pulled = {i: pull(g, ans, *args, **kwargs) for i, pull in zip(self.plan.active, pulls, strict=True)}
        for i, mends in zip(self.plan.active, self.plan.mends):
            if mends and not is_finite(pulled[i]):
                pulled[i] = zero_with(pulled[i], g)
        result = []
        for k, (i, path) in enumerate(self.places):
            c = at(pulled[i], path) if path else pulled[i]
            if self.shapes is not None and self.shapes[k] is not None:
                c = unbroadcast(c, self.shapes[k])
            result.append(c)
        return result

    def _whole(self, g: dict[int, Any], recording: type[Value] | None) -> Any:
        nesting, forms = self.results
        parts = []
        for i, (shape, dtype) in enumerate(forms):
            part = g.get(i)
            if part is None:
                zeros = np.zeros(shape, dtype if dtype.kind in "fc" else float)
                part = zeros if recording is None else recording.make(zeros)
            parts.append(part)
        return out_of(nesting, iter(parts))

    def _read(self, recording: type[Value] | None) -> tuple[Any, list[Any]]:
        if self.values is None:
            raise freed(self.name)
        name = self.name
        values = [read_tree(v, name) for v in self.values]
        ans = read_tree(self.ans, name)
        if recording is not None:
            for parent, (i, path) in zip(self.parents, self.places, strict=True):
                if self.plan.reads is None or self.plan.reads[i] != WHOLE:
                    continue
                values[i] = put(values[i], path, recording.linked(at(values[i], path), parent))
            if self.plan.reads_ans == WHOLE:
                ans = self._linked_results(ans, recording)
        return ans, values

    def _linked_results(self, ans: Any, recording: type[Value]) -> Any:
        if self.results is None:
            return recording.linked(ans, self)
        parts = (
            recording.make(a, Output(self, i, dtype_of(a))) if is_active_result(a) else a
            for i, a in enumerate(items_of(ans))
        )
        return out_of(self.results[0], parts)


def pull_through(
    op: Operation, values: Sequence[Any], places: Sequence[Any], g: Any, recording: type[Value] | None
) -> Sequence[Any]:
    """The cotangents through a decomposition; the engine, which differentiates it, sets this function."""
    raise NotImplementedError


def is_finite(product: Any) -> bool:
    """Whether all of it is finite, or nearly so: a sum is finite only if all its terms are."""
    data = product._data if isinstance(product, Value) else product
    if type(data) is not ndarray:
        total = data
    elif data.ndim == 1:
        total = data.dot(data)  # takes a third of the time of a sum
    else:
        total = _sum(data, None)
    return total - total == 0  # type: ignore[no-any-return]  # infinity less infinity is no number


_sum = np.add.reduce


def zero_with(product: Any, g: Any) -> Any:
    """A product with the cotangent g, made zero where g is zero and the slope is not finite."""
    data, factor = plain(product), plain(g)
    if np.shape(data) != np.shape(factor):
        return product
    return np.where(np.isfinite(data) | (factor != 0), product, 0)


def freed(name: str) -> GraphFreedError:
    """The error of a second pass."""
    return GraphFreedError(
        f"backward goes through {name!r} a second time, but the first pass freed what it had saved",
        hint="call the first backward() or grad() with retain_graph=True",
    )


def is_active_result(a: Any) -> bool:
    """Whether a result can carry a gradient; TypeError for what may hold one where it is not seen."""
    kind = dtype_of(a).kind
    if kind == "O" and a is not None:
        raise TypeError(f"a function with a rule has returned a {type(a).__name__}, which cannot be recorded")
    return kind in "fc"


def items_of(results: Any) -> list[Any]:
    """What nested lists and tuples hold, in order."""
    if not isinstance(results, LISTS):
        return [results]
    return [item for part in results for item in items_of(part)]


def out_of(results: Any, items: Iterator[Any]) -> Any:
    """The next items, nested as `results` are."""
    if not isinstance(results, LISTS):
        return next(items)
    parts = [out_of(part, items) for part in results]
    return type(results)(*parts) if hasattr(results, "_fields") else type(results)(parts)


# --- what nodes hold --------------------------------------------------------------------------------------------


def _packed(held: Any, watch: Any) -> Any:
    return type(held)(_packed(v, watch) for v in held) if type(held) in LISTS else watch.packed(held)


def read(held: Any, name: str) -> Any:
    """What a node holds, as rules take it: Python's numbers become NumPy's, whose arithmetic never raises."""
    if type(held) is Saved or type(held) is Packed:
        return held.read(name)
    if type(held) is float:
        return np.float64(held)
    if type(held) is complex:
        return np.complex128(held)
    return held


def read_tree(held: Any, name: str) -> Any:
    """The same through lists and tuples."""
    if type(held) in LISTS:
        return type(held)(read_tree(v, name) for v in held)
    return read(held, name)


def hold(value: Any, reads: int, copies: bool) -> Any:
    """What a node holds of a parameter."""
    if isinstance(value, Value):
        return value.keep() if reads == WHOLE else value._data if reads == LAYOUT else form(value._data)
    if type(value) is float:
        return value
    if type(value) is ndarray:
        if reads != WHOLE:
            return value if reads == LAYOUT else form(value)
        # indices and masks are often used again as scratch; they are cheap beside what they select from
        return value.copy() if (copies or value.dtype.kind not in "fc") and value.flags.writeable else value
    if type(value) in LISTS:
        return type(value)(hold(v, reads, copies) for v in value)
    return value


def form(data: Any) -> Any:
    """A stand-in of the same shape and dtype, which keeps no large array alive and whose elements mean nothing."""
    if type(data) is not ndarray or data.size <= _SMALL:
        return data
    dtype = data.dtype
    zero = _ZEROS.get(dtype)
    if zero is None:
        if dtype.hasobject:
            return data
        zero = _ZEROS[dtype] = np.zeros((), dtype)
    return ndarray(data.shape, dtype, zero, 0, (0,) * data.ndim)


def at(tree: Any, path: tuple[int, ...]) -> Any:
    """The part of a nested sequence at a path."""
    for step in path:
        tree = tree[step]
    return tree


def put(tree: Any, path: tuple[int, ...], value: Any) -> Any:
    """A nested sequence with the part at a path replaced."""
    if not path:
        return value
    items = list(tree)
    items[path[0]] = put(items[path[0]], path[1:], value)
    return type(tree)(items) if type(tree) in LISTS else items


def values_in(tree: Any, path: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Value]]:
    """The Values in nested lists and tuples, with their paths."""
    if isinstance(tree, Value):
        yield path, tree
    elif type(tree) in LISTS:
        for i, item in enumerate(tree):
            if isinstance(item, Value) or type(item) in LISTS:
                yield from values_in(item, (*path, i))


def plain(tree: Any) -> Any:
    """The data of Values in nested lists, tuples, dicts and slices."""
    if isinstance(tree, Value):
        return tree._data
    kind = type(tree)
    if kind in LISTS:
        return kind([plain(v) for v in tree])
    if kind is dict:
        return {k: plain(v) for k, v in tree.items()}
    if kind is slice:
        return slice(plain(tree.start), plain(tree.stop), plain(tree.step))
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return kind(*map(plain, tree))
    return tree
