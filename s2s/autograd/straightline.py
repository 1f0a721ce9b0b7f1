"""A recorded graph as source: the backward pass at the recorded values, one statement an operation.

What nodes have saved stands as constants above the function, so that the text runs by itself, with NumPy and the
formulas of s2s's rules: `gradient(out_bar)` gives the gradients by the inputs for any seed. Each statement is run as it
is written, which tells the dtypes that the next ones meet.
"""

from __future__ import annotations

import ast
import inspect
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from s2s.autograd import modes, operation
from s2s.autograd.calls import _as_tuple, _inputs, _wanted
from s2s.autograd.engine import _leading_to, key
from s2s.autograd.inplace import ScatterAdd, SetItem, WriteThrough, last_writes
from s2s.autograd.nodes import BoundNode, RuleNode, is_finite
from s2s.autograd.rebuild import over_proxies
from s2s.autograd.sourcetext import Filled, Module, less_defaults
from s2s.autograd.traced import Traced
from s2s.autograd.value import Identity, Node, Output, Value, dtype_of
from s2s.errors import EagerError
from s2s.runtime.numeric import unbroadcast


def to_source(outputs: Any, inputs: Any) -> str:
    """The gradients of `outputs` by `inputs` as the source of a module, at the recorded values.

    The module holds a function `gradient`, with a seed for each output (`out_bar`, or `out0_bar`, `out1_bar`, ...),
    which have a default where all outputs have one element. It returns a tuple with an entry for each input.

    Raises EagerError for what is not written out: Functions of the user's own, and samples.

    >>> from s2s.autograd import Variable
    >>> x = Variable([1.0, 2.0], requires_grad=True)
    >>> print(to_source(np.sum(x * x), x))
    import numpy as np
    from s2s.rules.reductions import sum_vjp
    <BLANKLINE>
    c0 = np.array([1.0, 4.0])
    c1 = np.array([1.0, 2.0])
    <BLANKLINE>
    <BLANKLINE>
    def gradient(out_bar=1.0):
        # sum
        mul_bar = sum_vjp(out_bar, None, c0, None, None, None, False, None)
        # mul
        x0_bar = mul_bar * c1
        x0_bar = x0_bar + mul_bar * c1
        return (x0_bar,)
    """
    results, variables = _as_tuple(outputs, "outputs"), _inputs(inputs, "to_source")
    parents = [_wanted(v) for v in variables]
    writer = _Writer()
    names = ["out_bar"] if len(results) == 1 else [f"out{i}_bar" for i in range(len(results))]
    seeds = []
    default = "=1.0" if all(np.size(out._data) == 1 for out in results) else ""
    for name, out in zip(names, results, strict=True):
        writer.scope[name] = np.ones_like(out._data)[()]
        parent = out.parent()
        if parent is not None:
            dtype = dtype_of(out._data)
            if dtype != np.float64:
                name = writer.assigned("seed", f"np.conj(np.asarray({name}, {dtype.str!r}))")
            seeds.append((parent, name))
    found = writer.sweep(seeds, {key(p): f"x{i}" for i, p in enumerate(parents)}, parents)
    entries = []
    for i, (v, parent) in enumerate(zip(variables, parents, strict=True)):
        if key(parent) not in found:
            raise EagerError(f"input {i} appears not to have been used: no output depends on it")
        entry = found[key(parent)]
        entries.append(f"np.conj({entry})" if dtype_of(v._data).kind == "c" else entry)
    writer.body.append(f"return ({', '.join(entries)},)")
    return writer.text([f"{name}{default}" for name in names])


class _Writer(Module):
    """Writes the backward pass into a module."""

    # --- the pass -------------------------------------------------------------------------------------------------

    def sweep(
        self, seeds: Sequence[tuple[Any, str]], hints: Mapping[int, str], targets: Sequence[Any]
    ) -> dict[int, str]:
        """Write the backward pass from seeds; the names of the cotangents of those targets that are reached."""
        needed = _leading_to({key(t) for t in targets}, [target for target, _ in seeds])
        pending: dict[int, list[Any]] = {}
        found: dict[int, str] = {}

        def send(target: Any, expression: str) -> None:
            where = key(target)
            if where not in needed:
                return
            entry = pending.get(where)
            if isinstance(target, Node) and target.dtype is None:
                raise AssertionError("a node of several results gets its parts from its outputs")
            dtype = target.dtype if isinstance(target, Node) else dtype_of(target._data)
            expression = self._fitted(expression, dtype)
            if entry is not None:
                self.set(entry[1], f"{entry[1]} + {expression}")
            elif expression.isidentifier() and where not in hints:
                pending[where] = [target, self.assigned(_hint(target), expression)]
            else:
                pending[where] = [target, self.assigned(hints.get(where) or _hint(target), expression)]

        parts: dict[int, dict[int, str]] = {}
        for target, expression in seeds:
            if expression.isidentifier() and key(target) not in pending and key(target) not in hints:
                pending[key(target)] = [target, expression]
            else:
                send(target, expression)
        while any(where > 0 for where in pending):
            where = max(pending)
            node, name = pending.pop(where)
            if where in hints:
                found[where] = name
                if not any(key(p) in needed for p in node.parents):
                    continue
            if isinstance(node, Output):
                several = node.parents[0]
                held = parts.setdefault(several.order, {})
                held[node.index] = name
                pending.setdefault(several.order, [several, ""])
                continue
            self.body.append(f"# {node.name}")
            g: Any = parts.pop(where) if node.dtype is None else name
            for parent, cotangent in zip(node.parents, self._cotangents(node, g), strict=True):
                if cotangent is not None and key(parent) in needed:
                    send(parent, cotangent)
        found.update({where: name for where, (_, name) in pending.items()})
        return found

    def _fitted(self, expression: str, dtype: Any) -> str:
        value = eval(expression, self.scope)
        have = dtype_of(value)
        if have.kind == "c" and dtype.kind != "c":
            expression = f"np.real({expression})"
            have = dtype_of(value.real)
        return expression if have == dtype else f"np.asarray({expression}, {dtype.str!r})"

    def _cotangents(self, node: Any, g: Any) -> Sequence[str | None]:
        if isinstance(node, Identity):
            return [g]
        if isinstance(node, RuleNode):
            return self._of_rule(node, g)
        write = _WRITES.get(type(node))
        if write is None:
            raise EagerError(f"{node.name!r} cannot be written out as source: it is no operation with a rule")
        return write(self, node, g)

    # --- operations with rules ------------------------------------------------------------------------------------

    def _of_rule(self, node: RuleNode, g: Any) -> Sequence[str | None]:
        ans, values = node._read(None)
        op, plan = node.operation, node.plan
        if isinstance(node, BoundNode) and node.results is not None:
            g = self._whole(node, g)
        if op.decomposition is not None:
            return self._expanded(op, values, node.places, g)  # type: ignore[attr-defined]
        args, keywords = op.rule.spread(dict(zip(op.names, values, strict=True)))
        places = node.places if isinstance(node, BoundNode) else [(i, ()) for i in plan.active]
        expressions = []
        for k, (i, path) in enumerate(places):
            at = plan.active.index(i)
            product = self._product(op, op.names[i], g, ans, values)
            text = product or self._call(plan.pulls[at], [g, self.constant(ans)], args, keywords)
            text += "".join(f"[{step}]" for step in path)
            if node.shapes is not None and node.shapes[k] is not None:
                self.imported(unbroadcast)
                text = f"unbroadcast({text}, {node.shapes[k]})"
            expressions.append(text)
        return expressions

    def _call(self, pull: Any, first: list[str], args: Sequence[Any], keywords: Mapping[str, Any]) -> str:
        args = args if keywords else less_defaults(pull, len(first), args)
        given = [*first, *map(self.constant, args), *(f"{k}={self.constant(v)}" for k, v in keywords.items())]
        return f"{self.imported(pull)}({', '.join(given)})"

    def _product(self, op: Any, name: str, g: str, ans: Any, values: Sequence[Any]) -> str | None:
        """The cotangent by the text of an elementwise rule; None for other rules."""
        body = op.rule.bodies.get(name)
        if body is None:
            return None
        names = ["ans", *op.names]
        index = op.rule.partial_index[name]
        tree = operation._tree(body)
        if tree is not None and len(tree.body) == 1 and isinstance(tree.body[0], ast.Return) and not body.__closure__:
            value: Any = tree.body[0].value
            value = value.elts[index] if index is not None and isinstance(value, ast.Tuple) else value
            held = dict(zip(names, [ans, *values], strict=True))
            slope = ast.unparse(Filled({n: self.constant(v) for n, v in held.items()}, body, self).visit(value))
            if index is not None and not isinstance(tree.body[0].value, ast.Tuple):
                slope = f"({slope})[{index}]"
        else:
            slope = self._call(body, [self.constant(ans)], values, {}) + (f"[{index}]" if index is not None else "")
        text = g if slope == "1" else f"-{g}" if slope == "-1" else f"{g} * ({slope})"
        text = text if not slope.isidentifier() else f"{g} * {slope}"
        with np.errstate(all="ignore"):
            fine = is_finite(eval(text, self.scope))
        return text if fine else f"np.where({g} != 0, {text}, 0)"

    def _whole(self, node: BoundNode, parts: Mapping[int, str]) -> str:
        nesting, forms = node.results
        numbers = iter(range(len(forms)))

        def written(tree: Any) -> str:
            if isinstance(tree, (list, tuple)):
                inner = ", ".join(map(written, tree))
                return f"[{inner}]" if isinstance(tree, list) else f"({inner},)"
            i = next(numbers)
            shape, dtype = forms[i]
            return parts.get(i) or f"np.zeros({shape}, {(dtype if dtype.kind in 'fc' else np.dtype(float)).str!r})"

        return written(nesting)

    def _expanded(self, op: Any, values: Sequence[Any], places: Sequence[Any], g: str) -> Sequence[str | None]:
        """Through a decomposition, by the operations that it consists of."""
        values = list(values)
        local = []
        with modes.enable_grad():
            for i, path in places:
                if path:
                    raise EagerError(f"{op.name!r} of sequences of Variables cannot be written out as source")
                value = Traced.make(values[i])
                value._wants = True
                local.append(value)
                values[i] = value
            args, keywords = op.rule.spread(dict(zip(op.names, values, strict=True)))
            out = over_proxies(op.decomposition)(*args, **keywords)
        if not isinstance(out, Value) or out.parent() is None:
            raise EagerError(f"{op.name!r} has several results, and cannot be written out as source")
        found = self.sweep([(out.parent(), g)], {key(v): f"{op.name}_{i}" for i, v in enumerate(local)}, local)
        return [found.get(key(v)) for v in local]


# --- writes -------------------------------------------------------------------------------------------------------


def _set_item(writer: _Writer, node: SetItem, g: str) -> list[str | None]:
    index = writer.constant(node.index)
    found: list[str | None] = []
    for place in node.places:
        if not place:
            name = writer.assigned("rest", f"np.array({g})")
            writer.run(f"{name}[{index}] = 0.0")
        else:
            last = last_writes(node.index, np.shape(writer.scope[g]))
            taken = f"{g}[{index}]" if last is None else f"{g}[{index}] * {writer.constant(last)}"
            have = np.shape(eval(taken, writer.scope))
            core = node.shape[max(0, len(node.shape) - len(have)) :]
            if have != core:
                writer.imported(unbroadcast)
                taken = f"unbroadcast({taken}, {core})"
            name = f"np.reshape({taken}, {node.shape})" if core != node.shape else f"{taken} + 0.0"
        found.append(name)
    return found


def _scatter_add(writer: _Writer, node: ScatterAdd, g: str) -> list[str | None]:
    writer.imported(unbroadcast)
    index = writer.constant(node.index)
    return [f"unbroadcast({g}[{index}], {node.shape})" if place else g for place in node.places]


def _write_through(writer: _Writer, node: WriteThrough, g: str) -> list[str | None]:
    if not node.like.flags.c_contiguous or dtype_of(writer.scope[g]).kind == "c":
        raise EagerError(f"{node.name!r} cannot be written out as source: its base is complex, or not contiguous")
    rest = writer.assigned("rest", f"np.array({g}, order='C')")
    view = rest
    for step in node.view.chain:
        if not isinstance(step.place, int) or step.place or step.item is not None:
            raise EagerError(f"{node.name!r} cannot be written out as source")
        args = [view, *map(writer.constant, step.args[1:])]
        keywords = [f"{k}={writer.constant(v)}" for k, v in step.kwargs.items()]
        view = writer.assigned("part", _called(writer, step.function, [*args, *keywords]))
    written = writer.assigned("written", f"{view}.copy()")
    writer.run(f"{view}[...] = 0.0")
    return [written] if len(node.parents) == 1 else [rest, written]


def _called(writer: _Writer, function: Any, args: Sequence[str]) -> str:
    name = function.__name__
    if function is operator.getitem:
        return f"{args[0]}[{args[1]}]"
    if inspect.isgetsetdescriptor(function):
        return f"{args[0]}.{name}"
    if getattr(np.ndarray, name, None) is function:
        return f"{args[0]}.{name}({', '.join(args[1:])})"
    return f"{writer.imported(function)}({', '.join(args)})"


_WRITES: dict[type, Callable[[Any, Any, str], list[str | None]]] = {
    SetItem: _set_item,
    ScatterAdd: _scatter_add,
    WriteThrough: _write_through,
}


def _hint(target: Any) -> str:
    name = getattr(target, "name", "leaf") if isinstance(target, Node) else "leaf"
    return "".join(c if c.isalnum() else "_" for c in str(name)).strip("_") or "t"
