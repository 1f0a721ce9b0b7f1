"""Samples of the catalog that are one call of one function, taken apart so that its rule can be tested alone."""

from __future__ import annotations

import ast
import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2s import rules
from s2s.rules import Rule
from tests.catalog import catalog

OPERATORS = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow, ast.MatMult: operator.matmul,
    ast.USub: operator.neg, ast.UAdd: operator.pos,
}  # fmt: skip


class NotSingle(Exception):
    """The sample is more than one call."""


@dataclass(frozen=True)
class SingleCall:
    """A call bound to the rule of its function; `names` mirrors `bound`, with the active arguments' names as leaves."""

    rule: Rule
    bound: dict[str, Any]
    names: dict[str, Any]
    ans: Any


def single_call(sample: dict[str, Any], values: Mapping[str, Any]) -> SingleCall:
    """The sample at these values of its arguments. Raises NotSingle."""
    scope = dict(catalog.namespace(), **{k: np.array(v) for k, v in sample.get("consts", {}).items()}, **values)
    if "body" in sample:
        raise NotSingle("a body")
    node = ast.parse(sample["expr"], mode="eval").body

    def evaluate(part: ast.expr) -> Any:
        return eval(compile(ast.Expression(part), "<sample>", "eval"), scope)

    function, operands, keywords = taken_apart(node, evaluate)
    rule = rules.find(function)
    if rule is None:
        raise NotSingle(f"no rule of {function}")
    bound = rule.bind([index_value(o, evaluate) for o in operands], {k: evaluate(v) for k, v in keywords.items()})
    names = rule.bind(
        [leaf_names(o, values) for o in operands], {k: leaf_names(v, values) for k, v in keywords.items()}
    )
    defaults = {p for p in bound if bound[p] is rule.signature.parameters[p].default}
    names = {p: None if p in defaults and names[p] is bound[p] else names[p] for p in bound}
    for parameter, name in names.items():
        if computed(name, bound[parameter]):
            raise NotSingle("an operand is computed from the arguments")
    return SingleCall(rule, bound, names, evaluate(node))


INNER = object()


def computed(name: Any, value: Any) -> bool:
    """Whether an operand, or an item of it, depends on the arguments without being one."""
    if isinstance(name, (list, tuple)):
        return any(computed(n, v) for n, v in zip(name, value, strict=True))
    return name is INNER and (isinstance(value, Iterator) or is_active(value))


def is_active(value: Any) -> bool:
    return bool(catalog.leaves(value)) if not isinstance(value, str) else False


def taken_apart(node: ast.expr, evaluate: Any) -> tuple[Any, list[ast.expr], dict[str, ast.expr]]:
    """The function that an expression calls, its operands and its keywords."""
    if isinstance(node, ast.BinOp):
        return OPERATORS[type(node.op)], [node.left, node.right], {}
    if isinstance(node, ast.UnaryOp) and type(node.op) in OPERATORS:
        return OPERATORS[type(node.op)], [node.operand], {}
    if isinstance(node, ast.Subscript) and isinstance(evaluate(node.value), np.ndarray):
        return operator.getitem, [node.value, node.slice], {}
    if isinstance(node, ast.Attribute):
        return getattr(np.ndarray, node.attr), [node.value], {}
    if not isinstance(node, ast.Call) or any(isinstance(a, ast.Starred) for a in node.args):
        raise NotSingle("no call")
    keywords = {k.arg: k.value for k in node.keywords if k.arg}
    if isinstance(node.func, ast.Attribute):
        owner = evaluate(node.func.value)
        if isinstance(owner, np.ndarray):
            return getattr(np.ndarray, node.func.attr), [node.func.value, *node.args], keywords
    return evaluate(node.func), list(node.args), keywords


def index_value(node: ast.expr, evaluate: Any) -> Any:
    """The value of an operand, which may be a slice."""
    if isinstance(node, ast.Slice):
        return slice(*(None if part is None else evaluate(part) for part in (node.lower, node.upper, node.step)))
    if isinstance(node, ast.Tuple):
        return tuple(index_value(part, evaluate) for part in node.elts)
    return evaluate(node)


def leaf_names(node: ast.expr, values: Mapping[str, Any]) -> Any:
    """The active argument that an operand is, a list of such, INNER if it is computed from some, or None."""
    if isinstance(node, ast.Name):
        return node.id if node.id in values else None
    used = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} & set(values)
    if not used:
        return None
    if isinstance(node, (ast.List, ast.Tuple)):
        return [leaf_names(part, values) for part in node.elts]
    return INNER


# --- derivatives by the rule alone ------------------------------------------------------------------------------


def gradient(call: SingleCall, g: Any, values: Mapping[str, Any]) -> list[Any]:
    """The gradients of `sum(real(g * ans))` by the arguments."""
    found = {name: np.zeros_like(np.asarray(value)) for name, value in values.items()}
    real = not any(map(np.iscomplexobj, catalog.leaves(call.ans)))
    args, kwargs = call.rule.spread(call.bound)
    for parameter, name in call.names.items():
        if not has_names(name) or call.rule.zero or parameter in call.rule.zeros:
            continue
        assert_nested(name, parameter, call.rule)
        collect(found, name, call.rule.vjps[parameter](g, call.ans, *args, **kwargs), real)
    return list(found.values())


def tangent(call: SingleCall, directions: Mapping[str, Any]) -> list[Any]:
    """The tangents of the leaves of the result."""
    args, kwargs = call.rule.spread(call.bound)
    leaves = [np.zeros_like(leaf) for leaf in catalog.leaves(call.ans)]
    for parameter, name in call.names.items():
        if not has_names(name) or call.rule.zero or parameter in call.rule.zeros:
            continue
        p_dot = tangent_of(name, call.bound[parameter], directions)
        through = catalog.leaves(call.rule.jvps[parameter](p_dot, call.ans, *args, **kwargs))
        assert [np.shape(t) for t in through] == [leaf.shape for leaf in leaves]
        leaves = [total + part for total, part in zip(leaves, through, strict=True)]
    return leaves


def has_names(name: Any) -> bool:
    if isinstance(name, (list, tuple)):
        return any(has_names(item) for item in name)
    return isinstance(name, str)


def assert_nested(name: Any, parameter: str, rule: Rule) -> None:
    if isinstance(name, (list, tuple)):
        assert parameter in rule.containers, f"{rule.name} should declare that {parameter} is a container"


def collect(found: dict[str, Any], name: Any, cotangent: Any, real: bool) -> None:
    """Add a cotangent to the gradients of the arguments that it belongs to. real: whether the result is."""
    if isinstance(name, (list, tuple)):
        for item, part in zip(name, cotangent, strict=True):
            collect(found, item, part, real)
    elif isinstance(name, str):
        assert not isinstance(cotangent, (list, tuple)), "cotangents of an array are an array"
        part = np.asarray(cotangent)
        assert np.iscomplexobj(found[name]) or not (real and np.iscomplexobj(part)), "a complex cotangent of reals"
        assert part.shape == found[name].shape, f"cotangent of {part.shape} for an argument of {found[name].shape}"
        found[name] = found[name] + (part if np.iscomplexobj(found[name]) else part.real)


def tangent_of(name: Any, value: Any, directions: Mapping[str, Any]) -> Any:
    if isinstance(name, (list, tuple)):
        return type(value)(tangent_of(n, v, directions) for n, v in zip(name, value, strict=True))
    if isinstance(name, str):
        return directions[name]
    return np.zeros_like(value) if is_active(value) else value


def directions_of(values: Mapping[str, Any], seed: int = 1) -> dict[str, Any]:
    """A random tangent for each argument, a number for a number."""
    rng = np.random.default_rng(seed)
    found = {}
    for name, value in values.items():
        direction = catalog.MAKERS["complex" if np.iscomplexobj(value) else "normal"](rng, np.shape(value))
        found[name] = direction if isinstance(value, np.ndarray) else type(value)(direction)
    return found


def restructured(out: Any, leaves: Sequence[Any]) -> Any:
    """Cotangents of the leaves of a result, nested as the result is; zeros where it is no float."""
    remaining = iter(leaves)

    def build(part: Any) -> Any:
        if isinstance(part, (tuple, list)):
            items = [build(item) for item in part]
            return type(part)(*items) if hasattr(part, "_fields") else type(part)(items)
        return next(remaining) if is_active(part) else np.zeros_like(part)

    return build(out)


MODULES = (
    "numpy", "numpy.linalg", "numpy.fft", "numpy.emath", "numpy.lib.stride_tricks", "numpy.polynomial", "numpy.ndarray",
    "scipy.special", "math", "cmath", "operator", "builtins",
)  # fmt: skip


# By these parameters there is no derivative in closed form; the catalog's samples ask for them.
NO_FORMULA = {
    "scipy.special.gammainc#3", "scipy.special.gammaincc#3", "scipy.special.betainc#1", "scipy.special.betaincc#1",
    "scipy.special.zeta#0",
}  # fmt: skip


def supported_samples(tiers: Sequence[int], key: str = "samples") -> list[tuple[str, dict[str, Any]]]:
    """The samples of the catalog that are one call of a function with a rule, with the names of their entries."""
    found = []
    for entry in catalog.load():
        if entry["module"] in MODULES and entry["tier"] in tiers:
            for sample in entry.get(key, ()):
                if sample.get("id") in NO_FORMULA:
                    continue
                values = dict(zip(sample["args"], catalog.arguments(sample), strict=True))
                try:
                    with np.errstate(all="ignore"):
                        single_call(sample, values)
                except (NotSingle, TypeError, AttributeError):
                    continue
                found.append((entry["name"], sample))
    return found
