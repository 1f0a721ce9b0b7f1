"""Core Python: the small language on which every pass works, and a function in it.

A Core function is ordinary Python in `gast` nodes, restricted so that a pass has few cases to consider. It can be
printed, read and executed at every stage.

**Expressions.** An *atom* is a `Name` or a `Constant`. A *path* is a dotted read of names that are not local
(`np.linalg.norm`, `math.pi`, `settings.rate`). A Core expression is an atom, a path, or one operation on atoms:

- `Call`: the function is an atom, a path, or an attribute of an atom (a method: `x.sum(axis=0)`); arguments
  are atoms, `Starred` atoms, keyword atoms and `**` atoms
- `BinOp`, `UnaryOp`, `Compare` with one operator
- `Subscript` of an atom; the index is an atom, a `Slice` of atoms, or a `Tuple` of these
- `Attribute` of an atom
- `Tuple`, `List`, `Set`, `Dict` displays of atoms (with `Starred` atoms, `**` atoms)
- `JoinedStr` of constants and `FormattedValue`s of atoms

**Statements.**

- `Assign` of an expression to one target: a `Name`, a flat `Tuple` of `Name`s, a `Subscript` or an `Attribute` of
  atoms; the value is an atom where the target is no `Name`, but for unpacking, which takes any expression
- `AugAssign`: the target as above (but no tuple), the value an atom: the in-place operation
- `If` on an atom, or on `not` of one; `For` over an atom, with a `Name` as target; `While` on an atom or on one
  operation on atoms; no `orelse` on loops
- `With` over atoms, with `Name` targets; `Try`; `Delete` of one target; `Assert` and `Raise` of atoms
- `Expr` of one expression (for its effect); `Pass` only where a block would be empty
- `FunctionDef`, a closure whose body is Core (kept for later, as `Try` is: `versions` refuses both)
- one exit from a loop: `if done: break`, only as the last statement of the loop's body, `done` an atom
- one `Return`, last, of an atom (or of a display of atoms)

A statement carries `origin` (see `Origin`), and may carry `comment`, a tuple of lines written above it, and `sweep`,
which is "reverse" for statements that differentiation made for the reverse sweep.
Nodes are immutable by convention and shared between functions: a pass builds new nodes for what it changes.

**Names.** Ours hold a middle dot, which no user's name does: `x·2` is the second version of `x`,
`cond··3` the third temporary, which holds a condition. The last pass gives them plain names.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, wraps
from types import CellType
from typing import Any, TypeVar

import gast

from s2s.errors import S2SError
from s2s.kinds import Kind


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"


MISSING: Any = _Missing()


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


@dataclass(frozen=True)
class Scope:
    """What the free names of a function mean.

    `globals` and `cells` are the user's own, live. `names` are bound by us around the generated function: runtime
    helpers, rules, defaults that are no literals. `names` shadow nothing: a fresh name is chosen by `bind`.
    """

    globals: Mapping[str, Any]
    cells: Mapping[str, CellType] = field(default_factory=dict)
    names: Mapping[str, Any] = field(default_factory=dict)

    def lookup(self, name: str) -> Any:
        """The object that a free name refers to now, or MISSING."""
        if name in self.names:
            return self.names[name]
        if name in self.cells:
            try:
                return self.cells[name].cell_contents
            except ValueError:
                return MISSING
        if name in self.globals:
            return self.globals[name]
        return getattr(builtins, name, MISSING)

    def bind(self, hint: str, value: Any, taken: Iterable[str] = ()) -> tuple[Scope, str]:
        """A scope in which a name means `value`, and that name: an existing one, or `hint`, made unique."""
        for name, held in self.names.items():
            if held is value:
                return self, name
        if self.lookup(hint) is value and hint not in taken:
            return self, hint
        name = unique(hint, lambda n: n in taken or self.lookup(n) is not MISSING)
        return replace(self, names={**self.names, name: value}), name


@dataclass(frozen=True)
class Facts:
    """What passes have found out, by name (each name has one meaning after the `versions` pass).

    kinds: what is known of the value.
    leaves: names that hold an item of a container argument: the argument and the item's path in it.
    twins: a name whose derivative is that of another one, which computes the same (a decomposition).
    shapes: the name whose array has the same shape, for arrays known to share theirs (a canonical one).
    parts: of a canonical name whose shape is the broadcast of others: the canonical names of those.
    within: of a canonical name whose shape is that of a reduction that keeps its axes: the shape that was reduced.
    active: names whose derivative is wanted.
    fresh: parameters whose cotangent the reverse sweep makes anew, so that nobody else holds it.
    """

    kinds: Mapping[str, Kind] = field(default_factory=dict)
    shapes: Mapping[str, str] = field(default_factory=dict)
    parts: Mapping[str, frozenset[str]] = field(default_factory=dict)
    within: Mapping[str, str] = field(default_factory=dict)
    active: frozenset[str] = frozenset()
    twins: Mapping[str, str] = field(default_factory=dict)
    leaves: Mapping[str, tuple[str, tuple[Any, ...]]] = field(default_factory=dict)
    fresh: frozenset[str] = frozenset()

    def without_shapes_of(self, names: Collection[str]) -> Facts:
        """The facts without what they say of shapes in terms of some names, as these have more than one."""
        shapes = {n: shape for n, shape in self.shapes.items() if n not in names and shape not in names}
        parts = {n: p for n, p in self.parts.items() if n not in names and p.isdisjoint(names)}
        within = {n: whole for n, whole in self.within.items() if n not in names and whole not in names}
        return replace(self, shapes=shapes, parts=parts, within=within)


@dataclass(frozen=True)
class Function:
    """A function in Core Python: what every pass takes and gives."""

    name: str
    params: gast.arguments
    body: tuple[gast.stmt, ...]
    scope: Scope
    origin: Origin
    doc: str | None = None
    facts: Facts = Facts()

    def with_body(self, body: Iterable[gast.stmt]) -> Function:
        return replace(self, body=tuple(body))

    def with_facts(self, **changes: Any) -> Function:
        return replace(self, facts=replace(self.facts, **changes))

    @property
    def param_names(self) -> list[str]:
        return [p.id for p in parameters(self.params)]

    def local_names(self) -> set[str]:
        return set(self._local_names)

    @cached_property
    def _local_names(self) -> frozenset[str]:
        return frozenset(self.param_names).union(*map(all_writes, self.body))


# --- names ------------------------------------------------------------------------------------------------------


def version(name: str, number: int) -> str:
    """Version `number` of a name; version 1 is the name itself."""
    return name if number == 1 else f"{name}·{number}"


def temporary(hint: str, number: int) -> str:
    """A temporary: `temporary("cond", 3)` is `cond··3`."""
    return f"{hint}··{number}"


def is_temporary(name: str) -> bool:
    return "··" in name


def variable(name: str) -> str:
    """The name without its version: what the user (or the lowering, for a temporary) called it."""
    head, mark, number = name.partition("··")
    return head + mark + number.split("·", 1)[0] if mark else stem(name)


def stem(name: str) -> str:
    """The part of a name that a reader sees: `x` of `x·2`, `cond` of `cond··3`."""
    return name.split("·", 1)[0]


def derived(name: str, suffix: str) -> str:
    """`x·2` with suffix `_bar` is `x_bar·2`; `cond··3` is `cond_bar··3`."""
    head = stem(name)
    return head + suffix + name[len(head) :]


def unique(hint: str, taken: Callable[[str], bool], numbers: dict[str, int] | None = None) -> str:
    """`hint`, or `hint2`, `hint3`, ...: the first for which `taken` (a predicate) is false.

    numbers: the last number that each hint was given, where many names are made and none becomes free again.
    """
    numbers = {} if numbers is None else numbers
    number = numbers.get(hint, 1)
    while taken(name := hint if number == 1 else f"{hint}{number}"):
        number += 1
    numbers[hint] = number
    return name


# --- building nodes ---------------------------------------------------------------------------------------------


_CONTEXTS: dict[type, gast.expr_context] = {ctx: ctx() for ctx in (gast.Load, gast.Store, gast.Del, gast.Param)}


def name(id: str, ctx: type = gast.Load) -> gast.Name:
    return gast.Name(id, _CONTEXTS[ctx], None, None)


def constant(value: Any) -> gast.Constant:
    return gast.Constant(value, None)


def atom(value: str | gast.expr | Any) -> gast.expr:
    """A Name from a string, a Constant from a number or None; a node stays as it is."""
    if isinstance(value, gast.AST):
        return value
    return name(value) if isinstance(value, str) else constant(value)


def path(dotted: str) -> gast.expr:
    """The read of a dotted path: `path("np.linalg.norm")`."""
    first, *rest = dotted.split(".")
    node: gast.expr = name(first)
    for part in rest:
        node = gast.Attribute(node, part, gast.Load())
    return node


def attribute(value: str | gast.expr, attr: str) -> gast.Attribute:
    return gast.Attribute(atom(value), attr, gast.Load())


def call(function: str | gast.expr, *args: Any, **keywords: Any) -> gast.Call:
    """A call; a string names the function (dotted), arguments are made atoms."""
    target = path(function) if isinstance(function, str) else function
    return gast.Call(target, [atom(a) for a in args], [gast.keyword(k, atom(v)) for k, v in keywords.items()])


def binary(left: Any, op: type, right: Any) -> gast.BinOp:
    return gast.BinOp(atom(left), op(), atom(right))


def subscript(value: Any, index: Any, ctx: type = gast.Load) -> gast.Subscript:
    return gast.Subscript(atom(value), atom(index), ctx())


def assign(target: str | gast.expr, value: Any, origin: Origin | None) -> gast.Assign:
    where = name(target, gast.Store) if isinstance(target, str) else target
    return place(gast.Assign([where], atom(value), None), origin)


def place(stmt: Any, origin: Origin | None, comment: Sequence[str] = ()) -> Any:
    """Give a new statement its origin and comment lines; returns it."""
    stmt.origin = origin
    if comment:
        stmt.comment = tuple(comment)
    return stmt


def origin_of(stmt: gast.stmt) -> Origin | None:
    return getattr(stmt, "origin", None)


def rebuilt(node: Any, **fields: Any) -> Any:
    """A copy of a node with some fields changed; origin, comment and sweep are kept, children are shared."""
    old = vars(node)
    new = type(node)()
    vars(new).update({f: old.get(f) for f in node._fields}, **fields)
    vars(new).update({f: old[f] for f in _NOTES if f in old})
    return new


_NOTES = ("origin", "comment", "sweep")


# --- reading nodes ----------------------------------------------------------------------------------------------


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
        try:
            return notes[key]
        except KeyError:
            answer = notes[key] = question(node)
            return answer

    return ask


@noted
def blocks(stmt: gast.stmt) -> list[tuple[str, list[gast.stmt]]]:
    """The nested blocks of a compound statement by field name; none for a simple one."""
    found: list[tuple[str, list[Any]]] = []
    for field_name in ("body", "orelse", "handlers", "finalbody"):
        block = getattr(stmt, field_name, None)
        if not isinstance(block, (list, tuple)) or not block:
            continue
        if field_name == "handlers":
            found.extend((f"handlers.{i}", list(h.body)) for i, h in enumerate(block))
        else:
            found.append((field_name, list(block)))
    return found


def reads(node: gast.AST | Sequence[gast.AST]) -> set[str]:
    """The names that a node loads (also `x` of `x[i] = v`, and of `x += v`), nested blocks included."""
    if isinstance(node, gast.AST):
        return set(_reads(node))
    return set().union(*(_reads(item) if isinstance(item, gast.AST) else _loaded([item]) for item in node))


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
            stack.extend(item)
        elif kind not in LEAVES:
            if kind is gast.AugAssign and type(item.target) is gast.Name:
                found.add(item.target.id)
            fields = item.__dict__
            stack.extend([fields[f] for f in item._fields if f in fields])
    return found


# What holds no names: constants, operators, contexts, and the values of fields that are no nodes.
LEAVES = frozenset(
    {str, int, float, complex, bool, bytes, type(None), type(Ellipsis), gast.Constant}
    | {cls for base in (gast.expr_context, gast.operator, gast.unaryop, gast.cmpop) for cls in base.__subclasses__()}
)


@noted
def writes(stmt: gast.stmt) -> list[str]:
    """The names that a statement itself binds; nested blocks are not entered, a loop's target counts."""
    if isinstance(stmt, gast.Assign):
        return [n for target in stmt.targets for n in _target_names(target)]
    if isinstance(stmt, gast.AugAssign):
        return list(_target_names(stmt.target))
    if isinstance(stmt, gast.For):
        return list(_target_names(stmt.target))
    if isinstance(stmt, gast.With):
        return [n for item in stmt.items if item.optional_vars for n in _target_names(item.optional_vars)]
    if isinstance(stmt, gast.Try):
        return [h.name.id for h in stmt.handlers if h.name]
    if isinstance(stmt, gast.FunctionDef):
        return [stmt.name]
    return []


@noted
def all_writes(stmt: gast.stmt) -> list[str]:
    """The names that a statement binds, nested blocks included."""
    if isinstance(stmt, gast.FunctionDef) or not blocks(stmt):
        return writes(stmt)
    return [*writes(stmt), *(name for _, block in blocks(stmt) for inner in block for name in all_writes(inner))]


def _target_names(target: gast.expr) -> Iterator[str]:
    if isinstance(target, gast.Name):
        yield target.id
    elif isinstance(target, (gast.Tuple, gast.List)):
        for element in target.elts:
            yield from _target_names(element)
    elif isinstance(target, gast.Starred):
        yield from _target_names(target.value)


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
        if isinstance(node.ctx, gast.Load):
            new = self.loads.get(node.id)
            return node if new is None else atom(new)
        target = self.stores.get(node.id)
        return node if target is None else gast.Name(target, node.ctx, node.annotation, node.type_comment)

    def visit_Attribute(self, node: gast.Attribute) -> gast.expr:
        return self.generic_visit(node)

    def generic_visit(self, node: gast.AST) -> gast.AST:
        changes: dict[str, Any] = {}
        for field_name in node._fields:
            old = getattr(node, field_name, None)
            if isinstance(old, (list, tuple)):
                new = [self.visit(v) for v in old]
                if any(a is not b for a, b in zip(old, new)):
                    changes[field_name] = new
            elif type(old) not in LEAVES:
                replaced = self.visit(old)
                if replaced is not old:
                    changes[field_name] = replaced
        return rebuilt(node, **changes) if changes else node


def substitute(node: Any, loads: Mapping[str, Any], stores: Mapping[str, str] | None = None) -> Any:
    """`node` with names replaced; see `Substitution`."""
    return Substitution(loads, stores).visit(node)


# --- the grammar ------------------------------------------------------------------------------------------------


class CoreError(S2SError):
    """A function is not in Core Python: a fault of ours, found by `check`."""


def is_atom(node: Any) -> bool:
    return isinstance(node, (gast.Name, gast.Constant))


def is_path(node: Any, local: set[str]) -> bool:
    while isinstance(node, gast.Attribute):
        node = node.value
    return isinstance(node, gast.Name) and node.id not in local


class _Checker:
    def __init__(self, function: Function) -> None:
        self.local = function.local_names()
        self.function = function

    def fail(self, what: str, node: Any) -> None:
        raise CoreError(f"not Core Python: {what}: {gast.dump(node)[:300]}", origin=self.function.origin)

    def need(self, condition: bool, what: str, node: Any) -> None:
        if not condition:
            self.fail(what, node)

    def atoms(self, nodes: Iterable[Any], owner: Any) -> None:
        for node in nodes:
            inner = node.value if isinstance(node, gast.Starred) else node
            self.need(is_atom(inner), "operand is no atom", owner)

    def expression(self, node: Any) -> None:
        if is_atom(node) or is_path(node, self.local):
            return
        method = getattr(self, f"expression_{type(node).__name__}", None)
        if method is None:
            self.fail("unknown expression", node)
        else:
            method(node)

    def expression_Call(self, node: Any) -> None:
        callee = node.func
        fine = is_atom(callee) or is_path(callee, self.local)
        fine = fine or (isinstance(callee, gast.Attribute) and is_atom(callee.value))
        self.need(fine, "callee", node)
        self.atoms(node.args, node)
        self.atoms((k.value for k in node.keywords), node)

    def expression_BinOp(self, node: Any) -> None:
        self.atoms([node.left, node.right], node)

    def expression_UnaryOp(self, node: Any) -> None:
        self.atoms([node.operand], node)

    def expression_Compare(self, node: Any) -> None:
        self.need(len(node.ops) == 1, "chained comparison", node)
        self.atoms([node.left, *node.comparators], node)

    def expression_Attribute(self, node: Any) -> None:
        self.atoms([node.value], node)

    def expression_Subscript(self, node: Any) -> None:
        self.atoms([node.value], node)
        self.index(node.slice)

    def index(self, node: Any) -> None:
        if isinstance(node, gast.Tuple):
            for element in node.elts:
                self.need(not isinstance(element, gast.Tuple), "nested tuple as index", node)
                self.index(element)
        elif isinstance(node, gast.Slice):
            self.atoms([part for part in (node.lower, node.upper, node.step) if part is not None], node)
        else:
            self.atoms([node], node)

    def _display(self, node: Any) -> None:
        self.atoms(node.elts, node)

    expression_Tuple = expression_List = expression_Set = _display

    def expression_Dict(self, node: Any) -> None:
        self.atoms([k for k in node.keys if k is not None], node)
        self.atoms(node.values, node)

    def expression_JoinedStr(self, node: Any) -> None:
        for part in node.values:
            if isinstance(part, gast.FormattedValue):
                self.atoms([part.value], node)
                if part.format_spec is not None:
                    self.expression(part.format_spec)
            else:
                self.need(isinstance(part, gast.Constant), "part of an f-string", node)

    def target(self, node: Any) -> None:
        if isinstance(node, gast.Name):
            return
        if isinstance(node, (gast.Subscript, gast.Attribute)):
            self.atoms([node.value], node)
            if isinstance(node, gast.Subscript):
                self.index(node.slice)
        else:
            self.fail("target", node)

    def block(self, body: Sequence[Any], *, loop: bool = False) -> None:
        self.need(len(body) > 0, "empty block", self.function.params)
        for position, stmt in enumerate(body):
            last = position == len(body) - 1
            if loop and last and is_exit(stmt):
                self.atoms([stmt.test], stmt)
                continue
            self.statement(stmt)

    def statement(self, stmt: Any) -> None:
        self.need(hasattr(stmt, "origin"), "no origin", stmt)
        method = getattr(self, f"statement_{type(stmt).__name__}", None)
        if method is None:
            self.fail("unknown statement", stmt)
        else:
            method(stmt)

    def statement_Assign(self, stmt: Any) -> None:
        self.need(len(stmt.targets) == 1, "several targets", stmt)
        (target,) = stmt.targets
        if isinstance(target, gast.Tuple):
            for element in target.elts:
                inner = element.value if isinstance(element, gast.Starred) else element
                self.need(isinstance(inner, gast.Name), "nested target", stmt)
        else:
            self.target(target)
            if not isinstance(target, gast.Name):
                self.atoms([stmt.value], stmt)
        self.expression(stmt.value)

    def statement_AugAssign(self, stmt: Any) -> None:
        self.target(stmt.target)
        self.atoms([stmt.value], stmt)

    def statement_If(self, stmt: Any) -> None:
        negated = isinstance(stmt.test, gast.UnaryOp) and isinstance(stmt.test.op, gast.Not)
        self.atoms([stmt.test.operand if negated else stmt.test], stmt)
        self.block(stmt.body)
        if stmt.orelse:
            self.block(stmt.orelse)

    def statement_For(self, stmt: Any) -> None:
        self.need(isinstance(stmt.target, gast.Name), "loop target", stmt)
        self.atoms([stmt.iter], stmt)
        self.need(not stmt.orelse, "else on a loop", stmt)
        self.block(stmt.body, loop=True)

    def statement_While(self, stmt: Any) -> None:
        self.expression(stmt.test)
        self.need(not stmt.orelse, "else on a loop", stmt)
        self.block(stmt.body, loop=True)

    def statement_With(self, stmt: Any) -> None:
        for item in stmt.items:
            self.atoms([item.context_expr], stmt)
            if item.optional_vars is not None:
                self.need(isinstance(item.optional_vars, gast.Name), "target of with", stmt)
        self.block(stmt.body)

    def statement_Try(self, stmt: Any) -> None:
        self.block(stmt.body)
        for handler in stmt.handlers:
            if handler.type is not None:
                self.need(is_atom(handler.type) or is_path(handler.type, self.local), "exception type", stmt)
            self.block(handler.body)
        for body in (stmt.orelse, stmt.finalbody):
            if body:
                self.block(body)

    def statement_Delete(self, stmt: Any) -> None:
        self.need(len(stmt.targets) == 1, "several targets", stmt)
        self.target(stmt.targets[0])

    def statement_Assert(self, stmt: Any) -> None:
        self.atoms([n for n in (stmt.test, stmt.msg) if n is not None], stmt)

    def statement_Raise(self, stmt: Any) -> None:
        self.atoms([n for n in (stmt.exc, stmt.cause) if n is not None], stmt)

    def statement_Expr(self, stmt: Any) -> None:
        self.expression(stmt.value)

    def statement_Pass(self, stmt: Any) -> None:
        pass

    def statement_FunctionDef(self, stmt: Any) -> None:
        *body, last = stmt.body
        self.need(isinstance(last, gast.Return), "closure without a final return", stmt)
        inner = _Checker.__new__(_Checker)
        inner.function = self.function
        inner.local = {p.id for p in parameters(stmt.args)} | {n for s in stmt.body for n in all_writes(s)}
        if body:
            inner.block(body)
        inner.atoms([last.value], last)


def is_exit(stmt: Any) -> bool:
    """Whether a statement is `if done: break`."""
    return (
        isinstance(stmt, gast.If) and len(stmt.body) == 1 and isinstance(stmt.body[0], gast.Break) and not stmt.orelse
    )


def check(function: Function) -> Function:
    """Verify the grammar; returns the function. Raises CoreError, naming what is wrong."""
    checker = _Checker(function)
    *body, last = function.body
    checker.need(isinstance(last, gast.Return) and last.value is not None, "no final return", last)
    if body:
        checker.block(body)
    if isinstance(last.value, gast.Tuple):
        checker.atoms(last.value.elts, last)
    else:
        checker.atoms([last.value], last)
    return function
