"""Single assignment: every assignment of a variable gets a name of its own.

Where versions of a variable meet, the meeting name is assigned by copies: at the end of both branches of an `if`,
before a loop, and at the end of the loop's body. Only variables that are read later get a meeting name (pruned form).
With it every later pass may take a name for a value: what is defined outside loops never changes.

A variable may have no value yet where its versions meet: it is assigned in one branch, or first in a loop's body. A
copy of a name that is not bound would raise where the program does not. So all such meetings of a variable share one
name, which need not be copied to itself; where the program reads the variable, that name is copied to a version
first. A variable that must be bound all the same (`Task.absent`) holds `absent` until it is assigned; where the program
reads it, `require_assigned` raises what Python would.

The construction follows the structure of the program instead of dominance frontiers, which structured code does not
need: Brandis and Mossenbock, "Single-pass generation of static single-assignment form for structured languages"
(TOPLAS 1994).
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Iterable, Sequence, Set
from dataclasses import replace
from typing import Any

import gast

from s2s import core
from s2s.core import Function, Scope
from s2s.errors import NotCompiled
from s2s.runtime.absent import absent, require_assigned
from s2s.transforms.bound import absent_reads, unbinding
from s2s.transforms.structure import uses
from s2s.transforms.task import Task

INPLACE = {
    gast.Add: operator.iadd, gast.Sub: operator.isub, gast.Mult: operator.imul, gast.Div: operator.itruediv,
    gast.FloorDiv: operator.ifloordiv, gast.Mod: operator.imod, gast.Pow: operator.ipow, gast.MatMult: operator.imatmul,
    gast.BitAnd: operator.iand, gast.BitOr: operator.ior, gast.BitXor: operator.ixor, gast.LShift: operator.ilshift,
    gast.RShift: operator.irshift,
}  # fmt: skip

Env = dict[str, str]


def versions(fn: Function, task: Task) -> Function:
    """`fn` with a name for each assignment."""
    return _Versions(fn, task).run()


class _Versions:
    def __init__(self, fn: Function, task: Task) -> None:
        self.fn = fn = with_absent(fn, task.absent)
        self.local = fn.local_names()
        self.scope: Scope = fn.scope
        self.asked: dict[int, list[str]] = {}  # by statement, the variables that it reads and that may be absent
        absent = {name for _, name in unbinding(fn)}
        for stmt, name in absent_reads(fn) if absent else ():
            if name in absent:
                self.asked.setdefault(id(stmt), []).append(name)
        self.count: Counter[str] = Counter()
        self.summaries: dict[int, tuple[set[str], set[str]]] = {}
        self.unsure: dict[str, str] = {}  # by variable, the meeting name that may be unbound
        self.deleted: set[str] = set()
        numbers = (int(name.split("··")[1].split("·")[0]) for name in self.local if core.is_temporary(name))
        self.held = max(numbers, default=0)  # temporaries are numbered on

    def run(self) -> Function:
        env = {name: self.fresh(name) for name in self.fn.param_names}
        *body, last = self.fn.body
        new = self.block(body, env, self.local & core.reads(last))
        new.extend(self.settled(last, env))
        new.append(self.load(last, env))
        return Function(
            self.fn.name, self.fn.params, tuple(new), self.scope, self.fn.origin, self.fn.doc, self.fn.facts
        )

    def fresh(self, variable: str) -> str:
        base = variable if core.is_temporary(variable) else core.stem(variable)
        self.count[base] += 1
        return core.version(base, self.count[base])

    # --- meeting names ---

    def meeting(self, variable: str, ends: Sequence[str | None]) -> str:
        """The name at which some versions of a variable meet; None is the version of what is not assigned yet."""
        if None not in ends and self.unsure.get(variable) not in ends:
            return self.fresh(variable)
        if variable in self.deleted:
            raise NotCompiled(f"`{core.stem(variable)}` is deleted, and may be assigned or not", origin=self.fn.origin)
        if variable not in self.unsure:
            self.unsure[variable] = self.fresh(variable)
        return self.unsure[variable]

    def settled(self, stmt: Any, env: Env) -> list[Any]:
        """Copies of the names that may be unbound and that a statement itself reads, to versions of their own.

        In the order of the reads: the first that is unbound raises.
        """
        copies = []
        read = _header_reads(stmt)
        for variable in dict.fromkeys([*uses(stmt), *sorted(read)]):
            if variable in self.asked.get(id(stmt), ()):
                self.scope, name = self.scope.bind("require_assigned", require_assigned, self.local)
                check = gast.Expr(core.call(name, env[variable], core.constant(core.stem(variable))))
                copies.append(core.place(check, core.origin_of(stmt)))
            elif variable in read and env.get(variable, "") == self.unsure.get(variable):
                env[variable] = self.fresh(variable)
                copies.append(core.assign(env[variable], self.unsure[variable], core.origin_of(stmt)))
        return copies

    def block(self, stmts: Sequence[Any], env: Env, live_out: set[str]) -> list[Any]:
        """The renamed statements; `env` ends as the versions at the end of the block."""
        live, lives = set(live_out), []
        for stmt in reversed(stmts):
            lives.append(live)
            exposed, killed = self.summary(stmt)
            live = exposed | (live - killed)
        new: list[Any] = []
        for stmt, live_after in zip(stmts, reversed(lives)):
            visit = getattr(self, f"visit_{type(stmt).__name__}", None)
            if visit is None:
                raise NotCompiled(f"`{_word(stmt)}` is not compiled yet", origin=core.origin_of(stmt))
            new.extend(self.settled(stmt, env))
            new.extend(visit(stmt, env, live_after))
        return new

    # --- what a statement exposes and kills (the two sets of live-variable analysis) ---

    def summary(self, stmt: Any) -> tuple[set[str], set[str]]:
        found = self.summaries.get(id(stmt))
        if found is None:
            found = self.summaries[id(stmt)] = self._summary(stmt)
        return found

    def _summary(self, stmt: Any) -> tuple[set[str], set[str]]:
        if isinstance(stmt, gast.If):
            then, other = self.block_summary(stmt.body), self.block_summary(stmt.orelse)
            return self.local & core.reads(stmt.test) | then[0] | other[0], then[1] & other[1]
        if isinstance(stmt, (gast.For, gast.While)):
            exposed, _ = self.block_summary(stmt.body)
            if isinstance(stmt, gast.For):
                return (exposed - {stmt.target.id}) | (self.local & core.reads(stmt.iter)), set()
            return exposed | (self.local & core.reads(stmt.test)), set()
        if isinstance(stmt, gast.With):
            exposed, killed = self.block_summary(stmt.body)
            names = set(core.writes(stmt))
            return (exposed - names) | (self.local & core.reads([i.context_expr for i in stmt.items])), killed | names
        deleted = _deleted(stmt)
        return self.local & (core.reads(stmt) | deleted), deleted.union(core.writes(stmt))

    def block_summary(self, stmts: Sequence[Any]) -> tuple[set[str], set[str]]:
        exposed: set[str] = set()
        killed: set[str] = set()
        for stmt in stmts:
            reads, writes = self.summary(stmt)
            exposed |= reads - killed
            killed |= writes
        return exposed, killed

    # --- statements ---

    def load(self, node: Any, env: Env) -> Any:
        for name in core.reads(node) & self.local:
            if name not in env:
                where = self.fn.origin
                raise NotCompiled(f"`{core.stem(name)}` may be read before it is assigned", origin=where)
        return core.substitute(node, env)

    def store(self, target: Any, env: Env) -> Any:
        if isinstance(target, gast.Name):
            env[target.id] = self.fresh(target.id)
            return core.name(env[target.id], gast.Store)
        if isinstance(target, gast.Starred):
            return core.rebuilt(target, value=self.store(target.value, env))
        return core.rebuilt(target, elts=[self.store(e, env) for e in target.elts])

    def visit_Assign(self, stmt: Any, env: Env, live: set[str]) -> list[Any]:
        (target,) = stmt.targets
        value = self.load(stmt.value, env)
        before: list[Any] = []
        if isinstance(target, gast.Tuple) and not (core.is_atom(value) or isinstance(value, (gast.Tuple, gast.List))):
            # What is taken apart has a name, whose derivative the parts add up to.
            self.held += 1
            before.append(core.assign(core.temporary("items", self.held), value, core.origin_of(stmt)))
            value = core.name(core.temporary("items", self.held))
        if isinstance(target, (gast.Name, gast.Tuple)):
            return [*before, core.rebuilt(stmt, targets=[self.store(target, env)], value=value)]
        return [core.rebuilt(stmt, targets=[self.load(target, env)], value=value)]

    def visit_AugAssign(self, stmt: Any, env: Env, live: set[str]) -> list[Any]:
        """`x += v` on a name becomes `x·2 = iadd(x, v)`: whether that rebinds or mutates, kinds decide."""
        value = self.load(stmt.value, env)
        if not isinstance(stmt.target, gast.Name):
            return [core.rebuilt(stmt, target=self.load(stmt.target, env), value=value)]
        function = INPLACE[type(stmt.op)]
        self.scope, name = self.scope.bind(function.__name__, function, self.local)
        old = self.load(core.name(stmt.target.id), env)
        new = self.store(stmt.target, env)
        return [core.place(gast.Assign([new], core.call(name, old, value), None), core.origin_of(stmt))]

    def visit_If(self, stmt: Any, env: Env, live: set[str]) -> list[Any]:
        test = self.load(stmt.test, env)
        then_env, else_env = dict(env), dict(env)
        then = self.block(stmt.body, then_env, live)
        other = self.block(stmt.orelse, else_env, live)
        origin = core.origin_of(stmt)
        for variable in self._assigned(stmt):
            ends = then_env.get(variable), else_env.get(variable)
            if ends[0] == ends[1]:
                continue
            env.pop(variable, None)
            if variable in live:
                env[variable] = self.meeting(variable, ends)
                for block, end in ((then, ends[0]), (other, ends[1])):
                    if end not in (None, env[variable]):
                        block.append(core.assign(env[variable], end, origin))
        if not then:
            then = [core.place(gast.Pass(), origin)]
        return [core.rebuilt(stmt, test=test, body=then, orelse=other)]

    def _assigned(self, stmt: Any) -> list[str]:
        return list(dict.fromkeys([*core.all_writes(stmt), *sorted(_deleted(stmt))]))

    def visit_For(self, stmt: Any, env: Env, live: set[str]) -> list[Any]:
        iterated = self.load(stmt.iter, env)
        exposed, _ = self.block_summary(stmt.body)
        before, headers = self._enter(stmt, env, live | (exposed - {stmt.target.id}))
        inner = dict(env)
        target = self.store(stmt.target, inner)
        body = self._body(stmt, inner, live | exposed, headers)
        return [*before, core.rebuilt(stmt, target=target, iter=iterated, body=body)]

    def visit_While(self, stmt: Any, env: Env, live: set[str]) -> list[Any]:
        exposed, _ = self.summary(stmt)
        before, headers = self._enter(stmt, env, live | exposed)
        for variable in core.reads(stmt.test) & self.unsure.keys():
            if env.get(variable) == self.unsure[variable]:
                raise NotCompiled(
                    f"`{core.stem(variable)}` may be read before it is assigned", origin=core.origin_of(stmt)
                )
        test = self.load(stmt.test, env)
        body = self._body(stmt, dict(env), live | exposed, headers)
        return [*before, core.rebuilt(stmt, test=test, body=body)]

    def _enter(self, stmt: Any, env: Env, live: set[str]) -> tuple[list[Any], dict[str, str]]:
        """Copies before the loop, and the meeting names of the variables that it carries round."""
        before, headers = [], {}
        for variable in self._assigned(stmt):
            old = env.pop(variable, None)
            if variable in live:
                headers[variable] = self.meeting(variable, [old])
                if old not in (None, headers[variable]):
                    before.append(core.assign(headers[variable], old, core.origin_of(stmt)))
                env[variable] = headers[variable]
        return before, headers

    def _body(self, stmt: Any, env: Env, live: set[str], headers: dict[str, str]) -> list[Any]:
        *rest, last = stmt.body
        leave = [last] if core.is_exit(last) else []
        live = live | (core.reads(leave) & self.local)
        body = self.block(rest if leave else stmt.body, env, live | set(headers))
        for variable, header in headers.items():
            if variable not in env:
                raise NotCompiled(
                    f"`{core.stem(variable)}` is deleted in a loop that reads it", origin=core.origin_of(stmt)
                )
            if env[variable] != header:
                body.append(core.assign(header, env[variable], core.origin_of(stmt)))
        for test in leave:
            body.append(core.rebuilt(test, test=core.substitute(test.test, {**env, **headers})))
        return body or [core.place(gast.Pass(), core.origin_of(stmt))]

    def visit_With(self, stmt: Any, env: Env, live: set[str]) -> list[Any]:
        items = []
        for item in stmt.items:
            context = self.load(item.context_expr, env)
            target = self.store(item.optional_vars, env) if item.optional_vars is not None else None
            items.append(core.rebuilt(item, context_expr=context, optional_vars=target))
        body = self.block(stmt.body, env, live) or [core.place(gast.Pass(), core.origin_of(stmt))]
        return [core.rebuilt(stmt, items=items, body=body)]

    def visit_Delete(self, stmt: Any, env: Env, live: set[str]) -> list[Any]:
        (target,) = stmt.targets
        if isinstance(target, gast.Name):
            self.load(core.name(target.id), env)
            env.pop(target.id)
            self.deleted.add(target.id)
            return []
        return [core.rebuilt(stmt, targets=[self.load(target, env)])]

    def _plain(self, stmt: Any, env: Env, live: set[str]) -> list[Any]:
        return [self.load(stmt, env)]

    visit_Expr = visit_Assert = visit_Raise = _plain

    def visit_Pass(self, stmt: Any, env: Env, live: set[str]) -> list[Any]:
        return []


def with_absent(fn: Function, variables: Iterable[str]) -> Function:
    """`fn` with variables that hold `absent` from the start."""
    names = sorted(set(variables) & fn.local_names() - set(fn.param_names))
    if not names:
        return fn
    scope, value = fn.scope.bind("absent", absent, fn.local_names())
    start = [core.assign(name, core.name(value), fn.origin) for name in names]
    return replace(fn, body=(*start, *fn.body), scope=scope)


def _header_reads(stmt: Any) -> Set[str]:
    """The names that a statement reads, once and before all else, without those of nested blocks."""
    if isinstance(stmt, gast.If):
        return core.reads(stmt.test)
    if isinstance(stmt, gast.For):
        return core.reads(stmt.iter)
    if isinstance(stmt, gast.With):
        return core.reads([item.context_expr for item in stmt.items])
    return frozenset() if isinstance(stmt, gast.While) else core.reads(stmt) | _deleted(stmt)


def _deleted(stmt: Any) -> set[str]:
    """The names that a statement deletes, nested blocks included."""
    if isinstance(stmt, gast.Delete):
        return {target.id for target in stmt.targets if isinstance(target, gast.Name)}
    return set().union(*(_deleted(inner) for _, block in core.blocks(stmt) for inner in block))


def _word(stmt: Any) -> str:
    return {"Try": "try", "FunctionDef": "def", "TryStar": "except*"}.get(
        type(stmt).__name__, type(stmt).__name__.lower()
    )
