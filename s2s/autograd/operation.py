"""How the tape calls a rule: which parameters are active, what their cotangents need, and what to save for them.

An `Operation` belongs to a function with a rule. For each set of active parameters it makes one `Plan`, and the plan is
looked up thereafter. A plan knows what its formulas *read*: the value of a parameter, only its form (shape and dtype)
or its layout in memory, or nothing; so `x + 1` saves nothing, and `x` may be overwritten after it. What is read is
found in the source text of the rule; where there is no text, everything counts as read.
"""

from __future__ import annotations

import ast
import inspect
import operator
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import CodeType, MethodDescriptorType, WrapperDescriptorType
from typing import Any

from s2s import rules
from s2s.autograd.refusals import noted
from s2s.rules.arithmetic import POWERS
from s2s.rules.missing import missing_rule
from s2s.rules.registry import registry

NOTHING, FORM, LAYOUT, WHOLE = 0, 1, 2, 3

_ATTRIBUTES = dict.fromkeys(("shape", "ndim", "dtype", "size"), FORM) | dict.fromkeys(("strides", "flags"), LAYOUT)
_CALLS = dict.fromkeys(
    ("shape", "ndim", "size", "shape_of", "len", "iscomplexobj", "isrealobj", "zeros_like", "isinstance"), FORM
) | dict.fromkeys(("plain_order", "by_stride"), LAYOUT)


@dataclass(frozen=True, slots=True)
class Plan:
    """The formulas for one set of active parameters.

    active: their positions among all parameters.
    drops: whether some of those given have a derivative of zero, and are not among them.
    pulls: for each of them the formula `(g, ans, *params)`.
    partial: for each whether its formula lacks the last step, the sum over broadcast axes.
    sums: of those that lack it, where a shape may differ, the place among the active ones and among all.
    mends: for each whether its formula is a plain product with a slope that varies, and so may not be finite.
    mends_any: whether any is.
    saves: whether a value of a differentiable parameter, or of the result, is read: then a pass frees it.
    reads: what the formulas read of each parameter; None if they read no value and no form at all.
    reads_ans: the same of the result.
    recorded: filled at the first recorded pass, see `recorded_pulls`.
    """

    active: tuple[int, ...]
    drops: bool
    pulls: tuple[Callable[..., Any], ...]
    partial: tuple[bool, ...]
    reads: tuple[int, ...] | None
    reads_ans: int
    sums: tuple[tuple[int, int], ...]
    mends: tuple[bool, ...]
    mends_any: bool
    saves: bool
    recorded: list[Callable[..., Any]]

    def recorded_pulls(self) -> list[Callable[..., Any]]:
        """The formulas over stand-ins for `math` and the like, so that they can run on Values."""
        if not self.recorded:
            self.recorded.extend(map(over_proxies, self.pulls))
        return self.recorded


def over_proxies(formula: Callable[..., Any]) -> Callable[..., Any]:
    """The function over stand-ins; the module that makes them, above this one, sets this function."""
    raise NotImplementedError


class Operation:
    """A function as the tape calls it.

    call: the function on plain data; methods and attributes are looked up on the data itself.
    names: its parameters.
    blanks: what stands for the parameters where none is read.
    tail: default values by position, for calls without keywords.
    most: how many arguments these take at most; -1 if calls must be bound by the rule.
    plans: those made so far.
    """

    def __init__(self, function: Any, rule: Any) -> None:
        self.function = function
        self.rule = rule
        self.name: str = getattr(function, "__name__", rule.name)
        self.call = caller(function)
        self.zero: bool = rule.zero
        self.decomposition = rule.decomposition
        parameters = list(rule.signature.parameters.values())
        self.names = tuple(p.name for p in parameters)
        self.blanks = [None] * len(parameters)
        self.required = sum(p.default is p.empty for p in parameters)
        positional = all(p.kind is p.POSITIONAL_OR_KEYWORD or p.kind is p.POSITIONAL_ONLY for p in parameters)
        self.tail = tuple(p.default for p in parameters)
        self.most = len(parameters) if positional and rule.decomposition is None else -1
        self.sequences = frozenset(rule.containers) | {p.name for p in parameters if p.kind is p.VAR_POSITIONAL}
        self.plans: dict[tuple[int, ...], Plan] = {}

    def plan(self, active: tuple[int, ...]) -> Plan:
        """The plan for the parameters at these positions."""
        try:
            return self.plans[active]
        except KeyError:
            return self.plans.setdefault(active, self._make(active))

    def _make(self, active: tuple[int, ...]) -> Plan:
        kept = tuple(i for i in active if self.names[i] not in self.rule.zeros)
        formulas = [self._formula(self.names[i]) for i in kept]
        reads = [max((f.reads.get(name, NOTHING) for f in formulas), default=NOTHING) for name in self.names]
        return Plan(
            kept,
            kept != active,
            tuple(f.pull for f in formulas),
            tuple(f.partial for f in formulas),
            tuple(reads) if any(reads) else None,
            max((f.reads.get("ans", NOTHING) for f in formulas), default=NOTHING),
            tuple((k, i) for k, (i, f) in enumerate(zip(kept, formulas)) if f.partial and len(self.names) > 1),
            tuple(bool(f.reads) and (f.partial or self.function in POWERS) for f in formulas),
            any(f.reads and (f.partial or self.function in POWERS) for f in formulas),
            any(f.reads.get(name, NOTHING) == WHOLE for f in formulas for name in ("ans", *self.rule.differentiable)),
            [],
        )

    def _formula(self, name: str) -> Formula:
        rule = self.rule
        everything = dict.fromkeys((*self.names, "ans"), WHOLE)
        if self.decomposition is not None:
            return Formula(rule.decomposition, everything | {"ans": NOTHING}, False)
        if name not in rule.vjps:
            raise noted(missing_rule(self.function, [name]))
        pull = rule.vjps[name]
        if name in rule.bodies:
            component = _component(rule.bodies[name], rule.partial_index[name])
            if component is None:
                return Formula(pull, everything, False)
            product, reads = component
            if rule.guarded or rule.singular or rule.choosing:
                return Formula(pull, {n: max(reads.get(n, NOTHING), FORM) for n in everything}, False)
            return Formula(product, reads, True)
        return Formula(pull, _reads(pull, everything), False)


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula, what it reads of each parameter, and whether the sum over broadcast axes is still to be done."""

    pull: Callable[..., Any]
    reads: dict[str, int]
    partial: bool


class _Operations:
    """The operations made so far, at one version of the table of rules."""

    def __init__(self) -> None:
        self.known: dict[Any, Operation] = {}
        self.version = registry.version

    def make(self, function: Any) -> Operation | None:
        """The operation of a function that is not known yet."""
        rule = rules.find(function)
        if rule is None:
            return None
        return self.known.setdefault(function, Operation(function, rule))


_operations = _Operations()


def find(function: Any) -> Operation | None:
    """The operation of a function, None if it has no rule."""
    global _operations
    if _operations.version != registry.version:
        _operations = _Operations()
    try:
        return _operations.known.get(function) or _operations.make(function)
    except TypeError:  # unhashable
        return None


def caller(function: Any) -> Callable[..., Any]:
    """The function; a method or attribute of ndarray is taken from the data itself, which may be a NumPy number."""
    if isinstance(function, (MethodDescriptorType, WrapperDescriptorType)):
        name = function.__name__

        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            return getattr(self, name)(*args, **kwargs)

        return method
    if inspect.isgetsetdescriptor(function):
        return operator.attrgetter(function.__name__)
    return function  # type: ignore[no-any-return]


# --- formulas ---------------------------------------------------------------------------------------------------


def _times(number: float) -> Callable[..., Any]:
    """The cotangent by a constant partial: of ones and minus ones no product is formed."""
    if number == 1:
        return lambda g, ans, *params: g
    if number == -1:
        return lambda g, ans, *params: -g
    return lambda g, ans, *params: g * number


def _component(body: Any, index: int | None) -> tuple[Any, dict[str, int]] | None:
    """The product `(g, ans, *params)` of g and one item of the tuple that a body returns, and what it reads.

    Only for bodies of one return statement; None for others.
    """
    tree = _tree(body)
    if (
        tree is None
        or tree.args.vararg
        or len(tree.body) != 1
        or not isinstance(tree.body[0], ast.Return)
        or body.__closure__
    ):
        return None
    value = tree.body[0].value
    if value is not None and index is not None:
        if not isinstance(value, ast.Tuple):
            return None
        value = value.elts[index]
    if value is None:
        return None
    try:
        number = ast.literal_eval(value)
    except ValueError:
        number = None
    if isinstance(number, (int, float)):
        return _times(number), {}
    reads = _uses([value])
    product = ast.BinOp(ast.Name("g", ast.Load()), ast.Mult(), value)
    arguments = tree.args
    if any(a.arg == "g" for a in (*arguments.args, *arguments.kwonlyargs)):
        return None
    arguments.args.insert(0, ast.arg("g"))
    code = compile(
        ast.fix_missing_locations(ast.Expression(ast.Lambda(arguments, product))), f"<rule {body.__name__}>", "eval"
    )
    function = eval(code, body.__globals__)
    function.__defaults__, function.__kwdefaults__ = body.__defaults__, body.__kwdefaults__
    return function, reads


def _reads(body: Any, everything: dict[str, int]) -> dict[str, int]:
    """What a body reads of each of its parameters."""
    tree = _tree(body)
    if tree is None or getattr(body, "__closure__", None):
        return everything
    uses = _uses(tree.body)
    parameters = [a.arg for a in (*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs)]
    if tree.args.vararg:
        parameters.append(tree.args.vararg.arg)
    reads = {name: uses.get(name, NOTHING) for name in parameters}
    return {name: reads.get(name, WHOLE) for name in everything}


def _tree(body: Any) -> ast.FunctionDef | None:
    try:
        text = textwrap.dedent(inspect.getsource(body))
        tree = ast.parse(text).body[0]
    except (OSError, TypeError, SyntaxError):
        return None
    if not isinstance(tree, ast.FunctionDef) or tree.args.kwarg or tree.name != body.__name__:
        return None
    if not _is_text_of(tree, body.__code__):
        return None
    first = tree.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and len(tree.body) > 1:
        tree.body = tree.body[1:]
    return tree


def _is_text_of(tree: ast.FunctionDef, code: CodeType) -> bool:
    """Whether a function's code was compiled from this text, and the file was not edited since."""
    module = compile(ast.Module([tree], []), "<rule>", "exec")
    again = next((c for c in module.co_consts if isinstance(c, CodeType) and c.co_name == code.co_name), None)
    if again is None:
        return False
    # not the instructions themselves, which depend on what the module imports
    return all(getattr(again, part) == getattr(code, part) for part in ("co_names", "co_varnames", "co_consts"))


def _uses(nodes: Iterable[ast.AST]) -> dict[str, int]:
    """How names are used: WHOLE, FORM where only shape and dtype are asked for, LAYOUT where strides are too."""
    found: dict[str, int] = {}

    def note(name: str, use: int) -> None:
        found[name] = max(found.get(name, NOTHING), use)

    def walk(node: ast.AST) -> None:
        if isinstance(node, ast.Name):
            note(node.id, WHOLE)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr in _ATTRIBUTES:
            note(node.value.id, _ATTRIBUTES[node.attr])
        elif isinstance(node, ast.Call) and _called(node.func) in _CALLS:
            for argument in node.args:
                if isinstance(argument, ast.Name):
                    note(argument.id, _CALLS[_called(node.func)])
                else:
                    walk(argument)
            for keyword in node.keywords:
                walk(keyword.value)
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Is, ast.IsNot)):
            for part in (node.left, *node.comparators):
                if isinstance(part, ast.Name):
                    note(part.id, FORM)
                else:
                    walk(part)
        else:
            for child in ast.iter_child_nodes(node):
                walk(child)

    for node in nodes:
        walk(node)
    return found


def _called(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
