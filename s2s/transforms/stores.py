"""Writes into memory in single assignment: the array after a write has a name of its own.

`set_item(x, i, v)` becomes `x·2 = set_item(x, i, v)`, and what is read later reads `x·2`. All versions of x are one
object, the *storage* x (`facts.storages` says so), so that writing stays writing; but to every other pass a name
stands for a value that does not change, and the value after the write is a function of the value before it. That is
what reverse mode needs, and why arrays that are written into need no other treatment there than numbers that are
assigned again.

It is right as long as nobody sees the write but through x. A view that is read later is seen to: after a write into
`v = c[1:]` there is a new version of c, into which the new v was put; after a write into c, a new version of v, which
is read from the new c. These take no time, as the memory is written already. Where it cannot be told which names
share the memory that is written into, the function is refused.

An argument that is written into is copied first: a gradient changes nothing.

Cytron and others call the update of a whole array in this form HiddenUpdate ("Efficiently computing static single
assignment form and the control dependence graph", TOPLAS 1991, section 3.1).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import gast

from s2s import core
from s2s import kinds as K
from s2s.core import Function
from s2s.errors import NotCompiled
from s2s.runtime import stores as S
from s2s.transforms.aliases import Aliases, Holders, is_container, written_in
from s2s.transforms.bound import Unbound, unbound_reads
from s2s.transforms.givenback import refuse_shared
from s2s.transforms.infer import expression_kinds, infer
from s2s.transforms.operations import Operations, basic_index, boolean_index
from s2s.transforms.rulebody import Namer
from s2s.transforms.steps import Steps
from s2s.transforms.structure import statements
from s2s.transforms.task import Task
from s2s.transforms.views import Views

UNKNOWN_ALIAS = "an array is written into while `{}` may share its memory, which is not known when compiling"


def stores(fn: Function, task: Task) -> Function:
    """`fn` in which every write into memory gives a new version of the storage."""
    operations = Operations(fn)
    written = [w[0] for s in statements(fn.body) if (w := written_in(s, operations))]
    if not written:
        return fn
    aliases = Aliases(fn, operations)
    private = _with_private_arguments(fn, aliases, written)
    views = Views(private, Operations(private))
    aliases = Aliases(private, views.operations, views.through)
    refuse_shared(private, aliases)
    return infer(_Stores(private, aliases, views).run(), task)


# --- arguments ----------------------------------------------------------------------------------------------------


def _with_private_arguments(fn: Function, aliases: Aliases, written: Sequence[str]) -> Function:
    """`fn`, in which arguments are copied at the start, whose memory the program may write into.

    A list or dict that is written into may hold an argument: the arrays that it holds are none the worse for it.
    """
    may_be_written = aliases.sharing(written)
    array_may_be = aliases.sharing(n for n in written if not _is_list_or_dict(aliases.kind(core.name(n))))
    namer, numbers = Namer(fn), Numbers(fn)
    copied: dict[str, str] = {}
    before: list[Any] = []
    for name in fn.param_names:
        kind = aliases.kind(core.name(name))
        if K.immutable(kind) or isinstance(kind, K.Static):
            continue
        if not (array_may_be if isinstance(kind, K.Array) else may_be_written)(name):
            continue
        if not _can_be_copied(kind):
            raise NotCompiled(f"what the argument `{name}` holds may be written into", origin=fn.origin)
        copied[name] = numbers.next(name)
        before.append(core.assign(copied[name], core.call(namer.bind("private", S.private), name), fn.origin))
    if not copied:
        return fn
    for stmt in statements(fn.body):
        if core.is_aside(stmt):
            raise NotCompiled(
                "an argument is written into, and an attribute of one is set", origin=core.origin_of(stmt)
            )
    body = [*before, *(core.substitute(stmt, copied) for stmt in fn.body)]
    kinds = {**fn.facts.kinds, **{new: fn.facts.kinds[old] for old, new in copied.items()}}
    return replace(fn, body=tuple(body), scope=namer.scope).with_facts(kinds=kinds, written=tuple(copied))


def _is_list_or_dict(kind: K.Kind) -> bool:
    return isinstance(kind, (K.List, K.Dict)) or (isinstance(kind, K.Sequence) and kind.cls is list)


def _can_be_copied(kind: K.Kind) -> bool:
    """Whether `private` copies all of a value that can be written into."""
    inner = K.children(kind)
    if inner is None:
        return isinstance(kind, K.Array) or K.immutable(kind) or isinstance(kind, K.Static)
    plain = isinstance(kind, (K.List, K.Dict)) or getattr(kind, "cls", None) in (list, tuple)
    return plain and all(map(_can_be_copied, inner))


class Numbers:
    """New versions of names, numbered beyond those that are there."""

    def __init__(self, fn: Function) -> None:
        self.highest: dict[str, int] = {}
        for name in fn.local_names():
            self.note(name)

    def note(self, name: str) -> None:
        variable = core.variable(name)
        number = name[len(variable) + 1 :]
        self.highest[variable] = max(self.highest.get(variable, 1), int(number) if number else 1)

    def next(self, name: str) -> str:
        variable = core.variable(name)
        self.highest[variable] = self.highest.get(variable, 1) + 1
        return core.version(variable, self.highest[variable])


# --- versions of storages -----------------------------------------------------------------------------------------


Env = dict[str, str]  # the current version of a storage, where it is not the name itself
Step = tuple[str, Any, str]  # a name, the view that it is, and the name that it is a view of


class _Stores:
    def __init__(self, fn: Function, aliases: Aliases, views: Views) -> None:
        self.fn = fn
        self.aliases = aliases
        self.operations = aliases.operations
        self.kind = aliases.kind
        self.kind_of = expression_kinds(fn)
        self.lives = aliases.lives
        self.namer = Namer(fn)
        self.numbers = Numbers(fn)
        self.storages: dict[str, str] = dict(fn.facts.storages)
        self.views = views
        self.unsure = {name for _, name in unbound_reads(fn)}
        self.renewed: dict[int, list[str]] = {}  # by statement, the storages that get new versions in it
        self.changes = aliases.sharing(w for s in statements(fn.body) if (w := self.written(s)) is not None)

    def run(self) -> Function:
        env: Env = {}
        *body, last = self.fn.body
        new = self.block(body, env, self.lives.before(last, 0))
        new.append(core.substitute(last, env))
        made = replace(self.fn, body=tuple(new), scope=self.namer.scope)
        return made.with_facts(storages=self.storages)

    @cached_property
    def holders(self) -> Holders:
        """Who sees what is written into lists and dicts."""
        return Holders(self.fn, self.operations)

    def written(self, stmt: Any) -> str | None:
        """The name that a statement writes into."""
        found = written_in(stmt, self.operations)
        return None if found is None else found[0]

    def version(self, storage: str, env: Env) -> str:
        """A new version of a storage, current from now on."""
        new = self.numbers.next(storage)
        self.storages[new] = storage
        env[storage] = new
        return new

    def block(self, stmts: Sequence[Any], env: Env, out: int) -> list[Any]:
        new: list[Any] = []
        for stmt, live in zip(stmts, self.lives.afters(stmts, out)):
            visit = getattr(self, f"visit_{type(stmt).__name__}", None)
            new.extend([core.substitute(stmt, env)] if visit is None else visit(stmt, env, live))
        return new

    def visit_Assign(self, stmt: Any, env: Env, live: int) -> list[Any]:
        made = core.substitute(stmt, env)
        for name in core.writes(stmt):
            env.pop(name, None)
        return [made]

    def visit_Expr(self, stmt: Any, env: Env, live: int) -> list[Any]:
        written = self.written(stmt)
        call = core.substitute(stmt.value, env)
        if written is None:
            return [core.rebuilt(stmt, value=call)]
        origin = core.origin_of(stmt)
        check = self.overlapping(stmt, env)
        plan = self.plan(stmt, written)
        for name in [written, *(name for name, _, _ in plan)]:
            if name in self.unsure:
                raise Unbound(name, origin)
        new = [*check, core.assign(self.version(written, env), call, origin)]
        for name, view, of in plan:
            new.append(self.seen(name, view, of, env, origin))
        return new

    def overlapping(self, stmt: Any, env: Env) -> list[Any]:
        """Of a write that may read what it has written, as both share memory, the order counts: it is refused.

        Where it is decided by steps in memory, it is refused when the program runs.
        """
        x, *index, value = stmt.value.args
        function, origin = self.operations.function(stmt.value), core.origin_of(stmt)
        if (
            function not in (S.set_flat, S.set_item)
            or not isinstance(value, gast.Name)
            or not isinstance(self.kind(x), K.Array)
        ):
            return []
        if K.ndim_of(self.kind(value)) == 0 or self.aliases.find(value.id) != self.aliases.find(x.id):
            return []
        if function is S.set_flat or boolean_index(index[0], self.kind):
            raise NotCompiled(UNKNOWN_ALIAS.format(core.stem(value.id)), origin=origin)
        region = core.subscript(x, *index)
        if K.ndim_of(self.kind_of(region)) != 1 or not basic_index(index[0], self.kind):
            return []
        if Steps(self.views.made, self.kind).in_step(region, value):
            return []
        part = core.name(self.namer.temporary("part"))
        check = core.call(self.namer.bind("require_in_step", S.require_in_step), part, core.substitute(value, env))
        return [
            core.assign(part.id, core.substitute(region, env), origin),
            core.place(gast.Expr(check), origin),
        ]

    def visit_If(self, stmt: Any, env: Env, live: int) -> list[Any]:
        asked, test = self.asked(core.substitute(stmt.test, env), stmt.test, core.origin_of(stmt))
        inner = {part.field: part for part in self.lives.inner(stmt, live)}
        ends: list[Env] = []
        blocks: list[list[Any]] = []
        for field in ("body", "orelse"):
            ends.append(dict(env))
            part = inner.get(field)
            blocks.append([] if part is None else self.block(part.block, ends[-1], part.out))
        for storage in sorted(ends[0].keys() | ends[1].keys()):
            versions = [end.get(storage, storage) for end in ends]
            if versions[0] == versions[1]:
                env[storage] = versions[0]
            elif live & self.lives.bit(storage):
                meeting = self.version(storage, env)
                for block, version in zip(blocks, versions):
                    block.append(core.assign(meeting, version, core.origin_of(stmt)))
        return [*asked, core.rebuilt(stmt, test=test, body=blocks[0] or [_pass(stmt)], orelse=blocks[1])]

    def asked(self, test: Any, name: Any, origin: Any) -> tuple[list[Any], Any]:
        """A condition that is the truth of memory which is written into is asked for once.

        The reverse sweep decides by it again, when the memory holds something else.
        """
        if not isinstance(name, gast.Name) or not self.aliases.tracked(name.id) or not self.changes(name.id):
            return [], test
        answer = self.namer.temporary("cond")
        return [core.assign(answer, core.call(self.namer.bind("bool", bool), test), origin)], core.name(answer)

    def visit_For(self, stmt: Any, env: Env, live: int) -> list[Any]:
        origin = core.origin_of(stmt)
        iterated = core.substitute(stmt.iter, env) if isinstance(stmt, gast.For) else None
        bound = set(core.all_writes(stmt))
        before, heads = [], {}
        for storage in self.storages_renewed(stmt):
            if storage not in bound:
                old = env.get(storage, storage)
                heads[storage] = self.version(storage, env)
                before.append(core.assign(heads[storage], old, origin))
        (part,) = self.lives.inner(stmt, live)
        leave = [part.block[-1]] if core.is_exit(part.block[-1]) else []
        inner = dict(env)
        body = self.block(part.block[: len(part.block) - len(leave)], inner, part.out)
        for storage, head in heads.items():
            if inner[storage] != head:
                body.append(core.assign(head, inner[storage], origin))
        body.extend(core.rebuilt(s, test=core.substitute(s.test, {**inner, **heads})) for s in leave)
        if isinstance(stmt, gast.For):
            return [*before, core.rebuilt(stmt, iter=iterated, body=body)]
        return [*before, core.rebuilt(stmt, test=core.substitute(stmt.test, env), body=body)]

    visit_While = visit_For

    def visit_With(self, stmt: Any, env: Env, live: int) -> list[Any]:
        items = [core.substitute(item, env) for item in stmt.items]
        (part,) = self.lives.inner(stmt, live)
        return [core.rebuilt(stmt, items=items, body=self.block(part.block, env, part.out))]

    def storages_renewed(self, stmt: Any) -> list[str]:
        """The storages that a statement gives new versions, nested blocks included, in order."""
        if id(stmt) not in self.renewed:
            found: dict[str, None] = {}
            for inner in statements([stmt]):
                written = self.written(inner)
                if written is not None:
                    found[written] = None
                    found.update((name, None) for name, _, _ in self.plan(inner, written))
            self.renewed[id(stmt)] = list(found)
        return self.renewed[id(stmt)]

    # --- views of what is written into ---

    def plan(self, stmt: Any, written: str) -> list[Step]:
        """What gets a new version after a write: (name, view, of), where one of the two names is the view of the other.

        From what is written into up to the array that all of them are views of, and from there down to the others.
        """
        aliases = self.holders if is_container(self.kind(core.name(written))) else self.aliases
        others = sorted(aliases.others.get(id(stmt), ()))
        up: list[Step] = []
        down: dict[str, Step] = {}
        above = self.views.chain(written)
        reached = 0
        unknown: list[str] = []
        for other in others:
            chain = self.views.chain(other)
            meeting = next((n for n in chain if n in above), None)
            if meeting is None:
                unknown.append(other)
                continue
            reached = max(reached, above.index(meeting))
            for view in reversed(chain[: chain.index(meeting)]):
                down[view] = (view, self.views.made[view], self.views.whole(view))
        for part, whole in itertools.pairwise(above[: reached + 1]):
            up.append((whole, self.views.made[part], part))
        passed = set(above[: reached + 1])
        steps = [*up, *(step for name, step in down.items() if name not in passed)]
        self.refuse_lists(written, others, stmt)
        return [*steps, *(self.identified(stmt, other, written) for other in unknown)]

    def identified(self, stmt: Any, other: str, written: str) -> Step:
        """The step for a name that may share memory with what is written into: what, is seen when the program runs."""
        known, into = self.kind(core.name(other)), self.kind(core.name(written))
        if isinstance(known, (K.Unknown, K.Numeric, K.Object, K.Iterator)) or not _same_elements(known, into):
            raise NotCompiled(UNKNOWN_ALIAS.format(core.stem(other)), origin=core.origin_of(stmt))
        return other, None, written

    def refuse_lists(self, part: str, others: Sequence[str], stmt: Any) -> None:
        """A list or dict that is written into is seen in the one other that it was read from as an item, at most."""
        if not others or K.children(self.kind(core.name(part))) is None:
            return
        for other in others:
            if other in self.unsure:
                raise Unbound(other, core.origin_of(stmt))  # a copy of it is read, and written into
        read: Any = self.views.single.get(part)
        is_item = isinstance(read, gast.Subscript) and not isinstance(self.slice_kind(read.slice), K.Slice)
        if not is_item or list(others) != [getattr(read.value, "id", None)]:
            raise NotCompiled(UNKNOWN_ALIAS.format(core.stem(others[0])), origin=core.origin_of(stmt))

    def slice_kind(self, index: Any) -> K.Kind:
        """The kind of an index; a part of a list is a new one."""
        return K.Slice() if isinstance(index, gast.Slice) else self.kind(index)

    def seen(self, name: str, view: Any, of: str, env: Env, origin: Any) -> Any:
        """The statement that makes a new version of a name, which sees what was written through another one."""
        now = env.get(of, of)
        if view is None:
            function = self.namer.bind("seen", S.seen)
            value: Any = core.call(function, env.get(name, name), of, now)
        elif self.views.made.get(name) is view:  # down: the view is read again
            value = core.substitute(view, {of: now})
        elif isinstance(view, gast.Name):
            value = core.name(now)
        elif isinstance(view, gast.Subscript):
            function = self.namer.bind("seen_item", S.seen_item)
            value = core.call(function, env.get(name, name), view.slice, now)
        else:
            value = core.attribute(now, "T")
        return core.assign(self.version(name, env), value, origin)


def _same_elements(one: K.Kind, other: K.Kind) -> bool:
    """Whether arrays that share memory share elements: the real parts of an array are no elements of it."""
    return not (isinstance(one, K.Array) and isinstance(other, K.Array)) or one.dtype == other.dtype


def _pass(stmt: Any) -> Any:
    return core.place(gast.Pass(), core.origin_of(stmt))
