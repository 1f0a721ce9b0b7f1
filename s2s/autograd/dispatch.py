"""One way for all operations: run the function on plain data, and record a node if a derivative is wanted.

`apply` is what operators, methods and NumPy's protocols end in. It asks the function's rule for everything that it
knows of derivatives; a function without a rule runs only if no argument carries a gradient.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from s2s.autograd import operation
from s2s.autograd.modes import state
from s2s.autograd.operation import FORM, WHOLE, Operation, Plan
from s2s.autograd.value import Node, Output, Saved, Value, View, dtype_of, ndarray, orders
from s2s.errors import GraphFreedError, MissingRuleError
from s2s.runtime.numeric import unbroadcast

_LISTS = (list, tuple)
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
        if recording is not None:
            ans, values = self._read(recording)
            result = [pull(g, ans, *values) for pull in plan.recorded_pulls()]
        else:
            ans, values = self._read(None)
            result = [pull(g, ans, *values) for pull in plan.pulls]
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
        values = [v if v is None or type(v) is ndarray else read(v, name) for v in values]
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
        if self.plan.reads is not None or self.plan.reads_ans:
            self.ans = self.values = None


class BoundNode(RuleNode):
    """A call with keywords, sequences of values or several results: bound by the rule.

    places: for each parent the position of its parameter and the path within it.
    results: the shapes and dtypes of several results, and the type that holds them.
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
        result = []
        for k, (i, path) in enumerate(self.places):
            c = at(pulled[i], path) if path else pulled[i]
            if self.shapes is not None and self.shapes[k] is not None:
                c = unbroadcast(c, self.shapes[k])
            result.append(c)
        return result

    def _whole(self, g: dict[int, Any], recording: type[Value] | None) -> Any:
        kind, forms = self.results
        parts = []
        for i, (shape, dtype) in enumerate(forms):
            part = g.get(i)
            if part is None:
                zeros = np.zeros(shape, dtype if dtype.kind in "fc" else float)
                part = zeros if recording is None else recording.make(zeros)
            parts.append(part)
        return kind(*parts) if hasattr(kind, "_fields") else kind(parts)

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
        kind = self.results[0]
        parts = [recording.make(a, Output(self, i, dtype_of(a))) if is_active_result(a) else a for i, a in enumerate(ans)]
        return kind(*parts) if hasattr(kind, "_fields") else kind(parts)


def freed(name: str) -> GraphFreedError:
    """The error of a second pass."""
    return GraphFreedError(
        f"backward goes through {name!r} a second time, but the first pass freed what it had saved",
        hint="call the first backward() or grad() with retain_graph=True",
    )


def is_active_result(a: Any) -> bool:
    """Whether a result can carry a gradient."""
    return dtype_of(a).kind in "fc"


# --- what nodes hold --------------------------------------------------------------------------------------------


def read(held: Any, name: str) -> Any:
    """What a node holds, as rules take it: Python's numbers become NumPy's, whose arithmetic never raises."""
    if type(held) is Saved:
        return held.read(name)
    if type(held) is float:
        return np.float64(held)
    if type(held) is complex:
        return np.complex128(held)
    return held


def read_tree(held: Any, name: str) -> Any:
    """The same through lists and tuples."""
    if type(held) in _LISTS:
        return type(held)(read_tree(v, name) for v in held)
    return read(held, name)


def hold(value: Any, reads: int, copies: bool) -> Any:
    """What a node holds of a parameter."""
    if isinstance(value, Value):
        return value.keep() if reads == WHOLE else _form(value._data)
    if type(value) is float:
        return value
    if type(value) is ndarray:
        if reads != WHOLE:
            return _form(value)
        # indices and masks are often used again as scratch; they are cheap beside what they select from
        return value.copy() if (copies or value.dtype.kind not in "fc") and value.flags.writeable else value
    if type(value) in _LISTS:
        return type(value)(hold(v, reads, copies) for v in value)
    return value


def _form(data: Any) -> Any:
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
    return type(tree)(items) if type(tree) in _LISTS else items


def values_in(tree: Any, path: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Value]]:
    """The Values in nested lists and tuples, with their paths."""
    if isinstance(tree, Value):
        yield path, tree
    elif type(tree) in _LISTS:
        for i, item in enumerate(tree):
            if isinstance(item, Value) or type(item) in _LISTS:
                yield from values_in(item, (*path, i))


def plain(tree: Any) -> Any:
    """The data of Values in nested lists, tuples, dicts and slices."""
    if isinstance(tree, Value):
        return tree._data
    kind = type(tree)
    if kind in _LISTS:
        return kind([plain(v) for v in tree])
    if kind is dict:
        return {k: plain(v) for k, v in tree.items()}
    if kind is slice:
        return slice(plain(tree.start), plain(tree.stop), plain(tree.step))
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return kind(*map(plain, tree))
    return tree


# --- apply ------------------------------------------------------------------------------------------------------


def apply(function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any] | None = None) -> Any:
    """Call a function of Values; record the call if grad mode is on and an argument carries a gradient."""
    op = operation.find(function)
    if op is None:
        return _without_rule(function, args, kwargs or {})
    tail = op.tail
    if kwargs or tail is None or not op.required <= len(args) <= len(tail) or op.decomposition is not None:
        return _apply_bound(op, args, kwargs or {})
    data: list[Any] = []
    active: tuple[int, ...] = ()
    parents = []
    cls: Any = None
    for a in args:
        if isinstance(a, Value):
            kind = type(a)
            if cls is None or kind.copies:
                cls = kind
            parent = a._node
            if parent is None or a._view is not None:
                parent = a.parent()  # type: ignore[assignment]
            if parent is not None:
                active += (len(data),)
                parents.append(parent)
            data.append(a._data)
        elif type(a) in _LISTS:
            return _apply_bound(op, args, {})
        else:
            data.append(a)
    out = op.call(*data)
    if not active or op.zero or not state.enabled:
        return _linked_constant(_wrap(out, cls), function, args, None)
    kind = type(out)
    if kind is not ndarray and (kind in _LISTS or isinstance(out, tuple)):
        return _record_bound(op, args, {}, out, cls)
    plan = op.plan(active)
    if len(plan.active) != len(active):
        parents = [p for i, p in zip(active, parents, strict=True) if i in plan.active]
    node = RuleNode(parents, out.dtype if kind is ndarray else dtype_of(out), op, plan)
    result = cls.make(out, node)
    reads = plan.reads
    if reads is not None:
        copies = cls.copies
        operands = args if len(args) == len(tail) else (*args, *tail[len(args) :])
        node.values = [hold(a, r, copies) if r else None for a, r in zip(operands, reads)]
    if plan.reads_ans:
        node.ans = result.keep() if plan.reads_ans == WHOLE else _form(out)
    if plan.any_partial and len(tail) > 1:
        node.shapes = _shapes(plan, data, out)
    if kind is ndarray and (out.base is not None or out is data[0]):
        link_view(result, function, args, None)
    return result


def _shapes(plan: Plan, data: Sequence[Any], out: Any) -> Any:
    """For each parent the shape to which its cotangent is summed, None where that is the result's."""
    shape = out.shape if type(out) is ndarray else ()
    shapes = None
    for k, i in enumerate(plan.active):
        d = data[i]
        have = d.shape if type(d) is ndarray else ()
        if have != shape and plan.partial[k]:
            if shapes is None:
                shapes = [None] * len(plan.active)
            shapes[k] = have
    return shapes


def _without_rule(function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """A function that has no rule runs on the data, if no argument carries a gradient."""
    cls = Value
    for _, value in values_in([*args, *kwargs.values()]):
        cls = type(value) if cls is Value or type(value).copies else cls
        if value.parent() is not None:
            raise missing(function)
    out = function(*plain(list(args)), **plain(dict(kwargs)))
    return _linked_constant(_wrap(out, cls), function, args, kwargs)


def missing(function: Any) -> MissingRuleError:
    """The error of an active value in a function that has no rule."""
    name = getattr(function, "__name__", None) or repr(function)
    module = getattr(function, "__module__", None)
    full = f"{module}.{name}" if module and module != "builtins" else name
    return MissingRuleError(
        f"{full}() has no derivative rule, and an argument of it carries a gradient",
        hint=f"add one (s2s.rules.vjp({name}, wrt=...)), or pass a value without gradient: x.detach()",
    )


def _wrap(out: Any, cls: Any) -> Any:
    """A result without gradient: floats and arrays of floats as Values, anything else as it is."""
    if isinstance(out, (ndarray, np.floating, np.complexfloating, float, complex)):
        return cls.make(out) if dtype_of(out).kind in "fc" else out
    if type(out) in _LISTS:
        return type(out)([_wrap(v, cls) for v in out])
    if isinstance(out, tuple) and hasattr(out, "_fields"):
        return type(out)(*(_wrap(v, cls) for v in out))
    return out


def _linked_constant(result: Any, function: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
    if isinstance(result, Value):
        out = result._data
        if type(out) is ndarray and args and (out.base is not None or out is plain(args[0])):
            link_view(result, function, args, kwargs)
    return result


def _apply_bound(op: Operation, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """`apply` for calls that the rule must bind."""
    found = [value for _, value in values_in([*args, *kwargs.values()])]
    cls: Any = next((type(v) for v in found if type(v).copies), type(found[0]) if found else Value)
    out = op.call(*plain(list(args)), **plain(dict(kwargs)))
    if op.zero or not state.enabled or all(v.parent() is None for v in found):
        return _linked_constant(_wrap(out, cls), op.function, args, kwargs)
    return _record_bound(op, args, kwargs, out, cls)


def _record_bound(op: Operation, args: tuple[Any, ...], kwargs: Mapping[str, Any], out: Any, cls: Any) -> Any:
    bound = list(op.rule.bind(args, kwargs).values())
    places, parents, active = [], [], []
    for i, (name, value) in enumerate(zip(op.names, bound, strict=True)):
        if type(value) in _LISTS and name not in op.sequences and any(True for _ in values_in(value)):
            value = bound[i] = apply(np.array, (value,))
        for path, v in values_in(value):
            parent = v.parent()
            if parent is not None and name not in op.rule.zeros:
                places.append((i, path))
                parents.append(parent)
                if not active or active[-1] != i:
                    active.append(i)
    if not parents:
        return _linked_constant(_wrap(out, cls), op.function, args, kwargs)
    plan = op.plan(tuple(active))
    several = isinstance(out, (tuple, list))
    node = BoundNode(parents, None if several else dtype_of(out), op, plan)
    node.places, node.results = places, None
    result = _results(node, out, cls) if several else cls.make(out, node)
    reads = plan.reads or (0,) * len(bound)
    node.values = [hold(v, r, cls.copies) for v, r in zip(bound, reads, strict=True)]
    if plan.reads_ans:
        node.ans = hold(list(result) if several else result, plan.reads_ans, cls.copies)
    if not several and any(plan.partial):
        node.shapes = _shapes_bound(plan, bound, out)
    if type(out) is ndarray and (out.base is not None or out is plain(args[0])):
        link_view(result, op.function, args, kwargs)
    return result


def _shapes_bound(plan: Plan, bound: Sequence[Any], out: Any) -> Any:
    return [np.shape(plain(bound[i])) for i in plan.active]


def _results(node: BoundNode, out: Any, cls: Any) -> Any:
    kind = type(out)
    node.results = kind, [(np.shape(a), dtype_of(a)) for a in out]
    parts = [cls.make(a, Output(node, i, dtype_of(a))) if is_active_result(a) else a for i, a in enumerate(out)]
    return kind(*parts) if hasattr(kind, "_fields") else kind(parts)


def pull_through(
    op: Operation, values: Sequence[Any], places: Sequence[Any], g: Any, recording: type[Value] | None
) -> Sequence[Any]:
    """The cotangents through a decomposition; the engine, which differentiates it, sets this function."""
    raise NotImplementedError


# --- views ------------------------------------------------------------------------------------------------------


def root(a: Any) -> Any:
    """The array that owns the memory of an array."""
    while type(a.base) is ndarray or isinstance(a.base, ndarray):
        a = a.base
    return a


def link_view(result: Value, function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any] | None) -> None:
    """If the result shares the memory of the first argument, note it: both have one storage, and writes reach both."""
    source = args[0]
    if not isinstance(source, Value) or type(source._data) is not ndarray or root(result._data) is not root(source._data):
        return
    result._storage = source.storage()
    step = (function, args[1:], kwargs)
    if source._view is None:
        result._view = View(source, (step,), source._node)
    else:
        source.parent()  # up to date
        result._view = View(source._view.base, (*source._view.chain, step), source._view.seen)


def replay(view: View, base: Any) -> Any:
    """The view again, of another base: of an array, or of a Value (recorded)."""
    for function, args, kwargs in view.chain:
        if isinstance(base, Value):
            base = apply(function, (base, *args), kwargs)
        else:
            base = operation.caller(function)(base, *plain(list(args)), **plain(dict(kwargs or {})))
    return base
