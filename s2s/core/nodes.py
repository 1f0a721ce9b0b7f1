"""Nodes of Core: building them, reading them, putting others in their place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, wraps
from operator import is_not
from typing import Any, TypeVar

import gast


@dataclass(frozen=True, slots=True)
class Origin:
    """A place in the user's source: where a statement came from.

    `text` is the statement's own text (of a compound statement the header only), on one line.
    `line` counts from 1, columns from 0, as in `ast`.
    """

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    text: str
    function: str


# --- building ---------------------------------------------------------------------------------------------------


def _node(cls: Any, **fields: Any) -> Any:
    """A node with all its fields, without the loop over them in which its class makes one."""
    new = cls.__new__(cls)
    new.__dict__.update(fields)
    return new


_CONTEXTS: dict[type, gast.expr_context] = {ctx: ctx() for ctx in (gast.Load, gast.Store, gast.Del, gast.Param)}


@lru_cache(maxsize=8192)
def name(id: str, ctx: Any = gast.Load) -> gast.Name:
    """The node of a name: the same one each time, as nodes do not change."""
    return gast.Name(id, _CONTEXTS[ctx], None, None)


def constant(value: Any) -> gast.Constant:
    return _node(gast.Constant, value=value, kind=None)


def atom(value: str | gast.expr | Any) -> gast.expr:
    """A Name from a string, a Constant from a number or None; a node stays as it is."""
    if isinstance(value, gast.AST):
        return value
    return name(value) if isinstance(value, str) else constant(value)


def path(dotted: str) -> gast.expr:
    """The read of a dotted path: `path("np.linalg.norm")`."""
    first, *rest = dotted.split(".")
    found: gast.expr = name(first)
    for part in rest:
        found = attribute(found, part)
    return found


def attribute(value: str | gast.expr, attr: str) -> gast.Attribute:
    return _node(gast.Attribute, value=atom(value), attr=attr, ctx=_CONTEXTS[gast.Load])


def call(function: str | gast.expr, *args: Any, **keywords: Any) -> gast.Call:
    """A call; a string names the function (dotted), arguments are made atoms."""
    target = path(function) if isinstance(function, str) else function
    return gast.Call(target, [atom(a) for a in args], [gast.keyword(k, atom(v)) for k, v in keywords.items()])


def binary(left: Any, op: type, right: Any) -> gast.BinOp:
    return _node(gast.BinOp, left=atom(left), op=op(), right=atom(right))


def subscript(value: Any, index: Any, ctx: type = gast.Load) -> gast.Subscript:
    return gast.Subscript(atom(value), atom(index), ctx())


def positional(names: Iterable[str]) -> gast.arguments:
    """Parameters that all take a positional argument, and have no default."""
    return gast.arguments([name(n, gast.Param) for n in names], [], None, [], [], None, [])


def assign(target: str | gast.expr, value: Any, origin: Origin | None) -> gast.Assign:
    where = name(target, gast.Store) if isinstance(target, str) else target
    return place(_node(gast.Assign, targets=[where], value=atom(value), type_comment=None), origin)


def place(stmt: Any, origin: Origin | None, comment: Sequence[str] = ()) -> Any:
    """Give a new statement its origin and comment lines; returns it."""
    stmt.origin = origin
    if comment:
        stmt.comment = tuple(comment)
    return stmt


def aside(stmt: Any) -> Any:
    """Mark a statement as the write to an attribute (or a read before it) of a value that has a name, too."""
    stmt.aside = True
    return stmt


def is_aside(stmt: Any) -> bool:
    return getattr(stmt, "aside", False)


def origin_of(stmt: gast.stmt) -> Origin | None:
    return getattr(stmt, "origin", None)


def rebuilt(node: Any, **fields: Any) -> Any:
    """A copy of a node with some fields changed; origin, comment and sweep are kept, children are shared."""
    old, cls = node.__dict__, node.__class__
    new = cls.__new__(cls)
    kept = new.__dict__
    for field_name in cls._fields:
        kept[field_name] = old[field_name] if field_name in old else None
    for note in _NOTES:
        if note in old:
            kept[note] = old[note]
    kept.update(fields)
    return new


# `aside`: of a write to an attribute, and of a read of it before: the program goes on with a name for the value.
_NOTES = ("origin", "comment", "sweep", "variables", "aside")


# --- reading ----------------------------------------------------------------------------------------------------


def parameters(params: gast.arguments) -> Iterator[gast.Name]:
    """The parameters of a function, in the order of the signature."""
    yield from params.posonlyargs
    yield from params.args
    if params.vararg:
        yield params.vararg
    yield from params.kwonlyargs
    if params.kwarg:
        yield params.kwarg


_Answer = TypeVar("_Answer")


def noted(question: Callable[[Any], _Answer]) -> Callable[[Any], _Answer]:
    """Note the answer to a question about a node on the node itself.

    Every pass asks the same of statements many times over, and nodes do not change. The answer is shared: it is not to
    be changed either.
    """
    key = f"{question.__module__}.{question.__name__}"

    @wraps(question)
    def ask(node: Any) -> _Answer:
        notes: dict[str, _Answer] = node.__dict__
        if key in notes:
            return notes[key]
        answer = notes[key] = question(node)
        return answer

    return ask


# The fields that hold the nested blocks of compound statements.
_BLOCKS: dict[type, tuple[str, ...]] = {
    gast.If: ("body", "orelse"), gast.For: ("body", "orelse"), gast.While: ("body", "orelse"), gast.With: ("body",),
    gast.Try: ("body", "orelse", "handlers", "finalbody"), gast.FunctionDef: ("body",),
}  # fmt: skip


def blocks(stmt: gast.stmt) -> list[tuple[str, list[gast.stmt]]]:
    """The nested blocks of a compound statement by field name; none for a simple one."""
    return nested_blocks(stmt) if type(stmt) in _BLOCKS else []


@noted
def nested_blocks(stmt: Any) -> list[tuple[str, list[gast.stmt]]]:
    """The nested blocks of a compound statement."""
    found: list[tuple[str, list[Any]]] = []
    for field_name in _BLOCKS[type(stmt)]:
        block = getattr(stmt, field_name)
        if field_name == "handlers":
            found.extend((f"handlers.{i}", list(h.body)) for i, h in enumerate(block))
        elif block:
            found.append((field_name, list(block)))
    return found


def reads(node: gast.AST | Sequence[gast.AST]) -> frozenset[str]:
    """The names that a node loads (also `x` of `x[i] = v`, and of `x += v`), nested blocks included."""
    if type(node) is list or type(node) is tuple:
        return frozenset().union(*[_reads(item) if isinstance(item, gast.AST) else _loaded([item]) for item in node])
    return _reads(node)


@noted
def _reads(node: gast.AST) -> frozenset[str]:
    return frozenset(_loaded([node]))


def _loaded(nodes: Iterable[Any]) -> set[str]:
    found: set[str] = set()
    stack = list(nodes)
    while stack:
        item = stack.pop()
        kind = type(item)
        if kind is gast.Name:
            if type(item.ctx) is gast.Load:
                found.add(item.id)
        elif kind is list or kind is tuple:
            stack += item
        elif kind not in LEAVES:
            if kind is gast.AugAssign and type(item.target) is gast.Name:
                found.add(item.target.id)
            if kind is gast.FunctionDef:
                found |= _loaded([*item.args.defaults, *item.args.kw_defaults, *item.body]) - own_names(item)
                continue
            fields = item.__dict__
            stack += [child for f in item._fields if f in fields and type(child := fields[f]) not in LEAVES]
    return found


# What holds no names: constants, operators, contexts, and the values of fields that are no nodes.
LEAVES = frozenset(
    {str, int, float, complex, bool, bytes, type(None), type(Ellipsis), gast.Constant}
    | {
        cls
        for base in (gast.expr_context, gast.operator, gast.unaryop, gast.boolop, gast.cmpop)
        for cls in base.__subclasses__()
    }
)


def nodes_in(tree: Any) -> list[Any]:
    """The nodes of a tree, in no order, without its leaves."""
    found: list[Any] = []
    pending = [tree]
    while pending:
        item = pending.pop()
        if type(item) is list:
            pending += item
        elif type(item) not in LEAVES:
            found.append(item)
            fields = item.__dict__
            pending += [child for f in item._fields if f in fields and type(child := fields[f]) not in LEAVES]
    return found


def own_names(closure: Any) -> set[str]:
    """The parameters and variables of a closure; those that it declares `nonlocal` are not its own.

    A variable that functions within it declare so is.
    """
    declared = {n for s in closure.body if isinstance(s, gast.Nonlocal) for n in s.names}
    return ({p.id for p in parameters(closure.args)} | {n for s in closure.body for n in all_writes(s)}) - declared


@noted
def rebound(stmt: Any) -> frozenset[str]:
    """The names that closures in a statement declare `nonlocal`: calls of these may assign them."""
    if isinstance(stmt, gast.Nonlocal):
        return frozenset(stmt.names)
    inner = stmt.body if isinstance(stmt, gast.FunctionDef) else [s for _, block in blocks(stmt) for s in block]
    return frozenset[str]().union(*map(rebound, inner))


@noted
def writes(stmt: gast.stmt) -> list[str]:
    """The names that a statement itself binds; nested blocks are not entered, a loop's target counts."""
    kind: Any = type(stmt)
    if kind is gast.Assign:
        return _target_names(stmt.targets)
    if kind is gast.AugAssign or kind is gast.For:
        return _target_names([stmt.target])
    if kind is gast.With:
        return _target_names([item.optional_vars for item in stmt.items])
    if kind is gast.Try:
        return [h.name.id for h in stmt.handlers if h.name]
    return [stmt.name] if kind is gast.FunctionDef else []


@noted
def all_writes(stmt: gast.stmt) -> list[str]:
    """The names that a statement binds, nested blocks included."""
    if type(stmt) not in _BLOCKS or isinstance(stmt, gast.FunctionDef):
        return writes(stmt)
    return [*writes(stmt), *[name for _, block in blocks(stmt) for inner in block for name in all_writes(inner)]]


def _target_names(targets: Iterable[Any]) -> list[str]:
    found: list[str] = []
    for target in targets:
        kind = type(target)
        if kind is gast.Name:
            found.append(target.id)
        elif kind is gast.Tuple or kind is gast.List:
            found += _target_names(target.elts)
        elif kind is gast.Starred:
            found += _target_names([target.value])
    return found


# --- replacing --------------------------------------------------------------------------------------------------


class Substitution:
    """Replaces loads of names by atoms, and stored names by names; builds new nodes, shares what is unchanged."""

    def __init__(self, loads: Mapping[str, gast.expr | str], stores: Mapping[str, str] | None = None) -> None:
        self.loads = loads
        self.stores = stores or {}

    def visit(self, node: Any) -> Any:
        kind = type(node)
        if kind is gast.Name:
            return self.visit_Name(node)
        if kind is gast.Attribute:
            return self.visit_Attribute(node)
        return node if kind in LEAVES else self.generic_visit(node)

    def visit_Name(self, node: gast.Name) -> gast.expr:
        if type(node.ctx) is gast.Load:
            return atom(self.loads[node.id]) if node.id in self.loads else node
        if node.id not in self.stores:
            return node
        target = self.stores[node.id]
        if node.annotation is None and node.type_comment is None:
            return name(target, node.ctx.__class__)
        return gast.Name(target, node.ctx, node.annotation, node.type_comment)

    def visit_Attribute(self, node: gast.Attribute) -> gast.expr:
        return self.generic_visit(node)

    def generic_visit(self, node: gast.AST) -> gast.AST:
        changes: dict[str, Any] = {}
        of = type(node)
        if of is gast.FunctionDef and node.name in self.stores:
            changes["name"] = self.stores[node.name]
        if of is gast.Nonlocal:
            return rebuilt(node, names=[self.stores.get(n, n) for n in node.names])
        fields = node.__dict__
        for field_name in node._fields:
            old: Any = fields[field_name] if field_name in fields else None
            kind = type(old)
            if kind is list or kind is tuple:
                new = [self.visit(v) for v in old]
                if any(map(is_not, old, new)):
                    changes[field_name] = new
            elif kind not in LEAVES:
                replaced = self.visit(old)
                if replaced is not old:
                    changes[field_name] = replaced
        return rebuilt(node, **changes) if changes else node


def substitute(node: Any, loads: Mapping[str, Any], stores: Mapping[str, str] | None = None) -> Any:
    """`node` with names replaced; see `Substitution`."""
    return Substitution(loads, stores).visit(node)
