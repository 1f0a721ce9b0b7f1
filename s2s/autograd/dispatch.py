"""One way for all operations: run the function on plain data, and record a node if a derivative is wanted.

`apply` is what operators, methods and NumPy's protocols end in. It asks the function's rule for everything that it
knows of derivatives; a function without a rule runs only if no argument carries a gradient.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from s2s.autograd import operation
from s2s.autograd.modes import state
from s2s.autograd.nodes import (
    LISTS,
    BoundNode,
    RuleNode,
    form,
    hold,
    is_active_result,
    items_of,
    out_of,
    plain,
    values_in,
)
from s2s.autograd.operation import WHOLE, Operation, Plan
from s2s.autograd.refusals import noted
from s2s.autograd.value import INFERENCE, VOLATILE, Output, Saved, Value, View, dtype_of, ndarray, orders
from s2s.errors import MissingRuleError
from s2s.rules.missing import missing_rule

_new = object.__new__
_DISCRETE, _TEXT = frozenset("biumMUSV"), frozenset("USV")
_PLAIN = frozenset({ndarray, float, int, bool, type(None), slice})

# --- apply ------------------------------------------------------------------------------------------------------


def apply(function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any] | None = None) -> Any:
    """Call a function of Values; record the call if grad mode is on and an argument carries a gradient."""
    op = operation.find(function)
    if op is None:
        return _without_rule(function, args, kwargs or {})
    if kwargs or not op.required <= len(args) <= op.most:
        return _apply_bound(op, args, kwargs or {})
    # What follows is the cost of every recorded operation: constructors and loops are written out.
    data: list[Any] = []
    active: tuple[int, ...] = ()
    parents: list[Any] = []
    cls: Any = None
    quiet = False
    for i, a in enumerate(args):
        kind = type(a)
        if kind in _PLAIN:
            data.append(a)
        elif isinstance(a, Value):
            if cls is None or kind.copies:
                cls = kind
            parent = a._node
            if parent is None or a._view is not None:
                parent = a.parent()  # type: ignore[assignment]
            if parent is not None:
                active += (i,)
                parents.append(parent)
            elif a._wants == VOLATILE:
                quiet = True
            data.append(a._data)
        elif isinstance(a, (list, tuple)):
            return _apply_bound(op, args, {})
        else:
            data.append(a)
    out = op.call(*data)
    enabled = state.enabled
    if not active or quiet or op.zero or not enabled:
        return _linked_constant(_wrap(out, cls or Value, quiet), function, args, None)
    kind = type(out)
    if kind is ndarray:
        dtype = out.dtype
        shape = out.shape
    elif kind in LISTS or isinstance(out, tuple):
        return _record_bound(op, args, {}, out, cls)
    else:
        dtype = dtype_of(out)
        shape = ()
    if dtype.kind in _DISCRETE and isinstance(out, (ndarray, np.generic)):
        return _discrete(out, function, args)
    plan = op.plans.get(active) or op.plan(active)
    if plan.drops:
        parents = [p for i, p in zip(active, parents, strict=True) if i in plan.active]
    node = _new(RuleNode)
    node.parents = parents
    node.dtype = dtype
    node.order = next(orders)
    node.plan = plan
    node.hooks = node.ans = node.shapes = None
    node.operation = op
    result = _new(cls)
    result._data = out
    result._node = node
    result._wants = False
    result._storage = result._saved = result._view = None
    reads = plan.reads
    if reads is None:
        node.values = op.blanks
    else:
        values: list[Any] = []
        operands = args if len(args) == op.most else (*args, *op.tail[len(args) :])
        for a, r in zip(operands, reads):
            if not r or a is None:
                values.append(None)
            elif r == WHOLE and isinstance(a, Value):
                cell = a._saved
                if cell is None or a._storage is not None or cell.array is not a._data or cell.storage is not None:
                    cell = a.keep()
                values.append(cell)
            else:
                values.append(hold(a, r, cls.copies))
        node.values = values
    if plan.reads_ans:
        if plan.reads_ans == WHOLE and kind is ndarray and not state.inference:
            node.ans = result._saved = Saved(out)
        else:
            node.ans = result.keep() if plan.reads_ans == WHOLE else form(out)
    for _, i in plan.sums:
        d = data[i]
        if (d.shape if type(d) is ndarray else ()) != shape:
            node.shapes = shapes_to_sum(plan, data, out)
            break
    if enabled is not True:
        enabled.note(node)
    if kind is ndarray and (out.base is not None or out is data[0]):
        link_view(result, function, args, None)
    return result


def shapes_to_sum(plan: Plan, data: Sequence[Any], out: Any) -> Any:
    """For each parent the shape to which its cotangent is summed, None where that is the result's."""
    shape = out.shape if type(out) is ndarray else ()
    shapes: list[Any] | None = None
    for k, i in plan.sums:
        d = data[i]
        have = d.shape if type(d) is ndarray else ()
        if have != shape:
            if shapes is None:
                shapes = [None] * len(plan.active)
            shapes[k] = have
    return shapes


def _without_rule(function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """A function that has no rule runs on the data, if no argument carries a gradient."""
    cls = Value
    found = [value for _, value in values_in([*args, *kwargs.values()])]
    for value in found:
        cls = type(value) if cls is Value or type(value).copies else cls
        if value.parent() is not None:
            raise missing(function, args, kwargs)
    out = _wrap(call_unknown(function, args, kwargs), cls, is_quiet(found))
    return _linked_constant(out, function, args, kwargs)


def call_unknown(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Call a function of which nothing is known on the data of Values, which it cannot write."""
    return function(*read_only(list(args)), **read_only(dict(kwargs)))


def read_only(tree: Any) -> Any:
    """The data of Values in nested lists, tuples and dicts, where writes raise: nothing would record them."""
    if isinstance(tree, Value):
        data = tree._data
        if type(data) is ndarray:
            data = data.view()
            data.flags.writeable = False
        return data
    if type(tree) in LISTS:
        return type(tree)([read_only(v) for v in tree])
    if type(tree) is dict:
        return {k: read_only(v) for k, v in tree.items()}
    return tree


def missing(function: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None) -> MissingRuleError:
    """The error of an active value in a function that has no rule."""
    given: list[tuple[int | str, Any]] = [*enumerate(args), *(kwargs or {}).items()]
    active = [(place, v) for place, tree in given for _, v in values_in(tree) if v.parent() is not None]
    refusal = missing_rule(function, [*dict.fromkeys(place for place, _ in active)])
    return noted(refusal, recorded=any(v.copies for _, v in active))


def is_quiet(values: Iterable[Value]) -> bool:
    """Whether a volatile Value is among some, so that an operation on them is not recorded."""
    return any(v._wants == VOLATILE for v in values)


def _wrap(out: Any, cls: Any, quiet: bool) -> Any:
    """A result without gradient: floats and arrays of floats as Values, anything else as it is.

    quiet: whether it is volatile.
    """
    if isinstance(out, (ndarray, np.floating, np.complexfloating, float, complex)):
        if dtype_of(out).kind not in "fc":
            return out
        result = cls.make(out)
        if quiet or state.inference:
            result._wants = VOLATILE if quiet else INFERENCE
        return result
    if type(out) in LISTS:
        return type(out)([_wrap(v, cls, quiet) for v in out])
    if isinstance(out, tuple) and hasattr(out, "_fields"):
        return type(out)(*(_wrap(v, cls, quiet) for v in out))
    return out


def _discrete(out: Any, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any] | None = None) -> Any:
    """Integers made of floats (`x.astype(int)`): constant almost everywhere. Text would lose what it says."""
    if out.dtype.kind in _TEXT:
        raise missing(function, args, kwargs)
    return out


def _linked_constant(result: Any, function: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
    if isinstance(result, Value):
        link_view(result, function, args, kwargs)
    elif type(result) in LISTS:
        _link_parts(result, function, args, kwargs)
    return result


def _link_parts(parts: Sequence[Any], function: Any, args: tuple[Any, ...], kwargs: Any) -> None:
    """Each of several results may be a view: `np.split` gives views."""
    for item, part in enumerate(parts):
        if isinstance(part, Value):
            link_view(part, function, args, kwargs, item)


def _apply_bound(op: Operation, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """`apply` for calls that the rule must bind."""
    args, kwargs = tuple(map(_plain_tuples, args)), {name: _plain_tuples(a) for name, a in kwargs.items()}
    found = [value for _, value in values_in([*args, *kwargs.values()])]
    cls: Any = next((type(v) for v in found if type(v).copies), type(found[0]) if found else Value)
    out = op.call(*plain(list(args)), **plain(dict(kwargs)))
    quiet = is_quiet(found)
    if quiet or op.zero or not state.enabled or all(v.parent() is None for v in found):
        return _linked_constant(_wrap(out, cls, quiet), op.function, args, kwargs)
    if isinstance(out, (ndarray, np.generic)) and out.dtype.kind in _DISCRETE:
        return _discrete(out, op.function, args, kwargs)
    return _record_bound(op, args, kwargs, out, cls)


def _plain_tuples(tree: Any) -> Any:
    """Nested lists and tuples with a plain tuple for each namedtuple: to functions with a rule they are the same."""
    if not isinstance(tree, (list, tuple)):
        return tree
    items = [_plain_tuples(item) for item in tree]
    same = type(tree) in LISTS and all(a is b for a, b in zip(items, tree, strict=True))
    return tree if same else (list if isinstance(tree, list) else tuple)(items)


def _record_bound(op: Operation, args: tuple[Any, ...], kwargs: Mapping[str, Any], out: Any, cls: Any) -> Any:
    try:
        bound = list(op.rule.bind(args, kwargs).values())
    except TypeError:  # the function takes more than its rule knows of
        raise missing(op.function, args, kwargs) from None
    places, parents = [], []
    active: list[int] = []
    for i, (name, value) in enumerate(zip(op.names, bound, strict=True)):
        if type(value) in LISTS and name not in op.sequences:
            if any(True for _ in values_in(value)):
                value = bound[i] = apply(np.array, (value,))
            elif name in op.rule.differentiable:
                array = np.array(value)  # formulas know arrays only; lists of integers may be axes
                if op.decomposition is None or array.dtype.kind in "fc":
                    value = bound[i] = array
        for path, v in values_in(value):
            parent = v.parent()
            if parent is not None and name not in op.rule.zeros:
                places.append((i, path))
                parents.append(parent)
                if not active or active[-1] != i:
                    active.append(i)
    if not parents:
        return _linked_constant(_wrap(out, cls, quiet=False), op.function, args, kwargs)
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
    if state.enabled is not True:
        state.enabled.note(node)
    if several:
        _link_parts(result, op.function, args, kwargs)
    else:
        link_view(result, op.function, args, kwargs)
    return result


def _shapes_bound(plan: Plan, bound: Sequence[Any], out: Any) -> Any:
    return [np.shape(plain(bound[i])) for i in plan.active]


def _results(node: BoundNode, out: Any, cls: Any) -> Any:
    leaves = items_of(out)
    node.results = out_of(out, iter([None] * len(leaves))), [(np.shape(a), dtype_of(a)) for a in leaves]
    return out_of(
        out,
        (cls.make(a, Output(node, i, dtype_of(a))) if is_active_result(a) else a for i, a in enumerate(leaves)),
    )


# --- views ------------------------------------------------------------------------------------------------------


def root(a: Any) -> Any:
    """The array that owns the memory of an array."""
    while True:
        base = a.base
        if not isinstance(base, ndarray):
            base = getattr(base, "base", None)  # `as_strided` puts an object between
            if not isinstance(base, ndarray):
                return a
        a = base


_OVERLAPPING = (np.lib.stride_tricks.as_strided, np.lib.stride_tricks.sliding_window_view)


def link_view(
    result: Value, function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any] | None, item: int | None = None
) -> None:
    """If the result shares the memory of an argument, note it: both have one storage, and writes reach both.

    item: which of several results it is.
    """
    out = result._data
    if type(out) is not ndarray:
        return
    given: dict[int | str, Any] = dict(enumerate(args))
    given.update(kwargs or {})
    shared = [place for place, source in given.items() if _share(out, source)]
    if not shared:
        return
    place = item if item in shared else shared[0]
    source = given[place]
    result._storage = storage = source.storage()
    if result._wants == INFERENCE and source._wants != INFERENCE:
        result._wants = False  # a view of what was made before
    if len(shared) > 1 and place != item:
        storage.guard = f"{getattr(function, '__name__', 'a function')} gave a view of it, or of what shares its memory"
    if function in _OVERLAPPING and out.flags.writeable:
        storage.guard = f"{function.__name__} gave a view of it, in which an element may stand several times"
    rest = [None if where == place else given[where] for where in range(len(args))]
    step = Step(function, tuple(rest), {k: v for k, v in (kwargs or {}).items() if k != place}, place, item)
    if source._view is None:
        result._view = View(source, (step,), source._node)
    else:
        source.parent()  # up to date
        result._view = View(source._view.base, (*source._view.chain, step), source._view.seen)


def _share(out: Any, source: Any) -> bool:
    """Whether an array stands in the memory of a Value."""
    if not isinstance(source, Value) or type(source._data) is not ndarray:
        return False
    return out is source._data or (out.base is not None and root(out) is root(source._data))


class Step(NamedTuple):
    """A call that gave a view: what is viewed stood at a place among its arguments, a position or a keyword.

    It is not held here, as nodes to which the viewed value points hold steps.
    item: which of several results the view is.
    """

    function: Any
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    place: int | str
    item: int | None

    def again(self, base: Any) -> Any:
        """The call with another array, or Value, in this place."""
        args = tuple(base if i == self.place else arg for i, arg in enumerate(self.args))
        kwargs = self.kwargs if isinstance(self.place, int) else {**self.kwargs, self.place: base}
        if isinstance(base, Value):
            made = apply(self.function, args, kwargs)
        else:
            made = operation.caller(self.function)(*plain(list(args)), **plain(kwargs))
        return made if self.item is None else made[self.item]


def replay(view: View, base: Any) -> Any:
    """The view again, of another base: of an array, or of a Value (recorded)."""
    for step in view.chain:
        base = step.again(base)
    return base
