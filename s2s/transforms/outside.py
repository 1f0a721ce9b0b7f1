"""What the program does not own: what globals, closure cells and classes hold, and what is reached through them.

Single assignment knows nothing of such places. A number there that the program, or what it calls, may assign is read
once, into a name:

    y = RATE * x            rate = RATE
    helper()                y = rate * x
    return y * RATE         helper()
                            ...

so that the reverse sweep has the value that was read. Arrays and containers there have no versions: a program that
writes into them is refused, as is one that reads them and calls what may write into them.
"""

from __future__ import annotations

import dis
import functools
import sys
import types
from collections.abc import Iterator, Sequence
from typing import Any

import gast

from s2s import core
from s2s import kinds as K
from s2s.core import Function
from s2s.errors import NotCompiled
from s2s.runtime import stores as S
from s2s.runtime.installed import is_installed, is_installed_module
from s2s.runtime.reach import found_by, functions_of, reached
from s2s.transforms.aliases import Aliases, written_in
from s2s.transforms.classes import is_plain
from s2s.transforms.conduct import module_of
from s2s.transforms.operations import Operations
from s2s.transforms.structure import next_number, replace_reads, statements, uses, with_blocks
from s2s.transforms.task import Task
from s2s.transforms.usercalls import Callee, user_callee


def outside(fn: Function, task: Task) -> Function:
    """`fn`, in which variables that are not its own, and may be assigned while it runs, are read into names."""
    run = _Outside(fn)
    run.refuse_writes()
    assigning = list(filter(run.assigns, statements(fn.body)))
    run.refuse_other_objects(assigning)
    if task.mode != "jvp":  # forward mode reads everything in its turn
        run.refuse_reads_beside_unknown_calls()
    if not assigning:
        return fn
    return fn.with_body(run.block(fn.body)).with_facts(kinds={**fn.facts.kinds, **run.kinds})


class _Outside:
    def __init__(self, fn: Function) -> None:
        self.fn = fn
        self.operations = Operations(fn)
        self.local = self.operations.local
        self.number = next_number(fn.local_names())
        self.kinds: dict[str, K.Kind] = {}

    @functools.cached_property
    def aliases(self) -> Aliases:
        return Aliases(self.fn, self.operations)

    # --- memory ---

    def refuse_writes(self) -> None:
        """Refuse writes into memory that is reached from outside."""
        written = [w[0] for s in statements(self.fn.body) if (w := written_in(s, self.operations))]
        if not written:
            return
        is_written = self.aliases.sharing(written)
        for stmt in statements(self.fn.body):
            for name in self.brought_in(stmt):
                bound = [n for n in core.writes(stmt) if self.aliases.tracked(n) and is_written(n)]
                if not all(map(self.is_only_appended_to, bound)):
                    raise NotCompiled(
                        f"what `{core.stem(name)}` holds may be written into", origin=core.origin_of(stmt)
                    )

    def is_only_appended_to(self, name: str) -> bool:
        """Whether a name, and all that may share its memory, stand for lists that only get longer: a log."""
        same = self.aliases.sharing([name])
        for stmt in statements(self.fn.body):
            read = [n for n in uses(stmt) if n in self.local and same(n)]
            if not read:
                continue
            written = written_in(stmt, self.operations)
            appends = written is not None and read == [written[0]] and self.operations.function(stmt.value) is S.append
            if not appends or not isinstance(self.kind(read[0]), (K.List, K.Sequence)):
                return False
        return True

    def brought_in(self, stmt: Any) -> list[str]:
        """The names of ours or not through which a statement binds names to memory from outside."""
        value = stmt.value if isinstance(stmt, gast.Assign) else getattr(stmt, "iter", None)
        return [] if value is None else sorted(self.from_outside(value))

    def from_outside(self, node: Any) -> set[str]:
        """The names through which the value of an expression may share memory that no name of ours stands for."""
        user = self.user(node)
        if user is not None:
            return {user.name} if any(True for _ in reached([user.function])) else set()
        found = {n for n in self.aliases.names_shared(node) if not K.immutable(self.kind(n))}
        if isinstance(node, gast.Call) and self.operations.conduct(node) is None:
            found -= set() if any(map(_is_unknown, self.called(node))) else core.reads(node.func)
        return {n for n in found if self.is_outside(self.kind(n), n in self.local)}

    def is_outside(self, kind: K.Kind, is_local: bool) -> bool:
        """Whether memory that is not ours is reached from what has this kind."""
        if not isinstance(kind, K.Static):
            return not is_local and kind is not K.NEVER
        if isinstance(kind.value, types.ModuleType):
            return not is_installed_module(kind.value)
        return any(True for _ in reached([kind.value]))

    def refuse_reads_beside_unknown_calls(self) -> None:
        """Refuse calls of which nothing is known where memory from outside is read, into which they may write."""
        call = next((s for s in statements(self.fn.body) if self.may_write(s)), None)
        if call is None:
            return
        for stmt in statements(self.fn.body):
            arrays = [n for n in uses(stmt) if n not in self.local and isinstance(self.kind(n), (K.Array, K.Numeric))]
            tracked = any(map(self.aliases.tracked, core.writes(stmt)))
            for name in [*arrays, *(self.brought_in(stmt) if tracked and stmt is not call else [])]:
                raise NotCompiled(
                    f"a function is called that may write into what `{core.stem(name)}` holds",
                    origin=core.origin_of(call),
                )

    def may_write(self, stmt: Any) -> bool:
        """Whether a statement calls what may write into memory that it is not given."""
        call = getattr(stmt, "value", None)
        if not isinstance(stmt, (gast.Assign, gast.Expr)) or not isinstance(call, gast.Call):
            return False
        user = self.user(call)
        if user is not None:
            return user.recorded and any(True for _ in reached([user.function]))
        return any(map(_is_unknown, self.called(call)))

    def called(self, call: Any) -> Iterator[Any]:
        """The functions that a call may run besides those whose conduct is known; None for an unknown one."""
        found = self.operations.conduct(call)
        if found is None:
            yield self.operations.function(call)
        for operand in found.calls if found is not None else ():
            known = self.operations.kind(operand)
            if not isinstance(known, K.Iterator):
                yield known.value if isinstance(known, K.Static) else None

    # --- variables ---

    def refuse_other_objects(self, assigning: Sequence[Any]) -> None:
        """Refuse calls that may put another object where names find one whose methods have been inlined.

        assigning: the statements that may assign what is not the program's own.
        """
        stmt = next((s for s in assigning if not self.sets_number(s)), None)
        if stmt is None:
            return
        users = [user for s in statements(self.fn.body) if (user := self.user(getattr(s, "value", None))) is not None]
        for name in (*sorted(self.fn.facts.bound), *(user.name for user in users if _finds_objects(user.function))):
            raise NotCompiled(
                f"another object may be put in the place of one that `{name}` finds", origin=core.origin_of(stmt)
            )

    def sets_number(self, stmt: Any) -> bool:
        """Whether a statement sets an attribute to a number, array or text."""
        plain = (K.Int, K.Bool, K.Scalar, K.Str, K.NoneKind, K.Array, K.Numeric)
        return isinstance(stmt, gast.Assign) and isinstance(self.operations.kind(stmt.value), plain)

    def assigns(self, stmt: Any) -> bool:
        """Whether a statement may assign a variable that is not the program's own."""
        if isinstance(stmt, gast.Assign) and isinstance(stmt.targets[0], gast.Attribute):
            return True
        user = self.user(getattr(stmt, "value", None))
        if user is None:
            return self.may_write(stmt)
        objects = any(isinstance(self.operations.kind(a), (K.Object, K.Unknown)) for a in stmt.value.args)
        return user.recorded or objects or _may_assign(user.function)

    def block(self, stmts: Sequence[Any]) -> list[Any]:
        return [new for stmt in stmts for new in self.statement(stmt)]

    def statement(self, stmt: Any) -> list[Any]:
        """The reads that a statement needs before it, and the statement."""
        stmt = with_blocks(stmt, lambda _, block: self.block(block))
        if isinstance(stmt, gast.While):
            return [stmt]  # the reverse sweep counts its rounds
        free = [n for n in dict.fromkeys(uses(stmt)) if n not in self.local and self.is_variable(n)]
        held = {name: core.temporary(name, self.number + i) for i, name in enumerate(free)}
        self.number += len(held)
        self.kinds |= {new: self.kind(name) for name, new in held.items()}
        reads = [core.assign(new, core.name(name), core.origin_of(stmt)) for name, new in held.items()]
        return [*reads, replace_reads(stmt, {name: core.name(new) for name, new in held.items()})]

    def is_variable(self, name: str) -> bool:
        """Whether a name that is not local stands for a value, which may be another one when it is read again."""
        return name not in self.fn.scope.names and not isinstance(self.kind(name), K.Static)

    def kind(self, name: str) -> K.Kind:
        return self.operations.kind(core.name(name))

    def user(self, node: Any) -> Callee | None:
        return user_callee(self.operations.function(node), node) if isinstance(node, gast.Call) else None


def _is_unknown(function: Any) -> bool:
    """Whether a call of something may run code of the user's."""
    if isinstance(function, (types.BuiltinFunctionType, types.MethodDescriptorType)):
        return False
    if isinstance(function, types.FunctionType) and is_installed(function):
        return False
    name = module_of(function)
    module = sys.modules.get(name)
    return name.partition(".")[0] != "s2s" and (module is None or not is_installed_module(module))


def _may_assign(function: types.FunctionType) -> bool:
    """Whether a function, or one that it finds by name, assigns variables that are not its own, or attributes."""
    return any(isinstance(f, types.FunctionType) and _assigns(f.__code__) for f in _found(function))


def _finds_objects(function: types.FunctionType) -> bool:
    """Whether a function, or one that it finds by name, finds an object of a user's class by name."""
    return any(map(is_plain, _found(function)))


def _found(function: types.FunctionType) -> Iterator[Any]:
    """A function, and what it finds by name, and what the functions among that find in turn."""
    pending: list[Any] = [function]
    seen: dict[int, Any] = {}  # what is found stays, so that its identity is its own
    while pending:
        held = pending.pop()
        if id(held) in seen or (isinstance(held, types.FunctionType) and is_installed(held)):
            continue
        seen[id(held)] = held
        yield held
        if isinstance(held, types.FunctionType):
            pending.extend(found_by(held))
        elif isinstance(held, type):
            pending.extend(f for member in vars(held).values() for f in functions_of(member))
        else:
            pending.extend(functions_of(held))


_ASSIGNING = frozenset({"STORE_GLOBAL", "STORE_DEREF", "STORE_ATTR", "DELETE_GLOBAL", "DELETE_ATTR"})


@functools.lru_cache(maxsize=4096)
def _assigns(code: types.CodeType) -> bool:
    inner = (c for c in code.co_consts if isinstance(c, types.CodeType))
    return any(i.opname in _ASSIGNING for i in dis.get_instructions(code)) or any(map(_assigns, inner))
